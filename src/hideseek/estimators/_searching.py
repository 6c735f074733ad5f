"""What surrounds training: features are screened before it, and a fitted model is asked about other penalties."""

from __future__ import annotations

from collections.abc import Sequence
from copy import copy
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from hideseek.engine.draws import columns_given
from hideseek.engine.recipe import Recipe
from hideseek.errors import InputError
from hideseek.estimators._fitting import Prepared, fit_stack
from hideseek.estimators._parameters import resolve_recipe, resolve_screening
from hideseek.search.copies import copies_among, copies_of_levels
from hideseek.search.parts import folds_of
from hideseek.search.path import PenaltyPath
from hideseek.search.screening import Screening, residuals_of, screen
from hideseek.search.stand_ins import Features, stand_ins_among
from hideseek.stand_ins import StandIn
from hideseek.validation import is_finite_number
from hideseek.wording import shown

if TYPE_CHECKING:
    from hideseek.estimators._base import BaseHideSeek

__all__ = ["at_price", "default_price", "fit_models", "position_on"]

_FEWEST_COLUMNS = 16
"""Columns that screening leaves at least: the networks tell noise from a weak effect better than it does."""


def fit_models(models: Sequence[BaseHideSeek], problems: Sequence[Prepared]) -> None:
    """Screen the columns of every problem, then train all models; problems of equal shape share a stack."""
    recipe = resolve_recipe(models[0].get_params(deep=False), problems[0].shape[0])
    given = problems
    problems = [_worth_training(model, problem, recipe) for model, problem in zip(models, problems, strict=True)]
    if recipe.ramps:
        problems = [problem.with_ramps() for problem in problems]
    for together in _of_one_shape(problems):
        fit_stack([models[i] for i in together], [problems[i] for i in together], recipe)
    if recipe.highest_prices:
        for model, whole, trained in zip(models, given, problems, strict=True):
            model.stand_ins_ = _stand_ins(model, whole, trained)


def _worth_training(model: BaseHideSeek, problem: Prepared, recipe: Recipe) -> Prepared:
    """Return the problem without the features that screening drops or that repeat another one."""
    residuals = residuals_of(problem.train.target, problem.n_outputs, problem.train.relative_weight())
    features = np.arange(problem.n_features)
    most = resolve_screening(model.get_params(deep=False), problem.n_features)
    if most:
        model.screening_ = _screened(problem, residuals, most)
        features = np.flatnonzero(model.screening_.kept)
    if recipe.highest_prices:
        model.copies_ = _copies(problem, residuals, features)
        features = np.array([j for j in features if j not in model.copies_], dtype=np.intp)
    return problem if len(features) == problem.n_features else problem.of_features(features)


def _copies(problem: Prepared, residuals: NDArray[np.float32], features: NDArray[np.intp]) -> dict[int, int]:
    """Return the features that repeat another one, each with that other one."""
    widths = np.ones(problem.n_features, dtype=int) if problem.widths is None else np.array(problem.widths)
    first = np.cumsum(widths) - widths
    single = features[widths[features] == 1]
    found = copies_among(problem.train.table, problem.scaler, residuals, first[single])
    feature_of = dict(zip(first[single].tolist(), single.tolist(), strict=True))
    numbers = {feature_of[column]: feature_of[other] for column, other in found.items()}
    return numbers | copies_of_levels(problem.train.table, problem.columns, features[widths[features] > 1].tolist())


def _stand_ins(model: BaseHideSeek, whole: Prepared, trained: Prepared) -> dict[str, tuple[StandIn, ...]]:
    """Return what could take the place of each feature; nothing where the table is too short to hold rows out."""
    fold = folds_of(trained.train.target, trained.seed)
    if fold is None:
        return {}
    known = range(whole.n_features) if trained.kept is None else trained.kept.features.tolist()
    features = Features(whole.train.table, whole.scaler, whole.columns, known, model.copies_)
    return stand_ins_among(
        replace(model._ensemble, kept=None),
        trained.train,
        trained.columns,
        features,
        fold,
        model._names(),
        loss=model._loss,
        threshold=model.threshold,
        seed=trained.seed,
    )


def _of_one_shape(problems: Sequence[Prepared]) -> list[list[int]]:
    """The positions of the problems that can train as one stack: what screening leaves differs, and the ramps."""
    positions: dict[Any, list[int]] = {}
    for i, problem in enumerate(problems):
        positions.setdefault(problem.shape, []).append(i)
    return list(positions.values())


def _screened(problem: Prepared, residuals: NDArray[np.float32], most: int) -> Screening:
    screening = screen(problem.train.table, problem.scaler, residuals, fewest=min(most, _FEWEST_COLUMNS), most=most)
    return screening if problem.widths is None else screening.by_feature(problem.widths)


def position_on(path: PenaltyPath, wishes: dict[str, float | None]) -> int:
    """The penalty of the path that meets the one wish that is not None."""
    choices = {
        "n_features": path.with_features,
        "loss_within": path.within_loss,
        "score_within": path.within_score,
        "penalty": path.nearest,
    }
    given = {name: wish for name, wish in wishes.items() if wish is not None}
    if len(given) != 1:
        raise InputError(f"at takes one of {', '.join(choices)}; {len(given)} came")
    ((name, wish),) = given.items()
    if not (is_finite_number(wish) and (wish > 0 if name == "penalty" else wish >= 0)):
        raise InputError(
            f"{name}={shown(wish)}: expected a finite number that is not negative (a penalty: not 0 either)"
        )
    return choices[name](wish)


def at_price(model: BaseHideSeek, position: int, penalty: float | None) -> Any:
    """Return the model at a penalty, or at a position of its path; it shares the path with the first."""
    other = copy(model)
    other.path_ = replace(model.path_, chosen=position)
    other.penalty_ = float(model.path_.penalty[position]) if penalty is None else float(penalty)
    other._ensemble = replace(model._ensemble, price=other.penalty_ / _n_given(model))
    return other


def default_price(model: BaseHideSeek) -> float:
    """Return the price of showing one feature that held-out rows chose in the fit, whatever was asked for since."""
    path = model.path_
    return float(path.penalty[path.chosen if path.default is None else path.default]) / _n_given(model)


def _n_given(model: BaseHideSeek) -> int:
    return columns_given(len(model._names()), model.recipe_.column_fraction)
