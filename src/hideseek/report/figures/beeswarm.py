"""Every row as a dot at its importance, coloured by the feature's value."""

from __future__ import annotations

from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import to_hex
from matplotlib.lines import Line2D
from numpy.typing import NDArray

from hideseek.explanation import Explanation
from hideseek.report.figures.axes import feature_lines, legend_below, plain_frame, title_with_counts
from hideseek.report.figures.colours import first, grey, values
from hideseek.report.figures.effects import as_effects, wants_effects
from hideseek.report.figures.features import as_numbers, is_missing, kind, mean_and_error, sampled, signed, span

__all__ = ["beeswarm"]

_BINS = 50
_HALF_HEIGHT = 0.4
_CROWD = 30
"""Rows at one position that fill the height of the line."""
_ENDS = (5, 95)
"""Percentiles of a feature's values with the extreme colours, so that outliers do not affect the others."""


def beeswarm(
    explanation: Explanation, *, values: str | None, of: Any, max_rows: int, max_features: int, ax: Axes | None
) -> Axes:
    """Draw a line of dots for each feature; dots at the same position are spread over the height of the line."""
    rows = sampled(explanation, max_rows)
    are_effects = wants_effects(rows, values)
    # All rows rank the features by importance; effects are computed only for the rows drawn.
    if are_effects:
        rows = as_effects(rows, _class_drawn(rows) if of is None else of)
        rows = rows[:, rows.selected.any(axis=0)] if rows.selected.any() else rows
    whole = rows if are_effects else explanation
    weight, _ = mean_and_error(whole)
    ax, features = feature_lines(
        list(whole.feature_names), weight, max_features, ax, text=2 if rows.data is None else 3
    )
    low, high = span(whole)
    if signed(whole):
        ax.axvline(0, color=grey(ax), linewidth=0.8, zorder=1)
    seen: set[str] = set()
    for line, j in enumerate(features):
        drawn = rows.selected[:, j] if are_effects else np.ones(len(rows), dtype=bool)
        importance = np.asarray(rows.importance[drawn, j], dtype=np.float64)
        heights = line + _spread(importance, low, high)
        if rows.data is None:
            ax.scatter(importance, heights, s=5, color=first(ax), linewidths=0, zorder=2)
        elif drawn.any():
            seen |= _dots(ax, importance, heights, rows.data[drawn, j])
    margin = 0.02 * (high - low)
    ax.set_xlim(low - margin, high + margin)
    plain_frame(ax, x=kind(rows))
    if rows.data is not None:
        _legend(ax, seen)
    title_with_counts(ax, rows=(len(rows), len(explanation)), features=(len(features), explanation.shape[1]))
    return ax


def _class_drawn(rows: Explanation) -> Any:
    """Return the second of two classes; None if there are more, or none."""
    effects = rows.answers.effects
    classes = None if effects is None else effects.classes
    return classes[1] if classes is not None and len(classes) == 2 else None


def _dots(ax: Axes, importance: NDArray[np.float64], heights: NDArray[np.float64], column: NDArray[Any]) -> set[str]:
    """Draw the dots of one feature; return which kinds of values there were: numbers, missing, categories."""
    numbers = as_numbers(column)
    known = ~is_missing(column) if numbers is None else np.isfinite(numbers)
    if numbers is None:
        ax.scatter(importance[known], heights[known], s=5, marker="s", color=grey(ax), linewidths=0, zorder=2)
    elif known.any():
        low, high = np.percentile(numbers[known], _ENDS)
        if low == high:  # nearly all values are equal: the other values set the ends
            low, high = numbers[known].min(), numbers[known].max()
        level = (numbers[known] - low) / (high - low) if high > low else np.full(known.sum(), 0.5)
        colours = values(ax)(np.clip(level, 0, 1))
        ax.scatter(importance[known], heights[known], s=5, c=colours, linewidths=0, zorder=2)
    if not known.all():
        ax.scatter(
            importance[~known], heights[~known], s=8, facecolors="none", edgecolors=grey(ax), linewidths=0.6, zorder=1.5
        )
    there = {"category" if numbers is None else "number": known.any(), "missing": not known.all()}
    return {name for name, seen in there.items() if seen}


def _spread(importance: NDArray[np.float64], low: float, high: float) -> NDArray[np.float64]:
    """Return the vertical offset of each dot, by the number of dots at its position. Shape: ``(rows,)``."""
    width = (high - low) / _BINS
    place = np.clip((np.nan_to_num(importance) - low) // width, 0, _BINS - 1).astype(int)
    counts = np.bincount(place, minlength=_BINS)
    reach = _HALF_HEIGHT * np.sqrt(counts / max(counts.max(), _CROWD))
    # Alternately above and below, outwards, in row order, so that the figure is reproducible.
    order = np.argsort(place, kind="stable")
    rank = np.empty(len(place), dtype=int)
    rank[order] = np.arange(len(place)) - np.repeat(np.cumsum(counts) - counts, counts)
    side = np.where(rank % 2, 1, -1)
    return np.asarray(side * reach[place] * ((rank + 1) // 2) / np.maximum(counts[place] // 2, 1))


def _legend(ax: Axes, seen: set[str]) -> None:
    low, high = (to_hex(values(ax)(end)) for end in (0.0, 1.0))
    looks = (
        ("number", "low value", low, low, "o"),
        ("number", "high value", high, high, "o"),
        ("missing", "missing", grey(ax), "none", "o"),
        ("category", "category", grey(ax), grey(ax), "s"),
    )
    handles = [
        Line2D([], [], linestyle="", marker=marker, mec=edge, mfc=face, markersize=4, label=label)
        for kind_of_value, label, edge, face, marker in looks
        if kind_of_value in seen
    ]
    legend_below(ax, columns=2, handles=handles)
