"""Where pieces are done: in this process, in processes of this machine, or on Ray."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Generator, Sequence
from importlib import import_module

from hideseek.benchmark._jobs import Piece
from hideseek.benchmark._work import Outcome

__all__ = ["ATTEMPTS", "BACKENDS", "Backend", "Done", "Work", "available_cores", "backend_named", "workers_of"]

Work = Callable[[Piece], list[Outcome]]
Done = Generator[tuple[Piece, list[Outcome] | None], None, None]
"""Each piece with its outcomes, as they are done; None for a piece in which the worker died ``ATTEMPTS`` times."""

Backend = Callable[[Sequence[Piece], Work, int, str], Done]
"""Takes the pieces, what to do with each, how many to do at a time, and the device of methods that take one."""

ATTEMPTS = 2
BACKENDS = ("serial", "processes", "ray")


def backend_named(name: str) -> Backend:
    """The backend of this name; what it needs is imported now and not before."""
    if name == "serial":
        return serial
    backend: Backend = getattr(import_module(f"hideseek.benchmark._{name}"), f"on_{name}")
    return backend


def serial(pieces: Sequence[Piece], work: Work, n_jobs: int, device: str) -> Done:
    """One piece after the other, here."""
    for piece in pieces:
        yield piece, work(piece)


def workers_of(backend: str, n_jobs: int | None) -> int:
    """How many pieces are done at a time."""
    if backend == "serial":
        return 1
    ray = sys.modules.get("ray") if backend == "ray" else None
    if ray is not None and ray.is_initialized():
        return max(1, int(ray.cluster_resources().get("CPU", 1)))
    return n_jobs or available_cores()


def available_cores() -> int:
    """How many cores this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
