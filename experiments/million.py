"""Syn1-6 with 1,000,000 training rows: TPR and FDR of 6 methods.

Tables are in single precision and every job is trained alone, so that memory stays at one table and one model. The
paper says of REAL-X that its penalty "had to be tuned down" for so many rows, and not to what: here it chooses on
10,000 rows of its own. 500 epochs would be half a million updates of each network; it has 10,000, twice as many as at
10,000 rows. L2X as published is one epoch, 1,000 updates; it has five seeds, since single runs differ much. LIME
explains 100 rows with one seed; its network is trained on all million rows, for 1,000 full-batch steps as published.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from experiments.experiment import Experiment
from experiments.figures import beside_paper
from experiments.synthetic import NAMES, changed, lime_tables, methods, shortened
from hideseek.benchmark import Config, Results
from hideseek.datasets import Dataset, Split, make_syn

ROWS, HELD_OUT, SEEDS = 1_000_000, 10_000, 5
PENALTIES = [0.01, 0.02, 0.05, 0.1, 0.15]
PUBLISHED = "million_samples_tpr_fdr.csv"

LABELS = {
    "paper": "Hide&Seek", "balanced": "Hide&Seek", "best": "Hide&Seek", "invase": "INVASE", "realx": "REAL-x",
    "shap": "SHAP", "lime": "LIME", "l2x": "L2X",
}  # fmt: skip


EXPLANATION = """
One run each, as published; L2X has five. Preset "best" is at or above the paper on all six, up to the rounding of its
numbers. The paper's recipe misses a feature of Syn6 with seed 0, as a single model now and then does (Syn6 has two
kinds of runs among 10,000 rows too); with another seed it does not (`python -m benchmarks.paper_stack`, which trains
Syn1-6 with a million rows as one stack).

L2X after one epoch, 1,000 updates, equals the paper on Syn1 and Syn2. On Syn3 to Syn6 its TPR differs by up to 19
points between seeds, which is not enough: the paper's single run is above all five of ours on Syn3 (85 against 60 to
73), Syn5 (90, 70 to 89) and Syn6 (91, 79 to 87), and below all of them on Syn4 (83, 86 to 97).
INVASE, five seeds, is the paper's but for the TPR on Syn3 (90 against 100). REAL-X, five seeds, differs much between
runs: the paper's single run lies among ours but for the FDR on Syn1 (0 against 5 to 27) and Syn2 (6 against 0 to 3) and
the TPR on Syn4 (95 against 99 to 100). LIME
explains 100 rows of one test set, so its numbers have a sampling error of some points: with 10,000 training rows, five
such runs differ by up to 16 points in TPR and FDR.
"""


def many_rows(name: str, n_train: int, n_held_out: int, random_state: int = 0) -> Split:
    """Train with the seed, test with the next, validation with the one after, all in single precision."""
    train, test, validation = (
        _single(make_syn(name, n_rows, random_state=random_state + later))
        for later, n_rows in enumerate((n_train, n_held_out, n_held_out))
    )
    return Split(train, validation, test)


def _single(data: Dataset) -> Dataset:
    return replace(data, X=data.X.astype(np.float32), probability=None)


def chosen_methods() -> dict[str, dict[str, Any]]:
    known = methods()
    return {
        **{label: known[label] for label in ("paper", "balanced")},
        "best": {"method": "hideseek", "parameters": {"preset": "best"}},
        **{label: known[label] for label in ("invase", "shap", "lime")},
        "realx": {**changed(known["realx"], epochs=10), "penalties": PENALTIES},
        "l2x": changed(known["l2x"], steps=1000),
    }


def config(quick: bool = False) -> Config:
    chosen = chosen_methods()
    if quick:
        chosen["realx"], chosen["l2x"] = {**methods()["realx"], "penalties": PENALTIES[::4]}, methods()["l2x"]
        chosen = shortened(chosen)
    size = {"n_train": 1000, "n_held_out": 100} if quick else {"n_train": ROWS, "n_held_out": HELD_OUT}
    datasets = {name: {"maker": many_rows, "parameters": {"name": name, **size}} for name in NAMES}
    return Config(chosen, datasets, name="million-quick" if quick else "million", seeds=1 if quick else SEEDS)


def figures(results: Results, path: Path) -> list[Path]:
    return [beside_paper(results, PUBLISHED, LABELS, ["tpr", "fdr"], path / "scores.png")]


EXPERIMENT = Experiment(
    about="Syn1-6 with 1,000,000 training rows: TPR and FDR of 6 methods",
    paper="Table of 1,000,000 samples",
    reasons={
        "paper": "A single model now and then misses a feature of Syn6; with another seed it does not "
        "(`python -m benchmarks.paper_stack`).",
        "l2x": "Open; the paper has one run, which lies up to 4 points outside of our five. Two and three epochs in "
        "place of one do not change Syn4, Syn5 and Syn6.",
        "l2x, Syn3": "Epochs and seeds: after three epochs two seeds have a TPR of 87 and 68, after one five have 60 "
        "to 73.",
        "realx": "Seeds: the paper has one run, and three of its numbers that differ from our medians lie outside of "
        "our five runs: FDR 0 on Syn1 (5 to 27) and 6 on Syn2 (0 to 3), TPR 95 on Syn4 (99 to 100).",
        "lime": "Open; one run of 100 rows. Five such runs with 10,000 training rows have a TPR of 24 to 31 on Syn1, "
        "48 to 63 on Syn4 and 42 to 58 on Syn5, so the sampling error accounts for Syn4 and Syn5, not for Syn1.",
    },
    config=config,
    published=PUBLISHED,
    labels=LABELS,
    beside=("balanced", "best"),
    figures=figures,
    tables=lime_tables,
    explanation=EXPLANATION,
    stack=1,
)
