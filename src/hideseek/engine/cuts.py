"""Cuts: values of a column at which the answer jumps.

A network changes its answer gradually, over a stretch of a column, where the truth changes at one value. Rows on that
stretch are therefore moved to its end on their own side of the cut before the networks see them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

__all__ = ["Cuts"]


@dataclass(frozen=True)
class Cuts:
    """Cuts of standardised columns; the margins of two cuts of a column do not overlap.

    Attributes:
        column: The column of each cut. Shape: ``(cuts,)``.
        at: Where it is: values from here on are above it. Shape: ``(cuts,)``.
        margin: How far from it values are at least after ``apart``. Shape: ``(cuts,)``.
    """

    column: NDArray[np.int64]
    at: NDArray[np.float64]
    margin: NDArray[np.float64]

    @classmethod
    def none(cls) -> Self:
        """Return no cuts."""
        return cls(np.empty(0, dtype=np.int64), np.empty(0), np.empty(0))

    def __len__(self) -> int:
        return len(self.column)

    def plus(self, column: int, at: float, margin: float) -> Self:
        """Return these cuts and one more."""
        return type(self)(np.append(self.column, column), np.append(self.at, at), np.append(self.margin, margin))

    def room(self, column: int, at: float) -> float:
        """Return the widest margin that another cut can have here: up to the margins of its neighbours."""
        own = self.column == column
        return float((np.abs(self.at[own] - at) - self.margin[own]).min(initial=np.inf))

    @property
    def are_apart(self) -> bool:
        """Return whether no margin reaches that of another cut of the column."""
        order = np.lexsort((self.at, self.column))
        column, at, margin = self.column[order], self.at[order], self.margin[order]
        reach = (at + margin)[:-1] <= (at - margin)[1:]
        return bool((reach | (column[1:] != column[:-1])).all())

    def apart(self, columns: Tensor) -> Tensor:
        """Return the columns with values moved away from the cuts. Shape: ``(rows, columns)``, double -> the same."""
        moved = columns.clone()
        for column, at, margin in zip(self.column.tolist(), self.at.tolist(), self.margin.tolist(), strict=True):
            values = moved[:, column]
            above = columns[:, column] >= at
            moved[:, column] = torch.where(above, values.clamp(min=at + margin), values.clamp(max=at - margin))
        return moved
