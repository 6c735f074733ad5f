"""How the cost of a training step grows with rows, columns and members: `python -m benchmarks.growth`.

A step is one full-batch epoch of the paper's recipe on one table that all members share. Beside each time stands the
limit: the operations over the measured rate of matrix products, plus the bytes that have to be read over the measured
rate of copying. Sizes whose step would outlast the patience or the memory are left out. The exponents are slopes of
log time between neighbouring sizes; 1 is linear.
"""

from __future__ import annotations

import argparse
import csv
import time
from collections.abc import Iterator
from contextlib import closing
from datetime import UTC, datetime
from itertools import pairwise, product
from math import log
from pathlib import Path

import numpy as np
import torch

from benchmarks.arithmetic import copy_rate, device_name, matrix_rate, training_operations
from hideseek.benchmark.origin import commit
from hideseek.engine.device import one_thread, resolve_device
from hideseek.engine.draws import member_seeds
from hideseek.engine.networks import Mlp
from hideseek.engine.recipe import PRICE_PER_FEATURE, Recipe
from hideseek.engine.stack import Data, Members, initial_stack
from hideseek.engine.steps import Problem
from hideseek.engine.training import choose_steps

COLUMNS = (11, 100, 784)
ROWS = (10_000, 100_000, 1_000_000)
MEMBERS = (1, 10, 120)
PATIENCE = 20.0
_WARM_UP = 10
FIELDS = ["device", "columns", "rows", "members", "milliseconds", "limit", "ratio", "date", "commit"]


def make_problem(n_columns: int, n_rows: int, n_members: int, device: torch.device) -> Problem:
    """Noise: what is learned does not change the cost."""
    recipe = Recipe(steps=1000)
    X = torch.randn(1, n_rows, n_columns, device=device)
    data = Data(X, (X[..., 0] > 0).long())
    hidden = recipe.hidden_layers
    hide, seek = Mlp((n_columns, *hidden, n_columns)), Mlp((n_columns, *hidden, 2))
    visible, table = np.ones((n_members, n_columns), dtype=bool), np.zeros(n_members, dtype=np.int64)
    price = np.full(n_members, PRICE_PER_FEATURE)
    members = Members(member_seeds(0, n_members), price, visible, table)
    stack, trainable = initial_stack(hide, seek, members, device)
    tensors = (torch.from_numpy(part).to(device) for part in (members.seeds, table, price, visible))
    seeds, table, price, visible = tensors
    return Problem(recipe, data, "cross_entropy", stack, trainable, seeds, table, price.float(), visible.float())


def seconds_per_step(problem: Problem, patience: float) -> float:
    """The fastest of a few rounds; the first steps, which pay for set-up, do not count."""
    device = problem.seeds.device

    def wait() -> float:
        if device.type == "cuda":
            torch.cuda.synchronize()
        return time.perf_counter()

    with torch.inference_mode(), one_thread() as n_threads, closing(choose_steps(problem, None, n_threads)) as steps:
        steps.run(1)
        start = wait()
        steps.run(1)
        seconds = wait() - start
        if seconds < patience / 5:
            steps.run(_WARM_UP)
            start = wait()
            steps.run(_WARM_UP)
            seconds = (wait() - start) / _WARM_UP
        n_steps = max(1, min(200, int(patience / 10 / seconds)))
        rounds = [seconds]
        for _ in range(3 if seconds < patience / 5 else 0):
            start = wait()
            steps.run(n_steps)
            rounds.append((wait() - start) / n_steps)
    return min(rounds)


def measure(device: torch.device, patience: float) -> Iterator[dict[str, object]]:
    operations_rate, bytes_rate = matrix_rate(device=device), copy_rate(device)
    print(f"{device_name(device)}: {operations_rate / 1e12:.2f} TFLOP/s, {bytes_rate / 1e9:.0f} GB/s copied")
    print(f"{'columns':>8}{'rows':>11}{'members':>9}{'ms a step':>12}{'limit':>11}{'ratio':>8}")
    for d, n, k in product(COLUMNS, ROWS, MEMBERS):
        operations = training_operations(Recipe(steps=1, n_members=k), n, d, 2)
        bytes_read = 4.0 * k * n * (2 * d + 2)  # x, x_hat and the target, once
        limit = operations / operations_rate + bytes_read / bytes_rate
        if 4 * limit > patience or 16 * d * n > memory(device) / 2:
            print(f"{d:8d}{n:11,d}{k:9d}{'left out':>12}{1e3 * limit:11.3f}")
            continue
        seconds = seconds_per_step(make_problem(d, n, k, device), patience)
        print(f"{d:8d}{n:11,d}{k:9d}{1e3 * seconds:12.3f}{1e3 * limit:11.3f}{seconds / limit:8.1f}", flush=True)
        figures = (f"{1e3 * seconds:.3f}", f"{1e3 * limit:.4f}", f"{seconds / limit:.1f}")
        values = [device_name(device), d, n, k, *figures]
        yield dict(zip(FIELDS, [*values, datetime.now(UTC).date(), commit() or "unknown"], strict=True))


def memory(device: torch.device) -> float:
    """Bytes to work with."""
    return float(torch.cuda.mem_get_info(device)[0]) if device.type == "cuda" else 16e9


def print_exponents(rows: list[dict[str, object]]) -> None:
    times = {(row["columns"], row["rows"], row["members"]): float(str(row["milliseconds"])) for row in rows}
    for axis, (name, sizes) in enumerate((("columns", COLUMNS), ("rows", ROWS), ("members", MEMBERS))):
        found = []
        for key in times:
            for small, large in pairwise(sizes):
                other = (*key[:axis], large, *key[axis + 1 :])
                if key[axis] == small and other in times:
                    found.append(log(times[other] / times[key]) / log(large / small))
        if found:
            print(f"exponent in {name:8} median {np.median(found):5.2f}, largest {max(found):5.2f}, {len(found)} pairs")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--device", default="auto")
    parser.add_argument("--patience", type=float, default=PATIENCE, help="seconds that a size may take")
    parser.add_argument("--out", type=Path, help="a CSV file to write")
    arguments = parser.parse_args()
    rows = list(measure(resolve_device(arguments.device), arguments.patience))
    print_exponents(rows)
    if arguments.out is not None:
        with open(arguments.out, "w", newline="") as file:
            writer = csv.DictWriter(file, FIELDS, lineterminator="\n")
            writer.writeheader()
            writer.writerows(rows)


if __name__ == "__main__":
    main()
