"""Tables, rows and targets as users pass them."""

from datetime import timedelta
from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pytest
import torch
from scipy.sparse import csr_array, csr_matrix
from sklearn.compose import make_column_transformer
from sklearn.ensemble import RandomForestClassifier
from sklearn.feature_selection import RFE, SelectFromModel
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder

import hideseek
from hideseek import (
    BlackBoxExplainer,
    Explanation,
    HideSeekClassifier,
    HideSeekRegressor,
    HideSeekWarning,
    InputError,
    baselines,
    tables,
)
from hideseek.report.page.model import page_model
from hideseek.tables import names_of_fit

STORED = Path(__file__).parent / "data"
QUICK = {"preset": "fast", "steps": 30, "random_state": 0}
NAMES = ["age", "pay", "sex", "bill"]

pytestmark = pytest.mark.filterwarnings("ignore::hideseek.errors.MaskWarning")


@pytest.fixture(scope="module")
def wide():
    """Skewed numbers in more columns than screening leaves alone; the median is far from the mean."""
    X = np.random.default_rng(0).exponential(size=(301, 40))
    return X, (X[:, 3] > 1).astype(int)


@pytest.fixture(scope="module")
def screened(wide):
    return HideSeekClassifier(**QUICK).fit(*wide)


@pytest.fixture(scope="module")
def frame(switch):
    return pd.DataFrame(switch[0], columns=NAMES)


@pytest.fixture(scope="module")
def named(switch, frame):
    return HideSeekClassifier(**QUICK).fit(frame, pd.Series(switch[1], name="default"))


@pytest.fixture(scope="module")
def people():
    """Rows of every kind of value, and a model of them."""
    rng = np.random.default_rng(0)
    table = pd.DataFrame(
        {
            "age": rng.normal(40, 12, 400).round(),
            "town": rng.choice(["Bern", "Rome"], 400),
            "since": pd.Timestamp("2020-01-01") + pd.to_timedelta(rng.integers(0, 999, 400), unit="D"),
            "wait": pd.to_timedelta(rng.integers(0, 99, 400), unit="h"),
            "member": rng.random(400) < 0.5,
        }
    )
    return table, HideSeekClassifier(**QUICK).fit(table, table["age"] > 40)


# -- missing numbers ----------------------------------------------------------------------------------------------


def with_one_missing(X, column):
    rows = X[:5].copy()
    rows[0, column] = np.nan
    filled = rows.copy()
    filled[0, column] = np.median(X[:, column])
    return rows, filled


def test_a_screened_model_of_numbers_fills_missing_values_with_the_training_median(wide, screened, tmp_path):
    X, _ = wide
    screened.save(tmp_path / "model.safetensors")
    loaded = hideseek.load(tmp_path / "model.safetensors")
    kept = np.flatnonzero(screened.screening_.kept)
    dropped = np.flatnonzero(~screened.screening_.kept)
    assert len(kept) < X.shape[1]
    for column in (kept[0], dropped[0]):
        rows, filled = with_one_missing(X, column)
        for model in (screened, loaded):
            with pytest.warns(HideSeekWarning, match=f"'x{column + 1}' .1 rows"):
                explanation = model.explain(rows)
            np.testing.assert_array_equal(explanation.importance, screened.explain(filled).importance)
            np.testing.assert_array_equal(explanation.data, rows)
            with pytest.warns(HideSeekWarning, match="median"):
                np.testing.assert_array_equal(model.predict_proba(rows), screened.predict_proba(filled))
            with pytest.warns(HideSeekWarning, match="median"):
                np.testing.assert_array_equal(model.select(rows), screened.select(filled))
            with pytest.warns(HideSeekWarning, match="median"):
                shown = model.transform(rows)
            assert np.isnan(shown[0, column])


def test_numeric_and_mixed_tables_the_page_and_files_share_one_fill(wide, screened):
    X, y = wide
    medians = np.median(X, axis=0)
    np.testing.assert_array_equal(screened.encoder_.fills, medians)
    mixed = HideSeekClassifier(**QUICK).fit(
        pd.DataFrame(X).add_prefix("c").assign(town=["a", "b", "b"] * 100 + ["a"]), y
    )
    np.testing.assert_array_equal(mixed.encoder_.fills[:40], medians)
    page = page_model(screened)["encoder"]["columns"]
    kept = np.flatnonzero(screened.screening_.kept)
    assert [column["fill"] for column in page] == medians[kept].tolist()


