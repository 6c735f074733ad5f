"""Do the jobs of one piece: fit, explain, score. Runs in this or any other process."""

from __future__ import annotations

import time
import traceback
import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from itertools import islice
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from hideseek.benchmark._jobs import Job, Piece
from hideseek.benchmark._scores import scores_of
from hideseek.benchmark._search import best_penalty
from hideseek.benchmark._strict import parameters_of
from hideseek.benchmark.origin import versions
from hideseek.benchmark.own_tables import rows_of
from hideseek.datasets import Dataset
from hideseek.engine.device import resolve_device

__all__ = ["Keep", "Outcome", "do_piece", "lost"]

Keep = Callable[[Any, Dataset, Any], Mapping[str, Any]]
"""Fitted method, test rows, explanation of the first of them -> arrays and single numbers to store as well."""

_Parts = tuple[Dataset, Dataset]


@dataclass(frozen=True)
class Outcome:
    """The outcome of a job.

    Attributes:
        key: The key of the job.
        result: Status, scores, seconds, the number of jobs in the stack, device, versions, warnings and error, as JSON.
        arrays: The arrays that the keep hook returned.
    """

    key: str
    result: dict[str, Any]
    arrays: dict[str, NDArray[Any]] = field(default_factory=dict)


@dataclass(frozen=True)
class _Fitted:
    model: Any
    seconds: float
    stack: int
    warnings: list[str]


def do_piece(piece: Piece, device: str, keep: Keep | None) -> list[Outcome]:
    """Do all jobs of a piece; an error in a job becomes its own outcome and does not affect the others."""
    start = time.perf_counter()
    parts: dict[str, _Parts] = {}
    outcomes: dict[str, Outcome] = {}
    for job in piece:
        try:
            parts[job.key] = job.source.parts(job.seed)
        except Exception as error:
            outcomes[job.key] = _failed(job, error)
    ready = [job for job in piece if job.key in parts]
    for job, fitted in _fitted(ready, parts, device) if ready else ():
        if isinstance(fitted, _Fitted):
            fitted = _finished(job, fitted, parts[job.key][1], keep)
        outcomes[job.key] = fitted
    each = (time.perf_counter() - start) / len(piece)
    for job in piece:
        outcomes[job.key].result.update(seconds=each, device=_device(job, device), versions=versions())
    return [outcomes[job.key] for job in piece]


def _fitted(jobs: list[Job], parts: Mapping[str, _Parts], device: str) -> list[tuple[Job, _Fitted | Outcome]]:
    """Return every job with its fitted method, or with its failure.

    A stack that fails is split, so that one bad problem does not fail the others.
    """
    start = time.perf_counter()
    models = None
    try:
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            models = _fit(jobs, parts, device)
    except Exception as error:
        if len(jobs) == 1:
            return [(jobs[0], _failed(jobs[0], error))]
    if models is None:  # outside the handler, in which the error would keep the memory of the failed stack alive
        half = len(jobs) // 2
        return _fitted(jobs[:half], parts, device) + _fitted(jobs[half:], parts, device)
    seconds = (time.perf_counter() - start) / len(jobs)
    whose = "" if len(jobs) == 1 else f"somewhere in the stack of {len(jobs)}: "
    meant = [w for w in caught if issubclass(w.category, UserWarning)]  # other warnings are for developers
    messages = list(dict.fromkeys(f"{whose}{w.category.__name__}: {w.message}" for w in meant))
    return [(job, _Fitted(model, seconds, len(jobs), messages)) for job, model in zip(jobs, models, strict=True)]


def _fit(jobs: list[Job], parts: Mapping[str, _Parts], device: str) -> list[Any]:
    """Return one fitted method per job. Candidate penalties are fitted too, and chosen on the validation rows."""
    trains = [parts[job.key][0] for job in jobs]
    if len(jobs) == 1 and not jobs[0].penalties:
        return [jobs[0].made(device).fit(trains[0].X, trains[0].y)]
    problems = [
        (train.X, train.y, job.seed, change)
        for job, train in zip(jobs, trains, strict=True)
        for change in job.candidates()
    ]
    models = iter(jobs[0].made(device, of_a_stack=True).fit_many(problems))
    return [
        _chosen(job, train, list(islice(models, len(job.candidates()))))
        for job, train in zip(jobs, trains, strict=True)
    ]


def _chosen(job: Job, train: Dataset, models: list[Any]) -> Any:
    """Return the fit of a job, or of its candidates the one with the best penalty."""
    if not job.penalties:
        return models[0]
    validation = job.source.validation(job.seed)
    return models[best_penalty(models, job.penalties, train, validation, job.chosen_by)]


def _finished(job: Job, fitted: _Fitted, test: Dataset, keep: Keep | None) -> Outcome:
    """Explain and score; only what a user would wait for is timed."""
    try:
        first = test if job.rows is None else rows_of(test, slice(job.rows))
        start = time.perf_counter()
        explanation = fitted.model.explain(first.X)
        seconds = time.perf_counter() - start
        selected = np.asarray(explanation.selected)
        scores = scores_of(fitted.model, test, selected, job.source.switch)
        given = {} if keep is None else keep(fitted.model, test, explanation)
        kept = {name: np.asarray(value) for name, value in given.items()}
        scores |= {name: float(value) for name, value in kept.items() if value.ndim == 0}
    except Exception as error:
        return _failed(job, error)
    scores |= {"seconds_fit": fitted.seconds, "seconds_explain": seconds}
    if job.penalties:
        scores["penalty"] = float(fitted.model.penalty)
    result = {
        "status": "finished",
        "scores": {name: value if np.isfinite(value) else None for name, value in scores.items()},
        "stack": fitted.stack,
        "warnings": fitted.warnings,
        "error": None,
    }
    return Outcome(job.key, result, {name: value for name, value in kept.items() if value.ndim > 0})


def _failed(job: Job, error: BaseException) -> Outcome:
    text = "".join(traceback.format_exception(error))
    return _failure(job, type(error).__name__, str(error), text)


def lost(job: Job, attempts: int) -> Outcome:
    """Return the outcome of a job whose worker died in every attempt."""
    message = f"the worker process died {attempts} times in this job; was it killed, or out of memory?"
    outcome = _failure(job, "WorkerDied", message, "")
    outcome.result.update(seconds=None, device=None, versions=versions())
    return outcome


def _failure(job: Job, kind: str, message: str, text: str) -> Outcome:
    error = {"type": kind, "message": message, "traceback": text}
    return Outcome(job.key, {"status": "failed", "scores": {}, "stack": 1, "warnings": [], "error": error})


def _device(job: Job, device: str) -> str:
    """Return the device of the method, if it can run elsewhere than on the CPU."""
    if "device" not in parameters_of(job.cls):
        return "cpu"
    chosen = job.parameters.get("device", device)
    try:
        resolved = resolve_device(chosen)
        return torch.cuda.get_device_name(resolved) if resolved.type == "cuda" else str(resolved)
    except (RuntimeError, AssertionError):  # no such device; the failed job reports it
        return str(chosen)
