"""Cuts: values of a column that others are moved away from."""

import numpy as np
import pytest
import torch

from hideseek.engine.cuts import Cuts
from hideseek.engine.scaling import Scaler

DRAW = np.random.default_rng(0)


def test_values_near_a_cut_are_moved_to_the_end_of_its_margin_on_their_side():
    cuts = Cuts.none().plus(1, 0.5, 0.2)
    columns = torch.tensor([[0.5, -3.0], [0.5, 0.31], [0.5, 0.499], [0.5, 0.5], [0.5, 0.7], [0.5, 4.0]]).double()
    moved = cuts.apart(columns)
    np.testing.assert_allclose(moved[:, 1], [-3.0, 0.3, 0.3, 0.7, 0.7, 4.0])
    np.testing.assert_array_equal(moved[:, 0], columns[:, 0])
    np.testing.assert_array_equal(cuts.apart(moved), moved)


def test_between_two_cuts_a_value_stays_between_them():
    cuts = Cuts.none().plus(0, 1.0, 0.5).plus(0, -1.0, 1.2)
    columns = torch.tensor([[-1.1], [-0.9], [0.3], [0.9], [1.1]]).double()
    np.testing.assert_allclose(cuts.apart(columns)[:, 0], [-2.2, 0.2, 0.3, 0.5, 1.5])


def test_a_further_cut_has_room_up_to_the_margins_of_its_neighbours():
    cuts = Cuts.none().plus(0, 1.0, 0.25).plus(0, -1.0, 0.5).plus(1, 0.0, 9.0)
    assert cuts.room(0, 0.0) == pytest.approx(0.5)
    assert cuts.room(0, 0.5) == pytest.approx(0.25)
    assert cuts.room(2, 0.0) == np.inf
    assert cuts.are_apart
    assert not cuts.plus(0, 0.0, 0.6).are_apart


def test_a_scaler_moves_values_before_it_makes_ramps_of_them():
    X = np.column_stack((DRAW.normal(size=2000), DRAW.exponential(size=2000)))
    plain = Scaler.fit(X).with_ramps(X)
    scaler = Scaler(plain.center, plain.scale, plain.constant, plain.ramps, Cuts.none().plus(1, 0.0, 0.4))
    mean = plain.center[1]
    sides = [[0.0, mean - 0.4 * plain.scale[1]], [0.0, mean + 0.4 * plain.scale[1]]]
    inputs = scaler.transform(np.array([[0.0, mean - 0.01], [0.0, mean + 0.01]]))
    np.testing.assert_allclose(inputs, plain.transform(np.array(sides)), atol=1e-6)
    assert scaler.places(1) == slice(1, 5)
    np.testing.assert_array_equal(scaler.columns_of(torch.from_numpy(inputs)), inputs[:, :2])
    only = plain.only(1).inputs(torch.tensor([[0.25]]).double())
    whole = plain.inputs(torch.tensor([[0.0, 0.25]]).double())
    np.testing.assert_allclose(only[0], whole[0, 1:])


def test_fitting_a_scaler_leaves_the_table_as_it_is():
    X = DRAW.normal(3.0, size=(50, 1))
    before = X.copy()
    scaler = Scaler.fit(X)
    np.testing.assert_array_equal(X, before)
    np.testing.assert_allclose([scaler.center[0], scaler.scale[0]], [X.mean(), X.std()])
