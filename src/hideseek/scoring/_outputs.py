"""The columns that a scorer can put out: the Arrow type of each, and its values for explained rows.

All types are among those that Spark, Ray, Dask and Parquet share. Parquet codes names, bits and labels by dictionary.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from hideseek.errors import InputError
from hideseek.explanation import Explanation
from hideseek.scoring._arrow import arrow

__all__ = ["OUTPUTS", "Output", "unpack_bits"]


class Output(NamedTuple):
    """One column.

    Attributes:
        type_of: Gives the Arrow type for a fitted model.
        values: Gives the column, of that type, for an explanation.
    """

    type_of: Callable[[Any], Any]
    values: Callable[[Explanation, Any], Any]


def _prediction_type(model: Any) -> Any:
    pa = arrow()
    classes = getattr(model, "classes_", None)
    if classes is None:
        return pa.float64()
    try:
        return pa.array(classes.tolist() if classes.dtype == object else classes).type
    except pa.ArrowException:  # labels of several types
        return pa.string()


def _prediction(explanation: Explanation, type_: Any) -> Any:
    pa = arrow()
    values = _known("prediction", explanation.prediction)
    return pa.array(values.astype(str) if pa.types.is_string(type_) else values, type=type_)


def _probability(explanation: Explanation, type_: Any) -> Any:
    return arrow().array(_known("probability", explanation.probability), type=type_)


def _n_selected(explanation: Explanation, type_: Any) -> Any:
    return arrow().array(explanation.n_selected, type=type_)


def _selected(explanation: Explanation, type_: Any) -> Any:
    """Return the names of the selected features of each row, the most important first."""
    pa = arrow()
    order = np.argsort(-explanation.importance, axis=1, kind="stable")
    features = order[np.take_along_axis(explanation.selected, order, axis=1)]
    names = pa.array(explanation.feature_names, type=pa.string()).take(pa.array(features))
    return pa.ListArray.from_arrays(_offsets(explanation.n_selected), names, type=type_)


def _bits(explanation: Explanation, type_: Any) -> Any:
    """Return the selection of each row as bits: feature j is bit j % 8 of byte j // 8."""
    pa = arrow()
    packed = np.packbits(explanation.selected, axis=1, bitorder="little")
    offsets = _offsets(np.full(len(packed), packed.shape[1]))
    return pa.Array.from_buffers(type_, len(packed), [None, offsets.buffers()[1], pa.py_buffer(packed.tobytes())])


def unpack_bits(bits: Any, n_features: int) -> NDArray[np.bool_]:
    """Return the selection that a column of bits says. Shape: ``(rows, features)``."""
    rows = bits.to_pylist() if hasattr(bits, "to_pylist") else list(bits)
    packed = np.frombuffer(b"".join(rows), dtype=np.uint8).reshape(len(rows), -(-n_features // 8))
    return np.unpackbits(packed, axis=1, count=n_features, bitorder="little").astype(bool)


def _mask(explanation: Explanation, type_: Any) -> Any:
    return _lists(explanation.importance, type_)


def _effect(explanation: Explanation, type_: Any) -> Any:
    return _lists(_known("effect", explanation.effect), type_)


def _sentence(explanation: Explanation, type_: Any) -> Any:
    _ = explanation.prediction, explanation.effect  # of all rows at once, not one by one
    return arrow().array([explanation.describe(row) for row in range(len(explanation))], type=type_)


def _lists(cells: NDArray[Any], type_: Any) -> Any:
    pa = arrow()
    values = pa.array(cells.reshape(-1), type=type_.value_type)
    return pa.ListArray.from_arrays(_offsets(np.full(len(cells), cells.shape[1])), values, type=type_)


def _offsets(lengths: NDArray[np.integer]) -> Any:
    return arrow().array(np.concatenate(([0], np.cumsum(lengths))), type=arrow().int32())


def _known(name: str, values: NDArray[Any] | None) -> NDArray[Any]:
    if values is None:
        raise InputError(f"outputs: this model gives no {name}; leave {name!r} out")
    return values


OUTPUTS = {
    "prediction": Output(_prediction_type, _prediction),
    "probability": Output(lambda _: arrow().float32(), _probability),
    "n_selected": Output(lambda _: arrow().int32(), _n_selected),
    "selected": Output(lambda _: arrow().list_(arrow().string()), _selected),
    "selected_bits": Output(lambda _: arrow().binary(), _bits),
    "mask": Output(lambda _: arrow().list_(arrow().float32()), _mask),
    "effect": Output(lambda _: arrow().list_(arrow().float64()), _effect),
    "sentence": Output(lambda _: arrow().string(), _sentence),
}
"""By name; to add one, add it here."""
