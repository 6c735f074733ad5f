"""Paths as users give them, and files that a reader sees whole or not at all."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from uuid import uuid4

from hideseek.errors import ArgumentTypeError, FileAccessError, InputError, MissingFileError

__all__ = ["accessing", "as_path", "remove_leftovers", "write_atomically", "written_beside"]


def as_path(path: str | os.PathLike[str]) -> Path:
    """Return the path of a file, or raise an InputError."""
    if isinstance(path, bytes) or not isinstance(path, str | os.PathLike):
        raise ArgumentTypeError(f"path must be text or a pathlib.Path, and {type(path).__name__} came")
    if not os.fspath(path) or "\0" in os.fspath(path):
        raise InputError(f"path={os.fspath(path)!r} is no path of a file")
    return Path(path)


@contextmanager
def accessing(path: str | os.PathLike[str], what: str) -> Iterator[Path]:
    """Give the path, and turn an OSError in what is done with it into one of ours that names it.

    Args:
        path: The file.
        what: "read" or "write", for the message.
    """
    file = as_path(path)
    try:
        yield file
    except FileAccessError:
        raise
    except OSError as error:
        kind = MissingFileError if isinstance(error, FileNotFoundError) else FileAccessError
        raise kind(f"cannot {what} {_shortened(os.fspath(path))!r}: {error.strerror or error}") from error


def _shortened(text: str) -> str:
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}..."


_LONGEST = 300


def write_atomically(path: str | os.PathLike[str], content: bytes) -> None:
    """Write beside the target, then rename over it; a failure leaves what was there."""
    with written_beside(path) as beside, open(beside, "xb") as file:
        file.write(content)


@contextmanager
def written_beside(path: str | os.PathLike[str]) -> Iterator[Path]:
    """Give the path of a new file beside the target, and rename that file over the target at the end.

    After an exception the new file is removed, and the target is as it was.
    """
    with accessing(path, "write") as target:
        if not target.parent.is_dir():
            raise MissingFileError(f"cannot write {os.fspath(path)!r}: there is no folder {str(target.parent)!r}")
        beside = target.with_name(f".{target.name}.{uuid4().hex[:_RANDOM]}")
        try:
            yield beside
            with open(beside, "rb+") as file:
                os.fsync(file.fileno())
            os.replace(beside, target)
        finally:
            beside.unlink(missing_ok=True)


def remove_leftovers(path: str | os.PathLike[str]) -> None:
    """Remove files that ``written_beside`` could not remove, because its process was killed."""
    target = as_path(path)
    ours = re.compile(rf"\.{re.escape(target.name)}\.[0-9a-f]{{{_RANDOM}}}")
    for beside in target.parent.iterdir():
        if ours.fullmatch(beside.name):
            beside.unlink(missing_ok=True)


_RANDOM = 8
"""Random characters at the end of the name of a file that is not finished."""
