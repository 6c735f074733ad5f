"""The results of a run: single results, and summaries over seeds."""

from __future__ import annotations

import csv
import os
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from numpy.typing import NDArray

from hideseek.benchmark._jobs import jobs_of
from hideseek.benchmark._scores import SCORES
from hideseek.benchmark._summary import Published, compared, pooled, summed_up, values_of, versus
from hideseek.benchmark.config import Config
from hideseek.benchmark.layout import Table
from hideseek.benchmark.store import Plan, Record, Store, plan_of
from hideseek.files import as_path
from hideseek.frames import FrameLibrary
from hideseek.validation import check_parameters, choice

__all__ = ["Results", "load_results", "results_of"]

_JOB = ("method", "dataset", "seed", "status")
_TRACE = ("key", "stack", "device", "version", "commit", "time")


class Results:
    """The stored results of a run: iterate over them, summarise them, compare them.

    A result is a dict: ``method``, ``dataset`` and ``seed``; ``status``, "finished" or "failed"; ``scores``; ``error``;
    ``job``, everything that determines it; ``stack``, how many jobs shared its stack; ``seconds``, ``device``,
    ``versions``, ``commit``, ``time``, ``warnings``.

    Args:
        records: The results, in the order of the configuration.
        scores: The scores to show; others, returned by a keep hook, follow.
        missing: Method, dataset and seed of jobs that are not done yet.
        store: The store of the arrays.

    Example:
        >>> from tempfile import mkdtemp
        >>> from hideseek.benchmark import run
        >>> syn1 = {"maker": "make_syn", "parameters": {"name": "Syn1", "n_samples": 500}}
        >>> config = {"methods": {"forest": {"parameters": {"k": 2}}}, "datasets": {"Syn1": syn1}, "seeds": 3}
        >>> results = run(config, mkdtemp())
        >>> results
        Results(3 jobs: 3 finished, 0 failed, 0 missing)
        >>> line = results.summary("tpr")[0]
        >>> line["method"], line["dataset"], line["n_seeds"]
        ('forest', 'Syn1', 3)
    """

    def __init__(
        self,
        records: Sequence[Record],
        *,
        scores: Sequence[str] = tuple(SCORES),
        missing: Sequence[tuple[str, str, int]] = (),
        store: Store | None = None,
    ) -> None:
        self._records, self.missing, self._store = list(records), list(missing), store
        found = dict.fromkeys(name for record in records for name in record["scores"])
        known = [name for name in scores if name in found]
        self.scores = tuple(dict.fromkeys([*known, *(name for name in found if name not in SCORES)]))

    def __iter__(self) -> Iterator[Record]:
        return iter(self._records)

    def __len__(self) -> int:
        return len(self._records) + len(self.missing)

    def __repr__(self) -> str:
        n_failed = len(self.failed)
        n_finished = len(self._records) - n_failed
        return f"Results({len(self)} jobs: {n_finished} finished, {n_failed} failed, {len(self.missing)} missing)"

    @property
    def failed(self) -> list[Record]:
        """The results of failed jobs; ``record["error"]`` has type, message and traceback."""
        return [record for record in self if record["status"] == "failed"]

    def values(self, method: str, dataset: str, score: str) -> dict[int, float]:
        """Return a score of one method on one dataset, by seed."""
        own = [record for record in self if (record["method"], record["dataset"]) == (method, dataset)]
        return values_of(own, score)

    def arrays(self, record: Record) -> dict[str, NDArray[Any]]:
        """Return the arrays that the keep hook stored with a result."""
        return {} if self._store is None else self._store.arrays(record)

    def table(self) -> Table:
        """Return one line per job: its labels, scores, error if it failed, and origin."""
        lines = []
        for record in self:
            error = record["error"] and f"{record['error']['type']}: {record['error']['message']}"
            scores = {name: None if value is None else float(value) for name, value in record["scores"].items()}
            lines.append({**record, **scores, "error": error, "version": record["versions"]["hideseek"]})
        return Table((*_JOB, *self.scores, "error", *_TRACE), lines)

    def to_frame(self, library: FrameLibrary = "pandas") -> Any:
        """Return one line per job, as a frame of that library."""
        return self.table().to_frame(library)

    def to_csv(self, path: str | os.PathLike[str]) -> None:
        """Write one line per job to a CSV file, atomically."""
        self.table().to_csv(path)

    def to_markdown(self) -> str:
        """Return the summary as a Markdown table."""
        return self.summary().to_markdown()

    def summary(self, *scores: str) -> Table:
        """Return a summary over seeds, by method, dataset and score.

        Args:
            *scores: The scores to include; all of ``results.scores`` if none is given.

        Returns:
            Median; the worst seed, if the score has a better direction; mean; ends of the bootstrap interval of the
            median; the number of seeds with the score, and of failed seeds.
        """
        return summed_up(self._records, scores or self.scores)

    def pooled(self, groups: Mapping[str, Sequence[str]]) -> Results:
        """Return means over groups of datasets, for every method and seed; ``groups`` maps labels to datasets.

        A group with a missing job is omitted, one with a failed job counts as failed; a score is averaged over the
        datasets that have it.
        """
        return Results(pooled(self._records, groups), scores=self.scores)

    def compare(
        self, published: Published, labels: Mapping[str, str] | None = None, *, average: str = "median"
    ) -> Table:
        """Compare the results with published numbers.

        Args:
            published: A CSV file, or lines as mappings, with ``method``, ``dataset`` and a column for each score; an
                empty cell is a number that was not published.
            labels: Maps the labels of methods to their published names, where these differ; several may have the same.
            average: The average over our seeds, "median" or "mean".

        Returns:
            By method, dataset and score: the published number, our average, the difference, the worst seed, the number
            of seeds and of failed seeds. A line without results, or without a published number, has empty cells.
        """
        check_parameters("compare", {"average": average}, {"average": choice("median", "mean")})
        return compared(self._records, published, labels, average)

    def versus(self, first: str, second: str, score: str = "f1") -> Table:
        """Compare two methods by seed on every dataset; see ``hideseek.metrics.compare_seeds``."""
        return versus(self._records, first, second, score)


