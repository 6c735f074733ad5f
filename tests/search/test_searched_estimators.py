import csv
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import hideseek
from hideseek import HideSeekClassifier, HideSeekRegressor, InputError
from hideseek.datasets import make_cafe, make_switch, make_syn
from hideseek.metrics import selection_scores
from hideseek.search import probability
from hideseek.search.probability import selection_probability
from hideseek.search.trimming import worth_screening

# the fits here are too short for masks to settle
pytestmark = pytest.mark.filterwarnings("ignore::hideseek.errors.MaskWarning")

QUICK = {"preset": "fast", "steps": 60, "random_state": 0}


@pytest.fixture(scope="module")
def wide():
    """The switch of the other tests among noise: columns 3, 7 and 11 decide."""
    X = np.random.default_rng(0).normal(size=(2000, 40))
    return X, (np.where(X[:, 11] > 0, X[:, 3], X[:, 7]) > 0).astype(int)


@pytest.fixture(scope="module")
def searched(wide):
    return HideSeekClassifier(**QUICK, screening=True).fit(*wide)


# -- the path of penalties ----------------------------------------------------------------------------------------


def test_the_chosen_penalty_needs_no_truth(switch):
    X, y = switch
    model = HideSeekClassifier("fast", random_state=0).fit(X, y)
    relevant = np.column_stack((X[:, 2] <= 0, X[:, 2] > 0, np.ones(len(X)), np.zeros(len(X)))).astype(bool)
    assert selection_scores(model.select(X), relevant[:, [1, 0, 2, 3]]).f1 > 85
    path = model.path_
    assert model.penalty_ == pytest.approx(path.penalty[path.chosen])
    assert path.loss[path.chosen] < path.null_loss
    assert path.n_selected[0] > path.n_selected[-1]
    assert "<- chosen" in repr(path)
    assert path.to_frame().columns.tolist()[:2] == ["penalty", "loss"]


def test_features_of_one_cell_are_hidden_in_the_next():
    train, test = make_switch(random_state=100), make_switch(random_state=1100)
    selected = HideSeekClassifier(random_state=100).fit(train.X, train.y).select(test.X)
    last = test.relevant[:, 4]
    assert selected[last][:, [2, 3]].mean() < 0.2, "a saturated mask would show them at every price"
    assert selection_scores(selected, test.relevant).f1 > 92


def test_a_given_penalty_answers_on_the_same_path(switch):
    X, y = switch
    chosen = HideSeekClassifier(**QUICK).fit(X, y)
    given = HideSeekClassifier(**QUICK, penalty=0.5).fit(X, y)
    assert given.penalty_ == pytest.approx(0.5)
    np.testing.assert_array_equal(given.explain(X).importance, chosen.at(penalty=0.5).explain(X).importance)
    np.testing.assert_array_equal(given.explain(X).importance, chosen.explain(X, penalty=0.5).importance)


def test_other_penalties_of_the_path_answer_without_a_fit(searched, wide):
    X, _ = wide
    sparse = searched.at(penalty=searched.path_.penalty[-1])
    full = searched.at(penalty=searched.path_.penalty[0])
    assert sparse.select(X).sum() < full.select(X).sum()
    assert sparse.penalty_ == searched.path_.penalty[-1]
    back = sparse.at(penalty=searched.penalty_)
    np.testing.assert_allclose(back.explain(X).importance, searched.explain(X).importance, atol=1e-6)
    few = searched.at(n_features=searched.path_.n_selected.min())
    assert few.path_.n_selected[few.path_.chosen] == searched.path_.n_selected.min()


def test_at_takes_one_wish_and_needs_a_path(searched, switch):
    with pytest.raises(InputError, match=r"one of n_features.*; 0 came"):
        searched.at()
    with pytest.raises(InputError, match="2 came"):
        searched.at(penalty=1, n_features=2)
    with pytest.raises(InputError, match=r"loss_within=-1.*not negative"):
        searched.at(loss_within=-1)
    published = HideSeekClassifier("paper", steps=3, random_state=0).fit(*switch)
    with pytest.raises(InputError, match=r"at needs a model that answers for a range of penalties.*paper"):
        published.at(n_features=2)
    with pytest.raises(InputError, match=r'penalty="auto" needs a preset'):
        HideSeekClassifier("paper", penalty="auto").fit(*switch)


def test_a_mask_falls_with_the_penalty_and_the_entry_price_is_where_it_is_dropped(searched, wide):
    X = wide[0][:50]
    n_given = X.shape[1]
    entry = searched.explain(X).entry_price
    assert entry.shape == X.shape
    assert (entry[:, ~searched.screening_.kept] == 0).all()
    for penalty in (0.02, 0.2, 2.0):
        np.testing.assert_array_equal(searched.explain(X, penalty=penalty).selected, entry > penalty / n_given)


