import json
from datetime import date

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from sklearn.compose import make_column_transformer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

import hideseek
from hideseek import Explanation, HideSeekClassifier, HideSeekRegressor, HideSeekWarning, InputError, baselines
from hideseek.metrics import selection_scores

# the fits here are too short for masks to settle
pytestmark = pytest.mark.filterwarnings("ignore::hideseek.errors.MaskWarning")

QUICK = {"preset": "fast", "steps": 30, "random_state": 0}
EDUCATION = ("Bachelors", "HS-grad", "Masters")


@pytest.fixture(scope="module")
def people() -> tuple[pd.DataFrame, np.ndarray]:
    """People of whom the education says whether hours or age decides; with dates, noise and holes."""
    rng = np.random.default_rng(0)
    n = 3000
    hours, age = rng.normal(40, 10, n).round(), rng.normal(40, 12, n)
    education = rng.choice(EDUCATION, n)
    earns = np.where(education == "Masters", hours > 40, age > 40)
    frame = pd.DataFrame(
        {
            "age": age,
            "education": education,
            "hours": hours.astype(int),
            "married": rng.random(n) < 0.5,
            "since": pd.Timestamp("2020-01-01") + pd.to_timedelta(rng.integers(0, 999, n), unit="D"),
            "sector": pd.Categorical(rng.choice(["state", "private", "none"], n)),
        }
    )
    frame.loc[rng.random(n) < 0.1, "sector"] = None
    frame.loc[rng.random(n) < 0.1, "since"] = pd.NaT
    return frame, np.where(earns, "more", "less")


@pytest.fixture(scope="module")
def model(people) -> HideSeekClassifier:
    return HideSeekClassifier("fast", random_state=0).fit(*people)


# -- the answer ---------------------------------------------------------------------------------------------------


def test_a_category_is_one_feature_and_the_right_ones_are_found(people, model):
    frame, labels = people
    explanation = model.explain(frame)
    assert explanation.feature_names == tuple(frame.columns)
    assert model.encoder_.widths == (1, 3, 1, 1, 2, 4)
    scale = model._ensemble.scaler.scale
    assert scale[[1, 2, 3, 7, 8]].tolist() == [0.5, 0.5, 0.5, 1.0, 0.5], "levels and holes are not standardised"
    assert scale[0] == pytest.approx(frame["age"].std(ddof=0))
    masters = (frame["education"] == "Masters").to_numpy()
    relevant = np.zeros(frame.shape, dtype=bool)
    relevant[:, 1], relevant[:, 2], relevant[:, 0] = True, masters, ~masters
    assert selection_scores(explanation.selected, relevant).f1 > 95
    assert model.score(frame, labels) > 0.9
    assert model.penalty_ == pytest.approx(6 * model._ensemble.price), "the price counts features"


def test_an_explanation_speaks_of_the_users_own_values(people, model):
    frame, _ = people
    explanation = model.explain(frame)
    row = int(np.flatnonzero(explanation.selected[:, 1] & (frame["education"] == "Masters"))[0])
    assert "education = 'Masters' " in explanation.describe(row)
    assert explanation.data[0].tolist() == [
        frame["age"][0],
        frame["education"][0],
        frame["hours"][0],
        frame["married"][0],
        None if pd.isna(frame["since"][0]) else frame["since"][0].date(),
        None if pd.isna(frame["sector"][0]) else frame["sector"][0],
    ]
    hole = int(np.flatnonzero(frame["sector"].isna())[0])
    assert "missing" in explanation[hole]._repr_html_()
    long = explanation[:2].to_frame()
    assert long["value"][1] == frame["education"][0]
    assert len(explanation[:2, "education"].prediction) == 2


def test_explanations_of_mixed_tables_survive_the_disk(people, model, tmp_path):
    explanation = model.explain(people[0][:50])
    explanation.save(tmp_path / "explained.npz")
    again = Explanation.load(tmp_path / "explained.npz")
    assert again.data.tolist() == explanation.data.tolist()
    assert {type(value) for value in again.data[:, 4]} == {date, type(None)}
    assert again.describe(3) == explanation.describe(3)


def test_the_encoder_is_part_of_the_saved_model(people, tmp_path):
    frame, labels = people
    grouped = HideSeekClassifier(**QUICK, groups={"work": ["hours", "sector"]}).fit(frame, labels)
    grouped.save(tmp_path / "people.safetensors")
    again = hideseek.load(tmp_path / "people.safetensors")
    assert again.encoder_ == grouped.encoder_
    assert again.get_params()["groups"] == {"work": ["hours", "sector"]}
    assert again.n_features_in_ == 6
    np.testing.assert_array_equal(again.explain(frame).importance, grouped.explain(frame).importance)
    np.testing.assert_array_equal(again.predict_proba(frame), grouped.predict_proba(frame))


