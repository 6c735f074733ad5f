"""Batches as engines hand them over: read as frames, and given back in the kind in which they came."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import narwhals as nw

from hideseek.errors import ArgumentTypeError, InputError
from hideseek.scoring._arrow import arrow
from hideseek.wording import some

__all__ = ["feature_columns", "frame_of", "like"]


def frame_of(batch: Any) -> nw.DataFrame[Any]:
    """Return an Arrow table or record batch, a frame of pandas or polars or a dict of arrays as one kind of frame."""
    pa = arrow()
    if isinstance(batch, pa.RecordBatch):
        batch = pa.Table.from_batches([batch])
    elif isinstance(batch, Mapping):
        try:
            batch = pa.table(dict(batch))
        except (pa.ArrowException, TypeError, ValueError) as error:
            raise InputError(f"the batch is a dict that is no table: {error}; pass columns of one length") from error
    frame = nw.from_native(batch, eager_only=True, pass_through=True)
    if not isinstance(frame, nw.DataFrame):
        raise ArgumentTypeError(
            f"a batch must be a table or record batch of pyarrow, a frame of pandas or polars or a dict of arrays, "
            f"and {type(batch).__name__} came"
        )
    return frame


def like(batch: Any, table: Any) -> Any:
    """Return an Arrow table as what the batch is. A pandas frame keeps the index of its batch."""
    pa = arrow()
    if isinstance(batch, pa.RecordBatch):
        return table.combine_chunks().to_batches()[0] if len(table) else pa.RecordBatch.from_pylist([], table.schema)
    if isinstance(batch, Mapping):
        return {name: table[name].to_numpy() for name in table.column_names}
    implementation = frame_of(batch).implementation
    if implementation.is_pandas():
        return table.to_pandas().set_axis(batch.index, axis=0)
    if implementation.is_polars():
        import polars as pl

        return pl.from_arrow(table)
    return table


def feature_columns(model: Any, columns: Sequence[str], carry: Sequence[str], source: str) -> list[str]:
    """Return which of a table's columns the model is to be given.

    A model that was fitted on an array takes all columns that are not carried along, in their order.

    Raises:
        InputError: The table lacks columns, or has too many; the message names the source of the table.
    """
    missing = [name for name in carry if name not in columns]
    if missing:
        raise InputError(f"{source} has no column {some([repr(name) for name in missing])} to carry along")
    names = getattr(model, "feature_names_in_", None)
    if names is None:
        rest = [name for name in columns if name not in carry]
        if len(rest) != model.n_features_in_:
            raise InputError(
                f"{source} has {len(rest)} columns besides those carried along; this model was fitted on an array of "
                f"{model.n_features_in_}: pass as many"
            )
        return rest
    missing = [str(name) for name in names if name not in columns]
    if missing:
        raise InputError(f"{source} lacks {len(missing)} of the model's {len(names)} features: {some(missing)}")
    return [str(name) for name in names]
