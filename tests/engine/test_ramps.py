import numpy as np
import pandas as pd
import pytest
import torch

import hideseek
from hideseek import HideSeekClassifier, InputError
from hideseek.datasets import make_syn
from hideseek.engine import ramps
from hideseek.engine.ramps import Ramps
from hideseek.engine.scaling import Scaler
from hideseek.metrics import selection_scores

# the fits here are too short for masks to settle
pytestmark = pytest.mark.filterwarnings("ignore::hideseek.errors.MaskWarning")

DRAW = np.random.default_rng(0)
QUICK = {"preset": "fast", "steps": 20, "random_state": 0}


@pytest.fixture(scope="module")
def skewed():
    """Syn4 whose columns are like money: the same labels, and as hard to predict for whoever sees the columns well."""
    data = make_syn("Syn4", 6000, random_state=0)
    return np.exp(1.5 * data.X), data.y, data.relevant


@pytest.mark.parametrize(
    ("values", "odd"),
    [
        (DRAW.normal(size=3000), False),
        (DRAW.random(3000), False),
        (DRAW.standard_t(10, size=3000), False),
        (DRAW.normal(size=40), False),
        (DRAW.exponential(size=3000), True),
        (DRAW.exponential(size=300), True),
        (DRAW.standard_t(2, size=3000), True),
        (np.where(DRAW.random(3000) < 0.5, -1, 1) + 0.3 * DRAW.normal(size=3000), True),
        (DRAW.poisson(3, size=3000), True),
        (DRAW.integers(2, size=3000), False),  # a ramp would say nothing new
        (np.zeros(3000), False),
    ],
)
def test_columns_of_an_odd_shape_have_ramps(values, odd):
    X = values.astype(np.float64)[:, None]
    assert (Scaler.fit(X).with_ramps(X).ramps is not None) == odd


def test_ramps_climb_between_quartiles_and_stand_behind_their_column():
    money = np.repeat([1.0, 2.0, 4.0, 8.0, 1000.0], 400)
    X = np.column_stack((DRAW.normal(size=2000), money, DRAW.normal(size=2000)))
    scaler = Scaler.fit(X).with_ramps(X)
    assert scaler.widths() == (1, 4, 1)
    assert scaler.widths([2, 1]) == (5, 1)
    inputs = scaler.transform(X)
    assert inputs.dtype == np.float32
    assert inputs.shape == (2000, 6)
    np.testing.assert_array_equal(inputs[:, [0, 1, 5]], Scaler.fit(X).transform(X))
    first = inputs[:, 2]  # 0 at 1, and 1 from 2 on: four fifths of the rows
    np.testing.assert_allclose(first, np.where(money >= 2, 0.2, -0.8) / 0.4, atol=1e-6)
    between = X[:1].copy()
    between[0, 1] = 3.0  # half way up the second
    np.testing.assert_allclose(scaler.transform(between)[0, 3], (0.5 - 0.6) / np.sqrt(0.24), atol=1e-6)


def test_the_column_and_its_ramps_tell_the_widest_piece():
    money = DRAW.exponential(size=2000)
    inputs = Scaler.fit(money[:, None]).with_ramps(money[:, None]).transform(money[:, None])
    assert inputs.shape == (2000, 4)
    upper, top = np.quantile(money, [0.75, 1])
    widest = np.clip((money - upper) / (top - upper), 0, 1)
    factors, *_ = np.linalg.lstsq(np.column_stack((inputs, np.ones(2000))), widest, rcond=None)
    np.testing.assert_allclose(np.column_stack((inputs, np.ones(2000))) @ factors, widest, atol=1e-5)


def test_the_unit_does_not_matter():
    X = DRAW.exponential(size=(1000, 1))
    expected = Scaler.fit(X).with_ramps(X).transform(X)
    for unit in (1e-200, 1e200):
        np.testing.assert_allclose(Scaler.fit(unit * X).with_ramps(unit * X).transform(unit * X), expected, atol=1e-5)


@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a GPU")
def test_a_gpu_makes_the_same_inputs():
    X = np.column_stack((DRAW.normal(size=3000), DRAW.exponential(size=3000)))
    scaler = Scaler.fit(X).with_ramps(X)
    np.testing.assert_allclose(scaler.transform_on(torch.device("cuda"), X).cpu(), scaler.transform(X), atol=1e-6)


