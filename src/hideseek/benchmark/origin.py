"""The origin of a stored number: versions, commit, time."""

from __future__ import annotations

import os
import platform
import subprocess
from datetime import UTC, datetime

from hideseek._version import __version__
from hideseek.extras import version_of

__all__ = ["commit", "now", "versions"]


def versions() -> dict[str, str]:
    """Return the versions of the libraries that the results depend on."""
    libraries = {name: version_of(name) or "unknown" for name in ("torch", "numpy")}
    return {"hideseek": __version__, **libraries, "python": platform.python_version()}


def commit() -> str | None:
    """Return the commit of the current folder, with a plus sign if files were changed; None outside a repository.

    The environment variable HIDESEEK_COMMIT says it for a copy of the files without the repository.
    """
    if os.environ.get("HIDESEEK_COMMIT"):
        return os.environ["HIDESEEK_COMMIT"]
    command = ["git", "describe", "--always", "--abbrev=12", "--exclude=*", "--dirty=+"]
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=10)
    except (OSError, subprocess.TimeoutExpired):
        return None
    return done.stdout.strip() or None


def now() -> str:
    """Return the current time in UTC."""
    return datetime.now(UTC).isoformat(timespec="seconds")
