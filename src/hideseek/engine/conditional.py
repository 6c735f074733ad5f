"""Replacement by conditional draws: hidden features from p(X_hidden | x_shown), as in eq. 6.

A feature is shown where its mask is greater than 0.5. The replacement of a shown feature is drawn given the other shown
features. So x_hat_j has the same law just below and just above 0.5, and the gradient of the loss by the mask of a shown
feature is what hiding it would cost. The choice of the shown features itself is not differentiated.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable

import torch
from torch import Tensor

from hideseek.engine.draws import Draws, all_cells
from hideseek.engine.groups import Groups
from hideseek.engine.knockoffs import correlation
from hideseek.engine.per_table import PerTable

__all__ = ["SHOWN", "Conditional", "DiscreteConditional", "GaussianConditional", "inverse_of_shown"]

SHOWN = 0.5
"""A feature is shown where its mask is greater."""

_SAME = 1e-3
"""Standardised values that differ by less are the same one: rows are standardised on several devices."""

_MOST_SHARE = 1 - 1e-6
"""Of the agreeing rows: large noise rounds to a share of 1 in single precision, behind the last row."""


class Conditional(PerTable, ABC):
    """Base class: x_hat is a fixed function of the row, of its mask and of standard normal noise."""

    @abstractmethod
    def given(self, x: Tensor, mask: Tensor) -> Callable[[Tensor], Tensor]:
        """Return the function from noise to x_hat for these rows and masks.

        Shape: ``x`` and ``mask (members, columns, rows)``; ``noise``, as x or with one row for all -> as x.
        """

    @property
    @abstractmethod
    def n_cells(self) -> int:
        """Return how many numbers ``given`` needs for one row, for blocks of rows that fit into memory."""

    def draw(self, keys: Tensor, x: Tensor, draws: Draws | None = None) -> Tensor:
        """Draw the noise that ``given`` takes, of the shape of x; the other arguments are those of ``Replacement``."""
        _, columns, rows = x.shape
        noise = (draws or all_cells(keys, columns * rows)).normal(keys).view(len(x), -1, rows)
        # Where features have several columns, there are fewer cells, and one number for each row is enough.
        return noise if noise.shape[1] == columns else noise[:, :1].expand(x.shape)


class GaussianConditional(Conditional):
    """Draws from the conditional law of Gaussian rows that have the mean and the covariance of the table.

    By Matheron's rule: let w be a draw of a whole row and a = C_SS^-1 (x_S - w_S), for the shown features S. Then
    w_j + C_jS a is a draw of a hidden feature, and x_j - a_j / [C_SS^-1]_jj one of a shown feature given the others.
    The correlation is mixed with the identity where it is nearly singular, as for ``GaussianKnockoffs``. A constant
    column is replaced by its value.

    Args:
        mean: Shape: ``(tables, columns, 1)``.
        covariance: Shape: ``(tables, columns, columns)``. That of a constant column with itself is 1.
        root: A root of the covariance; 0 in the rows of constant columns. Shape: ``(tables, columns, columns)``.
    """

    def __init__(self, mean: Tensor, covariance: Tensor, root: Tensor) -> None:
        super().__init__(mean, covariance, root)

    @classmethod
    def fit(cls, X: Tensor) -> GaussianConditional:
        """Fit mean and covariance of each table, in double precision. Shape: ``X (tables, columns, rows)``."""
        laws = zip(*map(_law, X), strict=True)
        return cls(*(torch.stack(parts).to(X.device, torch.float32) for parts in laws))

    @property
    def n_cells(self) -> int:
        """See ``Conditional.n_cells``."""
        return self.tensors[1][0].numel()

    def given(self, x: Tensor, mask: Tensor) -> Callable[[Tensor], Tensor]:
        """See ``Conditional.given``."""
        mean, covariance, root = self.tensors
        is_shown = mask > SHOWN
        shown = is_shown.to(x.dtype)
        inverse = inverse_of_shown(covariance, shown)
        precision = inverse.diagonal(dim1=1, dim2=2).transpose(1, 2)

        def x_hat(noise: Tensor) -> Tensor:
            w = mean + root @ noise
            surprise, a = shown * (x - w), torch.zeros_like(x)
            for j in range(x.shape[1]):  # a product of each row's own matrix and vector, without a copy of the matrix
                a.addcmul_(inverse[:, :, j], surprise[:, j, None])
            return torch.where(is_shown, x - a / precision, w + covariance @ a)

        return x_hat


class DiscreteConditional(Conditional):
    """Draws from the training rows that agree with the row in all shown features, for tables of few distinct rows.

    The row itself is among them in training. To leave it out would reveal what is hidden: of two rows that agree, each
    would be replaced by the other. Where only one row agrees, all training rows are drawn from.

    Args:
        values: The distinct training rows. Shape: ``(tables, columns, distinct rows)``.
        counts: How many training rows are equal to each; 0 where a table has fewer than another. Shape: ``(tables,
            distinct rows)``.
        feature: The feature of each column. Shape: ``(tables, columns)``, int64.
    """

    def __init__(self, values: Tensor, counts: Tensor, feature: Tensor) -> None:
        super().__init__(values, counts, feature)
        numbers = feature[0].tolist()
        self._together = [[k for k, other in enumerate(numbers) if other == own] for own in numbers]

    @classmethod
    def fit(cls, X: Tensor, groups: Groups | None = None) -> DiscreteConditional:
        """Count the distinct rows of each table. Shape: ``X (tables, columns, rows)``."""
        found = [torch.unique(table, dim=1, return_counts=True) for table in X]
        n_distinct = max(len(counts) for _, counts in found)
        padding = [(0, n_distinct - len(counts)) for _, counts in found]
        pad = torch.nn.functional.pad
        values = torch.stack([pad(own, more) for (own, _), more in zip(found, padding, strict=True)])
        counts = torch.stack([pad(own.float(), more) for (_, own), more in zip(found, padding, strict=True)])
        feature = torch.arange(X.shape[1], device=X.device) if groups is None else groups.feature
        return cls(values, counts, feature.expand(len(X), -1))

    @property
    def n_cells(self) -> int:
        """See ``Conditional.n_cells``."""
        return self.tensors[1].shape[1]

    def given(self, x: Tensor, mask: Tensor) -> Callable[[Tensor], Tensor]:
        """See ``Conditional.given``."""
        values, counts, _ = self.tensors
        shown = mask > SHOWN
        n_different = x.new_zeros(len(x), x.shape[2], values.shape[2])  # shown columns that differ
        for j in range(x.shape[1]):
            n_different += self._differs(x, j) & shown[:, j, :, None]

        def x_hat(noise: Tensor) -> Tensor:
            share = torch.special.ndtr(noise[:, 0]).clamp(max=_MOST_SHARE).expand(len(x), x.shape[2])
            drawn = []
            for j in range(x.shape[1]):
                own = sum((self._differs(x, k) & shown[:, k, :, None]).float() for k in self._together[j])
                weight = counts[:, None] * (n_different == own)
                weight = torch.where(weight.sum(dim=2, keepdim=True) > 1, weight, counts[:, None])
                bounds = weight.cumsum(dim=2)
                pick = (bounds <= share[:, :, None] * bounds[:, :, -1:]).sum(dim=2)
                drawn.append(values[:, j].expand(len(x), -1).gather(1, pick))
            return torch.stack(drawn, dim=1)

        return x_hat

    def _differs(self, x: Tensor, j: int) -> Tensor:
        """Return where column j differs from the distinct rows. Shape: ``(members, rows, distinct rows)``, bool."""
        return (x[:, j, :, None] - self.tensors[0][:, j, None]).abs() > _SAME


def inverse_of_shown(covariance: Tensor, shown: Tensor) -> Tensor:
    """Return C_SS^-1 of every row's shown features S, with the identity for its hidden ones.

    Gauss-Jordan elimination for all rows at once. Each number is computed as for a single row, so that a member of a
    stack gets the same result as alone, and a CUDA graph can record it; ``torch.linalg.inv`` promises neither.

    Shape: ``covariance (members or 1, columns, columns)``, ``shown (members, columns, rows)``, 0 or 1 ->
    ``(members, columns, columns, rows)``.
    """
    matrix = (shown[:, :, None] * shown[:, None]).mul_(covariance[..., None])
    matrix.diagonal(dim1=1, dim2=2).add_((1 - shown).transpose(1, 2))
    for j in range(matrix.shape[1]):
        pivot = matrix[:, j, j, None].clone()
        row, column = matrix[:, j] / pivot, matrix[:, :, j].clone()
        matrix.addcmul_(column[:, :, None], row[:, None], value=-1)
        matrix[:, j], matrix[:, :, j] = row, -column / pivot
        matrix[:, j, j] = 1 / pivot[:, 0]
    return matrix


def _law(X: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """Return mean, covariance and root of one table, in double precision. Shape: ``X (columns, rows)``."""
    varies = X.amax(dim=1) > X.amin(dim=1)
    deviation, mean = torch.std_mean(X, dim=1, correction=0)
    unit = torch.where(varies, deviation, 1.0)[:, None]
    R = correlation((X - mean[:, None]) / unit)
    unit, varies = unit.cpu().double(), varies.cpu()
    root = torch.where(varies[:, None], unit * torch.linalg.cholesky(R), 0.0)
    covariance = unit * R * unit.t()
    return mean[:, None].cpu().double(), (covariance + covariance.t()) / 2, root
