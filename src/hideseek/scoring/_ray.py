"""Files as tasks of Ray, on this machine or on a cluster that sees the same files."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from hideseek.extras import import_extra

__all__ = ["on_ray"]

_ATTEMPTS = 3


def on_ray(work: Callable[..., tuple[int, bool]], scorer: Any, jobs: Sequence[Any]) -> Iterator[tuple[int, bool]]:
    """Give the result of every job as it ends; Ray gives a job to another worker if its own dies.

    If Ray is initialised, or if RAY_ADDRESS is set, that cluster is used; otherwise one is started on this machine, and
    stopped afterwards.
    """
    ray = import_extra("ray", "ray", "backend='ray' needs Ray")
    own = not ray.is_initialized()
    if own:
        os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
        options: dict[str, Any] = {"log_to_driver": False, "logging_level": "error"}
        if not os.environ.get("RAY_ADDRESS"):
            options["include_dashboard"] = False
        ray.init(**options)
    try:
        shared = ray.put(scorer)
        task = ray.remote(max_retries=_ATTEMPTS - 1, num_cpus=1)(work)
        running = [task.remote(shared, job) for job in jobs]
        while running:
            (done,), running = ray.wait(running, num_returns=1)
            try:
                yield ray.get(done)
            except ray.exceptions.RayTaskError as error:
                raise error.cause from None  # an error of ours, without the worker's traceback
    finally:
        if own:
            ray.shutdown()
