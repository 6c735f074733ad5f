import warnings
from copy import deepcopy

import numpy as np
import pandas as pd
import polars as pl
import pytest
import torch
from sklearn.datasets import load_iris
from sklearn.exceptions import DataConversionWarning, NotFittedError
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

from hideseek import HideSeekClassifier, HideSeekRegressor, HideSeekWarning, InputError, MaskWarning
from hideseek.datasets import make_syn
from hideseek.engine import teams
from hideseek.engine.recipe import PRESETS
from hideseek.metrics import selection_scores

# the fits here are too short for masks to settle
pytestmark = pytest.mark.filterwarnings("ignore::hideseek.errors.MaskWarning")

QUICK = {"preset": "fast", "steps": 30, "random_state": 0}
ESTIMATORS = (HideSeekClassifier, HideSeekRegressor)

EXPECTED_FAILURES = {
    "check_sample_weight_equivalence_on_dense_data": (
        "a row's random draws belong to its number, so repeating a row is not the same stream as weighting it"
    ),
    "check_sample_weight_equivalence_on_sparse_data": "as on dense data, which a sparse matrix becomes",
}


@pytest.mark.filterwarnings("ignore::hideseek.errors.HideSeekWarning")
@parametrize_with_checks(
    [cls("fast", steps=100, learning_rate=1e-2, random_state=0) for cls in ESTIMATORS],
    expected_failed_checks=lambda estimator: EXPECTED_FAILURES,
)
def test_scikit_learn_contract(estimator, check):
    check(estimator)


# -- does it find what decides? -----------------------------------------------------------------------------------


def test_finds_the_switch_and_its_branches(switch, model):
    X, _ = switch
    selected = model.select(X)
    clear = np.abs(X[:, 2]) > 0.3
    right = np.where(X[:, 2] > 0, selected[:, 0], selected[:, 1])
    wrong = np.where(X[:, 2] > 0, selected[:, 1], selected[:, 0])
    assert selected[:, 2].mean() > 0.9
    assert right[clear].mean() > 0.95
    assert wrong[clear].mean() < 0.1
    assert selected[:, 3].mean() < 0.05


def test_more_than_two_classes_and_string_labels():
    X, y = load_iris(return_X_y=True, as_frame=True)
    names = np.array(["setosa", "versicolor", "virginica"])[y]
    model = HideSeekClassifier("fast", random_state=0).fit(X, names)
    assert model.classes_.tolist() == ["setosa", "versicolor", "virginica"]
    assert model.predict_proba(X).shape == (150, 3)
    np.testing.assert_allclose(model.predict_proba(X).sum(axis=1), 1, atol=1e-5)
    assert model.score(X, names) > 0.9
    assert model.explain(X).mean_importance()["feature"].iloc[0].startswith("petal")


def test_regression_in_the_unit_of_the_target():
    X = np.random.default_rng(1).normal(size=(2000, 4))
    y = 1e6 + 1e4 * np.where(X[:, 2] > 0, X[:, 0], X[:, 1])
    model = HideSeekRegressor("fast", random_state=0).fit(X, y)
    assert model.score(X, y) > 0.8
    selected = model.select(X)
    assert selected[:, 2].mean() > 0.9
    assert selected[:, 3].mean() < 0.05
    scaled = HideSeekRegressor("fast", random_state=0).fit(X, y / 1e4)
    np.testing.assert_allclose(scaled.explain(X).importance, model.explain(X).importance, atol=0.05)


# -- parameters ---------------------------------------------------------------------------------------------------


def test_presets_and_what_overrides_them(switch):
    model = HideSeekClassifier("paper", steps=2, n_members=3, batch_size=64, hidden_layers=[8]).fit(*switch)
    assert (model.recipe_.n_members, model.recipe_.batch_size, model.recipe_.hidden_layers) == (3, 64, (8,))
    assert model.recipe_.learning_rate == PRESETS["paper"].learning_rate
    full = HideSeekClassifier("balanced", steps=2, batch_size="full", weight_decay=0.02).fit(*switch)
    assert (full.recipe_.batch_size, full.recipe_.weight_decay) == (None, 0.02)


