"""Rows and masks for the networks of an audit, drawn from the training rows of each fold."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from hideseek.engine.scaling import Scaler
from hideseek.metrics._audit._inputs import Features
from hideseek.metrics._selection import top_k

__all__ = ["Draw", "MaskedRows", "Pairs", "folds_of"]

Draw = Callable[[], tuple[Tensor, Tensor]]
"""Returns a batch: rows ``(members, rows)`` and their masks ``(members, rows, features)``."""

Pairs = list[tuple[Tensor, Tensor]]
"""For each fold, rows ``(rows,)`` and their masks ``(rows, features)``."""

_RANDOM_MASKS = 4
"""Number of random masks per row, of the row's size, that are drawn in advance."""


def folds_of(y: NDArray[np.floating] | NDArray[np.integer], n_folds: int, seed: int) -> NDArray[np.int64]:
    """Return the fold of each row; every fold has about the same distribution of y. Shape: ``(rows,)``."""
    order = np.lexsort((np.random.default_rng([seed, 0]).random(len(y)), y))
    fold = np.empty(len(y), dtype=np.int64)
    fold[order] = np.arange(len(y)) % n_folds
    return fold


class MaskedRows:
    """A table with the selector's masks, and the masks that networks are trained on.

    The members of a stack are ordered by fold; those of a fold see only its training rows.

    Args:
        features: The table.
        selected: The selector's masks. Shape: ``(rows, features)``.
        fold: The fold of each row. Shape: ``(rows,)``.
        n_networks: Members for each fold.
        batch_size: Rows of a batch.
        seed: Seed of the draws.
        device: The torch device.
    """

    def __init__(
        self,
        features: Features,
        selected: NDArray[np.bool_],
        fold: NDArray[np.int64],
        n_networks: int,
        batch_size: int,
        seed: int,
        device: torch.device,
    ) -> None:
        scaler = Scaler.fit(features.matrix).with_scale(features.scales).with_ramps(features.matrix)
        widths = scaler.widths(features.widths) or features.widths
        self.generator = torch.Generator(device).manual_seed(seed)
        self.n_networks, self.n_folds = n_networks, int(fold.max()) + 1
        self.n_members = self.n_networks * self.n_folds
        self.n_inputs, self.n_features = sum(widths) + len(widths), len(widths)
        self.batch_size = batch_size
        self._x = torch.from_numpy(scaler.transform(features.matrix)).to(device)
        self._feature_of_column = torch.repeat_interleave(torch.tensor(widths)).to(device)
        self.masks = torch.from_numpy(selected.astype(np.float32)).to(device)
        rng = np.random.default_rng([seed, 1])
        size = selected.sum(axis=1)
        drawn = [top_k(rng.random(selected.shape), size).astype(np.float32) for _ in range(_RANDOM_MASKS)]
        self.random_masks = torch.from_numpy(np.concatenate(drawn)).to(device)
        held_out = [np.flatnonzero(fold == f) for f in range(self.n_folds)]
        training = [np.flatnonzero(fold != f) for f in range(self.n_folds)]
        n_training = min(map(len, training))
        rng = np.random.default_rng([seed, 2])
        same_length = np.stack([rng.permutation(rows)[:n_training] for rows in training])
        self.held_out = [torch.from_numpy(rows).to(device) for rows in held_out]
        self.training = torch.from_numpy(same_length).to(device)

    def inputs(self, rows: Tensor, masks: Tensor) -> Tensor:
        """Return the networks' inputs: shown values, 0 for hidden ones, and the mask.

        Shape: ``rows (members, rows)``, ``masks (members, rows, features)`` -> ``(members, inputs, rows)``.
        """
        shown = self._x[rows] * masks[:, :, self._feature_of_column]
        return torch.cat((shown, masks), dim=2).transpose(1, 2).contiguous()

    # -- batches of training rows -----------------------------------------------------------------------------------

    def rows(self) -> Tensor:
        """Return rows for every member. Shape: ``(members, batch)``."""
        shape = self.n_folds, self.n_networks * self.batch_size
        place = torch.randint(self.training.shape[1], shape, generator=self.generator, device=self.training.device)
        return self.training.gather(1, place).view(self.n_members, self.batch_size)

    def own(self) -> tuple[Tensor, Tensor]:
        """Return rows with their own masks."""
        rows = self.rows()
        return rows, self.masks[rows]

    def everything(self) -> tuple[Tensor, Tensor]:
        """Return rows with every feature shown."""
        rows = self.rows()
        return rows, torch.ones_like(self.masks[rows])

    def random_sets(self) -> tuple[Tensor, Tensor]:
        """Return rows with random masks whose sizes are those of the selector, shuffled between rows."""
        rows = self.rows()
        return rows, self._drawn(rows, self.random_masks)

    def own_and_shuffled(self) -> tuple[Tensor, Tensor]:
        """Return rows whose first half has its own masks and whose second half has those of other rows."""
        rows = self.rows()
        others = torch.where(self._place(rows) < 0.5, rows, self.rows())
        return rows, self.masks[others]

    def independent(self) -> tuple[Tensor, Tensor]:
        """Return rows with masks that do not depend on them.

        Half of the masks are those of other rows, a quarter random sets of the same sizes, an eighth shows each feature
        with probability one half, and an eighth shows everything.
        """
        rows = self.rows()
        return rows, self._independent(self.rows())

    def _independent(self, others: Tensor) -> Tensor:
        """Return masks of many kinds, including those of other rows. Shape: ``(members, rows)`` -> with features."""
        place = self._place(others)[:, :, None]
        shown = torch.where(place < 0.5, self.masks[others], self._drawn(others, self.random_masks))
        half = torch.rand(shown.shape, generator=self.generator, device=shown.device) < 0.5
        shown = torch.where(place < 0.75, shown, half.float())
        return torch.where(place < 0.875, shown, 1.0)

    def _place(self, rows: Tensor) -> Tensor:
        """Return the position of each row in its batch, from 0 to 1. Shape: as ``rows``."""
        return (torch.arange(rows.shape[1], device=rows.device) / rows.shape[1]).expand_as(rows)

    def _drawn(self, rows: Tensor, masks: Tensor) -> Tensor:
        return masks[torch.randint(len(masks), rows.shape, generator=self.generator, device=rows.device)]

    # -- held-out rows ----------------------------------------------------------------------------------------------

    def held_out_with(self, masks: Tensor) -> Pairs:
        """Return the held-out rows of each fold with these masks. Shape: ``masks (rows, features)``."""
        return [(rows, masks[rows]) for rows in self.held_out]

    def held_out_independent(self) -> Pairs:
        """Return the held-out rows with masks as those of ``independent``."""
        return [
            (rows, self._independent(others[None])[0])
            for rows, others in zip(self.held_out, self._shuffled(), strict=True)
        ]

    def held_out_own_and_shuffled(self) -> Pairs:
        """Return the held-out rows twice: with their own masks, and with those of other held-out rows."""
        pairs = zip(self.held_out, self._shuffled(), strict=True)
        return [(rows.repeat(2), self.masks[torch.cat((rows, others))]) for rows, others in pairs]

    def _shuffled(self) -> list[Tensor]:
        """Return the held-out rows of each fold in another order."""
        device = self.training.device
        orders = (torch.randperm(len(rows), generator=self.generator, device=device) for rows in self.held_out)
        return [rows[order] for rows, order in zip(self.held_out, orders, strict=True)]
