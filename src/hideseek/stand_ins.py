"""Columns that could replace a feature, and the increase of the prediction loss."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from hideseek.errors import FileFormatError

__all__ = ["StandIn", "StandIns", "as_good_as", "best_stand_ins", "from_arrays", "stand_in_columns", "to_arrays"]

_AS_WELL, _AT_WORST = 0.1, 0.3
"""A stand-in does as well if its loss is at most this share of ``loss_hidden``, as measured and plus two standard
errors."""


class StandIn(NamedTuple):
    """A column that could replace a feature.

    All losses are means over held-out rows that select the feature, in units of the price: nats for classes, shares of
    the target's variance for values.

    Attributes:
        name: The column.
        loss: Increase of the prediction loss when the feature is replaced by values drawn given this column.
        standard_error: Standard error of the loss.
        loss_hidden: Increase of the prediction loss when the feature is hidden.
    """

    name: str
    loss: float
    standard_error: float
    loss_hidden: float

    @property
    def does_as_well(self) -> bool:
        """Return whether the loss is small compared with that of hiding the feature."""
        at_worst = self.loss + 2 * self.standard_error
        return self.loss <= _AS_WELL * self.loss_hidden and at_worst <= _AT_WORST * self.loss_hidden


StandIns = Mapping[str, tuple[StandIn, ...]]
"""The stand-ins of features by name, smallest loss first."""


def stand_in_columns(
    stand_ins: StandIns, names: Sequence[str], selected: NDArray[np.bool_], row_labels: NDArray[Any]
) -> dict[str, NDArray[Any]]:
    """Return the columns of a table with one line per stand-in of each selected feature of each row."""
    pairs = [(j, each) for j, name in enumerate(names) for each in stand_ins.get(name, ())]
    rows, pair = np.nonzero(selected[:, [j for j, _ in pairs]])
    features = np.array([names[j] for j, _ in pairs], dtype=object)
    columns = {field: np.array([getattr(each, field) for _, each in pairs]) for field in StandIn._fields[1:]}
    return {
        "row": row_labels[rows],
        "feature": features[pair],
        "stand_in": np.array([each.name for _, each in pairs], dtype=object)[pair],
        **{field: values.astype(np.float64)[pair] for field, values in columns.items()},
    }


def as_good_as(feature: str, stand_ins: StandIns | None) -> list[str]:
    """Return the columns that would have done as well as a feature, the best first."""
    return [each.name for each in (stand_ins or {}).get(feature, ()) if each.does_as_well]


def best_stand_ins(
    stand_ins: StandIns | None, names: Sequence[str], selected: NDArray[np.bool_]
) -> NDArray[Any] | None:
    """Return, for each selected feature, the column that would have done as well; None if no feature has one.

    A column that is selected in the same row does not count. Shape: ``(rows, features)``, names or None.
    """
    found = {j: as_good_as(name, stand_ins) for j, name in enumerate(names)}
    if not any(found.values()):
        return None
    best = np.full(selected.shape, None, dtype=object)
    place = {name: j for j, name in enumerate(names)}
    for j, columns in found.items():
        for column in reversed(columns):
            free = selected[:, j] if column not in place else selected[:, j] & ~selected[:, place[column]]
            best[free, j] = column
    return best


def to_arrays(stand_ins: StandIns) -> dict[str, NDArray[Any]]:
    """Return names ``(pairs, 2)`` and losses ``(pairs, 3)`` as arrays by name."""
    pairs = [(feature, *each) for feature, found in stand_ins.items() for each in found]
    return {
        "stand_in_names": np.array([pair[:2] for pair in pairs], dtype=str).reshape(-1, 2),
        "stand_in_losses": np.array([pair[2:] for pair in pairs], dtype=np.float64).reshape(-1, 3),
    }


def from_arrays(arrays: Mapping[str, NDArray[Any]]) -> StandIns | None:
    """Return the stand-ins that ``to_arrays`` described, or None if the arrays contain none."""
    if "stand_in_names" not in arrays or "stand_in_losses" not in arrays:
        return None
    names, losses_of = arrays["stand_in_names"], arrays["stand_in_losses"]
    if names.ndim != 2 or names.shape[1] != 2 or losses_of.shape != (len(names), 3):
        raise FileFormatError(f"its stand-ins do not fit together: {names.shape} names, {losses_of.shape} losses")
    found: dict[str, tuple[StandIn, ...]] = {}
    for (feature, name), losses in zip(names.tolist(), losses_of.tolist(), strict=True):
        found[feature] = (*found.get(feature, ()), StandIn(name, *losses))
    return found
