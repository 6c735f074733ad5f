"""Which version of the project a measurement belongs to."""

from __future__ import annotations

import os
import subprocess
from functools import cache
from pathlib import Path


@cache
def commit() -> str:
    """The commit, with a mark if files differ from it; HIDESEEK_COMMIT says it where there is no git."""
    told = os.environ.get("HIDESEEK_COMMIT")
    if told:
        return told
    command = ["git", "describe", "--always", "--dirty"]
    try:
        answer = subprocess.run(command, cwd=Path(__file__).parent, check=True, capture_output=True, text=True)
    except (OSError, subprocess.CalledProcessError):
        return "unknown"
    return answer.stdout.strip()
