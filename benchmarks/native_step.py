"""Time a training step in C beside the same step in torch, and beside its arithmetic.

Usage: python -m benchmarks.native_step
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace
from itertools import pairwise

import numpy as np
import torch

from benchmarks.arithmetic import matrix_rate
from hideseek.engine.draws import member_seeds
from hideseek.engine.eager import eager_steps
from hideseek.engine.groups import Groups
from hideseek.engine.native import native_steps
from hideseek.engine.networks import Mlp
from hideseek.engine.recipe import Recipe
from hideseek.engine.replacement import Marginal
from hideseek.engine.stack import Data, Members, initial_stack
from hideseek.engine.steps import Problem, Steps

CPU = torch.device("cpu")
SHAPES = {  # columns, features, width of the hidden layers
    "11 columns": (11, 11, 32),
    "35 columns of 7 features": (35, 7, 32),
    "115 columns of 23 features": (115, 23, 32),
    "11 columns, 64 units": (11, 11, 64),
    "115 columns of 23 features, 64 units": (115, 23, 64),
}
RECIPE = Recipe(steps=2000, batch_size=96, learning_rate=4e-3, cross_fit=True, n_members=10)
VARIANTS = {  # whether members answer for a range of prices, recipe, rounds
    "one price": (False, RECIPE, 40),
    "a range of prices": (True, RECIPE, 40),
    "all rows": (False, replace(RECIPE, batch_size=None, cross_fit=False), 5),
}
STEPS = 10


def make_problem(columns: int, features: int, width: int, path: bool, recipe: Recipe) -> Problem:
    """Ten members on 2,000 rows, at one price or, with ``path``, at a range of prices."""
    recipe = replace(recipe, hidden_layers=(width, width))
    generator = torch.Generator().manual_seed(0)
    X = torch.randn(1, 2000, columns, generator=generator)
    groups = Groups.from_widths([columns // features] * features)
    n = recipe.n_members
    price, visible, table = np.full(n, 0.03), np.ones((n, features), dtype=bool), np.zeros(n, dtype=np.int64)
    members = Members(member_seeds(0, n), price, visible, table, price / 50 if path else None)
    hide, seek = Mlp((columns, width, width, features * (1 + path))), Mlp((columns + path, width, width, 2))
    stack, trainable = initial_stack(hide, seek, members, CPU, recipe.n_seeks, groups)
    data, seeds = Data(X, (X[..., 0] * X[..., 1] > 0).long()), torch.from_numpy(members.seeds)
    parts = (torch.from_numpy(part) for part in (table, price.astype(np.float32), visible.astype(np.float32)))
    return Problem(recipe, data, "cross_entropy", stack, trainable, seeds, *parts)


def products(problem: Problem) -> float:
    """Multiplications with an addition that a step of all members cannot do without."""
    stack, size = problem.stack, problem.batch_size
    hide, seek = ([a * b for a, b in pairwise(mlp.sizes)] for mlp in (stack.hide, stack.seek))
    per_row = 3 * sum(hide) - hide[0]  # forward, gradient, and slopes of all inputs but the first
    seek_rows = 2 * sum(seek) - seek[0]  # each Seek: forward, and slopes of the hidden values
    per_row += stack.n_seeks * seek_rows + sum(seek) + seek[0]  # gradient of one, slopes by z of one
    return stack.n_members * size * float(per_row)


def fastest(steps: list[Steps], clock: Callable[[], float], rounds: int) -> list[float]:
    """Seconds of a step, the least of some rounds, in turn so that other programs disturb all alike."""
    best = [float("inf")] * len(steps)
    for _ in range(rounds):
        for i, each in enumerate(steps):
            start = clock()
            each.run(STEPS)
            best[i] = min(best[i], (clock() - start) / STEPS)
    return best


def compare(problems: list[Problem], n_threads: int, rounds: int) -> tuple[float, float]:
    """Seconds of a step in torch and in C; on one thread those that the processor worked, on more those that passed."""
    clock = time.thread_time if n_threads == 1 else time.perf_counter
    ours, theirs = problems
    marginal = Marginal(theirs.data.columns, theirs.table, theirs.stack.groups)
    with torch.inference_mode():
        steps: list[Steps] = [eager_steps(theirs, marginal, n_threads), native_steps(ours, n_threads)]
        in_torch, in_c = fastest(steps, clock, rounds)
        for each in steps:
            each.close()
    return in_torch, in_c


def main() -> None:
    torch.set_num_threads(1)
    rate = matrix_rate() / 2
    print(f"{rate / 1e9:.0f} G multiply-adds a second in a large product on one thread; milliseconds of a step:")
    print(f"{'':50} threads   torch    in C   ratio   times its arithmetic")
    for shape, sizes in SHAPES.items():
        for variant, (path, recipe, rounds) in VARIANTS.items():
            limit = products(make_problem(*sizes, path, recipe)) / rate
            for n_threads in (1, 2):
                problems = [make_problem(*sizes, path, recipe) for _ in range(2)]
                in_torch, in_c = compare(problems, n_threads, rounds)
                print(
                    f"{f'{shape}, {variant}':50} {n_threads:7} {1e3 * in_torch:7.3f} {1e3 * in_c:7.3f}"
                    f" {in_torch / in_c:7.1f} {n_threads * in_c / limit:7.1f}",
                    flush=True,
                )


if __name__ == "__main__":
    main()
