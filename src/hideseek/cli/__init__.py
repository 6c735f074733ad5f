"""The command line: ``hideseek demo``, ``fit``, ``explain``, ``report`` and more.

Each command is one module here that parses and prints; the work is done in other packages. Nothing heavy is imported
before a command runs, so that help and tab completion are fast.
"""

from __future__ import annotations

from hideseek.cli._main import main

__all__ = ["main"]
