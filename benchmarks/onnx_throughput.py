"""Rows per second of an exported model in ONNX Runtime, against Python: `python -m benchmarks.onnx_throughput`.

Seconds are those of the processor, and the best round counts, so that other work on the machine matters little.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import onnx
import onnxruntime
import torch

from hideseek import HideSeekClassifier
from hideseek.datasets import make_syn


def rate(function: Callable[[], object], n_rows: int, rounds: int) -> float:
    """Return the rate of the best round, after one that does not count."""
    function()
    seconds = []
    for _ in range(rounds):
        start = time.process_time()
        function()
        seconds.append(time.process_time() - start)
    return n_rows / min(seconds)


def in_python(model: HideSeekClassifier, X: np.ndarray, *, predictions: bool) -> None:
    model.explain(X)
    if predictions:
        model.predict_proba(X)


def masks_alone(file: Path) -> Path:
    """Write the part of a file that gives the masks: a session of the whole file always computes all outputs."""
    part = file.with_name("masks.onnx")
    onnx.utils.extract_model(file, part, ["X"], ["mask", "selected"])
    return part


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=20)
    parser.add_argument("--threads", type=int, default=1)
    arguments = parser.parse_args()
    torch.set_num_threads(arguments.threads)
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = arguments.threads
    train = make_syn("Syn4", random_state=0)
    model = HideSeekClassifier(device="cpu", random_state=0).fit(train.X, train.y)
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "model.onnx"
        model.to_onnx(file)
        print(f"Syn4, {train.X.shape[1]} columns; the file has {file.stat().st_size:,} bytes")
        sessions = {
            title: onnxruntime.InferenceSession(path, options, providers=["CPUExecutionProvider"])
            for title, path in (("masks alone", masks_alone(file)), ("with predictions", file))
        }
    rows = np.random.default_rng(1).normal(size=(10_000, train.X.shape[1]))
    print("{:>18}{:>8}{:>16}{:>16}{:>8}".format("", "batch", "Python rows/s", "ONNX rows/s", "ratio"))
    for size in (1, 100, 1000, len(rows)):
        for title, session in sessions.items():
            X = rows[:size]
            own = rate(
                lambda X=X, title=title: in_python(model, X, predictions="with" in title), size, arguments.rounds
            )
            there = rate(lambda X=X, session=session: session.run(None, {"X": X}), size, arguments.rounds)
            print(f"{title:>18}{size:8d}{own:16,.0f}{there:16,.0f}{there / own:8.2f}")


if __name__ == "__main__":
    main()
