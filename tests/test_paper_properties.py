"""What the paper says about the methods themselves: the first row of its Table 1, and the numbers of parameters.

The other rows have their tests elsewhere: the slopes of Hide&Seek's loss in ``tests/engine``, leakage in
``tests/test_leakage.py``.
"""

import numpy as np
import pytest

from hideseek import HideSeekClassifier
from hideseek.baselines import L2X, Invase, RealX
from hideseek.datasets import make_syn
from hideseek.engine.networks import Mlp

HIDE_AND_SEEK = Mlp((11, 32, 32, 11)).n_parameters + Mlp((11, 32, 32, 2)).n_parameters
SHORT = {Invase: {"iterations": 5, "batch_size": 50}, RealX: {"epochs": 2}, L2X: {"steps": 5, "k": 5}}


@pytest.fixture(scope="module")
def rows():
    return make_syn("Syn4", n_samples=2000)


@pytest.mark.parametrize(
    ("method", "thousands", "times"),
    [(Invase, 100, 30), (RealX, 57, 17), (L2X, 57, 17)],
    ids=["INVASE", "REAL-X", "L2X"],
)
def test_compared_methods_have_17_to_30_times_the_parameters_of_hideseek(rows, method, thousands, times):
    fitted = method(**SHORT[method], random_state=0, device="cpu").fit(rows.X, rows.y)
    n_parameters = sum(network.n_parameters for network in fitted.networks_.shapes.values())
    assert n_parameters / 1000 == pytest.approx(thousands, abs=2)
    assert n_parameters / HIDE_AND_SEEK == pytest.approx(times, abs=1)


@pytest.mark.parametrize("method", [HideSeekClassifier, Invase, RealX, L2X])
def test_only_l2x_must_be_told_how_many_features_to_select(rows, method):
    """Table 1, first row: an adaptive number of important features."""
    told = {"preset": "paper"} if method is HideSeekClassifier else SHORT[method]
    model = method(**told, random_state=0, device="cpu").fit(rows.X, rows.y)
    sizes = np.asarray(model.select(rows.X)).sum(axis=1)
    assert ("k" in model.get_params()) == (method is L2X)
    assert (sizes == 5).all() if method is L2X else len(np.unique(sizes)) > 1
