import inspect

import numpy as np
import pandas as pd
import polars as pl
import pytest
import torch
import xgboost
from sklearn.base import clone
from sklearn.compose import ColumnTransformer
from sklearn.dummy import DummyClassifier
from sklearn.ensemble import RandomForestClassifier
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder
from sklearn.svm import LinearSVC

import hideseek
from hideseek import BlackBoxExplainer, HideSeekRegressor, InputError
from hideseek.engine.recipe import PRICE_PER_FEATURE

# the fits here are too short for masks to settle
pytestmark = pytest.mark.filterwarnings("ignore::hideseek.errors.MaskWarning")

QUICK = {"preset": "fast", "steps": 30, "random_state": 0}
FAST = {"preset": "fast", "random_state": 0}


class Box:
    """A function of x1 to x3, a switch, that remembers what it was asked."""

    def __init__(self):
        self.asked = []

    def __call__(self, X):
        self.asked.append(X)
        x1, x2, x3 = np.asarray(X, dtype=float)[:, :3].T
        return 1 / (1 + np.exp(-4 * np.where(x3 > 0, x1, x2)))


@pytest.fixture(scope="module")
def rows(switch):
    return switch[0]


@pytest.fixture(scope="module")
def box():
    return Box()


@pytest.fixture(scope="module")
def explainer(rows, box):
    return BlackBoxExplainer(box, **FAST).fit(rows)


def test_the_features_a_function_used_are_found_row_by_row(rows, explainer):
    selected = explainer.select(rows)
    high = rows[:, 2] > 0.3
    assert selected[high][:, [0, 2]].mean() > 0.95
    assert selected[rows[:, 2] < -0.3][:, [1, 2]].mean() > 0.95
    assert selected[:, 3].mean() < 0.02
    assert selected[high, 1].mean() < 0.3
    np.testing.assert_array_equal(explainer.explain(rows).selected, selected)


def test_it_is_the_model_that_is_explained_and_not_the_truth(rows, switch):
    _, y = switch
    wrong = LogisticRegression().fit(rows[:, [3]], rows[:, 3] > 0)
    explainer = BlackBoxExplainer(lambda X: wrong.predict_proba(X[:, [3]]), **FAST).fit(rows, y)
    assert explainer.select(rows).mean(axis=0)[3] > 0.95
    assert explainer.select(rows)[:, :3].mean() < 0.05


def test_fidelity_is_high_for_what_was_selected_and_low_for_random_features(explainer):
    kept = explainer.fidelity_
    assert list(kept) == ["seek", "selected", "random"]
    assert kept["seek"].r2 > 0.9
    assert kept["selected"].agreement > 90
    assert kept["selected"].r2 > 0.9 > 0.5 > kept["random"].r2
    assert kept["selected"].kl < kept["random"].kl / 3


def test_fidelity_is_measured_on_rows_that_were_not_fitted(rows):
    box = Box()
    explainer = BlackBoxExplainer(box, **QUICK, validation_fraction=0.25).fit(rows)
    fitted, judged = box.asked[0], box.asked[1]
    np.testing.assert_array_equal(fitted, rows)
    assert len(judged) == 500
    background = {tuple(row) for row in explainer.background_}
    assert len(background) == 1000
    assert background.isdisjoint(map(tuple, judged))


def test_calls_and_rows_are_counted(rows):
    box = Box()
    explainer = BlackBoxExplainer(box, **QUICK).fit(rows)
    assert explainer.n_calls_ == len(box.asked) == 1 + 2 + 2 * 10
    assert explainer.n_rows_asked_ == sum(map(len, box.asked)) == 2000 + 200 * 22
    explainer.fidelity(rows[:50], n_draws=3)
    assert explainer.n_calls_ == len(box.asked) == 23 + 8
    assert explainer.n_rows_asked_ == sum(map(len, box.asked))
    explainer.explain(rows)
    explainer.predict(rows)
    assert len(box.asked) == 31
    once = BlackBoxExplainer(box, **QUICK, validation_fraction=0.0).fit(rows)
    assert (once.n_calls_, once.n_rows_asked_, once.fidelity_) == (1, 2000, None)


