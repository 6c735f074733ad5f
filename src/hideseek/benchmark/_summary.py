"""Summaries over seeds: by method, compared with published numbers, and of two methods."""

from __future__ import annotations

import csv
import os
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from hideseek.benchmark._scores import SCORES
from hideseek.benchmark.layout import Table
from hideseek.benchmark.store import Record
from hideseek.errors import InputError
from hideseek.metrics import compare_seeds, summarize_seeds

__all__ = ["Published", "compared", "pooled", "summed_up", "values_of", "versus"]

Published = str | os.PathLike[str] | Iterable[Mapping[str, Any]]

_LABELS = ("method", "dataset", "score")
_SUMMARY = ("median", "worst", "worst_seed", "mean", "low", "high", "n_seeds", "n_failed")
_COMPARED = ("published", "ours", "difference", "worst", "worst_seed", "n_seeds", "n_failed")


def values_of(records: Iterable[Record], score: str) -> dict[int, float]:
    """Return a score by seed."""
    return {r["seed"]: r["scores"][score] for r in records if r["scores"].get(score) is not None}


def summed_up(records: Sequence[Record], scores: Sequence[str]) -> Table:
    """Return median, worst seed, mean, interval and number of seeds, by method, dataset and score."""
    lines = []
    for (method, dataset), own in _grouped(records).items():
        labels = {"method": method, "dataset": dataset, "n_failed": _n_failed(own)}
        if labels["n_failed"] == len(own):
            lines.append({**labels, "n_seeds": 0})
        for score in scores:
            values = values_of(own, score)
            if values:
                lines.append({**labels, "score": score, **_of_seeds(score, values)})
    return Table((*_LABELS, *_SUMMARY), lines)


def compared(records: Sequence[Record], published: Published, names: Mapping[str, str] | None, average: str) -> Table:
    """Return the published number, our average, the difference and the worst seed, by method, dataset and score."""
    theirs = {(line["method"], line["dataset"]): line for line in _lines(published)}
    groups = _grouped(records)
    if names is None:
        names = {method: method for method, _ in groups if method in {name for name, _ in theirs}}
    scores = [
        column for column in dict.fromkeys(name for line in theirs.values() for name in line) if column not in _LABELS
    ]
    lines = []
    for method, name in names.items():
        for dataset in dict.fromkeys(dataset for _, dataset in theirs):
            line, own = theirs.get((name, dataset), {}), groups.get((method, dataset), [])
            for score in scores:
                number, values = _number(line.get(score)), values_of(own, score)
                if number is None and not values:
                    continue
                ours = _of_seeds(score, values) if values else {"n_seeds": 0}
                middle = ours.get(average)
                beside = {
                    "published": number,
                    "ours": middle,
                    "difference": None if middle is None or number is None else middle - number,
                    "n_failed": _n_failed(own),
                }
                lines.append({"method": method, "dataset": dataset, "score": score, **beside, **ours})
    return Table((*_LABELS, *_COMPARED), lines)


def pooled(records: Sequence[Record], groups: Mapping[str, Sequence[str]]) -> list[Record]:
    """Return the mean scores by method, group of datasets and seed; incomplete groups are omitted."""
    means = []
    by_job = {(record["method"], record["dataset"], record["seed"]): record for record in records}
    for method, seed in dict.fromkeys((method, seed) for method, _, seed in by_job):
        for label, datasets in groups.items():
            own = [by_job[job] for dataset in datasets if (job := (method, dataset, seed)) in by_job]
            if len(own) < len(datasets):
                continue
            failed = [record for record in own if record["status"] == "failed"]
            names = dict.fromkeys(name for record in own for name in record["scores"])
            values = {name: [r["scores"][name] for r in own if r["scores"].get(name) is not None] for name in names}
            scores = {name: float(np.mean(value)) for name, value in values.items() if value}
            means.append({**(failed or own)[0], "dataset": label, "scores": {} if failed else scores, "arrays": []})
    return means


def versus(records: Sequence[Record], first: str, second: str, score: str) -> Table:
    """Return the comparison of two methods over the seeds that both have, by dataset."""
    groups, lines = _grouped(records), []
    for dataset in dict.fromkeys(dataset for _, dataset in groups):
        one, other = (values_of(groups.get((method, dataset), []), score) for method in (first, second))
        seeds = [seed for seed in one if seed in other]
        if seeds:
            paired = compare_seeds([one[seed] for seed in seeds], [other[seed] for seed in seeds])
            lines.append({"dataset": dataset, "score": score, "n_seeds": len(seeds), **paired._asdict()})
    if not lines:
        raise InputError(f"there are no seeds on which both {first!r} and {second!r} have the score {score!r}")
    return Table(tuple(lines[0]), lines)


def _grouped(records: Iterable[Record]) -> dict[tuple[str, str], list[Record]]:
    groups: dict[tuple[str, str], list[Record]] = {}
    for record in records:
        groups.setdefault((record["method"], record["dataset"]), []).append(record)
    return groups


def _n_failed(records: Iterable[Record]) -> int:
    return sum(record["status"] == "failed" for record in records)


def _number(cell: Any) -> float | None:
    """Return a published number; None for an empty cell."""
    return None if cell in (None, "") else float(cell)


def _of_seeds(score: str, values: Mapping[int, float]) -> dict[str, Any]:
    better = SCORES.get(score)
    seeds, array = list(values), np.array(list(values.values()))
    summary: dict[str, Any] = summarize_seeds(array, higher_is_better=better is not False)._asdict()
    summary["mean"] = float(array.mean())
    if better is None:
        summary["worst"] = None
    else:
        summary["worst_seed"] = seeds[int(array.argmin() if better else array.argmax())]
    return summary


def _lines(published: Published) -> list[Mapping[str, Any]]:
    if not isinstance(published, str | os.PathLike):
        return list(published)
    with open(published, newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))
