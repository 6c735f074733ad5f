"""Replacement by knockoffs: a hidden value is drawn given the row, so that it fits the values that are shown.

Knockoffs x_hat of x are drawn without looking at the label, and in such a way that swapping x_j and x_hat_j, for any
set of columns, leaves the law of (x, x_hat) as it is (Candès et al., 2018, "Panning for gold").
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from typing import Self

import torch
from torch import Tensor

from hideseek.engine.draws import Draws, all_cells
from hideseek.engine.per_table import PerTable

__all__ = ["GaussianKnockoffs", "Knockoffs", "correlation", "equicorrelated", "maximum_entropy"]

_LEAST_EIGENVALUE = 1e-3
_NEWTON_STEPS = 200
_NEWTON_TOLERANCE = 1e-6


class Knockoffs(PerTable, ABC):
    """Base class: a knockoff is a fixed function of the row and of standard normal noise, one number per column.

    It is fitted to whole rows. A member that sees only some columns gets knockoffs that are drawn given all of them.
    """

    @classmethod
    @abstractmethod
    def fit(cls, X: Tensor, seeds: Sequence[int]) -> Self:
        """Fit each table independently, with its own seed. Shape: ``X (tables, columns, rows)``."""

    @abstractmethod
    def given(self, x: Tensor) -> Callable[[Tensor], Tensor]:
        """Return the function from noise to x_hat for these rows; what depends on x only is computed once.

        Shape: ``x (..., members, columns, rows)``; ``noise``, as x or with one row for all -> as x.
        """

    @staticmethod
    def of_all(knockoffs: Sequence[Knockoffs]) -> Knockoffs:
        """Return the knockoffs of several tables, all of one kind, as one."""
        return type(knockoffs[0])(*map(torch.cat, zip(*(each.tensors for each in knockoffs), strict=True)))

    def draw(self, keys: Tensor, x: Tensor, draws: Draws | None = None) -> Tensor:
        """See ``Replacement.draw``."""
        _, columns, rows = x.shape
        shape = (-1, len(self.tensors[0]), columns, rows)
        noise = (draws or all_cells(keys, columns * rows)).normal(keys)
        return self.given(x.reshape(shape))(noise.view(shape)).view(x.shape)


class GaussianKnockoffs(Knockoffs):
    """Knockoffs that match the first two moments; exact if the rows are Gaussian.

    x_hat | x ~ N(x - S R^-1 x, 2 S - S R^-1 S) in standardised columns, where R is their correlation and S = diag(s):
    then Cov(x_hat) = R and Cov(x, x_hat) = R - S. Where an eigenvalue of the sample's correlation is smaller than
    columns / rows, it cannot be distinguished from zero, and columns would appear to be functions of each other. R is
    then mixed with the identity until the smallest is columns / rows (at least 0.001, at most 0.5).
    A constant column is its own knockoff.

    Args:
        offset: Shape: ``(tables, columns, 1)``.
        shift: Shape: ``(tables, columns, columns)``.
        spread: Shape: ``(tables, columns, columns)``. x_hat = offset + shift x + spread noise.
    """

    def __init__(self, offset: Tensor, shift: Tensor, spread: Tensor) -> None:
        super().__init__(offset, shift, spread)

    @classmethod
    def fit(cls, X: Tensor, seeds: Sequence[int] = (), gaps: Callable[[Tensor], Tensor] | None = None) -> Self:
        """Fit mean and covariance of each table, in double precision.

        Args:
            X: Shape: ``(tables, columns, rows)``.
            seeds: Not used: the fit is deterministic.
            gaps: Computes s from R: ``equicorrelated`` or ``maximum_entropy`` (the default).
        """
        laws = zip(*(_conditional_law(table, gaps or maximum_entropy) for table in X), strict=True)
        return cls(*(torch.stack(parts).to(X.device, torch.float32) for parts in laws))

    def given(self, x: Tensor) -> Callable[[Tensor], Tensor]:
        """See ``Knockoffs.given``."""
        offset, shift, spread = self.tensors
        center = offset + shift @ x
        return lambda noise: center + spread @ noise


def equicorrelated(R: Tensor) -> Tensor:
    """Return the largest s that is the same for all columns: min(1, 2 * smallest eigenvalue).

    If it is less than 1, some linear combination of x and x_hat has no variance, so that hidden values could be
    computed from shown ones. Shape: ``R (columns, columns)`` -> ``(columns,)``.
    """
    return (2 * _least_eigenvalue(R)).clamp(max=1.0).expand(len(R))


def maximum_entropy(R: Tensor) -> Tensor:
    """Return the s that maximises the entropy of (x, x_hat), log det S + log det(2 R - S).

    The mixed row then reveals as little as possible about the hidden values. Each column has its own s, so that two
    nearly equal columns do not affect the others. Damped Newton steps: the objective is self-concordant, so that a step
    multiplied by 1 / (1 + decrement) never leaves the feasible set.
    Shape: ``R (columns, columns)`` -> ``(columns,)``.
    """
    s = _least_eigenvalue(R).expand(len(R))
    for _ in range(_NEWTON_STEPS):
        inverse = torch.linalg.inv(2 * R - s.diag())
        slope = 1 / s - inverse.diagonal()
        step = torch.linalg.solve((1 / s**2).diag() + inverse**2, slope)
        decrement = (slope @ step).clamp(min=0.0).sqrt()
        s = s + step / (1 + decrement)
        if decrement < _NEWTON_TOLERANCE:
            break
    return s


def _conditional_law(X: Tensor, gaps: Callable[[Tensor], Tensor]) -> tuple[Tensor, Tensor, Tensor]:
    """Return offset, shift and spread of one table, in double precision. Shape: ``X (columns, rows)``."""
    varies = X.amax(dim=1) > X.amin(dim=1)
    deviation, mean = torch.std_mean(X, dim=1, correction=0)
    unit = torch.where(varies, deviation, 1.0)
    R = correlation((X - mean[:, None]) / unit[:, None])
    s = gaps(R)
    mean, unit = mean.cpu().double(), unit.cpu().double()
    deviation = torch.where(varies.cpu(), unit, 0.0)  # a constant column is its own knockoff

    pull = s[:, None] * torch.linalg.inv(R)
    shift = deviation[:, None] * (torch.eye(len(R), dtype=R.dtype) - pull) / unit
    # The symmetric root is unique and, unlike a Cholesky factor, exists for a singular covariance.
    variances, axes = torch.linalg.eigh(2 * s.diag() - pull * s)
    spread = deviation[:, None] * ((axes * variances.clamp(min=0.0).sqrt()) @ axes.t())
    return (mean - shift @ mean)[:, None], shift, spread


def correlation(Z: Tensor) -> Tensor:
    """Return the correlation of standardised columns, mixed with the identity as ``GaussianKnockoffs`` describes.

    Shape: ``Z (columns, rows)`` -> ``(columns, columns)``, float64 on the CPU.
    """
    n_columns, n_rows = Z.shape
    R = (Z @ Z.t() / n_rows).cpu().double().fill_diagonal_(1.0)
    floor = min(max(n_columns / n_rows, _LEAST_EIGENVALUE), 0.5)
    least = _least_eigenvalue(R).clamp(max=floor)
    share = (floor - least) / (1 - least)
    return (1 - share) * R + share * torch.eye(n_columns, dtype=R.dtype)


def _least_eigenvalue(R: Tensor) -> Tensor:
    eigenvalues: Tensor = torch.linalg.eigvalsh(R)
    return eigenvalues[0]
