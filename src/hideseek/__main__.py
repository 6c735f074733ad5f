"""Entry point of ``python -m hideseek``, the same as the command ``hideseek``."""

from __future__ import annotations

from hideseek.cli import main

if __name__ == "__main__":
    raise SystemExit(main())
