"""The grid of a run: one job for every method, dataset and seed; and which jobs are done in one go."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.utils.multiclass import type_of_target

from hideseek.benchmark._data import DatasetConfig
from hideseek.benchmark._strict import as_json, parameters_of, said
from hideseek.benchmark.config import Config

__all__ = ["Job", "Piece", "jobs_of", "pieces_of"]

_SHARED_BY_A_STACK = "penalty"
"""The parameter that may differ between the problems of one stack."""


@dataclass(frozen=True, eq=False)
class Job:
    """One method on one dataset with one seed.

    Attributes:
        method: Label of the method.
        dataset: Label of the dataset.
        seed: Of the data, of the split and of the method.
        cls: The method's class.
        parameters: What it is constructed with, without the seed.
        source: Where the rows come from.
        rows: How many test rows are explained; None: all.
        penalties: To choose from; empty: the one of the parameters.
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
        """The unfitted method, on a device and with the seed where it takes them; of a stack: without candidates."""
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
        """The fits: of each, the parameters that may differ from those of its neighbours in a stack."""
        if self.penalties:
            return [{_SHARED_BY_A_STACK: penalty} for penalty in self.penalties]
        return [{name: value for name, value in self.parameters.items() if name == _SHARED_BY_A_STACK}]


Piece = tuple[Job, ...]
"""Jobs that are done in one go: the problems of one stack, or a single job."""


def jobs_of(config: Config) -> list[Job]:
    """All jobs, method by method."""
    names = {label: method.name for label, method in config.methods.items()}
    sources = {label: dataset.to_dict() for label, dataset in config.datasets.items()}
    jobs = []
    for method, chosen in config.methods.items():
        for dataset, source in config.datasets.items():
            parameters, rows = chosen.parameters_on(dataset), chosen.rows or config.rows
            for seed in config.seeds:
                what = {"method": names[method], "parameters": as_json(parameters), "dataset": sources[dataset]}
                description = said({**what, "seed": seed, "rows": rows, **chosen.search()})
                key = _hash(description)
                how = (chosen.penalties, chosen.chosen_by)
                jobs.append(Job(method, dataset, seed, chosen.cls, parameters, source, rows, *how, description, key))
    return jobs


def pieces_of(jobs: Iterable[Job], stack_size: int) -> list[Piece]:
    """The jobs in pieces: those of one method that can share a stack together, with at most ``stack_size`` fits."""
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
    """What the jobs of one stack have in common."""
    description = job.description
    parameters = {name: value for name, value in job.parameters.items() if name != _SHARED_BY_A_STACK}
    source = _hash(description["dataset"])
    if source not in shapes:
        shapes[source] = _shape(job)
    what = json.dumps([as_json(parameters), len(job.penalties)], sort_keys=True)
    return f"{description['method']} {what} {shapes[source]}"


def _shape(job: Job) -> str:
    """Rows, columns and classes, seen with one seed; should another seed differ, the stack is divided when it fails."""
    try:
        train, _ = job.source.parts(job.seed)
    except Exception:  # whatever it is, the job will meet it too and report it
        return job.dataset
    y = np.asarray(train.y)
    classes = len(np.unique(y)) if type_of_target(y) in ("binary", "multiclass") else 0
    return f"{train.X.shape} {classes}"


def _hash(description: Mapping[str, Any]) -> str:
    text = json.dumps(description, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()[:24]
