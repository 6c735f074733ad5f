"""Hide and Seek together: the loss of eq. 12 for a whole stack, and its gradient."""

from __future__ import annotations

import torch
from torch import Tensor

from hideseek.engine.networks import Pass, split
from hideseek.engine.objective import PredictionLoss, row_mean
from hideseek.engine.stack import Batch, Stack

__all__ = ["HideSeek", "mix"]


def mix(mask: Tensor, x: Tensor, x_hat: Tensor) -> Tensor:
    """Show a share of each feature and draw the rest anew: z = m * x + (1 - m) * x_hat (eq. 4)."""
    return torch.lerp(x_hat, x, mask)


class HideSeek:
    """m = Hide(x), z = m * x + (1 - m) * x_hat, y_hat = Seek(z); a row's loss is l(y_hat, y) + price * ||m||_1.

    Args:
        stack: The members; their weights are read anew at every call.
        row_loss: l, with its gradient.
        price: lambda_max / d of each member. Shape: ``(members,)``.
        visible: 1 where a member sees a column. Shape: ``(members, columns)``, float.
        n_rows: Rows of the batches that ``step`` is called with.
    """

    def __init__(self, stack: Stack, row_loss: PredictionLoss, price: Tensor, visible: Tensor, n_rows: int) -> None:
        self._stack, self._row_loss, self._visible = stack, row_loss, visible
        self._price = (price[:, None] * visible)[:, :, None]
        self.gradient = torch.empty_like(stack.parameters)
        (hide, seek), n_hide = stack.layers(), len(stack.hide.shapes)
        views = split(self.gradient, stack.hide.shapes + stack.seek.shapes)
        self._hide, self._seek = Pass(hide, views[:n_hide], n_rows), Pass(seek, views[n_hide:], n_rows)
        self._shown, self._z, self._z_slope = self._hide.slope.new_empty(3, *self._hide.slope.shape)

    def losses(self, batch: Batch, x_hat: Tensor) -> tuple[Tensor, Tensor]:
        """The prediction loss, and ||m||_1 over the columns a member sees, both as means over rows.

        Shape: ``x_hat (members, columns, rows)`` -> ``(members,)`` each.
        """
        x, target, weight = batch
        hide, seek = self._stack.layers()
        mask = torch.sigmoid_(self._stack.hide.forward(hide, x))
        loss, _ = self._row_loss(self._stack.seek.forward(seek, mix(mask, x, x_hat)), target)
        return row_mean(loss, weight), self._mask_sum(mask, weight)

    def step(self, batch: Batch, x_hat: Tensor, share: float) -> tuple[Tensor, Tensor]:
        """As ``losses``, and leaves the gradient of loss + share * price * ||m||_1 in ``gradient``."""
        x, target, weight = batch
        mask = torch.sigmoid_(self._hide.forward(x))
        torch.sub(x, x_hat, out=self._shown)
        y_hat = self._seek.forward(torch.addcmul(x_hat, mask, self._shown, out=self._z))
        loss, y_hat_slope = self._row_loss(y_hat, target)

        row_share = 1.0 / x.shape[2] if weight is None else weight[:, None] / x.shape[2]
        torch.mul(y_hat_slope, row_share, out=self._seek.slope)
        self._seek.backward(self._z_slope)
        mask_slope = torch.mul(self._z_slope, self._shown, out=self._hide.slope)
        mask_slope += share * self._price * row_share
        torch.ops.aten.sigmoid_backward.grad_input(mask_slope, mask, grad_input=mask_slope)
        self._hide.backward()
        return row_mean(loss, weight), self._mask_sum(mask, weight)

    def _mask_sum(self, mask: Tensor, weight: Tensor | None) -> Tensor:
        return (row_mean(mask, weight) * self._visible).sum(dim=1)
