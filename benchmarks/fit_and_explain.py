"""Fit on 10,000 rows of Syn4 and explain 10,000 others: `python -m benchmarks.fit_and_explain`.

The peer is XGBoost + TreeSHAP. Every round times all contestants one after the other, so that a slow moment of the
machine hits them alike; the ratio is the median over rounds of the ratios within a round.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from benchmarks.arithmetic import explaining_operations, matrix_rate, path_limits, training_operations
from benchmarks.peers import boosted_trees, tree_shap
from hideseek import HideSeekClassifier
from hideseek.datasets import make_syn
from hideseek.engine.recipe import PRESETS, Recipe
from hideseek.metrics import selection_scores, top_k

BARS = {"balanced": 1.5}
PEER = "XGBoost + TreeSHAP"
ROWS = 10_000


def limit_of(recipe: Recipe) -> float:
    """Return the floating-point operations of a fit and the explanation."""
    recipe = recipe.for_table(ROWS, 11)
    fit = path_limits(recipe, 11, 11, 2)[0] if recipe.highest_prices else training_operations(recipe, ROWS, 11, 2)
    return fit + explaining_operations(recipe, ROWS, 11)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=7)
    arguments = parser.parse_args()
    train, test = make_syn("Syn4", ROWS, random_state=0), make_syn("Syn4", ROWS, random_state=1)

    def peer() -> NDArray[np.bool_]:
        return top_k(np.abs(tree_shap(boosted_trees(train.X, train.y), test.X)), 5)

    def ours(preset: str) -> Callable[[], NDArray[np.bool_]]:
        return lambda: HideSeekClassifier(preset, device="cpu", random_state=0).fit(train.X, train.y).select(test.X)

    contestants = {PEER: peer, **{preset: ours(preset) for preset in PRESETS}}
    seconds: dict[str, list[float]] = {name: [] for name in contestants}
    quality = {}
    for _ in range(arguments.rounds):
        for name, contestant in contestants.items():
            start = time.perf_counter()
            selected = contestant()
            seconds[name].append(time.perf_counter() - start)
            quality[name] = selection_scores(selected, test.relevant).f1

    rate = matrix_rate()
    print(f"Syn4, {ROWS:,} rows to fit and {ROWS:,} to explain; matrix products run at {rate / 1e9:.0f} GFLOP/s here")
    print(f"{'':20}{'seconds':>9}{'F1':>7}{'ratio':>8}{'bar':>6}{'limit s':>9}{'x limit':>9}")
    for name, times in seconds.items():
        ratio = np.median(np.array(times) / np.array(seconds[PEER]))
        line = f"{name:20}{np.median(times):9.3f}{quality[name]:7.1f}{ratio:8.2f}"
        if name in PRESETS:
            work = limit_of(PRESETS[name])
            bar = f"{BARS[name]:.2f}" if name in BARS else ""
            line += f"{bar:>6}{work / rate:9.3f}{np.median(times) / (work / rate):9.1f}"
        print(line)


if __name__ == "__main__":
    main()
