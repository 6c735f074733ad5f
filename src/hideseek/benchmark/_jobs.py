"""The grid of a run: one job for every method, dataset and seed, and the pieces in which jobs run together."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.utils.multiclass import type_of_target

from hideseek.benchmark._data import DatasetConfig
from hideseek.benchmark._strict import as_json, parameters_of, without_unset
from hideseek.benchmark.config import Config

__all__ = ["Job", "Piece", "jobs_of", "pieces_of"]

_SHARED_BY_A_STACK = "penalty"
"""The parameter in which the problems of one stack may differ."""


@dataclass(frozen=True, eq=False)
class Job:
    """One method on one dataset with one seed.

    Attributes:
        method: Label of the method.
        dataset: Label of the dataset.
        seed: Seed of the data, the split and the method.
        cls: The method's class.
        parameters: Its constructor arguments, without the seed.
        source: The source of the rows.
        rows: Number of test rows to explain; None: all.
        penalties: Candidate penalties; empty: the one in ``parameters`` is used.
        chosen_by: "loss" or "accuracy".
        description: Everything that determines the result, as JSON.
        key: A hash of the description.
    """

    method: str
    dataset: str
    seed: int
    cls: type
    parameters: Mapping[str, Any]
    source: DatasetConfig
    rows: int | None
    penalties: tuple[float, ...]
    chosen_by: str
    description: Mapping[str, Any]
    key: str

    def made(self, device: str, *, of_a_stack: bool = False) -> Any:
        """Return the unfitted method, with device and seed if it takes them; in a stack, without candidates."""
        known = parameters_of(self.cls)
        chosen = dict(self.parameters)
        if of_a_stack:
            chosen.pop(_SHARED_BY_A_STACK, None)
        if "device" in known:
            chosen = {"device": device, **chosen}
        if "random_state" in known:
            chosen["random_state"] = self.seed
        return self.cls(**chosen)

    def candidates(self) -> list[dict[str, Any]]:
        """Return, for each fit, the parameters in which it may differ from others of its stack."""
        if self.penalties:
            return [{_SHARED_BY_A_STACK: penalty} for penalty in self.penalties]
        return [{name: value for name, value in self.parameters.items() if name == _SHARED_BY_A_STACK}]


Piece = tuple[Job, ...]
"""Jobs that run together: the problems of one stack, or a single job."""


def jobs_of(config: Config) -> list[Job]:
    """Return all jobs, method by method."""
    names = {label: method.name for label, method in config.methods.items()}
    sources = {label: dataset.to_dict() for label, dataset in config.datasets.items()}
    jobs = []
    for method, chosen in config.methods.items():
        for dataset, source in config.datasets.items():
            parameters, rows = chosen.parameters_on(dataset), chosen.rows or config.rows
            for seed in config.seeds:
                what = {"method": names[method], "parameters": as_json(parameters), "dataset": sources[dataset]}
                description = without_unset({**what, "seed": seed, "rows": rows, **chosen.search()})
                key = _hash(description)
                how = (chosen.penalties, chosen.chosen_by)
                jobs.append(Job(method, dataset, seed, chosen.cls, parameters, source, rows, *how, description, key))
    return jobs


def pieces_of(jobs: Iterable[Job], stack_size: int) -> list[Piece]:
    """Group the jobs into pieces: jobs of one method that can share a stack, with at most ``stack_size`` fits."""
    shapes: dict[str, str] = {}
    groups: dict[str, list[Job]] = {}
    for job in jobs:
        alone = stack_size == 1 or not hasattr(job.cls, "fit_many")
        group = job.key if alone else _stack(job, shapes)
        groups.setdefault(group, []).append(job)
    pieces: list[Piece] = []
    for members in groups.values():
        size = max(1, stack_size // len(members[0].candidates()))
        pieces += [tuple(members[start : start + size]) for start in range(0, len(members), size)]
    return pieces


def _stack(job: Job, shapes: dict[str, str]) -> str:
    """Return what the jobs of one stack have in common."""
    description = job.description
    parameters = {name: value for name, value in job.parameters.items() if name != _SHARED_BY_A_STACK}
    source = _hash(description["dataset"])
    if source not in shapes:
        shapes[source] = _shape(job)
    what = json.dumps([as_json(parameters), len(job.penalties)], sort_keys=True)
    return f"{description['method']} {what} {shapes[source]}"


def _shape(job: Job) -> str:
    """Return rows, columns and classes, for one seed; if another seed differs, the stack is split when it fails."""
    try:
        train, _ = job.source.parts(job.seed)
    except Exception:  # the job will raise the same error, and report it
        return job.dataset
    y = np.asarray(train.y)
    classes = len(np.unique(y)) if type_of_target(y) in ("binary", "multiclass") else 0
    return f"{train.X.shape} {classes}"


def _hash(description: Mapping[str, Any]) -> str:
    text = json.dumps(description, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()[:24]
