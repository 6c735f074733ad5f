"""Colours that are distinct for all kinds of colour vision, on light and dark backgrounds."""

from __future__ import annotations

from matplotlib import rcParams
from matplotlib.axes import Axes
from matplotlib.colors import Colormap, LinearSegmentedColormap, to_hex, to_rgb, to_rgba

__all__ = ["OKABE_ITO", "background", "diverging", "first", "foreground", "grey", "ramp", "second", "third", "values"]

OKABE_ITO = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000", "#999999")
"""The palette of Okabe and Ito, which is distinct for all kinds of colour vision."""

_BLUE, _VERMILLION, _GREEN, _, _ORANGE, _SKY, _, _GREY = OKABE_ITO


def background(ax: Axes) -> str:
    """Return the background colour; a transparent background counts as white."""
    for red, green, blue, alpha in (to_rgba(ax.get_facecolor()), to_rgba(ax.figure.get_facecolor())):
        if alpha > 0.5:
            return to_hex((red, green, blue))
    return "#ffffff"


def foreground() -> str:
    """Return the text colour of the current style."""
    return to_hex(rcParams["text.color"])


def _is_dark(ax: Axes) -> bool:
    red, green, blue = to_rgb(background(ax))
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue < 0.5


def first(ax: Axes) -> str:
    """Return blue, for the main content."""
    return _SKY if _is_dark(ax) else _BLUE


def second(ax: Axes) -> str:
    """Return orange, for what it is compared with, and for negative numbers."""
    return _ORANGE if _is_dark(ax) else _VERMILLION


def third(ax: Axes) -> str:
    """Return green, for a third item; its lightness differs from that of the other two."""
    return "#00C896" if _is_dark(ax) else _GREEN


def grey(ax: Axes) -> str:
    """Return grey, for secondary content: not selected, missing, reference lines."""
    return "#8a8a8a" if _is_dark(ax) else _GREY


def ramp(ax: Axes) -> Colormap:
    """Return the colour map from the background (nothing) to blue (much); missing numbers are grey."""
    return _scale(ax, [background(ax), first(ax)])


def diverging(ax: Axes) -> Colormap:
    """Return the colour map from orange (negative) over the background (0) to blue (positive); missing is grey."""
    return _scale(ax, [second(ax), background(ax), first(ax)])


def values(ax: Axes) -> Colormap:
    """Return the colour map from low to high feature values, all distinct from the background."""
    return _scale(ax, [first(ax), "#B08CC0", second(ax)])


def _scale(ax: Axes, colours: list[str]) -> Colormap:
    return LinearSegmentedColormap.from_list("hideseek", colours).with_extremes(bad=grey(ax))
