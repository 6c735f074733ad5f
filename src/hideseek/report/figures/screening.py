"""Scores of the columns in screening."""

from __future__ import annotations

from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.patches import Patch

from hideseek.errors import InputError
from hideseek.report.figures.axes import feature_lines, legend_below, plain_frame, title
from hideseek.report.figures.colours import first, foreground, grey
from hideseek.wording import column_names

__all__ = ["screening"]


def screening(model: Any, *, max_features: int, ax: Axes | None) -> Axes:
    """Draw a bar for the score of each of the best columns, and a line at the threshold."""
    found = getattr(model, "screening_", model)
    missing = [name for name in ("score", "kept") if not hasattr(found, name)]
    if missing:
        raise InputError(
            f"plot_screening needs a model fitted with screening, or its screening_; got {type(model).__name__}, "
            f"without {', '.join(missing)}"
        )
    score = np.nan_to_num(np.asarray(found.score, dtype=np.float64))
    kept = np.asarray(found.kept, dtype=bool)
    given = getattr(found, "feature_names", getattr(model, "feature_names_in_", None))
    names = column_names(given, len(score))
    ax, columns = feature_lines(names, score, max_features, ax, text=3)
    colours = [first(ax) if kept[j] else grey(ax) for j in columns]
    ax.barh(range(len(columns)), score[columns], height=0.7, color=colours)
    ax.axvline(float(getattr(found, "threshold", 1.0)), color=foreground(), linestyle="--", linewidth=1)
    ax.set_xlim(left=0)
    plain_frame(ax, x="score; dashed: the threshold")
    best = f"shown: the best {len(columns)}" if len(columns) < len(score) else ""
    title(ax, f"{kept.sum():,} of {len(kept):,} columns kept", best)
    handles = [
        Patch(color=colour, label=label)
        for colour, label, there in (
            (first(ax), "kept", kept[columns].any()),
            (grey(ax), "dropped", not kept[columns].all()),
        )
        if there
    ]
    legend_below(ax, handles=handles)
    return ax
