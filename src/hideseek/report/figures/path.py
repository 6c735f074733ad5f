"""Loss and number of selected features by penalty."""

from __future__ import annotations

from typing import Any

import numpy as np
from matplotlib.axes import Axes

from hideseek.errors import InputError
from hideseek.report.figures.axes import legend_below, letters, new_or_given, plain_frame, title
from hideseek.report.figures.colours import first, grey, second

__all__ = ["path"]


def path(model: Any, *, ax: Axes | None) -> Axes:
    """Draw held-out loss with its standard error against the penalty, and the number of selected features."""
    found = getattr(model, "path_", model)
    missing = [name for name in ("penalty", "loss", "n_selected") if not hasattr(found, name)]
    if missing:
        raise InputError(
            f"plot_path needs a model fitted with penalty='auto', or its path_; got {type(model).__name__}, "
            f"without {', '.join(missing)}"
        )
    penalty, loss, count = (np.asarray(getattr(found, name), float) for name in ("penalty", "loss", "n_selected"))
    order = np.argsort(penalty, kind="stable")
    error = getattr(found, "standard_error", None)
    ax = new_or_given(ax)
    right = ax.twinx()
    ax.plot(penalty[order], loss[order], "o-", color=first(ax), markersize=3, linewidth=1.3, label="held-out loss")
    if error is not None:
        whiskers = np.nan_to_num(np.asarray(error, dtype=float)[order])
        ax.errorbar(penalty[order], loss[order], whiskers, fmt="none", ecolor=first(ax), elinewidth=1, capsize=2)
    right.plot(penalty[order], count[order], "s--", color=second(ax), markersize=3, linewidth=1.3)
    ax.plot([], [], "s--", color=second(ax), markersize=3, linewidth=1.3, label="selected (right)")
    if (penalty > 0).all():
        ax.set_xscale("log")
        ax.xaxis.set_major_formatter("{x:g}")
    plain_frame(ax, x="penalty", y="held-out loss")
    right.set_ylim(0, None if count.any() else 1)
    right.grid(False)
    right.tick_params(labelsize=letters())
    right.set_ylabel("selected per row", fontsize=letters())
    right.spines["top"].set_visible(False)
    chosen = getattr(found, "chosen", None)
    if chosen is not None:
        ax.axvline(penalty[int(chosen)], color=grey(ax), linestyle=":", linewidth=1.2)
    note = "" if chosen is None else _chosen(found, int(chosen), penalty, count)
    title(ax, note, f"{len(penalty)} penalt{'y' if len(penalty) == 1 else 'ies'}")
    legend_below(ax, columns=2)
    return ax


def _chosen(found: Any, chosen: int, penalty: np.ndarray, count: np.ndarray) -> str:
    """Return the choice in words, with its score if the path has one."""
    text = f"chosen: {penalty[chosen]:.3g}, {count[chosen]:.1f} selected per row"
    score = getattr(found, "score", None)
    if score is not None:
        name = getattr(found, "score_name", "score")
        name = {"auroc": "AUROC", "r2": "R²"}.get(name, name)
        text += f", {name} {np.asarray(score, float)[chosen]:.3f}"
    return text