def test_epochs_are_steps_over_the_rows(switch):
    assert HideSeekClassifier("fast", epochs=2, batch_size=500).fit(*switch).recipe_.steps == 8
    assert HideSeekClassifier("paper", epochs=3).fit(*switch).recipe_.steps == 3
    with pytest.raises(InputError, match="give one"):
        HideSeekClassifier("fast", epochs=2, steps=3).fit(*switch)


def test_the_default_penalty_keeps_the_price_of_a_feature():
    X = np.random.default_rng(0).normal(size=(50, 22))
    model = HideSeekClassifier("paper", steps=1).fit(X, X[:, 0] > 0)
    assert model.penalty_ == pytest.approx(0.6)
    assert model.history_["penalty"][-1] == pytest.approx(0.6)
    assert HideSeekClassifier("paper", steps=1, penalty=1.5).fit(X, X[:, 0] > 0).penalty_ == pytest.approx(1.5)


@pytest.mark.filterwarnings("ignore::hideseek.errors.HideSeekWarning")
def test_the_mean_of_the_mask_runs_over_all_columns_a_member_is_given(switch, monkeypatch):
    X, y = switch
    prices = []
    train = teams.train
    monkeypatch.setattr(
        teams,
        "train",
        lambda recipe, data, members, **how: prices.append(members.price) or train(recipe, data, members, **how),
    )
    with_constants = np.column_stack((X, np.ones((len(X), 4))))
    published = QUICK | {"preset": "paper"}
    HideSeekClassifier(**published, penalty=0.8).fit(with_constants, y)
    HideSeekClassifier(**published, penalty=0.8, n_members=2, column_fraction=0.5).fit(X, y)
    np.testing.assert_allclose(prices[0], [0.1])
    np.testing.assert_allclose(prices[1], [0.4, 0.4])


def test_all_bad_parameters_are_reported_at_once(switch):
    model = HideSeekClassifier(
        "blanced", threshold=1.0, n_members=0, device="cud", penalty=-1, class_weight="balance", hidden_layers=(0,)
    )
    with pytest.raises(InputError) as caught:
        model.fit(*switch)
    message = str(caught.value)
    assert "7 parameters of HideSeekClassifier" in message
    for part in (
        "preset='blanced': expected 'balanced', 'fast', 'best' or 'paper'; did you mean 'balanced'?",
        "threshold=1.0: expected a number in [0, 1)",
        "n_members=0: expected a whole number of at least 1",
        "device='cud'",
        "penalty=-1",
        "class_weight='balance'",
        "hidden_layers=(0,)",
    ):
        assert part in message


def test_column_fraction_hides_columns_from_members(switch):
    model = HideSeekClassifier(**QUICK, n_members=4, column_fraction=0.5).fit(*switch)
    visible = model._ensemble.visible
    assert visible.sum(dim=1).tolist() == [2] * 4
    assert visible.any(dim=0).all()


def test_cross_fitting_shows_less_of_what_seek_merely_remembers():
    """The labels are coin tosses: whatever helps to predict them was learned by heart."""
    generator = np.random.default_rng(0)
    X, y = generator.normal(size=(400, 6)), generator.integers(2, size=400)
    options = {"steps": 400, "batch_size": 100, "learning_rate": 5e-3, "penalty": 0.2, "random_state": 0}
    plain = HideSeekClassifier("paper", n_members=3, **options)
    with pytest.warns(MaskWarning, match=r"saturated.*or cross_fit=True"):
        plain.fit(X, y)
    cross_fitted = HideSeekClassifier("paper", n_members=3, cross_fit=True, **options).fit(X, y)
    assert plain.explain(X).importance.mean() > 0.9
    assert cross_fitted.explain(X).importance.mean() < 0.5
    with pytest.raises(InputError, match="cross_fit=1: expected True or False or None"):
        HideSeekClassifier(cross_fit=1).fit(X, y)


def test_selected_is_what_is_shown_more_than_the_threshold(switch, model):
    X, _ = switch
    explanation = model.explain(X)
    np.testing.assert_array_equal(explanation.selected, explanation.importance > 0.5)
    np.testing.assert_array_equal(model.select(X), explanation.selected)


