"""Settings of L2X that might explain the paper's numbers: `python -m experiments.l2x_settings --seeds 6`.

A second L2X, written apart from ``hideseek.baselines.L2X`` so that everything can be changed: labels, start, noise, and
how features are selected at test time. Prints the medians over seeds for Syn1-6. A setting would explain the paper's
numbers if it came near TPR 30, 75, 43, 44, 53 and 53 and a switch accuracy of 58 on Syn4, Syn5 and Syn6 at once.
"""

from __future__ import annotations

import argparse
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from experiments.synthetic import SWITCH, K, activation
from hideseek.datasets import Dataset, make_syn
from hideseek.metrics import selection_scores

_SELECTOR, _PREDICTOR = (100, 100), (200, 200)
_VARIANCE_FLOOR, _ADAM_EPSILON = 1e-3, 1e-7


@dataclass(frozen=True)
class Setting:
    """How L2X is trained and asked; the defaults are those published.

    Attributes:
        steps: Training steps.
        batch_size: Rows per step.
        learning_rate: Learning rate of Adam.
        temperature: Temperature of the relaxed draws.
        l2: Weight of the squared matrices in the loss.
        batch_norm: Whether the predictor normalises batches.
        start: "glorot", as in Keras, or "torch", the default of PyTorch.
        probabilities: Whether labels are the true probabilities, as in the data that L2X was released with.
        shared_noise: Whether all k draws of a row have the same noise.
        selection: "logits", the k largest; "draws", what is over 0.5 in k draws; "ranked draws", the k largest of them.
        activation: For all problems; empty: as published.
        k: Number of features for all problems; 0: as published.
    """

    steps: int = 10
    batch_size: int = 1000
    learning_rate: float = 1e-3
    temperature: float = 0.1
    l2: float = 1e-3
    batch_norm: bool = True
    start: str = "glorot"
    probabilities: bool = False
    shared_noise: bool = False
    selection: str = "logits"
    activation: str = ""
    k: int = 0


SETTINGS = {
    "as published": Setting(),
    "20 updates": Setting(steps=20),
    "30 updates": Setting(steps=30),
    "probabilities as labels": Setting(probabilities=True),
    "probabilities as labels, 20 updates": Setting(probabilities=True, steps=20),
    "learning rate 0.01": Setting(learning_rate=1e-2),
    "batches of 100": Setting(batch_size=100, steps=100),
    "batches of 32": Setting(batch_size=32, steps=313),
    "no batch normalisation": Setting(batch_norm=False),
    "start of PyTorch": Setting(start="torch"),
    "start of PyTorch, 20 updates": Setting(start="torch", steps=20),
    "ReLU on all problems": Setting(activation="relu"),
    "temperature 0.5": Setting(temperature=0.5),
    "one noise for all draws": Setting(shared_noise=True),
    "no squared matrices": Setting(l2=0.0),
    "k = 6": Setting(k=6),
    "selection by draws": Setting(selection="draws"),
    "selection by ranked draws": Setting(selection="ranked draws"),
}


def layer(n_inputs: int, n_outputs: int, start: str) -> tuple[Tensor, Tensor]:
    """Return the matrix and the bias of a layer before training."""
    uniform, bias = 2 * torch.rand(n_inputs, n_outputs) - 1, torch.zeros(n_outputs)
    if start == "glorot":
        return uniform * (6 / (n_inputs + n_outputs)) ** 0.5, bias
    bound = float(n_inputs) ** -0.5
    return uniform * bound, (2 * torch.rand(n_outputs) - 1) * bound


def draws(logits: Tensor, k: int, setting: Setting) -> Tensor:
    """Return the elementwise maximum of k relaxed draws. Shape: ``(rows, columns)`` -> the same."""
    n_draws = 1 if setting.shared_noise else k
    u = torch.rand(len(logits), n_draws, logits.shape[1]).clamp(1e-30, 1 - 1e-7)
    return ((logits[:, None] - (-u.log()).log()) / setting.temperature).softmax(dim=2).amax(dim=1)


