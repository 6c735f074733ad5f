"""Single values: what they are, and as what they are kept."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, date, datetime, timedelta
from numbers import Real
from typing import Any

import numpy as np

__all__ = ["days", "kind_of", "plain"]

_EPOCH = datetime(1970, 1, 1)


def plain(value: Any) -> Any:
    """A value of Python's own: text, number, boolean or date; None where it is missing, else its text."""
    if value is None or isinstance(value, str | bool | int):
        return value
    if isinstance(value, np.generic):
        return plain(value.item())
    unequal = value != value
    if unequal is True or unequal is value:  # not a number or not a time; and the missing value of pandas
        return None
    if isinstance(value, float | date):
        return value
    return str(value)


def kind_of(values: Sequence[Any]) -> str:
    """What all values that are not missing are: "boolean", "number" or "date"; else "category", or "empty"."""
    present = [value for value in values if value is not None]
    if not present:
        return "empty"
    for kind, types in (("boolean", bool), ("number", Real), ("date", date)):
        if all(isinstance(value, types) for value in present):
            return kind
    return "category"


def days(value: date) -> float:
    """Days since the first of January 1970."""
    if not isinstance(value, datetime):
        return float(value.toordinal() - _EPOCH.toordinal())
    if value.tzinfo is not None:
        value = value.astimezone(UTC).replace(tzinfo=None)
    return (value - _EPOCH) / timedelta(days=1)