def test_threshold_and_draws_can_be_changed_after_the_fit(switch, model):
    X, _ = switch
    other = deepcopy(model).set_params(threshold=0.0, prediction_draws=1)
    assert other.select(X).all()
    assert np.abs(other.predict_proba(X) - model.predict_proba(X)).max() > 0
    for name, value in (("prediction_draws", 1000), ("prediction_draws", 0), ("threshold", 7)):
        with pytest.raises(InputError, match=name):
            deepcopy(model).set_params(**{name: value}).predict_proba(X)


# -- same seed, same answer ---------------------------------------------------------------------------------------


def test_same_seed_same_bits(switch):
    X, y = switch
    first, second = (HideSeekClassifier(**QUICK).fit(X, y) for _ in range(2))
    np.testing.assert_array_equal(first.explain(X).importance, second.explain(X).importance)
    np.testing.assert_array_equal(first.predict_proba(X), second.predict_proba(X))
    other = HideSeekClassifier(**{**QUICK, "random_state": 1}).fit(X, y)
    assert (other.explain(X).importance != first.explain(X).importance).any()


def test_the_first_hides_of_a_larger_ensemble_are_those_of_the_smaller_one(switch):
    small, large = (HideSeekClassifier(**QUICK, n_members=n).fit(*switch)._ensemble.stack for n in (2, 4))
    n_weights = small.hide.n_parameters  # Seeks learn from what the whole ensemble selects
    np.testing.assert_allclose(
        large.by_member()[:2, :n_weights].numpy(), small.by_member()[:, :n_weights].numpy(), atol=1e-3
    )


def test_the_global_generators_are_left_alone(switch):
    np.random.seed(0)
    before, torch_before = np.random.get_state()[1].copy(), torch.get_rng_state()
    HideSeekClassifier(**QUICK).fit(*switch)
    assert (np.random.get_state()[1] == before).all()
    assert torch.equal(torch.get_rng_state(), torch_before)


# -- tables as they come ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame])
def test_frames_give_names_and_the_same_answer(switch, frame):
    X, y = switch
    table = frame({name: X[:, j] for j, name in enumerate(["a", "b", "c", "d"])})
    model = HideSeekClassifier(**QUICK).fit(table, y)
    assert model.feature_names_in_.tolist() == ["a", "b", "c", "d"]
    explanation = model.explain(table)
    assert explanation.feature_names == ("a", "b", "c", "d")
    assert isinstance(explanation.to_frame(), frame)
    np.testing.assert_array_equal(explanation.importance, HideSeekClassifier(**QUICK).fit(X, y).explain(X).importance)


def test_pandas_rows_keep_their_labels(switch, model):
    frame = pd.DataFrame(switch[0][:2], index=["anna", "ben"])
    frame.columns = [f"f{j}" for j in range(4)]
    fitted = HideSeekClassifier(**QUICK).fit(pd.DataFrame(switch[0], columns=frame.columns), switch[1])
    assert fitted.explain(frame).describe(1).startswith("Row ben: predicted")


def test_transform_follows_set_output(switch, model):
    X, y = switch
    shown = model.transform(X)
    np.testing.assert_array_equal(~np.isnan(shown), model.select(X))
    np.testing.assert_array_equal(shown[~np.isnan(shown)], X[model.select(X)])
    frame = pd.DataFrame(X, columns=list("abcd"))
    fitted = HideSeekClassifier(**QUICK).set_output(transform="pandas").fit(frame, y)
    out = fitted.transform(frame)
    assert isinstance(out, pd.DataFrame)
    assert out.columns.tolist() == list("abcd")


def test_works_in_a_pipeline(switch):
    X, y = switch
    pipeline = make_pipeline(StandardScaler(), HideSeekClassifier(**QUICK)).fit(X, y)
    assert pipeline.predict(X).shape == (len(X),)


def test_single_precision_and_integers(switch):
    X, y = switch
    single = HideSeekClassifier(**QUICK).fit(X.astype(np.float32), y)
    double = HideSeekClassifier(**QUICK).fit(X, y)
    np.testing.assert_allclose(single.explain(X).importance, double.explain(X).importance, atol=1e-3)
    HideSeekClassifier(**QUICK).fit((10 * X).astype(int), y)


