"""From tables to fitted ensembles: the members of all models train as one stack."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
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
from hideseek.engine.teams import Team, TrainedTeam, train_teams
from hideseek.errors import InputError
from hideseek.estimators._parameters import given_penalty
from hideseek.progress import training_progress
from hideseek.search.choice import choose_price
from hideseek.search.held_out import measure_trust
from hideseek.search.parts import N_FOLDS, Part, as_tables, folds_of
from hideseek.search.ranges import Search, train_ranges
from hideseek.wording import some

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
    training = _Training(models[0], problems, recipe)
    fit = _fit_ranges if recipe.highest_prices else _fit_one_price
    fit(models, training)


def _fit_one_price(models: Sequence[BaseHideSeek], training: _Training) -> None:
    n_given, recipe = training.n_given, training.recipe
    penalties = [_fixed_penalty(model, n_given) for model in models]
    teams = [
        Team(problem.seed, penalty / n_given, i, problem.varies, recipe.n_members)
        for i, (penalty, problem) in enumerate(zip(penalties, training.problems, strict=True))
    ]
    for i, (model, penalty, team) in enumerate(zip(models, penalties, training.train(teams), strict=True)):
        model.penalty_ = penalty
        _finish(model, training, i, training.ensemble(i, team), team)


def _fit_ranges(models: Sequence[BaseHideSeek], training: _Training) -> None:
    """Train for ranges of prices, and choose a range and a price for each model."""
    n_given, recipe, problems = training.n_given, training.recipe, training.problems
    searches = [
        Search(
            _ranges(model, problem, i, recipe, fold is not None),
            problem.train,
            fold,
            partial(training.ensemble, i),
            model.threshold,
        )
        for i, (model, problem, fold) in enumerate(zip(models, problems, training.folds, strict=True))
    ]
    n_scouts = min(recipe.n_scouts, recipe.n_members)
    for i, found in enumerate(train_ranges(training.train, searches, n_scouts, training.loss)):
        model = models[i]
        model.path_ = choose_price(found.judged, loss=training.loss, n_given=n_given)
        given = given_penalty(model.get_params(deep=False))
        model.penalty_ = float(model.path_.penalty[model.path_.chosen]) if given is None else given
        price = max(model.penalty_ / n_given, _LEAST_PRICE)
        _finish(model, training, i, replace(found.ensemble, price=price), found.team)


class _Training:
    """Problems of one shape on their device, ready to train teams on.

    Args:
        model: The first of the models; device, loss and verbosity are the same for all.
        problems: One for each model.
        recipe: Of all of them.

    Attributes:
        n_given: Over how many features the mean of a mask runs.
        folds: The fold of each row of each problem, or None where none is left out.
    """

    def __init__(self, model: BaseHideSeek, problems: Sequence[Prepared], recipe: Recipe) -> None:
        self.problems, self.recipe, self.loss = problems, recipe, model._loss
        self._verbose, self._device = model.verbose, resolve_device(model.device)
        _, _, self._n_outputs, self._widths = problems[0].shape
        if Groups.from_widths(self._widths) is not None and recipe.replacement in KNOCKOFFS:
            _refuse_knockoffs(model, recipe, problems[0])
        self.n_given = problems[0].n_given(recipe.column_fraction)
        self.folds = [folds_of(each.train.target, each.seed) if recipe.highest_prices else None for each in problems]
        self._data = as_tables(
            [each.train.standardised(each.scaler, fold) for each, fold in zip(problems, self.folds, strict=True)]
        )
        held_out = [each.held_out.standardised(each.scaler) for each in problems if each.held_out is not None]
        self._held_out = as_tables(held_out) if held_out else None
        columns = self._data.X.transpose(1, 2).to(self._device)
        self._knockoffs = fit_knockoffs(recipe.replacement, columns, [each.seed for each in problems])

    def train(self, teams: Sequence[Team]) -> list[TrainedTeam]:
        """Train the members of all teams at once, with a bar where that is wanted."""
        penalty = max(team.price for team in teams) * self.n_given
        with training_progress(self._verbose, self.recipe.steps, penalty) as on_progress:
            return train_teams(
                self.recipe,
                self._data,
                teams,
                loss=self.loss,
                n_outputs=self._n_outputs,
                device=self._device,
                validation=self._held_out,
                knockoffs=self._knockoffs,
                groups=Groups.from_widths(self._widths, self._device),
                on_progress=on_progress,
            )

    def ensemble(self, number: int, team: TrainedTeam) -> Ensemble:
        """Return the ensemble of a team that was trained on this problem."""
        return Ensemble.trained(
            team.stack,
            team.visible,
            self._data.X,
            number,
            seed=self.problems[number].seed,
            scaler=self.problems[number].scaler,
            widths=self._widths,
            knockoffs=self._knockoffs,
        )


def _ranges(model: BaseHideSeek, problem: Prepared, table: int, recipe: Recipe, has_folds: bool) -> list[Team]:
    """Return a team for each range of prices."""
    unit = model._price_per_feature / PRICE_PER_FEATURE
    return [
        Team(
            problem.seed,
            highest * unit,
            table,
            problem.varies,
            recipe.n_members,
            lowest_price=LOWEST_PRICE * unit,
            n_folds=N_FOLDS if has_folds else None,
        )
        for highest in recipe.highest_prices
    ]


def _fixed_penalty(model: BaseHideSeek, n_given: int) -> float:
    """Return the penalty that was given, or the one at the paper's price per feature."""
    given = given_penalty(model.get_params(deep=False))
    return float(model._price_per_feature * n_given) if given is None else given


def _finish(model: BaseHideSeek, training: _Training, number: int, ensemble: Ensemble, team: TrainedTeam) -> None:
    """Set what was learned from a problem."""
    problem = training.problems[number]
    model.trust_ = measure_trust(
        ensemble,
        problem.train,
        problem.held_out,
        training.folds[number],
        loss=training.loss,
        threshold=model.threshold,
        n_draws=model.prediction_draws,
    )
    model._ensemble = replace(ensemble, kept=problem.kept)
    model.recipe_ = training.recipe
    model.history_ = history_of(team.history, model.penalty_, training.n_given)


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
