"""Replacement from marginals and from knockoffs, beside the paper's table: `python -m experiments.knockoff run|report`.

The paper's recipe on Syn1-6; run s learns from rows drawn with seed s and is scored on those of seed s + 1.
"""

from __future__ import annotations

import argparse
import csv

import numpy as np

from experiments.experiment import HERE
from experiments.synthetic import NAMES
from hideseek import HideSeekClassifier, __version__
from hideseek.benchmark._origin import commit
from hideseek.datasets import make_syn
from hideseek.engine.replacement import REPLACEMENTS
from hideseek.metrics import selection_scores

STORED = HERE / "results" / "knockoff.csv"
FIELDS = ["dataset", "replacement", "seed", "tpr", "fdr", "f1", "version", "commit"]


def run(name: str, replacement: str, seed: int) -> dict[str, object]:
    train, test = make_syn(name, random_state=seed), make_syn(name, random_state=seed + 1)
    model = HideSeekClassifier("paper", replacement=replacement, random_state=seed).fit(train.X, train.y)
    scores = selection_scores(model.select(test.X), test.relevant)
    values = [name, replacement, seed, *(round(score, 2) for score in scores), __version__, commit()]
    return dict(zip(FIELDS, values, strict=True))


def report() -> None:
    with open(STORED, newline="") as file:
        rows = list(csv.DictReader(file))
    with open(HERE / "published" / "knockoff_vs_marginal.csv", newline="") as file:
        paper = {(row["dataset"], row["sampling"]): f"{row['tpr']:>3}/{row['fdr']}" for row in csv.DictReader(file)}
    seeds = len({row["seed"] for row in rows})
    print(f"Median TPR/FDR of {seeds} seeds, in percent; the paper's in brackets")
    print("      " + "".join(f"{replacement:>26}" for replacement in REPLACEMENTS))
    for name in NAMES:
        line = f"{name:6}"
        for replacement in REPLACEMENTS:
            own = [row for row in rows if (row["dataset"], row["replacement"]) == (name, replacement)]
            tpr, fdr = (np.median([float(row[field]) for row in own]) for field in ("tpr", "fdr"))
            published = paper[name, "marginal" if replacement == "marginal" else "knockoff"]
            line += f"{tpr:14.1f}/{fdr:4.1f} ({published})"
        print(line)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("command", choices=["run", "report"])
    parser.add_argument("--seeds", type=int, default=5, help="seeds 0 to N - 1")
    arguments = parser.parse_args()
    if arguments.command == "run":
        jobs = [(name, how, seed) for name in NAMES for how in REPLACEMENTS for seed in range(arguments.seeds)]
        results = [run(*job) for job in jobs]
        with open(STORED, "w", newline="") as file:
            writer = csv.DictWriter(file, FIELDS)
            writer.writeheader()
            writer.writerows(results)
    report()


if __name__ == "__main__":
    main()
