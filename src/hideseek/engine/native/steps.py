"""Training steps by the compiled library; each thread works on one member, or on a part of its rows, at a time."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from ctypes import byref
from functools import partial
from math import ceil
from threading import Condition

import torch
from torch import Tensor

from hideseek.engine.batches import own_rows
from hideseek.engine.draws import Keys, Stream
from hideseek.engine.native.library import Task, load, sizes
from hideseek.engine.native.task import describe, give
from hideseek.engine.path import FARTHEST_LOGIT
from hideseek.engine.steps import Problem, Steps

__all__ = ["NativeParts", "NativeSteps", "native_available", "native_steps", "turns"]

_MOST_PRODUCTS = 4e8
"""Multiplications in one call for several steps: less than a fifth of a second on a slow processor, so that Ctrl-C
takes effect."""

_STEPS_OF_A_CALL = 0.3
"""Time of a call beside its steps, in steps."""

_ROWS_OF_PART, _MOST_PARTS = 512, 16
"""Rows that a part of a batch has at least, and parts of a batch."""

_NARROW = 64
"""Columns up to which replacements are read from the table of rows; in a wider one each lies on a page of its own."""

_CLASS_NUMBERS, _CLASS_PROBABILITIES, _VALUES = range(3)

_Job = Callable[[Tensor], None]
"""Called with the room to work in."""


def native_available() -> bool:
    """Return whether the library was compiled and is not disabled by HIDESEEK_NATIVE=0."""
    return load() is not None


def native_steps(problem: Problem, n_threads: int = 1, level: int | None = None) -> NativeSteps | NativeParts:
    """Return the steps that suit the size of a batch; the same for any number of members and threads."""
    steps = NativeSteps if _parts(problem) == 1 else NativeParts
    return steps(problem, n_threads, level)


def _parts(problem: Problem) -> int:
    return min(max(1, problem.batch_size // _ROWS_OF_PART), _MOST_PARTS)


class _Native(Steps):
    """Base class: describes the problem to the library, and shares out jobs among threads.

    Args:
        problem: The stack to train, and its data. ``task.fits`` must be true of the stack.
        n_jobs: Number of jobs that can be done at a time.
        n_threads: Number of threads.
        level: Number of the instruction set, 0 the most basic; None: the fastest of this processor.
    """

    def __init__(self, problem: Problem, n_jobs: int, n_threads: int, level: int | None) -> None:
        super().__init__(problem, n_chunks=1)
        library = load()
        if library is None:
            raise RuntimeError("the native training step is not compiled here, or HIDESEEK_NATIVE=0 turns it off")
        self._library = library
        self._level = library.hideseek_levels() - 1 if level is None else level
        self._done, self._task = 0, Task()
        self._describe(problem)
        n_weights, self._part_floats, room = sizes(library, self._level, self._task)
        self._moments = torch.zeros(problem.stack.n_members, 2 * n_weights)
        self._give(moments=self._moments)
        self._factors = self._schedule()
        n_rooms = max(1, min(n_threads, n_jobs))
        self._rooms = [torch.empty(room) for _ in range(n_rooms)]
        self._pool = ThreadPoolExecutor(n_rooms) if n_rooms > 1 else None

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
        self._give(replacement_keys=Keys(problem.seeds, Stream.REPLACEMENT).stream_keys)
        if not problem.full_batch:
            self._give(batch_keys=Keys(problem.seeds, Stream.BATCH).stream_keys)
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

    def _schedule_of(self, n_steps: int) -> Tensor:
        """Return the factors of the next steps."""
        last = self._done + n_steps
        if last > len(self._factors):
            raise ValueError(f"step {last} is beyond the {len(self._factors)} steps of the recipe")
        return self._factors[self._done : last]

    def _share_out(self, jobs: list[_Job]) -> None:
        """Do the jobs on several threads; each takes the next one."""
        waiting = iter(jobs)
        if self._pool is None:
            _work(waiting, self._rooms[0])
            return
        try:
            deque(self._pool.map(partial(_work, waiting), self._rooms[: len(jobs)]), maxlen=0)
        finally:
            deque(waiting, maxlen=0)  # after Ctrl-C no jobs are left for the threads


def _work(waiting: Iterator[_Job], room: Tensor) -> None:
    for job in waiting:
        job(room)


class NativeSteps(_Native):
    """Runs all steps of a call member by member; a member's result does not depend on the others.

    Args:
        problem: The stack to train, and its data.
        n_threads: Number of members trained at a time.
        level: See ``_Native``.
    """

    def __init__(self, problem: Problem, n_threads: int = 1, level: int | None = None) -> None:
        n_members = problem.stack.n_members
        super().__init__(problem, n_members, n_threads, level)
        self._steps_of, self._moved = [0] * n_members, Condition()
        products = 3 * problem.batch_size * problem.stack.parameters.numel() / n_members
        self._most_steps = max(1, int(_MOST_PRODUCTS / products))

    def run(self, n_steps: int) -> None:
        """See ``Steps.run``."""
        members = range(self._task.n_members)
        for schedule in torch.split(self._schedule_of(n_steps), self._most_steps):
            self._steps_of, jobs = [self._done] * len(members), list[_Job]()
            n_turns = turns(len(members), len(self._rooms), len(schedule))
            for some in schedule.tensor_split(n_turns):
                jobs += [partial(self._train, member, self._done, some) for member in members]
                self._done += len(some)
            self._share_out(jobs)

    def _train(self, member: int, done: int, schedule: Tensor, room: Tensor) -> None:
        """Take some steps with a member as soon as it has taken those before them."""
        with self._moved:
            self._moved.wait_for(lambda: self._steps_of[member] == done)
        task, moments = byref(self._task), schedule.data_ptr()
        try:
            self._library.hideseek_run(self._level, task, room.data_ptr(), member, done, len(schedule), moments)
        finally:
            with self._moved:
                self._steps_of[member] += len(schedule)
                self._moved.notify_all()


def turns(n_members: int, n_threads: int, n_steps: int) -> int:
    """Return in how many turns the members take their steps, so that all threads together are finished soonest."""

    def cost(n_turns: int) -> float:
        return ceil(n_members * n_turns / n_threads) * (n_steps / n_turns + _STEPS_OF_A_CALL)

    return min(range(1, max(1, n_steps) + 1), key=cost)


class NativeParts(_Native):
    """Cuts the rows of a large batch into parts; a member's gradient is the sum of theirs, in order.

    Args:
        problem: The stack to train, and its data.
        n_threads: Number of parts worked on at a time.
        level: See ``_Native``.
    """

    def __init__(self, problem: Problem, n_threads: int = 1, level: int | None = None) -> None:
        n_members, n_parts = problem.stack.n_members, _parts(problem)
        super().__init__(problem, n_members * n_parts, n_threads, level)
        self._parts = torch.empty(n_members, n_parts, self._part_floats)
        if self._task.n_features == self._task.n_columns > _NARROW:
            self._give(x_columns=problem.data.columns)

    def run(self, n_steps: int) -> None:
        """See ``Steps.run``."""
        members, numbers = range(self._task.n_members), range(self._parts.shape[1])
        for factors in self._schedule_of(n_steps):
            self._share_out([partial(self._learn, factors, member, number) for member in members for number in numbers])
            self._share_out([partial(self._move_member, factors, member) for member in members])
            self._done += 1

    def _learn(self, factors: Tensor, member: int, number: int, room: Tensor) -> None:
        task, parts, moment = byref(self._task), self._parts[member], factors.data_ptr()
        which = member, self._done, number, len(parts)
        self._library.hideseek_learn(self._level, task, room.data_ptr(), *which, moment, parts[number].data_ptr())

    def _move_member(self, factors: Tensor, member: int, room: Tensor) -> None:
        task, parts, moment = byref(self._task), self._parts[member], factors.data_ptr()
        self._library.hideseek_move(self._level, task, room.data_ptr(), member, len(parts), parts.data_ptr(), moment)
