"""Forged files: the digest is right, and what it stands for is not."""

import io
import json
import warnings
import zipfile

import numpy as np
import pandas as pd
import pytest
from safetensors.numpy import load_file
from safetensors.numpy import save as to_bytes

import hideseek
from hideseek import Explanation, FileFormatError, HideSeekClassifier, HideSeekRegressor, InputError, persistence
from hideseek.baselines import L2X
from hideseek.digests import digest_of
from hideseek.estimators._file_checks import _check_cuts

QUICK = {"preset": "fast", "steps": 5, "hidden_layers": (3,), "random_state": 0}
DEEP = "[" * 100_000


@pytest.fixture(scope="module")
def folder(tmp_path_factory, switch):
    """Three saved models: of a frame with text, of values, and a compared method."""
    folder, (X, y) = tmp_path_factory.mktemp("files"), switch
    frame = pd.DataFrame({"a": X[:200, 0], "b": np.where(X[:200, 1] > 0, "yes", "no"), "c": np.exp(2 * X[:200, 2])})
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # so short a fit selects nothing
        HideSeekClassifier(**QUICK).fit(frame, y[:200]).save(folder / "classifier")
        HideSeekRegressor(**QUICK, penalty="auto").fit(X[:200], X[:200, 0]).save(folder / "regressor")
    L2X(2, steps=2, random_state=0).fit(X[:200], y[:200]).save(folder / "l2x")
    return folder


def forge(path, target, change_description=None, change_arrays=None, text=None):
    """Write a copy with the digest of what was changed."""
    header, arrays = persistence.header_of(path), load_file(path)
    if change_description is not None:
        change_description(header["description"])
    if change_arrays is not None:
        change_arrays(arrays)
    text = json.dumps(header) if text is None else text
    target.write_bytes(to_bytes(arrays, {"hideseek": text, "digest": digest_of(text, arrays)}))


@pytest.mark.parametrize("name", ["classifier", "regressor", "l2x"])
def test_a_file_with_one_changed_bit_is_refused(folder, tmp_path, name):
    content = bytearray((folder / name).read_bytes())
    path = tmp_path / "model"
    for place in np.linspace(0, len(content) - 1, 60).astype(int):
        content[place] ^= 4
        path.write_bytes(content)
        with pytest.raises(FileFormatError):
            hideseek.load(path)
        content[place] ^= 4
    path.write_bytes(content)
    hideseek.load(path)


def test_a_new_file_without_its_digest_is_refused(folder, tmp_path):
    path = tmp_path / "model"
    text = json.dumps(persistence.header_of(folder / "l2x"))
    path.write_bytes(to_bytes(load_file(folder / "l2x"), {"hideseek": text}))
    with pytest.raises(FileFormatError, match="digest"):
        hideseek.load(path)


def put(*place, value):
    def change(holder):
        for key in place[:-1]:
            holder = holder[key]
        holder[place[-1]] = value

    return change


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (put("recipe", "steps", value="many"), r"recipe\.steps is 'many'; expected a whole number"),
        (put("recipe", "learning_rate", value=float("nan")), "learning_rate"),
        (put("recipe", "price_range", value=[0, 1]), "unknown entry 'price_range'.*upgrade hideseek"),
        (put("prize", value=1), "unknown entry 'prize'.*upgrade hideseek"),
        (put("parameters", "new", value=1), "unknown entry 'new'"),
        (put("parameters", "prediction_draws", value=10**9), "prediction_draws"),
        (put("parameters", "groups", value={"x": []}), "groups"),
        (put("hide", value=[4, 3, 3]), r"description\.hide"),
        (put("trust", "sufficient", value=1.5), r"description\.trust\.sufficient"),
        (put("search", "default", value=99), r"description\.search"),
        (put("hide", 1, value=10**12), r"description\.hide"),
        (put("n_features", value=10**12), "feature_names has 3 entries"),
        (put("penalty", value=10**400), "penalty"),
        (put("feature_names", value=["a", "b", "\ud800"]), "feature_names"),
        (put("feature_names", value=["a", "b", "b"]), "feature_names .* expected a list of different texts"),
        (put("target", "classes", "dtype", value="<U999999999"), "classes"),
        (put("target", "classes", "values", value=[0, 0]), "classes"),
        (put("target", "classes", "values", value=[0, 10**30]), "classes"),
        (put("encoder", "columns", 1, "levels", value=["no", "no"]), "twice"),
        (put("encoder", "columns", 1, "fill", value=7), "fill"),
        (put("encoder", "columns", 0, "kind", value="picture"), "kind"),
        (put("encoder", "features", 0, "columns", value=[0, 1]), "every column exactly once"),
        (put("encoder", "columns", 0, "fill", value=float("inf")), "fill"),
        (put("search", value={"chosen": 3}), "search"),
    ],
)
def test_a_wrong_description_is_refused_before_anything_is_built(folder, tmp_path, monkeypatch, change, message):
    forge(folder / "classifier", tmp_path / "model", change)
    monkeypatch.setattr(HideSeekClassifier, "_restore", None)
    with pytest.raises(FileFormatError, match=message) as caught:
        hideseek.load(tmp_path / "model")
    assert str(caught.value).startswith(f"'{tmp_path}")
    assert str(caught.value).isprintable()


