"""Pictures that several experiments draw."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from hideseek.benchmark import Results

COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000", "#999999")
"""Okabe and Ito's, which can be told apart with any kind of colour vision."""

MARKERS = "osD^vPX*"


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
    figure = Figure(
        figsize=(2.2 * len(datasets) + 1.2, (0.22 * len(methods) + 0.7) * len(scores)), layout="constrained"
    )
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
