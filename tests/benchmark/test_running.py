"""A grid is done once, whatever comes between; what fails is said; what is stored is whole."""

import json
import os
import signal
import subprocess
import sys
import time
from functools import partial
from pathlib import Path

import numpy as np
import pytest
from fakes import Failing, Fake, Interrupted, Slow, Stacked, keep_masks, keep_nothing, lines

import hideseek
from hideseek import HideSeekClassifier, HideSeekRegressor, HideSeekWarning, InputError, baselines
from hideseek.benchmark import Config, load_results, run

HERE = Path(__file__).parent
QUICK = {"preset": "fast", "steps": 20, "batch_size": 32}


def scores(results):
    """The scores of every job, without those that no two runs share."""
    timed = ("seconds_fit", "seconds_explain")
    return {
        (r["method"], r["dataset"], r["seed"]): {name: v for name, v in r["scores"].items() if name not in timed}
        for r in results
    }


def assert_same_scores(first, second):
    assert scores(first).keys() == scores(second).keys()
    for job, values in scores(first).items():
        assert values == pytest.approx(scores(second)[job], rel=1e-3, abs=1e-3), job


# -- once ---------------------------------------------------------------------------------------------------------


def test_a_finished_job_is_not_done_again(own, log, tmp_path):
    first = run(Config({"mine": Fake(log=log)}, {"own": own}, seeds=2), tmp_path)
    again = run(Config({"mine": Fake(log=log)}, {"own": own}, seeds=3), tmp_path)
    assert lines(log) == ["fit 0", "fit 1", "fit 2"]
    assert len(first) == 2
    assert list(again)[:2] == list(first)


def test_an_interrupt_costs_the_job_it_interrupts(own, log, tmp_path):
    config = Config({"mine": Interrupted(log=log)}, {"own": own}, seeds=4)
    with pytest.raises(KeyboardInterrupt):
        run(config, tmp_path)
    assert load_results(tmp_path / "benchmark").missing == [("mine", "own", seed) for seed in (1, 2, 3)]
    assert len(list(run(config, tmp_path))) == 4
    assert lines(log) == ["fit 0", "fit 1", "fit 1", "fit 2", "fit 3"]


def test_a_killed_process_costs_the_job_it_was_doing(log, tmp_path):
    data = {"Syn1": {"maker": "make_syn", "parameters": {"name": "Syn1", "n_samples": 50}}}
    config = Config({"mine": Slow(log=log)}, data, seeds=6)
    code = "import json, sys; from hideseek.benchmark import run; run(json.loads(sys.argv[1]), sys.argv[2])"
    command = [sys.executable, "-c", code, json.dumps(config.to_dict()), str(tmp_path)]
    paths = os.pathsep.join([str(HERE), *filter(None, [os.environ.get("PYTHONPATH")])])
    with subprocess.Popen(command, env={**os.environ, "PYTHONPATH": paths}) as process:
        deadline = time.monotonic() + 60
        while len(list((tmp_path / "benchmark").glob("?*.json"))) < 3 and time.monotonic() < deadline:
            time.sleep(0.01)  # the plan and two results
        process.send_signal(signal.SIGKILL)
    stored = len(list(load_results(tmp_path / "benchmark")))
    assert 2 <= stored < 6
    assert len(list(run(config, tmp_path))) == 6
    fits = lines(log)
    assert len(fits) <= 6 + 1  # the one it was doing
    assert {fit: fits.count(fit) for fit in fits[:stored]} == dict.fromkeys(fits[:stored], 1)


def test_the_same_job_under_two_labels_is_done_once(own, log, tmp_path):
    results = run(Config({"a": Fake(log=log), "b": Fake(log=log)}, {"one": own, "two": own}), tmp_path)
    assert lines(log) == ["fit 0"]
    assert [(r["method"], r["dataset"]) for r in results] == [("a", "one"), ("a", "two"), ("b", "one"), ("b", "two")]


# -- failures -----------------------------------------------------------------------------------------------------


