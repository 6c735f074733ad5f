"""Run what trains networks for long, in order of worth, within a time: `python -m experiments.queue --seconds 540`.

Made for a machine that is lent for minutes. An entry is started only if its expected time is left; what is done is
stored in ``experiments/runs/``, and after every entry all of that folder in one file, ``runs.tar.gz``, in the folder
that the environment variable OUT names. Called again with that folder, it goes on where it stopped.
"""

from __future__ import annotations

import argparse
import os
import tarfile
import time
import traceback
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import torch

from experiments import experiment as places
from experiments.__main__ import experiment
from experiments.experiment import Experiment
from experiments.mnist import OTHERS
from experiments.penalty import PENALTIES
from experiments.synthetic import NAMES as SYN
from hideseek.benchmark import Config, load_results
from hideseek.errors import HideSeekError

TEN, HALF, THREE, ONE = range(10), range(5), range(3), range(1)


@dataclass(frozen=True)
class Entry:
    """Some jobs of an experiment.

    Attributes:
        name: The experiment.
        methods: Labels of methods.
        seconds: What all of it is expected to take on an H200.
        seeds: Which seeds; None: the experiment's own.
        datasets: Labels of datasets; none: all.
        stack: How many jobs share a stack at most.
        part: The part of the experiment, by the name of its folder; empty: the experiment itself.
    """

    name: str
    methods: tuple[str, ...]
    seconds: float
    seeds: Sequence[int] | None = None
    datasets: tuple[str, ...] = ()
    stack: int = 128
    part: str = ""

    def config(self, quick: bool) -> Config:
        """Return the configuration of these jobs."""
        whole = self.experiment()
        methods = [label for label in self.methods if label in whole.config(quick).methods]
        return whole.some(quick, self.seeds if not quick else 1, methods, self.datasets)

    def experiment(self) -> Experiment:
        """Return the experiment whose jobs these are, or its part."""
        whole = experiment(self.name)
        return whole if not self.part else next(one for one in whole.parts if one.label(quick=False) == self.part)


QUEUE = (
    Entry("synthetic", ("realx",), 150),
    Entry("hundred", ("realx",), 90, TEN),
    Entry("credit", ("invase",), 130, HALF, tuple(SYN)),
    Entry("credit", ("realx",), 100, HALF),
    Entry("correlated", ("l2x", "l2x-one-epoch"), 40, ONE),
    Entry("correlated", ("realx",), 75, ONE),
    Entry("correlated", ("invase",), 75, ONE),
    Entry("synthetic", ("paper", "l2x-one-epoch"), 30),
    Entry("mnist", ("paper", *OTHERS, "invase", "realx"), 90),
    Entry("mnist", ("paper", *OTHERS), 30, part="mnist-unit"),
    Entry("brca", ("paper", "invase", "realx", "l2x", "l2x-one-epoch"), 60),
    Entry("california", ("realx",), 120, None, ("released",)),
    Entry("million", ("l2x",), 60, HALF),
    Entry("million", ("invase",), 155),
    Entry("million", ("realx",), 90),
    Entry("credit", ("invase",), 130, range(5, 10), tuple(SYN)),
    Entry("credit", ("realx",), 100, range(5, 10)),
    Entry("synthetic", ("invase",), 70, TEN),
    Entry("fewer-k", ("l2x, k = 3", "l2x, k = 4", "l2x, k = 5"), 60),
    Entry("lambda", tuple(f"paper, lambda = {p:g}" for p in PENALTIES), 60),
    Entry("lambda", tuple(f"realx, lambda = {p:g}" for p in PENALTIES), 210, THREE),
    Entry("lambda", tuple(f"invase, lambda = {p:g}" for p in PENALTIES), 130, THREE),
    Entry("hundred", ("realx",), 90, range(10, 20)),
    Entry("synthetic", ("l2x",), 60),
    Entry("knockoff", ("reference_knockoff",), 200, TEN),
)  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seconds", type=float, default=540, help="how long, from the start of the command")
    parser.add_argument("--quick", action="store_true", help="small versions, to see whether everything works")
    parser.add_argument("--only", nargs="+", default=(), help="some experiments, by name")
    arguments = parser.parse_args()
    stop = time.monotonic() + arguments.seconds
    for entry in QUEUE:
        if not arguments.only or entry.name in arguments.only:
            left = stop - time.monotonic()
            print(f"{entry.name}: {', '.join(entry.methods)}: {done(entry, left, quick=arguments.quick)}", flush=True)


def done(entry: Entry, left: float, *, quick: bool) -> str:
    """Run an entry unless it is done or takes too long, and return what happened, in words."""
    config, whole = entry.config(quick), entry.experiment()
    results = load_results(places.RUNS / config.name, config)
    n_waiting, n_jobs = len(results.missing) + len(results.failed), len(results)
    expected = entry.seconds * n_waiting / n_jobs
    if n_waiting == 0:
        return "done before"
    if expected > left:
        return f"not started: {n_waiting} jobs, {expected:.0f} s expected, {left:.0f} s left"
    torch.compiler.reset()  # after eight recompilations of one function torch would give up compiling it
    start = time.monotonic()
    try:
        results = whole.run(
            quick=quick,
            seeds=config.seeds,
            methods=list(config.methods),
            datasets=entry.datasets,
            stack_size=entry.stack,
            retry_failed=True,
            verbose=False,
        )
        said = f"{len(results.failed)} failed"
    except HideSeekError:
        raise
    except Exception:  # the other entries are worth running all the same
        said = traceback.format_exc()
    archive(Path(os.environ.get("OUT", ".")) / "runs.tar.gz")
    return f"{n_waiting} jobs, {time.monotonic() - start:.0f} s ({expected:.0f} s expected), {said}"


def archive(path: Path) -> None:
    """Write all runs to one file, and replace that of the entry before."""
    beside = path.with_suffix(".part")
    with tarfile.open(beside, "w:gz") as file:
        file.add(places.RUNS, arcname="runs")
    beside.replace(path)


if __name__ == "__main__":
    main()