def test_one_column_y_and_boolean_y(switch):
    X, y = switch
    with pytest.warns(DataConversionWarning):
        column = HideSeekClassifier(**QUICK).fit(X, y[:, None])
    np.testing.assert_array_equal(column.predict(X), HideSeekClassifier(**QUICK).fit(X, y).predict(X))
    assert HideSeekClassifier(**QUICK).fit(X, y == 1).predict(X).dtype == bool


def test_sample_weight_and_class_weight_move_the_prediction(switch):
    X, y = switch
    plain = HideSeekClassifier(**QUICK).fit(X, y).predict_proba(X)[:, 1].mean()
    weighted = HideSeekClassifier(**QUICK).fit(X, y, sample_weight=np.where(y == 1, 5.0, 1.0))
    by_class = HideSeekClassifier(**QUICK, class_weight={0: 1.0, 1: 5.0}).fit(X, y)
    assert weighted.predict_proba(X)[:, 1].mean() > plain + 0.1
    np.testing.assert_allclose(weighted.predict_proba(X), by_class.predict_proba(X), atol=1e-5)


@pytest.mark.parametrize("cls", ESTIMATORS)
def test_rows_of_weight_zero_are_left_out(switch, cls):
    X, y = switch
    weight = np.where(np.arange(len(X)) < 1000, 1.0, 0.0)
    misleading = np.where(weight > 0, y, 10**9)
    masked = cls(**QUICK).fit(X, misleading, sample_weight=weight)
    alone = cls(**QUICK).fit(X[:1000], y[:1000], sample_weight=weight[:1000])
    np.testing.assert_array_equal(masked.explain(X).importance, alone.explain(X).importance)
    np.testing.assert_array_equal(masked.predict(X), alone.predict(X))


def test_only_the_ratio_of_weights_counts(switch):
    X, y = switch
    weight = 1.0 + np.arange(len(X)) % 3
    plain = HideSeekClassifier(**QUICK).fit(X, y, sample_weight=weight).history_["loss"]
    for factor in (100.0, 1e307):
        scaled = HideSeekClassifier(**QUICK).fit(X, y, sample_weight=weight * factor)
        np.testing.assert_allclose(scaled.history_["loss"], plain, rtol=1e-4)


def test_weights_that_cannot_be_used_are_refused(switch):
    X, y = switch
    weight = np.ones(len(X))
    for class_weight in ({0: 1, 1: -1}, {0: 1, 1: np.nan}, {0: "a"}, [1, 2]):
        with pytest.raises(InputError, match=r"class_weight.*at least 0"):
            HideSeekClassifier(**QUICK, class_weight=class_weight).fit(X, y)
    with pytest.raises(InputError, match="one class"):
        HideSeekClassifier(**QUICK).fit(X, y, sample_weight=(y == 0) * 1.0)
    for useless in (np.zeros(len(X)), np.eye(len(X))[0], -weight, weight[:5]):
        with pytest.raises(InputError, match="sample_weight"):
            HideSeekClassifier(**QUICK).fit(X, y, sample_weight=useless)


def test_one_feature(switch):
    X, _ = switch
    model = HideSeekClassifier("fast", random_state=0).fit(X[:, :1], X[:, 0] > 0)
    assert model.select(X[:, :1]).mean() > 0.8


# -- history ------------------------------------------------------------------------------------------------------


def test_history_has_losses_masks_and_penalty(switch):
    model = HideSeekClassifier(**QUICK, n_members=2, validation_fraction=0.2).fit(*switch)
    history = model.history_
    assert set(history) == {"step", "penalty", "loss", "prediction_loss", "mean_mask", "validation_loss"}
    assert history["step"].tolist() == list(range(1, 31))
    for name in ("loss", "prediction_loss", "mean_mask", "validation_loss"):
        assert history[name].shape == (30, 2)
    np.testing.assert_allclose(
        history["loss"], history["prediction_loss"] + history["penalty"][:, None] * history["mean_mask"], rtol=1e-5
    )
    assert "validation_loss" not in HideSeekClassifier(**QUICK).fit(*switch).history_


# -- when something is wrong --------------------------------------------------------------------------------------


