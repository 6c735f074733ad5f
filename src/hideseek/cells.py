"""Values of any plain kind, what a table of mixed types holds: as people write them, and as JSON and back."""

from __future__ import annotations

import json
from datetime import date, datetime, timedelta
from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["cells_from_json", "cells_to_json", "count_answers", "is_missing", "named_answer", "quoted", "short"]


def is_missing(value: Any) -> bool:
    """Return whether a value is None, not a number, not a time, or the missing value of pandas."""
    if value is None:
        return True
    unequal = value != value
    return bool(unequal) if isinstance(unequal, bool | np.bool_) else unequal is value


def short(value: Any) -> str:
    """A value as one would write it by hand."""
    if is_missing(value):
        return "missing"
    if isinstance(value, tuple):
        return f"({', '.join(short(part) for part in value)})"
    if not isinstance(value, float | np.floating):
        return str(value)
    number = float(value)
    return f"{number:,.0f}" if 1e4 <= abs(number) < 1e15 else f"{number:.4g}"


def quoted(value: Any) -> str:
    """As ``short``, with text between quotation marks, so that a sentence shows where it ends."""
    return repr(str(value)) if isinstance(value, str) else short(value)


def named_answer(value: Any, target_name: str | None) -> str:
    """Return a prediction with what it is a value of: "price = 3.2"; a text without a known target stands alone.

    Example:
        >>> from hideseek.cells import named_answer
        >>> named_answer(1, None), named_answer("setosa", None), named_answer("setosa", "species")
        ('y = 1', "'setosa'", "species = 'setosa'")
    """
    if target_name is None and isinstance(value, str):
        return quoted(value)
    return f"{target_name or 'y'} = {quoted(value)}"


def count_answers(prediction: NDArray[Any], target_name: str | None) -> list[tuple[str, int]]:
    """Return the different predictions, as ``named_answer`` writes them, and how many rows have each; most first."""
    _, first, counts = np.unique(prediction.astype(str), return_index=True, return_counts=True)
    order = np.argsort(-counts, kind="stable")
    return [(named_answer(prediction[first[i]], target_name), int(counts[i])) for i in order]


def cells_to_json(values: NDArray[Any]) -> str:
    """A table of objects. Shape: ``(rows, columns)``."""
    return json.dumps({"shape": values.shape, "cells": [_to_json(value) for value in values.flat]})


def cells_from_json(text: str) -> NDArray[Any]:
    """The table that ``cells_to_json`` described; what was of another kind than those it knows is its text."""
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
