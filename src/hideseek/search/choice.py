"""The choice of a price: by held-out loss, by how far the members agree, and by where the price lies in its range."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from hideseek.engine.along import answers_along, price_bounds, votes_along
from hideseek.engine.device import one_thread
from hideseek.engine.ensemble import Ensemble
from hideseek.search.losses import loss_of_nothing, mean_and_error, row_losses, score
from hideseek.search.parts import N_FOLDS, Part, rows_by_fold
from hideseek.search.path import Floats, PenaltyPath

__all__ = ["choose_price"]

_POSITIONS = np.linspace(0.1, 1.1, 17)
"""Prices that are compared, as shares of the logarithmic range."""

_MOST_ROWS = 1000
"""Rows of a fold on which prices are compared."""

_DRAWS = 4

_DISAGREEMENT_WEIGHT = 0.1
_USUAL_POSITION, _POSITION_WEIGHT, _ROWS_OF_POSITION = 0.55, 0.4, 10_000
"""Prices near the middle of a range are usually best: a price is held against its distance to ``_USUAL_POSITION``, the
more so the fewer rows there are to tell prices apart, as if ``_ROWS_OF_POSITION`` rows had spoken for that position."""


@dataclass(frozen=True)
class _Judged:
    """What held-out rows say of an ensemble along its prices.

    Shape: ``losses (prices, rows)``, ``outputs (prices, rows, outputs)``, the others ``(prices,)``.
    """

    prices: Floats
    losses: Floats
    outputs: NDArray[np.floating]
    n_selected: Floats
    disagreement: Floats


def choose_price(
    candidates: Sequence[Ensemble],
    part: Part,
    fold: NDArray[np.int64] | None,
    *,
    loss: str,
    threshold: float,
    n_given: int,
    price: float | None = None,
) -> tuple[int, Ensemble, PenaltyPath]:
    """Choose an ensemble and the price at which it answers, and return the path of prices that it was chosen from.

    Args:
        candidates: Ensembles that answer for ranges of prices; member i leaves out fold i modulo ``N_FOLDS``.
        part: The rows that they learned from.
        fold: The fold of each row; None: no rows were left out, and all of them are used.
        loss: "cross_entropy" or "squared_error".
        threshold: A feature is selected where its mean mask is greater.
        n_given: Features that a price is multiplied with to make a penalty.
        price: The price to answer at; None: the one that the criterion chooses.

    Returns:
        The position of the ensemble, the ensemble at that price, and the path.
    """
    part = replace(part, weight=part.relative_weight())
    rows = _held_out_rows(fold, len(part.target))
    with one_thread():  # the operations are too small to be shared
        judged = [_judge(candidate, part, rows, loss, threshold) for candidate in candidates]
    used = part.rows(np.concatenate(rows))
    null_loss = loss_of_nothing(loss, judged[0].outputs.shape[2], used)
    mean_losses = [mean_and_error(each.losses, used.weight)[0] for each in judged]
    lowest = min(float(losses.min()) for losses in mean_losses)
    explained = max(null_loss - lowest, 1e-3 * null_loss)
    criteria = [
        (losses - lowest) / explained + _DISAGREEMENT_WEIGHT * each.disagreement + _off_position(len(part.target))
        for losses, each in zip(mean_losses, judged, strict=True)
    ]
    best = int(np.argmin([criterion.min() for criterion in criteria]))
    chosen = int(criteria[best].argmin())
    path = _path(judged[best], chosen, used, loss, null_loss, n_given)
    own_price = float(judged[best].prices[chosen]) if price is None else price
    return best, replace(candidates[best], price=own_price), path


def _off_position(n_rows: int) -> Floats:
    """Return what is held against each position in a range."""
    weight = _POSITION_WEIGHT * (1 + _ROWS_OF_POSITION / n_rows)
    return np.asarray(weight * np.square(_POSITIONS - _USUAL_POSITION))


def _held_out_rows(fold: NDArray[np.int64] | None, n_rows: int) -> list[NDArray[np.intp]]:
    """Return rows of each fold, some thousands at most; all rows as one where there are no folds."""
    return [np.arange(n_rows)] if fold is None else rows_by_fold(fold, _MOST_ROWS)


def _judge(candidate: Ensemble, part: Part, rows: Sequence[NDArray[np.intp]], loss: str, threshold: float) -> _Judged:
    """Ask the members about the rows that they did not learn from, at every price."""
    low, high = np.log(price_bounds(candidate))
    prices = np.exp(low + (high - low) * _POSITIONS)
    n_members = len(candidate.visible)
    outputs, n_selected = [], []
    for number, own in enumerate(rows):
        members = np.arange(number, n_members, N_FOLDS) if len(rows) > 1 else np.arange(n_members)
        members = members if len(members) else np.arange(n_members)  # fewer members than folds
        answers, selected = answers_along(
            candidate.members(members),
            part.table[own],
            prices.tolist(),
            min(_DRAWS, len(candidate.pool)),
            softmax=loss != "squared_error",
            threshold=threshold,
        )
        outputs.append(answers.astype(np.float64))
        n_selected.append(selected.sum(axis=2))
    every = np.concatenate(rows)
    some = part.table[every[:: -(-len(every) // _MOST_ROWS)]]
    votes = votes_along(candidate, some, prices.tolist(), threshold)
    output = np.concatenate(outputs, axis=1)
    return _Judged(
        prices,
        np.stack([row_losses(loss, each, part.target[every]) for each in output]),
        output,
        np.concatenate(n_selected, axis=1).mean(axis=1),
        (votes * (1 - votes)).sum(axis=2).mean(axis=1),
    )


def _path(judged: _Judged, chosen: int, used: Part, loss: str, null_loss: float, n_given: int) -> PenaltyPath:
    mean, error = mean_and_error(judged.losses, used.weight)
    _, excess_error = mean_and_error(judged.losses - judged.losses[int(mean.argmin())], used.weight)
    return PenaltyPath(
        judged.prices * n_given,
        mean,
        error,
        mean - mean.min(),
        excess_error,
        np.array([score(loss, output, used.target) for output in judged.outputs]),
        "r2" if loss == "squared_error" else "auroc",
        np.asarray(judged.n_selected, dtype=np.float64),
        null_loss,
        chosen,
        np.asarray(judged.disagreement, dtype=np.float64),
        chosen,
    )
