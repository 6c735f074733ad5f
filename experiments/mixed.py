"""Syn4 to Syn6 with text for a switch, among columns of other kinds, without holes and with them.

Run it with ``python -m experiments.mixed``; ``--seeds N`` does the first N seeds. Run s learns from 10,000 rows drawn
with seed s and is scored on 10,000 drawn with seed s + 1. What is missing is not scored: a cell that is, or a row whose
switch is.
"""

from __future__ import annotations

import argparse
from statistics import median
from typing import Any

from hideseek import HideSeekClassifier
from hideseek.benchmark.layout import Table
from hideseek.datasets import make_mixed
from hideseek.metrics import SelectionScores, selection_scores

NAMES = ("Syn4", "Syn5", "Syn6")
SWITCH = "region"


def scores(name: str, missing: float, seed: int, n_samples: int = 10_000, **parameters: Any) -> SelectionScores:
    """Of one run."""
    train, new = (make_mixed(name, n_samples, missing, random_state=s) for s in (seed, seed + 1))
    selected = HideSeekClassifier(random_state=seed, **parameters).fit(train.X, train.y).select(new.X)
    here = new.X.notna()
    rows = here[SWITCH].to_numpy()
    return selection_scores((selected & here.to_numpy())[rows], new.relevant[rows])


def mixed_table(seeds: int, n_samples: int = 10_000, **parameters: Any) -> Table:
    """Medians over seeds, and the worst F1."""
    lines = []
    for name in NAMES:
        for missing in (0.0, 0.1):
            runs = [scores(name, missing, seed, n_samples, **parameters) for seed in range(seeds)]
            tpr, fdr, f1 = (median(values) for values in zip(*runs, strict=True))
            line = {"problem": name, "missing": f"{missing:.0%}", "TPR": tpr, "FDR": fdr, "F1": f1}
            lines.append({**line, "worst F1": min(run.f1 for run in runs)})
    return Table(tuple(lines[0]), lines)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--seeds", type=int, default=10)
    print(mixed_table(parser.parse_args().seeds))
