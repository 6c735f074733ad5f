"""What a fitted model keeps of the rows it was fitted on."""

import json

import numpy as np
import pandas as pd
import pytest
from safetensors.numpy import load_file

import hideseek
from hideseek import HideSeekClassifier, HideSeekRegressor, InputError
from hideseek.cli._main import main
from hideseek.engine.pools import neighbours_averaged

# the fits here are too short for masks to settle
pytestmark = pytest.mark.filterwarnings("ignore::hideseek.errors.MaskWarning")

QUICK = {"preset": "fast", "steps": 100, "random_state": 0}


@pytest.fixture(scope="module")
def skewed(switch):
    """The switch with a column that is seen in pieces as well."""
    X, y = switch
    return np.column_stack((X[:, :3], np.exp(2 * X[:, 3]))), y


def standardised(model, X):
    """What a pool has a column of for each column of X, without those of the pieces."""
    scaler = model._ensemble.scaler
    n_columns = X.shape[1]
    first = slice(None) if scaler.ramps is None else scaler.ramps.order < n_columns
    return scaler.transform(X)[:, first], model._ensemble.pool.numpy()[:, first]


@pytest.mark.parametrize("cuts", [None, False])
def test_no_training_row_is_in_a_saved_model(skewed, tmp_path, cuts):
    X, y = skewed
    model = HideSeekClassifier(**QUICK, cuts=cuts).fit(X, y)
    model.save(tmp_path / "model")
    _, pool = standardised(model, X)
    scaler = model._ensemble.scaler
    seen = scaler.of(np.arange(X.shape[1])).transform(X)  # as the rows are, not moved away from cuts
    assert not any((seen == row).all(axis=1).any() for row in pool)
    n_rows = {name: len(array) for name, array in load_file(tmp_path / "model").items() if array.ndim == 2}
    assert max(n_rows.values()) == 256, "nothing has a row for each training row"


def test_means_are_no_values_of_the_training_rows(skewed, tmp_path):
    X, y = skewed
    short = {**QUICK, "steps": 20}
    model = HideSeekClassifier(**short, pool="means", pool_rows=20).fit(X, y)
    model.save(tmp_path / "model")
    again = hideseek.load(tmp_path / "model")
    assert again.pool_ == "means"
    assert len(load_file(tmp_path / "model")["pool"]) == 20
    seen, pool = standardised(again, X)
    for j in range(X.shape[1]):
        assert not set(pool[:, j].tolist()) & set(seen[:, j].tolist())
    np.testing.assert_array_equal(again.predict_proba(X), model.predict_proba(X))


def test_means_leave_masks_as_they_are_and_predictions_nearly(skewed):
    X, y = skewed
    plain = HideSeekClassifier(**QUICK).fit(X, y)
    means = HideSeekClassifier(**QUICK, pool="means").fit(X, y)
    np.testing.assert_array_equal(means.explain(X).importance, plain.explain(X).importance)
    assert np.abs(means.predict_proba(X) - plain.predict_proba(X)).mean() < 0.01


def test_pieces_of_averaged_columns_belong_to_their_columns(skewed):
    X, y = skewed
    ensemble = HideSeekClassifier(**QUICK, pool="means").fit(X, y)._ensemble
    raw = ensemble.pool.numpy()[:, ensemble.scaler.ramps.order < 4] * ensemble.scaler.scale + ensemble.scaler.center
    np.testing.assert_allclose(ensemble.scaler.transform(raw), ensemble.pool.numpy(), atol=1e-5)


def test_the_last_neighbours_are_averaged_among_themselves():
    averaged = neighbours_averaged(np.arange(18.0)[::-1, None])
    np.testing.assert_allclose(averaged[:, 0], [16.5] * 2 + [7.5] * 16)


def test_neighbours_are_averaged_and_columns_of_two_values_kept():
    values = np.column_stack((np.arange(32.0)[::-1], np.arange(32) % 2))
    averaged = neighbours_averaged(values)
    assert averaged[:, 0].tolist() == [23.5] * 16 + [7.5] * 16
    assert averaged[:, 1].tolist() == values[:, 1].tolist()


def test_fewer_rows_are_the_first_of_all(switch):
    X, y = switch
    few, all_rows = (HideSeekClassifier(**QUICK, pool_rows=n).fit(X, y) for n in (16, 256))
    np.testing.assert_array_equal(few._ensemble.pool, all_rows._ensemble.pool[:16])
    np.testing.assert_array_equal(few.predict_proba(X), all_rows.predict_proba(X))


def test_a_prediction_cannot_average_more_rows_than_are_kept(switch):
    X, y = switch
    with pytest.raises(InputError, match="prediction_draws=16 needs as many replacement rows, and 8 are kept"):
        HideSeekClassifier(**QUICK, pool_rows=8).fit(X, y)
    model = HideSeekClassifier(**QUICK, pool_rows=16).fit(X, y)
    model.set_params(prediction_draws=17)
    with pytest.raises(InputError, match="pool_rows=17"):
        model.predict(X)
    with pytest.raises(InputError, match="pool='rows'"):
        HideSeekClassifier(**QUICK, pool="rows").fit(X, y)


def test_what_a_file_says_of_its_pool_is_what_it_was_fitted_with(switch, tmp_path):
    X, y = switch
    HideSeekClassifier(**QUICK).fit(X, y).set_params(pool="means").save(tmp_path / "model")
    assert hideseek.load(tmp_path / "model").pool_ == "values"


def test_many_fits_keep_what_one_fit_keeps(switch):
    X, y = switch
    alone = HideSeekRegressor(**QUICK, pool="means", pool_rows=16).fit(X, y)
    (one,) = HideSeekRegressor(**QUICK, pool="means", pool_rows=16).fit_many([(X, y, 0, {})])
    np.testing.assert_array_equal(one._ensemble.pool, alone._ensemble.pool)


def test_info_says_what_is_inside(switch, tmp_path, capsys):
    X, y = switch
    path = str(tmp_path / "model.safetensors")
    frame = pd.DataFrame({"a": np.exp(2 * X[:, 0]), "b": np.where(X[:, 1] > 0, "yes", "no"), "c": X[:, 2]})
    HideSeekClassifier(**QUICK, pool="means", pool_rows=32).fit(frame, y).save(path)
    assert main(["info", path]) == 0
    said = capsys.readouterr().out
    assert "32 values of each feature, each the mean of 16" in said
    assert "2 levels of categories" in said
    assert "maximum of 1 columns" in said
    assert main(["info", path, "--json"]) == 0
    assert len(json.loads(capsys.readouterr().out)["training_data"]) == 5
    HideSeekRegressor(**QUICK, replacement="gaussian_knockoff").fit(X, y).save(path)
    assert main(["info", path]) == 0
    said = capsys.readouterr().out
    assert "in the knockoffs" in said
    assert "values of each feature" not in said