def test_a_failed_job_is_stored_with_its_error_and_stops_no_other(own, log, tmp_path):
    config = Config({"mine": Failing(log=log)}, {"own": own}, seeds=3)
    expected = r"1 of 3 jobs failed: mine on own, seed 1 \(ValueError\); .* retry_failed=True"
    with pytest.warns(HideSeekWarning, match=expected):
        results = run(config, tmp_path)
    assert [r["status"] for r in results] == ["finished", "failed", "finished"]
    (failure,) = results.failed
    assert failure["error"]["type"] == "ValueError"
    assert failure["error"]["message"] == "seed 1 is unlucky"
    assert "raise ValueError" in failure["error"]["traceback"]
    assert repr(results) == "Results(3 jobs: 2 finished, 1 failed, 0 missing)"


def test_a_failed_job_is_retried_when_that_is_asked_for(own, log, tmp_path):
    config = Config({"mine": Failing(log=log)}, {"own": own}, seeds=3)
    for _ in range(2):
        with pytest.warns(HideSeekWarning, match="1 of 3 jobs failed"):
            run(config, tmp_path)
    assert lines(log).count("fit 1") == 1
    Path(f"{log}.mended").touch()
    assert not run(config, tmp_path, retry_failed=True).failed
    assert lines(log) == ["fit 0", "fit 1", "fit 2", "fit 1"]


def test_data_that_cannot_be_made_is_a_failure_of_its_jobs_alone(own, tmp_path):
    broken = {"maker": "make_syn", "parameters": {"name": "Syn9"}}
    for method in (Fake(), Stacked()):
        with pytest.warns(HideSeekWarning, match=r"2 of 4 jobs failed: mine on broken, seed 0 \(InputError\)"):
            results = run(Config({"mine": method}, {"broken": broken, "own": own}, seeds=[0, 2]), tmp_path)
        assert "did you mean" in results.failed[0]["error"]["message"]
        assert [r["status"] for r in results] == ["failed", "failed", "finished", "finished"]


def test_what_a_method_warns_of_is_stored(own, tmp_path):
    own["X"][:, 3] = 7.0
    (record,) = run(Config({"mine": HideSeekClassifier(**QUICK)}, {"own": own}), tmp_path)
    assert "HideSeekWarning: constant columns are never selected: x4" in record["warnings"]


# -- what is stored -----------------------------------------------------------------------------------------------


def test_a_result_says_where_it_comes_from(own, tmp_path):
    config = Config({"mine": {"method": Fake, "parameters": {"k": 2}, "rows": 5}}, {"own": own}, seeds=[3])
    (record,) = run(config, tmp_path)
    assert json.loads((tmp_path / "benchmark" / f"{record['key']}.json").read_text()) == record
    assert record["job"]["method"] == "fakes:Fake"
    assert record["job"]["parameters"] == {"k": 2}
    assert (record["job"]["seed"], record["job"]["rows"], record["seed"]) == (3, 5, 3)
    assert record["versions"].keys() == {"hideseek", "torch", "numpy", "python"}
    assert record["versions"]["hideseek"] == hideseek.__version__
    assert record["device"] == "cpu"
    assert record["time"].endswith("+00:00")
    assert record["seconds"] >= record["scores"]["seconds_fit"] > 0
    assert record["scores"]["tpr"] == 100.0
    assert record["scores"]["n_selected"] == 2.0


