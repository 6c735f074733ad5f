"""Selections and predictions of ensembles at several prices of their range."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import exp

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from hideseek.engine.ensemble import Ensemble
from hideseek.engine.hideseek import mix
from hideseek.engine.path import mask_at, position_of
from hideseek.engine.questions import Batch, Question, answered

__all__ = [
    "answers_along",
    "answers_from",
    "answers_to",
    "disagreements",
    "mean_overlap",
    "overlaps",
    "price_bounds",
    "price_bounds_of_all",
    "sets_at_own_prices",
    "shown_at_price",
]


def answers_along(
    ensemble: Ensemble,
    X: NDArray[np.floating],
    prices: Sequence[float],
    n_draws: int,
    *,
    softmax: bool,
    threshold: float,
) -> tuple[NDArray[np.float32], NDArray[np.int32]]:
    """Return the predictions of all members from the selected features, and the number of these, at each price.

    Shape: ``X (rows, columns)``, raw -> ``(prices, rows, outputs)``, ``(prices, rows)``.
    """
    question = Question(ensemble, np.arange(len(ensemble.visible)), ensemble.inputs(X), prices)
    outputs, n_selected = answers_to([question], n_draws, softmax=softmax, threshold=threshold)[0]
    return outputs.cpu().numpy(), n_selected.cpu().numpy()


def answers_to(
    questions: Sequence[Question], n_draws: int, *, softmax: bool, threshold: float
) -> list[tuple[Tensor, Tensor]]:
    """Return the predictions from the selected features, and the number of these, at each price, on the device.

    Args:
        questions: To ensembles on one device.
        n_draws: Number of pool rows that a prediction is averaged over.
        softmax: Whether to average probabilities instead of logits.
        threshold: A feature is selected where the mean mask of the members that are asked is greater.

    Shape of each: ``(prices, rows, outputs)``, ``(prices, rows)``.
    """

    def answer(batch: Batch, positions: Iterator[Tensor]) -> tuple[Tensor, Tensor]:
        x_hat = batch.replacements(n_draws)
        answers, counts = batch.predictions(batch.x, x_hat, positions, softmax=softmax, threshold=threshold)
        return answers[:, :, : batch.n_rows], counts[:, :, : batch.n_rows]

    found = answered(questions, lambda question: question.n_seek_cells(n_draws), answer, on_device=True)
    return [(answers, counts) for answers, counts in found]


def disagreements(questions: Sequence[Question], threshold: float) -> list[NDArray[np.float64]]:
    """Return in how many features of a row two members differ at each price, on average over rows and pairs.

    Shape of each: ``(prices,)``.
    """

    def answer(batch: Batch, positions: Iterator[Tensor]) -> tuple[Tensor]:
        output, differing = batch.hide_output(), []
        for u in positions:
            votes = batch.mean((mask_at(output, u[:, :, None]) > threshold).float())[..., : batch.n_rows]
            differing.append((votes * (1 - votes)).sum(dim=2).mean(dim=2, dtype=torch.float64))
        return (torch.cat(differing).t(),)

    found = answered(questions, lambda question: question.n_mask_cells, answer)
    sizes = [len(question.members) for question in questions]
    return [2 * n / max(n - 1, 1) * differing for n, (differing,) in zip(sizes, found, strict=True)]


def overlaps(questions: Sequence[Question], threshold: float) -> list[NDArray[np.float64]]:
    """Return how alike the sets of two members are at the only price of a question, see ``mean_overlap``."""

    def answer(batch: Batch, positions: Iterator[Tensor]) -> tuple[Tensor]:
        (u,) = positions
        selected = mask_at(batch.hide_output(), u[0, :, None]) > threshold
        return (mean_overlap(batch.by_question(selected)[:, :, : batch.n_rows]),)

    return [alike for (alike,) in answered(questions, lambda question: question.n_mask_cells, answer)]


def shown_at_price(
    questions: Sequence[Question], threshold: float
) -> list[tuple[NDArray[np.float64], NDArray[np.int64]]]:
    """Return the mean mask of each feature at the only price of a question, and how many of a row are greater.

    Shape of each: ``(features,)``, ``(rows,)``.
    """

    def answer(batch: Batch, positions: Iterator[Tensor]) -> tuple[Tensor, Tensor]:
        (u,) = positions
        masks = batch.mean(mask_at(batch.hide_output(), u[:, :, None]))[0, :, :, : batch.n_rows]
        return masks.mean(dim=2, dtype=torch.float64), (masks > threshold).sum(dim=1)

    found = answered(questions, lambda question: question.n_mask_cells, answer)
    return [(mean, counts) for mean, counts in found]


def mean_overlap(sets: Tensor) -> Tensor:
    """Return shared features over features in either set for all pairs of members, as a mean over rows.

    Two empty sets are alike. Shape: ``(..., members, rows, features)``, bool -> ``(..., members, members)``.
    """
    by_row = sets.transpose(-3, -2).float()
    size, shared = by_row.sum(dim=-1), by_row @ by_row.transpose(-2, -1)
    either = size[..., :, None] + size[..., None, :] - shared
    return torch.where(either > 0, shared / either.clamp(min=1), 1.0).mean(dim=-3, dtype=torch.float64)


def sets_at_own_prices(questions: Sequence[Question], threshold: float) -> list[NDArray[np.bool_]]:
    """Return what is selected in each row at a price of its own; a question has one price for each row.

    Shape of each: ``(rows, features)``.
    """

    def answer(batch: Batch, positions: Iterator[Tensor]) -> tuple[Tensor]:
        u = torch.nn.functional.pad(torch.cat(list(positions)).t(), (0, batch.x.shape[2] - batch.n_rows))
        selected = batch.mean(mask_at(batch.hide_output(), u)[None])[0] > threshold
        return (selected.transpose(1, 2)[:, : batch.n_rows],)

    blocks = [question.in_blocks() for question in questions]
    found = iter(answered([block for own in blocks for block in own], lambda each: each.n_mask_cells_of_row, answer))
    return [np.concatenate([next(found)[0] for _ in own]) for own in blocks]


def answers_from(
    ensemble: Ensemble, tables: Sequence[NDArray[np.floating]], shown: NDArray[np.bool_], *, softmax: bool
) -> NDArray[np.float32]:
    """Return the predictions from given features at the ensemble's price, averaged over one draw for each table.

    Args:
        ensemble: Predicts at its ``price``.
        tables: The raw rows of each draw; hidden features are replaced from the pool. Shape of each:
            ``(rows, columns)``.
        shown: The features that every member is shown. Shape: ``(rows, features)``.
        softmax: Whether to average probabilities instead of logits.

    Shape: ``(rows, outputs)``.
    """
    stack = ensemble.stack
    u = None if ensemble.price is None else position_of(ensemble.price, ensemble.price_range)
    seek, pool = stack.seek_at(u), ensemble.pool
    with torch.inference_mode():
        total = torch.zeros((), device=pool.device)
        for draw, X in enumerate(tables):
            x = ensemble.standardised(X)[:1]
            mask = torch.zeros(1, shown.shape[1], x.shape[2], device=pool.device)
            mask[0, :, : len(shown)] = torch.from_numpy(shown.T).to(pool.device)
            row = pool[draw % len(pool)][None, :, None]
            x_hat = row if ensemble.knockoffs is None else ensemble.knockoffs.given(x)(row)
            y_hat = stack.seek_outputs(seek, mix(stack.by_column(mask), x, x_hat))
            total = total + (y_hat.softmax(dim=1) if softmax else y_hat).mean(dim=0)
        return (total / len(tables)).t()[: len(shown)].cpu().numpy()


def price_bounds(ensemble: Ensemble) -> tuple[float, float]:
    """Return the lowest and the highest price that a member was trained on."""
    return price_bounds_of_all([ensemble])[0]


def price_bounds_of_all(ensembles: Sequence[Ensemble]) -> list[tuple[float, float]]:
    """Return the lowest and the highest price that a member of each ensemble was trained on."""
    ranges = [ensemble.price_range for ensemble in ensembles]
    ends = np.cumsum([len(price_range) for price_range in ranges])
    bounds = np.split(torch.cat(ranges).cpu().numpy(), ends[:-1])
    return [(exp(float(own[:, 0].min())), exp(float(own[:, 1].max()))) for own in bounds]
