"""Which ranges of prices are worth training: the correlations of the features and the number of rows tell.

Members that also answer for high prices learn worse where features can stand in for one another, and better everywhere
else. With few rows high prices keep them from learning by heart.
"""

from __future__ import annotations

import numpy as np

from hideseek.engine.recipe import SHORT
from hideseek.search.problem import Problem

__all__ = ["mean_largest_correlation", "ranges_worth_training"]

_DEPENDENT = 0.5
"""Mean largest correlation from which on features can stand in for one another."""

_MOST_COLUMNS = 2000


def ranges_worth_training(problem: Problem, highest_prices: tuple[float, ...]) -> tuple[float, ...]:
    """Return the upper ends of these ranges, from low to high, that may be the best one for this table.

    Of features that are hardly correlated the last range. Of correlated ones the first; in a short table all, between
    which held-out rows choose.
    """
    if mean_largest_correlation(problem) < _DEPENDENT:
        return highest_prices[-1:]
    return highest_prices if len(problem.train.target) < SHORT else highest_prices[:1]


def mean_largest_correlation(problem: Problem) -> float:
    """Return the largest absolute correlation of each feature with another one, as a mean over features.

    Constant features do not count. Of a feature with several columns the column counts that is correlated most. 1 with
    too many columns to look at; 0 with a single feature.
    """
    if problem.train.table.shape[1] > _MOST_COLUMNS:
        return 1.0
    correlation = problem.train.correlations()
    for own in problem.columns:
        correlation[own, own] = 0.0
    largest = np.maximum.reduceat(correlation.max(axis=1), [own.start for own in problem.columns])
    return float(largest[problem.varies].mean()) if problem.varies.any() else 0.0
