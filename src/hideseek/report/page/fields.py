"""The fields of a row that a reader can change, one per column; whatif.js makes controls of them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hideseek.cells import quote_value
from hideseek.export import kept_encoder, kept_features
from hideseek.report.page.columns import Column
from hideseek.report.page.content import Content
from hideseek.report.page.packing import pack_column
from hideseek.tabular.codes import CategoryCode, Code

__all__ = ["page_fields"]


def page_fields(content: Content) -> list[dict[str, Any]]:
    """Return, for each column of the page's model in order, the control and the values of the rows shown.

    Values are the numbers that the code takes: the position of the level for a category, NaN where missing.
    """
    encoder = kept_encoder(content.model)
    fields: dict[int, dict[str, Any]] = {}
    for g, j in enumerate(kept_features(content.model)):
        own = [column for column in content.columns if column.feature == j]
        for k, column in zip(encoder.features[g].columns, own, strict=True):
            fields[k] = {"feature": g, **_field(column, encoder.codes[k], content.rows)}
    return [fields[k] for k in range(len(encoder.names))]


def _field(column: Column, code: Code, rows: NDArray[np.intp]) -> dict[str, Any]:
    values = _as_coded(column, code)[rows]
    low, _, high = column.span
    return {
        "name": f"{column.name} (days)" if column.kind == "duration" else column.name,
        "control": _control(column, code),
        "low": low,
        "high": high,
        "options": _options(column, code),
        "missing": code.missing or bool(np.isnan(values).any()),
        "values": pack_column(values),
    }


def _as_coded(column: Column, code: Code) -> NDArray[np.floating]:
    """Return the column as the numbers that ``encode`` in model.js takes."""
    if not isinstance(code, CategoryCode):
        return column.values
    strange = float(len(code.levels)) if code.other else np.nan
    place: Mapping[Any, float] = {level: float(i) for i, level in enumerate(code.levels)}
    places = np.array([*(place.get(level, strange) for level in column.levels), np.nan])
    return places[np.where(np.isnan(column.values), len(places) - 1, column.values).astype(np.intp)]


def _control(column: Column, code: Code) -> str:
    if column.categories or code.kind == "category":
        return "menu"
    if column.kind == "date":
        return "date" if column.is_whole else "datetime-local"
    return "whole number" if column.kind == "whole number" else "number"


def _options(column: Column, code: Code) -> list[dict[str, Any]]:
    """Return the options of the menu: the value, and its text in the menu and in a sentence."""
    if not isinstance(code, CategoryCode):
        return [{"value": value, "label": label, "said": label} for value, label in sorted(column.categories.items())]
    called = {level: column.categories[float(i)] for i, level in enumerate(column.levels)}
    options = []
    for place, level in enumerate(code.levels):
        label = called.get(level, str(level))
        options.append({"value": place, "label": label, "said": quote_value(level) if label == str(level) else label})
    if code.other:
        options.append({"value": len(code.levels), "label": "other", "said": "another value"})
    return options
