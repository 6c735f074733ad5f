"""Tables of the caller: checked, and identified by their content."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

import narwhals as nw
import numpy as np
from numpy.typing import NDArray

from hideseek.benchmark._strict import Problems
from hideseek.datasets import Dataset
from hideseek.errors import InputError
from hideseek.tables import dense
from hideseek.targets import readable_target
from hideseek.validation import as_array
from hideseek.wording import column_names

__all__ = ["TABLE_KEYS", "fingerprint", "read_table", "rows_of"]

TABLE_KEYS = ("X", "y", "relevant")


def read_table(place: str, label: str, given: Any, problems: Problems) -> Dataset | None:
    """Return a table from a ``Dataset``, ``(X, y)``, ``(X, y, relevant)`` or a mapping with these names."""
    if isinstance(given, Dataset):
        return given
    if isinstance(given, tuple) and len(given) in (2, 3):
        given = dict(zip(TABLE_KEYS, given, strict=False))
    if not isinstance(given, Mapping):
        problems.add(place, f"expected a Dataset, (X, y), (X, y, relevant) or a mapping; got a {type(given).__name__}")
        return None
    problems.check_names(place, given, TABLE_KEYS)
    missing = [name for name in ("X", "y") if given.get(name) is None]
    for name in missing:
        problems.add(place, f"{name} is missing")
    if missing:
        return None
    try:
        X, y = dense(given["X"]), np.asarray(readable_target(given["y"], numeric=False))
        X = X if hasattr(X, "columns") else as_array("X", X)
    except InputError as error:
        problems.add(place, str(error))
        return None
    relevant = given.get("relevant")
    if len(X.shape) != 2 or y.shape != (len(X),):
        problems.add(place, f"X must be (rows, features) and y (rows,); they are {tuple(X.shape)} and {y.shape}")
        return None
    if relevant is not None:
        relevant = np.asarray(relevant)
        if relevant.shape != tuple(X.shape) or relevant.dtype != bool:
            expected = f"booleans of the shape of X, {tuple(X.shape)}"
            problems.add(f"{place}.relevant", f"expected {expected}; got {relevant.dtype} of {relevant.shape}")
            return None
    return Dataset(label, X, y, tuple(column_names(getattr(X, "columns", None), X.shape[1])), relevant)


def rows_of(table: Dataset, index: NDArray[np.intp] | slice) -> Dataset:
    """Return some rows of a table of arrays or frames."""
    frame = nw.from_native(table.X, eager_only=True, pass_through=True)
    taken: dict[str, Any] = {
        "X": frame[np.arange(len(frame))[index]].to_native() if isinstance(frame, nw.DataFrame) else table.X[index],
        "y": np.asarray(table.y)[index],
        "relevant": None if table.relevant is None else table.relevant[index],
        "probability": None if table.probability is None else table.probability[index],
    }
    return replace(table, **taken)


def fingerprint(tables: Iterable[Dataset]) -> str:
    """Return a hash of the content, in hexadecimal digits."""
    digest = hashlib.sha256()
    for table in tables:
        frame = nw.from_native(table.X, eager_only=True, pass_through=True)
        if isinstance(frame, nw.DataFrame):
            columns = [frame[name].to_numpy() for name in frame.columns]
        else:
            columns = [np.asarray(table.X)]
        for part in (np.array(table.feature_names), *columns, np.asarray(table.y), table.relevant):
            digest.update(_bytes(part))
    return digest.hexdigest()[:32]


def _bytes(values: NDArray[Any] | None) -> bytes:
    if values is None:
        return b"none"
    head = f"{values.dtype} {values.shape} ".encode()
    return head + (repr(values.tolist()).encode() if values.dtype == object else np.ascontiguousarray(values).tobytes())
