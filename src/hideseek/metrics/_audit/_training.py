"""Training of a stack of networks, and the choice of the best snapshot of each."""

from __future__ import annotations

from collections.abc import Sequence
from math import cos, pi

import torch
from torch import Tensor

from hideseek.blocks import row_blocks
from hideseek.engine.adam import Adam
from hideseek.engine.dense import Dense
from hideseek.engine.networks import split
from hideseek.errors import TrainingError
from hideseek.metrics._audit._heads import Head
from hideseek.metrics._audit._rows import Draw, MaskedRows, Pairs

__all__ = ["Networks", "best_snapshot", "chosen_for_each_fold", "network_shape"]

_HIDDEN = (64, 64)
_WEIGHT_DECAY = 0.01
_LEARNING_RATE = 3e-3
_WARM_UP = 20
_MEMORY = 0.98
"""Snapshots are running means of the weights over about fifty steps, which vary less than the weights."""
_SNAPSHOTS = 6
_BLOCK_CELLS = 2**20


def network_shape(rows: MaskedRows, head: Head) -> Dense:
    """Return the shape of a network that reads masked rows and has the outputs of the head."""
    return Dense((rows.n_inputs, *_HIDDEN, head.n_outputs))


class Networks:
    """A stack of networks for one head: for each role one member per fold and network.

    Args:
        rows: The rows and masks.
        head: The kind of prediction.
    """

    def __init__(self, rows: MaskedRows, head: Head) -> None:
        self._rows, self.head = rows, head
        self._shape = network_shape(rows, head)
        self._none = torch.empty(0)

    def start(self) -> Tensor:
        """Return random weights. Shape: ``(members, weights)``."""
        device = self._rows.masks.device
        shape = self._rows.n_members, self._shape.n_parameters
        uniform = torch.rand(shape, generator=self._rows.generator, device=device)
        return self._shape.init(uniform)[0]

    def train(self, start: Tensor, draws: Sequence[Draw], n_steps: int, *, cool: bool) -> Tensor:
        """Train one stack of members for each source of batches.

        Args:
            start: The weights that each stack starts from. Shape: ``(members, weights)``.
            draws: The batches of each stack.
            n_steps: Number of steps of each.
            cool: Whether the learning rate decreases to 0.

        Returns:
            The weights before, during and after training. Shape: ``(snapshots, draws, members, weights)``.
        """
        weights = start.repeat(len(draws), 1).requires_grad_()
        mean = weights.detach().clone()
        optimiser = Adam(weights, _LEARNING_RATE, _WEIGHT_DECAY)
        marks = {round(n_steps * (i / _SNAPSHOTS) ** 1.5) for i in range(1, _SNAPSHOTS + 1)}
        snapshots = [mean.clone()]
        loss = weights.new_zeros(())
        for step in range(1, n_steps + 1):
            loss = self._loss(weights, draws)
            (gradient,) = torch.autograd.grad(loss, weights)
            rate = min(1.0, step / _WARM_UP) * (0.5 + 0.5 * cos(pi * step / n_steps) if cool else 1.0)
            optimiser.step(gradient, share=rate)
            mean.lerp_(weights.detach(), 1 - min(_MEMORY, 1 - 1 / (step + 1)))
            if step in marks:
                snapshots.append(mean.clone())
        if not bool(torch.isfinite(loss)):
            raise TrainingError("the networks of the audit diverged; look for extreme values in X or y")
        return torch.stack(snapshots).view(len(snapshots), len(draws), *start.shape)

    def _loss(self, weights: Tensor, draws: Sequence[Draw]) -> Tensor:
        drawn = [draw() for draw in draws]
        rows, masks = (torch.cat(parts) for parts in zip(*drawn, strict=True))
        loss = self.head.loss(self._output(weights, self._rows.inputs(rows, masks)), rows, masks)
        return loss.mean(dim=1).sum()

    def _output(self, weights: Tensor, inputs: Tensor) -> Tensor:
        return self._shape.forward(split(weights, self._shape.shapes), inputs, self._none)

    def kept(self, weights: Tensor, pairs: Pairs) -> list[Tensor]:
        """Return the predictions of each fold's networks for the fold's pairs.

        Shape: ``weights (members, weights)`` -> for each fold ``(networks, rows, numbers)``.
        """
        return [self.kept_of_fold(fold, weights, *pair) for fold, pair in enumerate(pairs)]

    @torch.no_grad()
    def kept_of_fold(self, fold: int, weights: Tensor, rows: Tensor, masks: Tensor) -> Tensor:
        """Return the predictions of a fold's networks for rows with these masks.

        Shape: ``weights (members, weights)``, ``rows (rows,)``, ``masks (rows, features)`` -> ``(networks, rows,
        numbers)``.
        """
        n_networks = self._rows.n_networks
        own, blocks = weights[fold * n_networks : (fold + 1) * n_networks], []
        for block in row_blocks(len(rows), self._rows.n_inputs + self.head.n_outputs, _BLOCK_CELLS):
            inputs = self._rows.inputs(rows[block][None], masks[block][None]).expand(n_networks, -1, -1)
            blocks.append(self.head.kept(self._output(own, inputs), rows[block].expand(n_networks, -1)))
        return torch.cat(blocks, dim=1)

    def scores(self, kept: list[Tensor], pairs: Pairs) -> Tensor:
        """Return the mean score of each fold's ensemble on its pairs. Shape: ``(folds,)``."""
        means = [
            self.head.score(numbers.mean(dim=0, keepdim=True), rows[None], masks[None]).sum(dim=2).mean()
            for numbers, (rows, masks) in zip(kept, pairs, strict=True)
        ]
        return torch.stack(means)


def best_snapshot(networks: Networks, snapshots: Tensor, pairs: Pairs) -> Tensor:
    """Return each fold's weights at the snapshot that is best for the other folds.

    A fold's own rows are not used, so that nothing is learned from them.
    Shape: ``snapshots (snapshots, members, weights)`` -> ``(members, weights)``.
    """
    scores = torch.stack([networks.scores(networks.kept(weights, pairs), pairs) for weights in snapshots])
    n_networks = snapshots.shape[1] // scores.shape[1]
    members = torch.arange(snapshots.shape[1], device=snapshots.device)
    return snapshots[chosen_for_each_fold(scores).repeat_interleave(n_networks), members]


def chosen_for_each_fold(scores: Tensor) -> Tensor:
    """Return, for each fold, the candidate with the best mean score on the other folds.

    Shape: ``(candidates, folds)`` -> ``(folds,)``.
    """
    return (scores.sum(dim=1, keepdim=True) - scores).argmax(dim=0)
