"""Training steps by the compiled library; each thread works on one member at a time."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from ctypes import byref, c_int64
from functools import partial

import torch
from torch import Tensor

from hideseek.engine.batches import own_rows
from hideseek.engine.draws import Keys, Stream
from hideseek.engine.native.library import Task, load
from hideseek.engine.native.task import describe, fits, give
from hideseek.engine.path import FARTHEST_LOGIT
from hideseek.engine.steps import Problem, Steps

__all__ = ["NativeSteps", "native_available", "suits"]

_MOST_PRODUCTS = 4e8
"""Multiplications in one call: less than a fifth of a second on a slow processor, so that Ctrl-C takes effect."""

_CELLS_OF_A_THREAD = 2**18
"""Cells of the widest layer that torch assigns to one thread."""

_GAIN = 2.5
"""Lower bound of the speed of a thread relative to torch."""

_CLASS_NUMBERS, _CLASS_PROBABILITIES, _VALUES = range(3)


def native_available() -> bool:
    """Return whether the library was compiled and is not disabled by HIDESEEK_NATIVE=0."""
    return load() is not None


def suits(problem: Problem, n_threads: int = 1) -> bool:
    """Return whether the library supports this problem and is faster than torch.

    Supported: a CPU, drawn batches, one to seven hidden layers and replacements from the marginals. Each thread takes
    a member; few members with many rows are left to torch, which can use more threads for them.
    """
    stack = problem.stack
    cells = stack.n_members * problem.batch_size * max(*stack.hide.sizes, *stack.seek.sizes)
    torch_threads = min(n_threads, 1 + cells // _CELLS_OF_A_THREAD)
    return fits(stack) and not problem.full_batch and _GAIN * min(n_threads, stack.n_members) >= torch_threads


class NativeSteps(Steps):
    """Runs all steps of a call member by member; a member's result does not depend on the others.

    Args:
        problem: The stack to train, and its data. ``suits(problem)`` must be true.
        n_threads: Number of members trained at a time.
        level: Number of the instruction set, 0 the most basic; None: the fastest of this processor.
    """

    def __init__(self, problem: Problem, n_threads: int = 1, level: int | None = None) -> None:
        super().__init__(problem, n_chunks=1)
        library = load()
        if library is None:
            raise RuntimeError("the native training step is not compiled here, or HIDESEEK_NATIVE=0 turns it off")
        self._library = library
        self._level = library.hideseek_levels() - 1 if level is None else level
        self._done, n_members, self._task = 0, problem.stack.n_members, Task()
        self._describe(problem)
        moment_floats, room_floats = c_int64(), c_int64()
        library.hideseek_sizes(self._level, byref(self._task), byref(moment_floats), byref(room_floats))
        self._moments = torch.zeros(n_members, moment_floats.value)
        self._give(moments=self._moments)
        self._factors = self._schedule()
        self._rooms = [torch.empty(room_floats.value) for _ in range(max(1, min(n_threads, n_members)))]
        self._pool = ThreadPoolExecutor(len(self._rooms)) if len(self._rooms) > 1 else None
        products = 3 * problem.batch_size * problem.stack.parameters.numel() / n_members
        self._most_steps = max(1, int(_MOST_PRODUCTS / products))

    def _describe(self, problem: Problem) -> None:
        stack, data, task = problem.stack, problem.data, self._task
        self._kept = describe(task, stack)
        _, task.n_rows, _ = data.X.shape
        task.batch_size = problem.batch_size
        task.beta1, task.beta2, task.epsilon = self._adam.beta1, self._adam.beta2, self._adam.epsilon
        task.farthest_logit, task.logit_pull = FARTHEST_LOGIT, problem.recipe.logit_pull
        if data.target.dtype == torch.int64:
            task.loss = _CLASS_NUMBERS
        else:
            task.loss = _VALUES if problem.loss == "squared_error" else _CLASS_PROBABILITIES
        self._give(x=data.X, target=data.target, table=problem.table, price=problem.price, visible=problem.visible)
        for name, stream in (("batch_keys", Stream.BATCH), ("replacement_keys", Stream.REPLACEMENT)):
            self._give(**{name: Keys(problem.seeds, stream).stream_keys})
        if data.weight is not None:
            self._give(weight=data.weight)
        if data.selected is not None:
            self._give(selected=data.selected)
        task.n_own = problem.n_learned // stack.n_seeks
        if stack.n_seeks > 1 or problem.fold is not None:
            self._give(own_rows=own_rows(problem).int())
        if stack.price_range is not None:
            self._give(price_keys=Keys(problem.seeds, Stream.PRICE).stream_keys)
        if problem.trainable is not None:
            self._give(trainable=problem.trainable)
        self._give(loss_sum=self._loss_sum, mask_sum=self._mask_sum)

    def _give(self, **tensors: Tensor) -> None:
        """Set fields of the task to the addresses of these tensors."""
        self._kept += give(self._task, **tensors)

    def close(self) -> None:
        """Stop the threads."""
        if self._pool is not None:
            self._pool.shutdown()

    def run(self, n_steps: int) -> None:
        """See ``Steps.run``."""
        last = self._done + n_steps
        if last > len(self._factors):
            raise ValueError(f"step {last} is beyond the {len(self._factors)} steps of the recipe")
        while self._done < last:
            count = min(self._most_steps, last - self._done)
            members, schedule = iter(range(self._task.n_members)), self._factors[self._done : self._done + count]
            if self._pool is None:
                self._work(members, schedule, self._rooms[0])
            else:
                self._share_out(members, schedule, self._pool)
            self._done += count

    def _share_out(self, members: Iterator[int], schedule: Tensor, pool: ThreadPoolExecutor) -> None:
        """Train the members on several threads; each takes the next member."""
        try:
            deque(pool.map(partial(self._work, members, schedule), self._rooms), maxlen=0)
        finally:
            deque(members, maxlen=0)  # after Ctrl-C no members are left for the threads

    def _work(self, members: Iterator[int], schedule: Tensor, room: Tensor) -> None:
        call = partial(self._library.hideseek_run, self._level, byref(self._task), room.data_ptr())
        for member in members:
            call(member, self._done, len(schedule), schedule.data_ptr())
