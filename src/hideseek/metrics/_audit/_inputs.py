"""The arguments of an audit as arrays: a matrix of columns by feature, the classes of every cell, the target."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.multiclass import type_of_target

from hideseek.errors import InputError
from hideseek.targets import check_classes
from hideseek.validation import check_finite
from hideseek.wording import column_names

__all__ = ["Features", "Target", "as_features", "as_target"]

_BINS = 4
_MOST_LEVELS = 7
_MOST_CLASSES = 20
"""Integers with more distinct values than this are regression values unless the caller says otherwise."""


@dataclass(frozen=True)
class Features:
    """The features of a table.

    Attributes:
        matrix: The numbers that networks see. Shape: ``(rows, columns)``.
        widths: Number of adjacent matrix columns of each feature.
        scales: Divisor of each matrix column; NaN: its standard deviation. Shape: ``(columns,)``.
        classes: The class of every cell of the table: the bin of a number, the level of a category. Shape:
            ``(rows, cells)``, where a feature has one cell, or as many as it groups columns.
        feature_of_cell: The feature that each cell belongs to. Shape: ``(cells,)``.
        names: The names of the features.
    """

    matrix: NDArray[np.float64]
    widths: tuple[int, ...]
    scales: NDArray[np.float64]
    classes: NDArray[np.int64]
    feature_of_cell: NDArray[np.int64]
    names: tuple[str, ...]


@dataclass(frozen=True)
class Target:
    """The target of the predictions.

    Attributes:
        task: "classification" or "regression".
        values: The number of each row's class, or its value. Shape: ``(rows,)``.
        n_classes: 1 for values.
    """

    task: str
    values: NDArray[Any]
    n_classes: int


def as_features(X: Any, groups: Mapping[str, Sequence[str | int]] | None) -> Features:
    """Return the features of a table of numbers or of mixed types, or raise an InputError."""
    # A higher layer, imported only here. It depends on neither models nor explanations, and is the one place that
    # turns text, dates and missing values into numbers.
    from hideseek.tabular import Table, TableEncoder, only_numbers

    if hasattr(X, "collect") or hasattr(X, "toarray"):
        raise InputError("X must be a dense table; pass X.collect() of a lazy frame and X.toarray() of a sparse matrix")
    shape = tuple(getattr(X, "shape", ())) or np.shape(np.asarray(X, dtype=object))
    if len(shape) != 2 or 0 in shape:
        raise InputError(f"X must be a table, (rows, features), with at least one of each; it has shape {shape}")
    names = tuple(column_names(getattr(X, "columns", None), shape[1]))
    if groups is None and only_numbers(X):
        matrix = np.asarray(X, dtype=np.float64)
        check_finite(matrix, names if hasattr(X, "columns") else None)
        classes = np.column_stack([_bins(column) for column in matrix.T])
        n_columns = matrix.shape[1]
        return Features(matrix, (1,) * n_columns, np.full(n_columns, np.nan), classes, np.arange(n_columns), names)
    table = Table(X)
    encoder = TableEncoder.fit(table, groups)
    columns = table.columns()
    classes = np.column_stack([_classes(columns[j]) for feature in encoder.features for j in feature.columns])
    feature_of_cell = np.repeat(
        np.arange(len(encoder.features)), [len(feature.columns) for feature in encoder.features]
    )
    names = tuple(encoder.feature_names)
    return Features(encoder.encode(table), encoder.widths, encoder.scales, classes, feature_of_cell, names)


def as_target(y: Any, task: str, n_rows: int) -> Target:
    """Return the classes or values to predict, or raise an InputError."""
    values = np.asarray(y)
    if values.ndim == 2 and values.shape[1] == 1:
        values = values[:, 0]
    if values.shape != (n_rows,):
        raise InputError(
            f"y must be one label or value for each of the {n_rows} rows of X; it has shape {values.shape}"
        )
    if values.dtype.kind == "f" and not np.isfinite(values).all():
        raise InputError(f"y is missing or infinite in {int((~np.isfinite(values)).sum())} rows; drop those rows")
    if task == "classification" or (task == "auto" and not _looks_like_values(values)):
        classes, numbers = check_classes(values)
        return Target("classification", numbers, len(classes))
    try:
        values = values.astype(np.float64)
    except (TypeError, ValueError) as error:
        raise InputError("y must be numbers for task='regression'; pass task='classification' for labels") from error
    if np.ptp(values) == 0:
        raise InputError(f"y has the same value, {values[0]:g}, in every row; there is nothing to predict")
    return Target("regression", values, 1)


def _looks_like_values(y: NDArray[Any]) -> bool:
    if y.dtype.kind not in "iuf":
        return False
    return type_of_target(y) == "continuous" or len(np.unique(y)) > _MOST_CLASSES


def _bins(numbers: NDArray[np.float64]) -> NDArray[np.int64]:
    """Return the quarter of the column that each number is in; missing numbers are the last class."""
    present = ~np.isnan(numbers)
    values = np.unique(numbers[present])
    if len(values) <= _BINS:
        edges = values[1:]
    else:
        edges = np.unique(np.quantile(numbers[present], np.arange(1, _BINS) / _BINS))
        edges = edges[edges > values[0]]
    return np.where(present, np.searchsorted(edges, numbers, side="right"), _BINS).astype(np.int64)


def _classes(column: Any) -> NDArray[np.int64]:
    """Return the class of each cell: the bin of a number or date, or the level, where rare levels are one class."""
    if column.kind in ("number", "boolean", "date"):
        return _bins(column.numbers)
    frequent = [level for level, _ in Counter(map(str, column.values)).most_common(_MOST_LEVELS)]
    place = {level: number for number, level in enumerate(frequent)}
    return np.array([place.get(str(value), len(frequent)) for value in column.values], dtype=np.int64)
