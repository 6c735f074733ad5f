"""The choice of a range of prices and of a price in it, by held-out loss and agreement of the members."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from math import log

import numpy as np
import torch
from numpy.typing import NDArray

from hideseek.engine.along import answers_to, disagreements, price_bounds_of_all
from hideseek.engine.device import for_each_table, one_thread
from hideseek.engine.ensemble import Ensemble
from hideseek.engine.questions import Question
from hideseek.engine.recipe import LOWEST_PRICE
from hideseek.search.losses import loss_of_nothing, mean_and_error, row_losses, scores, weighted_mean
from hideseek.search.parts import LearnedFrom, LeftOut, Part
from hideseek.search.path import Floats, PenaltyPath

__all__ = ["Judged", "best_range", "choose_price", "judge"]

_POSITIONS = np.linspace(0.1, 1.1, 17)
"""Prices that are compared, as shares of the logarithmic range."""

_MOST_ROWS = 1000
"""Rows on which the selections of members are compared."""

_DRAWS = 4

_WEIGHT_OF_FEATURES, _WEIGHT_OF_DISAGREEMENT = 0.0002, 0.2
"""Share of the explained loss that the square of the number of features counts for: each feature of a longer set has to
explain more. And what it counts for if members differ in as many features as they select."""

_MIDDLE, _WEIGHT_IN_THE_MIDDLE = (_POSITIONS > 0.4) & (_POSITIONS < 0.75), 0.04
"""Where the disagreement counts in the choice of a range, and how much."""

_USUAL_POSITION, _POSITION_OF_WIDTH, _USUAL_WIDTH = 0.57, 0.024, log(0.4 / LOWEST_PRICE)
"""Prices near the middle of a range are usually best: at ``_USUAL_POSITION`` of one that ends at 0.4, and lower in a
range that ends earlier, by ``_POSITION_OF_WIDTH`` for each unit that the logarithm of its end is lower."""

_POSITION_WEIGHT, _ROWS_OF_POSITION = 0.6, 10_000
"""A price is held against its distance to the usual position, the more so the fewer rows there are to tell prices
apart, as if ``_ROWS_OF_POSITION`` rows had spoken for that position."""


@dataclass(frozen=True)
class Judged:
    """What held-out rows say of an ensemble along its prices.

    Attributes:
        prices: Shape: ``(prices,)``.
        rows: The held-out rows.
        losses: Shape: ``(prices, rows)``.
        outputs: Shape: ``(prices, rows, outputs)``.
        n_selected: Features that a row has selected, on average. Shape: ``(prices,)``.
        disagreement: Features of a row that one of two members selects and the other does not, on average.
            Shape: ``(prices,)``.
        null_loss: The loss of the best prediction that is the same for every row.
        n_learned: Rows that the ensemble learned from.
    """

    prices: Floats
    rows: Part
    losses: Floats
    outputs: NDArray[np.floating]
    n_selected: Floats
    disagreement: Floats
    null_loss: float
    n_learned: int

    @cached_property
    def mean_loss(self) -> Floats:
        """The mean loss at each price. Shape: ``(prices,)``."""
        return weighted_mean(self.losses, self.rows.weight)

    def cost(self, lowest: float) -> Floats:
        """Return the share of the explained loss that is lost at each price, and what the features count for.

        ``lowest`` is the smallest loss known. Shape: ``(prices,)``.
        """
        explained = max(self.null_loss - lowest, 1e-3 * self.null_loss)
        return (self.mean_loss - lowest) / explained + _WEIGHT_OF_FEATURES * np.square(self.n_selected)

    @property
    def share_differing(self) -> Floats:
        """Features in which two members differ, relative to those that are selected. Shape: ``(prices,)``."""
        return self.disagreement / np.maximum(self.n_selected, 1)


def judge(
    candidates: Sequence[Ensemble], tables: Sequence[LearnedFrom], *, loss: str, threshold: float
) -> list[Judged]:
    """Ask the members of each ensemble about the rows that they did not learn from, at every price.

    Args:
        candidates: Each answers for a range of prices. All are on one device.
        tables: The table that each candidate learned from; all of its rows are used where none were left out.
        loss: "cross_entropy" or "squared_error".
        threshold: A feature is selected where its mean mask is greater.
    """
    with one_thread():  # the operations are too small to be shared
        asked = [_Asked.of(*case) for case in zip(candidates, _price_grids(candidates), tables, strict=True)]
        questions = [question for one in asked for question in one.by_fold]
        answers = iter(answers_to(questions, _DRAWS, softmax=loss != "squared_error", threshold=threshold))
        differing = disagreements([one.of_everyone for one in asked], threshold)
    found = [(one, [next(answers) for _ in one.by_fold], own) for one, own in zip(asked, differing, strict=True)]
    return for_each_table(lambda answered: _judged(*answered, loss), found, candidates[0].pool.device)


def _price_grids(candidates: Sequence[Ensemble]) -> list[Floats]:
    """Return the prices that are compared of each candidate."""
    logarithms = (np.log(bounds) for bounds in price_bounds_of_all(candidates))
    return [np.exp(low + (high - low) * _POSITIONS) for low, high in logarithms]


@dataclass(frozen=True)
class _Asked:
    """What the members of an ensemble are asked, and of which rows.

    Attributes:
        prices: Shape: ``(prices,)``.
        table: What they learned from.
        rows: The rows of all folds that a member left out.
        by_fold: For each fold a question to the members that left it out.
        of_everyone: A question to all members about some of the rows.
    """

    prices: Floats
    table: LearnedFrom
    rows: NDArray[np.intp]
    by_fold: list[Question]
    of_everyone: Question

    @classmethod
    def of(cls, candidate: Ensemble, prices: Floats, table: LearnedFrom) -> _Asked:
        everyone, grid = np.arange(len(candidate.visible)), prices.tolist()
        folds = table.left_out(len(everyone)) or [LeftOut(np.arange(len(table.x)), table.x, everyone)]
        rows, x = np.concatenate([fold.rows for fold in folds]), torch.cat([fold.x for fold in folds])
        return cls(
            prices,
            table,
            rows,
            [Question(candidate, fold.members, fold.x, grid) for fold in folds],
            Question(candidate, everyone, x[:: -(-len(rows) // _MOST_ROWS)], grid),
        )


def _judged(
    asked: _Asked,
    answers: Sequence[tuple[NDArray[np.float32], NDArray[np.int32]]],
    disagreement: Floats,
    loss: str,
) -> Judged:
    """Return what was answered, with the losses of the rows."""
    part = asked.table.part
    output, used = np.concatenate([own for own, _ in answers], axis=1), part.targets(asked.rows)
    return Judged(
        asked.prices,
        used,
        row_losses(loss, output, used.target),
        output,
        np.concatenate([n_selected for _, n_selected in answers], axis=1).mean(axis=1),
        disagreement,
        loss_of_nothing(loss, output.shape[2], used),
        len(part.target),
    )


def best_range(judged: Sequence[Judged]) -> int:
    """Return which of the ensembles has learned best: by its least cost, and by how far its members differ."""
    lowest = min(float(each.mean_loss.min()) for each in judged)
    against = [
        each.cost(lowest).min() + _WEIGHT_IN_THE_MIDDLE * each.share_differing[_MIDDLE].mean() for each in judged
    ]
    return int(np.argmin(against))


def choose_price(judged: Judged, *, loss: str, n_given: int, device: torch.device) -> PenaltyPath:
    """Choose a price, and return the path of the prices that it was chosen from.

    Args:
        judged: The ensemble that will answer.
        loss: "cross_entropy" or "squared_error".
        n_given: Features that a price is multiplied with to make a penalty.
        device: Where to compute scores.
    """
    mean, error = mean_and_error(judged.losses, judged.rows.weight)
    _, excess_error = mean_and_error(judged.losses - judged.losses[int(mean.argmin())], judged.rows.weight)
    chosen = int(_criterion(judged).argmin())
    return PenaltyPath(
        judged.prices * n_given,
        mean,
        error,
        mean - mean.min(),
        excess_error,
        scores(loss, judged.outputs, judged.rows.target, device),
        "r2" if loss == "squared_error" else "auroc",
        np.asarray(judged.n_selected, dtype=np.float64),
        judged.null_loss,
        chosen,
        judged.disagreement,
        default=chosen,
    )


def _criterion(judged: Judged) -> Floats:
    """Return what is held against each price; the chosen one minimises it."""
    position_weight = _POSITION_WEIGHT * (1 + _ROWS_OF_POSITION / judged.n_learned)
    return np.asarray(
        judged.cost(float(judged.mean_loss.min()))
        + _WEIGHT_OF_DISAGREEMENT * judged.share_differing
        + position_weight * np.square(_POSITIONS - _usual_position(judged.prices))
    )


def _usual_position(prices: Floats) -> float:
    """Return where in a range the best price usually is. Shape: ``(prices,)``, those at ``_POSITIONS``."""
    width = log(prices[-1] / prices[0]) / (_POSITIONS[-1] - _POSITIONS[0])
    return float(_USUAL_POSITION - _POSITION_OF_WIDTH * (_USUAL_WIDTH - width))
