"""The number of selected features per row."""

from __future__ import annotations

import numpy as np
from matplotlib.axes import Axes
from matplotlib.ticker import MaxNLocator, PercentFormatter

from hideseek.explanation import Explanation
from hideseek.report.figures.axes import new_or_given, plain_frame, title_with_counts
from hideseek.report.figures.colours import first
from hideseek.report.figures.features import check_rows

__all__ = ["n_selected"]

_BARS = 30


def n_selected(explanation: Explanation, *, ax: Axes | None) -> Axes:
    """Draw a bar for each number of selected features, or for ranges of numbers if there are many."""
    check_rows(explanation)
    ax = new_or_given(ax)
    counts = explanation.n_selected
    low, high = int(counts.min()), int(counts.max())
    width = -(-(high - low + 1) // _BARS)
    edges = np.arange(low, high + width + 1, width)
    shares = np.histogram(counts, edges)[0] / len(counts)
    ax.bar(edges[:-1] - 0.5, shares, width, align="edge", color=first(ax), edgecolor=ax.get_facecolor())
    ax.set_xlim(min(low, 0) - 0.7 if low < _BARS else low - 1, edges[-1] - 0.3)
    ax.xaxis.set_major_locator(MaxNLocator("auto", integer=True, min_n_ticks=1))
    ax.yaxis.set_major_formatter(PercentFormatter(1, decimals=0))
    plain_frame(ax, x="features selected in a row", y="share of the rows")
    mean = f"on average {counts.mean():.1f} of {explanation.shape[1]:,} selected"
    title_with_counts(ax, mean, rows=(len(counts), len(counts)))
    return ax
