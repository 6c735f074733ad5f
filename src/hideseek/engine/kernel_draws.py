"""Triton kernels and functions that draw the numbers of ``draws``, word for word."""

from __future__ import annotations

import triton
import triton.language as tl

__all__ = ["draw", "integers", "step_key", "uniform"]


@triton.jit
def _mix64(x):
    x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9
    x = (x ^ (x >> 27)) * 0x94D049BB133111EB
    return x ^ (x >> 31)


@triton.jit
def step_key(stream_keys, member, done):
    """See ``Keys.at``."""
    stream_key = tl.load(stream_keys + member).to(tl.uint64)
    return _mix64(stream_key + done.to(tl.uint64) * 0xD1342543DE82EF95)


@triton.jit
def _words(cells, key):
    """See ``Draws.words``."""
    x = cells.to(tl.uint32) + key.to(tl.uint32)
    x ^= x >> 16
    x *= 0x7FEB352D
    x ^= (key >> 32).to(tl.uint32)
    x ^= x >> 15
    x *= 0x846CA68B
    return x ^ (x >> 16)


@triton.jit
def uniform(cells, key):
    """See ``Draws.uniform``, which takes the words as signed numbers; here in single precision."""
    return (((_words(cells, key) ^ 0x80000000).to(tl.float64) + 0.5) / 4294967296.0).to(tl.float32)


@triton.jit
def integers(cells, key, high):
    """See ``Draws.integers``."""
    x = _words(cells, key)
    return tl.umulhi(x, tl.full(x.shape, 0, tl.uint32) + high.to(tl.uint32)).to(tl.int64)


@triton.jit
def draw(keys, cells, starts, values, out, n_members, n_columns, n_rows, n_values, BLOCK: tl.constexpr):
    """Draw replacement values for some cells of one member."""
    key_at, places = tl.program_id(1).to(tl.int64), tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = places < n_columns * n_rows
    low = tl.load(keys + 2 * key_at).to(tl.uint32, bitcast=True).to(tl.uint64)
    high = tl.load(keys + 2 * key_at + 1).to(tl.uint32, bitcast=True).to(tl.uint64)
    picks = integers(tl.load(cells + places, mask=inside, other=0), low | (high << 32), n_values)
    start = tl.load(starts + (key_at % n_members) * n_columns + places // n_rows, mask=inside, other=0)
    value = tl.load(values + start + picks, mask=inside, other=0.0)
    tl.store(out + key_at * n_columns * n_rows + places, value, mask=inside)
