"""From problems to all that is learned of them: trim, train, choose a price, measure.

Problems of equal shape share a stack: the members of all of them train at once.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import Any, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from hideseek.engine.conditional import Conditional
from hideseek.engine.device import for_each_table, resolve_device
from hideseek.engine.ensemble import Ensemble
from hideseek.engine.groups import Groups
from hideseek.engine.knockoffs import Knockoffs
from hideseek.engine.pools import draw_noise, draw_pools
from hideseek.engine.ramps import Ramps
from hideseek.engine.recipe import LOWEST_PRICE, PRICE_PER_FEATURE, Recipe
from hideseek.engine.replacement import CONDITIONAL, KNOCKOFFS, fit_knockoffs
from hideseek.engine.stack import Data, History
from hideseek.engine.teams import Team, TrainedTeam, train_teams
from hideseek.errors import InputError
from hideseek.progress import training_progress
from hideseek.search.choice import choose_price, too_high
from hideseek.search.conditional import fit_conditional
from hideseek.search.dependence import ranges_worth_training
from hideseek.search.held_out import Fitted, measure_trust
from hideseek.search.learned import Learned
from hideseek.search.masks import shown_by, warn_of_odd_masks
from hideseek.search.parts import N_FOLDS, LearnedFrom, as_tables, folds_of
from hideseek.search.path import PenaltyPath
from hideseek.search.problem import Problem
from hideseek.search.ranges import Search, train_ranges
from hideseek.search.refinement import refined
from hideseek.search.stand_ins import Features, stand_ins_among
from hideseek.search.trimming import Trimmed, trim
from hideseek.wording import some

__all__ = ["Settings", "learn"]

_LEAST_PRICE = 1e-12
"""What stands for a price of 0, which has no logarithm."""


@dataclass(frozen=True)
class Settings:
    """What the problems of one call have in common.

    Attributes:
        recipe: How to train.
        loss: "cross_entropy" or "squared_error".
        device: "auto", or the name of a device.
        most_features: Features that screening may leave; 0: there is no screening.
        threshold: A feature is selected where its mean mask is greater.
        n_draws: Draws of the hidden features that a prediction averages.
        pool: What replacement rows are made of, one of ``POOLS``.
        pool_rows: How many of them a model carries.
        verbose: Whether to show progress.
    """

    recipe: Recipe
    loss: str
    device: str
    most_features: int
    threshold: float
    n_draws: int
    pool: str
    pool_rows: int
    verbose: bool


def learn(settings: Settings, problems: Sequence[Problem]) -> list[Learned]:
    """Return what is learned of each problem."""
    answers_for_range, device = bool(settings.recipe.highest_prices), resolve_device(settings.device)
    trimmed = _trim_all(settings, problems, device)
    learned: dict[int, Learned] = {}
    for together in _of_one_shape(trimmed):
        training = _Training(settings, [trimmed[i].problem for i in together])
        learned |= zip(
            together, _train_ranges(training) if answers_for_range else _train_one_price(training), strict=True
        )

    def finished(i: int) -> Learned:
        problem, screening, copies = trimmed[i]
        one, stand_ins = learned[i].with_kept(problem.kept), None
        if copies is not None:
            stand_ins = _stand_ins(settings, learned[i].ensemble, problems[i], problem, copies)
        one = replace(one, screening=screening, copies=copies, stand_ins=stand_ins)
        return one.with_pool(settings.pool, settings.pool_rows)

    return for_each_table(finished, range(len(problems)), device)


def _trim_all(settings: Settings, problems: Sequence[Problem], device: torch.device) -> list[Trimmed]:
    """Drop the features that are not worth training on, and add ramps where the recipe has them."""
    recipe, most = settings.recipe, settings.most_features
    trim_one = partial(trim, most=most, find_copies=bool(recipe.highest_prices), device=device)
    # Screening fills the memory of a GPU, so it takes one table at a time.
    trimmed = list(map(trim_one, problems)) if most else for_each_table(trim_one, problems, device)
    if not recipe.ramps:
        return trimmed
    rows = for_each_table(lambda one: one.problem.scaler.rows_for_ramps(one.problem.train.table), trimmed, device)
    ramps = Ramps.fit_all(rows, device)
    return [one._replace(problem=one.problem.with_ramps(own)) for one, own in zip(trimmed, ramps, strict=True)]


def _of_one_shape(trimmed: Sequence[Trimmed]) -> list[list[int]]:
    """Return the positions of the problems that can train as one stack: what is left differs, and the ramps."""
    positions: dict[Any, list[int]] = {}
    for i, each in enumerate(trimmed):
        positions.setdefault(each.problem.shape, []).append(i)
    return list(positions.values())


class _Training:
    """Problems of one shape on their device, ready to train teams on.

    Attributes:
        device: Where to train.
        n_given: Over how many features the mean of a mask runs.
        tables: What is learned from, with the fold of each row where rows are left out.
    """

    def __init__(self, settings: Settings, problems: Sequence[Problem]) -> None:
        recipe = settings.recipe
        self.settings, self.problems = settings, problems
        self.device = resolve_device(settings.device)
        _, _, self._n_outputs, self._widths = problems[0].shape
        if Groups.from_widths(self._widths) is not None and recipe.replacement in KNOCKOFFS:
            _refuse_knockoffs(recipe, problems[0])
        self.n_given = problems[0].n_given(recipe.column_fraction)

        def dealt(problem: Problem) -> tuple[Data, NDArray[np.int64] | None]:
            fold = folds_of(problem.train.target, problem.seed) if recipe.highest_prices else None
            return problem.train.standardised(problem.scaler, fold), fold

        data, folds = zip(*for_each_table(dealt, problems, self.device), strict=True)
        self._data = as_tables(data).to(self.device)
        self.tables = [LearnedFrom(each.train, *own) for each, *own in zip(problems, self._data.X, folds, strict=True)]
        held_out = [each.held_out.standardised(each.scaler) for each in problems if each.held_out is not None]
        self._held_out = as_tables(held_out) if held_out else None
        self._knockoffs: Knockoffs | None = None
        self._conditional: Conditional | None = None
        if recipe.replacement in KNOCKOFFS:
            columns = self._data.X.transpose(1, 2)
            self._knockoffs = fit_knockoffs(recipe.replacement, columns, [each.seed for each in problems])
        elif recipe.replacement == CONDITIONAL:
            self._conditional = fit_conditional(problems, self._data.X.transpose(1, 2))

    def train(self, teams: Sequence[Team]) -> list[TrainedTeam]:
        """Train the members of all teams at once, with a bar where that is wanted."""
        recipe, penalty = self.settings.recipe, max(team.price for team in teams) * self.n_given
        with training_progress(self.settings.verbose, recipe.steps, penalty) as on_progress:
            return train_teams(
                recipe,
                self._data,
                teams,
                loss=self.settings.loss,
                n_outputs=self._n_outputs,
                device=self.device,
                validation=self._held_out,
                fitted=self._knockoffs or self._conditional,
                groups=Groups.from_widths(self._widths, self.device),
                on_progress=on_progress,
            )

    def ensemble(self, number: int, team: TrainedTeam) -> Ensemble:
        """Return the ensemble of a team that was trained on this problem."""
        table = torch.tensor([number], device=self.device)
        knockoffs = None if self._knockoffs is None else self._knockoffs.of(table)
        conditional = None if self._conditional is None else self._conditional.of(table)
        pool, scaler = self._pools[number], self.problems[number].scaler
        return Ensemble(team.stack, team.visible, pool, scaler, knockoffs, conditional=conditional)

    @cached_property
    def _pools(self) -> Tensor:
        """What hidden values of each problem are replaced with. Shape: ``(problems, rows of a pool, inputs)``."""
        seeds, X = [problem.seed for problem in self.problems], self._data.X
        if self._knockoffs is not None or self._conditional is not None:
            return draw_noise(seeds, X.shape[2]).to(self.device)
        return draw_pools(seeds, X, Groups.from_widths(self._widths, self.device))

    @property
    def refines(self) -> bool:
        """Whether Seeks learn from the selected features at the end. Hidden values are then drawn from marginals."""
        return self.settings.recipe.refinement > 0 and self._knockoffs is None

    def refined(self, numbers: Sequence[int], trained: Sequence[_Trained]) -> list[_Trained]:
        """Return the same with Seeks that have learned from the selected features. ``numbers``: of their problems."""
        settings, every = self.settings, len(numbers) == len(self.problems)
        ensembles = refined(
            [each.ensemble for each in trained],
            self._data if every else self._data.of(np.array(numbers)),
            [self.problems[i].seed for i in numbers],
            recipe=settings.recipe,
            loss=settings.loss,
            threshold=settings.threshold,
        )
        return [each._replace(ensemble=ensemble) for each, ensemble in zip(trained, ensembles, strict=True)]

    def learned(self, trained: Sequence[_Trained]) -> list[Learned]:
        """Return what was learned of each problem."""
        settings = self.settings
        shown = shown_by([each.ensemble for each in trained], self.tables)
        cases = zip(trained, self.tables, self.problems, strict=True)
        trust = measure_trust(
            [Fitted(each.ensemble, table, problem.held_out) for each, table, problem in cases],
            loss=settings.loss,
            threshold=settings.threshold,
            n_draws=settings.n_draws,
        )
        learned = [
            Learned(
                each.ensemble,
                settings.recipe,
                each.penalty,
                _history(each.team.history, each.penalty, self.n_given),
                len(problem.names),
                path=each.path,
                trust=own,
                feature_importances=masks.mean,
            )
            for each, problem, own, masks in zip(trained, self.problems, trust, shown, strict=True)
        ]
        for one, problem, masks in zip(learned, self.problems, shown, strict=True):
            warn_of_odd_masks(one, masks, screened=problem.kept is not None)
        return learned


class _Trained(NamedTuple):
    """A trained team, as an ensemble at its price."""

    ensemble: Ensemble
    team: TrainedTeam
    penalty: float
    path: PenaltyPath | None = None


def _train_one_price(training: _Training) -> list[Learned]:
    """Train for the penalty of each problem: the one that was asked for, or the paper's price per feature."""
    n_given, n_members = training.n_given, training.settings.recipe.n_members
    penalties, teams = [], []
    for i, problem in enumerate(training.problems):
        usual = float(problem.price_per_feature * n_given)
        penalties.append(usual if problem.penalty is None else problem.penalty)
        teams.append(Team(problem.seed, penalties[i] / n_given, i, problem.varies, n_members))
    trained = [
        _Trained(training.ensemble(i, team), team, penalty)
        for i, (team, penalty) in enumerate(zip(training.train(teams), penalties, strict=True))
    ]
    return training.learned(trained)


