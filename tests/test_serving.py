"""The recipes of examples/ for serving. To run them: pip install fastapi httpx mlflow-skinny."""

import importlib.util
import json
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from hideseek import HideSeekClassifier, HideSeekRegressor

EXAMPLES = Path(__file__).parent.parent / "examples"


def example(name):
    spec = importlib.util.spec_from_file_location(name, EXAMPLES / f"{name}.py")
    module = sys.modules[name] = importlib.util.module_from_spec(spec)  # pydantic looks for types there
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def rows(switch):
    X, _ = switch
    return pd.DataFrame(X, columns=["a", "b", "c", "d"]).assign(place=np.where(X[:, 3] > 0, "here", "there"))


@pytest.fixture(scope="module")
def model(rows, switch):
    return HideSeekClassifier("fast", random_state=0).fit(rows, np.where(switch[1] > 0, "yes", "no"))


@pytest.fixture
def client(model):
    pytest.importorskip("fastapi", reason="FastAPI is not installed")
    pytest.importorskip("httpx", reason="httpx is not installed")
    testclient = pytest.importorskip("fastapi.testclient")
    return testclient.TestClient(example("service").create_app(model))


def test_service_answers_a_row_as_explain_does(client, model, rows):
    row, expected = rows.iloc[0], model.explain(rows[:1])
    answer = client.post("/explain", json=row.to_dict()).json()
    assert answer["prediction"] == expected.prediction[0]
    assert answer["probability"] == pytest.approx(expected.probability[0])
    names = [feature["name"] for feature in answer["features"]]
    assert set(names) == {name for j, name in enumerate(expected.feature_names) if expected.selected[0, j]}
    for feature in answer["features"]:
        j = expected.feature_names.index(feature["name"])
        assert feature["value"] == row[feature["name"]]
        assert feature["importance"] == pytest.approx(expected.importance[0, j])
        assert feature["effect"] == pytest.approx(expected.effect[0, j])
    assert answer["sentence"] == expected.describe(0)
    assert answer["warnings"] == []
    assert client.get("/columns").json() == rows.columns.tolist()


def test_service_takes_missing_values_and_says_so(client, rows):
    reply = client.post("/explain", json={**rows.iloc[0].to_dict(), "a": None, "place": "nowhere"})
    assert reply.status_code == 200
    assert any("'a'" in text for text in reply.json()["warnings"])


@pytest.mark.parametrize(
    ("changed", "reason"),
    [
        ({"a": "much"}, "'a'"),
        ({"a": [1, 2]}, "several values in 'a'"),
        ({"e": 1}, "unknown columns: e; expected a, b, c, d, place"),
        ({"a": 1e999}, "infinite"),
    ],
)
def test_service_refuses_bad_rows_with_422_and_a_reason(client, rows, changed, reason):
    content = json.dumps({**rows.iloc[0].to_dict(), **changed})
    reply = client.post("/explain", content=content, headers={"Content-Type": "application/json"})
    assert (reply.status_code, reason in reply.json()["detail"]) == (422, True), reply.text


def test_service_refuses_rows_without_columns_and_bodies_that_are_no_rows(client):
    reply = client.post("/explain", json={"a": 1})
    assert reply.status_code == 422
    assert "missing: b, c, d and place" in reply.json()["detail"]
    for body in ([], "text", 3):
        assert client.post("/explain", json=body).status_code == 422


def test_mlflow_logs_loads_and_predicts_with_explanations(model, rows, tmp_path, monkeypatch):
    mlflow = pytest.importorskip("mlflow", reason="MLflow is not installed")
    monkeypatch.setenv("MLFLOW_ALLOW_FILE_STORE", "true")  # its database needs a package that mlflow-skinny lacks
    monkeypatch.setenv("MLFLOW_DISABLE_TELEMETRY", "true")
    monkeypatch.chdir(tmp_path)
    mlflow.set_tracking_uri((tmp_path / "runs").as_uri())
    with mlflow.start_run():
        logged = example("mlflow_model").log(model, rows[:5])
    loaded = mlflow.pyfunc.load_model(logged.model_uri)
    expected = model.explain(rows[:50])
    assert loaded.predict(rows[:50])["prediction"].tolist() == expected.prediction.tolist()
    explained = loaded.predict(rows[:50], params={"explain": True})
    assert explained.columns.tolist() == ["prediction", "probability", "selected", "sentence"]
    np.testing.assert_array_equal(explained["selected"].map(len), expected.n_selected)
    assert explained["sentence"][3] == expected.describe(3)


def test_service_answers_numbers(rows):
    pytest.importorskip("fastapi", reason="FastAPI is not installed")
    pytest.importorskip("httpx", reason="httpx is not installed")
    testclient = pytest.importorskip("fastapi.testclient")
    model = HideSeekRegressor("fast", steps=50, random_state=0).fit(rows, 2 * rows["a"])
    client = testclient.TestClient(example("service").create_app(model))
    answer = client.post("/explain", json=rows.iloc[0].to_dict()).json()
    assert answer["probability"] is None
    assert answer["prediction"] == pytest.approx(model.predict(rows[:1])[0])
