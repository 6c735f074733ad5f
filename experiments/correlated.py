"""Columns that are all correlated with each other, from 0 to 0.9: F1 over Syn1-6, and how often the switch is found.

The paper has one run of each method, with the penalty of independent columns; here there are five. LIME explains 100
rows of each test set. The compared methods have further seeds on Syn4-6 alone, which have the switch.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from experiments.experiment import Experiment, medians
from experiments.figures import curves, new_figure
from experiments.synthetic import BESIDE, LABELS, NAMES, datasets, lime_tables, methods
from hideseek.benchmark import Config, Results
from hideseek.benchmark.layout import Table

SEEDS = 5
RHOS = tuple(step / 10 for step in range(10))
QUICK = (0.0, 0.5, 0.9)
SCORES = ("f1", "switch", "tpr", "fdr")
METHODS = ("paper", "balanced", "realx", "invase", "l2x", "l2x-one-epoch", "shap", "lime")

_WITHIN_OUR_RUNS = (
    "invase, rho 0.3",
    "realx, rho 0.5",
    *(f"lime, rho {rho}" for rho in ("0.0", "0.1", "0.2", "0.5", "0.7", "0.8", "0.9")),
)
"""Numbers that differ from our median and lie between the lowest and the highest of our five runs."""

EXPLANATION = """
The paper gives switch accuracy for one run of each method, whose INVASE moves between 6 and 84 from one rho to the
next; F1 is given as a picture only. `balanced` keeps the paper's price of a feature, 0.3 / 11. At rho 0.8 and 0.9 our
switch accuracy with lambda = 0.3 is lower than the paper's, and seeds do not explain it (see the table of other seeds).
The penalty does in part: with lambda = 0.1 seeds 0 to 4 have 95.2, 61.2, 98.6, 97.5 and 100 at rho 0.9
(`python -m experiments.differences correlated`), so that more than 99.4 at every rho is reached with no setting tried.
F1 falls with rho for every method that is not told k. SHAP, which is, and INVASE are above Hide&Seek from rho 0.8 on.
REAL-X finds the switch in all rows up to rho 0.4 and in 80 to 97 of 100 from 0.5 on, where the paper has 97 and more.

Other kinds of columns were tried on Syn4-6, with lambda = 0.3, at rho 0.8 and 0.9 for Hide&Seek (paper: 100 and 99.4)
and at rho 0.2, 0.8 and 0.9 for SHAP (paper: 85.0, 90.6 and 96.7); two seeds, `python -m experiments.differences
columns`. z is the common part of all columns, x the own part of each:

| columns | Hide&Seek | SHAP |
| --- | --- | --- |
| constant correlation rho, as described | 80.2, 62.8 | 79.6, 87.3, 90.5 |
| correlation rho to the power of the distance | 99.9, 97.8 | 81.0, 83.3, 85.1 |
| rho z + sqrt(1 - rho) x | 95.3, 64.8 | 82.6, 90.2, 91.5 |
| rho z + (1 - rho) x | 35.4, 14.0 | 86.5, 94.9, 94.0 |
| as described, tested on independent columns (SHAP at 0.8 and 0.9) | 88.4, 64.8 | 85.8, 90.5 |
| x11 independent of the others (three seeds) | 99.9, 99.3 | 84 at 0.8 and 0.9 |

The kinds of columns that give Hide&Seek the paper's numbers take those of SHAP further away, so that none fits both
methods and the difference stays open. With x11 independent REAL-X has 100 at rho 0.8 (one seed, paper 99.2; `python -m
experiments.differences free_switch`). L2X was tried with other settings, none of which has its 54 to 61 (see `switch`).

