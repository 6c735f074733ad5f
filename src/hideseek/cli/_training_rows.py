"""The rows that ``hideseek fit`` learns from: a table, or a sample of the rows of many files."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING, Any, NamedTuple

from hideseek.cli._columns import check_names
from hideseek.cli._folders import is_several
from hideseek.cli._formats import STANDARD_STREAM
from hideseek.cli._reading import read_table, title
from hideseek.cli._target import split_target, task_of
from hideseek.cli._usage import UsageError
from hideseek.errors import InputError

if TYPE_CHECKING:
    import narwhals as nw
    from numpy.typing import NDArray

    from hideseek.scoring import SampledFiles

__all__ = ["TrainingRows", "training_rows"]


class TrainingRows(NamedTuple):
    """What there is to learn from.

    Attributes:
        title: What it is called in messages.
        table: The columns to learn from.
        y: The target of each row.
        weight: The weight of each row, or None.
        task: "classification" or "regression".
        sample: What was drawn from many files; None for one table.
    """

    title: str
    table: nw.DataFrame[Any]
    y: NDArray[Any]
    weight: NDArray[Any] | None
    task: str
    sample: SampledFiles | None = None

    @property
    def n_seen(self) -> int:
        """Rows that these were drawn from."""
        return len(self.y) if self.sample is None else self.sample.n_rows


def training_rows(arguments: argparse.Namespace, *, progress: bool) -> TrainingRows:
    """Read the table, or draw from the files, that the arguments name."""
    if arguments.target in arguments.drop:
        raise UsageError(f"--drop {arguments.target}: the target cannot be dropped")
    if arguments.weight in (arguments.target, *arguments.drop):
        raise UsageError(f"--weight {arguments.weight}: this column is the target, or dropped")
    return _sampled(arguments, progress) if is_several(arguments.data) else _read(arguments)


def _read(arguments: argparse.Namespace) -> TrainingRows:
    if arguments.rows is not None:
        raise UsageError("--rows is for a folder, a pattern or several files; it draws some of their rows")
    (source,), weight = arguments.data, [arguments.weight] if arguments.weight is not None else []
    table, name = read_table(source), title(source)
    check_names(table, [arguments.target, *weight, *arguments.drop], name)
    table, y = split_target(table.drop(arguments.drop), arguments.target)
    weights = table[weight[0]].to_numpy() if weight else None
    table = table.drop(weight)
    if not table.columns:
        raise InputError(f"{name} has no column besides the target {arguments.target!r}")
    task = task_of(y) if arguments.task == "auto" else arguments.task
    return TrainingRows(name, table, y, weights, task)


def _sampled(arguments: argparse.Namespace, progress: bool) -> TrainingRows:
    import narwhals as nw

    from hideseek.scoring import sample_files

    if STANDARD_STREAM in arguments.data:
        raise UsageError("standard input cannot be one of several files; name files alone")
    sample = sample_files(
        arguments.data if len(arguments.data) > 1 else arguments.data[0],
        arguments.target,
        n_rows=arguments.rows,
        sample_weight=arguments.weight,
        drop=arguments.drop,
        task=arguments.task,
        seed=arguments.seed,
        progress=progress,
    )
    task = task_of(sample.y) if arguments.task == "auto" else arguments.task
    used = slice(sample.n_drawn if task == "regression" else None)  # the rows after them are of rare classes
    weight = None if sample.sample_weight is None else sample.sample_weight[used]
    table = nw.from_native(sample.X, eager_only=True)[used]
    name = arguments.data[0] if len(arguments.data) == 1 else "all files"
    return TrainingRows(name, table, sample.y[used], weight, task, sample)
