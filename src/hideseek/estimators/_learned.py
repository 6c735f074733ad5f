"""Attributes of an estimator that show what it has learned."""

from __future__ import annotations

from typing import Generic, TypeVar, cast

__all__ = ["LearnedAttribute"]

_Value = TypeVar("_Value")


class LearnedAttribute(Generic[_Value]):
    """Shows the part of ``learned_`` that has the same name without the underscore.

    Before a fit, and where a fit has learned nothing of the kind, there is no such attribute.
    """

    def __set_name__(self, owner: type, name: str) -> None:
        self._name = name

    def __get__(self, instance: object, owner: type) -> _Value:
        if instance is None:
            return cast(_Value, self)
        value = getattr(vars(instance).get("learned_"), self._name.removesuffix("_"), None)
        if value is None:
            raise AttributeError(f"{type(instance).__name__} has no {self._name}; fit it first, or see when it has one")
        return cast(_Value, value)
