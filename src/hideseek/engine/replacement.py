"""Replacement values for hidden features."""

from __future__ import annotations

from collections.abc import Sequence
from copy import copy
from typing import Protocol, Self

import torch
from torch import Tensor

from hideseek.engine.deep_knockoffs import DeepKnockoffs
from hideseek.engine.draws import Draws, all_cells
from hideseek.engine.groups import Groups
from hideseek.engine.knockoffs import GaussianKnockoffs, Knockoffs
from hideseek.engine.reference_knockoffs import ReferenceKnockoffs

__all__ = ["CONDITIONAL", "KNOCKOFFS", "REPLACEMENTS", "Marginal", "Replacement", "fit_knockoffs"]

KNOCKOFFS: dict[str, type[Knockoffs]] = {
    "gaussian_knockoff": GaussianKnockoffs,
    "deep_knockoff": DeepKnockoffs,
    "reference_knockoff": ReferenceKnockoffs,
}
CONDITIONAL = "conditional"
REPLACEMENTS = ("marginal", *KNOCKOFFS, CONDITIONAL)
"""Names of the ways to draw a hidden value."""


def fit_knockoffs(name: str, X: Tensor, seeds: Sequence[int]) -> Knockoffs | None:
    """Fit the knockoffs named in ``REPLACEMENTS``; None for the others.

    Shape: ``X (tables, columns, rows)``; one seed for each table.
    """
    return KNOCKOFFS[name].fit(X, seeds) if name in KNOCKOFFS else None


class Replacement(Protocol):
    """Draws x_hat, the replacement of x."""

    def part(self, members: slice) -> Self:
        """Return the replacement for some of the members."""

    def draw(self, keys: Tensor, x: Tensor, draws: Draws | None = None) -> Tensor:
        """Draw for all members at one step, or at several, one after the other.

        Args:
            keys: Shape: ``(steps * members, 2)``.
            x: What is replaced. Shape: ``(steps * members, columns, rows)``.
            draws: Draws for the cells of one member's x, feature by feature; None: cells are numbered from 0.

        Returns:
            x_hat, of the shape of x; from a ``Conditional``, the noise that it makes x_hat of when the mask is known.
        """


class Marginal:
    """Draws each cell from its own column of the training rows, independently of everything else (eq. 7).

    All columns of one feature are drawn from the same row, so that the drawn value is one the feature can have.

    Args:
        X: The tables to draw from. Shape: ``(tables, columns, rows)``.
        table: The table of each member. Shape: ``(members,)``, int64.
        groups: The columns of each feature; None: one each.
    """

    def __init__(self, X: Tensor, table: Tensor, groups: Groups | None = None) -> None:
        _, n_columns, self._n_rows = X.shape
        self._groups = groups
        self._values = X.reshape(-1)
        starts = torch.arange(n_columns, device=X.device) + table[:, None] * n_columns
        self._starts = (starts * self._n_rows)[:, :, None]

    def part(self, members: slice) -> Self:
        """See ``Replacement.part``."""
        part = copy(self)
        part._starts = self._starts[members]
        return part

    def draw(self, keys: Tensor, x: Tensor, draws: Draws | None = None) -> Tensor:
        """See ``Replacement.draw``; only the shape of x is used."""
        n_features = x.shape[1] if self._groups is None else self._groups.n_features
        draws = draws or all_cells(keys, n_features * x.shape[2])
        picks = draws.integers(keys, self._n_rows).view(-1, len(self._starts), n_features, x.shape[2])
        if self._groups is not None:
            picks = self._groups.to_columns(picks, dim=2)
        picks += self._starts
        return draws.values_at(picks, self._values).view(x.shape)
