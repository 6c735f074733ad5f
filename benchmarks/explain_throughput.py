"""Rows per second of `explain`, default preset, against TreeSHAP: `python -m benchmarks.explain_throughput`."""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable

import numpy as np

from benchmarks.arithmetic import explaining_operations, matrix_rate
from benchmarks.peers import boosted_trees, tree_shap
from hideseek import HideSeekClassifier
from hideseek.datasets import make_syn
from hideseek.engine.recipe import PRESETS

BARS = {11: 200, 100: 50}
PEER_ROWS = {11: 10_000, 100: 3_000}
OUR_ROWS = {11: 1_000_000, 100: 200_000}


def seconds(function: Callable[[], object]) -> float:
    start = time.perf_counter()
    function()
    return time.perf_counter() - start


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=5)
    arguments = parser.parse_args()
    rate = matrix_rate()
    print(f"matrix products run at {rate / 1e9:.0f} GFLOP/s here")
    titles = ("features", "TreeSHAP rows/s", "explain rows/s", "ratio", "bar", "limit rows/s", "x limit")
    print("{:>8}{:>17}{:>16}{:>8}{:>6}{:>14}{:>9}".format(*titles))
    for width, bar in BARS.items():
        train = make_syn("Syn4", n_features=width, random_state=0)
        rows = np.random.default_rng(1).normal(size=(OUR_ROWS[width], width))
        few = rows[: PEER_ROWS[width]]
        booster = boosted_trees(train.X, train.y)
        model = HideSeekClassifier(device="cpu", random_state=0).fit(train.X, train.y)
        theirs, ours = [], []
        for _ in range(arguments.rounds):
            theirs.append(len(few) / seconds(lambda booster=booster, few=few: tree_shap(booster, few)))
            ours.append(len(rows) / seconds(lambda model=model, rows=rows: model.explain(rows)))
        limit = rate / explaining_operations(PRESETS["balanced"], 1, width)
        ratio = np.median(np.array(ours) / np.array(theirs))
        print(
            f"{width:8d}{np.median(theirs):17,.0f}{np.median(ours):16,.0f}{ratio:8.0f}{bar:6d}"
            f"{limit:14,.0f}{limit / np.median(ours):9.1f}"
        )


if __name__ == "__main__":
    main()
