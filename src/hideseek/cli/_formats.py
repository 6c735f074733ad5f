"""Table formats by file extension, and the libraries that can read and write them."""

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
    """The format of a table file.

    Attributes:
        name: "CSV", "TSV", "Parquet" or "Arrow".
        zipped: Whether the file is compressed with gzip.
    """

    name: str
    zipped: bool = False

    @property
    def is_text(self) -> bool:
        """Return whether it is a text format."""
        return self.name in ("CSV", "TSV")


def is_stream(path: str) -> bool:
    """Return whether the path is standard input or output, or an existing pipe or device."""
    return path == STANDARD_STREAM or (Path(path).exists() and not Path(path).is_file() and not Path(path).is_dir())


def format_of(path: str) -> Format:
    """Return the format given by the extension of the path; CSV for streams."""
    if is_stream(path):
        return Format("CSV")
    name = Path(path).name.lower()
    zipped = name.endswith(".gz")
    found = _ENDINGS.get(Path(name.removesuffix(".gz")).suffix)
    if found is None or (zipped and found not in ("CSV", "TSV")):
        raise UsageError(
            f"{path!r} does not have the extension of a table: expected {', '.join(_ENDINGS)}, .csv.gz, .tsv.gz, "
            f"or {STANDARD_STREAM} for CSV on standard input or output"
        )
    return Format(found, zipped)


def installed(*libraries: str) -> bool:
    """Return whether all of these libraries can be imported."""
    return all(find_spec(library) is not None for library in libraries)
