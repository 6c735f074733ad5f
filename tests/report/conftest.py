import shutil
from functools import partial

import numpy as np
import pandas as pd
import pytest

from hideseek import HideSeekClassifier, HideSeekRegressor
from hideseek.datasets import make_mixed

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


class Visit:
    """One page in one context, with everything that went wrong in it."""

    def __init__(self, browser, path, width=1280, scheme="light", at=""):
        self.context = browser.new_context(
            viewport={"width": width, "height": 900}, color_scheme=scheme, reduced_motion="reduce", offline=True
        )
        self.page = self.context.new_page()
        self.page.set_default_timeout(5000)
        self.wrong, self.requests = [], []
        self.page.on("console", lambda message: self.wrong.append(message.text))
        self.page.on("pageerror", lambda error: self.wrong.append(str(error)))
        self.page.on("dialog", lambda dialog: self.wrong.append(dialog.message))
        self.page.on("request", lambda request: self.requests.append(request.url))
        self.url = path.as_uri()
        self.page.goto(self.url + at)

    def __enter__(self):
        return self.page

    def __exit__(self, kind, *_):
        self.context.close()
        if kind is None:
            assert self.wrong == []
            own = (self.url, "data:", "blob:")
            assert [url for url in self.requests if not url.startswith(own)] == []


@pytest.fixture
def visit(browser):
    """Open a page, and check at the end that nothing went wrong in it."""
    return partial(Visit, browser)


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


@pytest.fixture(scope="session")
def mixed():
    """A frame with a column of every kind, most of them with holes, and labels that go with x1, region and joined."""
    data = make_mixed("Syn5", 700, missing=0.1, random_state=0)
    draw = np.random.default_rng(0)
    X = data.X[["x1", "x2", "x9", "region", "colour", "size", "member", "joined"]].copy()
    X["size"] = pd.Categorical(X["size"], ["small", "medium", "large"], ordered=True)
    X["sure"] = draw.random(700) < 0.5
    X["seen"] = pd.Timestamp("2024-01-01") + pd.to_timedelta(draw.integers(0, 10**7, 700), unit="s")
    X["kind"] = np.where(draw.random(700) < 0.02, [f"rare {i}" for i in range(700)], draw.choice(["a", "b"], 700))
    X["two"] = draw.choice(["left", "right"], 700)
    late = (X["joined"] > pd.Timestamp("2021-06-01")).to_numpy()
    y = np.where(X["region"].isin(["north", "east"]), np.nan_to_num(X["x1"]), 2.0 * late - 1) > 0
    return X, y


@pytest.fixture(scope="session")
def mixed_model(mixed):
    """Cross-fitted members on a mixed table, two columns of which are one feature."""
    settings = {"n_members": 3, "column_fraction": 0.9, "steps": 150, "prediction_draws": 4, "random_state": 0}
    settings["screening"] = False  # all kinds of columns stay
    return HideSeekClassifier("fast", cross_fit=True, groups={"place": ["x9", "colour"]}, **settings).fit(*mixed)


@pytest.fixture(scope="session")
def reports(models, table, tmp_path_factory):
    """One report for each kind of target, by name."""
    folder, (X, _) = tmp_path_factory.mktemp("reports"), table
    for name, model in models.items():
        rows = X[:60]
        names = {"x5": {0: "none", 1: "one", 2: "two"}}
        model.explain(rows).report(folder / f"{name}.html", y=model.predict(rows), categories=names, protected=["x5"])
    return {name: folder / f"{name}.html" for name in models}
