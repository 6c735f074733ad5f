"""A model in Ray, Spark and Dask beside the model itself: `python -m benchmarks.engines`.

The same rows go through `explain_files(backend="ray")` on a local cluster, of which one worker is killed on the way,
through Spark's `mapInArrow` and through Dask's `map_partitions`. Predictions and selections must be those of `explain`,
bit for bit. An engine that is not installed is left out; Spark needs a Java too.
"""

from __future__ import annotations

import argparse
import os
import signal
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow.parquet as pq

from hideseek import HideSeekClassifier, Scorer
from hideseek.datasets import make_syn

NAMES = [f"x{j + 1}" for j in range(11)]
OUTPUTS = ("prediction", "n_selected", "selected_bits")
N_FILES, N_WORKERS = 8, 3


def drawn(n_rows: int, seed: int) -> tuple[pd.DataFrame, np.ndarray]:
    data = make_syn("Syn4", n_samples=n_rows, random_state=seed)
    return pd.DataFrame(data.X.astype(np.float32), columns=NAMES), data.y


def with_ray(model: Any, rows: pd.DataFrame, folder: Path) -> pd.DataFrame:
    """Explain files in tasks, and kill the process of one of them when the first file is finished."""
    import ray

    (folder / "in").mkdir()
    for i, part in enumerate(np.array_split(np.arange(len(rows)), N_FILES)):
        rows.iloc[part].to_parquet(folder / f"in/{i}.parquet", index=False)
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
    ray.init(num_cpus=N_WORKERS, include_dashboard=False, log_to_driver=False, logging_level="error")
    killed: list[int] = []
    killer = threading.Thread(target=kill_one, args=(folder / "out", killed), daemon=True)
    killer.start()
    try:
        done = model.explain_files(folder / "in", folder / "out", outputs=OUTPUTS, carry=["id"], backend="ray")
    finally:
        ray.shutdown()
    killer.join()
    print(f"      killed: process {killed[0]}" if killed else "      no process was killed")
    return pd.concat([pq.read_table(path).to_pandas() for path in done.files])


def kill_one(out: Path, killed: list[int]) -> None:
    """Kill a worker of ours that is at a task, once one file is finished."""
    while not list(out.glob("[!.]*.parquet")):
        time.sleep(0.05)
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline and not killed:
        for process in Path("/proc").glob("[0-9]*"):
            try:
                name = (process / "cmdline").read_bytes()
                parents = (process / "status").read_text()
            except OSError:
                continue
            if name.startswith(b"ray::explain_fragment") and descends_from_here(parents):
                os.kill(int(process.name), signal.SIGKILL)
                killed.append(int(process.name))
                break


def descends_from_here(status: str) -> bool:
    while True:
        parent = int(next(line for line in status.splitlines() if line.startswith("PPid:")).split()[1])
        if parent == os.getpid():
            return True
        if parent <= 1:
            return False
        status = Path(f"/proc/{parent}/status").read_text()


def with_spark(model: Any, rows: pd.DataFrame, folder: Path) -> pd.DataFrame:
    import pyarrow as pa
    from pyspark.sql import SparkSession
    from pyspark.sql.pandas.types import from_arrow_schema

    os.environ["PYSPARK_PYTHON"] = sys.executable
    rows.to_parquet(folder / "rows.parquet", index=False)
    session = SparkSession.builder.master(f"local[{N_WORKERS}]").config("spark.ui.enabled", "false").getOrCreate()
    session.sparkContext.setLogLevel("ERROR")
    try:
        data = session.read.parquet(str(folder / "rows.parquet")).repartition(N_FILES)
        scorer = Scorer(model, OUTPUTS, carry=["id"])
        schema = from_arrow_schema(scorer.schema_for(pa.Schema.from_pandas(rows)))
        data.mapInArrow(scorer.stream, schema).write.parquet(str(folder / "spark"))
    finally:
        session.stop()
    return pq.read_table(folder / "spark").to_pandas()


def with_dask(model: Any, rows: pd.DataFrame, folder: Path) -> pd.DataFrame:
    import dask.dataframe as dd

    parts = dd.from_pandas(rows, npartitions=N_FILES)
    answers: pd.DataFrame = parts.map_partitions(Scorer(model, OUTPUTS, carry=["id"])).compute(scheduler="threads")
    return answers


ENGINES: dict[str, Callable[[Any, pd.DataFrame, Path], pd.DataFrame]] = {
    "ray": with_ray,
    "pyspark": with_spark,
    "dask": with_dask,
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--draws", type=int, default=4, help="of a prediction; more take longer")
    parser.add_argument("--engines", nargs="+", default=list(ENGINES), choices=ENGINES)
    arguments = parser.parse_args()
    train, y = drawn(10_000, 0)
    model = HideSeekClassifier(device="cpu", random_state=0, prediction_draws=arguments.draws).fit(train, y)
    rows, _ = drawn(arguments.rows, 1)
    start = time.perf_counter()
    expected = model.explain(rows)
    prediction, selected = expected.prediction, expected.selected
    alone = time.perf_counter() - start
    print(f"explain: {len(rows) / alone:,.0f} rows/s", flush=True)
    rows["id"] = np.arange(len(rows))
    for name in arguments.engines:
        if find_spec(name) is None:
            print(f"{name}: not installed")
            continue
        with tempfile.TemporaryDirectory() as folder:
            start = time.perf_counter()
            answers = ENGINES[name](model, rows, Path(folder))
            taken = time.perf_counter() - start
        answers = answers.sort_values("id")
        once = np.array_equal(answers["id"], rows["id"])
        equal = once and np.array_equal(answers["prediction"], prediction)
        equal = equal and np.array_equal(Scorer(model).unpack(answers["selected_bits"]), selected)
        print(f"{name}: every row once: {once}; equal to explain: {equal}; {alone / taken:.2f} of its rate", flush=True)


if __name__ == "__main__":
    main()