@pytest.mark.parametrize("name", ["classifier", "regressor", "black_box"])
def test_files_without_medians_fill_with_what_they_know(name):
    model = hideseek.load(STORED / f"format_1_{name}.safetensors")
    np.testing.assert_array_equal(model.encoder_.fills, model._ensemble.scaler.center)
    with pytest.warns(HideSeekWarning, match="missing"):
        assert np.isfinite(model.explain(dict(zip(names_of_fit(model), [np.nan, 0, 1], strict=True))).importance).all()


def test_masked_cells_are_missing_values(switch, model):
    X = np.ma.MaskedArray(switch[0][:3], mask=np.eye(3, 4))
    with pytest.warns(HideSeekWarning, match="'x1' .1 rows"):
        data = model.explain(X).data
    assert np.isnan(data).sum() == 3


# -- columns by name ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "library", [lambda frame: frame, pl.from_pandas, lambda frame: pl.from_pandas(frame).to_arrow()]
)
def test_columns_in_another_order_are_matched_by_name_silently(frame, named, library):
    expected = named.explain(frame[:20])
    moved = library(frame[NAMES[::-1]][:20])
    explanation = named.explain(moved)
    np.testing.assert_array_equal(explanation.importance, expected.importance)
    np.testing.assert_array_equal(explanation.data, expected.data)
    np.testing.assert_array_equal(named.predict_proba(moved), named.predict_proba(frame[:20]))
    np.testing.assert_array_equal(named.select(moved), expected.selected)
    np.testing.assert_array_equal(named.transform(moved), named.transform(frame[:20]))


def test_extra_columns_are_left_out_with_one_warning(frame, named):
    more = frame.assign(id=1, note="x")[["id", "bill", "note", "sex", "pay", "age"]]
    with pytest.warns(HideSeekWarning) as caught:
        explanation = named.explain(more)
    assert [str(warning.message) for warning in caught] == [
        "X has columns that the model was not fitted on; they are ignored: id and note"
    ]
    np.testing.assert_array_equal(explanation.importance, named.explain(frame).importance)


def test_missing_columns_are_named_before_anything_else(frame, named):
    with pytest.raises(InputError, match=r"X has 3 columns; this model was fitted on 4 \(missing: sex\)"):
        named.explain(frame.drop(columns="sex"))
    with pytest.raises(InputError, match=r"\(missing: age, pay, sex and bill; not known: a, b, c and d\)"):
        named.predict(frame.set_axis(list("abcd"), axis=1))


def test_mixed_tables_and_baselines_match_columns_by_name(people, frame, switch):
    table, model = people
    np.testing.assert_array_equal(model.explain(table[table.columns[::-1]]).importance, model.explain(table).importance)
    forest = baselines.ForestImportance(k=2, random_state=0).fit(frame, switch[1])
    np.testing.assert_array_equal(forest.predict_proba(frame[NAMES[::-1]]), forest.predict_proba(frame))
    with pytest.warns(HideSeekWarning, match="ignored: id"):
        forest.explain(frame.assign(id=1))
    with pytest.raises(InputError, match="missing: age"):
        forest.explain(frame.drop(columns="age"))


def test_a_black_box_is_asked_about_the_columns_of_the_fit_in_their_order(frame, switch):
    forest = RandomForestClassifier(5, max_depth=3, random_state=0).fit(frame, switch[1])
    explainer = BlackBoxExplainer(forest, **QUICK).fit(frame)
    assert explainer.fidelity(frame[NAMES[::-1]][:100]) == explainer.fidelity(frame[:100])


def test_no_rows_are_refused_as_no_rows(frame, named, people):
    for model, table in ((named, frame), people[::-1]):
        with pytest.raises(InputError, match=r"^X has no rows"):
            model.explain(table[:0])
    with pytest.raises(InputError, match=r"^X has no rows"):
        HideSeekClassifier(**QUICK).fit(*two_classes()).explain(np.zeros((0, 2)))


