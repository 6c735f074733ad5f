from __future__ import annotations

import numpy as np
import pytest

from hideseek.errors import InputError
from hideseek.metrics import compare_seeds, summarize_seeds


def test_summary_worked_by_hand():
    summary = summarize_seeds([4, 1, 3, 2, 10])
    assert summary[:4] == (3, 2, 4, 1)
    assert summary.n_seeds == 5
    assert summarize_seeds([4, 1, 3, 2, 10], higher_is_better=False).worst == 10


def test_one_seed_has_no_spread():
    assert summarize_seeds([7]) == (7, 7, 7, 7, 7, 7, 1)


def test_bootstrap_interval_of_a_case_worked_by_hand():
    # The median of three draws from 0, 0, 1 is 1 with probability 7/27 and of three from 0, 1, 1 with 20/27.
    assert summarize_seeds([0, 0, 1], confidence=0.4)[4:6] == (0, 0)
    assert summarize_seeds([0, 1, 1], confidence=0.4)[4:6] == (1, 1)
    assert summarize_seeds([0, 0, 1], confidence=0.6)[4:6] == (0, 1)


def test_interval_covers_the_true_median_about_as_often_as_it_says():
    rng = np.random.default_rng(0)
    covered = 0
    for _ in range(200):
        summary = summarize_seeds(rng.standard_normal(21), random_state=1)
        covered += summary.low <= 0 <= summary.high
    assert 0.88 < covered / 200 <= 1


def test_narrower_confidence_gives_a_narrower_interval():
    values = np.random.default_rng(0).standard_normal(20)
    wide, narrow = summarize_seeds(values, confidence=0.99), summarize_seeds(values, confidence=0.5)
    assert wide.low < narrow.low <= narrow.median <= narrow.high < wide.high


def test_comparison_worked_by_hand():
    comparison = compare_seeds([5, 6, 7, 8, 9, 1], [4, 4, 4, 8, 4, 3])
    assert comparison.median_difference == 1.5
    assert (comparison.n_larger, comparison.n_equal, comparison.n_smaller) == (4, 1, 1)
    # Of five fair coins at most one falls the rarer way with probability 2 * (1 + 5) / 32.
    assert comparison.p_value == 0.375
    turned = compare_seeds([4, 4, 4, 8, 4, 3], [5, 6, 7, 8, 9, 1])
    assert turned.median_difference == -1.5
    assert turned.p_value == 0.375


def test_pairing_sees_what_the_spread_over_seeds_hides():
    seeds = 20 * np.random.default_rng(0).standard_normal(20)
    comparison = compare_seeds(seeds + 1, seeds)
    assert comparison.low == pytest.approx(1)
    assert comparison.high == pytest.approx(1)
    assert comparison.p_value == 2 / 2**20


def test_equal_methods_do_not_differ():
    comparison = compare_seeds([1, 2], [1, 2])
    assert comparison == (0, 0, 0, 0, 2, 0, 1)


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: summarize_seeds([1, np.nan]), ["values", "1 that are not finite", "failed seeds"]),
        (lambda: summarize_seeds([]), ["values", "(0,)"]),
        (lambda: summarize_seeds([1, 2], confidence=1), ["confidence=1"]),
        (lambda: compare_seeds([1, 2], [1]), ["first has 2", "second 1"]),
    ],
)
def test_wrong_arguments_are_named(call, words):
    with pytest.raises(InputError) as caught:
        call()
    assert all(word in str(caught.value) for word in words)
