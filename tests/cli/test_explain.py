import io
import json
from types import SimpleNamespace

import narwhals as nw
import numpy as np
import pandas as pd
import pyarrow.parquet as pq
import pytest

import hideseek
from hideseek import HideSeekClassifier, HideSeekRegressor
from hideseek.cli._columns import features_for


@pytest.fixture
def expected(saved, table):
    return hideseek.load(saved).explain(table.drop(columns="label"))


@pytest.mark.parametrize(
    ("ending", "read"),
    [
        (".csv", pd.read_csv),
        (".csv.gz", pd.read_csv),
        (".tsv", lambda path: pd.read_csv(path, sep="\t")),
        (".parquet", pd.read_parquet),
        (".arrow", pd.read_feather),
    ],
)
def test_the_wide_table_has_a_line_per_row(run, saved, data, expected, tmp_path, ending, read):
    path = tmp_path / f"explained{ending}"
    code, out, err = run("explain", saved, data, "--out", path)
    assert (code, err) == (0, "")
    assert "Explained 2,000 rows" in out
    assert "not used  label" in out
    answer = read(path)
    assert list(answer.columns[:5]) == ["row", "prediction", "probability", "n_selected", "selected"]
    np.testing.assert_array_equal(answer["prediction"], expected.prediction)
    np.testing.assert_allclose(answer["probability"], expected.probability, rtol=1e-6)
    np.testing.assert_allclose(answer.filter(like="importance_"), expected.importance, rtol=1e-6)
    np.testing.assert_allclose(answer.filter(like="effect_"), expected.effect, rtol=1e-6)
    first = expected.importance[0].argsort()[::-1][: expected.n_selected[0]]
    assert answer["selected"][0] == "; ".join(expected.feature_names[j] for j in first)


def test_the_long_table_has_a_line_per_row_and_feature(run, saved, data, expected, tmp_path):
    code, _, _ = run("explain", saved, data, "--format", "long", "--out", tmp_path / "long.parquet")
    answer = pd.read_parquet(tmp_path / "long.parquet")
    assert code == 0
    assert len(answer) == 8000
    np.testing.assert_array_equal(answer["selected"], expected.selected.reshape(-1))
    np.testing.assert_allclose(answer["effect"], expected.effect.reshape(-1), rtol=1e-6)
    np.testing.assert_allclose(answer["value"], expected.data.reshape(-1))
    assert answer["feature"].tolist()[:4] == ["x1", "x2", "x3", "x4"]


@pytest.mark.parametrize("form", ["wide", "long"])
def test_the_columns_of_the_data_can_stand_in_front(run, saved, table, tmp_path, form):
    named = table.assign(name=[f"row {i}" for i in range(len(table))])[::-1]
    named.to_parquet(tmp_path / "named.parquet")
    path = tmp_path / "explained.parquet"
    code, _, _ = run("explain", saved, tmp_path / "named.parquet", "--data", "--format", form, "--out", path)
    answer = pq.read_table(path).to_pandas(ignore_metadata=True)
    assert code == 0
    assert list(answer.columns[:7]) == [*table.columns, "name", "row"]
    assert "__index_level_0__" not in answer
    assert (answer["name"] == [f"row {i}" for i in answer["row"]]).all()
    assert answer["row"][0] == 1999


def test_columns_of_the_same_name_are_not_mixed_up(run, saved, table, tmp_path):
    table.assign(prediction=1).to_csv(tmp_path / "data.csv", index=False)
    code, _, err = run("explain", saved, tmp_path / "data.csv", "--data")
    assert code == 1
    assert "have a column 'prediction'; rename it" in err


def test_from_standard_input_to_standard_output(run, saved, table, expected, typed):
    typed(table.head(3).to_csv(index=False))
    code, out, err = run("explain", saved, "-")
    assert (code, err) == (0, "")
    np.testing.assert_array_equal(pd.read_csv(io.StringIO(out))["n_selected"], expected.n_selected[:3])


def test_sentences(run, saved, data, expected, tmp_path):
    code, out, _ = run("explain", saved, data, "--sentences")
    assert code == 0
    assert out.splitlines()[7] == expected.describe(7)
    assert run("explain", saved, data, "--sentences", "--out", tmp_path / "s.txt")[0] == 0
    assert (tmp_path / "s.txt").read_text() == out
    code, _, err = run("explain", saved, data, "--sentences", "--out", tmp_path / "s.csv")
    assert code == 2
    assert "sentences go to a .txt file" in err


