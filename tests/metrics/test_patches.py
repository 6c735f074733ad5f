from __future__ import annotations

import numpy as np
import pytest

from hideseek.errors import InputError
from hideseek.metrics import best_patches, patch_scores

IMAGE = np.arange(20.0).reshape(1, 20)  # 4 x 5, values in reading order


def test_windows_worked_by_hand():
    # The 3 x 3 window whose middle is m sums to 9 m; the middles are 6, 7, 8 and 11, 12, 13.
    expected = 9.0 * np.array([[[6, 7, 8], [11, 12, 13]]])
    assert np.array_equal(patch_scores(IMAGE, shape=(4, 5)), expected)


def test_best_windows_come_first():
    assert best_patches(IMAGE, shape=(4, 5)).tolist() == [[[1, 2], [1, 1], [1, 0], [0, 2]]]


def test_equal_windows_come_in_reading_order():
    assert best_patches(np.zeros((2, 784)), n_patches=2).tolist() == [[[0, 0], [0, 1]]] * 2


def test_a_bright_square_is_found_where_it_is():
    image = np.zeros((28, 28))
    image[20:23, 4:7] = 1
    scores = patch_scores(image.reshape(1, -1))
    assert scores.shape == (1, 26, 26)
    assert scores.max() == scores[0, 20, 4] == 9
    assert best_patches(image.reshape(1, -1), n_patches=1).tolist() == [[[20, 4]]]


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"importance": np.zeros((1, 783))}, ["(images, 28 * 28)", "(1, 783)"]),
        ({"importance": np.zeros((1, 784)), "size": 29}, ["size=29", "from 1 to 28"]),
        ({"importance": np.zeros((1, 784)), "n_patches": 677}, ["n_patches=677", "from 1 to 676"]),
    ],
)
def test_wrong_arguments_are_named(arguments, words):
    with pytest.raises(InputError) as caught:
        best_patches(**arguments)
    assert all(word in str(caught.value) for word in words)
