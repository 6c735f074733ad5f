"""Run a grid: do the jobs that are not stored yet, and store each result."""

from __future__ import annotations

import os
from collections.abc import Mapping
from contextlib import closing
from functools import partial
from typing import Any

from hideseek.benchmark._backends import ATTEMPTS, BACKENDS, backend_named, workers_of
from hideseek.benchmark._jobs import Piece, jobs_of, pieces_of
from hideseek.benchmark._progress import Grid, grid_progress
from hideseek.benchmark._results import Results, results_of
from hideseek.benchmark._strict import NAMED, name_of
from hideseek.benchmark._work import Keep, do_piece, lost
from hideseek.benchmark.config import Config
from hideseek.benchmark.origin import commit
from hideseek.benchmark.store import Record, Store, plan_of
from hideseek.engine.device import resolve_device
from hideseek.estimators import RULES
from hideseek.files import as_path
from hideseek.validation import check_parameters, choice, integer
from hideseek.warn import warn_caller
from hideseek.wording import some

__all__ = ["run"]

_STACK_SIZES = {"cpu": 4, "cuda": 64}
"""On a CPU a few jobs share the overhead of a call, and more would exceed the cache; a GPU needs more to be busy."""

_RULES = {
    "backend": choice(*BACKENDS),
    "n_jobs": integer(1).or_none(),
    "device": RULES["device"],
    "stack_size": integer(1).or_none(),
    "keep": NAMED.or_none(),
}


def run(
    config: Config | Mapping[str, Any] | str | os.PathLike[str],
    folder: str | os.PathLike[str],
    *,
    backend: str = "serial",
    n_jobs: int | None = None,
    stack_size: int | None = None,
    device: str = "auto",
    keep: Keep | None = None,
    retry_failed: bool = False,
    verbose: bool = True,
) -> Results:
    """Run every job of a configuration that has no stored result yet.

    Each result is stored as soon as it is done, in ``folder/NAME``, so an interrupted run can be resumed.
    A job that fails is stored with its error and does not stop the others.

    Args:
        config: What to run: a ``Config``, a mapping with its arguments, or a ``.toml`` or ``.json`` file.
        folder: The parent of the run's folder.
        backend: "serial": in this process. "processes": on this machine. "ray": on Ray, which is started here unless
            ``ray.init(address=...)`` was called before or RAY_ADDRESS is set. All give the same results.
        n_jobs: Number of processes; the number of cores if not given. A Ray cluster has its own number.
        stack_size: Largest number of jobs of a method with ``fit_many`` that are trained as one stack; if not given, 4
            on a CPU and 64 on a GPU.
        device: Device of methods that take one; "auto" is the GPU if there is one.
        keep: Called with the fitted method, the test rows (a ``Dataset``) and the explanation of the first of them. It
            returns arrays by name, which are stored with the result, and single numbers, which join its scores.
        retry_failed: Run failed jobs again.
        verbose: Show progress, on a terminal or in a notebook.

    Returns:
        The results of all jobs, in the order of the configuration.

    Example:
        >>> from tempfile import mkdtemp
        >>> from hideseek.benchmark import run
        >>> syn1 = {"maker": "make_syn", "parameters": {"name": "Syn1", "n_samples": 500}}
        >>> config = {"methods": {"forest": {"parameters": {"k": 2}}}, "datasets": {"Syn1": syn1}, "seeds": 2}
        >>> [record["status"] for record in run(config, mkdtemp())]
        ['finished', 'finished']
    """
    given = {"backend": backend, "n_jobs": n_jobs, "device": device, "stack_size": stack_size, "keep": keep}
    check_parameters("run", given, _RULES)
    config = _config(config)
    jobs, store = jobs_of(config), Store(as_path(folder) / config.name)
    plan = plan_of(config, jobs)
    store.write_plan(plan)
    keep_name = None if keep is None else name_of(keep)
    by_key = {job.key: job for job in jobs}
    stored = {key: record for key in by_key if (record := store.read(key)) is not None}
    waiting = [job for job in by_key.values() if not _is_done(stored.get(job.key), keep_name, retry_failed)]
    n_workers = workers_of(backend, n_jobs)
    origin = commit()
    work = partial(do_piece, device=device, keep=keep)
    pieces = pieces_of(waiting, stack_size or _STACK_SIZES[resolve_device(device).type])
    with grid_progress(verbose, Grid(waiting, stored.values(), n_workers)) as grid:
        while pieces:
            divided: list[Piece] = []
            with closing(backend_named(backend)(pieces, work, n_workers, device)) as done:
                for piece, outcomes in done:
                    if outcomes is None and len(piece) > 1:  # one of the jobs kills its worker; run them one by one
                        divided += [(job,) for job in piece]
                        continue
                    for outcome in outcomes or [lost(job, ATTEMPTS) for job in piece]:
                        grid.add(store.write(by_key[outcome.key], outcome, keep_name, origin))
            pieces = divided
    results = results_of(store, plan)
    _warn_of_failures(results)
    return results


def _config(given: Config | Mapping[str, Any] | str | os.PathLike[str]) -> Config:
    if isinstance(given, Config):
        return given
    return Config.from_dict(given) if isinstance(given, Mapping) else Config.from_file(given)


def _is_done(record: Record | None, keep: str | None, retry_failed: bool) -> bool:
    """Return whether the stored result is usable: not a failure to retry, and with the arrays to keep."""
    if record is None:
        return False
    if record["status"] == "failed":
        return not retry_failed
    return keep is None or record["keep"] == keep


def _warn_of_failures(results: Results) -> None:
    failed = results.failed
    if failed:
        which = [f"{r['method']} on {r['dataset']}, seed {r['seed']} ({r['error']['type']})" for r in failed]
        warn_caller(
            f"{len(failed)} of {len(results)} jobs failed: {some(which)}; results.failed has their errors, and "
            "retry_failed=True runs them again"
        )
