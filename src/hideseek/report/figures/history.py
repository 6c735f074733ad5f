"""The training history."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from matplotlib.axes import Axes

from hideseek.errors import InputError
from hideseek.report.figures.axes import legend_below, letters, new_or_given, plain_frame, title
from hideseek.report.figures.colours import first, grey, second, third

__all__ = ["history"]


def history(model: Any, *, ax: Axes | None) -> Axes:
    """Draw losses against the step, and the mean mask on the right; bands show the range of the members."""
    records = getattr(model, "history_", model)
    if not isinstance(records, Mapping) or "step" not in records:
        raise InputError(f"plot_history needs a fitted model or its history_; got {type(model).__name__}: fit it first")
    ax = new_or_given(ax)
    right = ax.twinx()
    lines = (
        (ax, "prediction_loss", "prediction", first(ax), "-"),
        (ax, "validation_loss", "prediction, held out", third(ax), "-."),
        (ax, "loss", "with penalty", second(ax), "--"),
        (right, "mean_mask", "mean mask (right)", grey(ax), ":"),
    )
    for panel, name, label, colour, style in lines:
        if name in records:
            members = np.asarray(records[name], dtype=np.float64).reshape(len(records["step"]), -1)
            panel.plot(records["step"], members.mean(axis=1), style, color=colour, linewidth=1.3, label=label)
            panel.fill_between(
                records["step"], members.min(axis=1), members.max(axis=1), color=colour, alpha=0.15, linewidth=0
            )
    plain_frame(ax, x="step", y="loss")
    n_members = np.asarray(records["loss"]).reshape(len(records["step"]), -1).shape[1]
    title(ax, f"{n_members} member{'s' if n_members > 1 else ''}, {int(records['step'][-1]):,} steps")
    right.set_ylim(0, 1)
    right.grid(False)
    right.tick_params(labelsize=letters())
    right.set_ylabel("mean mask", fontsize=letters())
    right.spines["top"].set_visible(False)
    ax.plot([], [], ":", color=grey(ax), label="mean mask (right)")  # a legend contains the lines of one Axes only
    legend_below(ax, columns=2)
    return ax
