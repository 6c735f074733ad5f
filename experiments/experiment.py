"""What every experiment has: a configuration, published numbers, figures; and how it is run and looked at."""

from __future__ import annotations

import csv
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import nan
from pathlib import Path
from statistics import median
from typing import Any

from hideseek.benchmark import Config, Results, load_results, run
from hideseek.benchmark.layout import Table
from hideseek.benchmark.origin import commit
from hideseek.benchmark.own_tables import rows_of
from hideseek.benchmark.store import Store
from hideseek.datasets import Split
from hideseek.errors import InputError

HERE = Path(__file__).parent
RUNS, RESULTS, PUBLISHED = HERE / "runs", HERE / "results", HERE / "published"

Lines = Sequence[Mapping[str, str]]
"""A stored table, line by line."""


@dataclass(frozen=True)
class Experiment:
    """One table or figure of the paper.

    Attributes:
        about: What it shows, in one line.
        config: The configuration, or a small one with the same methods and datasets if it is called with True.
        published: The file of the paper's numbers.
        labels: From the label of a method here to its name in that file.
        beside: Those of the labels that do not repeat what was published; they are shown, and never counted.
        figures: Draws the results into files in the given folder, and gives the files.
        keep: What to store of every job besides its scores.
        view: What stands beside the published numbers, where that is not job by job: means over datasets.
        average: What stands for our seeds there, "median" or "mean".
        means: Scores of which the mean stands there in any case.
        tables: Further tables by name, printed and written beside the comparison.
        from_arrays: Names of the tables, "table" for the comparison, that are made of arrays; the figures are too.
        parts: What belongs to it and is run with other datasets or seeds.
        explanation: Where ours differ from the paper's and why, for the report.
        table: What compare shows, where it is not medians beside published numbers.
        stack: How many jobs share a stack at most, where memory or a clock says so.
        name: Of the folder of its tables and figures, where it looks at the runs of another experiment.
        paper: What of the paper it repeats, for the front page of the report; empty: it is not in the paper.
        reasons: Why numbers differ from the paper's, by the label of the method, or by "METHOD, DATASET".
        headline: Makes a sentence of the table, for the front page, where no single numbers are compared.
    """

    about: str
    config: Callable[[bool], Config]
    published: str | None = None
    labels: Mapping[str, str] = field(default_factory=dict)
    beside: Sequence[str] = ()
    figures: Callable[[Results, Path], list[Path]] | None = None
    keep: Callable[..., Mapping[str, Any]] | None = None
    view: Callable[[Results], Results] = lambda results: results
    average: str = "median"
    means: Sequence[str] = ()
    tables: Callable[[Results], Mapping[str, Table]] | None = None
    from_arrays: Sequence[str] = ()
    parts: tuple[Experiment, ...] = ()
    explanation: str = ""
    table: Callable[[Results], Table] | None = None
    stack: int | None = None
    name: str | None = None
    paper: str = ""
    reasons: Mapping[str, str] = field(default_factory=dict)
    headline: Callable[[Lines], str] | None = None

    def run(
        self,
        *,
        quick: bool = False,
        seeds: int | Sequence[int] | None = None,
        methods: Sequence[str] = (),
        datasets: Sequence[str] = (),
        stack_size: int | None = None,
        **how: Any,
    ) -> Results:
        """Do what is not done yet, of all methods, datasets and seeds or of some."""
        if not quick:
            check_origin()
        config = self.some(quick, seeds, methods, datasets)
        return run(config, RUNS, keep=self.keep, stack_size=stack_size or self.stack, **how)

    def some(
        self,
        quick: bool,
        seeds: int | Sequence[int] | None = None,
        methods: Sequence[str] = (),
        datasets: Sequence[str] = (),
    ) -> Config:
        """Return the configuration with some of its seeds, methods and datasets; all where none are named."""
        config = self.config(quick)
        if seeds is not None:
            config = replace(config, seeds=seeds)
        if methods:
            config = replace(config, methods={label: config.methods[label] for label in methods})
        return of_datasets(config, datasets) if datasets else config

    def results(self, *, quick: bool = False) -> Results:
        """What is done so far, with the configuration's seeds and those of the last run.

        Runs that are not in the folder of runs are taken from the stored table, without their arrays.
        """
        config = self.config(quick)
        folder = RUNS / config.name
        if (folder / "run.json").exists():
            seeds = (*config.seeds, *Store(folder).read_plan()["config"]["seeds"])
            config = replace(config, seeds=sorted(set(seeds)))
        return load_results(folder, config, self.stored_runs(quick))

    def compare(self, *, quick: bool = False) -> str:
        """The paper's numbers beside ours, as text; and in files, with every job in another."""
        results, folder = self.results(quick=quick), self.folder(quick)
        if self.name is None:  # else they are stored with the experiment that made them
            results.to_csv(self.stored_runs(quick))
        seen = self.view(results)
        if self.table is not None:
            table = self.table(results)
        elif self.published is not None:
            table = self.beside_published(seen)
        else:
            table = seen.summary()
        tables = {"table": table, **(self.tables(results) if self.tables is not None else {})}
        for name in self.from_arrays:
            tables[name] = with_stored(tables[name], read(folder / f"{name}.csv"), results)
        for name, each in tables.items():
            each.to_csv(folder / f"{name}.csv")
        return "\n\n".join([*map(str, tables.values()), str(results)])

    def beside_published(self, seen: Results) -> Table:
        """Return the paper's numbers beside ours."""
        how = [PUBLISHED / str(self.published), self.labels or None]
        table = seen.compare(*how, average=self.average)
        if not self.means:
            return table
        lines = zip(table, seen.compare(*how, average="mean"), strict=True)
        return Table(table.columns, [mean if line["score"] in self.means else line for line, mean in lines])

    def counted(self, lines: Lines) -> Lines:
        """Return the lines of the table with published numbers of methods that repeat what was published."""
        return [line for line in lines if line.get("published") and line["method"] not in self.beside]

    def draw(self, *, quick: bool = False) -> list[Path]:
        """Draw the figures, and return their files.

        Raises:
            InputError: They are made of arrays, and those of a method are not in the folder of runs.
        """
        if self.figures is None:
            return []
        results = self.results(quick=quick)
        lacking = without_arrays(results) if self.from_arrays else []
        if lacking:
            raise InputError(
                f"the figures of {self.label(quick)} are left as they are: the folder of runs has no arrays of "
                f"{'; '.join(lacking)}; run these methods again, or copy their runs there"
            )
        return self.figures(results, self.folder(quick))

    def folder(self, quick: bool) -> Path:
        """Return the folder of its tables and figures; those of a quick run are not to be mistaken for results."""
        folder = results_folder(quick) / self.label(quick)
        folder.mkdir(parents=True, exist_ok=True)
        return folder

    def stored_runs(self, quick: bool) -> Path:
        """Return the table of the runs that it looks at."""
        return results_folder(quick) / self.config(quick).name / "runs.csv"

    def label(self, quick: bool) -> str:
        """What the folder of its tables and figures is called."""
        name = self.config(quick).name
        return name if self.name is None else f"{self.name}-quick" if quick else self.name


