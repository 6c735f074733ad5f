"""Paths given by users, and atomic writing of files."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from uuid import uuid4

from hideseek.errors import ArgumentTypeError, FileAccessError, InputError, MissingFileError
from hideseek.wording import shown

__all__ = ["accessing", "as_path", "write_atomically"]


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
    with accessing(path, "write") as target:
        if not target.parent.is_dir():
            raise MissingFileError(f"cannot write {os.fspath(path)!r}: there is no folder {str(target.parent)!r}")
        beside = target.with_name(f".{target.name}.{uuid4().hex[:8]}")
        try:
            with open(beside, "xb") as file:
                file.write(content)
                file.flush()
                os.fsync(file.fileno())
            os.replace(beside, target)
        finally:
            beside.unlink(missing_ok=True)
