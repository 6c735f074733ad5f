import io

import numpy as np
import pandas as pd
import pytest

from hideseek import datasets
from hideseek.cli.datasets import DATASETS

MADE = [name for name, entry in DATASETS.items() if not entry.is_split]
LOADED = [name for name, entry in DATASETS.items() if entry.is_split]


def test_the_list_has_every_maker(run, run_json):
    makers = {name for name in datasets.__all__ if name[0].islower()}
    assert {entry.maker for entry in DATASETS.values()} == makers
    code, out, _ = run("datasets")
    assert code == 0
    assert all(f"\n{name} " in out for name in DATASETS)
    assert [item["name"] for item in run_json("datasets")[1]["datasets"]] == list(DATASETS)


def test_a_problem_is_written_with_its_truth(run, tmp_path):
    code, out, _ = run(
        "datasets", "syn4", "--rows", 60, "--features", 12, "--rho", 0.5, "--seed", 3,
        "--out", tmp_path / "d.csv", "--truth", tmp_path / "t.parquet",
    )  # fmt: skip
    expected = datasets.make_syn("Syn4", 60, 12, 0.5, 3)
    table = pd.read_csv(tmp_path / "d.csv", float_precision="round_trip")
    assert code == 0
    assert "Syn4: 60 rows, 12 features, target 'y'" in out
    np.testing.assert_allclose(table[list(expected.feature_names)], expected.X, rtol=1e-15)
    np.testing.assert_array_equal(table["y"], expected.y)
    np.testing.assert_array_equal(pd.read_parquet(tmp_path / "t.parquet"), expected.relevant)


@pytest.mark.parametrize("name", MADE)
def test_every_problem_can_be_drawn(run, name):
    code, out, _ = run("datasets", name, "--rows", 20)
    assert code == 0
    assert pd.read_csv(io.StringIO(out)).shape == (20, DATASETS[name].features + 1)


@pytest.mark.usefixtures("published_data")
@pytest.mark.parametrize("name", ["credit", "credit-Syn4", "california", "california-switch", "brca"])
def test_real_data_come_whole_and_in_parts(run_json, tmp_path, name):
    code, result, _ = run_json("datasets", name, "--out", tmp_path / "d.parquet")
    assert code == 0
    assert (result["rows"], result["features"]) == (DATASETS[name].rows, DATASETS[name].features)
    assert run_json("datasets", name, "--part", "test", "--out", tmp_path / "t.parquet")[0] == 0
    whole, test = pd.read_parquet(tmp_path / "d.parquet"), pd.read_parquet(tmp_path / "t.parquet")
    pd.testing.assert_frame_equal(whole.tail(len(test)).reset_index(drop=True), test)
    assert test.columns[-1] == DATASETS[name].target


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("Sny4",), "there is no dataset 'Sny4'; did you mean 'Syn4'?"),
        (("credit", "--rho", "0.5"), "--rho does not apply to credit"),
        (("Syn1", "--part", "test"), "--part does not apply to Syn1"),
        (("Syn1", "--out", "-", "--json"), "only one result can be written to standard output"),
        (("Syn1", "--truth", "-"), "only one result can be written to standard output"),
        (("Syn1", "--out", "d.xls"), "'d.xls' does not have the extension of a table"),
    ],
)
def test_what_cannot_be_is_refused(run, words, message):
    code, _, err = run("datasets", *words)
    assert code == 2
    assert message in err


def test_too_few_columns_are_the_makers_to_refuse(run):
    code, _, err = run("datasets", "Syn1", "--features", "3")
    assert code == 1
    assert "n_features=3: expected a whole number of at least 11" in err


@pytest.mark.usefixtures("published_data")
def test_no_truth_of_real_labels(run, tmp_path):
    code, _, err = run("datasets", "brca", "--out", tmp_path / "d.csv", "--truth", tmp_path / "t.csv")
    assert code == 2
    assert "--truth: the relevant features of brca are not known" in err
    assert not list(tmp_path.iterdir())
