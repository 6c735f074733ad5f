"""The answer for one row."""

from __future__ import annotations

from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.patches import Patch

from hideseek.cells import named_answer, short
from hideseek.explanation import Explanation
from hideseek.report.figures.axes import feature_lines, legend_below, letters, plain_frame, title
from hideseek.report.figures.colours import first, grey
from hideseek.report.figures.features import kind, legible, signed, span
from hideseek.validation import row_number

__all__ = ["row"]

_LONGEST_VALUE = 12


def row(explanation: Explanation, position: int, *, max_features: int, ax: Axes | None) -> Axes:
    """A bar for each feature of the row, with its value; the selected ones in colour."""
    one = explanation[row_number(position)]
    importance = np.asarray(one.importance[0], dtype=np.float64)
    ax, features = feature_lines(list(one.feature_names), np.abs(np.nan_to_num(importance)), max_features, ax, text=3)
    selected = one.selected[0, features]
    colours = [first(ax) if chosen else grey(ax) for chosen in selected]
    ax.barh(range(len(features)), np.nan_to_num(importance[features]), height=0.7, color=colours)
    if one.data is not None:
        beside = ax.get_yaxis_transform()  # right of the Axes, on the line of the feature
        for line, value in enumerate(one.data[0, features]):
            ax.text(1.02, line, f"= {_written(value)}", transform=beside, va="center", fontsize=letters())
    low, high = span(explanation)
    ax.set_xlim(low, high)
    if signed(explanation):
        ax.axvline(0, color=grey(ax), linewidth=0.8)
    plain_frame(ax, x=kind(explanation))
    title(ax, *_heading(one, len(features)))
    handles = [
        Patch(color=colour, label=label)
        for colour, label, there in (
            (first(ax), "selected", selected.any()),
            (grey(ax), "not selected", not selected.all()),
        )
        if there
    ]
    legend_below(ax, handles=handles)
    return ax


def _written(value: Any) -> str:
    """A value that has room beside the bars."""
    text = short(value)
    return legible([text if len(text) <= _LONGEST_VALUE else f"{text[: _LONGEST_VALUE - 1]}…"])[0]


def _heading(one: Explanation, n_shown: int) -> tuple[str, str]:
    """Which row and what was predicted; what is not shown."""
    answer = f"row {one.row_labels[0]}"
    if one.prediction is not None:
        sure = "" if one.probability is None else f" ({one.probability[0]:.2f})"
        answer += f": predicted {named_answer(one.prediction[0], one.target_name)}{sure}"
    n_features = one.shape[1]
    return answer, f"shown: {n_shown} of {n_features:,} features" if n_shown < n_features else ""
