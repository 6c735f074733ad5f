"""Rows per second of `explain` and `predict_proba`, default preset: `python -m benchmarks.explain_throughput`.

Against TreeSHAP, against the limit of arithmetic and memory, and against the same answers in torch.
"""

from __future__ import annotations

import argparse
import os
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import numpy as np

from benchmarks.arithmetic import copy_rate, matrix_rate, products
from benchmarks.peers import boosted_trees, tree_shap
from hideseek import HideSeekClassifier
from hideseek.datasets import make_syn

BARS = {11: 200, 100: 50}
PEER_ROWS = {11: 10_000, 100: 3_000}
OUR_ROWS = {11: 1_000_000, 100: 200_000}
BYTES_OF_CELL = 8 + 4 + 1
"""A value is read, and its mask and whether it is selected are written."""


def seconds(function: Callable[[], object]) -> float:
    start = time.perf_counter()
    function()
    return time.perf_counter() - start


@contextmanager
def in_torch() -> Iterator[None]:
    """Have torch compute the answers."""
    before = os.environ.get("HIDESEEK_NATIVE")
    os.environ["HIDESEEK_NATIVE"] = "0"
    try:
        yield
    finally:
        del os.environ["HIDESEEK_NATIVE"]
        if before is not None:
            os.environ["HIDESEEK_NATIVE"] = before


def compared_with_torch(answer: Callable[[], object], rounds: int) -> tuple[float, float]:
    """Return the median of the seconds, and of those in torch over them, round by round."""
    pairs = []
    for _ in range(rounds):
        ours = seconds(answer)
        with in_torch():
            pairs.append((ours, seconds(answer) / ours))
    own, ratio = np.median(pairs, axis=0)
    return float(own), float(ratio)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=5)
    arguments = parser.parse_args()
    rate, copied = matrix_rate(), copy_rate()
    print(f"matrix products run at {rate / 1e9:.0f} GFLOP/s here, copies at {copied / 1e9:.0f} GB/s")
    titles = ("features", "TreeSHAP rows/s", "explain rows/s", "ratio", "bar", "limit rows/s", "x limit", "x torch")
    print("{:>8}{:>17}{:>16}{:>8}{:>6}{:>14}{:>9}{:>9}{:>18}{:>9}".format(*titles, "predict rows/s", "x torch"))
    for width, bar in BARS.items():
        train = make_syn("Syn4", n_features=width, random_state=0)
        rows = np.random.default_rng(1).normal(size=(OUR_ROWS[width], width))
        few, some = rows[: PEER_ROWS[width]], rows[: OUR_ROWS[width] // 10]
        booster = boosted_trees(train.X, train.y)
        model = HideSeekClassifier(device="cpu", random_state=0).fit(train.X, train.y)
        theirs = np.median([seconds(lambda b=booster, x=few: tree_shap(b, x)) for _ in range(arguments.rounds)])
        explaining, of_torch = compared_with_torch(lambda m=model, x=rows: m.explain(x), arguments.rounds)
        predicting, of_torch_too = compared_with_torch(lambda m=model, x=some: m.predict_proba(x), arguments.rounds)
        peer, ours = len(few) / theirs, len(rows) / explaining
        stack = model.learned_.ensemble.stack
        limit = 1 / (2 * products(stack.hide.sizes) * stack.n_members / rate + BYTES_OF_CELL * width / copied)
        print(
            f"{width:8d}{peer:17,.0f}{ours:16,.0f}{ours / peer:8.0f}{bar:6d}{limit:14,.0f}{limit / ours:9.1f}"
            f"{of_torch:9.1f}{len(some) / predicting:18,.0f}{of_torch_too:9.1f}"
        )


if __name__ == "__main__":
    main()