def two_classes():
    X = np.random.default_rng(0).normal(size=(20, 2))
    return X, X[:, 0] > 0


# -- single rows --------------------------------------------------------------------------------------------------


def test_a_dict_or_a_series_is_one_row(frame, named):
    expected = named.explain(frame[7:8])
    row = frame.iloc[7]
    shuffled = dict(reversed(row.to_dict().items()))
    for single in (row, shuffled, pl.from_pandas(frame).row(7, named=True)):
        np.testing.assert_array_equal(named.explain(single).importance, expected.importance)
        np.testing.assert_array_equal(named.explain(single).data, expected.data)
        np.testing.assert_array_equal(named.predict(single), expected.prediction)
        np.testing.assert_array_equal(named.predict_proba(single), named.predict_proba(frame[7:8]))
    assert named.explain(row).row_labels.tolist() == [7]
    assert named.explain(row).describe(0).startswith("Row 7: predicted default = ")


def test_a_column_of_a_single_row_is_named_as_in_the_fit(people):
    table, model = people
    name = next(name for name in table if table[name].dtype.kind == "f")
    with pytest.raises(InputError, match=f"'{name}' has categories or text, but had numbers in fit"):
        model.explain({**table.iloc[3].to_dict(), name: "text"})


def test_a_row_of_mixed_values_is_one_row(people):
    table, model = people
    expected = model.explain(table[3:4])
    for single in (table.iloc[3], table.iloc[3].to_dict()):
        explanation = model.explain(single)
        np.testing.assert_array_equal(explanation.importance, expected.importance)
        assert explanation.data.tolist() == expected.data.tolist()


def test_a_dict_lacking_columns_or_of_whole_columns_is_refused(frame, named):
    with pytest.raises(InputError, match=r"X has 2 columns; this model was fitted on 4 \(missing: sex and bill\)"):
        named.explain({"age": 1, "pay": 2})
    with pytest.raises(InputError, match=r"single row, and has several values in 'age'.*pandas.DataFrame"):
        named.predict({**frame.iloc[0].to_dict(), "age": [1, 2]})
    with pytest.warns(HideSeekWarning, match="ignored: id"):
        named.explain({**frame.iloc[0].to_dict(), "id": 4})


def test_rows_without_names_go_by_position_or_by_x1_x2(switch, model):
    X, _ = switch
    expected = model.explain(X[:1]).importance
    np.testing.assert_array_equal(model.explain(pd.Series(X[0])).importance, expected)
    np.testing.assert_array_equal(
        model.explain(dict(zip(["x1", "x2", "x3", "x4"], X[0], strict=True))).importance, expected
    )
    with pytest.raises(InputError, match=r"fitted on 4 \(missing: x4\)"):
        model.explain(pd.Series(X[0, :3]))


def test_baselines_take_single_rows(frame, switch):
    forest = baselines.ForestImportance(k=2, random_state=0).fit(frame, switch[1])
    np.testing.assert_array_equal(forest.predict_proba(frame.iloc[0]), forest.predict_proba(frame[:1]))


# -- sparse matrices, tensors, durations --------------------------------------------------------------------------


@pytest.mark.parametrize("kind", [csr_array, csr_matrix])
def test_sparse_matrices_of_modest_size_are_made_dense(switch, kind):
    X, y = switch
    X = np.where(np.abs(X) > 1, X, 0.0)
    dense = HideSeekClassifier(**QUICK).fit(X, y)
    sparse = HideSeekClassifier(**QUICK).fit(kind(X), y)
    np.testing.assert_array_equal(sparse.explain(kind(X)).importance, dense.explain(X).importance)
    forest = RandomForestClassifier(3, max_depth=3, random_state=0).fit(X, y)
    explainer = BlackBoxExplainer(forest, **QUICK).fit(kind(X))
    assert explainer.fidelity(kind(X)).keys() == {"seek", "selected", "random"}
    assert baselines.ForestImportance(k=1).fit(kind(X), y).explain(kind(X)).shape == X.shape


