import json

import pandas as pd
import pytest

CONFIG = {
    "name": "mine",
    "seeds": 2,
    "scores": ["accuracy", "n_selected"],
    "methods": {"forest": {"parameters": {"k": 2}}, "lasso": {"parameters": {"k": 2}}},
    "datasets": {
        "own": {"file": "data.csv", "target": "label", "drop": ["x4"]},
        "Syn1": {"maker": "make_syn", "parameters": {"name": "Syn1", "n_samples": 300}},
    },
}


@pytest.fixture
def benchmark(run, data, tmp_path):
    """Run a configuration beside data.csv, stored in the same folder."""

    def run_config(config, *words):
        (tmp_path / "config.json").write_text(json.dumps(config))
        return run("benchmark", tmp_path / "config.json", "--folder", tmp_path / "runs", *words)

    return run_config


def test_a_grid_with_a_table_of_ones_own(benchmark, tmp_path):
    code, out, err = benchmark(CONFIG)
    assert (code, err) == (0, "")
    assert "8 jobs finished, 0 failed, 0 missing" in out
    lines = [line.split()[:3] for line in out.splitlines()]
    assert ["forest", "own", "accuracy"] in lines
    assert ["lasso", "Syn1", "n_selected"] in lines


def test_what_is_stored_is_not_run_again(benchmark, tmp_path):
    code, out, _ = benchmark(CONFIG, "--show")
    assert code == 0
    assert "0 jobs finished, 0 failed, 8 missing" in out
    assert benchmark(CONFIG)[0] == 0
    stored = {
        path: path.stat().st_mtime_ns for path in (tmp_path / "runs/mine").rglob("*.json") if path.name != "run.json"
    }
    code, out, _ = benchmark(CONFIG, "--json")
    result = json.loads(out)
    assert (result["jobs"], result["missing"], result["failed"]) == (8, 0, [])
    assert {path: path.stat().st_mtime_ns for path in stored} == stored
    assert len(result["summary"]) == 8


def test_the_summary_as_a_table(benchmark, tmp_path):
    code, out, _ = benchmark(CONFIG, "--score", "accuracy", "--out", tmp_path / "summary.csv")
    summary = pd.read_csv(tmp_path / "summary.csv")
    assert code == 0
    assert "n_selected" not in out
    assert set(summary["score"]) == {"accuracy"}
    assert len(summary) == 4
    code, _, err = benchmark(CONFIG, "--score", "f2")
    assert code == 1
    assert "--score f2: no such score; the results have accuracy, n_selected" in err


def test_failed_jobs_are_named_and_the_exit_code_says_so(benchmark):
    methods = {"forest": {"parameters": {"k": 5}}}
    code, out, err = benchmark({**CONFIG, "methods": methods})
    assert (code, err) == (1, "")
    assert "failed: forest on own, seed 0: InputError: a parameter of ForestImportance cannot be used: k=5" in out
    assert "2 jobs finished, 2 failed (--retry-failed runs them again), 0 missing" in out


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"datasets": {"own": {"file": "data.csv", "target": "labl"}}}, "data.csv has no column 'labl'; did you mean"),
        ({"datasets": {"own": {"file": "data.csv"}}}, "datasets.own: a file needs a target"),
        ({"datasets": {"own": {"file": "nowhere.csv", "target": "y"}}}, "nowhere.csv: No such file"),
        ({"methods": {"forst": {"parameters": {"k": 2}}}}, "did you mean"),
        ({"surprise": 1}, "surprise"),
    ],
)
def test_a_wrong_configuration_is_refused_in_one_line(benchmark, change, message):
    code, out, err = benchmark({**CONFIG, **change})
    assert (code, out) == (1, "")
    assert message in err
    assert err.count("\n") == 1


def test_a_configuration_that_is_no_json(run, tmp_path):
    (tmp_path / "config.json").write_text("{")
    code, _, err = run("benchmark", tmp_path / "config.json")
    assert code == 1
    assert "config.json' is not JSON" in err
    assert run("benchmark", tmp_path / "nowhere.toml")[0] == 1


def test_an_interrupted_run_says_how_to_go_on(benchmark, monkeypatch):
    def interrupted(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr("hideseek.benchmark.run", interrupted)
    code, _, err = benchmark(CONFIG)
    assert (code, err) == (130, "error: interrupted; run the same command again to resume\n")
