from __future__ import annotations

import time
import warnings

import numpy as np
import pytest

from hideseek.datasets import make_syn, make_syn_regression
from hideseek.datasets.truth import falling_probability, syn_truth
from hideseek.errors import InputError
from hideseek.metrics import auroc

NAMES = [f"Syn{i}" for i in range(1, 7)]
# Worked by hand for (1, 2, 1, 1, 1, 1, 0, -1, 0.5, 0): U1 = 1 * 2, U2 = 4 - 4, U3 = 0 + 1 + 0.5 + 1 - 2.4.
ROW = [1, 2, 1, 1, 1, 1, 0, -1, 0.5, 0]
U1, U2, U3 = 2.0, 0.0, 0.1
FIRST, SECOND, THIRD = {1, 2}, {3, 4, 5, 6}, {7, 8, 9, 10}


@pytest.mark.parametrize(
    ("name", "switch", "expected", "relevant"),
    [
        ("Syn1", -1, U1, FIRST),
        ("Syn2", -1, U2, SECOND),
        ("Syn3", -1, U3, THIRD),
        ("Syn4", -1, U1, FIRST | {11}),
        ("Syn4", 1, U2, SECOND | {11}),
        ("Syn5", -1, U1, FIRST | {11}),
        ("Syn5", 1, U3, THIRD | {11}),
        ("Syn6", -1, U2, SECOND | {11}),
        ("Syn6", 1, U3, THIRD | {11}),
        ("Syn4", 0, U2, SECOND | {11}),
    ],
)
def test_values_worked_by_hand(name, switch, expected, relevant):
    U, truth = syn_truth(name, np.array([[*ROW, switch, 9.0]]))
    assert np.allclose(U, expected, rtol=0, atol=1e-12)
    assert set((np.flatnonzero(truth[0]) + 1).tolist()) == relevant


def test_sine_and_exponential_worked_by_hand():
    row = np.zeros((1, 11))
    row[0, 6], row[0, 9] = 5 * np.pi / 2, np.log(2)
    assert syn_truth("Syn3", row)[0] == pytest.approx([-10 + 0.5 - 2.4])


def test_probability_falls_with_u_and_never_overflows():
    with warnings.catch_warnings(), np.errstate(over="raise", invalid="raise"):
        warnings.simplefilter("error")
        probability = falling_probability(np.array([-1e300, 0.0, 2.0, 700.0, 1e300]))
    assert probability == pytest.approx([1, 0.5, 0.11920292202211755, 9.8596765e-305, 0], rel=1e-6)


@pytest.mark.parametrize(
    ("name", "best"),
    [("Syn1", 0.6995), ("Syn2", 0.8996), ("Syn3", 0.9056), ("Syn4", 0.8212), ("Syn5", 0.8224), ("Syn6", 0.9034)],
)
def test_bayes_auroc_of_a_million_rows(name, best):
    start = time.perf_counter()
    data = make_syn(name, n_samples=1_000_000)
    assert time.perf_counter() - start < 10
    assert data.X.shape == (1_000_000, 11)
    # The standard error of an AUROC is at most 0.0006 here.
    assert auroc(data.y, data.probability) == pytest.approx(best, abs=0.0012)


@pytest.mark.parametrize("name", NAMES)
def test_labels_are_drawn_with_the_probability(name):
    data = make_syn(name, n_samples=100_000, random_state=5)
    for low, high in ((0, 0.25), (0.25, 0.5), (0.5, 0.75), (0.75, 1)):
        rows = (data.probability >= low) & (data.probability < high)
        error = 0.5 / np.sqrt(rows.sum())
        assert abs(data.y[rows].mean() - data.probability[rows].mean()) < 4 * error


@pytest.mark.parametrize("rho", [0.0, 0.5, 0.9])
def test_every_pair_has_the_asked_correlation(rho):
    X = make_syn("Syn1", n_samples=100_000, rho=rho).X
    expected = np.full((11, 11), rho)
    np.fill_diagonal(expected, 1)
    assert np.abs(np.cov(X, rowvar=False) - expected).max() < 0.03


def test_noise_columns_and_names():
    data = make_syn("sYN6", n_samples=10, n_features=100)
    assert data.name == "Syn6"
    assert data.X.dtype == np.float64
    assert data.feature_names[0] == "x1"
    assert data.feature_names[99] == "x100"
    assert not data.relevant[:, 11:].any()


def test_same_seed_same_rows():
    one, again, other = make_syn("Syn4", 50), make_syn("Syn4", 50), make_syn("Syn4", 50, random_state=1)
    assert np.array_equal(one.X, again.X)
    assert np.array_equal(one.y, again.y)
    assert not np.array_equal(one.X, other.X)


def test_regression_relative_has_the_truth_of_its_original():
    data, original = make_syn_regression("Syn5", 20_000, noise=0.5), make_syn("Syn5", 20_000)
    assert np.array_equal(data.relevant, original.relevant)
    assert data.probability is None
    residual = data.y - syn_truth("Syn5", data.X)[0]
    assert residual.std() == pytest.approx(0.5, rel=0.03)
    assert abs(residual.mean()) < 0.02


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"name": "Sin4"}, ["name='Sin4'", "did you mean 'Syn4'"]),
        ({"name": 4}, ["name=4", "'Syn1'"]),
        ({"name": "Syn1", "n_samples": 0}, ["n_samples=0", "at least 1"]),
        ({"name": "Syn1", "n_features": 10}, ["n_features=10", "at least 11"]),
        ({"name": "Syn1", "rho": 1.0}, ["rho=1.0", "from 0 to below 1"]),
        ({"name": "Syn1", "random_state": -1}, ["random_state=-1", "at least 0"]),
    ],
)
def test_wrong_arguments_are_named(arguments, words):
    with pytest.raises(InputError) as caught:
        make_syn(**arguments)
    assert all(word in str(caught.value) for word in words)


def test_negative_noise_is_refused():
    with pytest.raises(InputError, match="noise=-1"):
        make_syn_regression("Syn1", noise=-1)
