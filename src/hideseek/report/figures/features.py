"""Data of an explanation for figures: short names, weights of features, rows to draw."""

from __future__ import annotations

import re
from collections import Counter
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hideseek.cells import count_answers, named_answer
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
    "row_heading",
    "sampled",
    "signed",
    "span",
]

_LINE = 18
"""Characters of a name that fit beside a figure of column width."""
_CLASSES_NAMED = 3
_FROM_0_TO_1 = ("mask", "selection probability")


def legible(names: list[str], *, two_lines: bool = True) -> list[str]:
    """Return names short enough to stand beside the figure, never parsed as formulas.

    Different names stay different: shortened names that would be equal get the number of their column.
    """
    shortened = [_wrapped(re.sub(r"\s+", " ", name).strip(), 2 if two_lines else 1) for name in names]
    if len(set(names)) == len(names):
        times = Counter(shortened)
        for position, text in enumerate(shortened):
            if times[text] > 1:
                shortened[position] = f"{text[: _LINE - 7].rstrip()}… #{position + 1}"
    return [text.replace("$", r"\$") for text in shortened]


def _wrapped(name: str, n_lines: int) -> str:
    """Break a name into at most ``n_lines`` lines, cutting its middle if needed, since names often begin alike."""
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
    """Return whether some importance is negative."""
    return bool((np.nan_to_num(explanation.importance) < 0).any())


def kind(explanation: Explanation, *, mean: bool = False) -> str:
    """Return the kind of the numbers, in words."""
    if not mean:
        return explanation.importance_kind
    return f"mean {'absolute ' if signed(explanation) else ''}{explanation.importance_kind}"


def span(explanation: Explanation) -> tuple[float, float]:
    """Return the range of the numbers, possible (masks) or actual (others): from 0, or symmetric around 0."""
    if explanation.importance_kind in _FROM_0_TO_1:
        return 0.0, 1.0
    high = float(np.abs(np.nan_to_num(explanation.importance)).max(initial=0.0)) or 1.0
    return (-high if signed(explanation) else 0.0), high


def mean_and_error(explanation: Explanation) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the mean absolute importance of each feature and its standard error, over rows without NaN.

    The error is NaN if there are fewer than two such rows, the mean 0 if there is none.
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
    """Raise an InputError if there are no rows to draw."""
    if not len(explanation):
        raise InputError("there is nothing to draw: the explanation has no rows")


def predicted_classes(explanation: Explanation) -> str:
    """Return the predicted classes with their numbers of rows; empty if there are no classes."""
    prediction = explanation.prediction
    if prediction is None or explanation.probability is None:
        return ""
    answers = count_answers(prediction, explanation.target_name)
    parts = [f"{answer} ({count:,})" for answer, count in answers[:_CLASSES_NAMED]]
    more = len(answers) - _CLASSES_NAMED
    return f"predicted {', '.join(parts)}{f', {more} more classes' if more > 0 else ''}"


def row_heading(one: Explanation, n_shown: int | None = None) -> tuple[str, str]:
    """Return the title of a picture of one row: the row with its prediction, and how many features are shown."""
    answer = f"row {one.row_labels[0]}"
    if one.prediction is not None:
        sure = "" if one.probability is None else f" ({one.probability[0]:.2f})"
        answer += f": predicted {named_answer(one.prediction[0], one.target_name)}{sure}"
    n_features = one.shape[1]
    return answer, "" if n_shown in (None, n_features) else f"shown: {n_shown} of {n_features:,} features"


def sampled(explanation: Explanation, max_rows: int) -> Explanation:
    """Return at most ``max_rows`` rows, drawn at random but always the same ones, in order."""
    check_parameters("this picture", {"max_rows": max_rows}, {"max_rows": integer(1)})
    check_rows(explanation)
    if len(explanation) <= max_rows:
        return explanation
    rows = np.random.default_rng(0).choice(len(explanation), max_rows, replace=False)
    return explanation[np.sort(rows)]


def as_numbers(column: NDArray[Any]) -> NDArray[np.float64] | None:
    """Return the values as numbers, dates and durations as days, NaN where missing; None for categories."""
    if column.dtype.kind in "fiub":
        return column.astype(np.float64)
    (read,) = Table(column[:, None]).columns()
    return read.numbers if read.kind in ("number", "boolean", "date", "duration") else None


def is_missing(column: NDArray[Any]) -> NDArray[np.bool_]:
    """Return which values are missing. Shape: ``(rows,)``."""
    return np.array([value is None or value != value for value in column.tolist()], dtype=bool)
