"""A progress bar for training, on a terminal only."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager

from hideseek.engine.training import Progress as OnProgress

__all__ = ["training_progress"]


@contextmanager
def training_progress(verbose: bool, steps: int, penalty: float) -> Iterator[OnProgress | None]:
    """Return a callback for the training loop that updates a bar with loss, penalty and features shown per row.

    Returns None unless ``verbose`` is set and the error stream is a terminal.
    """
    if not (verbose and sys.stderr.isatty()):
        yield None
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (
        TextColumn("fitting"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeRemainingColumn(),
        TextColumn("loss {task.fields[loss]:.4f}  penalty {task.fields[penalty]:.3g}  shown {task.fields[shown]:.2f}"),
    )
    with Progress(*columns, console=Console(stderr=True)) as bar:
        task = bar.add_task("", total=steps, loss=float("nan"), penalty=0.0, shown=float("nan"))

        def on_progress(step: int, share: float, loss: float, shown: float) -> None:
            bar.update(task, completed=step, loss=loss, penalty=share * penalty, shown=shown)

        yield on_progress
