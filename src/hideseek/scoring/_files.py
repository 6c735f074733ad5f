"""From the files of a table to files of answers, one for one, in bounded memory, and again from where it stopped."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import narwhals as nw

from hideseek.errors import FileAccessError, InputError
from hideseek.files import accessing, as_path, remove_leftovers, written_beside
from hideseek.progress import files_progress
from hideseek.scoring._arrow import arrow
from hideseek.scoring._batches import feature_columns
from hideseek.scoring._fragments import Fragment, Source, find_fragments, rows_at_once
from hideseek.scoring._scorer import Scorer
from hideseek.validation import check_parameters, choice
from hideseek.warn import warned_once

__all__ = ["SMALL", "ExplainedFiles", "Job", "explain_files", "explain_fragment"]

SMALL = ("prediction", "n_selected", "selected_bits")
"""Outputs that take few bytes a row."""

_ORIGIN = b"hideseek.origin"

OnRows = Callable[[int], None]


@dataclass(frozen=True)
class ExplainedFiles:
    """What ``explain_files`` did.

    Attributes:
        files: The files of answers, in the order of the source's.
        n_rows: The rows in them.
        n_kept: How many of the files an earlier run had finished.
    """

    files: tuple[Path, ...]
    n_rows: int
    n_kept: int


@dataclass(frozen=True)
class Job:
    """One file to explain: where it is, where its answers go, and what they are made of."""

    fragment: Fragment
    target: Path
    model_digest: str
    overwrite: bool


def explain_files(
    model: Any,
    source: Source,
    target: str | os.PathLike[str],
    *,
    outputs: Sequence[str] = SMALL,
    carry: Sequence[str] = (),
    overwrite: bool = False,
    backend: str = "serial",
    progress: bool = True,
) -> ExplainedFiles:
    """Explain the rows of one or many files, in bounded memory; see :meth:`HideSeekClassifier.explain_files`."""
    arrow()
    check_parameters("explain_files", {"backend": backend}, {"backend": choice("serial", "ray")})
    scorer = Scorer(model, outputs, carry)
    _ = scorer.schema  # reads the model
    fragments = find_fragments(source)
    digest = scorer.digest
    targets = _targets(fragments, source, as_path(target))
    jobs = [Job(fragment, path, digest, overwrite) for fragment, path in zip(fragments, targets, strict=True)]
    n_rows = n_kept = 0
    with files_progress(progress, len(jobs)) as (on_file, on_rows):
        for rows, kept in _serial(scorer, jobs, on_rows) if backend == "serial" else _with_ray(scorer, jobs, on_rows):
            n_rows, n_kept = n_rows + rows, n_kept + kept
            on_file()
    return ExplainedFiles(tuple(targets), n_rows, n_kept)


def _serial(scorer: Scorer, jobs: Sequence[Job], on_rows: OnRows) -> Iterator[tuple[int, bool]]:
    said: set[str] = set()
    for job in jobs:
        yield explain_fragment(scorer, job, on_rows, said)


def _with_ray(scorer: Scorer, jobs: Sequence[Job], on_rows: OnRows) -> Iterator[tuple[int, bool]]:
    from hideseek.scoring._ray import on_ray

    for rows, kept in on_ray(explain_fragment, scorer, jobs):
        on_rows(rows)
        yield rows, kept


def explain_fragment(
    scorer: Scorer, job: Job, on_rows: OnRows = lambda _: None, said: set[str] | None = None
) -> tuple[int, bool]:
    """Explain one file, unless that was done before.

    Args:
        scorer: What explains.
        job: Which file.
        on_rows: Called with the number of rows after each piece.
        said: Warnings that were given before, and are not given again.

    Returns:
        The number of rows, and whether they were there.
    """
    from pyarrow import parquet

    origin = _origin(scorer, job)
    if (n_rows := _finished(job, origin)) is not None:
        return n_rows, True
    with accessing(job.target, "write"):
        job.target.parent.mkdir(parents=True, exist_ok=True)
        remove_leftovers(job.target)
    n_rows, writer = 0, None
    with written_beside(job.target) as beside:
        try:
            for table in _answers(scorer, job.fragment, on_rows, set() if said is None else said):
                if writer is None:
                    schema = table.schema.with_metadata({**table.schema.metadata, _ORIGIN: origin})
                    writer = parquet.ParquetWriter(beside, schema, compression="zstd")
                writer.write_table(table)
                n_rows += len(table)
        finally:
            if writer is not None:
                writer.close()
    return n_rows, False


def _answers(scorer: Scorer, fragment: Fragment, on_rows: OnRows, said: set[str]) -> Iterator[Any]:
    """Give the answers to the rows of a file, some thousand rows at a time; to a file without rows, one empty table."""
    path, types = str(fragment.path), _text_types(scorer)
    schema = fragment.schema(types)
    features = feature_columns(scorer.model, schema.names, scorer.carry, repr(path))
    columns = list(dict.fromkeys((*scorer.carry, *features)))
    n_rows, first = rows_at_once(len(columns)), 0
    for table in fragment.tables(columns, n_rows, types):
        try:
            frame = nw.from_native(table, eager_only=True)
            answer = warned_once(said, partial(scorer.explain_frame, frame, repr(path), first))
        except InputError as error:
            raise InputError(f"{path!r}, rows {first} to {first + len(table) - 1}: {error}") from error
        yield answer
        on_rows(len(table))
        first += len(table)
    if first == 0:
        yield scorer.schema_for(schema).empty_table()


def _text_types(scorer: Scorer) -> dict[str, str]:
    """Return the types of the model's columns for text files, which would be guessed from the first rows alone."""
    encoder = getattr(scorer.model, "encoder_", None)
    if encoder is None or not hasattr(scorer.model, "feature_names_in_"):
        return {}
    types = {}
    for name, code in zip(encoder.names, encoder.codes, strict=True):
        if code.kind == "number":
            types[name] = "double"
        elif code.kind == "category" and all(isinstance(level, str) for level in code.levels):
            types[name] = "string"
    return types