def test_a_column_transformer_may_give_sparse_columns(people):
    table, _ = people
    table = table.assign(town=np.random.default_rng(1).choice(list("abcdefghij"), len(table)))
    encoder = make_column_transformer((OneHotEncoder(), ["town"]), ("passthrough", ["age"]), sparse_threshold=1.0)
    pipeline = make_pipeline(encoder, HideSeekClassifier(**QUICK)).fit(table, table["age"] > 40)
    assert pipeline.predict(table).shape == (len(table),)


def test_large_sparse_matrices_are_refused_with_their_size():
    huge = csr_array((10**6, 10**5))
    with pytest.raises(InputError, match=r"sparse and has 100,000,000,000 cells \(1,000,000 x 100,000\).*SelectKBest"):
        HideSeekClassifier(**QUICK).fit(huge, np.zeros(10**6))
    assert tables._MOST_CELLS * 8 <= 2**30, "a GiB"


def test_tensors_are_arrays(switch, model):
    X, y = switch
    expected = HideSeekClassifier(**QUICK).fit(X, y).explain(X).importance
    tensor = torch.tensor(X, requires_grad=True)
    fitted = HideSeekClassifier(**QUICK).fit(tensor, torch.tensor(y))
    np.testing.assert_array_equal(fitted.explain(tensor).importance, expected)


def test_durations_are_features_of_one_column(people, tmp_path):
    table, model = people
    assert model.encoder_.codes[3].kind == "duration"
    explanation = model.explain(table[:30])
    assert explanation.data[0, 3] == table["wait"][0].to_pytimedelta()
    explanation.save(tmp_path / "explained.npz")
    assert Explanation.load(tmp_path / "explained.npz").data[0, 3] == explanation.data[0, 3]
    model.save(tmp_path / "model.safetensors")
    again = hideseek.load(tmp_path / "model.safetensors").explain(table[:30])
    np.testing.assert_array_equal(again.importance, explanation.importance)
    explanation.report(tmp_path / "report.html")
    assert "wait (days)" in (tmp_path / "report.html").read_text(encoding="utf-8")
    with pytest.raises(InputError, match="'wait' has numbers, but had durations in fit"):
        model.explain(table.assign(wait=1.0))
    assert explanation.plot.beeswarm() is not None
    assert isinstance(explanation.data[1, 3], timedelta)


# -- what scikit-learn's selectors and seeds need -----------------------------------------------------------------


def test_feature_importances_are_the_mean_masks_of_the_training_rows(switch, model):
    X, _ = switch
    np.testing.assert_allclose(model.feature_importances_, model.explain(X).importance.mean(axis=0), atol=1e-5)
    assert model.feature_importances_.argmin() == 3


def test_select_from_model_keeps_what_decides(switch, model):
    X, y = switch
    # x1 and x2 decide in half of the rows each, so that both are about the mean, which is the usual threshold
    selector = SelectFromModel(HideSeekClassifier("fast", random_state=0), threshold="0.5*mean").fit(X, y)
    assert selector.get_support().tolist() == [True, True, True, False]
    usual = SelectFromModel(HideSeekClassifier("fast", random_state=0)).fit(X, y)
    importances = usual.estimator_.feature_importances_
    assert usual.get_support().tolist() == (importances >= importances.mean()).tolist()
    assert usual.get_support()[[2, 3]].tolist() == [True, False]
    prefit = SelectFromModel(model, prefit=True, threshold=0.3)
    assert prefit.fit(X).transform(X).shape == (len(X), 3)


def test_recursive_elimination_drops_noise_first(switch):
    X, y = switch
    chosen = RFE(HideSeekClassifier("fast", random_state=0), n_features_to_select=3).fit(X, y)
    assert chosen.ranking_.tolist() == [1, 1, 1, 2]


def test_features_that_were_screened_away_have_no_importance():
    X = np.random.default_rng(0).normal(size=(600, 40))
    model = HideSeekClassifier("fast", steps=50, random_state=0).fit(X, X[:, 5] > 0)
    kept = model.screening_.kept
    assert 0 < kept.sum() < 40
    assert (model.feature_importances_[~kept] == 0).all()
    expected = model.explain(X).importance.mean(axis=0)
    np.testing.assert_allclose(model.feature_importances_, expected, atol=1e-5)


