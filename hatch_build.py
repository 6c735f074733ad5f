"""Compile the native training step into the wheel, or leave it out where there is no C compiler."""

from __future__ import annotations

import runpy
import subprocess
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface
from packaging.tags import platform_tags

FOLDER = Path("src/hideseek/engine/native")


class NativeStepHook(BuildHookInterface[Any]):
    """Adds the library to wheels and to editable installs, which then belong to this platform."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Compile before the files are collected."""
        folder = Path(self.root) / FOLDER
        build = runpy.run_path(str(folder / "compile.py"))
        try:
            build["compile_library"](folder, folder / build["LIBRARY"])
        except (OSError, subprocess.CalledProcessError) as error:
            (folder / build["LIBRARY"]).unlink(missing_ok=True)
            self.app.display_warning(f"The native training step was not compiled, torch takes its place: {error}")
            return
        build_data["artifacts"].append(str(FOLDER / build["LIBRARY"]))
        build_data["pure_python"] = False
        build_data["tag"] = f"py3-none-{next(platform_tags())}"
