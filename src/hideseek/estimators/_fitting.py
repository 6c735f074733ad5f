"""From tables to fitted ensembles: the members of all models train as one stack."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from hideseek.engine.device import resolve_device
from hideseek.engine.draws import columns_given
from hideseek.engine.ensemble import Ensemble, Kept
from hideseek.engine.groups import Groups
from hideseek.engine.recipe import LOWEST_PRICE, PRICE_PER_FEATURE, Recipe
from hideseek.engine.replacement import KNOCKOFFS, fit_knockoffs
from hideseek.engine.scaling import Scaler
from hideseek.engine.stack import History
from hideseek.engine.teams import Team, train_teams
from hideseek.errors import InputError
from hideseek.estimators._parameters import given_penalty
from hideseek.progress import training_progress
from hideseek.search.choice import choose_price
from hideseek.search.parts import N_FOLDS, Part, as_tables, folds_of
from hideseek.validation import some

if TYPE_CHECKING:
    from hideseek.estimators._base import BaseHideSeek

__all__ = ["Part", "Prepared", "fit_stack", "history_of"]

_LEAST_PRICE = 1e-12
"""What stands for a price of 0, which has no logarithm."""


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
        kept: What is left of the caller's features, where some were dropped; None: all.
    """

    train: Part
    held_out: Part | None
    scaler: Scaler
    n_outputs: int
    seed: int
    widths: tuple[int, ...] | None = None
    kept: Kept | None = None

    @property
    def shape(self) -> tuple[int, int, int, tuple[int, ...] | None]:
        """What the problems of one stack have in common: rows, columns, outputs, inputs of each feature."""
        return (*self.train.table.shape, self.n_outputs, self.input_widths)

    @property
    def input_widths(self) -> tuple[int, ...] | None:
        """What the networks see of each feature: its columns, and their ramps; None: one input each."""
        return self.scaler.widths(self.widths)

    def with_ramps(self) -> Prepared:
        """The problem with columns of an odd shape seen in pieces as well."""
        return replace(self, scaler=self.scaler.with_ramps(self.train.table))

    @property
    def n_features(self) -> int:
        """Features that can be shown, of one column or more."""
        return self.train.table.shape[1] if self.widths is None else len(self.widths)

    @property
    def columns(self) -> list[slice]:
        """The columns of each feature."""
        ends = np.cumsum(self.widths or (1,) * self.n_features).tolist()
        return [slice(start, end) for start, end in zip([0, *ends], ends, strict=False)]

    @property
    def varies(self) -> NDArray[np.bool_]:
        """The features with a column that is not constant. Shape: ``(features,)``."""
        return self.by_feature(~self.scaler.constant)

    def by_feature(self, columns: NDArray[np.bool_]) -> NDArray[np.bool_]:
        """The features of which any column is true. Shape: ``(columns,)`` -> ``(features,)``."""
        if self.widths is None:
            return columns
        return np.logical_or.reduceat(columns, np.cumsum((0, *self.widths[:-1])))

    def of_features(self, features: NDArray[np.intp]) -> Prepared:
        """The problem with some of the features. What a penalty means does not change."""
        widths = self.widths or (1,) * self.n_features
        kept = Kept.of(features, widths)
        return replace(
            self,
            train=self.train.of_columns(kept.columns),
            held_out=None if self.held_out is None else self.held_out.of_columns(kept.columns),
            scaler=self.scaler.of(kept.columns),
            widths=None if self.widths is None else tuple(widths[j] for j in features),
            kept=kept,
        )

    def n_given(self, column_fraction: float) -> int:
        """Over how many features the paper's mean of the mask runs: all that a member is given.

        Those that are constant count, and those that were dropped.
        """
        return columns_given(self.n_features if self.kept is None else self.kept.n_features, column_fraction)


