"""The progress of a grid, and the time left."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from statistics import fmean

from hideseek.benchmark._jobs import Job
from hideseek.benchmark.store import Record
from hideseek.progress import progress_console

__all__ = ["Grid", "grid_progress", "remaining"]


def remaining(
    seconds: Mapping[str, Sequence[float]], left: Mapping[str, int], n_workers: int
) -> tuple[float, list[str]]:
    """Return the estimated seconds left, and the methods without an estimate.

    The times of methods differ a thousandfold, so each method is estimated separately.

    Args:
        seconds: By method, the seconds of its finished jobs.
        left: By method, the number of jobs left.
        n_workers: Number of jobs that run in parallel.
    """
    waiting = {method: count for method, count in left.items() if count > 0}
    known = sum(count * fmean(seconds[method]) for method, count in waiting.items() if seconds.get(method))
    return known / n_workers, [method for method in waiting if not seconds.get(method)]


class Grid:
    """Counts jobs and their seconds; ``watcher`` is called when a job is done."""

    def __init__(self, waiting: Iterable[Job], stored: Iterable[Record], n_workers: int) -> None:
        self.left = Counter(job.method for job in waiting)
        self.total, self.failed, self.n_workers = sum(self.left.values()), 0, n_workers
        self._before: dict[str, list[float]] = {}
        self._now: dict[str, list[float]] = {}
        self.watcher: Callable[[], None] | None = None
        for record in stored:
            _note(self._before, record)

    @property
    def done(self) -> int:
        """Number of jobs done."""
        return self.total - sum(self.left.values())

    def add(self, record: Record) -> None:
        """Count one more finished job."""
        self.left[record["method"]] -= 1
        self.failed += record["status"] == "failed"
        _note(self._now, record)
        if self.watcher is not None:
            self.watcher()

    def estimate(self) -> str:
        """Return the time left in words, from the jobs of this run, or of an earlier one if there are none yet."""
        seconds, unknown = remaining({**self._before, **self._now}, self.left, self.n_workers)
        if not unknown:
            return f"{_duration(seconds)} left"
        return f"more than {_duration(seconds)} left ({', '.join(unknown)} not timed yet)"


def _note(seconds: dict[str, list[float]], record: Record) -> None:
    if record["status"] == "finished":
        seconds.setdefault(record["method"], []).append(record["seconds"])


def _duration(seconds: float) -> str:
    if seconds < 90:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 5400 else f"{seconds / 3600:.1f} h"


@contextmanager
def grid_progress(verbose: bool, grid: Grid) -> Iterator[Grid]:
    """Return the grid; it updates a progress bar if ``verbose`` is set, on a terminal and in a notebook."""
    console = progress_console(verbose and grid.total > 0)
    if console is None:
        yield grid
        return
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

    columns = (
        TextColumn("jobs"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        TextColumn("{task.fields[state]}"),
    )
    with Progress(*columns, console=console) as bar:
        task = bar.add_task("", total=grid.total, state="")

        def move() -> None:
            failed = f"[red]{grid.failed} failed[/red]  " if grid.failed else ""
            bar.update(task, completed=grid.done, state=f"{failed}{grid.estimate()}")

        grid.watcher = move
        yield grid
