"""Columns that could take the place of a selected feature, and what held-out rows say they would lose."""

import json

import numpy as np
import pandas as pd
import pytest

import hideseek
from hideseek import Explanation, FileFormatError, HideSeekClassifier, HideSeekRegressor
from hideseek.cli.explain import _long
from hideseek.datasets import make_syn
from hideseek.estimators._state import state_of
from hideseek.persistence import save
from hideseek.search import stand_ins
from hideseek.stand_ins import StandIn, from_arrays


@pytest.fixture(scope="module")
def twice():
    """Syn4 with each column given twice: at correlation 0.99 with itself."""
    data = make_syn("Syn4", n_samples=4000, random_state=100)
    near = 0.99 * data.X + np.sqrt(1 - 0.99**2) * np.random.default_rng(0).normal(size=data.X.shape)
    return np.hstack((data.X, near)), data.y


@pytest.fixture(scope="module")
def explanation(twice):
    return HideSeekClassifier("fast", random_state=0).fit(*twice).explain(twice[0][:200])


def test_the_copy_of_a_selected_feature_stands_in_for_it_at_hardly_any_loss(explanation):
    found = explanation.stand_ins()
    assert list(found.columns) == ["row", "feature", "stand_in", "loss", "standard_error", "loss_hidden"]
    own = {f"x{j + 1}": f"x{j + 12}" for j in range(11)}
    assert (found["stand_in"] == found["feature"].map(own)).all(), "columns of Syn4 are independent but for the copies"
    assert (found["loss"] < 0.25 * found["loss_hidden"]).all()
    assert (found["loss_hidden"] > 0.02).all()
    selected = explanation.to_frame().query("selected")
    listed = set(zip(found["row"], found["feature"], strict=True))
    assert listed <= set(zip(selected["row"], selected["feature"], strict=True))
    assert len(listed) > 0.9 * len(selected)


@pytest.mark.filterwarnings("ignore::hideseek.errors.MaskWarning")
def test_no_network_is_asked_for_stand_ins_where_no_feature_resembles_another(monkeypatch):
    data = make_syn("Syn4", n_samples=500, random_state=100)
    settings = {"preset": "fast", "steps": 20, "random_state": 0}

    def refuse(*arguments):
        raise AssertionError("a network was asked")

    monkeypatch.setattr(stand_ins, "_HeldOut", refuse)
    assert HideSeekClassifier(**settings).fit(data.X, data.y).stand_ins_ == {}
    with pytest.raises(AssertionError, match="asked"):
        HideSeekClassifier(**settings).fit(np.hstack((data.X, data.X[:, :1] + data.X[:, 1:2])), data.y)


def test_stand_ins_are_named_in_sentences_and_frames(explanation):
    frame = explanation.to_frame()
    row = int(np.flatnonzero(explanation.selected[:, 1])[0])
    assert "x2 = " in explanation.describe(row)
    assert "(x13 would have done as well)" in explanation.describe(row)
    assert set(frame.loc[frame["feature"] == "x2", "stand_in"].dropna()) == {"x13"}
    assert frame.loc[~frame["selected"], "stand_in"].isna().all()
    assert frame.loc[frame["feature"] == "x13", "stand_in"].isna().all()


def test_the_command_line_has_stand_ins_in_its_long_table(explanation):
    named = _long(explanation)["stand_in"].reshape(explanation.shape)
    assert {name for name in named[:, 1] if name is not None} == {"x13"}


def test_part_of_an_explanation_keeps_its_stand_ins(explanation):
    part = explanation[:20, ["x11", "x1"]]
    found = part.stand_ins()
    assert set(found["feature"]) <= {"x11", "x1"}
    assert len(found) == int(part.selected.sum())


def test_stand_ins_survive_files(explanation, tmp_path):
    explanation.save(tmp_path / "explanation.npz")
    pd.testing.assert_frame_equal(Explanation.load(tmp_path / "explanation.npz").stand_ins(), explanation.stand_ins())
    explanation.model.save(tmp_path / "model.safetensors")
    again = hideseek.load(tmp_path / "model.safetensors")
    assert again.stand_ins_ == explanation.model.stand_ins_


def test_files_without_stand_ins_still_load(explanation, tmp_path):
    model = explanation.model
    arrays, description = state_of(model)
    del description["stand_ins"]
    save(tmp_path / "older.safetensors", model, arrays, description)
    again = hideseek.load(tmp_path / "older.safetensors")
    assert again.explain(np.zeros((1, 22))).stand_ins() is None


