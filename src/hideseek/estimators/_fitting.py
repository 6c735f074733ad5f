"""From tables to fitted ensembles: the members of all models train as one stack."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import ceil
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from numpy.typing import NDArray

from hideseek.engine.device import resolve_device
from hideseek.engine.draws import columns_given, draw_columns, member_seeds
from hideseek.engine.ensemble import Ensemble, draw_noise, draw_pool
from hideseek.engine.groups import Groups
from hideseek.engine.recipe import Recipe
from hideseek.engine.replacement import KNOCKOFFS, fit_knockoffs
from hideseek.engine.scaling import Scaler
from hideseek.engine.stack import Data, History, Members, Stack
from hideseek.engine.training import train
from hideseek.errors import InputError
from hideseek.estimators._parameters import resolve_recipe
from hideseek.progress import training_progress
from hideseek.validation import some

if TYPE_CHECKING:
    from hideseek.estimators._base import BaseHideSeek

__all__ = ["Part", "Prepared", "fit_stack"]

_LAST_RECORDS = 5
"""Records of the history that say how well a member learned: the last twentieth of training."""


@dataclass(frozen=True)
class Part:
    """Rows with their targets.

    Shape: ``table (rows, columns)``, ``target (rows,)``, ``weight (rows,)`` or None for equal weights.
    """

    table: NDArray[np.floating]
    target: NDArray[Any]
    weight: NDArray[np.float64] | None

    def rows(self, index: NDArray[np.intp] | NDArray[np.bool_]) -> Part:
        """Some of the rows."""
        return Part(self.table[index], self.target[index], None if self.weight is None else self.weight[index])

    def standardised(self, scaler: Scaler) -> Data:
        """One table as the engine takes it."""
        weight = None
        if self.weight is not None:
            weight = self.weight / self.weight.max()  # first, or the mean of huge weights is infinite
            weight /= weight.mean()
        return Data(
            torch.from_numpy(scaler.transform(self.table))[None],
            torch.from_numpy(self.target)[None],
            None if weight is None else torch.from_numpy(weight.astype(np.float32))[None],
        )


@dataclass(frozen=True)
class Prepared:
    """What a model has to know of a problem before training.

    Attributes:
        train: Rows to learn from.
        held_out: Rows only to look at, or None.
        scaler: What standardises both.
        n_outputs: Outputs of Seek.
        seed: Where all draws come from.
        widths: Columns of each feature, side by side; None: one each.
    """

    train: Part
    held_out: Part | None
    scaler: Scaler
    n_outputs: int
    seed: int
    widths: tuple[int, ...] | None = None

    @property
    def shape(self) -> tuple[int, int, int, tuple[int, ...] | None]:
        """What the problems of one stack have in common: rows, columns, outputs, columns of each feature."""
        return (*self.train.table.shape, self.n_outputs, self.widths)

    @property
    def varies(self) -> NDArray[np.bool_]:
        """The features with a column that is not constant. Shape: ``(features,)``."""
        return self.by_feature(~self.scaler.constant)

    def by_feature(self, columns: NDArray[np.bool_]) -> NDArray[np.bool_]:
        """The features of which any column is true. Shape: ``(columns,)`` -> ``(features,)``."""
        if self.widths is None:
            return columns
        return np.logical_or.reduceat(columns, np.cumsum((0, *self.widths[:-1])))


def fit_stack(models: Sequence[BaseHideSeek], problems: Sequence[Prepared]) -> None:
    """Train the members of every model on its own problem, all at once, and hand them out."""
    first, seeds = models[0], [problem.seed for problem in problems]
    n_rows, n_columns, n_outputs, widths = problems[0].shape
    device = resolve_device(first.device)
    recipe = resolve_recipe(first.get_params(deep=False), n_rows)
    groups = Groups.from_widths(widths, device)
    if groups is not None and recipe.replacement in KNOCKOFFS:
        _refuse_knockoffs(first, recipe, widths or ())
    # The paper's mean of the mask runs over all features a member is given, the constant ones included.
    n_given = columns_given(n_columns if widths is None else len(widths), recipe.column_fraction)
    for model in models:
        model.penalty_ = float(model._price_per_feature * n_given if model.penalty is None else model.penalty)
    members = _members(models, problems, recipe, n_given)
    data = _tables([problem.train.standardised(problem.scaler) for problem in problems])
    held_out = [problem.held_out.standardised(problem.scaler) for problem in problems if problem.held_out is not None]
    knockoffs = fit_knockoffs(recipe.replacement, data.X.transpose(1, 2).to(device), seeds)
    penalty = float(np.mean([model.penalty_ for model in models]))
    with training_progress(first.verbose, recipe.steps, penalty) as on_progress:
        stack, history = train(
            recipe,
            data,
            members,
            loss=first._loss,
            n_outputs=n_outputs,
            device=device,
            validation=_tables(held_out) if held_out else None,
            replacement=None if knockoffs is None else knockoffs.of(torch.from_numpy(members.table).to(device)),
            groups=groups,
            on_progress=on_progress,
        )
    weights = stack.by_member()
    for i, (model, problem) in enumerate(zip(models, problems, strict=True)):
        own = slice(i * recipe.n_members, (i + 1) * recipe.n_members)
        kept = _kept(history, members, own, recipe.kept_fraction)
        part = Stack.from_members(stack.hide, stack.seek, weights[kept], groups)
        visible = torch.from_numpy(members.visible[kept]).to(device)
        own_knockoffs = None if knockoffs is None else knockoffs.of(torch.tensor([i], device=device))
        if knockoffs is None:
            pool = draw_pool(problem.seed, data.X[i], Groups.from_widths(widths))
        else:
            pool = draw_noise(problem.seed, n_columns)
        model._ensemble = Ensemble(part, visible, pool.to(device), problem.scaler, own_knockoffs)
        model.recipe_ = recipe
        model.history_ = _history(history, own, model.penalty_, n_given)
        model._warn_of_odd_masks(problem.train.table)


def _refuse_knockoffs(model: BaseHideSeek, recipe: Recipe, widths: Sequence[int]) -> None:
    wide = some([repr(name) for name, width in zip(model._names(), widths, strict=True) if width > 1])
    raise InputError(
        f"replacement={recipe.replacement!r} draws numbers, and {wide} are several columns each (categories, missing "
        'values, groups) whose draws would be no values they can have; use replacement="marginal"'
    )


def _members(models: Sequence[BaseHideSeek], problems: Sequence[Prepared], recipe: Recipe, n_given: int) -> Members:
    """The members of all models, one model after the other."""
    seeds = [member_seeds(problem.seed, recipe.n_members) for problem in problems]
    visible = [_visible(own, problem.varies, recipe) for own, problem in zip(seeds, problems, strict=True)]
    price = [model.penalty_ / n_given for model in models]
    return Members(
        np.concatenate(seeds),
        np.repeat(price, recipe.n_members),
        np.concatenate(visible),
        np.repeat(np.arange(len(models)), recipe.n_members),
    )


def _visible(seeds: NDArray[np.int64], varies: NDArray[np.bool_], recipe: Recipe) -> NDArray[np.bool_]:
    """The features that each member of one model sees. Shape: ``(members, features)``."""
    visible = np.tile(varies, (len(seeds), 1))
    if recipe.column_fraction < 1:
        visible[:, varies] = draw_columns(seeds, int(varies.sum()), recipe.column_fraction)
    return visible


def _kept(history: History, members: Members, own: slice, fraction: float) -> NDArray[np.intp]:
    """The members of a model that answer: those that learned best, unless a column would be seen by none of them."""
    all_own = np.arange(own.start, own.stop)
    loss = history.prediction_loss[-_LAST_RECORDS:, own] + members.price[own] * history.mask_sum[-_LAST_RECORDS:, own]
    best = np.argsort(loss.mean(axis=0), kind="stable")[: ceil(round(fraction * len(all_own), 9))]
    kept = all_own[np.sort(best)]
    seen, was_seen = (members.visible[which].any(axis=0) for which in (kept, all_own))
    return kept if np.array_equal(seen, was_seen) else all_own


def _tables(parts: Sequence[Data]) -> Data:
    """Several tables as one; a single one is not copied."""
    if len(parts) == 1:
        return parts[0]
    weights = [part.weight for part in parts if part.weight is not None]
    return Data(
        torch.cat([part.X for part in parts]),
        torch.cat([part.target for part in parts]),
        torch.cat(weights) if weights else None,
    )


def _history(history: History, own: slice, penalty: float, n_given: int) -> dict[str, NDArray[Any]]:
    """The course of one model's members, in the terms of its parameters."""
    penalties, mean_mask = history.anneal * penalty, history.mask_sum[:, own] / n_given
    prediction_loss = history.prediction_loss[:, own]
    columns: dict[str, NDArray[Any]] = {
        "step": history.step,
        "penalty": penalties,
        "prediction_loss": prediction_loss,
        "loss": prediction_loss + penalties[:, None] * mean_mask,
        "mean_mask": mean_mask,
    }
    if history.validation_loss is not None:
        columns["validation_loss"] = history.validation_loss[:, own]
    return columns
