"""Standardise columns with the mean and standard deviation of the training rows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from hideseek.blocks import row_blocks
from hideseek.engine.ramps import Ramps

__all__ = ["FARTHEST", "Scaler"]

FARTHEST = 1e6
"""Standard deviations at which values are clipped."""
_ROWS_FOR_RAMPS = 20_000


@dataclass(frozen=True)
class Scaler:
    """(x - center) / scale for each column; a constant column has scale one and becomes zero.

    If there are ``ramps``, those of a column are placed after it.
    Shape: ``center (columns,)``, ``scale (columns,)``, ``constant (columns,)``.
    """

    center: NDArray[np.float64]
    scale: NDArray[np.float64]
    constant: NDArray[np.bool_]
    ramps: Ramps | None = None

    @classmethod
    def fit(cls, X: NDArray[np.floating]) -> Scaler:
        """Compute mean and standard deviation of each column, in double precision and in blocks of rows."""
        n_rows, n_columns = X.shape
        low, high = X.min(axis=0).astype(np.float64), X.max(axis=0).astype(np.float64)
        with np.errstate(over="ignore", invalid="ignore"):
            center = X.mean(axis=0, dtype=np.float64)
            constant = low == high
            reach = np.where(constant, 1.0, np.maximum(high - center, center - low))
            square = np.zeros(n_columns)
            for rows in row_blocks(n_rows, n_columns):
                # Scaled first, so that squares neither overflow nor underflow.
                square += np.square((X[rows] - center) / reach).sum(axis=0)
            scale = reach * np.sqrt(square / n_rows)
        return cls(np.where(constant, low, center), np.where(constant, 1.0, scale), constant)

    def with_scale(self, scale: NDArray[np.float64]) -> Scaler:
        """Return the same scaler with these scales where they are not NaN. Shape: ``(columns,)``."""
        return replace(self, scale=np.where(np.isnan(scale) | self.constant, self.scale, scale))

    def of(self, columns: NDArray[np.intp]) -> Scaler:
        """Return the scaler of some of the columns, without ramps."""
        return Scaler(self.center[columns], self.scale[columns], self.constant[columns])

    def widths(self, widths: Sequence[int] | None = None) -> tuple[int, ...] | None:
        """Return the network inputs per feature: its columns plus their ramps.

        ``widths``: columns per feature; None: one each.
        """
        if self.ramps is None:
            return None if widths is None else tuple(widths)
        starts = np.arange(self.ramps.n_columns) if widths is None else np.cumsum((0, *widths[:-1]))
        return tuple(np.add.reduceat(self.ramps.widths, starts).tolist())

    def transform(self, X: NDArray[np.floating]) -> NDArray[np.float32]:
        """Return the standardised rows in single precision; the subtraction is done in double.

        Values are clipped at ``FARTHEST`` standard deviations, so that later arithmetic does not overflow.
        Shape: ``(rows, columns)`` -> ``(rows, columns + ramps)``.
        """
        scaled = self._scaled(X)
        if self.ramps is not None:
            scaled = self.ramps.behind(torch.from_numpy(scaled)).numpy()
        return scaled.astype(np.float32)

    def with_ramps(self, X: NDArray[np.floating], device: torch.device | None = None) -> Scaler:
        """Return the same scaler with ramps, fitted to at most ``_ROWS_FOR_RAMPS`` of these rows."""
        return replace(self, ramps=Ramps.fit(self._scaled(X[:: -(-len(X) // _ROWS_FOR_RAMPS)]), device))

    def _scaled(self, X: NDArray[np.floating]) -> NDArray[np.float64]:
        with np.errstate(over="ignore"):
            scaled = X - self.center
            scaled /= self.scale
        scaled[:, self.constant] = 0.0
        return np.clip(scaled, -FARTHEST, FARTHEST, out=scaled)

    def transform_on(self, device: torch.device, X: NDArray[np.floating]) -> Tensor:
        """Return ``transform(X)`` as a tensor, computed on the device."""
        if device.type == "cpu":
            return torch.from_numpy(self.transform(X))
        raw = torch.from_numpy(np.ascontiguousarray(X)).pin_memory().to(device, non_blocking=True)
        center, scale = (torch.from_numpy(part).to(device) for part in (self.center, self.scale))
        scaled = raw.double().sub_(center).div_(scale)
        scaled[:, torch.from_numpy(self.constant).to(device)] = 0.0
        scaled.clamp_(-FARTHEST, FARTHEST)
        return (scaled if self.ramps is None else self.ramps.behind(scaled)).float()
