"""The explained table by column: kinds of values, ranges, and their numbers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import cached_property
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from hideseek.cells import format_value
from hideseek.errors import InputError
from hideseek.explanation import Explanation
from hideseek.tabular import Column as Cells
from hideseek.tabular import Table, TableEncoder
from hideseek.tabular.codes import Code, NumberCode, as_levels, sorted_levels
from hideseek.wording import some

__all__ = ["Categories", "Column", "columns_of"]

Categories = Mapping[str, Mapping[Any, str]]
"""Maps column names to maps from value to display name."""

Kind = Literal["number", "whole number", "boolean", "date", "duration", "ordered", "category"]


@dataclass(frozen=True)
class Column:
    """One column of the explained table.

    Attributes:
        name: Its name.
        feature: The number of the feature that it belongs to.
        kind: The kind of its values.
        values: Numbers, booleans as 0 or 1, dates as days since 1970, durations in days, levels as their positions; NaN
            where missing. Shape: ``(rows,)``.
        categories: Display names of the values of booleans, levels and categories, by number.
        levels: For "ordered" and for categories that are not numbers, the values themselves, by position.
    """

    name: str
    feature: int
    kind: Kind
    values: NDArray[np.floating]
    categories: Mapping[float, str]
    levels: tuple[Any, ...] = ()

    @property
    def n_missing(self) -> int:
        """Number of rows without a value."""
        return int(np.isnan(self.values).sum())

    @cached_property
    def span(self) -> tuple[float, float, float]:
        """The lowest value, the mean and the highest; zeros if there is no value."""
        there = self.values[np.isfinite(self.values)]
        return (float(there.min()), float(there.mean()), float(there.max())) if len(there) else (0.0, 0.0, 0.0)

    @cached_property
    def is_whole(self) -> bool:
        """Whether all values are integers: for dates, whether none has a time of day."""
        there = self.values[np.isfinite(self.values)]
        return bool((there == np.floor(there)).all())

    def display(self, number: float) -> str:
        """Return the display text of a value, or of a number between values."""
        if self.kind == "date":
            moment = datetime(1970, 1, 1) + timedelta(days=number)
            return moment.date().isoformat() if self.is_whole else moment.isoformat(" ", "minutes")
        if self.kind == "duration":
            return str(timedelta(days=number))
        return self.categories[number] if number in self.categories else format_value(number)


def columns_of(explanation: Explanation, categories: Categories | None, encoder: TableEncoder | None) -> list[Column]:
    """Return the columns of the explained table; empty if the explanation has no data.

    Args:
        explanation: The explanation.
        categories: Display names of the values of some columns.
        encoder: The model's encoder; None if the table had only numbers, or the encoder is not known.
    """
    given = dict(categories or {})
    columns = [] if explanation.data is None else _columns(explanation, given, encoder)
    known = {*explanation.feature_names, *(column.name for column in columns)}
    unknown = [repr(name) for name in given if name not in known]
    if unknown:
        raise InputError(f"categories has {some(unknown)}, which is not a feature of the explanation")
    return columns


def _columns(explanation: Explanation, given: Categories, encoder: TableEncoder | None) -> list[Column]:
    data = np.asarray(explanation.data)
    if data.dtype != object:
        named = enumerate(zip(explanation.feature_names, data.T.astype(np.float64, copy=False), strict=True))
        return [_of_numbers(name, j, values, given.get(name)) for j, (name, values) in named]
    known = {} if encoder is None else _columns_of_features(encoder)
    parts = [
        (j, *part)
        for j, feature in enumerate(explanation.feature_names)
        for part in _parts(feature, data[:, j].tolist(), known.get(feature, []))
    ]
    table = np.empty((len(data), len(parts)), dtype=object)
    for k, (_, _, _, cells) in enumerate(parts):
        table[:, k] = np.fromiter(cells, dtype=object, count=len(data))
    return [
        _column(name, j, read, code, given.get(name))
        for (j, name, code, _), read in zip(parts, Table(table).columns(), strict=True)
    ]


def _columns_of_features(encoder: TableEncoder) -> dict[str, list[tuple[str, Code | None]]]:
    """Return the name and code of each column of a feature, by the feature's name."""
    return {name: [(encoder.names[k], encoder.codes[k]) for k in columns] for name, columns in encoder.features}


def _parts(
    feature: str, cells: list[Any], known: list[tuple[str, Code | None]]
) -> list[tuple[str, Code | None, Sequence[Any]]]:
    """Return the columns that a feature consists of: name, code and cells of each.

    Args:
        feature: The name of the feature.
        cells: Its values; tuples, if the feature is a group.
        known: Name and code of each column, if an encoder tells.
    """
    is_group = all(isinstance(cell, tuple) for cell in cells)
    columns: list[Sequence[Any]] = list(zip(*cells, strict=True)) if is_group else [cells]
    if len(known) != len(columns):
        known = [(f"{feature} {i + 1}" if is_group else feature, None) for i in range(len(columns))]
    return [(title, code, column) for (title, code), column in zip(known, columns, strict=True)]


def _column(name: str, feature: int, cells: Cells, code: Code | None, names: Mapping[Any, str] | None) -> Column:
    """Use the type learned by the encoder; without one, infer it from the values."""
    kind = cells.kind if code is None else code.kind
    if kind == "number":
        return _of_numbers(name, feature, cells.numbers, names)
    if kind == "date" or kind == "duration":
        return Column(name, feature, "date" if kind == "date" else "duration", cells.numbers, {})
    labels = {str(value): str(label) for value, label in (names or {}).items()}
    if kind == "boolean":
        called = {float(value): labels.get(str(value), str(value)) for value in (False, True)}
        return Column(name, feature, "boolean", cells.numbers, called)
    values = as_levels(cells.values)
    levels = code.levels if isinstance(code, NumberCode) else sorted_levels(set(values) - {None})
    place = {level: float(i) for i, level in enumerate(levels)}
    called = {float(i): labels.get(str(level), str(level)) for i, level in enumerate(levels)}
    numbers = np.array([place.get(value, np.nan) for value in values])
    return Column(name, feature, "ordered" if kind == "ordered" else "category", numbers, called, levels)


def _of_numbers(name: str, feature: int, values: NDArray[np.float64], names: Mapping[Any, str] | None) -> Column:
    if names is not None:
        found = {float(value): f"{value:g}" for value in np.unique(values[np.isfinite(values)])}
        return Column(name, feature, "category", values, {**found, **_named(name, names)})
    column = Column(name, feature, "number", values, {})
    return Column(name, feature, "whole number", values, {}) if column.is_whole else column


def _named(name: str, names: Mapping[Any, str]) -> dict[float, str]:
    try:
        return {float(value): str(label) for value, label in names.items()}
    except (TypeError, ValueError) as error:
        raise InputError(f"categories[{name!r}] must map numbers, as in the column, to text: {error}") from error
