"""The audit against exact values, selectors made to leak, and the parts it is made of."""

from functools import cache
from importlib import import_module
from pathlib import Path

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import polars as pl
import pytest
import torch
from sklearn.metrics import roc_auc_score

from hideseek import Explanation, InputError
from hideseek.metrics import Estimate, audit
from hideseek.metrics._audit._errors import Ranks, weighted_mean, with_error
from hideseek.metrics._audit._estimation import Predictions, steps_of
from hideseek.metrics._audit._heads import CellHead
from hideseek.metrics._audit._inputs import as_features, as_target
from hideseek.metrics._audit._rows import MaskedRows, folds_of
from hideseek.metrics._audit._summary import Summary
from hideseek.metrics._audit._training import chosen_for_each_fold

QUICK = {"n_folds": 2, "n_networks": 2, "device": "cpu"}
WITHIN = 3.5
"""Errors that an estimate may be away from the exact value."""

BITS = [
    "three bits, truth",
    "three bits, position only",
    "two bits, set tells the label",
    "ten bits, in order",
    "ten bits, smallest sufficient",
]
FEATURE_LEAKS = {"three bits, position only", "two bits, set tells the label", "ten bits, smallest sufficient"}


@pytest.fixture(scope="module")
def benchmark():
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(Path(__file__).parents[2]))
        yield import_module("benchmarks.audit")


@pytest.fixture(scope="module")
def judged(benchmark):
    @cache
    def of(name, seed=0, n_rows=2000):
        case = benchmark.CASES[name][0](seed, n_rows)
        return case, audit(case.X, case.y, case.selected, task=case.task, random_state=seed, **QUICK)

    return of


@pytest.fixture
def few_steps(monkeypatch):
    """For what does not depend on how well networks are trained."""
    monkeypatch.setattr(import_module("hideseek.metrics._audit._estimation"), "_STEPS", 12)


# -- exact values --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", BITS)
def test_exact_values_are_reproduced_within_the_reported_errors(name, judged, benchmark):
    case, found = judged(name)
    for quantity, exact in zip(benchmark.QUANTITIES, case.exact, strict=True):
        estimate = getattr(found, quantity)
        assert abs(estimate.value - exact) < WITHIN * estimate.error, (quantity, estimate, exact)


@pytest.mark.parametrize("name", BITS)
def test_leaking_selectors_are_caught_and_honest_ones_are_not(name, judged, benchmark):
    _, found = judged(name)
    assert found.encodes_label == benchmark.CASES[name][2]
    assert found.leaks_features == (name in FEATURE_LEAKS)


def test_the_hidden_column_that_a_mask_codes_is_named(judged):
    _, found = judged("three bits, position only")
    assert found.feature_leak.argmax() == 2  # which of x1 and x2 is shown says what x3 is
    assert "x3 (0.6" in repr(found)
    assert np.abs(found.feature_leak[:2]).max() < 0.02


def test_sufficiency_is_the_score_of_the_selection_minus_that_of_all_features(judged):
    case, found = judged("three bits, position only")
    assert found.sufficiency.shape == (len(case.X),)
    assert found.sufficiency.mean() == pytest.approx(found.evalx.value - found.everything.value, abs=0.03)
    agrees = case.y == case.X[case.selected]
    assert found.sufficiency[agrees].mean() == pytest.approx(np.log(0.7 / 0.9), abs=0.1)
    assert found.sufficiency[~agrees].mean() == pytest.approx(np.log(0.3 / 0.1), abs=0.4)


# -- the leak-free front of the ten bits ---------------------------------------------------------------------------

FRONT = {1.9: (0.258, 4.81), 1.6: (0.284, 4.33), 1.25: (0.465, 1.86), 1.0: (0.497, 1.50), 0.6: (0.623, 0.415)}
FRONT |= {0.25: (0.703, 0.059), 0.05: (0.75, 0.0)}
"""By the price of a bit: mean share shown, and mean squared error."""


def count_distribution(ones, open_pairs, unknown):
    """Of the number of pairs whose product is 1."""
    distribution = np.zeros(6)
    distribution[ones] = 1.0
    for probability in [0.5] * open_pairs + [0.25] * unknown:
        distribution = distribution * (1 - probability) + np.roll(distribution, 1) * probability
    return distribution


