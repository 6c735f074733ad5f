"""The frame of a picture: its size, its letters, one line for each feature, what was left out."""

from __future__ import annotations

import re
from textwrap import fill
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
from matplotlib import rcParams
from matplotlib.axes import Axes
from matplotlib.cm import ScalarMappable
from matplotlib.colorbar import Colorbar
from matplotlib.transforms import ScaledTranslation
from numpy.typing import NDArray

from hideseek.errors import InputError
from hideseek.report.figures.features import legible
from hideseek.validation import Rule, check_parameters, integer

__all__ = [
    "check_axes",
    "colour_scale",
    "feature_lines",
    "left_out",
    "legend_below",
    "letters",
    "new_or_given",
    "plain_frame",
    "title",
]

_AXES = Rule("an Axes of matplotlib", lambda value: isinstance(value, Axes)).or_none()

WIDTH = 3.3
"""Inches: a column of a journal."""

_SMALLEST_LETTERS = 7.0
_TITLE = 270
"""Points: width of a label or a title, so that it ends within a picture of a column's width."""
# All of the following are heights in letters.
_MARGINS, _LINE_OF_TEXT = 5.4, 1.45
"""Above and below the lines of features: the axis with its label, and each line of text more."""
_ONE_LINE, _TWO_LINES, _CLOSEST = 1.9, 2.7, 1.45
"""From feature to feature: with names of one line, of two lines, and where a given Axes leaves no more."""


def letters() -> float:
    """Size of the text in points: smaller than the style's, for a picture of a column's width, but legible."""
    return max(_SMALLEST_LETTERS, 0.8 * float(rcParams["font.size"]))


def new_or_given(ax: Axes | None, height: float = 2.4, width: float = WIDTH) -> Axes:
    """The Axes to draw on: the caller's, or those of a new figure of pyplot."""
    if ax is None:
        _, ax = plt.subplots(figsize=(width, height), layout="constrained")
    check_axes(ax)
    return ax


def check_axes(ax: Any) -> None:
    """Raise an InputError unless this is an Axes of matplotlib, or None."""
    check_parameters("this picture", {"ax": ax}, {"ax": _AXES})


def plain_frame(ax: Axes, *, x: str = "", y: str = "") -> None:
    """Label the axes in small letters and leave away what carries nothing."""
    ax.set_xlabel(_broken(x), fontsize=letters())
    ax.set_ylabel(y, fontsize=letters())
    ax.tick_params(labelsize=letters())
    ax.spines[["top", "right"]].set_visible(False)


def feature_lines(
    names: list[str], weight: NDArray[np.floating], max_features: int, ax: Axes | None, *, text: int = 1
) -> tuple[Axes, NDArray[np.intp]]:
    """Axes with a line for each feature, the heaviest on top, as many as asked for and as the given Axes have room for.

    Args:
        names: Of all features.
        weight: Of all features. Shape: ``(features,)``.
        max_features: How many at most.
        ax: The caller's, if any.
        text: Lines of title and legend that a new figure is to have room for.

    Returns:
        The Axes, and the positions of the features from top to bottom.
    """
    check_axes(ax)
    if not names:
        raise InputError("there is nothing to draw: no features")
    check_parameters("this picture", {"max_features": max_features}, {"max_features": integer(1)})
    n_lines = min(max_features, len(names))
    room, letter = _TWO_LINES, letters() / 72
    if ax is not None:
        height = ax.get_window_extent().height / ax.figure.dpi / letter
        n_lines = min(n_lines, max(1, int(height / _CLOSEST)))
        room = height / n_lines
    heaviest_first = np.argsort(-np.nan_to_num(weight), kind="stable")[:n_lines]
    short = legible(names, two_lines=room >= _TWO_LINES)
    labels = [short[j] for j in heaviest_first]
    step = _TWO_LINES if any("\n" in label for label in labels) else _ONE_LINE
    ax = new_or_given(ax, height=letter * (_MARGINS + _LINE_OF_TEXT * text + step * n_lines))
    ax.set_yticks(range(n_lines), labels)
    ax.set_ylim(n_lines - 0.4, -0.6)
    ax.tick_params(axis="y", length=0)
    ax.spines["left"].set_visible(False)
    ax.grid(False, axis="y")
    return ax, heaviest_first


def title(ax: Axes, *lines: str) -> None:
    """A title in small letters; long lines are broken, and none is read as a formula."""
    text = "\n".join(_broken(line) for line in lines if line)
    ax.set_title(text.replace("$", r"\$"), fontsize=letters())


def _broken(text: str) -> str:
    """Into lines, after a comma or semicolon where there is one."""
    lines, length = [""], int(_TITLE / letters())
    for part in re.split(r"(?<=[,;]) ", text):
        together = f"{lines[-1]} {part}".strip()
        if len(together) <= length:
            lines[-1] = together
        else:
            lines.append(part)
    return "\n".join(fill(line, length) for line in lines if line)


def left_out(ax: Axes, *notes: str, **shown: tuple[int, int]) -> None:
    """Say in the title how many of each kind are shown, where that is not all of them, after other notes."""
    parts = [f"{some:,} of {every:,} {kind}" for kind, (some, every) in shown.items() if some < every]
    if parts or any(notes):
        title(ax, *notes, f"shown: {', '.join(parts)}" if parts else "")


def colour_scale(ax: Axes, colours: ScalarMappable, label: str, extend: str = "neither") -> Colorbar:
    """A slim scale of colours beside the picture."""
    bar = ax.figure.colorbar(colours, ax=ax, aspect=28, pad=0.03, extend=extend, extendfrac=0.02)
    bar.set_label(label, fontsize=letters())
    bar.ax.tick_params(labelsize=letters())
    bar.ax.grid(False)
    bar.outline.set_visible(False)
    return bar


def legend_below(ax: Axes, *, columns: int = 3, **legend: Any) -> None:
    """A legend under the label of the x axis, where it covers nothing and leaves the title free."""
    _, labels = ax.get_legend_handles_labels()
    if not labels and "handles" not in legend:
        return
    frame = sum(float(rcParams[name]) for name in ("xtick.major.size", "xtick.major.pad", "axes.labelpad"))
    points = frame + 1.3 * letters() * (1 + len(ax.get_xlabel().splitlines()))
    ax.legend(
        loc="upper center",
        bbox_to_anchor=(0.5, 0.0),
        bbox_transform=ax.transAxes + ScaledTranslation(0, -points / 72, ax.figure.dpi_scale_trans),
        ncols=columns,
        frameon=False,
        fontsize=letters(),
        handlelength=1.4,
        columnspacing=1.0,
        borderaxespad=0.2,
        **legend,
    )
