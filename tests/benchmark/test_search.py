"""A penalty is chosen on the rows that are neither fitted nor reported on."""

import numpy as np
import pytest
from fakes import Fake, Stacked, lines

from hideseek.benchmark import Config, run
from hideseek.benchmark._jobs import jobs_of
from hideseek.benchmark._search import sparsest
from hideseek.datasets import Dataset, Split
from hideseek.errors import HideSeekWarning, InputError


class Blurred(Stacked):
    """The larger the penalty, the less it says."""

    def predict_proba(self, X):
        return 0.5 + (super().predict_proba(X) - 0.5) * (1 - self.penalty)


def three_parts(random_state=0):
    """In validation the label is what the fake method believes, in test the opposite."""
    rng = np.random.default_rng(random_state)

    def part(sign):
        X = rng.normal(size=(200, 3))
        return Dataset("three", X, (sign * X[:, 0] > 0).astype(int), ("a", "b", "c"))

    return Split(part(1), part(1), part(-1))


def searched(tmp_path, penalties, chosen_by="loss", **dataset):
    method = {
        "method": Blurred,
        "penalties": penalties,
        "chosen_by": chosen_by,
        "parameters": {"log": str(tmp_path / "log")},
    }
    config = Config({"blurred": method}, {"three": {"maker": three_parts, **dataset}})
    (record,) = run(config, tmp_path, verbose=False)
    return record["scores"]["penalty"]


@pytest.mark.parametrize(
    ("losses", "expected"),
    [([0.2, 0.3, 0.4], 0), ([0.2, 0.203, 0.4], 1), ([0.3, 0.2, 0.208], 2), ([0.9, 0.8, 0.8], 2)],
)
def test_the_sparsest_that_loses_at_most_a_hundredth_is_chosen(losses, expected):
    assert sparsest(losses, [0, 1, 2], null=1.0 if losses[0] < 0.9 else 0.7) == expected


def test_the_order_of_the_penalties_does_not_matter():
    assert sparsest([0.4, 0.2, 0.201], [5, 0, 1], null=1.0) == 2


def test_accuracy_does_not_mind_how_sure_a_prediction_is(tmp_path):
    assert searched(tmp_path, [0.0, 0.9], "accuracy") == 0.9
    assert searched(tmp_path, [0.0, 0.9], "loss") == 0.0


def test_all_penalties_are_one_stack_and_the_choice_is_stored(tmp_path):
    assert searched(tmp_path, [0.0, 0.001, 0.9]) == 0.001
    assert lines(tmp_path / "log")[0] == "stack 3 [(200, 3)]"


def test_searched_jobs_share_a_stack_of_at_most_so_many_fits(tmp_path):
    method = {"method": Blurred, "penalties": [0.0, 0.001, 0.9], "parameters": {"log": str(tmp_path / "log")}}
    config = Config({"blurred": method}, {"three": {"maker": three_parts}}, seeds=[0, 2, 3])
    results = run(config, tmp_path, verbose=False, stack_size=7)
    assert [line for line in lines(tmp_path / "log") if line.startswith("stack")] == [
        "stack 6 [(200, 3)]",
        "stack 3 [(200, 3)]",
    ]
    assert [record["scores"]["penalty"] for record in results] == [0.001] * 3


def test_the_choice_is_made_on_the_part_that_is_not_reported(tmp_path):
    # Where the belief is wrong, saying less is better.
    assert searched(tmp_path, [0.0, 0.9], test="validation") == 0.9


def test_penalties_are_part_of_what_a_result_is_known_by():
    def key(**method):
        (job,) = jobs_of(Config({"a": {"method": Stacked, **method}}, {"three": {"maker": three_parts}}))
        return job.key

    by_accuracy = key(penalties=[0.1], chosen_by="accuracy")
    assert len({key(), key(penalties=[0.1]), key(penalties=[0.1, 0.2]), by_accuracy}) == 4
    assert key(penalties=[]) == key(chosen_by="accuracy") == key()


def test_an_unknown_criterion_is_refused():
    with pytest.raises(InputError, match=r"methods\.a\.chosen_by"):
        Config({"a": {"method": Stacked, "penalties": [0.1], "chosen_by": "f1"}}, {"three": {"maker": three_parts}})


@pytest.mark.parametrize("penalties", [0.1, [-1], ["a"]])
def test_penalties_are_numbers_of_at_least_zero(penalties):
    with pytest.raises(InputError, match=r"methods\.a\.penalties"):
        Config({"a": {"method": Stacked, "penalties": penalties}}, {"three": {"maker": three_parts}})


def test_a_method_that_cannot_be_searched_is_refused():
    with pytest.raises(InputError, match="Fake has no fit_many"):
        Config({"a": {"method": Fake, "penalties": [0.1]}}, {"three": {"maker": three_parts}})


def test_a_table_without_parts_fails_the_job_and_says_why(own, tmp_path):
    config = Config({"a": {"method": Stacked, "penalties": [0.1]}}, {"own": own})
    with pytest.warns(HideSeekWarning, match="1 of 1 jobs failed"):
        (record,) = run(config, tmp_path, verbose=False)
    assert "has no parts" in record["error"]["message"]
