"""The rows with the smallest keys among many, kept in bounded memory."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from hideseek.scoring._arrow import arrow

__all__ = ["Reservoir"]

_LARGEST = np.iinfo(np.uint64).max


class Reservoir:
    """The rows with the smallest keys, and of each class those with the smallest keys.

    Which rows these are does not depend on the order in which rows are added.

    Args:
        n_rows: How many rows to keep, of whatever class.
        n_of_class: How many rows of each class to keep at least, as far as there are so many.
    """

    def __init__(self, n_rows: int, n_of_class: int) -> None:
        self._n_rows, self._n_of_class = n_rows, n_of_class
        self._tables: list[Any] = []
        self._keys: list[NDArray[np.uint64]] = []
        self._classes: list[NDArray[np.intp]] = []
        self._n_held = 0
        self._bounds = np.empty(0, dtype=np.uint64)  # by class: rows with keys from there on are not kept

    def forget_classes(self) -> None:
        """Keep the rows with the smallest keys alone from now on."""
        self._n_of_class = 0
        self._bounds = np.empty(0, dtype=np.uint64)
        self._classes = [np.zeros(len(keys), dtype=np.intp) for keys in self._keys]

    def add(self, table: Any, keys: NDArray[np.uint64], classes: NDArray[np.intp]) -> None:
        """Add rows.

        Args:
            table: The rows, as an Arrow table.
            keys: Their keys. Shape: ``(rows,)``.
            classes: The number of the class of each. Shape: ``(rows,)``.
        """
        n_new = max(0, int(classes.max(initial=-1)) + 1 - len(self._bounds))
        self._bounds = np.append(self._bounds, np.full(n_new, _LARGEST, dtype=np.uint64))
        kept = np.flatnonzero(keys < self._bounds[classes])
        if not len(kept):
            return
        self._tables.append(table.take(kept))
        self._keys.append(keys[kept])
        self._classes.append(classes[kept])
        self._n_held += len(kept)
        if self._n_held > 2 * (self._n_rows + self._n_of_class * len(self._bounds)):
            self._drop()

    def rows(self) -> Any:
        """Return the rows as an Arrow table, by their keys; after ``n_rows`` come those of the rare classes alone."""
        self._drop()
        return self._tables[0] if self._tables else None

    def _drop(self) -> None:
        """Drop the rows that are not to be kept, and note the keys from which on none will be."""
        if not self._tables:
            return
        keys, classes = np.concatenate(self._keys), np.concatenate(self._classes)
        order = np.argsort(keys, kind="stable")
        kept = np.zeros(len(keys), dtype=bool)
        kept[order[: self._n_rows]] = True
        by_class = order[np.argsort(classes[order], kind="stable")]
        starts = np.searchsorted(classes[by_class], np.arange(len(self._bounds)))
        rank = np.arange(len(keys)) - starts[classes[by_class]]
        kept[by_class[rank < self._n_of_class]] = True
        last = keys[order[self._n_rows - 1]] if len(keys) >= self._n_rows else _LARGEST
        self._bounds[:] = last
        if self._n_of_class:
            whole = by_class[rank == self._n_of_class - 1]  # the last row that each class is sure of
            own = np.full(len(self._bounds), _LARGEST, dtype=np.uint64)
            own[classes[whole]] = keys[whole]
            self._bounds = np.maximum(own, last)
        rows = order[kept[order]]
        self._tables = [arrow().concat_tables(self._tables).take(rows).combine_chunks()]
        self._keys, self._classes, self._n_held = [keys[rows]], [classes[rows]], len(rows)
