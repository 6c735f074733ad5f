"""The training loop for all members of a stack."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import closing, suppress
from dataclasses import replace
from functools import partial
from importlib.util import find_spec
from itertools import pairwise

import numpy as np
import torch
from torch import Tensor

from hideseek.engine.conditional import Conditional
from hideseek.engine.device import one_thread
from hideseek.engine.draws import Keys, Stream
from hideseek.engine.eager import eager_steps
from hideseek.engine.graph import ReplayedSteps
from hideseek.engine.groups import Groups
from hideseek.engine.hideseek import prediction_loss
from hideseek.engine.native import fits, native_available, native_steps
from hideseek.engine.networks import Mlp
from hideseek.engine.objective import PREDICTION_LOSSES, annealed, as_outputs
from hideseek.engine.recipe import Recipe
from hideseek.engine.replacement import Marginal, Replacement
from hideseek.engine.stack import Batch, Data, History, Members, Stack, initial_stack
from hideseek.engine.steps import Problem, Steps
from hideseek.errors import TrainingError

__all__ = ["Progress", "check_finite", "choose_steps", "train"]

_RECORDS = 100

Progress = Callable[[int, float, float, float], None]
"""Called at each record with the step, the annealed share, the mean prediction loss and the mean sum of the mask."""


def train(
    recipe: Recipe,
    data: Data,
    members: Members,
    *,
    loss: str,
    n_outputs: int,
    device: torch.device,
    validation: Data | None = None,
    replacement: Replacement | None = None,
    groups: Groups | None = None,
    on_progress: Progress | None = None,
) -> tuple[Stack, History]:
    """Train all members at once; each member's result is independent of the others.

    Args:
        recipe: The training settings. Its ``n_members`` and ``column_fraction`` are already applied in ``members``.
        data: The training tables, on any device.
        members: Seeds, prices, features and tables of the members.
        loss: A name in ``PREDICTION_LOSSES``.
        n_outputs: Outputs of Seek: the classes, or one.
        device: Where to train.
        validation: Held-out rows of the same tables, whose loss is recorded.
        replacement: How a hidden value is drawn; None: from the marginals of ``data``.
        groups: The columns of each feature, on ``device``; None: one each.
        on_progress: Called up to a hundred times.

    Returns:
        The trained stack, on ``device``, and its history.

    Raises:
        TrainingError: A loss became infinite or NaN, or the model does not fit into memory.
    """
    attempt = partial(
        _train, recipe, loss=loss, n_outputs=n_outputs, device=device, groups=groups, on_progress=on_progress
    )
    try:
        return attempt(data, members, validation, replacement)
    except torch.OutOfMemoryError as error:
        if len(members) == 1:
            rows, columns = data.X.shape[1:]
            raise TrainingError(
                f"a model of {columns} columns and a table of {rows} rows, {recipe.batch_size or rows} of them in a "
                f'step, do not fit into the memory of {device}; lower batch_size, or use device="cpu"'
            ) from error
    # Members are independent: halve the stack, after the memory of the failed attempt is released.
    torch.cuda.empty_cache()
    halves = []
    for part in (slice(0, len(members) // 2), slice(len(members) // 2, None)):
        tables, own = np.unique(members.table[part], return_inverse=True)
        half = train(
            recipe,
            data.of(tables),
            replace(members.part(part), table=own),
            loss=loss,
            n_outputs=n_outputs,
            device=device,
            validation=None if validation is None else validation.of(tables),
            replacement=None if replacement is None else replacement.part(part),
            groups=groups,
            on_progress=on_progress,
        )
        halves.append(half)
    (stack, history), (others, their_history) = halves
    return stack.joined(others), history.joined(their_history)


def _train(
    recipe: Recipe,
    data: Data,
    members: Members,
    validation: Data | None,
    replacement: Replacement | None,
    *,
    loss: str,
    n_outputs: int,
    device: torch.device,
    groups: Groups | None,
    on_progress: Progress | None,
) -> tuple[Stack, History]:
    """Train as ``train`` does, for members that fit into memory together."""
    data = data.to(device)
    n_columns = data.X.shape[2]
    n_features = n_columns if groups is None else groups.n_features
    more = 0 if members.lowest_price is None else 1
    hide = Mlp((n_columns, *recipe.hidden_layers, n_features * (1 + more)))
    seek = Mlp((n_columns + more, *recipe.hidden_layers, n_outputs))
    stack, trainable = initial_stack(hide, seek, members, device, recipe.n_seeks, groups)
    seeds, table = torch.from_numpy(members.seeds).to(device), torch.from_numpy(members.table).to(device)
    price, visible = (torch.from_numpy(part).float().to(device) for part in (members.price, members.visible))
    fold = None if members.fold is None else torch.from_numpy(members.fold).to(device)
    problem = Problem(recipe, data, loss, stack, trainable, seeds, table, price, visible, fold)
    held_out = None if validation is None else _held_out(validation.to(device), table, n_outputs)

    def validation_loss(step: int) -> Tensor | None:
        if held_out is None:
            return None
        keys = Keys(seeds, Stream.VALIDATION).at(torch.tensor([step], device=device))[0]
        x_hat = (replacement or Marginal(data.columns, table, groups)).draw(keys, held_out[0])
        conditional = replacement if isinstance(replacement, Conditional) else None
        return prediction_loss(stack, PREDICTION_LOSSES[loss], held_out, x_hat, conditional)

    recorder = _Recorder(recipe, validation_loss, on_progress)
    with (
        torch.inference_mode(),
        one_thread() as n_threads,
        closing(choose_steps(problem, replacement, n_threads)) as steps,
    ):
        for start, stop in pairwise(_record_ends(recipe.steps)):
            steps.run(stop - start)
            recorder.add(stop, steps.take_losses(stop - start))
    return stack, recorder.history()


def choose_steps(problem: Problem, replacement: Replacement | None, n_threads: int) -> Steps | ReplayedSteps:
    """Return the fastest steps for the device: C or torch on a CPU, a fused kernel or a CUDA graph on a GPU."""
    groups = problem.stack.groups
    if replacement is None and native_available() and fits(problem.stack):
        return native_steps(problem, n_threads)
    if problem.seeds.device.type != "cuda":
        return eager_steps(problem, replacement or Marginal(problem.data.columns, problem.table, groups), n_threads)
    if replacement is not None:
        return ReplayedSteps(eager_steps(problem, replacement))
    marginal = Marginal(problem.data.columns, problem.table, groups)
    if _has_kernels(problem.seeds.device):
        from hideseek.engine import fused

        if fused.pays(problem):
            with suppress(fused.TooSmallCardError):
                return ReplayedSteps(fused.fused_steps(problem))
        if groups is None:
            marginal = fused.FusedMarginal(problem.data.columns, problem.table)
    return ReplayedSteps(eager_steps(problem, marginal))


def check_finite(loss: Tensor, step: int, steps: int) -> None:
    """Raise a TrainingError if the loss of a member is infinite or NaN. Shape: ``(members,)``."""
    broken = torch.nonzero(~torch.isfinite(loss))
    if len(broken):
        raise TrainingError(
            f"the loss of member {int(broken[0])} is no longer finite at step {step} of {steps}; "
            "lower learning_rate, or look for extreme values in X and y"
        )


def _has_kernels(device: torch.device) -> bool:
    """Return whether Triton kernels can be compiled here, for a GPU whose tensor cores take single precision."""
    return find_spec("triton") is not None and torch.cuda.get_device_capability(device) >= (8, 0)


def _held_out(data: Data, table: Tensor, n_outputs: int) -> Batch:
    x, target, weight = data.tables(table)
    return x, target if target.dim() == 3 else as_outputs(target, n_outputs), weight


def _record_ends(steps: int) -> list[int]:
    """Return 0 and the steps after which a history record is taken: at most a hundred."""
    ends: list[int] = np.linspace(0, steps, min(_RECORDS, steps) + 1).astype(int).tolist()
    return ends


class _Recorder:
    """Stores the history on the device until the end, so that a GPU is not synchronised at each record."""

    def __init__(
        self, recipe: Recipe, validation_loss: Callable[[int], Tensor | None], on_progress: Progress | None
    ) -> None:
        self._recipe, self._validation_loss, self._on_progress = recipe, validation_loss, on_progress
        self._records: list[tuple[int, float, Tensor, Tensor | None]] = []

    def add(self, step: int, mean: Tensor) -> None:
        """Add a record. Shape: ``mean (2, members)``, prediction loss and mask sum, averaged since the last record."""
        share = float(annealed(torch.tensor(step), self._recipe.steps, self._recipe.anneal_power))
        if mean.device.type == "cpu":  # reading the value would synchronise a GPU
            check_finite(mean[0], step, self._recipe.steps)
        self._records.append((step, share, mean, self._validation_loss(step)))
        if self._on_progress is not None:
            self._on_progress(step, share, *mean.mean(dim=1).tolist())

    def history(self) -> History:
        steps, shares, means, validation = zip(*self._records, strict=True)
        all_means = torch.stack(means).cpu()
        if not torch.isfinite(all_means[:, 0]).all():
            for step, mean in zip(steps, all_means, strict=True):
                check_finite(mean[0], step, self._recipe.steps)
        values = all_means.numpy()
        held_out = None if validation[0] is None else torch.stack(validation).cpu().numpy()
        return History(np.array(steps), np.array(shares), values[:, 0], values[:, 1], held_out)
