"""What every compared method keeps, whoever wrote it: a new one is covered by being registered."""

import inspect
import pickle
import subprocess
import sys
from importlib.util import find_spec

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.base import clone
from sklearn.exceptions import NotFittedError

import hideseek
from hideseek import InputError, baselines

QUICK = {
    "forest": {"n_estimators": 5},
    "invase": {"iterations": 20},
    "l2x": {"steps": 20},
    "lasso": {},
    "lime": {"num_samples": 100, "epochs": 50},
    "realx": {"epochs": 20},
    "shap": {"rounds": 5},
}
EXTRAS = {"lime": ("lime.lime_tabular",), "shap": ("shap", "xgboost")}
NAMES = ["age", "income", "height", "weight", "luck"]
K = 2
ROWS = 10


@pytest.fixture(scope="module", params=baselines.available())
def method(request):
    if find_spec(f"hideseek.baselines.{request.param}") is None:
        pytest.skip(f"{request.param} is registered and has no module yet")
    return request.param


def parameters(method, **changes):
    takes_k = "k" in inspect.signature(baselines.get(method)).parameters
    return {"random_state": 0, **({"k": K} if takes_k else {}), **QUICK[method], **changes}


def make(method, **changes):
    return baselines.get(method)(**parameters(method, **changes))


def problem(n_classes=2, seed=0):
    X = np.random.default_rng(seed).normal(size=(200, len(NAMES)))
    return X, np.digitize(X[:, 0] + X[:, 1], np.linspace(-1, 1, n_classes + 1)[1:-1])


@pytest.fixture(scope="module", params=[2, 3], ids=["binary", "multiclass"])
def fitted(request, method):
    X, y = problem(request.param)
    return make(method).fit(X, y), X, y


# -- answers ------------------------------------------------------------------------------------------------------


def test_explanations_have_the_shape_of_the_rows_and_finite_importances(fitted):
    model, X, _ = fitted
    explanation = model.explain(X[:ROWS])
    assert explanation.importance.shape == explanation.selected.shape == (ROWS, len(NAMES))
    assert np.isfinite(explanation.importance).all()
    assert (explanation.importance >= 0).all()
    assert explanation.importance_kind == model.importance_kind
    assert explanation.feature_names == ("x1", "x2", "x3", "x4", "x5")
    np.testing.assert_array_equal(explanation.data, X[:ROWS])
    np.testing.assert_array_equal(model.select(X[:ROWS]), explanation.selected)


def test_k_features_are_selected_where_k_is_asked_for(fitted):
    model, X, _ = fitted
    if "k" not in model.get_params():
        pytest.skip("decides for itself how many features to select")
    explanation = model.explain(X[:ROWS])
    assert (explanation.n_selected == K).all()
    lowest = np.where(explanation.selected, explanation.importance, np.inf).min(axis=1)
    assert (np.where(explanation.selected, 0.0, explanation.importance).max(axis=1) <= lowest).all()


def test_probabilities_are_of_the_sorted_classes(fitted):
    model, X, y = fitted
    probability = model.predict_proba(X)
    assert probability.shape == (len(X), len(np.unique(y)))
    np.testing.assert_allclose(probability.sum(axis=1), 1.0, rtol=1e-5)
    np.testing.assert_array_equal(model.predict(X), model.classes_[probability.argmax(axis=1)])
    explanation = model.explain(X[:ROWS])
    np.testing.assert_array_equal(explanation.prediction, model.predict(X[:ROWS]))
    np.testing.assert_allclose(explanation.probability, probability[:ROWS].max(axis=1), rtol=1e-5)


def test_a_row_is_explained_alike_in_any_company(fitted):
    model, X, _ = fitted
    together, alone = model.explain(X[:ROWS]), model.explain(X[3:4])
    np.testing.assert_allclose(together.importance[3:4], alone.importance, rtol=1e-5, atol=1e-7)


