"""Every row as a dot: where its importance is, coloured by the feature's value."""

from __future__ import annotations

from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.cm import ScalarMappable
from matplotlib.lines import Line2D
from numpy.typing import NDArray

from hideseek.explanation import Explanation
from hideseek.report.figures.axes import colour_scale, feature_lines, left_out, legend_above, plain_frame
from hideseek.report.figures.colours import first, grey, values
from hideseek.report.figures.features import kind, mean_and_error, sampled, signed, span

__all__ = ["as_numbers", "beeswarm", "spread"]

_BINS = 50
_HALF_HEIGHT = 0.4
_ENDS = (5, 95)
"""Percentiles of a feature's values that have the full colours, so that outliers dim no others."""


def beeswarm(explanation: Explanation, *, max_rows: int, max_features: int, ax: Axes | None) -> Axes:
    """A line of dots for each feature; the dots of one place are spread over the height of the line."""
    rows = sampled(explanation, max_rows)
    weight, _ = mean_and_error(explanation)
    ax, features = feature_lines(list(explanation.feature_names), weight, max_features, ax)
    low, high = span(explanation)
    if signed(explanation):
        ax.axvline(0, color=grey(ax), linewidth=0.8, zorder=1)
    grey_dots: set[str] = set()
    for line, j in enumerate(features):
        importance = np.asarray(rows.importance[:, j], dtype=np.float64)
        heights = line + spread(importance, low, high)
        if rows.data is None:
            ax.scatter(importance, heights, s=5, color=first(ax), linewidths=0, zorder=2)
        else:
            grey_dots |= _dots(ax, importance, heights, rows.data[:, j])
    margin = 0.02 * (high - low)
    ax.set_xlim(low - margin, high + margin)
    plain_frame(ax, x=kind(explanation))
    if rows.data is not None:
        _legend(ax, grey_dots)
    left_out(ax, rows=(len(rows), len(explanation)), features=(len(features), len(weight)))
    return ax


def _dots(ax: Axes, importance: NDArray[np.float64], heights: NDArray[np.float64], column: NDArray[Any]) -> set[str]:
    """Dots of one feature; says which kinds of values have no place on the scale of colours."""
    numbers = as_numbers(column)
    kinds = set()
    if numbers is None:
        ax.scatter(importance, heights, s=5, color=grey(ax), linewidths=0, zorder=2)
        return {"a category"}
    known = np.isfinite(numbers)
    if known.any():
        low, high = np.percentile(numbers[known], _ENDS)
        if low == high:  # nearly all the same, as with a rare event: then the rest sets the ends
            low, high = numbers[known].min(), numbers[known].max()
        level = (numbers[known] - low) / (high - low) if high > low else np.full(known.sum(), 0.5)
        colours = values(ax)(np.clip(level, 0, 1))
        ax.scatter(importance[known], heights[known], s=5, c=colours, linewidths=0, zorder=2)
    if not known.all():
        kinds.add("missing")
        ax.scatter(
            importance[~known], heights[~known], s=8, facecolors="none", edgecolors=grey(ax), linewidths=0.6, zorder=3
        )
    return kinds


def as_numbers(column: NDArray[Any]) -> NDArray[np.float64] | None:
    """Values as numbers, with NaN for those that are missing; None where they are categories."""
    if column.dtype.kind in "fiub":
        return column.astype(np.float64)
    try:
        return np.array([np.nan if value is None else float(value) for value in column.tolist()], dtype=np.float64)
    except (TypeError, ValueError):
        return None


def spread(importance: NDArray[np.float64], low: float, high: float) -> NDArray[np.float64]:
    """How far each dot stands off its line: as far as the crowd at its place demands. Shape: ``(rows,)``."""
    width = (high - low) / _BINS
    place = np.clip((np.nan_to_num(importance) - low) // width, 0, _BINS - 1).astype(int)
    counts = np.bincount(place, minlength=_BINS)
    reach = _HALF_HEIGHT * np.sqrt(counts / counts.max())
    # Alternately above and below, outwards, in the order of the rows: the same picture every time.
    order = np.argsort(place, kind="stable")
    rank = np.empty(len(place), dtype=int)
    rank[order] = np.arange(len(place)) - np.repeat(np.cumsum(counts) - counts, counts)
    side = np.where(rank % 2, 1, -1)
    return np.asarray(side * reach[place] * ((rank + 1) // 2) / np.maximum(counts[place] // 2, 1))


def _legend(ax: Axes, grey_dots: set[str]) -> None:
    scale = colour_scale(ax, ScalarMappable(cmap=values(ax)), "value of the feature")
    scale.set_ticks([0, 1], labels=["low", "high"])
    scale.ax.yaxis.label.set_verticalalignment("center")
    if grey_dots:
        looks = {"a category": {"mfc": grey(ax)}, "missing": {"mfc": "none"}}
        handles = [
            Line2D([], [], marker="o", ls="", mec=grey(ax), ms=4, label=f"{name}", **looks[name])  # type: ignore[arg-type]
            for name in sorted(grey_dots)
        ]
        legend_above(ax, handles=handles)
