"""Agreement of two methods."""

from __future__ import annotations

import numpy as np
from matplotlib.axes import Axes
from matplotlib.ticker import PercentFormatter

from hideseek.explanation import Explanation
from hideseek.report.agreement import agreement, check_same_rows, method_names
from hideseek.report.figures.axes import feature_lines, legend_below, plain_frame, title_with_counts
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
    check_same_rows(explanation, other)
    check_parameters("compare", {"labels": labels}, {"labels": _TWO_NAMES})
    here, there = labels or method_names(explanation, other)
    a, b = explanation.selected, other.selected
    shares = {
        "both": (a & b).mean(axis=0),
        f"only {here}": (a & ~b).mean(axis=0),
        f"only {there}": (b & ~a).mean(axis=0),
    }
    either = (a | b).mean(axis=0)
    longest_name = max(map(len, "\n".join(legible(list(explanation.feature_names))).split("\n")))
    stacked = sum(map(len, shares)) + longest_name > _LETTERS_BESIDE_EACH_OTHER
    ax, features = feature_lines(list(explanation.feature_names), either, max_features, ax, text=6 if stacked else 4)
    start = np.zeros(len(features))
    for (label, share), colour in zip(shares.items(), (grey(ax), first(ax), second(ax)), strict=True):
        ax.barh(range(len(features)), share[features], left=start, height=0.7, color=colour, label=label)
        start += share[features]
    ax.set_xlim(0, 1)
    ax.xaxis.set_major_formatter(PercentFormatter(1, decimals=0))
    plain_frame(ax, x="share of the rows")
    counts = {"rows": (len(explanation), len(explanation)), "features": (len(features), len(either))}
    title_with_counts(ax, agreement(explanation, other), **counts)
    legend_below(ax, columns=1 if stacked else 3)
    return ax
