"""Time of every method for one run of Syn4, and of many runs as one stack: `python -m benchmarks.methods`.

One run is a fit on 10,000 rows and the explanation of 10,000 others, on the CPU; LIME explains a twentieth of them and
its time for the rest is reckoned from that. The ratio is to XGBoost + TreeSHAP in the same run.
"""

from __future__ import annotations

import argparse
import time
from typing import Any

from hideseek import HideSeekClassifier, baselines
from hideseek.datasets import Dataset, make_syn
from hideseek.metrics import selection_scores

LIME_SHARE = 20
STACK_SEEDS = 20
METHODS: dict[str, Any] = {
    "shap": baselines.ShapExplainer(5, random_state=0),
    "fast": HideSeekClassifier("fast", device="cpu", random_state=0),
    "balanced": HideSeekClassifier("balanced", device="cpu", random_state=0),
    "paper": HideSeekClassifier("paper", device="cpu", random_state=0),
    "forest": baselines.ForestImportance(5, random_state=0),
    "lasso": baselines.LassoImportance(5, random_state=0),
    "l2x": baselines.L2X(5, device="cpu", random_state=0),
    "lime": baselines.LimeExplainer(5, random_state=0),
    "realx": baselines.RealX(device="cpu", random_state=0),
    "invase": baselines.Invase(device="cpu", random_state=0),
}


def one_run(label: str, train: Dataset, test: Dataset) -> tuple[float, float, float]:
    """Seconds to fit, seconds to explain, F1."""
    share = LIME_SHARE if label == "lime" else 1
    start = time.perf_counter()
    model = METHODS[label].fit(train.X, train.y)
    fitted = time.perf_counter()
    selected = model.select(test.X[: len(test.X) // share])
    explained = time.perf_counter()
    f1 = selection_scores(selected, test.relevant[: len(selected)]).f1
    return fitted - start, share * (explained - fitted), f1


def stack_against_one_by_one(iterations: int, device: str) -> None:
    """INVASE on many seeds, as one stack and one after the other."""
    problems = [(data.X, data.y, s, {}) for s in range(STACK_SEEDS) for data in [make_syn("Syn4", random_state=s)]]
    method = baselines.Invase(iterations=iterations, device=device)
    method.fit_many([(X, y, seed, {"iterations": 5}) for X, y, seed, _ in problems])  # the first call pays for set-up
    start = time.perf_counter()
    method.fit_many(problems)
    together = time.perf_counter() - start
    start = time.perf_counter()
    for problem in problems:
        method.fit_many([problem])
    alone = time.perf_counter() - start
    print(
        f"INVASE, {STACK_SEEDS} seeds, {iterations:,} iterations, {device}: one stack {together:.1f} s, "
        f"one after the other {alone:.1f} s: {alone / together:.1f} times as long"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--methods", nargs="*", default=list(METHODS), choices=list(METHODS))
    parser.add_argument("--stack-iterations", type=int, default=100)
    parser.add_argument("--stack-device", default="cpu")
    arguments = parser.parse_args()
    train, test = make_syn("Syn4", random_state=0), make_syn("Syn4", random_state=1)
    peer = None
    for label in arguments.methods:
        fit, explain, f1 = one_run(label, train, test)
        peer = peer or fit + explain
        print(
            f"{label:10}fit {fit:8.2f} s  explain {explain:8.2f} s  F1 {f1:5.1f}  ratio {(fit + explain) / peer:8.2f}"
        )
    if arguments.stack_iterations:
        stack_against_one_by_one(arguments.stack_iterations, arguments.stack_device)


if __name__ == "__main__":
    main()
