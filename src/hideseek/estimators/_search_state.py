"""What a search left with a model, as arrays and JSON, and back."""

from __future__ import annotations

from dataclasses import fields
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hideseek.persistence import Arrays, Description
from hideseek.search import PenaltyPath, Screening
from hideseek.search.learned import Learned
from hideseek.search.screening import REASONS
from hideseek.stand_ins import StandIn

__all__ = ["search_from", "stand_ins_from", "state_of_search", "state_of_stand_ins", "with_prefix"]

_PATH, _SCREENING, _COPIES = "path.", "screening.", "copies"


def state_of_search(learned: Learned) -> tuple[dict[str, NDArray[Any]], Description]:
    """Return the path, the screening and the copies; empty where there are none."""
    arrays: dict[str, NDArray[Any]] = {}
    description: Description = {}
    for field in fields(PenaltyPath) if learned.path is not None else ():
        value = getattr(learned.path, field.name)
        if isinstance(value, np.ndarray):
            arrays[_PATH + field.name] = value
        elif value is not None:
            description[field.name] = value
    if learned.screening is not None:
        screening = learned.screening
        codes = np.array([REASONS.index(reason) for reason in screening.reason.tolist()], dtype=np.int8)
        parts = {"score": screening.score, "kept": screening.kept, "reason": codes, "others": screening.others}
        arrays |= {_SCREENING + name: array for name, array in parts.items()}
    if learned.copies:
        arrays[_COPIES] = np.array(sorted(learned.copies.items()), dtype=np.int64)
    return arrays, description


def search_from(arrays: Arrays, description: Description, *, answers_for_range: bool) -> dict[str, Any]:
    """Return the parts of ``Learned`` that ``state_of_search`` saw."""
    path: dict[str, Any] = with_prefix(arrays, _PATH)
    screening = with_prefix(arrays, _SCREENING)
    if screening:
        screening["reason"] = np.array(REASONS)[screening["reason"]]
    copies = dict(arrays[_COPIES].tolist()) if _COPIES in arrays else {}
    return {
        "path": PenaltyPath(**path, **description) if path else None,
        "screening": Screening(**screening) if screening else None,
        "copies": copies if answers_for_range else None,
    }


def state_of_stand_ins(learned: Learned) -> Description | None:
    """Return the stand-ins as JSON, None where they are not known."""
    if learned.stand_ins is None:
        return None
    return {name: [list(each) for each in found] for name, found in learned.stand_ins.items()}


def stand_ins_from(description: Description | None) -> dict[str, tuple[StandIn, ...]] | None:
    """Return what ``state_of_stand_ins`` saw; older files do not know them."""
    if description is None:
        return None
    return {name: tuple(StandIn(*each) for each in found) for name, found in description.items()}


def with_prefix(arrays: Arrays, prefix: str) -> dict[str, NDArray[Any]]:
    """Return the arrays whose names begin with the prefix, without it."""
    return {name.removeprefix(prefix): array for name, array in arrays.items() if name.startswith(prefix)}
