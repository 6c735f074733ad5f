"""A fit that does not come to its end leaves nothing behind that could pass for a fitted model."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

__all__ = ["fitted_or_forgotten"]


@contextmanager
def fitted_or_forgotten(model: object) -> Iterator[None]:
    """Drop everything that a fit learned if it fails or is interrupted."""
    try:
        yield
    except KeyboardInterrupt:
        _forget(model)
        raise KeyboardInterrupt(f"fit was interrupted: this {type(model).__name__} is not fitted") from None
    except BaseException:
        _forget(model)
        raise


def _forget(model: object) -> None:
    for name in [name for name in vars(model) if name in ("_ensemble", "_candidates") or name.endswith("_")]:
        delattr(model, name)
