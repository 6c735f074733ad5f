"""From files of any size to a random sample of their rows that a model can be fitted on, in one pass."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hideseek.errors import InputError
from hideseek.estimators import FittedFiles
from hideseek.progress import files_progress
from hideseek.scoring._arrow import arrow
from hideseek.scoring._fragments import Fragment, Source, find_fragments, rows_at_once
from hideseek.scoring._keys import keys_of_content, keys_of_places
from hideseek.scoring._reservoir import Reservoir
from hideseek.scoring._training_columns import TrainingColumns, training_columns
from hideseek.validation import check_parameters, choice, integer
from hideseek.warn import warn_caller

__all__ = ["MOST_CLASSES", "ROWS_OF_CLASS", "SampledFiles", "sample_files"]

_ROWS, _CELLS = 300_000, 2**26
"""Rows of a sample unless the caller says how many, and its cells at most, which are fewer rows of a wide table."""

MOST_CLASSES, ROWS_OF_CLASS = 1000, 100
"""Classes that are told apart while files are read, and rows of each that a sample has if there are so many."""


@dataclass(frozen=True)
class SampledFiles:
    """A random sample of the rows of some files.

    Attributes:
        X: The columns to learn from, as an Arrow table.
        y: The target of each row.
        sample_weight: The weight of each row, or None.
        n_drawn: How many rows, the first ones, are drawn from all rows alike; those after them are of rare classes.
        n_files: Files that were read.
        n_rows: Rows in them, without those whose target is missing and those whose weight is 0.
        class_counts: The number of rows of each class, sorted by class; None for numbers and for many classes.
    """

    X: Any
    y: NDArray[Any]
    sample_weight: NDArray[np.float64] | None
    n_drawn: int
    n_files: int
    n_rows: int
    class_counts: dict[Any, int] | None

    def __len__(self) -> int:
        return len(self.y)

    def fitted_files(self, n_used: int) -> FittedFiles:
        """Return what a model that was fitted on so many of the rows is to know of the files."""
        counts = None if self.class_counts is None else tuple(self.class_counts.values())
        return FittedFiles(self.n_files, self.n_rows, n_used, counts)


def sample_files(
    source: Source,
    target: str,
    *,
    n_rows: int | None = None,
    sample_weight: str | None = None,
    drop: Sequence[str] = (),
    task: str = "auto",
    seed: int = 0,
    progress: bool = True,
) -> SampledFiles:
    """Draw rows from files at random, in one pass and in bounded memory.

    Where no two rows of the sample are equal, it depends on the content of the rows alone: neither the order of files,
    nor that of rows, nor which file a row is in changes it. Where rows repeat, it depends on their places as well,
    since all copies of a row would be drawn, or none; every row is still as likely as any other.

    Args:
        source: Files, as of ``explain_files``, all with the same columns.
        target: The column to predict. Rows without it are left out, with a warning.
        n_rows: How many rows to draw; None: 300,000, and fewer of a table of more than 223 columns. A class of which
            fewer than ``ROWS_OF_CLASS`` are among them has that many added, or all that it has.
        sample_weight: The column of weights. Rows of weight 0 are left out.
        drop: Columns to leave out.
        task: "classification", "regression", or "auto": classes are told apart as long as there are few.
        seed: What the draw depends on.
        progress: Show a progress bar, on a terminal.

    Raises:
        HideSeekError: A file cannot be read, or its columns differ from those of the others; the message names it.
    """
    arrow()
    rules = {"n_rows": integer(2).or_none(), "task": choice("auto", "classification", "regression")}
    check_parameters("sample_files", {"n_rows": n_rows, "task": task}, rules)
    fragments = find_fragments(source)
    columns = training_columns(fragments, target, sample_weight, drop)
    if n_rows is None:
        n_rows = min(_ROWS, max(2, _CELLS // len(columns.names)))
    reader = _Reader(columns, n_rows, task, seed)
    with files_progress(progress, len(fragments), "reading files") as (on_file, on_rows):
        for fragment in fragments:
            reader.read(fragment, on_rows)
            on_file()
    if reader.n_without_target:
        warn_caller(f"ignored: {reader.n_without_target:,} rows whose {target!r} is missing")
    return reader.sample(len(fragments))


class _Reader:
    """Reads files one after another, and keeps what a sample needs."""

    def __init__(self, columns: TrainingColumns, n_rows: int, task: str, seed: int) -> None:
        self._columns, self._n_rows, self._task, self._seed = columns, n_rows, task, seed
        self._by_class = task != "regression"
        n_of_class = ROWS_OF_CLASS if self._by_class else 0
        self._by_content, self._by_place = (Reservoir(n_rows, n_of_class) for _ in range(2))
        self._classes: dict[Any, int] = {}
        self._counts = np.zeros(0, dtype=np.int64)
        self._n_seen = 0
        self.n_without_target = 0

    def read(self, fragment: Fragment, on_rows: Callable[[int], None]) -> None:
        """Read one file."""
        columns, first = self._columns, 0
        name = fragment.path.relative_to(fragment.root).as_posix()
        for piece in fragment.tables(columns.names, rows_at_once(len(columns.names)), columns.text_types):
            table = columns.as_agreed(piece, str(fragment.path))
            used, n_missing = columns.usable(table, f"{str(fragment.path)!r}, rows {first} to {first + len(table) - 1}")
            self.n_without_target += n_missing
            places = keys_of_places(name, first, len(table), self._seed)
            first += len(table)
            if not used.all():
                table, places = table.filter(arrow().array(used)), places[used]
            self._add(table, places)
            on_rows(len(piece))

    def _add(self, table: Any, places: NDArray[np.uint64]) -> None:
        classes = self._numbered(table[self._columns.target])
        self._by_content.add(table, keys_of_content(table, self._seed), classes)
        self._by_place.add(table, places, classes)
        self._n_seen += len(table)

    def _numbered(self, labels: Any) -> NDArray[np.intp]:
        """Return the number of the class of each row, and count them; zeros where there are no classes."""
        if self._by_class:
            coded = labels.combine_chunks().dictionary_encode()
            own = coded.dictionary.to_pylist()
            if len(self._classes.keys() | set(own)) <= MOST_CLASSES:
                numbers = [self._classes.setdefault(label, len(self._classes)) for label in own]
                found: NDArray[np.intp] = np.array(numbers, dtype=np.intp)[coded.indices.to_numpy()]
                counts = np.bincount(found, minlength=len(self._classes))
                counts[: len(self._counts)] += self._counts
                self._counts = counts
                return found
            self._many_classes()
        return np.zeros(len(labels), dtype=np.intp)

    def _many_classes(self) -> None:
        if self._task == "classification":
            raise InputError(
                f"the target {self._columns.target!r} has more than {MOST_CLASSES:,} different values, and files are "
                "read for so many classes at most; use a regressor for numbers, or make rare classes one"
            )
        self._by_class = False
        self._by_content.forget_classes()
        self._by_place.forget_classes()

    def sample(self, n_files: int) -> SampledFiles:
        """Return the sample."""
        table = self._by_place.rows()
        if table is None:
            what = (
                f"the target {self._columns.target!r} is missing in every row" if self.n_without_target else "no rows"
            )
            raise InputError(f"the files hold nothing to learn from: {what}")
        keys = keys_of_content(table[: self._n_rows], self._seed)
        if len(np.unique(keys)) == len(keys):
            table = self._by_content.rows()
        counts = dict(zip(self._classes, self._counts.tolist(), strict=True)) if self._by_class else None
        return SampledFiles(
            table.select(self._columns.features),
            self._columns.labels(table),
            self._columns.weights(table),
            min(self._n_rows, len(table)),
            n_files,
            self._n_seen,
            None if counts is None else {label: counts[label] for label in sorted(counts)},
        )
