"""What comes before the final fit: columns are screened, and a penalty is chosen on a path of them."""

from __future__ import annotations

from collections.abc import Sequence
from copy import copy
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from hideseek.engine.device import resolve_device
from hideseek.engine.ensemble import Ensemble
from hideseek.engine.recipe import PRICE_PER_FEATURE
from hideseek.errors import InputError
from hideseek.estimators._fitting import Prepared, fit_stack, history_of
from hideseek.estimators._parameters import resolve_penalty, resolve_recipe, resolve_screening
from hideseek.progress import training_progress
from hideseek.search.candidates import PathProblem, train_paths
from hideseek.search.parts import judging_splits
from hideseek.search.path import PRICES, PenaltyPath
from hideseek.search.screening import Screening, residuals_of, screen
from hideseek.validation import is_finite_number, shown

if TYPE_CHECKING:
    from hideseek.estimators._base import BaseHideSeek

__all__ = ["Candidate", "at_position", "fit_models", "position_on"]

_FEWEST_COLUMNS = 16
"""Columns that screening leaves at least: the networks tell noise from a weak effect better than it does."""

_LEARNED = ("path_", "screening_", "_candidates")
"""What a search leaves with a model."""


@dataclass(frozen=True)
class Candidate:
    """The model at one penalty of a path."""

    ensemble: Ensemble
    history: dict[str, NDArray[Any]]


def fit_models(models: Sequence[BaseHideSeek], problems: Sequence[Prepared]) -> None:
    """Fit every model to its problem, as one stack or as few, after what is searched for before."""
    for model in models:
        for name in _LEARNED:
            model.__dict__.pop(name, None)
    parameters = [model.get_params(deep=False) for model in models]
    penalties = [resolve_penalty(given) for given in parameters]
    problems = [_without_hopeless(model, problem) for model, problem in zip(models, problems, strict=True)]
    if resolve_recipe(parameters[0], problems[0].shape[0]).ramps:
        problems = [problem.with_ramps() for problem in problems]
    for together in _of_one_shape(problems):
        _fit_searched([models[i] for i in together], [problems[i] for i in together], [penalties[i] for i in together])


def _without_hopeless(model: BaseHideSeek, problem: Prepared) -> Prepared:
    """The problem with the features that screening leaves."""
    most = resolve_screening(model.get_params(deep=False), problem.n_features)
    if not most:
        return problem
    model.screening_ = _screened(problem, most)
    return problem.of_features(np.flatnonzero(model.screening_.kept))


def _of_one_shape(problems: Sequence[Prepared]) -> list[list[int]]:
    """The positions of the problems that can train as one stack: what screening leaves differs, and the ramps."""
    positions: dict[Any, list[int]] = {}
    for i, problem in enumerate(problems):
        positions.setdefault(problem.shape, []).append(i)
    return list(positions.values())


def _fit_searched(models: list[BaseHideSeek], problems: list[Prepared], penalties: list[Any]) -> None:
    """Choose the penalties that are to be chosen, and fit all models of one shape."""
    searched = [i for i, penalty in enumerate(penalties) if penalty == "auto"]
    paths = _paths([models[i] for i in searched], [problems[i] for i in searched]) if searched else []
    for i, (path, candidates) in zip(searched, paths, strict=True):
        models[i].path_, models[i]._candidates = path, candidates
        penalties[i] = float(path.penalty[path.chosen])
    fit_stack(models, problems, penalties)
    for i in searched:
        models[i]._candidates[models[i].path_.chosen] = Candidate(models[i]._ensemble, models[i].history_)


def _screened(problem: Prepared, most: int) -> Screening:
    part = problem.train
    residuals = residuals_of(part.target, problem.n_outputs, part.relative_weight())
    screening = screen(part.table, problem.scaler, residuals, fewest=min(most, _FEWEST_COLUMNS), most=most)
    return screening if problem.widths is None else screening.by_feature(problem.widths)


def _paths(models: Sequence[BaseHideSeek], problems: Sequence[Prepared]) -> list[tuple[PenaltyPath, list[Candidate]]]:
    """Judge all prices. The rows that judge are learned from only once the price is chosen."""
    first = models[0]
    recipe = resolve_recipe(first.get_params(deep=False), problems[0].shape[0])
    path_problems = [
        PathProblem(
            problem.train,
            judging_splits(problem.train.target, model._judging_fraction(), problem.seed),
            problem.scaler,
            problem.varies,
            problem.input_widths,
            recipe,
            model._loss,
            problem.n_outputs,
            problem.seed,
            resolve_device(model.device),
            model.threshold,
        )
        for model, problem in zip(models, problems, strict=True)
    ]
    n_given = problems[0].n_given(recipe.column_fraction)
    prices = [price * first._price_per_feature / PRICE_PER_FEATURE for price in PRICES]
    progress = partial(training_progress, first.verbose, recipe.steps, prices[-1] * n_given)
    trained = train_paths(path_problems, prices, n_given, progress)
    return [
        (
            path,
            [
                Candidate(replace(one.ensemble, kept=problem.kept), history_of(one.history, penalty, n_given))
                for one, penalty in zip(candidates, path.penalty.tolist(), strict=True)
            ],
        )
        for problem, (path, candidates) in zip(problems, trained, strict=True)
    ]


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


def at_position(model: BaseHideSeek, position: int) -> Any:
    """The model at another penalty of its path; it shares the path with the first."""
    other = copy(model)
    other.path_ = replace(model.path_, chosen=position)
    other.penalty_ = float(model.path_.penalty[position])
    other._ensemble, other.history_ = model._candidates[position].ensemble, model._candidates[position].history
    return other
