"""Time and memory of screening a wide table: `python -m benchmarks.wide_screening [--columns 5000] [--before COMMIT]`.

Each version runs in a process of its own, one after the other. Seconds are of the processor. The limit is what the
products of all pairs of columns take as one product of large matrices in single precision.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
from pathlib import Path

from benchmarks.arithmetic import matrix_rate

ROOT = Path(__file__).parent.parent
ROWS = 10_000
RUNNER = f"""
import json, resource, sys, time
import numpy as np
from hideseek.datasets import make_syn
from hideseek.engine.scaling import Scaler
from hideseek.search.screening import residuals_of, screen
data = make_syn("Syn4", {ROWS}, n_features=int(sys.argv[1]), random_state=0)
scaler, residuals = Scaler.fit(data.X), residuals_of(data.y.astype(np.int64), 2, None)
now, peak = (lambda: int(open("/proc/self/statm").read().split()[1]) * resource.getpagesize()), []
import threading
threading.Thread(target=lambda: [(peak.append(now()), time.sleep(0.01)) for _ in iter(int, 1)], daemon=True).start()
before, start = now(), time.process_time()
screening = screen(data.X, scaler, residuals, fewest=16, most=64)
seconds = time.process_time() - start
print(json.dumps([seconds, (max(peak) - before) / 2**20, np.flatnonzero(screening.kept).tolist()]))
"""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--columns", type=int, default=5000)
    parser.add_argument("--before", default="355bc47", help="the commit to compare with")
    arguments = parser.parse_args()
    limit = arguments.columns**2 * ROWS / matrix_rate()  # half of all pairs, two operations each
    after = measured(ROOT / "src", arguments.columns)
    with tempfile.TemporaryDirectory() as folder:
        archive = subprocess.run(["git", "archive", arguments.before, "src"], cwd=ROOT, check=True, capture_output=True)
        subprocess.run(["tar", "-x", "-C", folder], input=archive.stdout, check=True)
        before = measured(Path(folder) / "src", arguments.columns)
    table = arguments.columns * ROWS * 8 / 2**20
    print(f"{arguments.columns:,} columns x {ROWS:,} rows; the table itself: {table:,.0f} MiB")
    for name, (seconds, mebibytes, _) in (("before", before), ("after", after)):
        print(f"{name:8}{seconds:8.1f} s, {seconds / limit:.1f} times the limit, {mebibytes:,.0f} MiB beside the table")
    print(f"after / before: time {after[0] / before[0]:.2f}, memory {after[1] / before[1]:.2f}")
    print("same columns kept" if after[2] == before[2] else f"other columns kept: {before[2]} before, {after[2]} after")


def measured(source: Path, n_columns: int) -> tuple[float, float, list[int]]:
    """Processor seconds, mebibytes beside the table and the kept columns of one version."""
    code = f"import sys; sys.path.insert(0, {str(source)!r})\n{RUNNER}"
    command = [sys.executable, "-W", "ignore", "-c", code, str(n_columns)]
    output = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    seconds, mebibytes, kept = json.loads(output)
    return seconds, mebibytes, kept


if __name__ == "__main__":
    main()
