"""Effects: how much each selected feature changes the prediction of its row."""

import numpy as np
import pytest

from hideseek import BlackBoxExplainer, Explanation, HideSeekClassifier, HideSeekRegressor
from hideseek.answers import Predicted
from hideseek.datasets import make_syn
from hideseek.datasets.truth import syn_truth
from hideseek.effects import Effects
from hideseek.errors import FileFormatError, InputError
from hideseek.estimators._effects import turns_of
from hideseek.explanation_file import read_explanation, write_explanation


@pytest.fixture(scope="module")
def explained():
    train, new = make_syn("Syn6", 8000, random_state=0), make_syn("Syn6", 400, random_state=1)
    return new, HideSeekClassifier(random_state=0).fit(train.X, train.y).explain(new.X)


def true_effects(data):
    """Return p(y = 1) minus its mean over draws of one relevant feature, and of what then matters."""
    drawn = np.random.default_rng(0).standard_normal((500, data.X.shape[1]))
    effects = np.zeros(data.X.shape)
    for i, j in zip(*np.nonzero(data.relevant), strict=True):
        known = data.relevant[i].copy()
        known[j] = False
        U, _ = syn_truth(data.name, np.where(known, data.X[i], drawn))
        effects[i, j] = data.probability[i] - (1 / (1 + np.exp(U))).mean()
    return effects


def test_effects_are_near_the_truth_where_probabilities_are_known(explained):
    data, explanation = explained
    true, found = true_effects(data), explanation.effect_of(1)
    large = np.abs(true) > 0.05
    assert (np.sign(found) == np.sign(true))[large].mean() > 0.97
    assert np.median(np.abs(found - true)[large & explanation.selected]) < 0.04


def test_an_effect_is_what_hiding_the_feature_changes(switch, model):
    X = switch[0][:200]
    explanation = model.explain(X)
    effect = explanation.effect_of(1)
    assert (effect[~explanation.selected] == 0).all()
    rows, features = np.nonzero(explanation.selected)
    same = {"softmax": True, "threshold": 0.5, "n_turns": turns_of(model)}
    whole = model._ensemble.outputs(X, 16, **same)[rows, 1]
    without = model._ensemble.outputs(X[rows], 16, hidden=features, **same)[:, 1]
    np.testing.assert_allclose(effect[rows, features], whole - without, atol=1e-6)
    np.testing.assert_allclose(effect, -explanation.effect_of(0), atol=1e-6)
    sign = np.where(explanation.prediction == 1, 1, -1)[:, None]
    np.testing.assert_allclose(explanation.effect, sign * effect, atol=1e-6)


def test_effects_of_masks_hide_the_rest_of_a_feature(switch):
    model = HideSeekClassifier("paper", steps=200, random_state=0).fit(*switch)
    X = switch[0][:50]
    explanation = model.explain(X)
    rows, features = np.nonzero(explanation.selected)
    without = model._ensemble.outputs(X[rows], 16, softmax=True, hidden=features)[:, 1]
    expected = model.predict_proba(X, shown="mask")[rows, 1] - without
    np.testing.assert_allclose(explanation.effect_of(1)[rows, features], expected, atol=1e-6)


def test_effects_of_values_are_in_units_of_the_target(switch):
    X = switch[0]
    y = 1000 * X[:, 0] + 5
    imitation = BlackBoxExplainer(lambda X: 1000 * X[:, 0], "fast", random_state=0)
    for model in (HideSeekRegressor("fast", random_state=0).fit(X, y), imitation.fit(X)):
        explanation = model.explain(X)
        np.testing.assert_allclose(explanation.effect[:, 0], 1000 * X[:, 0], atol=250)
        with pytest.raises(InputError, match="predicts values, not classes"):
            explanation.effect_of(1)


def test_a_part_of_an_explanation_has_its_part_of_the_effects(explained):
    _, explanation = explained
    before = explanation[[7, 3, 3]][:, ["x11", "x1"]].effect
    effect = explanation.effect
    np.testing.assert_array_equal(before, effect[[7, 3, 3]][:, [10, 0]])
    np.testing.assert_array_equal(explanation[5:9, [0, 0, 10]].effect, effect[5:9][:, [0, 0, 10]])
    np.testing.assert_array_equal(explanation["x2"][2].effect, effect[2:3, 1:2])


def test_effects_survive_the_disk(explained, tmp_path):
    _, explanation = explained
    part = explanation[20:60, ["x1", "x2", "x11"]]
    part.save(tmp_path / "part.npz")
    again = Explanation.load(tmp_path / "part.npz")
    np.testing.assert_array_equal(again.effect, part.effect)
    np.testing.assert_array_equal(again.effect_of(0), part.effect_of(0))
    assert again.describe(3) == part.describe(3)


