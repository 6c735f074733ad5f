"""The choice of a range of prices and of a price in it, by held-out loss and agreement of the members."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import log

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from hideseek.engine.along import answers_to, disagreements, price_bounds_of_all
from hideseek.engine.device import one_thread
from hideseek.engine.ensemble import Ensemble
from hideseek.engine.questions import Question
from hideseek.engine.recipe import LOWEST_PRICE
from hideseek.search.losses import HeldOutRows, loss_of_nothing
from hideseek.search.parts import LearnedFrom, LeftOut
from hideseek.search.path import Floats, PenaltyPath

__all__ = ["Judged", "best_range", "choose_price", "judge", "too_high", "usual_price"]

_POSITIONS = np.linspace(0.1, 1.1, 17)
"""Prices that are compared, as shares of the logarithmic range."""

_ERRORS = 5.0
"""By how many standard errors the loss at a lower price has to be smaller to take that price after the refinement."""

_AT_ONCE = 64
"""Ensembles that are judged at once: all of their answers are in memory together."""

_MOST_ROWS = 1000
"""Rows on which the selections of members are compared."""

_DRAWS = 4

_WEIGHT_OF_FEATURES, _WEIGHT_OF_DISAGREEMENT = 0.0002, 0.2
"""Share of the explained loss that the square of the number of features counts for: each feature of a longer set has to
explain more. And what it counts for if members differ in as many features as they select."""

_MIDDLE, _WEIGHT_IN_THE_MIDDLE = (_POSITIONS > 0.4) & (_POSITIONS < 0.75), 0.04
"""Where the disagreement counts in the choice of a range, and how much."""

_USUAL_POSITION, _POSITION_OF_WIDTH, _USUAL_WIDTH = 0.52, 0.024, log(0.4 / LOWEST_PRICE)
"""Prices near the middle of a range are usually best: at ``_USUAL_POSITION`` of one that ends at 0.4, and lower in a
range that ends earlier, by ``_POSITION_OF_WIDTH`` for each unit that the logarithm of its end is lower."""

_POSITION_OF_FEW_ROWS = 15.0
"""Divided by the number of rows: how much higher the best price usually is, since few rows are learned by heart."""

_POSITION_WEIGHT, _ROWS_OF_POSITION = 0.6, 10_000
"""A price is held against its distance to the usual position, the more so the fewer rows there are to tell prices
apart, as if ``_ROWS_OF_POSITION`` rows had spoken for that position."""


@dataclass(frozen=True)
class Judged:
    """What held-out rows say of an ensemble along its prices. Shape: ``(prices,)`` where not said.

    Attributes:
        positions: Where the prices lie, as shares of the logarithmic range.
        prices: The prices.
        mean_loss: The mean loss.
        error: Its standard error.
        excess_error: The standard error of its difference to the smallest.
        score: AUROC or R squared.
        n_selected: Features that a row has selected, on average.
        disagreement: Features of a row that one of two members selects and the other does not, on average.
        null_loss: The loss of the best prediction that is the same for every row. A number.
        n_rows: The held-out rows. A number.
        n_learned: Rows that the ensemble learned from. A number.
    """

    positions: Floats
    prices: Floats
    mean_loss: Floats
    error: Floats
    excess_error: Floats
    score: Floats
    n_selected: Floats
    disagreement: Floats
    null_loss: float
    n_rows: int
    n_learned: int

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
    candidates: Sequence[Ensemble],
    tables: Sequence[LearnedFrom],
    *,
    loss: str,
    threshold: float,
    positions: Sequence[Floats] | None = None,
) -> list[Judged]:
    """Ask the members of each ensemble about the rows that they did not learn from, at several prices.

    Args:
        candidates: Each answers for a range of prices. All are on one device.
        tables: The table that each candidate learned from; all of its rows are used where none were left out.
        loss: "cross_entropy" or "squared_error".
        threshold: A feature is selected where its mean mask is greater.
        positions: Where the prices of each candidate lie, as shares of its logarithmic range; None: all of a path.
    """
    positions = positions or [_POSITIONS] * len(candidates)
    judged: list[Judged] = []
    with one_thread():  # the operations are too small to be shared
        for start in range(0, len(candidates), _AT_ONCE):
            some = slice(start, start + _AT_ONCE)
            cases = zip(
                candidates[some], price_bounds_of_all(candidates[some]), positions[some], tables[some], strict=True
            )
            asked = [_Asked.of(*case) for case in cases]
            questions = [question for one in asked for question in one.by_fold]
            answers = answers_to(questions, _DRAWS, softmax=loss != "squared_error", threshold=threshold)
            differing = disagreements([one.of_everyone for one in asked], threshold)
            judged += _judged(asked, answers, differing, loss)
    return judged


@dataclass(frozen=True)
class _Asked:
    """What the members of an ensemble are asked, and of which rows.

    Attributes:
        positions: Where the prices lie, as shares of the logarithmic range. Shape: ``(prices,)``.
        prices: Shape: ``(prices,)``.
        table: What they learned from.
        rows: The rows of all folds that a member left out.
        by_fold: For each fold a question to the members that left it out.
        of_everyone: A question to all members about some of the rows.
    """

    positions: Floats
    prices: Floats
    table: LearnedFrom
    rows: NDArray[np.intp]
    by_fold: list[Question]
    of_everyone: Question

    @classmethod
    def of(cls, candidate: Ensemble, bounds: tuple[float, float], positions: Floats, table: LearnedFrom) -> _Asked:
        low, high = np.log(bounds)
        prices = np.exp(low + (high - low) * positions)
        everyone, grid = np.arange(len(candidate.visible)), prices.tolist()
        folds = table.left_out(len(everyone)) or [LeftOut(np.arange(len(table.x)), table.x, everyone)]
        rows, x = np.concatenate([fold.rows for fold in folds]), torch.cat([fold.x for fold in folds])
        return cls(
            positions,
            prices,
            table,
            rows,
            [Question(candidate, fold.members, fold.x, grid) for fold in folds],
            Question(candidate, everyone, x[:: -(-len(rows) // _MOST_ROWS)], grid),
        )


def _judged(
    asked: Sequence[_Asked], answers: Sequence[tuple[Tensor, Tensor]], differing: Sequence[Floats], loss: str
) -> list[Judged]:
    """Return what was answered, of all tables at once. ``answers``: of each fold the outputs, and how many features."""
    n_folds = len(asked[0].by_fold)
    by_table = [answers[start : start + n_folds] for start in range(0, len(answers), n_folds)]
    outputs = torch.stack([torch.cat([output for output, _ in own], dim=1) for own in by_table])
    n_selected = torch.stack([torch.cat([counts for _, counts in own], dim=1) for own in by_table]).double()
    held_out = HeldOutRows(loss, [one.table.part.targets(one.rows) for one in asked], outputs.double())
    losses = held_out.losses()
    mean, error = held_out.mean_and_error(losses)
    best = torch.from_numpy(mean.argmin(axis=1)).to(losses.device)
    _, excess_error = held_out.mean_and_error(losses - losses[torch.arange(len(losses)), best][:, None])
    scores, n_features = held_out.scores(), n_selected.mean(dim=2).cpu().numpy()
    return [
        Judged(
            one.positions,
            one.prices,
            mean[i],
            error[i],
            excess_error[i],
            scores[i],
            n_features[i],
            differing[i],
            loss_of_nothing(loss, outputs.shape[3], held_out.parts[i]),
            len(one.rows),
            len(one.table.part.target),
        )
        for i, one in enumerate(asked)
    ]


def best_range(judged: Sequence[Judged]) -> int:
    """Return which of the ensembles has learned best: by its least cost, and by how far its members differ."""
    lowest = min(float(each.mean_loss.min()) for each in judged)
    against = [
        each.cost(lowest).min() + _WEIGHT_IN_THE_MIDDLE * each.share_differing[_MIDDLE].mean() for each in judged
    ]
    return int(np.argmin(against))


def choose_price(judged: Judged, *, loss: str, n_given: int) -> PenaltyPath:
    """Choose a price, and return the path of the prices that it was chosen from.

    Args:
        judged: The ensemble that will answer.
        loss: "cross_entropy" or "squared_error".
        n_given: Features that a price is multiplied with to make a penalty.
    """
    chosen = int(_criterion(judged).argmin())
    return PenaltyPath(
        judged.prices * n_given,
        judged.mean_loss,
        judged.error,
        judged.mean_loss - judged.mean_loss.min(),
        judged.excess_error,
        judged.score,
        "r2" if loss == "squared_error" else "auroc",
        judged.n_selected,
        judged.null_loss,
        chosen,
        judged.disagreement,
        default=chosen,
    )


def too_high(
    chosen: Sequence[int], refined: Sequence[Ensemble], tables: Sequence[LearnedFrom], *, loss: str, threshold: float
) -> list[bool]:
    """Return of each ensemble whether the price below the chosen one is clearly better, as refined Seeks show.

    Before the refinement a Seek can learn values that are not shown from the choice of the features, and predict well
    without them.

    Args:
        chosen: The position in the path of the price that was chosen before the refinement; not the first one.
        refined: The refined ensembles.
        tables: What they learned from, with rows left out.
        loss: "cross_entropy" or "squared_error".
        threshold: A feature is selected where its mean mask is greater.
    """
    pairs = [_POSITIONS[position - 1 : position + 1] for position in chosen]
    judged = judge(refined, tables, loss=loss, threshold=threshold, positions=pairs)
    return [
        bool(_criterion(each).argmin() == 0 and each.mean_loss[1] > each.mean_loss[0] + _ERRORS * each.excess_error[1])
        for each in judged
    ]


def _criterion(judged: Judged) -> Floats:
    """Return what is held against each price; the chosen one minimises it."""
    position_weight = _POSITION_WEIGHT * (1 + _ROWS_OF_POSITION / judged.n_learned)
    width = log(judged.prices[-1] / judged.prices[0]) / (judged.positions[-1] - judged.positions[0])
    return np.asarray(
        judged.cost(float(judged.mean_loss.min()))
        + _WEIGHT_OF_DISAGREEMENT * judged.share_differing
        + position_weight * np.square(judged.positions - _usual_position(width, judged.n_learned))
    )


def usual_price(low: float, high: float, n_rows: int) -> float:
    """Return the price of a range that is usually best, for a table of so many rows."""
    return float(low * (high / low) ** _usual_position(log(high / low), n_rows))


def _usual_position(width: float, n_rows: int) -> float:
    """Return where in a range of this logarithmic width the best price usually is."""
    return float(_USUAL_POSITION - _POSITION_OF_WIDTH * (_USUAL_WIDTH - width) + _POSITION_OF_FEW_ROWS / n_rows)
