"""Run times of the six instance-wise methods: train on 10,000 rows of Syn4, explain and predict 10,000.

Every method first does a small problem, "warm-up", so that what is loaded or compiled once is not counted; then
it is timed alone, LIME on all rows. Seconds of other machines are no measure; the ratio to Hide&Seek is nearer to one.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from experiments.experiment import Experiment, Lines, published_lines
from experiments.figures import OURS, PAPERS, new_figure
from experiments.synthetic import SHORT, methods
from hideseek.benchmark import Config, Results
from hideseek.benchmark.layout import Table
from hideseek.datasets import Dataset

TIMED, WARM_UP = "Syn4", "warm-up"
PUBLISHED = "run_times.csv"
PARTS = ("seconds_fit", "seconds_explain", "seconds_predict")

LABELS = {
    "paper": "Hide&Seek", "balanced": "Hide&Seek", "fast": "Hide&Seek", "shap": "SHAP", "l2x-one-epoch": "L2X",
    "l2x": "L2X", "realx": "REAL-x", "lime": "LIME", "invase": "INVASE",
}  # fmt: skip


def chosen_methods(quick: bool) -> dict[str, dict[str, Any]]:
    known, chosen = methods(), {}
    for label in LABELS:
        described = {"method": known[label].get("method", label)}
        own = {**known[label].get("parameters", {}), **known[label].get("by_dataset", {}).get(TIMED, {})}
        short = {**own, **SHORT.get(label, {})}
        chosen[label] = {**described, "parameters": short if quick else own, "by_dataset": {WARM_UP: short}}
    return chosen


def config(quick: bool = False) -> Config:
    small = {"parameters": {"name": TIMED, "n_samples": 500}, "test_parameters": {"n_samples": 3}}
    large = {"parameters": {"name": TIMED}}
    if quick:
        large = {"parameters": {"name": TIMED, "n_samples": 1000}, "test_parameters": {"n_samples": 10}}
    datasets = {WARM_UP: {"maker": "make_syn", **small}, TIMED: {"maker": "make_syn", **large}}
    return Config(chosen_methods(quick), datasets, name="runtime-quick" if quick else "runtime")


def keep(model: Any, test: Dataset, explanation: Any) -> Mapping[str, float]:
    start = time.perf_counter()
    model.predict_proba(test.X)
    return {"seconds_predict": time.perf_counter() - start}


def table(results: Results) -> Table:
    """Seconds and their ratio to Hide&Seek's, published and ours, and what ours are made of."""
    theirs = {line["method"]: float(line["seconds"]) for line in published_lines(PUBLISHED)}
    ours = {record["method"]: record for record in results if record["dataset"] == TIMED and not record["error"]}
    seconds = {method: sum(record["scores"][part] for part in PARTS) for method, record in ours.items()}
    lines = []
    for method, name in LABELS.items():
        line = {"method": method, "published": theirs[name], "published_ratio": theirs[name] / theirs["Hide&Seek"]}
        if method in seconds:
            line |= {part: ours[method]["scores"][part] for part in PARTS}
            line |= {"ours": seconds[method], "difference": seconds[method] - theirs[name]}
            line["device"] = ours[method]["device"]
            line["ratio"] = seconds[method] / seconds["paper"] if "paper" in seconds else None
        lines.append(line)
    columns = ("method", "published", "ours", "difference", "published_ratio", "ratio", *PARTS, "device")
    return Table(columns, lines)


def figures(results: Results, path: Path) -> list[Path]:
    """Seconds on a logarithmic axis, the paper's beside ours."""
    lines = [line for line in table(results) if line["ours"] is not None][::-1]
    figure = new_figure(4.2, 0.3 * len(lines) + 0.9)
    panel = figure.add_subplot()
    for y, line in enumerate(lines):
        panel.plot([line["published"], line["ours"]], [y, y], color="0.7", lw=1)
    panel.plot([line["published"] for line in lines], range(len(lines)), "D", mfc="none", mec=PAPERS, label="paper")
    panel.plot([line["ours"] for line in lines], range(len(lines)), "o", color=OURS, label="ours")
    panel.set_xscale("log")
    panel.set_yticks(range(len(lines)), [line["method"] for line in lines])
    panel.set_xlabel("seconds: train, explain 10,000 rows")
    panel.grid(axis="x", alpha=0.3)
    panel.spines[["top", "right"]].set_visible(False)
    figure.legend(loc="outside upper center", ncols=2, frameon=False)
    where = path / "seconds.png"
    figure.savefig(where, dpi=200)
    return [where]


def headline(lines: Lines) -> str:
    """Return how long Hide&Seek took, as a sentence."""
    line = next(line for line in lines if line["method"] == "paper")
    return f"Hide&Seek {float(line['ours']):.2g} s (paper {line['published']} s, on another machine)"


EXPERIMENT = Experiment(
    about="Seconds to train and explain 10,000 rows of Syn4, six methods, beside the paper's",
    paper="Tables of run times",
    headline=headline,
    config=config,
    table=table,
    figures=figures,
    keep=keep,
    stack=1,
)
