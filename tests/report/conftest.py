import shutil

import numpy as np
import pytest

from hideseek import HideSeekClassifier, HideSeekRegressor

CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)

QUIET = [
    "--no-sandbox",
    "--disable-gpu",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]
"""Chromium itself must not look for a network either."""


@pytest.fixture(scope="module")
def browser():
    """One browser for a file of tests, and gone with it: while it is there, so is its event loop."""
    if CHROMIUM is None:
        pytest.skip("needs Chromium: install it (on Debian, apt-get install chromium)")
    playwright = pytest.importorskip("playwright.sync_api")
    with playwright.sync_playwright() as started:
        browser = started.chromium.launch(executable_path=CHROMIUM, args=QUIET)
        yield browser
        browser.close()


@pytest.fixture(scope="session")
def table():
    """Columns of different sizes, the last of three whole numbers; x2 says whether x1 or x4 counts."""
    draw = np.random.default_rng(0)
    X = draw.normal(size=(600, 5)) * [1, 2, 0.01, 3e4, 1] + [0, 1, 0.5, 2e5, 0]
    X[:, 4] = draw.integers(0, 3, size=600)
    score = np.where(X[:, 1] > 1, X[:, 0], (X[:, 3] - 2e5) / 3e4)
    return X, score


@pytest.fixture(scope="session")
def models(table):
    """Small ensembles in which no member sees every column."""
    X, score = table
    settings = {"n_members": 3, "column_fraction": 0.8, "steps": 150, "prediction_draws": 5, "random_state": 0}
    three = np.array(["low", "middle", "high"])[np.digitize(score, [-0.5, 0.5])]
    return {
        "binary": HideSeekClassifier("fast", **settings).fit(X, score > 0),
        "three classes": HideSeekClassifier("fast", **settings).fit(X, three),
        "regression": HideSeekRegressor("fast", **settings).fit(X, 1000 + 50 * score),
    }
