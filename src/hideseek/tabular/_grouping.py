"""Groups of table columns that the user defines as one feature."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from numbers import Integral
from typing import Any, NamedTuple

from hideseek.errors import InputError
from hideseek.wording import some

__all__ = ["Feature", "features_of", "is_grouping"]


class Feature(NamedTuple):
    """The unit of selection: a column of the table, or a named group of columns.

    Attributes:
        name: The name of the column or group.
        columns: Positions in the table.
    """

    name: str
    columns: tuple[int, ...]


def is_grouping(value: Any) -> bool:
    """Return whether the value maps names to lists of columns, by name or position."""
    return isinstance(value, Mapping) and all(
        isinstance(name, str)
        and isinstance(columns, list | tuple)
        and len(columns) > 0
        and all(isinstance(column, str | Integral) for column in columns)
        for name, columns in value.items()
    )


def features_of(names: Sequence[str], groups: Mapping[str, Sequence[str | int]] | None) -> tuple[Feature, ...]:
    """Return the features of a table in the order of their first columns: groups, and columns without a group.

    Raises:
        InputError: A group contains an unknown column or one of another group, or has the name of a column outside it.
    """
    group_of: dict[int, str] = {}
    members: dict[str, tuple[int, ...]] = {}
    problems = []
    for group, columns in (groups or {}).items():
        places = [_place(names, column) for column in columns]
        unknown = [repr(column) for column, place in zip(columns, places, strict=True) if place is None]
        known = [place for place in places if place is not None]
        twice = [repr(names[place]) for i, place in enumerate(known) if place in group_of or place in known[:i]]
        if unknown:
            problems.append(f"{group!r} has columns that X does not have: {some(unknown)}")
        if twice:
            problems.append(f"{group!r} has columns that are already in a group: {some(twice)}")
        if group in names and names.index(group) not in known:
            problems.append(f"{group!r} is also the name of a column that is not in it")
        members[group] = tuple(known)
        group_of |= dict.fromkeys(known, group)
    if problems:
        raise InputError("groups cannot be used:\n" + "\n".join(f"- {problem}" for problem in problems))
    features = {group_of.get(j, name): members.get(group_of.get(j, ""), (j,)) for j, name in enumerate(names)}
    return tuple(Feature(name, columns) for name, columns in features.items())


def _place(names: Sequence[str], column: str | int) -> int | None:
    if isinstance(column, str):
        return names.index(column) if column in names else None
    return int(column) if 0 <= int(column) < len(names) else None