def test_other_methods_stand_beside_it(rows, explainer):
    importance = np.tile([0.0, 0.0, 0.0, -1.0], (100, 1))  # the column that is not used
    kept = explainer.fidelity(rows[:100], {"theirs": importance})
    assert list(kept) == ["seek", "selected", "random", "theirs"]
    assert kept["theirs"].r2 < kept["selected"].r2 - 0.3


def test_frames_reach_the_model_as_they_are(rows):
    frame = pd.DataFrame(rows[:400], columns=list("abcd"), index=np.arange(400) + 7).astype({"d": "float32"})
    box = Box()
    explainer = BlackBoxExplainer(box, **QUICK).fit(frame)
    assert box.asked[0] is frame
    for asked in box.asked:
        pd.testing.assert_series_equal(asked.dtypes, frame.dtypes)
    assert explainer.explain(frame).row_labels[0] == 7
    assert explainer.feature_names_in_.tolist() == list("abcd")
    many = pl.DataFrame(rows[:400], schema=list("abcd"))
    box = Box()
    BlackBoxExplainer(box, **QUICK).fit(many)
    assert all(isinstance(asked, pl.DataFrame) and asked.schema == many.schema for asked in box.asked)


def test_a_pipeline_with_a_one_hot_step_is_explained_by_its_own_columns(rows):
    frame = pd.DataFrame(rows[:1000], columns=list("abcd"))
    frame["kind"] = np.arange(1000) % 3 + 1
    y = np.where(frame["kind"] == 2, frame["a"], -frame["a"]) > 0
    one_hot = ColumnTransformer([("kinds", OneHotEncoder(), ["kind"])], remainder="passthrough")
    model = make_pipeline(one_hot, RandomForestClassifier(30, max_depth=6, random_state=0)).fit(frame, y)
    explainer = BlackBoxExplainer(model, **FAST).fit(frame)
    often = dict(zip(frame.columns, explainer.select(frame).mean(axis=0), strict=True))
    assert min(often["a"], often["kind"]) > 0.9
    assert max(often["b"], often["c"], often["d"]) < 0.2
    assert explainer.classes_.dtype == bool
    assert explainer.fidelity_["selected"].agreement > 85


def test_labels_are_those_of_the_model(rows):
    names = np.array(["no", "yes", "maybe"])[np.digitize(rows[:, 0], [-0.5, 0.5])]
    for model in (LogisticRegression(), LinearSVC()):  # the second gives no probabilities
        explainer = BlackBoxExplainer(model.fit(rows, names), **QUICK).fit(rows)
        assert explainer.classes_.tolist() == ["maybe", "no", "yes"]
        assert explainer.predict_proba(rows).shape == (2000, 3)
        assert set(explainer.predict(rows)) <= set(names)
        assert (explainer.predict(rows) == model.predict(rows)).mean() > 0.6


@pytest.mark.parametrize("scale", [1.0, 1e6])
def test_values_are_explained_in_their_own_unit(rows, scale):
    explainer = BlackBoxExplainer(lambda X: scale * (np.where(X[:, 2] > 0, X[:, 0], X[:, 1]) + 50), **FAST)
    explainer.fit(rows)
    assert explainer.task_ == "regression"
    assert explainer.fidelity_["selected"].r2 > 0.95
    assert abs(explainer.predict(rows).mean() / scale - 50) < 0.2
    assert not hasattr(explainer, "predict_proba")
    assert explainer.explain(rows[:3]).probability is None


