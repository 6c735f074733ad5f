"""Explain mutated table files, and count what comes of it: no crash, no traceback, no bytes of the process's memory.

Every file is explained twice, with the memory that is handed out and given back filled with another byte each time.
An answer or a message that differs was made of memory that is not the file's.

    python -m benchmarks.fuzz_tables --files 100000 --kinds arrow parquet
"""

from __future__ import annotations

import argparse
import ctypes
import gzip
import io
import json
import os
import resource
import select
import signal
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import redirect_stderr, redirect_stdout
from functools import cache
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple
from unittest.mock import patch

import numpy as np
import torch

import hideseek
from hideseek import cli

KINDS = ("arrow", "parquet", "csv", "csv.gz")
MARKER = b"qZ7#Xw9!"
"""Eight bytes that no table has, all over the heap."""

_FILLS = (0x00, 0x5A)
_M_TRIM_THRESHOLD, _M_MMAP_THRESHOLD, _M_PERTURB = (
    -1,
    -3,
    -6,
)  # of glibc's mallopt; the last: the byte that fills memory
_SECONDS_PER_FILE = 120
_MEMORY = 4 * 2**30
_KEPT = 2**25
"""Bytes of one piece of memory that is filled, and is not given back to the system."""
_BYTES_OF_METADATA = 1500
_EXTREMES = (0, 1, 2, 7, 8, 0x7F, 0x80, 0xFF, 0xFFFF, 2**31 - 1, 2**31, 2**32 - 1, 2**62, 2**63 - 1, 2**64 - 1)


class Case(NamedTuple):
    """One mutated file."""

    kind: str
    content: bytes


# -- files --------------------------------------------------------------------------------------------------------


def mixed_frame(n_rows: int = 24) -> Any:
    """Return a table of numbers, text, categories, dates and missing values."""
    import pandas as pd

    rng = np.random.default_rng(0)
    frame = pd.DataFrame(
        {
            "amount": rng.normal(size=n_rows),
            "count": rng.integers(0, 9, n_rows).astype(np.int32),
            "town": rng.choice(["Rome", "Oslo", "Lima"], n_rows),
            "plan": pd.Categorical(rng.choice(["basic", "extra"], n_rows)),
            "size": pd.Categorical(rng.choice(["S", "M", "L"], n_rows), ["S", "M", "L"], ordered=True),
            "since": pd.Timestamp("2020-01-01") + pd.to_timedelta(rng.integers(0, 900, n_rows), unit="D"),
            "active": rng.random(n_rows) < 0.5,
            "ratio": np.where(rng.random(n_rows) < 0.2, np.nan, rng.random(n_rows)),
        }
    )
    frame.loc[::7, "town"] = None
    return frame


def valid_files(frame: Any) -> dict[str, list[bytes]]:
    """Return the table in every format that is read, in several layouts of each."""
    import pyarrow as pa
    from pyarrow import ipc, parquet

    table = pa.Table.from_pandas(frame, preserve_index=False)
    names = frame["town"].fillna("?").tolist()
    table = table.append_column("tags", pa.array([[name, name[:1]] for name in names]))  # not used, but copied
    table = table.append_column("note", pa.array(names, pa.large_string()))
    table = table.append_column("code", pa.array([name.encode() for name in names]))
    table = table.append_column("money", pa.array(range(len(names))).cast(pa.decimal128(24, 2)))
    files: dict[str, list[bytes]] = {kind: [] for kind in KINDS}
    for compression, rows in ((None, None), (None, 7), ("lz4", None), ("zstd", 7)):
        buffer = io.BytesIO()
        with ipc.new_file(buffer, table.schema, options=ipc.IpcWriteOptions(compression=compression)) as writer:
            writer.write_table(table, max_chunksize=rows)
        files["arrow"].append(buffer.getvalue())
    for options in (
        {"compression": "none", "use_dictionary": False},
        {"compression": "snappy"},
        {"compression": "zstd", "data_page_version": "2.0", "row_group_size": 7},
        {"compression": "none", "column_encoding": "PLAIN", "use_dictionary": False, "store_schema": False},
    ):
        buffer = io.BytesIO()
        parquet.write_table(table, buffer, **options)
        files["parquet"].append(buffer.getvalue())
    text = frame.to_csv(index=False).encode()
    files["csv"].append(text)
    files["csv.gz"].append(gzip.compress(text, mtime=0))
    return files


def mutated(content: bytes, rng: np.random.Generator) -> bytes:
    """Return the bytes with a few changes, half of them near an end, where the metadata is."""
    changed = bytearray(content)
    for _ in range(int(rng.geometric(0.6))):
        if len(changed) < 16:
            break
        _change(changed, _position(len(changed), rng), rng)
    return bytes(changed)


