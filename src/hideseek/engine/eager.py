"""Training steps operation by operation, in preallocated buffers."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from functools import partial
from itertools import pairwise
from typing import NamedTuple

import torch
from torch import Tensor

from hideseek.engine.batches import Batches, Window
from hideseek.engine.conditional import Conditional
from hideseek.engine.draws import Draws, batch_cells
from hideseek.engine.hideseek import HideSeek, Rows
from hideseek.engine.networks import Layer
from hideseek.engine.objective import PREDICTION_LOSSES
from hideseek.engine.replacement import Replacement
from hideseek.engine.steps import Problem, Steps

__all__ = ["BigSteps", "Shard", "SmallSteps", "cut", "eager_steps"]

_AHEAD_CELLS = 2**17
"""Cells drawn in one call: enough to spread the overhead over several steps, few enough to stay in cache."""

_SHARD_CELLS = {"cpu": 2**18, "cuda": 2**26}
"""Cells of the widest layer that are processed at a time; this bounds the buffers for tables of any size."""

_FEWEST_ROWS = 256
_MOST_CHUNKS = 16


def eager_steps(problem: Problem, replacement: Replacement, n_threads: int = 1) -> SmallSteps | BigSteps:
    """Return the implementation of ``Steps`` that suits the size of this problem and its device."""
    shards = cut(problem, _SHARD_CELLS[problem.seeds.device.type])
    if problem.seeds.device.type == "cpu" and len(shards) == len(shards[0].blocks) == 1:
        return SmallSteps(problem, replacement, n_threads)
    return BigSteps(problem, replacement, shards, n_threads)


class SmallSteps(Steps):
    """Runs a step as a whole; the rows of several steps are drawn at a time, by a second thread if there is one.

    Drawing several steps ahead is slow enough to pay for a second thread; the other operations are too short.
    """

    def __init__(self, problem: Problem, replacement: Replacement, n_threads: int = 1) -> None:
        super().__init__(problem, n_chunks=1)
        self._layers = _layers(problem, self._gradients[0], slice(None))
        row_loss, size = PREDICTION_LOSSES[problem.loss], problem.batch_size
        pull = problem.recipe.logit_pull
        self._objective = HideSeek(problem.stack, row_loss, problem.stack.n_members, size, size, pull)
        n_columns = problem.stack.hide.sizes[0]
        n_ahead = max(1, min(_AHEAD_CELLS // (problem.stack.n_members * n_columns * size), problem.recipe.steps))
        self._sources = [_Source(problem, replacement, n_ahead) for _ in range(2 if n_threads > 1 else 1)]
        self._done = torch.zeros(1, dtype=torch.int64)
        self._n_ahead = n_ahead
        self._pool = ThreadPoolExecutor(1) if n_threads > 1 else None
        self._coming: Future[list[Rows]] | None = None
        self._rows: Iterator[Rows] = iter(())
        self._sums = self._loss_sum[0], self._mask_sum[0]

    def close(self) -> None:
        """Stop the drawing thread."""
        if self._pool is not None:
            self._pool.shutdown()

    def run(self, n_steps: int) -> None:
        """See ``Steps.run``."""
        loss_sum, mask_sum = self._sums
        for _ in range(n_steps):
            rows = next(self._rows, None)
            if rows is None:
                self._rows = iter(self._drawn_ahead())
                rows = next(self._rows)
            loss, mask = self._objective.gradient(*self._layers, rows)
            loss_sum += loss
            mask_sum += mask
            self._move()

    def _drawn_ahead(self) -> list[Rows]:
        if self._pool is None:
            return self._draw()
        rows = (self._coming or self._pool.submit(self._draw)).result()
        more = bool(self._done < self._problem.recipe.steps)
        self._coming = self._pool.submit(self._draw) if more else None
        return rows

    @torch.inference_mode()
    def _draw(self) -> list[Rows]:
        """Return the rows of the next steps.

        Two sources alternate, since the rows of the last call are still in use.
        """
        source = self._sources[0]
        self._sources.reverse()
        rows = source.after(self._done)
        self._done += self._n_ahead
        return rows


class _Source:
    """Draws the batches and replacements of several steps into its own buffers."""

    def __init__(self, problem: Problem, replacement: Replacement, n_ahead: int) -> None:
        self._replacement = replacement
        self._batches = Batches(problem, n_ahead)
        (n_members, n_features), n_columns = problem.visible.shape, problem.stack.hide.sizes[0]
        cells = batch_cells(n_features, problem.batch_size, problem.batch_size, 1, problem.seeds.device)
        self._draws = Draws(cells, n_ahead * n_members)
        self._shown = problem.data.X.new_empty(n_ahead, n_members, n_columns, problem.batch_size)

    def after(self, done: Tensor) -> list[Rows]:
        """Return the rows of each of the next steps. Shape: ``done (1,)``, int64."""
        x, target, weight, keys, price, u, selected = self._batches.after(done)
        flat = x[:, :, :-1].flatten(0, 1)
        x_hat = self._replacement.draw(keys.flatten(0, 1), flat, self._draws).view(self._shown.shape)
        torch.sub(x[:, :, :-1], x_hat, out=self._shown)
        weights, *others = ([None] * len(x) if part is None else part.unbind() for part in (weight, u, selected))
        whole = (part.unbind() for part in (x, x_hat, self._shown, target))
        conditional = [_conditional(self._replacement)] * len(x)
        return [Rows(*part) for part in zip(*whole, weights, price.unbind(), *others, conditional, strict=True)]


class Shard(NamedTuple):
    """A share of a step's work: some members, and some rows of their batches in blocks.

    Shards with the same chunk number have different members. Where members have two Seeks, a block indexes half of the
    batch and means these rows of both halves.
    """

    members: slice
    chunk: int
    blocks: list[slice]


def cut(problem: Problem, part_cells: int) -> list[Shard]:
    """Cut a step into shards.

    The order in which gradients of rows are added depends neither on the number of members nor on the threads.
    """
    n_seeks = problem.stack.n_seeks
    n_rows = problem.batch_size // n_seeks
    width = n_seeks**2 * max(*problem.stack.hide.sizes, *problem.stack.seek.sizes)  # each Seek sees the rows of all
    bounds = _bounds(n_rows, min(n_rows, max(_FEWEST_ROWS, part_cells // width)))
    blocks = [slice(a, b) for a, b in pairwise(bounds)]
    chunks = _bounds(len(blocks), -(-len(blocks) // _MOST_CHUNKS))
    members = _bounds(problem.stack.n_members, max(1, part_cells // (width * bounds[1])))
    return [
        Shard(slice(first, last), chunk, blocks[start:stop])
        for first, last in pairwise(members)
        for chunk, (start, stop) in enumerate(pairwise(chunks))
    ]


def _bounds(total: int, most: int) -> list[int]:
    """Return the bounds that cut a range into the fewest nearly equal pieces of at most ``most``."""
    pieces = -(-total // most)
    return [total * i // pieces for i in range(pieces + 1)]


class BigSteps(Steps):
    """Cuts a step into shards, which several threads take in turn."""

    def __init__(self, problem: Problem, replacement: Replacement, shards: list[Shard], n_threads: int = 1) -> None:
        super().__init__(problem, n_chunks=1 + max(shard.chunk for shard in shards))
        self._batches = Batches(problem, n_ahead=1)
        self._done = torch.zeros(1, dtype=torch.int64, device=problem.seeds.device)
        self._jobs = [
            _Job(shard, problem, replacement, self._gradients[shard.chunk], *self._sums_of(shard)) for shard in shards
        ]
        self._spaces = [_Workspace(problem) for _ in range(min(n_threads, len(shards)))]
        self._pool = ThreadPoolExecutor(len(self._spaces)) if len(self._spaces) > 1 else None

    def _sums_of(self, shard: Shard) -> tuple[Tensor, Tensor]:
        return self._loss_sum[shard.chunk, shard.members], self._mask_sum[shard.chunk, shard.members]

    def close(self) -> None:
        """Stop the threads."""
        if self._pool is not None:
            self._pool.shutdown()

    def run(self, n_steps: int) -> None:
        """See ``Steps.run``."""
        for _ in range(n_steps):
            window = self._batches.after(self._done)
            waiting = iter(self._jobs)  # shared: each thread takes the next job
            if self._pool is None:
                _work(waiting, window, self._spaces[0])
            else:
                deque(self._pool.map(partial(_work, waiting, window), self._spaces), maxlen=0)
            self._done += 1
            self._move()


class _Workspace:
    """The buffers of one thread, one set for each block size."""

    def __init__(self, problem: Problem) -> None:
        self._problem = problem
        self._sets: dict[tuple[int, int], tuple[HideSeek, Draws]] = {}

    def of(self, n_members: int, n_rows: int) -> tuple[HideSeek, Draws]:
        """Return the objective for this many members and rows, and the draws of the cells of as many first rows."""
        if (n_members, n_rows) not in self._sets:
            problem, size = self._problem, self._problem.batch_size
            row_loss, pull = PREDICTION_LOSSES[problem.loss], problem.recipe.logit_pull
            objective = HideSeek(problem.stack, row_loss, n_members, n_rows, size, pull)
            n_features, device = problem.visible.shape[1], problem.seeds.device
            cells = batch_cells(n_features, size, n_rows, problem.stack.n_seeks, device)
            self._sets[n_members, n_rows] = objective, Draws(cells, n_members)
        return self._sets[n_members, n_rows]


class _Job:
    """One shard of every step, and the tensors its results are written to."""

    def __init__(
        self,
        shard: Shard,
        problem: Problem,
        replacement: Replacement,
        gradient: Tensor,
        loss_sum: Tensor,
        mask_sum: Tensor,
    ) -> None:
        self._members, _, self._blocks = shard
        self._n_seeks = problem.stack.n_seeks
        self._layers = _layers(problem, gradient, shard.members)
        self._replacement = replacement.part(shard.members)
        self._loss_sum, self._mask_sum = loss_sum, mask_sum

    def run(self, window: Window, space: _Workspace) -> None:
        """Fill the gradient and add the losses of one step."""
        keys, price = window.keys[0, self._members], window.price[0, self._members]
        for number, rows in enumerate(self._blocks):
            x, target = self._block(window.x, rows), self._block(window.target, rows)
            weight = None if window.weight is None else self._block(window.weight, rows)
            objective, draws = space.of(x.shape[0], x.shape[2])
            # A cell's number is added to its key, and so is the offset of the block's first row.
            block_keys = torch.stack((keys[:, 0] + rows.start, keys[:, 1]), dim=1)
            x_hat = self._replacement.draw(block_keys, x[:, :-1], draws)
            own_price, u = price, None
            if window.u is not None:
                own_price, u = self._block(window.price, rows), self._block(window.u, rows)
            selected = None if window.selected is None else self._block(window.selected, rows)
            shown, conditional = x[:, :-1] - x_hat, _conditional(self._replacement)
            parts = Rows(x, x_hat, shown, target, weight, own_price, u, selected, conditional)
            loss, mask = objective.gradient(*self._layers, parts, add=number > 0)
            self._loss_sum += loss
            self._mask_sum += mask

    def _block(self, values: Tensor, rows: slice) -> Tensor:
        """Return these rows of the batch, or of both halves of it.

        Shape: ``(1, members, ..., rows)`` -> without the first axis.
        """
        return torch.unflatten(values[0, self._members], -1, (self._n_seeks, -1))[..., rows].flatten(-2)


def _conditional(replacement: Replacement) -> Conditional | None:
    """Return the replacement if it needs the mask, which is known only after Hide has answered."""
    return replacement if isinstance(replacement, Conditional) else None


@torch.inference_mode()
def _work(waiting: Iterator[_Job], window: Window, space: _Workspace) -> None:
    for job in waiting:
        job.run(window, space)


def _layers(problem: Problem, gradient: Tensor, members: slice) -> tuple[list[Layer], list[Layer]]:
    """Return the layers of Hide and of Seek of some members. Shape: ``gradient``, as the weights of all members."""
    stack = problem.stack

    def own(matrix: Tensor) -> Tensor:
        return torch.unflatten(matrix, 0, (stack.n_members, -1))[members].flatten(0, 1)

    hide, seek = (
        [Layer.of(own(matrix), own(slope)) for matrix, slope in zip(*network, strict=True)]
        for network in zip(stack.matrices(stack.parameters), stack.matrices(gradient), strict=True)
    )
    return hide, seek
