"""ONNX files give the answers of the models that they were made from."""

import json
import sys
import warnings
from copy import copy

import numpy as np
import pandas as pd
import pytest

from hideseek import BlackBoxExplainer, HideSeekClassifier, HideSeekRegressor, InputError
from hideseek.datasets import make_mixed
from hideseek.errors import HideSeekWarning, MissingFileError

QUICK = {"n_members": 3, "steps": 150, "prediction_draws": 5, "random_state": 0}


@pytest.fixture(scope="module")
def onnx():
    return pytest.importorskip("onnx", reason="needs onnx: pip install 'hideseek[onnx]'")


@pytest.fixture
def answers_of(onnx, tmp_path):
    """Export a model, run the file on the inputs, and give its outputs by name."""
    onnxruntime = pytest.importorskip("onnxruntime", reason="needs onnxruntime: pip install onnxruntime")

    def run(model, *batches, **how):
        model.to_onnx(tmp_path / "model.onnx", **how)
        file = onnx.load(tmp_path / "model.onnx")
        onnx.checker.check_model(file, full_check=True)
        assert {node.domain for node in file.graph.node} == {""}
        (scan,) = (node for node in file.graph.node if node.op_type == "Scan")
        (sums,) = next(part.g.output for part in scan.attribute if part.name == "body")
        assert len(sums.type.tensor_type.shape.dim) == 2, "ONNX Runtime 1.20 refuses a body that does not say"
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = 1
        session = onnxruntime.InferenceSession(tmp_path / "model.onnx", options, providers=["CPUExecutionProvider"])
        names = [output.name for output in session.get_outputs()]
        return [dict(zip(names, session.run(None, inputs), strict=True)) for inputs in batches]

    return run


@pytest.fixture(scope="module")
def rows():
    """Columns of different sizes, the fourth far from normal, the fifth of three numbers; x2 is a switch."""
    draw = np.random.default_rng(0)
    X = draw.normal(size=(1000, 6)) * [1, 2, 0.01, 3e4, 1, 1] + [0, 1, 0.5, 2e5, 0, 0]
    X[:, 3] = np.exp(X[:, 3] / 5e4)
    X[:, 4] = draw.integers(0, 3, size=1000)
    score = np.where(X[:, 1] > 1, X[:, 0], np.log(X[:, 3]) / 2 - 2) / 0.3
    return X, score


def labels(score):
    return np.array(["low", "middle", "high"])[np.digitize(score, [-1, 1])]


def with_copy(X):
    return np.hstack((X[:, :1] * 2 + 1, X))


def with_noise(X):
    """So many columns that screening has some to drop."""
    return np.hstack((np.random.default_rng(1).normal(size=(len(X), 14)), X))


def fast(**parameters):
    return HideSeekClassifier("fast", **{**QUICK, **parameters})


KINDS = {
    "binary": lambda X, score: fast(column_fraction=0.8).fit(X, score > 0),
    "three classes": lambda X, score: fast().fit(X, labels(score)),
    "regression": lambda X, score: HideSeekRegressor("fast", **QUICK).fit(X, 1000 + 50 * score),
    "one Seek": lambda X, score: fast(cross_fit=False).fit(X, labels(score)),
    "one member": lambda X, score: fast(n_members=1).fit(X, score > 0),
    "groups": lambda X, score: fast(groups={"pair": [4, 0]}).fit(X, score > 0),
    "screened": lambda X, score: fast(screening=16).fit(with_noise(X), score > 0),
    "copies": lambda X, score: fast().fit(with_copy(X), score > 0),
    "constant column": lambda X, score: fast(groups={"pair": [5, 0]}).fit(X * [1, 1, 1, 1, 1, 0], score > 0),
    "penalty out of range": lambda X, score: fast().fit(X, score > 0).at(penalty=9),
    "black box": lambda X, score: BlackBoxExplainer(lambda X: X[:, 0] + X[:, 1], "fast", **QUICK).fit(X),
    "soft masks": lambda X, score: HideSeekClassifier("paper", epochs=60, random_state=0).fit(X, labels(score)),
    "soft masks, two Seeks": lambda X, score: HideSeekRegressor(
        "paper", epochs=60, n_members=2, cross_fit=True, random_state=0
    ).fit(X, score),
}


def fitted(kind, X, score):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", HideSeekWarning)  # some of these short fits select nothing
        return KINDS[kind](X, score)


