"""What a search left with a model, as arrays and JSON, and back."""

from __future__ import annotations

from dataclasses import fields
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hideseek.persistence import Arrays, Description
from hideseek.search import PenaltyPath, Screening
from hideseek.search.screening import REASONS
from hideseek.stand_ins import StandIn

__all__ = ["restore_search", "restore_stand_ins", "state_of_search", "state_of_stand_ins", "with_prefix"]

_PATH, _SCREENING, _COPIES = "path.", "screening.", "copies"


def state_of_search(model: Any) -> tuple[dict[str, NDArray[Any]], Description]:
    """Return the path and the screening; empty where there is neither."""
    arrays: dict[str, NDArray[Any]] = {}
    description: Description = {}
    if hasattr(model, "path_"):
        for field in fields(PenaltyPath):
            value = getattr(model.path_, field.name)
            if value is None:
                continue
            if isinstance(value, np.ndarray):
                arrays[_PATH + field.name] = value
            else:
                description[field.name] = value
    if hasattr(model, "screening_"):
        screening: Screening = model.screening_
        codes = np.array([REASONS.index(reason) for reason in screening.reason.tolist()], dtype=np.int8)
        parts = {"score": screening.score, "kept": screening.kept, "reason": codes, "others": screening.others}
        arrays |= {_SCREENING + name: array for name, array in parts.items()}
    if getattr(model, "copies_", None):
        arrays[_COPIES] = np.array(sorted(model.copies_.items()), dtype=np.int64)
    return arrays, description


def restore_search(model: Any, arrays: Arrays, description: Description) -> None:
    """Give back to a model what ``state_of_search`` saw."""
    path: dict[str, Any] = with_prefix(arrays, _PATH)
    if path:
        model.path_ = PenaltyPath(**path, **description)
    screening = with_prefix(arrays, _SCREENING)
    if screening:
        screening["reason"] = np.array(REASONS)[screening["reason"]]
        model.screening_ = Screening(**screening)
    if model.recipe_.highest_prices:
        model.copies_ = dict(arrays[_COPIES].tolist()) if _COPIES in arrays else {}


def state_of_stand_ins(model: Any) -> Description | None:
    """Return the stand-ins as JSON, None where they are not known."""
    if not hasattr(model, "stand_ins_"):
        return None
    return {name: [list(each) for each in found] for name, found in model.stand_ins_.items()}


def restore_stand_ins(model: Any, description: Description | None) -> None:
    """Give back to a model what ``state_of_stand_ins`` saw; older files do not know them."""
    if description is not None:
        model.stand_ins_ = {name: tuple(StandIn(*each) for each in found) for name, found in description.items()}


def with_prefix(arrays: Arrays, prefix: str) -> dict[str, NDArray[Any]]:
    """The arrays whose names begin with the prefix, without it."""
    return {name.removeprefix(prefix): array for name, array in arrays.items() if name.startswith(prefix)}