def _position(length: int, rng: np.random.Generator) -> int:
    where, near = int(rng.integers(4)), int(rng.integers(min(length, _BYTES_OF_METADATA)))
    return near if where == 0 else length - 1 - near if where == 1 else int(rng.integers(length))


def _change(content: bytearray, at: int, rng: np.random.Generator) -> None:
    kind, span = int(rng.integers(10)), int(rng.integers(1, 64))
    if kind <= 2:
        content[at] ^= 1 << int(rng.integers(8))
    elif kind == 3:
        content[at] = int(rng.integers(256))
    elif kind <= 6:  # a length or an offset that leads elsewhere
        width = int(rng.choice([2, 4, 8]))
        at -= at % width
        value = int(rng.choice(np.array(_EXTREMES, dtype=object))) if rng.random() < 0.5 else int(rng.integers(2**16))
        content[at : at + width] = (value % 2 ** (8 * width)).to_bytes(width, "little")[: len(content) - at]
    elif kind == 7:
        other = _position(len(content) - 1, rng)
        content[at : at + span] = content[other : other + span]
    elif kind == 8:
        del content[at : at + span if rng.random() < 0.9 else len(content)]
    else:
        content[at:at] = rng.bytes(span)


def cases(files: dict[str, list[bytes]], kinds: list[str], n_files: int, seed: int) -> Iterator[Case]:
    """Yield the mutated files; each depends on the seed and its number alone."""
    for number in range(n_files):
        rng = np.random.default_rng([seed, number])
        kind = kinds[number % len(kinds)]
        source = files[kind][int(rng.integers(len(files[kind])))]
        yield Case(kind, mutated(source, rng))


# -- one file -----------------------------------------------------------------------------------------------------


def foreign_tokens(marker: bytes = MARKER) -> list[str]:
    """Return the ways in which the marker could show: as text, and as numbers from any of its bytes on."""
    tokens = []
    for shift in range(8):
        turned = marker[shift:] + marker[:shift]
        tokens.append(turned[:4].decode())
        tokens += [str(np.frombuffer(turned, kind)[0]) for kind in ("<f8", "<i8")]
        tokens += [str(np.frombuffer(turned[:4], kind)[0]) for kind in ("<f4", "<i4")]
    return tokens


def explain(model: Path, case: Case, folder: Path) -> tuple[int, str, str]:
    """Run ``hideseek explain`` in this process: its exit code, standard output and standard error."""
    path = folder / f"data.{case.kind}"
    path.write_bytes(case.content)
    out, err = io.StringIO(), io.StringIO()
    with redirect_stdout(out), redirect_stderr(err):
        code = cli.main(["explain", str(model), str(path), "--data"])
    return code, out.getvalue(), err.getvalue()


def judged(model: Path, case: Case, folder: Path, tokens: list[str]) -> str:
    """Return what came of one file: "explained", "refused", or what is wrong."""
    libc = ctypes.CDLL(None)
    runs = []
    for fill in _FILLS:
        libc.mallopt(_M_PERTURB, fill)
        try:
            runs.append(explain(model, case, folder))
        except BaseException as error:
            return f"traceback: {type(error).__name__}"
    libc.mallopt(_M_PERTURB, 0)
    code, out, err = runs[0]
    known = case.content.decode("latin-1")
    if runs[0] != runs[1] or any(token in out + err for token in tokens if token not in known):
        return "foreign bytes"
    if "Traceback" in err or "--debug" in err:
        return "unclean: " + err.partition("error: ")[2].partition(":")[0]
    lines = err.splitlines()
    if not all(line.isprintable() and line.startswith(("error: ", "warning: ")) for line in lines):
        return "odd message"
    return {0: "explained", 1: "refused"}.get(code, f"exit code {code}")


