import numpy as np
import pytest

import hideseek
from hideseek import HideSeekClassifier
from hideseek.engine.scaling import Scaler
from hideseek.search.copies import copies_among


def copies(X, y):
    residual = (y - y.mean())[None].astype(np.float32)
    return copies_among(X, Scaler.fit(X), residual, np.arange(X.shape[1]))


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


def test_a_copy_is_never_selected_and_survives_a_file(table, tmp_path):
    y = (table[:, 0] * table[:, 1] > 0).astype(int)
    model = HideSeekClassifier("fast", steps=100, random_state=0).fit(table, y)
    assert model.copies_ == {3: 0, 4: 1, 5: 2, 6: 0}
    assert not model.select(table)[:, 3:].any()
    model.save(tmp_path / "model.safetensors")
    again = hideseek.load(tmp_path / "model.safetensors")
    assert again.copies_ == model.copies_
    np.testing.assert_array_equal(again.select(table), model.select(table))
