"""All methods on Syn1-6, beside the paper's table: `python -m experiments.compared run METHOD ...`, then `report`.

Every run is a line of experiments/results/compared_METHOD.csv. Methods made of networks train all their runs of one
setting as one stack. LIME explains the first 100 rows of each test set, which takes long enough.
"""

from __future__ import annotations

import argparse
import csv
import time
from collections.abc import Callable, Iterable
from functools import partial
from itertools import groupby
from pathlib import Path
from typing import Any

import numpy as np

import hideseek
from experiments.synthetic import HERE, NAMES, commit
from hideseek import HideSeekClassifier, baselines
from hideseek.datasets import Dataset, make_syn
from hideseek.metrics import auroc, selection_scores, switch_accuracy

K = {"Syn1": 2, "Syn2": 4, "Syn3": 4, "Syn4": 5, "Syn5": 5, "Syn6": 5}
LIME_ROWS = 100
FIELDS = ["dataset", "seed", "tpr", "fdr", "f1", "switch", "auroc", "seconds", "version", "commit"]
PUBLISHED = {
    "paper": "Hide&Seek", "balanced": "Hide&Seek", "invase": "INVASE", "invase-": "INVASE", "realx": "REAL-x",
    "l2x": "L2X", "l2x-one-epoch": "L2X", "shap": "SHAP", "lime": "LIME", "forest": "RForest", "lasso": "LASSO",
}  # fmt: skip


def activation(name: str) -> str:
    """As published: ReLU on Syn1 and Syn2, SELU elsewhere."""
    return "relu" if name in ("Syn1", "Syn2") else "selu"


def method(label: str, name: str) -> Any:
    """The method as it is set for one of the datasets."""
    settings: dict[str, Callable[[], Any]] = {
        "paper": lambda: HideSeekClassifier("paper"),
        "balanced": lambda: HideSeekClassifier("balanced"),
        "invase": lambda: baselines.Invase(activation=activation(name)),
        "invase-": lambda: baselines.Invase(baseline=False, activation=activation(name)),
        "realx": lambda: baselines.RealX(activation=activation(name)),
        "l2x": lambda: baselines.L2X(K[name], activation=activation(name)),
        "l2x-one-epoch": lambda: baselines.L2X(K[name], steps=10, activation=activation(name)),
        "shap": lambda: baselines.ShapExplainer(K[name]),
        "lime": lambda: baselines.LimeExplainer(K[name]),
        "forest": lambda: baselines.ForestImportance(K[name]),
        "lasso": lambda: baselines.LassoImportance(K[name]),
    }
    return settings[label]()


def score(label: str, model: Any, test: Dataset, seed: int, seconds: float) -> dict[str, object]:
    rows = slice(LIME_ROWS) if label == "lime" else slice(None)
    start = time.perf_counter()
    selected = model.select(test.X[rows])
    seconds += time.perf_counter() - start
    probability = model.predict_proba(test.X)[:, 1]
    scores = selection_scores(selected, test.relevant[rows])
    figures = [*scores, switch_accuracy(selected), 100 * auroc(test.y, probability), seconds]
    values = [test.name, seed, *(round(value, 2) for value in figures), hideseek.__version__, commit()]
    return dict(zip(FIELDS, values, strict=True))


def run(label: str, seeds: range) -> Iterable[dict[str, object]]:
    """Fit and score all runs of a method; those that can share a stack do."""
    for _, group in groupby(NAMES, key=lambda name: str(method(label, name).get_params())):
        jobs = [(name, seed) for name in group for seed in seeds]
        template = method(label, jobs[0][0])
        data = [make_syn(name, random_state=seed) for name, seed in jobs]
        start = time.perf_counter()
        if hasattr(template, "fit_many"):
            models = template.fit_many([(d.X, d.y, seed, {}) for d, (_, seed) in zip(data, jobs, strict=True)])
            each = (time.perf_counter() - start) / len(jobs)
            fitted: Iterable[tuple[Any, float]] = [(model, each) for model in models]
        else:
            fitted = map(partial(fit_one, template), data, [seed for _, seed in jobs])
        for (name, seed), (model, seconds) in zip(jobs, fitted, strict=True):
            yield score(label, model, make_syn(name, random_state=seed + 1), seed, seconds)


def fit_one(template: Any, data: Dataset, seed: int) -> tuple[Any, float]:
    parameters = template.get_params()
    if "random_state" in parameters:
        parameters["random_state"] = seed
    start = time.perf_counter()
    model = type(template)(**parameters).fit(data.X, data.y)
    return model, time.perf_counter() - start


def stored(label: str) -> Path:
    return HERE / "results" / f"compared_{label}.csv"


def report() -> None:
    """Our medians beside the paper's, for every method that was run."""
    with open(HERE / "published" / "synthetic_tpr_fdr.csv", newline="") as file:
        paper = {(row["dataset"], row["method"]): (row["tpr"], row["fdr"]) for row in csv.DictReader(file)}
    print("Medians over seeds, in percent: ours, then the paper's in brackets. Last: F1, and rows that select x11.")
    for label, published in PUBLISHED.items():
        if not stored(label).exists():
            continue
        with open(stored(label), newline="") as file:
            rows = list(csv.DictReader(file))
        seconds = np.median([float(row["seconds"]) for row in rows])
        print(f"\n{label}  ({len(rows) // len(NAMES)} seeds, {seconds:.2f} s a run)")
        for name in NAMES:
            own = [row for row in rows if row["dataset"] == name]
            tpr, fdr, f1, switch = (np.median([float(row[f]) for row in own]) for f in ("tpr", "fdr", "f1", "switch"))
            their_tpr, their_fdr = paper[name, published]
            note = f"  switch {switch:5.1f}" if name in ("Syn4", "Syn5", "Syn6") else ""
            print(f"  {name}  TPR {tpr:5.1f} ({their_tpr:>3})  FDR {fdr:5.1f} ({their_fdr:>3})  F1 {f1:5.1f}{note}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("command", choices=["run", "report"])
    parser.add_argument("methods", nargs="*", help=", ".join(PUBLISHED))
    parser.add_argument("--seeds", type=int, default=5, help="seeds 0 to N - 1")
    arguments = parser.parse_args()
    for label in arguments.methods:
        with open(stored(label), "w", newline="", buffering=1) as file:  # line by line: an interrupt loses one run
            writer = csv.DictWriter(file, FIELDS)
            writer.writeheader()
            writer.writerows(run(label, range(arguments.seeds)))
    report()


if __name__ == "__main__":
    main()