def results_folder(quick: bool) -> Path:
    """Return the folder that has a folder for each experiment."""
    return RUNS / "quick" if quick else RESULTS


def check_origin() -> None:
    """Raise an InputError unless the commit that a run will name has the code that makes it."""
    origin = commit()
    if origin is None or origin.endswith("+"):
        state = "is in no git repository" if origin is None else f"has changes since commit {origin[:-1]}"
        raise InputError(
            f"runs are stored with the commit that made them, and this folder {state}; commit first, set "
            "HIDESEEK_COMMIT where only the files of a commit are at hand, or try it with --quick"
        )


def without_arrays(results: Results) -> list[str]:
    """Return the methods with a finished run whose arrays are not in the folder of runs."""
    finished = [record for record in results if record["status"] == "finished"]
    return list(dict.fromkeys(record["method"] for record in finished if not results.arrays(record)))


def with_stored(table: Table, stored: Lines, results: Results) -> Table:
    """Return a table made of arrays, with the stored lines of methods for which it cannot be made now.

    Args:
        table: The table, from the arrays that are at hand.
        stored: The lines of the stored table.
        results: The runs. Stored lines of a method that has no finished run are dropped.
    """
    finished = list(dict.fromkeys(record["method"] for record in results if record["status"] == "finished"))
    made = {line["method"] for line in table} - set(without_arrays(results))
    lines: list[Mapping[str, Any]] = []
    for method in dict.fromkeys([*finished, *(line["method"] for line in table)]):
        kept = [line for line in stored if line["method"] == method and method in finished and method not in made]
        lines += kept or [line for line in table if line["method"] == method]
    return Table(table.columns, lines)


def medians(results: Results, method: str, dataset: str, score: str) -> float:
    """The median over seeds, or not a number where there is none; for figures."""
    values = list(results.values(method, dataset, score).values())
    return median(values) if values else nan


def of_datasets(config: Config, labels: Sequence[str]) -> Config:
    """The configuration with some of its datasets."""
    chosen = {label: config.datasets[label] for label in labels}
    methods = {
        label: replace(method, by_dataset={name: p for name, p in method.by_dataset.items() if name in chosen})
        for label, method in config.methods.items()
    }
    return replace(config, datasets=chosen, methods=methods)


def first_rows(split: Split, n_rows: int | None) -> Split:
    """The first rows of every part; all of them if no number is given."""
    return split if n_rows is None else Split(*(rows_of(part, slice(n_rows)) for part in split))


def published_lines(file: str) -> Lines:
    """A table of the paper, line by line."""
    return read(PUBLISHED / file)


def read(path: Path) -> Lines:
    """Return the lines of a stored table; none where there is no such file."""
    if not path.exists():
        return []
    with open(path, newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))
