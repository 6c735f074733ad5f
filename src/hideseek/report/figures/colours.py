"""Colours that can be told apart with any kind of colour vision, on light and on dark ground."""

from __future__ import annotations

from matplotlib import rcParams
from matplotlib.axes import Axes
from matplotlib.colors import Colormap, LinearSegmentedColormap, to_hex, to_rgb, to_rgba

__all__ = ["OKABE_ITO", "background", "diverging", "first", "foreground", "grey", "ramp", "second", "third", "values"]

OKABE_ITO = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000", "#999999")
"""Okabe and Ito's, which can be told apart with any kind of colour vision."""

_BLUE, _VERMILLION, _GREEN, _, _ORANGE, _SKY, _, _GREY = OKABE_ITO


def background(ax: Axes) -> str:
    """What the picture is drawn on; a transparent ground counts as white."""
    for red, green, blue, alpha in (to_rgba(ax.get_facecolor()), to_rgba(ax.figure.get_facecolor())):
        if alpha > 0.5:
            return to_hex((red, green, blue))
    return "#ffffff"


def foreground() -> str:
    """The colour of text in the style in use."""
    return to_hex(rcParams["text.color"])


def _is_dark(ax: Axes) -> bool:
    red, green, blue = to_rgb(background(ax))
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue < 0.5


def first(ax: Axes) -> str:
    """Blue: what the picture is about."""
    return _SKY if _is_dark(ax) else _BLUE


def second(ax: Axes) -> str:
    """Orange: what it is compared with, and negative numbers."""
    return _ORANGE if _is_dark(ax) else _VERMILLION


def third(ax: Axes) -> str:
    """Green: a third thing; its lightness differs from that of the other two."""
    return "#00C896" if _is_dark(ax) else _GREEN


def grey(ax: Axes) -> str:
    """What is there without being the point: not selected, not a number, reference lines."""
    return "#8a8a8a" if _is_dark(ax) else _GREY


def ramp(ax: Axes) -> Colormap:
    """From the ground (nothing) to blue (much); missing numbers are grey."""
    return _scale(ax, [background(ax), first(ax)])


def diverging(ax: Axes) -> Colormap:
    """From orange (negative) over the ground (nothing) to blue (positive); missing numbers are grey."""
    return _scale(ax, [second(ax), background(ax), first(ax)])


def values(ax: Axes) -> Colormap:
    """From low to high values of a feature; none of them melts into the ground."""
    return _scale(ax, [first(ax), "#B08CC0", second(ax)])


def _scale(ax: Axes, colours: list[str]) -> Colormap:
    return LinearSegmentedColormap.from_list("hideseek", colours).with_extremes(bad=grey(ax))