def test_sentences_of_a_model_fitted_here_name_the_target(run, data, tmp_path):
    model = tmp_path / "model.safetensors"
    assert run("fit", data, "--target", "label", "--out", model, "--preset", "fast", "--set", "steps=30")[0] == 0
    _, out, _ = run("explain", model, data, "--sentences")
    assert out.startswith("Row 0: predicted label = ")


def test_programs_get_one_object(run_json, saved, table, typed, expected, data, tmp_path):
    typed(table.head(2).to_csv(index=False))
    code, result, _ = run_json("explain", saved, "-")
    assert code == 0
    assert [row["n_selected"] for row in result["explained"]] == expected.n_selected[:2].tolist()
    _, result, _ = run_json("explain", saved, data, "--out", tmp_path / "explained.csv")
    assert (result["rows"], result["not_used"], result["out"]) == (2000, ["label"], str(tmp_path / "explained.csv"))
    assert "explained" not in result
    _, result, _ = run_json("explain", saved, data, "--sentences")
    assert result["explained"][1] == expected.describe(1)


def test_the_threshold_can_be_changed(run_json, saved, data):
    few, many = (run_json("explain", saved, data, "--threshold", t)[1]["selected_per_row"] for t in (0.99, 0.01))
    assert few < many
    code, result, err = run_json("explain", saved, data, "--threshold", "2")
    assert code == 1
    assert "threshold=2.0: expected a number in [0, 1)" in err
    assert result["error"] in err
    assert result["exit_code"] == 1


def test_columns_may_stand_in_any_order(run, saved, table, expected, tmp_path):
    table[table.columns[::-1]].to_csv(tmp_path / "data.csv", index=False)
    code, out, _ = run("explain", saved, tmp_path / "data.csv")
    assert code == 0
    np.testing.assert_array_equal(pd.read_csv(io.StringIO(out))["n_selected"], expected.n_selected)


def test_missing_columns_are_named(run, saved, table, tmp_path):
    table.rename(columns={"x2": "X2"}).drop(columns="x4").to_csv(tmp_path / "data.csv", index=False)
    code, out, err = run("explain", saved, tmp_path / "data.csv")
    assert (code, out) == (1, "")
    assert "data.csv lacks 2 of the model's 4 features: x2 and x4; did you mean 'X2'?" in err


def test_the_names_of_a_wide_table_are_listed_once(monkeypatch):
    names = [f"c{j}" for j in range(50)]
    table, listed = nw.from_native(pd.DataFrame(0.0, index=[0], columns=[*names, "y"])), []
    monkeypatch.setattr(nw.DataFrame, "columns", property(lambda _: listed.append(1) or [*names, "y"]))
    model = SimpleNamespace(feature_names_in_=np.array(names[::-1], dtype=object))
    assert list(features_for(model, table, "data").columns) == names[::-1]
    assert len(listed) == 1


@pytest.mark.filterwarnings("ignore::hideseek.errors.MaskWarning")  # 50 steps teach little
def test_a_model_of_an_array_counts_columns(run, switch, tmp_path):
    X, y = switch
    HideSeekClassifier("fast", steps=50, random_state=0).fit(X, y).save(tmp_path / "m.safetensors")
    pd.DataFrame(X, columns=list("abcd")).to_csv(tmp_path / "data.csv", index=False)
    assert run("explain", tmp_path / "m.safetensors", tmp_path / "data.csv")[::2] == (0, "")
    pd.DataFrame(X[:, :3], columns=list("abc")).to_csv(tmp_path / "data.csv", index=False)
    code, _, err = run("explain", tmp_path / "m.safetensors", tmp_path / "data.csv")
    assert code == 1
    assert "X has 3 columns; this model was fitted on 4" in err


def test_a_regression_has_no_probability(run, table, data, tmp_path):
    model = HideSeekRegressor("fast", steps=50, random_state=0).fit(table.drop(columns="label"), table["x1"])
    model.save(tmp_path / "m.safetensors")
    code, out, _ = run("explain", tmp_path / "m.safetensors", data)
    assert code == 0
    assert out.splitlines()[0].startswith("row,prediction,n_selected,selected,")


@pytest.mark.parametrize("content", [b"", b"not a model", b"\x08\x00\x00\x00\x00\x00\x00\x00{}      "])
def test_a_broken_model_is_refused(run, data, tmp_path, content):
    (tmp_path / "m.safetensors").write_bytes(content)
    for command in (("explain", data), ("info",)):
        code, out, err = run(command[0], tmp_path / "m.safetensors", *command[1:])
        assert (code, out) == (1, "")
        assert "m.safetensors'" in err
        assert err.count("\n") == 1


