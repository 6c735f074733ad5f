"""Teams of members that train side by side in one stack: several prices, several tables, or both."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import ceil

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from hideseek.engine.draws import draw_columns, member_seeds
from hideseek.engine.groups import Groups
from hideseek.engine.knockoffs import Knockoffs
from hideseek.engine.networks import Mlp
from hideseek.engine.recipe import Recipe
from hideseek.engine.stack import Data, History, Members, Stack
from hideseek.engine.training import Progress, train

__all__ = ["Team", "TrainedTeam", "train_teams"]

_LAST_RECORDS = 5
"""Records of the history that say how well a member learned: the last twentieth of training."""


@dataclass(frozen=True)
class Team:
    """Members that will answer together.

    Attributes:
        seed: Where all their draws come from.
        price: Of showing one feature of one row.
        table: Which of the tables they learn from.
        varies: The features there that are not constant. Shape: ``(features,)``, bool.
        lowest_price: Where the members answer for a range of prices, its lower end; None: they answer for one price.
        n_folds: Each member in turn leaves out one of so many folds of its table; None: none does.
    """

    seed: int
    price: float
    table: int
    varies: NDArray[np.bool_]
    lowest_price: float | None = None
    n_folds: int | None = None


@dataclass(frozen=True)
class TrainedTeam:
    """What became of a team.

    Attributes:
        hide: The shape of Hide.
        seek: The shape of Seek.
        weights: Of the members that answer. Shape: ``(members, weights of all networks)``.
        visible: The features that each of those saw. Shape: ``(members, features)``, bool.
        groups: Which columns a feature is; None: one each.
        history: The course of all members of the team.
        price_range: As of ``Stack``.
    """

    hide: Mlp
    seek: Mlp
    weights: Tensor
    visible: Tensor
    groups: Groups | None
    history: History
    price_range: Tensor | None = None

    @property
    def stack(self) -> Stack:
        """The members that answer."""
        return Stack.from_members(self.hide, self.seek, self.weights, self.groups, self.price_range)


def train_teams(
    recipe: Recipe,
    data: Data,
    teams: Sequence[Team],
    *,
    loss: str,
    n_outputs: int,
    device: torch.device,
    validation: Data | None = None,
    knockoffs: Knockoffs | None = None,
    groups: Groups | None = None,
    on_progress: Progress | None = None,
) -> list[TrainedTeam]:
    """Train ``recipe.n_members`` members of every team, all at once; the arguments are those of ``train``.

    ``knockoffs`` are those of the tables, in their order; None: hidden values are drawn from the marginals.
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
        replacement=None if knockoffs is None else knockoffs.of(torch.from_numpy(members.table).to(device)),
        groups=groups,
        on_progress=on_progress,
    )
    weights, trained = stack.by_member(), []
    for i in range(len(teams)):
        own = slice(i * recipe.n_members, (i + 1) * recipe.n_members)
        # Members that leave out folds all answer: each is needed to judge its own fold.
        kept = _kept(history, members, own, 1.0 if members.fold is not None else recipe.kept_fraction)
        visible = torch.from_numpy(members.visible[kept]).to(device)
        price_range = None if stack.price_range is None else stack.price_range[torch.from_numpy(kept).to(device)]
        course = _part(history, own)
        trained.append(TrainedTeam(stack.hide, stack.seek, weights[kept], visible, groups, course, price_range))
    return trained


def _members(teams: Sequence[Team], recipe: Recipe) -> Members:
    """The members of all teams, one team after the other."""
    seeds = [member_seeds(team.seed, recipe.n_members) for team in teams]
    visible = [_visible(own, team.varies, recipe) for own, team in zip(seeds, teams, strict=True)]
    return Members(
        np.concatenate(seeds),
        np.repeat([team.price for team in teams], recipe.n_members),
        np.concatenate(visible),
        np.repeat([team.table for team in teams], recipe.n_members),
        _for_each_member([team.lowest_price for team in teams], recipe.n_members),
        _folds([team.n_folds for team in teams], recipe.n_members),
    )


def _for_each_member(values: Sequence[float | None], n_members: int) -> NDArray[np.float64] | None:
    """Return the value of each member's team; None where a team has none."""
    given = [value for value in values if value is not None]
    return np.repeat(np.array(given), n_members) if len(given) == len(values) else None


def _folds(counts: Sequence[int | None], n_members: int) -> NDArray[np.int64] | None:
    """Return the fold that each member leaves out: the members of a team take turns."""
    given = [np.arange(n_members) % count for count in counts if count is not None]
    return np.concatenate(given) if len(given) == len(counts) else None


def _visible(seeds: NDArray[np.int64], varies: NDArray[np.bool_], recipe: Recipe) -> NDArray[np.bool_]:
    """The features that each member of one team sees. Shape: ``(members, features)``."""
    visible = np.tile(varies, (len(seeds), 1))
    if recipe.column_fraction < 1:
        visible[:, varies] = draw_columns(seeds, int(varies.sum()), recipe.column_fraction)
    return visible


def _kept(history: History, members: Members, own: slice, fraction: float) -> NDArray[np.intp]:
    """The members of a team that answer: those that learned best, unless a column would be seen by none of them."""
    all_own = np.arange(own.start, own.stop)
    loss = history.prediction_loss[-_LAST_RECORDS:, own] + members.price[own] * history.mask_sum[-_LAST_RECORDS:, own]
    best = np.argsort(loss.mean(axis=0), kind="stable")[: ceil(round(fraction * len(all_own), 9))]
    kept = all_own[np.sort(best)]
    seen, was_seen = (members.visible[which].any(axis=0) for which in (kept, all_own))
    return kept if np.array_equal(seen, was_seen) else all_own


def _part(history: History, own: slice) -> History:
    """The course of some of the members."""
    held_out = None if history.validation_loss is None else history.validation_loss[:, own]
    return replace(
        history,
        prediction_loss=history.prediction_loss[:, own],
        mask_sum=history.mask_sum[:, own],
        validation_loss=held_out,
    )
