"""The search for cuts, and what becomes of a model that has them."""

import numpy as np
import pytest
import torch

import hideseek
from hideseek import HideSeekClassifier, HideSeekRegressor
from hideseek.datasets import make_switch, make_syn, make_syn_regression
from hideseek.errors import InputError
from hideseek.metrics import selection_scores
from hideseek.search.cuts import _best_places


@pytest.fixture(scope="module")
def syn4():
    return make_syn("Syn4", 4000, random_state=0), make_syn("Syn4", 2000, random_state=1)


@pytest.fixture(scope="module")
def model(syn4):
    return HideSeekClassifier("fast", random_state=0).fit(syn4[0].X, syn4[0].y)


def test_the_switch_of_a_table_is_a_cut_where_it_is(model):
    assert list(model.cuts_) == ["x11"]
    (value,) = model.cuts_["x11"]
    assert abs(value) < 0.02


def test_rows_next_to_a_switch_are_answered_as_those_of_their_side(syn4, model):
    train, new = syn4
    near = np.abs(new.X[:, 10]) < 0.1
    without = HideSeekClassifier("fast", cuts=False, random_state=0).fit(train.X, train.y)
    assert without.cuts_ == {}
    scores = [selection_scores(one.select(new.X[near]), new.relevant[near]).f1 for one in (model, without)]
    assert scores[0] > scores[1] + 5


def test_a_table_without_jumps_has_no_cuts():
    for name in ("Syn1", "Syn2", "Syn3"):
        data = make_syn(name, 4000, random_state=0)
        assert HideSeekClassifier("fast", random_state=0).fit(data.X, data.y).cuts_ == {}


def test_every_border_of_three_cells_is_a_cut():
    data = make_switch(n_cells=3, n_samples=6000, random_state=0)
    (borders,) = HideSeekClassifier("fast", random_state=0).fit(data.X, data.y).cuts_.values()
    np.testing.assert_allclose(borders, [-0.43, 0.43], atol=0.03)  # a third of a normal distribution each


def test_values_jump_too_in_the_units_of_the_table():
    data = make_syn_regression("Syn6", 4000, random_state=0)
    X = data.X.copy()
    X[:, 10] = 1000 + 20 * X[:, 10]
    (value,) = HideSeekRegressor("fast", random_state=0).fit(X, data.y).cuts_["x11"]
    assert abs(value - 1000) < 0.5


def test_a_column_of_whole_numbers_is_cut_between_two_of_them():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(4000, 4))
    X[:, 3] = rng.integers(20, 70, 4000)
    y = np.where(X[:, 3] >= 50, X[:, 0], X[:, 1]) + 0.3 * X[:, 2] > 0
    cuts = HideSeekClassifier("fast", random_state=0).fit(X, y).cuts_
    assert cuts["x4"] == pytest.approx((49.5,))


def test_row_weights_count_in_the_search(syn4):
    train, _ = syn4
    X, y = np.vstack((train.X, train.X)), np.concatenate((train.y, 1 - train.y))
    weight = np.concatenate((np.ones(4000), np.full(4000, 1e-6)))  # of the second half nothing is left
    weighted = HideSeekClassifier("fast", random_state=0).fit(X, y, sample_weight=weight)
    assert abs(weighted.cuts_["x11"][0]) < 0.03


def test_cuts_are_the_same_in_a_stack_and_after_a_save(syn4, model, tmp_path):
    train, new = syn4
    other = make_syn("Syn4", 4000, random_state=5)
    first, second = HideSeekClassifier("fast").fit_many([(train.X, train.y, 0, {}), (other.X, other.y, 5, {})])
    assert first.cuts_["x11"] == pytest.approx(model.cuts_["x11"])
    assert "x11" in second.cuts_
    model.save(tmp_path / "model")
    again = hideseek.load(tmp_path / "model")
    assert again.cuts_ == model.cuts_
    np.testing.assert_array_equal(again.explain(new.X).importance, model.explain(new.X).importance)
    np.testing.assert_array_equal(again.predict_proba(new.X), model.predict_proba(new.X))


def test_cuts_of_a_table_that_was_screened_are_named_by_its_own_columns():
    data = make_syn("Syn4", 4000, n_features=60, random_state=0)
    X = data.X[:, ::-1]
    cuts = HideSeekClassifier("fast", random_state=0).fit(X, data.y).cuts_
    assert list(cuts) == ["x50"]
    assert abs(cuts["x50"][0]) < 0.05


def test_cuts_need_a_range_of_penalties_and_draws_from_columns(syn4):
    train, _ = syn4
    with pytest.raises(InputError, match="cuts=True needs a preset that answers for a range"):
        HideSeekClassifier("paper", cuts=True).fit(train.X, train.y)
    with pytest.raises(InputError, match='cuts=True needs replacement="marginal"'):
        HideSeekClassifier(cuts=True, replacement="gaussian_knockoff").fit(train.X, train.y)
    with pytest.raises(InputError, match="cuts"):
        HideSeekClassifier(cuts="yes").fit(train.X, train.y)


def test_the_best_place_is_where_gains_of_both_sides_meet():
    z = torch.linspace(-1, 1, 200).double()[None, None]
    down, up = torch.where(z < 0.205, 0.5, -0.5), torch.where(z < 0.205, -0.5, 0.5)
    ((place,),) = _best_places(z, down, up, [7], [5.0])
    assert place.column == 7
    assert place.at == pytest.approx(0.205, abs=0.006)
    assert place.gain == pytest.approx(0.5 * 60, abs=1.0)  # of the rows up to 0.3 away
    assert _best_places(z, -down.abs(), -up.abs(), [7], [5.0]) == [[]]


def test_the_page_says_where_the_answer_jumps(syn4, model, tmp_path):
    model.explain(syn4[1].X[:50]).report(tmp_path / "page.html")
    assert "The answer jumps where a column passes a value: x11 at" in (tmp_path / "page.html").read_text()


def test_replacement_values_are_moved_away_from_cuts_too(model):
    ensemble = model.learned_.ensemble
    cuts, pool = ensemble.scaler.cuts, ensemble.scaler.columns_of(ensemble.pool).numpy()
    for column, at, margin in zip(cuts.column, cuts.at, cuts.margin, strict=True):
        assert np.abs(pool[:, column] - at).min() > margin - 1e-5
