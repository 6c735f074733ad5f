"""Features of several columns, which are shown, hidden and drawn together."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

__all__ = ["Groups"]


@dataclass(frozen=True)
class Groups:
    """The feature of each column, where some feature has several columns; None is used where each has one.

    Attributes:
        feature: The feature of each column. Shape: ``(columns,)``, int64.
        indicator: 1 where a column belongs to a feature. Shape: ``(features, columns)``.
    """

    feature: Tensor
    indicator: Tensor

    @classmethod
    def from_widths(cls, widths: Sequence[int] | None, device: torch.device | str = "cpu") -> Groups | None:
        """Return the groups of features with this many adjacent columns each; None if each feature has one column."""
        if widths is None or all(width == 1 for width in widths):
            return None
        feature = torch.repeat_interleave(torch.tensor(list(widths), device=device))
        numbers = torch.arange(len(widths), device=device)
        return cls(feature, (feature == numbers[:, None]).float())

    @property
    def n_features(self) -> int:
        """Return the number of features."""
        return len(self.indicator)

    def to_columns(self, values: Tensor, dim: int = 1, out: Tensor | None = None) -> Tensor:
        """Give each column the value of its feature. Shape: features along ``dim`` -> columns along ``dim``."""
        return torch.index_select(values, dim, self.feature, out=out)

    def sums(self, values: Tensor, out: Tensor) -> Tensor:
        """Sum the columns of each feature, in the same order on every run.

        Shape: ``(members, columns, rows)`` -> ``(members, features, rows)``.
        """
        return torch.bmm(self.indicator.to(values.dtype).expand(len(values), -1, -1), values, out=out)
