"""The scores of an audit, between nothing and everything."""

from __future__ import annotations

from matplotlib.axes import Axes

from hideseek.metrics import Audit
from hideseek.report.figures.axes import letters, new_or_given, plain_frame, title
from hideseek.report.figures.colours import first, foreground, grey, second

__all__ = ["audit"]

_LINE = 1.9
_MARGINS = 9.0
"""Heights in units of the font size: a line of the figure, and the axis and title around the lines."""


def audit(found: Audit, *, ax: Axes | None) -> Axes:
    """Draw a dot with its error for each score, and a bar from EVAL-X to ROAR: what the choice itself reveals."""
    lines = [
        ("nothing", found.nothing),
        ("random features", found.random),
        ("EVAL-X", found.evalx),
        ("ROAR", found.roar),
        ("everything", found.everything),
    ]
    ax = new_or_given(ax, height=letters() / 72 * (_MARGINS + _LINE * len(lines)))
    low, high = sorted((found.evalx.value, found.roar.value))
    ax.barh(2.5, high - low, left=low, height=1.7, color=second(ax), alpha=0.25)
    for place, (name, estimate) in enumerate(lines):
        colour = first(ax) if name in ("EVAL-X", "ROAR") else grey(ax)
        ax.errorbar(
            estimate.value, place, xerr=estimate.error, fmt="o", color=colour, ecolor=foreground(), markersize=4,
            elinewidth=1, capsize=2,
        )  # fmt: skip
    ax.set_yticks(range(len(lines)), [name for name, _ in lines])
    ax.set_ylim(len(lines) - 0.4, -0.6)
    ax.tick_params(axis="y", length=0)
    ax.spines["left"].set_visible(False)
    ax.grid(False, axis="y")
    unit = "log-likelihood per row, nats" if found.task == "classification" else "minus squared error per row"
    plain_frame(ax, x=f"{unit}, with standard error")
    leaks = [name for name, there in (("label", found.encodes_label), ("feature", found.leaks_features)) if there]
    verdict = f"{' and '.join(leaks)} leakage found" if leaks else "no leakage found"
    title(
        ax,
        f"{found.n_rows:,} rows, {found.n_selected:.1f} of {len(found.feature_names):,} features selected per row",
        f"ENCODE {found.encode.value:.3f} ± {found.encode.error:.3f}; {verdict}",
    )
    return ax
