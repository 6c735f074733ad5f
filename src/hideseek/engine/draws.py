"""Random numbers that belong to a member, not to a moment.

Every draw is a function of (seed, stream, step, cell), so a member gets the same draws alone or in a stack, on a CPU
or a GPU, whatever was drawn before it. The seed, stream and step are hashed into a 64-bit key on the host; the key and
the cell's number are mixed into 32 bits on the device with integer operations, which are exact everywhere.
"""

from __future__ import annotations

from enum import IntEnum
from functools import lru_cache

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from hideseek.errors import InputError

__all__ = [
    "Stream",
    "columns_given",
    "draw_columns",
    "integers",
    "member_seeds",
    "normal",
    "step_keys",
    "uniform",
    "words",
]

_WORD = 2**32
# Multipliers of a full-avalanche 32-bit mixer (Wellons' hash-prospector search), as signed 32-bit values.
_MULTIPLIER_1 = 0x7FEB352D
_MULTIPLIER_2 = 0x846CA68B - _WORD


class Stream(IntEnum):
    """What a draw is for; two streams of one member never meet."""

    WEIGHTS = 1
    COLUMNS = 2
    BATCH = 3
    REPLACEMENT = 4
    MEMBER = 5
    POOL = 6
    SPLIT = 7
    VALIDATION = 8
    KNOCKOFF = 9


def _mix64(x: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """The finaliser of splitmix64: a bijection of 64-bit words in which every input bit reaches every output bit."""
    with np.errstate(over="ignore"):
        x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return x ^ (x >> np.uint64(31))


def _key64(seeds: NDArray[np.integer], stream: Stream, steps: NDArray[np.integer]) -> NDArray[np.uint64]:
    with np.errstate(over="ignore"):
        key = _mix64(seeds.astype(np.uint64) + np.uint64(0x9E3779B97F4A7C15))
        key = _mix64(key ^ np.uint64(stream))
        return _mix64(key + steps.astype(np.uint64)[..., None] * np.uint64(0xD1342543DE82EF95))


def step_keys(seeds: NDArray[np.integer], stream: Stream, start: int, stop: int) -> Tensor:
    """The keys of steps ``start`` to ``stop - 1``, one per step and member.

    Shape: ``(steps, members, 2)``, int32.
    """
    keys = _key64(np.asarray(seeds), stream, np.arange(start, stop))
    return torch.from_numpy(keys.view(np.int32).reshape(stop - start, len(seeds), 2))


def member_seeds(seed: int, n_members: int) -> NDArray[np.int64]:
    """Seeds of the members of one ensemble: the first k of them do not depend on how many follow."""
    keys = _key64(np.array([seed]), Stream.MEMBER, np.arange(n_members))
    return (keys[:, 0] >> np.uint64(1)).astype(np.int64)


@lru_cache(maxsize=8)
def _cells(n_cells: int, device: torch.device) -> Tensor:
    return torch.arange(n_cells, dtype=torch.int32, device=device)


def words(keys: Tensor, n_cells: int) -> Tensor:
    """32 random bits for each cell of each member.

    Shape: ``keys (members, 2)`` -> ``(members, n_cells)``, int32.
    """
    x = _cells(n_cells, keys.device) + keys[:, :1]
    x ^= (x >> 16) & 0xFFFF  # the mask undoes the sign that an arithmetic shift drags in
    x *= _MULTIPLIER_1
    x ^= keys[:, 1:]
    x ^= (x >> 15) & 0x1FFFF
    x *= _MULTIPLIER_2
    x ^= (x >> 16) & 0xFFFF
    return x


def integers(keys: Tensor, n_cells: int, high: int) -> Tensor:
    """Integers in ``[0, high)``, uniform to one part in 2^32 / high. Shape: ``(members, n_cells)``, int64."""
    return ((words(keys, n_cells).long() & (_WORD - 1)) * high) >> 32


def uniform(keys: Tensor, n_cells: int) -> Tensor:
    """Numbers in ``(0, 1)``, float64, never either end. Shape: ``(members, n_cells)``."""
    return (words(keys, n_cells).double() + (_WORD // 2 + 0.5)) / _WORD


def normal(keys: Tensor, n_cells: int) -> Tensor:
    """Standard normal numbers, float32, none further out than 6.4. Shape: ``(members, n_cells)``."""
    draws: Tensor = torch.special.ndtri(uniform(keys, n_cells))
    return draws.float()


def columns_given(n_columns: int, fraction: float) -> int:
    """How many of the columns are a share of them: rounded up, whatever the last digit of the product."""
    return int(np.ceil(round(fraction * n_columns, 9)))


def draw_columns(seeds: NDArray[np.integer], n_columns: int, fraction: float) -> NDArray[np.bool_]:
    """The columns each member sees: ``ceil(fraction * n_columns)`` of them, without replacement.

    A column that no member drew is handed to one of them in place of a column that others see too, so that every
    column is seen. Shape: ``(members, n_columns)``.
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
