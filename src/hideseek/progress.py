"""Progress bars for training and for files, on a terminal and in notebooks."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from hideseek.engine.training import Progress as OnProgress

if TYPE_CHECKING:
    from rich.console import Console

__all__ = ["files_progress", "progress_console", "training_progress"]

_NOTEBOOK_WIDTH = 100


def progress_console(wanted: bool) -> Console | None:
    """Return where to draw a progress bar: the terminal, or the output of a notebook's cell.

    Returns None if no bar is wanted, and where neither is there.
    """
    in_notebook = _in_notebook()
    if not (wanted and (in_notebook or sys.stderr.isatty())):
        return None
    from rich.console import Console

    if in_notebook:  # as on a terminal: rich's own way needs widgets, which may not be installed
        return Console(stderr=True, force_jupyter=False, force_terminal=True, width=_NOTEBOOK_WIDTH)
    return Console(stderr=True)


def _in_notebook() -> bool:
    """Return whether the code runs in a cell of Jupyter or Colab, which have loaded IPython themselves."""
    shell = getattr(sys.modules.get("IPython"), "get_ipython", lambda: None)()
    return type(shell).__module__.startswith(("ipykernel", "google.colab"))


@contextmanager
def training_progress(verbose: bool, steps: int, penalty: float) -> Iterator[OnProgress | None]:
    """Return a callback for the training loop that updates a bar with loss, penalty and features shown per row.

    Returns None unless ``verbose`` is set and there is a place for a bar.
    """
    console = progress_console(verbose)
    if console is None:
        yield None
        return
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (
        TextColumn("fitting"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeRemainingColumn(),
        TextColumn("loss {task.fields[loss]:.4f}  penalty {task.fields[penalty]:.3g}  shown {task.fields[shown]:.2f}"),
    )
    with Progress(*columns, console=console) as bar:
        task = bar.add_task("", total=steps, loss=float("nan"), penalty=0.0, shown=float("nan"))

        def on_progress(step: int, share: float, loss: float, shown: float) -> None:
            bar.update(task, completed=step, loss=loss, penalty=share * penalty, shown=shown)

        yield on_progress


@contextmanager
def files_progress(
    shown: bool, n_files: int, title: str = "explaining files"
) -> Iterator[tuple[Callable[[], None], Callable[[int], None]]]:
    """Give a function to call after each file, and one to call with a number of rows that are done.

    They move a bar if ``shown`` is set and there is a place for it, and else do nothing.
    """
    console = progress_console(shown)
    if console is None:
        yield lambda: None, lambda _: None
        return
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (
        TextColumn(title),
        BarColumn(),
        MofNCompleteColumn(),
        TimeRemainingColumn(),
        TextColumn("{task.fields[rows]:,} rows"),
    )
    with Progress(*columns, console=console) as bar:
        task, rows = bar.add_task("", total=n_files, rows=0), 0

        def on_rows(n_rows: int) -> None:
            nonlocal rows
            rows += n_rows
            bar.update(task, rows=rows)

        yield lambda: bar.advance(task), on_rows
