"""Ways to damage a saved model or explanation, each a function of the content and a random generator."""

from __future__ import annotations

import io
import json
import re
import zipfile
from collections.abc import Callable
from copy import deepcopy
from random import Random
from typing import Any

import numpy as np
from numpy.typing import NDArray
from safetensors.numpy import save as to_bytes

from hideseek.digests import digest_of

Arrays = dict[str, NDArray[Any]]

ODD_VALUES = (
    *(None, True, False, 0, 1, -1, 2, 3, 255, 256, 2**31, 2**63, 2**64, 10**30, 10**400, -(2**63)),
    *(0.5, -0.5, 1e-320, 1e300, -1e300, float("nan"), float("inf"), -float("inf")),
    *("", "x", "\x00", "\ud800", "é" * 50, "a" * 5000, "<U9999999", "|O", "i4,i4", "number", "category", "marginal"),
    *([], {}, [[]], [0], [1, 2, 3], ["x", "y"], {"x": 1}, [[1, 2], [3, 4]], [None], [0] * 300),
)
_DIGIT = re.compile(rb"\d")
ODD_NUMBERS = (0.0, -0.0, 1.0, -1.0, 1e-40, 1e20, 3e38, -3e38, 1e300, np.nan, np.inf, -np.inf)


# -- bytes --------------------------------------------------------------------------------------------------------


def flip(content: bytes, rng: Random) -> bytes:
    changed = bytearray(content)
    for _ in range(rng.choice((1, 1, 1, 2, 8))):
        changed[_place(content, rng)] ^= 1 << rng.randrange(8)
    return bytes(changed)


def overwrite(content: bytes, rng: Random) -> bytes:
    start, length = _place(content, rng), rng.choice((1, 1, 2, 4, 8, 64))
    new = bytes(length) if rng.random() < 0.3 else rng.randbytes(length)
    return content[:start] + new + content[start + length :]


def insert(content: bytes, rng: Random) -> bytes:
    start = _place(content, rng)
    return content[:start] + rng.randbytes(rng.choice((1, 2, 8, 100))) + content[start:]


def delete(content: bytes, rng: Random) -> bytes:
    start = _place(content, rng)
    return content[:start] + content[start + rng.choice((1, 2, 8, 100)) :]


def truncate(content: bytes, rng: Random) -> bytes:
    return content[: _place(content, rng)]


def repeat(content: bytes, rng: Random) -> bytes:
    start, length = _place(content, rng), rng.choice((1, 8, 64, 512))
    return content[:start] + content[start : start + length] + content[start:]


def move(content: bytes, rng: Random) -> bytes:
    start, end, length = _place(content, rng), _place(content, rng), rng.choice((1, 8, 64))
    changed = bytearray(content)
    changed[start : start + length] = content[end : end + length]
    return bytes(changed)


def change_digit(content: bytes, rng: Random) -> bytes:
    """Put another digit for one: sizes, offsets and settings are written in digits."""
    found = _DIGIT.search(content, _place(content, rng))
    if found is None:
        return content
    return content[: found.start()] + bytes([48 + rng.randrange(10)]) + content[found.end() :]


def _place(content: bytes, rng: Random) -> int:
    """Return a place anywhere, often near the beginning or the end, where headers are."""
    reach = rng.choice((len(content), len(content), 64, 4000))
    start = rng.randrange(min(reach, len(content)))
    return start if rng.random() < 0.8 else len(content) - 1 - start


BYTES = (flip, flip, overwrite, overwrite, insert, delete, truncate, repeat, move, change_digit, change_digit)


# -- JSON ---------------------------------------------------------------------------------------------------------


def change_json(text: str, rng: Random) -> str:
    """Change one value of a description, or its text."""
    if rng.random() < 0.1:
        return rng.choice(BYTES)(text.encode("utf-8", "surrogatepass"), rng).decode("utf-8", "replace")
    if rng.random() < 0.005:
        return rng.choice(("[" * 100_000, '{"a":' * 50_000, "1" * 10_000, "", "null", "[]", '"x"'))
    root = [json.loads(text)]
    holder, key = _somewhere(root, rng)
    action = rng.random()
    if action < 0.6:
        holder[key] = _other(holder[key], rng)
    elif action < 0.75 and isinstance(holder, dict):
        del holder[key]
    elif action < 0.9:
        target = holder[key] if isinstance(holder[key], dict) else holder if isinstance(holder, dict) else {}
        target[rng.choice(("new", "price", "", "\ud800", "format"))] = deepcopy(rng.choice(ODD_VALUES))
    else:
        other, place = _somewhere(root, rng)
        holder[key] = deepcopy(other[place])
    return json.dumps(root[0])


def _somewhere(root: list[Any], rng: Random) -> tuple[Any, Any]:
    holder, key = root, 0
    while isinstance(holder[key], dict | list) and holder[key] and rng.random() < 0.85:
        holder = holder[key]
        key = rng.choice(list(holder)) if isinstance(holder, dict) else rng.randrange(len(holder))
        if isinstance(holder, dict) and "description" in holder and rng.random() < 0.8:
            key = "description"  # where most of what can be wrong is
    return holder, key


