"""How well an audit recovers what is known exactly, and what it costs: `python -m benchmarks.audit`.

Selectors with known label and feature leakage on tables of bits and on Syn4, over several seeds. For each figure: the
exact value, the mean estimate, the root mean square distance to the exact value in units of the reported error, and
the largest distance. For ENCODE also how often leakage was found. At the end the seconds for 10,000 rows x 11 columns.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Iterable
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from math import log, nan
from multiprocessing import get_context
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from hideseek.datasets import make_syn
from hideseek.metrics import Audit, audit

QUANTITIES = ("nothing", "evalx", "roar", "encode", "everything", "total_feature_leak")


class Case(NamedTuple):
    """A table, its selector's sets, and the exact values of QUANTITIES (NaN: not known)."""

    X: NDArray[np.float64]
    y: NDArray[Any]
    selected: NDArray[np.bool_]
    task: str
    exact: tuple[float, ...]


def three_bits(seed: int, n_rows: int, *, switch_shown: bool) -> Case:
    """p(y = 1) is .9 or .1 by x1 where x3 = 1, by x2 where x3 = 0; the selector shows that bit, and x3 or not."""
    rng = np.random.default_rng(seed)
    X = rng.integers(0, 2, (n_rows, 3)).astype(float)
    decides = np.where(X[:, 2] == 1, 0, 1)
    y = (rng.random(n_rows) < np.where(X[np.arange(n_rows), decides] == 1, 0.9, 0.1)).astype(int)
    selected = np.zeros(X.shape, dtype=bool)
    selected[np.arange(n_rows), decides] = True
    selected[:, 2] = switch_shown
    full = 0.9 * log(0.9) + 0.1 * log(0.1)
    # Alone, a bit agrees with y in seven rows of ten; where it is the one that decides, in nine of ten.
    alone = full if switch_shown else 0.9 * log(0.7) + 0.1 * log(0.3)
    return Case(
        X, y, selected, "classification", (-log(2), alone, full, full - alone, full, 0.0 if switch_shown else log(2))
    )


def two_bits(seed: int, n_rows: int) -> Case:
    """Three classes, x1 + x2; nothing is shown at 00, x2 at 01 and 10, x1 at 11: the set tells the label."""
    X = np.random.default_rng(seed).integers(0, 2, (n_rows, 2)).astype(float)
    y = X.sum(axis=1).astype(int)
    selected = np.column_stack([y == 2, y == 1])
    nothing, evalx = 1.5 * log(0.5), 0.25 * log(0.25) + 0.75 * log(0.5)
    # Hidden: both bits at 00, x1 at 01 and 10 (known from x2 and the set), x2 at 11.
    leak = 0.25 * 2 * log(2) + 0.5 * log(2) + 0.25 * log(2)
    return Case(X, y, selected, "classification", (nothing, evalx, 0.0, -evalx, 0.0, leak))


def ten_bits(seed: int, n_rows: int, *, sufficient: bool) -> Case:
    """The value (x1 x2 + ... + x9 x10)^2, of which any zero of a pair tells the product.

    In order: the second of a pair is shown where the first is 1. Otherwise: the smallest sufficient sets.
    """
    X = np.random.default_rng(seed).integers(0, 2, (n_rows, 10)).astype(float)
    first, second = X[:, ::2] == 1, X[:, 1::2] == 1
    selected = np.ones(X.shape, dtype=bool)
    if sufficient:
        selected[:, ::2], selected[:, 1::2] = ~first | second, first
        leak = 5 * log(2) / 4  # x2 = 0 shown alone says that x1 is 1
    else:
        selected[:, 1::2], leak = first, 0.0
    y = (first & second).sum(axis=1).astype(float) ** 2
    return Case(X, y, selected, "regression", (-9.84375, 0.0, 0.0, 0.0, 0.0, leak))


