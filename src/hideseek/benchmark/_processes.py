"""Run pieces in worker processes of this machine, which may die."""

from __future__ import annotations

import multiprocessing
import os
import pickle
import signal
from collections import deque
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from multiprocessing.connection import Connection, wait
from typing import Any

import torch

from hideseek.benchmark._backends import ATTEMPTS, Done, Work, available_cores
from hideseek.benchmark._jobs import Piece
from hideseek.benchmark._work import Outcome
from hideseek.errors import HideSeekError, InputError

__all__ = ["on_processes"]

_THREAD_VARIABLES = ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS")
_ADVICE = "define classes and functions at the top level of a module that other processes can import"


def on_processes(pieces: Sequence[Piece], work: Work, n_jobs: int, device: str) -> Done:
    """Run pieces on ``n_jobs`` processes. A worker that dies is replaced, and its piece given to another."""
    waiting, attempts = deque(pieces), dict.fromkeys(map(id, pieces), 0)
    n_workers = min(n_jobs, len(pieces))
    n_threads = max(1, available_cores() // n_workers)
    frozen_work = _pickled(work)
    workers: list[_Worker] = []
    try:
        while waiting or any(worker.piece for worker in workers):
            while waiting and len(workers) < n_workers:
                workers.append(_Worker(frozen_work, n_threads, waiting.popleft()))
            for worker in workers:
                if waiting and worker.piece is None:
                    worker.give(waiting.popleft())
            heard = wait([worker.connection for worker in workers])
            for worker in [worker for worker in workers if worker.connection in heard]:
                outcomes = worker.outcomes()
                piece, worker.piece = worker.piece, None
                if outcomes is None:
                    workers.remove(worker)
                    worker.end()
                if piece is None:
                    continue
                attempts[id(piece)] += 1
                if outcomes is None and attempts[id(piece)] < ATTEMPTS:
                    waiting.appendleft(piece)
                else:
                    yield piece, outcomes
    finally:
        for worker in workers:
            worker.end()


class _Worker:
    """A process, the connection to it, and its current piece."""

    def __init__(self, work: bytes, n_threads: int, piece: Piece) -> None:
        context = multiprocessing.get_context("spawn")  # torch's threads do not survive a fork
        self.connection, theirs = context.Pipe()
        self._process = context.Process(target=_serve, args=(theirs, work, n_threads))
        with _threads_of_children(n_threads):
            self._process.start()
        theirs.close()
        self._started = False
        self.give(piece)

    def give(self, piece: Piece) -> None:
        """Send it the next piece."""
        self.piece: Piece | None = piece
        message = _pickled(piece)
        with suppress(OSError):  # it died between two pieces, which ``outcomes`` will detect
            self.connection.send_bytes(message)

    def outcomes(self) -> list[Outcome] | None:
        """Return the outcomes of its piece; None: it is dead."""
        try:
            message = self.connection.recv()
            while message is None:  # None is the message that it has started
                self._started = True
                message = self.connection.recv()
        except (EOFError, OSError):
            if self._started:
                return None
            raise HideSeekError(
                "a worker process could not start; its own message is above. If this is a script, its main part must "
                "be under `if __name__ == '__main__':`"
            ) from None
        if isinstance(message, str):
            raise InputError(f"a worker process cannot use what it was sent: {message}; {_ADVICE}")
        done: list[Outcome] = message
        return done

    def end(self) -> None:
        """Terminate it."""
        self.connection.close()
        self._process.kill()
        self._process.join()


def _serve(connection: Connection, work: bytes, n_threads: int) -> None:
    """Run a worker: receive pieces, do them and send the outcomes, until the connection is closed."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent handles interrupts, and terminates the workers
    torch.set_num_threads(n_threads)
    with suppress(EOFError, OSError):
        connection.send(None)
        while True:
            message = connection.recv_bytes()
            try:
                do, piece = pickle.loads(work), pickle.loads(message)
            except Exception as error:
                connection.send(f"{type(error).__name__}: {error}")
                return
            connection.send(do(piece))


def _pickled(thing: Any) -> bytes:
    try:
        return pickle.dumps(thing)
    except Exception as error:
        raise InputError(f"backend='processes' cannot send this to another process: {error}; {_ADVICE}") from error


@contextmanager
def _threads_of_children(n_threads: int) -> Iterator[None]:
    """Limit the threads of processes started in this context, before they load any library."""
    before = {name: os.environ.get(name) for name in _THREAD_VARIABLES}
    for name, value in before.items():
        os.environ[name] = str(min(n_threads, int(value)) if value and value.isdigit() else n_threads)
    try:
        yield
    finally:
        for name, value in before.items():
            os.environ.pop(name)
            if value is not None:
                os.environ[name] = value
