"""Read a table from a file or standard input, with the installed libraries."""

from __future__ import annotations

import codecs
import csv
import gzip
import io
import sys
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hideseek.cli._formats import STANDARD_STREAM, format_of, installed
from hideseek.cli._printable import printable, shortened
from hideseek.errors import InputError
from hideseek.warn import warn_caller

if TYPE_CHECKING:
    import narwhals as nw

__all__ = ["read_table", "title"]

_MISSING = ("", "NA", "N/A", "NaN", "nan", "null", "NULL")
"""Texts that mean a missing value, the same for every library."""
_SEPARATORS = ",;\t|"
_LONGEST_REASON = 200
"""Maximum length of a quoted error of another library, which may itself quote the file."""


def title(source: str) -> str:
    """Return the name of a table for messages."""
    return "standard input" if source == STANDARD_STREAM else source


def read_table(source: str) -> nw.DataFrame[Any]:
    """Read the table in a file, or CSV from standard input; it must have at least one row.

    Args:
        source: A path whose extension gives the format, or "-".
    """
    import narwhals as nw

    form, name = format_of(source), title(source)
    read = _reader(form.name)
    content = sys.stdin.buffer.read() if source == STANDARD_STREAM else Path(source).read_bytes()
    if not content.strip():
        raise InputError(f"{name} is empty: expected a {form.name} table")
    try:
        frame: nw.DataFrame[Any] = nw.from_native(
            read(gzip.decompress(content) if form.zipped else content), eager_only=True
        )
    except InputError as error:
        raise InputError(f"{name}: {error}") from error
    except Exception as error:  # each library raises its own errors
        reason = shortened(printable(next(iter(str(error).splitlines()), type(error).__name__)), _LONGEST_REASON)
        raise InputError(f"{name} cannot be read as {form.name}: {reason}") from error
    if not frame.columns or not len(frame):
        raise InputError(f"{name} has {len(frame.columns)} columns and no rows: expected at least one row")
    return frame


def _reader(form: str) -> Callable[[bytes], Any]:
    """Return the function that reads a format with the first installed library."""
    if form in ("CSV", "TSV"):
        for library, read_text in _TEXT_READERS.items():
            if installed(library):
                return lambda content: _read_text(content, read_text, "\t" if form == "TSV" else None)
        raise ModuleNotFoundError(f"reading {form} needs pandas, polars or pyarrow: pip install 'hideseek[data]'")
    if installed("pyarrow"):
        return _BINARY_READERS[form]
    raise ModuleNotFoundError(f"reading {form} needs pyarrow: pip install pyarrow")


def _read_text(content: bytes, read: Callable[[bytes, str], Any], separator: str | None) -> Any:
    """Read a text table after checking its header, since each library repairs a bad header differently."""
    import narwhals as nw

    content = content.removeprefix(codecs.BOM_UTF8)
    try:
        header = content.partition(b"\n")[0].decode().rstrip("\r")
        content[len(header) :].decode()
    except UnicodeDecodeError as error:
        raise InputError("the text is not UTF-8; save it as UTF-8 (in a spreadsheet: CSV UTF-8)") from error
    separator = separator or max(_SEPARATORS, key=header.count)
    names = next(csv.reader([header], delimiter=separator), [])
    twice = sorted({name for name in names if name and names.count(name) > 1})
    if twice:
        raise InputError(f"columns of the same name: {', '.join(map(repr, twice))}; rename all but one of each")
    frame = read(content, separator)
    nameless = [j for j, name in enumerate(names) if not name.strip()]
    if not nameless:
        return frame
    which = ", ".join(str(j + 1) for j in nameless)
    warn_caller(f"ignored: column {which}, which has no name (perhaps a row index); name the column to use it")
    table = nw.from_native(frame, eager_only=True)
    return table.select([name for j, name in enumerate(table.columns) if j not in nameless]).to_native()


def _text_with_pandas(content: bytes, separator: str) -> Any:
    import pandas as pd

    with warnings.catch_warnings():
        warnings.simplefilter(
            "error", pd.errors.ParserWarning
        )  # raised for lines with too many cells, which would be truncated
        return pd.read_csv(
            io.BytesIO(content),
            sep=separator,
            index_col=False,
            keep_default_na=False,
            na_values=list(_MISSING),
            low_memory=False,
            float_precision="round_trip",  # older versions lose the last digits
        )


def _text_with_polars(content: bytes, separator: str) -> Any:
    import polars as pl

    return pl.read_csv(content, separator=separator, null_values=list(_MISSING), infer_schema_length=None)


def _text_with_pyarrow(content: bytes, separator: str) -> Any:
    from pyarrow import csv as arrow_csv

    return arrow_csv.read_csv(
        io.BytesIO(content),
        parse_options=arrow_csv.ParseOptions(delimiter=separator),
        convert_options=arrow_csv.ConvertOptions(null_values=list(_MISSING), strings_can_be_null=True),
    )


def _parquet(content: bytes) -> Any:
    from pyarrow import BufferReader
    from pyarrow.parquet import ParquetFile

    return _validated(ParquetFile(BufferReader(content)).read())


def _arrow(content: bytes) -> Any:
    from pyarrow import BufferReader, ipc

    # Without threads: in a forked process, a failing decompression in a thread never returns.
    options = ipc.IpcReadOptions(use_threads=False)
    return _validated(ipc.open_file(BufferReader(content), options=options).read_all())


def _validated(table: Any) -> Any:
    """Return a pyarrow table, as pandas if it is installed, after checking that all its offsets are inside the file.

    Arrow does not check the lengths, offsets and positions in a file; in a malformed one they can point to other memory
    of this process, whose bytes would then be read as data.
    """
    table.validate(full=True)
    return table.to_pandas() if installed("pandas") else table


_TEXT_READERS = {"pandas": _text_with_pandas, "polars": _text_with_polars, "pyarrow": _text_with_pyarrow}
_BINARY_READERS = {"Parquet": _parquet, "Arrow": _arrow}
"""pyarrow only: polars does not validate what it reads, and aborts the process on some malformed files."""
