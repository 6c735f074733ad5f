"""Rules for the description of a ``TableEncoder`` in a file."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from hideseek.errors import FileFormatError
from hideseek.schema import BOOLEAN, FINITE, SCALAR, Fields, ListOf, Node, check_value, text
from hideseek.validation import Rule, choice, integer

__all__ = ["ENCODER"]

_SHARED: dict[str, Rule | Node] = {"name": text(), "missing": BOOLEAN}
_LEVELS = {"levels": ListOf(SCALAR)}
_COLUMNS = {
    **{
        kind: Fields({**_SHARED, "kind": choice(kind), "fill": FINITE}, {} if kind != "ordered" else _LEVELS)
        for kind in ("number", "boolean", "date", "duration", "ordered")
    },
    "category": Fields({**_SHARED, **_LEVELS, "kind": choice("category"), "other": BOOLEAN, "fill": integer(0)}),
}
_FEATURE = Fields({"name": text(), "columns": ListOf(integer(0), least=1)})
_PARTS = Fields(
    {
        "columns": ListOf(Rule("an object", lambda value: isinstance(value, dict)), least=1),
        "features": ListOf(_FEATURE, least=1),
    }
)


class _Encoder:
    """The rule for a whole encoder description."""

    def check(self, value: Any, place: str) -> None:
        """See ``Node.check``."""
        check_value(value, _PARTS, place)
        for i, column in enumerate(value["columns"]):
            check_value(column.get("kind"), choice(*_COLUMNS), f"{place}.columns[{i}].kind")
            check_value(column, _COLUMNS[column["kind"]], f"{place}.columns[{i}]")
            _check_levels(column, f"{place}.columns[{i}]")
        _check_different([column["name"] for column in value["columns"]], f"{place}.columns", "names")
        _check_different([feature["name"] for feature in value["features"]], f"{place}.features", "names")
        taken = sorted(j for feature in value["features"] for j in feature["columns"])
        if taken != list(range(len(value["columns"]))):
            raise FileFormatError(f"{place}.features do not contain every column exactly once")


def _check_levels(column: dict[str, Any], place: str) -> None:
    levels = column.get("levels", ())
    _check_different(levels, place, "levels")
    if column["kind"] == "category" and column["fill"] >= max(1, len(levels)):
        raise FileFormatError(f"{place}.fill is not the number of a level")


def _check_different(values: Sequence[Any], place: str, what: str) -> None:
    if len(set(values)) < len(values):
        raise FileFormatError(f"{place} has the same {what} twice")


ENCODER = _Encoder()
"""Rule for the output of ``TableEncoder.to_json``."""
