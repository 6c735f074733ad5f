"""Seek's forward pass and gradients, by its weights and by its input."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor

from hideseek.engine.networks import Layer, Pass
from hideseek.engine.objective import PredictionLoss, row_sum

__all__ = ["CrossFittedSeeks", "Seek"]


class Seek:
    """One Seek per member, which learns from every row; Hide receives its gradient for every row.

    Args:
        sizes: As in ``Mlp``.
        like: A tensor with the type and device of the weights.
        row_loss: The prediction loss l, with its gradient.
        n_members: Number of members.
        n_rows: Rows of a call.
        batch_size: Rows of a whole batch.

    Attributes:
        z: Buffer for the mixed rows, to be filled before ``gradient``. Shape: ``(members, columns, rows)``.
        z_slope: Their gradient, filled by ``gradient``. Shape: ``(members, columns, rows)``.
    """

    def __init__(
        self,
        sizes: Sequence[int],
        like: Tensor,
        row_loss: PredictionLoss,
        n_members: int,
        n_rows: int,
        batch_size: int,
    ) -> None:
        self._row_loss, self._row_share = row_loss, 1 / batch_size
        self._pass = Pass(sizes, like, n_members, n_rows)
        self._with_ones = like.new_ones(n_members, sizes[0] + 1, n_rows)
        self.z = self._with_ones[:, :-1]
        self.z_slope = like.new_empty(n_members, sizes[0], n_rows)

    def gradient(self, layers: Sequence[Layer], target: Tensor, weight: Tensor | None, *, add: bool) -> Tensor:
        """Fill the layers' gradients and ``z_slope`` with those of the mean loss over a batch.

        Args:
            layers: The layers of the members' Seeks.
            target: Shape: ``(members, outputs, rows)``.
            weight: How much each row counts; None: all the same. Shape: ``(members, rows)``.
            add: Whether to add to the layers' gradients instead of replacing them.

        Returns:
            The sum of l over rows. Shape: ``(members, outputs)``.
        """
        loss, y_hat_slope = self._row_loss(self._pass.forward(layers, self._with_ones), target)
        slope = torch.mul(y_hat_slope, self._row_share, out=self._pass.slope)
        if weight is not None:
            slope *= weight[:, None]
        self._pass.backward(layers, self._with_ones, self.z_slope, add=add)
        return row_sum(loss, weight)


class CrossFittedSeeks:
    """Two Seeks per member: each learns from one half of the rows; Hide receives its gradient for the other half.

    A Seek memorises noise of the rows it learned from, and a Hide trained on these rows would show the features that
    carry this noise. A Seek that has not learned from a row can only use the general rule.

    The first half of a call's rows belongs to the first Seek. Both see all rows, their own half first. Arguments and
    attributes as in ``Seek``; the returned losses are those of the rows that a Seek has not learned from.
    """

    def __init__(
        self,
        sizes: Sequence[int],
        like: Tensor,
        row_loss: PredictionLoss,
        n_members: int,
        n_rows: int,
        batch_size: int,
    ) -> None:
        self._row_loss, self._row_share, self._half = row_loss, 1 / batch_size, n_rows // 2
        self._pass = Pass(sizes, like, 2 * n_members, n_rows, n_own=self._half)
        by_seek = like.new_ones(n_members, 2, sizes[0] + 1, n_rows)
        self._with_ones = by_seek.flatten(0, 1)
        self._own = self._with_ones[:, :, : self._half]
        self.z, self._turned_z = by_seek[:, 0, :-1], by_seek[:, 1, :-1]
        self._others_slope = like.new_empty(2 * n_members, sizes[0], self._half)
        self.z_slope = like.new_empty(n_members, sizes[0], n_rows)

    def gradient(self, layers: Sequence[Layer], target: Tensor, weight: Tensor | None, *, add: bool) -> Tensor:
        """See ``Seek.gradient``; ``layers`` are those of all Seeks, with a member's Seeks adjacent."""
        half = self._half
        _turn(self.z, half, self._turned_z)
        y_hat = self._pass.forward(layers, self._with_ones)
        loss, y_hat_slope = self._row_loss(y_hat, self._by_seek(target))
        slope = torch.mul(y_hat_slope, self._row_share, out=self._pass.slope)
        others_weight = None
        if weight is not None:
            by_seek = self._by_seek(weight[:, None])
            slope *= by_seek
            others_weight = by_seek[:, 0, half:]
        self._pass.backward(layers, self._own, self._others_slope, add=add)
        by_member = torch.unflatten(self._others_slope, 0, (-1, 2))
        self.z_slope[:, :, half:] = by_member[:, 0]
        self.z_slope[:, :, :half] = by_member[:, 1]
        return torch.unflatten(row_sum(loss[:, :, half:], others_weight), 0, (-1, 2)).sum(dim=1)

    def _by_seek(self, values: Tensor) -> Tensor:
        """Return the values for each Seek, its own half first.

        Shape: ``(members, n, rows)`` -> ``(members * 2, n, rows)``.
        """
        both = values.new_empty(len(values), 2, *values.shape[1:])
        both[:, 0] = values
        _turn(values, self._half, both[:, 1])
        return both.flatten(0, 1)


def _turn(values: Tensor, half: int, out: Tensor) -> None:
    """Copy the rows to ``out`` with the second half first."""
    out[:, :, :half] = values[:, :, half:]
    out[:, :, half:] = values[:, :, :half]
