"""Effects: how the prediction of a row changes when one more of its features is hidden."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from hideseek.errors import FileFormatError, InputError

__all__ = ["Effects"]


class Effects:
    """The effect of every selected feature of every row, on each class or on the value.

    Args:
        selected: The cells that have an effect. Shape: ``(rows, features)``, bool.
        change: For each such cell, in row order, the prediction minus the prediction with that feature hidden as well.
            Shape: ``(selected cells, outputs)``.
        classes: The classes of the output probabilities; None: the only output is the value. Shape: ``(outputs,)``.
    """

    def __init__(self, selected: NDArray[np.bool_], change: NDArray[np.floating], classes: NDArray[Any] | None) -> None:
        self.change, self.classes = change, classes
        self._where = sparse.csr_array(selected, dtype=np.int64)  # position of each cell in change, counted from 1
        self._where.data = np.arange(1, len(change) + 1)

    @property
    def shape(self) -> tuple[int, int]:
        """Number of rows and features."""
        n_rows, n_features = self._where.shape
        return int(n_rows), int(n_features)

    def part(self, rows: Any, features: Any) -> Effects:
        """Return the effects of some rows and features: slices, positions or boolean arrays."""
        part = object.__new__(Effects)
        part.change, part.classes = self.change, self.classes
        part._where = self._where[rows][:, features]
        return part

    def of_class(self, label: Any) -> NDArray[np.float64]:
        """Return the effect on the probability of this class; 0 where there is none. Shape: ``(rows, features)``."""
        if self.classes is None:
            raise InputError(f"effect_of({label!r}): the model predicts values, not classes; use effect")
        found = np.flatnonzero(self.classes == label)
        if not len(found):
            known = ", ".join(map(repr, self.classes.tolist()))
            raise InputError(f"effect_of({label!r}): no such class; the model's classes are {known}")
        return self._dense(np.full(self._where.shape[0], found[0]))

    def of_prediction(self, prediction: NDArray[Any]) -> NDArray[np.float64]:
        """Return the effect on the predicted value, or on the probability of the predicted class.

        Shape: ``(rows,)`` -> ``(rows, features)``.
        """
        if self.classes is None:
            return self._dense(np.zeros(len(prediction), dtype=int))
        return self._dense((prediction[:, None] == self.classes).argmax(axis=1))

    def _dense(self, output: NDArray[np.intp]) -> NDArray[np.float64]:
        """Return the effects on one output per row. Shape: ``(rows,)`` -> ``(rows, features)``."""
        cells = self._where.tocoo()
        table = np.zeros(self._where.shape)
        table[cells.row, cells.col] = self.change[cells.data - 1, output[cells.row]]
        return table

    def to_arrays(self) -> dict[str, NDArray[Any]]:
        """Return all data as arrays by name."""
        cells = self._where.tocsr()
        cells.sort_indices()
        arrays = {"effect_cells": cells.astype(bool).toarray(), "effect_change": self.change[cells.data - 1]}
        return arrays if self.classes is None else {**arrays, "effect_classes": self.classes}

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, NDArray[Any]]) -> Effects | None:
        """Return the effects that ``to_arrays`` described, or None if the arrays contain no effects."""
        if "effect_change" not in arrays or "effect_cells" not in arrays:
            return None
        cells, change, classes = arrays["effect_cells"], arrays["effect_change"], arrays.get("effect_classes")
        n_outputs = 1 if classes is None else classes.size
        if cells.dtype != bool or cells.ndim != 2 or change.shape != (cells.sum(), n_outputs):
            raise FileFormatError(
                f"the effects of an explanation do not fit together: {change.shape} numbers for "
                f"{int(cells.sum())} cells and {n_outputs} outputs"
            )
        return cls(cells, change, classes)