def _other(value: Any, rng: Random) -> Any:
    near: list[Any] = []
    if isinstance(value, bool):
        near = [not value, int(value)]
    elif isinstance(value, int | float):
        near = [value + 1, value - 1, -value, value * 2, value * 1.0, value * 1e6, str(value)]
    elif isinstance(value, str):
        near = [value + "x", value[:-1], value.upper(), value * 3]
    elif isinstance(value, list) and value:
        near = [value[:-1], value + value[:1], value[::-1], value * 2, value[0]]
    return deepcopy(rng.choice(near if near and rng.random() < 0.5 else ODD_VALUES))


# -- arrays -------------------------------------------------------------------------------------------------------


def change_array(arrays: Arrays, rng: Random) -> Arrays:
    """Change the values, the shape or the type of one array, or which arrays there are."""
    arrays = dict(arrays)
    name = rng.choice(list(arrays))
    array, action = arrays[name], rng.random()
    if action < 0.6:
        arrays[name] = _other_values(array, rng)
    elif action < 0.8:
        arrays[name] = _other_shape(array, rng)
    elif action < 0.88:
        kinds = ("f4", "f8", "i8", "i1", "?") if array.dtype.kind not in "US" else ("S8", "U3")
        with np.errstate(all="ignore"):
            arrays[name] = array.astype(rng.choice(kinds))
    elif action < 0.92:
        del arrays[name]
    elif action < 0.96:
        arrays[rng.choice(("new", "median", "candidate.99.pool", "knockoffs.7", "ramps.column", name + "x"))] = array
    else:
        arrays[name] = arrays[rng.choice(list(arrays))]
    return arrays


def _other_values(array: NDArray[Any], rng: Random) -> NDArray[Any]:
    if array.size == 0:
        return array
    array = np.array(array)
    flat, place = array.reshape(-1), rng.randrange(array.size)
    if array.dtype.kind == "f":
        with np.errstate(all="ignore"):
            value = rng.choice((*ODD_NUMBERS, float(flat[place]) * rng.choice((1e3, 1e6, 1e12, -1, 1e-12))))
            flat[place : place + rng.choice((1, 1, 4, flat.size))] = value
    elif array.dtype.kind in "iu":
        flat[place] = rng.choice((0, 1, 5, 100, 127)) * (1 if array.dtype.kind == "u" else rng.choice((1, -1)))
    else:
        raw = bytearray(array.tobytes())
        raw[rng.randrange(len(raw))] = rng.randrange(256)
        return np.ndarray(array.shape, array.dtype, raw)
    return array


def _other_shape(array: NDArray[Any], rng: Random) -> NDArray[Any]:
    if array.ndim == 0 or array.size == 0:
        return array.reshape(1, -1)
    axis = rng.randrange(array.ndim)
    changes: tuple[Callable[[], NDArray[Any]], ...] = (
        lambda: array.reshape(-1),
        lambda: array.T,
        lambda: array[None],
        lambda: array[:0],
        lambda: np.flip(array, axis),
        lambda: np.concatenate((array, array), axis),
        lambda: np.delete(array, rng.randrange(array.shape[axis]), axis),
        lambda: np.zeros(()),
    )
    return np.ascontiguousarray(rng.choice(changes)())


# -- files --------------------------------------------------------------------------------------------------------


def model_bytes(text: str, arrays: Arrays, digest: str | None) -> bytes:
    """Return the content of a model's file with this digest; None: the one that belongs to it; empty: none at all."""
    arrays = {name: np.ascontiguousarray(array) for name, array in arrays.items()}
    written = text.encode("utf-8", "replace").decode()
    metadata = {"hideseek": written}
    if digest != "":
        metadata["digest"] = digest or digest_of(written, arrays)
    return to_bytes(arrays, metadata)


def explanation_bytes(arrays: Arrays, digest: str | None) -> bytes:
    """Return the same for an explanation, whose arrays come without the digest."""
    buffer = io.BytesIO()
    if digest != "":
        arrays = {**arrays, "digest": np.array(digest or digest_of("", arrays))}
    np.savez_compressed(buffer, **arrays)
    return buffer.getvalue()


def change_safetensors_header(content: bytes, rng: Random) -> bytes:
    """Change the list of tensors, their types, shapes and offsets."""
    length = int.from_bytes(content[:8], "little")
    header = change_json(content[8 : 8 + length].decode(), rng).encode("utf-8", "replace")
    return len(header).to_bytes(8, "little") + header + content[8 + length :]


def change_archive(content: bytes, rng: Random) -> bytes:
    """Change the bytes of one member of a .npz file, its name or its compression; the checksums are right again."""
    source = zipfile.ZipFile(io.BytesIO(content))
    names = source.namelist()
    chosen, buffer = rng.choice(names), io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as target:
        for name in names:
            data, kind = source.read(name), zipfile.ZIP_DEFLATED
            if name == chosen:
                action = rng.random()
                if action < 0.7:
                    data = rng.choice(BYTES)(data, rng)
                elif action < 0.8:
                    kind = rng.choice((zipfile.ZIP_STORED, zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA))
                elif action < 0.85:
                    data += bytes(10_000_000)
                elif action < 0.9:
                    data = data.replace(b"'shape': (", b"'shape': (99999999999, ")
                elif action < 0.95:
                    name = rng.choice(("new.npy", "importance.npy", "../x.npy", name[:-4]))
                else:
                    continue
            target.writestr(name, data, kind)
    return buffer.getvalue()