def selected(setting: Setting, k: int, name: str, train: Dataset, test: Dataset) -> NDArray[np.bool_]:
    """Train L2X, and return what it selects in the test rows."""
    activate = {"relu": torch.relu, "selu": torch.selu}[setting.activation or activation(name)]
    n_columns = train.X.shape[1]
    shapes = [(n_columns, *_SELECTOR, n_columns), (n_columns, *_PREDICTOR, 2)]
    selector, predictor = ([layer(a, b, setting.start) for a, b in pairwise(sizes)] for sizes in shapes)
    scales = [(torch.ones(width), torch.zeros(width)) for width in _PREDICTOR]
    weights = [each.requires_grad_() for pair in (*selector, *predictor, *scales) for each in pair]
    optimiser = torch.optim.Adam(weights, lr=setting.learning_rate, eps=_ADAM_EPSILON)
    p = np.asarray(train.probability) if setting.probabilities else train.y
    X, Y = torch.tensor(train.X).float(), torch.tensor(np.stack([1 - p, p], axis=1)).float()

    def logits(x: Tensor) -> Tensor:
        for matrix, bias in selector[:-1]:
            x = activate(x @ matrix + bias)
        return x @ selector[-1][0] + selector[-1][1]

    def log_probabilities(x: Tensor) -> Tensor:
        for (matrix, bias), (scale, shift) in zip(predictor[:-1], scales, strict=True):
            x = activate(x @ matrix + bias)
            if setting.batch_norm:
                x = (x - x.mean(dim=0)) / (x.var(dim=0, correction=0) + _VARIANCE_FLOOR).sqrt() * scale + shift
        return (x @ predictor[-1][0] + predictor[-1][1]).log_softmax(dim=1)

    order = torch.empty(0, dtype=torch.long)
    for _ in range(setting.steps):
        if len(order) < setting.batch_size:
            order = torch.randperm(len(X))
        rows, order = order[: setting.batch_size], order[setting.batch_size :]
        mask = draws(logits(X[rows]), k, setting)
        squares = sum(matrix.square().sum() for matrix, _ in (*selector[:-1], *predictor))
        loss = setting.l2 * squares - (Y[rows] * log_probabilities(mask * X[rows])).sum(dim=1).mean()
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()
    with torch.no_grad():
        values = logits(torch.tensor(test.X).float())
        if setting.selection != "logits":
            values = draws(values, k, setting)
        chosen = values > 0.5 if setting.selection == "draws" else values >= values.topk(k, dim=1).values[:, -1:]
    return chosen.numpy()


def scores(setting: Setting, name: str, seeds: int) -> tuple[float, float, float]:
    """Return the medians over seeds of TPR, FDR and the share of rows whose x11 is selected."""
    found = []
    for seed in range(seeds):
        train, test = (make_syn(name, random_state=seed + later) for later in (0, 1))
        torch.manual_seed(seed)
        chosen = selected(setting, setting.k or K[name], name, train, test)
        score = selection_scores(chosen, np.asarray(test.relevant))
        found.append((score.tpr, score.fdr, 100 * chosen[:, SWITCH].mean()))
    tpr, fdr, switch = np.median(found, axis=0)
    return float(tpr), float(fdr), float(switch)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seeds", type=int, default=6)
    parser.add_argument("--settings", nargs="+", default=list(SETTINGS), help="; ".join(SETTINGS))
    arguments = parser.parse_args()
    for label in arguments.settings:
        tpr, fdr, switch = zip(*(scores(SETTINGS[label], name, arguments.seeds) for name in K), strict=True)
        shown = [" ".join(f"{value:3.0f}" for value in values) for values in (tpr, fdr, switch[3:])]
        print(f"{label:36}TPR {shown[0]}  FDR {shown[1]}  switch {shown[2]}", flush=True)


if __name__ == "__main__":
    main()