def test_files_from_before_encoders_load(tmp_path, monkeypatch):
    X = np.random.default_rng(0).normal(size=(200, 3))
    model = HideSeekClassifier(**QUICK).fit(X, X[:, 0] > 0)
    to_json = json.dumps

    def as_it_was(header, **how):
        del header["description"]["encoder"], header["description"]["parameters"]["groups"]
        return to_json(header, **how)

    monkeypatch.setattr("hideseek.persistence.json.dumps", as_it_was)
    model.save(tmp_path / "old.safetensors")
    again = hideseek.load(tmp_path / "old.safetensors")
    np.testing.assert_array_equal(again.explain(X).importance, model.explain(X).importance)


def test_transform_keeps_what_decided(people, model):
    frame, _ = people
    shown, selected = model.transform(frame), model.select(frame)
    assert shown[selected].tolist() == model.explain(frame).data[selected].tolist()
    assert all(value is None for value in shown[~selected])
    grouped = HideSeekClassifier(**QUICK, groups={"both": ["age", "hours"]}).fit(*people)
    out = grouped.set_output(transform="pandas").transform(frame)
    assert out.columns.tolist() == frame.columns.tolist()
    assert (out["age"].notna() == out["hours"].notna()).all()


# -- every way in -------------------------------------------------------------------------------------------------


def test_polars_and_pyarrow_and_arrays_give_the_same_answer(people):
    frame, labels = people
    expected = HideSeekClassifier(**QUICK).fit(frame, labels).explain(frame[:20])
    polars = pl.from_pandas(frame)
    arrow = pa.Table.from_pandas(frame)
    objects = frame.astype(object).to_numpy()
    for table in (polars, arrow, objects):
        explanation = HideSeekClassifier(**QUICK).fit(table, labels).explain(table[:20])
        np.testing.assert_array_equal(explanation.importance, expected.importance)
        assert explanation.data.tolist() == expected.data.tolist()
    assert HideSeekClassifier(**QUICK).fit(polars, labels).explain(polars[:2]).to_frame()["value"][1] in EDUCATION


def test_numbers_with_holes_keep_their_numbers():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(2000, 3))
    y = X[:, 0] > 0
    X[rng.random(X.shape) < 0.2] = np.nan
    model = HideSeekClassifier("fast", random_state=0).fit(X, y)
    explanation = model.explain(X)
    np.testing.assert_array_equal(explanation.data, X)
    there = ~np.isnan(X[:, 0])
    assert explanation.selected[there, 0].mean() > 0.9
    assert explanation.selected[there, 1:].mean() < 0.1
    assert model.transform(X).dtype == float


def test_a_hole_after_a_fit_without_holes_is_filled_and_said():
    X = np.random.default_rng(0).normal(size=(500, 3))
    model = HideSeekClassifier(**QUICK).fit(X, X[:, 0] > 0)
    middle = np.array([[0.5, np.median(X[:, 1]), 1.0]])
    with pytest.warns(HideSeekWarning, match="that had none missing in training.* 'x2' .1 rows"):
        explanation = model.explain(np.array([[0.5, np.nan, 1.0]]))
    np.testing.assert_allclose(explanation.importance, model.explain(middle).importance, atol=1e-6)
    assert np.isnan(explanation.data[0, 1])


def test_targets_of_every_kind(people):
    frame, labels = people
    for target in (labels == "more", pd.Series(labels, dtype="category"), pl.Series(labels), labels.tolist()):
        assert HideSeekClassifier(**QUICK).fit(frame, target).predict(frame).shape == (len(frame),)
    regressor = HideSeekRegressor(**QUICK).fit(frame, (labels == "more") * 1.0)
    assert np.isfinite(regressor.predict(frame)).all()
    with pytest.raises(InputError, match="inconsistent"):
        HideSeekClassifier(**QUICK).fit(frame, labels[:-1])


def test_in_pipelines_behind_and_before_a_column_transformer(people):
    frame, labels = people
    numbers = make_column_transformer((StandardScaler(), ["age", "hours"]), remainder="passthrough")
    before = make_pipeline(numbers.set_output(transform="pandas"), HideSeekClassifier(**QUICK)).fit(frame, labels)
    assert before.predict(frame).shape == (len(frame),)
    assert before[-1].encoder_.widths == (1, 1, 3, 1, 2, 4)
    after = make_pipeline(
        HideSeekClassifier(**QUICK).set_output(transform="pandas"),
        make_column_transformer((OneHotEncoder(), ["education", "married"])),
        LogisticRegression(),
    )
    assert after.fit(frame, labels).predict(frame).shape == (len(frame),)


def test_fit_many_takes_mixed_tables_and_each_keeps_its_own_encoder(people):
    frame, labels = people
    other = frame.assign(sector=frame["sector"].cat.rename_categories({"none": "nothing"}))
    models = HideSeekClassifier(**QUICK).fit_many([(frame, labels, 0, {}), (other, labels, 1, {})])
    assert models[1].encoder_.codes[5].levels == ("nothing", "private", "state")
    alone = HideSeekClassifier(**QUICK).fit(frame, labels)
    np.testing.assert_allclose(models[0].explain(frame).importance, alone.explain(frame).importance, atol=1e-5)
    moved = frame.rename(columns={"education": "sector", "sector": "education"})  # as wide, in other places
    with pytest.raises(InputError, match="one shape"):
        HideSeekClassifier(**QUICK).fit_many([(frame, labels, 0, {}), (moved[frame.columns], labels, 1, {})])


