"""Start a fit from an unfitted model, so that an interrupted fit leaves it unfitted."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TypeVar

import torch

__all__ = ["fitted_or_forgotten", "gradients_as_before"]

_Model = TypeVar("_Model")

_PRIVATE = frozenset(["_loss", "_price_per_feature", "_target_center", "_target_scale", "_center", "_scale"])
"""What a fit learns besides the attributes that end in an underscore."""


@contextmanager
def fitted_or_forgotten(model: _Model) -> Iterator[_Model]:
    """Give an unfitted copy of the model to fit, whose state becomes the model's own at the end.

    What the model had learned before is dropped in one step at the start, and what the copy has learned is taken over
    in one step at the end. So whenever a fit fails or is interrupted, the model is not fitted; it never has a part of a
    state, or parts of two. Only an interrupt that comes before the first of these steps finds it as it was.
    """
    bare = {name: value for name, value in vars(model).items() if not (name.endswith("_") or name in _PRIVATE)}
    fresh = object.__new__(type(model))
    fresh.__dict__ = dict(bare)
    model.__dict__ = bare
    try:
        with gradients_as_before():
            yield fresh
    except KeyboardInterrupt:
        raise KeyboardInterrupt(f"fit was interrupted: this {type(model).__name__} is not fitted") from None
    model.__dict__ = fresh.__dict__


@contextmanager
def gradients_as_before() -> Iterator[None]:
    """Switch gradients on or off at the end, as they were at the start.

    An interrupt between the lines of ``torch.no_grad`` leaves them off, and then no model of this process can learn.
    """
    before = torch.is_grad_enabled()
    try:
        yield
    finally:
        torch.set_grad_enabled(before)
