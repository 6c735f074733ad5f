"""Fitted models as one ``.safetensors`` file: arrays, and a description in JSON. Nothing in it is ever executed."""

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
from hideseek.errors import FileFormatError, InputError, MissingFileError
from hideseek.files import accessing, write_atomically
from hideseek.validation import listed

__all__ = ["Arrays", "Description", "header_of", "labels_from_json", "labels_to_json", "load", "save"]

FORMAT_VERSION = 1
_KEY = "hideseek"

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
"""Where the classes that can be saved live; a file can name one of these and nothing else."""


def save(path: str | os.PathLike[str], model: object, arrays: Arrays, description: Description) -> None:
    """Write arrays and description; ``description`` must be JSON."""
    header = {
        "format": FORMAT_VERSION,
        "library": __version__,
        "class": type(model).__name__,
        "description": description,
    }
    if header["class"] not in _ROOMS:
        raise InputError(f"a {header['class']} cannot be saved: only {listed(_ROOMS)} can be loaded again")
    try:
        text = json.dumps(header, default=lambda value: value.item())  # numbers of numpy
    except (AttributeError, TypeError, ValueError) as error:
        raise InputError(f"a parameter or label cannot be written as JSON: {error}") from error
    content = to_bytes({name: np.ascontiguousarray(array) for name, array in arrays.items()}, {_KEY: text})
    write_atomically(path, content)


def load(path: str | os.PathLike[str]) -> Any:
    """The model that ``save`` wrote.

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
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        if isinstance(error, FileFormatError):
            raise FileFormatError(f"{os.fspath(path)!r} {error}") from None
        raise _damaged(path, error) from error


def header_of(path: str | os.PathLike[str]) -> dict[str, Any]:
    """What a file says about itself: ``format``, ``library`` (its version), ``class`` and ``description``."""
    header, _ = _contents(path)
    return header


def _contents(path: str | os.PathLike[str]) -> tuple[dict[str, Any], Arrays]:
    with accessing(path, "read") as file:
        if not file.is_file():
            raise MissingFileError(f"no file at {os.fspath(path)!r}")
    try:
        with safe_open(os.fspath(path), framework="numpy") as file:
            metadata = file.metadata() or {}
            arrays = {name: file.get_tensor(name) for name in list(file.keys())}
    except SafetensorError as error:
        raise FileFormatError(
            f"{os.fspath(path)!r} is not a whole .safetensors file ({error}); it may be truncated: save the model again"
        ) from error
    if _KEY not in metadata:
        raise FileFormatError(f"{os.fspath(path)!r} was not written by hideseek: it holds no hideseek description")
    try:
        header = json.loads(metadata[_KEY])
    except ValueError as error:
        raise _damaged(path, error) from error
    return header, arrays


def _damaged(path: str | os.PathLike[str], error: Exception) -> FileFormatError:
    return FileFormatError(f"{os.fspath(path)!r} is damaged ({error!r}): save the model again")


def _restored(header: dict[str, Any], arrays: Arrays) -> Any:
    if header["format"] > FORMAT_VERSION:
        raise FileFormatError(
            f"has format {header['format']}, written by hideseek {header['library']}; "
            f"this is {__version__}, which reads up to format {FORMAT_VERSION}: upgrade hideseek"
        )
    if header["class"] not in _ROOMS:
        raise FileFormatError(f"holds a {header['class']!r}, which this hideseek does not know")
    return getattr(import_module(_ROOMS[header["class"]]), header["class"])._restore(arrays, header["description"])


def labels_to_json(labels: NDArray[Any]) -> dict[str, Any]:
    """Class labels or names of any plain kind, with what is needed to make them again."""
    values = labels.view(np.int64) if labels.dtype.kind in "mM" else labels
    return {"dtype": labels.dtype.str, "values": values.tolist()}


def labels_from_json(description: Mapping[str, Any]) -> NDArray[Any]:
    """The labels that ``labels_to_json`` described."""
    dtype = np.dtype(description["dtype"])
    if dtype.kind in "mM":
        return np.array(description["values"], dtype=np.int64).view(dtype)
    return np.array(description["values"], dtype=dtype)
