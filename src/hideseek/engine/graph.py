"""Steps recorded once as a CUDA graph and replayed, so that the host makes a single call per step."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import torch
from torch import Tensor

from hideseek.engine.steps import Steps

__all__ = ["ReplayedSteps"]

_WARM_UP = 3
"""Steps that run before recording: libraries initialise themselves in their first calls, which must not be recorded."""


class ReplayedSteps:
    """Replays the steps of another ``Steps`` as a CUDA graph; these may change nothing but tensors on the device."""

    def __init__(self, steps: Steps) -> None:
        self._steps = steps
        self._left = _WARM_UP
        self._graph: torch.cuda.CUDAGraph | None = None

    def run(self, n_steps: int) -> None:
        """See ``Steps.run``."""
        n_warm = min(n_steps, self._left)
        if n_warm:
            self._warm_up(n_warm)
        if n_steps > n_warm:
            graph = self._graph = self._graph or self._recorded()
            for _ in range(n_steps - n_warm):
                graph.replay()

    def _recorded(self) -> torch.cuda.CUDAGraph:
        graph = torch.cuda.CUDAGraph()  # torch.cuda.graph() would also empty the cache of freed memory
        with _beside():
            graph.capture_begin()
            try:
                self._steps.run(1)
            finally:
                graph.capture_end()
        return graph

    def _warm_up(self, n_steps: int) -> None:
        with _beside():
            self._steps.run(n_steps)
        self._left -= n_steps

    def take_losses(self, n_steps: int) -> Tensor:
        """See ``Steps.take_losses``."""
        return self._steps.take_losses(n_steps)

    def close(self) -> None:
        """See ``Steps.close``."""
        self._steps.close()


@contextmanager
def _beside() -> Iterator[None]:
    """Work on another stream, after what was asked for until now; what is asked for later comes after it."""
    stream, current = torch.cuda.Stream(), torch.cuda.current_stream()  # type: ignore[no-untyped-call]
    stream.wait_stream(current)
    with torch.cuda.stream(stream):
        yield
    current.wait_stream(stream)
