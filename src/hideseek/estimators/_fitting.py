"""From tables to fitted ensembles: the members of all models train as one stack."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from numpy.typing import NDArray

from hideseek.engine.device import resolve_device
from hideseek.engine.draws import columns_given
from hideseek.engine.ensemble import Ensemble, draw_noise, draw_pool
from hideseek.engine.groups import Group, train_groups
from hideseek.engine.recipe import PRICE_PER_FEATURE
from hideseek.engine.replacement import fit_knockoffs
from hideseek.engine.scaling import Scaler
from hideseek.engine.stack import History
from hideseek.estimators._parameters import resolve_recipe
from hideseek.progress import training_progress
from hideseek.search.parts import Part, as_tables

if TYPE_CHECKING:
    from hideseek.estimators._base import BaseHideSeek

__all__ = ["Part", "Prepared", "fit_stack", "history_of"]


@dataclass(frozen=True)
class Prepared:
    """What a model has to know of a problem before training.

    Attributes:
        train: Rows to learn from.
        held_out: Rows only to look at, or None.
        scaler: What standardises both.
        n_outputs: Outputs of Seek.
        seed: Where all draws come from.
        columns: The columns that are left of the caller's table, where some were dropped; None: all.
        n_dropped: How many were.
    """

    train: Part
    held_out: Part | None
    scaler: Scaler
    n_outputs: int
    seed: int
    columns: NDArray[np.intp] | None = None
    n_dropped: int = 0

    @property
    def shape(self) -> tuple[int, int, int]:
        """What the problems of one stack have in common: rows, columns, outputs."""
        return (*self.train.table.shape, self.n_outputs)

    def of_columns(self, columns: NDArray[np.intp]) -> Prepared:
        """The problem with some of the columns. What a penalty means does not change."""
        return replace(
            self,
            train=self.train.of_columns(columns),
            held_out=None if self.held_out is None else self.held_out.of_columns(columns),
            scaler=self.scaler.of(columns),
            columns=columns,
            n_dropped=self.train.table.shape[1] - len(columns),
        )

    def n_given(self, column_fraction: float) -> int:
        """Over how many columns the paper's mean of the mask runs: all that a member is given.

        Those that are constant count, and those that were dropped.
        """
        return columns_given(self.train.table.shape[1] + self.n_dropped, column_fraction)


def fit_stack(models: Sequence[BaseHideSeek], problems: Sequence[Prepared], penalties: Sequence[float | None]) -> None:
    """Train the members of every model on its own problem, all at once, and hand them out.

    A penalty of None is the paper's price for each feature.
    """
    first, seeds = models[0], [problem.seed for problem in problems]
    n_rows, n_columns, n_outputs = problems[0].shape
    device = resolve_device(first.device)
    recipe = resolve_recipe(first.get_params(deep=False), n_rows)
    n_given = problems[0].n_given(recipe.column_fraction)
    for model, penalty in zip(models, penalties, strict=True):
        model.penalty_ = float(PRICE_PER_FEATURE * n_given if penalty is None else penalty)
    data = as_tables([problem.train.standardised(problem.scaler) for problem in problems])
    held_out = [problem.held_out.standardised(problem.scaler) for problem in problems if problem.held_out is not None]
    knockoffs = fit_knockoffs(recipe.replacement, data.X.transpose(1, 2).to(device), seeds)
    mean_penalty = float(np.mean([model.penalty_ for model in models]))
    with training_progress(first.verbose, recipe.steps, mean_penalty) as on_progress:
        groups = train_groups(
            recipe,
            data,
            [
                Group(problem.seed, model.penalty_ / n_given, i, ~problem.scaler.constant)
                for i, (model, problem) in enumerate(zip(models, problems, strict=True))
            ],
            loss=first._loss,
            n_outputs=n_outputs,
            device=device,
            validation=as_tables(held_out) if held_out else None,
            knockoffs=knockoffs,
            on_progress=on_progress,
        )
    for i, (model, problem, group) in enumerate(zip(models, problems, groups, strict=True)):
        own_knockoffs = None if knockoffs is None else knockoffs.of(torch.tensor([i], device=device))
        pool = draw_pool(problem.seed, data.X[i]) if knockoffs is None else draw_noise(problem.seed, n_columns)
        model._ensemble = Ensemble(
            group.stack, group.visible, pool.to(device), problem.scaler, own_knockoffs, problem.columns
        )
        model.recipe_ = recipe
        model.history_ = history_of(group.history, model.penalty_, n_given)


def history_of(history: History, penalty: float, n_given: int) -> dict[str, NDArray[Any]]:
    """The course of one model's members, in the terms of its parameters."""
    penalties, mean_mask = history.anneal * penalty, history.mask_sum / n_given
    columns: dict[str, NDArray[Any]] = {
        "step": history.step,
        "penalty": penalties,
        "prediction_loss": history.prediction_loss,
        "loss": history.prediction_loss + penalties[:, None] * mean_mask,
        "mean_mask": mean_mask,
    }
    if history.validation_loss is not None:
        columns["validation_loss"] = history.validation_loss
    return columns
