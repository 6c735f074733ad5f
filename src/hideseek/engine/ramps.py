"""Columns of an odd shape, seen in pieces as well.

A network resolves what lies about one deviation apart. Where most values of a column lie much closer together than its
deviation, as they do in the columns of money and counts that tables are full of, or in heaps, it sees too little. So
such a column is followed by ramps: each climbs from 0 to 1 between two quartiles of the column (a piecewise linear
encoding; Gorishniy et al., 2022, "On embeddings for numerical features in tabular deep learning").
"""

from __future__ import annotations

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
"""The largest distance to a normal distribution's cumulative shares at which a column is taken as it is. That of an
even spread is 0.06, of heavy tails (three degrees of freedom) 0.09, of an exponential 0.16."""

_BY_CHANCE = 1.2
"""Over the root of the number of rows: a distance that normal values hardly ever have."""


@dataclass(frozen=True)
class Ramps:
    """Ramps behind the columns that they belong to, each standardised; the columns are standardised already.

    Attributes:
        column: Which column each ramp is of, in order. Shape: ``(ramps,)``.
        low: Up to where it is 0. Shape: ``(ramps,)``.
        high: From where on it is 1. Shape: ``(ramps,)``.
        center: Its mean over the training rows. Shape: ``(ramps,)``.
        scale: Its deviation there. Shape: ``(ramps,)``.
        n_columns: Columns there are, with ramps or without.
    """

    column: NDArray[np.int64]
    low: NDArray[np.float64]
    high: NDArray[np.float64]
    center: NDArray[np.float64]
    scale: NDArray[np.float64]
    n_columns: int

    @classmethod
    def fit(cls, Z: NDArray[np.float64]) -> Self | None:
        """Ramps for the columns of an odd shape; None where no column has one. Shape: ``(rows, columns)``."""
        ends = [(j, low, high) for j, column in enumerate(Z.T) for low, high in pairwise(_knots(column))]
        if not ends:
            return None
        column, low, high = (np.array(part) for part in zip(*ends, strict=True))
        ramps = cls(column, low, high, np.zeros(len(ends)), np.ones(len(ends)), n_columns=Z.shape[1])
        values = ramps.values(torch.from_numpy(Z)).numpy()
        return replace(ramps, center=values.mean(axis=0), scale=values.std(axis=0))

    @property
    def widths(self) -> NDArray[np.int64]:
        """One and the ramps, of each column. Shape: ``(columns,)``."""
        return 1 + np.bincount(self.column, minlength=self.n_columns)

    @property
    def order(self) -> NDArray[np.intp]:
        """Of all columns and then all ramps, those that stand side by side. Shape: ``(columns + ramps,)``."""
        return np.argsort(np.concatenate((np.arange(self.n_columns), self.column)), kind="stable")

    def behind(self, columns: Tensor) -> Tensor:
        """Every column with its ramps behind it. Shape: ``(rows, columns)``, double -> ``(rows, columns + ramps)``."""
        both = torch.cat((columns, self.values(columns)), dim=1)
        return both[:, torch.from_numpy(self.order).to(both.device)]

    def values(self, columns: Tensor) -> Tensor:
        """Shape: ``(rows, columns)``, double -> ``(rows, ramps)``."""
        column, low, high, center, scale = (
            torch.from_numpy(part).to(columns.device)
            for part in (self.column, self.low, self.high, self.center, self.scale)
        )
        return columns[:, column].sub_(low).div_(high - low).clamp_(0, 1).sub_(center).div_(scale)


def _knots(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Where the ramps of a column begin and end; none for one that is taken as it is."""
    knots = np.unique(np.quantile(values, np.linspace(0, 1, _PIECES + 1)))
    odd = max(_ODD, _BY_CHANCE / len(values) ** 0.5)
    return knots if len(knots) > 2 and _distance_to_normal(values) > odd else np.empty(0)


def _distance_to_normal(values: NDArray[np.float64]) -> float:
    """The largest difference between the cumulative shares and those of a normal distribution (Kolmogorov's)."""
    deviations = (np.sort(values) - values.mean()) / values.std()
    expected = torch.special.ndtr(torch.from_numpy(deviations)).numpy()
    shares = np.arange(len(values) + 1) / len(values)
    return float(max((shares[1:] - expected).max(), (expected - shares[:-1]).max()))
