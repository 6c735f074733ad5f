"""What is measured of many tables at once, as on a GPU, is what is measured of each by itself."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
import torch

from hideseek import HideSeekClassifier, HideSeekRegressor
from hideseek.engine import device, questions
from hideseek.search import choice, fitting
from hideseek.search.choice import choose_price, judge
from hideseek.search.held_out import Fitted, measure_trust
from hideseek.search.parts import LearnedFrom, Part, folds_of

pytestmark = pytest.mark.filterwarnings("ignore::hideseek.errors.HideSeekWarning")

QUICK = {"preset": "fast", "steps": 40, "batch_size": 64, "penalty": None}


def numbers(seed, n_rows=300):
    X = np.random.default_rng(seed).normal(size=(n_rows, 5))
    X[:, 3] = X[:, 0] + 0.3 * X[:, 3]
    return X, np.where(X[:, 2] > 0, X[:, 0], X[:, 1])


def classes(seed, n_rows=300, cuts=(0.0,)):
    X, value = numbers(seed, n_rows)
    return X, np.digitize(value, cuts)


def categories(seed):
    X, value = numbers(seed)
    frame = pd.DataFrame(X[:, :3], columns=list("abc")).assign(
        d=np.array(["x", "y", "z"])[np.digitize(X[:, 3], (0, 1))]
    )
    return frame, (value > 0).astype(int)


CASES = {
    "several ranges": (HideSeekClassifier, classes, {"preset": "balanced"}),
    "three classes": (HideSeekClassifier, lambda seed: classes(seed, cuts=(-0.5, 0.5)), {}),
    "values": (HideSeekRegressor, numbers, {}),
    "values that are skewed": (HideSeekRegressor, lambda seed: (np.exp(2 * numbers(seed)[0]), numbers(seed)[1]), {}),
    "features of several columns": (HideSeekClassifier, categories, {}),
    "folds with different numbers of members": (HideSeekClassifier, classes, {"n_members": 7, "column_fraction": 0.7}),
    "folds without a member": (HideSeekClassifier, classes, {"n_members": 3}),
    "class weights": (HideSeekClassifier, classes, {"class_weight": {0: 1.0, 1: 3.0}}),
    "knockoffs": (HideSeekClassifier, classes, {"replacement": "gaussian_knockoff"}),
    "too few rows for folds": (HideSeekClassifier, lambda seed: classes(seed, 18), {}),
    "one price and rows held out": (HideSeekClassifier, classes, {"preset": "paper", "validation_fraction": 0.2}),
}


def assert_same_trust(one, other):
    assert one.n_rows == other.n_rows
    for name, figure in one.to_dict().items():
        if isinstance(figure, float):
            assert getattr(other, name) == pytest.approx(figure, rel=1e-5, abs=1e-7), name
    assert one.warnings == other.warnings


@pytest.mark.parametrize("case", CASES)
def test_tables_that_are_asked_together_learn_what_tables_asked_one_by_one_do(case, monkeypatch):
    kind, make, parameters = CASES[case]
    method = kind(**{**QUICK, **parameters})
    problems = [(*make(seed), seed, {}) for seed in range(3)]
    one_by_one = method.fit_many(problems)
    monkeypatch.setitem(questions._CELLS, "cpu", 2**26)
    for together, alone in zip(method.fit_many(problems), one_by_one, strict=True):
        assert together.penalty_ == alone.penalty_
        assert (together.learned_.stand_ins or {}).keys() == (alone.learned_.stand_ins or {}).keys()
        assert_same_trust(together.trust_, alone.trust_)
        if alone.learned_.path is not None:
            assert together.path_.chosen == alone.path_.chosen
            for name, column in alone.path_.columns().items():
                np.testing.assert_allclose(together.path_.columns()[name], column, rtol=1e-5, atol=1e-6, err_msg=name)


@pytest.fixture(scope="module")
def fitted():
    """Three ensembles, each at its price, with their tables."""
    problems = [(*classes(seed), seed, {}) for seed in range(3)]
    models = HideSeekClassifier(**QUICK, n_members=6).fit_many(problems)
    found = []
    for model, (X, y, seed, _) in zip(models, problems, strict=True):
        x = torch.from_numpy(model._ensemble.scaler.transform(X))
        found.append(Fitted(model._ensemble, LearnedFrom(Part(X, y, None), x, folds_of(y, seed)), None))
    return found


@pytest.mark.parametrize("at_once", [2, 64])
def test_many_ensembles_are_judged_as_each_alone(fitted, at_once, monkeypatch):
    settings = {"loss": "cross_entropy", "threshold": 0.5}
    alone = [judge([one.ensemble], [one.table], **settings)[0] for one in fitted]
    monkeypatch.setitem(questions._CELLS, "cpu", 2**26)
    monkeypatch.setattr(choice, "_AT_ONCE", at_once)
    together = judge([one.ensemble for one in fitted], [one.table for one in fitted], **settings)
    for one, other in zip(alone, together, strict=True):
        for name in ("mean_loss", "error", "excess_error", "score"):
            np.testing.assert_allclose(getattr(other, name), getattr(one, name), rtol=1e-5, atol=1e-6, err_msg=name)
        np.testing.assert_array_equal(other.n_selected, one.n_selected)
        np.testing.assert_allclose(other.disagreement, one.disagreement, atol=1e-6)
        paths = [choose_price(each, loss="cross_entropy", n_given=5) for each in (one, other)]
        assert paths[0].chosen == paths[1].chosen


def test_trust_of_many_ensembles_is_that_of_each_alone(fitted, monkeypatch):
    settings = {"loss": "cross_entropy", "threshold": 0.5, "n_draws": 16}
    alone = [measure_trust([one], **settings)[0] for one in fitted]
    nothing = replace(fitted[1].table, fold=None)
    monkeypatch.setitem(questions._CELLS, "cpu", 2**26)
    some = [fitted[0], fitted[1]._replace(table=nothing), fitted[2]]
    for one, other in zip(alone, measure_trust(fitted, **settings), strict=True):
        assert_same_trust(one, other)
    assert [trust.n_rows for trust in measure_trust(some, **settings)] == [300, 0, 300]


def test_work_of_single_tables_is_the_same_on_threads(monkeypatch):
    problems, method = [(*classes(seed), seed, {}) for seed in range(3)], HideSeekClassifier(**QUICK)
    alone = method.fit_many(problems)
    monkeypatch.setattr(
        fitting, "for_each_table", lambda work, cases, _: device.for_each_table(work, cases, torch.device("cuda"))
    )
    for one, other, (X, *_) in zip(alone, method.fit_many(problems), problems, strict=True):
        assert other.penalty_ == one.penalty_
        np.testing.assert_array_equal(other.explain(X).importance, one.explain(X).importance)
