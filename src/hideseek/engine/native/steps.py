"""Training steps by the compiled library; each thread works on one member, or on a part of its rows, at a time."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from ctypes import byref, c_int64
from functools import partial
from math import gcd
from threading import Condition

import torch
from torch import Tensor

from hideseek.engine.batches import own_rows
from hideseek.engine.draws import Keys, Stream
from hideseek.engine.native.library import MOST_ROWS, Task, load
from hideseek.engine.native.task import describe, give
from hideseek.engine.path import FARTHEST_LOGIT
from hideseek.engine.steps import Problem, Steps

__all__ = ["NativeParts", "NativeSteps", "native_available", "native_steps"]

_MOST_PRODUCTS = 4e8
"""Multiplications in one call: less than a fifth of a second on a slow processor, so that Ctrl-C takes effect."""

_ROWS_OF_PART, _MOST_PARTS = 512, 16
"""Rows that a part of a batch has at least, and parts of a batch."""

_NARROW = 64
"""Columns up to which what stands in for them is read from the rows: each value lies on a page of its own there."""

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
        n_parts: Number of parts of a batch.
        n_threads: Number of jobs done at a time.
        level: Number of the instruction set, 0 the most basic; None: the fastest of this processor.
    """

    def __init__(self, problem: Problem, n_parts: int, n_threads: int, level: int | None) -> None:
        super().__init__(problem, n_parts)
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
        n_rooms = max(1, min(n_threads, n_members * n_parts))
        self._rooms = [torch.empty(room_floats.value) for _ in range(n_rooms)]
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
            deque(self._pool.map(partial(_work, waiting), self._rooms), maxlen=0)
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
        super().__init__(problem, 1, n_threads, level)
        self._steps_of, self._moved = [0] * problem.stack.n_members, Condition()
        products = 3 * problem.batch_size * problem.stack.parameters.numel() / problem.stack.n_members
        self._most_steps = max(1, int(_MOST_PRODUCTS / products))

    def run(self, n_steps: int) -> None:
        """See ``Steps.run``."""
        members = range(self._task.n_members)
        for schedule in torch.split(self._schedule_of(n_steps), self._most_steps):
            jobs: list[_Job] = []
            n_turns = min(_turns(len(members), len(self._rooms)), len(schedule))
            for some in schedule.tensor_split(n_turns):
                jobs += [partial(self._train, member, self._done, some) for member in members]
                self._done += len(some)
            self._share_out(jobs)

    def _train(self, member: int, done: int, schedule: Tensor, room: Tensor) -> None:
        """Take some steps with a member as soon as it has taken those before them."""
        with self._moved:
            self._moved.wait_for(lambda: self._steps_of[member] == done)
        task, moments = byref(self._task), schedule.data_ptr()
        self._library.hideseek_run(self._level, task, room.data_ptr(), member, done, len(schedule), moments)
        with self._moved:
            self._steps_of[member] += len(schedule)
            self._moved.notify_all()


def _turns(n_members: int, n_threads: int) -> int:
    """Return in how many turns members are trained, so that all threads have equally much to do."""
    return n_threads // gcd(n_members, n_threads)


class NativeParts(_Native):
    """Cuts the rows of a large batch into parts; a member's gradient is the sum of theirs, in order.

    Args:
        problem: The stack to train, and its data.
        n_threads: Number of parts worked on at a time.
        level: See ``_Native``.
    """

    def __init__(self, problem: Problem, n_threads: int = 1, level: int | None = None) -> None:
        n_parts, n_seeks = _parts(problem), problem.stack.n_seeks
        super().__init__(problem, n_parts, n_threads, level)
        self._n_blocks = n_seeks * -(-problem.batch_size // n_seeks // MOST_ROWS)
        self._bounds = [self._n_blocks * part // n_parts for part in range(n_parts + 1)]
        if self._task.n_features == self._task.n_columns > _NARROW:
            self._give(x_columns=problem.data.columns)
        n_members, moment_floats = self._moments.shape
        self._of_parts = torch.empty(n_members, n_parts, moment_floats // 2)
        self._tasks = [self._task_of(part) for part in range(n_parts)]

    def _task_of(self, part: int) -> Task:
        """Return the task with the sums of one part."""
        task = Task.from_buffer_copy(self._task)
        give(task, loss_sum=self._loss_sum[part], mask_sum=self._mask_sum[part])
        return task

    def run(self, n_steps: int) -> None:
        """See ``Steps.run``."""
        members, parts = range(self._task.n_members), range(len(self._tasks))
        for factors in self._schedule_of(n_steps):
            share = float(factors[0])
            self._share_out([partial(self._learn, member, part, share) for member in members for part in parts])
            self._share_out([partial(self._move_member, member, factors) for member in members])
            self._done += 1

    def _learn(self, member: int, part: int, share: float, room: Tensor) -> None:
        first, end = self._done * self._n_blocks + self._bounds[part], self._bounds[part + 1]
        self._library.hideseek_gradient(
            self._level,
            byref(self._tasks[part]),
            room.data_ptr(),
            member,
            first,
            end - self._bounds[part],
            share,
            self._of_parts[member, part].data_ptr(),
        )

    def _move_member(self, member: int, factors: Tensor, room: Tensor) -> None:
        gradients, n_parts = self._of_parts[member].data_ptr(), len(self._tasks)
        task, moment = byref(self._task), factors.data_ptr()
        self._library.hideseek_move(self._level, task, room.data_ptr(), member, n_parts, gradients, moment)