@pytest.mark.parametrize("text", [DEEP, "1" * 10_000, "null", '{"format": 1}', '{"format": [], "class": {}}'])
def test_a_description_of_another_form_is_refused(folder, tmp_path, text):
    forge(folder / "classifier", tmp_path / "model", text=text)
    with pytest.raises(FileFormatError, match="damaged") as caught:
        hideseek.load(tmp_path / "model")
    assert len(str(caught.value)) < 1000


def times(name, factor):
    return lambda arrays: arrays.__setitem__(name, arrays[name] * np.array(factor, dtype=arrays[name].dtype))


def without(name):
    return lambda arrays: arrays.pop(name)


def with_array(name, value):
    return lambda arrays: arrays.__setitem__(name, value)


@pytest.mark.parametrize(
    ("name", "change", "message"),
    [
        ("classifier", times("parameters", np.nan), "'parameters' has invalid values"),
        ("classifier", times("parameters", 1e25), "so large that answers could be infinite"),
        ("classifier", times("pool", np.inf), "'pool' has invalid values"),
        ("classifier", times("scale", 0.0), "'scale' has invalid values"),
        ("classifier", times("scale", -1.0), "'scale' has invalid values"),
        ("classifier", times("ramps.low", 1e9), "'ramps.low' has invalid values"),
        ("classifier", without("pool"), "lacks 'pool'"),
        ("classifier", without("ramps.high"), "lacks 'ramps.high'"),
        ("classifier", with_array("prices", np.ones(3)), "unknown array 'prices'.*upgrade hideseek"),
        ("classifier", with_array("pool", np.ones((4, 3), np.float32)), "'pool' has the shape"),
        ("classifier", with_array("visible", np.full((5, 3), 7, np.uint8).view(bool)), "true or false"),
        ("classifier", with_array("kept", np.array([0, 1, 2])), "lacks 'screening.score'"),
        ("regressor", with_array("path.excess", np.full(17, 0.5)), "search does not belong"),
        ("regressor", without("price_range"), "'price_range' do not agree"),
        ("regressor", times("price_range", -1.0), "ends are not in order"),
        ("l2x", times("parameters", np.nan), "'parameters' has invalid values"),
        ("l2x", times("parameters", 1e25), "so large that answers could be infinite"),
        ("l2x", times("statistics", -1.0), "variances below 0"),
        ("l2x", with_array("center", np.zeros(5)), "has the shape"),
    ],
)
def test_wrong_arrays_are_refused(folder, tmp_path, name, change, message):
    forge(folder / name, tmp_path / "model", change_arrays=change)
    with pytest.raises(FileFormatError, match=message):
        hideseek.load(tmp_path / "model")


@pytest.mark.parametrize(
    ("arrays", "message"),
    [({}, "'center' has the shape"), ({"kept": np.arange(3), "copies": np.array([[3, 0]])}, "'kept' does not have")],
)
def test_a_number_of_features_that_no_memory_could_hold_is_refused(folder, tmp_path, arrays, message):
    forge(folder / "regressor", tmp_path / "model", put("n_features", value=10**15), lambda own: own.update(arrays))
    with pytest.raises(FileFormatError, match=message):
        hideseek.load(tmp_path / "model")


def test_predictions_that_could_be_infinite_are_refused(folder, tmp_path):
    forge(folder / "regressor", tmp_path / "model", put("target", "scale", value=1e307))
    with pytest.raises(FileFormatError, match="so large that answers could be infinite"):
        hideseek.load(tmp_path / "model")


def test_a_model_that_could_not_be_loaded_is_not_saved(folder, tmp_path):
    model = hideseek.load(folder / "classifier")
    model.set_params(n_members="many")
    with pytest.raises(InputError, match=r"cannot be saved.*parameters\.n_members is 'many'"):
        model.save(tmp_path / "model")
    assert list(tmp_path.iterdir()) == []


# -- explanations -------------------------------------------------------------------------------------------------


