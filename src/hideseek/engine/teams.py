"""Teams of members that are trained together in one stack: several prices, several tables, or both."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from math import ceil

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from hideseek.engine.conditional import Conditional
from hideseek.engine.draws import draw_columns, seeds_of_members
from hideseek.engine.groups import Groups
from hideseek.engine.knockoffs import Knockoffs
from hideseek.engine.recipe import Recipe
from hideseek.engine.stack import Data, History, Members, Stack
from hideseek.engine.training import Progress, train

__all__ = ["Team", "TrainedTeam", "train_teams"]

_LAST_RECORDS = 5
"""Records of the history that measure how well a member learned: the last twentieth of training."""


@dataclass(frozen=True)
class Team:
    """Members that form one ensemble.

    Attributes:
        seed: Seed of all their draws.
        price: The price of showing one feature of one row.
        table: Index of the table they learn from.
        varies: The features that are not constant in that table. Shape: ``(features,)``, bool.
        n_members: Number of members.
        lowest_price: Lower end of the range of prices that the members are trained on; None: they have one price.
        n_folds: Each member in turn leaves out one of this many folds of its table; None: no folds.
    """

    seed: int
    price: float
    table: int
    varies: NDArray[np.bool_]
    n_members: int
    lowest_price: float | None = None
    n_folds: int | None = None


@dataclass(frozen=True)
class TrainedTeam:
    """A team after training.

    Attributes:
        stack: The members that are used for answers.
        visible: The features that each of these saw. Shape: ``(members, features)``, bool.
        history: The training history of all members of the team.
    """

    stack: Stack
    visible: Tensor
    history: History


def train_teams(
    recipe: Recipe,
    data: Data,
    teams: Sequence[Team],
    *,
    loss: str,
    n_outputs: int,
    device: torch.device,
    validation: Data | None = None,
    fitted: Knockoffs | Conditional | None = None,
    groups: Groups | None = None,
    on_progress: Progress | None = None,
) -> list[TrainedTeam]:
    """Train the members of all teams at once; the arguments are those of ``train``.

    ``fitted`` is the replacement that was fitted to the tables, in their order; None: hidden values are drawn from the
    marginals.
    """
    members = _members(teams, recipe)
    stack, history = train(
        recipe,
        data,
        members,
        loss=loss,
        n_outputs=n_outputs,
        device=device,
        validation=validation,
        replacement=None if fitted is None else fitted.of(torch.from_numpy(members.table).to(device)),
        groups=groups,
        on_progress=on_progress,
    )
    visible = torch.from_numpy(members.visible).to(device)
    trained = []
    bounds = np.cumsum([0, *(team.n_members for team in teams)])
    for own in (slice(start, stop) for start, stop in pairwise(bounds.tolist())):
        # All members that leave out folds answer: each is needed to evaluate its own fold.
        if members.fold is not None or recipe.kept_fraction == 1:
            trained.append(TrainedTeam(stack.part(own), visible[own].clone(), _part(history, own)))
            continue
        kept = torch.from_numpy(_kept(history, members, own, recipe.kept_fraction)).to(device)
        trained.append(TrainedTeam(stack.of(kept), visible[kept], _part(history, own)))
    return trained


def _members(teams: Sequence[Team], recipe: Recipe) -> Members:
    """Return the members of all teams in order."""
    counts = [team.n_members for team in teams]
    every = seeds_of_members([team.seed for team in teams], max(counts))
    seeds = [own[:count] for own, count in zip(every, counts, strict=True)]
    lowest = [team.lowest_price for team in teams if team.lowest_price is not None]
    folds = [np.arange(team.n_members) % team.n_folds for team in teams if team.n_folds is not None]
    return Members(
        np.concatenate(seeds),
        np.repeat([team.price for team in teams], counts),
        np.concatenate([_visible(team, own, recipe) for own, team in zip(seeds, teams, strict=True)]),
        np.repeat([team.table for team in teams], counts),
        np.repeat(np.array(lowest), counts) if len(lowest) == len(teams) else None,
        np.concatenate(folds) if len(folds) == len(teams) else None,
    )


def _visible(team: Team, seeds: NDArray[np.int64], recipe: Recipe) -> NDArray[np.bool_]:
    """Return the features that each member of one team sees. Shape: ``(members, features)``."""
    visible = np.tile(team.varies, (team.n_members, 1))
    if recipe.column_fraction < 1:
        visible[:, team.varies] = draw_columns(seeds, int(team.varies.sum()), recipe.column_fraction)
    return visible


def _kept(history: History, members: Members, own: slice, fraction: float) -> NDArray[np.intp]:
    """Return the members that answer: those with the smallest loss, or all if none of these saw some column."""
    all_own = np.arange(own.start, own.stop)
    loss = history.prediction_loss[-_LAST_RECORDS:, own] + members.price[own] * history.mask_sum[-_LAST_RECORDS:, own]
    best = np.argsort(loss.mean(axis=0), kind="stable")[: ceil(round(fraction * len(all_own), 9))]
    kept = all_own[np.sort(best)]
    seen, was_seen = (members.visible[which].any(axis=0) for which in (kept, all_own))
    return kept if np.array_equal(seen, was_seen) else all_own


def _part(history: History, own: slice) -> History:
    """Return the history of some of the members."""
    held_out = None if history.validation_loss is None else history.validation_loss[:, own]
    return replace(
        history,
        prediction_loss=history.prediction_loss[:, own],
        mask_sum=history.mask_sum[:, own],
        validation_loss=held_out,
    )
