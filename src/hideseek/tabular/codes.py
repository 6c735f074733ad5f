"""How one column becomes numbers: learned from the training rows, and the same ever after."""

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
"""A level of its own has at least so many rows: of fewer nothing can be learned, and one row would weigh too much."""

_LIKE_AN_ID = 0.95
"""Share of the rows in rare levels from which a column is taken for an id or free text."""

_LEVEL_SCALE, _MISSING_SCALE = 0.5, 1.0
"""What 0 and 1 are divided by. Not by their deviation, or the rarest would be the loudest: a level is as far from the
others as one of two equally frequent ones, and that a value is missing says less, as a rule, than the value does."""

_WORDS = {
    "number": "numbers",
    "boolean": "booleans",
    "date": "dates",
    "duration": "durations",
    "ordered": "ordered categories",
    "category": "categories or text",
}


class Coded(NamedTuple):
    """A column as numbers, and what was met that the training rows did not have.

    Shape: ``matrix (rows, width)``.
    """

    matrix: NDArray[np.float64]
    n_newly_missing: int = 0
    unknown: tuple[Any, ...] = ()


@dataclass(frozen=True)
class NumberCode:
    """A number, a boolean as 0 or 1, a date as days since 1970, a duration in days, or an ordered level as its rank.

    A missing value becomes ``fill``, the median of the training rows. Where they had missing ones, a second column says
    which are.

    Attributes:
        kind: "number", "boolean", "date", "duration" or "ordered".
        fill: What stands for a missing value: the median; of booleans, dates and levels the lower one, which occurs.
        missing: Whether the training rows had missing values.
        levels: Of "ordered", lowest first; a level that is not among them counts as missing.
    """

    kind: str
    fill: float
    missing: bool
    levels: tuple[Any, ...] = ()

    @property
    def width(self) -> int:
        """Columns of the matrix."""
        return 2 if self.missing else 1

    @property
    def scales(self) -> tuple[float, ...]:
        """What each column is divided by; not a number: its deviation."""
        return (np.nan, _MISSING_SCALE) if self.missing else (np.nan,)

    @classmethod
    def fit(cls, column: Column) -> NumberCode:
        """Learn the median and whether values are missing."""
        code = cls(column.kind, 0.0, False, tuple(as_levels(column.levels)))
        numbers, _ = code._numbers(column)
        present = numbers[np.isfinite(numbers)]
        return cls(column.kind, _median(present, column.kind), bool(np.isnan(numbers).any()), code.levels)

    def encode(self, column: Column) -> Coded:
        """Shape: ``(rows, width)``."""
        numbers, unknown = self._numbers(column)
        gone = np.isnan(numbers)
        filled = np.where(gone, self.fill, numbers)
        if self.missing:
            return Coded(np.column_stack((filled, gone)), 0, unknown)
        n_newly_missing = column.values.count(None) if unknown else int(gone.sum())
        return Coded(filled[:, None], n_newly_missing, unknown)

    def to_json(self) -> dict[str, Any]:
        """All of it, as JSON."""
        description = {"kind": self.kind, "fill": self.fill, "missing": self.missing}
        return {**description, "levels": list(self.levels)} if self.kind == "ordered" else description

    def _numbers(self, column: Column) -> tuple[NDArray[np.float64], tuple[Any, ...]]:
        """Each value's number, and the levels that have none."""
        if self.kind == "ordered":
            ranks = {level: float(rank) for rank, level in enumerate(self.levels)}
            values = as_levels(column.values)
            unknown = sorted_levels(set(values) - ranks.keys() - {None})
            return np.array([ranks.get(value, np.nan) for value in values]), unknown
        fitting = (self.kind,) if self.kind in ("date", "duration") else ("number", "boolean")
        if column.kind not in (*fitting, "empty"):
            raise InputError(f"{column.name!r} has {_WORDS[column.kind]}, and had {_WORDS[self.kind]} in the fit")
        return column.numbers, ()


def _median(numbers: NDArray[np.float64], kind: str) -> float:
    """Return the median; of booleans, dates and levels the lower one, so that it is a value that occurs."""
    if not len(numbers):
        return 0.0
    if kind in ("number", "duration"):
        return float(np.median(numbers))
    return float(np.quantile(numbers, 0.5, method="lower"))


@dataclass(frozen=True)
class CategoryCode:
    """One place for each level, for all rare ones together, and for missing; a column for each place.

    Two places are one column, of 0 and 1. A level that the training rows did not have is a rare one, where they had
    rare ones, else missing, where they had missing ones, else the most frequent.

    Attributes:
        levels: The levels with a place of their own, sorted.
        other: Whether rare levels share the next place.
        missing: Whether missing values have the last place.
        fill: The place of the most frequent level, which a missing value takes where the training rows had none.
    """

    levels: tuple[Any, ...]
    other: bool
    missing: bool
    fill: int

    kind = "category"

    @property
    def like_an_id(self) -> bool:
        """Whether nearly every row had a value of its own."""
        return self.other and not self.levels

    @property
    def n_places(self) -> int:
        """Levels, and one place each for the rare and for the missing."""
        return len(self.levels) + self.other + self.missing

    @property
    def width(self) -> int:
        """Columns of the matrix."""
        return self.n_places if self.n_places > 2 else 1

    @property
    def scales(self) -> tuple[float, ...]:
        """What each column is divided by."""
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
        """Shape: ``(rows, width)``."""
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
        """All of it, as JSON."""
        rest = {"other": self.other, "missing": self.missing, "fill": self.fill}
        return {"kind": self.kind, "levels": list(self.levels), **rest}


Code = NumberCode | CategoryCode


def fit_code(column: Column) -> Code:
    """The code for a column of training rows."""
    return CategoryCode.fit(column) if column.kind in ("category", "empty") else NumberCode.fit(column)


def code_from_json(description: Mapping[str, Any]) -> Code:
    """The code that ``to_json`` described."""
    levels = tuple(description.get("levels", ()))
    if description["kind"] == "category":
        return CategoryCode(levels, description["other"], description["missing"], description["fill"])
    return NumberCode(description["kind"], description["fill"], description["missing"], levels)


def as_levels(values: Iterable[Any]) -> list[Any]:
    """Values as levels: text and numbers are what they are, anything else is its text, None stays None."""
    return [value if value is None or isinstance(value, str | int | float) else str(value) for value in values]


def sorted_levels(levels: Iterable[Any]) -> tuple[Any, ...]:
    """Numbers before text, each in order."""
    return tuple(sorted(levels, key=lambda level: (isinstance(level, str), level)))
