"""The draws, forward pass and gradient of a step as one GPU kernel.

Operation by operation, every layer's values are written to GPU memory and read back; here a tile of rows stays in the
registers from its draw to its gradient. ``BigSteps`` is the reference implementation that the kernel is tested against.
"""

from __future__ import annotations

import torch
import triton
from torch import Tensor
from triton.runtime.errors import OutOfResources

from hideseek.engine import kernels
from hideseek.engine.draws import Draws, Keys, Stream, all_cells
from hideseek.engine.replacement import Marginal
from hideseek.engine.steps import Problem, Steps

__all__ = ["FusedMarginal", "FusedSteps", "TooSmallCardError", "pays"]

_WIDEST, _WIDEST_HIDDEN = 64, 32
"""Largest number of columns and of hidden units whose buffers fit into the shared memory of a large GPU."""

_WORTH_COMPILING = 2**25
"""Rows seen in all of training, over all members, from which the kernel repays its compilation time."""

_CHUNK_ROWS = 1024
_MOST_CHUNKS = 512
_DRAW_BLOCK = 1024

_TILES = ((64, 4), (32, 2))
"""Rows per program, and its warps: the first choice is faster, the second needs less shared memory."""

_PRECISIONS = {"highest": ("tf32x3", "tf32"), "high": ("tf32", "tf32"), "medium": ("tf32", "tf32")}
"""Precision of the products for values and for weight gradients, by torch's matrix product precision.

Tensor cores round factors to 10 bits; "tf32x3" uses three of their products, which gives single precision up to
rounding. A weight's gradient sums over many rows, so that rounding errors average out.
"""


def pays(problem: Problem) -> bool:
    """Return whether the kernel supports this problem, and the problem is large enough to repay compilation.

    Supported: one Seek, two hidden layers, few columns, one column per feature, and class numbers or values as target.
    """
    n_columns, *hidden, _ = problem.stack.hide.sizes
    n_outputs = problem.stack.seek.sizes[-1]
    return (
        problem.recipe.steps * problem.batch_size * problem.stack.n_members >= _WORTH_COMPILING
        and n_columns < _WIDEST
        and problem.stack.n_seeks == 1
        and problem.stack.groups is None
        and problem.stack.price_range is None
        and len(hidden) == 2
        and max(*hidden, n_outputs) <= _WIDEST_HIDDEN
        and problem.data.target.dim() == 2
    )


class TooSmallCardError(Exception):
    """The GPU's shared memory is too small for the kernel."""


class FusedSteps(Steps):
    """Runs everything of a step except Adam in one kernel, one program for each member and chunk of rows.

    Raises:
        TooSmallCardError: The kernel needs more shared memory than the GPU has.
    """

    def __init__(self, problem: Problem) -> None:
        n_chunks = min(-(-problem.batch_size // _CHUNK_ROWS), _MOST_CHUNKS)
        super().__init__(problem, n_chunks)
        recipe, data, device = problem.recipe, problem.data, problem.seeds.device
        n_columns, *hidden, _ = problem.stack.hide.sizes
        n_outputs = problem.stack.seek.sizes[-1]
        values, gradients = _PRECISIONS[torch.get_float32_matmul_precision()]
        self._done = torch.zeros(1, dtype=torch.int64, device=device)
        self._arguments = {
            "X": data.X.contiguous(),
            "target": data.target.contiguous(),
            "weight": data.X if data.weight is None else data.weight.contiguous(),
            "parameters": problem.stack.parameters,
            "prices": problem.price[:, None] * problem.visible,
            "tables": problem.table,
            "batch_keys": Keys(problem.seeds, Stream.BATCH).stream_keys,
            "draw_keys": Keys(problem.seeds, Stream.REPLACEMENT).stream_keys,
            "done": self._done,
            "gradients": self._gradients,
            "loss_sum": self._loss_sum,
            "mask_sum": self._mask_sum,
            "n_members": problem.stack.n_members,
            "n_rows": data.X.shape[1],
            "batch_size": problem.batch_size,
            "chunk_rows": -(-problem.batch_size // n_chunks),
            "n_steps": float(recipe.steps),
            "power": float(recipe.anneal_power),
            "D": n_columns,
            "H1": hidden[0],
            "H2": hidden[1],
            "C": n_outputs,
            "DP": _padded(n_columns + 1),
            "H1P": _padded(hidden[0]),
            "H2P": _padded(hidden[1]),
            "CP": _padded(n_outputs),
            "CLASSES": problem.loss == "cross_entropy",
            "DRAWN": not problem.full_batch,
            "WEIGHTED": data.weight is not None,
            "VALUES": values,
            "GRADIENTS": gradients,
            "num_stages": 1,
        }
        self._grid = (n_chunks, problem.stack.n_members)
        self._tile = self._first_that_fits()

    def _first_that_fits(self) -> dict[str, int]:
        for rows, warps in _TILES:
            tile = {"TILE": rows, "num_warps": warps}
            try:
                kernels.gradient[self._grid](**self._arguments, **tile)
            except OutOfResources:
                continue
            self._loss_sum.zero_()
            self._mask_sum.zero_()
            return tile
        raise TooSmallCardError

    def run(self, n_steps: int) -> None:
        """See ``Steps.run``."""
        for _ in range(n_steps):
            kernels.gradient[self._grid](**self._arguments, **self._tile)
            self._done += 1
            self._move()


class FusedMarginal(Marginal):
    """``Marginal`` with each draw, from key to value, in one kernel."""

    def draw(self, keys: Tensor, x: Tensor, draws: Draws | None = None) -> Tensor:
        """See ``Replacement.draw``."""
        n_keys, n_columns, n_rows = x.shape
        draws = draws or all_cells(keys, n_columns * n_rows)
        out = torch.empty(x.shape, device=x.device)
        grid = (triton.cdiv(n_columns * n_rows, _DRAW_BLOCK), n_keys)
        where = (keys.contiguous(), draws.cells, self._starts, self._values, out)
        kernels.draw[grid](*where, len(self._starts), n_columns, n_rows, self._n_rows, BLOCK=_DRAW_BLOCK)
        return out


def _padded(size: int) -> int:
    """Return the size rounded up to a power of two of at least 16, as tensor cores and the compiler require."""
    return max(16, 1 << (size - 1).bit_length())
