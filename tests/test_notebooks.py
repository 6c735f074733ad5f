"""What a notebook shows: explanations, models and progress."""

import io
import sys
import types

import numpy as np

from hideseek import Explanation, HideSeekClassifier
from hideseek.search import Trust


class Shell:
    """What get_ipython() returns in Jupyter, as far as its type tells."""


Shell.__module__ = "ipykernel.zmqshell"


def test_an_explanation_shows_bars_of_the_features_selected_most_often():
    selected = np.array([[True, False], [True, False], [True, True], [False, False]])
    page = Explanation(selected * 0.9, selected, feature_names=["age", "<pay>"])._repr_html_()
    assert "Explanation of 4 rows x 2 features (mask), 1.00 selected per row" in page
    assert page.index("width:75%") < page.index("width:25%")
    assert "&lt;pay&gt;" in page
    assert "<pay>" not in page


def test_of_many_features_those_selected_most_often_are_shown():
    selected = np.zeros((5, 40), dtype=bool)
    selected[:, 37] = True
    page = Explanation(selected * 1.0, selected)._repr_html_()
    assert "<th>x38</th>" in page
    assert "28 more features" in page
    assert page.count("<td style") == 5 * 12


def test_an_explanation_without_rows_or_without_selection_is_shown():
    assert "0 rows" in Explanation(np.ones((0, 2)), np.ones((0, 2)))._repr_html_()
    assert "First rows" in Explanation(np.zeros((2, 2)), np.zeros((2, 2)))._repr_html_()


def test_a_fitted_model_shows_parameters_and_trust(model):
    page = model._repr_html_()
    trust = model.trust_
    assert "preset" in page
    assert f"Trust: {trust.n_rows:,} rows" in page
    assert f"width:{100 * trust.score_selected:.0f}%" in page
    assert f"{trust.score_selected:.3f}" in page
    assert "Trust" not in HideSeekClassifier()._repr_html_()


def test_trust_shows_its_warnings_and_says_where_nothing_was_measured():
    assert "<li>Only 50 rows were held out" in Trust("r2", 50, 3, score_selected=-0.2).with_warnings()._repr_html_()
    assert "No rows were held out" in Trust("auroc", 0, 3)._repr_html_()


def test_progress_is_shown_in_a_notebook(switch, monkeypatch):
    fake = types.ModuleType("IPython")
    fake.get_ipython = Shell
    monkeypatch.setitem(sys.modules, "IPython", fake)
    monkeypatch.setenv("TERM", "xterm-color")
    monkeypatch.setattr(sys, "stderr", io.StringIO())
    for verbose in (False, True):
        HideSeekClassifier("fast", steps=20, verbose=verbose, random_state=0).fit(switch[0][:200], switch[1][:200])
        assert ("20/20" in sys.stderr.getvalue()) == verbose


def test_a_plain_interpreter_of_ipython_is_no_notebook(switch, monkeypatch):
    fake = types.ModuleType("IPython")
    fake.get_ipython = lambda: None
    monkeypatch.setitem(sys.modules, "IPython", fake)
    monkeypatch.setattr(sys, "stderr", io.StringIO())
    HideSeekClassifier("fast", steps=20, verbose=True, random_state=0).fit(switch[0][:200], switch[1][:200])
    assert sys.stderr.getvalue() == ""
