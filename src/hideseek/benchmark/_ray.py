"""Run pieces as Ray tasks, on this machine or on a cluster."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any

from hideseek.benchmark._backends import ATTEMPTS, Done, Work
from hideseek.benchmark._jobs import Piece
from hideseek.benchmark._strict import parameters_of
from hideseek.benchmark._work import Outcome
from hideseek.extras import import_extra

__all__ = ["on_ray"]


def on_ray(pieces: Sequence[Piece], work: Work, n_jobs: int, device: str) -> Done:
    """Run every piece as a task, which Ray restarts on another worker if its worker dies.

    If Ray is initialised, as by ``ray.init(address=...)``, or if RAY_ADDRESS is set, that cluster is used; otherwise
    one is started on this machine with ``n_jobs`` cores, and stopped afterwards.
    """
    ray = import_extra("ray", "ray", "backend='ray' needs Ray")
    own = not ray.is_initialized()
    if own:
        os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
        local = {} if os.environ.get("RAY_ADDRESS") else {"num_cpus": n_jobs, "include_dashboard": False}
        ray.init(log_to_driver=False, logging_level="error", **local)
    try:
        has_gpu = device != "cpu" and ray.cluster_resources().get("GPU", 0) >= 1
        task = ray.remote(max_retries=ATTEMPTS - 1, num_cpus=1)(lambda piece: work(piece))
        running = {}
        for piece in pieces:  # a task that requests no GPU sees none; one core means one thread
            n_gpus = int(has_gpu and "device" in parameters_of(piece[0].cls))
            running[task.options(num_gpus=n_gpus).remote(piece)] = piece
        while running:
            (done,), _ = ray.wait(list(running), num_returns=1)
            yield running.pop(done), _outcomes(ray, done)
    finally:
        if own:
            ray.shutdown()


def _outcomes(ray: Any, task: Any) -> list[Outcome] | None:
    try:
        outcomes: list[Outcome] = ray.get(task)
    except ray.exceptions.RayTaskError:  # an error of this library; errors of methods are in the outcomes
        raise
    except ray.exceptions.RayError:  # the worker or its machine died
        return None
    return outcomes
