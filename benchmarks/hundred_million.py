"""A hundred million rows in files, explained and learned from: `python -m benchmarks.hundred_million make FOLDER`.

`make` writes 100 Parquet files of a million rows of Syn4 each, 11 columns in single precision with an id and the label,
and the same rows once more sorted by label. `explain` explains them by `explain_files` in a process that is killed
three times on the way and called again, `ray` the same on a local cluster of which one worker is killed; every row must
be answered once, and some files as `explain` answers them.
`fit` learns from all rows, in both orders, beside a fit on a million rows in memory. Memory is the most that a process
held, less what it held after its imports.
"""

from __future__ import annotations

import argparse
import json
import os
import signal
import subprocess
import sys
import threading
import time
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute
import pyarrow.parquet as pq

from benchmarks.engines import N_WORKERS, kill_one
from hideseek.datasets import make_syn

NAMES = [f"x{j + 1}" for j in range(11)]
ROWS_PER_FILE = 1_000_000
FIRST_SEED = 1000
"""Of the files; seeds below it train and test."""
KILLS = (0.2, 0.45, 0.7)
"""Shares of the files after which the process is killed."""
LIMIT = 2 * 2**30


def table_of(seed: int, n_rows: int) -> pa.Table:
    data = make_syn("Syn4", n_samples=n_rows, random_state=seed)
    columns = {name: pa.array(data.X[:, j].astype(np.float32)) for j, name in enumerate(NAMES)}
    first = (seed - FIRST_SEED) * n_rows
    return pa.table(
        {"id": pa.array(np.arange(first, first + n_rows, dtype=np.int32)), **columns, "label": data.y.astype(np.int8)}
    )


def make(folder: Path, n_files: int) -> None:
    for name in ("drawn", "sorted"):
        (folder / name).mkdir(parents=True, exist_ok=True)
    for i in range(n_files):
        table = table_of(FIRST_SEED + i, ROWS_PER_FILE)
        pq.write_table(table, folder / f"drawn/part-{i:03d}.parquet", use_dictionary=False)
        for label in (0, 1):
            own = table.filter(pa.compute.equal(table["label"], label))
            pq.write_table(own, folder / f"sorted/{label}-{i:03d}.parquet", use_dictionary=False)


# -- explaining ----------------------------------------------------------------------------------------------------


def memory(pid: int | str, what: str) -> int:
    """Return a figure of a process in bytes: "VmRSS", what it holds, or "VmHWM", the most that it held."""
    lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    return int(next(line for line in lines if line.startswith(what)).split()[1]) * 1024


def explain_once(folder: Path) -> None:
    """Explain what is not explained yet; the first line printed is what the imports take."""
    import hideseek

    model = hideseek.load(folder / "model.safetensors")
    print(memory("self", "VmRSS"), flush=True)
    start = time.process_time()
    done = model.explain_files(folder / "drawn", folder / "out", carry=["id"])
    seconds = time.process_time() - start
    print(json.dumps({"rows": done.n_rows, "kept": done.n_kept, "cpu": seconds, "most": memory("self", "VmHWM")}))


def killed_after(folder: Path, n_finished: int | None) -> dict[str, Any]:
    """Explain in a process that is killed when so many files are finished, or that comes to its end."""
    command = [sys.executable, "-m", "benchmarks.hundred_million", "once", str(folder)]
    start, most = time.perf_counter(), 0
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        after_import = int(process.stdout.readline())
        while n_finished is not None and len(list((folder / "out").glob("part-*.parquet"))) < n_finished:
            time.sleep(0.2)
            most = memory(process.pid, "VmHWM")
        if n_finished is not None:
            time.sleep(1)  # into the next file
            process.send_signal(signal.SIGKILL)
            said = {"killed": True, "most": most}
        else:
            said = json.loads(process.stdout.read())
    over = said["most"] - after_import
    return {**said, "seconds": time.perf_counter() - start, "over_import": over}


def explain(folder: Path) -> None:
    model = fitted(folder)
    n_files = len(list((folder / "drawn").iterdir()))
    runs = [killed_after(folder, int(share * n_files)) for share in KILLS]
    runs.append(killed_after(folder, None))
    for run in runs:
        print(run, flush=True)
    n_rows, n_compared, in_memory = checked(model, folder / "drawn", folder / "out")
    wall, last = sum(run["seconds"] for run in runs), runs[-1]
    own = (last["rows"] - last["kept"] * ROWS_PER_FILE) / last["cpu"]
    print(f"{n_rows / wall:,.0f} rows/s over all four runs, what was lost and done again included")
    print(f"{own:,.0f} rows a second of processor time; explain: {n_compared / in_memory:,.0f}; "
          f"ratio {own * in_memory / n_compared:.2f}")  # fmt: skip
    most = max(run["over_import"] for run in runs)
    print(f"{most / 2**20:,.0f} MiB over the import at most: {most / LIMIT:.2f} of the limit")


def explain_on_ray(folder: Path) -> None:
    import ray

    model, out, killed = fitted(folder), folder / "out-ray", list[int]()
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
    ray.init(num_cpus=N_WORKERS, include_dashboard=False, log_to_driver=False, logging_level="error")
    killer = threading.Thread(target=kill_one, args=(out, killed), daemon=True)
    killer.start()
    start = time.perf_counter()
    try:
        model.explain_files(folder / "drawn", out, carry=["id"], backend="ray")
    finally:
        ray.shutdown()
    wall = time.perf_counter() - start
    print(f"{N_WORKERS} workers, process {killed[0]} killed when the first file was finished")
    n_rows, _, _ = checked(model, folder / "drawn", out)
    print(f"{n_rows / wall:,.0f} rows/s")


