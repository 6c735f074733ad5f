"""How the masks of one run are distributed on Syn1-6: histogram and density for every feature.

Rows in which a feature is relevant are drawn above the line and rows in which it is not below it, so that the figure
shows at a glance which mask is where it should be.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from experiments.experiment import Experiment
from experiments.figures import new_figure
from experiments.synthetic import NAMES, datasets, methods
from hideseek import Explanation
from hideseek.benchmark import Config, Results
from hideseek.datasets import Dataset

if TYPE_CHECKING:
    from matplotlib.artist import Artist

SCORES = ("tpr", "fdr", "f1", "auroc", "n_selected")
THRESHOLD = 0.5

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


def figures(results: Results, path: Path) -> list[Path]:
    first = {record["dataset"]: record for record in reversed(list(results)) if record["status"] == "finished"}
    handles: list[Artist] = []
    figure = new_figure(7, 7.4)
    panels = figure.subplots(2, 3, sharex=True)
    for panel, name in zip(panels.flat, NAMES, strict=True):
        if name in first:
            kept = results.arrays(first[name])
            explanation = Explanation(kept["mask"], kept["mask"] > THRESHOLD)
            explanation.plot.histograms(relevant=kept["relevant"], order="table", ax=panel)
            handles = panel.get_legend().legend_handles
            panel.get_legend().remove()  # one for all panels is enough
        panel.axvline(THRESHOLD, color="0.4", linewidth=0.8, linestyle=":")
        panel.set_title(name)
    title = "Share of the rows by mask; high peaks are cut"
    figure.legend(handles=handles, loc="outside lower center", ncols=2, frameon=False, title=title)
    file = path / "histograms.png"
    figure.savefig(file, dpi=150)
    return [file]


EXPERIMENT = Experiment(
    about="Histograms and densities of the masks on Syn1-6, one run",
    paper="Figure of mask distributions",
    config=config,
    figures=figures,
    keep=keep,
    explanation=EXPLANATION,
)
