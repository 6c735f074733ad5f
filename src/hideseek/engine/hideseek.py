"""Hide and Seek together: the loss of eq. 12 for a whole stack, and its gradient."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import torch
from torch import Tensor

from hideseek.engine.conditional import Conditional
from hideseek.engine.networks import Layer, Pass
from hideseek.engine.objective import PredictionLoss, row_mean, row_sum
from hideseek.engine.path import FARTHEST_LOGIT, ab_slopes, logits_at, mask_at
from hideseek.engine.seek import CrossFittedSeeks, Seek
from hideseek.engine.stack import Batch, Stack

__all__ = ["HideSeek", "Rows", "masks", "mix", "prediction_loss"]


def mix(mask: Tensor, x: Tensor, x_hat: Tensor) -> Tensor:
    """Return z = m * x + (1 - m) * x_hat (eq. 4): each feature mixed with its replacement."""
    return torch.lerp(x_hat, x, mask)


def masks(output: Tensor, u: Tensor | None) -> Tensor:
    """Return the masks for Hide's output, at position u in the price range if there is one.

    Shape: ``output (members, features or twice as many, rows)``, ``u (members, 1 or rows)`` ->
    ``(members, features, rows)``.
    """
    return torch.sigmoid_(output) if u is None else mask_at(output, u)


def prediction_loss(
    stack: Stack, row_loss: PredictionLoss, batch: Batch, x_hat: Tensor, conditional: Conditional | None = None
) -> Tensor:
    """Return l(Seek(z), y) averaged over rows and over the Seeks of a member; at the middle of a price range.

    With ``conditional``, ``x_hat`` is the noise that it draws from. Shape: ``x_hat (members, columns, rows)`` ->
    ``(members,)``.
    """
    x, target, weight = batch
    hide, _ = stack.layers()
    u = None if stack.price_range is None else x.new_zeros(len(x))
    mask = stack.by_column(masks(stack.hide.forward(hide, x), None if u is None else u[:, None]))
    if conditional is not None:
        x_hat = conditional.given(x, mask)(x_hat)
    output = stack.seek_outputs(stack.seek_at(u), mix(mask, x, x_hat))
    loss, _ = row_loss(output, target.repeat_interleave(stack.n_seeks, dim=0))
    loss = torch.unflatten(loss, 0, (-1, stack.n_seeks)).mean(dim=1)
    return row_mean(loss, weight).sum(dim=1)


class Rows(NamedTuple):
    """The rows of a step, with everything that the gradient needs.

    Attributes:
        x: Inputs, followed by a row of ones. Shape: ``(members, columns + 1, rows)``.
        x_hat: The replacement of x. Shape: ``(members, columns, rows)``.
        shown: x - x_hat. Shape: ``(members, columns, rows)``.
        target: Shape: ``(members, outputs, rows)``.
        weight: How much each row counts; None: all the same. Shape: ``(members, rows)``.
        price: Price of showing one feature of one row at this step, divided by the size of the whole batch, of which
            these rows may be a part. Shape: ``(members, features, 1)``, or ``(members, features, rows)`` where each row
            has its own.
        u: The position of each row's price in the range of prices; None: there is no range. Shape: ``(members, rows)``.
        selected: The features that are shown, 0 or 1, where only Seek learns; None: Hide decides. Shape:
            ``(members, features, rows)``.
        conditional: Draws the replacement of x once the mask is known; ``x_hat`` is the noise that it draws from, and
            ``shown`` is not used. None: ``x_hat`` is the replacement.
    """

    x: Tensor
    x_hat: Tensor
    shown: Tensor
    target: Tensor
    weight: Tensor | None
    price: Tensor
    u: Tensor | None = None
    selected: Tensor | None = None
    conditional: Conditional | None = None


class HideSeek:
    """m = Hide(x), z = m * x + (1 - m) * x_hat, y_hat = Seek(z); a row's loss is l(y_hat, y) + price * ||m||_1.

    With a range of prices the square of what the logit of a mask exceeds ``FARTHEST_LOGIT`` by is added, times half of
    ``pull``.

    Args:
        stack: Gives the shapes of the networks.
        row_loss: The prediction loss l, with its gradient.
        n_members: Number of members.
        n_rows: Number of rows in each call of ``gradient``.
        batch_size: Rows of a whole batch.
        pull: How strongly logits are pulled back.
    """

    def __init__(
        self,
        stack: Stack,
        row_loss: PredictionLoss,
        n_members: int,
        n_rows: int,
        batch_size: int,
        pull: float = 0.0,
    ) -> None:
        like = stack.parameters
        self._hide = Pass(stack.hide.sizes, like, n_members, n_rows)
        kind = Seek if stack.n_seeks == 1 else CrossFittedSeeks
        self._seek = kind(stack.seek.sizes, like, row_loss, n_members, n_rows, batch_size)
        n_columns = stack.hide.sizes[0]
        self._groups, self._pull = stack.groups, pull / batch_size
        self._z, self._z_slope = self._seek.z[:, :n_columns], self._seek.z_slope[:, :n_columns]
        self._by_column = None if stack.groups is None else torch.empty_like(self._z_slope)
        n_features = n_columns if stack.groups is None else stack.groups.n_features
        self._mask_slope = self._hide.slope
        if stack.price_range is not None:
            self._mask_slope = like.new_empty(n_members, n_features, n_rows)

    def gradient(
        self, hide: Sequence[Layer], seek: Sequence[Layer], rows: Rows, *, add: bool = False
    ) -> tuple[Tensor, Tensor]:
        """Fill the layers' gradients with these rows' share of the gradient of the mean batch loss, or add it.

        Returns:
            The sums over rows of l and of m. Shape: ``(members, outputs)``, ``(members, features)``.
        """
        x, x_hat, shown, target, weight, price, u, selected, conditional = rows
        if selected is not None:
            torch.addcmul(x_hat, self._to_columns(selected), shown, out=self._z)
            return self._seek.gradient(seek, target, weight, add=add), row_sum(selected, weight)
        output = self._hide.forward(hide, x)
        logits = None if u is None else logits_at(output, u)
        mask = torch.sigmoid_(output) if logits is None else torch.sigmoid(logits)
        by_column = self._to_columns(mask)
        if conditional is not None:
            x_hat = conditional.given(x[:, :-1], by_column)(x_hat)
            shown = x[:, :-1] - x_hat
        torch.addcmul(x_hat, by_column, shown, out=self._z)
        if u is not None:
            self._seek.z[:, -1] = u
        loss_sum = self._seek.gradient(seek, target, weight, add=add)
        mask_slope = self._by_mask(shown)
        mask_slope += price if weight is None else price * weight[:, None]
        torch.ops.aten.sigmoid_backward.grad_input(mask_slope, mask, grad_input=mask_slope)
        if u is not None and logits is not None:
            if self._pull:
                excess = (logits - FARTHEST_LOGIT).clamp_(min=0).mul_(self._pull)
                mask_slope += excess if weight is None else excess.mul_(weight[:, None])
            ab_slopes(mask_slope, output, u, out=self._hide.slope)
        self._hide.backward(hide, x, add=add)
        return loss_sum, row_sum(mask, weight)

    def _to_columns(self, mask: Tensor) -> Tensor:
        """Return the mask of each column. Shape: ``(members, features, rows)`` -> ``(members, columns, rows)``."""
        return mask if self._groups is None else self._groups.to_columns(mask, out=self._by_column)

    def _by_mask(self, shown: Tensor) -> Tensor:
        """Return the gradient of the prediction loss by the mask, computed from that by z."""
        if self._groups is None:
            return torch.mul(self._z_slope, shown, out=self._mask_slope)
        return self._groups.sums(self._z_slope.mul_(shown), out=self._mask_slope)