def test_the_same_seed_gives_the_same_answer(fitted, method):
    model, X, y = fitted
    again = make(method).fit(X, y)
    np.testing.assert_array_equal(model.explain(X[:ROWS]).importance, again.explain(X[:ROWS]).importance)
    np.testing.assert_array_equal(model.predict_proba(X), again.predict_proba(X))


def test_labels_may_be_words(method):
    X, y = problem()
    model = make(method).fit(X, np.where(y == 1, "yes", "no"))
    assert model.classes_.tolist() == ["no", "yes"]
    assert set(model.predict(X)) <= {"no", "yes"}


def test_constant_columns_do_no_harm(method):
    X, y = problem()
    X[:, 3] = 7.0
    assert np.isfinite(make(method).fit(X, y).explain(X[:ROWS]).importance).all()


@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame], ids=["pandas", "polars"])
def test_frames_give_their_names_and_the_numbers_of_arrays(method, frame):
    X, y = problem()
    table = frame(X, columns=NAMES) if frame is pd.DataFrame else frame(X, schema=NAMES)
    explanation = make(method).fit(table, y).explain(table[:ROWS])
    assert explanation.feature_names == tuple(NAMES)
    assert type(explanation.to_frame()) is frame
    array = make(method).fit(X, y).explain(X[:ROWS])
    np.testing.assert_array_equal(explanation.importance, array.importance)


def test_row_labels_are_those_of_the_frame(method):
    X, y = problem()
    rows = pd.DataFrame(X[:3], columns=NAMES, index=["Ann", "Bob", "Cy"])
    explanation = make(method).fit(pd.DataFrame(X, columns=NAMES), y).explain(rows)
    assert explanation.row_labels.tolist() == ["Ann", "Bob", "Cy"]


def test_an_explanation_keeps_the_predictions_of_its_own_fit(method):
    X, y = problem()
    model = make(method).fit(X, y)
    explanation, before = model.explain(X[:ROWS]), model.predict(X[:ROWS])
    model.fit(X, 1 - y)
    np.testing.assert_array_equal(explanation.prediction, before)


# -- errors -------------------------------------------------------------------------------------------------------


def test_missing_values_are_named(method):
    X, y = problem()
    X[4, 2] = np.nan
    with pytest.raises(InputError, match=r"missing values \(NaN\) in column 2"):
        make(method).fit(X, y)


def test_another_width_is_refused(fitted):
    model, X, _ = fitted
    for ask in (model.explain, model.select, model.predict, model.predict_proba):
        with pytest.raises(InputError, match="4"):
            ask(X[:, :4])


def test_one_class_is_refused(method):
    X, _ = problem()
    with pytest.raises(InputError, match="one class"):
        make(method).fit(X, np.zeros(len(X)))


def test_numbers_are_not_labels(method):
    X, _ = problem()
    with pytest.raises(InputError, match="continuous"):
        make(method).fit(X, X[:, 0])


def test_unfitted_methods_say_so(method):
    X, _ = problem()
    model = make(method)
    for ask in (model.explain, model.select, model.predict, model.predict_proba):
        with pytest.raises(NotFittedError):
            ask(X)


def test_bad_parameters_are_named_in_fit_all_at_once(method):
    wrong = dict.fromkeys(set(make(method).get_params()) - {"verbose"}, "surprise")
    with pytest.raises(InputError) as caught:
        make(method, **wrong).fit(*problem())
    for name in wrong:
        assert f"- {name}='surprise': expected " in str(caught.value)


def test_more_features_than_there_are_cannot_be_selected(method):
    if "k" not in make(method).get_params():
        pytest.skip("decides for itself how many features to select")
    with pytest.raises(InputError, match="k=6: expected a whole number from 1 to 5"):
        make(method, k=len(NAMES) + 1).fit(*problem())


