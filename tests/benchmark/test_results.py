"""What the seeds say together, against cases worked by hand."""

import csv

import numpy as np
import pandas as pd
import polars as pl
import pytest

from hideseek import InputError
from hideseek.benchmark import Results

TRACE = {"key": "abc", "stack": 3, "device": "cpu", "commit": "def", "time": "now"}


def record(method, dataset, seed, status="finished", **scores):
    error = None if status == "finished" else {"type": "ValueError", "message": "no | luck", "traceback": "..."}
    return {
        "method": method,
        "dataset": dataset,
        "seed": seed,
        "status": status,
        "scores": scores,
        "error": error,
        "arrays": [],
        **TRACE,
        "versions": {"hideseek": "1.2"},
    }


@pytest.fixture
def results():
    return Results(
        [
            *(
                record("ours", "Syn1", seed, tpr=tpr, fdr=100 - tpr, n_selected=2.0)
                for seed, tpr in enumerate([90, 98, 97.0])
            ),
            *(record("theirs", "Syn1", seed, tpr=tpr) for seed, tpr in enumerate([80.0, 99.0])),
            record("theirs", "Syn1", 2, "failed"),
            *(record("theirs", "Syn2", seed, "failed") for seed in range(3)),
        ],
        missing=[("ours", "Syn2", 0)],
    )


def test_summary(results):
    lines = {(line["method"], line["dataset"], line["score"]): line for line in results.summary()}
    assert list(lines) == [
        ("ours", "Syn1", "tpr"),
        ("ours", "Syn1", "fdr"),
        ("ours", "Syn1", "n_selected"),
        ("theirs", "Syn1", "tpr"),
        ("theirs", "Syn2", None),
    ]
    tpr, fdr, count = (lines["ours", "Syn1", score] for score in ("tpr", "fdr", "n_selected"))
    assert (tpr["median"], tpr["worst"], tpr["worst_seed"], tpr["mean"]) == (97, 90, 0, 95)
    assert (tpr["low"], tpr["high"], tpr["n_seeds"], tpr["n_failed"]) == (90, 98, 3, 0)
    assert (fdr["median"], fdr["worst"], fdr["worst_seed"]) == (3, 10, 0)
    assert (count["median"], count["worst"], count["worst_seed"]) == (2, None, None)
    theirs, nothing = lines["theirs", "Syn1", "tpr"], lines["theirs", "Syn2", None]
    assert (theirs["median"], theirs["n_seeds"], theirs["n_failed"]) == (89.5, 2, 1)
    assert (nothing["median"], nothing["n_seeds"], nothing["n_failed"]) == (None, 0, 3)
    assert [line["score"] for line in results.summary("fdr")] == ["fdr", None]


def test_only_the_scores_that_were_asked_for_are_shown_and_those_of_a_hook():
    records = [record("a", "b", 0, tpr=1.0, fdr=2.0, gap=3.0)]
    assert Results(records, scores=["fdr"]).scores == ("fdr", "gap")
    assert Results(records, scores=["fdr"]).summary()[1]["worst"] is None


def test_compare_puts_the_published_number_beside_ours(results, tmp_path):
    published = tmp_path / "published.csv"
    published.write_text("dataset,method,tpr,fdr\nSyn1,Them,95,5\nSyn2,Them,50,50\n")
    table = results.compare(published, {"ours": "Them", "theirs": "Them"})
    assert table.columns[3:] == ("published", "ours", "difference", "worst", "worst_seed", "n_seeds", "n_failed")
    lines = {(line["method"], line["dataset"], line["score"]): tuple(line.values())[3:] for line in table}
    assert lines["ours", "Syn1", "tpr"] == (95, 97, 2, 90, 0, 3, 0)
    assert lines["ours", "Syn1", "fdr"] == (5, 3, -2, 10, 0, 3, 0)
    assert lines["ours", "Syn2", "tpr"] == (50, None, None, None, None, 0, 0)
    assert lines["theirs", "Syn1", "fdr"] == (5, None, None, None, None, 0, 1)
    assert lines["theirs", "Syn2", "tpr"] == (50, None, None, None, None, 0, 3)
    assert len(lines) == 8
    same = [{"method": "ours", "dataset": "Syn1", "tpr": 96}]
    assert [line["difference"] for line in results.compare(same)] == [1]
    gaps = [{"method": "Them", "dataset": "Syn1", "tpr": 96, "fdr": ""}]
    ours = {(line["method"], line["score"]): line for line in results.compare(gaps, {"ours": "Nobody"})}
    assert ours["ours", "tpr"]["published"] is None
    assert ours["ours", "tpr"]["ours"] is not None
    assert [line["score"] for line in results.compare(gaps, {"theirs": "Them"})] == ["tpr"]


