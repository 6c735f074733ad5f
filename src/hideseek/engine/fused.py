"""The draws, forward pass and gradient of a step as one GPU kernel, and Adam as another.

Operation by operation, every layer's values are written to GPU memory and read back; here a tile of rows stays in the
registers from its draw to its gradient. ``BigSteps`` is the reference implementation that the kernel is tested against.
"""

from __future__ import annotations

from typing import Any

import torch
import triton
from torch import Tensor
from triton.runtime.errors import OutOfResources

from hideseek.engine import kernel_draws, kernels
from hideseek.engine.batches import own_rows
from hideseek.engine.draws import Draws, Keys, Stream, all_cells
from hideseek.engine.path import FARTHEST_LOGIT
from hideseek.engine.replacement import Marginal
from hideseek.engine.steps import Problem, Steps

__all__ = ["FusedMarginal", "FusedSteps", "TooSmallCardError", "fused_steps", "pays"]

_WIDEST = ((128, 32), (64, 64))
"""Pairs of the largest number of Seek's inputs with the bias, and of hidden units and outputs, of which one must hold.

Wider layers leave the registers, and what Triton 3.6 compiles for them is wrong (see ``_TILES``).
"""

_WORTH_COMPILING = 2**25
"""Rows seen in all of training, over all members, from which the kernel repays its compilation time."""

_CHUNK_ROWS = 1024
_MOST_CHUNKS = 512
_DRAW_BLOCK = 1024
_ADAM_BLOCK = 1024

_TILES = {32: (64, 32, 16), 64: (32, 16), 128: (16,)}
"""Rows that a program works on at a time, by the width of the widest layer: the first are the fastest, the others need
less shared memory.

With more rows or wider layers Triton 3.6 compiles some products to wrong instructions (wgmma): where the second factor
is stored row by row, and has 32 columns and 64 rows or more, or 128 columns.
"""

_ALONE = 4
"""Tiles of a Seek's rows up to which each is a chunk of its own, whose gradients need not be kept in registers."""

_FACTORS = triton.language.float16
"""Precision of factors. A weight's gradient sums over many rows, so that rounding errors of the backward pass average
out. In the forward pass three products make up for them, unless torch is set to a lower precision of products."""


def pays(problem: Problem) -> bool:
    """Return whether the kernel supports this problem, and the problem is large enough to repay compilation.

    Supported: two hidden layers of at most 32 units and at most 127 columns, 126 for a range of prices; or of at most
    64 units and at most 63 and 62 columns.
    """
    n_inputs, n_units = _n_inputs(problem), max(problem.stack.seek.sizes[1:])
    return (
        problem.recipe.steps * problem.batch_size * problem.stack.n_members >= _WORTH_COMPILING
        and len(problem.stack.seek.sizes) == 4
        and any(n_inputs <= most_inputs and n_units <= most_units for most_inputs, most_units in _WIDEST)
    )


class TooSmallCardError(Exception):
    """The GPU's shared memory is too small for the kernel."""


def fused_steps(problem: Problem) -> FusedSteps:
    """Return the fused steps with the largest tiles that the GPU's shared memory has room for.

    Raises:
        TooSmallCardError: There is room for none.
    """
    rows_of_seek = problem.batch_size // problem.stack.n_seeks
    tiles = next(tiles for width, tiles in _TILES.items() if _width(problem) <= width)
    for tile_rows in (rows for rows in tiles if rows <= _padded(rows_of_seek)):
        try:
            return FusedSteps(problem, tile_rows)
        except OutOfResources:
            continue
    raise TooSmallCardError


