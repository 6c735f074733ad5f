"""Columns that are one feature: shown together, hidden together, drawn together."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

__all__ = ["Groups"]


@dataclass(frozen=True)
class Groups:
    """Which feature each column belongs to, where some feature has more than one; None stands for one column each.

    Attributes:
        feature: The feature of each column. Shape: ``(columns,)``, int64.
        indicator: 1 where a column belongs to a feature. Shape: ``(features, columns)``.
    """

    feature: Tensor
    indicator: Tensor

    @classmethod
    def from_widths(cls, widths: Sequence[int] | None, device: torch.device | str = "cpu") -> Groups | None:
        """Features of so many columns each, side by side; None where each has one column."""
        if widths is None or all(width == 1 for width in widths):
            return None
        feature = torch.repeat_interleave(torch.tensor(list(widths), device=device))
        numbers = torch.arange(len(widths), device=device)
        return cls(feature, (feature == numbers[:, None]).float())

    @property
    def n_features(self) -> int:
        """Features, of one column or more."""
        return len(self.indicator)

    def to_columns(self, values: Tensor, dim: int = 1, out: Tensor | None = None) -> Tensor:
        """Give each column what belongs to its feature. Shape: features along ``dim`` -> columns along ``dim``."""
        return torch.index_select(values, dim, self.feature, out=out)

    def sums(self, values: Tensor, out: Tensor) -> Tensor:
        """Add up the columns of each feature, in an order that is the same on every run.

        Shape: ``(members, columns, rows)`` -> ``(members, features, rows)``.
        """
        return torch.bmm(self.indicator.to(values.dtype).expand(len(values), -1, -1), values, out=out)
