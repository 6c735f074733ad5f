"""Pictures that several experiments draw."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from matplotlib.figure import Figure

from hideseek.benchmark import Results


def boxplots(results: Results, scores: Sequence[str], path: Path) -> Path:
    """A box over the seeds for every method: a row of panels for each score, a column for each dataset."""
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
            if score == scores[0]:
                panel.set_title(dataset)
        row[0].set_ylabel(score.upper())
    figure.savefig(path, dpi=150)
    return path
