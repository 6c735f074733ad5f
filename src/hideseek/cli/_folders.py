"""``hideseek explain`` for folders and several files."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from typing import Any

from hideseek.cli._formats import STANDARD_STREAM
from hideseek.cli._output import Output
from hideseek.cli._usage import UsageError

__all__ = ["explain_into_folder", "is_several", "to_folder"]


def is_several(data: Sequence[str]) -> bool:
    """Return whether DATA is a folder, a pattern or several files."""
    from glob import has_magic
    from os.path import exists, isdir

    return len(data) > 1 or isdir(data[0]) or (has_magic(data[0]) and not exists(data[0]))


def to_folder(arguments: argparse.Namespace) -> bool:
    """Return whether the answers are to be files in a folder; raise if options do not go together."""
    data, out = arguments.data, arguments.out
    if not is_several(data) and not out.endswith("/"):
        if arguments.outputs or arguments.carry:
            raise UsageError("--outputs and --carry are for files in a folder: let --out end in /")
        return False
    if STANDARD_STREAM in data or out == STANDARD_STREAM:
        raise UsageError("a folder or several files need --out FOLDER, and cannot be standard input")
    if arguments.format != "wide" or arguments.with_data or arguments.sentences:
        raise UsageError(
            "--format, --data and --sentences are for one table; for files in a folder pass --outputs "
            "(such as --outputs prediction,sentence) and --carry"
        )
    return True


def explain_into_folder(arguments: argparse.Namespace, output: Output) -> dict[str, Any]:
    """Explain file by file, and say how it went."""
    from hideseek import load
    from hideseek.scoring import SMALL, explain_files

    model = load(arguments.model)
    if arguments.threshold is not None:
        model.set_params(threshold=arguments.threshold)
    done = explain_files(
        model,
        arguments.data if len(arguments.data) > 1 else arguments.data[0],
        arguments.out,
        outputs=_names(arguments.outputs) or SMALL,
        carry=_names(arguments.carry),
        overwrite=arguments.force,
        progress=not output.as_json,
    )
    output.line(f"Explained {done.n_rows:,} rows of {len(done.files):,} files: {arguments.out}")
    if done.n_kept:
        output.line(f"  {done.n_kept:,} files were finished before")
    return {"rows": done.n_rows, "files": len(done.files), "finished_before": done.n_kept, "out": arguments.out}


def _names(text: str | None) -> list[str]:
    return [name.strip() for name in (text or "").split(",") if name.strip()]
