"""Blocks of rows of large tables. Standard library only."""

from __future__ import annotations

from collections.abc import Iterator

__all__ = ["row_blocks"]

_CELLS = 2**20


def row_blocks(n_rows: int, n_columns: int, cells: int = _CELLS) -> Iterator[slice]:
    """Yield slices of rows of about ``cells`` cells each, so that copies of a large table stay small."""
    size = max(1, cells // max(1, n_columns))
    for start in range(0, n_rows, size):
        yield slice(start, min(start + size, n_rows))
