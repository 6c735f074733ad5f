"""What a selection probability is worth: how often a feature is relevant that has it, on tables of known truth.

`compare` fits the rule of ``hideseek.search.probability`` to the runs, for each kind of table without the runs of that
kind, and shows how often features are relevant to which that rule gives a probability. The table "rule" has the factors
of the rule fitted to all kinds, which are those of the library; after a change of the default preset they are to be
fitted anew. Seeds are from 100 on, as all that settles something in the library.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from sklearn.linear_model import LogisticRegression

from experiments.beyond import of_setting
from experiments.experiment import Experiment
from experiments.figures import COLOURS, MARKERS, new_figure
from experiments.synthetic import NAMES, datasets
from hideseek.benchmark import Config, Results
from hideseek.benchmark.layout import Table
from hideseek.datasets import Dataset
from hideseek.engine.recipe import LOWEST_PRICE
from hideseek.search.probability import log_odds_terms, selection_probability

if TYPE_CHECKING:
    from matplotlib.axes import Axes

SEEDS = range(100, 103)
ROWS = 2000
EDGES = (0.0, 0.05, 0.2, 0.4, 0.6, 0.8, 0.95, 1.0)
FEWEST = 50
"""Cells that a bin has at least: the share of fewer says little."""

LEAST_MASK = 0.02
"""The rule is fitted to cells with larger masks: the many below are hardly ever relevant, and would settle it all."""

Rule = Callable[["Cells"], NDArray[np.floating]]


@dataclass(frozen=True)
class Cells:
    """Features of rows, all in a line: mean masks, shares of the members, prices and truth. Shape: ``(cells,)``."""

    mask: NDArray[np.float64]
    share: NDArray[np.float64]
    price: NDArray[np.float64]
    relevant: NDArray[np.bool_]

    def terms(self) -> NDArray[np.float64]:
        """What the rule is linear in. Shape: ``(cells, 2)``."""
        of_mask, _ = log_odds_terms(self.mask, 1.0, 1.0)
        return np.stack([of_mask, np.log(self.price / LOWEST_PRICE)], axis=1)


def kinds(quick: bool = False) -> dict[str, dict[str, Any]]:
    """The datasets by kind of table."""
    size = {"n_samples": 500} if quick else {}
    few = {f"{name}, 2,000 rows": name for name in NAMES}
    return {
        "11 columns": of_setting("11", quick=quick),
        "100 columns": datasets({f"{name}, 100": name for name in NAMES[3:]}, quick=quick, n_features=100),
        "2,000 rows": datasets(few, quick=quick, **({} if quick else {"n_samples": 2000})),
        "correlated": of_setting("rho 0.9", quick=quick),
        "credit": of_setting("credit", quick=quick),
        "california": of_setting("california", quick=quick),
        "switches": {
            "three cells": {"maker": "make_switch", "parameters": {"n_cells": 3, **size}},
            "cafe": {"maker": "make_cafe", "parameters": size},
            "three classes": {"maker": "make_multiclass", "parameters": size},
        },
    }


def config(quick: bool = False) -> Config:
    described = {label: data for kind in kinds(quick).values() for label, data in kind.items()}
    return _config("balanced", "hideseek", described, "reliability", quick)


def of_values(quick: bool = False) -> Config:
    size = {"n_samples": 500} if quick else {}
    described = {
        f"{name}, values": {"maker": "make_syn_regression", "parameters": {"name": name, **size}}
        for name in NAMES[1::2]
    }
    return _config("regressor", "hideseek_regressor", described, "reliability-values", quick)


def _config(label: str, method: str, described: Mapping[str, Any], name: str, quick: bool) -> Config:
    chosen = {label: {"method": method, "parameters": {"steps": 20}} if quick else {"method": method}}
    seeds = SEEDS[:1] if quick else SEEDS
    return Config(chosen, described, f"{name}-quick" if quick else name, seeds, rows=ROWS, scores=("f1",))


def keep(model: Any, test: Dataset, explanation: Any) -> Mapping[str, Any]:
    """The masks of every member, the truth, and the price."""
    ensemble = model.learned_.ensemble
    members = [ensemble.members(np.array([i])) for i in range(len(ensemble.visible))]
    masks = np.stack([member.masks(explanation.answers.inputs) for member in members])
    return {
        "masks": masks.astype(np.float16),
        "relevant": np.asarray(test.relevant)[: len(explanation)],
        "price": np.array(ensemble.price),
    }


def cells_by_kind(results: Results) -> dict[str, Cells]:
    """The cells of all finished runs; what is of no kind is a kind of its own."""
    kind_of = {label: kind for quick in (False, True) for kind, own in kinds(quick).items() for label in own}
    found: dict[str, list[Cells]] = {}
    for record in results:
        if record["status"] == "finished":
            kept = results.arrays(record)
            masks = kept["masks"].astype(np.float64).reshape(len(kept["masks"]), -1)
            prices = np.full(masks.shape[1], record["scores"]["price"])
            own = Cells(masks.mean(axis=0), (masks > 0.5).mean(axis=0), prices, kept["relevant"].ravel())
            found.setdefault(kind_of.get(record["dataset"], "values"), []).append(own)
    return {kind: _joined(own) for kind, own in found.items()}


def _joined(parts: Sequence[Cells]) -> Cells:
    names = ("mask", "share", "price", "relevant")
    return Cells(*(np.concatenate([getattr(part, name) for part in parts]) for name in names))


def share_of_members(cells: Cells) -> NDArray[np.floating]:
    """What the probability was before: the share of the members that select the feature."""
    return cells.share


def shipped(cells: Cells) -> NDArray[np.floating]:
    """The library's rule."""
    found = np.empty(len(cells.mask))
    for price in np.unique(cells.price):
        own = cells.price == price
        found[own] = selection_probability(cells.mask[own], float(price), LOWEST_PRICE)
    return found


