import re

import numpy as np
import pandas as pd
import pytest

import hideseek
from hideseek import HideSeekClassifier, HideSeekRegressor

FAST = ("--preset", "fast")


@pytest.fixture
def fit(run, tmp_path):
    """Fit what is given to model.safetensors in the test's folder."""
    return lambda *words: run("fit", *words, "--out", tmp_path / "model.safetensors", *FAST)


def test_a_fit_says_what_was_found_and_what_to_do_next(fit, data, table, tmp_path):
    code, out, err = fit(data, "--target", "label")
    assert (code, err) == (0, "")
    assert "Fitted 2,000 rows" in out
    assert "label (classification, 2 classes)" in out
    assert "x3 (100% of rows)" in out
    assert f"Next: hideseek explain {tmp_path}/model.safetensors" in out
    X, y = table.drop(columns="label"), table["label"]
    again = HideSeekClassifier("fast", random_state=0).fit(X, y)
    np.testing.assert_array_equal(hideseek.load(tmp_path / "model.safetensors").select(X), again.select(X))


def test_programs_get_one_object(run_json, data, tmp_path):
    model = tmp_path / "model.safetensors"
    words = ("--target", "label", "--out", model, *FAST, "--held-out", "0.25", "--drop", "x4", "--set", "steps=300")
    code, result, err = run_json("fit", data, *words)
    assert (code, err, result["warnings"]) == (0, "", [])
    assert (result["rows"], result["features"], result["task"], result["classes"]) == (
        1500,
        3,
        "classification",
        [0, 1],
    )
    assert result["held_out"]["rows"] == 500
    assert result["held_out"]["accuracy"] > 0.8
    assert result["held_out"]["auroc"] > 0.9
    assert {item["feature"] for item in result["most_selected"]} == {"x1", "x2", "x3"}
    assert hideseek.load(model).recipe_.steps == 300


def test_held_out_rows_are_not_fitted(run, table, tmp_path):
    shuffled = table.assign(label=np.random.default_rng(0).integers(2, size=len(table)))
    shuffled.to_csv(tmp_path / "noise.csv", index=False)
    code, out, _ = run(
        "fit", tmp_path / "noise.csv", "--target", "label", "--out", tmp_path / "m.safetensors", "--held-out", ".5",
        *FAST, "--set", "hidden_layers=[256]", "--set", "steps=1500", "--penalty", "0",
    )  # fmt: skip
    assert code == 0
    accuracy = float(out.partition("accuracy ")[2].partition(",")[0])
    assert accuracy < 0.6


@pytest.mark.parametrize(
    ("target", "task"),
    [
        (lambda y, x: np.where(y, "yes", "no"), "classification"),
        (lambda y, x: y.astype(bool), "classification"),
        (lambda y, x: y.astype(float), "classification"),
        (lambda y, x: x, "regression"),
        (lambda y, x: (1000 * x).round(), "regression"),
    ],
)
def test_the_task_follows_the_target(fit, table, tmp_path, target, task):
    table.assign(label=target(table["label"], table["x1"])).to_csv(tmp_path / "data.csv", index=False)
    code, out, _ = fit(tmp_path / "data.csv", "--target", "label", "--set", "steps=50")
    assert code == 0
    assert f"label ({task}" in out


def test_the_task_can_be_given(fit, data, tmp_path):
    code, _, _ = fit(data, "--target", "label", "--task", "regression")
    assert code == 0
    assert isinstance(hideseek.load(tmp_path / "model.safetensors"), HideSeekRegressor)


def test_rows_without_a_target_are_left_out_and_counted(fit, table, tmp_path):
    table.astype({"label": "Int64"}).assign(label=lambda t: t["label"].mask(t.index < 7)).to_csv(
        tmp_path / "data.csv", index=False
    )
    code, out, err = fit(tmp_path / "data.csv", "--target", "label")
    assert code == 0
    assert "Fitted 1,993 rows" in out
    assert err == "warning: ignored: 7 rows whose 'label' is missing\n"
    assert hideseek.load(tmp_path / "model.safetensors").classes_.dtype.kind == "i"


def test_warnings_are_one_line_each(fit, run_json, table, tmp_path):
    data = tmp_path / "constant.csv"
    table.assign(same=1.0).to_csv(data, index=False)
    code, _, err = fit(data, "--target", "label")
    assert code == 0
    assert err.startswith("warning: constant columns are never selected: same")
    assert err.count("\n") == 1
    words = ("--target", "label", "--out", tmp_path / "m.safetensors", *FAST)
    _, result, _ = run_json("fit", data, *words)
    assert [text[:16] for text in result["warnings"]] == ["constant columns"]


@pytest.mark.parametrize(
    ("words", "code", "message"),
    [
        (("--target", "labl"), 1, "data.csv has no column 'labl'; did you mean 'label'?"),
        (("--target", "zzz"), 1, "data.csv has no column 'zzz'; it has x1, x2, x3, x4, label"),
        (("--target", "label", "--drop", "X4"), 1, "data.csv has no column 'X4'; did you mean 'x4'?"),
        (("--target", "label", "--drop", "label"), 2, "--drop label: the target cannot be dropped"),
        (("--target", "label", "--penalty", "-1"), 1, "penalty=-1.0: expected a number of at least 0"),
        (("--target", "label", "--penalty", "much"), 2, "argument --penalty: expected auto or a number, got 'much'"),
        (("--target", "label", "--held-out", "1"), 2, "--held-out 1: expected a share of at least 0 and below 1"),
        (("--target", "label", "--set", "step=3"), 2, "--set step: no such parameter; did you mean 'steps'?"),
        (("--target", "label", "--set", "preset=3"), 2, "--set preset: no such parameter; use its own option"),
        (("--target", "label", "--set", "steps"), 2, "argument --set: expected NAME=VALUE, got 'steps'"),
        (("--target", "label", "--device", "tpu"), 1, "device='tpu': expected 'auto', 'cpu' or a CUDA device"),
        ((), 2, "the following arguments are required: --target; see hideseek fit --help"),
    ],
)
def test_wrong_words_are_explained_in_one_line(fit, data, tmp_path, words, code, message):
    found, out, err = fit(data, *words)
    assert (found, out) == (code, "")
    assert err.startswith("error: ")
    assert message in err
    assert err.count("\n") == 1
    assert not (tmp_path / "model.safetensors").exists()


