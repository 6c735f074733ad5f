"""Time until Python and the command line are ready: `python -m benchmarks.start_up`.

Each line is a process of its own; all take turns for some rounds. What does not load torch is compared with an
empty Python process, the rest with the import of torch and scikit-learn, on which every estimator is built.
"""

from __future__ import annotations

import argparse
import tempfile
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from benchmarks.processes import HIDESEEK, PYTHON, cost_of
from hideseek import HideSeekClassifier
from hideseek.datasets import make_syn

EMPTY, LIBRARIES = "an empty Python process", "import torch, sklearn.base"


def commands(model: str) -> dict[str, tuple[str, Sequence[str]]]:
    """Return each process with what it is compared with."""
    return {
        EMPTY: (EMPTY, (*PYTHON, "pass")),
        "import hideseek": (EMPTY, (*PYTHON, "import hideseek")),
        "hideseek --help": (EMPTY, (*HIDESEEK, "--help")),
        "hideseek fit --help": (EMPTY, (*HIDESEEK, "fit", "--help")),
        "hideseek datasets": (EMPTY, (*HIDESEEK, "datasets")),
        LIBRARIES: (LIBRARIES, (*PYTHON, LIBRARIES)),
        "import HideSeekClassifier": (LIBRARIES, (*PYTHON, "from hideseek import HideSeekClassifier")),
        "hideseek info": (LIBRARIES, (*HIDESEEK, "info")),
        "hideseek info MODEL": (LIBRARIES, (*HIDESEEK, "info", model)),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=9)
    arguments = parser.parse_args()
    data = make_syn("Syn4", 1000, random_state=0)
    with tempfile.TemporaryDirectory() as folder:
        model = str(Path(folder) / "model.safetensors")
        HideSeekClassifier("fast", random_state=0).fit(data.X, data.y).save(model)
        cases = commands(model)
        rounds = [{name: cost_of(command) for name, (_, command) in cases.items()} for _ in range(arguments.rounds + 1)]
    print(f"{'':28}{'seconds':>9}{'ratio':>8}{'MiB':>7}   medians; ratio to")
    for name, (peer, _) in cases.items():
        costs = [each[name] for each in rounds[1:]]  # the first round reads files from the disk
        ratio = np.median([each[name].seconds / each[peer].seconds for each in rounds[1:]])
        seconds, _, mebibytes = np.median(costs, axis=0)
        print(f"{name:28}{seconds:9.3f}{ratio:8.2f}{mebibytes:7.0f}   {peer}")


if __name__ == "__main__":
    main()
