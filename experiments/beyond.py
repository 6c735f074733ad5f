"""Beyond the paper: tables of every kind, with one configuration and no penalty given.

Each of the presets, and the paper's recipe, meets Syn1-6 among 11 to 5,000 columns, Syn4 among 20,000, Syn1-6 with few
rows, on columns that are all correlated at 0.9 and on those of the credit data, a switch of three cells, Syn4 with a
near copy of every column, three classes, values, and the California switch. The goals are ours. A further table shows
how well the selected features predict, beside what is possible.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np
from numpy.typing import NDArray

from experiments.california import california
from experiments.credit import credit
from experiments.experiment import Experiment
from experiments.figures import COLOURS, MARKERS, new_figure
from experiments.synthetic import NAMES, datasets
from hideseek.benchmark import Config, Results
from hideseek.benchmark.layout import Table
from hideseek.datasets import Dataset, Split, make_syn
from hideseek.metrics import auroc

SEEDS, FEW_SEEDS = 20, 5
SCORES = ("tpr", "fdr", "f1", "switch", "auroc", "n_selected")
GOALS = {
    "11": 98.7, "100": 98.3, "1000": 98.3, "5000": 98.3, "20000": 95.0, "rho 0.9": 94.0, "credit": 95.0,
    "california": 96.0, "three cells": 90.0, "300 rows": 67.0, "1000 rows": 87.0, "2000 rows": 93.0, "copies": 95.0,
    "three classes": 98.0, "values": 98.0,
}  # fmt: skip
"""F1 in percent: the mean over the problems of a setting of the medians over seeds."""

TITLES = {
    "11": "Syn1-6, 11 columns", "100": "Syn1-6, 100 columns", "1000": "Syn1-6, 1,000 columns",
    "5000": "Syn1-6, 5,000 columns", "20000": "Syn4, 20,000 columns", "rho 0.9": "Syn1-6, correlated at 0.9",
    "credit": "Syn1-6, credit columns", "california": "California switch", "three cells": "switch of three cells",
    "300 rows": "Syn1-6, 300 rows", "1000 rows": "Syn1-6, 1,000 rows", "2000 rows": "Syn1-6, 2,000 rows",
    "copies": "Syn4, each column with a copy", "three classes": "three classes", "values": "Syn1-6, values",
}  # fmt: skip

WIDE = ("1000", "5000", "20000")
ALONE = {"20000": "Syn4", "california": "released", "copies": "Syn4"}
"""Settings of one problem, and which."""

COPY_CORRELATION = 0.99
PRESETS = ("paper", "fast", "balanced", "best")


EXPLANATION = """
Settings were settled on seeds from 100 on (LOG.md), with the same configuration everywhere. The default reaches every
goal, and those for its worst runs among 11 columns (95), where all columns are correlated (80) and on credit columns
(85). Single runs are bad with 300, 1,000 and 2,000 rows. The reported seeds of the default were run four times since
there are cuts (LOG.md): as they were first settled; with a loss that counts three times as much in the choice of a
price, which was taken back; with a usual price that was settled anew on other seeds; and with screening of narrower
tables and six members on long ones, which is shown and was trained on a CPU; the runs before were trained on a GPU, up
to 100 columns. Training amplifies rounding, so that single runs differ between the two by several points where columns
are correlated. "fast" and "best" have the present screening with 300 to 2,000 rows, copies and credit columns, "fast"
among 100 columns too; elsewhere they were run before it, "best" with the second choice of a price, but for values.
Among 1,000 columns and more "best" was run before there were cuts, and so was "fast" there and for values. "paper" has
a fixed price here and one seed; with the penalties of the paper see CLAIMS.md.
"""


def problems(setting: str) -> dict[str, str]:
    """From the label of a dataset to its problem."""
    if setting in ("three cells", "three classes"):
        return {setting: setting}
    names = [ALONE[setting]] if setting in ALONE else NAMES
    return {f"{name}, {setting}": name for name in names}


def of_setting(setting: str, *, quick: bool = False) -> dict[str, Any]:
    """The datasets of a setting, as a configuration has them."""
    own, size = problems(setting), {"n_rows": 300} if quick else {}
    small = {"n_samples": 500} if quick else {}
    if setting == "credit":
        return {
            label: {"maker": credit, "parameters": {"name": name, **size}, "test": "validation"}
            for label, name in own.items()
        }
    if setting == "california":
        return {label: {"maker": california, "parameters": {"variant": name, **size}} for label, name in own.items()}
    if setting == "copies":
        return {label: {"maker": with_copies, "parameters": {"name": name, **small}} for label, name in own.items()}
    if setting == "three cells":
        return {setting: {"maker": "make_switch", "parameters": {"n_cells": 3, **small}}}
    if setting == "three classes":
        return {setting: {"maker": "make_multiclass", "parameters": small}}
    if setting == "values":
        described = {"maker": "make_syn_regression", "parameters": small}
        return {label: {**described, "parameters": {"name": name, **small}} for label, name in own.items()}
    if setting.endswith("rows"):
        return {label: {"maker": short_syn, "parameters": {"name": name, "n_train": int(setting.split()[0])}}
                for label, name in own.items()}  # fmt: skip
    if setting.startswith("rho"):
        return datasets(own, quick=quick, rho=float(setting.split()[1]))
    return datasets(own, quick=quick, n_features=int(setting))


def short_syn(name: str, n_train: int, random_state: int = 0) -> Split:
    """Few rows to learn from, and 10,000 to be scored on."""
    train = make_syn(name, n_samples=n_train, random_state=random_state)
    test, validation = (make_syn(name, random_state=random_state + i) for i in (1, 2))
    return Split(train, validation, test)


def with_copies(name: str, random_state: int = 0, n_samples: int = 10_000) -> Split:
    """A problem with a copy of every column behind the columns, correlated with it at 0.99."""
    seeds = [random_state + i for i in (0, 2, 1)]
    return Split(*(_with_copies(make_syn(name, n_samples=n_samples, random_state=seed), seed) for seed in seeds))


def _with_copies(data: Dataset, random_state: int) -> Dataset:
    noise = np.random.default_rng(random_state).normal(size=data.X.shape)
    copies = COPY_CORRELATION * data.X + np.sqrt(1 - COPY_CORRELATION**2) * noise
    names = (*data.feature_names, *(f"{column} again" for column in data.feature_names))
    return replace(
        data, X=np.hstack((data.X, copies)), relevant=np.hstack((data.relevant, data.relevant)), feature_names=names
    )


def config(quick: bool = False) -> Config:
    settings = ("11", "100", "rho 0.9") if quick else tuple(name for name in GOALS if name not in (*WIDE, "values"))
    return of_settings(settings, "beyond", 1 if quick else SEEDS, quick=quick)


def wide(quick: bool = False) -> Config:
    return of_settings(("1000",) if quick else WIDE, "beyond-wide", 1 if quick else FEW_SEEDS, quick=quick)


def values(quick: bool = False) -> Config:
    return of_settings(("values",), "beyond-values", 1 if quick else SEEDS, quick=quick, method="hideseek_regressor")


def of_settings(settings: Sequence[str], name: str, seeds: int, *, quick: bool, method: str = "hideseek") -> Config:
    short = {"steps": 20, "n_members": 2} if quick else {}
    chosen = {preset: {"method": method, "parameters": {"preset": preset, **short}} for preset in PRESETS}
    described = {label: data for setting in settings for label, data in of_setting(setting, quick=quick).items()}
    scores = SCORES if method == "hideseek" else ("f1",)
    return Config(chosen, described, name=f"{name}-quick" if quick else name, seeds=seeds, scores=scores)


def keep(model: Any, test: Dataset, explanation: Any) -> Mapping[str, Any]:
    """The AUROC of the true probabilities, if known; F1 where a copy counts for its column."""
    kept: dict[str, Any] = {}
    if test.probability is not None and test.y.dtype.kind == "i":
        kept["possible_auroc"] = auroc(test.y, test.probability)
    if test.feature_names[-1].endswith(" again"):
        kept["f1_of_either"] = f1_of_either(explanation.selected, np.asarray(test.relevant))
    return kept


def f1_of_either(selected: NDArray[np.bool_], relevant: NDArray[np.bool_]) -> float:
    """F1 in percent, as a mean over rows; a column is found by itself or by its copy, and both are one too many."""
    n_columns = relevant.shape[1] // 2
    times = selected[:, :n_columns].astype(int) + selected[:, n_columns:]
    found = ((times > 0) & relevant[:, :n_columns]).sum(axis=1)
    return float((200 * found / (times.sum(axis=1) + relevant[:, :n_columns].sum(axis=1))).mean())


def by_setting(results: Results) -> Table:
    """F1 beside the goals, with the worst seed of the worst problem."""
    lines = []
    for method in dict.fromkeys(record["method"] for record in results):
        for setting, goal in GOALS.items():
            score = "f1_of_either" if setting == "copies" else "f1"
            values = [list(results.values(method, label, score).values()) for label in problems(setting)]
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


def predictions(results: Results) -> Table:
    """AUROC of the selected features on test rows: the medians over seeds, and how far the default is from them."""
    lines = []
    methods = list(dict.fromkeys(record["method"] for record in results))
    for label in dict.fromkeys(record["dataset"] for record in results):
        found = {method: results.values(method, label, "auroc") for method in methods}
        possible = next((own for method in methods if (own := results.values(method, label, "possible_auroc"))), {})
        line: dict[str, Any] = {"dataset": label}
        line |= {method: median(values.values()) if values else None for method, values in found.items()}
        line["possible"] = median(possible.values()) if possible else None
        ours = found.get("balanced", {})
        gaps = [possible[seed] - ours[seed] for seed in possible.keys() & ours.keys()]
        line["possible - balanced"] = median(gaps) if gaps else None
        lines.append(line)
    return Table(["dataset", *methods, "possible", "possible - balanced"], lines)


def tables(results: Results) -> Mapping[str, Table]:
    return {
        "auroc": predictions(results),
        "by_problem": results.summary("f1"),
    }


def figures(results: Results, path: Path) -> list[Path]:
    """F1 of every preset by setting: the mean of the medians, a line down to the worst seed, and the goal."""
    lines = list(by_setting(results))
    settings = [setting for setting in GOALS if any(line["setting"] == setting for line in lines)][::-1]
    methods = list(dict.fromkeys(line["method"] for line in lines))
    figure = new_figure(7, 0.5 * len(settings) + 1)
    panel = figure.subplots()
    for i, method in enumerate(methods):
        own = [line for line in lines if line["method"] == method]
        y = [settings.index(line["setting"]) + 0.2 * ((len(methods) - 1) / 2 - i) for line in own]
        f1, worst = ([line[name] for line in own] for name in ("f1", "worst seed"))
        panel.hlines(y, worst, f1, color=COLOURS[i], linewidth=1)
        panel.plot(f1, y, MARKERS[i], color=COLOURS[i], label=method, markersize=6)
    goals = [GOALS[setting] for setting in settings]
    panel.vlines(goals, np.arange(len(goals)) - 0.45, np.arange(len(goals)) + 0.45, color="0.5", label="goal")
    panel.set_yticks(range(len(settings)), [TITLES[setting] for setting in settings])
    panel.set(xlabel="F1 in percent; the line ends at the worst seed of the worst problem", xlim=(-2, 102))
    panel.grid(axis="x", alpha=0.3)
    figure.legend(*panel.get_legend_handles_labels(), loc="outside lower center", ncols=5, frameon=False)
    file = path / "f1.png"
    figure.savefig(file, dpi=150)
    return [file]


EXPERIMENT = Experiment(
    about="Wide, short, correlated and real tables without a given penalty",
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
        Experiment(
            about="The same with values in place of classes",
            config=values,
            keep=keep,
            table=by_setting,
            tables=lambda results: {"by_problem": results.summary("f1")},
            figures=figures,
        ),
    ),
)