def test_a_table_with_nothing_but_the_target_is_refused(fit, tmp_path):
    (tmp_path / "data.csv").write_text("label\n0\n1\n")
    code, _, err = fit(tmp_path / "data.csv", "--target", "label")
    assert code == 1
    assert "no column besides the target 'label'" in err


def test_a_model_is_not_replaced_unasked(fit, data, tmp_path):
    (tmp_path / "model.safetensors").write_text("precious")
    code, _, err = fit(data, "--target", "label")
    assert code == 1
    assert "model.safetensors exists; pass --force to replace it" in err
    assert (tmp_path / "model.safetensors").read_text() == "precious"
    code, _, _ = fit(data, "--target", "label", "--force")
    assert code == 0
    assert hideseek.load(tmp_path / "model.safetensors")


def test_a_model_has_its_own_ending(run, data, tmp_path):
    code, _, err = run("fit", data, "--target", "label", "--out", tmp_path / "model.csv")
    assert code == 2
    assert "a model is a .safetensors file" in err


def test_standard_input_is_csv(fit, table, typed):
    typed(table.to_csv(index=False))
    code, out, _ = fit("-", "--target", "label")
    assert code == 0
    assert "Fitted 2,000 rows of standard input" in out


def test_an_interrupt_leaves_no_file(fit, data, tmp_path, monkeypatch):
    def interrupted(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(HideSeekClassifier, "fit", interrupted)
    code, out, err = fit(data, "--target", "label")
    assert (code, out, err) == (130, "", "error: interrupted\n")
    assert [path.name for path in tmp_path.iterdir()] == ["data.csv"]


def test_the_penalty_can_be_chosen_automatically(fit, data):
    code, _, _ = fit(data, "--target", "label", "--penalty", "auto")
    assert code == 0


def test_a_mixed_table_can_be_fitted_and_explained(fit, run, table, tmp_path):
    mixed = table.assign(town=np.where(table["x4"] > 0, "Rome", "Oslo"), x1=table["x1"].mask(table.index < 5))
    pd.DataFrame(mixed).to_csv(tmp_path / "mixed.csv", index=False)
    assert fit(tmp_path / "mixed.csv", "--target", "label")[0] == 0
    code, out, _ = run("explain", tmp_path / "model.safetensors", tmp_path / "mixed.csv", "--format", "long")
    assert code == 0
    assert ",town,Rome," in out


# -- files ----------------------------------------------------------------------------------------------------------


@pytest.fixture
def folder(table, tmp_path):
    (tmp_path / "in").mkdir()
    for i in range(4):
        table[i::4].assign(w=1 + i).to_parquet(tmp_path / f"in/{i}.parquet", index=False)
    return tmp_path / "in"


def test_a_folder_is_sampled_and_fitted(run, run_json, folder, tmp_path):
    out = tmp_path / "model.safetensors"
    words = ("fit", folder, "--target", "label", "--drop", "w", "--out", out, "--preset", "fast", "--rows", 1500)
    code, said, _ = run(*words)
    assert code == 0
    assert re.match(rf"Fitted 1,500 of 2,000 rows of {folder} \(4 files\) in [\d.]+ s\.\n", said)
    assert "1,500 of 2,000 rows in 4 files" in run("info", out)[1]
    code, result, _ = run_json(*words, "--force", "--held-out", 0.2)
    assert (result["rows"], result["rows_seen"], result["held_out"]["rows"]) == (1200, 2000, 300)
    assert result["held_out"]["accuracy"] > 0.8


def test_patterns_and_several_files_are_fitted_with_weights(run_json, folder, tmp_path):
    words = ("--target", "x1", "--weight", "w", "--out", tmp_path / "m.safetensors", "--preset", "fast", "--force")
    for data in ([f"{folder}/[01].parquet"], [folder / "0.parquet", folder / "1.parquet"]):
        code, result, _ = run_json("fit", *data, *words, "--set", "steps=50")
        assert (code, result["rows"], result["task"], result["features"]) == (0, 1000, "regression", 4)


def test_weights_of_one_table_are_a_column_that_is_not_learned_from(run_json, table, tmp_path):
    path = tmp_path / "in.csv"
    table.assign(w=(table["x1"] > 0) * 1.0).to_csv(path, index=False)
    out = tmp_path / "m.safetensors"
    code, result, _ = run_json(
        "fit", path, "--target", "label", "--weight", "w", "--out", out, "--preset", "fast", "--set", "steps=50"
    )
    assert (code, result["features"]) == (0, 4)


def test_options_of_files_are_checked(run, data, folder, tmp_path):
    words = ("--target", "label", "--out", tmp_path / "m.safetensors")
    assert "--rows is for a folder" in run("fit", data, *words, "--rows", 100)[2]
    assert "--weight label: this column is the target" in run("fit", folder, *words, "--weight", "label")[2]
    assert "standard input cannot be one of several" in run("fit", "-", data, *words)[2]
    assert re.search(r"0\.parquet' has no column 'y'", run("fit", folder, "--target", "y", *words[2:])[2])
