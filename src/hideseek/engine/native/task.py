"""Describe a stack to the compiled library."""

from __future__ import annotations

import torch
from torch import Tensor

from hideseek.engine.native.library import MOST_LAYERS, Task
from hideseek.engine.stack import Stack

__all__ = ["describe", "fits", "give"]


def fits(stack: Stack) -> bool:
    """Return whether the library can work on a stack: one on a CPU, with one to seven hidden layers in each network."""
    return (
        stack.parameters.device.type == "cpu"
        and stack.parameters.dtype == torch.float32
        and all(3 <= len(sizes) <= MOST_LAYERS + 1 for sizes in (stack.hide.sizes, stack.seek.sizes))
    )


def describe(task: Task, stack: Stack) -> list[Tensor]:
    """Fill the fields that describe a stack; return the tensors to be kept as long as the task is used."""
    task.n_members, task.n_seeks, task.n_columns = stack.n_members, stack.n_seeks, stack.hide.sizes[0]
    task.n_features = task.n_columns if stack.groups is None else stack.groups.n_features
    task.path = stack.price_range is not None
    for name, sizes in (("hide", stack.hide.sizes), ("seek", stack.seek.sizes)):
        setattr(task, f"n_{name}", len(sizes) - 1)
        getattr(task, name)[: len(sizes)] = sizes
    feature = torch.arange(task.n_columns) if stack.groups is None else stack.groups.feature
    starts = torch.searchsorted(feature, torch.arange(task.n_features + 1))
    tensors = {"first_column": starts.int(), "feature": feature.int(), "parameters": stack.parameters}
    if stack.price_range is not None:
        tensors["log_prices"] = stack.price_range
    return give(task, **tensors)


def give(task: Task, **tensors: Tensor) -> list[Tensor]:
    """Set fields to the addresses of these tensors; return the tensors, to be kept as long as the task is used."""
    kept = [tensor.contiguous() for tensor in tensors.values()]
    for name, tensor in zip(tensors, kept, strict=True):
        setattr(task, name, tensor.data_ptr())
    return kept
