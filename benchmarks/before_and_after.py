"""This version against an earlier one, side by side: `python -m benchmarks.before_and_after [COMMIT | torch]`.

Each version runs in a process of its own. They take turns, so that a slow moment of the machine hits both; the ratio is
the median over rounds of the ratios within a round. The default is the first version that had presets; with "torch" it
is this version without its compiled library, which has the same recipes.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

ROOT = Path(__file__).parent.parent
FIRST, TORCH = "b8192e3", "torch"
BARS = {"best": 3.0}
BAR = 2.0
RUNNER = """
import sys, time
from hideseek import HideSeekClassifier
from hideseek.datasets import make_syn
train, test = make_syn("Syn4", 10_000, random_state=0), make_syn("Syn4", 10_000, random_state=1)
for line in sys.stdin:
    start = time.perf_counter()
    found = HideSeekClassifier(line.strip(), device="cpu", random_state=0).fit(train.X, train.y).select(test.X)
    seconds, sizes = time.perf_counter() - start, found.sum(axis=1) + test.relevant.sum(axis=1)
    print(seconds, (200 * (found & test.relevant).sum(axis=1) / sizes).mean(), flush=True)
"""


class Version:
    """A version of the library in its own process."""

    def __init__(self, source: Path, **environment: str) -> None:
        command = [sys.executable, "-W", "ignore", "-c", f"import sys; sys.path.insert(0, {str(source)!r})\n{RUNNER}"]
        pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
        self._process = subprocess.Popen(command, text=True, env={**os.environ, **environment}, **pipes)

    def measured(self, preset: str) -> list[float]:
        """Seconds of a fit on 10,000 rows of Syn4 and the selections of 10,000 others, and their F1."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        print(preset, file=self._process.stdin, flush=True)
        return [float(number) for number in self._process.stdout.readline().split()]

    def close(self) -> None:
        """End the process."""
        self._process.communicate()


def compare(before: Version, after: Version, preset: str, rounds: int) -> str:
    """Return a line with the seconds and F1 of both versions, and how many times as fast the second is."""
    before.measured(preset), after.measured(preset)  # the first call pays for set-up
    pairs = np.array([(before.measured(preset), after.measured(preset)) for _ in range(rounds)])
    ratio, bar = np.median(pairs[:, 0, 0] / pairs[:, 1, 0]), BARS.get(preset, BAR)
    (old, old_f1), (new, new_f1) = np.median(pairs, axis=0)
    return (
        f"{preset:10} before {old:6.3f} s (F1 {old_f1:.1f}), after {new:6.3f} s (F1 {new_f1:.1f}): "
        f"{ratio:4.2f} times faster (bar {bar:g})"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("commit", nargs="?", default=FIRST, metavar="COMMIT|torch")
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--presets", nargs="+", default=["fast", "balanced", "paper"])
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        if arguments.commit == TORCH:
            before = Version(ROOT / "src", HIDESEEK_NATIVE="0")
        else:
            command = ["git", "archive", arguments.commit, "src"]
            archive = subprocess.run(command, cwd=ROOT, check=True, capture_output=True)
            subprocess.run(["tar", "-x", "-C", folder], input=archive.stdout, check=True)
            script = Path(folder) / "src/hideseek/engine/native/compile.py"
            if script.exists():  # the first versions were torch alone
                subprocess.run([sys.executable, script], check=False)  # without a compiler both are
            before = Version(Path(folder) / "src")
        after = Version(ROOT / "src")
        print(f"Syn4, 10,000 rows to fit and 10,000 to explain; before: {arguments.commit}")
        for preset in arguments.presets:
            print(compare(before, after, preset, arguments.rounds), flush=True)
        before.close()
        after.close()


if __name__ == "__main__":
    main()
