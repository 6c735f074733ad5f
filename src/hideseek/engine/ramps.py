"""Additional piecewise linear inputs ("ramps") for columns that are far from normally distributed.

A network distinguishes values that are about one standard deviation apart. In skewed columns, such as amounts of money
and counts, or columns of few repeated values, most values are much closer together. Such a column is followed by ramps:
each rises from 0 to 1 between two neighbouring quartiles of the column (a piecewise linear encoding; Gorishniy et al.,
2022, "On embeddings for numerical features in tabular deep learning"). The widest of these pieces has no ramp: it is a
linear combination of the column and the others.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Self

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

__all__ = ["Ramps"]

_PIECES = 4
_ODD = 0.08
"""Largest Kolmogorov distance to a normal distribution at which a column gets no ramps. A uniform distribution has
0.06, a t distribution with three degrees of freedom 0.09, an exponential 0.16."""

_BY_CHANCE = 1.2
"""Divided by the root of the number of rows: a distance that normal samples hardly ever exceed."""


_CELLS_AT_ONCE = 2**25
"""Cells of tables that are looked at together."""


@dataclass(frozen=True)
class Ramps:
    """Standardised ramps of standardised columns; the ramps of a column are placed after it.

    Attributes:
        column: The column of each ramp, ascending. Shape: ``(ramps,)``.
        low: Value up to which the ramp is 0. Shape: ``(ramps,)``.
        high: Value from which it is 1. Shape: ``(ramps,)``.
        center: Its mean over the training rows. Shape: ``(ramps,)``.
        scale: Its standard deviation over the training rows. Shape: ``(ramps,)``.
        n_columns: Number of columns, with ramps or without.
    """

    column: NDArray[np.int64]
    low: NDArray[np.float64]
    high: NDArray[np.float64]
    center: NDArray[np.float64]
    scale: NDArray[np.float64]
    n_columns: int

    @classmethod
    def fit(cls, Z: NDArray[np.float64]) -> Self | None:
        """Return ramps for columns far from normal; None if there are none. Shape: ``(rows, columns)``."""
        return cls.fit_all([Z])[0]

    @classmethod
    def fit_all(cls, tables: Sequence[NDArray[np.float64]], device: torch.device | None = None) -> list[Self | None]:
        """Return the ramps of each table; all have equally many rows.

        Args:
            tables: Shape of each: ``(rows, columns)``.
            device: Where to look for columns far from normal; the CPU if not given.
        """
        at_once = max(1, _CELLS_AT_ONCE // max(Z.size for Z in tables))
        found: list[Self | None] = []
        for some in (tables[start : start + at_once] for start in range(0, len(tables), at_once)):
            pieces = iter(_pieces(_ordered(some, device)))
            found += [cls._of(Z, [next(pieces) for _ in range(Z.shape[1])]) for Z in some]
        return found

    @classmethod
    def _of(cls, Z: NDArray[np.float64], pieces: Sequence[Sequence[tuple[float, float]]]) -> Self | None:
        """Return the ramps of a table, given those pieces of each column that have one."""
        ends = [(j, low, high) for j, own in enumerate(pieces) for low, high in own]
        if not ends:
            return None
        column, low, high = (np.array(part) for part in zip(*ends, strict=True))
        ramps = cls(column, low, high, np.zeros(len(ends)), np.ones(len(ends)), n_columns=Z.shape[1])
        values = ramps.values(torch.from_numpy(Z)).numpy()
        return replace(ramps, center=values.mean(axis=0), scale=values.std(axis=0))

    @property
    def widths(self) -> NDArray[np.int64]:
        """Return the number of inputs of each column: itself and its ramps. Shape: ``(columns,)``."""
        return 1 + np.bincount(self.column, minlength=self.n_columns)

    @property
    def order(self) -> NDArray[np.intp]:
        """Return the permutation that puts each column's ramps directly after it. Shape: ``(columns + ramps,)``."""
        return np.argsort(np.concatenate((np.arange(self.n_columns), self.column)), kind="stable")

    @property
    def is_column(self) -> NDArray[np.bool_]:
        """Return which of the inputs are columns and not ramps. Shape: ``(columns + ramps,)``."""
        return self.order < self.n_columns

    def only(self, column: int) -> Self | None:
        """Return the ramps of one column; None if it has none."""
        own = self.column == column
        low, high, center, scale = (part[own] for part in (self.low, self.high, self.center, self.scale))
        return type(self)(np.zeros(own.sum(), dtype=np.int64), low, high, center, scale, 1) if own.any() else None

    def behind(self, columns: Tensor) -> Tensor:
        """Insert the ramps of each column after it.

        Shape: ``(rows, columns)``, double -> ``(rows, columns + ramps)``.
        """
        both = torch.cat((columns, self.values(columns)), dim=1)
        return both[:, torch.from_numpy(self.order).to(both.device)]

    def values(self, columns: Tensor) -> Tensor:
        """Return the values of the ramps. Shape: ``(rows, columns)``, double -> ``(rows, ramps)``."""
        column, low, high, center, scale = (
            torch.from_numpy(part).to(columns.device)
            for part in (self.column, self.low, self.high, self.center, self.scale)
        )
        return columns[:, column].sub_(low).div_(high - low).clamp_(0, 1).sub_(center).div_(scale)


def _ordered(tables: Sequence[NDArray[np.float64]], device: torch.device | None) -> Tensor:
    """Return the values of each column of all tables in ascending order. Shape: ``(columns, rows)``."""
    if device is None or device.type == "cpu":
        return torch.cat([torch.from_numpy(np.sort(Z.T, axis=1)) for Z in tables])  # faster than torch's
    return torch.cat([torch.from_numpy(Z).to(device).t() for Z in tables]).sort(dim=1).values


def _pieces(ordered: Tensor) -> list[list[tuple[float, float]]]:
    """Return where the ramps of each column begin and end; none for a column close to normal.

    Shape: ``(columns, rows)``, ascending.
    """
    odd = max(_ODD, _BY_CHANCE / ordered.shape[1] ** 0.5)
    pieces: list[list[tuple[float, float]]] = [[] for _ in ordered]
    for j in torch.nonzero(_distances_to_normal(ordered) > odd)[:, 0].tolist():
        knots = np.unique(np.quantile(ordered[j].cpu().numpy(), np.linspace(0, 1, _PIECES + 1)))
        own = list(pairwise(knots.tolist()))
        widest = int(np.diff(knots).argmax()) if own else 0
        pieces[j] = own[:widest] + own[widest + 1 :]
    return pieces


def _distances_to_normal(ordered: Tensor) -> Tensor:
    """Return the Kolmogorov distance between each column and a normal distribution; NaN for a constant column.

    Shape: ``(columns, rows)``, ascending -> ``(columns,)``.
    """
    n_rows = ordered.shape[1]
    mean, deviation = ordered.mean(dim=1, keepdim=True), ordered.std(dim=1, keepdim=True, correction=0)
    expected = torch.special.ndtr((ordered - mean) / deviation)
    shares = torch.arange(n_rows + 1, dtype=torch.float64, device=ordered.device) / n_rows
    above, below = (shares[1:] - expected).amax(dim=1), (expected - shares[:-1]).amax(dim=1)
    return torch.maximum(above, below)
