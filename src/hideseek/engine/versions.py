"""What rows gain by being other than they are, asked of the members of many ensembles."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence

import torch
from torch import Tensor

from hideseek.engine.objective import row_losses
from hideseek.engine.questions import Batch, Question, answered

__all__ = ["Versions", "gains_of_versions"]

Versions = Callable[[Tensor, Sequence[int]], Iterable[Tensor]]
"""From rows, ``(questions, inputs, rows)``, and the numbers of their questions to other versions of the first rows."""


def gains_of_versions(
    questions: Sequence[Question],
    targets: Sequence[Tensor],
    versions: Versions,
    n_draws: int,
    *,
    loss: str,
    threshold: float,
) -> tuple[Tensor, Tensor]:
    """Return the loss of each row as it is, and by how much the loss of each version is smaller.

    Args:
        questions: To ensembles on one device, each at one price and of equally many rows.
        targets: Of the rows of each question, as in ``Data``.
        versions: Makes as many of each question. Rows that a version does not have gain nothing.
        n_draws: Number of pool rows that a prediction is averaged over.
        loss: "cross_entropy" or "squared_error".
        threshold: A feature is selected where the mean mask of the members that are asked is greater.

    Shape: ``(questions, rows)``, ``(questions, versions, rows)``, on the device.
    """
    number = {id(question): i for i, question in enumerate(questions)}

    def answer(batch: Batch, positions: Iterator[Tensor]) -> tuple[Tensor, Tensor]:
        (u,) = positions
        own = [number[id(question)] for question in batch.questions]
        target = torch.stack([targets[i] for i in own]).to(batch.x.device)
        x_hat = batch.replacements(n_draws)

        def losses(x: Tensor) -> Tensor:
            output, _ = batch.predictions(x, x_hat, [u], softmax=loss != "squared_error", threshold=threshold)
            n_rows = min(x.shape[2], batch.n_rows)
            return row_losses(loss, output[:, 0, :n_rows], target[:, :n_rows])

        as_is, gains = losses(batch.x), []
        for x in versions(batch.x, own):
            gain = torch.zeros_like(as_is)
            moved = losses(x)
            torch.sub(as_is[:, : moved.shape[1]], moved, out=gain[:, : moved.shape[1]])
            gains.append(gain)
        return as_is, torch.stack(gains, dim=1)

    found = answered(questions, lambda question: question.n_seek_cells(n_draws), answer, on_device=True)
    as_is, gains = zip(*found, strict=True)
    return torch.stack(as_is), torch.stack(gains)
