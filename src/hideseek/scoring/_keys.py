"""Random keys of rows: the rows with the smallest keys are a random sample of all rows, in whatever order they come."""

from __future__ import annotations

from hashlib import blake2b
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hideseek.scoring._arrow import arrow

__all__ = ["keys_of_content", "keys_of_places"]

_MISSING = np.uint64(0x7FF8_0000_0000_0000)
"""The bits of one of the many NaN."""
_STEP = np.uint64(0x9E37_79B9_7F4A_7C15)
_FACTORS = ((30, 0xBF58_476D_1CE4_E5B9), (27, 0x94D0_49BB_1331_11EB), (31, 1))
"""The constants of splitmix64, a generator of 64 random bits from any number."""


def keys_of_content(table: Any, seed: int) -> NDArray[np.uint64]:
    """Return a key for each row of an Arrow table that depends on the row's values and the seed alone.

    Equal rows have equal keys. Shape: ``(rows,)``.
    """
    keys = np.full(len(table), seed, dtype=np.uint64)
    for name in sorted(table.column_names):
        keys = _mixed((keys + _STEP) ^ _bits(table[name]))
    return keys


def keys_of_places(file: str, first: int, n_rows: int, seed: int) -> NDArray[np.uint64]:
    """Return a key for each of some rows of a file that depends on the place of the row and the seed.

    Args:
        file: The name of the file.
        first: The number of the first row.
        n_rows: How many rows.
        seed: The seed.

    Shape: ``(rows,)``.
    """
    places = np.arange(first, first + n_rows, dtype=np.uint64)
    return _mixed(_hashed([f"{seed}/{file}"])[0] + _STEP * places)


def _mixed(bits: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """Return random bits that are a function of these, different for different ones."""
    for shift, factor in _FACTORS:
        bits = (bits ^ (bits >> np.uint64(shift))) * np.uint64(factor)
    return bits


def _bits(column: Any) -> NDArray[np.uint64]:
    """Return 64 bits for each value of a column: equal values have equal bits, missing ones too."""
    pa = arrow()
    kind = pa.types
    if kind.is_temporal(column.type):
        column = column.cast(pa.int32() if column.type.bit_width == 32 else pa.int64())
    if kind.is_boolean(column.type):
        column = column.cast(pa.int8())
    if kind.is_integer(column.type) or kind.is_floating(column.type) or kind.is_decimal(column.type):
        numbers = column.cast(pa.float64(), safe=False).to_numpy() + 0.0  # -0.0 becomes 0.0
        return np.where(np.isnan(numbers), _MISSING, numbers.view(np.uint64))
    return _text_bits(column)


def _text_bits(column: Any) -> NDArray[np.uint64]:
    coded = column.combine_chunks().dictionary_encode()
    texts = [str(value) for value in coded.dictionary.to_pylist()]
    places = coded.indices.fill_null(len(texts)).to_numpy(zero_copy_only=False)
    bits: NDArray[np.uint64] = np.append(_hashed(texts), _MISSING)[places]
    return bits


def _hashed(texts: list[str]) -> NDArray[np.uint64]:
    digests = b"".join(blake2b(text.encode(errors="surrogatepass"), digest_size=8).digest() for text in texts)
    return np.frombuffer(digests, dtype="<u8").astype(np.uint64)
