"""Where a method is more than three points from the paper, the same again with other seeds: is it the draw?

`python -m experiments.other_seeds` runs the numbers in question with seeds that the experiment did not use, and writes
a table beside each experiment's own: the paper's number, that of the experiment's seeds, and that of the others. If the
others are as far from the experiment's as the paper is, the difference is what seeds alone make.
"""

from __future__ import annotations

import argparse
from dataclasses import replace
from statistics import mean, median

from experiments.__main__ import experiment
from experiments.experiment import PUBLISHED, RESULTS, RUNS, of_datasets
from hideseek.benchmark import run
from hideseek.benchmark.layout import Table

FIRST = 21

CASES: dict[str, tuple[tuple[str, ...], tuple[str, ...], int]] = {
    "synthetic": (("lasso",), ("Syn4",), 20),
    "credit": (("paper",), ("Syn2", "Syn6"), 20),
    "hundred": (("paper",), ("Syn4",), 20),
    "annealing": (("q = 0.5", "q = 1"), (), 8),
    "correlated": (("paper",), tuple(f"Syn{i}, rho {rho}" for rho in (0.8, 0.9) for i in range(1, 7)), 5),
}
"""By experiment: methods, datasets (none named: all) and how many other seeds."""

COLUMNS = ("method", "dataset", "score", "published", "ours", "other_seeds", "lowest", "highest", "n_other_seeds")


def other_seeds(name: str) -> Table:
    methods, datasets, n_seeds = CASES[name]
    one = experiment(name)
    config = one.config(False)
    chosen = {label: config.methods[label] for label in methods}
    config = replace(config, methods=chosen, seeds=range(FIRST, FIRST + n_seeds), name=f"{config.name}-other-seeds")
    if datasets:
        config = of_datasets(config, datasets)
    others = one.view(run(config, RUNS, stack_size=one.stack))
    average = {"median": median, "mean": mean}[one.average]
    lines = []
    labels = {label: one.labels.get(label, label) for label in methods}
    for line in one.view(one.results()).compare(PUBLISHED / str(one.published), labels, average=one.average):
        values = list(others.values(line["method"], line["dataset"], line["score"]).values())
        if values and line["published"] is not None:
            spread = {"other_seeds": average(values), "lowest": min(values), "highest": max(values)}
            lines.append({**line, **spread, "n_other_seeds": len(values)})
    return Table(COLUMNS, lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="*", default=list(CASES), help=", ".join(CASES))
    for name in parser.parse_args().names:
        table = other_seeds(name)
        table.to_csv(RESULTS / name / "other_seeds.csv")
        print(f"{name}\n{table}\n", flush=True)


if __name__ == "__main__":
    main()