def _train_ranges(training: _Training) -> list[Learned]:
    """Train for ranges of prices, and choose a range and a price for each problem."""
    settings, problems, n_given = training.settings, training.problems, training.n_given
    every = range(len(problems))

    def search(i: int) -> Search:
        table = training.tables[i]
        ranges = _ranges(problems[i], i, settings.recipe, table.fold is not None)
        return Search(ranges, table, partial(training.ensemble, i))

    searches = for_each_table(search, every, training.device)
    found = train_ranges(
        training.train, searches, loss=settings.loss, threshold=settings.threshold, with_cuts=settings.recipe.cuts
    )
    training.tables = [each.table for each in found]
    paths = [choose_price(each.judged, loss=settings.loss, n_given=n_given) for each in found]

    def at_price(i: int) -> _Trained:
        path, given = paths[i], problems[i].penalty
        penalty = float(path.penalty[path.chosen]) if given is None else given
        price = max(penalty / n_given, _LEAST_PRICE)
        return _Trained(replace(found[i].ensemble, price=price), found[i].team, penalty, path)

    trained = [at_price(i) for i in every]
    if training.refines:
        trained = training.refined(every, trained)
        if lower := _with_too_high_a_price(training, trained, paths):
            for i in lower:
                paths[i] = paths[i].at_next_lower()
            for i, again in zip(lower, training.refined(lower, [at_price(i) for i in lower]), strict=True):
                trained[i] = again
    return training.learned(trained)


