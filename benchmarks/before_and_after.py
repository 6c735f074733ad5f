"""This version against an earlier one, side by side: `python -m benchmarks.before_and_after [COMMIT]`.

Each version runs in a process of its own. They take turns, so that a slow moment of the machine hits both; the ratio is
the median over rounds of the ratios within a round. The default is the first version that had presets.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

ROOT = Path(__file__).parent.parent
FIRST = "b8192e3"
BAR = 2.0
RUNNER = """
import sys, time
from hideseek import HideSeekClassifier
from hideseek.datasets import make_syn
train, test = make_syn("Syn4", 10_000, random_state=0), make_syn("Syn4", 10_000, random_state=1)
for line in sys.stdin:
    start = time.perf_counter()
    HideSeekClassifier(line.strip(), device="cpu", random_state=0).fit(train.X, train.y).select(test.X)
    print(time.perf_counter() - start, flush=True)
"""


class Version:
    """A version of the library in its own process."""

    def __init__(self, source: Path) -> None:
        command = [sys.executable, "-W", "ignore", "-c", f"import sys; sys.path.insert(0, {str(source)!r})\n{RUNNER}"]
        self._process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def seconds(self, preset: str) -> float:
        """Time of a fit on 10,000 rows of Syn4 and the selections of 10,000 others."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        print(preset, file=self._process.stdin, flush=True)
        return float(self._process.stdout.readline())

    def close(self) -> None:
        """End the process."""
        self._process.communicate()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("commit", nargs="?", default=FIRST)
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--presets", nargs="+", default=["fast", "balanced", "paper"])
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        archive = subprocess.run(["git", "archive", arguments.commit, "src"], cwd=ROOT, check=True, capture_output=True)
        subprocess.run(["tar", "-x", "-C", folder], input=archive.stdout, check=True)
        before, after = Version(Path(folder) / "src"), Version(ROOT / "src")
        print(f"Syn4, 10,000 rows to fit and 10,000 to explain; before: {arguments.commit}")
        for preset in arguments.presets:
            before.seconds(preset), after.seconds(preset)  # the first call pays for set-up
            pairs = np.array([(before.seconds(preset), after.seconds(preset)) for _ in range(arguments.rounds)])
            ratio = np.median(pairs[:, 0] / pairs[:, 1])
            old, new = np.median(pairs, axis=0)
            print(f"{preset:10} before {old:6.3f} s, after {new:6.3f} s: {ratio:4.2f} times faster (bar {BAR:g})")
        before.close()
        after.close()


if __name__ == "__main__":
    main()
