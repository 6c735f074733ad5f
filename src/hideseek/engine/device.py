"""Devices, threads and GPU streams."""

from __future__ import annotations

import os
import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, contextmanager, nullcontext
from functools import partial
from typing import TypeVar

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

__all__ = [
    "for_each_block",
    "for_each_question",
    "for_each_table",
    "one_thread",
    "resolve_device",
    "to_host",
    "training_threads",
]

_STREAMS = 4
_MOST_THREADS = 4
"""Threads for the work of single tables, much of which holds Python's lock: more would mostly wait for it."""

_ROWS_FOR_MANY_THREADS = 2**17
"""Rows in a step, over all members, from which more threads pay off even on a busy machine.

An operation on fewer rows takes less time than a scheduler slice, so that it would mostly wait for a thread whose core
is used by another program.

"""


def resolve_device(device: str | torch.device) -> torch.device:
    """Return the torch device; "auto" is the GPU if there is one, else the CPU."""
    if str(device) == "auto":
        device = "cuda" if torch.cuda.is_available() else "cpu"
    return torch.device(device)


_Table = TypeVar("_Table")
_Question = TypeVar("_Question")
_Result = TypeVar("_Result")

_lock = threading.Lock()
_inside: set[object] = set()
_before = 0


@contextmanager
def one_thread() -> Iterator[int]:
    """Set one thread per operation; yield the number that was set before, and restore it on exit.

    The setting is global to the process: with several callers at once, the first saves it and the last restores it.
    """
    global _before
    caller = object()
    try:
        with _lock:
            if not _inside:
                _before = torch.get_num_threads()
                torch.set_num_threads(1)
            _inside.add(caller)
        yield _before
    finally:
        try:
            _leave(caller)
        finally:  # again, in case an interrupt came in between; a second call changes nothing
            _leave(caller)


def _leave(caller: object) -> None:
    with _lock:
        if _inside <= {caller}:
            torch.set_num_threads(_before)
        _inside.discard(caller)


def training_threads(device: torch.device, rows_per_step: int) -> AbstractContextManager[object]:
    """Use one thread on a CPU while steps are small."""
    if device.type == "cpu" and rows_per_step < _ROWS_FOR_MANY_THREADS:
        return one_thread()
    return nullcontext()


def for_each_table(work: Callable[[_Table], _Result], tables: Sequence[_Table], device: torch.device) -> list[_Result]:
    """Return the result for each table: on several threads where a GPU trains, which leaves the other cores idle.

    On a CPU one after the other: there other fits may be using the other cores.
    """
    if device.type == "cpu" or len(tables) == 1:
        return [work(table) for table in tables]
    n_threads = min(_MOST_THREADS, os.cpu_count() or 1)
    # Each thread has a current GPU of its own.
    start = partial(torch.cuda.set_device, torch.cuda.current_device()) if torch.cuda.is_available() else None
    with one_thread(), ThreadPoolExecutor(n_threads, initializer=start) as pool:
        return list(pool.map(work, tables))


def for_each_question(
    answer: Callable[[_Question], _Result], questions: Sequence[_Question], device: torch.device
) -> list[_Result]:
    """Return the answer to each question: on as many threads as torch may use on a CPU, one after the other on a GPU.

    A CPU's operations are too small to be shared out among threads, and each thread computes what it would alone.
    """
    with one_thread() as n_threads:
        if device.type != "cpu" or min(n_threads, len(questions)) == 1:
            return [answer(question) for question in questions]
        with ThreadPoolExecutor(min(n_threads, len(questions))) as pool:
            return list(pool.map(answer, questions))


def for_each_block(job: Callable[[slice], None], blocks: Iterable[slice], device: torch.device) -> None:
    """Run ``job`` on every block of rows, on a few threads.

    On a CPU each thread takes whole blocks: splitting single small operations among threads costs more than it gains,
    and so a block's result does not depend on the number of threads. On a GPU each thread has its own stream, so that
    one block is transferred while another is computed. A single block runs in the calling thread.
    """
    blocks = list(blocks)
    if len(blocks) == 1:
        with one_thread():
            job(blocks[0])
        return
    with one_thread() as n_threads, ThreadPoolExecutor(n_threads if device.type == "cpu" else _STREAMS) as pool:
        deque(pool.map(_on_its_own_stream(job, device), blocks), maxlen=0)


def _on_its_own_stream(job: Callable[[slice], None], device: torch.device) -> Callable[[slice], None]:
    if device.type != "cuda":
        return job
    before = torch.cuda.current_stream(device)

    def run(block: slice) -> None:
        stream = torch.cuda.Stream(device)  # type: ignore[no-untyped-call] # torch gives it no types
        stream.wait_stream(before)
        with torch.cuda.stream(stream):
            job(block)
        stream.synchronize()

    return run


def to_host(values: Tensor, out: NDArray[np.float32]) -> None:
    """Copy a tensor into an array of its shape; from a GPU through pinned memory, which is faster."""
    if values.device.type == "cuda":
        host = torch.empty(values.shape, dtype=values.dtype, pin_memory=True)
        values = host.copy_(values, non_blocking=True)
        torch.cuda.current_stream().synchronize()
    out[:] = values.numpy()