def test_the_commit_is_that_of_the_current_folder(own, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (record,) = run(Config({"mine": Fake()}, {"own": own}), tmp_path)
    assert record["commit"] is None
    git = ["git", "-c", "user.name=a", "-c", "user.email=a@b.c"]
    for command in (["init", "-q"], ["commit", "-q", "--allow-empty", "-m", "first"]):
        subprocess.run([*git, *command], check=True)
    head = subprocess.run(["git", "rev-parse", "HEAD"], check=True, capture_output=True, text=True).stdout
    (record,) = run(Config({"mine": Fake(k=2)}, {"own": own}), tmp_path)
    assert head.startswith(record["commit"])


@pytest.mark.parametrize("failing", ["fsync", "replace"])
def test_a_write_that_fails_leaves_nothing_half_done(own, log, tmp_path, monkeypatch, failing):
    config = Config({"mine": Fake(log=log)}, {"own": own}, seeds=2)

    def full_disk(*_):
        if lines(log) == ["fit 0", "fit 1"]:
            raise OSError("disk full")

    real = getattr(os, failing)
    monkeypatch.setattr(f"hideseek.files.os.{failing}", lambda *given: full_disk() or real(*given))
    with pytest.raises(OSError, match="disk full"):
        run(config, tmp_path, keep=keep_masks)
    monkeypatch.undo()
    names = sorted(path.suffix for path in (tmp_path / "benchmark").iterdir())
    assert names == [".json", ".json", ".npz"]  # the plan, and the first result with its arrays
    assert len(list(run(config, tmp_path, keep=keep_masks))) == 2
    assert lines(log) == ["fit 0", "fit 1", "fit 1"]


def test_what_a_killed_writer_left_is_no_result(own, log, tmp_path):
    config = Config({"mine": Fake(log=log)}, {"own": own})
    (record,) = run(config, tmp_path)
    path = tmp_path / "benchmark" / f"{record['key']}.json"
    path.rename(path.with_name(f".{path.name}.0123abcd"))
    assert load_results(tmp_path / "benchmark").missing == [("mine", "own", 0)]
    run(config, tmp_path)
    assert lines(log) == ["fit 0", "fit 0"]


@pytest.mark.parametrize("content", ["", '{"format": 1', "[]", '{"format": 99, "status": "finished"}'])
def test_a_damaged_result_is_said_and_made_anew(own, tmp_path, content):
    config = Config({"mine": Fake()}, {"own": own})
    (record,) = run(config, tmp_path)
    (tmp_path / "benchmark" / f"{record['key']}.json").write_text(content)
    with pytest.warns(HideSeekWarning, match=r"json' is damaged; the job will run again"):
        assert not run(config, tmp_path).missing
    assert not load_results(tmp_path / "benchmark").missing


def test_arrays_are_kept_beside_the_result_and_numbers_in_it(own, log, tmp_path):
    config = Config({"mine": Fake(k=3, log=log)}, {"own": own})
    results = run(config, tmp_path, keep=keep_masks)
    (record,) = results
    assert record["scores"]["largest"] == 1.0
    assert "largest" in results.scores
    np.testing.assert_array_equal(results.arrays(record)["masks"], [[1.0, 1.0, 1.0, 0.0]] * 3)
    loaded = load_results(tmp_path / "benchmark")
    np.testing.assert_array_equal(loaded.arrays(*loaded)["masks"], results.arrays(record)["masks"])
    run(config, tmp_path)
    run(config, tmp_path, keep=keep_masks)
    assert len(lines(log)) == 1
    (record,) = run(config, tmp_path, keep=keep_nothing)
    assert len(lines(log)) == 2  # what another hook kept is not what this one asks for
    assert record["arrays"] == []


def test_a_hook_that_fails_is_a_failure_of_the_job(own, tmp_path):
    with pytest.warns(HideSeekWarning, match=r"1 of 1 jobs failed: mine on own, seed 0 \(ValueError\)"):
        run(Config({"mine": Fake()}, {"own": own}), tmp_path, keep=keep_a_word)


def keep_a_word(model, test, explanation):
    return {"word": "none"}


def test_a_hook_without_a_name_cannot_be_known_again(own, tmp_path):
    for hook in (partial(keep_masks), lambda *_: {}):
        with pytest.raises(InputError, match=r"keep=.*expected a function with a name"):
            run(Config({"mine": Fake()}, {"own": own}), tmp_path, keep=hook)


def test_results_of_another_configuration_in_the_same_folder_are_found_again(own, tmp_path):
    small, large = (Config({"mine": Fake()}, {"own": own}, seeds=n) for n in (1, 2))
    run(large, tmp_path)
    run(small, tmp_path)
    assert len(load_results(tmp_path / "benchmark")) == 1
    assert not load_results(tmp_path / "benchmark", large).missing
    with pytest.raises(FileNotFoundError, match=r"has no run\.json; pass the folder of a run"):
        load_results(tmp_path)


def test_bad_arguments_are_named(own, tmp_path):
    with pytest.raises(InputError) as caught:
        run(
            Config({"mine": Fake()}, {"own": own}),
            tmp_path,
            backend="procesess",
            n_jobs=0,
            stack_size=0,
            device="cud",
            keep=3,
        )
    assert "5 parameters of run" in str(caught.value)
    assert "did you mean 'processes'?" in str(caught.value)


# -- stacks -------------------------------------------------------------------------------------------------------


def test_pieces_of_a_stack_are_stored_as_they_finish_and_share_their_seconds(own, log, tmp_path):
    results = run(Config({"mine": Stacked(log=log)}, {"own": own}, seeds=[0, 2, 3, 4, 5]), tmp_path, stack_size=3)
    assert [line for line in lines(log) if "stack" in line] == ["stack 3 [(48, 4)]", "stack 2 [(48, 4)]"]
    assert [r["stack"] for r in results] == [3, 3, 3, 2, 2]
    seconds = [r["scores"]["seconds_fit"] for r in results]
    assert seconds[0] == seconds[1] == seconds[2] != seconds[3] == seconds[4]


def test_one_problem_that_cannot_be_learned_from_does_not_take_its_stack_with_it(own, log, tmp_path):
    with pytest.warns(HideSeekWarning, match="1 of 6 jobs failed: mine on own, seed 1"):
        results = run(Config({"mine": Stacked(log=log)}, {"own": own}, seeds=6), tmp_path, stack_size=6)
    assert [r["status"] for r in results] == ["finished", "failed", *["finished"] * 4]
    assert [r["stack"] for r in results] == [1, 1, 1, 3, 3, 3]


@pytest.mark.parametrize(
    ("method", "dataset"),
    [
        (HideSeekClassifier(**QUICK, n_members=2), {"maker": "make_syn", "parameters": {"name": "Syn4"}}),
        (HideSeekClassifier(**QUICK), {"maker": "make_multiclass", "parameters": {}}),
        (HideSeekRegressor(**QUICK), {"maker": "make_syn_regression", "parameters": {"name": "Syn4"}}),
        (baselines.Invase(iterations=20), {"maker": "make_syn", "parameters": {"name": "Syn4"}}),
    ],
    ids=["binary", "multiclass", "regression", "invase"],
)
def test_a_job_gives_the_same_alone_and_in_a_stack(method, dataset, tmp_path):
    dataset["parameters"]["n_samples"] = 120
    methods = {"cheap": type(method)(**{**method.get_params(), "penalty": 0.01}), "default": method}
    config = Config(methods, {"data": dataset}, seeds=2)
    together, alone = run(config, tmp_path / "stack"), run(config, tmp_path / "single", stack_size=1)
    assert {r["stack"] for r in together} == {4}
    assert {r["stack"] for r in alone} == {1}
    assert_same_scores(together, alone)


# -- tables of one's own ------------------------------------------------------------------------------------------


def test_ones_own_table_without_truth_has_prediction_scores_and_the_number_selected(own, tmp_path):
    timed = {"seconds_fit", "seconds_explain"}
    with_truth = run(Config({"mine": Fake()}, {"own": own}), tmp_path)
    without = run(Config({"mine": Fake()}, {"own": (own["X"], own["y"])}), tmp_path)
    assert set(with_truth.scores) == {"tpr", "fdr", "f1", "auroc", "accuracy", "n_selected", *timed}
    assert set(without.scores) == {"auroc", "accuracy", "n_selected", *timed}


def test_the_rows_to_explain_are_the_runs_or_the_methods(own, tmp_path):
    methods = {"all": Fake(), "few": {"method": Fake, "rows": 2}}

    def rows(config):
        results = run(config, tmp_path, keep=count_rows)
        return {r["method"]: r["scores"]["n_rows"] for r in results}

    assert rows(Config(methods, {"own": own})) == {"all": 12, "few": 2}
    assert rows(Config(methods, {"own": own}, rows=7)) == {"all": 7, "few": 2}


def count_rows(model, test, explanation):
    assert len(test.y) == 12
    return {"n_rows": len(explanation.selected)}


def test_a_run_can_be_described_by_a_file_or_a_mapping(tmp_path):
    description = {
        "methods": {"fakes": {"method": "fakes:Fake"}},
        "datasets": {"Syn1": {"maker": "make_syn", "parameters": {"name": "Syn1", "n_samples": 30}}},
    }
    (tmp_path / "run.json").write_text(json.dumps(description))
    for config in (description, tmp_path / "run.json", str(tmp_path / "run.json")):
        assert len(run(config, tmp_path)) == 1