def test_the_task_is_the_models_or_the_answers_or_as_told(rows):
    share = 1 / (1 + np.exp(-rows[:, 0]))
    regressor = HideSeekRegressor("fast", steps=200, random_state=0).fit(rows, share)
    tasks = {
        "by the model": BlackBoxExplainer(LinearRegression().fit(rows, 0.2 + 0.01 * rows[:, 0])),
        "ours": BlackBoxExplainer(regressor),
        "as told": BlackBoxExplainer(lambda X: 1 / (1 + np.exp(-X[:, 0])), task="regression"),
        "by the answers": BlackBoxExplainer(lambda X: 1 / (1 + np.exp(-X[:, 0]))),
    }
    found = {name: one.set_params(**QUICK).fit(rows).task_ for name, one in tasks.items()}
    assert found == {
        "by the model": "regression", "ours": "regression", "as told": "regression", "by the answers": "classification"
    }  # fmt: skip


def test_xgboost_and_its_boosters(rows, switch):
    frame, y = pd.DataFrame(rows, columns=list("abcd")), switch[1]
    model = xgboost.XGBClassifier(n_estimators=5, max_depth=3).fit(frame, y)
    whole, booster = (BlackBoxExplainer(one, **QUICK).fit(frame) for one in (model, model.get_booster()))
    assert (whole.task_, booster.task_) == ("classification", "classification")
    np.testing.assert_allclose(whole.predict_proba(frame), booster.predict_proba(frame), atol=1e-5)


def test_torch_modules_are_asked_in_evaluation_and_left_as_they_were(rows):
    module = torch.nn.Sequential(torch.nn.Linear(4, 2), torch.nn.Dropout(0.9), torch.nn.Softmax(dim=1))
    with torch.no_grad():
        module[0].weight[:] = torch.tensor([[3.0, 0.0, 0.0, 0.0], [-3.0, 0.0, 0.0, 0.0]])
    module[0].eval()
    for table in (rows, pd.DataFrame(rows), torch.from_numpy(rows)):
        explainer = BlackBoxExplainer(module, **QUICK).fit(table)
        assert explainer.fidelity_["seek"].agreement > 80  # with nine tenths dropped, answers would be noise
        assert [part.training for part in module] == [False, True, True]


def test_an_unsure_model_is_explained_as_well_as_a_sure_one(rows, explainer):
    sure = Box()
    unsure = BlackBoxExplainer(lambda X: 0.4 + 0.2 * sure(X), **FAST).fit(rows)
    assert unsure.penalty_ < explainer.penalty_ / 20
    assert (unsure.select(rows) == explainer.select(rows)).mean() > 0.95
    answers = sure(rows)
    known = answers * np.log(answers / answers.mean()) + (1 - answers) * np.log((1 - answers) / (1 - answers.mean()))
    published = BlackBoxExplainer(sure, "paper", steps=2, validation_fraction=0.0, random_state=0).fit(rows)
    assert published.penalty_ == pytest.approx(4 * PRICE_PER_FEATURE * known.mean(), rel=1e-6)
    assert BlackBoxExplainer(sure, **QUICK, penalty=0.7).fit(rows).penalty_ == 0.7


def test_the_same_seed_gives_the_same_answer(rows, box, explainer):
    again = clone(explainer).fit(rows)
    np.testing.assert_array_equal(again.explain(rows).importance, explainer.explain(rows).importance)
    assert again.fidelity_ == explainer.fidelity_


def test_a_clone_keeps_the_fitted_model(rows, switch):
    model = LogisticRegression().fit(*switch)
    explainer = BlackBoxExplainer(model, **QUICK).fit(rows)
    copied = clone(explainer)
    assert copied.model is model
    assert not hasattr(copied, "task_")
    assert {**copied.get_params(deep=False)} == explainer.get_params(deep=False)
    copied.set_params(penalty=0.5, task="classification").fit(rows)


def test_weights_leave_rows_out(rows):
    box = Box()
    weight = np.r_[np.ones(500), np.zeros(1500)]
    explainer = BlackBoxExplainer(box, **QUICK).fit(rows, sample_weight=weight)
    np.testing.assert_array_equal(box.asked[0], rows[:500])
    seen = {tuple(row) for row in rows[:500]}
    assert {tuple(row) for row in explainer.background_} | {tuple(row) for row in box.asked[1]} == seen


