"""Cross-fitted predictions from the selected features, and from all that an audit compares them with.

Three stacks of small networks are trained: one tells a row's own mask from that of another row, one predicts the
target, one predicts hidden cells. Every row is predicted by networks of its fold, which have not learned from it.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from hideseek.engine.device import resolve_device, training_threads
from hideseek.errors import InputError
from hideseek.metrics._audit._heads import CellHead, ClassHead, Head, ValueHead
from hideseek.metrics._audit._inputs import Features, Target
from hideseek.metrics._audit._pairs import WeightedPairs
from hideseek.metrics._audit._rows import Draw, MaskedRows, Pairs
from hideseek.metrics._audit._training import Networks, best_snapshot, chosen_for_each_fold

__all__ = ["Predictions", "predictions"]

_BATCH = 128
_STEPS = 400
_BLENDS = 20


@dataclass(frozen=True)
class Predictions:
    """What networks predict for every row, by what they are shown.

    Those of the target are probabilities of classes ``(networks, rows, classes)`` or values ``(networks, rows, 1)``;
    those of cells are the probability of the class that a cell has, ``(networks, rows, cells)``.

    Attributes:
        evalx: From the selected values alone: p(y given x_S).
        roar: From the selected values and from the fact that they were selected: p(y given x_S and S).
        everything: From all values.
        random: From random features, as many as are selected.
        cells_evalx: As ``evalx``, of the hidden cells.
        cells_roar: As ``roar``, of the hidden cells.
    """

    evalx: NDArray[np.float64]
    roar: NDArray[np.float64]
    everything: NDArray[np.float64]
    random: NDArray[np.float64]
    cells_evalx: NDArray[np.float64]
    cells_roar: NDArray[np.float64]


def predictions(
    features: Features,
    target: Target,
    selected: NDArray[np.bool_],
    fold: NDArray[np.int64],
    *,
    n_networks: int,
    seed: int,
    device: str | torch.device,
) -> Predictions:
    """Train all networks and return their predictions of held-out rows."""
    try:
        where = resolve_device(device)
    except RuntimeError as error:
        raise InputError(f"device={device!r}: expected 'auto', 'cpu' or a CUDA device that is present") from error
    rows = MaskedRows(features, selected, fold, n_networks, _BATCH, seed, where)
    masks = rows.masks
    y, classes, feature_of_cell = (
        torch.from_numpy(part).to(where) for part in (target.values, features.classes, features.feature_of_cell)
    )
    head = ClassHead(y, target.n_classes) if target.task == "classification" else ValueHead(y.float())
    with training_threads(where, 4 * rows.n_members * _BATCH):
        weighted = WeightedPairs(rows, _STEPS)
        own = rows.held_out_with(masks)
        selection = [_Question(weighted.draw, weighted.held_out, own), _Question(rows.own, own, own)]
        everything, random = (rows.held_out_with(part) for part in (torch.ones_like(masks), rows.random_masks))
        more = [
            _Question(rows.everything, everything, everything),
            _Question(rows.random_sets, random, random),
        ]
        by_target = _answers(rows, head, [*selection, *more])
        by_cell = _answers(rows, CellHead(classes, feature_of_cell), selection)
    found = [*by_target, *by_cell]
    return Predictions(*(part.double().cpu().numpy() for part in found))


@dataclass(frozen=True)
class _Question:
    """What networks are trained on, the pairs that say when they should have stopped, and the pairs of the answer."""

    draw: Draw
    judged_on: Pairs
    asked_about: Pairs


def _answers(rows: MaskedRows, head: Head, questions: list[_Question]) -> list[Tensor]:
    """Return the predictions for each question; the first two are EVAL-X's and ROAR's.

    All networks start from ones that were trained on masks of many kinds, and then continue on those of the question.
    Shape of each: ``(networks, rows, numbers)``.
    """
    networks = Networks(rows, head)
    snapshots = networks.train(networks.start(), [rows.independent], _STEPS, cool=False)
    start = best_snapshot(networks, snapshots[:, 0], rows.held_out_independent())
    snapshots = networks.train(start, [question.draw for question in questions], _STEPS, cool=True)
    answers = []
    for i, question in enumerate(questions):
        weights = best_snapshot(networks, snapshots[:, i], question.judged_on)
        kept = networks.kept(weights, question.asked_about)
        answers.append(_in_order(kept, rows))
    answers[1] = _blended(answers[0], answers[1], head, rows)
    return answers


def _in_order(kept: list[Tensor], rows: MaskedRows) -> Tensor:
    """Return the predictions of all folds in the order of the table. Shape: ``(networks, rows, numbers)``."""
    together = torch.cat(kept, dim=1)
    ordered = torch.empty_like(together)
    ordered[:, torch.cat(rows.held_out)] = together
    return ordered


def _blended(evalx: Tensor, roar: Tensor, head: Head, rows: MaskedRows) -> Tensor:
    """Return ROAR's predictions, drawn towards EVAL-X's as far as that is better for the rows of the other folds.

    Both are estimates of the same where a selector encodes nothing, and then ROAR's has learned from fewer pairs.
    Shape: ``(networks, rows, numbers)`` each.
    """
    every = torch.arange(len(rows.masks), device=rows.masks.device)[None]
    shares = torch.linspace(0, 1, _BLENDS + 1, device=evalx.device)
    one, other = evalx.mean(dim=0, keepdim=True), roar.mean(dim=0, keepdim=True)
    by_fold = []
    for share in shares:
        score = head.score(torch.lerp(one, other, share), every, rows.masks[None])[0]
        by_fold.append(torch.stack([score[held_out].sum(dim=0) for held_out in rows.held_out]))
    chosen = shares[chosen_for_each_fold(torch.stack(by_fold))]  # (folds, parts)
    share = torch.empty(len(rows.masks), chosen.shape[1], device=evalx.device)
    for fold, held_out in enumerate(rows.held_out):
        share[held_out] = chosen[fold]
    return torch.lerp(evalx, roar, share[None].expand_as(roar).contiguous())
