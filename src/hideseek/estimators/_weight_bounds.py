"""The largest values that the networks of a file can give, whatever row they are asked about."""

from __future__ import annotations

import torch

from hideseek.engine.networks import Mlp, split
from hideseek.engine.path import HALF_WIDTH
from hideseek.engine.replacement import CONDITIONAL, KNOCKOFFS
from hideseek.persistence import Arrays

__all__ = ["largest_output"]

_LEAST_EIGENVALUE = 1e-4
"""Of a covariance; fits give at least ten times as much."""


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
    elif replacement == CONDITIONAL:
        x_hat = _largest_conditional(arrays, x, x_hat)
    z = x + 2 * x_hat  # mixing takes their difference
    if seek.sizes[0] > hide.sizes[0]:  # Seek also sees where a price lies in its range
        z = torch.cat((z, torch.full((1, 1, 1), 2 * HALF_WIDTH)), dim=1)
    masks = hide.forward(split(own, hide.shapes), x.expand(len(own), -1, -1))
    outputs = seek.forward(split(others, seek.shapes), z.expand(len(others), -1, -1))
    return float(torch.cat((masks.flatten(), outputs.flatten())).max())


def _largest_conditional(arrays: Arrays, x: torch.Tensor, noise: torch.Tensor) -> torch.Tensor:
    """Return a bound on what ``GaussianConditional`` draws; infinite where its covariance may not be invertible.

    The eigenvalues of the part of a covariance that belongs to shown columns lie between those of the whole.
    """
    mean, covariance, root = (torch.from_numpy(arrays[f"conditional.{i}"]).double() for i in range(3))
    is_sound = torch.equal(covariance, covariance.mT) and covariance.abs().max() < 1e6
    least = torch.linalg.eigvalsh(covariance[0])[0] if is_sound else torch.tensor(0.0)
    if least < _LEAST_EIGENVALUE:
        return torch.full_like(x, torch.inf)
    reach = x + mean.abs() + root.abs() @ noise.double()
    farthest = torch.linalg.vector_norm(reach) / least
    bound: torch.Tensor = reach + covariance.abs().sum(dim=2, keepdim=True) * farthest
    return bound.float()