# -- groups, members, weights -------------------------------------------------------------------------------------


def test_column_fraction_draws_features(people):
    model = HideSeekClassifier(**QUICK, n_members=4, column_fraction=0.5).fit(*people)
    visible = model._ensemble.visible
    assert visible.shape == (4, 6)
    assert (visible.sum(dim=1) == 3).all()
    hidden = int((~visible[0]).nonzero()[0])
    start = sum(model.encoder_.widths[:hidden])
    first_layer = model._ensemble.stack.layers()[0][0]
    assert (first_layer[0, :, start : start + model.encoder_.widths[hidden]] == 0).all()


def test_groups_of_numbers_are_selected_as_one():
    X = np.random.default_rng(0).normal(size=(2000, 4))
    model = HideSeekClassifier("fast", random_state=0, groups={"pair": [0, 1]}).fit(X, X[:, 0] * X[:, 1] > 0)
    explanation = model.explain(X)
    assert explanation.feature_names == ("pair", "x3", "x4")
    assert explanation.selected[:, 0].mean() > 0.9
    assert explanation.selected[:, 1:].mean() < 0.1
    assert explanation.data[0, 0] == tuple(X[0, :2])


@pytest.mark.parametrize("groups", [["a"], {"a": "b"}, {"a": []}, {1: ["a"]}])
def test_groups_of_the_wrong_form_are_refused(groups):
    with pytest.raises(InputError, match=r"groups=.*expected a dict from a feature's name to a list of its columns"):
        HideSeekClassifier(**QUICK, groups=groups).fit(np.ones((3, 2)), [0, 1, 0])


def test_knockoffs_take_no_features_of_several_columns(people):
    frame, labels = people
    with pytest.raises(InputError, match=r"gaussian_knockoff.*'education', 'since' and 'sector' are several columns"):
        HideSeekClassifier(**QUICK, replacement="gaussian_knockoff").fit(frame, labels)
    single = frame[["age", "hours", "married"]].assign(level=pd.Categorical(frame["education"], ordered=True))
    HideSeekClassifier(**QUICK, replacement="gaussian_knockoff").fit(single, labels)


def test_rows_of_weight_zero_teach_the_encoder_nothing(people):
    frame, labels = people
    weight = np.where(np.arange(len(frame)) < 2000, 1.0, 0.0)
    odd = frame.assign(education=np.where(weight > 0, frame["education"], "none"))
    masked = HideSeekClassifier(**QUICK).fit(odd, labels, sample_weight=weight)
    alone = HideSeekClassifier(**QUICK).fit(frame[:2000], labels[:2000], sample_weight=weight[:2000])
    assert masked.encoder_ == alone.encoder_
    np.testing.assert_array_equal(masked.explain(frame).importance, alone.explain(frame).importance)


def test_constant_columns_and_ids_are_never_selected(people):
    frame, labels = people
    more = frame.assign(country="here", name=[f"p{i}" for i in range(len(frame))])
    with pytest.warns(HideSeekWarning) as said:
        model = HideSeekClassifier(**QUICK).fit(more, labels)
    messages = [str(warning.message) for warning in said if issubclass(warning.category, HideSeekWarning)]
    assert any("constant columns are never selected: country" in message for message in messages)
    assert any("'name' has a different value in nearly every row" in message for message in messages)
    assert (model.explain(more).importance[:, 6:] == 0).all()


def test_wrong_columns_are_named(people, model):
    frame, _ = people
    with pytest.raises(InputError, match=r"^X has 5 columns; this model was fitted on 6 \(missing: education\)"):
        model.explain(frame.drop(columns="education"))


def test_the_compared_methods_ask_for_numbers(people):
    frame, labels = people
    with pytest.raises(InputError, match=r"3 columns that are not numbers: 'education' .*OrdinalEncoder"):
        baselines.get("forest")(k=2).fit(frame, labels)
    holes = frame[["age", "hours"]].where(frame[["age", "hours"]] > 20)
    with pytest.raises(InputError, match=r"missing values \(NaN\) in 'age' .*SimpleImputer"):
        baselines.get("forest")(k=2).fit(holes, labels)


def test_credit_with_categories(published_data):
    """The codes of sex, education and marriage are names, not amounts."""
    train, validation, _ = hideseek.datasets.load_credit(standardize=False, as_frame=True)
    kinds = dict.fromkeys(("SEX", "EDUCATION", "MARRIAGE"), "category")
    X, X_new = train.X.astype(kinds), validation.X[:100].astype(kinds)
    model = HideSeekClassifier(**QUICK).fit(X, train.y)
    explanation = model.explain(X_new)
    assert explanation.feature_names == train.feature_names
    assert explanation.shape == (100, 23)
    widths = dict(zip(explanation.feature_names, model.encoder_.widths, strict=True))
    assert widths["SEX"] == 1
    assert widths["EDUCATION"] > 3
    assert widths["LIMIT_BAL"] == 1
