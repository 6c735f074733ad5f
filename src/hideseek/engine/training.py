"""The one training loop: all members of a stack, moved together."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np
import torch
from torch import Tensor

from hideseek.engine.adam import Adam
from hideseek.engine.device import training_threads
from hideseek.engine.draws import Stream, integers, step_keys
from hideseek.engine.hideseek import HideSeek
from hideseek.engine.networks import Mlp
from hideseek.engine.objective import PREDICTION_LOSSES, annealed
from hideseek.engine.recipe import Recipe
from hideseek.engine.replacement import Marginal, Replacement
from hideseek.engine.stack import Batch, Data, History, Members, Stack, initial_stack
from hideseek.errors import TrainingError

__all__ = ["Progress", "train"]

_RECORDS = 100
_BLOCK_CELLS = 2**16
"""Cells drawn in one go: enough to spread the cost of a call over several steps, few enough to stay in cache."""

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
    on_progress: Progress | None = None,
) -> tuple[Stack, History]:
    """Train all members at once; none of them depends on its neighbours.

    Args:
        recipe: Steps, batch, rates, widths. Its ``n_members`` and ``column_fraction`` are already in ``members``.
        data: The training tables, on any device.
        members: Seeds, prices, columns and tables of the members.
        loss: A name in ``PREDICTION_LOSSES``.
        n_outputs: Outputs of Seek: the classes, or one.
        device: Where to train.
        validation: Held-out rows of the same tables, looked at and never learned from.
        replacement: How a hidden value is drawn; None: from the marginals of ``data``.
        on_progress: Called up to a hundred times.

    Returns:
        The trained stack, on ``device``, and its history.

    Raises:
        TrainingError: A loss became infinite or not a number.
    """
    data = data.to(device)
    n_rows, n_columns = data.X.shape[1:]
    batch_size = min(recipe.batch_size or n_rows, n_rows)
    hide = Mlp((n_columns, *recipe.hidden_layers, n_columns))
    seek = Mlp((n_columns, *recipe.hidden_layers, n_outputs))
    stack, trainable = initial_stack(hide, seek, members, device)
    visible = torch.from_numpy(members.visible).float().to(device)
    price = torch.from_numpy(members.price).float().to(device)
    table = torch.from_numpy(members.table).to(device)
    replacement = replacement or Marginal(data.X.transpose(1, 2), table)
    objective = HideSeek(stack, PREDICTION_LOSSES[loss], price, visible, batch_size)
    optimiser = Adam(stack.parameters, recipe.learning_rate)
    held_out = None if validation is None else validation.to(device).tables(table)

    def validation_loss(step: int) -> Tensor | None:
        if held_out is None:
            return None
        keys = step_keys(members.seeds, Stream.VALIDATION, step, step + 1)[0].to(device)
        return objective.losses(held_out, replacement.draw(keys, held_out[0]))[0]

    recorder = _Recorder(recipe.steps, validation_loss, on_progress)
    with torch.inference_mode(), training_threads(device, len(members) * batch_size):
        batches = _batches(data, members, table, replacement, recipe.steps, batch_size)
        for step, (batch, x_hat) in enumerate(batches, start=1):
            share = annealed(step, recipe.steps, recipe.anneal_power)
            prediction, shown = objective.step(batch, x_hat, share)
            optimiser.step(objective.gradient.mul_(trainable))
            recorder.add(step, share, prediction, shown)
    return stack, recorder.history()


def _batches(
    data: Data, members: Members, table: Tensor, replacement: Replacement, steps: int, batch_size: int
) -> Iterator[tuple[Batch, Tensor]]:
    """The batch and the replacement of every step, drawn a few steps at a time."""
    n_rows, n_columns = data.X.shape[1:]
    whole = data.tables(table) if batch_size == n_rows else None
    at_once = max(1, _BLOCK_CELLS // (len(members) * batch_size * n_columns)) if whole is None else 1
    for start in range(0, steps, at_once):
        n_steps = min(at_once, steps - start)
        batch_keys, draw_keys = (
            step_keys(members.seeds, stream, start, start + n_steps).flatten(0, 1).to(table.device)
            for stream in (Stream.BATCH, Stream.REPLACEMENT)
        )
        if whole is None:
            rows = integers(batch_keys, batch_size, n_rows).view(n_steps, len(members), batch_size)
            rows += (table * n_rows)[:, None]
            x, target, weight = data.rows(rows.flatten(0, 1))
        else:
            x, target, weight = whole
        x_hat = replacement.draw(draw_keys, x)
        for i in range(n_steps):
            part = slice(i * len(members), (i + 1) * len(members))
            yield (x[part], target[part], None if weight is None else weight[part]), x_hat[part]


class _Recorder:
    """Sums losses on the device and looks at them a hundred times at most, so that a GPU is not made to wait."""

    def __init__(
        self, steps: int, validation_loss: Callable[[int], Tensor | None], on_progress: Progress | None
    ) -> None:
        self._ends = set(np.linspace(0, steps, min(_RECORDS, steps) + 1).astype(int)[1:].tolist())
        self._validation_loss = validation_loss
        self._on_progress = on_progress
        self._sums: Tensor | None = None
        self._last = 0
        self._records: list[tuple[int, float, Tensor, Tensor | None]] = []

    def add(self, step: int, share: float, prediction: Tensor, shown: Tensor) -> None:
        both = torch.stack((prediction, shown))
        self._sums = both if self._sums is None else self._sums.add_(both)
        if step not in self._ends:
            return
        mean = self._sums / (step - self._last)
        if mean.device.type == "cpu":  # elsewhere a look would make the device wait
            self._check(step, mean)
        self._records.append((step, share, mean, self._validation_loss(step)))
        self._sums, self._last = None, step
        if self._on_progress is not None:
            self._on_progress(step, share, *mean.mean(dim=1).tolist())

    def _check(self, step: int, mean: Tensor) -> None:
        broken = torch.nonzero(~torch.isfinite(mean[0]))
        if len(broken):
            raise TrainingError(
                f"the loss of member {int(broken[0])} is no longer finite at step {step} of {max(self._ends)}; "
                "lower learning_rate, or look for extreme values in X and y"
            )

    def history(self) -> History:
        steps, shares, means, validation = zip(*self._records, strict=True)
        for step, mean in zip(steps, means, strict=True):
            self._check(step, mean)
        values = torch.stack(means).cpu().numpy()
        held_out = None if validation[0] is None else torch.stack(validation).cpu().numpy()
        return History(np.array(steps), np.array(shares), values[:, 0], values[:, 1], held_out)