class FusedSteps(Steps):
    """Runs a step as two kernels: the gradient, one program for each member and chunk of rows, and Adam.

    Where members have two Seeks, a chunk has rows of one half of the batch.

    Args:
        problem: The stack to train, and its data.
        tile_rows: Rows that a program works on at a time: a power of two, at least 16.

    Raises:
        OutOfResources: The kernel needs more shared memory than the GPU has.
    """

    def __init__(self, problem: Problem, tile_rows: int) -> None:
        n_seeks = problem.stack.n_seeks
        rows_of_seek = problem.batch_size // n_seeks
        most_rows = tile_rows if rows_of_seek <= _ALONE * tile_rows else _CHUNK_ROWS
        chunks_of_seek = min(-(-rows_of_seek // most_rows), _MOST_CHUNKS)
        chunk_rows = -(-rows_of_seek // chunks_of_seek)
        super().__init__(problem, n_seeks * chunks_of_seek)
        self._gradients.zero_()  # a chunk writes only those of the Seek that learns from it
        self._done = torch.zeros(1, dtype=torch.int64, device=problem.seeds.device)
        self._grid = (n_seeks * chunks_of_seek, problem.stack.n_members)
        schedule = self._schedule().to(self._done.device)
        self._arguments = {
            **_tensors(problem),
            **_sizes(problem),
            **_variant(problem),
            "schedule": schedule,
            "done": self._done,
            "gradients": self._gradients,
            "loss_sum": self._loss_sum,
            "mask_sum": self._mask_sum,
            "chunk_rows": chunk_rows,
            "TILE": tile_rows,
            "ONE_TILE": chunk_rows <= tile_rows,
            "num_warps": tile_rows // 16 if _width(problem) <= 32 else 4,
            "num_stages": 1,
        }
        weights, adam = problem.stack.parameters, self._adam
        self._adam_grid = (triton.cdiv(len(weights), _ADAM_BLOCK),)
        self._of_adam = {
            "parameters": weights,
            "gradients": self._gradients,
            "trainable": weights if problem.trainable is None else problem.trainable,
            "mean": adam.mean,
            "square": adam.square,
            "schedule": schedule,
            "done": self._done,
            "size": len(weights),
            "n_chunks": len(self._gradients),
            "beta1": adam.beta1,
            "beta2": adam.beta2,
            "epsilon": adam.epsilon,
            "SOME_TRAIN": problem.trainable is not None,
            "BLOCK": _ADAM_BLOCK,
        }
        self._launch()  # compiles
        self._loss_sum.zero_()
        self._mask_sum.zero_()

    def _launch(self) -> None:
        kernels.gradient[self._grid](**self._arguments)

    def run(self, n_steps: int) -> None:
        """See ``Steps.run``."""
        for _ in range(n_steps):
            self._launch()
            kernels.adam[self._adam_grid](**self._of_adam)
            self._done += 1


def _tensors(problem: Problem) -> dict[str, Tensor]:
    """Return what the kernel reads; in place of a part that a problem does not have, any tensor."""
    data, stack, seeds = problem.data, problem.stack, problem.seeds
    X = data.X.contiguous()
    path = stack.price_range is not None
    return {
        "X": X,
        "target": data.target.contiguous(),
        "weight": X if data.weight is None else data.weight.contiguous(),
        "selected": X if data.selected is None else data.selected.contiguous(),
        "own_rows": own_rows(problem).int() if _has_own_rows(problem) else problem.table,
        "feature_of": problem.table if stack.groups is None else stack.groups.feature,
        "parameters": stack.parameters,
        "prices": problem.visible if path else problem.price[:, None] * problem.visible,
        "log_prices": X if stack.price_range is None else stack.price_range.contiguous(),
        "tables": problem.table,
        "batch_keys": Keys(seeds, Stream.BATCH).stream_keys,
        "draw_keys": Keys(seeds, Stream.REPLACEMENT).stream_keys,
        "price_keys": Keys(seeds, Stream.PRICE).stream_keys,
    }


def _sizes(problem: Problem) -> dict[str, float]:
    """Return the numbers for which the kernel is not compiled anew."""
    stack, recipe = problem.stack, problem.recipe
    return {
        "n_members": stack.n_members,
        "n_rows": problem.data.X.shape[1],
        "n_own": problem.n_learned // stack.n_seeks,
        "batch_size": problem.batch_size,
        "farthest_logit": FARTHEST_LOGIT,
        "logit_pull": recipe.logit_pull,
    }


def _variant(problem: Problem) -> dict[str, Any]:
    """Return what the kernel is compiled for, beside the tiles."""
    stack, data = problem.stack, problem.data
    hidden, n_outputs = stack.seek.sizes[1:-1], stack.seek.sizes[-1]
    kinds = {"squared_error": "values"} if data.target.dtype != torch.int64 else {}
    return {
        "D": stack.hide.sizes[0],
        "F": problem.visible.shape[1],
        "H1": hidden[0],
        "H2": hidden[1],
        "C": n_outputs,
        "HIDE": stack.hide.n_parameters,
        "DP": _padded(_n_inputs(problem)),
        "H1P": _padded(hidden[0]),
        "H2P": _padded(hidden[1]),
        "CP": _padded(n_outputs),
        "SEEKS": stack.n_seeks,
        "PATH": stack.price_range is not None,
        "GROUPS": stack.groups is not None,
        "TARGET": kinds.get(problem.loss, "probabilities" if data.target.dim() == 3 else "numbers"),
        "DRAWN": not problem.full_batch,
        "OWN_ROWS": _has_own_rows(problem),
        "WEIGHTED": data.weight is not None,
        "SETTLED": data.selected is not None,
        "EXACT": torch.get_float32_matmul_precision() == "highest",
        "LOW": _FACTORS,
    }


def _width(problem: Problem) -> int:
    """Return the width of the widest layer."""
    return max(_n_inputs(problem), *problem.stack.seek.sizes[1:])


def _has_own_rows(problem: Problem) -> bool:
    """Return whether a Seek learns from some rows of its table only."""
    return problem.stack.n_seeks > 1 or problem.fold is not None


class FusedMarginal(Marginal):
    """``Marginal`` with each draw, from key to value, in one kernel."""

    def draw(self, keys: Tensor, x: Tensor, draws: Draws | None = None) -> Tensor:
        """See ``Replacement.draw``."""
        n_keys, n_columns, n_rows = x.shape
        draws = draws or all_cells(keys, n_columns * n_rows)
        out = torch.empty(x.shape, device=x.device)
        grid = (triton.cdiv(n_columns * n_rows, _DRAW_BLOCK), n_keys)
        where = (keys.contiguous(), draws.cells, self._starts, self._values, out)
        kernel_draws.draw[grid](*where, len(self._starts), n_columns, n_rows, self._n_rows, BLOCK=_DRAW_BLOCK)
        return out


def _n_inputs(problem: Problem) -> int:
    """Return the inputs of Seek's first layer and a one, by which the bias is multiplied."""
    return problem.stack.seek.sizes[0] + 1


def _padded(size: int) -> int:
    """Return the size rounded up to a power of two of at least 16, as tensor cores and the compiler require."""
    return max(16, 1 << (size - 1).bit_length())
