"""Ensembles at several prices, trained as one stack and judged on rows that none of them learned from."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from hideseek.engine.ensemble import Ensemble, draw_noise, draw_pool
from hideseek.engine.groups import Groups
from hideseek.engine.knockoffs import Knockoffs
from hideseek.engine.recipe import Recipe
from hideseek.engine.replacement import fit_knockoffs
from hideseek.engine.scaling import Scaler
from hideseek.engine.stack import Data, History
from hideseek.engine.teams import Team, TrainedTeam, train_teams
from hideseek.engine.training import Progress
from hideseek.errors import InputError
from hideseek.metrics import auroc
from hideseek.search.parts import Part, Split, as_tables
from hideseek.search.path import Floats, PenaltyPath, judged_path

__all__ = ["Candidate", "PathProblem", "train_paths"]

_MOST_MEMBERS = 3
"""Members at each price: the same seeds at all prices make small differences visible with few of them."""

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
        widths: Columns of each feature; None: one each.
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
    problems: Sequence[PathProblem], prices: Sequence[float], n_given: int, on_progress: Progress | None = None
) -> list[tuple[PenaltyPath, list[Candidate]]]:
    """Train an ensemble at every price, for all problems at once, and judge them all.

    Args:
        problems: What to train on. They may differ in rows, scalers, seeds and in which features vary; their splits
            have the same number of rows to learn from.
        prices: From the smallest to the largest.
        n_given: Features that a price is multiplied with to make a penalty.
        on_progress: As in ``train``.

    Returns:
        For each problem the path, and the ensembles in its order. In folds, the members of all folds answer together.
    """
    first, recipe = problems[0], problems[0].recipe
    if recipe.column_fraction == 1:
        recipe = replace(recipe, n_members=min(_MOST_MEMBERS, recipe.n_members), kept_fraction=1.0)
    owners = [problem for problem in problems for _ in problem.splits]
    tables = as_tables(
        [problem.part.rows(kept).standardised(problem.scaler) for problem in problems for kept, _ in problem.splits]
    )
    knockoffs = fit_knockoffs(
        recipe.replacement, tables.X.transpose(1, 2).to(first.device), [owner.seed for owner in owners]
    )
    trained = train_teams(
        recipe,
        tables,
        [Team(owner.seed, price, i, owner.varies) for price in prices for i, owner in enumerate(owners)],
        loss=first.loss,
        n_outputs=first.n_outputs,
        device=first.device,
        knockoffs=knockoffs,
        groups=Groups.from_widths(first.widths, first.device),
        on_progress=on_progress,
    )
    by_price = [trained[i : i + len(owners)] for i in range(0, len(trained), len(owners))]
    ends = np.cumsum([len(problem.splits) for problem in problems])
    return [
        _path(problem, prices, n_given, tables, knockoffs, range(end - len(problem.splits), end), by_price)
        for problem, end in zip(problems, ends.tolist(), strict=True)
    ]


def _path(
    problem: PathProblem,
    prices: Sequence[float],
    n_given: int,
    tables: Data,
    knockoffs: Knockoffs | None,
    own: range,
    by_price: Sequence[Sequence[TrainedTeam]],
) -> tuple[PenaltyPath, list[Candidate]]:
    """The path of one problem, whose tables are numbered ``own``."""
    candidates, verdicts = [], []
    for teams in by_price:
        ensembles = [_ensemble(problem, tables, knockoffs, i, teams[i]) for i in own]
        verdicts.append(_verdict(problem, ensembles))
        joined = teams[own[0]].joined([teams[i] for i in own[1:]]) if len(own) > 1 else teams[own[0]]
        candidates.append(Candidate(_ensemble(problem, tables, knockoffs, own[0], joined), joined.history))
    judges = problem.part.rows(np.concatenate([out for _, out in problem.splits]))
    path = judged_path(
        [price * n_given for price in prices],
        np.stack([verdict.losses for verdict in verdicts]),
        judges.weight,
        score=[verdict.score for verdict in verdicts],
        score_name="r2" if problem.loss == "squared_error" else "auroc",
        n_selected=[verdict.n_selected for verdict in verdicts],
        null_loss=_null_loss(problem.loss, problem.n_outputs, judges),
    )
    return path, candidates


def _ensemble(
    problem: PathProblem, tables: Data, knockoffs: Knockoffs | None, table: int, team: TrainedTeam
) -> Ensemble:
    if knockoffs is None:
        own, pool = None, draw_pool(problem.seed, tables.X[table], Groups.from_widths(problem.widths))
    else:
        own = knockoffs.of(torch.tensor([table], device=problem.device))
        pool = draw_noise(problem.seed, tables.X.shape[2])
    return Ensemble(team.stack, team.visible, pool.to(problem.device), problem.scaler, own)


@dataclass(frozen=True)
class _Verdict:
    """What the judging rows say of one price. Shape: ``losses (rows,)``."""

    losses: Floats
    score: float
    n_selected: float


def _verdict(problem: PathProblem, ensembles: Sequence[Ensemble]) -> _Verdict:
    """Judge the ensembles of one price, each on the rows that it did not learn from."""
    outputs, targets, n_selected = [], [], []
    softmax = problem.loss != "squared_error"
    for ensemble, (_, out) in zip(ensembles, problem.splits, strict=True):
        judges = problem.part.rows(out)
        outputs.append(ensemble.outputs(judges.table, _DRAWS, softmax=softmax, threshold=problem.threshold))
        n_selected.append((ensemble.masks(judges.table) > problem.threshold).sum(axis=1))
        targets.append(judges.target)
    output, target = np.concatenate(outputs).astype(np.float64), np.concatenate(targets)
    return _Verdict(
        _row_losses(problem.loss, output, target),
        _score(problem.loss, output, target),
        float(np.concatenate(n_selected).mean()),
    )


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
