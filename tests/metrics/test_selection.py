from __future__ import annotations

import math

import numpy as np
import pytest

from hideseek.errors import InputError
from hideseek.metrics import row_scores, selection_scores, switch_accuracy, top_k

# selected, relevant, TPR, FDR, F1: worked by hand
CASES = [
    ([1, 1, 0, 0], [1, 1, 0, 0], 100, 0, 100),
    ([1, 1, 1, 0], [1, 0, 0, 0], 100, 200 / 3, 50),
    ([1, 0, 0, 1], [1, 1, 1, 0], 100 / 3, 50, 40),
    ([0, 0, 1, 1], [1, 1, 0, 0], 0, 100, 0),
    ([0, 0, 0, 0], [1, 1, 0, 0], 0, 0, 0),
    ([1, 0, 0, 0], [0, 0, 0, 0], math.nan, 100, 0),
    ([0, 0, 0, 0], [0, 0, 0, 0], math.nan, 0, 0),
]
SELECTED, RELEVANT, TPR, FDR, F1 = (np.array(column) for column in zip(*CASES, strict=True))


def test_rows_worked_by_hand():
    scores = row_scores(SELECTED, RELEVANT)
    assert scores.tpr == pytest.approx(TPR, nan_ok=True)
    assert scores.fdr == pytest.approx(FDR)
    assert scores.f1 == pytest.approx(F1)


def test_means_leave_rows_without_relevant_features_out_of_tpr_only():
    scores = selection_scores(SELECTED, RELEVANT)
    assert scores.tpr == pytest.approx((100 + 100 + 100 / 3) / 5)
    assert scores.fdr == pytest.approx((200 / 3 + 50 + 100 + 100) / 7)
    assert scores.f1 == pytest.approx((100 + 50 + 40) / 7)


def test_nothing_relevant_anywhere():
    scores = selection_scores([[True, False]], [[False, False]])
    assert math.isnan(scores.tpr)
    assert scores[1:] == (100, 0)


def test_switch_accuracy_is_the_share_of_rows_in_percent():
    selected = np.zeros((8, 11), dtype=bool)
    selected[:6, 10] = True
    selected[:, 0] = True
    assert switch_accuracy(selected) == 75
    assert switch_accuracy(selected, switch=0) == 100


def test_top_k_breaks_ties_to_the_left_and_selects_exactly_k():
    scores = [[3, 1, 2, 2], [0, 0, 0, 0], [-5, -1, -3, -2]]
    assert top_k(scores, 2).astype(int).tolist() == [[1, 0, 1, 0], [1, 1, 0, 0], [0, 1, 0, 1]]
    many = np.arange(100) % 3  # 33 twos, then the first seven of the ones
    assert np.flatnonzero(top_k([many], 40)).tolist() == sorted([*range(2, 100, 3), *range(1, 22, 3)])
    random = np.random.default_rng(0).integers(3, size=(100, 12))
    assert (top_k(random, 5).sum(axis=1) == 5).all()


def test_every_row_may_have_its_own_k():
    sizes = np.arange(100) % 13
    random = np.random.default_rng(0).integers(3, size=(100, 12))
    chosen = top_k(random, sizes)
    assert chosen.sum(axis=1).tolist() == sizes.tolist()
    assert (chosen[5] == top_k(random[5:6], 5)[0]).all()


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: selection_scores([[True]], [[True, False]]), ["(1, 1)", "(1, 2)", "same rows"]),
        (lambda: selection_scores([[0.3, 0.9]], [[True, False]]), ["selected must be booleans", "selected > 0.5"]),
        (lambda: selection_scores([[True]], [True]), ["relevant", "(1,)"]),
        (lambda: selection_scores(np.empty((0, 3), bool), np.empty((0, 3), bool)), ["selected", "(0, 3)"]),
        (lambda: switch_accuracy([[True, False]]), ["switch=10", "from 0 to 1"]),
        (lambda: top_k([[1.0, 2.0]], 3), ["k=3", "from 1 to 2"]),
        (lambda: top_k([[1.0, np.nan]], 1), ["scores", "NaN"]),
        (lambda: top_k([[1.0, 2.0]], [3]), ["1 whole numbers from 0 to 2"]),
        (lambda: top_k([[1.0, 2.0]], [1, 1]), ["shape (2,)"]),
        (lambda: top_k([[1.0, 2.0]], [0.5]), ["float64"]),
    ],
)
def test_wrong_arguments_are_named(call, words):
    with pytest.raises(InputError) as caught:
        call()
    assert all(word in str(caught.value) for word in words)
