"""Rows of a table with their targets, held-out rows and folds."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from sklearn.model_selection import train_test_split
from torch import Tensor

from hideseek.engine.scaling import Scaler
from hideseek.engine.stack import Data
from hideseek.errors import InputError

__all__ = ["N_FOLDS", "LearnedFrom", "LeftOut", "Part", "as_tables", "folds_of", "held_out_rows"]

N_FOLDS = 5
_FEWEST_ROWS = 20
"""Rows from which on a fifth of them can be left out."""

_MOST_ROWS = 1000
"""Rows of a fold that are looked at."""

_ROWS_COMPARED = 5000
"""Rows in which columns are compared."""

_TINY = 1e-300

Split = tuple[NDArray[np.intp], NDArray[np.intp]]
"""Rows to learn from, and rows only to look at."""


@dataclass(frozen=True)
class Part:
    """Rows with their targets.

    Shape: ``table (rows, features)``, ``target (rows,)``, ``weight (rows,)`` or None for equal weights.
    """

    table: NDArray[np.floating]
    target: NDArray[Any]
    weight: NDArray[np.float64] | None

    def rows(self, index: NDArray[np.intp] | NDArray[np.bool_]) -> Part:
        """Return some of the rows."""
        return Part(self.table[index], self.target[index], None if self.weight is None else self.weight[index])

    def targets(self, index: NDArray[np.intp]) -> Part:
        """Return some of the rows without their columns; weights have mean one over all rows."""
        return replace(self, table=self.table[:, :0]).with_relative_weight().rows(index)

    def of_columns(self, columns: NDArray[np.intp]) -> Part:
        """Return some of the columns."""
        return replace(self, table=self.table[:, columns])

    def relative_weight(self) -> NDArray[np.float64] | None:
        """Return the weights with mean one."""
        if self.weight is None:
            return None
        weight = self.weight / self.weight.max()  # first, or the mean of huge weights is infinite
        return np.asarray(weight / weight.mean())

    def with_relative_weight(self) -> Part:
        """Return the same rows, their weights with mean one."""
        return replace(self, weight=self.relative_weight())

    def correlations(
        self, columns: slice | NDArray[np.intp] = slice(None), others: slice | NDArray[np.intp] = slice(None)
    ) -> NDArray[np.float64]:
        """Return the absolute correlations of columns with others; 0 where one is constant.

        Of a long table some thousand rows, evenly spread, are looked at. Shape: ``(columns, others)``.
        """
        return np.abs(self._unit_columns[columns] @ self._unit_columns[others].T)

    @cached_property
    def _unit_columns(self) -> NDArray[np.float64]:
        """The columns in some of the rows, each with mean 0 and length 1. Shape: ``(columns, rows)``."""
        columns = np.array(self.table[:: -(-len(self.table) // _ROWS_COMPARED)].T, dtype=np.float64, order="C")
        constant = columns.min(axis=1) == columns.max(axis=1)  # its mean need not be exact
        columns -= columns.mean(axis=1, keepdims=True)
        columns[constant] = 0.0
        columns /= np.maximum(np.abs(columns).max(axis=1, keepdims=True), _TINY)  # so that squares do not overflow
        columns /= np.maximum(np.sqrt(np.square(columns).sum(axis=1, keepdims=True)), _TINY)
        return columns

    def standardised(self, scaler: Scaler, fold: NDArray[np.int64] | None = None) -> Data:
        """Return one table as the engine takes it, with the fold of each row where there are folds."""
        weight = self.relative_weight()
        return Data(
            torch.from_numpy(scaler.transform(self.table))[None],
            torch.from_numpy(self.target)[None],
            None if weight is None else torch.from_numpy(weight.astype(np.float32))[None],
            None if fold is None else torch.from_numpy(fold)[None],
        )


class LeftOut(NamedTuple):
    """Rows that some members of an ensemble left out.

    Attributes:
        rows: Their numbers in the table. Shape: ``(rows,)``.
        x: The same rows as the networks see them. Shape: ``(rows, inputs)``.
        members: The positions of these members. Shape: ``(members,)``.
    """

    rows: NDArray[np.intp]
    x: Tensor
    members: NDArray[np.intp]


@dataclass(frozen=True)
class LearnedFrom:
    """A table that ensembles have learned from.

    Attributes:
        part: Its rows.
        x: The same rows as the networks see them, where these are. Shape: ``(rows, inputs)``.
        fold: The fold of each row; member i leaves out fold i modulo ``N_FOLDS``. None: no rows were left out.
    """

    part: Part
    x: Tensor
    fold: NDArray[np.int64] | None

    def left_out(self, n_members: int) -> list[LeftOut]:
        """Return rows of each fold that one of so many members left out; none where there are no folds."""
        every = np.arange(n_members)
        return [LeftOut(rows, x, every[number::N_FOLDS]) for number, (rows, x) in enumerate(self._folds[:n_members])]

    def by_fold(self, n_members: int) -> list[tuple[NDArray[np.intp], NDArray[np.intp]]]:
        """Return all rows of each fold that one of so many members left out, and these members."""
        every = np.arange(n_members)
        return [(rows, every[number::N_FOLDS]) for number, rows in enumerate(self._rows[:n_members])]

    def inputs(self, rows: NDArray[np.intp]) -> Tensor:
        """Return some of the rows as the networks see them. Shape: ``(rows,)`` -> ``(rows, inputs)``."""
        return self.x.index_select(0, torch.from_numpy(rows).to(self.x.device))

    @cached_property
    def _rows(self) -> list[NDArray[np.intp]]:
        """The rows of each fold."""
        return [] if self.fold is None else [np.flatnonzero(self.fold == number) for number in range(N_FOLDS)]

    @cached_property
    def _folds(self) -> list[tuple[NDArray[np.intp], Tensor]]:
        """Some rows of each fold: evenly spread ones where there are more than ``_MOST_ROWS``."""
        folds = [rows[:: -(-len(rows) // _MOST_ROWS)] for rows in self._rows]
        return [(rows, self.inputs(rows)) for rows in folds]


def as_tables(parts: Sequence[Data]) -> Data:
    """Return several tables as one; a single one is not copied."""
    if len(parts) == 1:
        return parts[0]
    weights = [part.weight for part in parts if part.weight is not None]
    folds = [part.fold for part in parts if part.fold is not None]
    return Data(
        torch.cat([part.X for part in parts]),
        torch.cat([part.target for part in parts]),
        torch.cat(weights) if weights else None,
        torch.cat(folds) if folds else None,
    )


def held_out_rows(target: NDArray[Any], fraction: float, seed: int) -> Split:
    """Return the rows to train on, and the held-out rows: a share of each class, where there are classes."""
    rows = np.arange(len(target))
    try:
        kept, out = train_test_split(rows, test_size=fraction, random_state=seed, stratify=_classes(target, 2))
    except ValueError as error:
        raise InputError(f"validation_fraction={fraction}: {error}") from error
    if len(kept) < 2:
        raise InputError(f"validation_fraction={fraction} leaves {len(kept)} of {len(target)} rows to learn from")
    return kept, out


def folds_of(target: NDArray[Any], seed: int) -> NDArray[np.int64] | None:
    """Return the fold of each row, all folds of equal size and with the same share of each class; -1: in no fold.

    None where the table is too short to leave any row out.
    """
    n_rows = len(target)
    if n_rows < _FEWEST_ROWS:
        return None
    order = np.random.default_rng(seed).permutation(n_rows)[: n_rows // N_FOLDS * N_FOLDS]
    if np.issubdtype(target.dtype, np.integer):
        order = order[np.argsort(target[order], kind="stable")]
    fold = np.full(n_rows, -1)
    fold[order] = np.arange(len(order)) % N_FOLDS
    return fold


def _classes(target: NDArray[Any], fewest: int) -> NDArray[Any] | None:
    """Return what to stratify by: the classes, unless there are none or one is too rare."""
    if not np.issubdtype(target.dtype, np.integer):
        return None
    return target if np.bincount(target).min() >= fewest else None
