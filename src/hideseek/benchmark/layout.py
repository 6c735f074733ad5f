"""Tables of results, as text, Markdown, CSV or a frame."""

from __future__ import annotations

import csv
import io
import os
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from hideseek.files import write_atomically
from hideseek.frames import FrameLibrary, make_frame

__all__ = ["Table"]


class Table:
    """Lines with the same columns; iterating yields each line as a dict.

    Args:
        columns: The names of the columns, in order.
        lines: For each line, a mapping from column to value; None where there is no value.
    """

    def __init__(self, columns: Sequence[str], lines: Sequence[Mapping[str, Any]]) -> None:
        self.columns = tuple(columns)
        self._lines = [{name: line.get(name) for name in self.columns} for line in lines]

    def __iter__(self) -> Iterator[dict[str, Any]]:
        return iter(self._lines)

    def __len__(self) -> int:
        return len(self._lines)

    def __getitem__(self, line: int) -> dict[str, Any]:
        return self._lines[line]

    def __str__(self) -> str:
        cells = [self.columns, *([_short(value) for value in line.values()] for line in self)]
        widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
        return "\n".join(
            "  ".join(text.ljust(width) for text, width in zip(row, widths, strict=True)).rstrip() for row in cells
        )

    def to_markdown(self) -> str:
        """Return a Markdown table, with four digits."""
        rows = [self.columns, ["---"] * len(self.columns)]
        rows += [[_short(value).replace("|", "\\|") for value in line.values()] for line in self]
        return "\n".join(f"| {' | '.join(row)} |" for row in rows) + "\n"

    def to_csv(self, path: str | os.PathLike[str]) -> None:
        """Write a CSV file, atomically."""
        text = io.StringIO()
        writer = csv.DictWriter(text, self.columns, lineterminator="\n")
        writer.writeheader()
        for line in self:
            writer.writerow({name: f"{v:.6g}" if isinstance(v, float) else v for name, v in line.items()})
        write_atomically(path, text.getvalue().encode())

    def to_frame(self, library: FrameLibrary = "pandas") -> Any:
        """Return a frame of that library."""
        return make_frame({name: [line[name] for line in self] for name in self.columns}, library)


def _short(value: Any) -> str:
    if value is None:
        return ""
    return f"{value:.4g}" if isinstance(value, float) else str(value)
