"""Asking the members of an ensemble about rows that they did not learn from."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from hideseek.engine.along import answers_to, mean_overlap, overlaps, price_bounds, price_bounds_of_all
from hideseek.engine.device import one_thread
from hideseek.engine.ensemble import Ensemble, Rows
from hideseek.engine.questions import Question, can_join
from hideseek.search.losses import HeldOutRows, loss_of_nothing
from hideseek.search.parts import LearnedFrom, Part
from hideseek.search.path import Floats
from hideseek.search.trust import Trust

__all__ = ["Fitted", "measure_trust"]

_EVERYTHING = -1.0
"""A threshold that every mask is above."""

_CLOSE = {"cross_entropy": 0.1, "squared_error": 0.2}
"""Up to which difference in a probability, or in a standardised value, two predictions are close."""


class Fitted(NamedTuple):
    """An ensemble, and the rows that are known of its table.

    Attributes:
        ensemble: The members that answer, at their price.
        table: What they learned from.
        held_out: Rows that no member learned from; looked at where there are no folds.
    """

    ensemble: Ensemble
    table: LearnedFrom
    held_out: Part | None


@dataclass(frozen=True)
class _Group:
    """Rows of a table, and the members of its ensemble that have not learned from them, by position.

    ``X`` are the same rows as ``Ensemble.inputs`` takes them.
    """

    ensemble: Ensemble
    rows: Part
    X: Rows
    members: NDArray[np.intp]

    def question(self) -> Question | None:
        """Return the question about these rows at the ensemble's price; None for members that have no range."""
        if self.ensemble.price is None or not isinstance(self.X, Tensor):
            return None
        return Question(self.ensemble, self.members, self.X, [self.ensemble.price])


class _Answers(NamedTuple):
    """What the networks answer about a group's rows.

    Shape: ``selected`` and ``everything (rows, outputs)``, ``n_selected (rows,)``; ``alike (members, members)``, how
    alike the sets of any two members are.
    """

    selected: Tensor
    everything: Tensor
    n_selected: Tensor
    alike: Floats


def measure_trust(fitted: Sequence[Fitted], *, loss: str, threshold: float, n_draws: int) -> list[Trust]:
    """Measure how well the members of each ensemble do on rows that they did not learn from.

    Args:
        fitted: Ensembles of one shape, on one device.
        loss: "cross_entropy" or "squared_error".
        threshold: A feature is selected where its mean mask is greater.
        n_draws: Draws of the hidden features over which a prediction is averaged.
    """
    with one_thread():  # the operations are too small to be shared
        groups = [_groups(one) for one in fitted]
        answers = iter(_ask([group for own in groups for group in own], loss, threshold, n_draws))
        cases = [_Case(own, [next(answers) for _ in own]) for own in groups if own]
        known = iter(_trusts(cases, loss) if cases else ())
    nothing = Trust("r2" if loss == "squared_error" else "auroc", 0, fitted[0].ensemble.visible.shape[1])
    return [(next(known) if own else nothing).with_warnings() for own in groups]


class _Case(NamedTuple):
    """The groups of one ensemble, and what the networks answer about each."""

    groups: Sequence[_Group]
    answers: Sequence[_Answers]

    def pairs(self) -> tuple[float | None, float | None]:
        """Return how alike the sets of two members are: of pairs that both left rows out or learned them, of others."""
        found = [_of_pairs(each.alike, group.members) for each, group in zip(self.answers, self.groups, strict=True)]
        return _mean_of([alike for alike, _ in found]), _mean_of([alike for _, alike in found])


def _trusts(cases: Sequence[_Case], loss: str) -> list[Trust]:
    """Return the figures of each ensemble, measured of all of them at once."""
    score_name, n_features = "r2" if loss == "squared_error" else "auroc", cases[0].groups[0].ensemble.visible.shape[1]
    both = [[(each.selected, each.everything) for each in case.answers] for case in cases]
    outputs = torch.stack([torch.stack([torch.cat(part) for part in zip(*own, strict=True)]) for own in both]).double()
    rows = HeldOutRows(loss, [_joined([group.rows for group in case.groups]) for case in cases], outputs)
    losses = rows.losses()
    mean, _ = rows.mean_and_error(losses)
    _, error = rows.mean_and_error(losses[:, :1] - losses[:, 1:])
    close = (outputs[:, 0] - outputs[:, 1]).abs().amax(dim=2) <= _CLOSE[loss]
    n_selected = torch.stack([torch.cat([each.n_selected for each in case.answers]) for case in cases]).double()
    figures = rows.scores(), mean, error[:, 0], close.double().mean(dim=1).tolist(), n_selected.mean(dim=1).tolist()
    trusts = []
    for case, part, scores, losses_of, own_error, sufficient, count in zip(cases, rows.parts, *figures, strict=True):
        alike, alike_held_out = case.pairs()
        trusts.append(
            Trust(
                score_name,
                len(part.target),
                n_features,
                n_selected=count,
                score_selected=_known(scores[0]),
                score_all=_known(scores[1]),
                score_none=0.0 if score_name == "r2" else 0.5,
                loss_selected=_known(losses_of[0]),
                loss_all=_known(losses_of[1]),
                loss_none=_known(loss_of_nothing(loss, outputs.shape[3], part)),
                difference_error=_known(own_error),
                sufficient=sufficient,
                agreement=alike,
                agreement_held_out=alike_held_out,
            )
        )
    return trusts


