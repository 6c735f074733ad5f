"""The largest values that the networks of a file can give, whatever row they are asked about."""

from __future__ import annotations

import torch

from hideseek.engine.networks import Mlp, split
from hideseek.engine.path import HALF_WIDTH
from hideseek.engine.replacement import KNOCKOFFS
from hideseek.persistence import Arrays

__all__ = ["largest_output"]


def largest_output(arrays: Arrays, hide: Mlp, seek: Mlp, replacement: str, farthest: float) -> float:
    """Return a bound on what Hide and Seek of an ensemble give; it is not finite where some layer could overflow.

    A network whose weights are all positive gives its largest output at its largest input, and no other signs of the
    weights give more. So it is enough to ask for that one output; once a layer overflows, all later ones do.

    Args:
        arrays: Those of the ensemble.
        hide: The shape of Hide.
        seek: The shape of Seek.
        replacement: How hidden values are drawn.
        farthest: The largest input.
    """
    sizes = {name: torch.from_numpy(arrays[name]).abs() for name in arrays if name.startswith("knockoffs.")}
    weights = torch.from_numpy(arrays["parameters"]).abs()
    own, others = weights[:, : hide.n_parameters], weights[:, hide.n_parameters :].reshape(-1, seek.n_parameters)
    x = torch.full((1, hide.sizes[0], 1), 2 * farthest)  # twice: room for rounding
    x_hat = torch.from_numpy(arrays["pool"]).abs().amax(dim=0)[None, :, None]
    if replacement in KNOCKOFFS:
        tensors = (sizes[f"knockoffs.{i}"] for i in range(len(sizes)))
        x_hat = KNOCKOFFS[replacement](*tensors).given(x)(x_hat)
    z = x + 2 * x_hat  # mixing takes their difference
    if seek.sizes[0] > hide.sizes[0]:  # Seek also sees where a price lies in its range
        z = torch.cat((z, torch.full((1, 1, 1), 2 * HALF_WIDTH)), dim=1)
    masks = hide.forward(split(own, hide.shapes), x.expand(len(own), -1, -1))
    outputs = seek.forward(split(others, seek.shapes), z.expand(len(others), -1, -1))
    return float(torch.cat((masks.flatten(), outputs.flatten())).max())
