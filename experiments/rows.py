"""How many rows are enough: the default on 10,000 to 1,000,000 rows, at one cost and at four times that cost.

The default takes 3,000 steps of 128 rows whatever the table has, so that a member sees 384,000 draws of rows; `longer`
takes 12,000 steps. `fit_files` learns from a sample of the rows, and the size of that sample follows from this table.
Columns are in single precision, and every fit is scored on 10,000 other rows.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.figure import Figure

from experiments.experiment import Experiment, medians
from experiments.figures import COLOURS, MARKERS
from hideseek.benchmark import Config, Results
from hideseek.benchmark.layout import Table
from hideseek.datasets import Dataset, Split, make_switch, make_syn
from hideseek.metrics import auroc

EXPLANATION = """
Beyond 100,000 rows the default's scores show no trend: from there to 1,000,000 the medians move up and down by up to
0.9 in F1 on Syn4 (best at 100,000), 0.4 on Syn6 and 1.1 on the switch of three cells, and by up to 0.002 in AUROC. With
four times the steps nothing is gained beyond 100,000 rows either: 99.2 to 99.3, 99.4 to 99.6 and 97.2 to 98.0. So
`fit_files` draws 300,000 rows unless it is told otherwise; 100,000,000 rows in files then give what 1,000,000 in memory
give (`python -m benchmarks.hundred_million fit`). Steps are worth more than rows from 30,000 rows on: three cells have
an F1 of 88 to 89 after 3,000 steps and of 97 to 98 after 12,000. With 10,000 rows of Syn4 they are too many (96.3 from
97.5). Three seeds; sixteen fits ran side by side on one machine while the seconds were taken.
"""

PROBLEMS = ("Syn4", "Syn6", "three cells")
SIZES = (10_000, 30_000, 100_000, 300_000, 1_000_000)
HELD_OUT, SEEDS = 10_000, 3
SCORES = ("f1", "tpr", "fdr", "auroc", "n_selected", "seconds_fit")
METHODS = {"default": {}, "longer": {"steps": 12_000}}


def label(problem: str, n_rows: int) -> str:
    return f"{problem}, {n_rows:,} rows"


def drawn(problem: str, n_train: int, n_held_out: int, random_state: int = 0) -> Split:
    """Rows to learn from with the seed, to test on with the next, to validate on with the one after."""
    parts = []
    for later, n_rows in enumerate((n_train, n_held_out, n_held_out)):
        seed = random_state + later
        if problem == "three cells":
            data = make_switch(n_cells=3, n_samples=n_rows, random_state=seed)
        else:
            data = make_syn(problem, n_samples=n_rows, random_state=seed)
        parts.append(replace(data, X=data.X.astype(np.float32)))
    train, test, validation = parts
    return Split(train, validation, test)


def config(quick: bool = False) -> Config:
    short = {"steps": 20, "n_members": 2} if quick else {}
    methods = {name: {"method": "hideseek", "parameters": {**how, **short}} for name, how in METHODS.items()}
    smaller, sizes = (100, SIZES[:2]) if quick else (1, SIZES)
    datasets = {
        label(problem, size): {
            "maker": drawn,
            "parameters": {"problem": problem, "n_train": size // smaller, "n_held_out": HELD_OUT // smaller},
        }
        for problem in PROBLEMS
        for size in sizes
    }
    return Config(methods, datasets, name="rows-quick" if quick else "rows", seeds=1 if quick else SEEDS, scores=SCORES)


def keep(model: Any, test: Dataset, explanation: Any) -> Mapping[str, Any]:
    """Return the AUROC of the true probabilities, above which none can be."""
    return {} if test.probability is None else {"possible_auroc": auroc(test.y, test.probability)}


def by_size(results: Results) -> Table:
    """Medians over seeds by problem, method and number of rows, with the worst seed."""
    lines = []
    for problem in PROBLEMS:
        for method in METHODS:
            for size in SIZES:
                found = results.values(method, label(problem, size), "f1")
                if not found:
                    continue
                own = {
                    score: medians(results, method, label(problem, size), score)
                    for score in ("f1", "auroc", "possible_auroc", "n_selected", "seconds_fit")
                }
                named = {"problem": problem, "method": method, "rows": size, "seeds": len(found)}
                lines.append({**named, **own, "worst f1": min(found.values())})
    columns = ["f1", "worst f1", "auroc", "possible_auroc", "n_selected", "seconds_fit"]
    return Table(["problem", "method", "rows", "seeds", *columns], lines)


def figures(results: Results, path: Path) -> list[Path]:
    """F1, and what is missing to the AUROC that is possible, against the rows."""
    figure = Figure(figsize=(9, 3.6), layout="constrained")
    left, right = figure.subplots(1, 2, sharex=True)
    for i, problem in enumerate(PROBLEMS):
        for method, style in zip(METHODS, ("-", "--"), strict=True):
            own = {
                score: np.array([medians(results, method, label(problem, size), score) for size in SIZES])
                for score in ("f1", "auroc", "possible_auroc")
            }
            how = {"color": COLOURS[i], "marker": MARKERS[i], "linestyle": style}
            left.plot(SIZES, own["f1"], label=f"{problem}, {method}", **how)
            right.plot(SIZES, own["possible_auroc"] - own["auroc"], **how)
    left.set(xscale="log", xlabel="rows", ylabel="F1 in percent")
    right.set(xlabel="rows", ylabel="possible AUROC - AUROC", ylim=(0, None))
    left.legend(frameon=False, fontsize=8)
    for panel in (left, right):
        panel.grid(alpha=0.3)
    file = path / "curves.png"
    figure.savefig(file, dpi=150)
    return [file]


EXPERIMENT = Experiment(
    about="How many rows are enough: 10,000 to 1,000,000 at one cost, and at four times that cost",
    config=config,
    keep=keep,
    table=by_size,
    figures=figures,
    explanation=EXPLANATION,
    stack=1,
)
