"""Asking the members of an ensemble about rows that they did not learn from."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from hideseek.engine.along import price_bounds
from hideseek.engine.device import one_thread
from hideseek.engine.ensemble import Ensemble
from hideseek.search.losses import loss_of_nothing, mean_and_error, row_losses, score
from hideseek.search.parts import N_FOLDS, Part, rows_by_fold
from hideseek.search.path import Floats
from hideseek.search.trust import Trust

__all__ = ["measure_trust"]

_MOST_ROWS = 1000
"""Rows of a fold that are looked at."""

_EVERYTHING = -1.0
"""A threshold that every mask is above."""

_CLOSE = {"cross_entropy": 0.1, "squared_error": 0.2}
"""Up to which difference in a probability, or in a standardised value, two predictions are close."""


@dataclass(frozen=True)
class _Group:
    """Rows, and the members that have not learned from them: positions in the ensemble."""

    rows: Part
    members: NDArray[np.intp]


@dataclass(frozen=True)
class _Answers:
    """What a group's members say of its rows.

    Shape: ``selected`` and ``everything (rows, outputs)``, ``n_selected (rows,)``; ``alike (rows, pairs)`` for pairs of
    members that both learned from the rows or both did not, ``alike_held_out (rows, pairs)`` for the other pairs.
    """

    selected: Floats
    everything: Floats
    n_selected: NDArray[np.int64]
    alike: Floats
    alike_held_out: Floats


def measure_trust(
    ensemble: Ensemble,
    train: Part,
    held_out: Part | None,
    fold: NDArray[np.int64] | None,
    *,
    loss: str,
    threshold: float,
    n_draws: int,
) -> Trust:
    """Measure how well the members do on rows that they did not learn from.

    Args:
        ensemble: The members that answer, at their price; member i leaves out fold i modulo ``N_FOLDS``.
        train: The rows of the fit.
        held_out: Rows that no member learned from; looked at where there are no folds.
        fold: The fold of each row of ``train``; None: every member learned from all of them.
        loss: "cross_entropy" or "squared_error".
        threshold: A feature is selected where its mean mask is greater.
        n_draws: Draws of the hidden features over which a prediction is averaged.
    """
    train = replace(train, weight=train.relative_weight())
    score_name, n_features = "r2" if loss == "squared_error" else "auroc", ensemble.visible.shape[1]
    groups = _groups(len(ensemble.visible), train, held_out, fold)
    if not groups:
        return Trust(score_name, 0, n_features).with_warnings()
    with one_thread():  # the operations are too small to be shared
        answers = [_ask(ensemble, group, loss, threshold, n_draws) for group in groups]
    rows = _joined([group.rows for group in groups])
    selected, everything = (np.concatenate([getattr(each, name) for each in answers]) for name in _PREDICTIONS)
    losses = np.stack([row_losses(loss, output, rows.target) for output in (selected, everything)])
    (loss_selected, loss_all), _ = mean_and_error(losses, rows.weight)
    _, error = mean_and_error(losses[:1] - losses[1:], rows.weight)
    return Trust(
        score_name,
        len(rows.target),
        n_features,
        n_selected=float(np.concatenate([each.n_selected for each in answers]).mean()),
        score_selected=_known(score(loss, selected, rows.target)),
        score_all=_known(score(loss, everything, rows.target)),
        score_none=0.0 if score_name == "r2" else 0.5,
        loss_selected=_known(loss_selected),
        loss_all=_known(loss_all),
        loss_none=_known(loss_of_nothing(loss, selected.shape[1], rows)),
        difference_error=_known(error[0]),
        sufficient=float((np.abs(selected - everything).max(axis=1) <= _CLOSE[loss]).mean()),
        agreement=_mean_of([each.alike for each in answers]),
        agreement_held_out=_mean_of([each.alike_held_out for each in answers]),
    ).with_warnings()


_PREDICTIONS = ("selected", "everything")


def _groups(n_members: int, train: Part, held_out: Part | None, fold: NDArray[np.int64] | None) -> list[_Group]:
    """Return the rows to look at, by the members that have not learned from them; none where there are no such rows."""
    everyone = np.arange(n_members)
    if fold is None:
        return [] if held_out is None else [_Group(held_out, everyone)]
    return [
        _Group(train.rows(rows), everyone[number::N_FOLDS])
        for number, rows in enumerate(rows_by_fold(fold, _MOST_ROWS))
        if number < n_members
    ]


def _ask(ensemble: Ensemble, group: _Group, loss: str, threshold: float, n_draws: int) -> _Answers:
    """Ask for the predictions from the selected features and from all, and for the sets of all members."""
    own, X, softmax = ensemble.members(group.members), group.rows.table, loss != "squared_error"
    at_lowest = own if own.price is None else replace(own, price=price_bounds(own)[0])
    sets = ensemble.masks_of_members(X) > threshold
    alike, out = _overlaps(sets), np.isin(np.arange(len(sets)), group.members)
    first, second = np.triu_indices(len(sets), 1)
    return _Answers(
        own.outputs(X, n_draws, softmax=softmax, threshold=threshold).astype(np.float64),
        at_lowest.outputs(X, 1, softmax=softmax, threshold=_EVERYTHING).astype(np.float64),
        (own.masks(X) > threshold).sum(axis=1),
        alike[:, first, second][:, out[first] == out[second]],
        alike[:, first, second][:, out[first] != out[second]],
    )


def _overlaps(sets: NDArray[np.bool_]) -> Floats:
    """Return shared features over features in either set, for all pairs; two empty sets are alike.

    Shape: ``(members, rows, features)`` -> ``(rows, members, members)``.
    """
    by_row = sets.transpose(1, 0, 2).astype(np.float32)
    shared = by_row @ by_row.transpose(0, 2, 1)
    size = by_row.sum(axis=2)
    either = size[:, :, None] + size[:, None, :] - shared
    return np.where(either > 0, shared / np.maximum(either, 1), 1.0)


def _joined(parts: Sequence[Part]) -> Part:
    weights = [part.weight for part in parts if part.weight is not None]
    return Part(
        np.concatenate([part.table for part in parts]),
        np.concatenate([part.target for part in parts]),
        np.concatenate(weights) if weights else None,
    )


def _mean_of(values: Sequence[Floats]) -> float | None:
    every = np.concatenate([each.ravel() for each in values])
    return float(every.mean()) if len(every) else None


def _known(value: float) -> float | None:
    return float(value) if np.isfinite(value) else None
