"""What a newcomer meets first: the public names and the bare import."""

import doctest
import inspect
import os
import subprocess
import sys
from pathlib import Path

import pytest

import hideseek
from hideseek import baselines, benchmark, cli, datasets, metrics, report

ROOT = Path(__file__).parent.parent
ROOMS = (hideseek, baselines, benchmark, cli, datasets, metrics, report)
PUBLIC = [getattr(room, name) for room in ROOMS for name in room.__all__ if not name.startswith("__")]


@pytest.mark.parametrize("room", ROOMS, ids=lambda room: room.__name__)
def test_public_names_are_sorted_and_fit_one_screen(room):
    assert room.__all__ == sorted(room.__all__)
    assert len(room.__all__) <= 24


@pytest.mark.parametrize("thing", PUBLIC, ids=lambda thing: thing.__name__)
def test_every_public_name_has_a_docstring_with_an_example_that_runs(thing, request):
    assert inspect.getdoc(thing)
    for method, function in vars(thing).items() if inspect.isclass(thing) else ():
        assert method.startswith("_") or not callable(function) or inspect.getdoc(function), method
    if inspect.isclass(thing) and issubclass(thing, BaseException | tuple):
        return  # errors are raised and named tuples returned by functions that have examples
    (example,) = doctest.DocTestFinder(recurse=False).find(thing, thing.__name__)
    assert example.examples
    if any(reader in example.docstring for reader in ("load_", "credit_syn", "california_switch")):
        request.getfixturevalue("published_data")
    assert doctest.DocTestRunner().run(example).failed == 0


def test_the_benchmarks_story_runs_and_is_short():
    (story,) = doctest.DocTestFinder(recurse=False).find(benchmark, "benchmark")
    assert len(story.examples) <= 10
    assert doctest.DocTestRunner().run(story).failed == 0


def test_unknown_names_are_refused():
    with pytest.raises(AttributeError, match="'surprise'"):
        hideseek.surprise  # noqa: B018 - the access is what is tested


def loaded_by(statement: str) -> set[str]:
    code = f"{statement}\nimport sys\nprint(*{{name.split('.')[0] for name in sys.modules}})"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return set(run.stdout.split())


def test_a_bare_import_is_light():
    assert loaded_by("import hideseek").isdisjoint({"torch", "sklearn", "numpy"})


def test_importing_the_rooms_loads_no_extra():
    theirs = loaded_by("import torch, sklearn.model_selection")  # scikit-learn itself looks for pandas
    ours = loaded_by("from hideseek import HideSeekClassifier, Scorer, baselines, benchmark, datasets, metrics, report")
    extras = {"matplotlib", "pandas", "polars", "pooch", "shap", "lime", "xgboost", "pyarrow", "ray", "rich", "onnx"}
    assert (ours - theirs).isdisjoint(extras)


def test_the_engine_needs_torch_and_numpy_alone():
    modules = [f"hideseek.engine.{path.stem}" for path in (ROOT / "src/hideseek/engine").glob("[a-z]*.py")]
    assert len(modules) > 5
    loaded = loaded_by("import " + ", ".join(modules))
    assert loaded.isdisjoint({"sklearn", "pandas", "narwhals", "safetensors", "rich"})


def test_progress_is_shown_on_a_terminal_and_nowhere_else(tmp_path):
    code = (
        "import numpy as np; from hideseek import HideSeekClassifier;"
        "X = np.random.default_rng(0).normal(size=(200, 3));"
        "HideSeekClassifier('fast', steps=20, verbose=True, random_state=0).fit(X, X[:, 0] > 0)"
    )
    silent = subprocess.run([sys.executable, "-W", "ignore", "-c", code], capture_output=True, text=True, check=True)
    assert silent.stdout + silent.stderr == ""
    reader, writer = os.openpty()
    with subprocess.Popen(
        [sys.executable, "-W", "ignore", "-c", code],
        stderr=writer,
        env={**os.environ, "TERM": "xterm", "COLUMNS": "120"},
    ) as process:
        os.close(writer)
        shown = b""
        while chunk := _read(reader):
            shown += chunk
        assert process.wait() == 0
    os.close(reader)
    assert b"20/20" in shown
    assert b"loss" in shown
    assert b"shown" in shown


def _read(descriptor: int) -> bytes:
    try:
        return os.read(descriptor, 65536)
    except OSError:  # a pseudo-terminal says so when its last writer is gone
        return b""


def test_an_interrupt_during_a_real_fit_says_that_nothing_is_fitted():
    code = """
import signal, threading, time, numpy as np, os
from hideseek import HideSeekClassifier
X = np.random.default_rng(0).normal(size=(2000, 5))
model = HideSeekClassifier("fast", steps=100_000, random_state=0)
threading.Timer(1.0, lambda: os.kill(os.getpid(), signal.SIGINT)).start()
try:
    model.fit(X, X[:, 0] > 0)
except KeyboardInterrupt as interrupt:
    print(interrupt, model.__sklearn_is_fitted__())
"""
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=120)
    assert run.stdout.strip() == "fit was interrupted: this HideSeekClassifier is not fitted False"