def test_feature_importances_have_an_entry_for_each_column_of_a_group(people, tmp_path):
    table, _ = people
    model = HideSeekClassifier(**QUICK, groups={"both": ["age", "wait"]}).fit(table, table["age"] > 40)
    assert model.feature_importances_.shape == (5,)
    assert model.feature_importances_[0] == model.feature_importances_[3]
    model.save(tmp_path / "model.safetensors")
    np.testing.assert_array_equal(
        hideseek.load(tmp_path / "model.safetensors").feature_importances_, model.feature_importances_
    )


@pytest.mark.parametrize(
    "make",
    [
        lambda seed: HideSeekClassifier(preset="fast", steps=5, random_state=seed),
        lambda seed: baselines.ForestImportance(k=1, random_state=seed),
    ],
)
def test_random_state_may_be_a_numpy_generator(switch, make, tmp_path):
    X, y = switch
    first, second = (make(np.random.default_rng(3)).fit(X, y) for _ in range(2))
    np.testing.assert_array_equal(first.predict_proba(X), second.predict_proba(X))
    generator = np.random.default_rng(3)
    one, other = (make(generator).fit(X, y).predict_proba(X) for _ in range(2))
    assert (one != other).any(), "a generator moves on"
    if hasattr(first, "save"):
        first.save(tmp_path / "model.safetensors")
        assert hideseek.load(tmp_path / "model.safetensors").random_state is None


# -- sentences and pictures ---------------------------------------------------------------------------------------


def test_sentences_and_pictures_name_the_class(frame, named, switch, tmp_path):
    explanation = named.explain(frame[:10])
    answer = explanation.prediction[0]
    assert f"Row 0: predicted default = {answer} (probability " in explanation.describe(0)
    assert explanation.plot.row(0).get_title().startswith(f"row 0: predicted default = {answer}")
    assert explanation.plot().get_title().startswith("predicted default = ")
    explanation.save(tmp_path / "explained.npz")
    assert Explanation.load(tmp_path / "explained.npz").describe(0) == explanation.describe(0)
    named.save(tmp_path / "model.safetensors")
    loaded = hideseek.load(tmp_path / "model.safetensors")
    assert loaded.explain(frame[:10]).describe(0) == explanation.describe(0)
    assert page_model(named)["output"]["said"] == ["default = 0", "default = 1"]
    plain = HideSeekClassifier(**QUICK).fit(*switch)
    assert "predicted y = " in plain.explain(switch[0]).describe(0)
    text = HideSeekClassifier(**QUICK).fit(switch[0], np.where(switch[1], "good", "bad"))
    assert "predicted '" in text.explain(switch[0]).describe(0)
    values = HideSeekRegressor(**QUICK).fit(switch[0], pl.Series("price", switch[0][:, 0]))
    assert "Row 0: predicted price = " in values.explain(switch[0]).describe(0)


# -- targets ------------------------------------------------------------------------------------------------------

CLASSES = [0.0, 1.0, 0.0, 1.0]


@pytest.mark.parametrize("cls", [HideSeekClassifier, HideSeekRegressor])
@pytest.mark.parametrize("text", [False, True], ids=["numbers", "mixed"])
@pytest.mark.parametrize(
    "y",
    [
        np.array([0, 1, np.nan, 1.0]),
        [0, 1, None, 1],
        [0, 1, float("nan"), 1],
        pd.Series([0, 1, None, 1]),
        pd.Series([0, 1, None, 1], dtype="Int64"),
        pd.Series([True, False, None, True], dtype="boolean"),
        pl.Series([0, 1, None, 1]),
        np.ma.MaskedArray([0, 1, 5, 1], mask=[0, 0, 1, 0]),
        pd.DataFrame({"y": [0, 1, None, 1]}),
    ],
    ids=["array", "None", "list", "pandas", "Int64", "boolean", "polars", "masked", "frame"],
)
def test_missing_targets_are_refused_with_one_message(cls, text, y):
    X = pd.DataFrame({"a": [1.0, 2, 3, 4], "b": ["u", "v", "u", "v"] if text else [2.0, 1, 4, 3]})
    with pytest.raises(InputError, match=r"^y has 1 missing (labels|values) \(None, NaN or NaT\); drop those rows$"):
        cls(**QUICK).fit(X, y)