def test_a_missing_model_is_named(run, run_json, data):
    code, out, err = run("explain", "nowhere.safetensors", data)
    assert (code, out, err) == (1, "", "error: no file at 'nowhere.safetensors'\n")
    _, result, _ = run_json("explain", "nowhere.safetensors", data)
    assert result == {"error": "no file at 'nowhere.safetensors'", "exit_code": 1, "warnings": []}


def test_a_report_is_one_page(run, saved, data, tmp_path):
    code, out, _ = run("report", saved, data, "--out", tmp_path / "report.html")
    assert code == 0
    assert "report.html" in out
    assert "x3" in (tmp_path / "report.html").read_text()


def test_a_report_counts_protected_columns(run, saved, data, tmp_path):
    assert run("report", saved, data, "--out", tmp_path / "report.html", "--protected", "x3,x4")[0] == 0
    page = (tmp_path / "report.html").read_text()
    assert "x3 decides in " in page
    assert '"protected":["x3","x4"]' in page
    code, _, err = run("report", saved, data, "--out", tmp_path / "other.html", "--protected", "X3")
    assert code == 1
    assert "protected must name features of the explanation; it has 'X3'; did you mean 'x3'?" in err


def test_a_report_is_asked_of_the_explanation(run, saved, data, tmp_path, monkeypatch):
    written = lambda self, path, **_: open(path, "w").write(json.dumps(self.feature_names))  # noqa: E731, SIM115
    monkeypatch.setattr(hideseek.Explanation, "report", written, raising=False)
    assert run("report", saved, data, "--out", tmp_path / "report.html")[0] == 0
    assert json.loads((tmp_path / "report.html").read_text()) == ["x1", "x2", "x3", "x4"]
    code, _, err = run("report", saved, data, "--out", tmp_path / "report.html")
    assert code == 1
    assert "exists; pass --force" in err
    assert run("report", saved, data, "--out", tmp_path / "report.pdf")[0] == 2


@pytest.fixture
def folder(table, tmp_path):
    (tmp_path / "in").mkdir()
    for i in range(2):
        table[1000 * i : 1000 * (i + 1)].to_parquet(tmp_path / f"in/{i}.parquet", index=False)
    return tmp_path / "in"


def test_a_folder_is_explained_into_a_folder_and_a_second_call_goes_on(
    run, run_json, saved, folder, expected, tmp_path
):
    code, out, err = run("explain", saved, folder, "--out", tmp_path / "out", "--carry", "label")
    assert (code, err) == (0, "")
    assert "Explained 2,000 rows of 2 files" in out
    answer = pd.concat([pd.read_parquet(tmp_path / f"out/{i}.parquet") for i in range(2)])
    assert list(answer) == ["label", "prediction", "n_selected", "selected_bits"]
    np.testing.assert_array_equal(answer["n_selected"], expected.n_selected)
    (tmp_path / "out/1.parquet").unlink()
    _, result, _ = run_json("explain", saved, folder, "--out", tmp_path / "out", "--carry", "label")
    assert (result["rows"], result["files"], result["finished_before"]) == (2000, 2, 1)
    code, _, err = run("explain", saved, folder, "--out", tmp_path / "out", "--outputs", "mask")
    assert code == 1
    assert "0.parquet' exists and has answers of another model" in err
    assert run("explain", saved, folder, "--out", tmp_path / "out", "--outputs", "mask", "--force")[0] == 0
    assert list(pd.read_parquet(tmp_path / "out/0.parquet")) == ["mask"]


def test_patterns_several_files_and_one_big_file_go_into_a_folder(run, saved, folder, tmp_path):
    for i, words in enumerate(([f"{folder}/*.parquet"], [folder / "0.parquet", folder / "1.parquet"])):
        assert run("explain", saved, *words, "--out", tmp_path / f"out{i}")[0] == 0
        assert sorted(path.name for path in (tmp_path / f"out{i}").iterdir()) == ["0.parquet", "1.parquet"]
    assert run("explain", saved, folder / "0.parquet", "--out", f"{tmp_path}/one/", "--outputs", "sentence")[0] == 0
    assert pd.read_parquet(tmp_path / "one/0.parquet")["sentence"][0].startswith("Row 0: predicted ")


def test_options_of_one_table_and_of_a_folder_are_kept_apart(run, saved, data, folder, tmp_path):
    for words, message in (
        ([folder], "need --out FOLDER"),
        ([folder, "--out", tmp_path / "out", "--sentences"], "pass --outputs"),
        ([data, "--carry", "label"], "let --out end in /"),
    ):
        code, _, err = run("explain", saved, *words)
        assert code == 2
        assert message in err
    code, _, err = run("explain", saved, tmp_path / "none-*.csv", "--out", tmp_path / "out")
    assert code == 1
    assert "has no files of a table" in err
