"""Checks of arguments, with errors that say what to do."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from math import isfinite
from numbers import Integral, Real
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hideseek.blocks import row_blocks
from hideseek.errors import ArgumentTypeError, InputError
from hideseek.wording import did_you_mean, listed, shown, some

__all__ = [
    "Rule",
    "as_array",
    "check_finite",
    "check_parameters",
    "choice",
    "integer",
    "is_finite_number",
    "number",
    "row_number",
]

_LARGEST = 2**63 - 1


@dataclass(frozen=True)
class Rule:
    """The accepted values of a parameter, in words and as a test.

    Attributes:
        expected: The values that are accepted, in words.
        accepts: Returns whether a value is accepted.
        choices: Accepted names, to suggest one that is similar to a wrong name.
        aliases: Suggestions for wrong names that are not similar to the right one.
    """

    expected: str
    accepts: Callable[[Any], bool]
    choices: tuple[str, ...] = ()
    aliases: Mapping[str, str] = field(default_factory=dict)

    def or_none(self) -> Rule:
        """Return a rule that also accepts None."""
        accepts = self.accepts
        return replace(self, expected=f"{self.expected} or None", accepts=lambda value: value is None or accepts(value))

    def __or__(self, other: Rule) -> Rule:
        return Rule(
            f"{self.expected} or {other.expected}",
            lambda value: self.accepts(value) or other.accepts(value),
            self.choices + other.choices,
            {**self.aliases, **other.aliases},
        )

    def suggestion(self, value: Any) -> str:
        """Return "; did you mean 'name'?" for a name similar to an accepted one, else an empty text."""
        if isinstance(value, Integral) and abs(int(value)) > _LARGEST:
            return "; it is too large"
        if isinstance(value, str) and value in self.aliases:
            return f"; did you mean {self.aliases[value]!r}?"
        return did_you_mean(value, self.choices)


def choice(*names: str) -> Rule:
    """Return the rule for one of the names."""
    return Rule(listed(map(repr, names), last="or"), lambda value: isinstance(value, str) and value in names, names)


def integer(low: int, high: int | None = None) -> Rule:
    """Return the rule for an integer from ``low`` to ``high``."""
    span = f"a whole number of at least {low}" if high is None else f"a whole number from {low} to {high}"
    return Rule(
        span,
        lambda value: (
            isinstance(value, Integral)
            and not isinstance(value, bool)
            and low <= int(value) <= (_LARGEST if high is None else high)
        ),
    )


def number(expected: str, accepts: Callable[[float], bool]) -> Rule:
    """Return the rule for a finite number for which ``accepts`` holds."""
    return Rule(
        expected,
        lambda value: is_finite_number(value) and not isinstance(value, bool) and accepts(float(value)),
    )


def is_finite_number(value: Any) -> bool:
    """Return whether the value is a real number that a float can hold, neither NaN nor infinite."""
    try:
        return isinstance(value, Real) and isfinite(value)
    except OverflowError:
        return False


def check_parameters(owner: str, parameters: Mapping[str, object], rules: Mapping[str, Rule]) -> None:
    """Raise one InputError that lists every parameter that breaks its rule."""
    problems = []
    for name, rule in rules.items():
        value = parameters[name]
        if not rule.accepts(value):
            problems.append(f"{name}={shown(value)}: expected {rule.expected}{rule.suggestion(value)}")
    if problems:
        count = "a parameter" if len(problems) == 1 else f"{len(problems)} parameters"
        raise InputError(f"{count} of {owner} cannot be used:\n" + "\n".join(f"- {problem}" for problem in problems))


def as_array(name: str, values: Any, dtype: type | None = None) -> NDArray[Any]:
    """Return values as an array, or raise an InputError that names the argument."""
    try:
        return np.asarray(values, dtype=dtype)
    except (TypeError, ValueError, OverflowError) as error:
        kind = "numbers" if dtype is float else "values"
        raise InputError(f"{name} must be an array of {kind}; got {type(values).__name__}: {error}") from error


def row_number(row: Any) -> int:
    """Return the position of a row as an int, or raise an ArgumentTypeError."""
    if isinstance(row, bool) or not isinstance(row, Integral):
        raise ArgumentTypeError(f"row={shown(row)}: expected the position of a row, an integer")
    return int(row)


def check_finite(X: NDArray[np.floating], names: Iterable[str] | None = None) -> None:
    """Raise an InputError that names the columns with NaN or infinite values."""
    missing = np.zeros(X.shape[1], dtype=int)
    infinite = np.zeros(X.shape[1], dtype=int)
    for rows in row_blocks(*X.shape):
        block = X[rows]
        with np.errstate(over="ignore", invalid="ignore"):
            if np.isfinite(block.sum()):  # one pass; if the sum is not finite, the cells are checked
                continue
        missing += np.isnan(block).sum(axis=0)
        infinite += np.isinf(block).sum(axis=0)
    titles = [f"column {j}" for j in range(X.shape[1])] if names is None else [repr(str(name)) for name in names]
    problems = [
        f"{what} in {some([f'{titles[j]} ({counts[j]} rows)' for j in np.flatnonzero(counts)])}"
        for what, counts in (("missing values (NaN)", missing), ("infinite values (inf)", infinite))
        if counts.any()
    ]
    if not problems:
        return
    advice = "drop those rows or put finite values in their place"
    if missing.any():
        advice = "drop those rows or fill the cells, for example with sklearn.impute.SimpleImputer"
        advice += ", which takes NaN but not inf" if infinite.any() else ""
    raise InputError(f"X has {listed(problems)}; {advice}")
