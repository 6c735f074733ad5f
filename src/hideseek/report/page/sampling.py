"""Which rows a page shows one by one, when there are more than it can hold, and in which order it draws them."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

__all__ = ["rows_by_answer", "rows_shown"]

_SHARE_OF_EXTREMES = 0.1
"""Of the rows shown, how many have the lowest scores, and how many the highest."""
_FEWEST_OF_A_GROUP = 50


def rows_shown(group: NDArray[np.int64], score: NDArray[np.floating] | None, n_most: int) -> NDArray[np.intp]:
    """All rows, or else the extremes by score and a draw from each group by its size, but no group left out.

    Args:
        group: Of each row. Shape: ``(rows,)``.
        score: What extremes are meant of, or None. Shape: ``(rows,)``.
        n_most: As many rows as the page can hold.

    Returns:
        Positions, in their own order.
    """
    n_rows = len(group)
    if n_rows <= n_most:
        return np.arange(n_rows)
    chosen = np.zeros(n_rows, dtype=bool)
    if score is not None:
        n_extreme = int(_SHARE_OF_EXTREMES * n_most)
        order = np.argsort(score, kind="stable")
        chosen[order[:n_extreme]] = chosen[order[n_rows - n_extreme :]] = True
    shuffled = np.random.default_rng(0).permutation(n_rows)
    for number in np.unique(group):
        own = shuffled[group[shuffled] == number]
        chosen[own[: min(_FEWEST_OF_A_GROUP, n_most // (2 * (int(group.max()) + 1)))]] = True
    chosen[_spread(shuffled[~chosen[shuffled]], group, n_most - int(chosen.sum()))] = True
    return np.flatnonzero(chosen)


def _spread(rows: NDArray[np.intp], group: NDArray[np.int64], n_wanted: int) -> NDArray[np.intp]:
    """So many of these rows, of each group its share."""
    by_group = rows[np.argsort(group[rows], kind="stable")]
    return by_group[np.linspace(0, len(by_group), n_wanted, endpoint=False).astype(np.intp)]


def rows_by_answer(
    group: NDArray[np.int64], selected: NDArray[np.bool_], importance: NDArray[np.floating]
) -> NDArray[np.intp]:
    """Rows of a group side by side, and within it rows with the same features selected.

    Shape: ``group (rows,)``; ``selected``, ``importance (rows, features)``, the features most important first.
    """
    keys = [importance[:, 0], *(~selected[:, ::-1]).T, group]  # the last key sorts first
    return np.lexsort(keys)
