"""Heatmap of rows by features: every row is a thin column, similar selections are adjacent."""

from __future__ import annotations

import numpy as np
from matplotlib.axes import Axes
from numpy.typing import NDArray
from scipy.cluster.hierarchy import leaves_list, linkage

from hideseek.explanation import Explanation
from hideseek.report.figures.axes import colour_scale, feature_lines, letters, plain_frame, title_with_counts
from hideseek.report.figures.colours import diverging, ramp
from hideseek.report.figures.features import kind, legible, mean_and_error, predicted_classes, sampled, signed, span

__all__ = ["alike_together", "heatmap"]

_LABELLED_ROWS, _LETTERS_PER_ROW = 12, 1.8
"""Largest number of rows whose names are drawn, and the width that a name needs."""
_UPRIGHT_FROM = 12
"""Total length of the row names from which they are drawn vertically."""
_HIGH = 99
"""Percentile of the absolute values with the full colour, if they have no limit, so that outliers do not dim the
others."""
_BEST_ORDER_UP_TO = 500
"""Number of distinct selections up to which the optimal order is computed; for more it takes minutes."""


def heatmap(explanation: Explanation, *, max_rows: int, max_features: int, ax: Axes | None) -> Axes:
    """Draw importance as colour; features from top to bottom by their mean."""
    rows = sampled(explanation, max_rows)
    weight, _ = mean_and_error(explanation)
    order = alike_together(rows.selected)
    labels = legible([str(label) for label in rows.row_labels[order][:_LABELLED_ROWS]], two_lines=False)
    upright = len(" ".join(labels)) > _UPRIGHT_FROM
    text = 1 + (max(map(len, labels)) // 2 if upright and len(rows) <= _LABELLED_ROWS else 0)
    ax, features = feature_lines(list(explanation.feature_names), weight, max_features, ax, text=text)
    low, high = _limits(explanation)
    cells = rows.importance[order][:, features].T
    image = ax.imshow(
        cells.astype(np.float64),
        cmap=diverging(ax) if signed(explanation) else ramp(ax),
        aspect="auto",
        interpolation="nearest",
        vmin=low,
        vmax=high,
    )
    ax.grid(False)
    beyond = bool((np.nan_to_num(explanation.importance) > high).any())
    below = bool((np.nan_to_num(explanation.importance) < low).any())
    extend = {(True, True): "both", (True, False): "max", (False, True): "min"}.get((beyond, below), "neither")
    colour_scale(ax, image, kind(explanation), extend)
    plain_frame(ax, x="rows, alike ones together" if len(rows) > 1 else "row")
    room = ax.get_window_extent().width / ax.figure.dpi * 72 / letters()
    if len(rows) <= min(_LABELLED_ROWS, room / _LETTERS_PER_ROW):
        ax.set_xticks(range(len(rows)), labels, rotation=90 if upright else 0, fontsize=letters())
    else:
        ax.set_xticks([])
    nothing = "" if explanation.selected.any() else "no feature is selected in any row"
    title_with_counts(
        ax, predicted_classes(rows), nothing, rows=(len(rows), len(explanation)), features=(len(features), len(weight))
    )
    return ax


def alike_together(selected: NDArray[np.bool_]) -> NDArray[np.intp]:
    """Return an order of the rows in which equal selections are adjacent, and similar ones near each other."""
    selections, which = np.unique(selected, axis=0, return_inverse=True)
    place = np.arange(len(selections))
    if len(selections) > 2:
        tree = linkage(
            selections.astype(np.float64),
            method="average",
            metric="hamming",
            optimal_ordering=len(selections) <= _BEST_ORDER_UP_TO,
        )
        place[leaves_list(tree)] = np.arange(len(selections))
    return np.argsort(place[which.reshape(-1)], kind="stable")


def _limits(explanation: Explanation) -> tuple[float, float]:
    """Return the values of the first and the last colour."""
    low, high = span(explanation)
    if (low, high) == (0.0, 1.0):
        return low, high
    sizes = np.abs(np.nan_to_num(explanation.importance))
    high = float(np.percentile(sizes[sizes > 0], _HIGH)) if (sizes > 0).any() else high
    return (-high if low < 0 else 0.0), high
