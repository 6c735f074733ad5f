"""A model as a function of batches, for engines that bring the rows."""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import narwhals as nw
import numpy as np
from numpy.typing import NDArray

from hideseek.errors import ArgumentTypeError, InputError
from hideseek.files import as_path
from hideseek.persistence import digest_in, load
from hideseek.scoring._arrow import arrow
from hideseek.scoring._batches import feature_columns, frame_of, like
from hideseek.scoring._outputs import OUTPUTS, unpack_bits
from hideseek.tables import names_of_fit
from hideseek.wording import listed

__all__ = ["Scorer"]


class Scorer:
    """Explain rows batch by batch: a function from a batch to a batch, for Ray, Spark, Dask and loops of your own.

    A batch is a table or record batch of pyarrow, a frame of pandas or polars, or a dict of arrays; the answer is of
    the same kind, with a line for each row. A path is read when the first batch comes. A pickle holds the path or,
    where a model was given, the content of the model's file.

    - Ray: ``dataset.map_batches(scorer, batch_format="pyarrow")``, or with actors
      ``dataset.map_batches(Scorer, fn_constructor_args=(path,), concurrency=4, batch_format="pyarrow")``
    - Spark: ``frame.mapInArrow(scorer.stream, schema)``
    - Dask: ``frame.map_partitions(scorer)``

    Args:
        model: A fitted model, or the path of a saved one.
        outputs: Columns of the answer. "prediction"; "probability", of the predicted class; "n_selected"; "selected",
            the names of the selected features, the most important first; "selected_bits", the same as bits, feature j
            being bit j % 8 of byte j // 8; "mask" and "effect", lists of a number for each feature; "sentence".
        carry: Columns of the batch, such as ids, that the answer begins with.

    Example:
        >>> import pandas as pd
        >>> from hideseek import HideSeekClassifier, Scorer
        >>> from hideseek.datasets import make_syn
        >>> data = make_syn("Syn1", n_samples=1000, random_state=0)
        >>> rows = pd.DataFrame(data.X, columns=[f"x{j}" for j in range(1, 12)])
        >>> model = HideSeekClassifier("fast", random_state=0).fit(rows, data.y)
        >>> scorer = Scorer(model, outputs=("prediction", "n_selected"), carry=["x1"])
        >>> scorer(rows.head(3)).columns.tolist()
        ['x1', 'prediction', 'n_selected']
    """

    def __init__(
        self,
        model: str | os.PathLike[str] | Any,
        outputs: Sequence[str] = ("prediction", "selected"),
        carry: Sequence[str] = (),
    ) -> None:
        self.outputs = _checked_names("outputs", outputs)
        self.carry = _checked_names("carry", carry)
        unknown = [repr(name) for name in self.outputs if name not in OUTPUTS]
        if unknown or not self.outputs:
            raise InputError(f"outputs: expected some of {listed(OUTPUTS)}; {', '.join(unknown) or 'nothing'} came")
        both = [name for name in self.carry if name in self.outputs]
        if both:
            raise InputError(f"carry and outputs both have {both[0]!r}; rename that column of the table")
        self._model: Any = None
        self._path: str | None = None
        if hasattr(model, "explain"):
            self._model = model
        elif isinstance(model, str | os.PathLike):
            self._path = os.path.abspath(as_path(model))  # a worker of a cluster runs in another folder
        else:
            raise ArgumentTypeError(f"model must be a fitted model or a path, and {type(model).__name__} came")

    @property
    def model(self) -> Any:
        """The fitted model, read from its file on first use."""
        if self._model is None:
            self._model = load(str(self._path))
        return self._model

    @property
    def feature_names(self) -> list[str]:
        """The features that masks, effects and bits are about, in their order."""
        encoder = getattr(self.model, "encoder_", None)
        return list(names_of_fit(self.model) if encoder is None else encoder.feature_names)

    @property
    def schema(self) -> Any:
        """The Arrow schema of the outputs, without carried columns; its metadata names the features."""
        pa = arrow()
        fields = [pa.field(name, OUTPUTS[name].type_of(self.model)) for name in self.outputs]
        return pa.schema(fields, metadata={"hideseek.features": json.dumps(self.feature_names)})

    def schema_for(self, given: Any) -> Any:
        """Return the Arrow schema of answers to batches of this schema: the carried columns, then the outputs."""
        own = self.schema
        return arrow().schema([*(given.field(name) for name in self.carry), *own], metadata=own.metadata)

    def __call__(self, batch: Any) -> Any:
        """Return the answer to each row of a batch, as a batch of the same kind."""
        return like(batch, self.explain_frame(frame_of(batch), "the batch"))

    def stream(self, batches: Iterable[Any]) -> Iterator[Any]:
        """Answer one batch after another: what Spark's ``mapInArrow`` takes."""
        return map(self, batches)

    def unpack(self, bits: Any) -> NDArray[np.bool_]:
        """Return the selection in a column "selected_bits". Shape: ``(rows, features)``."""
        return unpack_bits(bits, len(self.feature_names))

    def explain_frame(self, frame: nw.DataFrame[Any], source: str, first_row: int = 0) -> Any:
        """Return the answers as an Arrow table.

        Args:
            frame: The rows.
            source: What the rows are called in errors.
            first_row: The number that sentences give to the first row, where rows have no labels of their own.
        """
        pa = arrow()
        names = feature_columns(self.model, frame.columns, self.carry, source)
        carried = _arrow_table(frame.select(list(self.carry))) if self.carry else None
        given = pa.schema([]) if carried is None else carried.schema
        schema = self.schema_for(given)
        if not len(frame):  # Dask asks with an empty frame what an answer looks like
            return schema.empty_table()
        rows = frame.select(names)
        explanation = self.model.explain(rows.to_native() if self._by_name else rows.to_numpy())
        if first_row:
            explanation.row_labels = np.arange(first_row, first_row + len(frame))
        columns = [] if carried is None else carried.columns
        columns += [OUTPUTS[name].values(explanation, schema.field(name).type) for name in self.outputs]
        return pa.Table.from_arrays(columns, schema=schema)

    @property
    def _by_name(self) -> bool:
        return hasattr(self.model, "feature_names_in_")

    @property
    def digest(self) -> str:
        """What tells the model from all others."""
        with self._saved() as file:
            return digest_in(file)

    @contextmanager
    def _saved(self) -> Iterator[Path]:
        """Give a file of the model, which is there for a while."""
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder) / "model.safetensors"
            self.model.save(file)
            yield file

    def __dask_tokenize__(self) -> tuple[str, ...]:
        """Tell Dask when two scorers are the same, which their pickles do not: those of one model may differ."""
        return ("hideseek.Scorer", self.digest, *self.outputs, "", *self.carry)

    def __getstate__(self) -> dict[str, Any]:
        saved: str | bytes | None = self._path
        if saved is None:
            with self._saved() as file:
                saved = file.read_bytes()
        return {"outputs": self.outputs, "carry": self.carry, "saved": saved}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.outputs, self.carry, saved = state["outputs"], state["carry"], state["saved"]
        self._model, self._path = None, saved if isinstance(saved, str) else None
        if isinstance(saved, bytes):
            with tempfile.TemporaryDirectory() as folder:
                file = Path(folder) / "model.safetensors"
                file.write_bytes(saved)
                self._model = load(file)

    def __repr__(self) -> str:
        what = repr(self._path) if self._path is not None else type(self._model).__name__
        return f"Scorer({what}, outputs={self.outputs}, carry={self.carry})"


def _checked_names(argument: str, names: Sequence[str]) -> tuple[str, ...]:
    if isinstance(names, str) or not isinstance(names, Sequence) or not all(isinstance(name, str) for name in names):
        raise ArgumentTypeError(f"{argument} must be a list of names, and {names!r} came")
    twice = [name for name in names if list(names).count(name) > 1]
    if twice:
        raise InputError(f"{argument} has {twice[0]!r} twice; name each column once")
    return tuple(names)


def _arrow_table(frame: nw.DataFrame[Any]) -> Any:
    """Return the columns as an Arrow table, without the index of a pandas frame."""
    if frame.implementation.is_pandas():
        return arrow().Table.from_pandas(frame.to_native(), preserve_index=False).replace_schema_metadata(None)
    return frame.to_arrow()