class FrontPolicy:
    """Show bits one after the other, at this price each, until it pays to stop: it looks at what it has shown alone."""

    def __init__(self, price):
        self.price = price
        self.best = cache(self._best)

    def _best(self, ones, open_pairs, unknown):
        """Loss plus price, and what to do: stop, or show the other bit of an open pair, or the first of a new one."""
        chances, squares = count_distribution(ones, open_pairs, unknown), np.arange(6.0) ** 2
        options = [(chances @ squares**2 - (chances @ squares) ** 2, "stop")]
        if open_pairs:
            after = self.best(ones + 1, open_pairs - 1, unknown)[0] + self.best(ones, open_pairs - 1, unknown)[0]
            options.append((self.price + after / 2, "second"))
        if unknown:
            after = self.best(ones, open_pairs + 1, unknown - 1)[0] + self.best(ones, open_pairs, unknown - 1)[0]
            options.append((self.price + after / 2, "first"))
        return min(options)

    def select(self, row):
        shown, ones, unknown, open_pairs = np.zeros(10, dtype=bool), 0, list(range(5)), []
        while (move := self.best(ones, len(open_pairs), len(unknown))[1]) != "stop":
            pair = open_pairs.pop() if move == "second" else unknown.pop(0)
            bit = 2 * pair + (move == "second")
            shown[bit] = True
            if row[bit] and move == "first":
                open_pairs.append(pair)
            elif row[bit]:
                ones += 1
        return shown


CUBE = ((np.arange(1024)[:, None] >> np.arange(10)) & 1).astype(float)
SQUARES = (CUBE[:, ::2] * CUBE[:, 1::2]).sum(axis=1) ** 2


def exact_error(selected):
    """Mean squared error of E(y given x_S) over the cube, by enumeration."""
    found = [SQUARES[(CUBE[:, s] == row[s]).all(axis=1)].mean() for row, s in zip(CUBE, selected, strict=True)]
    return float(((SQUARES - found) ** 2).mean())


@pytest.mark.parametrize("price", FRONT)
def test_the_front_of_the_ten_bits_is_made_of_policies(price):
    policy = FrontPolicy(price)
    selected = np.array([policy.select(row) for row in CUBE])
    share, error = FRONT[price]
    assert selected.mean() == pytest.approx(share, abs=0.0006)
    assert exact_error(selected) == pytest.approx(error, abs=0.006)


def test_a_selector_on_the_front_is_honest_and_has_its_exact_error():
    policy = FrontPolicy(1.25)
    by_row = np.array([policy.select(row) for row in CUBE])
    exact = exact_error(by_row)
    rows = np.random.default_rng(0).integers(1024, size=3000)
    found = audit(CUBE[rows], SQUARES[rows], by_row[rows], task="regression", **QUICK)
    assert abs(found.evalx.value + exact) < WITHIN * found.evalx.error
    assert abs(found.encode.value) < WITHIN * found.encode.error
    assert not found.leaks_features


# -- what comes out ------------------------------------------------------------------------------------------------


def mixed_table(n_rows=240):
    draw = np.random.default_rng(0)
    frame = pd.DataFrame(
        {
            "amount": np.where(draw.random(n_rows) < 0.1, np.nan, draw.normal(size=n_rows)),
            "colour": draw.choice(["red", "green", "blue"], n_rows),
            "member": draw.random(n_rows) < 0.5,
            "width": draw.normal(size=n_rows),
            "height": draw.normal(size=n_rows),
        }
    )
    labels = np.where(frame["colour"] == "red", "a", np.where(frame["width"] > 0, "b", "c"))
    return frame, labels


