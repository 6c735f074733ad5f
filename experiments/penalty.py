"""What lambda does to Hide&Seek, INVASE and REAL-X: AUROC, share of the features selected, and F1, over Syn1-6.

AUROC is of test rows and of the prediction from the selected features; for INVASE also of its baseline network, which
sees every feature and is what the paper's AUROC of INVASE comes from.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.metrics import average_precision_score

from experiments.experiment import Experiment, medians
from experiments.figures import curves, new_figure
from experiments.synthetic import NAMES, datasets, methods
from hideseek.benchmark import Config, Results
from hideseek.benchmark.layout import Table
from hideseek.datasets import Dataset
from hideseek.metrics import auroc

PENALTIES = (0.0, 0.05, 0.1, 0.15, 0.2, 0.3, 0.45, 0.6, 0.8, 0.95, 1.2, 1.5)
QUICK = (0.05, 0.3, 0.95)
SEEDS = 5
METHODS = {"paper": ("Hide&Seek", 0.3), "invase": ("INVASE", 0.1), "realx": ("REAL-X", 0.15)}
"""With the name and the penalty of the other experiments."""

N_FEATURES, N_RELEVANT = 11, (2 + 4 + 4 + 4 + 4 + 5) / 6
"""In the mean over Syn1-6; Syn4 and Syn5 have 3 or 5, equally often."""

EXPLANATION = """
The paper shows this as a picture and gives no values of lambda but 0.1, 0.45 and 0.95. It scores a validation set; here
the test rows take its place, since nothing is chosen by them. CLAIMS.md has what the paper reads off the picture, one
line for each method, with the number of seeds. The paper says that AUPRC behaves like AUROC; the tables have both.
INVASE's AUROC in the paper is that of its network that sees every feature, which does not depend on lambda.
"""


def label(method: str, penalty: float) -> str:
    return f"{method}, lambda = {penalty:g}"


def config(quick: bool = False) -> Config:
    every = methods(labels=tuple(METHODS), quick=quick)
    chosen = {}
    for method, description in every.items():
        for penalty in QUICK if quick else PENALTIES:
            parameters = {**description.get("parameters", {}), "penalty": penalty}
            chosen[label(method, penalty)] = {"method": method, **description, "parameters": parameters}
    name = "lambda-quick" if quick else "lambda"
    return Config(chosen, datasets(quick=quick), name=name, seeds=1 if quick else SEEDS, scores=("auroc", "f1"))


def keep(model: Any, test: Dataset, explanation: Any) -> Mapping[str, Any]:
    """The share of the features selected, in percent; AUPRC; and INVASE's AUROC as published."""
    probability = model.predict_proba(test.X)[:, 1]
    kept = {
        "share_selected": float(100 * explanation.selected.mean()),
        "auprc": float(average_precision_score(np.asarray(test.y) == model.classes_[1], probability)),
    }
    if hasattr(model, "predict_proba_all_features"):
        kept["auroc_all_features"] = auroc(test.y, model.predict_proba_all_features(test.X))
    return kept


def means(results: Results) -> Results:
    """Over Syn1-6."""
    return results.pooled({"Syn1-6": NAMES})


def tables(results: Results) -> Mapping[str, Table]:
    return {"by_dataset": results.summary("auroc", "auprc", "share_selected", "f1")}


def figures(results: Results, path: Path) -> list[Path]:
    """A panel for each method that was run: all in percent, so that they can be read off one axis."""
    pooled = means(results)
    done = {record["method"] for record in pooled}
    shown = {method: how for method, how in METHODS.items() if any(label(method, p) in done for p in PENALTIES)}
    figure = new_figure(7, 3.0)
    panels = figure.subplots(1, len(shown), sharey=True, squeeze=False)[0]
    for panel, (method, (title, usual)) in zip(panels, shown.items(), strict=True):
        penalties = [penalty for penalty in PENALTIES if label(method, penalty) in done]
        series = {
            name: [factor * medians(pooled, label(method, penalty), "Syn1-6", score) for penalty in penalties]
            for name, score, factor in (
                ("AUROC", "auroc", 100),
                ("F1", "f1", 1),
                ("features selected", "share_selected", 1),
                ("AUROC of INVASE's all-feature network", "auroc_all_features", 100),
            )
            if method == "invase" or score != "auroc_all_features"
        }
        curves(panel, penalties, series)
        panel.axvline(usual, color="0.5", linestyle=":", linewidth=1, label="lambda of the other experiments")
        panel.axhline(
            100 * N_RELEVANT / N_FEATURES, color="0.5", linestyle="--", linewidth=1, label="features relevant"
        )
        panel.set(title=title, xlabel=r"$\lambda$", ylim=(-3, 103))
    panels[0].set_ylabel("%, mean over Syn1-6")
    longest = max((panel.get_legend_handles_labels() for panel in panels), key=lambda found: len(found[1]))
    figure.legend(*longest, loc="outside lower center", ncols=3, frameon=False, fontsize=8)
    file = path / "sensitivity.png"
    figure.savefig(file, dpi=150)
    return [file]


EXPERIMENT = Experiment(
    about="AUROC, share of the features selected and F1 against lambda, for Hide&Seek, INVASE and REAL-X",
    paper="Figure of lambda sensitivity",
    config=config,
    figures=figures,
    keep=keep,
    view=means,
    tables=tables,
    explanation=EXPLANATION,
)
