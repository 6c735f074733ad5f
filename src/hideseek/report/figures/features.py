"""What the pictures read off an explanation: names that fit, the weight of a feature, rows to show."""

from __future__ import annotations

import re
from collections import Counter
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hideseek.cells import count_answers
from hideseek.errors import InputError
from hideseek.explanation import Explanation
from hideseek.tabular import Table
from hideseek.validation import check_parameters, integer

__all__ = [
    "as_numbers",
    "check_rows",
    "is_missing",
    "kind",
    "legible",
    "mean_and_error",
    "predicted_classes",
    "sampled",
    "signed",
    "span",
]

_LINE = 18
"""Letters of a name that have room beside a picture of a column's width."""
_CLASSES_NAMED = 3
_FROM_0_TO_1 = ("mask", "selection probability")


def legible(names: list[str], *, two_lines: bool = True) -> list[str]:
    """Names short enough to stand beside the picture, and never read as formulas.

    Different names stay different: those that would not have the number of their column.
    """
    shortened = [_wrapped(re.sub(r"\s+", " ", name).strip(), 2 if two_lines else 1) for name in names]
    if len(set(names)) == len(names):
        times = Counter(shortened)
        for position, text in enumerate(shortened):
            if times[text] > 1:
                shortened[position] = f"{text[: _LINE - 7].rstrip()}… #{position + 1}"
    return [text.replace("$", r"\$") for text in shortened]


def _wrapped(name: str, n_lines: int) -> str:
    """At most so many lines; of a longer name the middle goes, since names of one table often begin alike."""
    if len(name) > n_lines * _LINE:
        half = (n_lines * _LINE - 1) // 2
        name = f"{name[:half].rstrip()}…{name[-half:].lstrip()}"
    if len(name) <= _LINE:
        return name
    breaks = [match.end() for match in re.finditer(r"[ _\-./:…]", name) if len(name) - _LINE <= match.end() <= _LINE]
    middle = (len(name) + 1) // 2
    cut = min(breaks, key=lambda position: abs(position - middle), default=middle)
    return f"{name[:cut].rstrip()}\n{name[cut:].lstrip()}"


def signed(explanation: Explanation) -> bool:
    """Whether some importance is negative."""
    return bool((np.nan_to_num(explanation.importance) < 0).any())


def kind(explanation: Explanation, *, mean: bool = False) -> str:
    """What the numbers are, in words."""
    if not mean:
        return explanation.importance_kind
    return f"mean {'absolute ' if signed(explanation) else ''}{explanation.importance_kind}"


def span(explanation: Explanation) -> tuple[float, float]:
    """The range that the numbers can have (masks) or do have (all others): from 0, or as far below 0 as above."""
    if explanation.importance_kind in _FROM_0_TO_1:
        return 0.0, 1.0
    high = float(np.abs(np.nan_to_num(explanation.importance)).max(initial=0.0)) or 1.0
    return (-high if signed(explanation) else 0.0), high


def mean_and_error(explanation: Explanation) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Mean absolute importance of each feature and its standard error, over the rows in which it is a number.

    The error is NaN where there are fewer than two such rows, the mean 0 where there is none.
    """
    numbers = np.abs(np.asarray(explanation.importance, dtype=np.float64))
    known = ~np.isnan(numbers)
    count = known.sum(axis=0)
    mean = np.where(known, numbers, 0.0).sum(axis=0) / np.maximum(count, 1)
    squares = (np.where(known, numbers - mean, 0.0) ** 2).sum(axis=0)
    error = np.full(len(mean), np.nan)
    enough = count > 1
    error[enough] = np.sqrt(squares[enough] / (count[enough] - 1) / count[enough])
    return mean, error


def check_rows(explanation: Explanation) -> None:
    """Refuse to draw nothing."""
    if not len(explanation):
        raise InputError("there is nothing to draw: the explanation has no rows")


def predicted_classes(explanation: Explanation) -> str:
    """Return which classes were predicted, and for how many rows; nothing where there are no classes."""
    prediction = explanation.prediction
    if prediction is None or explanation.probability is None:
        return ""
    answers = count_answers(prediction, explanation.target_name)
    parts = [f"{answer} ({count:,})" for answer, count in answers[:_CLASSES_NAMED]]
    more = len(answers) - _CLASSES_NAMED
    return f"predicted {', '.join(parts)}{f', {more} more classes' if more > 0 else ''}"


def sampled(explanation: Explanation, max_rows: int) -> Explanation:
    """At most so many rows, drawn at random but always the same ones, in their order."""
    check_parameters("this picture", {"max_rows": max_rows}, {"max_rows": integer(1)})
    check_rows(explanation)
    if len(explanation) <= max_rows:
        return explanation
    rows = np.random.default_rng(0).choice(len(explanation), max_rows, replace=False)
    return explanation[np.sort(rows)]


def as_numbers(column: NDArray[Any]) -> NDArray[np.float64] | None:
    """Values as numbers, dates and durations as days, NaN where missing; None where they are categories."""
    if column.dtype.kind in "fiub":
        return column.astype(np.float64)
    (read,) = Table(column[:, None]).columns()
    return read.numbers if read.kind in ("number", "boolean", "date", "duration") else None


def is_missing(column: NDArray[Any]) -> NDArray[np.bool_]:
    """Which values are missing. Shape: ``(rows,)``."""
    return np.array([value is None or value != value for value in column.tolist()], dtype=bool)
