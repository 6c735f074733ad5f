"""Run methods on datasets over seeds: results are stored one by one, interrupted runs resumed, failures shown.

Your own table and two methods:

>>> import numpy as np
>>> from tempfile import mkdtemp
>>> from hideseek import HideSeekClassifier
>>> from hideseek.benchmark import Config, run
>>> X = np.random.default_rng(0).normal(size=(1000, 5))
>>> y = np.where(X[:, 2] > 0, X[:, 0], X[:, 1]) > 0
>>> methods = {"hide and seek": HideSeekClassifier("fast"), "forest": {"parameters": {"k": 2}}}
>>> results = run(Config(methods, {"mine": (X, y)}, seeds=2), mkdtemp())
>>> results
Results(4 jobs: 4 finished, 0 failed, 0 missing)
>>> [(line["method"], line["n_seeds"]) for line in results.summary("accuracy")]
[('hide and seek', 2), ('forest', 2)]
"""

from __future__ import annotations

from hideseek.benchmark._results import Results, load_results
from hideseek.benchmark._run import run
from hideseek.benchmark.config import Config

__all__ = ["Config", "Results", "load_results", "run"]
