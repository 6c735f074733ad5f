"""Values of any plain kind, what a table of mixed types holds: as people write them, and as JSON and back."""

from __future__ import annotations

import json
from datetime import date, datetime
from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["cells_from_json", "cells_to_json", "quoted", "short"]


def short(value: Any) -> str:
    """A value as one would write it by hand."""
    if value is None or value != value:
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


def cells_to_json(values: NDArray[Any]) -> str:
    """A table of objects. Shape: ``(rows, columns)``."""
    return json.dumps({"shape": values.shape, "cells": [_to_json(value) for value in values.flat]})


def cells_from_json(text: str) -> NDArray[Any]:
    """The table that ``cells_to_json`` described. What was no text, number, boolean, date or tuple is its text."""
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
    return [_to_json(part) for part in value] if isinstance(value, tuple) else str(value)


def _from_json(value: Any) -> Any:
    if isinstance(value, list):
        return tuple(_from_json(part) for part in value)
    if not isinstance(value, dict):
        return value
    return date.fromisoformat(value["date"]) if "date" in value else datetime.fromisoformat(value["datetime"])
