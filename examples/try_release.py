"""Try an installed wheel outside the repository: ``make dist`` runs it in a fresh environment.

Without extras: fit, explain, save, load and report. ``python try_release.py --plot`` also draws every figure.
"""

from __future__ import annotations

import argparse
import inspect
import os
import tempfile
from importlib.resources import files
from pathlib import Path
from typing import Any

import numpy as np

import hideseek
from hideseek import Explanation, HideSeekClassifier, HideSeekRegressor, report
from hideseek.datasets import make_syn
from hideseek.metrics import audit


def main() -> None:
    """Run everything in an empty folder."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--plot", action="store_true", help="draw every figure, which needs hideseek[plot]")
    arguments = parser.parse_args()
    assert "site-packages" in hideseek.__file__, f"not the installed package: {hideseek.__file__}"
    assert files("hideseek").joinpath("py.typed").is_file()
    os.chdir(tempfile.mkdtemp())
    data = make_syn("Syn4", n_samples=3000, n_features=40, random_state=0)
    model = HideSeekClassifier("fast", validation_fraction=0.1, random_state=0).fit(data.X, data.y)
    explanation = model.explain(data.X[:300])
    first_session(model, explanation, data.X[:300])
    drawn = draw(model, explanation, data) if arguments.plot else []
    print(f"hideseek {hideseek.__version__}: {explanation.describe(0)[:60]}... and {len(drawn)} figures")


def first_session(model: HideSeekClassifier, explanation: Explanation, X: np.ndarray) -> None:
    """Save, load and report, and fit values too."""
    model.save("model.safetensors")
    again = hideseek.load("model.safetensors").explain(X)
    assert np.array_equal(again.importance, explanation.importance)
    explanation.save("explanation.npz")
    assert np.array_equal(Explanation.load("explanation.npz").selected, explanation.selected)
    explanation.report("report.html")
    assert Path("report.html").stat().st_size > 100_000
    HideSeekRegressor("fast", random_state=0).fit(X, X[:, 0]).explain(X)


def draw(model: HideSeekClassifier, explanation: Explanation, data: Any) -> list[str]:
    """Draw every figure, and return their names."""
    import matplotlib

    matplotlib.use("Agg")
    given: dict[str, tuple[Any, ...]] = {"compare": (explanation,)}
    for name in ("row", "waterfall", "path", "image"):
        given[name] = (0,)
    names = [name for name, _ in inspect.getmembers(explanation.plot, inspect.ismethod) if not name.startswith("_")]
    for name in names:
        options = {"shape": (5, 8)} if name == "image" else {}
        getattr(explanation.plot, name)(*given.get(name, ()), **options).figure.savefig(f"{name}.png")
    of_model = ["plot_history", "plot_path", "plot_screening"]
    for name in of_model:
        getattr(report, name)(model).figure.savefig(f"{name}.png")
    rows = slice(600)
    audit(data.X[rows], data.y[rows], model.select(data.X[rows]), n_folds=2).plot().figure.savefig("audit.png")
    return [*names, *of_model, "audit"]


if __name__ == "__main__":
    main()