def test_mixed_tables_classes_groups_and_explanations_are_judged(few_steps):
    frame, labels = mixed_table()
    names = ["amount", "colour", "member", "size"]
    explanation = Explanation(np.ones((240, 4)), np.tile([0, 1, 0, 1], (240, 1)), feature_names=names)
    groups = {"size": ["width", "height"]}
    probability = np.full((240, 3), 1 / 3)
    found = audit(pl.from_pandas(frame), labels, explanation, groups=groups, prediction=probability, **QUICK)
    assert found.feature_names == tuple(names)
    assert found.n_selected == 2.0
    assert found.own.value == pytest.approx(0.5)
    assert found.own_gain.value == pytest.approx(0.5 - found.eauroc.value)
    assert found.r2 is None
    assert (found.feature_leak[[1, 3]] == 0).all()  # nothing of what is shown is hidden
    lines = found.to_frame()
    assert isinstance(lines, pl.DataFrame)
    assert list(lines["quantity"])[:6] == ["nothing", "random", "EVAL-X", "ROAR", "everything", "ENCODE"]
    assert list(lines["quantity"])[-1] == "feature leak: size"
    assert repr(found).startswith("Audit of 240 rows, 2.00 of 4 features selected per row (scores: log-likelihood")


def test_own_predictions_of_values_are_compared_with_what_the_selection_allows(few_steps):
    X = np.random.default_rng(0).normal(size=(200, 3))
    found = audit(X, X[:, 0], np.tile([False, True, False], (200, 1)), prediction=X[:, 0], **QUICK)
    assert found.task == "regression"
    assert found.own.value == pytest.approx(1.0)
    assert found.r2.value < 0.2
    assert found.own_gain.ratio > 5
    assert found.eauroc is None
    assert found.eaccuracy is None


def test_the_same_seed_gives_the_same_audit(few_steps):
    X = np.random.default_rng(0).normal(size=(100, 3))
    first, again = (audit(X, X[:, 0] > 0, X > 0, random_state=1, **QUICK) for _ in range(2))
    assert first.encode == again.encode
    assert first.evalx == again.evalx
    np.testing.assert_array_equal(first.sufficiency, again.sufficiency)


@pytest.mark.parametrize("shown", [False, True])
def test_selecting_nothing_or_everything_leaks_nothing(shown, few_steps):
    X = np.random.default_rng(0).integers(0, 2, (300, 2))
    found = audit(X, X[:, 0], np.full((300, 2), shown), **QUICK)
    assert not found.encodes_label
    assert not found.leaks_features
    assert abs(found.evalx.value - (found.everything if shown else found.nothing).value) < 0.1


@pytest.mark.parametrize("name", ["three bits, position only", "ten bits, in order"])
def test_the_picture_shows_every_score_and_says_what_was_found(name, judged):
    _, found = judged(name)
    ax = found.plot()
    ax.figure.canvas.draw()
    assert [label.get_text() for label in ax.get_yticklabels()] == [
        "nothing",
        "random features",
        "EVAL-X",
        "ROAR",
        "everything",
    ]
    leaks = "label and feature leakage found" if name.startswith("three") else "no leakage found"
    assert leaks in ax.get_title().replace("\n", " ")
    plt.close("all")


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"selected": np.ones((99, 3))}, ["selected has shape (99, 3)", "100 rows of 3 features"]),
        ({"selected": np.full((100, 3), 0.3)}, ["selected must be booleans", "selected > 0.5"]),
        ({"y": np.zeros(100)}, ["one class"]),
        ({"y": np.zeros(100), "task": "regression"}, ["same value, 0, in every row"]),
        ({"y": np.arange(99)}, ["y must be one label or value for each of the 100 rows", "(99,)"]),
        ({"y": np.where(np.arange(100) == 3, np.nan, 1.0)}, ["y is missing or infinite in 1 rows"]),
        ({"y": ["a", "b"] * 50, "task": "regression"}, ["y must be numbers"]),
        ({"X": np.ones(100)}, ["X must be a table", "(100,)"]),
        ({"X": np.full((100, 3), np.inf)}, ["infinite"]),
        ({"prediction": np.full((100, 3), 1 / 3)}, ["prediction has probabilities of 3 classes; y has 2"]),
        ({"prediction": np.full(100, 7.0)}, ["prediction did not return probabilities"]),
        ({"n_folds": 1, "task": "guess"}, ["n_folds=1", "task='guess'"]),
        ({"device": "abacus"}, ["device='abacus'", "expected 'auto'"]),
    ],
)
def test_wrong_arguments_are_named(arguments, words):
    X = np.random.default_rng(0).normal(size=(100, 3))
    given = {"X": X, "y": X[:, 0] > 0, "selected": X > 0, **arguments}
    with pytest.raises(InputError) as caught:
        audit(**given)
    assert all(word in str(caught.value) for word in words), caught.value


