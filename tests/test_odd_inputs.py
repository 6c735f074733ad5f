"""Odd inputs to every public call end in an error of ours, or in an answer; the whole table is in `benchmarks`."""

from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent

EVERY = {"fits": 4, "parameters": 3, "answers": 2, "pictures": 4}
"""Of the groups that take seconds, every so many cases are enough for each run of the tests."""


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(
    ("group", "fewest"),
    [
        ("fits", 150),
        ("parameters", 200),
        ("answers", 400),
        ("not fitted", 40),
        ("model files", 70),
        ("explanations", 300),
        ("pictures", 150),
        ("scores", 1000),
        ("makers", 400),
        ("configurations", 500),
        ("commands", 40),
    ],
)
def test_odd_inputs_raise_only_errors_of_ours(group, fewest, tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(str(ROOT))
    monkeypatch.chdir(tmp_path)
    from benchmarks.odd_inputs.case import outcome
    from benchmarks.odd_inputs.groups import groups

    cases = list(groups(tmp_path)[group])
    assert len({case.name for case in cases}) == len(cases), "each is there once"
    tried = cases[:: EVERY.get(group, 1)]
    assert len(tried) >= fewest
    outcomes = {case.name: outcome(case) for case in tried}
    assert {name: found for name, found in outcomes.items() if not found.good} == {}