@pytest.mark.parametrize("cells", [2**25, 3000])
def test_many_tables_have_the_ramps_that_each_has_alone(monkeypatch, cells):
    monkeypatch.setattr(ramps, "_CELLS_AT_ONCE", cells)
    draw = np.random.default_rng(1)
    skewed, plain = draw.exponential(size=(1000, 2)), draw.normal(size=(1000, 1))
    found = Ramps.fit_all([plain, np.hstack((plain, skewed)), skewed])
    assert found[0] is None
    assert [each.n_columns for each in found[1:]] == [3, 2]
    for together, alone in zip(found[1:], (Ramps.fit(np.hstack((plain, skewed))), Ramps.fit(skewed)), strict=True):
        for part in ("column", "low", "high", "center", "scale"):
            np.testing.assert_array_equal(getattr(together, part), getattr(alone, part))


def test_no_column_of_an_odd_shape_no_ramps():
    assert Ramps.fit(DRAW.normal(size=(1000, 3))) is None


@pytest.mark.filterwarnings("ignore:the masks")
def test_what_skewed_columns_hide_is_found(skewed):
    X, y, relevant = skewed
    model = HideSeekClassifier("fast", cross_fit=True, random_state=0).fit(X, y)
    assert selection_scores(model.select(X), relevant).f1 > 90
    plain = HideSeekClassifier("fast", cross_fit=True, ramps=False, random_state=0).fit(X, y)
    assert selection_scores(plain.select(X), relevant).f1 < 70


def test_a_feature_with_ramps_is_one_feature_and_survives_a_file(skewed, tmp_path):
    X, y, _ = skewed
    model = HideSeekClassifier(**QUICK, penalty="auto", validation_fraction=0.3, screening=False).fit(X, y)
    assert model._ensemble.pool.shape[1] == 44
    explanation = model.explain(X[:50])
    assert explanation.importance.shape == (50, 11)
    np.testing.assert_array_equal(explanation.data, X[:50])
    model.save(tmp_path / "model.safetensors")
    again = hideseek.load(tmp_path / "model.safetensors")
    np.testing.assert_array_equal(again.explain(X[:50]).importance, explanation.importance)
    np.testing.assert_array_equal(again.predict_proba(X[:50]), model.predict_proba(X[:50]))
    sparse = {"penalty": model.path_.penalty[-1]}
    np.testing.assert_array_equal(again.at(**sparse).select(X[:50]), model.at(**sparse).select(X[:50]))


def test_only_what_screening_leaves_has_ramps(skewed):
    X, y, _ = skewed
    wide = np.column_stack((X[:2000], np.exp(DRAW.normal(size=(2000, 29)))))
    model = HideSeekClassifier(**QUICK, screening=12).fit(wide, y[:2000])
    assert model.screening_.kept.sum() == 8
    assert model._ensemble.pool.shape[1] == 8 * 4
    assert model.explain(wide[:5]).importance.shape == (5, 40)


def test_tables_with_and_without_ramps_are_fitted_in_one_call(skewed):
    X, y, _ = skewed
    problems = [(X[:1000], y[:1000], 0, {}), (np.log(X[:1000]), y[:1000], 1, {})]
    for model, (table, labels, seed, _) in zip(HideSeekClassifier(**QUICK).fit_many(problems), problems, strict=True):
        alone = HideSeekClassifier(**QUICK | {"random_state": seed}).fit(table, labels)
        np.testing.assert_allclose(model.explain(table).importance, alone.explain(table).importance, atol=1e-5)


def test_columns_of_a_group_keep_their_ramps_together(skewed):
    X, y, _ = skewed
    frame = pd.DataFrame(X[:1000], columns=list("abcdefghijk"))
    model = HideSeekClassifier(**QUICK, groups={"both": ["b", "k"]}, screening=False).fit(frame, y[:1000])
    assert model._ensemble.stack.groups.feature.bincount().tolist() == [4, 8, *[4] * 8]


def test_knockoffs_have_no_ramps(skewed):
    X, y, _ = skewed
    model = HideSeekClassifier(**QUICK, replacement="gaussian_knockoff").fit(X[:1000], y[:1000])
    assert not model.recipe_.ramps
    with pytest.raises(InputError, match="ramps=True needs replacement"):
        HideSeekClassifier(**QUICK, replacement="gaussian_knockoff", ramps=True).fit(X[:1000], y[:1000])


@pytest.mark.parametrize(
    ("preset", "cross_fitted"), [("fast", True), ("balanced", True), ("best", True), ("paper", False)]
)
def test_all_presets_but_the_published_one_cross_fit(skewed, preset, cross_fitted):
    X, y, _ = skewed
    model = HideSeekClassifier(preset, steps=2, n_members=1, random_state=0).fit(X[:500], y[:500])
    assert model.recipe_.cross_fit == cross_fitted
    assert not HideSeekClassifier(preset, steps=2, cross_fit=False).fit(X[:500], y[:500]).recipe_.cross_fit
