"""Checks of what the caller passed, with errors that say what to do next."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from math import isfinite
from numbers import Integral, Real
from typing import Any

import narwhals as nw
import numpy as np
from narwhals.exceptions import NarwhalsError
from numpy.typing import NDArray
from sklearn.base import is_regressor
from sklearn.utils.multiclass import check_classification_targets, type_of_target
from sklearn.utils.validation import check_X_y, validate_data

from hideseek.engine.scaling import row_blocks
from hideseek.errors import InputError

__all__ = [
    "Rule",
    "check_classes",
    "check_finite",
    "check_mixed_table",
    "check_parameters",
    "check_table",
    "check_target",
    "check_training_table",
    "choice",
    "integer",
    "listed",
    "number",
    "some",
]

_NAMED = 5


@dataclass(frozen=True)
class Rule:
    """What a parameter may be, in words and as a test."""

    expected: str
    accepts: Callable[[Any], bool]
    choices: tuple[str, ...] = ()

    def or_none(self) -> Rule:
        """The same, or None."""
        return Rule(f"{self.expected} or None", lambda value: value is None or self.accepts(value), self.choices)

    def __or__(self, other: Rule) -> Rule:
        return Rule(
            f"{self.expected} or {other.expected}",
            lambda value: self.accepts(value) or other.accepts(value),
            self.choices + other.choices,
        )


def choice(*names: str) -> Rule:
    """One of the names."""
    return Rule(listed(map(repr, names), last="or"), lambda value: isinstance(value, str) and value in names, names)


def integer(low: int, high: int | None = None) -> Rule:
    """A whole number from ``low`` to ``high``."""
    span = f"a whole number of at least {low}" if high is None else f"a whole number from {low} to {high}"
    return Rule(
        span,
        lambda value: (
            isinstance(value, Integral)
            and not isinstance(value, bool)
            and low <= int(value)
            and (high is None or int(value) <= high)
        ),
    )


def number(expected: str, accepts: Callable[[float], bool]) -> Rule:
    """A finite number for which ``accepts`` holds."""
    return Rule(
        expected,
        lambda value: (
            isinstance(value, Real) and not isinstance(value, bool) and _is_finite(value) and accepts(float(value))
        ),
    )


def _is_finite(value: Any) -> bool:
    try:
        return isfinite(value)
    except OverflowError:  # an integer too large for a float
        return False


def listed(words: Iterable[object], *, last: str = "and") -> str:
    """The words in a row, as one says them: a, b and c."""
    texts = [str(word) for word in words]
    return f" {last} ".join([", ".join(texts[:-1]), texts[-1]]) if len(texts) > 1 else "".join(texts)


def check_parameters(owner: str, parameters: Mapping[str, object], rules: Mapping[str, Rule]) -> None:
    """Raise one InputError that lists every parameter that breaks its rule."""
    problems = []
    for name, rule in rules.items():
        value = parameters[name]
        if rule.accepts(value):
            continue
        close = get_close_matches(value, rule.choices, n=1) if isinstance(value, str) else []
        hint = f"; did you mean {close[0]!r}?" if close and close[0] != value else ""
        problems.append(f"{name}={value!r}: expected {rule.expected}{hint}")
    if problems:
        count = "a parameter" if len(problems) == 1 else f"{len(problems)} parameters"
        raise InputError(f"{count} of {owner} cannot be used:\n" + "\n".join(f"- {problem}" for problem in problems))


def check_table(estimator: Any, X: Any) -> NDArray[np.floating]:
    """X as a finite float array with the columns of the fit."""
    table: NDArray[np.floating] = _checked(estimator, X, reset=False)
    return table


def check_training_table(estimator: Any, X: Any, y: Any) -> tuple[NDArray[np.floating], NDArray[Any]]:
    """X as a finite float array of at least two rows, whose width and names the estimator learns, and y as a column."""
    numeric = is_regressor(estimator)
    table, column = _checked(estimator, X, y=y, reset=True, ensure_min_samples=2, y_numeric=numeric)
    return table, column


def check_mixed_table(estimator: Any, X: Any, *, reset: bool) -> Any:
    """X, whose cells need not be numbers, with the columns of the fit, which the estimator learns if ``reset``."""
    try:
        _check_names(X)
        return validate_data(estimator, X, reset=reset, skip_check_array=True)
    except InputError:
        raise
    except (ValueError, NarwhalsError) as error:
        raise InputError(str(error) if reset else f"{_difference(estimator, X)}{error}") from error


def check_target(estimator: Any, y: Any, n_rows: int) -> NDArray[Any]:
    """Y as a column of as many rows as X has, at least two."""
    try:
        _, column = check_X_y(np.zeros((n_rows, 1)), y, ensure_min_samples=2, y_numeric=is_regressor(estimator))
    except ValueError as error:
        raise InputError(str(error)) from error
    return np.asarray(column)


def _checked(estimator: Any, X: Any, *, reset: bool, **how: Any) -> Any:
    try:
        _check_columns(X)
        checked = validate_data(
            estimator, X, reset=reset, dtype=[np.float64, np.float32], ensure_all_finite=False, **how
        )
    except InputError:
        raise
    except (ValueError, NarwhalsError) as error:
        raise InputError(str(error) if reset else f"{_difference(estimator, X)}{error}") from error
    table = checked[0] if isinstance(checked, tuple) else checked
    check_finite(table, getattr(estimator, "feature_names_in_", None))
    return checked


def _check_names(X: Any) -> None:
    """Dense and collected; in frames every name a different one, of one type."""
    if hasattr(X, "collect"):
        raise InputError("X is a lazy frame; pass X.collect()")
    if hasattr(X, "toarray"):
        raise InputError("X is sparse, and dense data is required; pass X.toarray()")
    kinds = sorted({type(name).__name__ for name in getattr(X, "columns", ())})
    if len(kinds) > 1 and "str" in kinds:
        raise InputError(f"X has column names of the types {listed(kinds)}; make them all strings")
    names = [str(name) for name in getattr(X, "columns", ())]
    twice = sorted({name for name in names if names.count(name) > 1}) if len(set(names)) < len(names) else []
    if twice:
        raise InputError(f"X has columns of the same name: {some(twice)}; rename or drop all but one of each")


def _check_columns(X: Any) -> None:
    """As ``_check_names``, and in frames every column numeric."""
    _check_names(X)
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


def _difference(estimator: Any, X: Any) -> str:
    """What sets the columns of X apart from those of the fit, before the details."""
    shape: tuple[int, ...] = getattr(X, "shape", ())
    fitted = getattr(estimator, "feature_names_in_", None)
    names = [str(name) for name in getattr(X, "columns", ())]
    if len(shape) != 2 or (fitted is None and shape[1] == estimator.n_features_in_):
        return ""
    text = f"X has {shape[1]} columns; this model was fitted on {estimator.n_features_in_}"
    if fitted is None or not names:
        return f"{text}: pass the same columns. "
    missing = [name for name in fitted if name not in names]
    extra = [name for name in names if name not in fitted]
    if not missing and not extra:
        return "X has the columns of the fit in another order: pass X[model.feature_names_in_]. "
    parts = [f"{what}: {some(which)}" for what, which in (("missing", missing), ("not known", extra)) if which]
    return f"{text} ({'; '.join(parts)}). "


def check_finite(X: NDArray[np.floating], names: Iterable[str] | None = None) -> None:
    """Raise an InputError that names the columns with NaN or infinite values."""
    missing = np.zeros(X.shape[1], dtype=int)
    infinite = np.zeros(X.shape[1], dtype=int)
    for rows in row_blocks(*X.shape):
        block = X[rows]
        with np.errstate(over="ignore", invalid="ignore"):
            if np.isfinite(block.sum()):  # one pass; a sum that overflows is looked at more closely
                continue
        missing += np.isnan(block).sum(axis=0)
        infinite += np.isinf(block).sum(axis=0)
    titles = [f"column {j}" for j in range(X.shape[1])] if names is None else [repr(str(name)) for name in names]
    problems = [
        f"{what} in {some([f'{titles[j]} ({counts[j]} rows)' for j in np.flatnonzero(counts)])}"
        for what, counts in (("missing values (NaN)", missing), ("infinite values (inf)", infinite))
        if counts.any()
    ]
    if problems:
        raise InputError(
            f"X has {listed(problems)}; drop those rows or fill the cells, "
            "for example with sklearn.impute.SimpleImputer"
        )


def some(items: list[str]) -> str:
    """The first few of a long list."""
    more = len(items) - _NAMED
    return listed(items) if more <= 0 else listed([*items[:_NAMED], f"{more} more"])


def check_classes(y: NDArray[Any]) -> tuple[NDArray[Any], NDArray[np.int64]]:
    """The labels that occur, sorted, and for each row the position of its own among them."""
    if y.dtype == object:
        n_missing = sum(label is None or label != label for label in y)
        if n_missing:
            raise InputError(f"y has {n_missing} missing labels; drop those rows")
        kinds = sorted({type(label).__name__ for label in y})
        if len(kinds) > 1:
            raise InputError(f"y mixes labels of the types {listed(kinds)}; make them all of one type")
        y = np.array(y.tolist())
    if type_of_target(y) == "continuous":
        raise InputError(
            "Unknown label type: y is continuous, and a classifier needs classes; use HideSeekRegressor, or cut y"
        )
    check_classification_targets(y)
    classes, positions = np.unique(y, return_inverse=True)
    if len(classes) < 2:
        raise InputError(f"y has one class ({classes[0]!r}); a classifier needs at least two classes")
    return classes, positions.astype(np.int64)
