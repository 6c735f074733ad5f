"""Which rows a job fits, and which it reports on."""

import dataclasses

import numpy as np
import pandas as pd
import polars as pl
import pytest

from hideseek import HideSeekClassifier, HideSeekRegressor, InputError
from hideseek.benchmark import Config
from hideseek.benchmark._scores import scores_of
from hideseek.datasets import Dataset, Split, make_ice_cream, make_multiclass, make_syn, make_syn_regression

# the fits here are too short for masks to settle
pytestmark = pytest.mark.filterwarnings("ignore::hideseek.errors.MaskWarning")

SYN4 = {"maker": "make_syn", "parameters": {"name": "Syn4", "n_samples": 50}}


def dataset(given):
    return Config(["hideseek"], {"it": given}).datasets["it"]


def make_split(random_state):
    """A split that does not depend on the seed, as the credit data's."""
    parts = [make_syn("Syn1", n_samples=20, random_state=i) for i in range(3)]
    return Split(*(dataclasses.replace(part, name=f"{random_state}") for part in parts))


def make_fixed():
    return make_syn("Syn1", n_samples=20)


def make_nonsense():
    return 7


def test_a_generator_draws_train_rows_with_the_seed_and_test_rows_with_the_next():
    train, test = dataset(SYN4).parts(seed=5)
    np.testing.assert_array_equal(train.X, make_syn("Syn4", 50, random_state=5).X)
    np.testing.assert_array_equal(test.X, make_syn("Syn4", 50, random_state=6).X)


def test_where_the_test_rows_come_from_is_a_choice():
    drawn = make_syn("Syn4", 50, random_state=5)
    train, test = dataset({**SYN4, "test": "train"}).parts(seed=5)
    np.testing.assert_array_equal(train.X, test.X)
    train, test = dataset({**SYN4, "test": "held_out", "test_fraction": 0.3}).parts(seed=5)
    assert (len(train.y), len(test.y)) == (35, 15)
    rows = np.concatenate((train.X, test.X))
    np.testing.assert_array_equal(np.sort(rows[:, 0]), np.sort(drawn.X[:, 0]))
    assert test.relevant.shape == test.X.shape
    train, test = dataset({**SYN4, "test_parameters": {"n_samples": 7, "random_state": 99}}).parts(seed=5)
    assert len(train.y) == 50
    np.testing.assert_array_equal(test.X, make_syn("Syn4", 7, random_state=99).X)
    with pytest.raises(InputError, match="test='validation': of a generator the test rows can be 'next_seed'"):
        dataset({**SYN4, "test": "validation"}).parts(seed=5)


def test_a_split_reports_on_its_test_part_or_on_validation():
    split = make_split(3)
    for test, expected in ((None, split.test), ("validation", split.validation), ("train", split.train)):
        given = {"maker": make_split} if test is None else {"maker": make_split, "test": test}
        train, part = dataset(given).parts(seed=3)
        assert train.name == "3"
        np.testing.assert_array_equal(train.X, split.train.X)
        np.testing.assert_array_equal(part.X, expected.X)
    with pytest.raises(InputError, match="test='next_seed': of a split"):
        dataset({"maker": make_split, "test": "next_seed"}).parts(seed=3)


def test_makers_may_do_without_a_seed_and_must_give_a_dataset():
    train, _ = dataset("test_data:make_fixed").parts(seed=9)
    np.testing.assert_array_equal(train.X, make_fixed().X)
    with pytest.raises(InputError, match="make_nonsense returned a int; it must return a Dataset or a Split"):
        dataset(make_nonsense).parts(seed=0)


def test_the_credit_split_is_the_same_for_every_seed(published_data):
    given = {"maker": "credit_syn", "parameters": {"name": "Syn4"}, "test": "validation"}
    (train, test), (other, _) = (dataset(given).parts(seed) for seed in (0, 1))
    assert (len(train.y), len(test.y)) == (24_000, 3_000)
    np.testing.assert_array_equal(train.X, other.X)
    assert (train.y != other.y).any()


def test_a_table_of_ones_own_holds_rows_out_by_the_seed(own):
    source = dataset(own)
    (train, test), (again, _), (other, _) = (source.parts(seed) for seed in (0, 0, 1))
    assert (len(train.y), len(test.y)) == (48, 12)
    np.testing.assert_array_equal(train.X, again.X)
    assert (train.X != other.X).any()
    assert not set(train.X[:, 0]) & set(test.X[:, 0])


