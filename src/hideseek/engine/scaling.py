"""From columns to what networks see: standardised with the training rows, moved away from cuts, with ramps."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from hideseek.blocks import row_blocks
from hideseek.engine.cuts import Cuts
from hideseek.engine.ramps import Ramps

__all__ = ["FARTHEST", "Scaler"]

FARTHEST = 1e6
"""Standard deviations at which values are clipped."""
_ROWS_FOR_RAMPS = 20_000


@dataclass(frozen=True)
class Scaler:
    """(x - center) / scale for each column; a constant column has scale one and becomes zero.

    Values are moved away from ``cuts``, and ``ramps`` of a column are placed after it, where there are any.
    Shape: ``center (columns,)``, ``scale (columns,)``, ``constant (columns,)``.
    """

    center: NDArray[np.float64]
    scale: NDArray[np.float64]
    constant: NDArray[np.bool_]
    ramps: Ramps | None = None
    cuts: Cuts | None = None

    @classmethod
    def fit(cls, X: NDArray[np.floating]) -> Scaler:
        """Compute mean and standard deviation of each column, in double precision and in blocks of rows."""
        n_rows, n_columns = X.shape
        low, high = np.full(n_columns, np.inf), np.full(n_columns, -np.inf)
        total, square = np.zeros(n_columns), np.zeros(n_columns)

        def blocks() -> Iterator[NDArray[np.float64]]:
            for rows in row_blocks(n_rows, n_columns):  # numbers of a column side by side, which is much faster
                yield np.array(X[rows].T, dtype=np.float64, order="C")

        with np.errstate(over="ignore", invalid="ignore"):
            for columns in blocks():
                np.minimum(low, columns.min(axis=1), out=low)
                np.maximum(high, columns.max(axis=1), out=high)
                total += columns.sum(axis=1)
            center, constant = total / n_rows, low == high
            reach = np.where(constant, 1.0, np.maximum(high - center, center - low))
            for columns in blocks():
                columns -= center[:, None]
                columns /= reach[:, None]  # so that squares neither overflow nor underflow
                square += np.square(columns).sum(axis=1)
            scale = reach * np.sqrt(square / n_rows)
        return cls(np.where(constant, low, center), np.where(constant, 1.0, scale), constant)

    def with_scale(self, scale: NDArray[np.float64]) -> Scaler:
        """Return the same scaler with these scales where they are not NaN. Shape: ``(columns,)``."""
        return replace(self, scale=np.where(np.isnan(scale) | self.constant, self.scale, scale))

    def of(self, columns: NDArray[np.intp]) -> Scaler:
        """Return the scaler of some of the columns, without cuts and ramps."""
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
        return self.inputs(torch.from_numpy(self._scaled(X))).numpy().astype(np.float32)

    def inputs(self, columns: Tensor) -> Tensor:
        """Return what networks see of standardised columns, in double precision.

        Shape: ``(rows, columns)`` -> ``(rows, inputs)``.
        """
        if self.cuts is not None:
            columns = self.cuts.apart(columns)
        return columns if self.ramps is None else self.ramps.behind(columns)

    def places(self, column: int) -> slice:
        """Return which inputs are made of a column: itself, and its ramps."""
        if self.ramps is None:
            return slice(column, column + 1)
        start, stop = np.cumsum([0, *self.ramps.widths[: column + 1]])[-2:].tolist()
        return slice(start, stop)

    def only(self, column: int) -> Scaler:
        """Return the scaler of one column, with its ramps and without cuts."""
        ramps = None if self.ramps is None else self.ramps.only(column)
        return replace(self.of(np.array([column])), ramps=ramps)

    def columns_of(self, inputs: Tensor) -> Tensor:
        """Return the standardised columns among the inputs. Shape: ``(rows, inputs)`` -> ``(rows, columns)``."""
        return inputs if self.ramps is None else inputs[:, torch.from_numpy(self.ramps.is_column).to(inputs.device)]

    def with_ramps(self, X: NDArray[np.floating]) -> Scaler:
        """Return the same scaler with ramps, fitted to ``rows_for_ramps`` of these rows."""
        return replace(self, ramps=Ramps.fit(self.rows_for_ramps(X)))

    def rows_for_ramps(self, X: NDArray[np.floating]) -> NDArray[np.float64]:
        """Return at most ``_ROWS_FOR_RAMPS`` of the rows, evenly spread, with standardised columns."""
        return self._scaled(X[:: -(-len(X) // _ROWS_FOR_RAMPS)])

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
        return self.inputs(scaled).float()
