"""Backends that run pieces: in this process, in processes of this machine, or on Ray."""

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
"""Yields each piece with its outcomes when it is done; None for a piece whose worker died ``ATTEMPTS`` times."""

Backend = Callable[[Sequence[Piece], Work, int, str], Done]
"""Takes the pieces, the function to run on each, the number of parallel workers, and the device for methods that
take one."""

ATTEMPTS = 2
BACKENDS = ("serial", "processes", "ray")


def backend_named(name: str) -> Backend:
    """Return the backend of this name; its dependencies are imported only now."""
    if name == "serial":
        return serial
    backend: Backend = getattr(import_module(f"hideseek.benchmark._{name}"), f"on_{name}")
    return backend


def serial(pieces: Sequence[Piece], work: Work, n_jobs: int, device: str) -> Done:
    """Run the pieces one after the other in this process."""
    for piece in pieces:
        yield piece, work(piece)


def workers_of(backend: str, n_jobs: int | None) -> int:
    """Return the number of pieces that run at a time."""
    if backend == "serial":
        return 1
    ray = sys.modules.get("ray") if backend == "ray" else None
    if ray is not None and ray.is_initialized():
        return max(1, int(ray.cluster_resources().get("CPU", 1)))
    return n_jobs or available_cores()


def available_cores() -> int:
    """Return the number of cores this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
