"""Time and memory of commands, each in a process of its own."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

__all__ = ["HIDESEEK", "PYTHON", "Cost", "cost_of"]

PYTHON = (sys.executable, "-W", "ignore", "-c")
HIDESEEK = (sys.executable, "-W", "ignore", "-m", "hideseek")


class Cost(NamedTuple):
    """What a process took: seconds on the clock and of the processor, and the most memory it held, in mebibytes."""

    seconds: float
    processor: float
    mebibytes: float


def cost_of(command: Sequence[str]) -> Cost:
    """Run a command without showing its output, and return its cost."""
    start, mebibytes = time.perf_counter(), 0.0
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL)
    while not (ended := os.wait4(process.pid, os.WNOHANG))[0]:
        mebibytes = max(mebibytes, _peak(process.pid))
        time.sleep(0.001)
    _, status, usage = ended
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise subprocess.CalledProcessError(process.returncode, command)
    return Cost(time.perf_counter() - start, usage.ru_utime + usage.ru_stime, mebibytes)


def _peak(process: int) -> float:
    """Return the most mebibytes that a process has held; the usage of an ended one counts its parent's as well."""
    for line in Path(f"/proc/{process}/status").read_text().splitlines():
        if line.startswith("VmHWM:"):
            return int(line.split()[1]) / 2**10
    return 0.0
