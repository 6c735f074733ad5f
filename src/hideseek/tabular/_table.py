"""Tables as passed by the user, read by column: numbers, booleans, dates, durations, ordered levels or categories."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import date
from functools import cached_property
from typing import Any

import narwhals as nw
import numpy as np
from narwhals.exceptions import NarwhalsError
from numpy.typing import NDArray

from hideseek.errors import InputError
from hideseek.frames import check_arrow
from hideseek.tabular._cells import days, duration_days, kind_of, plain
from hideseek.wording import column_names

__all__ = ["Column", "Table", "only_numbers"]

_MICROSECONDS_PER_DAY = 86_400e6


@dataclass(frozen=True)
class Column:
    """One column of the user's table.

    Attributes:
        name: Its name.
        kind: "number", "boolean", "date", "duration", "ordered", "category", or "empty" if all values are missing.
        numbers: For the first four kinds; dates as days since 1970, durations in days, NaN where missing.
            Shape: ``(rows,)``.
        levels: For "ordered", lowest first.
        cells: Returns the values, one per row, None where missing.
    """

    name: str
    kind: str
    numbers: NDArray[np.float64]
    levels: tuple[Any, ...]
    cells: Callable[[], list[Any]]

    @cached_property
    def values(self) -> list[Any]:
        """Return the values as plain Python objects, None where missing. Timestamps without a time of day are dates."""
        values = self.cells()
        if self.kind == "date" and all(number % 1 == 0 for number in self.numbers if number == number):
            return [value.date() if hasattr(value, "date") else value for value in values]
        return values


class Table:
    """A table whose cells may be of any kind.

    Args:
        source: A frame of pandas, polars or pyarrow, or an array. Shape: ``(rows, columns)``.
        names: What the columns of an array are called in messages; x1, x2, ... if not given.
    """

    def __init__(self, source: Any, names: Sequence[str] | None = None) -> None:
        check_arrow(source)
        self._names = names
        frame = nw.from_native(source, eager_only=True, pass_through=True)
        if isinstance(frame, nw.DataFrame):
            self._source: Any = frame
        else:  # without dtype=object, numbers in a list beside text become text
            self._source = source if isinstance(source, np.ndarray) else np.array(source, dtype=object)

    @property
    def names(self) -> list[str]:
        """Return the names of the columns: x1, x2, ... for an array."""
        if isinstance(self._source, nw.DataFrame):
            return [str(name) for name in self._source.columns]
        return column_names(self._names or None, self._source.shape[1])

    def __len__(self) -> int:
        return len(self._source)

    def __getitem__(self, rows: NDArray[np.bool_]) -> Table:
        """Return the rows for which ``rows`` is true."""
        return Table(self._source[np.flatnonzero(rows)], self._names)

    def columns(self) -> list[Column]:
        """Read and return all columns.

        Raises:
            InputError: Some columns are of a kind that cannot be encoded.
        """
        if not isinstance(self._source, nw.DataFrame):
            return [_from_array(name, self._source[:, j]) for j, name in enumerate(self.names)]
        series = list(self._source.iter_columns())
        odd = [f"{one.name!r} ({one.dtype})" for one in series if not _is_known(one.dtype)]
        if odd:
            raise InputError(
                "X has columns that are neither numbers, booleans, dates, durations, categories nor text: "
                f"{', '.join(odd)}; convert or drop them"
            )
        return [_from_series(name, one) for name, one in zip(self.names, series, strict=True)]


_KINDS = (nw.Boolean, nw.String, nw.Categorical, nw.Enum, nw.Date, nw.Datetime, nw.Duration, nw.Object, nw.Unknown)


def _is_known(dtype: Any) -> bool:
    return bool(dtype.is_numeric()) or any(dtype == kind for kind in _KINDS)


def _from_series(name: str, series: Any) -> Column:
    dtype = series.dtype

    def cells() -> list[Any]:
        try:
            values = series.to_list()
        except (OverflowError, ValueError) as error:  # a date out of Python's range
            raise InputError(f"X has values that cannot be read in {name!r}: {error}; correct or drop them") from error
        missing = series.is_null().to_numpy()
        return [None if gone else plain(value) for value, gone in zip(values, missing, strict=True)]

    if dtype.is_numeric() or dtype == nw.Boolean:
        numbers = _as_floats(series)
        return Column(name, "boolean" if dtype == nw.Boolean else "number", numbers, (), cells)
    missing = series.is_null().to_numpy()
    if missing.all():
        return Column(name, "empty", np.full(len(series), np.nan), (), cells)
    if dtype == nw.Date or dtype == nw.Datetime:
        numbers = _as_floats(series.dt.timestamp("us")) / _MICROSECONDS_PER_DAY
        _check_calendar(name, numbers)
        return Column(name, "date", numbers, (), cells)
    if dtype == nw.Duration:
        numbers = _as_floats(series.dt.total_microseconds())
        return Column(name, "duration", np.where(missing, np.nan, numbers) / _MICROSECONDS_PER_DAY, (), cells)
    if isinstance(dtype, nw.Enum):
        return Column(name, "ordered", np.empty(0), tuple(plain(level) for level in dtype.categories), cells)
    if dtype == nw.String or dtype == nw.Categorical:
        return Column(name, "category", np.empty(0), (), cells)
    return _from_objects(name, cells())


def _as_floats(series: Any) -> NDArray[np.float64]:
    if series.dtype.is_float():
        return np.asarray(series.to_numpy(), dtype=np.float64)  # what is missing becomes NaN
    try:
        return np.asarray(series.cast(nw.Float64).to_numpy(), dtype=np.float64)
    except ValueError:  # pyarrow refuses integers that a float cannot hold exactly
        return np.array([np.nan if value is None else float(value) for value in series.to_list()])


def _check_calendar(name: str, numbers: NDArray[np.float64]) -> None:
    """Raise an InputError if a date is out of the range of Python's dates, since it could not be displayed."""
    strange = int(((numbers < days(date.min)) | (numbers >= days(date.max) + 1)).sum())
    if strange:
        raise InputError(
            f"X has dates outside the years 1 to 9999 in {name!r} ({strange} rows); correct them or set them to missing"
        )


