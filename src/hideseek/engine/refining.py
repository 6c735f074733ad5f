"""Further training of Seeks, from the features that the ensemble selects."""

from __future__ import annotations

from contextlib import closing
from dataclasses import dataclass, replace

import torch
from torch import Tensor

from hideseek.engine.device import one_thread
from hideseek.engine.networks import Mlp
from hideseek.engine.path import HALF_WIDTH
from hideseek.engine.recipe import Recipe
from hideseek.engine.replacement import Replacement
from hideseek.engine.stack import Data, Stack
from hideseek.engine.steps import Problem
from hideseek.engine.training import choose_steps
from hideseek.errors import TrainingError

__all__ = ["Seeks", "refine"]


@dataclass(frozen=True)
class Seeks:
    """The Seeks to refine: those of all members of a stack, a member's Seeks adjacent.

    Attributes:
        stack: The members.
        u: The position at which each member answers; None: there is no range of prices. Shape: ``(members,)``.
        seeds: Of each Seek's draws. Shape: ``(Seeks,)``, int64.
        table: The table of each member. Shape: ``(members,)``, int64.
        visible: The features that each member sees. Shape: ``(members, features)``, bool.
        fold: The fold that each member leaves out; None: there are no folds. Shape: ``(members,)``, int64.
    """

    stack: Stack
    u: Tensor | None
    seeds: Tensor
    table: Tensor
    visible: Tensor
    fold: Tensor | None

    def alone(self) -> Stack:
        """Return a stack with one Seek in each member, at its price, and a Hide that is not used."""
        stack = self.stack
        layers = stack.seek_at(self.u)
        n_columns, n_features = stack.hide.sizes[0], self.visible.shape[1]
        hide, seek = Mlp((n_columns, 1, n_features)), Mlp((n_columns, *stack.seek.sizes[1:]))
        weights = torch.cat([part.flatten(1) for part in layers], dim=1)
        nothing = weights.new_zeros(len(weights), hide.n_parameters)
        return Stack.from_members(hide, seek, torch.cat((nothing, weights), dim=1), stack.groups)

    def with_weights(self, alone: Stack) -> Stack:
        """Return the members with the Seeks of ``alone``: the same at their price, and shifted as before at others."""
        stack = replace(self.stack, parameters=self.stack.parameters.clone())
        _, (first, *others) = stack.matrices(stack.parameters)
        _, (new_first, *new_others) = alone.matrices(alone.parameters)
        n_columns = stack.hide.sizes[0]
        first[:, :, :n_columns] = new_first[:, :, :-1]
        first[:, :, -1] = new_first[:, :, -1]
        if self.u is not None:
            u = self.u.clamp(-HALF_WIDTH, HALF_WIDTH).repeat_interleave(stack.n_seeks)
            first[:, :, -1] -= first[:, :, n_columns] * u[:, None]
        for matrix, new in zip(others, new_others, strict=True):
            matrix.copy_(new)
        return stack


def refine(recipe: Recipe, data: Data, seeks: Seeks, *, loss: str, replacement: Replacement | None) -> Stack:
    """Train the Seeks of all members from settled sets of features; each learns from all rows outside of its fold.

    Args:
        recipe: Its ``refinement`` says for how long; the learning rate falls from the first step on.
        data: The tables, with ``selected``, on the device of the stack.
        seeks: What to train.
        loss: A name in ``PREDICTION_LOSSES``.
        replacement: How a hidden value is drawn, for each Seek; None: from the marginals.

    Returns:
        The stack with the new Seeks; its Hides are the same.

    Raises:
        TrainingError: A loss became infinite or NaN.
    """
    n_seeks = seeks.stack.n_seeks
    table, visible = (part.repeat_interleave(n_seeks, dim=0) for part in (seeks.table, seeks.visible))
    fold = None if seeks.fold is None else seeks.fold.repeat_interleave(n_seeks)
    alone, n_steps = seeks.alone(), max(1, round(recipe.refinement * recipe.steps))
    batch_size = min(recipe.batch_size or data.X.shape[1], data.X.shape[1] // 2)  # fewer than all: rows are drawn
    how = replace(recipe, steps=n_steps, batch_size=batch_size, cooldown=1.0, cross_fit=False, highest_prices=())
    price = torch.zeros(len(table), device=table.device)
    problem = Problem(
        how, data, loss, alone, _trainable(alone, visible), seeks.seeds, table, price, visible.float(), fold
    )
    with (
        torch.inference_mode(),
        one_thread() as n_threads,
        closing(choose_steps(problem, replacement, n_threads)) as steps,
    ):
        steps.run(n_steps)
        if not steps.take_losses(n_steps).isfinite().all():
            raise TrainingError(
                "the loss of the selected features is no longer finite; lower learning_rate, or look for extreme "
                "values in X and y"
            )
        return seeks.with_weights(alone)


def _trainable(alone: Stack, visible: Tensor) -> Tensor | None:
    """Return 0 for the weights of columns that a member does not see, 1 for all others; None: all are trained."""
    if visible.all():
        return None
    trainable = torch.ones_like(alone.parameters)
    _, (first, *_) = alone.matrices(trainable)
    first[:, :, :-1] = alone.by_column(visible[:, :, None].float())[:, None, :, 0]
    return trainable
