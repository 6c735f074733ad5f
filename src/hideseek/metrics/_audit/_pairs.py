"""Pairs of a row and the mask of another row, drawn where the selector's own pairs are."""

from __future__ import annotations

import torch
from torch import Tensor

from hideseek.metrics._audit._heads import OwnershipHead
from hideseek.metrics._audit._rows import MaskedRows, Pairs
from hideseek.metrics._audit._training import Networks, best_snapshot

__all__ = ["WeightedPairs"]

_MOST_CANDIDATES, _CANDIDATES, _HELD_OUT_CANDIDATES = 2**18, 256, 16
"""Random pairs of a fold's training rows, in total and for each row, and for each held-out row."""
_PAIRS, _HELD_OUT_PAIRS = 2**17, 4
"""Number of candidates drawn by weight: in a fold, and for each held-out row."""
_FEWEST_PAIRS = 512


class WeightedPairs:
    """Pairs of a row and the mask of another row, drawn so that the shown values resemble those of the selector.

    The mask R of another row does not depend on this row's label, so a network trained on such pairs learns p(y given
    x_R). That stays true when the probability to draw a pair depends on R and the shown values x_R alone. Here it is
    the density ratio of the selector's own pairs (x_S, S) to the shuffled ones, estimated by networks that
    distinguish the two. EVAL-X's network is then trained on the pairs that it is evaluated on, as ROAR's is. Otherwise
    it would spend its capacity on pairs that never occur, and a selector without leakage would seem to leak.

    Args:
        rows: The rows and masks.
        n_steps: Steps of training.
    """

    def __init__(self, rows: MaskedRows, n_steps: int) -> None:
        self._rows = rows
        self._networks = Networks(rows, OwnershipHead())
        snapshots = self._networks.train(self._networks.start(), [rows.own_and_shuffled], n_steps, cool=True)
        self._weights = best_snapshot(self._networks, snapshots[:, 0], rows.held_out_own_and_shuffled())
        n_candidates = min(_MOST_CANDIDATES, _CANDIDATES * rows.training.shape[1])
        drawn = [self._drawn(fold, rows.training[fold], n_candidates, _PAIRS) for fold in range(rows.n_folds)]
        self._one, self._other = (torch.stack(parts) for parts in zip(*drawn, strict=True))
        self.held_out: Pairs = [self._held_out(fold) for fold in range(rows.n_folds)]
        """As many pairs of held-out rows as the fold has rows, times a few."""

    def draw(self) -> tuple[Tensor, Tensor]:
        """Return pairs of training rows for every member."""
        shape = self._rows.n_folds, self._rows.n_networks * self._rows.batch_size
        picks = torch.randint(_PAIRS, shape, generator=self._rows.generator, device=self._one.device)
        one, other = (part.gather(1, picks).view(-1, self._rows.batch_size) for part in (self._one, self._other))
        return one, self._rows.masks[other]

    def _held_out(self, fold: int) -> tuple[Tensor, Tensor]:
        rows = self._rows.held_out[fold]
        one, other = self._drawn(fold, rows, _HELD_OUT_CANDIDATES * len(rows), _HELD_OUT_PAIRS * len(rows))
        return one, self._rows.masks[other]

    def _drawn(self, fold: int, rows: Tensor, n_candidates: int, n_drawn: int) -> tuple[Tensor, Tensor]:
        """Return pairs of these rows, drawn from ``n_candidates`` random ones by their density ratio."""
        place = torch.randint(len(rows), (2, n_candidates), generator=self._rows.generator, device=rows.device)
        one, other = rows[place[0]], rows[place[1]]
        logit = self._log_ratio(fold, one, other)
        probability = logit.softmax(dim=0)
        # If few pairs resemble the selector's own, the ratio is flattened until enough pairs carry the weight.
        while 1 / probability.square().sum() < min(_FEWEST_PAIRS, n_candidates / 4):
            logit *= 0.9
            probability = logit.softmax(dim=0)
        levels = torch.rand(n_drawn, generator=self._rows.generator, device=rows.device, dtype=torch.float64)
        cumulated = probability.cumsum(dim=0)
        picks = torch.searchsorted(cumulated, levels * cumulated[-1]).clamp_(max=n_candidates - 1)
        return one[picks], other[picks]

    def _log_ratio(self, fold: int, one: Tensor, other: Tensor) -> Tensor:
        """Return the logarithm of the density ratio of each pair. Shape: ``(pairs,)``, float64."""
        ratio = self._networks.kept_of_fold(fold, self._weights, one, self._rows.masks[other])
        return ratio.mean(dim=0)[:, 0].double()
