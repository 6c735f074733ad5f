"""Histograms and densities of each feature's masks over the rows."""

from __future__ import annotations

import numpy as np
from matplotlib.axes import Axes
from matplotlib.patches import Patch
from numpy.typing import ArrayLike, NDArray

from hideseek.errors import InputError
from hideseek.explanation import Explanation
from hideseek.report.figures.axes import feature_lines, legend_below, plain_frame, title_with_counts
from hideseek.report.figures.colours import first, grey, second
from hideseek.report.figures.density import density
from hideseek.report.figures.features import check_rows, kind, mean_and_error, span
from hideseek.validation import check_parameters, choice

__all__ = ["histograms"]

_BINS = 41
_POINTS = 201
_FULL = 6.0
"""Density, relative to a uniform distribution, that fills the height; higher peaks are cut."""

_KERNEL = 0.06
"""Width of the kernel for one row, as a share of the range; it shrinks with the fifth root of the row number."""
_ENOUGH = 10
"""Rows needed to draw a density."""
_NOTHING = 0.002
"""Share of the height below which no line is drawn, since it would hide the line of the other part."""


def histograms(
    explanation: Explanation, *, relevant: ArrayLike | None, order: str, max_features: int, ax: Axes | None
) -> Axes:
    """Draw a histogram and density for each feature; with known relevance, in two parts on either side of a line."""
    check_rows(explanation)
    truth = None if relevant is None else _checked(explanation, relevant)
    weight = mean_and_error(explanation)[0]
    check_parameters("histograms", {"order": order}, {"order": choice("importance", "table")})
    if order == "table":
        weight = -np.arange(len(weight), dtype=np.float64)
    ax, features = feature_lines(
        list(explanation.feature_names), weight, max_features, ax, text=1 if truth is None else 3
    )
    low, high = span(explanation)
    highest = 0.0
    for line, j in enumerate(features):
        numbers = np.asarray(explanation.importance[:, j], dtype=np.float64)
        base = line + 0.42 if truth is None else float(line)
        parts = [(numbers, -0.84, first(ax))]
        if truth is not None:
            parts = [(numbers[truth[:, j]], -0.42, first(ax)), (numbers[~truth[:, j]], 0.42, second(ax))]
        for part, height, colour in parts:
            peak = _side(ax, base, height, part[np.isfinite(part)], len(numbers), (low, high), colour)
            highest = max(highest, peak)
        ax.axhline(base, color=grey(ax), linewidth=0.4)
    ax.set_xlim(low - 0.01 * (high - low), high + 0.01 * (high - low))
    plain_frame(ax, x=f"{kind(explanation)}{'; high peaks are cut' if highest > 1 else ''}")
    if truth is not None:
        labels = ("above: rows where it is relevant", "below: where it is not")
        colours = (first(ax), second(ax))
        handles = [Patch(color=c, alpha=0.7, label=label) for c, label in zip(colours, labels, strict=True)]
        legend_below(ax, columns=1, handles=handles)
    title_with_counts(ax, rows=(len(explanation), len(explanation)), features=(len(features), len(weight)))
    return ax


def _checked(explanation: Explanation, relevant: ArrayLike) -> NDArray[np.bool_]:
    truth = np.asarray(relevant, dtype=bool)
    if truth.shape != explanation.shape:
        raise InputError(f"relevant has the shape {truth.shape}; the explanation is {explanation.shape}: pass its rows")
    return truth


def _side(
    ax: Axes,
    base: float,
    height: float,
    numbers: NDArray[np.float64],
    n_rows: int,
    ends: tuple[float, float],
    colour: str,
) -> float:
    """Draw the distribution of the numbers from the base, at most to this height, which may be negative.

    Returns:
        The highest bar as a multiple of the height.
    """
    flat = n_rows / (ends[1] - ends[0])  # rows per unit of a uniform distribution
    counts, edges = np.histogram(numbers, _BINS, ends)
    bars = counts / np.diff(edges) / flat / _FULL
    ax.stairs(base + height * np.minimum(bars, 1), edges, baseline=base, fill=True, color=colour, alpha=0.4)
    if len(numbers) >= _ENOUGH and np.ptp(numbers) > 0:
        grid = np.linspace(*ends, _POINTS)
        line = density(numbers, grid, ends, _KERNEL * len(numbers) ** -0.2) * len(numbers) / flat / _FULL
        line[line < _NOTHING] = np.nan
        ax.plot(grid, base + height * np.minimum(line, 1), color=colour, linewidth=1)
    return float(bars.max())
