"""The layout of a figure: its size, its text, one line for each feature, what is omitted."""

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
    "legend_below",
    "letters",
    "new_or_given",
    "plain_frame",
    "title",
    "title_with_counts",
]

_AXES = Rule("an Axes of matplotlib", lambda value: isinstance(value, Axes)).or_none()

WIDTH = 3.3
"""Inches: the column width of a journal."""

_SMALLEST_LETTERS = 7.0
_TITLE = 270
"""Points: maximum width of a label or title, so that it fits a figure of column width."""
# All of the following are heights in units of the font size.
_MARGINS, _LINE_OF_TEXT = 5.4, 1.45
"""Space above and below the lines of features: the axis with its label, and each additional line of text."""
_ONE_LINE, _TWO_LINES, _CLOSEST = 1.9, 2.7, 1.45
"""Distance between features: with names of one line, of two lines, and the minimum on a given Axes."""


def letters() -> float:
    """Return the text size in points: smaller than the style's, for a figure of column width, but legible."""
    return max(_SMALLEST_LETTERS, 0.8 * float(rcParams["font.size"]))


def new_or_given(ax: Axes | None, height: float = 2.4, width: float = WIDTH) -> Axes:
    """Return the Axes to draw on: the caller's, or those of a new pyplot figure."""
    if ax is None:
        _, ax = plt.subplots(figsize=(width, height), layout="constrained")
    check_axes(ax)
    return ax


def check_axes(ax: Any) -> None:
    """Raise an InputError unless this is a matplotlib Axes, or None."""
    check_parameters("this picture", {"ax": ax}, {"ax": _AXES})


def plain_frame(ax: Axes, *, x: str = "", y: str = "") -> None:
    """Label the axes in small text and remove unneeded spines and ticks."""
    ax.set_xlabel(_broken(x), fontsize=letters())
    ax.set_ylabel(y, fontsize=letters())
    ax.tick_params(labelsize=letters())
    ax.spines[["top", "right"]].set_visible(False)


def feature_lines(
    names: list[str], weight: NDArray[np.floating], max_features: int, ax: Axes | None, *, text: int = 1
) -> tuple[Axes, NDArray[np.intp]]:
    """Return Axes with a line for each feature, the heaviest on top, limited by ``max_features`` and the room.

    Args:
        names: The names of all features.
        weight: The weights of all features. Shape: ``(features,)``.
        max_features: Largest number of features.
        ax: The caller's Axes, if any.
        text: Lines of title and legend that a new figure must have room for.

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


def title(ax: Axes, *lines: str, width: float = _TITLE) -> None:
    """Set a title in small text; lines longer than ``width`` points are broken, and nothing is parsed as a formula."""
    text = "\n".join(_broken(line, width) for line in lines if line)
    ax.set_title(text.replace("$", r"\$"), fontsize=letters())


def _broken(text: str, width: float = _TITLE) -> str:
    """Break text into lines, after a comma or semicolon if there is one."""
    lines, length = [""], int(width / letters())
    for part in re.split(r"(?<=[,;]) ", text):
        together = f"{lines[-1]} {part}".strip()
        if len(together) <= length:
            lines[-1] = together
        else:
            lines.append(part)
    return "\n".join(fill(line, length) for line in lines if line)


def title_with_counts(ax: Axes, *notes: str, **drawn: tuple[int, int]) -> None:
    """Set a title of notes and how many of each kind are drawn: "60 rows, 20 of 150 features"."""
    parts = [
        f"{'' if some == every else f'{some:,} of '}{every:,} {kind if every != 1 else kind.removesuffix('s')}"
        for kind, (some, every) in drawn.items()
    ]
    shown = "shown: " if any(some < every for some, every in drawn.values()) else ""
    title(ax, *notes, f"{shown}{', '.join(parts)}")


def colour_scale(ax: Axes, colours: ScalarMappable, label: str, extend: str = "neither") -> Colorbar:
    """Add a narrow colour bar beside the figure."""
    bar = ax.figure.colorbar(colours, ax=ax, aspect=28, pad=0.03, extend=extend, extendfrac=0.02)
    bar.set_label(label, fontsize=letters())
    bar.ax.tick_params(labelsize=letters())
    bar.ax.grid(False)
    bar.outline.set_visible(False)
    return bar


def legend_below(ax: Axes, *, columns: int = 3, **legend: Any) -> None:
    """Add a legend under the x axis label, where it covers nothing."""
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
