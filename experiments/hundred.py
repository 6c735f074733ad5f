"""Syn1-6 among 100 features: F1 of a single Hide&Seek model, of its ensemble, and of the compared methods.

Run s learns from 10,000 rows drawn with seed s and is scored on 10,000 drawn with seed s + 1. The ensemble has ten
members that see 90 of the columns each. "invase" has the penalty that the paper reads off its tuning curve,
"invase-ideal" the one that would have been best.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from experiments.experiment import Experiment
from experiments.figures import beside_paper
from experiments.synthetic import BESIDE, NAMES, REASONS, changed, lime_tables, methods, shortened
from hideseek.benchmark import Config, Results

SEEDS = 20
COLUMNS = 100
PENALTY = 1.8
PUBLISHED = "hundred_features_f1.csv"

LABELS = {
    "paper": "Hide&Seek", "ensemble": "Hide&Seek_ens", "balanced": "Hide&Seek_ens", "invase": "INVASE",
    "invase-ideal": "INVASE_ideal", "realx": "REAL-x", "realx-unbiased": "REAL-x", "shap": "SHAP", "lime": "LIME",
    "l2x": "L2X", "l2x-one-epoch": "L2X", "forest": "RForest", "lasso": "LASSO",
}  # fmt: skip


EXPLANATION = """
A single model on Syn4: twenty other seeds have the median {hundred/other_seeds|paper|Syn4|f1|other_seeds}.
`balanced` screens the columns before it trains, which the published ensemble does not. REAL-X as released is within two
points of the paper on all six (ten seeds); with a predictor that stays as it is (`realx-unbiased`) its F1 is
{hundred/table|realx-unbiased|Syn1|f1|ours} on Syn1 and {hundred/table|realx-unbiased|Syn2|f1|ours} on Syn2, where the
paper has 48 and 72: the difference was the predictor's batch moments. INVASE's rows come from code before its reward
was bounded as released.
"""


def chosen_methods() -> dict[str, dict[str, Any]]:
    """SHAP's trees are of depth 7 and see all columns, its defaults at 100."""
    known = methods()
    return {
        "paper": changed(known["paper"], penalty=PENALTY),
        "ensemble": changed(known["paper"], penalty=PENALTY, n_members=10, column_fraction=0.9),
        "balanced": known["balanced"],
        "invase": changed(known["invase"], penalty=1.2),
        "invase-ideal": {**changed(known["invase"], penalty=0.6), "method": "invase"},
        "realx": changed(known["realx"], penalty=1.0),
        "realx-unbiased": changed(known["realx-unbiased"], penalty=1.0),
        **{label: known[label] for label in ("shap", "lime", "l2x", "l2x-one-epoch", "forest", "lasso")},
    }


def config(quick: bool = False) -> Config:
    chosen = shortened(chosen_methods()) if quick else chosen_methods()
    if quick:
        chosen["lime"]["rows"] = 1  # it tries every one of the columns, k times
    size = {"n_samples": 200} if quick else {}
    datasets = {
        name: {"maker": "make_syn", "parameters": {"name": name, "n_features": COLUMNS, **size}} for name in NAMES
    }
    return Config(chosen, datasets, name="hundred-quick" if quick else "hundred", seeds=1 if quick else SEEDS)


def figures(results: Results, path: Path) -> list[Path]:
    return [beside_paper(results, PUBLISHED, LABELS, ["f1"], path / "f1.png")]


EXPERIMENT = Experiment(
    about="Syn1-6 among 100 features: F1 with Hide&Seek's ensemble and both penalties of INVASE",
    paper="Table of 100 features",
    reasons={
        **REASONS,
        "lime": "Seeds: five runs of 100 rows have an F1 of 31 to 41 on Syn6.",
        "shap": "Open; it depends on the trees: five seeds have TPR 21.4 on Syn1 with those of 100 features, 11.8 with "
        "those of 11 features (`python -m experiments.differences shap`). XGBoost's own learning rate, 0.3, does not "
        "account for it: F1 27.0, twenty seeds, 2,000 rows each.",
        "l2x-one-epoch": "Open; epochs in part: after three of them ten seeds have a median F1 of 6.5 on Syn2.",
        "invase": "Open; not the bound of the reward: without it the median on Syn4 was 42.0.",
        "paper": "Seeds: twenty others have the median {hundred/other_seeds|paper|Syn4|f1|other_seeds}.",
    },
    config=config,
    published=PUBLISHED,
    labels=LABELS,
    beside=BESIDE,
    figures=figures,
    tables=lime_tables,
    explanation=EXPLANATION,
)