@pytest.mark.parametrize("stop", [KeyboardInterrupt, MemoryError])
def test_a_fit_that_fails_leaves_the_method_unfitted(method, stop, monkeypatch):
    X, y = problem()
    model = make(method).fit(X, y)

    def fail(*_):
        raise stop

    monkeypatch.setattr(type(model), "_fit", fail)
    with pytest.raises(stop, match="not fitted" if stop is KeyboardInterrupt else None):
        model.fit(X, y)
    with pytest.raises(NotFittedError):
        model.explain(X)
    assert not any(name.endswith("_") for name in vars(model))


def test_a_missing_library_is_named_with_its_extra(method, monkeypatch):
    X, y = problem()
    if method not in EXTRAS:
        for libraries in EXTRAS.values():
            for library in libraries:
                monkeypatch.setitem(sys.modules, library, None)
        make(method).fit(X, y).explain(X[:1])
        return
    for library in EXTRAS[method]:
        with monkeypatch.context() as blocked:
            blocked.setitem(sys.modules, library, None)
            expected = rf"needs {library.partition('.')[0]}, .* pip install 'hideseek\[compare\]'"
            with pytest.raises(ModuleNotFoundError, match=expected):
                make(method).fit(X, y)


# -- registry -----------------------------------------------------------------------------------------------------


def test_a_method_is_registered_under_its_class_and_says_what_it_is(method):
    cls = baselines.get(method)
    assert getattr(baselines, cls.__name__) is cls
    assert cls.__name__ in baselines.__all__
    assert cls.citation[-4:].isdigit()
    assert cls.importance_kind


def test_asking_for_a_class_loads_no_extra():
    names = [name for name in baselines.available() if find_spec(f"hideseek.baselines.{name}")]
    code = f"from hideseek import baselines; [baselines.get(name) for name in {names}]; import sys; print(*sys.modules)"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert {"shap", "lime", "xgboost"}.isdisjoint(run.stdout.split())


def test_every_registered_method_has_a_quick_setting():
    assert baselines.available() == tuple(sorted(QUICK))
    assert sorted(baselines.__all__) == baselines.__all__ == dir(baselines)


def test_unknown_names_are_refused_with_a_suggestion():
    with pytest.raises(InputError, match="did you mean 'invase'"):
        baselines.get("invsae")
    with pytest.raises(AttributeError, match="'surprise'"):
        baselines.surprise  # noqa: B018 - the access is what is tested


# -- copies, files, stacks ----------------------------------------------------------------------------------------


def test_copies_answer_alike(fitted):
    model, X, _ = fitted
    again = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(again.explain(X[:ROWS]).importance, model.explain(X[:ROWS]).importance)
    assert clone(model).get_params() == model.get_params()


def test_what_is_saved_is_loaded(fitted, tmp_path):
    model, X, _ = fitted
    if not hasattr(model, "save"):
        pytest.skip("has no file format")
    model.save(tmp_path / "model.safetensors")
    again = hideseek.load(tmp_path / "model.safetensors")
    assert type(again) is type(model)
    np.testing.assert_array_equal(again.explain(X).importance, model.explain(X).importance)
    np.testing.assert_array_equal(again.explain(X).selected, model.explain(X).selected)
    np.testing.assert_array_equal(again.predict_proba(X), model.predict_proba(X))
    np.testing.assert_array_equal(again.predict(X), model.predict(X))


def test_a_stack_of_problems_equals_single_fits(method):
    model = make(method)
    if not hasattr(model, "fit_many"):
        pytest.skip("is fitted one by one")
    prices = [{"penalty": price} for price in (0.0, 0.1, 1.0)] if "penalty" in model.get_params() else [{}] * 3
    problems = [(*problem(seed=seed), seed, changes) for seed, changes in enumerate(prices)]
    for together, (X, y, seed, changes) in zip(model.fit_many(problems), problems, strict=True):
        alone = make(method, random_state=seed, **changes).fit(X, y)
        assert together.get_params() == alone.get_params()
        np.testing.assert_allclose(together.explain(X).importance, alone.explain(X).importance, atol=1e-4)
        np.testing.assert_allclose(together.predict_proba(X), alone.predict_proba(X), atol=1e-4)
