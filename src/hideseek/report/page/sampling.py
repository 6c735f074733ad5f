"""The choice of the rows that a page shows individually, and their order."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

__all__ = ["row_weights", "rows_by_answer", "rows_shown"]

_SHARE_OF_EXTREMES = 0.1
"""Share of the rows shown with the lowest scores, and with the highest."""
_FEWEST_OF_A_GROUP = 50


def rows_shown(group: NDArray[np.int64], score: NDArray[np.floating] | None, n_most: int) -> NDArray[np.intp]:
    """Return all rows, or the extremes by score and a stratified sample of the groups with no group left out.

    Args:
        group: The group of each row. Shape: ``(rows,)``.
        score: The score that defines extremes, or None. Shape: ``(rows,)``.
        n_most: Largest number of rows on the page.

    Returns:
        The positions, ascending.
    """
    n_rows = len(group)
    if n_rows <= n_most:
        return np.arange(n_rows)
    chosen = _extremes(score, n_rows, n_most)
    shuffled = np.random.default_rng(0).permutation(n_rows)
    for number in np.unique(group):
        own = shuffled[group[shuffled] == number]
        chosen[own[: min(_FEWEST_OF_A_GROUP, n_most // (2 * (int(group.max()) + 1)))]] = True
    chosen[_spread(shuffled[~chosen[shuffled]], group, n_most - int(chosen.sum()))] = True
    return np.flatnonzero(chosen)


def _extremes(score: NDArray[np.floating] | None, n_rows: int, n_most: int) -> NDArray[np.bool_]:
    """Return which rows are shown because of their scores. Shape: ``(rows,)``."""
    extreme = np.zeros(n_rows, dtype=bool)
    if score is not None and n_rows > n_most:
        n_extreme = int(_SHARE_OF_EXTREMES * n_most)
        order = np.argsort(score, kind="stable")
        extreme[order[:n_extreme]] = extreme[order[n_rows - n_extreme :]] = True
    return extreme


def row_weights(
    rows: NDArray[np.intp], group: NDArray[np.int64], score: NDArray[np.floating] | None, n_most: int
) -> NDArray[np.float64]:
    """Return how many of all rows each row shown stands for: 1 for extremes, more for rows drawn from a group.

    With these weights, shares among the rows shown are unbiased estimates of the shares among all rows. Shape: as
    ``rows``, the result of :func:`rows_shown` for the other arguments.
    """
    weight = np.ones(len(rows))
    drawn = ~_extremes(score, len(group), n_most)
    for number in np.unique(group):
        represented = drawn & (group == number)
        own = represented[rows]
        weight[own] = represented.sum() / max(1, own.sum())
    return weight


def _spread(rows: NDArray[np.intp], group: NDArray[np.int64], n_wanted: int) -> NDArray[np.intp]:
    """Return ``n_wanted`` of these rows, from each group in proportion."""
    by_group = rows[np.argsort(group[rows], kind="stable")]
    return by_group[np.linspace(0, len(by_group), n_wanted, endpoint=False).astype(np.intp)]


def rows_by_answer(
    group: NDArray[np.int64], selected: NDArray[np.bool_], importance: NDArray[np.floating]
) -> NDArray[np.intp]:
    """Return an order with the rows of a group adjacent, and within it rows with the same selection.

    Shape: ``group (rows,)``; ``selected``, ``importance (rows, features)``, the features most important first.
    """
    keys = [importance[:, 0], *(~selected[:, ::-1]).T, group]  # the last key sorts first
    return np.lexsort(keys)
