"""What each preset costs where the table is wide, correlated or real: `python -m benchmarks.cost`.

Fit and explain every setting of the experiment `beyond` beside XGBoost + TreeSHAP on the same rows in the same run: one
contestant after the other, in several rounds, of which the median counts. `--out FILE` keeps the figures, which the
documentation shows, as a table.
"""

from __future__ import annotations

import argparse
import csv
import time
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from benchmarks.peers import boosted_trees, tree_shap
from hideseek import HideSeekClassifier
from hideseek.benchmark.origin import commit
from hideseek.datasets import Dataset, california_switch, credit_syn, make_syn
from hideseek.metrics import selection_scores, top_k

PRESETS = ("fast", "balanced", "best")
FIELDS = ["setting", "method", "seconds", "f1", "threads", "date", "commit"]


def syn(**parameters: Any) -> tuple[Dataset, Dataset]:
    return make_syn("Syn4", random_state=0, **parameters), make_syn("Syn4", random_state=1, **parameters)


def credit() -> tuple[Dataset, Dataset]:
    split = credit_syn("Syn4", 0)
    return split.train, split.validation


def california() -> tuple[Dataset, Dataset]:
    split = california_switch("released", 0)
    return split.train, split.test


SETTINGS: dict[str, Callable[[], tuple[Dataset, Dataset]]] = {
    "Syn4, 11 columns": syn,
    "Syn4, 11 columns, rho 0.9": lambda: syn(rho=0.9),
    "Syn4, 100 columns": lambda: syn(n_features=100),
    "Syn4, 1,000 columns": lambda: syn(n_features=1000),
    "Syn4, 5,000 columns": lambda: syn(n_features=5000),
    "Syn4, 20,000 columns": lambda: syn(n_features=20_000),
    "Syn4 on credit columns": credit,
    "California switch": california,
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--settings", nargs="+", choices=SETTINGS, default=list(SETTINGS), metavar="SETTING")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--out", type=Path, metavar="FILE", help="write the figures to this CSV file")
    arguments = parser.parse_args()
    stored = []
    print(f"{'':28}{'XGBoost + TreeSHAP':>20}" + "".join(f"{preset:>20}" for preset in PRESETS))
    print(f"{'':28}{'s':>13}{'F1':>7}" + f"{'ratio':>13}{'F1':>7}" * len(PRESETS))
    for setting in arguments.settings:
        line = measured(*SETTINGS[setting](), arguments.rounds)
        peer, f1 = line["peer"]
        cells = "".join(f"{line[preset][0] / peer:13.2f}{line[preset][1]:7.1f}" for preset in PRESETS)
        print(f"{setting:28}{peer:13.2f}{f1:7.1f}{cells}", flush=True)
        stored += [(setting, name, *figures) for name, figures in line.items()]
    if arguments.out:
        store(arguments.out, stored)


def store(path: Path, lines: list[tuple[str, str, float, float]]) -> None:
    origin = torch.get_num_threads(), datetime.now(UTC).date(), commit() or "unknown"
    with path.open("w", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(FIELDS)
        writer.writerows((*names, round(seconds, 3), round(f1, 2), *origin) for *names, seconds, f1 in lines)


def measured(train: Dataset, test: Dataset, rounds: int) -> dict[str, tuple[float, float]]:
    """Median seconds and F1 of each contestant."""
    k, relevant = int(test.relevant.sum(axis=1).max()), test.relevant
    contestants: dict[str, Callable[[], NDArray[np.bool_]]] = {
        "peer": lambda: top_k(np.abs(tree_shap(boosted_trees(train.X, train.y), test.X)), k)
    }
    for preset in PRESETS:
        model = HideSeekClassifier(preset, device="cpu", random_state=0)
        contestants[preset] = lambda model=model: model.fit(train.X, train.y).select(test.X)
    seconds: dict[str, list[float]] = {name: [] for name in contestants}
    selected = {}
    for name, contestant in [each for _ in range(rounds) for each in contestants.items()]:
        start = time.perf_counter()
        selected[name] = contestant()
        seconds[name].append(time.perf_counter() - start)
    return {name: (median(seconds[name]), selection_scores(selected[name], relevant).f1) for name in contestants}


if __name__ == "__main__":
    main()
