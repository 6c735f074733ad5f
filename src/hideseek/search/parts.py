"""Rows of a table with their targets, and how they are shared out between learning and judging."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from sklearn.model_selection import KFold, StratifiedKFold, train_test_split

from hideseek.engine.scaling import Scaler
from hideseek.engine.stack import Data
from hideseek.errors import InputError

__all__ = ["Part", "as_tables", "held_out_rows", "judging_splits", "n_first_splits"]

_FOLDS = 5
_FEWEST_JUDGES = 400
"""Rows that tell hopeless prices from the others."""

_ROWS_FOR_ONE_SPLIT = 100_000
"""From here on some of the rows are enough to tell all prices apart; below, every row judges once."""

_MOST_JUDGES = 5000

Split = tuple[NDArray[np.intp], NDArray[np.intp]]
"""Rows to learn from, and rows that judge what was learned."""


@dataclass(frozen=True)
class Part:
    """Rows with their targets.

    Shape: ``table (rows, features)``, ``target (rows,)``, ``weight (rows,)`` or None for equal weights.
    """

    table: NDArray[np.floating]
    target: NDArray[Any]
    weight: NDArray[np.float64] | None

    def rows(self, index: NDArray[np.intp] | NDArray[np.bool_]) -> Part:
        """Some of the rows."""
        return Part(self.table[index], self.target[index], None if self.weight is None else self.weight[index])

    def of_columns(self, columns: NDArray[np.intp]) -> Part:
        """Some of the columns."""
        return replace(self, table=self.table[:, columns])

    def relative_weight(self) -> NDArray[np.float64] | None:
        """The weights with mean one."""
        if self.weight is None:
            return None
        weight = self.weight / self.weight.max()  # first, or the mean of huge weights is infinite
        return np.asarray(weight / weight.mean())

    def standardised(self, scaler: Scaler) -> Data:
        """One table as the engine takes it."""
        weight = self.relative_weight()
        return Data(
            torch.from_numpy(scaler.transform(self.table))[None],
            torch.from_numpy(self.target)[None],
            None if weight is None else torch.from_numpy(weight.astype(np.float32))[None],
        )


def as_tables(parts: Sequence[Data]) -> Data:
    """Several tables as one; a single one is not copied."""
    if len(parts) == 1:
        return parts[0]
    weights = [part.weight for part in parts if part.weight is not None]
    return Data(
        torch.cat([part.X for part in parts]),
        torch.cat([part.target for part in parts]),
        torch.cat(weights) if weights else None,
    )


def held_out_rows(target: NDArray[Any], fraction: float, seed: int) -> Split:
    """Rows to train on, and rows only to look at: a share of each class, where there are classes."""
    rows = np.arange(len(target))
    try:
        kept, out = train_test_split(rows, test_size=fraction, random_state=seed, stratify=_classes(target, 2))
    except ValueError as error:
        raise InputError(f"validation_fraction={fraction}: {error}") from error
    if len(kept) < 2:
        raise InputError(f"validation_fraction={fraction} leaves {len(kept)} of {len(target)} rows to learn from")
    return kept, out


def judging_splits(target: NDArray[Any], fraction: float, seed: int) -> list[Split]:
    """How a path of prices is trained and judged: in folds, or by one split of a very long table.

    Args:
        target: Class numbers, class probabilities or values, one entry per row.
        fraction: Share of the rows that judge, in one split; 0: folds, so that every row judges once.
        seed: Where the split comes from.

    Returns:
        Splits with equally many rows to learn from, a number that follows from that of the rows. Over all of them no
        row judges twice.
    """
    n_rows = len(target)
    if fraction > 0:
        return [held_out_rows(target, fraction, seed)]
    if n_rows > _ROWS_FOR_ONE_SPLIT:
        return [held_out_rows(target, _MOST_JUDGES / n_rows, seed)]
    classes = _classes(target, _FOLDS)
    folds: KFold | StratifiedKFold = (KFold if classes is None else StratifiedKFold)(
        min(_FOLDS, n_rows), shuffle=True, random_state=seed
    )
    splits = list(folds.split(np.zeros(n_rows), classes))
    shortest = min(len(kept) for kept, _ in splits)  # tables of one stack are of one shape
    if shortest < 2:
        raise InputError(
            f'penalty="auto", as in preset "best", holds out rows to compare penalties; {n_rows} rows are too '
            "few: pass more rows or a penalty"
        )
    return [(kept[:shortest], out) for kept, out in splits]


def n_first_splits(splits: Sequence[Split]) -> int:
    """How many splits it takes to tell hopeless prices from the others."""
    judges = np.cumsum([len(out) for _, out in splits])
    return min(1 + int((judges < _FEWEST_JUDGES).sum()), len(splits))


def _classes(target: NDArray[Any], fewest: int) -> NDArray[Any] | None:
    """What to stratify by: the classes, unless there are none or one is too rare."""
    if not np.issubdtype(target.dtype, np.integer):
        return None
    return target if np.bincount(target).min() >= fewest else None
