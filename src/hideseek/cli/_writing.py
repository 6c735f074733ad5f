"""Write the results of commands: files are replaced only on request, and never written partially."""

from __future__ import annotations

import csv
import gzip
import io
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hideseek.cli._formats import STANDARD_STREAM, Format, format_of, installed, is_stream
from hideseek.cli._printable import LAYOUT, printable
from hideseek.cli._usage import UsageError
from hideseek.errors import FileAccessError, InputError
from hideseek.files import write_atomically

if TYPE_CHECKING:
    import narwhals as nw

__all__ = [
    "check_free",
    "check_suffix",
    "encode_table",
    "with_path_in_errors",
    "write_bytes",
    "write_to_standard_output",
]


def check_suffix(path: str, suffix: str, what: str) -> None:
    """Raise if the file's extension does not match its content."""
    if Path(path).suffix.lower() != suffix:
        raise UsageError(f"--out {path}: {what} is a {suffix} file")


def check_free(path: str, *, force: bool) -> None:
    """Raise, before the work, if the result could not be written or would replace a file without --force."""
    if is_stream(path):
        return
    target = Path(path)
    if target.is_dir():
        raise InputError(f"cannot write {path}: it is a folder")
    if not target.parent.is_dir():
        raise InputError(f"cannot write {path}: there is no folder {str(target.parent)!r}")
    if target.exists() and not force:
        raise InputError(f"{path} exists; pass --force to replace it, or another name")
    if not os.access(target.parent, os.W_OK):
        raise InputError(f"cannot write {path}: no permission to write in {str(target.parent)!r}")


def write_bytes(path: str, content: bytes) -> None:
    """Write to standard output, to an existing pipe or device, or atomically to a file.

    On a terminal, control characters are written as escapes.
    """
    if path == STANDARD_STREAM:
        with with_path_in_errors("to standard output"):
            write_to_standard_output(_for_terminal(content) if sys.stdout.isatty() else content)
        return
    with with_path_in_errors(path):
        if is_stream(path):  # an atomic write would replace the pipe or device by a file
            with open(path, "wb") as stream:
                stream.write(_for_terminal(content) if stream.isatty() else content)
        else:
            write_atomically(path, content)


def _for_terminal(content: bytes) -> bytes:
    return printable(content.decode(errors="backslashreplace"), keep=LAYOUT).encode()


def write_to_standard_output(content: bytes) -> None:
    """Write all of the content; an unbuffered stream may take a part at a time."""
    sys.stdout.flush()
    stream = getattr(sys.stdout, "buffer", None)
    if stream is None:  # a replaced stream that accepts text only
        sys.stdout.write(content.decode())
        return
    rest = memoryview(content)
    while rest:
        rest = rest[stream.write(rest) :]
    stream.flush()


@contextmanager
def with_path_in_errors(path: str) -> Iterator[None]:
    """Turn errors of writing into an InputError that names the file and the reason."""
    try:
        yield
    except BrokenPipeError:
        raise
    except OSError as error:
        cause = error.__cause__ if isinstance(error, FileAccessError) else error
        reason = cause.strerror if isinstance(cause, OSError) else None
        raise InputError(f"cannot write {path}: {reason or error}") from error


def encode_table(table: nw.DataFrame[Any], path: str) -> bytes:
    """Return the table in the format given by the path's extension."""
    form = format_of(path)
    if form.is_text:
        text = _text(table, form).encode()
        return gzip.compress(text, compresslevel=6, mtime=0) if form.zipped else text
    buffer = io.BytesIO()
    if installed("pyarrow"):
        from pyarrow import feather, parquet

        write = parquet.write_table if form.name == "Parquet" else feather.write_feather
        write(table.to_arrow(), buffer)
    elif installed("polars"):
        native: Any = table.to_polars()
        (native.write_parquet if form.name == "Parquet" else native.write_ipc)(buffer)
    else:
        raise ModuleNotFoundError(f"writing {form.name} needs pyarrow or polars: pip install pyarrow")
    return buffer.getvalue()


def _text(table: nw.DataFrame[Any], form: Format) -> str:
    buffer = io.StringIO()
    writer = csv.writer(buffer, delimiter="\t" if form.name == "TSV" else ",", lineterminator="\n")
    writer.writerow(table.columns)
    writer.writerows(zip(*(_cells(table[name]) for name in table.columns), strict=True))
    return buffer.getvalue()


def _cells(column: nw.Series[Any]) -> list[Any]:
    """Return values as text: the fewest digits that give the same number back, empty for a missing value."""
    values = column.to_numpy()
    cells = (values.astype(str) if values.dtype.kind in "fM" else values).tolist()
    return ["" if missing or _is_nan(cell) else cell for cell, missing in zip(cells, column.is_null(), strict=True)]


def _is_nan(cell: Any) -> bool:
    return isinstance(cell, str) and cell == "nan"  # the cell may be a list, which would compare elementwise
