from __future__ import annotations

import numpy as np
import pytest

from hideseek.datasets import make_cafe, make_ice_cream, make_multiclass, make_switch
from hideseek.errors import InputError


def logit(probability):
    return np.log(probability / (1 - probability))


def test_cafe_follows_its_description():
    data = make_cafe(n_samples=2000, n_features=6)
    temperature, coffee, chocolate, iced_coffee, iced_tea, _ = data.X.T
    cold = temperature < 20
    assert 0.45 < cold.mean() < 0.55
    expected = np.where(cold, 2 * (coffee + chocolate), 2 * (coffee + iced_coffee + iced_tea))
    assert logit(data.probability) == pytest.approx(expected, abs=1e-6)
    assert {tuple(row) for row in data.relevant[cold].tolist()} == {(True, True, True, False, False, False)}
    assert {tuple(row) for row in data.relevant[~cold].tolist()} == {(True, True, False, True, True, False)}
    assert data.feature_names == ("temperature", "coffee", "hot_chocolate", "iced_coffee", "iced_tea", "x6")


def test_cafe_as_a_frame_has_names_and_the_same_values():
    plain, named = make_cafe(n_samples=50), make_cafe(n_samples=50, as_frame=True)
    assert tuple(named.X.columns) == plain.feature_names
    assert named.y.name == "profit"
    np.testing.assert_array_equal(named.X, plain.X)
    np.testing.assert_array_equal(named.y, plain.y)


def test_ice_cream_is_sold_from_25_degrees_on():
    data = make_ice_cream(n_samples=2000, n_features=3)
    assert np.array_equal(data.y == 1, data.X[:, 0] >= 25)
    assert np.array_equal(data.probability, data.y)
    assert data.relevant.tolist() == [[True, False, False]] * 2000
    assert 0.45 < data.y.mean() < 0.55


@pytest.mark.parametrize("n_cells", [2, 3, 5])
def test_cells_are_equally_likely_and_have_features_of_their_own(n_cells):
    data = make_switch(n_cells, n_samples=30_000, n_features=2 * n_cells + 2)
    switch = data.X[:, 2 * n_cells]
    assert data.relevant[:, 2 * n_cells].all()
    assert not data.relevant[:, -1].any()
    edges = [-np.inf]
    for cell in range(n_cells):
        rows = data.relevant[:, 2 * cell]
        assert np.array_equal(rows, data.relevant[:, 2 * cell + 1])
        assert rows.mean() == pytest.approx(1 / n_cells, abs=0.015)
        assert switch[rows].min() > edges[-1]
        edges.append(switch[rows].max())
    assert np.array_equal(data.relevant.sum(axis=1), np.full(30_000, 3))


def test_each_cell_has_its_rule():
    data = make_switch(4, n_samples=5000, n_features=9)
    rules = [lambda a, b: 3 * a * b, lambda a, b: 2 * (a**2 + b**2 - 2), lambda a, b: 3 * (a - b)]
    for cell, rule in enumerate([*rules, rules[0]]):
        rows = data.relevant[:, 2 * cell] & (np.abs(data.probability - 0.5) < 0.499)
        a, b = data.X[rows, 2 * cell : 2 * cell + 2].T
        assert -logit(data.probability[rows]) == pytest.approx(rule(a, b), abs=1e-6)


def test_classes_follow_the_softmax_of_their_side():
    data = make_multiclass(n_classes=4, n_samples=50_000, n_features=10)
    below = data.X[:, 8] < 0
    side = np.where(below[:, None], data.X[:, :4], data.X[:, 4:8])
    expected = np.exp(3 * side) / np.exp(3 * side).sum(axis=1, keepdims=True)
    assert data.probability == pytest.approx(expected)
    assert np.array_equal(data.relevant[:, :4], np.repeat(below[:, None], 4, axis=1))
    assert np.array_equal(data.relevant[:, 4:8], np.repeat(~below[:, None], 4, axis=1))
    assert data.relevant[:, 8].all()
    assert not data.relevant[:, 9].any()
    for label in range(4):
        likely = data.probability[:, label] > 0.5
        assert (data.y[likely] == label).mean() == pytest.approx(data.probability[likely, label].mean(), abs=0.01)


@pytest.mark.parametrize(
    ("make", "arguments", "words"),
    [
        (make_cafe, {"n_features": 4}, ["n_features=4", "at least 5"]),
        (make_ice_cream, {"n_samples": 0}, ["n_samples=0"]),
        (make_switch, {"n_cells": 1}, ["n_cells=1", "at least 2"]),
        (make_switch, {"n_cells": 6}, ["n_features=11", "at least 13"]),
        (make_multiclass, {"n_classes": 2}, ["n_classes=2", "at least 3"]),
        (make_multiclass, {"n_classes": 6}, ["n_features=11", "at least 13"]),
    ],
)
def test_wrong_arguments_are_named(make, arguments, words):
    with pytest.raises(InputError) as caught:
        make(**arguments)
    assert all(word in str(caught.value) for word in words)
