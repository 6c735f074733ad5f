"""Warnings that point at the line of the user's code from which the library was called."""

from __future__ import annotations

import os
import re
import sys
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from importlib.util import find_spec
from typing import TypeVar

from hideseek.errors import HideSeekWarning

__all__ = ["held_back", "warn_caller", "warned_once"]

_Result = TypeVar("_Result")
_Warning = tuple[str, type[Warning]]

_later: ContextVar[list[_Warning] | None] = ContextVar("later", default=None)


def _folder(package: str) -> str:
    """Return the folder of a package, with a separator at the end, without importing the package."""
    spec = find_spec(package)
    return "" if spec is None or spec.origin is None else os.path.join(os.path.dirname(spec.origin), "")


# scikit-learn's frames are between the caller and this package in score(), in pipelines and around transform().
_LIBRARIES = tuple(folder for folder in map(_folder, ("hideseek", "sklearn", "joblib")) if folder)


def warn_caller(message: str, category: type[Warning] = HideSeekWarning) -> None:
    """Warn at the innermost line of code outside this package and scikit-learn.

    Python 3.12 has ``skip_file_prefixes`` for this, which 3.11 lacks.

    Args:
        message: What happened and what to do.
        category: The class of the warning.
    """
    later = _later.get()
    if later is not None:
        later.append((message, category))
        return
    level, frame = 2, sys._getframe(1)
    while frame.f_back is not None and frame.f_code.co_filename.startswith(_LIBRARIES):
        level, frame = level + 1, frame.f_back
    warnings.warn(message, category, stacklevel=level)


@contextmanager
def held_back() -> Iterator[list[_Warning]]:
    """Collect what ``warn_caller`` is given in this thread: its caller is not known here, and should warn later."""
    collected: list[_Warning] = []
    token = _later.set(collected)
    try:
        yield collected
    finally:
        _later.reset(token)


def warned_once(said: set[str], work: Callable[[], _Result]) -> _Result:
    """Return what the work returns, and give only those of its warnings that are not among ``said``, numbers aside.

    For work in many pieces, each of which would warn of the same. What is given is added to ``said``.
    """
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        result = work()
    for warning in caught:
        text = re.sub(r"\d+", "0", str(warning.message))
        if text not in said:
            said.add(text)
            warn_caller(str(warning.message), warning.category)
    return result
