"""Agreement of two methods."""

from __future__ import annotations

import numpy as np
from matplotlib.axes import Axes
from matplotlib.ticker import PercentFormatter

from hideseek.errors import InputError
from hideseek.explanation import Explanation
from hideseek.report.figures.axes import feature_lines, legend_below, plain_frame, title
from hideseek.report.figures.colours import first, grey, second
from hideseek.report.figures.features import check_rows, legible
from hideseek.validation import Rule, check_parameters

__all__ = ["compare"]

_TWO_NAMES = Rule("two names", lambda value: isinstance(value, list | tuple) and len(value) == 2).or_none()
_LETTERS_BESIDE_EACH_OTHER = 42
"""Maximum length of a legend in one line, including the names left of it."""


def compare(
    explanation: Explanation, other: Explanation, *, labels: tuple[str, str] | None, max_features: int, ax: Axes | None
) -> Axes:
    """Draw, for each feature, the share of rows in which both methods, or only one of them, select it."""
    check_rows(explanation)
    _check_alike(explanation, other)
    check_parameters("compare", {"labels": labels}, {"labels": _TWO_NAMES})
    here, there = labels or _labels(explanation, other)
    a, b = explanation.selected, other.selected
    shares = {
        "both": (a & b).mean(axis=0),
        f"only {here}": (a & ~b).mean(axis=0),
        f"only {there}": (b & ~a).mean(axis=0),
    }
    either = (a | b).mean(axis=0)
    longest_name = max(map(len, "\n".join(legible(list(explanation.feature_names))).split("\n")))
    stacked = sum(map(len, shares)) + longest_name > _LETTERS_BESIDE_EACH_OTHER
    ax, features = feature_lines(list(explanation.feature_names), either, max_features, ax, text=5 if stacked else 3)
    start = np.zeros(len(features))
    for (label, share), colour in zip(shares.items(), (grey(ax), first(ax), second(ax)), strict=True):
        ax.barh(range(len(features)), share[features], left=start, height=0.7, color=colour, label=label)
        start += share[features]
    ax.set_xlim(0, 1)
    ax.xaxis.set_major_formatter(PercentFormatter(1, decimals=0))
    plain_frame(ax, x="share of the rows")
    union = (a | b).sum(axis=1)
    overlap = np.where(union > 0, (a & b).sum(axis=1) / np.maximum(union, 1), 1.0).mean()
    agreement = f"same features in {(a == b).all(axis=1).mean():.0%} of the rows; mean overlap {overlap:.0%}"
    left = f"shown: {len(features)} of {len(either):,} features" if len(features) < len(either) else ""
    title(ax, agreement, left)
    legend_below(ax, columns=1 if stacked else 3)
    return ax


def _labels(explanation: Explanation, other: Explanation) -> tuple[str, str]:
    """Return the importance kinds as names of the methods, unless both have the same kind."""
    kinds = explanation.importance_kind, other.importance_kind
    return kinds if kinds[0] != kinds[1] else ("the first", "the second")


def _check_alike(explanation: Explanation, other: Explanation) -> None:
    if not isinstance(other, Explanation):
        raise InputError(f"other must be an Explanation of the same rows; got {type(other).__name__}")
    if explanation.shape != other.shape or explanation.feature_names != other.feature_names:
        raise InputError(
            f"other is {other.shape[0]} rows by {other.shape[1]} features; this explanation is "
            f"{explanation.shape[0]} by {explanation.shape[1]}: both must explain the same rows and features"
        )
