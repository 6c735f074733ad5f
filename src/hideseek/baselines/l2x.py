"""L2X: a fixed number of features, drawn from a relaxed categorical distribution."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import ClassVar

import numpy as np
import torch
from torch import Tensor

from hideseek.baselines._base import N_SELECTED
from hideseek.baselines._neural import SHARED_RULES, Loss, Networks, NeuralBaseline, log_likelihood
from hideseek.engine.dense import Dense
from hideseek.engine.draws import uniform
from hideseek.engine.stack import Batch
from hideseek.validation import Rule, integer, number

__all__ = ["L2X", "relaxed_subset"]


def relaxed_subset(logits: Tensor, u: Tensor, temperature: float) -> Tensor:
    """Return the elementwise maximum of k relaxed draws of one feature each (Gumbel-softmax).

    Shape: ``logits (members, columns, rows)``, ``u (members, k, columns, rows)`` in (0, 1) -> as ``logits``.
    """
    gumbel = -(-u.log()).log()
    return ((logits[:, None] + gumbel) / temperature).softmax(dim=2).amax(dim=1)


class L2X(NeuralBaseline):
    """L2X: the selector draws k features, the predictor uses them, and the gradient passes through the draw.

    Args:
        k: Features selected in every row.
        steps: Training steps. The published setting is one epoch, 10 steps on 10,000 rows; the default is longer,
            for a fair comparison.
        batch_size: Rows per step, drawn with replacement.
        learning_rate: Learning rate of Adam.
        temperature: Temperature of the relaxed draws.
        l2: Weight of the squared matrices in the loss; the selector's last is not among them, as released.
        activation: "relu" (as published on Syn1-2) or "selu" (elsewhere).
        device: "auto" is the GPU if there is one.
        random_state: Random seed; the same seed gives the same result.

    Example:
        >>> from hideseek.baselines import L2X
        >>> from hideseek.datasets import make_syn
        >>> data = make_syn("Syn1", n_samples=200)
        >>> int(L2X(k=2, steps=5, random_state=0).fit(data.X, data.y).explain(data.X).n_selected.max())
        2
    """

    citation = (
        "J. Chen, L. Song, M. J. Wainwright, M. I. Jordan, Learning to explain: An information-theoretic perspective "
        "on model interpretation, ICML 2018"
    )
    importance_kind = "selection weight"
    _rules: ClassVar[Mapping[str, Rule]] = {
        **SHARED_RULES,
        "k": N_SELECTED,
        "steps": integer(1),
        "temperature": number("a number greater than 0", lambda value: value > 0),
    }

    def __init__(
        self,
        k: int,
        *,
        steps: int = 2000,
        batch_size: int = 1000,
        learning_rate: float = 1e-3,
        temperature: float = 0.1,
        l2: float = 1e-3,
        activation: str = "selu",
        device: str = "auto",
        random_state: int | np.random.RandomState | np.random.Generator | None = None,
    ) -> None:
        self.k = k
        self.steps = steps
        self.batch_size = batch_size
        self.learning_rate = learning_rate
        self.temperature = temperature
        self.l2 = l2
        self.activation = activation
        self.device = device
        self.random_state = random_state

    def _networks(self, n_columns: int, n_classes: int) -> dict[str, Dense]:
        return {
            "selector": Dense((n_columns, 100, 100, n_columns), self.activation),
            "predictor": Dense((n_columns, 200, 200, n_classes), self.activation, batch_norm=True),
        }

    def _phases(self, n_rows: int, penalty: Tensor) -> list[tuple[Sequence[str], Loss, int]]:
        names = ("selector", "predictor")

        def loss(networks: Networks, batch: Batch, keys: Tensor) -> Tensor:
            x, y, _ = batch
            u = uniform(keys, self.k * x[0].numel()).float().clamp(1e-6, 1 - 1e-6).view(len(x), self.k, *x.shape[1:])
            mask = relaxed_subset(networks("selector", x), u, self.temperature)
            likelihood = log_likelihood(networks("predictor", mask * x, training=True), y)
            squares = networks.penalty("selector", last=False) + networks.penalty("predictor")
            return self.l2 * squares - likelihood.mean(dim=1)

        return [(names, loss, self.steps)]

    def _mask(self, networks: Networks, x: Tensor) -> Tensor:
        return networks("selector", x).softmax(dim=1)

    def _answer(self, networks: Networks, x: Tensor) -> Tensor:
        best = networks("selector", x).topk(self.k, dim=1).indices
        return networks("predictor", x * torch.zeros_like(x).scatter_(1, best, 1.0))
