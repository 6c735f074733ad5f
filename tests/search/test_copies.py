import numpy as np
import pandas as pd
import pytest

import hideseek
from hideseek import HideSeekClassifier
from hideseek.engine.scaling import Scaler
from hideseek.search.copies import copies_among, copies_of_levels
from hideseek.search.parts import Part


def copies(X, y):
    residual = (y - y.mean())[None].astype(np.float32)
    return copies_among(Part(X, y, None), Scaler.fit(X), residual, np.arange(X.shape[1]))


@pytest.fixture(scope="module")
def table():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(2000, 3))
    near = 0.99 * X + np.sqrt(1 - 0.99**2) * rng.normal(size=X.shape)
    return np.hstack((X, near, -X[:, :1]))


def test_a_column_that_nearly_repeats_an_earlier_one_is_its_copy(table):
    assert copies(table, table[:, 0] > 0) == {3: 0, 4: 1, 5: 2, 6: 0}


def test_a_column_whose_difference_to_another_one_goes_with_the_target_is_no_copy(table):
    assert copies(table, table[:, 1] > table[:, 4]) == {3: 0, 5: 2, 6: 0}


def test_correlated_columns_are_no_copies():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(5000, 2))
    X[:, 1] = 0.95 * X[:, 0] + np.sqrt(1 - 0.95**2) * X[:, 1]
    assert copies(X, X[:, 0] > 0) == {}


def test_a_category_whose_levels_have_other_names_is_a_copy():
    rng = np.random.default_rng(0)
    region = rng.integers(4, size=2000)
    X = pd.DataFrame(
        {"region": region.astype(str), "area": np.array(list("dacb"))[region], "age": rng.normal(size=2000)}
    )
    model = HideSeekClassifier("fast", steps=100, random_state=0).fit(X, region % 2)
    assert model.copies_ == {1: 0}
    assert not model.select(X)[:, 1].any()
    assert model.stand_ins_["region"][0].name == "area"


def test_features_whose_values_hardly_repeat_are_no_copies_of_one_another():
    X = np.random.default_rng(0).normal(size=(500, 6))
    X[:, 1] = X[:, 3] = X[:, 0] > 2  # numbers beside a column that says which are missing
    assert copies_of_levels(X, [slice(0, 2), slice(2, 4), slice(4, 6)], [0, 1, 2]) == {}


def test_a_category_that_differs_in_some_rows_is_no_copy():
    level = np.random.default_rng(0).integers(3, size=900)
    other = np.where(np.arange(900) % 50 == 0, 2, level)
    X = np.hstack((np.eye(3)[level], np.eye(3)[other], np.eye(3)[level][:, [2, 0, 1]]))
    assert copies_of_levels(X, [slice(0, 3), slice(3, 6), slice(6, 9)], [0, 1, 2]) == {2: 0}


def test_a_copy_is_never_selected_and_survives_a_file(table, tmp_path):
    y = (table[:, 0] * table[:, 1] > 0).astype(int)
    model = HideSeekClassifier("fast", steps=100, random_state=0).fit(table, y)
    assert model.copies_ == {3: 0, 4: 1, 5: 2, 6: 0}
    assert not model.select(table)[:, 3:].any()
    model.save(tmp_path / "model.safetensors")
    again = hideseek.load(tmp_path / "model.safetensors")
    assert again.copies_ == model.copies_
    np.testing.assert_array_equal(again.select(table), model.select(table))
