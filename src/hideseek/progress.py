"""Progress bars for training and for files, on a terminal only."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from hideseek.engine.training import Progress as OnProgress

__all__ = ["files_progress", "training_progress"]


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


@contextmanager
def files_progress(
    shown: bool, n_files: int, title: str = "explaining files"
) -> Iterator[tuple[Callable[[], None], Callable[[int], None]]]:
    """Give a function to call after each file, and one to call with a number of rows that are done.

    They move a bar if ``shown`` is set and the error stream is a terminal, and else do nothing.
    """
    if not (shown and sys.stderr.isatty()):
        yield lambda: None, lambda _: None
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (
        TextColumn(title),
        BarColumn(),
        MofNCompleteColumn(),
        TimeRemainingColumn(),
        TextColumn("{task.fields[rows]:,} rows"),
    )
    with Progress(*columns, console=Console(stderr=True)) as bar:
        task, rows = bar.add_task("", total=n_files, rows=0), 0

        def on_rows(n_rows: int) -> None:
            nonlocal rows
            rows += n_rows
            bar.update(task, rows=rows)

        yield lambda: bar.advance(task), on_rows
