"""Columns that could take the place of a selected feature, and what held-out rows say they would lose."""

import json
import time

import numpy as np
import pandas as pd
import pytest
from safetensors.numpy import load_file

import hideseek
import hideseek.estimators._searching as searching
from hideseek import Explanation, FileFormatError, HideSeekClassifier, HideSeekRegressor
from hideseek.datasets import make_syn
from hideseek.stand_ins import StandIn


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


def test_stand_ins_are_named_in_sentences_and_frames(explanation):
    frame = explanation.to_frame()
    row = int(np.flatnonzero(explanation.selected[:, 10])[0])
    assert "x11 = " in explanation.describe(row)
    assert "(x22 would have done as well)" in explanation.describe(row)
    assert set(frame.loc[frame["feature"] == "x11", "stand_in"].dropna()) == {"x22"}
    assert frame.loc[~frame["selected"], "stand_in"].isna().all()
    assert frame.loc[frame["feature"] == "x22", "stand_in"].isna().all()


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
