"""Tables passed by users: checked, dense, and with the columns of the fit."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import narwhals as nw
import numpy as np
from narwhals.exceptions import NarwhalsError
from numpy.typing import NDArray
from sklearn.base import is_regressor
from sklearn.model_selection import train_test_split
from sklearn.utils.validation import check_array, validate_data

from hideseek.errors import InputError
from hideseek.frames import from_tensor, is_series, n_rows, unmasked
from hideseek.targets import readable_target
from hideseek.validation import check_finite
from hideseek.warn import warn_caller
from hideseek.wording import column_names, listed, some

__all__ = [
    "Rows",
    "check_mixed_rows",
    "check_mixed_training_table",
    "check_table",
    "check_training_table",
    "dense",
    "held_out_rows",
    "names_of_fit",
    "rows_of_fit",
]

_MOST_CELLS = 2**26
"""Cells of the largest sparse matrix that is converted to a dense one: 512 MiB of double precision."""

_FLOATS = [np.float64, np.float32]
_FOREIGN = (TypeError, ValueError, OverflowError, NarwhalsError)
"""Errors of scikit-learn, numpy and narwhals for a table that they cannot read."""


class Rows(NamedTuple):
    """New rows for a fitted model.

    Attributes:
        table: A frame or an array.
        by_name: Whether its columns were matched by name, and so are in the order of the fit.
    """

    table: Any
    by_name: bool


# -- fitting ------------------------------------------------------------------------------------------------------


def check_training_table(estimator: Any, X: Any, y: Any) -> tuple[NDArray[np.floating], NDArray[Any]]:
    """Return X as a finite float array of at least two rows, and y as a column; record the columns in the estimator."""
    numeric = is_regressor(estimator)
    y = readable_target(y, numeric=numeric)
    try:
        _check_numeric(X)
        table, column = validate_data(
            estimator, X, y, dtype=_FLOATS, ensure_all_finite=False, ensure_min_samples=2, y_numeric=numeric
        )
    except InputError:
        raise
    except _FOREIGN as error:
        raise InputError(str(error)) from error
    check_finite(table, getattr(estimator, "feature_names_in_", None))
    return table, column


def check_mixed_training_table(estimator: Any, X: Any) -> Any:
    """Return X, whose cells need not be numbers; record the columns in the estimator."""
    try:
        return validate_data(estimator, X, skip_check_array=True)
    except _FOREIGN as error:
        raise InputError(str(error)) from error


def dense(X: Any) -> Any:
    """Return a table that can be read by cell: a sparse matrix of moderate size becomes an array.

    Raises:
        InputError: X is lazy, too large a sparse matrix, or of a kind whose columns are ambiguous.
    """
    if hasattr(X, "collect"):
        raise InputError("X is a lazy frame; pass X.collect()")
    if hasattr(X, "toarray"):
        return _from_sparse(X)
    if isinstance(X, np.matrix):
        raise InputError("X is a numpy matrix, which scikit-learn no longer takes; pass np.asarray(X)")
    if isinstance(X, np.ma.MaskedArray):
        return unmasked(X)
    if hasattr(X, "detach"):
        return from_tensor(X)
    if isinstance(X, np.ndarray) and X.dtype.names is not None:
        raise InputError("X is a structured array; pass pandas.DataFrame(X)")
    if isinstance(X, Mapping):
        raise InputError("X is a dict, which is treated as a single row; to fit, pass a table: pandas.DataFrame(X)")
    if is_series(X):
        raise InputError("X is a Series, which is treated as a single row; to fit, pass a table: X.to_frame()")
    _check_names(X)
    return X


def _from_sparse(X: Any) -> NDArray[Any]:
    n_cells = int(np.prod(X.shape, dtype=np.float64))
    if n_cells > _MOST_CELLS:
        raise InputError(
            f"X is sparse and has {n_cells:,} cells ({' x '.join(f'{size:,}' for size in X.shape)}), too many to be "
            f"made dense here: {_MOST_CELLS:,} is the limit; pass fewer columns (for example by "
            "sklearn.feature_selection.SelectKBest) or fewer rows, or X.toarray()"
        )
    return np.asarray(X.toarray())


# -- prediction ----------------------------------------------------------------------------------------------------


def names_of_fit(estimator: Any) -> list[str]:
    """Return the names of the columns of the fit: x1, x2, ... if they had none."""
    return column_names(getattr(estimator, "feature_names_in_", None), estimator.n_features_in_)


def rows_of_fit(estimator: Any, X: Any) -> Rows:
    """Return new rows with the columns of the fit.

    The columns of a frame are matched by name: their order does not matter, and unknown columns are ignored with a
    warning. A dict or a pandas Series is a single row.

    Raises:
        InputError: X has no rows, or lacks columns, which the message names.
    """
    if is_series(X) and hasattr(X, "index"):
        has_names = all(isinstance(label, str) for label in X.index)
        X = dict(zip(X.index if has_names else names_of_fit(estimator), X, strict=False))
    if isinstance(X, Mapping) and not hasattr(X, "toarray"):  # a sparse matrix by keys was a dict before SciPy 1.12
        return Rows(_single_row(estimator, X), by_name=True)
    X = dense(X)
    if n_rows(X) == 0 and (isinstance(X, list | tuple) or len(getattr(X, "shape", ())) == 2):
        raise InputError("X has no rows (0 samples); pass at least one row")
    frame = nw.from_native(X, eager_only=True, pass_through=True)
    has_names = isinstance(frame, nw.DataFrame) and all(isinstance(name, str) for name in frame.columns)
    if not has_names or not hasattr(estimator, "feature_names_in_"):
        return Rows(X, by_name=False)
    names = names_of_fit(estimator)
    _check_columns(estimator, names, frame.columns)
    return Rows(X if frame.columns == names else frame.select(names).to_native(), by_name=True)


def _single_row(estimator: Any, values: Mapping[Any, Any]) -> NDArray[Any]:
    """Return the values of one row in the order of the fit. Shape: ``(1, columns)``."""
    names = names_of_fit(estimator)
    _check_columns(estimator, names, [str(name) for name in values])
    cells = {str(name): value for name, value in values.items()}
    several = [repr(name) for name in names if not isinstance(cells[name], str) and np.ndim(cells[name]) > 0]
    if several:
        raise InputError(
            f"X is a dict or Series, which is treated as a single row, and has several values in {some(several)}; "
            "for several rows pass a frame: pandas.DataFrame(X)"
        )
    return np.fromiter((cells[name] for name in names), dtype=object, count=len(names))[None]


def _check_columns(estimator: Any, names: Sequence[str], given: Sequence[str]) -> None:
    known, there = set(names), set(given)
    missing = [name for name in names if name not in there]
    extra = [name for name in given if name not in known]
    if missing:
        parts = [f"{what}: {some(which)}" for what, which in (("missing", missing), ("not known", extra)) if which]
        raise InputError(
            f"X has {len(given)} columns; this model was fitted on {len(names)} ({'; '.join(parts)}). "
            "Pass all columns of the fit, in any order"
        )
    if extra:
        warn_caller(f"X has columns that the model was not fitted on; they are ignored: {some(extra)}")


def check_table(estimator: Any, rows: Rows) -> NDArray[np.floating]:
    """Return rows of numbers as a finite float array with the columns of the fit."""
    how = {"dtype": _FLOATS, "ensure_all_finite": False}
    try:
        _check_numeric(rows.table)
        if rows.by_name:
            table = check_array(rows.table, input_name="X", estimator=estimator, **how)
        else:
            table = validate_data(estimator, rows.table, reset=False, **how)
    except InputError:
        raise
    except _FOREIGN as error:
        raise InputError(f"{_difference(estimator, rows.table)}{error}") from error
    check_finite(table, getattr(estimator, "feature_names_in_", None))
    return np.asarray(table)


def check_mixed_rows(estimator: Any, rows: Rows) -> Any:
    """Return rows with the columns of the fit, whose cells need not be numbers."""
    if rows.by_name:
        return rows.table
    try:
        return validate_data(estimator, rows.table, reset=False, skip_check_array=True)
    except _FOREIGN as error:
        raise InputError(f"{_difference(estimator, rows.table)}{error}") from error


def _difference(estimator: Any, X: Any) -> str:
    """Return a message prefix with the number of columns of X and of the fit, if they differ."""
    shape: tuple[int, ...] = getattr(X, "shape", ())
    if len(shape) != 2 or shape[1] == estimator.n_features_in_:
        return ""
    return f"X has {shape[1]} columns; this model was fitted on {estimator.n_features_in_}: pass the same columns. "


# -- both ---------------------------------------------------------------------------------------------------------


def _check_names(X: Any) -> None:
    """Raise unless the columns of a frame have different names of one type."""
    if getattr(getattr(X, "columns", None), "nlevels", 1) > 1:
        raise InputError("X has columns of several levels (a MultiIndex); give every column one name")
    kinds = sorted({type(name).__name__ for name in getattr(X, "columns", ())})
    if len(kinds) > 1 and "str" in kinds:
        raise InputError(f"X has column names of the types {listed(kinds)}; make them all strings")
    names = [str(name) for name in getattr(X, "columns", ())]
    twice = sorted({name for name in names if names.count(name) > 1}) if len(set(names)) < len(names) else []
    if twice:
        raise InputError(f"X has columns of the same name: {some(twice)}; rename or drop all but one of each")


def _check_numeric(X: Any) -> None:
    """Raise if a frame has columns that are not numbers, and name them."""
    frame = nw.from_native(X, eager_only=True, pass_through=True)
    if not isinstance(frame, nw.DataFrame):
        return
    odd = [
        f"{name!r} ({dtype})" for name, dtype in frame.schema.items() if not (dtype.is_numeric() or dtype == nw.Boolean)
    ]
    if odd:
        raise InputError(
            f"X has {len(odd)} columns that are not numbers: {some(odd)}; encode them as numbers "
            "(for example with sklearn.preprocessing.OrdinalEncoder or OneHotEncoder) or drop them"
        )


def held_out_rows(n_rows: int, fraction: float, seed: int, classes: NDArray[Any] | None) -> list[NDArray[np.intp]]:
    """Return rows to fit and rows to score on, both in order: a share of each class, unless one has a single row."""
    if classes is not None and np.unique(classes, return_counts=True)[1].min() < 2:
        classes = None
    parts = train_test_split(np.arange(n_rows), test_size=fraction, random_state=seed, stratify=classes)
    return [np.sort(rows) for rows in parts]
