"""REAL-X: a predictor trained on random selections, and a selector trained with it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from math import ceil
from typing import ClassVar

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.nn.functional import logsigmoid

from hideseek.baselines._neural import SHARED_RULES, Loss, Networks, NeuralBaseline, log_likelihood
from hideseek.engine.dense import Dense
from hideseek.engine.draws import uniform
from hideseek.engine.stack import Batch
from hideseek.validation import Rule, choice, number

__all__ = ["RealX", "rebar"]

_TINY = 1e-6
"""Distance of uniform draws from 0 and 1, whose logits are infinite."""

_ADDED = 1e-5
"""Added to probabilities before their logarithm is taken, in the released code."""


def rebar(
    logit: Tensor, u: Tensor, v: Tensor, value: Callable[[Tensor], Tensor], temperature: float, added: float = 0.0
) -> Tensor:
    """Return a term whose gradient is an unbiased estimate of that of E[value(s)], s_j ~ Bernoulli(sigmoid(logit_j)).

    REBAR (Tucker et al. 2017) with eta = 1: the score of the hard sample, less what its relaxation explains of it.

    Args:
        logit: Shape: ``(members, columns, rows)``.
        u: Uniform draws for the sample. Shape: as ``logit``.
        v: Uniform draws for the relaxed sample given the hard one. Shape: as ``logit``.
        value: Maps a mask to a number per row. Shape: ``(members, columns, rows)`` -> ``(members, rows)``.
        temperature: Temperature of the relaxation.
        added: Added to the probabilities of the sample before their logarithm is taken; 0 is unbiased.
    """
    z = logit + u.log() - (-u).log1p()
    hard = (z > 0).to(logit.dtype)
    off = torch.sigmoid(-logit)
    given_hard = torch.where(hard > 0, off + v * (1 - off), v * off).clamp(_TINY, 1 - _TINY)
    z_given_hard = logit + given_hard.log() - (-given_hard).log1p()
    drawn = torch.where(hard > 0, logit, -logit)
    score = ((torch.sigmoid(drawn) + added).log() if added else logsigmoid(drawn)).sum(dim=1)
    # In this order, which the running moments of the predictor depend on.
    worth, relaxed = value(hard), value(torch.sigmoid(z / temperature))
    conditioned = value(torch.sigmoid(z_given_hard / temperature))
    return (worth - conditioned).detach() * score + relaxed - conditioned


class RealX(NeuralBaseline):
    """REAL-X: trains the predictor on rows with a random half set to zero, then the selector with this predictor.

    Since the predictor never learned from the selector's choices, these cannot carry information to it.

    In the released code, the predictor normalises by the moments of the batch while the selector is trained, and its
    running moments, which predictions use, move on with the selections; weights of the selector are not penalised, and
    1e-5 is added to probabilities before their logarithm is taken. ``form="unbiased"`` is the method as its paper
    describes it: the predictor is frozen with its moments, and the estimate of the gradient has no bias.

    Args:
        penalty: Price of the mean selection probability.
        epochs: Passes over the rows, for the predictor and then again for the selector.
        batch_size: Rows per step, drawn with replacement.
        learning_rate: Learning rate of Adam.
        temperature: Temperature of the relaxed samples.
        l2: Weight of the squared matrices in the losses; of the selector's only if the form is "unbiased".
        activation: Activation of the selector, "relu" (as released) or "selu"; the predictor's is ReLU.
        form: How the selector is trained, "released" or "unbiased".
        device: "auto" is the GPU if there is one.
        random_state: Random seed; the same seed gives the same result.

    Example:
        >>> from hideseek.baselines import RealX
        >>> from hideseek.datasets import make_syn
        >>> data = make_syn("Syn1", n_samples=200)
        >>> RealX(epochs=3, random_state=0).fit(data.X, data.y).select(data.X).shape
        (200, 11)
    """

    citation = (
        "N. Jethani, M. Sudarshan, Y. Aphinyanaphongs, R. Ranganath, Have we learned to explain?: How interpretability "
        "methods can learn to encode predictions in their interpretations, AISTATS 2021"
    )
    importance_kind = "selection probability"
    _rules: ClassVar[Mapping[str, Rule]] = {
        **SHARED_RULES,
        "penalty": number("a number of at least 0", lambda value: value >= 0),
        "epochs": number("a number greater than 0", lambda value: value > 0),
        "temperature": number("a number greater than 0", lambda value: value > 0),
        "form": choice("released", "unbiased"),
    }

    def __init__(
        self,
        penalty: float = 0.15,
        *,
        epochs: float = 500,
        batch_size: int = 1000,
        learning_rate: float = 1e-4,
        temperature: float = 0.1,
        l2: float = 1e-3,
        activation: str = "relu",
        form: str = "released",
        device: str = "auto",
        random_state: int | np.random.RandomState | np.random.Generator | None = None,
    ) -> None:
        self.penalty = penalty
        self.epochs = epochs
        self.batch_size = batch_size
        self.learning_rate = learning_rate
        self.temperature = temperature
        self.l2 = l2
        self.activation = activation
        self.form = form
        self.device = device
        self.random_state = random_state

    def _networks(self, n_columns: int, n_classes: int) -> dict[str, Dense]:
        return {
            "predictor": Dense((n_columns, 200, 200, n_classes), "relu", batch_norm=True),
            "selector": Dense((n_columns, 100, 100, n_columns), self.activation),
        }

    def _phases(self, n_rows: int, penalty: Tensor) -> list[tuple[Sequence[str], Loss, int]]:
        def predictor_loss(networks: Networks, batch: Batch, keys: Tensor) -> Tensor:
            x, y, _ = batch
            shown = uniform(keys, x[0].numel()).view_as(x) < 0.5
            likelihood = log_likelihood(networks("predictor", x * shown, training=True), y)
            return self.l2 * networks.penalty("predictor") - likelihood.mean(dim=1)

        def selector_loss(networks: Networks, batch: Batch, keys: Tensor) -> Tensor:
            x, y, _ = batch
            released = self.form == "released"
            added = _ADDED if released else 0.0
            logit = networks("selector", x)
            u, v = (
                uniform(keys, 2 * x[0].numel()).float().clamp(_TINY, 1 - _TINY).view(len(x), 2, *x.shape[1:]).unbind(1)
            )

            def value(mask: Tensor) -> Tensor:
                return log_likelihood(networks("predictor", mask * x, training=released), y, added)

            gain = rebar(logit, u, v, value, self.temperature, added)
            gain = gain - penalty[:, None] * torch.sigmoid(logit).mean(dim=1)
            if released:
                return -gain.sum(dim=1)
            return self.l2 * networks.penalty("selector") - gain.mean(dim=1)

        steps = ceil(self.epochs * n_rows / min(self.batch_size, n_rows))
        return [(("predictor",), predictor_loss, steps), (("selector",), selector_loss, steps)]

    def _mask(self, networks: Networks, x: Tensor) -> Tensor:
        return torch.sigmoid(networks("selector", x))

    def _answer(self, networks: Networks, x: Tensor) -> Tensor:
        return networks("predictor", x * (self._mask(networks, x) > 0.5))

    def _selected(self, importance: NDArray[np.floating]) -> NDArray[np.bool_]:
        return importance > 0.5
