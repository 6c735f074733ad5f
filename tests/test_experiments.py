"""The command of the experiments, on small versions of them."""

import csv
import re
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent


@pytest.fixture
def command(tmp_path, monkeypatch, capsys):
    """Runs `python -m experiments ...` here, in a folder of its own, and gives what it prints."""
    monkeypatch.syspath_prepend(str(ROOT))
    from experiments import __main__, experiment

    monkeypatch.setattr(experiment, "RUNS", tmp_path / "runs")
    monkeypatch.setattr(experiment, "RESULTS", tmp_path / "results")

    def run(*arguments):
        monkeypatch.setattr(sys, "argv", ["experiments", *arguments])
        __main__.main()
        return capsys.readouterr().out

    return run


def test_every_experiment_is_listed(command):
    assert re.match(r"synthetic +8 methods on Syn1-6", command("list"))


def test_a_quick_run_is_compared_and_drawn(command, tmp_path):
    said = command("run", "synthetic", "--quick", "--seeds", "1", "--methods", "lasso", "forest")
    assert said == "synthetic: Results(12 jobs: 12 finished, 0 failed, 0 missing)\n"
    printed = command("compare", "synthetic", "--quick")
    assert printed.splitlines()[0].split()[:6] == ["method", "dataset", "score", "published", "ours", "difference"]
    assert "missing)" in printed
    with open(tmp_path / "runs" / "synthetic-quick.csv", newline="") as file:
        lines = {(line["method"], line["dataset"], line["score"]): line for line in csv.DictReader(file)}
    lasso, waiting = lines["lasso", "Syn1", "tpr"], lines["lime", "Syn1", "tpr"]
    assert float(lasso["difference"]) == pytest.approx(float(lasso["ours"]) - float(lasso["published"]))
    assert (waiting["published"], waiting["ours"], waiting["n_seeds"]) == ("19", "", "0")
    assert (tmp_path / "runs" / "synthetic-quick.md").read_text().startswith("| method | dataset |")
    picture = Path(command("figures", "synthetic", "--quick").strip())
    assert picture.read_bytes().startswith(b"\x89PNG")
    assert not (tmp_path / "results").exists()  # a quick run is no result


def test_every_published_number_of_the_table_has_a_method_and_a_dataset(command):
    from experiments.experiment import PUBLISHED
    from experiments.synthetic import EXPERIMENT, SHORT

    config, quick = EXPERIMENT.config(False), EXPERIMENT.config(True)
    assert len(config.seeds) == 21
    assert list(EXPERIMENT.labels) == list(config.methods) == list(quick.methods)
    assert SHORT.keys() <= config.methods.keys()
    with open(PUBLISHED / EXPERIMENT.published, newline="") as file:
        rows = list(csv.DictReader(file))
    assert {row["method"] for row in rows} == set(EXPERIMENT.labels.values())
    assert {row["dataset"] for row in rows} == set(config.datasets)


def test_settings_are_those_published(command):
    from experiments.synthetic import EXPERIMENT

    methods = EXPERIMENT.config(False).methods
    assert methods["shap"].parameters_on("Syn1") == {"k": 2}
    assert methods["l2x-one-epoch"].parameters_on("Syn4") == {"steps": 10, "activation": "selu", "k": 5}
    assert methods["invase"].parameters_on("Syn2") == {"activation": "relu"}
    assert methods["invase-"].parameters_on("Syn6") == {"baseline": False, "activation": "selu"}
    assert methods["lime"].rows == 100