def assert_same(found, model, X):
    """That an output of the file is Python's answer."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", HideSeekWarning)  # of missing values that the training rows did not have
        masks, selected = model.explain(X).importance, model.select(X)
        expected = model.predict_proba(X) if hasattr(model, "classes_") else model.predict(X)
    np.testing.assert_allclose(found["mask"], masks, atol=1e-5)
    np.testing.assert_array_equal(found["selected"], selected)
    if hasattr(model, "classes_"):
        assert set(found) == {"mask", "selected", "probability"}
        np.testing.assert_allclose(found["probability"], expected, atol=1e-5)
    else:
        assert set(found) == {"mask", "selected", "value"}
        np.testing.assert_allclose(found["value"], expected, atol=1e-5 * np.std(expected), rtol=1e-6)


@pytest.mark.parametrize("kind", KINDS)
def test_a_file_gives_the_models_answers_for_any_number_of_rows(answers_of, rows, kind):
    model = fitted(kind, *rows)
    X = {"copies": with_copy, "screened": with_noise}.get(kind, np.copy)(rows[0])
    X[3, -5], X[4, -6:-4], X[5, -6] = np.nan, np.nan, 1e30
    many, one = answers_of(model, {"X": X}, {"X": X[3:4]})
    assert_same(many, model, X)
    assert_same(one, model, X[3:4])
    assert_kind(model, kind)


def assert_kind(model, kind):
    """That the model has what it is to be tested for."""
    ensemble = model.learned_.ensemble
    assert (ensemble.kept is not None) == (kind in ("screened", "copies"))
    assert ensemble.stack.n_seeks == (1 if kind in ("one Seek", "soft masks") else 2)
    assert (ensemble.price is None) == ("soft masks" in kind)
    assert (ensemble.scaler.ramps is None) == ("soft masks" in kind)


def test_single_precision_inputs_are_answered_as_python_answers_them(answers_of, rows):
    model, X = fitted("binary", *rows), rows[0].astype(np.float32)
    (found,) = answers_of(model, {"X": X}, input_type="float32")
    assert_same(found, model, X)


@pytest.fixture(scope="module")
def mixed():
    """A frame with a column of every kind, most of them with missing values."""
    data = make_mixed("Syn5", 700, missing=0.1, random_state=0)
    draw = np.random.default_rng(0)
    X = data.X[["x1", "x2", "x9", "region", "colour", "size", "member", "joined"]].copy()
    X["size"] = pd.Categorical(X["size"], ["small", "medium", "large"], ordered=True)
    X["sure"] = draw.random(700) < 0.5
    X["kind"] = np.where(draw.random(700) < 0.02, [f"rare {i}" for i in range(700)], draw.choice(["a", "b"], 700))
    X["two"] = draw.choice(["left", "right"], 700)
    X["floor"] = pd.Categorical(draw.choice([1, 2, 7], 700))
    X["grade"] = pd.Categorical(draw.choice([1, 2, 3], 700), [3, 2, 1], ordered=True)
    X["note"] = [f"note {i}" for i in range(700)]
    X["remark"] = [f"remark {i}" if i % 9 else None for i in range(700)]
    X["waited"] = pd.to_timedelta(draw.integers(0, 10**5, 700), unit="s")
    return X, np.nan_to_num(X["x1"]) * np.where(X["region"].isin(["north", "east"]), 1, -1) > 0


def raw_inputs(onnx, path, frame):
    """The inputs of a file, from the columns of a frame, by the names in the file's properties."""
    properties = {each.key: json.loads(each.value) for each in onnx.load(path).metadata_props}
    numbers = [as_numbers(frame[name]) for name in properties["columns"]["X"]]
    texts = [
        [cell if isinstance(cell, str) else "" for cell in frame[name]] for name in properties["columns"]["X_text"]
    ]
    both = {"X": np.array(numbers, dtype=np.float64).T, "X_text": np.array(texts, dtype=object).T}
    return {name: values for name, values in both.items() if values.size}


def as_numbers(column):
    if column.dtype.kind == "M":
        return (column - pd.Timestamp("1970-01-01")) / pd.Timedelta(days=1)
    return column / pd.Timedelta(days=1) if column.dtype.kind == "m" else pd.to_numeric(column.astype(object))


@pytest.mark.parametrize("screened", [False, True])
def test_a_file_takes_columns_of_every_kind(onnx, answers_of, mixed, tmp_path, screened):
    frame, y = mixed
    if screened:
        frame = pd.concat((pd.DataFrame(with_noise(np.empty((700, 0)))).add_prefix("noise"), frame), axis=1)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", HideSeekWarning)
        model = fast(groups={"place": ["x9", "colour"]}, screening=screened).fit(frame, y)
    assert (model.learned_.ensemble.kept is not None) == screened
    new = frame.copy()
    new.loc[3, ["region", "kind", "two"]] = None
    new.loc[4, ["region", "kind", "two"]] = "never seen"
    model.to_onnx(tmp_path / "first.onnx")
    (found,) = answers_of(model, raw_inputs(onnx, tmp_path / "first.onnx", new))
    assert_same(found, model, new)


