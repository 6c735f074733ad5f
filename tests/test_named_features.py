"""Predictions are made from the features that are named, and from nothing else."""

from copy import copy
from itertools import product

import numpy as np
import pytest

from hideseek import BlackBoxExplainer, HideSeekClassifier, HideSeekRegressor
from hideseek.errors import InputError

# the fits here are too short for masks to settle
pytestmark = pytest.mark.filterwarnings("ignore::hideseek.errors.MaskWarning")

BITS = np.array(list(product([0.0, 1.0], repeat=10)))
"""All rows of ten bits, each as likely as the others: what a set of them tells about y can be enumerated."""
Y = (BITS[:, 0::2] * BITS[:, 1::2]).sum(axis=1) ** 2
SAMPLE = np.random.default_rng(0).integers(0, len(BITS), 3000)

SHORT = {
    "paper": {"steps": 300, "learning_rate": 1e-2, "batch_size": 200},
    "fast": {},
    "balanced": {"steps": 400, "n_members": 5},
    "best": {"steps": 300, "n_members": 4, "penalty": 0.3},
}


def agree(selected):
    """Return which rows have the same values in a row's selected features. Shape: ``(1024, 1024)``."""
    shown = selected.astype(float)
    return (shown * BITS) @ (1 - BITS).T + (shown * (1 - BITS)) @ BITS.T == 0


def error_allowed(alike):
    """Return the smallest squared error of a prediction that is the same for rows that are alike."""
    return ((Y - alike @ Y / alike.sum(axis=1)) ** 2).mean()


def assert_made_from_named_features(predicted, selected):
    """Rows that name the same features and have the same values in them have the same prediction, to the bit."""
    alike = agree(selected) & (selected[:, None] == selected).all(axis=2)
    assert alike.sum() > len(BITS), "the test needs rows that differ in what they do not name"
    rows, others = np.nonzero(alike)
    np.testing.assert_array_equal(predicted[rows], predicted[others])
    assert ((predicted - Y) ** 2).mean() >= error_allowed(alike) - 1e-6, "so it is no better than they allow"


def sparse(model):
    """Return the model at a penalty at which some rows differ in what they do not name."""
    while model.select(BITS).all(axis=1).mean() > 0.5 and model.penalty_ < 1e6:
        model = model.at(penalty=3 * model.penalty_)
    return model


@pytest.mark.parametrize("preset", SHORT)
@pytest.mark.parametrize("seed", [0, 1, 2])
def test_every_preset_can_predict_from_its_named_features_alone(preset, seed):
    model = sparse(HideSeekRegressor(preset, random_state=seed, **SHORT[preset]).fit(BITS[SAMPLE], Y[SAMPLE]))
    selected = model.select(BITS)
    assert_made_from_named_features(model.predict(BITS, shown="selected"), selected)
    with pytest.raises(AssertionError):
        assert_made_from_named_features(model.predict(BITS, shown="mask"), selected)


@pytest.mark.parametrize("seed", range(4))
def test_one_model_predicts_no_better_than_the_values_of_its_named_features_allow(seed):
    model = HideSeekRegressor("fast", random_state=seed).fit(BITS[SAMPLE], Y[SAMPLE])
    error = ((model.predict(BITS) - Y) ** 2).mean()
    assert error >= error_allowed(agree(model.select(BITS))), "not even the choice of the features tells it more"
    assert error < 0.01 * Y.var()


ENSEMBLES = [("balanced", 4), ("balanced", 5), ("best", 2)]


@pytest.fixture(scope="module")
def ensembles():
    return {case: HideSeekRegressor(case[0], random_state=case[1]).fit(BITS[SAMPLE], Y[SAMPLE]) for case in ENSEMBLES}


@pytest.mark.parametrize("case", ENSEMBLES)
def test_an_ensemble_predicts_no_better_than_the_values_of_its_named_features_allow(ensembles, case):
    error = ((ensembles[case].predict(BITS) - Y) ** 2).mean()
    assert error >= error_allowed(agree(ensembles[case].select(BITS)))


@pytest.mark.parametrize("case", ENSEMBLES)
def test_an_ensemble_predicts_well_from_its_named_features(ensembles, case):
    assert ((ensembles[case].predict(BITS) - Y) ** 2).mean() < 0.02 * Y.var()


@pytest.mark.parametrize("seed", [0, 1])
def test_an_imitation_predicts_from_its_named_features_alone(seed):
    def square(X):
        return (X[:, 0::2] * X[:, 1::2]).sum(axis=1) ** 2

    explainer = sparse(BlackBoxExplainer(square, steps=400, n_members=5, random_state=seed).fit(BITS[SAMPLE]))
    predicted = explainer.predict(BITS)
    assert_made_from_named_features(predicted, explainer.select(BITS))
    np.testing.assert_array_equal(explainer.explain(BITS).prediction, predicted)
    own = explainer.fidelity(BITS)["seek"].r2
    assert own == pytest.approx(1 - ((predicted - Y) ** 2).mean() / Y.var(), abs=1e-6)


@pytest.fixture(scope="module")
def ensemble(switch):
    return HideSeekClassifier(steps=150, n_members=3, random_state=0).fit(*switch)


def test_every_way_to_a_prediction_gives_that_of_the_selected_features(ensemble, switch):
    X, y = switch
    named, soft = ensemble.predict_proba(X), ensemble.predict_proba(X, shown="mask")
    assert not np.allclose(named, soft)
    np.testing.assert_array_equal(named, ensemble.predict_proba(X, shown="selected"))
    np.testing.assert_array_equal(ensemble.predict(X), named.argmax(axis=1))
    assert ensemble.score(X, y) == (named.argmax(axis=1) == y).mean()
    np.testing.assert_array_equal(ensemble.explain(X).probability, named.max(axis=1))
    explanation = ensemble.explain(X, shown="mask")
    np.testing.assert_array_equal(explanation.probability, soft.max(axis=1))
    np.testing.assert_array_equal(explanation.model.predict_proba(X), soft)
    np.testing.assert_array_equal(ensemble.predict(X, shown="mask"), soft.argmax(axis=1))


def test_the_threshold_decides_what_a_prediction_is_made_from(ensemble, switch):
    X = switch[0]
    strict = copy(ensemble).set_params(threshold=0.999)
    answers = strict.predict_proba(X)[~strict.select(X).any(axis=1)]
    assert len(answers) > 100
    assert (answers == answers[0]).all(), "rows that name nothing look alike"


def test_the_preset_paper_predicts_from_masks_as_published(switch):
    X, y = switch
    model = HideSeekClassifier("paper", steps=30, random_state=0).fit(X, y)
    soft, named = model.predict_proba(X, shown="mask"), model.predict_proba(X, shown="selected")
    assert not np.allclose(soft, named)
    np.testing.assert_array_equal(model.predict_proba(X), soft)
    np.testing.assert_array_equal(model.explain(X).probability, soft.max(axis=1))


def test_another_word_for_what_is_shown_is_refused(ensemble, switch):
    with pytest.raises(InputError, match=r"shown='masks'.*'selected' or 'mask'"):
        ensemble.predict_proba(switch[0], shown="masks")
    with pytest.raises(InputError, match="shown"):
        ensemble.explain(switch[0], shown=True)
