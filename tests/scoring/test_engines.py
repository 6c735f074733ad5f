"""A scorer in engines that bring the rows. To run all of them: pip install ray dask pyspark, and a Java for Spark."""

import shutil
import sys

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from hideseek import InputError, Scorer


@pytest.fixture
def ray(monkeypatch):
    ray = pytest.importorskip("ray")
    pytest.importorskip("ray.data")
    monkeypatch.setenv("RAY_USAGE_STATS_ENABLED", "0")
    ray.init(num_cpus=2, include_dashboard=False, log_to_driver=False, logging_level="error")
    yield ray
    ray.shutdown()


def check_equal(answers, rows, expected):
    answers = answers.sort_values("id", ignore_index=True)
    np.testing.assert_array_equal(answers["id"], rows["id"])
    np.testing.assert_array_equal(answers["prediction"], expected.prediction)
    np.testing.assert_array_equal(answers["selected"].map(len), expected.n_selected)
    first = expected.importance.argmax(axis=1)
    assert [names[0] for names in answers["selected"]] == [expected.feature_names[j] for j in first]


def test_ray_runs_a_scorer_in_tasks_and_in_actors_and_explains_files(ray, saved, named, rows, expected, tmp_path):
    ray.data.DataContext.get_current().enable_progress_bars = False
    data = ray.data.from_arrow([pa.Table.from_pandas(rows[:1200]), pa.Table.from_pandas(rows[1200:])])
    tasks = data.map_batches(Scorer(saved, carry=["id"]), batch_format="pyarrow")
    check_equal(tasks.to_pandas(), rows, expected)
    actors = data.map_batches(
        Scorer, fn_constructor_args=(str(saved),), fn_constructor_kwargs={"carry": ["id"]}, concurrency=1
    )
    check_equal(actors.to_pandas(), rows, expected)

    (tmp_path / "in").mkdir()
    for i in range(3):
        rows[700 * i : 700 * (i + 1)].to_parquet(tmp_path / f"in/{i}.parquet", index=False)
    done = named.explain_files(tmp_path / "in", tmp_path / "out", outputs=["n_selected"], backend="ray")
    assert done.n_rows == 2000
    found = np.concatenate([pq.read_table(path)["n_selected"].to_numpy() for path in done.files])
    np.testing.assert_array_equal(found, expected.n_selected)
    rows.drop(columns="x1").to_parquet(tmp_path / "in/3.parquet")
    with pytest.raises(InputError, match=r"3\.parquet' lacks 1 of the model's 4 features: x1$"):
        named.explain_files(tmp_path / "in", tmp_path / "out", outputs=["n_selected"], backend="ray")


def test_dask_runs_a_scorer_on_partitions(saved, named, rows, expected):
    dataframe = pytest.importorskip("dask.dataframe")
    parts = dataframe.from_pandas(rows, npartitions=3)
    for model in (saved, named):
        answers = parts.map_partitions(Scorer(model, carry=["id"])).compute(scheduler="sync")
        check_equal(answers, rows, expected)
        assert answers.index.equals(rows.index)


def test_scorers_of_one_model_are_the_same_to_dask(saved, named):
    token = Scorer(named, carry=["id"]).__dask_tokenize__()
    assert token == Scorer(named, carry=["id"]).__dask_tokenize__() == Scorer(saved, carry=["id"]).__dask_tokenize__()
    others = [Scorer(named), Scorer(named, ["prediction"], ["id"]), Scorer(named, ["prediction", "selected"], ["x1"])]
    assert token not in [other.__dask_tokenize__() for other in others]


@pytest.mark.skipif(shutil.which("java") is None, reason="Spark needs Java")
def test_spark_runs_a_scorer_in_map_in_arrow(saved, rows, expected, monkeypatch):
    sql = pytest.importorskip("pyspark.sql")
    types = pytest.importorskip("pyspark.sql.pandas.types")
    monkeypatch.setenv("PYSPARK_PYTHON", sys.executable)
    session = (
        sql.SparkSession.builder.master("local[2]")
        .config("spark.ui.enabled", "false")
        .config("spark.sql.execution.arrow.pyspark.enabled", "true")
        .config("spark.sql.execution.arrow.maxRecordsPerBatch", "300")
        .getOrCreate()
    )
    try:
        data = session.createDataFrame(rows)
        scorer = Scorer(saved, carry=["id"])
        schema = types.from_arrow_schema(scorer.schema_for(pa.Schema.from_pandas(rows)))
        check_equal(data.mapInArrow(scorer.stream, schema).toPandas(), rows, expected)
    finally:
        session.stop()