def syn4(seed: int, n_rows: int, *, kind: str) -> Case:
    """Syn4 with its true sets, with random ones, or with sets whose choice tells the label or a column."""
    data = make_syn("Syn4", n_samples=n_rows, random_state=seed)
    rng, rows = np.random.default_rng([seed, 1]), np.arange(n_rows)
    selected = data.relevant.copy()
    if kind == "random":
        selected = rng.random(selected.shape) < 0.3
    elif kind == "label":
        selected[:] = False
        selected[rows, np.where(data.probability > 0.5, 8, 9)] = True
    elif kind == "no switch":
        selected[:, 10] = False
    elif kind == "noise column":
        selected[rows, np.where(data.X[:, 7] > 0, 8, 9)] = True
    true = np.clip(data.probability, 1e-12, 1 - 1e-12)
    full = float((true * np.log(true) + (1 - true) * np.log(1 - true)).mean())
    honest = kind in ("truth", "noise column")
    evalx = full if honest else nan
    leak = {"truth": 0.0, "random": 0.0, "noise column": log(2)}.get(kind, nan)
    encode = 0.0 if honest or kind == "random" else nan
    return Case(data.X, data.y, selected, "classification", (nan, evalx, evalx, encode, nan, leak))


CASES: dict[str, tuple[Callable[[int, int], Case], int, bool]] = {
    "three bits, truth": (partial(three_bits, switch_shown=True), 2000, False),
    "three bits, position only": (partial(three_bits, switch_shown=False), 2000, True),
    "two bits, set tells the label": (two_bits, 2000, True),
    "ten bits, in order": (partial(ten_bits, sufficient=False), 4000, False),
    "ten bits, smallest sufficient": (partial(ten_bits, sufficient=True), 4000, False),
    "Syn4, truth": (partial(syn4, kind="truth"), 10_000, False),
    "Syn4, random sets": (partial(syn4, kind="random"), 10_000, False),
    "Syn4, mask codes a noise column": (partial(syn4, kind="noise column"), 10_000, False),
    "Syn4, position codes the label": (partial(syn4, kind="label"), 10_000, True),
    "Syn4, truth without the switch": (partial(syn4, kind="no switch"), 10_000, True),
}
"""How to make each, its rows, and whether it encodes the label."""


def judged(name: str, n_folds: int, seed: int) -> tuple[Case, Audit]:
    make, n_rows, _ = CASES[name]
    case = make(seed, n_rows)
    how = {"task": case.task, "n_folds": n_folds, "device": "cpu", "random_state": seed}
    return case, audit(case.X, case.y, case.selected, **how)


def lines(name: str, found: Iterable[tuple[Case, Audit]]) -> Iterable[str]:
    pairs = list(found)
    encodes = CASES[name][2]
    caught = sum(result.encodes_label for _, result in pairs)
    ratio = [result.encode.ratio for _, result in pairs]
    yield (
        f"{name} ({'leaks' if encodes else 'honest'}): label leakage found in {caught} of {len(pairs)} seeds, "
        f"ENCODE {min(ratio):.1f} to {max(ratio):.1f} errors above 0"
    )
    for k, quantity in enumerate(QUANTITIES):
        exact = np.array([case.exact[k] for case, _ in pairs])
        estimates = [getattr(result, quantity) for _, result in pairs]
        value, error = np.array(estimates).T
        if np.isnan(exact).any():
            yield f"  {quantity:20}{'':9}{value.mean():9.4f} ± {error.mean():.4f}"
            continue
        distance = np.abs(value - exact) / error
        yield (
            f"  {quantity:20}{exact.mean():9.4f}{value.mean():9.4f} ± {error.mean():.4f}"
            f"   rms {np.sqrt((distance**2).mean()):5.2f} errors, largest {distance.max():5.2f}"
        )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seeds", type=int, default=20)
    parser.add_argument("--folds", type=int, default=4)
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--cases", nargs="+", choices=CASES, default=list(CASES), metavar="CASE")
    arguments = parser.parse_args()
    start, worked = time.perf_counter(), time.process_time()
    judged("Syn4, truth", arguments.folds, 0)
    took, worked = time.perf_counter() - start, time.process_time() - worked
    print(f"10,000 rows x 11 columns, one core: {took:.1f} s, {worked:.1f} s of the processor", flush=True)
    with ProcessPoolExecutor(arguments.jobs, get_context("spawn")) as pool:  # a fork would wait for torch's threads
        for name in arguments.cases:
            found = pool.map(partial(judged, name, arguments.folds), range(arguments.seeds))
            print("\n".join(lines(name, found)), flush=True)


if __name__ == "__main__":
    main()
