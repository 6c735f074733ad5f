"""Pools: the rows that replace hidden features in predictions, drawn once and kept with a fitted model."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray
from torch import Tensor

from hideseek.engine.draws import Stream, integers, normal, step_keys
from hideseek.engine.groups import Groups
from hideseek.engine.strata import stratified

__all__ = ["POOLS", "POOL_ROWS", "draw_noise", "draw_pool", "draw_pools", "neighbours_averaged"]

POOL_ROWS = 256
"""Replacement rows stored with a fitted model: the largest number of draws that a prediction can average."""

POOLS = ("values", "means")
"""Contents of a pool: values of training rows, or means of neighbouring ones."""

_MEAN_OF = 16
"""Number of values averaged into one mean."""


def draw_pool(seed: int, X: Tensor, groups: Groups | None = None) -> Tensor:
    """Draw replacement rows for predictions, each feature independently from its own columns, in stratified order.

    Shape: ``(rows, columns)`` -> ``(POOL_ROWS, columns)``.
    """
    return draw_pools([seed], X[None], groups)[0]


def draw_pools(seeds: Sequence[int], X: Tensor, groups: Groups | None = None) -> Tensor:
    """Draw the replacement rows of several tables, as ``draw_pool`` does with the seed of each.

    Shape: ``(tables, rows, columns)`` -> ``(tables, POOL_ROWS, columns)``.
    """
    n_tables, n_rows, n_columns = X.shape
    keys = step_keys(np.array(seeds), Stream.POOL, 0, 3)
    n_features = n_columns if groups is None else groups.n_features
    picks = integers(keys[0].to(X.device), POOL_ROWS * n_features, n_rows).view(n_tables, POOL_ROWS, n_features)
    pool = X.gather(1, picks if groups is None else groups.to_columns(picks, dim=2))
    return stratified(pool, keys[1:], groups)


def neighbours_averaged(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Sort each column, average every 16 neighbouring values, and replace the values by these means.

    A column of at most two values, such as an indicator of a category, is not changed. Shape: ``(rows, columns)`` ->
    the same.
    """
    averaged = values.copy()
    for j, column in enumerate(values.T):
        if len(np.unique(column)) > 2:
            places = np.argsort(column, kind="stable")
            starts = np.arange(0, len(column), _MEAN_OF)
            sums, counts = np.add.reduceat(column[places], starts), np.diff(starts, append=len(column))
            averaged[places, j] = np.repeat(sums / counts, counts)
    return averaged


def draw_noise(seeds: Sequence[int], n_columns: int) -> Tensor:
    """Draw standard normal noise, from which knockoffs of several tables make replacement rows.

    Shape: ``(seeds, POOL_ROWS, n_columns)``.
    """
    keys = step_keys(np.array(seeds), Stream.POOL, 0, 3)
    return stratified(normal(keys[0], POOL_ROWS * n_columns).view(len(seeds), POOL_ROWS, n_columns), keys[1:])
