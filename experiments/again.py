"""Run some stored cells again and compare: `python -m experiments.again --cells 20`.

A cell is a method, a dataset and a seed. Cells are drawn by chance among the stored runs of methods that take seconds;
the runs that are made here are not stored. Trees and linear models should agree to all digits, networks nearly: they
were trained on another device, in a stack of other runs.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from random import Random
from tempfile import TemporaryDirectory
from typing import Any

from experiments.__main__ import experiment
from experiments.experiment import read
from hideseek.benchmark import run
from hideseek.benchmark.layout import Table

CHEAP = ("paper", "shap", "forest", "lasso", "l2x-one-epoch")
EXPERIMENTS = ("synthetic", "hundred", "correlated", "credit", "california")
SCORES = ("tpr", "fdr", "f1")
COLUMNS = ("experiment", "method", "dataset", "seed", *SCORES, "largest difference")

Cell = tuple[str, dict[str, str]]


def cells(n_cells: int, random_state: int) -> list[Cell]:
    """Draw cells among the stored runs that have a known truth."""
    stored = [
        (name, dict(line))
        for name in EXPERIMENTS
        for line in read(experiment(name).stored_runs(quick=False))
        if line["method"] in CHEAP and line["status"] == "finished" and line.get("f1")
    ]
    return Random(random_state).sample(stored, n_cells)


def again(name: str, stored: dict[str, str]) -> dict[str, Any]:
    """Run one cell and return its scores beside the stored ones."""
    config = experiment(name).some(False, [int(stored["seed"])], [stored["method"]], [stored["dataset"]])
    with TemporaryDirectory() as folder:
        record = next(iter(run(config, folder, device="cpu", verbose=False)))
    found = {score: record["scores"][score] for score in SCORES}
    apart = max(abs(found[score] - float(stored[score])) for score in SCORES)
    shown = {score: f"{found[score]:.2f} ({float(stored[score]):.2f})" for score in SCORES}
    line = {"experiment": name, **{key: stored[key] for key in ("method", "dataset", "seed")}}
    return {**line, **shown, "largest difference": apart}


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--cells", type=int, default=20)
    parser.add_argument("--seed", type=int, default=0, help="which cells are drawn")
    chosen = parser.parse_args(arguments)
    lines = []
    for name, stored in cells(chosen.cells, chosen.seed):
        lines.append(again(name, stored))
        print(", ".join(f"{key} {value}" for key, value in lines[-1].items()), flush=True)
    print(Table(COLUMNS, lines))
    print(f"{sum(line['largest difference'] <= 1 for line in lines)} of {len(lines)} cells agree within one point.")


if __name__ == "__main__":
    main()
