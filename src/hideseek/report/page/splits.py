"""Ways to divide the rows shown into groups that a reader can compare, as JSON; compare.js reads it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hideseek.cells import format_value, named_answer
from hideseek.report.page.columns import Column
from hideseek.report.page.content import Content
from hideseek.report.page.packing import pack

__all__ = ["page_splits"]

_MOST_COLUMNS = 40
"""Columns that rows can be divided by: those selected most often, and the protected ones."""
_MOST_PARTS = 8


def page_splits(content: Content) -> list[dict[str, Any]]:
    """Return, for each way to divide the rows, its name, the names of its parts, and the part of each row shown.

    By the groups of the page, by prediction and true label, and by the value of a column: each value if there are few,
    else below the median and above it.
    """
    explanation = content.explanation
    splits = []
    if len(content.subgroups) > 1:
        splits.append(_split("Group", [subgroup.name for subgroup in content.subgroups], content.group))
    for title, answers in (("Prediction", explanation.prediction), ("Actual", content.actual)):
        if answers is not None:
            splits.append(_of_answers(title, answers, content))
    often = np.argsort(-explanation.selected.mean(axis=0), kind="stable")[:_MOST_COLUMNS]
    among = {*often.tolist(), *content.protected}
    for column in content.columns:
        if column.feature in among:
            splits.append(_of_column(column))
    return [
        {**split, "values": pack(split["values"][content.rows], "u1")} for split in splits if len(split["parts"]) > 1
    ]


def _split(name: str, parts: list[str], values: NDArray[Any]) -> dict[str, Any]:
    return {"name": name, "parts": parts, "values": values}


def _of_answers(title: str, answers: NDArray[Any], content: Content) -> dict[str, Any]:
    explanation = content.explanation
    name = explanation.target_name or "y"
    if explanation.probability is None and answers.dtype.kind in "iuf":
        return _split(title, *_halves(answers.astype(np.float64), format_value, name))
    _, first, place = np.unique(answers.astype(str), return_index=True, return_inverse=True)
    names = [named_answer(answers[i], explanation.target_name) for i in first]
    return _split(title, *_frequent(names, place.reshape(len(answers)), np.bincount(place.reshape(-1))))


def _of_column(column: Column) -> dict[str, Any]:
    known = np.isfinite(column.values)
    distinct, place = np.unique(column.values[known], return_inverse=True)
    if len(distinct) <= _MOST_PARTS or column.kind == "category":
        names = [f"{column.name} = {column.display(value)}" for value in distinct]
        parts, values = _frequent(names, place, np.bincount(place))
    else:
        parts, values = _halves(column.values[known], column.display, column.name)
    codes = np.full(len(known), len(parts))
    codes[known] = values
    return _split(column.name, parts if known.all() else [*parts, f"{column.name} is missing"], codes)


def _frequent(
    names: list[str], place: NDArray[np.intp], counts: NDArray[np.intp]
) -> tuple[list[str], NDArray[np.intp]]:
    """Return the names and the name of each row; of too many names, the rarest become "others"."""
    if len(names) <= _MOST_PARTS:
        return names, place
    kept = np.sort(np.argsort(-counts, kind="stable")[: _MOST_PARTS - 1])
    code = np.full(len(names), len(kept))
    code[kept] = np.arange(len(kept))
    return [*(names[i] for i in kept), "others"], code[place]


def _halves(
    values: NDArray[np.float64], display: Callable[[float], str], name: str
) -> tuple[list[str], NDArray[np.intp]]:
    """Return two parts: below the median, and from it on; below the next value if the median is the lowest."""
    cut = float(np.median(values))
    if cut == values.min():
        cut = float(values[values > cut].min(initial=values.max()))
    return [f"{name} < {display(cut)}", f"{name} ≥ {display(cut)}"], (values >= cut).astype(np.intp)