def test_many_tables_are_fitted_as_one_stack(rows, box):
    first, second = BlackBoxExplainer(box, **QUICK).fit_many([(rows[:900], None, 0, {}), (rows[900:1800], None, 1, {})])
    alone = BlackBoxExplainer(box, **QUICK).fit(rows[:900])
    np.testing.assert_allclose(first.explain(rows).importance, alone.explain(rows).importance, atol=1e-4)
    assert first.fidelity_["seek"].r2 == pytest.approx(alone.fidelity_["seek"].r2, abs=1e-3)
    assert second.n_calls_ == 23


@pytest.mark.parametrize("task", ["classification", "regression"])
def test_a_saved_explainer_explains_without_the_model(rows, tmp_path, task):
    explainer = BlackBoxExplainer(Box(), **QUICK, task=task).fit(rows)
    explainer.save(tmp_path / "box.safetensors")
    again = hideseek.load(tmp_path / "box.safetensors")
    np.testing.assert_array_equal(again.explain(rows).importance, explainer.explain(rows).importance)
    np.testing.assert_array_equal(again.predict(rows), explainer.predict(rows))
    assert again.get_params() == {**explainer.get_params(), "model": None}
    assert (again.task_, again.n_calls_, again.n_rows_asked_) == (task, 23, 6400)
    assert repr(again.fidelity_) == repr(explainer.fidelity_)
    with pytest.raises(InputError, match=r"a file does not hold.*set_params\(model=\.\.\.\)"):
        again.fidelity(rows[:20])
    assert again.set_params(model=Box()).fidelity(rows[:20])["seek"].r2 == pytest.approx(
        explainer.fidelity(rows[:20])["seek"].r2
    )


@pytest.mark.parametrize(
    ("model", "words"),
    [
        (None, ["None came"]),
        (LogisticRegression, ["the class LogisticRegression"]),
        (object(), ["neither predict_proba nor predict", "object"]),
        (lambda X: X[:-1, 0], ["asked about 2000 rows", "(1999,)"]),
        (lambda X: X[:, 0] / 0 * 0, ["NaN", "2000 of 2000"]),
        (lambda X: X, ["4 numbers for each row", "softmax"]),
        (lambda X: np.where(X[:, 0] > 0, "yes", "no"), ["must give numbers"]),
        (DummyClassifier().fit([[0], [1]], [0, 1]), ["the same answer for all 2000 rows"]),
        (lambda X: np.full(len(X), 3.0), ["the same answer"]),
    ],
)
@pytest.mark.filterwarnings("ignore:invalid value", "ignore:divide by zero")
def test_a_model_that_cannot_be_explained_is_named(rows, model, words):
    explainer = BlackBoxExplainer(model, **QUICK)
    with pytest.raises(InputError) as caught:
        explainer.fit(rows)
    assert all(word in str(caught.value) for word in words), caught.value
    with pytest.raises(NotFittedError):
        explainer.explain(rows)


def test_wrong_tables_are_refused_before_the_model_is_asked(rows):
    box = Box()
    for X, words in ((rows[:, 0], "2D"), (None, "2D|array"), (pl.LazyFrame({"a": [1.0]}), "collect")):
        with pytest.raises(InputError, match=words):
            BlackBoxExplainer(box, **QUICK).fit(X)
    assert box.asked == []
    with pytest.raises(InputError, match="task='guess'"):
        BlackBoxExplainer(box, **QUICK, task="guess").fit(rows)


def test_an_error_of_the_model_says_that_it_was_asked(rows):
    def broken(X):
        raise KeyError("age")

    with pytest.raises(KeyError) as caught:
        BlackBoxExplainer(broken, **QUICK).fit(rows)
    assert "about 2000 rows" in caught.value.__notes__[0]


def test_it_has_every_parameter_of_the_estimators():
    theirs = inspect.signature(HideSeekRegressor).parameters
    ours = inspect.signature(BlackBoxExplainer).parameters
    assert set(ours) - set(theirs) == {"model", "task"}
    assert set(theirs) <= set(ours)
    differing = {name for name in theirs if theirs[name].default != ours[name].default}
    assert differing == {"validation_fraction"}