def fit_stack(models: Sequence[BaseHideSeek], problems: Sequence[Prepared], recipe: Recipe) -> None:
    """Train the members of every model on its own problem, all at once, and hand them out."""
    first, seeds = models[0], [problem.seed for problem in problems]
    _, _, n_outputs, widths = problems[0].shape
    device = resolve_device(first.device)
    if Groups.from_widths(widths) is not None and recipe.replacement in KNOCKOFFS:
        _refuse_knockoffs(first, recipe, problems[0])
    n_given = problems[0].n_given(recipe.column_fraction)
    folds = [folds_of(problem.train.target, problem.seed) if recipe.highest_prices else None for problem in problems]
    data = as_tables(
        [problem.train.standardised(problem.scaler, fold) for problem, fold in zip(problems, folds, strict=True)]
    )
    held_out = [problem.held_out.standardised(problem.scaler) for problem in problems if problem.held_out is not None]
    knockoffs = fit_knockoffs(recipe.replacement, data.X.transpose(1, 2).to(device), seeds)
    teams = [
        team
        for i, (model, problem) in enumerate(zip(models, problems, strict=True))
        for team in _teams(model, problem, i, recipe, n_given, data.fold is not None)
    ]
    with training_progress(first.verbose, recipe.steps, max(team.price for team in teams) * n_given) as on_progress:
        trained = train_teams(
            recipe,
            data,
            teams,
            loss=first._loss,
            n_outputs=n_outputs,
            device=device,
            validation=as_tables(held_out) if held_out else None,
            knockoffs=knockoffs,
            groups=Groups.from_widths(widths, device),
            on_progress=on_progress,
        )
    n_ranges = max(1, len(recipe.highest_prices))
    for i, (model, problem, fold) in enumerate(zip(models, problems, folds, strict=True)):
        own = trained[i * n_ranges : (i + 1) * n_ranges]
        candidates = [
            Ensemble.trained(
                team.stack,
                team.visible,
                data.X,
                i,
                seed=problem.seed,
                scaler=problem.scaler,
                widths=widths,
                knockoffs=knockoffs,
            )
            for team in own
        ]
        _finish(model, problem, recipe, candidates, [team.history for team in own], fold, n_given)


def _teams(
    model: BaseHideSeek, problem: Prepared, table: int, recipe: Recipe, n_given: int, has_folds: bool
) -> list[Team]:
    """Return the teams of one model: one for each range of prices, or one at its penalty."""
    if not recipe.highest_prices:
        return [Team(problem.seed, _fixed_penalty(model, n_given) / n_given, table, problem.varies)]
    unit = model._price_per_feature / PRICE_PER_FEATURE
    n_folds = N_FOLDS if has_folds else None
    return [
        Team(problem.seed, highest * unit, table, problem.varies, LOWEST_PRICE * unit, n_folds)
        for highest in recipe.highest_prices
    ]


def _fixed_penalty(model: BaseHideSeek, n_given: int) -> float:
    """Return the penalty that was given, or the one at the paper's price per feature."""
    given = given_penalty(model.get_params(deep=False))
    return float(model._price_per_feature * n_given) if given is None else given


def _finish(
    model: BaseHideSeek,
    problem: Prepared,
    recipe: Recipe,
    candidates: list[Ensemble],
    histories: list[History],
    fold: NDArray[np.int64] | None,
    n_given: int,
) -> None:
    """Choose the ensemble that answers, and set what was learned."""
    best, ensemble = 0, candidates[0]
    if recipe.highest_prices:
        given = given_penalty(model.get_params(deep=False))
        best, ensemble, model.path_ = choose_price(
            candidates,
            problem.train,
            fold,
            loss=model._loss,
            threshold=model.threshold,
            n_given=n_given,
            price=None if given is None else max(given / n_given, _LEAST_PRICE),
        )
        model.penalty_ = float(model.path_.penalty[model.path_.chosen]) if given is None else given
    else:
        model.penalty_ = _fixed_penalty(model, n_given)
    model._ensemble = replace(ensemble, kept=problem.kept)
    model.recipe_ = recipe
    model.history_ = history_of(histories[best], model.penalty_, n_given)


def _refuse_knockoffs(model: BaseHideSeek, recipe: Recipe, problem: Prepared) -> None:
    names, widths = model._names(), problem.widths or ()
    features = range(len(names)) if problem.kept is None else problem.kept.features
    wide = some([repr(names[j]) for j, width in zip(features, widths, strict=True) if width > 1])
    raise InputError(
        f"replacement={recipe.replacement!r} draws numbers, and {wide} are several columns each (categories, missing "
        'values, groups) whose draws would be no values they can have; use replacement="marginal"'
    )


def history_of(history: History, penalty: float, n_given: int) -> dict[str, NDArray[Any]]:
    """The course of one model's members, in the terms of its parameters."""
    penalties, mean_mask = history.anneal * penalty, history.mask_sum / n_given
    columns: dict[str, NDArray[Any]] = {
        "step": history.step,
        "penalty": penalties,
        "prediction_loss": history.prediction_loss,
        "loss": (history.prediction_loss + penalties[:, None] * mean_mask).astype(np.float32),
        "mean_mask": mean_mask.astype(np.float32),
    }
    if history.validation_loss is not None:
        columns["validation_loss"] = history.validation_loss
    return columns
