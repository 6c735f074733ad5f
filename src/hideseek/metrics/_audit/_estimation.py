"""Cross-fitted predictions from the selected features, and from everything that an audit compares them with.

Three stacks of small networks are trained: one distinguishes a row's own mask from that of another row, one predicts
the target, one predicts hidden cells. Every row is predicted by networks of its fold, which have not learned from it.
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

__all__ = ["Predictions", "predictions", "steps_of"]

_BATCH = 128
_STEPS, _ROWS_OF_STEPS, _LONGEST = 400, 10_000, 3
"""Steps of training up to so many rows; with more rows in proportion, up to three times as many."""
_BLENDS = 20


def steps_of(n_rows: int) -> int:
    """Return how many steps networks are trained for: many rows take longer to learn from."""
    return round(_STEPS * min(max(1.0, n_rows / _ROWS_OF_STEPS), _LONGEST))


@dataclass(frozen=True)
class Predictions:
    """Predictions of the networks for every row, by what they are shown.

    Predictions of the target are probabilities of classes ``(networks, rows, classes)`` or values ``(networks, rows,
    1)``; predictions of cells are the probability of the cell's true class, ``(networks, rows, cells)``.

    ``pair_rows``, ``pair_evalx`` and ``pair_roar`` are for held-out rows with masks of other rows that show what the
    selector shows, see :class:`WeightedPairs`; there the target does not depend on the choice of the mask.

    Attributes:
        pair_rows: The row of each pair. Shape: ``(pairs,)``.
        evalx: Predictions from the selected values alone: p(y given x_S).
        roar: From the selected values and the selection itself: p(y given x_S and S).
        everything: From all values.
        random: From random features, as many as are selected.
        cells_evalx: As ``evalx``, for the hidden cells.
        cells_roar: As ``roar``, for the hidden cells.
        pair_evalx: As ``evalx``, for the pairs.
        pair_roar: As ``roar``, for the pairs.
    """

    pair_rows: NDArray[np.int64]
    evalx: NDArray[np.float64]
    roar: NDArray[np.float64]
    everything: NDArray[np.float64]
    random: NDArray[np.float64]
    cells_evalx: NDArray[np.float64]
    cells_roar: NDArray[np.float64]
    pair_evalx: NDArray[np.float64]
    pair_roar: NDArray[np.float64]


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
    n_steps = steps_of(len(masks))
    with training_threads(where, 4 * rows.n_members * _BATCH):
        weighted = WeightedPairs(rows, n_steps)
        own, pairs = rows.held_out_with(masks), weighted.held_out
        selection = [_Question(weighted.draw, pairs, own), _Question(rows.own, own, own)]
        everything, random = (rows.held_out_with(part) for part in (torch.ones_like(masks), rows.random_masks))
        more = [_Question(rows.everything, everything, everything), _Question(rows.random_sets, random, random)]
        target_answers = _Answers(rows, head, [*selection, *more], n_steps)
        cell_answers = _Answers(rows, CellHead(classes, feature_of_cell), selection, n_steps)
        by_target, by_cell = target_answers.in_order(), cell_answers.in_order()
        by_pair = target_answers.about(pairs)
    pair_rows = torch.cat([one for one, _ in pairs]).cpu().numpy()
    return Predictions(pair_rows, *(part.double().cpu().numpy() for part in (*by_target, *by_cell, *by_pair)))


@dataclass(frozen=True)
class _Question:
    """The pairs that networks are trained on, the pairs for early stopping, and the pairs to predict."""

    draw: Draw
    judged_on: Pairs
    asked_about: Pairs


class _Answers:
    """The predictions of one head for several questions, of which the first two are EVAL-X's and ROAR's.

    All networks are first trained on masks of many kinds, and then on those of the question. ROAR's predictions are
    shrunk towards EVAL-X's as far as this improves the score on the other folds: if a selector encodes nothing, both
    estimate the same, and ROAR's have learned from fewer pairs.
    """

    def __init__(self, rows: MaskedRows, head: Head, questions: list[_Question], n_steps: int) -> None:
        self._rows, self._questions, self._networks = rows, questions, Networks(rows, head)
        snapshots = self._networks.train(self._networks.start(), [rows.independent], n_steps, cool=False)
        start = best_snapshot(self._networks, snapshots[:, 0], rows.held_out_independent())
        snapshots = self._networks.train(start, [question.draw for question in questions], n_steps, cool=True)
        self._weights = [
            best_snapshot(self._networks, snapshots[:, i], question.judged_on) for i, question in enumerate(questions)
        ]
        self._kept = [
            self._networks.kept(weights, question.asked_about)
            for weights, question in zip(self._weights, questions, strict=True)
        ]
        self._share = self._best_share()

    def in_order(self) -> list[Tensor]:
        """Return the predictions in the order of the table. Shape of each: ``(networks, rows, numbers)``."""
        evalx, roar, *others = self._kept
        held_out = torch.cat(self._rows.held_out)
        answers = []
        for kept in (evalx, self._blended(evalx, roar), *others):
            together = torch.cat(kept, dim=1)
            ordered = torch.empty_like(together)
            ordered[:, held_out] = together
            answers.append(ordered)
        return answers

    def about(self, pairs: Pairs) -> tuple[Tensor, Tensor]:
        """Return EVAL-X's and ROAR's predictions for other pairs, fold by fold.

        Shape of each: ``(networks, rows, numbers)``.
        """
        evalx, roar = (self._networks.kept(weights, pairs) for weights in self._weights[:2])
        return torch.cat(evalx, dim=1), torch.cat(self._blended(evalx, roar), dim=1)

    def _blended(self, evalx: list[Tensor], roar: list[Tensor]) -> list[Tensor]:
        return [torch.lerp(*parts) for parts in zip(evalx, roar, self._share, strict=True)]

    def _best_share(self) -> Tensor:
        """Return the weight of ROAR's predictions in the blend with EVAL-X's. Shape: ``(folds, 1, 1, parts)``."""
        shares = torch.linspace(0, 1, _BLENDS + 1, device=self._rows.masks.device)
        scores = torch.stack(
            [torch.stack([self._scores(fold, share) for share in shares]) for fold in range(self._rows.n_folds)]
        )
        return shares[chosen_for_each_fold(scores.transpose(0, 1))][:, None, None]

    def _scores(self, fold: int, share: Tensor) -> Tensor:
        """Return the sum of a fold's scores, for each part of the prediction. Shape: ``(parts,)``."""
        evalx, roar = (kept[fold].mean(dim=0, keepdim=True) for kept in self._kept[:2])
        rows, masks = self._questions[1].asked_about[fold]
        return self._networks.head.score(torch.lerp(evalx, roar, share), rows[None], masks[None])[0].sum(dim=0)