def test_rows_held_out_are_a_share_of_each_class(own):
    rare = np.arange(60) < 10
    for seed in range(5):
        train, test = dataset((own["X"], rare)).parts(seed)
        assert (train.y.sum(), test.y.sum()) == (8, 2)


@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame], ids=["pandas", "polars"])
def test_a_frame_stays_a_frame(own, frame):
    table = frame({name: own["X"][:, j] for j, name in enumerate("abcd")})
    train, test = dataset((table, own["y"])).parts(seed=0)
    assert type(train.X) is type(test.X) is frame
    assert train.feature_names == ("a", "b", "c", "d")
    expected, _ = dataset((own["X"], own["y"])).parts(seed=0)
    np.testing.assert_array_equal(train.X.to_numpy(), expected.X)
    np.testing.assert_array_equal(train.y, expected.y)


def test_test_rows_of_ones_own_are_used_as_they_are(own):
    test = {"X": own["X"][:5], "y": own["y"][:5]}
    for given in ({**own, "test": test}, Split(*[dataset(own).table, None, Dataset("t", *test.values(), ())])):
        train, part = dataset(given).parts(seed=4)
        assert len(train.y) == 60
        np.testing.assert_array_equal(part.X, own["X"][:5])
        assert part.relevant is None


def test_a_table_is_known_by_its_content(own):
    prints = [dataset(own).to_dict()["table"], dataset({**own, "X": own["X"].copy()}).to_dict()["table"]]
    assert prints[0] == prints[1]
    frame = pd.DataFrame(own["X"], columns=list("abcd"))
    for change in (
        {"X": own["X"] + 1e-9},
        {"y": 1 - own["y"]},
        {"relevant": ~own["relevant"]},
        {"relevant": None},
        {"test": own},
        {"X": frame},
        {"X": frame.rename(columns={"a": "z"})},
    ):
        prints.append(dataset({**own, **change}).to_dict()["table"])
    assert len(set(prints)) == len(prints) - 1


# -- scores -------------------------------------------------------------------------------------------------------


class Predicts:
    """Not an estimator of scikit-learn's."""

    def predict(self, X):
        return (X[:, 0] > 0).astype(int)


@pytest.mark.parametrize(
    ("data", "switch", "expected"),
    [
        (make_syn("Syn1", 50), None, None),
        (make_syn("Syn4", 50), None, 100.0),
        (make_syn("Syn4", 50), 0, 0.0),
        (make_ice_cream(50), None, None),
        (make_syn("Syn1", 50), "x11", 100.0),
        (dataclasses.replace(make_syn("Syn4", 50), relevant=None), None, None),
        (dataclasses.replace(make_syn("Syn4", 50), relevant=None), "x11", 100.0),
    ],
)
def test_switch_accuracy_where_it_applies(data, switch, expected):
    selected = np.zeros(data.X.shape, dtype=bool)
    selected[:, 10] = True
    assert scores_of(Predicts(), data, selected, switch).get("switch") == expected


def test_scores_without_truth_and_without_probabilities(own):
    data = Dataset("own", own["X"], own["y"], ("a", "b", "c", "d"))
    selected = np.eye(4, dtype=bool)[[0] * 30]
    assert scores_of(Predicts(), data, selected, None) == {"n_selected": 1.0, "accuracy": 1.0}
    with pytest.raises(InputError, match="switch='e': there is no such column"):
        scores_of(Predicts(), data, selected, "e")


@pytest.mark.filterwarnings("ignore::hideseek.errors.HideSeekWarning")
@pytest.mark.parametrize(
    ("data", "cls", "names"),
    [
        (make_syn_regression("Syn4", 60), HideSeekRegressor, {"r2"}),
        (make_multiclass(n_samples=60), HideSeekClassifier, {"accuracy", "auroc"}),
    ],
    ids=["regression", "multiclass"],
)
def test_kinds_of_targets_have_their_scores(data, cls, names):
    model = cls("fast", steps=3, random_state=0).fit(data.X, data.y)
    scores = scores_of(model, data, model.select(data.X), None)
    assert set(scores) == {"tpr", "fdr", "f1", "switch", "n_selected", *names}


def test_a_class_that_does_not_occur_costs_the_auroc_and_nothing_else():
    data = make_syn("Syn1", 50)
    model = HideSeekClassifier("fast", steps=3, random_state=0).fit(data.X, data.y)
    one_class = dataclasses.replace(data, y=np.ones(50, dtype=int))
    assert set(scores_of(model, one_class, model.select(data.X), None)) == {
        "tpr",
        "fdr",
        "f1",
        "n_selected",
        "accuracy",
    }
