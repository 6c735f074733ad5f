import io
import json
import sys

import pandas as pd
import pytest

from hideseek import HideSeekClassifier
from hideseek.cli import main


@pytest.fixture
def run(capsys):
    """Run a command in this process: its exit code, standard output and standard error."""

    def run_command(*words):
        capsys.readouterr()
        code = main([str(word) for word in words])
        captured = capsys.readouterr()
        return code, captured.out, captured.err

    return run_command


@pytest.fixture
def run_json(run):
    def run_command(*words):
        code, out, err = run(*words, "--json")
        return code, json.loads(out), err

    return run_command


@pytest.fixture(scope="session")
def table(switch):
    """x3 says whether x1 or x2 decides; x4 is noise."""
    X, y = switch
    return pd.DataFrame(X, columns=["x1", "x2", "x3", "x4"]).assign(label=y)


@pytest.fixture
def data(table, tmp_path):
    path = tmp_path / "data.csv"
    table.to_csv(path, index=False)
    return path


@pytest.fixture(scope="session")
def saved(table, tmp_path_factory):
    path = tmp_path_factory.mktemp("cli") / "model.safetensors"
    model = HideSeekClassifier("fast", random_state=0).fit(table.drop(columns="label"), table["label"])
    model.save(path)
    return path


@pytest.fixture
def typed(monkeypatch):
    """Give text to standard input."""

    def type_text(text):
        stream = io.TextIOWrapper(io.BytesIO(text.encode()))
        monkeypatch.setattr("sys.stdin", stream)

    return type_text


@pytest.fixture
def without(monkeypatch):
    """Pretend that libraries are not installed."""

    def hide(*libraries):
        for library in libraries:
            monkeypatch.setitem(sys.modules, library, None)

    return hide
