"""INVASE: a selector trained by reinforcement."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from hideseek.baselines._neural import SHARED_RULES, Loss, Networks, NeuralBaseline, log_likelihood
from hideseek.engine.dense import Dense
from hideseek.engine.draws import uniform
from hideseek.engine.stack import Batch
from hideseek.validation import Rule, integer, number

__all__ = ["Invase", "log_bernoulli"]

_TINY = 1e-8
"""Added to probabilities before their logarithm is taken, as in the released code; it bounds the rewards."""


def log_bernoulli(probability: Tensor, selected: Tensor) -> Tensor:
    """Return the log-probability of this selection. Shape: ``(members, columns, rows)`` twice -> ``(members, rows)``.

    Multiplied by a reward that does not depend on the probabilities, its gradient is the REINFORCE estimate of the
    gradient of the expected reward.
    """
    chosen = torch.where(selected > 0, probability, 1 - probability)
    return (chosen + _TINY).log().sum(dim=1)


class Invase(NeuralBaseline):
    """INVASE: an actor selects features at random, a critic predicts from them; the difference of losses is the reward.

    Hidden features are set to zero, so that the selection itself can carry information to the critic.

    Args:
        penalty: Price of the mean selection probability.
        baseline: Whether the critic's log-likelihood is compared with that of a network that sees every feature;
            without it the method is called INVASE-.
        iterations: Training steps.
        batch_size: Rows per step, drawn with replacement.
        learning_rate: Learning rate of Adam.
        l2: Weight of the squared matrices in the losses.
        activation: "relu" (as published on Syn1-2) or "selu" (elsewhere).
        device: "auto" is the GPU if there is one.
        random_state: Random seed; the same seed gives the same result.

    Example:
        >>> from hideseek.baselines import Invase
        >>> from hideseek.datasets import make_syn
        >>> data = make_syn("Syn1", n_samples=200)
        >>> Invase(iterations=5, random_state=0).fit(data.X, data.y).explain(data.X).importance_kind
        'selection probability'
    """

    citation = (
        "J. Yoon, J. Jordon, M. van der Schaar, INVASE: Instance-wise variable selection using neural networks, "
        "ICLR 2019"
    )
    importance_kind = "selection probability"
    _rules: ClassVar[Mapping[str, Rule]] = {
        **SHARED_RULES,
        "penalty": number("a number of at least 0", lambda value: value >= 0),
        "baseline": Rule("True or False", lambda value: isinstance(value, bool | np.bool_)),
        "iterations": integer(1),
    }

    def __init__(
        self,
        penalty: float = 0.1,
        *,
        baseline: bool = True,
        iterations: int = 10_000,
        batch_size: int = 1000,
        learning_rate: float = 1e-4,
        l2: float = 1e-3,
        activation: str = "selu",
        device: str = "auto",
        random_state: int | np.random.RandomState | np.random.Generator | None = None,
    ) -> None:
        self.penalty = penalty
        self.baseline = baseline
        self.iterations = iterations
        self.batch_size = batch_size
        self.learning_rate = learning_rate
        self.l2 = l2
        self.activation = activation
        self.device = device
        self.random_state = random_state

    def predict_proba_all_features(self, X: Any) -> NDArray[np.floating]:
        """Return the baseline network's probabilities from every feature, which the paper's AUROC of INVASE uses."""
        table = self._table(X)
        return self._run(table, lambda x: self.networks_("baseline", x).softmax(dim=1), len(self.classes_))

    def _networks(self, n_columns: int, n_classes: int) -> dict[str, Dense]:
        predictor = Dense((n_columns, 200, 200, n_classes), self.activation, batch_norm=True)
        networks = {"actor": Dense((n_columns, 100, 100, n_columns), self.activation), "critic": predictor}
        return {**networks, "baseline": predictor} if self.baseline else networks

    def _phases(self, n_rows: int, penalty: Tensor) -> list[tuple[Sequence[str], Loss, int]]:
        names = ("actor", "critic", "baseline") if self.baseline else ("actor", "critic")

        def loss(networks: Networks, batch: Batch, keys: Tensor) -> Tensor:
            x, y, _ = batch
            probability = torch.sigmoid(networks("actor", x))
            selected = (uniform(keys, x[0].numel()).view_as(x) < probability.detach()).float()
            with torch.no_grad():  # the rewards use the weights before this step
                reward = log_likelihood(networks("critic", selected * x), y, _TINY)
                if self.baseline:
                    reward -= log_likelihood(networks("baseline", x), y, _TINY)
            gain = reward * log_bernoulli(probability, selected) - penalty[:, None] * probability.mean(dim=1)
            total = -gain.mean(dim=1) - log_likelihood(networks("critic", selected * x, training=True), y).mean(dim=1)
            if self.baseline:
                total = total - log_likelihood(networks("baseline", x, training=True), y).mean(dim=1)
            return total + self.l2 * torch.stack([networks.penalty(name) for name in names]).sum(dim=0)

        return [(names, loss, self.iterations)]

    def _mask(self, networks: Networks, x: Tensor) -> Tensor:
        return torch.sigmoid(networks("actor", x))

    def _answer(self, networks: Networks, x: Tensor) -> Tensor:
        return networks("critic", x * (self._mask(networks, x) > 0.5))

    def _selected(self, importance: NDArray[np.floating]) -> NDArray[np.bool_]:
        return importance > 0.5
