"""The networks of a described model, their weights as stacks of matrices."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray

from hideseek.engine.path import HALF_WIDTH, position_of

__all__ = ["Layers", "Networks"]

Layers = list[tuple[NDArray[np.float32], NDArray[np.float32]]]
"""Of each layer the matrices ``(networks, inputs, outputs)`` and biases ``(networks, 1, outputs)``."""


class Networks(NamedTuple):
    """The networks of all members at the price of the model.

    Attributes:
        hide: The layers of Hide.
        seek: Those of the Seeks, without the input u: it is part of the bias.
        u: Where the price lies in each member's range; None: there is no range. Shape: ``(members,)``.
    """

    hide: Layers
    seek: Layers
    u: NDArray[np.float32] | None

    @classmethod
    def of(cls, described: Mapping[str, Any]) -> Networks:
        """Gather the networks that a description has."""
        members, weights = described["members"], described["weights"]
        hide = _layers([member["hide"] for member in members], weights)
        seek = _layers([network for member in members for network in member["seeks"]], weights)
        if members[0]["range"] is None:
            return cls(hide, seek, None)
        u = position_of(described["price"], torch.tensor([member["range"] for member in members])).numpy()
        (matrix, bias), *others = seek
        seen = np.repeat(np.clip(u, -HALF_WIDTH, HALF_WIDTH), len(matrix) // len(members))
        return cls(hide, [(matrix[:, :-1], bias + matrix[:, -1:] * seen[:, None, None]), *others], u)


def _layers(networks: list[list[dict[str, int]]], weights: NDArray[np.float32]) -> Layers:
    layers = []
    for same in zip(*networks, strict=True):
        outputs, inputs = same[0]["outputs"], same[0]["inputs"]
        blocks = [weights[layer["start"] :][: outputs * (inputs + 1)] for layer in same]
        matrix = np.stack([block[:-outputs].reshape(outputs, inputs).T for block in blocks])
        layers.append((matrix, np.stack([block[-outputs:] for block in blocks])[:, None]))
    return layers