def _with_too_high_a_price(training: _Training, trained: Sequence[_Trained], paths: Sequence[PenaltyPath]) -> list[int]:
    """Return the numbers of the problems for which refined Seeks want a lower price than the one chosen for them."""
    free = [
        i
        for i, (problem, table) in enumerate(zip(training.problems, training.tables, strict=True))
        if problem.penalty is None and table.fold is not None and paths[i].chosen > 0
    ]
    lower = too_high(
        [paths[i].chosen for i in free],
        [trained[i].ensemble for i in free],
        [training.tables[i] for i in free],
        loss=training.settings.loss,
        threshold=training.settings.threshold,
    )
    return [i for i, flag in zip(free, lower, strict=True) if flag]


def _ranges(problem: Problem, table: int, recipe: Recipe, has_folds: bool) -> list[Team]:
    """Return a team for each range of prices that is worth training on this table."""
    unit = problem.price_per_feature / PRICE_PER_FEATURE
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
        for highest in ranges_worth_training(problem, recipe.highest_prices)
    ]


def _stand_ins(
    settings: Settings, ensemble: Ensemble, whole: Problem, trained: Problem, copies: dict[int, int]
) -> dict[str, Any]:
    """Return what could take the place of each feature."""
    return stand_ins_among(
        ensemble,
        trained.train,
        trained.columns,
        Features(whole.train.table, whole.scaler, whole.columns, trained.known, copies),
        whole.names,
        loss=settings.loss,
        threshold=settings.threshold,
        seed=trained.seed,
    )


def _refuse_knockoffs(recipe: Recipe, problem: Problem) -> None:
    widths = problem.widths or ()
    wide = some([repr(problem.names[j]) for j, width in zip(problem.known, widths, strict=True) if width > 1])
    raise InputError(
        f"replacement={recipe.replacement!r} draws numbers, and {wide} are several columns each (categories, missing "
        'values, groups) whose draws would be no values they can have; use replacement="marginal"'
    )


def _history(history: History, penalty: float, n_given: int) -> dict[str, NDArray[Any]]:
    """Return the course of one model's members, in the terms of its parameters."""
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
