"""How far to believe a fit, from rows that the answering members did not learn from."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch
from sklearn.linear_model import LogisticRegression

import hideseek
from hideseek import BlackBoxExplainer, HideSeekClassifier, HideSeekRegressor
from hideseek.engine.along import mean_overlap
from hideseek.search import Trust
from hideseek.search.held_out import _of_pairs

# the fits here are too short for masks to settle
pytestmark = pytest.mark.filterwarnings("ignore::hideseek.errors.MaskWarning")

QUICK = {"preset": "fast", "steps": 60, "random_state": 0}
GOOD = Trust(
    "auroc",
    5000,
    11,
    n_selected=3.0,
    score_selected=0.9,
    score_all=0.91,
    score_none=0.5,
    loss_selected=0.41,
    loss_all=0.4,
    loss_none=0.69,
    difference_error=0.001,
    sufficient=0.95,
    agreement=0.9,
    agreement_held_out=0.89,
)


def test_figures_of_a_good_fit_are_those_of_its_predictions_on_new_rows(model, switch):
    trust = model.trust_
    assert trust.n_rows == len(switch[0])
    assert trust.score_selected > 0.9
    assert trust.score_all > 0.9
    assert (trust.score_none, trust.n_features) == (0.5, 4)
    assert trust.loss_none == pytest.approx(np.log(2), abs=0.01)
    assert trust.loss_selected < 0.5 * trust.loss_none
    assert trust.n_selected == pytest.approx(model.path_.n_selected[model.path_.chosen])
    assert 0.5 < trust.agreement <= 1
    assert trust.agreement_held_out == pytest.approx(trust.agreement, abs=0.1)


def test_labels_that_nothing_predicts_are_found_out():
    X = np.random.default_rng(0).normal(size=(600, 4))
    y = np.random.default_rng(1).integers(0, 2, 600)
    trust = HideSeekClassifier("fast", penalty=0.0, steps=800, random_state=0).fit(X, y).trust_
    assert trust.score_selected == pytest.approx(0.5, abs=0.08), "of rows that were learned it would be high"
    assert any("hardly better than no feature" in warning for warning in trust.warnings)


def test_features_that_do_not_suffice_are_found_out(switch):
    X, _ = switch
    y = X @ [1.0, 0.4, 0.4, 0.4]  # three features that are often worth less than the price
    trust = HideSeekRegressor("fast", penalty=1.6, random_state=0).fit(X, y).trust_
    assert trust.score_selected < 0.9
    assert trust.score_all > 0.95, "at the price itself, networks have not seen all features"
    assert any("clearly worse than all features" in warning for warning in trust.warnings)
    assert any("not close to that of all features" in warning for warning in trust.warnings)


@pytest.mark.parametrize(("n_members", "n_rows"), [(1, 120), (3, 360), (5, 600), (7, 600)])
def test_rows_that_every_member_has_learned_from_are_not_looked_at(switch, n_members, n_rows):
    trust = HideSeekClassifier(**QUICK, n_members=n_members).fit(switch[0][:600], switch[1][:600]).trust_
    assert trust.n_rows == n_rows
    assert (trust.agreement_held_out is None) == (n_members == 1)


def test_models_without_folds_use_rows_that_were_held_out(switch):
    held = HideSeekClassifier("paper", steps=20, validation_fraction=0.25, random_state=0).fit(*switch).trust_
    assert held.n_rows == len(switch[0]) // 4
    assert held.loss_selected is not None
    nothing = HideSeekClassifier("paper", steps=20, random_state=0).fit(*switch).trust_
    assert (nothing.n_rows, nothing.score_selected, nothing.sufficient) == (0, None, None)
    assert len(nothing.warnings) == 1
    assert "pass validation_fraction" in repr(nothing)


def test_values_black_boxes_weights_and_stacks_have_it_too(switch):
    X, y = switch
    values = HideSeekRegressor(**QUICK).fit(X, X[:, 0])
    assert (values.trust_.score_name, values.trust_.score_none) == ("r2", 0)
    box = BlackBoxExplainer(LogisticRegression().fit(X, y), **QUICK).fit(X)
    assert box.trust_.n_rows == int(0.9 * len(X)) // 5 * 5
    weighted = HideSeekClassifier(**QUICK).fit(X, y, sample_weight=np.where(y, 3.0, 1.0)).trust_
    assert weighted.loss_none == pytest.approx(-0.75 * np.log(0.75) - 0.25 * np.log(0.25), abs=0.01)
    alone = HideSeekClassifier(**QUICK).fit(X, y).trust_
    (stacked, _) = HideSeekClassifier(**QUICK).fit_many([(X, y, 0, {}), (X, 1 - y, 1, {})])
    assert stacked.trust_.loss_selected == pytest.approx(alone.loss_selected, rel=1e-3)


def test_overlap_of_sets_worked_by_hand():
    sets = torch.tensor([[[1, 1, 0], [0, 0, 0]], [[0, 1, 1], [0, 0, 0]], [[1, 1, 0], [1, 0, 0]]], dtype=torch.bool)
    np.testing.assert_allclose(mean_overlap(sets[:, :1]), [[1, 1 / 3, 1], [1 / 3, 1, 1 / 3], [1, 1 / 3, 1]])
    np.testing.assert_allclose(mean_overlap(sets[:, 1:]), [[1, 1, 0], [1, 1, 0], [0, 0, 1]])
    np.testing.assert_allclose(mean_overlap(sets), [[1, 2 / 3, 0.5], [2 / 3, 1, 1 / 6], [0.5, 1 / 6, 1]])


def test_pairs_that_left_the_rows_out_alike_are_apart_from_the_others():
    alike = np.array([[1.0, 0.1, 0.2], [0.1, 1.0, 0.3], [0.2, 0.3, 1.0]])
    same, other = _of_pairs(
        alike, np.array([1])
    )  # the first and the third have learned from the rows, the second has not
    assert same.tolist() == [0.2]
    assert other.tolist() == [0.1, 0.3]


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"n_rows": 50}, "Only 50 rows"),
        ({"loss_selected": 0.685}, "hardly better than no feature"),
        ({"loss_selected": 0.45}, "clearly worse than all features: loss 0.4500 against 0.4000"),
        ({"sufficient": 0.6}, "In 40% of the rows"),
        ({"agreement": 0.5}, "The members select different features (agreement 0.50)"),
        ({"agreement_held_out": 0.7}, "rows are learned by heart"),
    ],
)
def test_each_warning_has_its_reason(change, said):
    assert GOOD.with_warnings().warnings == ()
    warned = replace(GOOD, **change).with_warnings()
    assert any(said in warning for warning in warned.warnings)
    assert f"! {warned.warnings[0]}" in repr(warned)


def test_a_difference_within_its_error_is_no_warning():
    assert replace(GOOD, loss_selected=0.45, difference_error=0.03).with_warnings().warnings == ()


def test_it_is_a_small_table_and_a_dict():
    lines = repr(GOOD).splitlines()
    assert "5,000 rows" in lines[0]
    assert lines[2].split() == ["selected", "features", "3.00", "0.900", "0.4100"]
    assert lines[4].split() == ["no", "feature", "0.00", "0.500", "0.6900"]
    assert max(map(len, lines)) < 80
    assert GOOD.to_dict()["sufficient"] == 0.95
    assert GOOD.to_dict()["warnings"] == []


def test_it_is_saved_and_is_of_the_penalty_of_the_fit_alone(model, switch, tmp_path):
    model.save(tmp_path / "model.safetensors")
    assert hideseek.load(tmp_path / "model.safetensors").trust_ == model.trust_
    other = model.at(penalty=1.0)
    assert other.trust_ is None
    assert model.explain(switch[0][:5], n_features=2).model.trust_ is None
    other.save(tmp_path / "other.safetensors")
    assert hideseek.load(tmp_path / "other.safetensors").trust_ is None


def test_older_files_load_without_it():
    assert hideseek.load(Path(__file__).parents[1] / "data" / "format_1_classifier.safetensors").trust_ is None


def test_notebooks_show_it_below_the_estimator(model):
    assert "selected features" in model._repr_mimebundle_()["text/html"]
    assert "selected features" not in repr(model)
    assert "<pre>Trust" not in HideSeekClassifier()._repr_mimebundle_()["text/html"]
