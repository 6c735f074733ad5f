"""The explained table, column by column: kinds of values, ranges, and the numbers that stand for them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from hideseek.errors import InputError
from hideseek.explanation import Explanation
from hideseek.validation import some

__all__ = ["Categories", "Column", "columns_of"]

Categories = Mapping[str, Mapping[Any, str]]
"""Column name -> value -> what that value is called."""


@dataclass(frozen=True)
class Column:
    """One feature of the table that was explained.

    Attributes:
        name: The feature's.
        kind: What its values are.
        values: Numbers; of a category that is text, its position among the categories; NaN where missing.
            Shape: ``(rows,)``.
        categories: What the values of a category are called, by number.
    """

    name: str
    kind: Literal["number", "whole number", "category"]
    values: NDArray[np.floating]
    categories: Mapping[float, str]

    @property
    def n_missing(self) -> int:
        """Rows without a value."""
        return int(np.isnan(self.values).sum())

    @cached_property
    def span(self) -> tuple[float, float, float]:
        """The lowest value, the mean and the highest; zeros where no value is there."""
        there = self.values[np.isfinite(self.values)]
        return (float(there.min()), float(there.mean()), float(there.max())) if len(there) else (0.0, 0.0, 0.0)


def columns_of(explanation: Explanation, categories: Categories | None) -> list[Column]:
    """The columns of the explained table; none where the explanation came without its data."""
    given = dict(categories or {})
    unknown = [repr(name) for name in given if name not in explanation.feature_names]
    if unknown:
        raise InputError(f"categories names {some(unknown)}, which the explanation does not have as a feature")
    if explanation.data is None:
        return []
    return [_column(name, explanation.data[:, j], given.get(name)) for j, name in enumerate(explanation.feature_names)]


def _column(name: str, raw: NDArray[Any], names: Mapping[Any, str] | None) -> Column:
    try:
        values = raw.astype(np.float64, copy=False)
    except (TypeError, ValueError):
        return _text(name, raw, names or {})
    finite = values[np.isfinite(values)]
    if names is not None:
        found = {float(value): f"{value:g}" for value in np.unique(finite)}
        return Column(name, "category", values, {**found, **_named(name, names)})
    whole = bool((finite == np.floor(finite)).all())
    return Column(name, "whole number" if whole else "number", values, {})


def _named(name: str, names: Mapping[Any, str]) -> dict[float, str]:
    try:
        return {float(value): str(label) for value, label in names.items()}
    except (TypeError, ValueError) as error:
        raise InputError(f"categories[{name!r}] must go from numbers, as in the column, to text: {error}") from error


def _text(name: str, raw: NDArray[Any], names: Mapping[Any, str]) -> Column:
    """Text, or a mixture: each different value is a category."""
    there = np.array([value is not None and value == value for value in raw], dtype=bool)
    different, positions = np.unique(raw[there].astype(str), return_inverse=True)
    values = np.full(len(raw), np.nan)
    values[there] = positions
    labels = {str(value): str(label) for value, label in names.items()}
    return Column(name, "category", values, {float(i): labels.get(text, text) for i, text in enumerate(different)})
