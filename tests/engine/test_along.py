"""Answers at several prices of a range, beside those of the ensemble at each price."""

from dataclasses import replace

import numpy as np
import pytest
import torch

from hideseek.engine import along
from hideseek.engine.along import answers_along, votes_along
from hideseek.engine.ensemble import Ensemble
from hideseek.engine.groups import Groups
from hideseek.engine.networks import Mlp
from hideseek.engine.scaling import Scaler
from hideseek.engine.stack import Stack

PRICES = [0.0005, 0.01, 0.3]
RAW = np.random.default_rng(0).normal(3, 2, size=(50, 5))


@pytest.fixture
def ensemble():
    torch.manual_seed(0)
    hide, seek = Mlp((5, 8, 7, 2 * 3)), Mlp((6, 8, 7, 2))
    weights = torch.randn(3, hide.n_parameters + 2 * seek.n_parameters)
    price_range = torch.tensor([[1e-3, 0.1], [1e-3, 0.2], [1e-2, 0.1]]).log()
    stack = Stack.from_members(hide, seek, weights, Groups.from_widths((1, 3, 1)), price_range)
    visible = torch.ones(3, 3, dtype=torch.bool)
    visible[1, 2] = False
    return Ensemble(stack, visible, torch.randn(6, 5), Scaler.fit(RAW))


@pytest.mark.parametrize("cells", [1, 2**26])
def test_answers_are_those_of_the_ensemble_at_each_price(ensemble, monkeypatch, cells):
    monkeypatch.setitem(along._CELLS, "cpu", cells)
    for softmax in (True, False):
        answers, counts = answers_along(ensemble, RAW, PRICES, 4, softmax=softmax, threshold=0.5)
        for price, answer, count in zip(PRICES, answers, counts, strict=True):
            at_price = replace(ensemble, price=price)
            expected = at_price.outputs(RAW, 4, softmax=softmax, threshold=0.5)
            np.testing.assert_allclose(answer, expected, atol=1e-5)
            np.testing.assert_array_equal(count, (at_price.masks(RAW) > 0.5).sum(axis=1))
    assert counts.std() > 0


@pytest.mark.parametrize("cells", [1, 2**26])
def test_votes_are_the_share_of_members_that_select(ensemble, monkeypatch, cells):
    monkeypatch.setitem(along._CELLS, "cpu", cells)
    votes = votes_along(ensemble, RAW, PRICES, 0.5)
    for price, share in zip(PRICES, votes, strict=True):
        selected = replace(ensemble, price=price).masks_of_members(RAW) > 0.5
        seen = ensemble.visible.numpy().sum(axis=0)
        np.testing.assert_allclose(share, selected.sum(axis=0) / seen, atol=1e-6)
