"""Deep knockoffs trained as the package of their authors trains them (Romano, Sesia and Candès, 2020)."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Self

import numpy as np
import torch
from torch import Tensor
from torch.nn.functional import prelu

from hideseek.engine.deep_knockoffs import DeepKnockoffs, halves, kernel, self_correlation
from hideseek.engine.device import training_threads
from hideseek.engine.draws import Stream, normal, step_keys, uniform
from hideseek.errors import TrainingError

__all__ = ["ReferenceKnockoffs", "moments_gap", "root_discrepancy"]

_EPOCHS, _BATCH_SIZE = 10, 1000
_LEARNING_RATE, _MOMENTUM = 0.01 / 25, 0.9
_WIDTH_PER_COLUMN, _HIDDEN_LAYERS, _SLOPE = 4, 6, 0.25
_SECOND_ORDER, _CORRELATION = 25.0, 0.5
_NORM_EPSILON = 1e-5
_ROWS_FOR_STATISTICS = 10_000


class ReferenceKnockoffs(DeepKnockoffs):
    """Deep knockoffs with the optimiser, the layers and the losses of the reference package.

    Ten epochs of stochastic gradient descent with momentum 0.9 at a rate of 0.01 / 25, where 25 is the largest weight
    of a loss; six hidden layers with batch normalisation and PReLU; the square root of the biased maximum mean
    discrepancy; the mean over columns of the squared distance from the target correlation. So few and small steps
    do not reach the target of 0.5: on Syn1 the correlation with the own column is 0.24, that of ``DeepKnockoffs`` 0.54.

    After training a PReLU unit is written as two ReLU units, so that the layers are used and stored as those of
    ``DeepKnockoffs``.
    """

    @classmethod
    def fit(cls, X: Tensor, seeds: Sequence[int], steps: int | None = None) -> Self:
        """Train one network per standardised table, see ``Knockoffs.fit``; ``steps`` overrides the number of steps."""
        trained = [_trained(table, int(seed), steps) for table, seed in zip(X, seeds, strict=True)]
        return cls(*(torch.stack(layer) for layer in zip(*trained, strict=True)))


def _trained(X: Tensor, seed: int, steps: int | None) -> list[Tensor]:
    """Train one network and return its layers, ready to use. Shape: ``X (columns, rows)``."""
    n_columns, n_rows = X.shape
    batch_size = max(4, min(_BATCH_SIZE, n_rows)) // 2 * 2
    per_epoch = max(1, n_rows // batch_size)
    steps = _EPOCHS * per_epoch if steps is None else steps
    n_epochs = -(-steps // per_epoch)
    keys = step_keys(np.array([seed]), Stream.KNOCKOFF, 0, 2 + n_epochs + 2 * steps).to(X.device)
    weights = _initial(n_columns, keys[0])
    optimiser = torch.optim.SGD(weights, lr=_LEARNING_RATE, momentum=_MOMENTUM)
    varies = (X.amax(dim=1) > X.amin(dim=1)).float()[:, None]
    covariance = torch.cov(X, correction=0).reshape(n_columns, n_columns)
    order = torch.arange(n_rows, device=X.device)
    with training_threads(X.device, batch_size):
        for step in range(steps):
            epoch, place = divmod(step, per_epoch)
            if place == 0:
                order = uniform(keys[2 + epoch], n_rows)[0].argsort()
            noise_key, swap_key = keys[2 + n_epochs + 2 * step : 4 + n_epochs + 2 * step]
            x = X[:, order[place * batch_size : (place + 1) * batch_size]]
            x_hat = varies * _outputs(weights, torch.cat((x, normal(noise_key, x.numel()).view(x.shape))))[0]
            swapped = uniform(swap_key, n_columns)[0] < 0.5
            gap = (self_correlation(x, x_hat) - _CORRELATION).square().mean()
            loss = root_discrepancy(x, x_hat, swapped) + _SECOND_ORDER * moments_gap(x, x_hat, covariance) + gap
            optimiser.zero_grad()
            torch.autograd.backward(loss)
            optimiser.step()
    with torch.no_grad():
        rows = X[:, :: max(1, n_rows // _ROWS_FOR_STATISTICS)]
        _, layers = _outputs(weights, torch.cat((rows, normal(keys[1], rows.numel()).view(rows.shape))))
        layers[-2:] = [layer * varies for layer in layers[-2:]]
    if not all(bool(torch.isfinite(layer).all()) for layer in layers):
        raise TrainingError("the deep knockoffs did not converge; look for extreme values in X")
    return layers


def _initial(n_columns: int, key: Tensor) -> list[Tensor]:
    """Return the weights before training: matrix, gain, shift and slope of each hidden layer, then matrix and bias."""
    sizes = [2 * n_columns, *[_WIDTH_PER_COLUMN * n_columns] * _HIDDEN_LAYERS, n_columns]
    shapes = [(b, a) for a, b in pairwise(sizes)]
    draws = (2 * uniform(key, sum(a * b for a, b in shapes) + n_columns)[0] - 1).float()
    *matrices, bias = draws.split_with_sizes([a * b for a, b in shapes] + [n_columns])
    weights: list[Tensor] = []
    for matrix, (outputs, inputs) in zip(matrices, shapes, strict=True):
        weights.append(matrix.view(outputs, inputs) / inputs**0.5)
        if len(weights) < 4 * _HIDDEN_LAYERS:
            gain = draws.new_ones(outputs, 1)
            weights += [gain, torch.zeros_like(gain), draws.new_full((1,), _SLOPE)]
    weights.append(bias[:, None] / sizes[-2] ** 0.5)
    return [weight.clone().requires_grad_() for weight in weights]


def _outputs(weights: Sequence[Tensor], x: Tensor) -> tuple[Tensor, list[Tensor]]:
    """Run the network with the moments of these rows; return its output, and layers of ReLU units that give the same.

    Shape: ``x (inputs, rows)`` -> ``(outputs, rows)``.
    """
    folded: list[Tensor] = []
    slope = x.new_zeros(1)
    for i in range(0, 4 * _HIDDEN_LAYERS, 4):
        matrix, gain, shift, own_slope = weights[i : i + 4]
        values = matrix @ x
        variance, mean = torch.var_mean(values, dim=1, keepdim=True, correction=0)
        scale = gain / (variance + _NORM_EPSILON).sqrt()
        x = prelu((values - mean) * scale + shift, own_slope)
        own, bias = matrix * scale, shift - mean * scale
        if i > 0:  # the units of the layer before are pairs there: PReLU(v) = ReLU(v) - slope ReLU(-v)
            own = torch.cat((own, -slope * own), dim=1)
        folded += [torch.cat((own, -own)), torch.cat((bias, -bias))]
        slope = own_slope
    matrix, bias = weights[-2:]
    return matrix @ x + bias, [*folded, torch.cat((matrix, -slope * matrix), dim=1), bias]


def root_discrepancy(x: Tensor, x_hat: Tensor, swapped: Tensor) -> Tensor:
    """Return the distances of (x, x_hat) to itself with all columns swapped and with some swapped, added.

    Each is the square root of the biased maximum mean discrepancy between one half of the rows and the other, swapped.
    Shape: ``x (columns, rows)``, ``x_hat`` likewise, ``swapped (columns,)`` bool -> ``()``.
    """
    first, second, all_swapped, some_swapped = halves(x, x_hat, swapped)
    within = kernel(first, first).mean() + kernel(second, second).mean()
    distances = [within - 2 * kernel(first, other).mean() for other in (all_swapped, some_swapped)]
    return torch.stack([distance.clamp(min=1e-12).sqrt() for distance in distances]).sum()


def moments_gap(x: Tensor, x_hat: Tensor, covariance: Tensor) -> Tensor:
    """Return the distance of x_hat's means and covariances from those of x, where ``covariance`` is of all rows.

    Shape: ``(columns, rows)`` twice, ``(columns, columns)`` -> ``()``.
    """
    own, theirs = x - x.mean(dim=1, keepdim=True), x_hat - x_hat.mean(dim=1, keepdim=True)
    of_knockoffs, between = theirs @ theirs.t() / x.shape[1], own @ theirs.t() / x.shape[1]
    off_diagonal = 1 - torch.eye(len(x), device=x.device)
    means = (x.mean(dim=1) - x_hat.mean(dim=1)).square().mean()
    gaps = (covariance - of_knockoffs).square().sum() + (off_diagonal * (covariance - between)).square().sum()
    return means + gaps / covariance.square().sum().clamp(min=1e-3)
