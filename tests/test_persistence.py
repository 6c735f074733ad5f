import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from safetensors.numpy import save_file
from sklearn.exceptions import NotFittedError

import hideseek
from hideseek import Explanation, FileFormatError, HideSeekClassifier, HideSeekRegressor, persistence
from hideseek.estimators._state import state_of

# the fits here are too short for masks to settle
pytestmark = pytest.mark.filterwarnings("ignore::hideseek.errors.MaskWarning")

QUICK = {"preset": "fast", "steps": 30, "random_state": 0}
STORED = Path(__file__).parent / "data"
"""Files of every format there has been, written once; later versions must read them, so they are never written anew."""


@pytest.mark.parametrize("name", ["classifier", "regressor", "black_box"])
def test_files_of_format_1_give_what_they_gave_when_they_were_written(name):
    model = hideseek.load(STORED / f"format_1_{name}.safetensors")
    with np.load(STORED / "format_1_expected.npz") as expected:
        X = expected["X"]
        rows = pd.DataFrame(X, columns=["age", "sex", "limit"]) if name != "regressor" else X
        np.testing.assert_allclose(model.explain(rows).importance, expected[f"{name}.importance"], atol=1e-5)
        predicted = expected[f"{name}.predict"]
        if predicted.dtype.kind == "f":
            np.testing.assert_allclose(model.predict(rows, shown="mask"), predicted, rtol=1e-4)
        else:
            assert model.predict(rows, shown="mask").tolist() == predicted.tolist()
    assert model.history_["loss"].shape == (40, 1)
    assert model.recipe_.hidden_layers == (3,)


def test_an_explanation_of_format_1_is_read():
    explanation = Explanation.load(STORED / "format_1_explanation.npz")
    with np.load(STORED / "format_1_expected.npz") as expected:
        np.testing.assert_allclose(explanation.importance, expected["classifier.importance"], atol=1e-5)
        assert explanation.prediction.tolist() == expected["classifier.predict"].tolist()
        np.testing.assert_array_equal(explanation.data, expected["X"])
    assert explanation.feature_names == ("age", "sex", "limit")


def test_a_new_process_gives_the_same_bits(switch, model, tmp_path):
    X, _ = switch
    model.save(tmp_path / "model.safetensors")
    np.save(tmp_path / "X.npy", X)
    code = """
import sys, numpy as np, hideseek
folder = sys.argv[1]
model, X = hideseek.load(folder + "/model.safetensors"), np.load(folder + "/X.npy")
np.savez(folder + "/out.npz", masks=model.explain(X).importance, probability=model.predict_proba(X))
"""
    subprocess.run([sys.executable, "-c", code, str(tmp_path)], check=True)
    with np.load(tmp_path / "out.npz") as out:
        np.testing.assert_array_equal(out["masks"], model.explain(X).importance)
        np.testing.assert_array_equal(out["probability"], model.predict_proba(X))


@pytest.mark.parametrize("labels", [["no", "yes"], [3, 7], [False, True], [1.0, 2.0]])
def test_classes_and_parameters_survive(switch, tmp_path, labels):
    X, y = switch
    model = HideSeekClassifier(
        **QUICK, class_weight={label: 1.0 + i for i, label in enumerate(labels)}, hidden_layers=(8, 4)
    ).fit(X, np.array(labels)[y])
    model.save(tmp_path / "model.safetensors")
    again = hideseek.load(tmp_path / "model.safetensors")
    assert again.get_params() == model.get_params()
    np.testing.assert_array_equal(again.classes_, model.classes_)
    assert again.predict(X).dtype == model.predict(X).dtype
    np.testing.assert_array_equal(again.predict(X), model.predict(X))
    assert again.recipe_ == model.recipe_
    np.testing.assert_array_equal(again.history_["loss"], model.history_["loss"])


def test_names_and_regression_survive(switch, tmp_path):
    X, _ = switch
    frame = pd.DataFrame(X, columns=list("abcd"))
    model = HideSeekRegressor(**{**QUICK, "random_state": np.random.RandomState(3)}).fit(frame, 5 + 3 * X[:, 0])
    model.save(tmp_path / "model.safetensors")
    again = hideseek.load(tmp_path / "model.safetensors")
    assert again.feature_names_in_.tolist() == list("abcd")
    np.testing.assert_array_equal(again.predict(frame), model.predict(frame))
    with pytest.raises(hideseek.InputError, match="missing"):
        again.predict(frame.drop(columns="a"))