def fitted(parts: Sequence[Cells]) -> LogisticRegression:
    """The rule fitted to some kinds of tables, all of equal weight."""
    some = [_joined([Cells(*(values[part.mask > LEAST_MASK] for values in vars(part).values()))]) for part in parts]
    weight = np.concatenate([np.full(len(part.mask), 1e5 / len(part.mask)) for part in some])
    every = _joined(some)
    return LogisticRegression(C=1e6, max_iter=1000).fit(every.terms(), every.relevant, sample_weight=weight)


def _probability_by(model: LogisticRegression, cells: Cells) -> NDArray[np.floating]:
    return model.predict_proba(cells.terms())[:, 1]


def left_out(by_kind: Mapping[str, Cells]) -> dict[str, Rule]:
    """For each kind of table the rule fitted to the other kinds."""
    rules: dict[str, Rule] = {}
    for kind in by_kind:
        model = fitted([own for other, own in by_kind.items() if other != kind])
        rules[kind] = partial(_probability_by, model)
    return rules


def bins(cells: Cells, rule: Rule) -> list[dict[str, Any]]:
    """Cells by probability: how many, the mean probability, and the share that is relevant."""
    probability = rule(cells)
    where = np.clip(np.searchsorted(EDGES, probability, side="right") - 1, 0, len(EDGES) - 2)
    lines = []
    for i, (low, high) in enumerate(pairwise(EDGES)):
        own = where == i
        if own.sum() >= FEWEST:
            figures = {"stated": float(probability[own].mean()), "actual": float(cells.relevant[own].mean())}
            lines.append({"from": low, "to": high, "cells": int(own.sum()), **figures})
    return lines


def table(results: Results) -> Table:
    """Stated and actual, by kind, with the rule fitted to the other kinds."""
    by_kind = cells_by_kind(results)
    rules = left_out(by_kind) if len(by_kind) > 1 else dict.fromkeys(by_kind, shipped)
    lines = [{"kind": kind, **line} for kind, cells in by_kind.items() for line in bins(cells, rules[kind])]
    return Table(["kind", "from", "to", "cells", "stated", "actual"], lines)


def tables(results: Results) -> Mapping[str, Table]:
    by_kind = cells_by_kind(results)
    rules = left_out(by_kind) if len(by_kind) > 1 else {}
    errors = []
    for kind, cells in by_kind.items():
        line: dict[str, Any] = {"kind": kind, "share of members": _error(bins(cells, share_of_members))}
        if rules:
            line["rule of the other kinds"] = _error(bins(cells, rules[kind]))
        errors.append({**line, "rule": _error(bins(cells, shipped))})
    found = {"errors": Table(list(errors[0]), errors) if errors else Table(["kind"], [])}
    if rules:
        model = fitted(list(by_kind.values()))
        factors = {"intercept": model.intercept_[0], "of mask": model.coef_[0, 0], "of price": model.coef_[0, 1]}
        found["rule"] = Table(["factor", "value"], [{"factor": n, "value": float(v)} for n, v in factors.items()])
    return found


def _error(lines: Sequence[Mapping[str, Any]]) -> float:
    """The mean distance of stated and actual; all bins count the same, or the ends would hide the rest."""
    return float(np.mean([abs(line["stated"] - line["actual"]) for line in lines]))


def figures(results: Results, path: Path) -> list[Path]:
    """Stated against actual: what the share of the members was worth, and what the probability is."""
    by_kind = cells_by_kind(results)
    rules = left_out(by_kind)
    figure = new_figure(9, 4.6)
    before, after = figure.subplots(1, 2, sharex=True, sharey=True)
    for number, (kind, cells) in enumerate(by_kind.items()):
        for panel, rule in ((before, share_of_members), (after, rules[kind])):
            lines = bins(cells, rule)
            stated, actual = ([line[name] for line in lines] for name in ("stated", "actual"))
            panel.plot(stated, actual, label=kind, color=COLOURS[number], marker=MARKERS[number], ms=5, lw=1.2)
    _finish(before, "share of the members")
    _finish(after, "selection probability, by the rule of the other kinds")
    before.set_ylabel("share of the features that are relevant")
    after.legend(loc="upper left", frameon=False, fontsize=9)
    file = path / "diagram.png"
    figure.savefig(file, dpi=150)
    return [file]


def _finish(panel: Axes, label: str) -> None:
    panel.plot([0, 1], [0, 1], color="0.6", lw=1, ls="--", zorder=0)
    panel.set(xlabel=label, xlim=(-0.02, 1.02), ylim=(-0.02, 1.02))
    panel.grid(alpha=0.3)


EXPERIMENT = Experiment(
    about="How often a feature is relevant that has a selection probability, on seven kinds of tables of known truth",
    config=config,
    keep=keep,
    table=table,
    tables=tables,
    figures=figures,
    stack=1,
    parts=(
        Experiment(
            about="The same for values, with the library's rule, which is not fitted to them",
            config=of_values,
            keep=keep,
            table=table,
            tables=tables,
            stack=1,
        ),
    ),
)
