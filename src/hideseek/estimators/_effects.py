"""The effect of every selected feature, from the ensemble that predicted."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from hideseek.blocks import row_blocks
from hideseek.effects import Effects

if TYPE_CHECKING:
    from hideseek.estimators._base import BaseHideSeek

__all__ = ["N_TURNS", "effects_of", "turns_of"]

N_TURNS = 4
"""Each draw is answered by every fourth Seek, in turn: with all of them effects cost four times as much, and on data
with known probabilities they are hardly nearer to the truth."""


def turns_of(model: BaseHideSeek) -> int:
    """Return in how many turns the Seeks answer: in one where they are few, or where each sees rows of its own."""
    stack = model._ensemble.stack
    many = stack.n_members * stack.n_seeks >= N_TURNS
    return N_TURNS if many and model._shown_threshold() is not None else 1


def effects_of(model: BaseHideSeek, table: NDArray[np.floating]) -> Effects:
    """Return, for each selected feature of each row, the prediction minus the prediction with it hidden as well.

    Both are made from the same draws by the same Seeks. Shape: ``(rows, columns)``.
    """
    selected = model._ensemble.masks(table) > model.threshold
    blocks = [_changes(model, table[rows], selected[rows]) for rows in row_blocks(len(table), table.shape[1])]
    units = model._units()
    n_outputs = model._ensemble.stack.seek.sizes[-1]
    change = np.concatenate(blocks) if blocks else np.zeros((0, n_outputs))
    return Effects(selected, change * (1.0 if units is None else units[1]), None if units else model.classes_)


def _changes(model: BaseHideSeek, table: NDArray[np.floating], selected: NDArray[np.bool_]) -> NDArray[np.float64]:
    """Return the changes of the outputs. Shape: ``(selected cells, outputs)``."""
    rows, features = np.nonzero(selected)
    whole = np.flatnonzero(selected.any(axis=1))
    output = model._ensemble.outputs(
        table[np.concatenate((whole, rows))],
        model.prediction_draws,
        softmax=model._units() is None,
        threshold=model._shown_threshold(),
        hidden=np.concatenate((np.full(len(whole), -1), features)),
        n_turns=turns_of(model),
    ).astype(np.float64)
    return np.asarray(output[np.searchsorted(whole, rows)] - output[len(whole) :])
