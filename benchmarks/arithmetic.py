"""How fast this machine multiplies matrices, and how much multiplying a fit and an explanation need."""

from __future__ import annotations

import time
from itertools import pairwise

import numpy as np
import torch

from hideseek.engine.recipe import Recipe


def products(sizes: tuple[int, ...]) -> int:
    """Multiply-adds of one row through a fully connected network."""
    return sum(a * b for a, b in pairwise(sizes))


def training_operations(recipe: Recipe, n_rows: int, n_columns: int, n_outputs: int) -> float:
    """Floating-point operations of a fit: forward, and backward to the weights and to the inputs that need it."""
    hide = products((n_columns, *recipe.hidden_layers, n_columns))
    seek = products((n_columns, *recipe.hidden_layers, n_outputs))
    no_gradient = n_columns * recipe.hidden_layers[0]  # nothing lies before Hide's first layer
    per_row = 2 * (3 * (hide + seek) - no_gradient)
    return float(per_row) * min(recipe.batch_size or n_rows, n_rows) * recipe.steps * recipe.n_members


def explaining_operations(recipe: Recipe, n_rows: int, n_columns: int) -> float:
    """Floating-point operations of the masks of ``n_rows`` rows."""
    return 2.0 * products((n_columns, *recipe.hidden_layers, n_columns)) * n_rows * recipe.n_members


def matrix_rate(size: int = 1024, repeats: int = 12) -> float:
    """Operations per second of a square matrix product in single precision, all threads, best of a few."""
    a, b = torch.rand(2, size, size)
    seconds = []
    for _ in range(repeats):
        start = time.perf_counter()
        torch.mm(a, b)
        seconds.append(time.perf_counter() - start)
    return 2 * size**3 / float(np.min(seconds))
