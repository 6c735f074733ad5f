"""California housing with a switch of three regions: 6 methods, the penalty chosen on the validation part.

Every method that has a penalty chooses among the paper's nine, each seed anew, by its predictions on the validation
rows and under one rule: the largest that loses at most 1 % of what the best gains over the shares of the classes, in
cross-entropy. The paper does not say how it chose. "paper-accuracy" chooses by accuracy instead, and "paper-0.5" has
the penalty that the paper ended up with. "released" is what the published code computes, and what its numbers are of;
"paper" is what its text says.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from experiments.experiment import Experiment, first_rows
from experiments.figures import beside_paper
from experiments.synthetic import REASONS, lime_tables, shortened
from hideseek.benchmark import Config, Results
from hideseek.datasets import Split, california_switch

SEEDS = 10
PENALTIES = [0, 0.05, 0.1, 0.25, 0.5, 0.75, 1, 1.25, 1.5]
K = 3
PUBLISHED = "california.csv"

LABELS = {
    "paper": "Hide&Seek", "paper-accuracy": "Hide&Seek", "paper-0.5": "Hide&Seek", "balanced": "Hide&Seek",
    "invase": "INVASE", "realx": "REAL-x", "realx-unbiased": "REAL-x", "shap": "SHAP", "lime": "LIME",
    "l2x": "L2X", "l2x-one-epoch": "L2X", "forest": "RForest", "lasso": "LASSO",
}  # fmt: skip

BESIDE = ("paper", "paper-accuracy", "balanced", "realx-unbiased", "l2x")
"""Not as published: the paper's penalty is 0.5, however it was chosen."""


EXPLANATION = """
Of Hide&Seek's penalties, the paper's own 0.5 gives its F1, and accuracy on the validation rows chooses penalties that
give it too. Cross-entropy, the rule of all methods here, chooses 0.1: the labels carry no noise, so that every further
feature makes predictions a little surer, and a soft mask a little less sure. INVASE and REAL-X predict from hard masks
and choose well by it.
"""


def california(variant: str, random_state: int = 0, n_rows: int | None = None) -> Split:
    """The block groups with their labels; the first rows of each part if a number is given."""
    return first_rows(california_switch(variant, random_state), n_rows)


def methods(penalties: list[float]) -> dict[str, dict[str, Any]]:
    searched = {"penalties": penalties}
    return {
        "paper": {"method": "hideseek", "parameters": {"preset": "paper"}, **searched},
        "paper-accuracy": {
            "method": "hideseek",
            "parameters": {"preset": "paper"},
            **searched,
            "chosen_by": "accuracy",
        },
        "paper-0.5": {"method": "hideseek", "parameters": {"preset": "paper", "penalty": 0.5}},
        "balanced": {"method": "hideseek"},
        "invase": searched,
        "realx": searched,
        "realx-unbiased": {"method": "realx", "parameters": {"form": "unbiased", "activation": "selu"}, **searched},
        "shap": {"parameters": {"k": K, "depth": 7, "eta": 0.2, "colsample": 0.8}},
        "lime": {"parameters": {"k": K}, "rows": 100},
        "l2x": {"parameters": {"k": K}},
        "l2x-one-epoch": {"method": "l2x", "parameters": {"k": K, "steps": 13}},
        "forest": {"parameters": {"k": K}},
        "lasso": {"parameters": {"k": K}},
    }


def config(quick: bool = False) -> Config:
    chosen = shortened(methods(PENALTIES[::4])) if quick else methods(PENALTIES)
    size = {"n_rows": 500} if quick else {}
    datasets = {
        variant: {"maker": california, "parameters": {"variant": variant, **size}} for variant in ("released", "paper")
    }
    name = "california-quick" if quick else "california"
    return Config(chosen, datasets, name=name, seeds=2 if quick else SEEDS)


def figures(results: Results, path: Path) -> list[Path]:
    where = path / "scores.png"
    return [beside_paper(results, PUBLISHED, LABELS, ["tpr", "fdr", "f1", "penalty"], where)]


EXPERIMENT = Experiment(
    about="California housing, a switch of three regions: 6 methods, penalties chosen on the validation part",
    paper="Table of California housing",
    reasons={
        "l2x": REASONS["l2x"],
        "l2x-one-epoch": "Epochs: after two of them ten seeds have the medians 54, 46 and 54 "
        "(`python -m experiments.differences l2x`).",
        "realx": "The penalty: held-out rows choose 0.1 in nine seeds of ten; the one with 0.25 has TPR 82, FDR 11 "
        "and F1 84.",
        "invase": "Open; the paper does not say by what it chose the penalty, here it is cross-entropy.",
        "paper": "Cross-entropy on the validation part chooses a smaller penalty than the paper's 0.5, since labels "
        "carry no noise; accuracy chooses one that gives the paper's F1 on the released labels.",
        "paper-0.5": 'Reproduced on the labels as released; those of the text ("paper") are another problem.',
        "shap": 'Reproduced on the labels as released; those of the text ("paper") are another problem.',
    },
    config=config,
    published=PUBLISHED,
    labels=LABELS,
    beside=BESIDE,
    figures=figures,
    tables=lime_tables,
    explanation=EXPLANATION,
)
