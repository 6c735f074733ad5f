"""Random numbers that are a function of the member, independent of when they are drawn.

Every draw is a function of (seed, stream, step, cell), so a member gets the same draws alone or in a stack, on a CPU
or a GPU, whatever was drawn before it. The seed, stream and step are hashed into a 64-bit key; the key and
the cell's number are mixed into 32 bits, all with integer operations, which are exact on every device.
"""

from __future__ import annotations

from collections.abc import Sequence
from enum import IntEnum

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from hideseek.errors import InputError

__all__ = [
    "Draws",
    "Keys",
    "Stream",
    "all_cells",
    "batch_cells",
    "columns_given",
    "draw_columns",
    "integers",
    "member_seeds",
    "normal",
    "seeds_of_members",
    "step_keys",
    "uniform",
    "words",
]

_WORD = 2**32
# Multipliers of a full-avalanche 32-bit mixer (Wellons' hash-prospector search), as signed 32-bit values.
_MULTIPLIER_1 = 0x7FEB352D
_MULTIPLIER_2 = 0x846CA68B - _WORD


class Stream(IntEnum):
    """The purpose of a draw; the streams of a member are independent of each other."""

    WEIGHTS = 1
    COLUMNS = 2
    BATCH = 3
    REPLACEMENT = 4
    MEMBER = 5
    POOL = 6
    SPLIT = 7
    VALIDATION = 8
    KNOCKOFF = 9
    HALVES = 10
    PRICE = 11


def _mix64(x: Tensor) -> Tensor:
    """Apply the finaliser of splitmix64: a bijection of 64-bit words; every input bit affects every output bit."""
    x = (x ^ ((x >> 30) & (2**34 - 1))) * _signed(0xBF58476D1CE4E5B9)  # the masks undo the sign extension of the shift
    x = (x ^ ((x >> 27) & (2**37 - 1))) * _signed(0x94D049BB133111EB)
    return x ^ ((x >> 31) & (2**33 - 1))


def _signed(word: int) -> int:
    """Return the signed integer with the same bits as a 64-bit word."""
    return word - 2**64 if word >= 2**63 else word


class Keys:
    """The keys of a stream, for any step, on the device of the seeds. Shape: ``seeds (members,)``, int64."""

    def __init__(self, seeds: Tensor, stream: Stream) -> None:
        self.stream_keys = _mix64(_mix64(seeds + _signed(0x9E3779B97F4A7C15)) ^ int(stream))

    def words_at(self, steps: Tensor) -> Tensor:
        """Return the keys as 64-bit words. Shape: ``steps (steps,)``, int64 -> ``(steps, members)``, int64."""
        return _mix64(self.stream_keys + steps[:, None] * _signed(0xD1342543DE82EF95))

    def at(self, steps: Tensor) -> Tensor:
        """Return one key per step and member. Shape: ``steps (steps,)``, int64 -> ``(steps, members, 2)``, int32."""
        return self.words_at(steps).unsqueeze(2).view(torch.int32)


def step_keys(seeds: NDArray[np.integer], stream: Stream, start: int, stop: int) -> Tensor:
    """Return the keys of steps ``start`` to ``stop - 1``. Shape: ``(steps, members, 2)``, int32, on the CPU."""
    return Keys(torch.as_tensor(np.asarray(seeds, dtype=np.int64)), stream).at(torch.arange(start, stop))


def member_seeds(seed: int, n_members: int) -> NDArray[np.int64]:
    """Return the seeds of an ensemble's members; the first k do not depend on how many follow."""
    return seeds_of_members([seed], n_members).reshape(-1)


def seeds_of_members(seeds: Sequence[int], n_members: int) -> NDArray[np.int64]:
    """Return the seeds of several ensembles' members, see ``member_seeds``. Shape: ``(seeds, members)``."""
    keys = Keys(torch.tensor(list(seeds)), Stream.MEMBER).words_at(torch.arange(n_members))
    return ((keys >> 1) & (2**63 - 1)).t().numpy()


