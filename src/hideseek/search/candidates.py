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

__all__ = ["Candidate", "PathProblem", "train_path"]

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


def train_path(
    problem: PathProblem, prices: Sequence[float], n_given: int, on_progress: Progress | None = None
) -> tuple[PenaltyPath, list[Candidate]]:
    """Train an ensemble at every price and judge them all.

    Args:
        problem: What to train on.
        prices: From the smallest to the largest.
        n_given: Features that a price is multiplied with to make a penalty.
        on_progress: As in ``train``.

    Returns:
        The path, and the ensembles in its order. In folds, the members of all folds answer together.
    """
    recipe = problem.recipe
    if recipe.column_fraction == 1:
        recipe = replace(recipe, n_members=min(_MOST_MEMBERS, recipe.n_members), kept_fraction=1.0)
    tables = as_tables([problem.part.rows(kept).standardised(problem.scaler) for kept, _ in problem.splits])
    knockoffs = fit_knockoffs(
        recipe.replacement,
        tables.X.transpose(1, 2).to(problem.device),
        [problem.seed] * len(problem.splits),
    )
    n_tables = len(problem.splits)
    trained = train_teams(
        recipe,
        tables,
        [Team(problem.seed, price, i, problem.varies) for price in prices for i in range(n_tables)],
        loss=problem.loss,
        n_outputs=problem.n_outputs,
        device=problem.device,
        knockoffs=knockoffs,
        groups=Groups.from_widths(problem.widths, problem.device),
        on_progress=on_progress,
    )
    by_price = [trained[i : i + n_tables] for i in range(0, len(trained), n_tables)]
    candidates, verdicts = [], []
    for teams in by_price:
        ensembles = [_ensemble(problem, tables, knockoffs, i, team) for i, team in enumerate(teams)]
        verdicts.append(_verdict(problem, ensembles))
        joined = teams[0].joined(teams[1:]) if n_tables > 1 else teams[0]
        candidates.append(Candidate(_ensemble(problem, tables, knockoffs, 0, joined), joined.history))
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