@pytest.mark.parametrize("k", [1, 3, 8])
def test_exactly_so_many_features_are_selected_in_every_row(searched, wide, k):
    X = wide[0][:50]
    explanation = searched.explain(X, n_features=k)
    assert explanation.n_selected.tolist() == [k] * len(X)
    if k > 1:
        fewer = searched.explain(X, n_features=k - 1)
        assert (explanation.selected | ~fewer.selected).all(), "more features are added to those of the shorter list"
    assert len(explanation.prediction) == len(X)
    np.testing.assert_array_equal(explanation.effect[~explanation.selected], 0)


def test_a_wish_for_rows_is_checked(searched, wide):
    with pytest.raises(InputError, match=r"n_features=0: expected a whole number"):
        searched.explain(wide[0], n_features=0)
    n_known = int(searched.screening_.kept.sum())
    with pytest.raises(InputError, match=rf"n_features={n_known + 1}: expected a whole number .* {n_known}"):
        searched.explain(wide[0], n_features=n_known + 1)
    with pytest.raises(InputError, match="not both"):
        searched.explain(wide[0], n_features=2, penalty=0.1)


def test_members_of_every_fold_answer_whatever_the_number_of_rows(switch):
    X, y = switch
    for n_rows in (12, 300):
        model = HideSeekClassifier(**QUICK | {"steps": 20}, n_members=3).fit(X[:n_rows], y[:n_rows])
        assert len(model._ensemble.visible) == 3
        assert len(model.path_) == 17


def test_regression_has_a_path_too(switch):
    X, _ = switch
    y = 100 + 5 * np.where(X[:, 2] > 0, X[:, 0], X[:, 1])
    model = HideSeekRegressor(**QUICK).fit(X, y, sample_weight=np.arange(2000) % 3)
    assert model.path_.score_name == "r2"
    assert model.path_.null_loss == pytest.approx(1, abs=0.3), "the unit of y has no say"
    assert model.path_.score.max() > 0


def test_knockoffs_and_parts_of_the_columns_have_a_path_too(switch):
    X, y = switch
    model = HideSeekClassifier(**QUICK, replacement="gaussian_knockoff", n_members=2, column_fraction=0.75)
    path = model.fit(X[:1000], y[:1000]).path_
    price = model._ensemble.price
    assert model.penalty_ == pytest.approx(3 * price), "of four columns a member is given three"
    assert model.at(penalty=path.penalty[0]).predict_proba(X[:10]).shape == (10, 2)


def test_a_new_fit_forgets_the_path(switch):
    X, y = switch
    model = HideSeekClassifier(**QUICK | {"steps": 5}).fit(X, y)
    model.set_params(preset="paper").fit(X, y)
    assert not hasattr(model, "path_")


def test_problems_searched_side_by_side_get_what_each_gets_alone(switch):
    X, y = switch[0][:500], switch[1][:500]
    problems = [
        (X, y, 0, {"penalty": "auto"}),
        (X, y, 1, {"penalty": 0.1}),
        (X[::-1].copy(), y[::-1].copy(), 2, {"penalty": "auto"}),
    ]
    for model, (table, labels, seed, changes) in zip(
        HideSeekClassifier(**QUICK).fit_many(problems), problems, strict=True
    ):
        alone = HideSeekClassifier(**QUICK | changes | {"random_state": seed}).fit(table, labels)
        assert model.penalty_ == alone.penalty_
        np.testing.assert_allclose(model.explain(X).importance, alone.explain(X).importance, atol=1e-5)
        np.testing.assert_allclose(model.path_.loss, alone.path_.loss, atol=1e-5)


def test_problems_of_which_screening_leaves_different_columns_are_fitted_in_one_call(wide):
    X, y = wide
    more = (X[:, :20] > 0).sum(axis=1) > 10
    problems = [(X, y, 0, {}), (X, more.astype(int), 0, {})]
    model = HideSeekClassifier(**QUICK, screening=True)
    few, many = model.fit_many(problems)
    assert few.screening_.kept.sum() < many.screening_.kept.sum()
    for each, (table, labels, _, _) in zip((few, many), problems, strict=True):
        alone = HideSeekClassifier(**QUICK, screening=True).fit(table, labels)
        np.testing.assert_allclose(each.explain(X).importance, alone.explain(X).importance, atol=1e-5)


# -- screening ----------------------------------------------------------------------------------------------------


