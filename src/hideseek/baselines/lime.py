"""LIME: a sparse linear model of the prediction in the neighbourhood of each row."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.nn.functional import cross_entropy

from hideseek.baselines._base import N_SELECTED, PREDICT_FN, SEED, Baseline, PredictFn, extra, predicted_by
from hideseek.engine.adam import Adam
from hideseek.engine.device import training_threads
from hideseek.engine.draws import Stream, step_keys, uniform
from hideseek.engine.networks import Mlp, split
from hideseek.engine.scaling import Scaler
from hideseek.validation import integer

__all__ = ["LimeExplainer"]

_HIDDEN_LAYERS = (32, 32)
_LEARNING_RATE = 1e-3
_BLOCK_ROWS = 2**15
"""Rows whose gradient is computed at once; what they need fits in a cache, and many rows do not fill the memory."""


class LimeExplainer(Baseline):
    """The k features of a linear model that approximates, around each row, the probability of its predicted class.

    The neighbourhood of a row is drawn feature by feature from the quartiles of the columns; the linear model sees only
    whether a value is in the row's own quartile. All rows use the same draws, so that the explanation of a row does not
    depend on the other rows.

    Args:
        k: Number of features of the linear model, which are the selected ones.
        num_samples: Number of draws around each row.
        epochs: Full-batch steps of the network whose predictions are explained: Hide&Seek's Seek alone.
        predict_fn: Another model to explain: a function from an array of rows to the probabilities of the
            sorted labels.
        random_state: Random seed; the same seed gives the same result.

    Attributes:
        classes_: The labels, sorted.
        model_: The fitted network; only without ``predict_fn``.

    Example:
        >>> from hideseek.baselines import LimeExplainer
        >>> from hideseek.datasets import make_syn
        >>> data = make_syn("Syn3", n_samples=500)
        >>> lime = LimeExplainer(k=4, num_samples=500, epochs=100, random_state=0).fit(data.X, data.y)
        >>> lime.explain(data.X[:2]).n_selected.tolist()
        [4, 4]
    """

    citation = (
        "M. T. Ribeiro, S. Singh, C. Guestrin, 'Why should I trust you?': Explaining the predictions of any "
        "classifier, KDD 2016"
    )
    importance_kind = "absolute LIME weight"
    _rules: ClassVar = {
        "k": N_SELECTED,
        "num_samples": integer(2),
        "epochs": integer(1),
        "predict_fn": PREDICT_FN,
        "random_state": SEED,
    }

    def __init__(
        self,
        k: int,
        *,
        num_samples: int = 5000,
        epochs: int = 1000,
        predict_fn: PredictFn | None = None,
        random_state: int | np.random.RandomState | np.random.Generator | None = None,
    ) -> None:
        self.k = k
        self.num_samples = num_samples
        self.epochs = epochs
        self.predict_fn = predict_fn
        self.random_state = random_state

    def _fit(self, table: NDArray[np.floating], target: NDArray[np.int64]) -> None:
        extra("lime.lime_tabular")  # needed in explain; if it is missing, fail in fit already
        self.seed_ = self._seed()
        self.rows_ = table.astype(
            np.float64
        )  # to compute LIME's quartiles; LIME's own explainer cannot be copied or pickled
        if self.predict_fn is None:
            scaler = self._scaler(table)
            self.model_ = _Seek.fit(scaler, table, target, len(self.classes_), self.epochs, self.seed_)
        else:
            self._probabilities(table[:1])

    def _importance(self, table: NDArray[np.floating]) -> NDArray[np.floating]:
        explainer = extra("lime.lime_tabular").LimeTabularExplainer(
            self.rows_, discretize_continuous=True, random_state=np.random.RandomState(self.seed_)
        )
        importance = np.zeros(table.shape)
        for row, values in zip(importance, table.astype(np.float64), strict=True):
            explainer.random_state.seed(self.seed_)
            explained = explainer.explain_instance(
                values, self._probabilities, top_labels=1, num_features=self.k, num_samples=self.num_samples
            )
            for feature, weight in explained.local_exp[explained.top_labels[0]]:
                row[feature] = abs(weight)
        return importance

    def _probabilities(self, table: NDArray[np.floating]) -> NDArray[np.floating]:
        if self.predict_fn is None:
            return self.model_.probabilities(table)
        return predicted_by(self.predict_fn, table, len(self.classes_))


@dataclass(frozen=True)
class _Seek:
    """The Seek network alone, with every feature shown and no penalty."""

    scaler: Scaler
    network: Mlp
    parameters: Tensor

    @classmethod
    def fit(
        cls,
        scaler: Scaler,
        table: NDArray[np.floating],
        target: NDArray[np.int64],
        n_classes: int,
        epochs: int,
        seed: int,
    ) -> _Seek:
        """Minimise the cross-entropy over all rows."""
        network = Mlp((table.shape[1], *_HIDDEN_LAYERS, n_classes))
        draws = uniform(step_keys(np.array([seed]), Stream.WEIGHTS, 0, 1)[0], network.n_parameters)
        start, _ = network.init(draws, torch.ones(1, table.shape[1], dtype=torch.bool))
        parameters = start.float().requires_grad_()
        optimiser = Adam(parameters, _LEARNING_RATE)
        x, y = torch.from_numpy(scaler.transform(table)).T[None], torch.from_numpy(target)[None]
        slices = [slice(start, start + _BLOCK_ROWS) for start in range(0, len(table), _BLOCK_ROWS)]
        blocks = [(x[:, :, rows].contiguous(), y[:, rows]) for rows in slices]
        with torch.enable_grad(), training_threads(x.device, len(table)):
            for _ in range(epochs):
                gradient = torch.zeros_like(parameters)
                for block, labels in blocks:
                    loss = cross_entropy(network.forward(split(parameters, network.shapes), block), labels)
                    gradient += torch.autograd.grad(loss * (labels.numel() / len(table)), parameters)[0]
                optimiser.step(gradient)
        return cls(scaler, network, parameters.detach())

    def probabilities(self, table: NDArray[np.floating]) -> NDArray[np.float32]:
        """Return the class probabilities. Shape: ``(rows, features)`` -> ``(rows, classes)``."""
        x = torch.from_numpy(self.scaler.transform(table)).T[None].contiguous()
        with training_threads(x.device, len(table)):
            output = self.network.forward(split(self.parameters, self.network.shapes), x)
        return output.softmax(dim=1)[0].T.numpy()