def test_a_file_takes_a_table_of_text_alone(onnx, answers_of, mixed, tmp_path):
    frame = mixed[0][["region", "colour", "two"]]
    model = fast().fit(frame, (frame["two"] == "left") == (frame["region"] == "north"))
    model.to_onnx(tmp_path / "first.onnx")
    inputs = raw_inputs(onnx, tmp_path / "first.onnx", frame)
    assert set(inputs) == {"X_text"}
    (found,) = answers_of(model, inputs)
    assert_same(found, model, frame)


def test_a_file_takes_no_rows_too(answers_of, rows):
    (found,) = answers_of(fitted("three classes", *rows), {"X": rows[0][:0]})
    assert {name: values.shape for name, values in found.items()} == {
        "mask": (0, 6),
        "selected": (0, 6),
        "probability": (0, 3),
    }


def test_the_same_model_gives_the_same_bytes_also_when_it_was_saved(onnx, rows, tmp_path):
    import hideseek

    model = fitted("three classes", *rows)
    model.save(tmp_path / "model.safetensors")
    for name, each in (("a", model), ("b", model), ("c", hideseek.load(tmp_path / "model.safetensors"))):
        each.to_onnx(tmp_path / name)
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes() == (tmp_path / "c").read_bytes()


def test_a_file_names_its_columns_features_and_classes(onnx, rows, tmp_path):
    fitted("three classes", *rows).to_onnx(tmp_path / "model.onnx")
    file = onnx.load(tmp_path / "model.onnx")
    properties = {each.key: json.loads(each.value) for each in file.metadata_props}
    names = [f"x{j + 1}" for j in range(6)]
    assert properties == {
        "columns": {"X": names, "X_text": []},
        "features": names,
        "classes": ["high", "low", "middle"],
    }
    assert [(each.domain, each.version) for each in file.opset_import] == [("", 19)]


def test_models_that_cannot_be_exported_are_refused_by_name(onnx, rows, tmp_path):
    X, score = rows
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", HideSeekWarning)
        knockoffs = HideSeekClassifier("fast", replacement="gaussian_knockoff", **QUICK).fit(X, score > 0)
        mixed = pd.DataFrame({"x": X[:, 0], "both": pd.Series([1, "one"] * 500, dtype=object)})
        both = HideSeekClassifier("fast", **QUICK).fit(mixed, score > 0)
    binary = fitted("binary", X, score)
    exactly = binary.explain(X[:5], n_features=2).model
    many_draws = copy(binary).set_params(prediction_draws=999)
    for model, message in (
        (knockoffs, "replacement='gaussian_knockoff'"),
        (exactly, "n_features=2 in every row"),
        (both, "numbers and text at once: 'both'"),
        (many_draws, "prediction_draws=999"),
    ):
        with pytest.raises(InputError, match=message):
            model.to_onnx(tmp_path / "model.onnx")
    with pytest.raises(InputError, match="input_type='float16'"):
        binary.to_onnx(tmp_path / "model.onnx", input_type="float16")
    with pytest.raises(MissingFileError, match="no folder"):
        binary.to_onnx(tmp_path / "nowhere" / "model.onnx")
    assert not list(tmp_path.iterdir())


def test_without_onnx_the_error_says_what_to_install(model, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "onnx", None)
    with pytest.raises(ModuleNotFoundError, match=r"hideseek\[onnx\]"):
        model.to_onnx(tmp_path / "model.onnx")


def test_values_next_to_cuts_are_moved_as_in_the_library(switch, answers_of):
    X, y = switch
    model = HideSeekClassifier("fast", random_state=0).fit(X, y)
    assert len(model.cuts_) > 1
    rows = np.repeat([[0.4, -0.4, 0.7, 0.0]], 9, axis=0)
    for name, values in model.cuts_.items():
        column = ["x1", "x2", "x3", "x4"].index(name)
        rows[:, column] = values[0] + np.linspace(-1.5, 1.5, 9)  # on the cut itself too
    (answers,) = answers_of(model, {"X": rows})
    np.testing.assert_allclose(answers["mask"], model.explain(rows).importance, atol=1e-5)
    np.testing.assert_allclose(answers["probability"], model.predict_proba(rows), atol=1e-5)
