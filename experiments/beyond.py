"""Beyond the paper: wide tables, correlated and real columns, with one configuration and no penalty given.

Each of the presets, and the paper's recipe, meets Syn1-6 among 11 to 5,000 columns, Syn4 among 20,000, Syn1-6 on
columns that are all correlated at 0.9 and on those of the credit data, and the California switch. The goals are ours.
Further tables show how well the selected features predict, beside what is possible, and what a selection probability is
worth: how often a feature is relevant that has it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np
from matplotlib.figure import Figure

from experiments.california import california
from experiments.credit import credit
from experiments.experiment import Experiment
from experiments.figures import COLOURS, MARKERS
from experiments.synthetic import NAMES, datasets
from hideseek.benchmark import Config, Results
from hideseek.benchmark._layout import Table
from hideseek.datasets import Dataset
from hideseek.metrics import auroc

SEEDS, FEW_SEEDS = 20, 5
SCORES = ("tpr", "fdr", "f1", "switch", "auroc", "n_selected")
GOALS = {
    "11": 98.5, "100": 97.5, "1000": 97.0, "5000": 96.0, "20000": 95.0, "rho 0.9": 91.0, "credit": 89.0,
    "california": 88.0,
}  # fmt: skip
"""F1 in percent: the mean over the problems of a setting of the medians over seeds."""

TITLES = {
    "11": "Syn1-6, 11 columns", "100": "Syn1-6, 100 columns", "1000": "Syn1-6, 1,000 columns",
    "5000": "Syn1-6, 5,000 columns", "20000": "Syn4, 20,000 columns", "rho 0.9": "Syn1-6, correlated at 0.9",
    "credit": "Syn1-6, credit columns", "california": "California switch",
}  # fmt: skip

BINS = {"none": 0, "under 0.2": 0.001, "to 0.4": 0.2, "to 0.6": 0.4, "to 0.8": 0.6, "under 1": 0.8, "all": 0.999}
"""Selection probabilities, by the least of them."""

WIDE = ("1000", "5000", "20000")
PRESETS = ("paper", "fast", "balanced", "best")


EXPLANATION = """
Preset "best" reaches every goal, with the same settings everywhere; they were settled on seeds from 100 on (LOG.md).
It is weakest on correlated columns (Syn4-6: medians 89.7, 88.4 and 91.1, worst 76.0), where a column and its
neighbours say nearly the same, and has single bad seeds on the credit columns (Syn3 77.5, Syn5 78.4). Its AUROC is
not below that of the paper's recipe anywhere, and 0.0005 to 0.014 below what is possible. "fast" and "balanced" have
the paper's price per feature, which is too high for correlated and for the credit columns. The paper's recipe was not
run among 20,000 columns; among 5,000 it predicts Syn1, Syn2 and Syn4 no better than chance.
"""


def problems(setting: str) -> dict[str, str]:
    """From the label of a dataset to its problem."""
    names = ["Syn4"] if setting == "20000" else ["released"] if setting == "california" else NAMES
    return {f"{name}, {setting}": name for name in names}


def of_setting(setting: str, *, quick: bool = False) -> dict[str, Any]:
    """The datasets of a setting, as a configuration has them."""
    own, size = problems(setting), {"n_rows": 300} if quick else {}
    if setting == "credit":
        return {
            label: {"maker": credit, "parameters": {"name": name, **size}, "test": "validation"}
            for label, name in own.items()
        }
    if setting == "california":
        return {label: {"maker": california, "parameters": {"variant": name, **size}} for label, name in own.items()}
    if setting.startswith("rho"):
        return datasets(own, quick=quick, rho=float(setting.split()[1]))
    return datasets(own, quick=quick, n_features=int(setting))


def config(quick: bool = False) -> Config:
    settings = ("11", "100", "rho 0.9") if quick else tuple(setting for setting in GOALS if setting not in WIDE)
    return of_settings(settings, "beyond", 1 if quick else SEEDS, quick=quick)


def wide(quick: bool = False) -> Config:
    return of_settings(("1000",) if quick else WIDE, "beyond-wide", 1 if quick else FEW_SEEDS, quick=quick)


def of_settings(settings: Sequence[str], name: str, seeds: int, *, quick: bool) -> Config:
    short = {"steps": 20, "n_members": 2} if quick else {}
    chosen = {preset: {"method": "hideseek", "parameters": {"preset": preset, **short}} for preset in PRESETS}
    described = {label: data for setting in settings for label, data in of_setting(setting, quick=quick).items()}
    return Config(chosen, described, name=f"{name}-quick" if quick else name, seeds=seeds, scores=SCORES)


def keep(model: Any, test: Dataset, explanation: Any) -> Mapping[str, Any]:
    """Cells by selection probability, and the relevant ones of them; the AUROC of the true probabilities, if known."""
    probability, relevant = explanation.selection_probability, np.asarray(test.relevant)
    kept: dict[str, Any] = {}
    if probability is not None:
        edges = [*BINS.values(), 2]
        kept["cells"], _ = np.histogram(probability, edges)
        kept["hits"], _ = np.histogram(probability[relevant], edges)
    if test.probability is not None:
        kept["possible_auroc"] = auroc(test.y, test.probability)
    return kept


def by_setting(results: Results) -> Table:
    """F1 beside the goals, with the worst seed of the worst problem."""
    lines = []
    for method in dict.fromkeys(record["method"] for record in results):
        for setting, goal in GOALS.items():
            values = [list(results.values(method, label, "f1").values()) for label in problems(setting)]
            switches = [list(results.values(method, label, "switch").values()) for label in problems(setting)]
            if not all(values):
                continue
            found = [median(each) for each in switches if each]
            lines.append(
                {
                    "method": method,
                    "setting": setting,
                    "f1": float(np.mean([median(each) for each in values])),
                    "goal": goal,
                    "worst problem": min(median(each) for each in values),
                    "worst seed": min(min(each) for each in values),
                    "switch": float(np.mean(found)) if found else None,
                }
            )
    return Table(["method", "setting", "f1", "goal", "worst problem", "worst seed", "switch"], lines)


def reliability(results: Results) -> Table:
    """How often a feature is relevant, by its selection probability; in stored runs, the share of the members."""
    sums: dict[tuple[str, str], Any] = {}
    settings = {label: setting for setting in GOALS for label in problems(setting)}
    for record in results:
        if record["status"] == "finished":
            kept = results.arrays(record)
            if "cells" not in kept:
                continue
            key = record["method"], settings[record["dataset"]]
            sums[key] = sums.get(key, 0) + np.stack((kept["cells"], kept["hits"]))
    lines = []
    for (method, setting), (cells, hits) in sums.items():
        shares = [float(hit / cell) if cell else None for cell, hit in zip(cells, hits, strict=True)]
        lines.append({"method": method, "setting": setting, **dict(zip(BINS, shares, strict=True))})
    return Table(["method", "setting", *BINS], lines)


def predictions(results: Results) -> Table:
    """AUROC of the selected features on test rows: the medians over seeds, and how far the best preset is from them."""
    lines = []
    methods = list(dict.fromkeys(record["method"] for record in results))
    for label in dict.fromkeys(record["dataset"] for record in results):
        found = {method: results.values(method, label, "auroc") for method in methods}
        possible = results.values(methods[-1], label, "possible_auroc")
        line: dict[str, Any] = {"dataset": label}
        line |= {method: median(values.values()) if values else None for method, values in found.items()}
        line["possible"] = median(possible.values()) if possible else None
        pairs = [(found["best"][seed], found["paper"][seed]) for seed in found["best"].keys() & found["paper"].keys()]
        line["best - paper"] = median(ours - theirs for ours, theirs in pairs) if pairs else None
        gaps = [possible[seed] - found["best"][seed] for seed in possible.keys() & found["best"].keys()]
        line["possible - best"] = median(gaps) if gaps else None
        lines.append(line)
    return Table(["dataset", *methods, "possible", "best - paper", "possible - best"], lines)


def tables(results: Results) -> Mapping[str, Table]:
    return {
        "auroc": predictions(results),
        "reliability": reliability(results),
        "by_problem": results.summary("f1"),
    }


def figures(results: Results, path: Path) -> list[Path]:
    """F1 of every preset by setting: the mean of the medians, a line down to the worst seed, and the goal."""
    lines = list(by_setting(results))
    settings = [setting for setting in GOALS if any(line["setting"] == setting for line in lines)][::-1]
    methods = list(dict.fromkeys(line["method"] for line in lines))
    figure = Figure(figsize=(7, 0.75 * len(settings) + 1), layout="constrained")
    panel = figure.subplots()
    for i, method in enumerate(methods):
        own = [line for line in lines if line["method"] == method]
        y = [settings.index(line["setting"]) + 0.3 - 0.2 * i for line in own]
        f1, worst = ([line[name] for line in own] for name in ("f1", "worst seed"))
        panel.hlines(y, worst, f1, color=COLOURS[i], linewidth=1)
        panel.plot(f1, y, MARKERS[i], color=COLOURS[i], label=method, markersize=6)
    goals = [GOALS[setting] for setting in settings]
    panel.vlines(goals, np.arange(len(goals)) - 0.45, np.arange(len(goals)) + 0.45, color="0.5", label="goal")
    panel.set_yticks(range(len(settings)), [TITLES[setting] for setting in settings])
    panel.set(xlabel="F1 in percent; the line ends at the worst seed of the worst problem", xlim=(-2, 102))
    panel.grid(axis="x", alpha=0.3)
    panel.legend(loc="upper center", bbox_to_anchor=(0.4, 1.18 if len(settings) < 4 else 1.11), ncols=len(methods) + 1)
    file = path.with_name(f"{path.name}_f1.png")
    figure.savefig(file, dpi=150)
    return [file]


EXPERIMENT = Experiment(
    about="Wide, correlated and real tables without a given penalty, and what a selection probability is worth",
    config=config,
    keep=keep,
    table=by_setting,
    tables=tables,
    figures=figures,
    explanation=EXPLANATION,
    parts=(
        Experiment(
            about="The same among 1,000 to 20,000 columns",
            config=wide,
            keep=keep,
            table=by_setting,
            tables=tables,
            figures=figures,
            stack=1,
        ),
    ),
)