@pytest.fixture
def explained(tmp_path):
    path = tmp_path / "explained.npz"
    Explanation([[0.9, 0.1]] * 40, [[True, False]] * 40, data=[[1.5, 2.0]] * 40).save(path)
    return path


def rewrite(path, change=lambda name, data: data, kind=zipfile.ZIP_DEFLATED):
    source = zipfile.ZipFile(io.BytesIO(path.read_bytes()))
    with zipfile.ZipFile(path, "w", kind) as target:
        for name in source.namelist():
            target.writestr(name, change(name, source.read(name)))


def test_an_explanation_with_a_changed_value_is_refused(explained):
    rewrite(explained)
    Explanation.load(explained)
    rewrite(explained, lambda name, data: data[:-1] + b"\x01" if name == "data.npy" else data)
    with pytest.raises(FileFormatError, match="damaged"):
        Explanation.load(explained)


def test_an_explanation_that_lost_its_digest_is_refused(explained):
    with np.load(explained) as file:
        arrays = {name: array for name, array in file.items() if name != "digest"}
    np.savez(explained, **arrays)
    with pytest.raises(FileFormatError, match="damaged"):
        Explanation.load(explained)
    np.savez(explained, **arrays, new=np.ones(3))
    with pytest.raises(FileFormatError, match=r"unknown array 'new'.*upgrade"):
        Explanation.load(explained)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (b"(40, 2)", b"(99999999999, 2)"),
        (b"(40, 2)", b"((((((("),
        (b"'<f8'", b"'|O8'"),
        (b"'<f8'", b"'<f4'"),
        (b"'<f8'", b"'<U9999999'"),
        (b"\x93NUMPY\x01", b"\x93NUMPY\x03"),
        (b"{'descr'", b"{'\x00\xff"),
    ],
)
def test_headers_of_arrays_are_not_believed(explained, old, new):
    rewrite(explained, lambda name, data: data.replace(old, new) if name == "importance.npy" else data)
    with pytest.raises(FileFormatError) as caught:
        Explanation.load(explained)
    assert str(caught.value).isprintable()
    assert len(str(caught.value)) < 1000


def test_a_member_longer_than_its_header_says_is_not_unpacked(explained, monkeypatch):
    rewrite(explained, lambda name, data: data + bytes(10**7) if name == "importance.npy" else data)
    monkeypatch.setattr(zipfile.ZipFile, "read", None)
    with pytest.raises(FileFormatError, match="does not have the number of bytes"):
        Explanation.load(explained)


def test_compression_that_is_never_written_is_refused(explained):
    rewrite(explained, kind=zipfile.ZIP_LZMA)
    with pytest.raises(FileFormatError, match="compressed in an unknown way"):
        Explanation.load(explained)


def test_importances_that_are_not_finite_are_not_saved(tmp_path):
    with pytest.raises(InputError, match="'importance' has invalid values"):
        Explanation([[np.nan]], [[True]]).save(tmp_path / "explained.npz")
    assert list(tmp_path.iterdir()) == []


def test_labels_of_two_levels_come_back_as_text(tmp_path):
    index = pd.MultiIndex.from_tuples([("a", 1), ("b", 2)])
    labels = np.empty(2, dtype=object)
    labels[:] = list(index)
    Explanation([[1.0], [1.0]], [[True], [True]], row_labels=labels).save(tmp_path / "explained.npz")
    assert Explanation.load(tmp_path / "explained.npz").row_labels.tolist() == ["('a', 1)", "('b', 2)"]


def test_an_explanation_of_no_rows_or_in_columns_comes_back(tmp_path):
    path = tmp_path / "explained.npz"
    Explanation(np.empty((0, 2)), np.empty((0, 2), dtype=bool)).save(path)
    assert Explanation.load(path).shape == (0, 2)
    values = np.asfortranarray(np.arange(6.0).reshape(3, 2))
    Explanation(values, values > 2).save(path)
    np.testing.assert_array_equal(Explanation.load(path).importance, values)


@pytest.mark.parametrize(
    ("column", "at", "margin"), [([4], [0.0], [0.1]), ([1, 1], [0.0, 0.5], [0.3, 0.3])], ids=["no column", "overlap"]
)
def test_cuts_of_no_column_or_with_margins_that_overlap_are_refused(column, at, margin):
    arrays = {"cuts.column": np.array(column), "cuts.at": np.array(at), "cuts.margin": np.array(margin)}
    with pytest.raises(FileFormatError, match="'cuts' are no cuts"):
        _check_cuts(arrays, 4)
    _check_cuts({name: values[:1] for name, values in arrays.items()} | {"cuts.column": np.array([3])}, 4)