def test_dropped_columns_are_never_shown_and_the_price_stays(searched, wide):
    X, _ = wide
    screening = searched.screening_
    assert screening.kept[[3, 7, 11]].all()
    assert screening.kept.sum() == 8, "no fewer are left to the networks"
    explanation = searched.explain(X)
    assert (explanation.importance[:, ~screening.kept] == 0).all()
    assert explanation.importance[:, screening.kept].any()
    assert searched.penalty_ == pytest.approx(40 * searched._ensemble.price), "of all columns that were given"


def test_answers_do_not_depend_on_dropped_columns(searched, wide):
    X, _ = wide
    other = X.copy()
    other[:, ~searched.screening_.kept] = 7.0
    np.testing.assert_array_equal(searched.predict_proba(other), searched.predict_proba(X))
    np.testing.assert_array_equal(searched.explain(other).importance, searched.explain(X).importance)


@pytest.mark.parametrize(
    ("preset", "screening", "n_columns", "screened"),
    [
        ("fast", None, 40, True),
        ("fast", None, 9, True),
        ("fast", None, 8, False),
        ("paper", None, 40, False),
        ("balanced", None, 40, True),
        ("balanced", None, 20, True),
        ("paper", "auto", 40, True),
        ("fast", True, 20, True),
        ("balanced", False, 40, False),
    ],
)
def test_who_screens(wide, preset, screening, n_columns, screened):
    X, y = wide
    model = HideSeekClassifier(preset, steps=2, screening=screening, random_state=0).fit(X[:500, :n_columns], y[:500])
    assert hasattr(model, "screening_") == screened


@pytest.mark.parametrize(
    ("n_rows", "n_features", "screened"),
    [(100, 8, False), (100, 9, True), (5499, 11, True), (5500, 11, False), (10**6, 16, False), (10**6, 17, True)],
)
def test_tables_of_many_features_or_of_few_rows_for_each_are_screened(n_rows, n_features, screened):
    assert worth_screening(n_rows, n_features) == screened


def test_a_number_is_the_most_columns_that_are_left(wide):
    model = HideSeekClassifier(**QUICK, screening=5).fit(*wide)
    assert model.screening_.kept.sum() == 5
    assert len(model.screening_.to_frame()) == 40


def test_bad_values_are_named(wide):
    with pytest.raises(InputError, match=r"screening=0: expected 'auto' or True or False or a whole number"):
        HideSeekClassifier(**QUICK, screening=0).fit(*wide)
    with pytest.raises(InputError, match=r"penalty='aut': expected .*did you mean 'auto'"):
        HideSeekClassifier(**QUICK, penalty="aut").fit(*wide)


def test_columns_far_more_than_rows(wide):
    X = np.random.default_rng(0).normal(size=(300, 2000))
    y = (X[:, 5] + X[:, 6] > 0).astype(int)
    model = HideSeekClassifier(preset="balanced", steps=30, random_state=0).fit(X, y)
    assert model.screening_.kept[[5, 6]].all()


# -- on disk ------------------------------------------------------------------------------------------------------


def test_path_and_screening_survive_a_file(searched, wide, tmp_path):
    X, _ = wide
    for model in (searched, searched.at(penalty=searched.path_.penalty[0])):
        model.save(tmp_path / "model.safetensors")
        again = hideseek.load(tmp_path / "model.safetensors")
        np.testing.assert_array_equal(again.explain(X).importance, model.explain(X).importance)
        assert again.penalty_ == model.penalty_
        assert again.path_.chosen == model.path_.chosen
        for name, column in model.path_.columns().items():
            np.testing.assert_array_equal(again.path_.columns()[name], column)
        for penalty in model.path_.penalty[::8]:
            one, other = again.at(penalty=penalty), model.at(penalty=penalty)
            np.testing.assert_array_equal(one.predict_proba(X), other.predict_proba(X))
        for j in (0, 3, 39):
            assert again.screening_.why(j) == model.screening_.why(j)
        np.testing.assert_array_equal(again.screening_.score, model.screening_.score)


# -- how sure the selection is ------------------------------------------------------------------------------------


def test_selection_probability_grows_with_the_mask_and_the_price():
    odds = np.log([0.2 / 0.8, 1.0, 0.8 / 0.2])
    expected = 1 / (1 + np.exp(-(-1.82 + 2.97 * odds + 0.56 * np.log(20))))
    got = selection_probability(np.array([[0.2, 0.5, 0.8]]), 0.003, 0.00015)
    np.testing.assert_allclose(got[0], expected, rtol=1e-5)
    assert (selection_probability(np.array([[0.2, 0.5, 0.8]]), 0.01, 0.00015) > got).all()
    extremes = selection_probability(np.array([[0.0, 1.0]]), 0.003, 0.00015)
    assert extremes[0, 0] < 0.001
    assert 0.999 < extremes[0, 1] < 1