@pytest.mark.parametrize("cls", ESTIMATORS)
@pytest.mark.parametrize("age", [2.0, np.nan])
def test_infinite_values_are_named(cls, age):
    frame = pd.DataFrame({"AGE": [1.0, age, age, 4.0], "SEX": [0.0, 1.0, np.inf, 0.0], "PAY": [1.0, 2, 3, 4]})
    with pytest.raises(InputError, match=r"infinite values \(inf\) in 'SEX' \(1 rows\); drop"):
        cls(**QUICK).fit(frame, [0, 1, 0, 1])


def test_tables_that_are_no_tables_are_refused(switch):
    X, y = switch
    frame = pd.DataFrame(X, columns=list("aabc"))
    for table, message in (
        (frame, "same name: a"),
        (pd.DataFrame(X, columns=["a", 1, 2, 3]), "types int and str"),
        (pl.DataFrame(X).lazy(), "collect"),
        (np.asmatrix(X), r"numpy matrix.*np.asarray\(X\)"),
        (np.zeros(4, dtype=[("a", float)]), r"structured array; pass pandas.DataFrame\(X\)"),
        ({"a": [1, 2]}, r"X is a dict.*pandas.DataFrame\(X\)"),
        (pd.Series([1.0, 2.0]), r"X is a Series.*X.to_frame"),
        (pd.DataFrame(X, columns=pd.MultiIndex.from_product([["a", "b"], [1, 2]])), "MultiIndex.* one name"),
    ):
        with pytest.raises(InputError, match=message):
            HideSeekClassifier(**QUICK).fit(table, y)


def test_wrong_columns_at_explain_time_are_named(switch):
    X, y = switch
    frame = pd.DataFrame(X, columns=["AGE", "SEX", "PAY", "BILL"])
    model = HideSeekClassifier(**QUICK).fit(frame, y)
    with pytest.raises(InputError, match=r"^X has 3 columns; this model was fitted on 4 \(missing: AGE\)"):
        model.explain(frame.drop(columns="AGE"))
    with pytest.raises(InputError, match=r"^X has 4 columns; .* \(missing: AGE; not known: WAGE\)"):
        model.explain(frame.rename(columns={"AGE": "WAGE"}))
    with pytest.raises(InputError, match=r"^X has 3 columns; this model was fitted on 4: pass the same columns"):
        HideSeekClassifier(**QUICK).fit(X, y).explain(X[:, :3])
    with pytest.raises(InputError, match="'SEX' has categories or text, but had numbers in fit"):
        model.explain(frame.assign(SEX="female"))


def test_constant_columns_are_said_and_never_selected(switch):
    X, y = switch
    with pytest.warns(HideSeekWarning, match="constant columns are never selected: x5"):
        model = HideSeekClassifier("fast", random_state=0).fit(np.column_stack((X, np.ones(len(X)))), y)
    explanation = model.explain(np.column_stack((X, np.arange(len(X)))))
    assert (explanation.importance[:, 4] == 0).all()
    assert explanation.selected[:, 2].mean() > 0.9
    with pytest.raises(InputError, match="every column of X is constant"):
        HideSeekClassifier(**QUICK).fit(np.ones((10, 3)), [0, 1] * 5)


@pytest.mark.parametrize(
    ("X", "y", "message"),
    [
        (np.zeros((0, 3)), [], "0 sample"),
        (np.zeros((1, 3)), [1], "1 sample"),
        (np.zeros((3, 0)), [0, 1, 0], "0 feature"),
        (np.random.default_rng(0).normal(size=(4, 2)), ["a"] * 4, r"one class .*'a'.* at least two"),
        (np.random.default_rng(0).normal(size=(4, 2)), [0, 1, 0], "inconsistent"),
        (np.array([[1.7e308, 0], [1.7e308, 1], [1.7e308, 2], [-1.7e308, 3]]), [0, 1, 0, 1], "too large .* x1; rescale"),
        (np.random.default_rng(0).normal(size=(4, 2)), np.array([1, None, 0, 1], dtype=object), "1 missing labels"),
        (np.random.default_rng(0).normal(size=(4, 2)), np.array([1, "a", 0, 1], dtype=object), "types int and str"),
        (np.random.default_rng(0).normal(size=(4, 2)), [0.1, 0.2, 0.3, 0.45], "continuous.*HideSeekRegressor"),
    ],
)
def test_tables_that_cannot_be_learned_from(X, y, message):
    with pytest.raises(InputError, match=message):
        HideSeekClassifier(**QUICK).fit(X, y)


