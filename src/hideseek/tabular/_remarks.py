"""Warnings about the columns of a table."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from hideseek.tabular._table import Column
from hideseek.tabular.codes import CategoryCode, Code, Coded, as_levels
from hideseek.wording import some

__all__ = ["remarks_on_news", "remarks_on_training"]

_MUCH = 0.2
_NUMBERS = ("number", "boolean", "date", "duration")


def remarks_on_training(columns: Sequence[Column], codes: Sequence[Code]) -> Iterator[str]:
    """Yield warnings about ids and free text, categories with many rare levels, and identical columns."""
    for column, code in zip(columns, codes, strict=True):
        if isinstance(code, CategoryCode) and code.other:
            yield from _remarks_on_rare_levels(column, code)
    first: dict[Any, str] = {}
    same = [(first.setdefault(_content(column), column.name), column.name) for column in columns if _varies(column)]
    pairs = [f"{name!r} as {original!r}" for original, name in same if name != original]
    if pairs:
        yield (
            f"columns with the same values as another: {some(pairs)}; each can replace the other, so that either "
            "may be selected: drop one of them, or make them one feature with groups"
        )


def _remarks_on_rare_levels(column: Column, code: CategoryCode) -> Iterator[str]:
    values = [value for value in as_levels(column.values) if value is not None]
    own, n_different = set(code.levels), len(set(values))
    share = sum(value not in own for value in values) / len(values)
    if code.like_an_id:
        used = "only whether it is missing is used" if code.missing else "it is not used"
        yield (
            f"{column.name!r} has a different value in nearly every row ({n_different} values), like an id or free "
            f"text, and {used}; drop it, or derive a feature from it: its first letters, its length, a date"
        )
    elif share > _MUCH and n_different > len(own) + 1:
        yield (
            f"{column.name!r} has {n_different} different values; the {len(own)} most frequent are separate levels, "
            f"and all others, {share:.0%} of the rows, are one level: merge them into meaningful levels"
        )


def _varies(column: Column) -> bool:
    if column.kind in _NUMBERS:
        return bool((column.numbers != column.numbers[0]).any())
    return len(set(column.values)) > 1


def _content(column: Column) -> tuple[str, int]:
    values = column.numbers.tobytes() if column.kind in _NUMBERS else tuple(column.values)
    return column.kind, hash(values)


def remarks_on_news(names: Sequence[str], coded: Sequence[Coded]) -> Iterator[str]:
    """Yield warnings about values that did not occur in the training rows."""
    missing = [f"{name!r} ({part.n_newly_missing} rows)" for name, part in zip(names, coded, strict=True) if part[1]]
    unknown = [f"{name!r} ({_few(part.unknown)})" for name, part in zip(names, coded, strict=True) if part.unknown]
    if missing:
        yield (
            f"values are missing in columns that had none missing in training: {some(missing)}; "
            "they are replaced by the median or most frequent value of the training rows"
        )
    if unknown:
        yield (
            f"levels that did not occur in the training rows: {some(unknown)}; they are treated as missing or, if no "
            "training value was missing, as the most frequent level"
        )


def _few(levels: tuple[Any, ...]) -> str:
    return some([repr(level) for level in levels])
