"""Fidelity, by functions whose answers can be worked out by hand."""

from math import isnan, log

import numpy as np
import pandas as pd
import polars as pl
import pytest
import torch

from hideseek import InputError
from hideseek.metrics import answer_fidelity, compare_fidelity, fidelity

X = np.array([[1.0, 0.0], [2.0, 6.0], [3.0, 0.0]])
FIRST, SECOND = [[True, False]] * 3, [[False, True]] * 3


def test_what_is_selected_stays_and_the_rest_is_drawn_from_the_background():
    asked = []

    def predict(rows):
        asked.append(rows)
        return rows[:, 1]

    fidelity(predict, X, [[True, False], [False, True], [False, False]], np.array([[7.0, 8.0]]), n_draws=2)
    np.testing.assert_array_equal(asked[0], X)
    for mixed in asked[1:]:
        np.testing.assert_array_equal(mixed, [[1.0, 8.0], [7.0, 6.0], [7.0, 8.0]])
    assert len(asked) == 3


def test_columns_are_drawn_each_on_its_own_and_differ_between_draws():
    rows = np.tile(np.arange(1000.0)[:, None], (1, 2))
    asked = []
    fidelity(lambda X: asked.append(X) or X[:, 0] + X[:, 1], rows, np.zeros((1000, 2)), n_draws=2)
    first, second = asked[1:]
    for mixed in (first, second):
        assert abs(np.corrcoef(mixed.T)[0, 1]) < 0.15  # together in the background, apart here
        assert set(mixed[:, 0]) <= set(rows[:, 0])
    assert (first != second).mean() > 0.9


def test_values_are_judged_by_their_variance():
    # answers 0, 6, 0; with the background's 2 in place of them: squared errors 4, 16, 4 of 24
    kept = fidelity(lambda rows: rows[:, 1], X, FIRST, np.array([[0.0, 2.0]]), task="regression")
    assert kept.r2 == pytest.approx(1 - 24 / 24)
    assert isnan(kept.agreement)
    assert isnan(kept.kl)
    assert fidelity(lambda rows: rows[:, 1], X, SECOND).r2 == 1.0
    assert isnan(fidelity(lambda rows: rows[:, 0] * 0 + 5, X, SECOND).r2)


def test_answers_are_averaged_over_draws():
    background = np.array([[0.0, 0.0], [0.0, 4.0]])
    kept = fidelity(lambda rows: rows[:, 1], X, FIRST, background, n_draws=4000)
    assert kept.r2 == pytest.approx(1 - (4 + 16 + 4) / 24, abs=0.05)  # every answer is 2; single ones give -0.5


def test_probabilities_are_judged_by_class_divergence_and_variance():
    one_number = answer_fidelity([0.8, 0.4], [0.6, 0.6])
    assert one_number.agreement == 50.0
    expected = (0.8 * log(0.8 / 0.6) + 0.2 * log(0.2 / 0.4) + 0.4 * log(0.4 / 0.6) + 0.6 * log(0.6 / 0.4)) / 2
    assert one_number.kl == pytest.approx(expected)
    assert one_number.r2 == pytest.approx(1 - (0.2**2 + 0.2**2) / (2 * 0.2**2))
    two_numbers = answer_fidelity([[0.2, 0.8], [0.6, 0.4]], [[0.4, 0.6], [0.4, 0.6]])
    assert two_numbers == pytest.approx(one_number)
    three = np.array([[1.0, 0.0, 0.0], [0.0, 0.5, 0.5]])
    assert answer_fidelity(three, three) == (100.0, 0.0, 1.0)
    assert answer_fidelity(three, three[:, [1, 0, 2]]).kl == pytest.approx((log(1e6) + 0.5 * log(0.5 / 1e-6)) / 2)


def test_the_task_says_what_numbers_between_0_and_1_are():
    assert isnan(answer_fidelity([0.8, 0.4], [0.6, 0.6], task="regression").kl)
    with pytest.raises(InputError, match="did not return probabilities but numbers from 1 to 9"):
        answer_fidelity([1, 9], [1, 9], task="classification")


