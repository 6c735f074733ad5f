"""The formats of tables, by the ending of a file's name, and the libraries that can be used for them."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path
from typing import NamedTuple

from hideseek.cli._usage import UsageError

__all__ = ["STANDARD_STREAM", "Format", "format_of", "installed", "is_stream"]

STANDARD_STREAM = "-"
_ENDINGS = {
    ".csv": "CSV",
    ".tsv": "TSV",
    ".parquet": "Parquet",
    ".arrow": "Arrow",
    ".feather": "Arrow",
}


class Format(NamedTuple):
    """How a table is written.

    Attributes:
        name: "CSV", "TSV", "Parquet" or "Arrow".
        zipped: Whether all of it went through gzip.
    """

    name: str
    zipped: bool = False

    @property
    def is_text(self) -> bool:
        """Whether it is lines of text."""
        return self.name in ("CSV", "TSV")


def is_stream(path: str) -> bool:
    """Whether it is standard input or output, or a pipe or device that is there."""
    return path == STANDARD_STREAM or (Path(path).exists() and not Path(path).is_file() and not Path(path).is_dir())


def format_of(path: str) -> Format:
    """The format that the ending of the name says; CSV for streams."""
    if is_stream(path):
        return Format("CSV")
    name = Path(path).name.lower()
    zipped = name.endswith(".gz")
    found = _ENDINGS.get(Path(name.removesuffix(".gz")).suffix)
    if found is None or (zipped and found not in ("CSV", "TSV")):
        raise UsageError(
            f"{path!r} has no ending of a table: expected {', '.join(_ENDINGS)}, .csv.gz, .tsv.gz, "
            f"or {STANDARD_STREAM} for CSV on standard input or output"
        )
    return Format(found, zipped)


def installed(*libraries: str) -> bool:
    """Whether all of them can be imported."""
    return all(find_spec(library) is not None for library in libraries)
