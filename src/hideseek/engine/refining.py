"""Further training of Seeks, from the features that the ensemble selects."""

from __future__ import annotations

from contextlib import closing
from dataclasses import dataclass, replace

import torch
from torch import Tensor

from hideseek.engine.device import one_thread
from hideseek.engine.groups import Groups
from hideseek.engine.networks import Mlp
from hideseek.engine.recipe import Recipe
from hideseek.engine.stack import Data, Stack
from hideseek.engine.steps import Problem
from hideseek.engine.training import check_finite, choose_steps

__all__ = ["Seeks", "refine"]


@dataclass(frozen=True)
class Seeks:
    """The Seeks to refine: those of all members of a stack with a range of prices, a member's Seeks adjacent.

    Attributes:
        stack: The members.
        seeds: Of each Seek's draws. Shape: ``(Seeks,)``, int64.
        table: The table of each member. Shape: ``(members,)``, int64.
        visible: The features that each member sees. Shape: ``(members, features)``, bool.
        fold: The fold that each member leaves out; None: there are no folds. Shape: ``(members,)``, int64.
    """

    stack: Stack
    seeds: Tensor
    table: Tensor
    visible: Tensor
    fold: Tensor | None

    def alone(self) -> Stack:
        """Return a stack with one Seek in each member and a Hide that is not used; u is a feature like the others."""
        seek, groups = self.stack.seek, self.stack.groups
        hide = Mlp((seek.sizes[0], 1, self.visible.shape[1] + 1))
        _, layers = self.stack.layers()
        weights = torch.cat([part.flatten(1) for part in layers], dim=1)
        nothing = weights.new_zeros(len(weights), hide.n_parameters)
        if groups is not None:
            widths = torch.bincount(groups.feature).tolist()
            groups = Groups.from_widths([*widths, 1], weights.device)
        return Stack.from_members(hide, seek, torch.cat((nothing, weights), dim=1), groups)

    def with_weights(self, alone: Stack) -> Stack:
        """Return the members with the Seeks of ``alone``."""
        stack = replace(self.stack, parameters=self.stack.parameters.clone())
        seeks = (each.matrices(each.parameters)[1] for each in (stack, alone))
        for matrix, new in zip(*seeks, strict=True):
            matrix.copy_(new)
        return stack


def refine(recipe: Recipe, data: Data, u: Tensor, seeks: Seeks, *, loss: str) -> Stack:
    """Train the Seeks of all members from settled sets of features; each learns from all rows outside of its fold.

    Args:
        recipe: Its ``refinement`` says for how long; the learning rate falls from the first step on.
        data: The tables, with ``selected``, on the device of the stack; hidden values are drawn from their marginals.
        u: The position of each row's price in its range. Shape: ``(tables, rows)``.
        seeks: What to train.
        loss: A name in ``PREDICTION_LOSSES``.

    Returns:
        The stack with the new Seeks; its Hides are the same.

    Raises:
        TrainingError: A loss became infinite or NaN.
    """
    if data.selected is None:
        raise ValueError("data has no settled sets of features")
    n_seeks, n_rows = seeks.stack.n_seeks, data.X.shape[1]
    with_u = replace(
        data,
        X=torch.cat((data.X, u[:, :, None]), dim=2),
        selected=torch.nn.functional.pad(data.selected, (0, 1), value=1),
    )
    visible = torch.nn.functional.pad(seeks.visible.repeat_interleave(n_seeks, dim=0), (0, 1), value=True)
    fold = None if seeks.fold is None else seeks.fold.repeat_interleave(n_seeks)
    alone, n_steps = seeks.alone(), max(1, round(recipe.refinement * recipe.steps))
    batch_size = min(recipe.batch_size or n_rows, n_rows // 2)  # fewer than all: rows are drawn
    problem = Problem(
        replace(recipe, steps=n_steps, batch_size=batch_size, cooldown=1.0),
        with_u,
        loss,
        alone,
        _trainable(alone, visible),
        seeks.seeds,
        seeks.table.repeat_interleave(n_seeks),
        torch.zeros(len(visible), device=visible.device),
        visible.float(),
        fold,
    )
    with torch.inference_mode(), one_thread() as n_threads, closing(choose_steps(problem, None, n_threads)) as steps:
        steps.run(n_steps)
        check_finite(steps.take_losses(n_steps)[0], n_steps, n_steps)
    return seeks.with_weights(alone)


def _trainable(alone: Stack, visible: Tensor) -> Tensor | None:
    """Return 0 for the weights of columns that a member does not see, 1 for all others; None: all are trained."""
    if visible.all():
        return None
    trainable = torch.ones_like(alone.parameters)
    _, (first, *_) = alone.matrices(trainable)
    first[:, :, :-1] = alone.by_column(visible[:, :, None].float())[:, None, :, 0]
    return trainable
