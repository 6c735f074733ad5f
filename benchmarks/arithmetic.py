"""How fast this machine multiplies matrices, and how much multiplying a fit and an explanation need."""

from __future__ import annotations

import time
from collections.abc import Callable
from itertools import pairwise
from math import ceil

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


def path_limits(recipe: Recipe, n_inputs: int, n_features: int, n_outputs: int) -> tuple[float, float]:
    """Floating-point operations of a fit for one range of prices, and the bytes of memory that it moves at least.

    A row passes Hide and the Seek that learns from it forward and backward, and the other Seek forward and backward to
    its inputs. Weights and Adam's two moments are read and written, and each row and its replacement are read.
    """
    hide = products((n_inputs, *recipe.hidden_layers, 2 * n_features))
    seek = products((n_inputs + 1, *recipe.hidden_layers, n_outputs))
    first = (2 * n_inputs + 1) * recipe.hidden_layers[0]  # nothing lies before the first layers of those that learn
    rows = float(recipe.batch_size or 0) * recipe.steps * recipe.n_members
    n_bytes = 24.0 * (hide + 2 * seek) * recipe.steps * recipe.n_members + 8.0 * n_inputs * rows
    return 2.0 * (3 * hide + 5 * seek - first) * rows, n_bytes


def explaining_operations(recipe: Recipe, n_rows: int, n_columns: int) -> float:
    """Floating-point operations of the masks of ``n_rows`` rows."""
    n_answering = ceil(recipe.kept_fraction * recipe.n_members)
    return 2.0 * products((n_columns, *recipe.hidden_layers, n_columns)) * n_rows * n_answering


def matrix_rate(size: int | None = None, device: torch.device | str = "cpu", repeats: int = 12) -> float:
    """Operations per second of a square matrix product, all threads or the whole GPU, best of a few.

    In single precision; on a GPU with factors in half precision, as the fused kernel has them.
    """
    on_gpu = torch.device(device).type == "cuda"
    size = size or (8192 if on_gpu else 1024)
    a, b = torch.rand(2, size, size, device=device, dtype=torch.float16 if on_gpu else torch.float32)
    return 2 * size**3 / _fastest(lambda: torch.mm(a, b), repeats, on_gpu)


def copy_rate(device: torch.device | str = "cpu", repeats: int = 12) -> float:
    """Bytes per second, read or written, of copying a tensor that no cache holds, best of a few."""
    on_gpu = torch.device(device).type == "cuda"
    source = torch.zeros(2**28 if on_gpu else 2**26, device=device)
    copy = torch.empty_like(source)
    return 2 * 4 * source.numel() / _fastest(lambda: copy.copy_(source), repeats, on_gpu)


def upload_rate(device: torch.device | str, repeats: int = 12) -> float:
    """Bytes per second of copying an array to a device, best of a few."""
    array = torch.zeros(2**26)
    return 4 * array.numel() / _fastest(lambda: array.to(device), repeats, True)


def _fastest(function: Callable[[], object], repeats: int, on_gpu: bool) -> float:
    """Seconds of the fastest call."""
    seconds = []
    for _ in range(repeats):
        start = time.perf_counter()
        function()
        if on_gpu:
            torch.cuda.synchronize()
        seconds.append(time.perf_counter() - start)
    return float(np.min(seconds))


def device_name(device: torch.device) -> str:
    """What the device calls itself."""
    if device.type == "cuda":
        return torch.cuda.get_device_name(device)
    return f"CPU, {torch.get_num_threads()} threads"
