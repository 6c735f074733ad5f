"""Rules for the content of a file, checked before anything is built from it.

A description is checked with a tree of rules: ``Rule`` for one value, ``Fields`` for an object, ``ListOf`` for a list,
``MapOf`` for an object with any keys. Arrays are checked with an ``ArrayRule`` each. To let a file hold one more entry,
add one line to the rules that have it; make it optional where older files lack it.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from math import inf
from reprlib import Repr
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from hideseek.errors import FileFormatError
from hideseek.validation import Rule, number
from hideseek.wording import some

__all__ = [
    "BOOLEAN",
    "FINITE",
    "NAMES",
    "NOT_NEGATIVE",
    "POSITIVE",
    "SCALAR",
    "SHARE",
    "ArrayRule",
    "Fields",
    "ListOf",
    "MapOf",
    "Node",
    "brief",
    "check_array_names",
    "check_shape",
    "check_value",
    "check_values",
    "is_text",
    "parsed_dtype",
    "text",
]

_LONGEST_QUOTE = 60
_DTYPE = re.compile(r"[<>|=]?(?:b1|[iu][1248]|f(?:2|4|8|16)|[US]\d{1,7}|O|[mM]8(?:\[\d{0,9}[a-zA-Zμ]{1,2}\])?)")
_quote = Repr()
_quote.maxlevel, _quote.maxlist, _quote.maxdict, _quote.maxtuple = 2, 4, 4, 4
_quote.maxstring = _quote.maxlong = _quote.maxother = _LONGEST_QUOTE


def brief(value: object) -> str:
    """Return a short printable form of a value from a file, which may be of any size and hold any bytes."""
    shown = value if isinstance(value, str) else _quote.repr(value)
    printable = "".join(letter if letter.isprintable() else "?" for letter in shown[: 4 * _LONGEST_QUOTE])
    return printable if len(printable) < 4 * _LONGEST_QUOTE else f"{printable[: 4 * _LONGEST_QUOTE - 3]}..."


class Node(Protocol):
    """A rule for a composite value."""

    def check(self, value: Any, place: str) -> None:
        """Raise a FileFormatError with the place if the value breaks the rule."""


def check_value(value: Any, rule: Rule | Node, place: str) -> None:
    """Raise a FileFormatError if the value breaks the rule; ``place`` is its position in the file."""
    if not isinstance(rule, Rule):
        rule.check(value, place)
    elif not rule.accepts(value):
        raise FileFormatError(f"{place} is {_quote.repr(value)}; expected {rule.expected}")


@dataclass(frozen=True)
class Fields:
    """An object with these keys and no others; optional keys may be missing."""

    required: Mapping[str, Rule | Node]
    optional: Mapping[str, Rule | Node] = field(default_factory=dict)

    def check(self, value: Any, place: str) -> None:
        """See ``Node.check``."""
        _expect(isinstance(value, dict), value, place, "an object")
        missing = [name for name in self.required if name not in value]
        if missing:
            raise FileFormatError(f"{place} lacks {some([repr(name) for name in missing])}")
        rules = {**self.required, **self.optional}
        _refuse_unknown(value, rules, f"{place} has the unknown entry")
        for name, part in value.items():
            check_value(part, rules[name], f"{place}.{name}")


@dataclass(frozen=True)
class ListOf:
    """A list whose entries follow one rule."""

    rule: Rule | Node
    least: int = 0
    most: float = inf

    def check(self, value: Any, place: str) -> None:
        """See ``Node.check``."""
        fits = isinstance(value, list) and self.least <= len(value) <= self.most
        _expect(fits, value, place, "a list" if self.most == inf else f"a list of {self.least} to {self.most} entries")
        for i, part in enumerate(value):
            check_value(part, self.rule, f"{place}[{i}]")


@dataclass(frozen=True)
class MapOf:
    """An object with any keys, whose values follow one rule."""

    rule: Rule | Node

    def check(self, value: Any, place: str) -> None:
        """See ``Node.check``."""
        _expect(isinstance(value, dict) and all(map(is_text, value)), value, place, "an object")
        for name, part in value.items():
            check_value(part, self.rule, f"{place}.{brief(name)}")


def _expect(fits: bool, value: Any, place: str, expected: str) -> None:
    if not fits:
        raise FileFormatError(f"{place} is {_quote.repr(value)}; expected {expected}")


def _refuse_unknown(names: Collection[str], known: Collection[str], what: str) -> None:
    unknown = [name for name in names if name not in known]
    if unknown:
        raise FileFormatError(
            f"{what} {some([_quote.repr(name) for name in unknown])}: a newer hideseek may have written it, "
            "so upgrade hideseek"
        )


# -- rules for one value ------------------------------------------------------------------------------------------


def is_text(value: Any) -> bool:
    """Return whether the value is text that can be encoded: half of a surrogate pair cannot."""
    if not isinstance(value, str):
        return False
    try:
        value.encode()
    except UnicodeEncodeError:
        return False
    return True


def text(longest: float = inf) -> Rule:
    """Return the rule for text of at most ``longest`` characters."""
    return Rule("text", lambda value: is_text(value) and len(value) <= longest)


def _is_scalar(value: Any) -> bool:
    return isinstance(value, bool | int) or is_text(value) or (isinstance(value, float) and value == value)


def _are_names(value: Any) -> bool:
    return isinstance(value, list) and all(map(is_text, value)) and len(set(value)) == len(value)


BOOLEAN = Rule("true or false", lambda value: isinstance(value, bool))
FINITE = number("a finite number", lambda value: True)
NAMES = Rule("a list of different texts", _are_names)
NOT_NEGATIVE = number("a number of at least 0", lambda value: value >= 0)
POSITIVE = number("a number greater than 0", lambda value: value > 0)
SHARE = number("a number in (0, 1]", lambda value: 0 < value <= 1)
SCALAR = Rule("text, a number, true or false", _is_scalar)


def parsed_dtype(written: Any) -> np.dtype[Any] | None:
    """Return the plain numpy type with this name, or None if there is none."""
    if not isinstance(written, str) or not _DTYPE.fullmatch(written):
        return None
    try:
        return np.dtype(written)
    except (TypeError, ValueError):
        return None


# -- arrays -------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class ArrayRule:
    """The allowed type, shape and values of an array.

    Attributes:
        types: Numpy's short names of types, such as "f4", or of kinds of types, such as "f".
        shape: For each axis its length, or the name of a length. A name has the same length in the whole file.
        low: The smallest value.
        high: The largest value.
        finite: Whether every value is a finite number.
        optional: Whether it may be missing.
    """

    types: tuple[str, ...]
    shape: tuple[int | str, ...]
    low: float = -inf
    high: float = inf
    finite: bool = True
    optional: bool = False


class _Shaped(Protocol):
    """An array, or its type and shape before it is read."""

    @property
    def dtype(self) -> np.dtype[Any]: ...

    @property
    def shape(self) -> tuple[int, ...]: ...


def check_array_names(names: Collection[str], rules: Mapping[str, ArrayRule]) -> None:
    """Raise a FileFormatError if an array is missing or unknown."""
    missing = [name for name, rule in rules.items() if name not in names and not rule.optional]
    if missing:
        raise FileFormatError(f"it lacks {some([repr(name) for name in missing])}")
    _refuse_unknown(names, rules, "it has the unknown array")


def check_shape(name: str, array: _Shaped, rule: ArrayRule, sizes: dict[str, int]) -> None:
    """Raise a FileFormatError if type or shape is wrong; new named lengths are added to ``sizes``."""
    if array.dtype.kind not in rule.types and array.dtype.str[1:] not in rule.types:
        expected = some([np.dtype(t).name if len(t) > 1 else f"type {t!r}" for t in rule.types])
        raise FileFormatError(f"array {name!r} has the type {array.dtype}; expected {expected}")
    fits = len(array.shape) == len(rule.shape)
    for length, expected_length in zip(array.shape, rule.shape, strict=False):
        known = sizes.setdefault(expected_length, length) if isinstance(expected_length, str) else expected_length
        fits = fits and length == known
    if not fits:
        expected = ", ".join(
            f"{part} = {sizes.get(part)}" if isinstance(part, str) else str(part) for part in rule.shape
        )
        raise FileFormatError(f"array {name!r} has the shape {array.shape}; expected ({expected})")


def check_values(name: str, array: NDArray[Any], rule: ArrayRule) -> None:
    """Raise a FileFormatError if a value of the array breaks the rule."""
    if array.size == 0:
        return
    kind = array.dtype.kind
    if kind == "b":
        fits = bool(array.view(np.uint8).max() <= 1)  # other bytes are true for numpy, but larger numbers elsewhere
    elif kind == "U":
        points = np.ascontiguousarray(array).reshape(-1).view(f"{array.dtype.byteorder}u4")
        fits = bool((points <= 0x10FFFF).all() and not ((points >= 0xD800) & (points <= 0xDFFF)).any())
    elif kind == "f" and rule.finite:
        fits = bool(np.isfinite(array).all() and array.min() >= rule.low and array.max() <= rule.high)
    elif kind in "iu":
        fits = bool(array.min() >= rule.low and array.max() <= rule.high)
    else:
        fits = True
    if not fits:
        span = "" if rule.low == -inf and rule.high == inf else f" from {rule.low:g} to {rule.high:g}"
        words = {"b": "true or false alone", "U": "characters of Unicode alone", "f": f"finite values{span}"}
        raise FileFormatError(f"array {name!r} has invalid values; expected {words.get(kind, 'values' + span)}")