def test_versus_pairs_the_seeds_that_both_have(results):
    (line,) = results.versus("ours", "theirs", "tpr")
    assert (line["dataset"], line["n_seeds"], line["median_difference"]) == ("Syn1", 2, 4.5)
    assert (line["n_larger"], line["n_smaller"]) == (1, 1)
    with pytest.raises(InputError, match="no seeds on which both 'ours' and 'theirs' have the score 'fdr'"):
        results.versus("ours", "theirs", "fdr")


def test_values_by_seed(results):
    assert results.values("theirs", "Syn1", "tpr") == {0: 80.0, 1: 99.0}
    assert results.values("theirs", "Syn2", "tpr") == {}


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_frames_have_a_line_per_job(results, library):
    frame = results.to_frame(library)
    assert type(frame) is {"pandas": pd.DataFrame, "polars": pl.DataFrame}[library]
    assert list(frame.columns) == [
        *("method", "dataset", "seed", "status", "tpr", "fdr", "n_selected", "error"),
        *("key", "stack", "device", "version", "commit", "time"),
    ]
    assert len(frame) == 9
    assert np.nanmax(np.array(frame["tpr"].to_list(), dtype=float)) == 99


def test_csv_and_markdown(results, tmp_path):
    results.to_csv(tmp_path / "runs.csv")
    with open(tmp_path / "runs.csv", newline="") as file:
        rows = list(csv.DictReader(file))
    assert rows[0] == {
        "method": "ours", "dataset": "Syn1", "seed": "0", "status": "finished",
        "tpr": "90", "fdr": "10", "n_selected": "2", "error": "",
        **{name: str(value) for name, value in TRACE.items()}, "version": "1.2",
    }  # fmt: skip
    assert rows[-1]["error"] == "ValueError: no | luck"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["runs.csv"]
    first, rule, second, *_ = results.to_markdown().splitlines()
    assert first.startswith("| method | dataset | score | median | worst |")
    assert rule.count("---") == first.count("|") - 1
    assert second.startswith("| ours | Syn1 | tpr | 97 | 90 | 0 | 95 |")
    assert r"no \| luck" in results.table().to_markdown()
    printed = str(results.summary("tpr")).splitlines()[1]
    assert " ".join(printed.split()) == "ours Syn1 tpr 97 90 0 95 90 98 3 0"


def test_pooled_takes_the_mean_over_datasets_where_all_are_there():
    nearly = [record("a", "Syn1", 0, tpr=90.0), record("a", "Syn2", 0, tpr=80.0, switch=50.0)]
    failed = [record("b", "Syn1", 0, tpr=90.0), record("b", "Syn2", 0, "failed")]
    waiting = [record("c", "Syn1", 0, tpr=90.0)]
    means = Results([*nearly, *failed, *waiting]).pooled({"both": ["Syn1", "Syn2"]})
    assert [(line["method"], line["dataset"], line["status"]) for line in means] == [
        ("a", "both", "finished"),
        ("b", "both", "failed"),
    ]
    assert means.values("a", "both", "tpr") == {0: 85.0}
    assert means.values("a", "both", "switch") == {0: 50.0}
    assert means.values("b", "both", "tpr") == {}


def test_compare_with_means_and_with_cells_that_are_empty(results):
    published = [{"method": "ours", "dataset": "Syn1", "tpr": "96", "fdr": ""}]
    line, unpublished = results.compare(published, average="mean")
    assert (line["score"], line["ours"], line["difference"]) == ("tpr", 95, -1)
    assert (unpublished["score"], unpublished["published"], unpublished["difference"]) == ("fdr", None, None)
    with pytest.raises(InputError, match="average"):
        results.compare(published, average="mode")
