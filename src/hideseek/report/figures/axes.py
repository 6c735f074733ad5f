"""The frame of a picture: its size, its letters, one line for each feature, what was left out."""

from __future__ import annotations

import matplotlib.pyplot as plt
import numpy as np
from matplotlib import rcParams
from matplotlib.axes import Axes
from matplotlib.cm import ScalarMappable
from matplotlib.colorbar import Colorbar
from numpy.typing import NDArray

from hideseek.errors import InputError
from hideseek.report.figures.features import legible
from hideseek.validation import check_parameters, integer

__all__ = ["colour_scale", "feature_lines", "left_out", "legend_above", "letters", "new_or_given", "plain_frame"]

WIDTH = 3.3
"""Inches: a column of a journal."""

_SMALLEST_LETTERS = 7.0
_MARGINS = 0.8
"""Inches above and below the lines of features: axis, its label, a note."""
_ONE_LINE, _TWO_LINES, _CLOSEST = 0.21, 0.3, 0.135
"""Inches from feature to feature: with names of one line, of two lines, and where a given Axes leaves no more."""


def letters() -> float:
    """Size of the text in points: smaller than the style's, for a picture of a column's width, but legible."""
    return max(_SMALLEST_LETTERS, 0.8 * float(rcParams["font.size"]))


def new_or_given(ax: Axes | None, height: float = 2.4, width: float = WIDTH) -> Axes:
    """The Axes to draw on: the caller's, or those of a new figure of pyplot."""
    if ax is None:
        _, ax = plt.subplots(figsize=(width, height), layout="constrained")
    return ax


def plain_frame(ax: Axes, *, x: str = "", y: str = "") -> None:
    """Label the axes in small letters and leave away what carries nothing."""
    ax.set_xlabel(x, fontsize=letters())
    ax.set_ylabel(y, fontsize=letters())
    ax.tick_params(labelsize=letters())
    ax.spines[["top", "right"]].set_visible(False)


def feature_lines(
    names: list[str], weight: NDArray[np.floating], max_features: int, ax: Axes | None
) -> tuple[Axes, NDArray[np.intp]]:
    """Axes with a line for each feature, the heaviest on top, as many as asked for and as the given Axes have room for.

    Returns:
        The Axes, and the positions of the features from top to bottom.
    """
    if not names:
        raise InputError("there is nothing to draw: no features")
    check_parameters("this picture", {"max_features": max_features}, {"max_features": integer(1)})
    n_lines = min(max_features, len(names))
    room = _TWO_LINES
    if ax is not None:
        height = ax.get_window_extent().height / ax.figure.dpi
        n_lines = min(n_lines, max(1, int(height / _CLOSEST)))
        room = height / n_lines
    heaviest_first = np.argsort(-np.nan_to_num(weight), kind="stable")[:n_lines]
    labels = legible([names[j] for j in heaviest_first], two_lines=room >= _TWO_LINES)
    step = _TWO_LINES if any("\n" in label for label in labels) else _ONE_LINE
    ax = new_or_given(ax, height=_MARGINS + step * n_lines)
    ax.set_yticks(range(n_lines), labels)
    ax.set_ylim(n_lines - 0.4, -0.6)
    ax.tick_params(axis="y", length=0)
    ax.spines["left"].set_visible(False)
    ax.grid(False, axis="y")
    return ax, heaviest_first


def left_out(ax: Axes, **shown: tuple[int, int]) -> None:
    """Say in the title how many of each kind are shown, where that is not all of them."""
    parts = [f"{some:,} of {every:,} {kind}" for kind, (some, every) in shown.items() if some < every]
    if parts:
        ax.set_title(f"shown: {', '.join(parts)}", fontsize=letters())


def colour_scale(ax: Axes, colours: ScalarMappable, label: str, extend: str = "neither") -> Colorbar:
    """A slim scale of colours beside the picture."""
    bar = ax.figure.colorbar(colours, ax=ax, aspect=28, pad=0.03, extend=extend)
    bar.set_label(label, fontsize=letters())
    bar.ax.tick_params(labelsize=letters())
    bar.ax.grid(False)
    bar.outline.set_visible(False)
    return bar


def legend_above(ax: Axes, *, columns: int = 3, **legend: object) -> None:
    """A legend between picture and title, where it covers nothing."""
    _, labels = ax.get_legend_handles_labels()
    if not labels and "handles" not in legend:
        return
    ax.legend(
        loc="lower center",
        bbox_to_anchor=(0.5, 1.0),
        ncols=columns,
        frameon=False,
        fontsize=letters(),
        handlelength=1.4,
        columnspacing=1.0,
        borderaxespad=0.2,
        **legend,
    )
