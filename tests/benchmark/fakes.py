"""Methods that cost nothing and misbehave on demand, where other processes can import them."""

import os
import signal
import time
from pathlib import Path
from types import SimpleNamespace

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin


class Fake(ClassifierMixin, BaseEstimator):
    """Selects the first k columns, predicts by the sign of the first, and writes a line for every fit."""

    def __init__(self, k=1, log=None, random_state=None):
        self.k = k
        self.log = log
        self.random_state = random_state

    def fit(self, X, y):
        self.note(f"fit {self.random_state}")
        self.classes_ = np.unique(y)
        return self

    def note(self, text):
        if self.log is not None:
            with open(self.log, "a") as file:  # short appended lines of several processes do not mix
                file.write(text + "\n")

    def explain(self, X):
        selected = np.zeros(X.shape, dtype=bool)
        selected[:, : self.k] = True
        return SimpleNamespace(selected=selected, importance=selected.astype(float))

    def predict_proba(self, X):
        p = 1 / (1 + np.exp(-np.asarray(X)[:, 0]))
        return np.column_stack((1 - p, p))

    def predict(self, X):
        return self.classes_[self.predict_proba(X).argmax(axis=1)]


class Failing(Fake):
    """Cannot fit seed 1, unless the file of the log's name with .mended is there."""

    def fit(self, X, y):
        super().fit(X, y)
        if self.random_state == 1 and not Path(f"{self.log}.mended").exists():
            raise ValueError("seed 1 is unlucky")
        return self


class Interrupted(Fake):
    """Somebody presses Ctrl-C in the fit of seed 1, once."""

    def fit(self, X, y):
        first = f"fit {self.random_state}" not in lines(self.log)
        super().fit(X, y)
        if self.random_state == 1 and first:
            raise KeyboardInterrupt
        return self


class Dying(Fake):
    """The process is killed in the fit of seed 1: as many times as ``deaths`` says."""

    def __init__(self, k=1, log=None, deaths=1, random_state=None):
        super().__init__(k, log, random_state)
        self.deaths = deaths

    def fit(self, X, y):
        super().fit(X, y)
        if self.random_state == 1 and lines(self.log).count("fit 1") <= self.deaths:
            os.kill(os.getpid(), signal.SIGKILL)
        return self


class Slow(Fake):
    """Takes its time."""

    def fit(self, X, y):
        time.sleep(0.3)
        return super().fit(X, y)


class Stacked(Failing):
    """Fits many at once, and writes down how many; a stack with seed 1 in it fails as its own fit does."""

    def __init__(self, k=1, log=None, penalty=0.0, random_state=None):
        super().__init__(k, log, random_state)
        self.penalty = penalty

    def fit_many(self, problems):
        self.note(f"stack {len(problems)} {sorted({X.shape for X, _, _, _ in problems})}")
        return [
            type(self)(**{**self.get_params(), "random_state": seed, **parameters}).fit(X, y)
            for X, y, seed, parameters in problems
        ]


class Speechless:
    """Has no explain."""

    def fit(self, X, y):
        return self


def lines(log):
    path = Path(log)
    return path.read_text().splitlines() if path.exists() else []


def keep_masks(model, test, explanation):
    return {"masks": explanation.importance[:3], "largest": explanation.importance.max()}


def keep_nothing(model, test, explanation):
    return {}
