"""What a run gave: single results, and what the seeds say together."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
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
    """The stored results of a run: iterate over them, sum them up, compare them.

    A result is a dict: ``method``, ``dataset`` and ``seed``; ``status``, "finished" or "failed"; ``scores``; ``error``;
    ``job``, everything that determines it; ``stack``, how many jobs shared its stack; ``seconds``, ``device``,
    ``versions``, ``commit``, ``time``, ``warnings``.

    Args:
        records: The results, in the order of the configuration.
        scores: Which scores to show; others that a keep hook gave come after them.
        missing: Method, dataset and seed of jobs that are not done yet.
        store: Where the arrays lie.

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
        self.scores = (*known, *(name for name in found if name not in SCORES))

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
        """The results of jobs that failed; ``record["error"]`` has type, message and traceback."""
        return [record for record in self if record["status"] == "failed"]

    def values(self, method: str, dataset: str, score: str) -> dict[int, float]:
        """A score of one method on one dataset, by seed."""
        own = [record for record in self if (record["method"], record["dataset"]) == (method, dataset)]
        return values_of(own, score)

    def arrays(self, record: Record) -> dict[str, NDArray[Any]]:
        """What the keep hook stored beside a result."""
        return {} if self._store is None else self._store.arrays(record)

    def table(self) -> Table:
        """One line per job: what it was, its scores, its error if it failed, and what it can be traced to."""
        lines = []
        for record in self:
            error = record["error"] and f"{record['error']['type']}: {record['error']['message']}"
            scores = {name: None if value is None else float(value) for name, value in record["scores"].items()}
            lines.append({**record, **scores, "error": error, "version": record["versions"]["hideseek"]})
        return Table((*_JOB, *self.scores, "error", *_TRACE), lines)

    def to_frame(self, library: FrameLibrary = "pandas") -> Any:
        """One line per job, as a frame of that library."""
        return self.table().to_frame(library)

    def to_csv(self, path: str | os.PathLike[str]) -> None:
        """One line per job, in a CSV file, written atomically."""
        self.table().to_csv(path)

    def to_markdown(self) -> str:
        """The summary as a Markdown table."""
        return self.summary().to_markdown()

    def summary(self, *scores: str) -> Table:
        """By method, dataset and score what the seeds say together.

        Args:
            *scores: Which; all of ``results.scores`` if none is given.

        Returns:
            Median; the worst seed, where more or less is better; mean; ends of the bootstrap interval of the median;
            how many seeds have the score, and how many failed.
        """
        return summed_up(self._records, scores or self.scores)

    def pooled(self, groups: Mapping[str, Sequence[str]]) -> Results:
        """Means over datasets, of every method and seed: from the label of a group to the datasets in it.

        A group of which a job is missing is left out, one of which a job failed counts as failed; a score is averaged
        over the datasets that have it.
        """
        return Results(pooled(self._records, groups), scores=self.scores)

    def compare(
        self, published: Published, labels: Mapping[str, str] | None = None, *, average: str = "median"
    ) -> Table:
        """Ours beside published numbers.

        Args:
            published: A CSV file, or lines as mappings, with ``method``, ``dataset`` and a column for each score; an
                empty cell is a number that was not published.
            labels: From a method's label here to its name there, where they differ; several may have the same.
            average: What stands for our seeds, "median" or "mean".

        Returns:
            By method, dataset and score: the published number, our average, the difference, the worst seed, how many
            seeds there were and how many failed. What has no results yet has a line without them, and so has what was
            not published: an empty cell, or a method that is not there.
        """
        check_parameters("compare", {"average": average}, {"average": choice("median", "mean")})
        return compared(self._records, published, labels, average)

    def versus(self, first: str, second: str, score: str = "f1") -> Table:
        """Two methods, seed by seed, on every dataset: see ``hideseek.metrics.compare_seeds``."""
        return versus(self._records, first, second, score)


def load_results(folder: str | os.PathLike[str], config: Config | None = None) -> Results:
    """The stored results of a run.

    Args:
        folder: The folder of the run, which bears its name.
        config: Whose jobs to look for; those of the last run in this folder if not given.

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
    if config is not None:
        return results_of(store, plan_of(config, jobs_of(config)))
    return results_of(store, store.read_plan())


def results_of(store: Store, plan: Plan) -> Results:
    """The results that a store has of a plan, under the plan's labels."""
    records, missing = [], []
    for job in plan["jobs"]:
        record = store.read(job["key"])
        if record is None:
            missing.append((job["method"], job["dataset"], job["seed"]))
        else:
            records.append({**record, **job})
    return Results(records, scores=plan["config"]["scores"], missing=missing, store=store)
