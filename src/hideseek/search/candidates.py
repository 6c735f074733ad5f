"""Ensembles at several prices, trained as one stack and judged on rows that none of them learned from."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from hideseek.engine.ensemble import Ensemble
from hideseek.engine.groups import Groups
from hideseek.engine.recipe import Recipe
from hideseek.engine.replacement import fit_knockoffs
from hideseek.engine.scaling import Scaler
from hideseek.engine.stack import Data, History
from hideseek.engine.teams import Team, TrainedTeam, train_teams
from hideseek.engine.training import Progress
from hideseek.errors import InputError
from hideseek.metrics import auroc
from hideseek.search.parts import Part, Split, as_tables, n_first_splits
from hideseek.search.path import Floats, PenaltyPath, judged_path, reference_of

__all__ = ["Candidate", "PathProblem", "train_paths"]

_MOST_MEMBERS = 3
"""Members at each price: the same seeds at all prices make small differences visible with few of them."""

_FINALISTS = 3
"""Prices that all rows judge: with more, or with all, the choice is the same."""

_DRAWS = 8
_LEAST_PROBABILITY = 1e-7


@dataclass(frozen=True)
class PathProblem:
    """What a path is trained on.

    Attributes:
        part: All rows.
        splits: Which of them to learn from and which judge.
        scaler: What standardises them.
        varies: The features that are not constant. Shape: ``(features,)``, bool.
        widths: What the networks see of each feature; None: one input each.
        recipe: Every training choice but the price.
        loss: "cross_entropy" or "squared_error".
        n_outputs: Outputs of Seek.
        seed: Where all draws come from.
        device: Where to train.
        threshold: A feature is selected where its mask is greater.
    """

    part: Part
    splits: Sequence[Split]
    scaler: Scaler
    varies: NDArray[np.bool_]
    widths: tuple[int, ...] | None
    recipe: Recipe
    loss: str
    n_outputs: int
    seed: int
    device: torch.device
    threshold: float


@dataclass(frozen=True)
class Candidate:
    """The ensemble at one price, and the course of its training."""

    ensemble: Ensemble
    history: History


def train_paths(
    problems: Sequence[PathProblem],
    prices: Sequence[float],
    n_given: int,
    progress: Callable[[], AbstractContextManager[Progress | None]] = nullcontext,
) -> list[tuple[PenaltyPath, list[Candidate]]]:
    """Train ensembles at every price, for all problems at once, and judge them all.

    All prices are tried on the first of the splits. The best of them are tried on the others too: what tells close
    prices apart is more rows that judge and more ensembles that are judged.

    Args:
        problems: What to train on. They may differ in rows, scalers, seeds and in which features vary; their splits
            have the same number of rows to learn from.
        prices: From the smallest to the largest.
        n_given: Features that a price is multiplied with to make a penalty.
        progress: Gives the callback of ``train``, once for each round.

    Returns:
        For each problem the path, and the ensembles in its order. The members of all splits answer together.
    """
    contests = [_Contest(problem, [price * n_given for price in prices]) for problem in problems]
    first = [
        _Entry(each, i, price, split) for i, price in enumerate(prices) for each in contests for split in each.first
    ]
    _hold(first, progress)
    finals = [
        _Entry(each, i, prices[i], split)
        for each in contests
        for i in (each.path().finalists(_FINALISTS) if each.others else ())
        for split in each.others
    ]
    if finals:
        _hold(finals, progress)
    return [(each.path(), each.candidates()) for each in contests]


@dataclass(frozen=True)
class _Verdict:
    """What the judging rows of one split say of an ensemble.

    Shape: ``output (rows, outputs)``, ``losses (rows,)``, ``n_selected (rows,)``.
    """

    output: Floats
    losses: Floats
    n_selected: NDArray[np.int64]


@dataclass(frozen=True)
class _Trained:
    team: TrainedTeam
    ensemble: Ensemble
    verdict: _Verdict


class _Contest:
    """The ensembles of one problem by price and split, and what became of them."""

    def __init__(self, problem: PathProblem, penalties: Sequence[float]) -> None:
        self.problem, self.penalties = problem, penalties
        n_first, n_splits = n_first_splits(problem.splits), len(problem.splits)
        self.first, self.others = range(n_first), range(n_first, n_splits)
        self.trained: list[list[_Trained]] = [[] for _ in penalties]
        """By price, in the order of the splits."""

    def path(self) -> PenaltyPath:
        """What is known by now."""
        n_splits = max(len(own) for own in self.trained)
        judges = self.problem.part.rows(np.concatenate([out for _, out in self.problem.splits[:n_splits]]))
        losses = np.full((len(self.trained), len(judges.target)), np.nan)
        for row, own in zip(losses, self.trained, strict=True):
            known = np.concatenate([each.verdict.losses for each in own])
            row[: len(known)] = known
        loss = self.problem.loss
        return judged_path(
            self.penalties,
            losses,
            judges.weight,
            score=self._scores(reference_of(losses, judges.weight), judges.target),
            score_name="r2" if loss == "squared_error" else "auroc",
            n_selected=[
                float(np.concatenate([each.verdict.n_selected for each in own]).mean()) for own in self.trained
            ],
            null_loss=_null_loss(loss, self.problem.n_outputs, judges),
        )

    def _scores(self, reference: int, target: NDArray[Any]) -> list[float]:
        """Of every price on all rows; where some did not judge, from its distance to the reference on the others."""

        def score(own: Sequence[_Trained]) -> float:
            output = np.concatenate([each.verdict.output for each in own])
            return _score(self.problem.loss, output, target[: len(output)])

        best = self.trained[reference]
        whole = score(best)
        return [whole + score(own) - score(best[: len(own)]) for own in self.trained]

    def candidates(self) -> list[Candidate]:
        """The ensembles by price."""
        found = []
        for first, *others in self.trained:
            team = first.team.joined([each.team for each in others]) if others else first.team
            found.append(Candidate(replace(first.ensemble, stack=team.stack, visible=team.visible), team.history))
        return found


@dataclass(frozen=True)
class _Entry:
    """An ensemble to train: which contest it is for, at which price and on which split."""

    contest: _Contest
    position: int
    price: float
    split: int


def _hold(entries: Sequence[_Entry], progress: Callable[[], AbstractContextManager[Progress | None]]) -> None:
    """Train and judge all of them, as one stack."""
    first = entries[0].contest.problem
    recipe = first.recipe
    if recipe.column_fraction == 1:
        recipe = replace(recipe, n_members=min(_MOST_MEMBERS, recipe.n_members), kept_fraction=1.0)
    owners = {(id(entry.contest), entry.split): entry for entry in entries}
    numbers = {owner: i for i, owner in enumerate(owners)}
    tables = as_tables([_learned_from(entry.contest.problem, entry.split) for entry in owners.values()])
    seeds = [entry.contest.problem.seed for entry in owners.values()]
    knockoffs = fit_knockoffs(recipe.replacement, tables.X.transpose(1, 2).to(first.device), seeds)
    teams = [
        Team(problem.seed, entry.price, numbers[id(entry.contest), entry.split], problem.varies)
        for entry in entries
        for problem in (entry.contest.problem,)
    ]
    with progress() as on_progress:
        trained = train_teams(
            recipe,
            tables,
            teams,
            loss=first.loss,
            n_outputs=first.n_outputs,
            device=first.device,
            knockoffs=knockoffs,
            groups=Groups.from_widths(first.widths, first.device),
            on_progress=on_progress,
        )
    for entry, given, team in zip(entries, teams, trained, strict=True):
        problem = entry.contest.problem
        ensemble = Ensemble.trained(
            team.stack,
            team.visible,
            tables.X,
            given.table,
            seed=problem.seed,
            scaler=problem.scaler,
            widths=problem.widths,
            knockoffs=knockoffs,
        )
        verdict = _verdict(problem, ensemble, problem.part.rows(problem.splits[entry.split][1]))
        entry.contest.trained[entry.position].append(_Trained(team, ensemble, verdict))


def _learned_from(problem: PathProblem, split: int) -> Data:
    kept, _ = problem.splits[split]
    return problem.part.rows(kept).standardised(problem.scaler)


def _verdict(problem: PathProblem, ensemble: Ensemble, judges: Part) -> _Verdict:
    """Judge an ensemble on rows that it did not learn from."""
    softmax = problem.loss != "squared_error"
    output = ensemble.outputs(judges.table, _DRAWS, softmax=softmax, threshold=problem.threshold).astype(np.float64)
    n_selected = (ensemble.masks(judges.table) > problem.threshold).sum(axis=1)
    return _Verdict(output, _row_losses(problem.loss, output, judges.target), n_selected)


def _row_losses(loss: str, output: Floats, target: NDArray[Any]) -> Floats:
    """The prediction loss of every row. Shape: ``output (rows, outputs)``, ``target`` as in ``Data`` -> ``(rows,)``."""
    if loss == "squared_error":
        return np.asarray(np.square(output[:, 0] - target))
    logarithm = np.log(np.maximum(output, _LEAST_PROBABILITY))
    if target.ndim == 2:
        return np.asarray(-(target * logarithm).sum(axis=1))
    return np.asarray(-logarithm[np.arange(len(target)), target])


def _score(loss: str, output: Floats, target: NDArray[Any]) -> float:
    """AUROC, or R squared; not a number where the judging rows allow none."""
    if loss == "squared_error":
        spread = np.square(target - target.mean()).mean()
        return float(1 - np.square(output[:, 0] - target).mean() / spread) if spread > 0 else float("nan")
    try:
        return auroc(target if target.ndim == 1 else target.argmax(axis=1), output / output.sum(axis=1, keepdims=True))
    except InputError:
        return float("nan")


def _null_loss(loss: str, n_outputs: int, judges: Part) -> float:
    """The loss of the best prediction that is the same for every row."""
    weight = np.ones(len(judges.target)) if judges.weight is None else judges.weight
    share = weight / weight.sum()
    if loss == "squared_error":
        return float(share @ np.square(judges.target - share @ judges.target))
    target = judges.target if judges.target.ndim == 2 else np.eye(n_outputs)[judges.target]
    probability = share @ target
    return float(-(probability * np.log(np.maximum(probability, _LEAST_PROBABILITY))).sum())
