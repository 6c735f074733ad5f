"""Reading a description strictly: every problem is named with its place, and all of them are reported at once."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from importlib import import_module
from inspect import Parameter, signature
from typing import Any

import numpy as np

from hideseek.errors import InputError
from hideseek.validation import Rule
from hideseek.wording import did_you_mean, listed, shown

__all__ = ["NAMED", "Problems", "as_json", "imported", "is_too_deep", "name_of", "parameters_of", "required_of", "said"]


_DEEPEST = 50


class Problems:
    """Collects what is wrong with a description."""

    def __init__(self) -> None:
        self._texts: list[str] = []

    def add(self, place: str, text: str) -> None:
        """One more."""
        self._texts.append(f"{place}: {text}")

    def check(self, place: str, value: Any, rule: Rule) -> bool:
        """Whether the value keeps the rule; if not, that is a problem."""
        if not rule.accepts(value):
            self.add(place, f"expected {rule.expected}; got {shown(value)}{rule.suggestion(value)}")
        return rule.accepts(value)

    def check_names(self, place: str, names: Iterable[Any], known: Iterable[str], what: str = "key") -> None:
        """Every name that is not known is a problem."""
        known = list(known)
        for name in names:
            if not isinstance(name, str) or name not in known:
                about = f"; known: {listed(known)}" if known else "; there are none"
                title = name if isinstance(name, str) else shown(name)
                self.add(f"{place}.{title}" if place else title, f"unknown {what}{did_you_mean(name, known)}{about}")

    def check_mapping(self, place: str, value: Any) -> dict[str, Any]:
        """The value as a dict; empty, and a problem, if it is none."""
        if isinstance(value, Mapping):
            return dict(value)
        self.add(place, f"expected a mapping; got {shown(value)}")
        return {}

    def check_json(self, place: str, values: Mapping[str, Any]) -> None:
        """Every value that cannot be written down is a problem."""
        for name, value in values.items():
            try:
                as_json(value)
            except TypeError as error:
                self.add(f"{place}.{name}", f"{error}; a run must be able to write down what it did")

    def raise_any(self) -> None:
        """Raise one InputError that lists all problems, if there are any."""
        if self._texts:
            count = "a problem" if len(self._texts) == 1 else f"{len(self._texts)} problems"
            raise InputError(f"{count} in the configuration:\n" + "\n".join(f"- {text}" for text in self._texts))


def is_too_deep(value: Any) -> bool:
    """Return whether lists and dicts are nested deeper than any description, or contain themselves."""
    level = [value]
    for _ in range(_DEEPEST):
        level = list({id(part): part for whole in level for part in _parts(whole)}.values())
        if not level:
            return False
    return True


def _parts(value: Any) -> Iterable[Any]:
    """Return the lists and dicts in a list or dict."""
    inside = value.values() if isinstance(value, Mapping) else value if isinstance(value, list | tuple) else ()
    return (part for part in inside if isinstance(part, Mapping | list | tuple))


def as_json(value: Any) -> Any:
    """The value as JSON has it: tuples and arrays become lists, numbers of numpy plain ones."""
    if isinstance(value, np.generic):
        value = value.item()
    if value is None or isinstance(value, bool | int | str):
        return value
    if isinstance(value, float):
        if not np.isfinite(value):
            raise TypeError(f"{value} is not a finite number")
        return value
    if isinstance(value, np.ndarray):
        return as_json(value.tolist())
    if isinstance(value, list | tuple):
        return [as_json(item) for item in value]
    if isinstance(value, Mapping):
        return {str(as_json(name)): as_json(item) for name, item in value.items()}
    raise TypeError(f"a {type(value).__name__} has no JSON form")


def said(description: Mapping[str, Any]) -> dict[str, Any]:
    """What a description says: a setting that is added some day, and left at None, changes no description of today."""
    return {name: value for name, value in description.items() if value is not None and value != {}}


def parameters_of(function: Callable[..., Any]) -> dict[str, Parameter]:
    """The arguments by name that a class or function takes."""
    kinds = (Parameter.POSITIONAL_OR_KEYWORD, Parameter.KEYWORD_ONLY)
    try:
        parameters = signature(function).parameters
    except ValueError:  # some of what Python has built in does not say
        return {}
    return {name: parameter for name, parameter in parameters.items() if parameter.kind in kinds}


def required_of(function: Callable[..., Any]) -> list[str]:
    """The arguments that a class or function cannot do without."""
    return [name for name, parameter in parameters_of(function).items() if parameter.default is Parameter.empty]


def name_of(thing: Any) -> str:
    """Where a class or function can be imported from: "package.module:name"."""
    return f"{thing.__module__}:{thing.__qualname__}"


def _has_name(value: Any) -> bool:
    return callable(value) and "<lambda>" not in getattr(value, "__qualname__", "<lambda>")


NAMED = Rule("a function with a name, by which what it did can be known again; define it with def", _has_name)


def imported(name: str) -> Any:
    """The thing behind a name that ``name_of`` gave; an InputError says what is missing."""
    module, _, path = name.partition(":")
    try:
        thing: Any = import_module(module)
        for part in path.split("."):
            thing = getattr(thing, part)
    except (ImportError, AttributeError, ValueError) as error:
        raise InputError(f"cannot import {name!r}: {error}") from error
    return thing
