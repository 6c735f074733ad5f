"""The features of one row in the order in which they enter as the price falls."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.lines import Line2D
from matplotlib.patches import Patch
from matplotlib.ticker import LogLocator, NullFormatter
from numpy.typing import NDArray

from hideseek.cells import format_value
from hideseek.engine.along import answers_along, price_bounds
from hideseek.errors import InputError
from hideseek.estimators import BaseHideSeek
from hideseek.explanation import Explanation
from hideseek.report.figures.axes import check_axes, feature_lines, legend_below, letters, plain_frame, title
from hideseek.report.figures.colours import first, foreground, grey
from hideseek.report.figures.features import row_heading
from hideseek.validation import row_number

__all__ = ["entering"]

_JUST_BELOW = 0.999
"""Factor that puts a price just below an entry price, despite rounding."""


def entering(explanation: Explanation, position: int, *, max_features: int, ax: Axes | None) -> Axes:
    """Draw a bar for each feature, from its entry price to the lowest price."""
    one = explanation[row_number(position)]
    check_axes(ax)
    if one.entry_price is None:
        raise InputError(
            "plot.path needs entry prices, and this explanation has none: its model answers for one penalty; "
            'fit a model with any preset but "paper"'
        )
    entry = np.asarray(one.entry_price[0], dtype=np.float64)
    model = one.model if isinstance(one.model, BaseHideSeek) else None
    low, high = _bounds(entry) if model is None else price_bounds(model.learned_.ensemble)
    there = np.flatnonzero(entry > low)
    if not len(there):
        raise InputError(f"row {position}: no feature enters at any price, so there is nothing to draw")
    there = there[
        np.lexsort((-one.importance[0, there], -entry[there]))
    ]  # prices are clipped at the highest trained one
    ax, _ = feature_lines(
        [one.feature_names[j] for j in there], -np.arange(float(len(there))), max_features, ax, text=4
    )
    shown = there[: len(ax.get_yticks())]
    price = None if model is None or model.learned_.ensemble.n_features is not None else model.learned_.ensemble.price
    if price is not None:
        low, high = min(low, price), max(high, price)
        ax.axvline(price, color=foreground(), linestyle="--", linewidth=1.0)
    colours = [first(ax) if one.selected[0, j] else grey(ax) for j in shown]
    ax.barh(range(len(shown)), entry[shown] - low, left=low, height=0.7, color=colours)
    _falling(ax, low, 1.15 * high)
    unit = "shares of the variance" if one.probability is None else "nats"
    plain_frame(ax, x=f"falling price per feature, in {unit}")
    answers = [] if model is None else _answers(one, model, entry[shown])
    for line, answer in enumerate(answers):
        ax.text(1.02, line, answer, transform=ax.get_yaxis_transform(), va="center", fontsize=letters())
    title(ax, *_heading(one, len(shown), bool(answers)))
    _explain(ax, one.selected[0, shown], price is not None)
    return ax


def _falling(ax: Axes, low: float, high: float) -> None:
    """Set an axis of descending prices, with a few ticks even without a power of ten in the range."""
    ax.set_xscale("log")
    ax.set_xlim(high, low)
    ax.xaxis.set_major_locator(LogLocator(subs=(1.0,) if high > 20 * low else (1.0, 2.0, 5.0)))
    ax.xaxis.set_major_formatter("{x:g}")
    ax.xaxis.set_minor_formatter(NullFormatter())


def _bounds(entry: NDArray[np.float64]) -> tuple[float, float]:
    """Return prices between which all features enter, for an explanation without its model."""
    positive = entry[entry > 0]
    return (float(positive.min()) / 10, float(positive.max())) if len(positive) else (0.0, 1.0)


def _answers(one: Explanation, model: BaseHideSeek, entry: NDArray[np.float64]) -> list[str]:
    """Return the prediction just after each feature has entered: the value, or the predicted class's probability."""
    if one.answers.inputs is None:
        return []
    units, ensemble = model._units(), model.learned_.ensemble
    output, _ = answers_along(
        ensemble,
        one.answers.inputs,
        (_JUST_BELOW * entry).tolist(),
        min(model.prediction_draws, len(ensemble.pool)),
        softmax=units is None,
        threshold=model.threshold,
    )
    if units is not None:
        return [format_value(float(value) * units[1] + units[0]) for value in output[:, 0, 0]]
    label = int(np.flatnonzero(model.classes_ == np.asarray(one.prediction)[0])[0])
    return [f"{value:.2f}" for value in output[:, 0, label]]


def _heading(one: Explanation, n_shown: int, has_answers: bool) -> Sequence[str]:
    """Return the title: the row, the meaning of the numbers on the right, and what is not shown."""
    answer, left_out = row_heading(one, n_shown)
    what = "prediction" if one.probability is None else "its probability"
    return answer, f"right: {what} so far" if has_answers else "", left_out


def _explain(ax: Axes, selected: NDArray[np.bool_], has_price: bool) -> None:
    """Draw the legend."""
    names = ((first(ax), "selected", selected.any()), (grey(ax), "not selected", not selected.all()))
    handles: list[Patch | Line2D] = [Patch(color=colour, label=label) for colour, label, there in names if there]
    if has_price:
        handles.append(Line2D([], [], color=foreground(), linestyle="--", linewidth=1.0, label="the model's price"))
    legend_below(ax, handles=handles)
