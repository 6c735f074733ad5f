"""How the cost of a whole fit grows with rows, columns, classes and members: `python -m benchmarks.growth_of_fits`.

One size changes at a time; the others are those of the base: 10,000 rows, 11 columns, 2 classes and the members of the
preset. Seconds are of the processor, so that other programs do not count. The exponent is the slope of log time from
one size to the next; 1 is linear. From over 10,000 rows on fewer members are trained to choose a range of prices, and
from over 32 columns on screening leaves a few for the networks, so that neither grows evenly.
"""

from __future__ import annotations

import argparse
import time
from itertools import pairwise
from math import log
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hideseek import HideSeekClassifier

BASE = {"rows": 10_000, "columns": 11, "classes": 2}
SIZES = {
    "rows": (1000, 10_000, 100_000, 1_000_000),
    "columns": (11, 30, 100, 1000),
    "classes": (2, 3, 10),
    "members": (5, 10, 20),
}
_ENERGY = Path("/sys/class/powercap/intel-rapl:0/energy_uj")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--presets", nargs="+", default=["balanced"])
    parser.add_argument("--axes", nargs="+", choices=SIZES, default=list(SIZES))
    arguments = parser.parse_args()
    for preset in arguments.presets:
        for axis in arguments.axes:
            print_growth(preset, axis)
        print_energy(preset)


def print_growth(preset: str, axis: str) -> None:
    """Print the seconds at every size of one axis, their ratio to the first, and the exponents between them."""
    seconds = {size: seconds_of_fit(preset, **{axis: size}) for size in SIZES[axis]}
    first = next(iter(seconds.values()))
    for size, each in seconds.items():
        print(f"{preset:10}{size:12,d} {axis:10}{each:9.2f} s{each / first:9.2f} times the first", flush=True)
    for small, large in pairwise(seconds):
        exponent = log(seconds[large] / seconds[small]) / log(large / small)
        print(f"{'':10}{axis} from {small:,} to {large:,}: exponent {exponent:.2f}")


def seconds_of_fit(preset: str, members: int | None = None, **sizes: int) -> float:
    """Processor seconds of one fit; the first fit of the process, which loads libraries, does not count."""
    parameters: dict[str, Any] = {} if members is None else {"n_members": members}
    model = HideSeekClassifier(preset, device="cpu", random_state=0, **parameters)
    X, y = make_table(**(BASE | sizes))
    model.fit(X[:200], y[:200])
    start = time.process_time()
    model.fit(X, y)
    return time.process_time() - start


def make_table(rows: int, columns: int, classes: int) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Make classes of equal size that follow from a product of two columns."""
    X = np.random.default_rng(0).normal(size=(rows, columns))
    score = X[:, 0] * X[:, 1] + 0.5 * np.random.default_rng(1).normal(size=rows)
    return X, np.searchsorted(np.quantile(score, np.arange(1, classes) / classes), score)


def print_energy(preset: str) -> None:
    """Print the energy of one fit, where the processor tells it."""
    X, y = make_table(**BASE)
    try:
        before = int(_ENERGY.read_text())
        HideSeekClassifier(preset, device="cpu", random_state=0).fit(X, y)
        print(
            f"{preset:10}one fit of the base takes {(int(_ENERGY.read_text()) - before) / 1e6:.0f} J of the processor"
        )
    except OSError:
        print(f"{preset:10}energy: this processor does not tell")


if __name__ == "__main__":
    main()
