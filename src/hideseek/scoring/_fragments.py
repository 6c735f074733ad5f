"""The files of a table that lies in several: which they are, and their rows as a stream of pieces."""

from __future__ import annotations

import glob
import gzip
import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from hideseek.errors import FileFormatError, InputError, MissingFileError
from hideseek.files import accessing, as_path
from hideseek.scoring._arrow import arrow
from hideseek.wording import listed

__all__ = ["Fragment", "Source", "find_fragments", "rows_at_once"]

Source = str | os.PathLike[str] | Sequence[str | os.PathLike[str]]

_FORMATS = {
    ".parquet": "parquet",
    ".pq": "parquet",
    ".arrow": "ipc",
    ".feather": "ipc",
    ".ipc": "ipc",
    ".csv": "csv",
    ".tsv": "csv",
    ".csv.gz": "csv",
    ".tsv.gz": "csv",
}
_MISSING = ["", "NA", "N/A", "NaN", "nan", "null", "NULL"]
"""What means a missing value in text, as for ``hideseek fit``."""
_SEPARATORS = ",;\t|"
_CELLS, _FEWEST_ROWS, _MOST_ROWS = 2**21, 2**10, 2**17
_READ_AHEAD = 4
"""Batches that are read while earlier ones are explained: more would cost memory and save no time."""


@dataclass(frozen=True)
class Fragment:
    """One file of a table.

    Attributes:
        path: Where it is.
        root: The folder that it was found under; the names of folders below it may say values, as in "year=2024".
        partitions: The columns that the names of folders give, with "int64" or "string" for a type.
    """

    path: Path
    root: Path
    partitions: Mapping[str, str] = field(default_factory=dict)

    @property
    def answer(self) -> Path:
        """The file for the answers, relative to the target: of the same name, and always a Parquet file."""
        inside = self.path.relative_to(self.root)
        return inside if inside.suffix == ".parquet" else inside.with_name(f"{inside.name}.parquet")

    @property
    def is_text(self) -> bool:
        """Whether it is a text file, whose columns have no types of their own."""
        return _format_of(self.path) == "csv"

    def schema(self, text_types: Mapping[str, str]) -> Any:
        """Return the Arrow schema of the columns, those of folders included."""
        with _reading(self.path):
            return self._dataset(text_types).schema

    def tables(self, columns: Sequence[str], n_rows: int, text_types: Mapping[str, str]) -> Iterator[Any]:
        """Give some columns of all rows as Arrow tables of so many rows, the last one of fewer.

        Args:
            columns: Their names.
            n_rows: How many rows at once.
            text_types: The types, by name, of columns that a CSV file may leave open.
        """
        with _reading(self.path):
            scanner = self._dataset(text_types).scanner(
                columns=list(columns), batch_size=n_rows, batch_readahead=_READ_AHEAD, fragment_readahead=1
            )
            batches = scanner.to_batches()
            schema = scanner.projected_schema
        yield from _regrouped(self._whole(batches), schema, n_rows)

    def _whole(self, batches: Iterator[Any]) -> Iterator[Any]:
        """Give the batches, each validated, since a malformed file may lead to other memory of this process."""
        while True:
            with _reading(self.path):
                batch = next(batches, None)
                if batch is None:
                    return
                batch.validate(full=True)
            yield batch

    def _dataset(self, text_types: Mapping[str, str]) -> Any:
        from pyarrow import dataset

        pa = arrow()
        keys = pa.schema([(key, pa.type_for_alias(kind)) for key, kind in self.partitions.items()])
        kind = _format_of(self.path)
        return dataset.dataset(
            str(self.path),
            format=self._text_format(text_types) if kind == "csv" else kind,
            partitioning=dataset.partitioning(keys, flavor="hive"),
            partition_base_dir=str(self.root),
        )

    def _text_format(self, types: Mapping[str, str]) -> Any:
        from pyarrow import csv, dataset

        pa = arrow()
        with (gzip.open if self.path.suffix == ".gz" else open)(self.path, "rb") as file:
            header = file.readline().decode(errors="replace")
        column_types = {name: pa.type_for_alias(kind) for name, kind in types.items()}
        return dataset.CsvFileFormat(
            csv.ParseOptions(delimiter=max(_SEPARATORS, key=header.count)),
            convert_options=csv.ConvertOptions(
                null_values=_MISSING, strings_can_be_null=True, column_types=column_types
            ),
        )


