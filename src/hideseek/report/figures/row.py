"""The explanation of one row."""

from __future__ import annotations

from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.patches import Patch
from numpy.typing import NDArray

from hideseek.cells import format_value
from hideseek.explanation import Explanation
from hideseek.report.figures.axes import feature_lines, legend_below, letters, plain_frame, title
from hideseek.report.figures.colours import first, grey, second
from hideseek.report.figures.effects import as_effects, wants_effects
from hideseek.report.figures.features import kind, legible, row_heading, signed, span
from hideseek.validation import row_number

__all__ = ["row", "waterfall"]

_LONGEST_VALUE = 12


def row(
    explanation: Explanation, position: int, *, values: str | None, of: Any, max_features: int, ax: Axes | None
) -> Axes:
    """Draw a bar for the effect of each selected feature, or for the importance of each feature, with its value."""
    one = explanation[row_number(position)]
    if wants_effects(one, values) and one.selected.any():
        return _effects(one, of, max_features, ax)
    importance = np.asarray(one.importance[0], dtype=np.float64)
    ax, features = _bars(one, importance, max_features, ax)
    selected = one.selected[0, features]
    for bar, chosen in zip(ax.patches, selected, strict=True):
        bar.set_color(first(ax) if chosen else grey(ax))
    low, high = span(explanation)
    ax.set_xlim(low, high)
    if signed(explanation):
        ax.axvline(0, color=grey(ax), linewidth=0.8)
    names = ((first(ax), "selected", selected.any()), (grey(ax), "not selected", not selected.all()))
    legend_below(ax, handles=[Patch(color=colour, label=label) for colour, label, there in names if there])
    return ax


def waterfall(explanation: Explanation, position: int, *, max_features: int, ax: Axes | None) -> Axes:
    """Draw a bar for each selected feature, from the prediction without it to the prediction."""
    one = explanation[row_number(position)]
    if not (wants_effects(one, "effect") and one.selected.any()):
        return row(explanation, position, values="importance", of=None, max_features=max_features, ax=ax)
    answer = float(np.asarray(one.prediction if one.probability is None else one.probability)[0])
    return _effects(one, None, max_features, ax, answer)


def _effects(one: Explanation, of: Any, max_features: int, ax: Axes | None, answer: float | None = None) -> Axes:
    """Draw bars for the selected features of a row: from 0 to the effect, or from without the feature to the answer."""
    chosen = as_effects(one, of)[:, one.selected[0]]
    effect = np.asarray(chosen.importance[0])
    start = None if answer is None else answer - effect
    ax, features = _bars(chosen, effect, max_features, ax, start)
    for bar, size in zip(ax.patches, effect[features], strict=True):
        bar.set_color(second(ax) if size < 0 else first(ax))
    if answer is None or start is None:
        high = 1.1 * (np.abs(effect).max(initial=0.0) or 1.0)
        ax.set_xlim(-high, high)
    else:
        low, high = min(start.min(), answer), max(start.max(), answer)
        margin = 0.05 * ((high - low) or 1.0)
        ax.set_xlim(low - margin, high + margin)
        plain_frame(ax, x=f"{chosen.importance_kind.removeprefix('effect on ')}, without and with the feature")
    ax.axvline(answer or 0, color=grey(ax), linewidth=0.8)
    names = ((second(ax), "lowers it", (effect < 0).any()), (first(ax), "raises it", (effect > 0).any()))
    legend_below(ax, handles=[Patch(color=colour, label=label) for colour, label, there in names if there])
    return ax


def _bars(
    one: Explanation,
    numbers: NDArray[np.float64],
    max_features: int,
    ax: Axes | None,
    start: NDArray[np.float64] | None = None,
) -> tuple[Axes, NDArray[np.intp]]:
    """Draw bars for the features of one row with the largest numbers, with their values and a title.

    Args:
        one: The explanation of the row.
        numbers: The lengths of the bars. Shape: ``(features,)``.
        max_features: Largest number of features.
        ax: The caller's Axes, if any.
        start: Where the bars start; 0 if not given. Shape: ``(features,)``.
    """
    text = 3 if start is None else 5  # the label of an axis of predictions is longer
    ax, features = feature_lines(list(one.feature_names), np.abs(np.nan_to_num(numbers)), max_features, ax, text=text)
    left = 0 if start is None else start[features]
    ax.barh(range(len(features)), np.nan_to_num(numbers[features]), left=left, height=0.7)
    if one.data is not None:
        beside = ax.get_yaxis_transform()  # right of the Axes, at the height of the feature
        for line, value in enumerate(one.data[0, features]):
            ax.text(1.02, line, f"= {_written(value)}", transform=beside, va="center", fontsize=letters())
    plain_frame(ax, x=kind(one))
    title(ax, *row_heading(one, len(features)))
    return ax, features


def _written(value: Any) -> str:
    """Return the value, shortened to fit beside the bars."""
    text = format_value(value)
    return legible([text if len(text) <= _LONGEST_VALUE else f"{text[: _LONGEST_VALUE - 1]}…"])[0]