def _groups(fitted: Fitted) -> list[_Group]:
    """Return the rows to look at, by the members that have not learned from them; none where there are no such rows."""
    ensemble, table, held_out = fitted
    n_members = len(ensemble.visible)
    if table.fold is None:
        return [] if held_out is None else [_Group(ensemble, held_out, held_out.table, np.arange(n_members))]
    return [_Group(ensemble, table.part.targets(fold.rows), fold.x, fold.members) for fold in table.left_out(n_members)]


def _ask(groups: Sequence[_Group], loss: str, threshold: float, n_draws: int) -> list[_Answers]:
    """Ask for the predictions from the selected features and from all, and how alike the sets of all members are.

    Groups of all tables are asked together where that is faster.
    """
    questions = [question for group in groups if (question := group.question()) is not None]
    n_joined = sum(can_join(question, question.n_seek_cells(n_draws)) for question in questions)
    if not groups or n_joined < len(groups):
        return [_ask_group(group, loss, threshold, n_draws) for group in groups]
    softmax = loss != "squared_error"
    lowest = [low for low, _ in price_bounds_of_all([question.ensemble for question in questions])]
    at_lowest = [replace(question, prices=[low]) for question, low in zip(questions, lowest, strict=True)]
    everyone = [replace(question, members=np.arange(len(question.ensemble.visible))) for question in questions]
    answers = answers_to(questions, n_draws, softmax=softmax, threshold=threshold)
    everything = answers_to(at_lowest, 1, softmax=softmax, threshold=_EVERYTHING)
    alike = overlaps(everyone, threshold)
    return [
        _Answers(selected[0], of_all[0], counts[0], own)
        for (selected, counts), (of_all, _), own in zip(answers, everything, alike, strict=True)
    ]


def _ask_group(group: _Group, loss: str, threshold: float, n_draws: int) -> _Answers:
    """Ask as ``_ask`` does, for one group."""
    own, X, softmax = group.ensemble.members(group.members), group.X, loss != "squared_error"
    at_lowest = own if own.price is None else replace(own, price=price_bounds(own)[0])
    return _Answers(
        torch.from_numpy(own.outputs(X, n_draws, softmax=softmax, threshold=threshold)),
        torch.from_numpy(at_lowest.outputs(X, 1, softmax=softmax, threshold=_EVERYTHING)),
        torch.from_numpy((own.masks(X) > threshold).sum(axis=1)),
        mean_overlap(torch.from_numpy(group.ensemble.masks_of_members(X) > threshold)).numpy(),
    )


def _of_pairs(alike: Floats, members: NDArray[np.intp]) -> tuple[Floats, Floats]:
    """Return how alike the sets of two members are: of pairs that agree in having left the rows out, and of others.

    Shape: ``alike (all members, all members)``, ``members``, those that left the rows out -> ``(pairs,)`` each.
    """
    out = np.isin(np.arange(len(alike)), members)
    both = out[:, None] == out
    above = np.tri(len(alike), k=-1, dtype=bool).T
    return alike[above & both], alike[above & ~both]


def _joined(parts: Sequence[Part]) -> Part:
    weights = [part.weight for part in parts if part.weight is not None]
    return Part(
        np.concatenate([part.table for part in parts]),
        np.concatenate([part.target for part in parts]),
        np.concatenate(weights) if weights else None,
    )


def _mean_of(values: Sequence[Floats]) -> float | None:
    every = np.concatenate(values)
    return float(every.mean()) if len(every) else None


def _known(value: float) -> float | None:
    return float(value) if np.isfinite(value) else None
