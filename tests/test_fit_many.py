"""Many problems as one stack: every model is what its own fit would have made it."""

import pickle

import numpy as np
import pytest
import torch
from sklearn.base import clone

import hideseek
from hideseek import HideSeekClassifier, HideSeekRegressor, HideSeekWarning, InputError

COLUMNS = 6
QUICK = {"preset": "fast", "steps": 60, "batch_size": 64, "random_state": 0}

pytestmark = pytest.mark.filterwarnings("ignore::hideseek.errors.MaskWarning")


def problem(seed, kind="binary", rows=300):
    X = np.random.default_rng(seed).normal(size=(rows, COLUMNS))
    U = np.where(X[:, 2] > 0, X[:, 0], X[:, 1])
    cuts = {"binary": [0.0], "multiclass": [-0.5, 0.5]}
    return X, (U * 10 if kind == "regression" else np.digitize(U, cuts[kind]))


CASES = {
    "one member": (HideSeekClassifier, "binary", {}),
    "full batch": (HideSeekClassifier, "binary", {"batch_size": "full", "steps": 20}),
    "ensemble": (HideSeekClassifier, "binary", {"n_members": 3}),
    "column subsampling": (HideSeekClassifier, "binary", {"n_members": 4, "column_fraction": 0.6}),
    "multiclass": (HideSeekClassifier, "multiclass", {"n_members": 2}),
    "class weights": (HideSeekClassifier, "binary", {"class_weight": "balanced"}),
    "regression": (HideSeekRegressor, "regression", {"n_members": 2, "column_fraction": 0.8}),
    "rows held out": (HideSeekClassifier, "binary", {"validation_fraction": 0.2, "epochs": 5, "steps": None}),
    "gaussian knockoffs": (HideSeekClassifier, "binary", {"replacement": "gaussian_knockoff", "n_members": 2}),
    "deep knockoffs": (HideSeekClassifier, "binary", {"replacement": "deep_knockoff", "steps": 20}),
    "conditional": (HideSeekClassifier, "binary", {"preset": "paper", "replacement": "conditional", "n_members": 2}),
}


@pytest.mark.parametrize("case", CASES)
def test_a_stack_of_problems_equals_single_fits(case):
    cls, kind, parameters = CASES[case]
    method = cls(**{**QUICK, **parameters})
    changes = [{"penalty": 0.0}, {}, {"penalty": 0.8}]
    problems = [(*problem(seed, kind), seed + 10, change) for seed, change in enumerate(changes)]
    for together, (X, y, seed, change) in zip(method.fit_many(problems), problems, strict=True):
        alone = clone(method).set_params(random_state=seed, **change).fit(X, y)
        assert together.get_params() == alone.get_params()
        assert together.penalty_ == alone.penalty_
        assert together.recipe_ == alone.recipe_
        assert together.history_.keys() == alone.history_.keys()
        for name, column in alone.history_.items():
            np.testing.assert_allclose(together.history_[name], column, atol=1e-3, err_msg=name)
        np.testing.assert_allclose(together.explain(X).importance, alone.explain(X).importance, atol=1e-3)
        outputs = [model.predict(X) if kind == "regression" else model.predict_proba(X) for model in (together, alone)]
        np.testing.assert_allclose(*outputs, rtol=1e-3, atol=1e-2)


def test_results_come_in_the_order_of_the_problems_and_of_their_rows():
    X, y = problem(0)
    backwards = (X[::-1].copy(), y[::-1].copy(), 3, {})
    first, second, third = HideSeekClassifier(**QUICK).fit_many([(X, y, 3, {}), backwards, (X, 1 - y, 4, {})])
    again = HideSeekClassifier(**QUICK).fit_many([(X, 1 - y, 4, {}), (X, y, 3, {}), backwards])
    for one, other in zip((third, first, second), again, strict=True):
        np.testing.assert_allclose(one.explain(X).importance, other.explain(X).importance, atol=1e-3)
    # Batches are drawn by the number of the row, so the order of the rows is part of the problem.
    assert np.abs(first.explain(X).importance - second.explain(X).importance).max() > 1e-3


def test_a_column_constant_in_one_table_alone_is_hidden_there_alone():
    (X, y), (other, labels) = problem(0), problem(1)
    X[:, 4] = 7.0
    with pytest.warns(HideSeekWarning, match="constant columns are never selected: x5"):
        first, second = HideSeekClassifier(**QUICK).fit_many([(X, y, 0, {}), (other, labels, 0, {})])
    assert (first.explain(other).importance[:, 4] == 0).all()
    assert (second.explain(other).importance[:, 4] > 0).any()


def test_a_model_of_a_stack_is_a_model_of_its_own(tmp_path):
    X, y = problem(0)
    method = HideSeekClassifier(**QUICK)
    models = method.fit_many([(X, y, seed, {}) for seed in range(8)])
    single = method.fit(X, y)
    assert len(pickle.dumps(models[0])) < 1.1 * len(pickle.dumps(single))
    models[3].save(tmp_path / "model.safetensors")
    loaded = hideseek.load(tmp_path / "model.safetensors")
    np.testing.assert_array_equal(loaded.explain(X).importance, models[3].explain(X).importance)


@pytest.mark.parametrize(
    ("others", "counts"),
    [
        ((*problem(1, rows=301), 0, {}), "2 shapes and 1 sets"),
        ((*problem(1, "multiclass"), 0, {}), "2 shapes and 1 sets"),
        ((*problem(1), 0, {"steps": 7}), "1 shapes and 2 sets"),
    ],
    ids=["rows", "classes", "parameters"],
)
def test_problems_that_cannot_share_a_stack_are_refused(others, counts):
    with pytest.raises(InputError, match=f"{counts} of parameters came: call fit_many for each"):
        HideSeekClassifier(**QUICK).fit_many([(*problem(0), 0, {}), others])


def test_the_method_itself_stays_unfitted_and_bad_parameters_are_named():
    method = HideSeekClassifier(**QUICK)
    method.fit_many([(*problem(0), 0, {})])
    assert not method.__sklearn_is_fitted__()
    with pytest.raises(InputError, match="penalty=-1"):
        method.fit_many([(*problem(0), 0, {"penalty": -1})])


def test_warnings_of_problems_point_at_the_caller_in_order_though_other_threads_find_them(monkeypatch):
    monkeypatch.setattr("hideseek.estimators._many.resolve_device", lambda device: torch.device("cuda"))
    problems = [(*problem(seed, rows=100), seed, {}) for seed in range(6)]
    for seed, (X, _, _, _) in enumerate(problems):
        X[:, seed] = 1.0
    with pytest.warns(HideSeekWarning) as caught:
        HideSeekClassifier(**QUICK, device="cpu").fit_many(problems)
    of_columns = [each for each in caught if "constant" in str(each.message)]
    assert [str(each.message).split(": ")[1] for each in of_columns] == [f"x{seed + 1}" for seed in range(6)]
    assert {each.filename for each in of_columns} == {__file__}
