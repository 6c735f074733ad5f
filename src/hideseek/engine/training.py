"""The one training loop: all members of a stack, moved together."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import torch
from torch import Tensor

from hideseek.engine.adam import Adam
from hideseek.engine.device import training_threads
from hideseek.engine.draws import Stream, integers, step_keys
from hideseek.engine.networks import Mlp
from hideseek.engine.objective import PREDICTION_LOSSES, annealed, mix, parsimony, row_mean
from hideseek.engine.recipe import Recipe
from hideseek.engine.replacement import Marginal, Replacement
from hideseek.engine.stack import Batch, Data, History, Members, Stack, initial_stack
from hideseek.errors import TrainingError

__all__ = ["Progress", "train"]

_RECORDS = 100
_STEP_BLOCK = 32
"""Steps whose keys and batch rows are drawn in one go: enough to spread the cost, few enough to stay in cache."""

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
    batch_size = None if recipe.batch_size is None or recipe.batch_size >= n_rows else recipe.batch_size
    hide = Mlp((n_columns, *recipe.hidden_layers, n_columns))
    seek = Mlp((n_columns, *recipe.hidden_layers, n_outputs))
    stack, trainable = initial_stack(hide, seek, members, device)
    parameters = stack.parameters.requires_grad_()
    optimiser = Adam(parameters, recipe.learning_rate)
    visible = torch.from_numpy(members.visible).float().to(device)
    price = torch.from_numpy(members.price).float().to(device)
    table = torch.from_numpy(members.table).to(device)
    draw = (replacement or Marginal(data.X.transpose(1, 2), table)).draw
    row_loss = PREDICTION_LOSSES[loss]

    def losses(batch: Batch, keys: Tensor) -> tuple[Tensor, Tensor]:
        """The two terms of eq. 12 for each member. Shape: ``(members,)`` each."""
        x, target, weight = batch
        hide_layers, seek_layers = stack.layers()
        mask = torch.sigmoid(hide.forward(hide_layers, x))
        z = mix(mask, x, draw(keys, x))
        prediction = row_mean(row_loss(seek.forward(seek_layers, z), target), weight)
        return prediction, parsimony(mask, visible, weight)

    held_out = None if validation is None else validation.to(device).tables(table)

    def validation_loss(step: int) -> Tensor | None:
        if held_out is None:
            return None
        keys = step_keys(members.seeds, Stream.VALIDATION, step, step + 1)[0].to(device)
        with torch.no_grad():
            return losses(held_out, keys)[0]

    whole = data.tables(table) if batch_size is None else None
    recorder = _Recorder(recipe.steps, validation_loss, on_progress)
    with training_threads(device, len(members) * (batch_size or n_rows)):
        for start in range(0, recipe.steps, _STEP_BLOCK):
            stop = min(start + _STEP_BLOCK, recipe.steps)
            draw_keys = step_keys(members.seeds, Stream.REPLACEMENT, start, stop).to(device)
            if batch_size is not None:
                batch_keys = step_keys(members.seeds, Stream.BATCH, start, stop).to(device)
                rows = integers(batch_keys.flatten(0, 1), batch_size, n_rows).view(-1, len(members), batch_size)
                rows += (table * n_rows)[:, None]
            for i, step in enumerate(range(start + 1, stop + 1)):
                prediction, shown = losses(data.rows(rows[i]) if whole is None else whole, draw_keys[i])
                share = annealed(step, recipe.steps, recipe.anneal_power)
                (gradient,) = torch.autograd.grad((prediction + share * price * shown).sum(), parameters)
                optimiser.step(gradient.mul_(trainable))
                recorder.add(step, share, prediction.detach(), shown.detach())
    return Stack(hide, seek, parameters.detach()), recorder.history()


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
        self._records.append((step, share, mean, self._validation_loss(step)))
        self._sums, self._last = None, step
        if self._on_progress is not None:
            self._on_progress(step, share, *mean.mean(dim=1).tolist())

    def history(self) -> History:
        steps, shares, means, validation = zip(*self._records, strict=True)
        values = torch.stack(means).cpu().numpy()
        broken = np.argwhere(~np.isfinite(values[:, 0]))
        if len(broken):
            record, member = broken[0]
            raise TrainingError(
                f"the loss of member {member} is no longer finite at step {steps[record]} of {steps[-1]}; "
                "lower learning_rate, or look for extreme values in X and y"
            )
        held_out = None if validation[0] is None else torch.stack(validation).cpu().numpy()
        return History(np.array(steps), np.array(shares), values[:, 0], values[:, 1], held_out)
