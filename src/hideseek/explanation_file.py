"""Explanations in one ``.npz`` file: plain arrays and their digest, without pickle."""

from __future__ import annotations

import io
import json
import os
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hideseek.archives import read_archive
from hideseek.cells import cells_from_json, cells_to_json
from hideseek.digests import digest_of
from hideseek.effects import Effects
from hideseek.errors import FileFormatError, InputError
from hideseek.files import accessing, write_atomically
from hideseek.schema import ArrayRule, Fields, check_shape, check_value, check_values, is_text
from hideseek.stand_ins import from_arrays as stand_ins_from_arrays
from hideseek.validation import Rule, choice

__all__ = ["read_explanation", "write_explanation"]

_FORMAT = 2
"""File format; format 1 had no digest."""

_ANY = ("b", "i", "u", "f", "U", "S", "m", "M")
_MEMBERS = {
    "format": ArrayRule(("i",), (), low=1, high=2**31),
    "importance": ArrayRule(("b", "i", "u", "f"), ("rows", "features")),
    "selected": ArrayRule(("b1",), ("rows", "features")),
    "feature_names": ArrayRule(("U",), ("features",)),
    "row_labels": ArrayRule(_ANY, ("rows",), finite=False),
    "importance_kind": ArrayRule(("U",), ()),
    "frame_library": ArrayRule(("U",), ()),
    "data": ArrayRule(_ANY, ("rows", "features"), finite=False, optional=True),
    "cells": ArrayRule(("u1",), ("bytes",), optional=True),
    "prediction": ArrayRule(_ANY, ("rows",), finite=False, optional=True),
    "probability": ArrayRule(("f",), ("rows",), low=0, high=1 + 1e-3, optional=True),
    "selection_probability": ArrayRule(("f",), ("rows", "features"), low=0, high=1 + 1e-3, optional=True),
    "entry_price": ArrayRule(("f",), ("rows", "features"), low=0, optional=True),
    "target_name": ArrayRule(("U",), (), optional=True),
    "effect_cells": ArrayRule(("b1",), ("rows", "features"), optional=True),
    "effect_change": ArrayRule(("f",), ("cells", "outputs"), optional=True),
    "effect_classes": ArrayRule(_ANY, ("outputs",), optional=True),
    "stand_in_names": ArrayRule(("U",), ("pairs", 2), optional=True),
    "stand_in_losses": ArrayRule(("f8",), ("pairs", 3), optional=True),
    "digest": ArrayRule(("U",), (), optional=True),
}
_MOST_SECONDS = 1e13
"""More than any Python duration."""

_DEEPEST = 8
"""Maximum nesting: groups of columns are tuples of cells, hardly ever tuples of tuples."""


def write_explanation(path: str | os.PathLike[str], arrays: dict[str, NDArray[Any]]) -> None:
    """Write the arrays of an explanation atomically; ``data`` may contain objects.

    Raises:
        InputError: The explanation contains values that ``read_explanation`` would refuse, such as NaN importances.
    """
    arrays = {"format": np.array(_FORMAT), **arrays}
    if "data" in arrays and arrays["data"].dtype == object:
        arrays["cells"] = np.frombuffer(cells_to_json(arrays.pop("data")).encode(), dtype=np.uint8)
    arrays = {name: _plain(array) for name, array in arrays.items()}
    try:
        sizes: dict[str, int] = {}
        for name, array in arrays.items():
            check_shape(name, array, _MEMBERS[name], sizes)
            check_values(name, array, _MEMBERS[name])
    except FileFormatError as error:
        raise InputError(f"this explanation cannot be saved: {error}") from error
    buffer = io.BytesIO()
    np.savez_compressed(buffer, **arrays, digest=np.array(digest_of("", arrays)))  # type: ignore[arg-type]
    write_atomically(path, buffer.getvalue())


def read_explanation(path: str | os.PathLike[str]) -> dict[str, NDArray[Any]]:
    """Return the arrays that ``write_explanation`` was given.

    Raises:
        FileFormatError: The file is truncated, foreign, or written by a newer format.
    """
    with accessing(path, "read") as file:
        content = file.read_bytes()
    try:
        arrays = read_archive(content, _MEMBERS)
        _check_format(arrays)
        if "cells" in arrays:
            arrays["data"] = _cells(arrays.pop("cells").tobytes(), arrays["importance"].shape)
        Effects.from_arrays(arrays)
        stand_ins_from_arrays(arrays)
        return arrays
    except FileFormatError as error:
        raise FileFormatError(
            f"{os.fspath(path)!r} cannot be read as an explanation: {error}; save the explanation again"
        ) from None


def _check_format(arrays: dict[str, NDArray[Any]]) -> None:
    version, digest = int(arrays["format"]), arrays.pop("digest", None)
    if version > _FORMAT:
        raise FileFormatError(f"it has format {version}, and this hideseek reads up to format {_FORMAT}")
    if (version >= 2 or digest is not None) and str(digest) != digest_of("", arrays):
        raise FileFormatError("it is damaged: its content does not match its digest")
    check_value(str(arrays["frame_library"]), choice("pandas", "polars"), "frame_library")


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and abs(value) < _MOST_SECONDS


def _is_cell(value: Any, depth: int = 0) -> bool:
    if isinstance(value, list):
        return depth < _DEEPEST and all(_is_cell(part, depth + 1) for part in value)
    if isinstance(value, dict):
        ((name, content),) = value.items() if len(value) == 1 else (("", None),)
        return (name in ("date", "datetime") and is_text(content)) or (name == "seconds" and _is_number(content))
    return value is None or isinstance(value, bool | int | float) or is_text(value)


def _cells(content: bytes, shape: tuple[int, ...]) -> NDArray[Any]:
    """Return the table of objects, after checking that it has this shape."""
    n_cells = shape[0] * shape[1]
    rules = Fields(
        {
            "shape": Rule(f"{list(shape)}", list(shape).__eq__),
            "cells": Rule(
                f"a list of {n_cells} values",
                lambda value: isinstance(value, list) and len(value) == n_cells and all(map(_is_cell, value)),
            ),
        }
    )
    try:
        check_value(json.loads(content), rules, "cells")
        return cells_from_json(content.decode())
    except FileFormatError:
        raise
    except (RecursionError, ValueError) as error:
        raise FileFormatError("its cells are not in the format that hideseek writes") from error


def _plain(values: NDArray[Any]) -> NDArray[Any]:
    """Return objects as an array of their common type, else as text, so that no pickle is needed."""
    if values.dtype != object:
        return values
    kinds = {type(value) for value in values.flat}
    typed = np.array(values.tolist()) if len(kinds) <= 1 and not kinds & {list, tuple} else values
    return typed if typed.dtype != object else np.array([str(value) for value in values.flat]).reshape(values.shape)
