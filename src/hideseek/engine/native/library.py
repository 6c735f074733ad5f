"""Load the compiled library, and define the structures it is called with."""

from __future__ import annotations

import ctypes
import os
from ctypes import POINTER, byref, c_char_p, c_float, c_int, c_int64, c_void_p
from functools import cache
from pathlib import Path

from hideseek.engine.native.compile import LIBRARY, source_digest

__all__ = ["MOST_LAYERS", "MOST_ROWS", "Question", "Task", "load", "sizes"]

MOST_LAYERS, MOST_ROWS = 8, 64
"""As in ``step.h``."""

_Sizes = c_int64 * (MOST_LAYERS + 1)


class Task(ctypes.Structure):
    """The inputs of training; each field is explained in ``step.h``."""

    _fields_ = [
        *((name, c_int64) for name in ("n_members", "n_seeks", "n_features", "n_columns", "n_rows", "n_own")),
        *((name, c_int64) for name in ("batch_size", "loss", "path", "n_hide", "n_seek")),
        ("hide", _Sizes),
        ("seek", _Sizes),
        *((name, c_void_p) for name in ("first_column", "feature", "x", "x_columns")),
        *((name, c_void_p) for name in ("target", "weight", "selected", "table", "own_rows")),
        *((name, c_void_p) for name in ("batch_keys", "replacement_keys", "price_keys")),
        *((name, c_void_p) for name in ("price", "visible", "log_prices")),
        *((name, c_void_p) for name in ("parameters", "trainable", "moments", "loss_sum", "mask_sum")),
        *((name, c_float) for name in ("beta1", "beta2", "epsilon", "farthest_logit", "logit_pull")),
    ]


class Question(ctypes.Structure):
    """What the members of a stack are asked; each field is explained in ``step.h``."""

    _fields_ = [
        *((name, c_int64) for name in ("n_rows", "n_draws", "n_turns", "softmax")),
        *((name, c_void_p) for name in ("x", "shown", "draws", "u", "lines", "share", "weights", "out")),
        *((name, c_float) for name in ("threshold", "half_width", "lowest", "highest")),
        ("n_halvings", c_int64),
    ]


def sizes(library: ctypes.CDLL, level: int, task: Task) -> tuple[int, int, int]:
    """Return the floats of a member's weights, of a part of its batch, and of the room in which a thread works."""
    weights, part, room = found = c_int64(), c_int64(), c_int64()
    library.hideseek_sizes(level, byref(task), *map(byref, found))
    return weights.value, part.value, room.value


def load() -> ctypes.CDLL | None:
    """Return the library; None where it was not compiled from these sources, or HIDESEEK_NATIVE=0 turns it off."""
    return None if os.environ.get("HIDESEEK_NATIVE") == "0" else _load(Path(__file__).with_name(LIBRARY))


@cache
def _load(path: Path) -> ctypes.CDLL | None:
    try:
        library = ctypes.CDLL(str(path))
        library.hideseek_sources.restype = c_char_p
        if library.hideseek_sources().decode() != source_digest(path.parent):
            return None  # compiled from another version, whose structures may differ
    except (OSError, AttributeError):
        return None
    task, question = POINTER(Task), POINTER(Question)
    library.hideseek_levels.argtypes = []
    library.hideseek_sizes.argtypes = [c_int, task, *[POINTER(c_int64)] * 3]
    library.hideseek_run.argtypes = [c_int, task, c_void_p, c_int64, c_int64, c_int64, c_void_p]
    library.hideseek_learn.argtypes = [c_int, task, c_void_p, *[c_int64] * 4, c_void_p, c_void_p]
    library.hideseek_move.argtypes = [c_int, task, c_void_p, c_int64, c_int64, c_void_p, c_void_p]
    library.hideseek_pack.argtypes = [c_int, task, c_void_p, c_void_p]
    for name in ("masks", "entries", "outputs"):
        getattr(library, f"hideseek_{name}").argtypes = [c_int, task, question, c_void_p]
    for name in ("sizes", "run", "learn", "move", "pack", "masks", "entries", "outputs"):
        getattr(library, f"hideseek_{name}").restype = None
    return library
