"""Whole fits on a GPU beside their limits: `python -m benchmarks.gpu_fits [--problems 125] [--only default]`.

The published recipe for 120 tables, the default and "best" for many tables of Syn1-6 with 10,000 rows each, by one
``fit_many``, and one default fit of a million rows of 30 skewed columns. The time is that of the whole fit, with the
search for a penalty and the figures of ``trust_``: the median of three calls after one that compiles. The limit is that
of training alone: its operations at the rate of a large matrix product, or its bytes at that of a large copy.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable

import numpy as np
import torch

from benchmarks.arithmetic import copy_rate, device_name, matrix_rate, path_limits, training_operations, upload_rate
from benchmarks.paper_stack import NAMES, make_tables, trained
from hideseek import HideSeekClassifier
from hideseek.datasets import make_syn
from hideseek.engine import teams
from hideseek.engine.recipe import PRESETS

ROWS, CALLS = 10_000, 3
Work = tuple[float, float, float]
"""Operations of training, bytes that it moves, and bytes of the tables that the device is given."""

BARS = {"published": 0.6, "default": 3.0, "best": 15.0}


class Clock:
    """Seconds of training within a fit."""

    def __init__(self) -> None:
        self.seconds = 0.0
        self._train = teams.train
        teams.train = self._timed

    def _timed(self, *arguments: object, **named: object) -> object:
        start = now()
        result = self._train(*arguments, **named)
        self.seconds += now() - start
        return result


def now() -> float:
    torch.cuda.synchronize()
    return time.perf_counter()


def published() -> tuple[Work, float]:
    """Work and seconds of 120 fits of the published recipe, with the tables on the device."""
    recipe, runs = PRESETS["paper"], [(name, seed) for name in NAMES for seed in range(20)]
    data, _ = make_tables(runs, ROWS, torch.device("cuda"))
    seconds = [trained(data, recipe, [seed for _, seed in runs])[1] for _ in range(4)]
    operations = training_operations(recipe, ROWS, data.X.shape[2], 2) * len(runs)
    return (operations, 8.0 * data.X.numel() * recipe.steps, 0.0), float(np.median(seconds[1:]))


def many(preset: str, n_problems: int) -> tuple[Work, float]:
    """Work and seconds of one ``fit_many``."""
    sets = [make_syn(NAMES[i % len(NAMES)], ROWS, random_state=i) for i in range(n_problems)]
    model, problems = HideSeekClassifier(preset), [(one.X, one.y, i, {}) for i, one in enumerate(sets)]
    n_columns = sets[0].X.shape[1]
    operations, n_bytes = path_limits(PRESETS[preset].for_table(ROWS, n_columns), n_columns, n_columns, 2)
    work = operations * n_problems, n_bytes * n_problems, float(n_problems * sets[0].X.nbytes)
    return work, timed(lambda: model.fit_many(problems))


def million() -> tuple[Work, float]:
    """Work and seconds of one fit of a long table."""
    X = np.exp(np.random.default_rng(0).normal(size=(1_000_000, 30))).astype(np.float32)
    y = (np.log(X[:, 0]) * np.log(X[:, 1]) + np.log(X[:, 2]) > 0).astype(int)
    model = HideSeekClassifier(random_state=0)
    seconds = timed(lambda: model.fit(X, y))
    training = path_limits(PRESETS["balanced"], model.learned_.ensemble.stack.hide.sizes[0], 30, 2)
    return (*training, float(X.nbytes)), seconds


def timed(call: Callable[[], object]) -> float:
    start = now()
    call()
    print(f"  first call {now() - start:.2f} s")
    clock, seconds = Clock(), []
    for _ in range(CALLS):
        start = now()
        call()
        seconds.append(now() - start)
    teams.train = clock._train
    training = clock.seconds / CALLS
    print(f"  {', '.join(f'{each:.2f}' for each in seconds)} s, of which training {training:.2f} s")
    return float(np.median(seconds))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--problems", type=int, default=125)
    parser.add_argument("--only", choices=("published", "default", "best", "million"))
    arguments = parser.parse_args()
    device = torch.device("cuda")
    print(f"{device_name(device)}, torch {torch.__version__}")
    rates = matrix_rate(device=device), copy_rate(device), upload_rate(device)
    print(f"{rates[0] / 1e12:.0f} TFLOP/s in matrix products, {rates[1] / 1e12:.1f} TB/s in copies", end="")
    print(f", {rates[2] / 1e9:.1f} GB/s from the host")
    cases = {
        "published": published,
        "default": lambda: many("balanced", arguments.problems),
        "best": lambda: many("best", arguments.problems),
        "million": million,
    }
    for name, case in cases.items():
        if arguments.only in (None, name):
            work, seconds = case()
            limits = [amount / rate for amount, rate in zip(work, rates, strict=True)]
            bar = f" (bar {BARS[name]:g} s)" if name in BARS and arguments.problems == 125 else ""
            print(f"{name}: {seconds:.2f} s{bar}, {seconds / max(limits):.0f} times its limit", end="")
            print(" (arithmetic {:.3f} s, memory {:.3f} s, upload {:.3f} s)".format(*limits), flush=True)


if __name__ == "__main__":
    main()
