"""Tensors that were fitted to each table of a stack."""

from __future__ import annotations

from typing import Self

import torch
from torch import Tensor

__all__ = ["PerTable"]


class PerTable:
    """Base class of replacements that are fitted to tables.

    Args:
        *tensors: The learned parameters. The first axis is the table or the member; one entry serves all.
    """

    def __init__(self, *tensors: Tensor) -> None:
        self.tensors = tensors

    def of(self, table: Tensor) -> Self:
        """Return the replacement of each member, given the member's table. Shape: ``table (members,)``, int64."""
        return self if len(self.tensors[0]) == 1 else type(self)(*(tensor[table] for tensor in self.tensors))

    def to(self, device: torch.device) -> Self:
        """Return the same on another device."""
        return type(self)(*(tensor.to(device) for tensor in self.tensors))

    def part(self, members: slice) -> Self:
        """See ``Replacement.part``."""
        return self if len(self.tensors[0]) == 1 else type(self)(*(tensor[members] for tensor in self.tensors))
