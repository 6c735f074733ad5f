"""Rows per second of `explain_files` beside `explain` on an array in memory: `python -m benchmarks.explain_files`.

Both make predictions and selections with one model. The time of `explain_files` is taken apart by running its parts
alone: reading the Parquet files, answering tables in memory, and writing the answers. Memory is the most that the
process held in `explain_files`, less what it held before.
"""

from __future__ import annotations

import argparse
import tempfile
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from hideseek import HideSeekClassifier, Scorer
from hideseek.datasets import make_syn
from hideseek.scoring import SMALL

WIDTH = 11
ROWS_PER_FILE = 250_000
BAR = 0.6


def seconds(function: Callable[[], object]) -> float:
    start = time.perf_counter()
    function()
    return time.perf_counter() - start


def write_rows(folder: Path, rows: np.ndarray) -> None:
    names = [f"x{j + 1}" for j in range(WIDTH)]
    for i, start in enumerate(range(0, len(rows), ROWS_PER_FILE)):
        part = rows[start : start + ROWS_PER_FILE]
        pq.write_table(pa.table(dict(zip(names, part.T, strict=True))), folder / f"part-{i:05d}.parquet")


def resident() -> int:
    """Return the bytes of memory that this process holds."""
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * 4096


def most_held(function: Callable[[], Any]) -> int:
    """Return by how many bytes the process grew at most while the function ran."""
    before, most, done = resident(), 0, threading.Event()

    def watch() -> None:
        nonlocal most
        while not done.wait(0.02):
            most = max(most, resident())

    watcher = threading.Thread(target=watch)
    watcher.start()
    try:
        function()
    finally:
        done.set()
        watcher.join()
    return max(0, most - before)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--preset", default="balanced")
    arguments = parser.parse_args()
    train = make_syn("Syn4", n_features=WIDTH, random_state=0)
    table = pa.table({f"x{j + 1}": train.X[:, j] for j in range(WIDTH)})
    model = HideSeekClassifier(arguments.preset, device="cpu", random_state=0).fit(table, train.y)
    rows = np.random.default_rng(1).normal(size=(arguments.rows, WIDTH))
    as_array = HideSeekClassifier(arguments.preset, device="cpu", random_state=0).fit(train.X, train.y)
    with tempfile.TemporaryDirectory() as name:
        source, target = Path(name) / "in", Path(name) / "out"
        source.mkdir()
        write_rows(source, rows)
        in_memory = seconds(lambda: as_array.explain(rows).prediction)
        files: list[float] = []
        grown = most_held(lambda: files.append(seconds(lambda: model.explain_files(source, target))))
        tables = [pq.read_table(path) for path in sorted(source.iterdir())]
        scorer = Scorer(model, outputs=SMALL)
        answers: list[Any] = []
        parts = {
            "reading": seconds(lambda: [pq.read_table(path) for path in sorted(source.iterdir())]),
            "answering": seconds(lambda: answers.extend(scorer(table) for table in tables)),
            "writing": seconds(lambda: pq.write_table(pa.concat_tables(answers), target / "again.parquet")),
        }
        (target / "again.parquet").unlink()
        size = sum(path.stat().st_size for path in target.iterdir())
    print(f"explain on an array, with predictions: {len(rows) / in_memory:12,.0f} rows/s")
    print(f"explain_files:                         {len(rows) / files[0]:12,.0f} rows/s")
    print(
        f"ratio {in_memory / files[0]:.2f} (bar: {BAR}); {size / len(rows):.2f} bytes a row; "
        f"{grown / 2**20:.0f} MiB more memory"
    )
    print("parts alone: " + ", ".join(f"{what} {spent:.2f} s" for what, spent in parts.items()))


if __name__ == "__main__":
    main()