def _from_array(name: str, values: NDArray[Any]) -> Column:
    if values.dtype.kind in "iuf":
        numbers = values.astype(np.float64)
        return Column(name, "number", numbers, (), lambda: [None if v != v else v for v in values.tolist()])
    if values.dtype.kind in "mM":
        values = values.astype(f"{values.dtype.kind}8[us]")  # tolist() turns finer units into integers
    return _from_objects(name, [plain(value) for value in values.tolist()])


def _from_objects(name: str, values: list[Any]) -> Column:
    """Read a column of Python objects as the kind that all of them have."""
    kind = kind_of(values)
    as_number = _AS_NUMBER.get(kind, lambda _: np.nan)
    try:
        numbers = np.array([np.nan if value is None else as_number(value) for value in values])
    except OverflowError as error:
        raise InputError(f"X has numbers too large for a float in {name!r}; rescale that column") from error
    return Column(name, kind, numbers, (), lambda: values)


_AS_NUMBER: dict[str, Callable[[Any], float]] = {
    "number": float,
    "boolean": float,
    "date": days,
    "duration": duration_days,
}


def only_numbers(X: Any) -> bool:
    """Return whether every cell is present and a number, so that the table is its own matrix.

    Also True for objects that are no tables: the checks of numeric tables report what is wrong with them.
    """
    check_arrow(X)
    try:
        frame = nw.from_native(X, eager_only=True, pass_through=True)
    except NarwhalsError:
        return True
    if isinstance(frame, nw.DataFrame):
        numeric = all(dtype.is_numeric() or dtype == nw.Boolean for dtype in frame.schema.values())
        return numeric and not any(map(_has_holes, frame.iter_columns()))
    if hasattr(X, "toarray") or hasattr(X, "collect"):
        return True
    try:
        array = np.asarray(X)
        if array.ndim != 2 or array.size == 0 or array.dtype.kind == "c":
            return True
        if array.dtype.kind not in "biuf":
            array = array.astype(np.float64)
    except (TypeError, ValueError, OverflowError):
        return np.ndim(_objects(X)) != 2
    return not np.isnan(array.min())


def _objects(X: Any) -> Any:
    """Return the cells as objects, or None if X has no cells."""
    try:
        return np.asarray(X, dtype=object)
    except Exception:  # objects that are no arrays raise errors of many kinds
        return None


def _has_holes(series: Any) -> bool:
    if series.dtype.is_float():
        return bool(np.isnan(_as_floats(series)).any())
    return bool(series.is_null().any())
