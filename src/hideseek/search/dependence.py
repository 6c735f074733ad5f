"""Which ranges of prices are worth training: the correlations of the features and the number of rows tell.

Members that also answer for high prices learn worse where features can stand in for one another, and better everywhere
else. With few rows high prices keep them from learning by heart.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from hideseek.engine.recipe import SHORT
from hideseek.engine.scaling import Scaler
from hideseek.search.problem import Problem

__all__ = ["mean_largest_correlation", "ranges_worth_training"]

_DEPENDENT = 0.5
"""Mean largest correlation from which on features can stand in for one another."""

_MOST_ROWS, _MOST_COLUMNS = 5000, 2000


def ranges_worth_training(problem: Problem, highest_prices: tuple[float, ...]) -> tuple[float, ...]:
    """Return the upper ends of these ranges, from low to high, that may be the best one for this table.

    Of features that are hardly correlated the last range. Of correlated ones the first; in a short table all, between
    which held-out rows choose.
    """
    if mean_largest_correlation(problem.train.table, problem.scaler, problem.columns) < _DEPENDENT:
        return highest_prices[-1:]
    return highest_prices if len(problem.train.target) < SHORT else highest_prices[:1]


def mean_largest_correlation(X: NDArray[np.floating], scaler: Scaler, features: Sequence[slice]) -> float:
    """Return the largest absolute correlation of each feature with another one, as a mean over features.

    Constant features do not count. Of a feature with several columns the column counts that is correlated most. 1 with
    too many columns to look at; 0 with a single feature.

    Args:
        X: Raw columns. Shape: ``(rows, columns)``.
        scaler: What standardises them.
        features: The columns of each feature.
    """
    n_columns = X.shape[1]
    if n_columns > _MOST_COLUMNS:
        return 1.0
    Z = scaler.of(np.arange(n_columns)).transform(X[:: -(-len(X) // _MOST_ROWS)])
    Z = np.ascontiguousarray(Z.T, dtype=np.float64)
    Z -= Z.mean(axis=1, keepdims=True)
    Z /= np.maximum(np.sqrt(np.square(Z).sum(axis=1, keepdims=True)), 1e-12)
    correlation = np.abs(Z @ Z.T)
    for own in features:
        correlation[own, own] = 0.0
    starts = [own.start for own in features]
    largest = np.maximum.reduceat(correlation.max(axis=1), starts)
    varies = np.logical_or.reduceat(~scaler.constant, starts)
    return float(largest[varies].mean()) if varies.any() else 0.0