def plant_marker(megabytes: int = 64) -> list[Any]:
    """Fill memory of every allocator with the marker, and give half of it back; the other half is to be kept."""
    pa: Any = sys.modules.get("pyarrow")
    libc = ctypes.CDLL(None)
    for option in (_M_TRIM_THRESHOLD, _M_MMAP_THRESHOLD):  # memory given back stays here, where it can be met again
        libc.mallopt(option, _KEPT)
    if pa is not None:
        pa.set_memory_pool(pa.system_memory_pool())  # the one that ``mallopt`` fills
    planted: list[Any] = []
    for size in (64, 256, 4096, 65536):
        for _ in range(megabytes * 2**20 // 4 // size):
            planted.append(bytearray(MARKER * (size // 8)))
    return planted[::2]


# -- many files, in processes that may die ------------------------------------------------------------------------


def fuzz(
    models: dict[str, Path],
    every: Iterator[Case],
    folder: Path,
    *,
    keep: Path | None = None,
    files_per_process: int = 2000,
    progress: bool = False,
) -> Counter[tuple[str, str]]:
    """Return how often each outcome came, by kind of file; a process that dies is an outcome of its file.

    Args:
        models: The saved model for each kind.
        every: The files.
        folder: Where each file is written in its turn.
        keep: Where the files with an outcome that should not be are kept.
        files_per_process: After so many files a new process takes over.
        progress: Print the counts whenever one does.
    """
    outcomes: Counter[tuple[str, str]] = Counter()
    left = iter(every)
    batch: list[Case] = []
    while True:
        batch += islice(left, files_per_process - len(batch))
        if not batch:
            return outcomes
        results = _in_child(models, batch, folder)
        for case, outcome in zip(batch, results, strict=False):
            outcomes[case.kind, outcome] += 1
            if keep is not None and outcome not in ("explained", "refused"):
                name = f"{outcome.replace(' ', '_').replace(':', '')}_{sum(outcomes.values())}.{case.kind}"
                (keep / name).write_bytes(case.content)
        batch = batch[len(results) :]
        if progress:
            print(dict(outcomes), flush=True)


def _in_child(models: dict[str, Path], batch: list[Case], folder: Path) -> list[str]:
    """Return the outcomes of the files up to the one at which the process ended."""
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(reading)
        _child(models, batch, folder, writing)
    os.close(writing)
    results, buffer, late = [], b"", False
    with os.fdopen(reading, "rb", buffering=0) as pipe:
        while not late:
            late = not select.select([pipe], [], [], _SECONDS_PER_FILE)[0]
            received = b"" if late else pipe.read(65536)
            if not received:
                break
            *lines, buffer = (buffer + received).split(b"\n")
            results += [json.loads(line) for line in lines]
    if late:
        os.kill(child, signal.SIGKILL)
    _, status = os.waitpid(child, 0)
    if len(results) < len(batch):
        results.append("too slow" if late else f"crash: {_reason(status)}")
    return results


def _reason(status: int) -> str:
    return signal.Signals(os.WTERMSIG(status)).name if os.WIFSIGNALED(status) else f"exit {os.WEXITSTATUS(status)}"


def _child(models: dict[str, Path], batch: list[Case], folder: Path, writing: int) -> None:
    """Judge the files one after the other; never returns."""
    torch.set_num_threads(1)  # the parent's other threads were not copied, and work shared with them would never end
    used = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (used + _MEMORY, used + _MEMORY))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    os.dup2(os.open(os.devnull, os.O_WRONLY), 2)  # what a library in C says when it dies
    # Loaded once: it takes most of the time of a file that is refused, and does not depend on it.
    hideseek.load = cache(hideseek.load)
    kept = plant_marker()
    tokens = foreign_tokens()
    for case in batch:
        os.write(writing, json.dumps(judged(models[case.kind], case, folder, tokens)).encode() + b"\n")
    os._exit(0 if kept else 1)


def save_models(folder: Path) -> dict[str, Path]:
    """Fit a small model on the mixed table, with the types that each format keeps, and return the file for each."""
    from hideseek import HideSeekClassifier

    frame = mixed_frame(400)
    text = frame.drop(columns="since").astype({"plan": object, "size": object})  # of text, a date is one
    models = {}
    for kinds, table in ((KINDS[:2], frame), (KINDS[2:], text)):
        path = folder / f"{kinds[0]}.safetensors"
        HideSeekClassifier("fast", steps=20, random_state=0).fit(table, frame["amount"] > 0).save(path)
        models.update(dict.fromkeys(kinds, path))
    return models


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--files", type=int, default=1000)
    parser.add_argument("--kinds", nargs="+", choices=KINDS, default=list(KINDS))
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--without", nargs="*", default=[], help="libraries to do without, such as pandas or pyarrow")
    parser.add_argument("--keep", type=Path, help="a folder for the files whose outcome should not be")
    arguments = parser.parse_args()
    started = time.perf_counter()
    if arguments.keep:
        arguments.keep.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        models, files = save_models(folder), valid_files(mixed_frame())
        every = cases(files, arguments.kinds, arguments.files, arguments.seed)
        with patch.dict(sys.modules, dict.fromkeys(arguments.without)):  # as if they were not installed
            outcomes = fuzz(models, every, folder, keep=arguments.keep, progress=arguments.files > 10_000)
    for (kind, outcome), count in sorted(outcomes.items()):
        print(f"{kind:8}  {outcome:30}  {count:8,}")
    print(f"{sum(outcomes.values()):,} files in {time.perf_counter() - started:.0f} s")
    return int(any(outcome not in ("explained", "refused") for _, outcome in outcomes))


if __name__ == "__main__":
    sys.exit(main())