@pytest.mark.parametrize("cls", [HideSeekClassifier, HideSeekRegressor])
@pytest.mark.parametrize("y", [np.array([0, 1, np.inf, -np.inf]), [0, 1, float("inf"), float("-inf")]])
def test_infinite_targets_are_refused(cls, y):
    with pytest.raises(InputError, match=r"^y has 2 infinite (labels|values) \(inf\); drop"):
        cls(**QUICK).fit(np.random.default_rng(0).normal(size=(4, 2)), y)


@pytest.mark.parametrize(
    ("y", "message"),
    [
        (["a", "b", "a", "b"], "y must be numbers: could not convert string"),
        ([10**400, 1, 2, 3], "y has values too large for a float; rescale it"),
        (pd.to_datetime(["2020-01-01"] * 4), "y must be numbers: it has the type datetime64"),
        (np.asmatrix([0, 1, 0, 1]).T, "y is a matrix; pass one value per row"),
        (csr_array(np.eye(4)), "y is a csr_array; pass one value per row"),
    ],
)
def test_targets_that_are_no_numbers_are_refused_by_name(y, message):
    with pytest.raises(InputError, match=message):
        HideSeekRegressor(**QUICK).fit(np.random.default_rng(0).normal(size=(4, 2)), y)


@pytest.mark.parametrize(("y", "label"), [([0] * 4, "0"), (["a"] * 4, "'a'"), ([True] * 4, "True"), ([1.0] * 4, "1")])
def test_one_class_is_shown_without_the_repr_of_numpy(y, label):
    with pytest.raises(InputError, match=rf"^y has one class \({label}\); a classifier needs at least two classes$"):
        HideSeekClassifier(**QUICK).fit(np.random.default_rng(0).normal(size=(4, 2)), y)


# -- numbers and advice -------------------------------------------------------------------------------------------


def test_whole_numbers_too_large_for_a_float_are_refused_by_column():
    X = np.array([[10**400, 1], [2, 3], [4, 5], [6, 7]], dtype=object)
    with pytest.raises(InputError, match="X has numbers too large for a float in 'x1'; rescale"):
        HideSeekClassifier(**QUICK).fit(X, [0, 1, 0, 1])
    with pytest.raises(InputError, match="X has numbers too large for a float in 'big'"):
        HideSeekClassifier(**QUICK).fit(
            pd.DataFrame({"big": pd.Series(X[:, 0], dtype=object), "x": [1, 2, 3, 4]}), [0, 1, 0, 1]
        )
    with pytest.raises(InputError, match=r"penalty=.*expected a number of at least 0"):
        HideSeekClassifier(penalty=10**5000).fit(np.eye(4), [0, 1, 0, 1])


def test_the_advice_on_infinite_values_names_no_imputer_that_refuses_them(switch):
    X, y = switch[0].copy(), switch[1]
    X[3, 1] = np.inf
    for model in (HideSeekClassifier(**QUICK), baselines.ForestImportance(k=1)):
        with pytest.raises(InputError, match=r"infinite values \(inf\) in column 1 \(1 rows\); drop") as caught:
            model.fit(X, y)
        assert "SimpleImputer" not in str(caught.value)


@pytest.mark.parametrize("cls", [HideSeekClassifier, HideSeekRegressor])
@pytest.mark.parametrize("settings", [{"preset": "best"}, {"preset": "fast", "penalty": "auto"}])
def test_two_rows_are_enough_to_fit_unless_one_is_held_out(cls, settings):
    X, y = np.random.default_rng(0).normal(size=(2, 3)), [0, 1]
    assert cls(steps=2, **settings).fit(X, y).select(X).shape == (2, 3)
    with pytest.raises(InputError, match=r"validation_fraction=0.5 leaves 1 of 2 rows to learn from"):
        cls(steps=2, validation_fraction=0.5, **settings).fit(X, y)


def test_gpu_is_taken_for_cuda(switch):
    with pytest.raises(InputError, match=r"device='gpu': expected .*; did you mean 'cuda'"):
        HideSeekClassifier(device="gpu").fit(*switch)
