"""Masks and predictions of a trained ensemble, for any number of rows in bounded memory."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Self

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from hideseek.blocks import row_blocks
from hideseek.engine.conditional import Conditional
from hideseek.engine.cuts import Cuts
from hideseek.engine.device import for_each_block, to_host
from hideseek.engine.hideseek import masks, mix
from hideseek.engine.knockoffs import Knockoffs
from hideseek.engine.native import NativeAnswers, can_answer
from hideseek.engine.path import entry_log_prices, masks_of_best, position_of
from hideseek.engine.pools import neighbours_averaged
from hideseek.engine.scaling import Scaler
from hideseek.engine.stack import Stack

__all__ = ["FULL_ROWS", "Ensemble", "Kept", "Rows"]

Rows = NDArray[np.floating] | Tensor
"""Raw rows, ``(rows, columns)``; or a tensor of standardised ones, ``(rows, inputs)``."""

FULL_ROWS = 64
"""Batches are padded to a multiple of this. Vector units process the last few rows of a batch differently; without
padding a row's result would depend on the other rows."""

_BLOCK_CELLS = {"cpu": 2**19, "cuda": 2**24}
"""Cells of the widest layer, over all members, that one block of rows may fill."""

_NATIVE_CELLS = 2**15
"""Inputs of one block of rows for the compiled library, which keeps the values of layers in the cache."""


@dataclass(frozen=True)
class Kept:
    """The features that remain after screening.

    Attributes:
        features: Their numbers, in order.
        columns: The numbers of their columns, in order.
        n_features: Number of features before screening.
    """

    features: NDArray[np.intp]
    columns: NDArray[np.intp]
    n_features: int

    @classmethod
    def of(cls, features: NDArray[np.intp], widths: Sequence[int]) -> Kept:
        """Return the given features; ``widths`` is the number of columns of each feature before screening."""
        starts = np.cumsum([0, *widths])
        columns = [np.arange(starts[j], starts[j + 1]) for j in features]
        return cls(features, np.concatenate(columns), len(widths))


