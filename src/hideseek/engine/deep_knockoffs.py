"""Knockoffs from a trained network (Romano, Sesia and Candès, 2020, "Deep knockoffs"), and quality measures."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import ClassVar, Self

import numpy as np
import torch
from torch import Tensor

from hideseek.engine.adam import Adam
from hideseek.engine.device import training_threads
from hideseek.engine.draws import Stream, integers, normal, step_keys, uniform
from hideseek.engine.knockoffs import Knockoffs
from hideseek.engine.networks import Mlp, split
from hideseek.errors import TrainingError

__all__ = [
    "DeepKnockoffs",
    "Diagnostics",
    "decorrelation",
    "diagnostics",
    "discrepancy",
    "kernel",
    "second_order",
    "self_correlation",
]

_EPOCHS, _BATCH_SIZE, _LEARNING_RATE = 10, 1000, 0.01
_WIDTH_PER_COLUMN, _HIDDEN_LAYERS = 4, 2
_SECOND_ORDER = 25.0
_KERNEL_WIDTHS, _LARGEST_WIDTH = 6, 32.0
_LEAST_STEPS, _ROWS_FOR_STATISTICS = 100, 10_000
_EPSILON = 1e-3


class DeepKnockoffs(Knockoffs):
    """x_hat = f(x, noise), where f is a network trained so that (x, x_hat) keeps its distribution under swaps.

    As published: 10 epochs of batches of 1,000 rows, learning rate 0.01, hidden layers four times as wide as the
    table; the loss is ``discrepancy`` + 25 ``second_order`` + ``decorrelation`` from a correlation of 0.5.

    Chosen here: two hidden layers, which reach the discrepancy of six with a third of the weights; ReLU after
    batch normalisation, without a gain, since the next layer can scale as well; Adam; batches drawn with replacement;
    at least 100 steps, the number the published setting takes at 10,000 rows, so that the network
    is trained on small tables too. After training the normalisation is folded into the weights, with the statistics of
    about 10,000 rows, so that a knockoff depends on its row and noise alone. A constant column becomes 0.

    Args:
        *layers: Matrix and bias of each layer in turn. Shape: ``(tables, outputs, inputs)``, ``(tables, outputs, 1)``.
    """

    target_correlation: ClassVar[float] = 0.5

    @classmethod
    def fit(cls, X: Tensor, seeds: Sequence[int], steps: int | None = None) -> Self:
        """Train one network per standardised table, see ``Knockoffs.fit``; ``steps`` overrides the number of steps."""
        tables = zip(X, seeds, strict=True)
        trained = [_trained(table, int(seed), steps, cls.target_correlation) for table, seed in tables]
        return cls(*(torch.stack(layer) for layer in zip(*trained, strict=True)))

    def given(self, x: Tensor) -> Callable[[Tensor], Tensor]:
        """See ``Knockoffs.given``."""
        columns = x.shape[-2]
        first, bias, *rest = self.tensors
        known = first[..., :columns] @ x + bias

        def x_hat(noise: Tensor) -> Tensor:
            values = known + first[..., columns:] @ noise
            for matrix, bias in zip(rest[0::2], rest[1::2], strict=True):
                values = matrix @ torch.relu_(values) + bias
            return values

        return x_hat


def _trained(X: Tensor, seed: int, steps: int | None, target_correlation: float) -> list[Tensor]:
    """Train one network and return its layers, ready to use. Shape: ``X (columns, rows)``."""
    n_columns, n_rows = X.shape
    batch_size = max(4, min(_BATCH_SIZE, n_rows))  # the discrepancy needs two halves of two rows
    steps = max(_LEAST_STEPS, -(-_EPOCHS * n_rows // batch_size)) if steps is None else steps
    network = Mlp((2 * n_columns, *[_WIDTH_PER_COLUMN * n_columns] * _HIDDEN_LAYERS, n_columns))
    keys = step_keys(np.array([seed]), Stream.KNOCKOFF, 0, 2 + 3 * steps)
    start, _ = network.init(uniform(keys[0], network.n_parameters), torch.ones(1, 2 * n_columns, dtype=torch.bool))
    keys, parameters = keys.to(X.device), start.float().to(X.device).requires_grad_()
    varies = (X.amax(dim=1) > X.amin(dim=1)).float()[:, None]
    optimiser = Adam(parameters, _LEARNING_RATE)

    def outputs(x: Tensor, key: Tensor) -> tuple[Tensor, list[Tensor]]:
        noise = normal(key, x.numel()).view(x.shape)
        layers = [layer[0] for layer in split(parameters, network.shapes)]
        layers[-2:] = [layer * varies for layer in layers[-2:]]
        return _normalised(layers, torch.cat((x, noise)))

    with training_threads(X.device, batch_size):
        for step in range(steps):
            row_key, noise_key, swap_key = keys[2 + 3 * step : 5 + 3 * step]
            x = X[:, integers(row_key, batch_size, n_rows)[0]]
            x_hat, _ = outputs(x, noise_key)
            swapped = uniform(swap_key, n_columns)[0] < 0.5
            loss = discrepancy(x, x_hat, swapped) + _SECOND_ORDER * second_order(x, x_hat)
            loss = loss + decorrelation(x, x_hat, target_correlation)
            optimiser.step(torch.autograd.grad(loss, parameters)[0])
    with torch.no_grad():
        _, layers = outputs(X[:, :: max(1, n_rows // _ROWS_FOR_STATISTICS)], keys[1])
    if not all(bool(torch.isfinite(layer).all()) for layer in layers):
        raise TrainingError("the deep knockoffs did not converge; look for extreme values in X")
    return [layer.detach() for layer in layers]


def _normalised(layers: Sequence[Tensor], x: Tensor) -> tuple[Tensor, list[Tensor]]:
    """Run the network with batch-normalised hidden layers; return the output and layers with the statistics folded in.

    Shape: ``x (inputs, rows)`` -> ``(outputs, rows)``, and as ``layers``.
    """
    folded = []
    for matrix, bias in zip(layers[:-2:2], layers[1:-2:2], strict=True):
        values = matrix @ x
        deviation, mean = torch.std_mean(values, dim=1, keepdim=True, correction=0)
        scale = 1 / (deviation + _EPSILON)
        folded += [matrix * scale, bias - mean * scale]
        x = torch.relu((values - mean) * scale + bias)
    return layers[-2] @ x + layers[-1], [*folded, *layers[-2:]]


def halves(x: Tensor, x_hat: Tensor, swapped: Tensor) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """Return one half of the rows of (x, x_hat), and the other: as it is, with all columns swapped, with some swapped.

    Shape: ``x (columns, rows)``, ``x_hat`` likewise, ``swapped (columns,)`` bool -> ``(2 * columns, rows / 2)`` each.
    """
    half = x.shape[1] // 2
    both = torch.cat((x, x_hat))
    first, second = both[:, :half], both[:, half : 2 * half]
    all_swapped = second.roll(len(x), dims=0)
    return first, second, all_swapped, torch.where(swapped.repeat(2)[:, None], all_swapped, second)


def discrepancy(x: Tensor, x_hat: Tensor, swapped: Tensor) -> Tensor:
    """Return the distance of (x, x_hat) to itself with all columns swapped plus that with some columns swapped.

    Both are maximum mean discrepancies between one half of the rows and the other half, swapped. The estimate is
    unbiased, so it can be negative.
    Shape: ``x (columns, rows)``, ``x_hat`` likewise, ``swapped (columns,)`` bool -> ``()``.
    """
    half = x.shape[1] // 2
    first, second, all_swapped, some_swapped = halves(x, x_hat, swapped)
    # A swap changes no distance within a half, so the kernels within a half serve both comparisons.
    within = sum((kernel(rows, rows).sum() - half) / (half * (half - 1)) for rows in (first, second))
    return 2 * (within - kernel(first, all_swapped).mean() - kernel(first, some_swapped).mean())


def kernel(a: Tensor, b: Tensor) -> Tensor:
    """Return the mean of Gaussian kernels of widths 1, 2, 4, 8, 16, 32.

    Shape: ``(features, n)``, ``(features, m)`` -> n, m.
    """
    squares = a.square().sum(dim=0)[:, None] + b.square().sum(dim=0) - 2 * a.t() @ b
    kernel = torch.exp(squares.clamp(min=0.0) / (-2 * _LARGEST_WIDTH**2))
    total = kernel
    for _ in range(_KERNEL_WIDTHS - 1):
        kernel = kernel.square().square()  # half the width is the fourth power
        total = total + kernel
    return total / _KERNEL_WIDTHS


def _covariances(x: Tensor, x_hat: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """Return the covariances of x, of x_hat, and between both. Shape: ``(columns, rows)`` -> ``(columns, columns)``."""
    x, x_hat = x - x.mean(dim=1, keepdim=True), x_hat - x_hat.mean(dim=1, keepdim=True)
    return x @ x.t() / x.shape[1], x_hat @ x_hat.t() / x.shape[1], x @ x_hat.t() / x.shape[1]


def second_order(x: Tensor, x_hat: Tensor) -> Tensor:
    """Return the distance of x_hat's means and covariances, and of its covariances with x, from those of x.

    Shape: ``(columns, rows)`` each -> ``()``.
    """
    own, theirs, between = _covariances(x, x_hat)
    off_diagonal = 1 - torch.eye(len(own), device=x.device)
    means = (x.mean(dim=1) - x_hat.mean(dim=1)).square().mean()
    gaps = (own - theirs).square().sum() + (off_diagonal * (own - between)).square().sum()
    return means + gaps / own.square().sum().clamp(min=_EPSILON)


def self_correlation(x: Tensor, x_hat: Tensor) -> Tensor:
    """Return the correlation of each column with its knockoff. Shape: ``(columns, rows)`` each -> ``(columns,)``."""
    own, theirs, between = (matrix.diagonal() for matrix in _covariances(x, x_hat))
    return between / (own * theirs).clamp(min=_EPSILON**2).sqrt()


def decorrelation(x: Tensor, x_hat: Tensor, target: float) -> Tensor:
    """Return the distance of the column-knockoff correlations from ``target``.

    Shape: ``(columns, rows)`` each -> ``()``.
    """
    return (self_correlation(x, x_hat) - target).square().sum()


@dataclass(frozen=True)
class Diagnostics:
    """Quality of knockoffs; the first three are 0 where swapping changes nothing.

    Attributes:
        covariance_gap: Mean of |Cov(x_hat_j, x_hat_k) - Cov(x_j, x_k)|.
        cross_covariance_gap: Mean over j != k of |Cov(x_j, x_hat_k) - Cov(x_j, x_k)|.
        discrepancy: ``discrepancy``, with every other column swapped in its second half.
        self_correlation: Mean correlation of the columns that vary with their knockoffs: lower hides more.
    """

    covariance_gap: float
    cross_covariance_gap: float
    discrepancy: float
    self_correlation: float


def diagnostics(x: Tensor, x_hat: Tensor) -> Diagnostics:
    """Measure knockoffs of standardised rows; the discrepancy uses the first 4,000. Shape: ``(columns, rows)`` each."""
    own, theirs, between = _covariances(x, x_hat)
    off_diagonal = ~torch.eye(len(own), dtype=torch.bool, device=x.device)
    alternate = torch.arange(len(x), device=x.device) % 2 == 0
    return Diagnostics(
        covariance_gap=float((own - theirs).abs().mean()),
        cross_covariance_gap=float((own - between).abs()[off_diagonal].mean()),
        discrepancy=float(discrepancy(x[:, :4000], x_hat[:, :4000], alternate)),
        self_correlation=float(self_correlation(x, x_hat)[own.diagonal() > 0].mean()),
    )
