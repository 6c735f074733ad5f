"""The columns of a table as an ONNX graph takes them, and from there to the matrix that ``TableEncoder`` makes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from hideseek.errors import InputError
from hideseek.export._graph import Graph
from hideseek.tabular import TableEncoder
from hideseek.wording import some

__all__ = ["RawColumns", "encode"]


class RawColumns(NamedTuple):
    """Which of the two inputs each column of the table belongs to.

    Attributes:
        numbers: The columns of the input "X", by their number in the table: numbers, booleans, dates and durations in
            days, and categories whose levels are numbers.
        texts: The columns of the input "X_text": categories whose levels are text, and columns taken for free text.
    """

    numbers: list[int]
    texts: list[int]

    @classmethod
    def of(cls, encoder: TableEncoder) -> RawColumns:
        """Share out the columns of a table, or raise an InputError where one has both numbers and text."""
        raw = cls([], [])
        columns = encoder.to_json()["columns"]
        for k, column in enumerate(columns):
            (raw.texts if _is_text(column) else raw.numbers).append(k)
        both = [repr(columns[k]["name"]) for k in raw.texts if not _all_text(columns[k])]
        if both:
            raise InputError(
                f"to_onnx cannot export columns whose levels are numbers and text at once: {some(both)}; "
                "turn them into text and fit again"
            )
        return raw


def encode(graph: Graph, raw: RawColumns, encoder: Mapping[str, Any], places: Sequence[int], X: str) -> str:
    """Add what ``TableEncoder.encode`` does.

    Args:
        graph: Where to add it.
        raw: The inputs of the graph.
        encoder: Of the description: columns with their codes, and features.
        places: The number in the table of each of these columns.
        X: The input of that name, in double precision.

    Returns:
        The name of the matrix, double. Shape: ``(rows, columns of the matrix)``.
    """
    columns = encoder["columns"]
    with_levels = [k for k, column in enumerate(columns) if column["kind"] in ("category", "ordered")]
    parts: dict[str, list[tuple[int, int]]] = {}  # each tensor with the column, and its part, that its columns are
    plain = [k for k in range(len(columns)) if k not in with_levels]
    if plain:
        values = graph.gather(X, [raw.numbers.index(places[k]) for k in plain], axis=1)
        parts |= _filled(graph, values, {k: columns[k] for k in plain})
    for k in with_levels:
        text = _is_text(columns[k])
        numbers = raw.texts if text else raw.numbers
        values = graph.gather("X_text" if text else X, [numbers.index(places[k])], axis=1)
        place = _place if columns[k]["kind"] == "category" else _rank
        parts |= place(graph, values, k, columns[k])
    found = {part: i for i, part in enumerate(part for own in parts.values() for part in own)}
    wanted = [k for feature in encoder["features"] for k in feature["columns"]]
    order = [found[part] for k in wanted for part in sorted(part for part in found if part[0] == k)]
    return graph.gather(graph.add("Concat", *parts, axis=1), order, axis=1)


def _filled(graph: Graph, values: str, columns: Mapping[int, Mapping[str, Any]]) -> dict[str, list[tuple[int, int]]]:
    """Fill what is missing among numbers, and say where it was for the columns that had such values in the fit."""
    gone = graph.add("IsNaN", values)
    fills = graph.constant([[column["fill"] for column in columns.values()]], np.float64)
    parts = {graph.add("Where", gone, fills, values): [(k, 0) for k in columns]}
    noted = [i for i, column in enumerate(columns.values()) if column["missing"]]
    if noted:
        keys = list(columns)
        parts[graph.cast(graph.gather(gone, noted, axis=1), np.float64)] = [(keys[i], 1) for i in noted]
    return parts


def _rank(graph: Graph, values: str, k: int, column: Mapping[str, Any]) -> dict[str, list[tuple[int, int]]]:
    """Give an ordered level its rank; what is no level is missing."""
    number, known = _matched(graph, values, column["levels"])
    fill = graph.constant(column["fill"], np.float64)
    parts = {graph.add("Where", known, graph.cast(number, np.float64), fill): [(k, 0)]}
    if column["missing"]:
        parts[graph.cast(graph.add("Not", known), np.float64)] = [(k, 1)]
    return parts


def _place(graph: Graph, values: str, k: int, column: Mapping[str, Any]) -> dict[str, list[tuple[int, int]]]:
    """Give a level its place, and each place a column, as ``CategoryCode.encode``."""
    levels, other, missing = column["levels"], column["other"], column["missing"]
    n_places = len(levels) + other + missing
    where_missing = n_places - 1 if missing else column["fill"]
    where_unknown = len(levels) if other else where_missing
    gone = graph.add("Equal", values, graph.constant("", object)) if _is_text(column) else graph.add("IsNaN", values)
    ends = [graph.constant(place, np.int64) for place in (where_missing, where_unknown)]
    place = graph.add("Where", gone, *ends)
    if levels:
        number, known = _matched(graph, values, levels)
        place = graph.add("Where", known, number, place)
    if n_places > 2:
        place = graph.add("Equal", place, graph.constant([range(n_places)], np.int64))
    elif n_places < 2:
        place = graph.add("Mul", place, graph.constant(0, np.int64))
    return {graph.cast(place, np.float64): [(k, i) for i in range(n_places if n_places > 2 else 1)]}


def _matched(graph: Graph, values: str, levels: Sequence[Any]) -> tuple[str, str]:
    """Return the number of each value's level, and whether it has one. Shape: ``(rows, 1)`` -> both the same."""
    dtype = object if isinstance(levels[0], str) else np.float64
    same = graph.cast(graph.add("Equal", values, graph.constant([levels], dtype)), np.int64)
    number = graph.sum(graph.add("Mul", same, graph.constant([range(len(levels))], np.int64)), axis=1, keep=True)
    return number, graph.cast(graph.sum(same, axis=1, keep=True), np.bool_)


def _is_text(column: Mapping[str, Any]) -> bool:
    """Return whether the cells of a column are text: some level is, or nothing is known of them."""
    levels = column.get("levels", ())
    return any(isinstance(level, str) for level in levels) or (column["kind"] == "category" and not levels)


def _all_text(column: Mapping[str, Any]) -> bool:
    return all(isinstance(level, str) for level in column["levels"])
