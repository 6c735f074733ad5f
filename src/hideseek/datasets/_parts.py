"""Split one table into its three parts: rows, standardisation, frames."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.model_selection import train_test_split

from hideseek.datasets._dataset import Dataset, Split
from hideseek.extras import import_extra

__all__ = ["RawTable", "Rows", "divide", "eighty_ten_ten"]

Rows = tuple[NDArray[np.intp], NDArray[np.intp], NDArray[np.intp]]
"""Row numbers of the train, validation and test parts."""


@dataclass(frozen=True, eq=False)
class RawTable:
    """All rows of a dataset as published.

    Shape: ``X (rows, features)``, ``y (rows,)``, ``index (rows,)``, what the rows of a frame are called.
    """

    name: str
    X: NDArray[np.float64]
    y: NDArray[Any]
    feature_names: tuple[str, ...]
    label_name: str
    index: NDArray[Any]


def eighty_ten_ten(n_rows: int, random_state: int, stratify: NDArray[Any] | None = None) -> Rows:
    """Split off a fifth of the rows, and halve it into validation and test, with the same seed both times."""
    train, rest = train_test_split(np.arange(n_rows), test_size=0.2, random_state=random_state, stratify=stratify)
    labels = None if stratify is None else stratify[rest]
    validation, test = train_test_split(rest, test_size=0.5, random_state=random_state, stratify=labels)
    return train, validation, test


def divide(table: RawTable, rows: Rows, *, standardize: bool, as_frame: bool) -> Split:
    """Return the three parts of a table, standardised with the mean and standard deviation of the first."""
    X = table.X
    if standardize:
        train = X[rows[0]]
        scale = train.std(axis=0)
        # A column that is constant in train becomes zero in all parts.
        scale[train.min(axis=0) == train.max(axis=0)] = np.inf
        X = (X - train.mean(axis=0)) / scale
    return Split(*(_part(table, X, part, as_frame) for part in rows))


def _part(table: RawTable, X: NDArray[np.float64], rows: NDArray[np.intp], as_frame: bool) -> Dataset:
    if not as_frame:
        return Dataset(table.name, X[rows], table.y[rows], table.feature_names)
    pd = import_extra("pandas", "data", "as_frame=True needs pandas")
    index = table.index[rows]
    frame = pd.DataFrame(X[rows], columns=list(table.feature_names), index=index)
    return Dataset(table.name, frame, pd.Series(table.y[rows], name=table.label_name, index=index), table.feature_names)
