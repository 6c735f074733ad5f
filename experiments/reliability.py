"""What a selection probability is worth: how often a feature is relevant to which the model gives it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from experiments.beyond import of_setting
from experiments.experiment import Experiment
from experiments.synthetic import NAMES, datasets
from hideseek.benchmark import Config
from hideseek.datasets import Dataset

SEEDS = range(100, 103)
ROWS = 2000
KINDS = {
    "11 columns": of_setting("11"),
    "100 columns": datasets({f"{name}, 100": name for name in NAMES[3:]}, n_features=100),
    "2,000 rows": datasets({f"{name}, 2,000 rows": name for name in NAMES}, n_samples=2000),
    "correlated": of_setting("rho 0.9"),
    "credit": of_setting("credit"),
    "california": of_setting("california"),
    "switches": {
        "three cells": {"maker": "make_switch", "parameters": {"n_cells": 3}},
        "cafe": "make_cafe",
        "three classes": "make_multiclass",
    },
}


def config(quick: bool = False) -> Config:
    described = {label: data for kind in KINDS.values() for label, data in kind.items()}
    return Config(
        {"balanced": {"method": "hideseek"}}, described, name="reliability", seeds=SEEDS, rows=ROWS, scores=("f1",)
    )


def keep(model: Any, test: Dataset, explanation: Any) -> Mapping[str, Any]:
    """The masks of every member, and the relevant features."""
    ensemble = model._ensemble
    members = [ensemble.members(np.array([i])) for i in range(len(ensemble.visible))]
    masks = np.stack([member.masks(explanation._inputs) for member in members])
    path = model.path_
    return {
        "masks": masks.astype(np.float16),
        "relevant": np.asarray(test.relevant)[: len(explanation)],
        "entry": explanation.entry_price.astype(np.float32),
        "effect": np.abs(explanation.effect).astype(np.float16),
        "price": np.array(ensemble.price),
        "range": ensemble.price_range.numpy(),
        "path": np.stack([path.penalty, path.loss, path.score, path.n_selected, path.disagreement]),
        "chosen": np.array(path.chosen),
        "null": np.array(path.null_loss),
    }


EXPERIMENT = Experiment(
    about="How often a feature is relevant that has a given selection probability, on seven kinds of tables",
    config=config,
    keep=keep,
    stack=1,
)