def test_effects_that_do_not_fit_together_are_refused():
    cells = np.array([[True, False], [True, True]])
    with pytest.raises(FileFormatError, match="3 cells and 2 outputs"):
        Effects.from_arrays({"effect_cells": cells, "effect_change": np.zeros((2, 2)), "effect_classes": np.arange(2)})


def test_an_unknown_class_is_named_with_those_there_are(explained):
    with pytest.raises(InputError, match=r"effect_of\('yes'\): no such class; the model's classes are 0, 1"):
        explained[1].effect_of("yes")


def test_methods_without_a_model_have_no_effects():
    explanation = Explanation([[0.9, 0.1]], [[True, False]])
    assert explanation.effect is None
    assert explanation.effect_of(1) is None
    assert "effect" not in explanation.to_frame()
    with pytest.raises(InputError, match="no effects"):
        explanation.plot.row(0, values="effect")
    with pytest.raises(InputError, match="no effects"):
        explanation.to_shap("effect")


def hand_made(effect, selected, prediction, probability=None, classes=None):
    """Return an explanation of one row with these effects on the predicted class or value."""
    selected = np.array([selected])
    change = np.array(effect)[selected[0], None]
    if classes is not None:
        change = np.where(np.array(classes) == prediction, change, -change)
    explanation = Explanation(
        np.full(selected.shape, 0.9),
        selected,
        feature_names=["age", "pay", "sex", "debt"],
        data=np.array([[42, 2.5, "f", 0]], dtype=object),
    )
    explanation.answers.give(
        effects=Effects(selected, change, None if classes is None else np.array(classes)),
        predicted=Predicted(np.array([prediction]), None if probability is None else np.array([probability])),
    )
    return explanation


def test_a_sentence_says_how_far_each_feature_moves_the_probability():
    one = hand_made([0.37, -0.03, 0.0, 0.08], [True] * 4, "default", 0.58, ["default", "paid"])
    assert one.describe(0) == (
        "Row 0: predicted 'default' (probability 0.58); 4 of 4 features decided: age = 42 raises the probability of "
        "'default' from 0.21 to 0.58, debt = 0 from 0.50; pay = 2.5 lowers it from 0.61; sex = 'f' hardly changes it."
    )
    two = hand_made([0.001, 0.0, 0.0, 0.0], [True, False, True, False], "paid", 0.58, ["default", "paid"])
    assert two.describe(0).endswith("decided: age = 42 and sex = 'f' hardly change the probability of 'paid'.")


def test_a_sentence_says_how_far_each_feature_moves_a_value():
    one = hand_made([-120.0, 50.0, 0.0, 0.0], [True, True, False, False], 1000.0)
    assert one.describe(0).endswith(
        "2 of 4 features decided: age = 42 lowers the prediction from 1120 to 1000; pay = 2.5 raises it from 950."
    )
    assert hand_made([0.0] * 4, [False] * 4, 7.0).describe(0) == "Row 0: predicted y = 7; no feature stood out."


def test_frames_have_a_column_of_effects(explained):
    _, explanation = explained
    frame = explanation[:5].to_frame()
    assert list(frame.columns) == ["row", "feature", "value", "importance", "selected", "effect"]
    np.testing.assert_array_equal(frame["effect"], explanation.effect[:5].reshape(-1))


def test_effects_cost_little_more_than_the_predictions(explained, monkeypatch):
    monkeypatch.setenv("HIDESEEK_NATIVE", "0")  # the library evaluates as many networks, but is not counted
    _, explanation = explained
    work = []
    ensemble = explanation.model._ensemble
    seeks = ensemble.stack.n_members
    assert seeks >= 3

    class Counting(type(ensemble.stack.seek)):
        def forward(self, layers, x):
            work.append(len(layers[0]) * x.shape[2])
            return super().forward(layers, x)

    object.__setattr__(ensemble.stack, "seek", Counting(ensemble.stack.seek.sizes))
    fresh = explanation.model.explain(explanation.data)
    _ = fresh.prediction
    predicted = sum(work)
    work.clear()
    _ = fresh.effect
    assert 0 < sum(work) < 2 * predicted


def test_a_file_whose_effects_do_not_fit_together_is_refused_by_name(tmp_path):
    Explanation(np.ones((2, 2)), np.ones((2, 2), dtype=bool)).save(tmp_path / "odd.npz")
    arrays = read_explanation(tmp_path / "odd.npz")
    arrays |= {"effect_cells": np.eye(2, dtype=bool), "effect_change": np.zeros((3, 1))}
    arrays.pop("format")
    write_explanation(tmp_path / "odd.npz", arrays)
    with pytest.raises(FileFormatError, match=r"odd\.npz.*effects of an explanation do not fit together"):
        Explanation.load(tmp_path / "odd.npz")
