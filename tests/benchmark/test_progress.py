"""The estimate counts every method with its own seconds."""

import io
import sys
from types import SimpleNamespace

import pytest
from fakes import Failing

from hideseek import HideSeekWarning
from hideseek.benchmark import Config, run
from hideseek.benchmark._progress import Grid, remaining


def record(method, seconds, status="finished"):
    return {"method": method, "seconds": seconds, "status": status}


def test_methods_are_counted_with_their_own_seconds():
    seconds = {"quick": [0.1, 0.3], "slow": [100.0]}
    assert remaining(seconds, {"quick": 10, "slow": 2}, 1) == (pytest.approx(202.0), [])
    assert remaining(seconds, {"quick": 10, "slow": 2}, 4) == (pytest.approx(50.5), [])
    assert remaining(seconds, {"quick": 10, "new": 5, "done": 0}, 1) == (pytest.approx(2.0), ["new"])


def test_the_estimate_says_what_it_does_not_know():
    jobs = [SimpleNamespace(method=name) for name in ["quick"] * 3 + ["slow"] * 2]
    grid = Grid(jobs, [record("slow", 600.0), record("quick", 9.0, "failed")], n_workers=2)
    assert grid.estimate() == "more than 10 min left (quick not timed yet)"
    grid.add(record("quick", 20.0))
    assert (grid.done, grid.total, grid.failed) == (1, 5, 0)
    assert grid.estimate() == "10 min left"
    grid.add(record("slow", 6.0))  # this run's seconds count, not those of an earlier one
    grid.add(record("quick", 0.001, "failed"))
    assert grid.estimate() == "13 s left"
    assert grid.failed == 1


class Stream(io.StringIO):
    """What is written, to a terminal or not."""

    def __init__(self, terminal):
        super().__init__()
        self.isatty = lambda: terminal


@pytest.mark.parametrize(("terminal", "verbose"), [(True, True), (True, False), (False, True)])
def test_progress_is_shown_on_a_terminal_and_nowhere_else(own, tmp_path, monkeypatch, capfd, terminal, verbose):
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("COLUMNS", "120")
    monkeypatch.setattr(sys, "stderr", Stream(terminal))
    with pytest.warns(HideSeekWarning, match="1 of 3 jobs failed"):
        run(Config({"mine": Failing()}, {"own": own}, seeds=3), tmp_path, verbose=verbose)
    shown = sys.stderr.getvalue()
    if terminal and verbose:
        for part in ("3/3", "s left", "1 failed"):
            assert part in shown
    else:
        assert shown == ""
    assert capfd.readouterr() == ("", "")
