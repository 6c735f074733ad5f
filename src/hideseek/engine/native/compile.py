"""Compile the native kernels into this folder. Needs a C compiler and nothing else."""

from __future__ import annotations

import hashlib
import os
import platform
import shlex
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

__all__ = ["LIBRARY", "compile_library", "source_digest"]

LIBRARY = "libstep.so"
_KERNELS = ("step", "answer")
_FLAGS = ("-std=gnu11", "-O3", "-fPIC", "-fno-math-errno", "-fno-trapping-math", "-ffp-contract=fast")
_VARIANTS = {
    "avx2": ("-mavx2", "-mfma"),
    "avx512": ("-mavx512f", "-mavx512bw", "-mavx512dq", "-mavx512vl", "-mavx2", "-mfma", "-mprefer-vector-width=512"),
}
_X86 = ("x86_64", "amd64")


def source_digest(folder: Path) -> str:
    """Return a digest of the sources, to recognise a library that was compiled from other sources."""
    sources = sorted((*folder.glob("*.c"), *folder.glob("*.h")))
    return hashlib.sha256(b"".join(source.read_bytes() for source in sources)).hexdigest()[:16]


def compile_library(folder: Path, target: Path) -> None:
    """Compile the sources in ``folder`` into ``target``.

    Raises:
        OSError: No compiler was found.
        subprocess.CalledProcessError: The compiler does not accept the sources.
    """
    compiler = _compiler()
    with tempfile.TemporaryDirectory() as scratch:
        objects = _kernels(compiler, folder, Path(scratch), "base", ())
        defines = [f'-DSOURCES="{source_digest(folder)}"']
        if platform.machine().lower() in _X86:
            for name, flags in _VARIANTS.items():
                try:
                    objects += _kernels(compiler, folder, Path(scratch), name, flags)
                except subprocess.CalledProcessError:  # an old compiler, which does not know this instruction set
                    continue
                defines.append(f"-DWITH_{name.upper()}")
        built = Path(scratch) / LIBRARY
        sources = [str(folder / "dispatch.c"), *map(str, objects)]
        _run([*compiler, *_FLAGS, "-shared", *defines, *sources, "-o", str(built), "-lm"])
        target.parent.mkdir(parents=True, exist_ok=True)
        beside = target.with_suffix(".new")
        shutil.copyfile(built, beside)
        os.replace(beside, target)  # processes that have loaded the old file keep it


def _kernels(compiler: list[str], folder: Path, scratch: Path, name: str, flags: tuple[str, ...]) -> list[Path]:
    own = ("-fvisibility=hidden", f"-DVARIANT=_{name}")  # only the dispatcher calls it
    objects = [scratch / f"{kernel}_{name}.o" for kernel in _KERNELS]
    for kernel, out in zip(_KERNELS, objects, strict=True):
        _run([*compiler, *_FLAGS, *flags, *own, "-c", str(folder / f"{kernel}.c"), "-o", str(out)])
    return objects


def _compiler() -> list[str]:
    if os.environ.get("CC"):
        return shlex.split(os.environ["CC"])
    for name in ("cc", "gcc", "clang"):
        if shutil.which(name):
            return [name]
    raise FileNotFoundError("no C compiler: set CC, or install gcc or clang")


def _run(command: list[str]) -> None:
    subprocess.run(command, check=True, capture_output=True, text=True)


if __name__ == "__main__":
    here = Path(__file__).parent
    try:
        compile_library(here, here / LIBRARY)
    except subprocess.CalledProcessError as error:
        sys.exit(error.stderr)
    except OSError as error:
        sys.exit(f"{error}; without it training runs in torch, at a quarter to a third of the speed")