def test_factors_of_the_selection_probability_are_those_of_the_experiment():
    with open(Path(__file__).parents[2] / "experiments" / "results" / "reliability" / "rule.csv", newline="") as file:
        stored = [float(line["value"]) for line in csv.DictReader(file)]
    used = (probability._INTERCEPT, probability._OF_MASK, probability._OF_PRICE)
    np.testing.assert_allclose(used, stored, atol=0.006)


def test_selection_probability_goes_with_rows_features_and_files(switch, tmp_path):
    X, y = switch
    model = HideSeekClassifier(**QUICK, n_members=4).fit(X, y)
    explanation = model.explain(X)
    found = explanation.selection_probability
    assert found.shape == X.shape
    assert ((found > 0) & (found < 1)).all()
    order = np.argsort(explanation.importance.ravel())
    assert (np.diff(found.ravel()[order]) >= 0).all()
    part = model.explain(X)[5:9, [2, 0]]
    np.testing.assert_array_equal(part.selection_probability, found[5:9][:, [2, 0]])
    np.testing.assert_array_equal(explanation[5:9, [2, 0]].selection_probability, part.selection_probability)
    np.testing.assert_array_equal(part[1, "x1"].selection_probability, found[6:7, :1])
    part.save(tmp_path / "explanation.npz")
    again = hideseek.Explanation.load(tmp_path / "explanation.npz")
    np.testing.assert_array_equal(again.selection_probability, part.selection_probability)
    assert hideseek.Explanation([[1.0]], [[True]]).selection_probability is None
    paper = HideSeekClassifier("paper", steps=5, random_state=0).fit(X, y)
    assert paper.explain(X[:5]).selection_probability is None


def test_selection_probability_does_not_depend_on_the_penalty_asked_for(searched, wide, tmp_path):
    X = wide[0][:20]
    expected = searched.explain(X).selection_probability
    np.testing.assert_allclose(searched.explain(X, n_features=2).selection_probability, expected, rtol=1e-5)
    np.testing.assert_allclose(searched.explain(X, penalty=1.0).selection_probability, expected, rtol=1e-5)
    searched.at(penalty=1.0).save(tmp_path / "model.safetensors")
    again = hideseek.load(tmp_path / "model.safetensors")
    np.testing.assert_allclose(again.explain(X).selection_probability, expected, rtol=1e-5)


def test_a_hundred_columns_are_no_trouble():
    data = make_syn("Syn2", n_samples=5000, n_features=100, random_state=100)
    model = HideSeekClassifier(steps=300, n_members=3, random_state=0).fit(data.X, data.y)
    assert selection_scores(model.select(data.X), data.relevant).f1 > 90


def test_a_mixed_table_is_screened_by_feature_and_searched(tmp_path):
    rng = np.random.default_rng(0)
    columns = {f"noise{j}": rng.normal(size=800) for j in range(20)}
    X = pd.DataFrame({**columns, "town": rng.choice(["Oslo", "Paris", "Rome"], 800)})
    y = np.where(X["town"] == "Rome", X["noise3"] > 0, X["noise4"] > 0)
    model = HideSeekClassifier("fast", screening=5, steps=20, random_state=0).fit(X, y)
    kept = {X.columns[j] for j in np.flatnonzero(model.screening_.kept)}
    assert {"noise3", "noise4", "town"} <= kept
    assert len(model.screening_.kept) == 21
    explanation = model.explain(X)
    dropped = ~model.screening_.kept
    assert (explanation.importance[:, dropped] == 0).all()
    assert (explanation.importance[:, ~dropped] > 0).any(axis=0).all()
    assert model._ensemble.stack.hide.sizes[-1] == 2 * len(kept)
    model.save(tmp_path / "model.safetensors")
    loaded = hideseek.load(tmp_path / "model.safetensors")
    np.testing.assert_array_equal(loaded.explain(X).importance, explanation.importance)
    np.testing.assert_array_equal(
        loaded.at(n_features=2).explain(X).importance, model.at(n_features=2).explain(X).importance
    )


@pytest.mark.parametrize("k", [1, 2, 3, 5])
def test_a_number_of_features_is_kept_where_features_enter_at_one_price(k):
    data = make_cafe(n_samples=600, random_state=0)  # no noise: several features stay selected at every price
    model = HideSeekClassifier("fast", random_state=0).fit(data.X, data.y)
    explanation = model.explain(data.X, n_features=k)
    assert (explanation.n_selected == k).all()
    entry = explanation.entry_price
    highest_left_out = np.where(explanation.selected, -np.inf, entry).max(axis=1)
    assert (np.where(explanation.selected, entry, np.inf).min(axis=1) >= highest_left_out).all()
