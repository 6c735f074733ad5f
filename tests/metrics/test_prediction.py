from __future__ import annotations

import numpy as np
import pytest
from sklearn.metrics import roc_auc_score

from hideseek.errors import InputError
from hideseek.metrics import auroc


def test_two_classes_worked_by_hand():
    # Of the four pairs (zero, one) three are in the right order, once as a column and once as a table.
    assert auroc([0, 0, 1, 1], [0.1, 0.4, 0.35, 0.8]) == 0.75
    assert auroc([3, 3, 8, 8], [[0.9, 0.1], [0.6, 0.4], [0.65, 0.35], [0.2, 0.8]]) == 0.75


def test_three_classes_are_the_mean_of_each_against_the_rest():
    probability = [[0.6, 0.2, 0.2], [0.2, 0.5, 0.3], [0.3, 0.3, 0.4], [0.1, 0.6, 0.3]]
    # Class 0: 3 of 3 pairs; class 1 (row 1 against rows 0, 2, 3): 2 of 3; class 2 (rows 2, 3): 3.5 of 4.
    assert auroc([0, 1, 2, 2], probability) == pytest.approx((1 + 2 / 3 + 3.5 / 4) / 3)


def test_ties_and_names_of_classes_are_counted_as_scikit_learn_does():
    draw = np.random.default_rng(0)
    y, probability = draw.integers(0, 2, size=500), draw.integers(0, 20, size=500) / 20
    expected = roc_auc_score(y, probability)
    assert auroc(y, probability) == pytest.approx(expected, abs=1e-12)
    assert auroc(np.where(y == 1, "yes", "no"), probability) == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize(("y", "probability"), [([0, 0], [0.1, 0.2]), ([0, 1], [[0.2, 0.3, 0.5], [0.1, 0.8, 0.1]])])
def test_one_class_or_other_columns_than_classes_have_no_auroc(y, probability):
    with pytest.raises(InputError, match="AUROC"):
        auroc(y, probability)
