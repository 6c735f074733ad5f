"""Masks and predictions of a stack by the compiled library."""

from __future__ import annotations

from collections.abc import Callable
from ctypes import byref

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from hideseek.engine.native.library import MOST_ROWS, Question, Task, load, sizes
from hideseek.engine.native.task import describe, fits
from hideseek.engine.path import BISECTIONS, CHEAPEST, DEAREST, HALF_WIDTH
from hideseek.engine.stack import Stack

__all__ = ["NativeAnswers", "can_answer"]


def can_answer(stack: Stack) -> bool:
    """Return whether the library can answer for this stack."""
    return fits(stack) and load() is not None


class NativeAnswers:
    """The members of a stack, which answer questions about any rows, on several threads at once.

    A question has ``u``, the position of a price in each member's range, ``(members,)``; None: there is no range.

    Args:
        stack: ``can_answer(stack)`` must be true.
        share: How much each member counts in the mean mask. Shape: ``(members, features)``.
    """

    def __init__(self, stack: Stack, share: Tensor) -> None:
        library = load()
        if library is None:
            raise RuntimeError("the library is not compiled here, or HIDESEEK_NATIVE=0 turns it off")
        self._library, self._level = library, library.hideseek_levels() - 1
        self._task, self._n_outputs = Task(), stack.seek.sizes[-1]
        self._kept = describe(self._task, stack)
        n_weights, _, self._room_floats = sizes(library, self._level, self._task)
        self._weights = torch.zeros(stack.n_members, n_weights)
        self._share = share.contiguous()
        room = self._room()
        library.hideseek_pack(self._level, byref(self._task), room.data_ptr(), self._weights.data_ptr())

    def masks(self, x: Tensor, u: Tensor | None) -> NDArray[np.float32]:
        """Return the mean masks of standardised rows. Shape: ``(rows, inputs)`` -> ``(rows, features)``."""
        x, u = x.float().contiguous(), self._positions(u)
        question = Question(n_rows=len(x), x=x.data_ptr(), share=self._share.data_ptr(), u=u.data_ptr())
        return self._asked(self._library.hideseek_masks, question, self._share.shape[1])

    def entry_log_prices(self, x: Tensor, threshold: float) -> NDArray[np.float32]:
        """Return what ``path.entry_log_prices`` does. Shape: ``x (rows, inputs)`` -> ``(rows, features)``."""
        x, (n_members, n_features) = x.float().contiguous(), self._share.shape
        lines = np.empty((n_members, 2, n_features, MOST_ROWS), dtype=np.float32)
        question = Question(
            n_rows=len(x),
            x=x.data_ptr(),
            lines=lines.ctypes.data,
            share=self._share.data_ptr(),
            threshold=threshold,
            half_width=HALF_WIDTH,
            lowest=CHEAPEST,
            highest=DEAREST,
            n_halvings=BISECTIONS,
        )
        return self._asked(self._library.hideseek_entries, question, n_features)

    def outputs(
        self,
        x: Tensor,
        shown: NDArray[np.bool_],
        draws: Tensor,
        u: Tensor | None,
        *,
        softmax: bool,
        n_turns: int = 1,
    ) -> NDArray[np.float32]:
        """Return Seek's outputs, averaged over all Seeks and over these draws of what is hidden.

        Args:
            x: Standardised rows. Shape: ``(rows, inputs)``.
            shown: The features that every Seek sees. Shape: ``(rows, features)``.
            draws: Shape: ``(draws, inputs)``.
            u: The position of the price.
            softmax: Whether to average probabilities instead of logits.
            n_turns: As of ``Ensemble.outputs``.

        Shape: ``(rows, outputs)``.
        """
        x, draws, shown = x.float().contiguous(), draws.float().contiguous(), np.ascontiguousarray(shown)
        u = self._positions(u).clamp(-HALF_WIDTH, HALF_WIDTH)
        question = Question(
            n_rows=len(x),
            n_draws=len(draws),
            n_turns=n_turns,
            softmax=softmax,
            x=x.data_ptr(),
            shown=shown.ctypes.data,
            draws=draws.data_ptr(),
            u=u.data_ptr(),
        )
        return self._asked(self._library.hideseek_outputs, question, self._n_outputs)

    def _positions(self, u: Tensor | None) -> Tensor:
        return torch.zeros(len(self._weights)) if u is None else u.contiguous()

    def _asked(self, ask: Callable[..., None], question: Question, n_answers: int) -> NDArray[np.float32]:
        """Return the answers to a question. Shape: ``(rows, answers)``."""
        out, room = np.empty((question.n_rows, n_answers), dtype=np.float32), self._room()
        question.weights, question.out = self._weights.data_ptr(), out.ctypes.data
        ask(self._level, byref(self._task), byref(question), room.data_ptr())
        return out

    def _room(self) -> Tensor:
        """Return memory for one thread to work in. The caller holds it while the library runs."""
        return torch.empty(self._room_floats)