def load_results(
    folder: str | os.PathLike[str], config: Config | None = None, table: str | os.PathLike[str] | None = None
) -> Results:
    """Return the stored results of a run.

    Args:
        folder: The folder of the run, named after it.
        config: The configuration whose jobs to load; that of the last run in this folder if not given.
        table: A CSV file that ``Results.to_csv`` wrote, for jobs that are not stored in the folder; their results have
            no arrays. A file that does not exist has no jobs.

    Example:
        >>> from tempfile import mkdtemp
        >>> from hideseek.benchmark import load_results, run
        >>> syn1 = {"maker": "make_syn", "parameters": {"name": "Syn1", "n_samples": 500}}
        >>> config = {"methods": {"forest": {"parameters": {"k": 2}}}, "datasets": {"Syn1": syn1}, "name": "trees"}
        >>> folder = mkdtemp()
        >>> results = run(config, folder)
        >>> load_results(f"{folder}/trees")
        Results(1 jobs: 1 finished, 0 failed, 0 missing)
    """
    store = Store(as_path(folder))
    plan = store.read_plan() if config is None else plan_of(config, jobs_of(config))
    return results_of(store, plan, {} if table is None else _records_in(as_path(table)))


def results_of(store: Store, plan: Plan, others: Mapping[str, Record] | None = None) -> Results:
    """Return the stored results of a plan, under the plan's labels; ``others`` are results by key."""
    records, missing = [], []
    for job in plan["jobs"]:
        record = store.read(job["key"]) or (others or {}).get(job["key"])
        if record is None:
            missing.append((job["method"], job["dataset"], job["seed"]))
        else:
            records.append({**record, **job})
    return Results(records, scores=plan["config"]["scores"], missing=missing, store=store)


def _records_in(path: Path) -> dict[str, Record]:
    """Return the results in a CSV file by key."""
    if not path.exists():
        return {}
    with open(path, newline="", encoding="utf-8") as file:
        return {line["key"]: _record(line) for line in csv.DictReader(file)}


def _record(line: Mapping[str, str]) -> Record:
    """Return a result from its line of the table, without what the table does not have."""
    labels = (*_JOB, "error", *_TRACE)
    scores = {name: float(cell) for name, cell in line.items() if name not in labels and cell}
    kind, _, message = line["error"].partition(": ")
    return {
        **{name: line[name] or None for name in labels},
        "seed": int(line["seed"]),
        "stack": int(line["stack"]) if line["stack"] else None,
        "scores": scores,
        "error": {"type": kind, "message": message, "traceback": ""} if kind else None,
        "versions": {"hideseek": line["version"]},
        "arrays": [],
    }
