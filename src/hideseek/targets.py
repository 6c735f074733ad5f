"""Targets passed by users, checked for missing, infinite and non-numeric values."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from math import isinf
from typing import Any

import narwhals as nw
import numpy as np
from numpy.typing import NDArray
from sklearn.base import is_regressor
from sklearn.exceptions import NotFittedError
from sklearn.utils.multiclass import check_classification_targets, type_of_target
from sklearn.utils.validation import check_X_y

from hideseek.cells import format_value, is_missing
from hideseek.errors import HideSeekError, InputError
from hideseek.frames import from_tensor, is_series, unmasked
from hideseek.wording import listed

__all__ = ["check_classes", "check_target", "comparing_targets", "name_of_target", "readable_target"]


def check_target(estimator: Any, y: Any, n_rows: int) -> NDArray[Any]:
    """Return y as a column with as many rows as X, at least two."""
    numeric = is_regressor(estimator)
    y = readable_target(y, numeric=numeric)
    try:
        _, column = check_X_y(np.zeros((n_rows, 1)), y, ensure_min_samples=2, y_numeric=numeric)
    except (TypeError, ValueError, OverflowError) as error:
        raise InputError(str(error)) from error
    return np.asarray(column)


def readable_target(y: Any, *, numeric: bool) -> Any:
    """Return y in a form that scikit-learn reads.

    Args:
        y: The target, of any kind.
        numeric: Whether the values must be numbers.

    Raises:
        InputError: Values are missing, infinite or, if ``numeric``, not numbers; or y is a matrix.
    """
    if y is None:
        return y
    if isinstance(y, np.matrix) or hasattr(y, "toarray"):
        raise InputError(f"y is a {type(y).__name__}; pass one value per row: np.asarray(y).ravel()")
    if hasattr(y, "detach"):
        y = from_tensor(y)
    elif isinstance(y, np.ma.MaskedArray):
        y = unmasked(np.ma.MaskedArray(y, dtype=object))
    try:
        values = np.asarray(y)
    except (TypeError, ValueError, OverflowError) as error:
        raise InputError(f"y cannot be read as one value per row: {error}") from error
    _check_values(values, "values" if numeric else "labels")
    if numeric:
        _check_numbers(values)
    return y


def _check_values(values: NDArray[Any], noun: str) -> None:
    """Raise if values are missing or infinite."""
    kind, cells = values.dtype.kind, values.reshape(-1)
    n_missing = n_infinite = 0
    if kind == "f":
        n_missing, n_infinite = int(np.isnan(cells).sum()), int(np.isinf(cells).sum())
    elif kind in "mM":
        n_missing = int(np.isnat(cells).sum())
    elif kind == "O":
        n_missing = sum(is_missing(value) for value in cells)
        n_infinite = sum(isinstance(value, float) and isinf(value) for value in cells)
    if n_missing:
        raise InputError(f"y has {n_missing} missing {noun} (None, NaN or NaT); drop those rows")
    if n_infinite:
        raise InputError(f"y has {n_infinite} infinite {noun} (inf); drop those rows or replace the values")


def _check_numbers(values: NDArray[Any]) -> None:
    if values.dtype.kind in "biufc":
        return
    try:
        if values.dtype.kind in "mMV":
            raise TypeError(f"it has the type {values.dtype}")
        values.astype(np.float64)
    except OverflowError as error:
        raise InputError("y has values too large for a float; rescale it") from error
    except (TypeError, ValueError) as error:
        raise InputError(f"y must be numbers: {error}; for classes use a classifier") from error


@contextmanager
def comparing_targets() -> Iterator[None]:
    """Turn the errors of a score that cannot be computed into an InputError."""
    try:
        yield
    except (HideSeekError, NotFittedError):
        raise
    except (TypeError, ValueError, OverflowError) as error:
        raise InputError(f"y cannot be compared with the predictions: {error}") from error


def name_of_target(y: Any) -> str | None:
    """Return the name of a Series, or of the only column of a frame; else None."""
    if is_series(y):
        name = getattr(y, "name", None)  # pyarrow columns have no name
        return str(name) if name is not None and str(name) else None
    frame = nw.from_native(y, eager_only=True, pass_through=True)
    named = isinstance(frame, nw.DataFrame) and len(frame.columns) == 1 and isinstance(frame.columns[0], str)
    return str(frame.columns[0]) if named else None


def check_classes(y: NDArray[Any]) -> tuple[NDArray[Any], NDArray[np.int64]]:
    """Return the sorted labels, and for each row the position of its label."""
    if y.dtype == object:
        _check_values(y, "labels")
        kinds = sorted({type(label).__name__ for label in y})
        if len(kinds) > 1:
            raise InputError(f"y mixes labels of the types {listed(kinds)}; make them all of one type")
        y = np.array(y.tolist())
        if y.ndim != 1:
            raise InputError(f"y has labels of the type {kinds[0]}; make them text, numbers or booleans")
    try:
        if y.dtype.kind == "f" and type_of_target(y) == "continuous":
            raise InputError(
                "Unknown label type: y is continuous, and a classifier needs classes; use HideSeekRegressor, or cut y"
            )
        if y.dtype.kind not in "iub":
            check_classification_targets(y)
        classes = np.unique(y)
        positions = np.searchsorted(classes, y)
    except InputError:
        raise
    except (TypeError, ValueError) as error:
        raise InputError(f"y cannot be read as class labels: {error}") from error
    if len(classes) < 2:
        label = repr(str(classes[0])) if classes.dtype.kind in "US" else format_value(classes[0])
        raise InputError(f"y has one class ({label}); a classifier needs at least two classes")
    return classes, positions.astype(np.int64)
