"""Paths given by users, and atomic writing of files."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from uuid import uuid4

from hideseek.errors import ArgumentTypeError, FileAccessError, InputError, MissingFileError
from hideseek.wording import shown

__all__ = ["accessing", "as_path", "remove_leftovers", "write_atomically", "written_beside"]


def as_path(path: str | os.PathLike[str]) -> Path:
    """Return the path of a file, or raise an InputError."""
    if isinstance(path, bytes) or not isinstance(path, str | os.PathLike):
        raise ArgumentTypeError(f"path must be text or a pathlib.Path; got {type(path).__name__}")
    if not os.fspath(path) or "\0" in os.fspath(path):
        raise InputError(f"path={os.fspath(path)!r} is not the path of a file")
    return Path(path)


@contextmanager
def accessing(path: str | os.PathLike[str], what: str) -> Iterator[Path]:
    """Yield the path, and turn an OSError inside the context into a FileAccessError that names it.

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
        raise kind(f"cannot {what} {shown(os.fspath(path))}: {error.strerror or error}") from error


def write_atomically(path: str | os.PathLike[str], content: bytes) -> None:
    """Write a file beside the target and rename it to the target, so that a failure leaves the old file."""
    with written_beside(path) as beside, open(beside, "xb") as file:
        file.write(content)


@contextmanager
def written_beside(path: str | os.PathLike[str]) -> Iterator[Path]:
    """Yield the path of a new file beside the target, and rename that file over the target at the end.

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
