"""Cell values of mixed-type tables: as display text, and as JSON and back."""

from __future__ import annotations

import json
from datetime import date, datetime, timedelta
from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = [
    "cells_from_json",
    "cells_to_json",
    "count_answers",
    "format_value",
    "is_missing",
    "named_answer",
    "quote_value",
]


def is_missing(value: Any) -> bool:
    """Return whether a value is None, NaN, NaT, or the missing value of pandas."""
    if value is None:
        return True
    unequal = value != value
    return bool(unequal) if isinstance(unequal, bool | np.bool_) else unequal is value


def format_value(value: Any) -> str:
    """Return a value as short display text."""
    if is_missing(value):
        return "missing"
    if isinstance(value, tuple):
        return f"({', '.join(format_value(part) for part in value)})"
    if not isinstance(value, float | np.floating):
        return str(value)
    number = float(value)
    return f"{number:,.0f}" if 1e4 <= abs(number) < 1e15 else f"{number:.4g}"


def quote_value(value: Any) -> str:
    """Return a value as ``format_value`` does, with text in quotation marks, so that a sentence shows where it ends."""
    return repr(str(value)) if isinstance(value, str) else format_value(value)


def named_answer(value: Any, target_name: str | None) -> str:
    """Return a prediction with the name of the target: "price = 3.2"; text without a known target stands alone.

    Example:
        >>> from hideseek.cells import named_answer
        >>> named_answer(1, None), named_answer("setosa", None), named_answer("setosa", "species")
        ('y = 1', "'setosa'", "species = 'setosa'")
    """
    if target_name is None and isinstance(value, str):
        return quote_value(value)
    return f"{target_name or 'y'} = {quote_value(value)}"


def count_answers(prediction: NDArray[Any], target_name: str | None) -> list[tuple[str, int]]:
    """Return the distinct predictions, as ``named_answer`` writes them, with their numbers of rows; most first."""
    _, first, counts = np.unique(prediction.astype(str), return_index=True, return_counts=True)
    order = np.argsort(-counts, kind="stable")
    return [(named_answer(prediction[first[i]], target_name), int(counts[i])) for i in order]


def cells_to_json(values: NDArray[Any]) -> str:
    """Return a table of objects as JSON text. Shape: ``(rows, columns)``."""
    return json.dumps({"shape": values.shape, "cells": [_to_json(value) for value in values.flat]})


def cells_from_json(text: str) -> NDArray[Any]:
    """Return the table that ``cells_to_json`` wrote; values of other than the known kinds are text."""
    description = json.loads(text)
    cells = (_from_json(value) for value in description["cells"])
    return np.fromiter(cells, dtype=object, count=len(description["cells"])).reshape(description["shape"])


def _to_json(value: Any) -> Any:
    if isinstance(value, np.generic):
        value = value.item()
    if value is None or isinstance(value, str | bool | int | float):
        return value
    if isinstance(value, datetime):
        return {"datetime": value.isoformat()}
    if isinstance(value, date):
        return {"date": value.isoformat()}
    if isinstance(value, timedelta):
        return {"seconds": value.total_seconds()}
    return [_to_json(part) for part in value] if isinstance(value, tuple) else str(value)


def _from_json(value: Any) -> Any:
    if isinstance(value, list):
        return tuple(_from_json(part) for part in value)
    if not isinstance(value, dict):
        return value
    if "seconds" in value:
        return timedelta(seconds=value["seconds"])
    return date.fromisoformat(value["date"]) if "date" in value else datetime.fromisoformat(value["datetime"])
