"""Strict reading of configurations: all problems are reported at once, each with its place."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from importlib import import_module
from inspect import Parameter, signature
from typing import Any

import numpy as np

from hideseek.errors import InputError
from hideseek.validation import Rule
from hideseek.wording import did_you_mean, listed, shown

__all__ = [
    "NAMED",
    "Problems",
    "as_json",
    "imported",
    "is_too_deep",
    "name_of",
    "parameters_of",
    "required_of",
    "without_unset",
]


_DEEPEST = 50


class Problems:
    """Collects the problems of a configuration."""

    def __init__(self) -> None:
        self._texts: list[str] = []

    def add(self, place: str, text: str) -> None:
        """Add a problem."""
        self._texts.append(f"{place}: {text}")

    def check(self, place: str, value: Any, rule: Rule) -> bool:
        """Return whether the value follows the rule; add a problem if not."""
        if not rule.accepts(value):
            self.add(place, f"expected {rule.expected}; got {shown(value)}{rule.suggestion(value)}")
        return rule.accepts(value)

    def check_names(self, place: str, names: Iterable[Any], known: Iterable[str], what: str = "key") -> None:
        """Add a problem for every unknown name."""
        known = list(known)
        for name in names:
            if not isinstance(name, str) or name not in known:
                about = f"; known: {listed(known)}" if known else "; there are none"
                title = name if isinstance(name, str) else shown(name)
                self.add(f"{place}.{title}" if place else title, f"unknown {what}{did_you_mean(name, known)}{about}")

    def check_mapping(self, place: str, value: Any) -> dict[str, Any]:
        """Return the value as a dict; if it is not one, add a problem and return an empty dict."""
        if isinstance(value, Mapping):
            return dict(value)
        self.add(place, f"expected a mapping; got {shown(value)}")
        return {}

    def check_json(self, place: str, values: Mapping[str, Any]) -> None:
        """Add a problem for every value that cannot be written as JSON."""
        for name, value in values.items():
            try:
                as_json(value)
            except TypeError as error:
                self.add(f"{place}.{name}", f"{error}; a run must be able to store its settings")

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
    """Return the value as JSON data: tuples and arrays become lists, numpy numbers plain ones."""
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


def without_unset(description: Mapping[str, Any]) -> dict[str, Any]:
    """Drop unset settings, so that a new optional setting does not change the keys of existing jobs."""
    return {name: value for name, value in description.items() if value is not None and value != {}}


def parameters_of(function: Callable[..., Any]) -> dict[str, Parameter]:
    """Return the named arguments of a class or function."""
    kinds = (Parameter.POSITIONAL_OR_KEYWORD, Parameter.KEYWORD_ONLY)
    try:
        parameters = signature(function).parameters
    except ValueError:  # some builtins have no signature
        return {}
    return {name: parameter for name, parameter in parameters.items() if parameter.kind in kinds}


def required_of(function: Callable[..., Any]) -> list[str]:
    """Return the required arguments of a class or function."""
    return [name for name, parameter in parameters_of(function).items() if parameter.default is Parameter.empty]


def name_of(thing: Any) -> str:
    """Return the import path of a class or function: "package.module:name"."""
    return f"{thing.__module__}:{thing.__qualname__}"


def _has_name(value: Any) -> bool:
    return callable(value) and "<lambda>" not in getattr(value, "__qualname__", "<lambda>")


NAMED = Rule("a function with a name, so that its results can be identified; define it with def", _has_name)


def imported(name: str) -> Any:
    """Return the object with the import path that ``name_of`` gave; raise an InputError if it cannot be imported."""
    module, _, path = name.partition(":")
    try:
        thing: Any = import_module(module)
        for part in path.split("."):
            thing = getattr(thing, part)
    except (ImportError, AttributeError, ValueError) as error:
        raise InputError(f"cannot import {name!r}: {error}") from error
    return thing