def fitted(folder: Path) -> Any:
    """Return a model with every setting at its default, also saved in the folder."""
    from hideseek import HideSeekClassifier

    train = table_of(FIRST_SEED - 1, 10_000)
    model = HideSeekClassifier(device="cpu", random_state=0).fit(train.select(NAMES), train["label"].to_numpy())
    model.save(folder / "model.safetensors")
    return model


def checked(model: Any, source: Path, out: Path) -> tuple[int, int, float]:
    """Compare the answers with `explain`; return the rows, the rows compared and the processor time of `explain`."""
    from hideseek import Scorer

    files, n_rows, in_memory, scorer = sorted(source.iterdir()), 0, 0.0, Scorer(model)
    for path in files:
        ids = pq.read_table(out / path.name, columns=["id"])["id"].to_numpy()
        assert np.array_equal(ids, pq.read_table(path, columns=["id"])["id"].to_numpy())
        assert np.array_equal(ids, np.arange(n_rows, n_rows + len(ids)))
        n_rows += len(ids)
    left = [path.name for path in out.iterdir() if path.name not in {file.name for file in files}]
    print(f"{n_rows:,} rows, each once; {len(left)} files besides the answers")
    some = files[:: max(1, len(files) // 3)]
    for path in some:
        found, rows = pq.read_table(out / path.name), pq.read_table(path, columns=NAMES)
        start = time.process_time()
        expected = model.explain(rows)
        prediction, selected = expected.prediction, expected.selected
        in_memory += time.process_time() - start
        assert np.array_equal(found["prediction"].to_numpy(), prediction)
        assert np.array_equal(scorer.unpack(found["selected_bits"]), selected)
    print(f"{len(some) * ROWS_PER_FILE:,} rows of whole files equal those of explain")
    return n_rows, len(some) * ROWS_PER_FILE, in_memory


# -- learning --------------------------------------------------------------------------------------------------------


def fit_once(folder: Path, what: str) -> None:
    """Fit on the files of a folder, or on the first file in memory, and print what came of it."""
    from hideseek import HideSeekClassifier
    from hideseek.metrics import auroc, selection_scores

    after_import, start = memory("self", "VmRSS"), time.perf_counter()
    cpu, model = time.process_time(), HideSeekClassifier(device="cpu", random_state=0)
    if what == "memory":
        table = pq.read_table(folder / "drawn/part-000.parquet")
        model.fit(table.select(NAMES), table["label"].to_numpy())
        used = f"{len(table):,} rows in memory"
    else:
        model.fit_files(folder / what, "label", drop=["id"], progress=False)
        used = str(model.fitted_files_)
    seconds, cpu, most = time.perf_counter() - start, time.process_time() - cpu, memory("self", "VmHWM")
    test = make_syn("Syn4", random_state=FIRST_SEED - 2)
    rows = pa.table({name: test.X[:, j].astype(np.float32) for j, name in enumerate(NAMES)})
    explanation = model.explain(rows)
    print(json.dumps({
        "used": used, "seconds": seconds, "cpu": cpu, "over_import": most - after_import,
        "f1": selection_scores(explanation.selected, test.relevant).f1,
        "auroc": auroc(test.y, model.predict_proba(rows)),
        "masks": sha256(explanation.importance.tobytes()).hexdigest(),
    }))  # fmt: skip


def fit(folder: Path) -> None:
    found = {}
    for what in ("memory", "drawn", "sorted"):
        command = [sys.executable, "-m", "benchmarks.hundred_million", f"fit-{what}", str(folder)]
        found[what] = json.loads(subprocess.run(command, stdout=subprocess.PIPE, check=True, text=True).stdout)
        print(what, found[what], flush=True)
    memory_, drawn, by_label = (found[what] for what in ("memory", "drawn", "sorted"))
    print(f"F1 {drawn['f1'] / memory_['f1']:.4f}, AUROC {drawn['auroc'] / memory_['auroc']:.4f} and processor time "
          f"{drawn['cpu'] / memory_['cpu']:.1f} times those of a million rows in memory")  # fmt: skip
    print(f"{drawn['over_import'] / 2**20:,.0f} MiB over the import: {drawn['over_import'] / LIMIT:.2f} of the limit")
    print(f"the same masks from rows sorted by label: {drawn['masks'] == by_label['masks']}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument(
        "what", choices=("make", "explain", "ray", "fit", "once", "fit-memory", "fit-drawn", "fit-sorted"),
        help="the last four are called by the others",
    )  # fmt: skip
    parser.add_argument("folder", type=Path)
    parser.add_argument("--files", type=int, default=100, help="how many to make")
    arguments = parser.parse_args()
    if arguments.what == "make":
        make(arguments.folder, arguments.files)
    elif arguments.what.startswith("fit-"):
        fit_once(arguments.folder, arguments.what.removeprefix("fit-"))
    else:
        {"explain": explain, "ray": explain_on_ray, "once": explain_once, "fit": fit}[arguments.what](arguments.folder)


if __name__ == "__main__":
    main()