def test_a_file_with_malformed_stand_ins_is_refused(explanation):
    arrays, description = state_of(explanation.model)
    description["stand_ins"] = {"x1": [["x12", 0.1, "much", 0.2]]}
    with pytest.raises(FileFormatError, match=r"stand_ins.*a name and three numbers"):
        type(explanation.model)._check_state(arrays, json.loads(json.dumps(description)))


def test_a_correlated_column_stands_in_at_a_loss_between_nothing_and_hiding():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(3000, 4))
    X[:, 3] = 0.9 * X[:, 0] + np.sqrt(1 - 0.9**2) * X[:, 3]
    y = X[:, 0] + X[:, 1] + 0.3 * rng.normal(size=3000)
    model = HideSeekRegressor("fast", random_state=0).fit(X, y)
    (found,) = model.stand_ins_["x1"]
    assert found.name == "x4"
    assert 4 * found.standard_error < found.loss < 0.5 * found.loss_hidden
    # x1 has variance 1, of which x4 leaves 0.19; the mean of four draws adds a quarter to that
    np.testing.assert_allclose(found.loss_hidden, 1 / y.var(), rtol=0.25)
    np.testing.assert_allclose(found.loss, 0.19 / y.var() * 5 / 4, rtol=0.3)
    assert "would have done as well" not in model.explain(X[:1]).describe(0)


def test_no_single_column_stands_in_for_a_sum():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(3000, 4))
    X[:, 3] = X[:, 0] + X[:, 1]
    y = X[:, 3] + 0.3 * rng.normal(size=3000)
    model = HideSeekRegressor("fast", random_state=0).fit(X, y)
    assert model.select(X)[:, 3].mean() > 0.9
    assert model.stand_ins_ == {}


def test_a_category_with_other_names_for_the_same_levels_stands_in():
    rng = np.random.default_rng(0)
    region = rng.integers(4, size=2000)
    X = pd.DataFrame(
        {
            "region": np.array(["north", "east", "south", "west"])[region],
            "area": np.array(["I", "II", "III", "IV"])[region],
            "age": rng.normal(size=2000),
        }
    )
    X.loc[:50, "age"] = np.nan
    y = (region % 2 == 0) ^ (rng.random(2000) < 0.1)
    model = HideSeekClassifier("fast", random_state=0).fit(X, y)
    found = model.explain(X[:100]).stand_ins()
    assert set(zip(found["feature"], found["stand_in"], strict=True)) == {("region", "area")}
    assert (found["loss"] < 0.01).all()


def test_a_stand_in_that_is_selected_itself_is_not_said_to_do_as_well():
    does = {"a": (StandIn("b", 0.0, 0.001, 0.2),)}
    explanation = Explanation(np.ones((2, 2)), [[True, True], [True, False]], feature_names=["a", "b"], stand_ins=does)
    assert "as well" not in explanation.describe(0)
    assert explanation.describe(1) == "Row 1: 1 of 2 features decided: a (b would have done as well) (1.00)."
    assert len(explanation.stand_ins()) == 2


@pytest.mark.parametrize(
    ("loss", "error", "expected"), [(0.0, 0.01, True), (0.02, 0.01, True), (0.03, 0.01, False), (0.0, 0.04, False)]
)
def test_doing_as_well_means_losing_a_tenth_at_most_and_being_sure_of_it(loss, error, expected):
    assert StandIn("b", loss, error, 0.2).does_as_well is expected


def test_models_that_answer_for_one_penalty_have_no_stand_ins(twice):
    model = HideSeekClassifier("paper", steps=3, random_state=0).fit(*twice)
    assert model.explain(twice[0][:2]).stand_ins() is None


@pytest.mark.filterwarnings("ignore::hideseek.errors.MaskWarning")
def test_tables_too_short_to_hold_rows_out_have_no_stand_ins(twice):
    model = HideSeekClassifier("fast", steps=3, random_state=0).fit(twice[0][:15], twice[1][:15])
    assert model.explain(twice[0][:2]).stand_ins().empty


@pytest.mark.filterwarnings("ignore::hideseek.errors.MaskWarning")
def test_stand_ins_are_a_frame_of_the_callers_library(twice):
    polars = pytest.importorskip("polars")
    frame = polars.DataFrame(twice[0][:1000], schema=[f"c{j}" for j in range(22)])
    found = HideSeekClassifier("fast", steps=200, random_state=0).fit(frame, twice[1][:1000]).explain(frame)
    assert isinstance(found.stand_ins(), polars.DataFrame)
    assert isinstance(found.to_frame(), polars.DataFrame)


def test_stand_ins_of_a_file_that_do_not_fit_together_are_refused():
    arrays = {"stand_in_names": np.array([["a", "b"]]), "stand_in_losses": np.zeros((2, 3))}
    with pytest.raises(FileFormatError, match="stand-ins do not fit together"):
        from_arrays(arrays)