@dataclass(frozen=True)
class Ensemble:
    """Members trained on one table, whose masks and predictions are averaged.

    Attributes:
        stack: The trained members.
        visible: The features each member saw. Shape: ``(members, features)``, bool.
        pool: Replacement values for hidden features, or the noise from which ``knockoffs`` or ``conditional`` make
            them. Shape: ``(rows of the pool, inputs)``.
        scaler: Turns raw columns into inputs: each column standardised and moved away from its cuts, and its ramps.
        knockoffs: Makes replacement rows given the row; None: the pool's rows are the replacement rows.
        kept: The features that remain after screening; None: no screening. Scaler, pool and members are indexed by
            these; the masks of all other features are 0.
        price: Members trained on a range of prices: the price of showing one feature at which they answer.
        n_features: Number of features to select in each row, each row at its own price; None: ``price`` decides.
        threshold: A feature is selected if its mask is greater; used where ``n_features`` is given.
        conditional: Makes replacement rows given what is shown of the row; None: ``knockoffs`` or the pool do.
    """

    stack: Stack
    visible: Tensor
    pool: Tensor
    scaler: Scaler
    knockoffs: Knockoffs | None = None
    kept: Kept | None = None
    price: float | None = None
    n_features: int | None = None
    threshold: float = 0.5
    conditional: Conditional | None = None

    @property
    def draws_given_row(self) -> bool:
        """Return whether replacement rows depend on the row; the pool is then noise."""
        return self.knockoffs is not None or self.conditional is not None

    def members(self, index: NDArray[np.intp]) -> Self:
        """Return the ensemble of some of the members."""
        where = torch.from_numpy(index).to(self.visible.device)
        return replace(self, stack=self.stack.of(where), visible=self.visible[where])

    def with_pool(self, kind: str, n_rows: int) -> Self:
        """Return the same ensemble with a pool of that kind (one of ``POOLS``) and of at most ``n_rows`` rows.

        Noise contains no training values and is only shortened.
        """
        pool = self.pool
        if kind == "means" and not self.draws_given_row:
            columns = torch.from_numpy(neighbours_averaged(self.scaler.columns_of(pool).double().cpu().numpy()))
            pool = self.scaler.inputs(columns).to(pool.device, pool.dtype)
        return replace(self, pool=pool[:n_rows].clone())

    def with_cuts(self, cuts: Cuts) -> Self:
        """Return the same ensemble with values moved away from these cuts, also those of the pool."""
        scaler = replace(self.scaler, cuts=cuts)
        columns = scaler.columns_of(self.pool).double()
        return replace(self, scaler=scaler, pool=scaler.inputs(columns).to(self.pool.dtype))

    def masks(self, X: Rows) -> NDArray[np.float32]:
        """Return how much of each feature is shown: the mean mask over the members that see it; 0 where none does.

        Shape: ``X (rows, columns)``, raw -> ``(rows, features)``.
        """
        if self.n_features is not None or (native := self._native()) is None:
            return self.by_feature(X, lambda x, output: self.mean(self._masks(x, output)))
        u = self._position()
        return self._with_screened(self._answered(X, self.visible.shape[1], lambda x, _: native.masks(x, u)))

    def masks_of_members(self, X: Rows) -> NDArray[np.float32]:
        """Return the masks of each member; 0 where it does not see the feature.

        Shape: ``X (rows, columns)``, raw -> ``(members, rows, features)``, of the features that were kept.
        """
        out = np.empty((len(self.visible), len(X), self.visible.shape[1]), dtype=np.float32)
        hide_layers, _ = self.stack.layers()

        def job(rows: slice) -> None:
            with torch.inference_mode():
                x = self.standardised(X[rows])
                masks = self._masks(x, self.stack.hide.forward(hide_layers, x)) * self.visible[:, :, None]
                to_host(masks.transpose(1, 2)[:, : rows.stop - rows.start], out[:, rows])

        self._for_each_block(job, len(X))
        return out

    def entry_prices(self, X: Rows, threshold: float) -> NDArray[np.float32]:
        """Return the highest price at which each feature of each row is still selected.

        0 for features that were screened away. Shape: ``X (rows, columns)``, raw -> ``(rows, features)``.
        """
        if (native := self._native()) is None:
            return self.by_feature(X, lambda x, output: self._entry_log_prices(x, output, threshold).exp_())
        found = self._answered(X, self.visible.shape[1], lambda x, _: np.exp(native.entry_log_prices(x, threshold)))
        return self._with_screened(found)

    @property
    def price_range(self) -> Tensor:
        """Return the logarithms of the lowest and the highest price of each member. Shape: ``(members, 2)``."""
        if self.stack.price_range is None:
            raise ValueError("the members of this ensemble were trained at one price and have no price range")
        return self.stack.price_range

    def _masks(self, x: Tensor, output: Tensor) -> Tensor:
        """Return the members' masks, at ``price`` or for ``n_features`` selected features.

        Shape: as of ``by_feature``; the result ``(members, features, rows)``.
        """
        if self.n_features is None:
            u = self._position()
            return masks(output, None if u is None else u[:, None])
        entered = self._entry_log_prices(x, output, self.threshold)
        return masks_of_best(output, self.price_range, self.mean, self.threshold, self.n_features, entered)

    def _entry_log_prices(self, x: Tensor, output: Tensor, threshold: float) -> Tensor:
        """Return what ``path.entry_log_prices`` does. Shape: as of ``by_feature``."""
        if (native := self._native()) is None:
            return entry_log_prices(output, self.price_range, self.mean, threshold)
        return torch.from_numpy(native.entry_log_prices(x[0].t(), threshold)).t()

    def by_feature(self, X: Rows, of_output: Callable[[Tensor, Tensor], Tensor]) -> NDArray[np.float32]:
        """Return one number per row and feature, computed from Hide's output; 0 for features that were screened away.

        Shape: ``of_output``: ``x (members, inputs, rows)``, ``output (members, outputs, rows)`` ->
        ``(features, rows)``; ``X (rows, columns)``, raw -> ``(rows, features)``.
        """
        out = np.empty((len(X), self.visible.shape[1]), dtype=np.float32)
        hide_layers, _ = self.stack.layers()

        def job(rows: slice) -> None:
            with torch.inference_mode():
                x = self.standardised(X[rows])
                to_host(of_output(x, self.stack.hide.forward(hide_layers, x)).t()[: rows.stop - rows.start], out[rows])

        self._for_each_block(job, len(X))
        return self._with_screened(out)

    def _with_screened(self, values: NDArray[np.float32]) -> NDArray[np.float32]:
        """Return the values of all features, 0 for those that were screened away."""
        if self.kept is None:
            return values
        wide = np.zeros((len(values), self.kept.n_features), dtype=np.float32)
        wide[:, self.kept.features] = values
        return wide

    def _native(self) -> NativeAnswers | None:
        """Return what answers in place of torch, which it does several times as fast; None where it cannot."""
        return NativeAnswers(self.stack, self._share()) if can_answer(self.stack) else None

    def _answered(
        self, X: Rows, n_answers: int, answer: Callable[[Tensor, slice], NDArray[np.float32]]
    ) -> NDArray[np.float32]:
        """Return the answers to standardised rows, block by block. Shape: ``(rows, answers)``."""
        out = np.empty((len(X), n_answers), dtype=np.float32)
        n_inputs = self.pool.shape[1]

        def job(rows: slice) -> None:
            out[rows] = answer(self.inputs(X[rows]), rows)

        blocks = row_blocks(len(X), n_inputs, max(_NATIVE_CELLS, FULL_ROWS * n_inputs))
        for_each_block(job, blocks, self.pool.device)
        return out

    def _position(self) -> Tensor | None:
        """Return the position of the price in each member's range. Shape: ``(members,)``."""
        if self.stack.price_range is None or self.price is None:
            return None
        return position_of(self.price, self.stack.price_range)

    def mean(self, values: Tensor) -> Tensor:
        """Return the mean over the members that see the feature, in place.

        Shape: ``(..., members, features, rows)`` -> ``(..., features, rows)``.
        """
        return values.mul_(self._share()[:, :, None]).sum(dim=-3)

    def _share(self) -> Tensor:
        """Return how much each member counts in the mean. Shape: ``(members, features)``."""
        return self.visible.float() / self.visible.sum(dim=0).clamp(min=1)

    def outputs(
        self,
        X: Rows,
        n_draws: int,
        *,
        softmax: bool,
        threshold: float | None = None,
        hidden: NDArray[np.intp] | None = None,
        n_turns: int = 1,
    ) -> NDArray[np.float32]:
        """Return Seek's outputs for the mixed rows, averaged over all Seeks and over the first ``n_draws`` pool rows.

        Every row of X uses the same pool rows, so an answer does not depend on the other rows of X.

        Args:
            X: Raw rows. Shape: ``(rows, columns)``.
            n_draws: Number of pool rows.
            softmax: Whether to average probabilities instead of logits.
            threshold: Predict from the selected features: every member sees the features whose mean mask is greater,
                unmixed, and nothing of the others. None: each member sees the row mixed by its own mask.
            hidden: For each row, the number of one more feature to hide from every member; -1: none. Shape:
                ``(rows,)``.
            n_turns: 1: all Seeks predict for each draw. n > 1: the Seeks form n groups, and each draw uses the next
                group in turn; this is less work for nearly the same mean. Needs a threshold, with which all Seeks see
                the same rows.

        Shape: ``(rows, columns)`` -> ``(rows, outputs)``.
        """
        draws, also_hidden = self.pool[:n_draws], None if hidden is None else self._positions(hidden)
        is_plain = self.n_features is None and not self.draws_given_row
        if threshold is None or not is_plain or (native := self._native()) is None:
            return self._outputs_by_torch(X, draws, also_hidden, softmax=softmax, threshold=threshold, n_turns=n_turns)

        u = self._position()

        def answer(x: Tensor, rows: slice) -> NDArray[np.float32]:
            shown = native.masks(x, u) > threshold
            if also_hidden is not None:
                _hide(torch.from_numpy(shown).t()[None], also_hidden[rows])
            return native.outputs(x, shown, draws, u, softmax=softmax, n_turns=n_turns)

        return self._answered(X, self.stack.seek.sizes[-1], answer)

    def _outputs_by_torch(
        self,
        X: Rows,
        draws: Tensor,
        also_hidden: NDArray[np.intp] | None,
        *,
        softmax: bool,
        threshold: float | None,
        n_turns: int,
    ) -> NDArray[np.float32]:
        """Return what ``outputs`` does. Shape: ``draws (draws, inputs)``, ``also_hidden (rows,)``."""
        out = np.empty((len(X), self.stack.seek.sizes[-1]), dtype=np.float32)
        (hide_layers, _), seek_layers = self.stack.layers(), self.stack.seek_at(self._position())
        turns = [[part[turn::n_turns] for part in seek_layers] for turn in range(n_turns)]

        def job(rows: slice) -> None:
            with torch.inference_mode():
                x = self.standardised(X[rows])
                mask = self._shown(self._masks(x, self.stack.hide.forward(hide_layers, x)), threshold)
                if also_hidden is not None:
                    _hide(mask, also_hidden[rows])
                x, mask = x[: len(mask)], self.stack.by_column(mask)
                total, count = torch.zeros((), device=x.device), 0
                given_x = self._given(x, mask)
                at_once = self._draws_at_once(x.shape[2]) if given_x is None and n_turns == 1 else 1
                for start in range(0, len(draws), at_once):
                    rows_drawn = draws[start : start + at_once]
                    x_hat = rows_drawn.t()[None, :, :, None]
                    if given_x is not None:
                        x_hat = given_x(rows_drawn[:, :, None])[:, :, None]
                    z = mix(mask[:, :, None], x[:, :, None], x_hat).flatten(2)
                    output = self.stack.seek_outputs(turns[start % n_turns], z)
                    output = torch.unflatten(output.softmax(dim=1) if softmax else output, 2, (len(rows_drawn), -1))
                    total = total + output.sum(dim=(0, 2))
                    count += len(output) * len(rows_drawn)
                to_host((total / count).t()[: rows.stop - rows.start], out[rows])

        self._for_each_block(job, len(X))
        return out

    def _given(self, x: Tensor, mask: Tensor) -> Callable[[Tensor], Tensor] | None:
        """Return the function from noise to replacement rows; None: the pool has these."""
        if self.conditional is not None:
            return self.conditional.given(x, mask)
        return None if self.knockoffs is None else self.knockoffs.given(x[:1])

    def _shown(self, mask: Tensor, threshold: float | None) -> Tensor:
        """Return how much of each feature the Seeks see: the selected features entirely, or each member's mask.

        Shape: ``(members, features, rows)`` -> ``(1, features, rows)``, or as it came without a threshold.
        """
        return mask if threshold is None else (self.mean(mask) > threshold).float()[None]

    def _positions(self, features: NDArray[np.intp]) -> NDArray[np.intp]:
        """Return the positions of these features among those that remain after screening; -1: screened away."""
        if self.kept is None:
            return features
        place = np.full(self.kept.n_features + 1, -1)  # the last entry is the one that -1 indexes
        place[self.kept.features] = np.arange(len(self.kept.features))
        return place[features]

    def standardised(self, X: Rows) -> Tensor:
        """Return the standardised rows, padded with zeros to a multiple of ``FULL_ROWS`` (see there).

        Shape: ``X``, as ``inputs`` takes it -> ``(members, inputs, padded rows)``.
        """
        x = torch.zeros(self.pool.shape[1], len(X) + -len(X) % FULL_ROWS, device=self.pool.device)
        x[:, : len(X)] = self.inputs(X).t()
        return x.expand(len(self.visible), -1, -1)

    def inputs(self, X: Rows) -> Tensor:
        """Return the standardised rows; a tensor is one of standardised rows already.

        Shape: ``X (rows, columns)``, raw -> ``(rows, inputs)``.
        """
        if isinstance(X, Tensor):
            return X
        return self.scaler.transform_on(self.pool.device, X if self.kept is None else X[:, self.kept.columns])

    def _draws_at_once(self, n_rows: int) -> int:
        """Return for how many draws Seek is called at once: on a GPU, whose calls cost more than small products."""
        if self.pool.device.type != "cuda":
            return 1
        cells = n_rows * len(self.visible) * self.stack.n_seeks * max(self.stack.seek.sizes)
        return max(1, _BLOCK_CELLS["cuda"] // cells)

    def _for_each_block(self, job: Callable[[slice], None], n_rows: int) -> None:
        device = self.pool.device
        widest = self.stack.n_seeks * max(*self.stack.hide.sizes, *self.stack.seek.sizes)
        if self.conditional is not None:
            widest = max(widest, self.conditional.n_cells)
        for_each_block(job, row_blocks(n_rows, len(self.visible) * widest, _BLOCK_CELLS[device.type]), device)


def _hide(mask: Tensor, features: NDArray[np.intp]) -> None:
    """Set the mask of one feature of each row to 0, in place; -1: none. Shape: ``(members, features, rows)``."""
    rows = np.flatnonzero(features >= 0)
    mask[:, torch.from_numpy(features[rows]).to(mask.device), torch.from_numpy(rows).to(mask.device)] = 0.0
