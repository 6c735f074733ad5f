"""Interrupt fits and saves at random moments, and count what is left: nothing old, nothing half.

Each model is fitted, and then fitted anew on other data until a signal interrupts it, as Ctrl+C does.

    python -m benchmarks.interrupts --interrupts 500
"""

from __future__ import annotations

import argparse
import signal
import sys
import tempfile
import threading
import time
import warnings
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import torch
from sklearn.exceptions import NotFittedError
from sklearn.utils.validation import check_is_fitted

from hideseek import BlackBoxExplainer, HideSeekClassifier, HideSeekRegressor, load
from hideseek.baselines import L2X, ForestImportance, Invase, LassoImportance, RealX

GOOD = ("not fitted", "not begun", "finished", "old file", "new file")
_SECONDS_LEFT = 30.0


def _data(seed: int, n_columns: int, labels: tuple[Any, Any]) -> tuple[np.ndarray, np.ndarray]:
    X = np.random.default_rng(seed).normal(size=(120, n_columns))
    return X, np.where(X[:, 0] > 0, *labels)


OLD, NEW = _data(0, 4, (0, 1)), _data(1, 6, (2, 3))


def _first_column(X: np.ndarray) -> np.ndarray:
    return X[:, 0]


MODELS: dict[str, Callable[[], Any]] = {
    "classifier": lambda: HideSeekClassifier("fast", steps=40, random_state=0),
    "regressor": lambda: HideSeekRegressor("fast", steps=40, random_state=0),
    "path": lambda: HideSeekClassifier("fast", penalty="auto", steps=5, random_state=0),
    "black box": lambda: BlackBoxExplainer(_first_column, "fast", task="regression", steps=20, random_state=0),
    "INVASE": lambda: Invase(iterations=10, random_state=0),
    "REAL-X": lambda: RealX(epochs=5, random_state=0),
    "L2X": lambda: L2X(k=2, steps=10, random_state=0),
    "forest": lambda: ForestImportance(k=2, n_estimators=10, random_state=0),
    "LASSO": lambda: LassoImportance(k=2),
}


def interrupted_after(seconds: float, work: Callable[[], Any]) -> bool:
    """Return whether the work was interrupted, rather than done before."""
    before = signal.signal(signal.SIGALRM, signal.default_int_handler)
    try:
        signal.setitimer(signal.ITIMER_REAL, seconds)
        work()
        signal.setitimer(signal.ITIMER_REAL, 0)
    except KeyboardInterrupt:
        return True
    finally:
        signal.signal(signal.SIGALRM, before)
    return False


def learned(model: Any) -> dict[str, Any]:
    """Return what the model has besides its parameters."""
    return {name: value for name, value in vars(model).items() if name not in model.get_params(deep=False)}


def left_of_fit(model: Any, expected: np.ndarray, seconds: float) -> str:
    """Interrupt a fit on new data, and return what is left of the model.

    Args:
        model: Fitted on the old data.
        expected: What a model that was fitted on the new data selects.
        seconds: When to interrupt.
    """
    before, parameters = vars(model), learned(model)
    interrupted = interrupted_after(seconds, lambda: model.fit(*NEW))
    if vars(model) is before:  # the interrupt came before the first step of the fit
        return "not begun" if interrupted and learned(model) == parameters else "mixed"
    try:
        check_is_fitted(model)
    except NotFittedError:
        return "not fitted" if interrupted and not learned(model) else "mixed"
    return "finished" if np.array_equal(model.select(NEW[0]), expected) else "mixed"


def left_of_fits(make: Callable[[], Any], n_interrupts: int, rng: np.random.Generator) -> Counter[str]:
    """Return how often each state was left."""
    states: Counter[str] = Counter()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        expected = make().fit(*NEW).select(NEW[0])
        model, started = make(), time.perf_counter()
        model.fit(*NEW)
        seconds = time.perf_counter() - started
        for _ in range(n_interrupts):
            model.fit(*OLD)
            states[left_of_fit(model, expected, max(1e-6, rng.uniform(0, seconds)))] += 1
    return states


def left_of_saves(folder: Path, n_interrupts: int, rng: np.random.Generator) -> Counter[str]:
    """Return how often the old file was left whole, and how often the new one."""
    states: Counter[str] = Counter()
    path = folder / "model.safetensors"
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        old, new = (MODELS["classifier"]().fit(*data) for data in (OLD, NEW))
    started = time.perf_counter()
    new.save(path)
    seconds = time.perf_counter() - started
    for _ in range(n_interrupts):
        old.save(path)
        interrupted_after(max(1e-6, rng.uniform(0, seconds)), lambda: new.save(path))
        width = load(path).n_features_in_
        states[{4: "old file", 6: "new file"}[width] if len(list(folder.iterdir())) == 1 else "litter"] += 1
    return states


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--interrupts", type=int, default=500, help="in all, of fits; and as many of saves")
    parser.add_argument("--seed", type=int, default=0)
    arguments = parser.parse_args()
    rng, total = np.random.default_rng(arguments.seed), Counter[str]()
    n_threads, torch_threads = threading.active_count(), torch.get_num_threads()
    each = -(-arguments.interrupts // len(MODELS))
    for name, make in MODELS.items():
        states = left_of_fits(make, each, rng)
        total += states
        print(f"{name:12}  {dict(states)}", flush=True)
    with tempfile.TemporaryDirectory() as folder:
        saves = left_of_saves(Path(folder), arguments.interrupts, rng)
    print(f"{'fits':12}  {dict(total)}\n{'saves':12}  {dict(saves)}")
    deadline = time.monotonic() + _SECONDS_LEFT
    while threading.active_count() > n_threads and time.monotonic() < deadline:
        time.sleep(0.1)
    threads = (threading.active_count() - n_threads, torch.get_num_threads() - torch_threads)
    print(f"threads left over: {threads[0]}, torch's own: {threads[1]:+}")
    return int(any(state not in GOOD for state in total + saves) or threads != (0, 0))


if __name__ == "__main__":
    sys.exit(main())