@pytest.mark.parametrize("factor", [1e300, 1e-300])
def test_the_unit_of_a_column_does_not_matter(switch, factor):
    X, y = switch
    expected = HideSeekClassifier(**QUICK).fit(X, y).explain(X).importance
    scaled = HideSeekClassifier(**QUICK).fit(X * factor, y).explain(X * factor).importance
    np.testing.assert_allclose(scaled, expected, atol=1e-4)


def test_a_value_beyond_all_measure_gets_an_answer(switch, model):
    row = np.array([[1e300, 0.0, 1.0, -1e300]])
    assert np.isfinite(model.explain(row).importance).all()
    assert np.isfinite(model.predict_proba(row)).all()


def test_an_explanation_keeps_to_its_own_fit(switch):
    X, y = switch
    model = HideSeekClassifier(**QUICK).fit(X, y)
    explanation, expected = model.explain(X), model.predict(X)
    model.fit(X, 1 - y)
    np.testing.assert_array_equal(explanation.prediction, expected)


def test_collapsed_and_saturated_masks_are_said(switch):
    X, y = switch
    with pytest.warns(MaskWarning, match=r"collapsed.*penalty is 40: try penalty=4 "):
        HideSeekClassifier("paper", penalty=40, steps=300, learning_rate=1e-2, random_state=0).fit(X, y)
    with pytest.warns(MaskWarning, match=r"saturated.*penalty is 0: try penalty=0.11"):
        HideSeekClassifier("paper", penalty=0, steps=300, learning_rate=1e-2, random_state=0).fit(X, X.sum(axis=1) > 0)


def test_an_interrupt_leaves_it_unfitted_and_says_so(switch, monkeypatch):
    X, y = switch
    model = HideSeekClassifier(**QUICK).fit(X, y)

    def interrupted(*args, **kwargs):
        raise KeyboardInterrupt

    monkeypatch.setattr(teams, "train", interrupted)
    with pytest.raises(KeyboardInterrupt, match="this HideSeekClassifier is not fitted"):
        model.fit(X, y)
    with pytest.raises(NotFittedError):
        model.explain(X)
    assert not [name for name in vars(model) if name.endswith("_")]


def test_a_quiet_fit_warns_of_nothing(switch):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        HideSeekClassifier("fast", random_state=0).fit(*switch)


def test_members_that_learned_worst_do_not_answer(switch):
    X, y = switch
    published = QUICK | {"preset": "paper", "n_members": 4}
    model = HideSeekClassifier(**published, kept_fraction=0.5).fit(X, y)
    everyone = HideSeekClassifier(**published, kept_fraction=1.0).fit(X, y)
    assert model.history_["loss"].shape[1] == 4, "the record is of all"
    best = np.sort(np.argsort(everyone.history_["loss"][-5:].mean(axis=0))[:2])
    expected = everyone._ensemble.stack.by_member()[best]
    np.testing.assert_array_equal(model._ensemble.stack.by_member(), expected)


def test_a_column_that_only_a_bad_member_saw_is_not_lost(switch):
    model = HideSeekClassifier(**QUICK, n_members=2, column_fraction=0.5, kept_fraction=0.5).fit(*switch)
    assert model._ensemble.visible.any(dim=0).all()
    assert len(model._ensemble.visible) == 2


def test_the_papers_recipe_reaches_its_f1_on_syn4():
    """The median of the first three seeds, since single ones can be lower: of 21 seeds 18 are at 96 to 97."""
    tables = [make_syn("Syn4", random_state=seed) for seed in range(4)]
    models = HideSeekClassifier("paper").fit_many([(tables[s].X, tables[s].y, s, {}) for s in range(3)])
    found = [selection_scores(m.select(t.X), t.relevant).f1 for m, t in zip(models, tables[1:], strict=True)]
    assert np.median(found) > 94