# -- where answers go, and whether they are there -----------------------------------------------------------------


def _targets(fragments: Sequence[Fragment], source: Source, target: Path) -> list[Path]:
    """Return the file of answers for each fragment: the target itself if it ends in .parquet, else files in it."""
    if target.suffix == ".parquet" and not target.is_dir():
        if len(fragments) > 1:
            raise InputError(f"target={str(target)!r} is one file, and the source has {len(fragments)}: name a folder")
        paths = [target]
    else:
        paths = [target / fragment.answer for fragment in fragments]
    if target.is_file() and target.suffix != ".parquet":
        raise FileAccessError(f"cannot write {str(target)!r}: it is a file, and a folder is needed")
    if isinstance(source, str | os.PathLike) and os.path.isdir(source):
        folder = Path(source).resolve()
        if target.resolve() == folder or folder in target.resolve().parents:
            raise InputError(
                f"target={str(target)!r} lies in the source, whose files it would join; name another folder"
            )
    read = {fragment.path.resolve() for fragment in fragments}
    for path in paths:
        if path.resolve() in read:
            raise InputError(f"target={str(target)!r} would replace {str(path)!r}, which is read; name another folder")
    return paths


def _origin(scorer: Scorer, job: Job) -> bytes:
    """Return what the answers to a file are made of: if all of it is the same, so are the answers."""
    with accessing(job.fragment.path, "read") as path:
        state = path.stat()
    made_of = {
        "model": job.model_digest,
        "outputs": scorer.outputs,
        "carry": scorer.carry,
        "source": job.fragment.path.relative_to(job.fragment.root).as_posix(),
        "bytes": state.st_size,
        "modified": state.st_mtime_ns,
    }
    return json.dumps(made_of).encode()


def _finished(job: Job, origin: bytes) -> int | None:
    """Return how many answers an earlier run left, or None where they are to be made.

    Raises:
        InputError: There is a file of another origin, which may not be replaced.
    """
    from pyarrow import parquet

    if not os.path.lexists(job.target):
        return None
    try:
        with accessing(job.target, "read") as path, parquet.ParquetFile(path) as file:
            if (file.schema_arrow.metadata or {}).get(_ORIGIN) == origin:
                return int(file.metadata.num_rows)
    except (arrow().ArrowException, FileAccessError):
        pass  # not a file of ours
    if job.overwrite:
        return None
    raise InputError(
        f"{str(job.target)!r} exists and has answers of another model, to other rows or with other columns; "
        "pass overwrite=True (on the command line --force) to replace it, or another target"
    )
