"""Pictures that several experiments draw."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING, Any

import numpy as np

from experiments.experiment import published_lines
from hideseek.benchmark import Results

if TYPE_CHECKING:  # experiments are run on machines without matplotlib, too
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from matplotlib.lines import Line2D

COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000", "#999999")
"""The palette of Okabe and Ito, as in ``hideseek.report``, which cannot be imported without matplotlib."""

OURS, PAPERS = COLOURS[:2]

MARKERS = "osD^vPX*"


def new_figure(width: float, height: float) -> Figure:
    """Return an empty figure of this size in inches."""
    from matplotlib.figure import Figure

    return Figure(figsize=(width, height), layout="constrained")


def boxplots(
    results: Results,
    scores: Sequence[str],
    path: Path,
    *,
    titles: Mapping[str, str] | None = None,
    line: float | None = None,
    **axes: Any,
) -> Path:
    """A box over the seeds for every method: a row of panels for each score, a column for each dataset.

    Args:
        results: What to draw.
        scores: Which.
        path: Where to.
        titles: What the scores are called, below the panels; their names beside them if not given.
        line: A value to compare with.
        **axes: Settings of every panel, as ``xlim``.
    """
    methods = list(dict.fromkeys(record["method"] for record in results))[::-1]
    datasets = list(dict.fromkeys(record["dataset"] for record in results))
    figure = new_figure(2.2 * len(datasets) + 1.2, (0.22 * len(methods) + 0.7) * len(scores))
    panels = figure.subplots(len(scores), len(datasets), squeeze=False, sharex="row", sharey=True)
    for row, score in zip(panels, scores, strict=True):
        for panel, dataset in zip(row, datasets, strict=True):
            values = [list(results.values(method, dataset, score).values()) for method in methods]
            panel.boxplot(values, orientation="horizontal", widths=0.6, flierprops={"markersize": 3})
            panel.set_yticks(range(1, len(methods) + 1), methods)
            panel.grid(axis="x", alpha=0.3)
            panel.set(**axes)
            if line is not None:
                panel.axvline(line, color=COLOURS[0], linestyle="--", linewidth=1)
            if score == scores[0]:
                panel.set_title(dataset)
        if titles is None:
            row[0].set_ylabel(score.upper())
        else:
            row[len(row) // 2].set_xlabel(titles[score])
    figure.savefig(path, dpi=150)
    return path


def curves(panel: Axes, x: Sequence[float], series: Mapping[str, Sequence[float]], **style: Any) -> None:
    """A line with markers for each series; a point that is not there yet is None or NaN."""
    for number, (label, values) in enumerate(series.items()):
        panel.plot(
            x,
            np.array(values, dtype=float),
            label=label,
            color=COLOURS[number % len(COLOURS)],
            marker=MARKERS[number % len(MARKERS)],
            **{"markersize": 4, "linewidth": 1.3, **style},
        )
    panel.grid(alpha=0.3)


def beside_paper(results: Results, file: str, labels: Mapping[str, str], scores: Sequence[str], path: Path) -> Path:
    """Every seed and their median, and the paper's number where there is one: a panel for each dataset and score."""
    theirs = {(line["method"], line["dataset"]): line for line in published_lines(file)}
    done = {(record["method"], record["dataset"]) for record in results}
    datasets = [name for name in dict.fromkeys(name for _, name in theirs) if any(d == name for _, d in done)]
    methods = [label for label in labels if any(m == label for m, _ in done)][::-1]
    # Scores in rows and datasets in columns, or the other way round if there are more scores than datasets.
    upright = len(scores) <= len(datasets)
    shape = (len(scores), len(datasets)) if upright else (len(datasets), len(scores))
    size = (1.2 * shape[1] + 1.5, (0.24 * len(methods) + 0.55) * shape[0] + 0.4)
    figure = new_figure(*size)
    panels = figure.subplots(*shape, squeeze=False, sharex="row" if upright else "col", sharey=True)
    for i, score in enumerate(scores):
        for j, dataset in enumerate(datasets):
            panel = panels[i, j] if upright else panels[j, i]
            for y, method in enumerate(methods):
                cell = theirs.get((labels[method], dataset), {}).get(score, "")
                _beside(panel, y, list(results.values(method, dataset, score).values()), cell)
            panel.set_yticks(range(len(methods)), methods)
            panel.set_ylim(-0.6, len(methods) - 0.4)
            panel.grid(alpha=0.3)
            panel.spines[["top", "right"]].set_visible(False)
            if score in ("tpr", "fdr", "f1"):  # the whole range, so that panels can be compared
                panel.set_xlim(-4, 104)
                panel.set_xticks([0, 50, 100])
            if not panel.lines:  # the score does not apply
                panel.set_axis_off()
    names = [score.replace("_", " ").upper() for score in scores]
    for panel, name in zip(panels[0], datasets if upright else names, strict=True):
        panel.set_title(name, fontsize=10)
    for panel, name in zip(panels[:, 0], names if upright else datasets, strict=True):
        panel.set_ylabel(name, fontweight="bold")
    figure.legend(handles=_legend(), loc="outside lower center", ncols=3, frameon=False, fontsize=9)
    figure.savefig(path, dpi=200)
    return path


def _beside(panel: Axes, y: float, values: Sequence[float], cell: str) -> None:
    if cell:
        panel.plot(float(cell), y, "D", mfc="none", mec=PAPERS, ms=6.5, mew=1.6, zorder=3, clip_on=False)
    if values:
        panel.plot(values, [y] * len(values), "|", color=OURS, alpha=0.45, ms=8)
        panel.plot(median(values), y, "o", color=OURS, ms=4.5, zorder=4)


def _legend() -> list[Line2D]:
    from matplotlib.lines import Line2D

    return [
        Line2D([], [], marker="o", ls="", color=OURS, ms=5, label="ours, median"),
        Line2D([], [], marker="|", ls="", color=OURS, alpha=0.45, ms=8, label="ours, each seed"),
        Line2D([], [], marker="D", ls="", mfc="none", mec=PAPERS, mew=1.6, ms=6.5, label="paper"),
    ]
