"""Encoding of single columns as numbers, learned from the training rows."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from hideseek.errors import InputError
from hideseek.tabular._table import Column

__all__ = ["CategoryCode", "Code", "Coded", "NumberCode", "as_levels", "code_from_json", "fit_code", "sorted_levels"]

_MOST_LEVELS = 30
_FEWEST_ROWS, _SMALLEST_SHARE = 2, 1 / 200
"""Rows, and share of the rows, that a level needs to be encoded by itself: nothing can be learned from fewer."""

_LIKE_AN_ID = 0.95
"""Share of the rows in rare levels from which a column is treated as an id or free text."""

_LEVEL_SCALE, _MISSING_SCALE = 0.5, 1.0
"""Divisors of the 0/1 columns. Dividing by the standard deviation would give the rarest levels the largest inputs.
The first equals the deviation of two equally frequent levels; the indicator of missing values is weighted less."""

_WORDS = {
    "number": "numbers",
    "boolean": "booleans",
    "date": "dates",
    "duration": "durations",
    "ordered": "ordered categories",
    "category": "categories or text",
}


class Coded(NamedTuple):
    """A column as numbers, and the values in it that did not occur in the training rows.

    Shape: ``matrix (rows, width)``.
    """

    matrix: NDArray[np.float64]
    n_newly_missing: int = 0
    unknown: tuple[Any, ...] = ()


@dataclass(frozen=True)
class NumberCode:
    """Encodes numbers, booleans as 0 or 1, dates as days since 1970, durations in days, and ordered levels as ranks.

    A missing value becomes ``fill``, the median of the training rows. If the training rows had missing values, a second
    0/1 column marks them.

    Attributes:
        kind: "number", "boolean", "date", "duration" or "ordered".
        fill: Replaces missing values: the median; for booleans, dates and levels the lower median, a value that occurs.
        missing: Whether the training rows had missing values.
        levels: For "ordered", lowest first; any other level counts as missing.
    """

    kind: str
    fill: float
    missing: bool
    levels: tuple[Any, ...] = ()

    @property
    def width(self) -> int:
        """Return the number of matrix columns."""
        return 2 if self.missing else 1

    @property
    def scales(self) -> tuple[float, ...]:
        """Return the divisor of each matrix column; NaN: its standard deviation."""
        return (np.nan, _MISSING_SCALE) if self.missing else (np.nan,)

    @classmethod
    def fit(cls, column: Column) -> NumberCode:
        """Learn the median and whether values are missing."""
        code = cls(column.kind, 0.0, False, tuple(as_levels(column.levels)))
        numbers, _ = code._numbers(column)
        present = numbers[np.isfinite(numbers)]
        return cls(column.kind, _median(present, column.kind), bool(np.isnan(numbers).any()), code.levels)

    def encode(self, column: Column) -> Coded:
        """Encode a column. Shape: ``(rows, width)``."""
        numbers, unknown = self._numbers(column)
        gone = np.isnan(numbers)
        filled = np.where(gone, self.fill, numbers)
        if self.missing:
            return Coded(np.column_stack((filled, gone)), 0, unknown)
        n_newly_missing = column.values.count(None) if unknown else int(gone.sum())
        return Coded(filled[:, None], n_newly_missing, unknown)

    def to_json(self) -> dict[str, Any]:
        """Return a JSON description."""
        description = {"kind": self.kind, "fill": self.fill, "missing": self.missing}
        return {**description, "levels": list(self.levels)} if self.kind == "ordered" else description

    def _numbers(self, column: Column) -> tuple[NDArray[np.float64], tuple[Any, ...]]:
        """Return each value's number, and the unknown levels."""
        if self.kind == "ordered":
            ranks = {level: float(rank) for rank, level in enumerate(self.levels)}
            values = as_levels(column.values)
            unknown = sorted_levels(set(values) - ranks.keys() - {None})
            return np.array([ranks.get(value, np.nan) for value in values]), unknown
        fitting = (self.kind,) if self.kind in ("date", "duration") else ("number", "boolean")
        if column.kind not in (*fitting, "empty"):
            raise InputError(f"{column.name!r} has {_WORDS[column.kind]}, but had {_WORDS[self.kind]} in fit")
        return column.numbers, ()


