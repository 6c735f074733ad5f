"""Answers at several prices of a range, beside those of the ensemble at each price."""

from dataclasses import replace

import numpy as np
import pytest
import torch

from hideseek.engine import ensemble as ensemble_module
from hideseek.engine import questions
from hideseek.engine.along import (
    answers_along,
    answers_to,
    disagreements,
    overlaps,
    price_bounds,
    price_bounds_of_all,
    sets_at_own_prices,
)
from hideseek.engine.ensemble import Ensemble
from hideseek.engine.groups import Groups
from hideseek.engine.knockoffs import GaussianKnockoffs
from hideseek.engine.networks import Mlp
from hideseek.engine.questions import Question
from hideseek.engine.scaling import Scaler
from hideseek.engine.stack import Stack

PRICES = [0.0005, 0.01, 0.3]
RAW = np.random.default_rng(0).normal(3, 2, size=(50, 5))
GROUPS = Groups.from_widths((1, 3, 1))


@pytest.fixture(autouse=True, params=["in C", "in torch"])
def way(request, monkeypatch):
    """Who answers questions; ensembles answer in torch."""
    monkeypatch.setattr(ensemble_module, "can_answer", lambda stack: False)
    if request.param == "in torch":
        monkeypatch.setattr(questions, "can_answer", lambda stack: False)


def make_ensemble(seed, n_members=3, knockoffs=None):
    draw = torch.Generator().manual_seed(seed)
    hide, seek = Mlp((5, 8, 7, 2 * 3)), Mlp((6, 8, 7, 2))
    weights = torch.randn(n_members, hide.n_parameters + 2 * seek.n_parameters, generator=draw)
    price_range = torch.tensor([[1e-3, 0.1], [1e-3, 0.2], [1e-2, 0.1]]).log()[torch.arange(n_members) % 3]
    stack = Stack.from_members(hide, seek, weights, GROUPS, price_range)
    visible = torch.ones(n_members, 3, dtype=torch.bool)
    visible[seed % n_members, 2] = False
    return Ensemble(stack, visible, torch.randn(6, 5, generator=draw), Scaler.fit(RAW), knockoffs)


@pytest.fixture
def ensemble():
    return make_ensemble(1)


@pytest.mark.parametrize("cells", [1, 2**26])
def test_answers_are_those_of_the_ensemble_at_each_price(ensemble, monkeypatch, cells):
    monkeypatch.setitem(questions._CELLS, "cpu", cells)
    for softmax in (True, False):
        answers, counts = answers_along(ensemble, RAW, PRICES, 4, softmax=softmax, threshold=0.5)
        for price, answer, count in zip(PRICES, answers, counts, strict=True):
            at_price = replace(ensemble, price=price)
            expected = at_price.outputs(RAW, 4, softmax=softmax, threshold=0.5)
            np.testing.assert_allclose(answer, expected, atol=1e-5)
            np.testing.assert_array_equal(count, (at_price.masks(RAW) > 0.5).sum(axis=1))
    assert counts.std() > 0


def asked(ensemble, members, prices=PRICES, n_rows=50):
    return Question(ensemble, np.array(members), ensemble.inputs(RAW[:n_rows]), prices)


def overlaps_of(sets):
    """Return the mean overlap of every pair of members, row by row."""
    pairs = [[[1.0 if not (a | b).any() else (a & b).sum() / (a | b).sum() for a, b in zip(one, other, strict=True)]
              for other in sets] for one in sets]  # fmt: skip
    return np.mean(pairs, axis=2)