def test_too_few_rows_are_refused():
    X = np.random.default_rng(0).normal(size=(39, 3))
    with pytest.raises(InputError, match="39 rows; an audit needs at least 40"):
        audit(X, X[:, 0] > 0, X > 0)


# -- its parts -----------------------------------------------------------------------------------------------------


def masked_rows(n_rows=60, n_folds=3):
    X = np.random.default_rng(0).normal(size=(n_rows, 4))
    fold = folds_of(X[:, 0], n_folds, seed=0)
    rows = MaskedRows(as_features(X, None), X > 0, fold, 2, 8, seed=0, device=torch.device("cpu"))
    return X, fold, rows


@pytest.mark.parametrize("kind", ["own", "everything", "random_sets", "own_and_shuffled", "independent"])
def test_networks_learn_from_no_row_of_their_fold(kind):
    _, fold, rows = masked_rows()
    for _ in range(20):
        drawn, masks = getattr(rows, kind)()
        assert masks.shape == (6, 8, 4)
        for member in range(6):
            assert (fold[drawn[member]] != member // 2).all()


def test_networks_see_the_mask_and_no_hidden_value():
    _, _, rows = masked_rows()
    every = torch.arange(60)[None]
    for shown in range(4):
        mask = torch.eye(4)[shown].expand(1, 60, 4)
        values, masks = rows.inputs(every, mask).split([rows.n_inputs - 4, 4], dim=1)
        assert torch.equal(masks, mask.transpose(1, 2))
        others = torch.arange(4) != shown
        assert (values[:, others] == 0).all()
        assert (values[:, shown] != 0).all()


def test_random_sets_have_the_sizes_of_the_selection():
    X, _, rows = masked_rows()
    np.testing.assert_array_equal(rows.random_masks[:60].sum(dim=1), (X > 0).sum(axis=1))


def test_folds_are_of_one_size_and_share_the_classes_evenly():
    fold = folds_of(np.repeat([0, 1], [30, 10]), 5, seed=0)
    assert np.bincount(fold).tolist() == [8] * 5
    assert np.bincount(fold[30:]).tolist() == [2] * 5


def test_a_fold_has_no_say_in_its_own_choice():
    scores = torch.tensor([[9.0, 0.0, 0.0], [0.0, 1.0, 1.0]])
    assert chosen_for_each_fold(scores).tolist() == [1, 0, 0]


def test_shown_cells_count_nothing_and_unused_classes_are_impossible():
    head = CellHead(torch.tensor([[0, 2], [1, 0]]), torch.tensor([0, 1]))
    output, rows = torch.zeros(1, head.n_outputs, 2), torch.tensor([[0, 1]])
    masks = torch.tensor([[[1.0, 0.0], [0.0, 1.0]]])
    assert head.loss(output, rows, masks)[0].tolist() == pytest.approx([np.log(3), np.log(2)])
    assert head.score(head.kept(output, rows), rows, masks)[0].flatten().tolist() == pytest.approx(
        [0.0, -np.log(3), -np.log(2), 0.0]
    )


def test_weighted_auroc_is_that_of_repeated_rows():
    draw = np.random.default_rng(0)
    classes, weight = draw.integers(0, 3, 80), draw.integers(0, 3, 80)
    probability = np.round(draw.dirichlet([1, 1, 1], 80), 1) + 1e-3  # with ties
    probability /= probability.sum(axis=1, keepdims=True)
    again = np.repeat(np.arange(80), weight)
    expected = roc_auc_score(classes[again], probability[again], multi_class="ovr")
    assert Ranks(classes, 3).auroc(probability, weight.astype(float)) == pytest.approx(expected)
    two = classes > 0
    expected = roc_auc_score(two[again], probability[again, 1])
    assert Ranks(two.astype(int), 2).auroc(probability[:, :2], weight.astype(float)) == pytest.approx(expected)


def test_errors_count_the_spread_of_rows_and_of_networks():
    rows = np.random.default_rng(0).normal(size=400)
    fold = np.arange(400) % 4
    value, error = with_error(weighted_mean, np.stack([rows, rows]), rows, fold, seed=0)
    assert value == pytest.approx(rows.mean())
    assert error == pytest.approx(rows.std() / 20, rel=0.15)
    apart = np.stack(
        [rows - 1, rows + 1]
    )  # a deviation of sqrt(2) in each fold: 1 for two networks, 1/2 for four folds
    _, larger = with_error(weighted_mean, apart, rows, fold, seed=0)
    assert larger == pytest.approx(np.hypot(error, 0.5))


def test_an_error_of_evalx_is_corrected_by_rows_with_masks_of_other_rows():
    """Rows agree with the shown bit in nine of ten cases under their own masks, in seven of ten under any."""
    y = np.arange(1000) % 10 > 0
    agree, differ = np.flatnonzero(y), np.flatnonzero(~y)
    pair_rows = np.concatenate([agree[:700], np.repeat(differ, 3)])

    def constant(probability, n_rows):
        return np.tile([1 - probability, probability], (2, n_rows, 1))

    def predictions(q):
        by_row = {name: constant(q, 1000) for name in ("evalx", "everything", "random", "cells_evalx", "cells_roar")}
        by_pair = {"pair_evalx": constant(q, 1000), "pair_roar": constant(0.9, 1000)}
        return Predictions(pair_rows=pair_rows, roar=constant(0.9, 1000), **by_row, **by_pair)

    summary = Summary(as_target(y, "classification", 1000), np.arange(1000) % 2, 0)
    exact = 0.9 * np.log(0.7) + 0.1 * np.log(0.3)
    assert summary.evalx(predictions(0.7)).value == pytest.approx(exact)  # q is right, and the correction is 0
    plain = 0.9 * np.log(0.65) + 0.1 * np.log(0.35)
    corrected = summary.evalx(predictions(0.65))
    assert abs(corrected.value - exact) < 0.1 * abs(plain - exact)
    assert summary.encode(predictions(0.65)).value == pytest.approx(
        0.9 * np.log(0.9) + 0.1 * np.log(0.1) - corrected.value
    )


def test_the_accuracy_of_evalx_is_the_share_of_rows_whose_class_is_the_most_probable():
    y = np.arange(400) % 4 > 0
    kept = np.tile([0.4, 0.6], (2, 400, 1))
    found = Summary(as_target(y, "classification", 400), np.arange(400) % 2, 0).quality(kept, None)
    assert found["eaccuracy"].value == pytest.approx(0.75)
    assert found["eaccuracy"].error == pytest.approx(np.sqrt(0.75 * 0.25 / 400), rel=0.2)


def test_networks_are_trained_for_longer_on_many_rows():
    assert [steps_of(n_rows) for n_rows in (40, 10_000, 20_000, 40_000, 10**6)] == [400, 400, 800, 1200, 1200]


def test_an_estimate_says_how_far_above_zero_it_lies():
    assert Estimate(0.5, 0.1).ratio == pytest.approx(5.0)
    assert str(Estimate(0.5, 0.1)) == "0.5000 ± 0.1000"


def test_numbers_are_values_or_classes_as_they_look():
    assert as_target([0.5, 1.5] * 2, "auto", 4).task == "regression"
    assert as_target(np.arange(30), "auto", 30).task == "regression"
    assert as_target([0, 1, 4, 9], "auto", 4).task == "classification"
    assert as_target([0, 1, 4, 9], "regression", 4).task == "regression"


def test_cells_are_binned_by_quarters_levels_and_missing_ones():
    numbers = as_features(np.arange(8.0)[:, None], None)
    assert numbers.classes[:, 0].tolist() == [0, 0, 1, 1, 2, 2, 3, 3]
    assert as_features(np.array([[0.0], [5.0], [5.0]]), None).classes[:, 0].tolist() == [0, 1, 1]
    frame, _ = mixed_table()
    mixed = as_features(frame, {"size": ["width", "height"]})
    assert mixed.names == ("amount", "colour", "member", "size")
    assert mixed.feature_of_cell.tolist() == [0, 1, 2, 3, 3]
    assert (mixed.classes[frame["amount"].isna(), 0] == 4).all()
    assert len(np.unique(mixed.classes[:, 1])) == 3