def _median(numbers: NDArray[np.float64], kind: str) -> float:
    """Return the median; for booleans, dates and levels the lower median, so that it is a value that occurs."""
    if not len(numbers):
        return 0.0
    if kind in ("number", "duration"):
        return float(np.median(numbers))
    return float(np.quantile(numbers, 0.5, method="lower"))


@dataclass(frozen=True)
class CategoryCode:
    """One-hot encoding with one position per level, one for all rare levels, and one for missing values.

    Two positions are encoded in one 0/1 column. An unknown level is encoded as a rare one if the training rows had rare
    ones, else as missing if they had missing values, else as the most frequent level.

    Attributes:
        levels: The levels with their own position, sorted.
        other: Whether there is a next position, shared by all rare levels.
        missing: Whether there is a last position, for missing values.
        fill: The position of the most frequent level, used for missing values if the training rows had none.
    """

    levels: tuple[Any, ...]
    other: bool
    missing: bool
    fill: int

    kind = "category"

    @property
    def like_an_id(self) -> bool:
        """Return whether nearly every training row had a different value."""
        return self.other and not self.levels

    @property
    def n_places(self) -> int:
        """Return the number of positions: the levels, plus one for rare levels and one for missing values."""
        return len(self.levels) + self.other + self.missing

    @property
    def width(self) -> int:
        """Return the number of matrix columns."""
        return self.n_places if self.n_places > 2 else 1

    @property
    def scales(self) -> tuple[float, ...]:
        """Return the divisor of each matrix column."""
        return (_LEVEL_SCALE,) * self.width

    @classmethod
    def fit(cls, column: Column) -> CategoryCode:
        """Learn the levels that are frequent enough."""
        values = as_levels(column.values)
        counts, n_rows = Counter(value for value in values if value is not None), len(values)
        fewest = max(_FEWEST_ROWS, _SMALLEST_SHARE * n_rows)
        kept = {level: count for level, count in counts.most_common(_MOST_LEVELS) if count >= fewest}
        if sum(kept.values()) < (1 - _LIKE_AN_ID) * counts.total():
            kept = {}
        levels = sorted_levels(kept)
        fill = levels.index(max(kept, key=lambda level: kept[level])) if kept else 0
        return cls(levels, len(kept) < len(counts), n_rows > counts.total(), fill)

    def encode(self, column: Column) -> Coded:
        """Encode a column. Shape: ``(rows, width)``."""
        values = as_levels(column.values)
        place: dict[Any, int] = {level: i for i, level in enumerate(self.levels)}
        place[None] = self.n_places - 1 if self.missing else self.fill
        strange = len(self.levels) if self.other else place[None]
        places = np.array([place.get(value, strange) for value in values], dtype=np.intp)
        unknown = set() if self.other or not self.levels else set(values) - place.keys()
        n_newly_missing = 0 if self.missing or not self.levels else values.count(None)
        if self.n_places < 2:
            matrix = np.zeros((len(places), 1))
        elif self.n_places == 2:
            matrix = places[:, None].astype(np.float64)
        else:
            matrix = (places[:, None] == np.arange(self.n_places)).astype(np.float64)
        return Coded(matrix, n_newly_missing, sorted_levels(unknown))

    def to_json(self) -> dict[str, Any]:
        """Return a JSON description."""
        rest = {"other": self.other, "missing": self.missing, "fill": self.fill}
        return {"kind": self.kind, "levels": list(self.levels), **rest}


Code = NumberCode | CategoryCode


def fit_code(column: Column) -> Code:
    """Return the code for a column of training rows."""
    return CategoryCode.fit(column) if column.kind in ("category", "empty") else NumberCode.fit(column)


def code_from_json(description: Mapping[str, Any]) -> Code:
    """Return the code that ``to_json`` described."""
    levels = tuple(description.get("levels", ()))
    if description["kind"] == "category":
        return CategoryCode(levels, description["other"], description["missing"], description["fill"])
    return NumberCode(description["kind"], description["fill"], description["missing"], levels)


def as_levels(values: Iterable[Any]) -> list[Any]:
    """Return the values as levels: text and numbers unchanged, None for missing, and the text of anything else."""
    return [value if value is None or isinstance(value, str | int | float) else str(value) for value in values]


def sorted_levels(levels: Iterable[Any]) -> tuple[Any, ...]:
    """Sort the levels, numbers before text."""
    return tuple(sorted(levels, key=lambda level: (isinstance(level, str), level)))
