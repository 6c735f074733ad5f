"""Fitted models in one ``.safetensors`` file: arrays, and a description in JSON. Nothing in it is executed.

The file also contains a digest of the description and the arrays. It is checked completely before a model is built:
first the digest, then the description and the arrays against the rules of the model's class.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from importlib import import_module
from typing import Any

import numpy as np
from numpy.typing import NDArray
from safetensors import SafetensorError, safe_open
from safetensors.numpy import save as to_bytes

from hideseek._version import __version__
from hideseek.digests import digest_of
from hideseek.errors import FileFormatError, InputError, MissingFileError
from hideseek.files import accessing, write_atomically
from hideseek.schema import SCALAR, Fields, brief, check_value, is_text, parsed_dtype, text
from hideseek.validation import Rule, integer
from hideseek.wording import listed

__all__ = [
    "LABELS",
    "Arrays",
    "Description",
    "digest_in",
    "header_of",
    "labels_from_json",
    "labels_to_json",
    "load",
    "save",
]

FORMAT_VERSION = 2
"""File format; format 1 had no digest."""

_KEY, _DIGEST = "hideseek", "digest"
_TENSOR_TYPES = ("BOOL", "I8", "I64", "F32", "F64")
_LARGEST_LABELS = 2**26
"""Maximum number of bytes for the class labels of a file."""

Arrays = Mapping[str, NDArray[Any]]
Description = dict[str, Any]
_ROOMS = {
    "BlackBoxExplainer": "hideseek.estimators",
    "HideSeekClassifier": "hideseek.estimators",
    "HideSeekRegressor": "hideseek.estimators",
    "Invase": "hideseek.baselines",
    "L2X": "hideseek.baselines",
    "RealX": "hideseek.baselines",
}
"""The packages of the classes that can be saved; a file can name only these classes."""


_HEADER = Fields(
    {
        "format": integer(1),
        "library": text(100),
        "class": text(100),
        "description": Rule("an object", lambda value: isinstance(value, dict)),
    }
)


def save(path: str | os.PathLike[str], model: Any, arrays: Arrays, description: Description) -> None:
    """Write arrays and description; ``description`` must be JSON data.

    Raises:
        InputError: The model contains something that ``load`` would refuse, such as a parameter with a wrong value.
    """
    header = {
        "format": FORMAT_VERSION,
        "library": __version__,
        "class": type(model).__name__,
        "description": description,
    }
    if header["class"] not in _ROOMS:
        raise InputError(f"a {header['class']} cannot be saved: only {listed(_ROOMS)} can be loaded again")
    try:
        written = json.dumps(header, default=lambda value: value.item())  # numpy numbers
    except (AttributeError, RecursionError, TypeError, ValueError) as error:
        raise InputError(f"a parameter or label cannot be written as JSON: {error}") from error
    arrays = {name: np.ascontiguousarray(array) for name, array in arrays.items()}
    try:
        type(model)._check_state(arrays, json.loads(written)["description"])
    except FileFormatError as error:
        raise InputError(f"this {header['class']} cannot be saved, since it could not be loaded: {error}") from error
    write_atomically(path, to_bytes(arrays, {_KEY: written, _DIGEST: digest_of(written, arrays)}))


def load(path: str | os.PathLike[str]) -> Any:
    """Return the model that ``save`` wrote.

    Args:
        path: A file written by a model's ``save``.

    Raises:
        FileFormatError: The file is truncated, foreign, or written by a newer format.

    Example:
        >>> import tempfile
        >>> import hideseek
        >>> data = hideseek.datasets.make_syn("Syn1", n_samples=500)
        >>> model = hideseek.HideSeekClassifier("fast", random_state=0).fit(data.X, data.y)
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     model.save(f"{folder}/syn1.safetensors")
        ...     again = hideseek.load(f"{folder}/syn1.safetensors")
        >>> bool((again.select(data.X) == model.select(data.X)).all())
        True
    """
    header, arrays = _contents(path)
    try:
        return _restored(header, arrays)
    except FileFormatError as error:
        raise FileFormatError(f"{os.fspath(path)!r} {error}") from None
    except (ArithmeticError, AttributeError, LookupError, RuntimeError, TypeError, ValueError) as error:
        raise FileFormatError(f"{os.fspath(path)!r} {_damaged(repr(error))}") from error


def header_of(path: str | os.PathLike[str]) -> dict[str, Any]:
    """Return the header of a file: ``format``, ``library`` (its version), ``class`` and ``description``."""
    header, _ = _contents(path)
    return header


def digest_in(path: str | os.PathLike[str]) -> str:
    """Return the digest in a file, which is the same for the same model however often it is saved."""
    with safe_open(os.fspath(path), framework="numpy") as file:
        return str(file.metadata()[_DIGEST])


def _contents(path: str | os.PathLike[str]) -> tuple[dict[str, Any], Arrays]:
    """Return the header, whose description is not checked yet, and the arrays."""
    with accessing(path, "read") as file:
        if not file.is_file():
            raise MissingFileError(f"no file at {os.fspath(path)!r}")
    try:
        with safe_open(os.fspath(path), framework="numpy") as file:
            return _checked_contents(file)
    except FileFormatError as error:
        raise FileFormatError(f"{os.fspath(path)!r} {error}") from None
    except SafetensorError as error:
        raise FileFormatError(
            f"{os.fspath(path)!r} is not a whole .safetensors file ({brief(str(error))}); it may be truncated: "
            "save the model again"
        ) from error


def _checked_contents(file: Any) -> tuple[dict[str, Any], Arrays]:
    metadata = file.metadata() or {}
    if _KEY not in metadata:
        raise FileFormatError("was not written by hideseek: it has no hideseek description")
    try:
        header = json.loads(metadata[_KEY])
    except (RecursionError, ValueError) as error:
        raise FileFormatError(_damaged(f"its description is not JSON ({brief(str(error))})")) from error
    if isinstance(header, dict) and isinstance(header.get("format"), int) and header["format"] > FORMAT_VERSION:
        raise FileFormatError(
            f"has format {brief(header['format'])}, written by hideseek {brief(header.get('library'))}; "
            f"this is {__version__}, which reads up to format {FORMAT_VERSION}: upgrade hideseek"
        )
    try:
        check_value(header, _HEADER, "the header")
    except FileFormatError as error:
        raise FileFormatError(_damaged(str(error))) from None
    arrays = {name: _tensor(file, name) for name in list(file.keys())}
    if header["format"] >= 2 or _DIGEST in metadata:
        _check_digest(metadata, arrays)
    if header["class"] not in _ROOMS:
        raise FileFormatError(f"holds a {brief(repr(header['class']))}, which this hideseek does not know")
    return header, arrays


def _check_digest(metadata: Mapping[str, str], arrays: Arrays) -> None:
    if metadata.get(_DIGEST) != digest_of(metadata[_KEY], arrays):
        raise FileFormatError("is damaged: its content does not match its digest; copy or save it again")


def _tensor(file: Any, name: str) -> NDArray[Any]:
    kind = file.get_slice(name).get_dtype()
    if kind not in _TENSOR_TYPES:
        raise FileFormatError(_damaged(f"array {brief(repr(name))} has the type {brief(kind)}"))
    array: NDArray[Any] = file.get_tensor(name)
    return array


def _damaged(what: str) -> str:
    return f"is damaged or of another version than {__version__}: {brief(what)}; save the model again"


def _restored(header: dict[str, Any], arrays: Arrays) -> Any:
    restored = getattr(import_module(_ROOMS[header["class"]]), header["class"])
    try:
        restored._check_state(arrays, header["description"])
    except FileFormatError as error:
        raise FileFormatError(_damaged(str(error))) from None
    return restored._restore(arrays, header["description"])


def labels_to_json(labels: NDArray[Any]) -> dict[str, Any]:
    """Return class labels or names of any plain kind as JSON data, with their type."""
    values = labels.view(np.int64) if labels.dtype.kind in "mM" else labels
    return {"dtype": labels.dtype.str, "values": values.tolist()}


def labels_from_json(description: Mapping[str, Any]) -> NDArray[Any]:
    """Return the labels that ``labels_to_json`` described."""
    dtype = np.dtype(description["dtype"])
    if dtype.kind in "mM":
        return np.array(description["values"], dtype=np.int64).view(dtype)
    return np.array(description["values"], dtype=dtype)


def _are_labels(value: Any) -> bool:
    """Return whether ``labels_from_json`` can read this, as at least two different labels."""
    if not isinstance(value, dict) or set(value) != {"dtype", "values"} or not isinstance(value["values"], list):
        return False
    dtype, values = parsed_dtype(value["dtype"]), value["values"]
    if dtype is None or dtype.kind == "S" or dtype.itemsize * len(values) > _LARGEST_LABELS:
        return False
    return all(_fits(one, dtype) for one in values) and len(set(values)) == len(values) >= 2


def _fits(value: Any, dtype: np.dtype[Any]) -> bool:
    """Return whether an array of this type can hold the value exactly."""
    if dtype.kind == "b" or isinstance(value, bool):
        return isinstance(value, bool) and dtype.kind in "bO"
    if dtype.kind in "iumM":
        limits = np.iinfo(np.int64 if dtype.kind in "mM" else dtype)
        return isinstance(value, int) and limits.min <= value <= limits.max
    if dtype.kind == "f":
        return isinstance(value, float) and value == value
    return is_text(value) and 4 * len(value) <= dtype.itemsize if dtype.kind == "U" else SCALAR.accepts(value)


LABELS = Rule("at least two different class labels, with their type", _are_labels)
"""Rule for the output of ``labels_to_json``."""