def rows_at_once(n_columns: int) -> int:
    """Return how many rows to read at once: a power of two, so that pieces end where ``explain`` would end them."""
    fitting = max(_FEWEST_ROWS, min(_MOST_ROWS, _CELLS // n_columns))
    return int(1 << (fitting.bit_length() - 1))


def _is_several(source: str) -> bool:
    """Return whether a path means a folder or a pattern, and so perhaps several files."""
    return os.path.isdir(source) or (glob.has_magic(source) and not os.path.exists(source))


def find_fragments(source: Source) -> list[Fragment]:
    """Return the files of a table, sorted by name.

    Args:
        source: A file, a folder with files at any depth, a pattern such as "in/*.parquet", or several files. In a
            folder, files of other formats and those whose names begin with "." or "_" are left out.

    Raises:
        InputError: There are none, or a file is of no format that can be read.
    """
    if isinstance(source, str | os.PathLike):
        root, paths = _found(os.fspath(as_path(source)))
    else:
        paths = [as_path(path) for path in source]
        root = Path(os.path.commonpath([path.absolute().parent for path in paths])) if paths else Path()
    if not paths:
        raise InputError(
            f"source={os.fspath(source) if isinstance(source, os.PathLike) else source!r} has no files "
            f"of a table: expected some that end in {listed(_FORMATS)}"
        )
    for path in paths:
        if not path.is_file():
            raise MissingFileError(f"no file at {str(path)!r}")
        if _format_of(path) is None:
            raise InputError(f"{str(path)!r} has no ending of a table: expected {listed(_FORMATS)}")
    paths = sorted({path.absolute() for path in paths})
    partitions = _partitions([path.relative_to(root.absolute()) for path in paths])
    fragments = [Fragment(path, root.absolute(), partitions) for path in paths]
    _check_different(fragments)
    return fragments


def _found(source: str) -> tuple[Path, list[Path]]:
    """Return the folder that the names of answers are relative to, and the files that one path means."""
    if not _is_several(source):
        return Path(source).parent, [Path(source)]
    if os.path.isdir(source):
        root, names = Path(source), list(Path(source).rglob("*"))
    else:
        parts = Path(source).parts
        n_fixed = next(i for i, part in enumerate(parts) if glob.has_magic(part))
        root, names = Path(*parts[:n_fixed]), [Path(name) for name in glob.glob(source, recursive=True)]
    files = [path for path in names if path.is_file() and _format_of(path) is not None]
    return root, [path for path in files if not any(part[0] in "._" for part in path.relative_to(root).parts)]


def _format_of(path: Path) -> str | None:
    name = path.name.lower()
    return next((kind for ending, kind in _FORMATS.items() if name.endswith(ending)), None)


def _partitions(paths: Sequence[Path]) -> dict[str, str]:
    """Return the columns that folders such as "year=2024" give: numbers where every value is one."""
    values: dict[str, list[str]] = {}
    for path in paths:
        for part in path.parts[:-1]:
            key, equals, value = part.partition("=")
            if equals:
                values.setdefault(key, []).append(value)
    return {key: "int64" if all(map(_is_number, found)) else "string" for key, found in values.items()}


def _is_number(text: str) -> bool:
    return text.isdecimal() and (text == "0" or not text.startswith("0")) and len(text) < 19


def _check_different(fragments: Sequence[Fragment]) -> None:
    answers: dict[Path, Path] = {}
    for fragment in fragments:
        other = answers.setdefault(fragment.answer, fragment.path)
        if other != fragment.path:
            raise InputError(f"{str(other)!r} and {str(fragment.path)!r} would have answers of one name; rename one")


@contextmanager
def _reading(path: Path) -> Iterator[None]:
    """Turn errors of pyarrow into one of ours that names the file."""
    with accessing(path, "read"):
        try:
            yield
        except (arrow().ArrowException, EOFError, gzip.BadGzipFile) as error:
            raise _unreadable(path, error) from error
        except OSError as error:
            if error.errno is None:  # pyarrow's own, of content that cannot be what it should be
                raise _unreadable(path, error) from error
            raise


def _unreadable(path: Path, error: Exception) -> FileFormatError:
    lines = str(error).rpartition(f"{path}': ")[2].splitlines()  # before it pyarrow says which file, twice
    reason = (lines or [type(error).__name__])[0][:200].rstrip(".")
    return FileFormatError(f"{str(path)!r} cannot be read as {_format_of(path)}: {reason}; it may be truncated")


def _regrouped(batches: Iterator[Any], schema: Any, n_rows: int) -> Iterator[Any]:
    """Give record batches of any length as tables of ``n_rows`` rows; files have row groups and blocks of their own."""
    pa = arrow()
    waiting, n_waiting = [], 0
    for batch in batches:
        waiting.append(batch)
        n_waiting += len(batch)
        while n_waiting >= n_rows:
            table = pa.Table.from_batches(waiting, schema)
            yield table[:n_rows]
            waiting, n_waiting = table[n_rows:].to_batches(), n_waiting - n_rows
    if n_waiting:
        yield pa.Table.from_batches(waiting, schema)
