"""Single cell values: their kind, and their conversion to plain Python values."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, date, datetime, timedelta
from numbers import Real
from typing import Any

import numpy as np

from hideseek.cells import is_missing

__all__ = ["days", "duration_days", "kind_of", "plain"]

_EPOCH = datetime(1970, 1, 1)


def plain(value: Any) -> Any:
    """Return the value as plain Python text, number, boolean, date or duration; None if missing; else its text."""
    if type(value) is float:  # the usual case, told at once: wide tables have millions of cells
        return value if value == value else None
    if value is None or isinstance(value, str | bool | int):
        return value
    if isinstance(value, np.generic):
        return plain(value.item())
    if is_missing(value):
        return None
    if isinstance(value, float | date | timedelta):
        return value
    return str(value)


def kind_of(values: Sequence[Any]) -> str:
    """Return the common kind of all present values: boolean, number, date, duration, else "category", or "empty"."""
    found = {type(value) for value in values if value is not None}
    if not found:
        return "empty"
    for kind, expected in (("boolean", bool), ("number", Real), ("date", date), ("duration", timedelta)):
        if all(issubclass(each, expected) for each in found):
            return kind
    return "category"


def duration_days(value: timedelta) -> float:
    """Return a duration in days."""
    return value / timedelta(days=1)


def days(value: date) -> float:
    """Return the number of days since the first of January 1970."""
    if not isinstance(value, datetime):
        return float(value.toordinal() - _EPOCH.toordinal())
    if value.tzinfo is not None:
        value = value.astimezone(UTC).replace(tzinfo=None)
    return (value - _EPOCH) / timedelta(days=1)