Smaller penalties move Hide&Seek and REAL-X at once, and SHAP has none. At rho 0.9 Hide&Seek with lambda = 0.1 has the
median 97.5 of five seeds (paper 99.4). REAL-X with 0.05 in place of 0.15 has 86.5, 100 and 100 on Syn4, Syn5 and Syn6
for seed 0 (with 0.15: 92.2, 100 and 90.8; paper: 99.3 in the mean), and on Syn5 100 and 99.3 for seeds 1 and 3, where
0.15 has 7.2 and 23.3 (`python -m experiments.differences penalties --seeds 4`). 0.1 and 0.05 are the paper's penalties
on the credit columns. They account for most of both differences, not for all: one seed of five of Hide&Seek stays at
61.2. The paper names no other penalty than that of independent columns here. INVASE with smaller penalties was not run.
"""


def problems(rhos: Sequence[float]) -> dict[float, dict[str, str]]:
    """By rho, from the label of a dataset to its problem."""
    return {rho: {f"{name}, {group(rho)}": name for name in NAMES} for rho in rhos}


def group(rho: float) -> str:
    return f"rho {rho:.1f}"


def correlated_datasets(rhos: Sequence[float], *, quick: bool = False) -> dict[str, object]:
    """Syn1-6 for every rho."""
    by_rho = problems(rhos)
    return {label: data for rho, own in by_rho.items() for label, data in datasets(own, quick=quick, rho=rho).items()}


def config(quick: bool = False) -> Config:
    rhos = QUICK if quick else RHOS
    every = {label: name for own in problems(rhos).values() for label, name in own.items()}
    chosen = methods(every, METHODS, quick=quick)
    if quick:
        chosen["lime"]["rows"] = 1
    return Config(
        chosen,
        correlated_datasets(rhos, quick=quick),
        name="correlated-quick" if quick else "correlated",
        seeds=1 if quick else SEEDS,
        scores=SCORES,
    )


def by_rho(results: Results) -> Results:
    """Means over Syn1-6, and of switch accuracy over Syn4-6; runs on Syn4-6 alone have no other score."""
    own = {group(rho): list(labels) for rho, labels in problems(RHOS).items()}
    whole = list(results.pooled(own))
    seen = {(record["method"], record["dataset"], record["seed"]) for record in whole}
    for record in results.pooled({label: six[3:] for label, six in own.items()}):
        if (record["method"], record["dataset"], record["seed"]) not in seen:
            scores = {name: value for name, value in record["scores"].items() if name == "switch"}
            whole.append({**record, "scores": scores})
    return Results(whole, scores=results.scores)


def tables(results: Results) -> Mapping[str, Table]:
    means = by_rho(results)
    return {"means": means.summary(), **lime_tables(means)}


def draw_by_rho(means: Results, path: Path, ncols: int = 4) -> Path:
    """F1 and switch accuracy against rho, a line for each method; the legend has so many columns."""
    labels = list(dict.fromkeys(record["method"] for record in means))
    figure = new_figure(7, 3.2)
    panels = figure.subplots(1, 2, sharex=True)
    for panel, score, title in zip(
        panels, ("f1", "switch"), ("F1 over Syn1-6", "Switch accuracy, Syn4-6"), strict=True
    ):
        rhos = [rho for rho in RHOS if any(record["dataset"] == group(rho) for record in means)]
        series = {label: [medians(means, label, group(rho), score) for rho in rhos] for label in labels}
        curves(panel, rhos, series)
        panel.set(title=f"{title}, %", xlabel="correlation of every pair of columns", ylim=(-3, 103))
    figure.legend(*panels[0].get_legend_handles_labels(), loc="outside lower center", ncols=ncols, frameon=False)
    figure.savefig(path, dpi=150)
    return path


def figures(results: Results, path: Path) -> list[Path]:
    return [draw_by_rho(by_rho(results), path / "by_rho.png")]


EXPERIMENT = Experiment(
    about="Correlated columns, rho 0 to 0.9: mean F1 over Syn1-6 and switch accuracy over Syn4-6",
    paper="Figure and table of correlated columns",
    reasons={
        "paper": "Open; not the seeds, and the penalty in part: with lambda = 0.1 four of five seeds come to 95.2 or "
        "more at rho 0.9, one to 61.2. Five other seeds with lambda = 0.3 give "
        "{correlated/other_seeds|paper|rho 0.8|switch|other_seeds} at rho 0.8 and "
        "{correlated/other_seeds|paper|rho 0.9|switch|other_seeds} at 0.9. Columns whose correlation falls with "
        "their distance give 99.9 and 97.8, an x11 independent of the others 99.9 and 99.3; but SHAP then has 83 to "
        "85, where the paper has 90.6 and 96.7.",
        **dict.fromkeys(_WITHIN_OUR_RUNS, "Seeds: the paper gives one run, and five of ours lie on both sides of it."),
        "invase": "Open; the paper's single run goes from 5.9 to 84.4 between rho 0.1 and 0.9, medians of our five "
        "from 52 to 72.",
        "l2x-one-epoch": "Open; no number of updates tried gives a switch accuracy over 52, and no other setting 58 on "
        "all of Syn4, Syn5 and Syn6 at rho 0 (`python -m experiments.l2x_settings`).",
        "shap": "Open; not the seeds: five have 78.5 to 79.9 at rho 0.2 (`python -m experiments.differences shap`). "
        "Other kinds of columns give 81.0 to 86.5 there, and none of them fits at rho 0.8 and 0.9 as well.",
        "lime": "Open; five runs of 100 rows of each problem have 24.0 to 50.3 at rho 0.4 and 42.7 to 64.0 at 0.6.",
        "realx": "Open; not the seeds: five have at most 99.6, 95.9, 98.4 and 94.3 at rho 0.6 to 0.9. The penalty "
        "accounts for much of it: with 0.05 in place of 0.15 two runs that miss the switch at rho 0.9 find it in 99 of "
        "100 rows. With x11 independent of the other columns one run has 100 at rho 0.8.",
    },
    config=config,
    published="switch_accuracy_by_rho.csv",
    labels={label: LABELS[label] for label in METHODS},
    beside=BESIDE,
    figures=figures,
    view=by_rho,
    tables=tables,
    explanation=EXPLANATION,
)