def test_numbers_of_numpy_and_dates_can_be_saved(switch, tmp_path):
    X, y = switch
    path = tmp_path / "model.safetensors"
    days = np.array(["2024-01-01", "2025-01-01"], dtype="M8[D]")
    model = HideSeekClassifier(
        "fast", steps=np.int64(5), hidden_layers=tuple(np.array([8, 4])), penalty=np.float32(0.5), random_state=0
    )
    model.fit(X, days[y]).save(path)
    again = hideseek.load(path)
    np.testing.assert_array_equal(again.predict(X), model.predict(X))
    assert again.get_params()["hidden_layers"] == (8, 4)


def test_what_cannot_be_loaded_again_is_not_saved(switch, tmp_path):
    class Mine(HideSeekClassifier):
        pass

    with pytest.raises(hideseek.InputError, match="a Mine cannot be saved"):
        Mine(**QUICK).fit(*switch).save(tmp_path / "model.safetensors")
    with pytest.raises(FileNotFoundError, match="there is no folder"):
        HideSeekClassifier(**QUICK).fit(*switch).save(tmp_path / "none" / "model.safetensors")
    assert list(tmp_path.iterdir()) == []


def test_the_file_is_small(model, tmp_path):
    model.save(tmp_path / "model.safetensors")
    assert (tmp_path / "model.safetensors").stat().st_size < 100_000


def test_a_truncated_file_is_refused(model, tmp_path):
    path = tmp_path / "model.safetensors"
    model.save(path)
    content = path.read_bytes()
    for length in (0, 5, 100, len(content) // 2, len(content) - 1):
        path.write_bytes(content[:length])
        with pytest.raises(FileFormatError, match="truncated"):
            hideseek.load(path)


def test_foreign_newer_and_missing_files_are_refused(tmp_path):
    path = tmp_path / "model.safetensors"
    save_file({"weight": np.ones(3)}, path)
    with pytest.raises(FileFormatError, match="not written by hideseek"):
        hideseek.load(path)
    header = {"format": persistence.FORMAT_VERSION + 1, "library": "9.0", "class": "HideSeekClassifier"}
    save_file({"weight": np.ones(3)}, path, {"hideseek": json.dumps(header)})
    with pytest.raises(FileFormatError, match=r"written by hideseek 9\.0.*upgrade"):
        hideseek.load(path)
    for text in ("{", "{}", json.dumps(header | {"format": 1, "description": {}})):
        save_file({"weight": np.ones(3)}, path, {"hideseek": text})
        with pytest.raises(FileFormatError, match="damaged"):
            hideseek.load(path)
    header |= {"format": 1, "class": "Surprise", "description": {}}
    save_file({"weight": np.ones(3)}, path, {"hideseek": json.dumps(header)})
    with pytest.raises(FileFormatError, match="'Surprise'"):
        hideseek.load(path)
    with pytest.raises(FileNotFoundError, match="no file"):
        hideseek.load(tmp_path / "none.safetensors")


def test_a_failed_write_leaves_the_old_file(model, tmp_path, monkeypatch):
    path = tmp_path / "model.safetensors"
    model.save(path)
    before = path.read_bytes()

    def full_disk(*args):
        raise OSError("no space left on device")

    monkeypatch.setattr("hideseek.files.os.fsync", full_disk)
    with pytest.raises(OSError, match="no space"):
        model.save(path)
    assert path.read_bytes() == before
    assert [p.name for p in tmp_path.iterdir()] == ["model.safetensors"]


def test_an_unfitted_model_is_not_saved(tmp_path):
    with pytest.raises(NotFittedError):
        HideSeekClassifier().save(tmp_path / "model.safetensors")
    assert list(tmp_path.iterdir()) == []


def test_both_seeks_survive_and_older_files_load(switch, tmp_path):
    X, y = switch
    path = tmp_path / "model.safetensors"
    model = HideSeekClassifier(**QUICK, cross_fit=True).fit(X, y)
    model.save(path)
    again = hideseek.load(path)
    assert again.recipe_.cross_fit
    np.testing.assert_array_equal(again.predict_proba(X), model.predict_proba(X))
    plain = HideSeekClassifier(**QUICK, cross_fit=False).fit(X, y)
    assert not np.array_equal(plain.predict_proba(X), model.predict_proba(X))
    arrays, description = state_of(plain)
    for part in (description["recipe"], description["parameters"]):
        del part["cross_fit"], part["weight_decay"], part["ramps"]  # as before there was a choice
    description["recipe"]["n_scouts"] = 2  # as while there were scouts
    persistence.save(path, plain, arrays, description)
    np.testing.assert_array_equal(hideseek.load(path).predict_proba(X), plain.predict_proba(X))