class Draws:
    """Draws random words for a fixed set of cells, in buffers that are allocated once.

    Allocating a new tensor for every intermediate result would take longer than the arithmetic.

    Args:
        cells: The numbers of the cells. Shape: ``(n_cells,)``, int32.
        n_keys: The largest number of keys in one call.
    """

    def __init__(self, cells: Tensor, n_keys: int) -> None:
        self.cells = cells
        self._words, self._shifted = cells.new_empty(2, n_keys, len(cells))
        self._wide: Tensor | None = None
        self._values: Tensor | None = None

    def words(self, keys: Tensor) -> Tensor:
        """Return 32 random bits for each cell of each member, in a buffer that the next draw overwrites.

        Shape: ``keys (members, 2)`` -> ``(members, n_cells)``, int32.
        """
        shifted = self._shifted[: len(keys)]
        x = torch.add(self.cells, keys[:, :1], out=self._words[: len(keys)])
        _fold(x, 16, shifted).mul_(_MULTIPLIER_1).bitwise_xor_(keys[:, 1:])
        _fold(x, 15, shifted).mul_(_MULTIPLIER_2)
        return _fold(x, 16, shifted)

    def integers(self, keys: Tensor, high: int) -> Tensor:
        """Return integers in ``[0, high)``, uniform to one part in 2^32 / high, in a reused buffer.

        Shape: ``keys (members, 2)`` -> ``(members, n_cells)``, int64.
        """
        if self._wide is None:
            self._wide = torch.empty_like(self._words, dtype=torch.int64)
        wide = self._wide[: len(keys)].copy_(self.words(keys))
        wide &= _WORD - 1
        wide *= high
        wide >>= 32
        return wide

    def values_at(self, picks: Tensor, values: Tensor) -> Tensor:
        """Return the values at the indices that ``integers`` drew, one or more for each cell, in a reused buffer.

        Shape: ``picks``, any, ``values (any,)``, float32 -> as ``picks``.
        """
        if self._values is None or len(self._values) < picks.numel():
            n_values = max(self._words.numel(), picks.numel())
            self._values = torch.empty(n_values, dtype=torch.float32, device=picks.device)
        out = self._values[: picks.numel()]
        return torch.index_select(values, 0, picks.view(-1), out=out).view(picks.shape)

    def uniform(self, keys: Tensor) -> Tensor:
        """Return numbers in ``(0, 1)``, float64, never 0 or 1.

        Shape: ``keys (members, 2)`` -> ``(members, n_cells)``.
        """
        return (self.words(keys).double() + (_WORD // 2 + 0.5)) / _WORD

    def normal(self, keys: Tensor) -> Tensor:
        """Return standard normal numbers, float32, none beyond 6.4 in size. Shape: as ``uniform``."""
        draws: Tensor = torch.special.ndtri(self.uniform(keys))
        return draws.float()


def _fold(x: Tensor, bits: int, shifted: Tensor) -> Tensor:
    """Replace x by x ^ (x >> bits), of unsigned words; ``shifted`` is a work buffer."""
    torch.bitwise_right_shift(x, bits, out=shifted)
    shifted.bitwise_and_(2 ** (32 - bits) - 1)  # undoes the sign extension of an arithmetic shift
    return x.bitwise_xor_(shifted)


def all_cells(keys: Tensor, n_cells: int) -> Draws:
    """Return the ``Draws`` of cells 0 to ``n_cells - 1`` for as many keys. Shape: ``keys (members, 2)``."""
    return Draws(torch.arange(n_cells, dtype=torch.int32, device=keys.device), len(keys))


def batch_cells(n_features: int, batch_size: int, n_rows: int, n_parts: int, device: torch.device) -> Tensor:
    """Return the numbers of the cells of the first rows of a batch, or of the first rows of each of its equal parts.

    The cells of the whole batch are numbered feature by feature. Numbers are 32-bit words; they repeat in a batch of
    more than 2^32 cells.

    Args:
        n_features: Number of features.
        batch_size: Number of rows of the whole batch.
        n_rows: Number of rows to number, in all parts together.
        n_parts: Number of parts.
        device: Device of the result.

    Returns:
        Shape: ``(n_features * n_rows,)``, int32.
    """
    starts = torch.arange(n_features * n_parts, device=device) * (batch_size // n_parts)
    numbers = starts[:, None] + torch.arange(n_rows // n_parts, device=device)
    return ((numbers + _WORD // 2) % _WORD - _WORD // 2).to(torch.int32).flatten()


def words(keys: Tensor, n_cells: int) -> Tensor:
    """Return ``Draws.words`` of cells 0 to ``n_cells - 1``."""
    return all_cells(keys, n_cells).words(keys)


def integers(keys: Tensor, n_cells: int, high: int) -> Tensor:
    """Return ``Draws.integers`` of cells 0 to ``n_cells - 1``."""
    return all_cells(keys, n_cells).integers(keys, high)


def uniform(keys: Tensor, n_cells: int) -> Tensor:
    """Return ``Draws.uniform`` of cells 0 to ``n_cells - 1``."""
    return all_cells(keys, n_cells).uniform(keys)


def normal(keys: Tensor, n_cells: int) -> Tensor:
    """Return ``Draws.normal`` of cells 0 to ``n_cells - 1``."""
    return all_cells(keys, n_cells).normal(keys)


def columns_given(n_columns: int, fraction: float) -> int:
    """Return ``ceil(fraction * n_columns)``, safe against rounding errors of the product."""
    return int(np.ceil(round(fraction * n_columns, 9)))


def draw_columns(seeds: NDArray[np.integer], n_columns: int, fraction: float) -> NDArray[np.bool_]:
    """Return the columns each member sees: ``ceil(fraction * n_columns)`` of them, without replacement.

    A column that no member drew replaces, in one member, a column that other members see too, so that every column is
    seen. Shape: ``(members, n_columns)``.
    """
    n_seen = columns_given(n_columns, fraction)
    scores = uniform(step_keys(seeds, Stream.COLUMNS, 0, 1)[0], n_columns).numpy()
    seen = np.zeros(scores.shape, dtype=bool)
    np.put_along_axis(seen, np.argsort(scores, axis=1)[:, :n_seen], True, axis=1)
    for column in np.flatnonzero(~seen.any(axis=0)):
        spare = seen & (seen.sum(axis=0) > 1)
        if not spare.any():
            raise InputError(
                f"column_fraction={fraction:g} with {len(seeds)} members leaves columns that no member sees; "
                f"use at least {int(np.ceil(n_columns / n_seen))} members or a larger fraction"
            )
        member = int(np.argmax(spare.sum(axis=1)))
        seen[member, np.flatnonzero(spare[member])[0]] = False
        seen[member, column] = True
    return seen
