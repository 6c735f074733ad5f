"""Time a training step in C beside the same step in torch, and beside its arithmetic.

Usage: python -m benchmarks.native_step
"""

from __future__ import annotations

import time
from dataclasses import replace
from itertools import pairwise

import numpy as np
import torch

from hideseek.engine.draws import member_seeds
from hideseek.engine.eager import eager_steps
from hideseek.engine.groups import Groups
from hideseek.engine.native import NativeSteps
from hideseek.engine.networks import Mlp
from hideseek.engine.recipe import Recipe
from hideseek.engine.replacement import Marginal
from hideseek.engine.stack import Data, Members, initial_stack
from hideseek.engine.steps import Problem, Steps

CPU = torch.device("cpu")
SHAPES = {  # columns, features, width
    "11 columns": (11, 11, 32),
    "35 columns of 7 features": (35, 7, 32),
    "115 columns of 23 features": (115, 23, 32),
    "11 columns, 64 units": (11, 11, 64),
    "115 columns of 23 features, 64 units": (115, 23, 64),
}
RECIPE = Recipe(steps=2000, batch_size=96, learning_rate=4e-3, cross_fit=True, n_members=10)
ROUNDS, STEPS = 12, 20


def make_problem(columns: int, features: int, width: int, recipe: Recipe = RECIPE, rows: int = 2000) -> Problem:
    recipe = replace(recipe, hidden_layers=(width, width))
    generator = torch.Generator().manual_seed(0)
    X = torch.randn(1, rows, columns, generator=generator)
    groups = Groups.from_widths([columns // features] * features)
    n = recipe.n_members
    members = Members(
        member_seeds(0, n), np.full(n, 0.03), np.ones((n, features), dtype=bool), np.zeros(n, dtype=np.int64)
    )
    hide, seek = Mlp((columns, width, width, features)), Mlp((columns, width, width, 2))
    stack, trainable = initial_stack(hide, seek, members, CPU, recipe.n_seeks, groups)
    seeds, table = torch.from_numpy(members.seeds), torch.from_numpy(members.table)
    price, visible = torch.from_numpy(members.price).float(), torch.from_numpy(members.visible).float()
    data = Data(X, (X[..., 0] * X[..., 1] > 0).long())
    return Problem(recipe, data, "cross_entropy", stack, trainable, seeds, table, price, visible)


def products(problem: Problem) -> float:
    """Multiplications with an addition that a step of all members cannot do without."""
    stack, size = problem.stack, problem.batch_size
    hide, seek = ([a * b for a, b in pairwise(mlp.sizes)] for mlp in (stack.hide, stack.seek))
    per_row = 3 * sum(hide) - hide[0]  # forward, gradient, and slopes of all inputs but the first
    seek_rows = 2 * sum(seek) - seek[0]  # each Seek: forward, and slopes of the hidden values
    per_row += stack.n_seeks * seek_rows + sum(seek) + seek[0]  # gradient of one, slopes by z of one
    return stack.n_members * size * float(per_row)


def fastest(steps: list[Steps], rounds: int = ROUNDS) -> list[float]:
    """Seconds of a step, the least of some rounds, in turn so that other programs disturb all alike."""
    best = [float("inf")] * len(steps)
    for _ in range(rounds):
        for i, each in enumerate(steps):
            start = time.perf_counter()
            each.run(STEPS)
            best[i] = min(best[i], (time.perf_counter() - start) / STEPS)
    return best


def main() -> None:
    torch.set_num_threads(1)
    for name, shape in SHAPES.items():
        with torch.inference_mode():
            problems = [make_problem(*shape) for _ in range(4)]
            replacements = [Marginal(p.data.columns, p.table, p.stack.groups) for p in problems]
            steps: list[Steps] = [eager_steps(problems[i], replacements[i], n_threads=i + 1) for i in range(2)]
            steps += [NativeSteps(problems[i], n_threads=i - 1) for i in range(2, 4)]
            torch_1, torch_2, native_1, native_2 = fastest(steps)
            for each in steps:
                each.close()
        rate = products(problems[0]) / native_1 / 1e9
        print(
            f"{name}: torch {1e3 * torch_1:.3f} / {1e3 * torch_2:.3f} ms (one / two threads), "
            f"native {1e3 * native_1:.3f} / {1e3 * native_2:.3f} ms; ratio {torch_1 / native_1:.1f} / "
            f"{torch_2 / native_2:.1f}; {rate:.1f} G multiply-adds a second on one thread",
            flush=True,
        )


if __name__ == "__main__":
    main()
