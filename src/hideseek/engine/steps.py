"""The interface of training steps, independent of who does the arithmetic."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from functools import cached_property

import torch
from torch import Tensor

from hideseek.engine.adam import Adam
from hideseek.engine.objective import annealed, cooled
from hideseek.engine.recipe import Recipe
from hideseek.engine.stack import Data, Stack

__all__ = ["Problem", "Steps"]


@dataclass(frozen=True)
class Problem:
    """All inputs of the training of a stack, on one device.

    Attributes:
        recipe: Steps, batch size, learning rate and so on.
        data: The tables.
        loss: A name in ``PREDICTION_LOSSES``.
        stack: The members' weights, which training changes in place.
        trainable: 1 for the weights that train, 0 for the others; None: all train. Shape: as the weights.
        seeds: Shape: ``(members,)``, int64.
        table: The table of each member. Shape: ``(members,)``, int64.
        price: The price of showing one feature of one row. Shape: ``(members,)``.
        visible: 1 where a member sees a feature. Shape: ``(members, features)``, float.
        fold: The fold that each member leaves out; None: there are no folds. Shape: ``(members,)``, int64.
    """

    recipe: Recipe
    data: Data
    loss: str
    stack: Stack
    trainable: Tensor | None
    seeds: Tensor
    table: Tensor
    price: Tensor
    visible: Tensor
    fold: Tensor | None = None

    @cached_property
    def n_learned(self) -> int:
        """Return the number of rows a member learns from: those of its table without the fold that it leaves out."""
        n_rows = self.data.X.shape[1]
        if self.fold is None or self.data.fold is None:
            return n_rows
        return n_rows - int((self.data.fold[0] == 0).sum())

    @property
    def batch_size(self) -> int:
        """Return the rows of a member in one step: equally many for each of its Seeks.

        With two Seeks, one row of an odd table is left out, a different one for each member, and an odd batch size is
        rounded up.
        """
        n_rows, n_seeks = self.n_learned, self.stack.n_seeks
        if self.recipe.batch_size is None or self.full_batch:
            return n_rows - n_rows % n_seeks
        return self.recipe.batch_size + self.recipe.batch_size % n_seeks

    @property
    def full_batch(self) -> bool:
        """Return whether a member sees all rows in every step."""
        return self.recipe.batch_size is None or self.recipe.batch_size >= self.n_learned


class Steps(ABC):
    """Base class: trains all members step by step. Everything a step depends on is on the device, even its number.

    The rows of a batch are split into chunks; each chunk sums its own gradient and losses.

    Args:
        problem: The stack to train, and its data.
        n_chunks: Number of chunks of a batch.
    """

    def __init__(self, problem: Problem, n_chunks: int) -> None:
        like, (n_members, n_features) = problem.stack.parameters, problem.visible.shape
        self._problem = problem
        self._adam = Adam(like, problem.recipe.learning_rate, problem.recipe.weight_decay)
        self._gradients = like.new_zeros(n_chunks, len(like))
        self._only = self._gradients[0] if n_chunks == 1 else None
        self._loss_sum = like.new_zeros(n_chunks, n_members, problem.stack.seek.sizes[-1])
        self._mask_sum = like.new_zeros(n_chunks, n_members, n_features)

    @abstractmethod
    def run(self, n_steps: int) -> None:
        """Run this many steps."""

    def close(self) -> None:  # noqa: B027 - most have nothing to let go of
        """Release threads and other resources."""

    def take_losses(self, n_steps: int) -> Tensor:
        """Return prediction loss and ||m||_1, means over rows and the last ``n_steps`` steps, and reset the sums.

        Shape: ``(2, members)``.
        """
        loss = self._loss_sum.sum(dim=(0, 2))
        shown = (self._mask_sum.sum(dim=0) * self._problem.visible).sum(dim=1)
        self._loss_sum.zero_()
        self._mask_sum.zero_()
        return torch.stack((loss, shown)) / (n_steps * self._problem.batch_size)

    def _move(self) -> None:
        """Update the weights with the summed gradients."""
        gradient = self._only if self._only is not None else self._gradients.sum(dim=0)
        if self._problem.trainable is not None:
            gradient *= self._problem.trainable
        recipe = self._problem.recipe
        rate = cooled(self._adam.t + 1, recipe.steps, recipe.cooldown).float() if recipe.cooldown else 1.0
        self._adam.step(gradient, share=rate)

    def _schedule(self) -> Tensor:
        """Return the share of the price and Adam's factors for each step of the recipe. Shape: ``(steps, 4)``."""
        recipe, adam = self._problem.recipe, self._adam
        t = torch.arange(1, recipe.steps + 1)
        share = annealed(t, recipe.steps, recipe.anneal_power)
        rate = recipe.learning_rate * cooled(t, recipe.steps, recipe.cooldown)
        step_size = rate / (1 - adam.beta1 ** t.double())
        correction = (1 - adam.beta2 ** t.double()).rsqrt()
        return torch.stack((share, step_size, correction, 1 - rate * recipe.weight_decay), dim=1).float()
