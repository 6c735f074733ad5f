"""Columns that repeat another one: of each set of copies one is left to the networks.

Of two columns that say the same, networks show both: each is worth little once the other is shown, and neither is worth
nothing. So a column that another one tells nearly exactly is left out, unless what it says beyond the other one goes
with the target.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np
from numpy.typing import NDArray

from hideseek.engine.scaling import Scaler
from hideseek.search.parts import Part

__all__ = ["copies_among", "copies_of_levels"]

_LEAST_CORRELATION, _WORTH_A_LOOK = 0.98, 0.97
"""Correlation of copies, and the one in fewer rows from which on columns are looked at."""

_MOST_ROWS, _MOST_COLUMNS = 20_000, 2000
_BY_CHANCE = 4.0
"""Standard errors up to which a correlation with the target is taken for chance."""

_ROWS_OF_A_LEVEL = 10
"""Rows that a combination of values has to have on average: of fewer, any two features could agree by chance."""


def copies_among(
    part: Part, scaler: Scaler, residuals: NDArray[np.float32], columns: NDArray[np.intp]
) -> dict[int, int]:
    """Return, for each of the columns that repeats an earlier one, that earlier column.

    Args:
        part: The rows, with all columns.
        scaler: What standardises them.
        residuals: The target without its mean. Shape: ``(targets, rows)``.
        columns: Those to look at, in order.
    """
    X = part.table
    if len(columns) > _MOST_COLUMNS or not _any_alike(part.correlations(columns, columns)):
        return {}
    step = -(-len(X) // _MOST_ROWS)
    Z = np.ascontiguousarray(scaler.of(columns).transform(X[::step][:, columns]).T, dtype=np.float64)
    Z -= Z.mean(axis=1, keepdims=True)
    Z /= np.maximum(Z.std(axis=1, keepdims=True), 1e-12)
    target = residuals[:, ::step] / np.maximum(residuals[:, ::step].std(axis=1, keepdims=True), 1e-12)
    correlation = Z @ Z.T / Z.shape[1]
    copies: dict[int, int] = {}
    for j in range(len(columns)):
        for i in np.flatnonzero(np.abs(correlation[j, :j]) >= _LEAST_CORRELATION):
            if int(columns[i]) not in copies and not _says_more(Z[j], Z[i], correlation[j, i], target):
                copies[int(columns[j])] = int(columns[i])
                break
    return copies


def _any_alike(correlation: NDArray[np.float64]) -> bool:
    """Return whether fewer rows say that any two columns may be copies."""
    return bool((np.triu(correlation, 1) >= _WORTH_A_LOOK).any())


def copies_of_levels(X: NDArray[np.floating], columns: Sequence[slice], features: Iterable[int]) -> dict[int, int]:
    """Return, for each of the features whose levels are an earlier one's under other names, that earlier one.

    Args:
        X: Raw columns. Shape: ``(rows, all columns)``.
        columns: Of each feature its columns, several for a category.
        features: Those to look at, in order.
    """
    X = X[:: -(-len(X) // _MOST_ROWS)]
    copies: dict[int, int] = {}
    seen: dict[bytes, int] = {}
    for j in features:
        _, first, level = np.unique(X[:, columns[j]], axis=0, return_index=True, return_inverse=True)
        if not 1 < len(first) <= len(X) / _ROWS_OF_A_LEVEL:
            continue
        in_order_of_appearance = np.argsort(np.argsort(first))
        key = in_order_of_appearance[level.reshape(-1)].tobytes()
        if seen.setdefault(key, j) != j:
            copies[j] = seen[key]
    return copies


def _says_more(
    z: NDArray[np.float64], other: NDArray[np.float64], correlation: float, target: NDArray[np.floating]
) -> bool:
    """Return whether what a column says beyond another one goes with the target."""
    rest = z - correlation * other
    spread = rest.std()
    if spread < 1e-9:
        return False
    score = np.abs(target @ (rest / spread)) / np.sqrt(len(z))
    return bool(score.max() > _BY_CHANCE)
