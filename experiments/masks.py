"""How the masks of one run are distributed on Syn1-6: histogram and density for every feature.

Rows in which a feature is relevant are drawn above the line and rows in which it is not below it, so that the figure
shows at a glance which mask is where it should be.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Patch
from numpy.typing import ArrayLike, NDArray

from experiments.experiment import Experiment
from experiments.figures import COLOURS
from experiments.synthetic import NAMES, datasets, methods
from hideseek.benchmark import Config, Results
from hideseek.datasets import Dataset

SCORES = ("tpr", "fdr", "f1", "auroc", "n_selected")
BINS = np.linspace(0, 1, 41)
GRID = np.linspace(0, 1, 201)
WIDTH = 0.01
"""Of the kernel: fine enough to leave the peaks at 0 and 1 where they are."""

SIDES = ((True, -1, COLOURS[0], "above: rows where it is relevant"), (False, 1, COLOURS[1], "below: where it is not"))
"""Relevant or not, the sign of its bars on an axis that points down, its colour and what the legend says."""

EXPLANATION = """
The paper shows one of its 20 runs and does not say which; this is seed 0. Masks gather near 0 and 1, with more between
on features whose effect differs much from row to row. Blue on the left is what was missed, mostly x8, the weakest;
orange on the right is what was selected for nothing, mostly the features of the other branch.
"""


def config(quick: bool = False) -> Config:
    name = "masks-quick" if quick else "masks"
    return Config(methods(labels=("paper",), quick=quick), datasets(quick=quick), name=name, seeds=1, scores=SCORES)


def keep(model: Any, test: Dataset, explanation: Any) -> Mapping[str, Any]:
    """The masks, and where they should be large."""
    return {"mask": np.asarray(explanation.importance, dtype=np.float32), "relevant": np.asarray(test.relevant)}


def density(values: ArrayLike, grid: NDArray[np.float64] = GRID, width: float = WIDTH) -> NDArray[np.float64]:
    """A kernel density on [0, 1], with what the kernel carries beyond an end reflected there."""
    edges = np.linspace(0, 1, 1001)
    counts, _ = np.histogram(np.asarray(values), edges)
    points = (edges[:-1] + edges[1:]) / 2
    kernels = sum(
        np.exp(-0.5 * ((grid[:, None] - image) / width) ** 2)
        for image in (points[None], -points[None], 2 - points[None])
    )
    heights: NDArray[np.float64] = kernels @ counts / (width * np.sqrt(2 * np.pi) * max(counts.sum(), 1))
    return heights


def draw_feature(panel: Axes, level: int, mask: NDArray[Any], relevant: NDArray[np.bool_]) -> None:
    """One feature: what share of all rows has which mask, on either side of a line, the peak cut at the next one."""
    n_rows = len(mask)
    for side, sign, colour, _ in SIDES:
        own = mask[relevant == side]
        if not own.size:
            continue
        share = len(own) / n_rows
        counts, _ = np.histogram(own, BINS)
        scale = 0.42 / 6  # a density of 6 fills the height; the peaks of masks that are all alike go far beyond
        bars = np.minimum(counts / n_rows / np.diff(BINS) * scale, 0.44)
        panel.bar(BINS[:-1], sign * bars, np.diff(BINS), bottom=level, align="edge", color=colour, alpha=0.4)
        panel.plot(GRID, level + sign * np.minimum(share * density(own) * scale, 0.44), color=colour, linewidth=1)
    panel.axhline(level, color="0.6", linewidth=0.4)


def figures(results: Results, path: Path) -> list[Path]:
    first = {record["dataset"]: record for record in reversed(list(results)) if record["status"] == "finished"}
    figure = Figure(figsize=(7, 7.4), layout="constrained")
    panels = figure.subplots(2, 3, sharex=True, sharey=True)
    for panel, name in zip(panels.flat, NAMES, strict=True):
        panel.set(title=name, xlim=(-0.01, 1.01))
        panel.axvline(0.5, color="0.4", linewidth=0.8, linestyle=":")
        if name not in first:
            continue
        kept = results.arrays(first[name])
        for column in range(kept["mask"].shape[1]):
            draw_feature(panel, column + 1, kept["mask"][:, column], kept["relevant"][:, column])
        panel.set_yticks(range(1, 12), [f"$x_{{{column}}}$" for column in range(1, 12)])
        panel.set_ylim(11.6, 0.4)
    for panel in panels[1]:
        panel.set_xlabel("mask")
    handles = [Patch(color=colour, alpha=0.7, label=label) for _, _, colour, label in SIDES]
    figure.legend(
        handles=handles,
        loc="outside lower center",
        ncols=2,
        frameon=False,
        title="Share of the rows by mask; high peaks are cut",
    )
    file = path.with_name(f"{path.name}_histograms.png")
    figure.savefig(file, dpi=150)
    return [file]


EXPERIMENT = Experiment(
    about="Histograms and densities of the masks on Syn1-6, one run",
    config=config,
    figures=figures,
    keep=keep,
    explanation=EXPLANATION,
)