def test_others_are_given_as_many_features_in_each_row():
    rows = np.random.default_rng(0).normal(size=(200, 4))
    selected = np.zeros((200, 4), dtype=bool)
    selected[:100, 0] = selected[100:, :2] = True

    def predict(table):  # the second hundred needs two columns
        return np.where(np.arange(len(table)) < 100, table[:, 0], table[:, 0] + table[:, 1])

    helpful, backward = np.tile([-4.0, 3.0, 2.0, 1.0], (200, 1)), np.tile([1.0, 2.0, 3.0, 4.0], (200, 1))
    compared = compare_fidelity(predict, rows, selected, {"helpful": helpful, "backward": backward}, n_draws=20)
    assert compared["selected"].r2 == compared["helpful"].r2 == 1.0  # sizes count, not signs
    assert compared["backward"].r2 < 0.1
    assert compared["backward"].r2 < compared["random"].r2 < 0.9
    assert list(compared) == ["selected", "random", "helpful", "backward"]
    again = fidelity(predict, rows, selected[:, ::-1], n_draws=20)
    assert compared["backward"].r2 == again.r2  # the same draws


def test_the_same_seed_gives_the_same_draws():
    rows = np.random.default_rng(0).normal(size=(50, 3))

    def scores(seed):
        compared = compare_fidelity(lambda X: X.sum(axis=1), rows, rows > 0.5, random_state=seed, n_draws=2)
        return {name: kept.r2 for name, kept in compared.items()}

    assert scores(3) == scores(3)
    assert scores(3)["selected"] != scores(4)["selected"]
    assert scores(3)["random"] != scores(4)["random"]


def test_frames_keep_their_columns_index_and_types():
    frame = pd.DataFrame(
        {
            "age": [1, 2, 3],
            "city": pd.Categorical(["Rome", "Oslo", "Rome"], categories=["Oslo", "Rome", "Bonn"]),
            "paid": pd.array([1, None, 3], dtype="Int64"),
            "name": ["a", "b", "c"],
        },
        index=[10, 20, 30],
    )
    seen = []
    selected = [[False, True, True, False], [True, False, False, True], [True, True, True, True]]
    fidelity(lambda X: seen.append(X) or X["age"], frame, selected, frame.iloc[[1]], n_draws=1)
    mixed = seen[1]
    pd.testing.assert_series_equal(mixed.dtypes, frame.dtypes)
    assert mixed.index.tolist() == [10, 20, 30]
    assert mixed["age"].tolist() == [2, 2, 3]
    assert mixed["city"].tolist() == ["Rome", "Oslo", "Rome"]
    assert mixed["name"].tolist() == ["b", "b", "c"]
    assert mixed["paid"].isna().tolist() == [False, True, False]


def test_polars_frames_and_tensors_stay_what_they_are():
    frame = pl.DataFrame({"n": [1, 2], "c": ["x", "y"]}, schema={"n": pl.Int32, "c": pl.Categorical})
    tensor = torch.tensor([[1.0, 2.0], [3.0, 4.0]], dtype=torch.float16)
    for table, answers in ((frame, lambda X: X["n"].to_numpy()), (tensor, lambda X: X[:, 0])):
        seen = []
        kept = fidelity(
            lambda X, answers=answers, seen=seen: seen.append(X) or answers(X), table, [[1, 0]] * 2, n_draws=1
        )
        assert kept.r2 == 1.0
        assert type(seen[1]) is type(table)
        assert getattr(seen[1], "schema", None) == getattr(table, "schema", None)
        assert getattr(seen[1], "dtype", None) == getattr(table, "dtype", None)


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: fidelity(lambda X: X[:1, 0], X, FIRST), ["asked about 3 rows", "shape (1,)"]),
        (lambda: fidelity(lambda X: X[:, 0] * np.nan, X, FIRST), ["NaN", "3 of 3 rows"]),
        (lambda: fidelity(lambda X: ["yes", "no", "yes"], X, FIRST), ["must give numbers", "labels"]),
        (lambda: fidelity(lambda X: 10 * X, X, FIRST), ["2 numbers for each row", "softmax"]),
        (lambda: fidelity(lambda X: X[:, 0], X, FIRST[:2]), ["(2, 2)", "(3, 2)"]),
        (lambda: fidelity(lambda X: X[:, 0], X, FIRST, X[:, :1]), ["background has 1 columns and X 2"]),
        (lambda: fidelity(lambda X: X, X[:, 0], FIRST), ["X must be a table", "(3,)"]),
        (lambda: fidelity(lambda X: X[:, 0], X, FIRST, n_draws=0), ["n_draws=0"]),
        (lambda: fidelity(lambda X: X[:, 0], X, FIRST, task="guess"), ["task='guess'"]),
        (lambda: answer_fidelity([[0.2, 0.8]], [[0.2, 0.3, 0.5]]), ["(1, 2)", "(1, 3)"]),
    ],
)
def test_wrong_arguments_are_named(call, words):
    with pytest.raises(InputError) as caught:
        call()
    assert all(word in str(caught.value) for word in words), caught.value