@pytest.mark.parametrize("cells", [1, 2**26])
def test_disagreement_is_the_mean_difference_of_two_sets(ensemble, monkeypatch, cells):
    monkeypatch.setitem(questions._CELLS, "cpu", cells)
    ensemble = replace(ensemble, visible=torch.ones_like(ensemble.visible))
    (found,) = disagreements([asked(ensemble, [0, 1, 2])], 0.5)
    for price, differing in zip(PRICES, found, strict=True):
        selected = replace(ensemble, price=price).masks_of_members(RAW) > 0.5
        pairs = [(selected[i] != selected[j]).sum(axis=1).mean() for i, j in ((0, 1), (0, 2), (1, 2))]
        assert differing == pytest.approx(np.mean(pairs), abs=1e-6)
        (alike,) = overlaps([asked(ensemble, [0, 1, 2], [price])], 0.5)
        np.testing.assert_allclose(alike, overlaps_of(selected), atol=1e-6)
    assert found.max() > 0


@pytest.mark.parametrize("cells", [1, 2**26])
def test_sets_at_own_prices_are_those_of_the_ensemble_at_the_price_of_each_row(ensemble, monkeypatch, cells):
    monkeypatch.setitem(questions._CELLS, "cpu", cells)
    prices = np.resize(PRICES, len(RAW))
    (sets,) = sets_at_own_prices([asked(ensemble, [0, 1, 2], prices, len(RAW))], 0.5)
    for price in PRICES:
        own = prices == price
        np.testing.assert_array_equal(sets[own], replace(ensemble, price=price).masks(RAW[own]) > 0.5)


def knockoffs_of(seed):
    mixed = torch.randn(1, 5, 200, generator=torch.Generator().manual_seed(seed)).cumsum(dim=1)
    return GaussianKnockoffs.fit(mixed)


@pytest.mark.parametrize("cells", [1, 2**16, 2**26])
@pytest.mark.parametrize("with_knockoffs", [False, True])
def test_questions_of_any_shape_are_answered_as_each_alone(monkeypatch, cells, with_knockoffs):
    monkeypatch.setitem(questions._CELLS, "cpu", cells)
    own = [
        make_ensemble(seed, n, knockoffs_of(seed) if with_knockoffs else None) for seed, n in enumerate((3, 3, 5, 4))
    ]
    several = [
        *(asked(one, [first], [price, 0.02]) for one in own for first in (2, 0) for price in (0.001, 0.05)),
        *(asked(one, [1, 2], n_rows=30) for one in own),
    ]
    answers = answers_to(several, 4, softmax=True, threshold=0.5)
    differing = disagreements(several, 0.5)
    one_price = [replace(question, prices=question.prices[:1]) for question in several]
    for question, (output, counts), own_differing, alike in zip(
        several, answers, differing, overlaps(one_price, 0.5), strict=True
    ):
        alone = question.ensemble.members(question.members)
        X = RAW[: len(question.x)]
        for i, price in enumerate(question.prices):
            at_price = replace(alone, price=price)
            np.testing.assert_allclose(output[i], at_price.outputs(X, 4, softmax=True, threshold=0.5), atol=1e-5)
            np.testing.assert_array_equal(counts[i], (at_price.masks(X) > 0.5).sum(axis=1))
        sets = replace(alone, price=question.prices[0]).masks_of_members(X) > 0.5
        np.testing.assert_allclose(alike, overlaps_of(sets), atol=1e-6)
        np.testing.assert_array_equal(own_differing, disagreements([question], 0.5)[0])


def test_questions_of_one_shape_are_answered_in_one_batch(monkeypatch):
    monkeypatch.setitem(questions._CELLS, "cpu", 2**26)
    made, batch = [], questions.Batch
    monkeypatch.setattr(questions, "Batch", lambda some, everyone: made.append(len(some)) or batch(some, everyone))
    answers_to([asked(make_ensemble(seed), [0, 1]) for seed in range(40)], 4, softmax=True, threshold=0.5)
    assert made == [40]


def test_price_bounds_are_the_lowest_and_the_highest_of_the_members():
    bounds = price_bounds_of_all([make_ensemble(0, 1), make_ensemble(0, 3)])
    np.testing.assert_allclose(bounds, [(1e-3, 0.1), (1e-3, 0.2)], rtol=1e-6)
    assert price_bounds(make_ensemble(0, 3)) == bounds[1]
