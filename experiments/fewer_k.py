"""SHAP, LIME and L2X on Syn4 and Syn5, told to select 3, 4 or 5 features.

Where x11 < 0 only three features are relevant, so that k = 5, the number on the other side, costs them FDR.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from experiments.experiment import Experiment
from experiments.figures import boxplots
from experiments.synthetic import LABELS as NAMES_THERE
from experiments.synthetic import SEEDS, datasets, methods
from hideseek.benchmark import Config, Results

PROBLEMS = {name: name for name in ("Syn4", "Syn5")}
TOLD = ("shap", "lime", "l2x", "l2x-one-epoch")
SIZES = (3, 4, 5)
LABELS = {"paper": "Hide&Seek"} | {
    f"{label}, k = {k}": f"{NAMES_THERE[label]}, k = {k}" for label in TOLD for k in SIZES
}

EXPLANATION = """
LIME explains the first 100 rows of each test set. L2X as published is `l2x-one-epoch`; `l2x` is trained for 2,000
updates.
"""


def config(quick: bool = False) -> Config:
    every = methods(PROBLEMS, ("paper", *TOLD), quick=quick)
    chosen: dict[str, dict[str, Any]] = {"paper": every["paper"]}
    for label in TOLD:
        for k in SIZES:
            by_dataset = {name: {**own, "k": k} for name, own in every[label]["by_dataset"].items()}
            method = every[label].get("method", label)
            chosen[f"{label}, k = {k}"] = {**every[label], "method": method, "by_dataset": by_dataset}
    name = "fewer-k-quick" if quick else "fewer-k"
    return Config(chosen, datasets(PROBLEMS, quick=quick), name=name, seeds=1 if quick else SEEDS)


def figures(results: Results, path: Path) -> list[Path]:
    return [boxplots(results, ["tpr", "fdr", "f1"], path.with_name(f"{path.name}_boxplots.png"))]


EXPERIMENT = Experiment(
    about="SHAP, LIME and L2X told k = 3, 4 and 5 on Syn4 and Syn5",
    config=config,
    published="fewer_k.csv",
    labels=LABELS,
    figures=figures,
    explanation=EXPLANATION,
)
