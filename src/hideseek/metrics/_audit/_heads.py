"""The outputs of an audit's networks: the class or value of a row, its hidden cells, whether a mask is its own.

A head turns outputs into a training loss and into the numbers that are stored for every row. These are averaged over
networks, so they are probabilities or values, not logits.
"""

from __future__ import annotations

from typing import Protocol

import torch
from torch import Tensor
from torch.nn.functional import binary_cross_entropy_with_logits

__all__ = ["CellHead", "ClassHead", "Head", "OwnershipHead", "ValueHead"]

_SMALLEST = 1e-12


class Head(Protocol):
    """One kind of prediction of a network.

    Shape: ``output (members, outputs, rows)``, ``rows (members, rows)``, ``masks (members, rows, features)``, ``kept
    (members, rows, numbers)``.
    """

    n_outputs: int

    def loss(self, output: Tensor, rows: Tensor, masks: Tensor) -> Tensor:
        """Return the loss of each row. Shape: ``(members, rows)``."""

    def kept(self, output: Tensor, rows: Tensor) -> Tensor:
        """Return the numbers to store."""

    def score(self, kept: Tensor, rows: Tensor, masks: Tensor) -> Tensor:
        """Return the score of the stored numbers, higher is better. Shape: ``(members, rows, parts)``."""


class ClassHead:
    """The probabilities of the classes, scored by the log-likelihood."""

    def __init__(self, classes: Tensor, n_classes: int) -> None:
        self._classes, self.n_outputs = classes, n_classes

    def loss(self, output: Tensor, rows: Tensor, masks: Tensor) -> Tensor:
        """Return the cross-entropy."""
        return -output.log_softmax(dim=1).gather(1, self._classes[rows][:, None])[:, 0]

    def kept(self, output: Tensor, rows: Tensor) -> Tensor:
        """Return the probability of every class."""
        return output.softmax(dim=1).transpose(1, 2)

    def score(self, kept: Tensor, rows: Tensor, masks: Tensor) -> Tensor:
        """Return the log-likelihood."""
        return kept.gather(2, self._classes[rows][:, :, None]).clamp_min(_SMALLEST).log()


class ValueHead:
    """The expected value, scored by minus the squared error. Networks see standardised values."""

    n_outputs = 1

    def __init__(self, values: Tensor) -> None:
        self._values, self._mean, self._scale = values, values.mean(), values.std()

    def loss(self, output: Tensor, rows: Tensor, masks: Tensor) -> Tensor:
        """Return the squared error of the standardised value."""
        return (output[:, 0] - ((self._values[rows] - self._mean) / self._scale)).square()

    def kept(self, output: Tensor, rows: Tensor) -> Tensor:
        """Return the value in its own units."""
        return output.transpose(1, 2) * self._scale + self._mean

    def score(self, kept: Tensor, rows: Tensor, masks: Tensor) -> Tensor:
        """Return minus the squared error."""
        return -(kept - self._values[rows][:, :, None]).square()


class CellHead:
    """The class of every hidden cell of a row, scored by the log-likelihood; shown cells are ignored."""

    def __init__(self, classes: Tensor, feature_of_cell: Tensor) -> None:
        self._classes, self._feature = classes, feature_of_cell
        self._n_cells, self._n_classes = classes.shape[1], int(classes.max()) + 1
        self.n_outputs = self._n_cells * self._n_classes
        numbers = torch.arange(self._n_classes, device=classes.device)
        self._used = numbers <= classes.amax(dim=0)[:, None]

    def _observed(self, output: Tensor, rows: Tensor) -> Tensor:
        """Return the log-probability of each cell's class. Shape: ``(members, cells, rows)``."""
        logits = output.view(len(output), self._n_cells, self._n_classes, -1)
        logits = logits.masked_fill(~self._used[None, :, :, None], -torch.inf)
        classes = self._classes[rows].transpose(1, 2)[:, :, None]
        return logits.log_softmax(dim=2).gather(2, classes)[:, :, 0]

    def loss(self, output: Tensor, rows: Tensor, masks: Tensor) -> Tensor:
        """Return the cross-entropy of all hidden cells together."""
        hidden = 1 - masks[:, :, self._feature].transpose(1, 2)
        return -(self._observed(output, rows) * hidden).sum(dim=1)

    def kept(self, output: Tensor, rows: Tensor) -> Tensor:
        """Return the probability of each cell's true class."""
        return self._observed(output, rows).exp().transpose(1, 2)

    def score(self, kept: Tensor, rows: Tensor, masks: Tensor) -> Tensor:
        """Return the log-likelihood of each hidden cell, 0 for the others."""
        return kept.clamp_min(_SMALLEST).log() * (1 - masks[:, :, self._feature])


class OwnershipHead:
    """Whether a mask is the row's own (the first half of a batch) or that of another row (the second half)."""

    n_outputs = 1

    def loss(self, output: Tensor, rows: Tensor, masks: Tensor) -> Tensor:
        """Return the cross-entropy."""
        logit = output[:, 0]
        own = torch.arange(logit.shape[1], device=logit.device) < logit.shape[1] // 2
        return binary_cross_entropy_with_logits(logit, own.float().expand_as(logit), reduction="none")

    def kept(self, output: Tensor, rows: Tensor) -> Tensor:
        """Return the logit, which is the logarithm of a density ratio."""
        return output.transpose(1, 2)

    def score(self, kept: Tensor, rows: Tensor, masks: Tensor) -> Tensor:
        """Return minus the loss."""
        return -self.loss(kept.transpose(1, 2), rows, masks)[:, :, None]
