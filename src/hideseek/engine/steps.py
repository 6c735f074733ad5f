"""A step of training: the draws, the gradient and the move of all members of a stack."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple, TypeVar

import torch
from torch import Tensor

from hideseek.engine.adam import Adam
from hideseek.engine.draws import Draws, Keys, Stream
from hideseek.engine.hideseek import HideSeek
from hideseek.engine.networks import Layer
from hideseek.engine.objective import PREDICTION_LOSSES, annealed, as_outputs
from hideseek.engine.recipe import Recipe
from hideseek.engine.replacement import Replacement
from hideseek.engine.stack import Data, Stack

__all__ = ["EagerSteps", "Problem", "Steps", "cut"]

_AHEAD_CELLS = 2**17
"""Cells drawn in one go: enough to spread the cost of a call over several steps, few enough to stay in cache."""

_JOB_CELLS = {"cpu": 2**18, "cuda": 2**27}
"""Cells of the widest layer that a job works on at a time: its buffers are bounded, whatever the table."""

_FEWEST_ROWS = 256
_MOST_CHUNKS = 16


@dataclass(frozen=True)
class Problem:
    """What a stack is trained on, all on one device.

    Attributes:
        recipe: Steps, batch, rates.
        data: The tables.
        loss: A name in ``PREDICTION_LOSSES``.
        stack: The members' weights, which training changes in place.
        trainable: 1 for the weights that train, 0 for the others; None: all train. Shape: as the weights.
        seeds: Shape: ``(members,)``, int64.
        table: The table of each member. Shape: ``(members,)``, int64.
        price: What it costs a member to show one feature of one row. Shape: ``(members,)``.
        visible: 1 where a member sees a column. Shape: ``(members, columns)``, float.
    """

    recipe: Recipe
    data: Data
    loss: str
    stack: Stack
    trainable: Tensor | None
    seeds: Tensor
    table: Tensor
    price: Tensor
    visible: Tensor

    @property
    def batch_size(self) -> int:
        """Rows that a member sees in a step."""
        n_rows = self.data.X.shape[1]
        return min(self.recipe.batch_size or n_rows, n_rows)


T = TypeVar("T")


class Steps(ABC):
    """Moves all members, step after step. What a step depends on, its number included, lies on the device.

    The rows of a batch come in chunks; each chunk adds up its own gradient and its own losses.

    Args:
        problem: What is trained, on what.
        n_chunks: Chunks of a batch.
    """

    def __init__(self, problem: Problem, n_chunks: int) -> None:
        like, (n_members, n_columns) = problem.stack.parameters, problem.visible.shape
        self._problem = problem
        self._adam = Adam(like, problem.recipe.learning_rate)
        self._gradients = like.new_empty(n_chunks, len(like))
        self._loss_sum = like.new_zeros(n_chunks, n_members, problem.stack.seek.sizes[-1])
        self._mask_sum = like.new_zeros(n_chunks, n_members, n_columns)

    @abstractmethod
    def run(self, n_steps: int) -> None:
        """Do this many steps."""

    def close(self) -> None:  # noqa: B027 - most have nothing to let go of
        """Let go of what lives beyond a step."""

    def take_losses(self, n_steps: int) -> Tensor:
        """The prediction loss and ||m||_1, means over rows and over the last ``n_steps`` steps, taken once.

        Shape: ``(2, members)``.
        """
        loss = self._loss_sum.sum(dim=(0, 2))
        shown = (self._mask_sum.sum(dim=0) * self._problem.visible).sum(dim=1)
        self._loss_sum.zero_()
        self._mask_sum.zero_()
        return torch.stack((loss, shown)) / (n_steps * self._problem.batch_size)

    def _move(self) -> None:
        """Take the step that the gradients ask for."""
        gradient = self._gradients[0] if len(self._gradients) == 1 else self._gradients.sum(dim=0)
        if self._problem.trainable is not None:
            gradient *= self._problem.trainable
        self._adam.step(gradient)


class Part(NamedTuple):
    """A share of a step's work: some members, and some rows of their batches in blocks.

    The gradients of parts with the same chunk number are of different members.
    """

    members: slice
    chunk: int
    blocks: list[slice]


def cut(n_members: int, n_rows: int, width: int, job_cells: int) -> list[Part]:
    """Cut a step into parts.

    Where a row's gradient is added does not depend on how many members there are, nor on who does the work.
    """
    fewest = min(n_rows, max(_FEWEST_ROWS, job_cells // width))
    bounds = _bounds(n_rows, fewest)
    blocks = [slice(a, b) for a, b in zip(bounds[:-1], bounds[1:], strict=True)]
    chunks = _bounds(len(blocks), -(-len(blocks) // _MOST_CHUNKS))
    members = _bounds(n_members, max(1, job_cells // (width * bounds[1])))
    return [
        Part(slice(first, last), chunk, blocks[start:stop])
        for first, last in zip(members[:-1], members[1:], strict=True)
        for chunk, (start, stop) in enumerate(zip(chunks[:-1], chunks[1:], strict=True))
    ]


def _bounds(total: int, most: int) -> list[int]:
    """Where to cut a range into as few pieces of at most ``most`` as there can be, as even as can be."""
    pieces = -(-total // most)
    return [total * i // pieces for i in range(pieces + 1)]


class _Window(NamedTuple):
    """What a few steps, one after the other, learn from.

    Attributes:
        x: With a row of ones below. Shape: ``(steps, members, columns + 1, rows)``.
        target: Shape: ``(steps, members, outputs, rows)``.
        weight: Shape: ``(steps, members, rows)``.
        keys: Of the replacements. Shape: ``(steps, members, 2)``.
        share: Of the final penalty. Shape: ``(steps,)``.
        x_hat: None: drawn block by block, when its turn comes. Shape: ``(steps, members, columns, rows)``.
    """

    x: Tensor
    target: Tensor
    weight: Tensor | None
    keys: Tensor
    share: Tensor
    x_hat: Tensor | None


class _Batches:
    """The batches of a few steps at a time: all rows in order, or rows drawn with replacement."""

    def __init__(self, problem: Problem, n_ahead: int) -> None:
        data, size, self._n_outputs = problem.data, problem.batch_size, problem.stack.seek.sizes[-1]
        n_members, n_rows, n_columns = len(problem.seeds), *data.X.shape[1:]
        self._data, self._size, device = data, size, data.X.device
        self._whole: tuple[Tensor, Tensor, Tensor | None] | None = None
        if size == n_rows:
            x, target, weight = data.tables(problem.table if len(data.X) > 1 else problem.table[:1])
            x = torch.cat((x, torch.ones_like(x[:, :1])), dim=1)
            parts = (x, target if target.dim() == 3 else as_outputs(target, self._n_outputs), weight)
            x, target, weight = (
                None if part is None else part.expand(n_ahead, n_members, *part.shape[1:]) for part in parts
            )
            self._whole = x, target, weight
            return
        self._x = data.X.new_ones(n_ahead, n_members, n_columns + 1, size)
        self._keys = Keys(problem.seeds, Stream.BATCH)
        self._draws = Draws(torch.arange(size, dtype=torch.int32, device=device), n_ahead * n_members)
        self._first_rows = (problem.table * n_rows)[:, None]
        first_cells = problem.table[:, None] * n_columns + torch.arange(n_columns, device=device)
        self._first_cells = (first_cells * n_rows)[:, :, None]
        self._cells = torch.empty(n_ahead, n_members, n_columns, size, dtype=torch.int64, device=device)
        self._values = torch.empty_like(self._cells, dtype=data.X.dtype)

    def at(self, steps: Tensor) -> tuple[Tensor, Tensor, Tensor | None]:
        """x, target and weight at these steps, in buffers that are used again. Shape: as in ``_Window``."""
        if self._whole is not None:
            return self._whole
        rows = self._draws.integers(self._keys.at(steps).flatten(0, 1), self._data.X.shape[1])
        rows = rows.view(len(steps), -1, self._size)
        torch.add(rows[:, :, None], self._first_cells, out=self._cells)
        torch.index_select(self._data.columns.view(-1), 0, self._cells.view(-1), out=self._values.view(-1))
        self._x[:, :, :-1] = self._values
        flat = (rows + self._first_rows).view(-1)
        target, weight = (
            None if values is None else values.flatten(0, 1).index_select(0, flat).view(*rows.shape, *values.shape[2:])
            for values in (self._data.target, self._data.weight)
        )
        outputs = target.transpose(2, 3) if target.dim() == 4 else as_outputs(target, self._n_outputs)
        return self._x, outputs.contiguous(), weight


class _Workspace:
    """The buffers of one thread, one set for each size of a block."""

    def __init__(self, problem: Problem) -> None:
        self._problem = problem
        self._objectives: dict[tuple[int, int], HideSeek] = {}
        self._draws: dict[tuple[int, int], Draws] = {}

    def objective(self, n_members: int, n_rows: int) -> HideSeek:
        """For this many members and rows."""
        if (n_members, n_rows) not in self._objectives:
            problem = self._problem
            objective = HideSeek(problem.stack, PREDICTION_LOSSES[problem.loss], n_members, n_rows)
            self._objectives[n_members, n_rows] = objective
        return self._objectives[n_members, n_rows]

    def draws(self, n_keys: int, n_rows: int) -> Draws:
        """Of the first rows of a batch, column after column."""
        if (n_keys, n_rows) not in self._draws:
            n_columns, device = self._problem.visible.shape[1], self._problem.seeds.device
            cells = torch.arange(n_columns * self._problem.batch_size, dtype=torch.int32, device=device)
            self._draws[n_keys, n_rows] = Draws(cells.view(n_columns, -1)[:, :n_rows].flatten(), n_keys)
        return self._draws[n_keys, n_rows]


class _Job:
    """A part of every step, and where its results go."""

    def __init__(
        self, part: Part, problem: Problem, replacement: Replacement, gradients: Tensor, sums: tuple[Tensor, Tensor]
    ) -> None:
        self._members, chunk, self._blocks = part
        networks = zip(*map(problem.stack.matrices, (problem.stack.parameters, gradients[chunk])), strict=True)
        self._hide, self._seek = (
            [Layer.of(a[self._members], b[self._members]) for a, b in zip(*network, strict=True)]
            for network in networks
        )
        self._loss_sum, self._mask_sum = (part[chunk, self._members] for part in sums)
        self._replacement = replacement.part(self._members)
        self._row_share = 1 / problem.batch_size
        price = problem.price[self._members, None] * problem.visible[self._members]
        self._price = price[:, :, None] * self._row_share

    def run(self, window: _Window, i: int, space: _Workspace) -> None:
        """Fill the gradient, and add the losses, of step ``i`` of the window."""
        price = self._price * window.share[i]
        for number, rows in enumerate(self._blocks):
            x = window.x[i, self._members, :, rows]
            if window.x_hat is None:
                x_hat = self._draw(window.keys[i, self._members], x[:, :-1], rows.start, space)
            else:
                x_hat = window.x_hat[i]
            target = window.target[i, self._members, :, rows]
            weight = None if window.weight is None else window.weight[i, self._members, rows]
            objective = space.objective(x.shape[0], x.shape[2])
            loss, mask = objective.gradient(
                self._hide, self._seek, (x, target, weight), x_hat, price, self._row_share, add=number > 0
            )
            self._loss_sum += loss
            self._mask_sum += mask

    def _draw(self, keys: Tensor, x: Tensor, first_row: int, space: _Workspace) -> Tensor:
        if first_row:  # a cell's number is added to its key: so is the number of the first row
            keys = torch.stack((keys[:, 0] + first_row, keys[:, 1]), dim=1)
        return self._replacement.draw(keys, x, space.draws(len(keys), x.shape[2]))


class _Windows:
    """Draws the windows one after the other, ahead of their time where a thread is at hand."""

    def __init__(self, problem: Problem, replacement: Replacement | None, n_ahead: int) -> None:
        self._problem, self._replacement = problem, replacement
        self._ahead = torch.arange(n_ahead, device=problem.seeds.device)
        self._done = torch.zeros(1, dtype=torch.int64, device=problem.seeds.device)
        self._keys = Keys(problem.seeds, Stream.REPLACEMENT)
        self._slots = [(_Batches(problem, n_ahead), _Workspace(problem)) for _ in range(2 if replacement else 1)]

    def draw(self) -> _Window:
        """The next window, in buffers that the one after the next uses again."""
        batches, space = self._slots[0]
        self._slots.reverse()
        steps, recipe = self._done + self._ahead, self._problem.recipe
        keys, share = self._keys.at(steps), annealed(steps + 1, recipe.steps, recipe.anneal_power).float()
        x, target, weight = batches.at(steps)
        x_hat = None
        if self._replacement is not None:
            rows, flat = x[:, :, :-1].flatten(0, 1), keys.flatten(0, 1)
            x_hat = self._replacement.draw(flat, rows, space.draws(len(flat), rows.shape[2])).unflatten(0, x.shape[:2])
        self._done += len(steps)
        return _Window(x, target, weight, keys, share, x_hat)


class EagerSteps(Steps):
    """Operation by operation, in parts of bounded size, which the threads share among themselves."""

    def __init__(self, problem: Problem, replacement: Replacement, n_threads: int = 1) -> None:
        stack, batch_size = problem.stack, problem.batch_size
        device = stack.parameters.device.type
        job_cells = _JOB_CELLS[device]
        parts = cut(stack.n_members, batch_size, max(*stack.hide.sizes, *stack.seek.sizes), job_cells)
        super().__init__(problem, n_chunks=1 + max(part.chunk for part in parts))
        sums = (self._loss_sum, self._mask_sum)
        self._jobs = [_Job(part, problem, replacement, self._gradients, sums) for part in parts]
        self._spaces = [_Workspace(problem) for _ in range(min(n_threads, len(parts)))]
        small = len(parts) == len(parts[0].blocks) == 1
        ahead = _AHEAD_CELLS // (problem.visible.numel() * batch_size) if small and device == "cpu" else 1
        self._n_ahead = max(1, ahead)
        self._windows = _Windows(problem, replacement if small else None, self._n_ahead)
        self._pool = ThreadPoolExecutor(n_threads) if n_threads > 1 else None
        self._coming: Future[_Window] | None = None
        self._next = self._n_ahead

    def close(self) -> None:
        """Let go of the threads."""
        if self._pool is not None:
            self._pool.shutdown()

    def run(self, n_steps: int) -> None:
        """As ``Steps.run``."""
        for _ in range(n_steps):
            if self._next == self._n_ahead:
                self._window, self._next = self._next_window(), 0
            self._work(self._window, self._next)
            self._move()
            self._next += 1

    def _next_window(self) -> _Window:
        if self._pool is None or self._n_ahead == 1:
            return self._windows.draw()
        coming = self._coming or self._pool.submit(in_inference_mode, self._windows.draw)
        window = coming.result()
        self._coming = self._pool.submit(in_inference_mode, self._windows.draw)
        return window

    def _work(self, window: _Window, i: int) -> None:
        """All jobs of a step: each thread takes the next that no other has."""
        if self._pool is None or len(self._spaces) == 1:
            for job in self._jobs:
                job.run(window, i, self._spaces[0])
            return
        waiting = iter(self._jobs)  # next() is one operation, which threads cannot share

        def work(space: _Workspace) -> None:
            for job in waiting:
                job.run(window, i, space)

        deque(self._pool.map(partial(in_inference_mode, work), self._spaces), maxlen=0)


def in_inference_mode(function: Callable[..., T], *arguments: Any) -> T:
    """Call a function on another thread: the mode is a setting of the thread."""
    with torch.inference_mode():
        return function(*arguments)
