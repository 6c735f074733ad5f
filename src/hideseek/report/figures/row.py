"""The answer for one row."""

from __future__ import annotations

import operator

import numpy as np
from matplotlib.axes import Axes
from matplotlib.patches import Patch

from hideseek.explanation import Explanation, _short
from hideseek.report.figures.axes import feature_lines, legend_above, letters, plain_frame
from hideseek.report.figures.colours import first, grey
from hideseek.report.figures.features import kind, signed, span

__all__ = ["row"]


def row(explanation: Explanation, position: int, *, max_features: int, ax: Axes | None) -> Axes:
    """A bar for each feature of the row, with its value; the selected ones in colour."""
    one = explanation[operator.index(position)]
    importance = np.asarray(one.importance[0], dtype=np.float64)
    names = list(one.feature_names)
    if one.data is not None:
        names = [f"{name} = {_short(value)}" for name, value in zip(names, one.data[0], strict=True)]
    ax, features = feature_lines(names, np.abs(np.nan_to_num(importance)), max_features, ax)
    selected = one.selected[0, features]
    colours = [first(ax) if chosen else grey(ax) for chosen in selected]
    ax.barh(range(len(features)), np.nan_to_num(importance[features]), height=0.7, color=colours)
    low, high = span(explanation)
    ax.set_xlim(low, high)
    if signed(explanation):
        ax.axvline(0, color=grey(ax), linewidth=0.8)
    plain_frame(ax, x=kind(explanation))
    ax.set_title(_title(one, len(features)), fontsize=letters())
    handles = [
        Patch(color=colour, label=label)
        for colour, label, there in (
            (first(ax), "selected", selected.any()),
            (grey(ax), "not selected", not selected.all()),
        )
        if there
    ]
    legend_above(ax, handles=handles)
    return ax


def _title(one: Explanation, n_shown: int) -> str:
    """Which row, what was predicted, and what is not shown."""
    title = f"row {one.row_labels[0]}"
    if one.prediction is not None:
        sure = "" if one.probability is None else f" ({one.probability[0]:.2f})"
        title += f": predicted {_short(one.prediction[0])}{sure}"
    if n_shown < one.shape[1]:
        title += f"\nshown: {n_shown} of {one.shape[1]:,} features, {one.n_selected[0]} selected"
    return title.replace("$", r"\$")
