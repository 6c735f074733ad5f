import numpy as np
import pytest
import torch

from hideseek import HideSeekClassifier, TrainingError
from hideseek.engine import deep_knockoffs
from hideseek.engine.deep_knockoffs import (
    DeepKnockoffs,
    decorrelation,
    diagnostics,
    discrepancy,
    second_order,
)
from hideseek.engine.draws import Stream, step_keys
from hideseek.engine.knockoffs import GaussianKnockoffs

ROWS = 400


def keys_of(seeds, step=0):
    return step_keys(np.asarray(seeds), Stream.REPLACEMENT, step, step + 1)[0]


def make_rows(n_rows=ROWS, columns=4, seed=0):
    """Correlated, and not Gaussian: a shared part, and a skewed and a binary column. Shape: ``(columns, n_rows)``."""
    generator = np.random.default_rng(seed)
    x = generator.normal(size=(columns, n_rows)) + 1.5 * generator.normal(size=n_rows)
    x[0], x[1] = np.exp(x[0] / 3), x[1] > 0
    return torch.from_numpy((x - x.mean(axis=1, keepdims=True)) / x.std(axis=1, keepdims=True)).float()


@pytest.fixture(scope="module", name="X")
def table():
    return make_rows()


@pytest.fixture(scope="module")
def trained(X):
    return DeepKnockoffs.fit(X[None], [0])


def diagnosed(knockoffs, x):
    return diagnostics(x, knockoffs.draw(keys_of([9]), x[None])[0])


def shuffled(x, seed=0):
    generator = np.random.default_rng(seed)
    return torch.stack([column[torch.from_numpy(generator.permutation(len(column)))] for column in x])


def test_training_improves_every_diagnostic(X, trained):
    before, after = (diagnosed(k, X) for k in (DeepKnockoffs.fit(X[None], [0], steps=0), trained))
    assert after.covariance_gap < 0.3 * before.covariance_gap
    assert after.cross_covariance_gap < 0.3 * before.cross_covariance_gap
    assert after.discrepancy < 0.5 * before.discrepancy


def test_it_stands_between_a_copy_and_an_independent_draw(trained):
    new = make_rows(2000, seed=1)
    deep, copy, independent = diagnosed(trained, new), diagnostics(new, new), diagnostics(new, shuffled(new))
    assert copy.self_correlation == pytest.approx(1)
    assert copy.covariance_gap == copy.cross_covariance_gap == 0, "exchangeable, and hides nothing"
    assert abs(independent.self_correlation) < 0.05, "hides everything, and fits nothing"
    assert deep.self_correlation < 0.9
    assert deep.covariance_gap < 0.5 * independent.covariance_gap
    assert deep.cross_covariance_gap < 0.5 * independent.cross_covariance_gap


def test_columns_keep_half_their_correlation():
    x = torch.from_numpy(np.random.default_rng(0).normal(size=(4, ROWS))).float()
    assert diagnosed(DeepKnockoffs.fit(x[None], [0]), x).self_correlation == pytest.approx(0.5, abs=0.15)


@pytest.mark.parametrize("term", ["discrepancy", "second_order", "decorrelation"])
def test_every_term_takes_part_in_training(X, monkeypatch, term):
    whole = DeepKnockoffs.fit(X[None], [0], steps=2).tensors[0]
    monkeypatch.setattr(deep_knockoffs, term, lambda *parts: 0.0)
    assert not torch.allclose(DeepKnockoffs.fit(X[None], [0], steps=2).tensors[0], whole)


def test_the_target_correlation_can_be_another(X):
    class Decorrelated(DeepKnockoffs):
        target_correlation = 0.0

    near, far = (diagnosed(kind.fit(X[None], [0]), X).self_correlation for kind in (DeepKnockoffs, Decorrelated))
    assert far < near - 0.1


def test_a_knockoff_is_random_given_its_row(X, trained):
    same = X[:, :1].expand(-1, 1000).contiguous()
    assert trained.draw(keys_of([0]), same[None])[0].std(dim=1).min() > 0.1
    first, second = (trained.draw(keys_of([0], step), X[None]) for step in (0, 1))
    assert not torch.allclose(first, second), "fresh at every step"


def test_same_seed_same_bits_and_another_seed_others(X):
    first, again, other = (DeepKnockoffs.fit(X[None], [seed], steps=3).tensors for seed in (1, 1, 2))
    for a, b, c in zip(first, again, other, strict=True):
        assert torch.equal(a, b)
        assert not torch.equal(a, c)


def test_a_member_alone_equals_the_member_in_a_stack():
    X = torch.stack([make_rows(seed=seed) for seed in (0, 1)])
    table, seeds = torch.tensor([1, 0, 1]), np.array([5, 6, 7])
    together = DeepKnockoffs.fit(X, [3, 4], steps=5).of(table)
    keys = step_keys(seeds, Stream.REPLACEMENT, 0, 2)
    x = X[table].repeat(2, 1, 1)[:, :, :50].contiguous()
    drawn = together.draw(keys.flatten(0, 1), x)
    for k in range(3):
        alone = DeepKnockoffs.fit(X[table[k]][None], [3 + int(table[k])], steps=5)
        for step in (0, 1):
            i = 3 * step + k
            torch.testing.assert_close(drawn[i], alone.draw(keys[step, k][None], x[i][None])[0], atol=1e-5, rtol=0)


def test_the_folded_layers_do_what_training_saw(X):
    """Over the rows that gave the statistics, each hidden unit has its bias as mean and deviation one."""
    layers = DeepKnockoffs.fit(X[None], [0], steps=3).tensors
    noise = torch.randn(X.shape, generator=torch.Generator().manual_seed(0))
    values = layers[0][0] @ torch.cat((X, noise)) + layers[1][0]
    torch.testing.assert_close(values.std(dim=1), torch.ones(len(values)), atol=0.15, rtol=0)


def test_constant_columns_and_few_rows_do_not_break_it(X):
    x = X.clone()
    x[2] = 0.0
    knockoffs = DeepKnockoffs.fit(x[None], [0], steps=20)
    x_hat = knockoffs.draw(keys_of([0]), x[None])[0]
    assert torch.isfinite(x_hat).all()
    assert (x_hat[2] == 0).all()
    assert np.isfinite(diagnostics(x, x_hat).self_correlation)
    assert torch.isfinite(DeepKnockoffs.fit(x[None, :, :2], [0], steps=20).draw(keys_of([0]), x[None])).all()


def test_values_that_are_not_numbers_raise(X):
    broken = X.clone()
    broken[0, 0] = torch.nan
    with pytest.raises(TrainingError, match="extreme values"):
        DeepKnockoffs.fit(broken[None], [0], steps=3)


@pytest.mark.parametrize("swapped", [[False, False], [True, False], [False, True]])
def test_the_discrepancy_of_four_rows_by_hand(swapped):
    x = np.array([[0.0, 1.0, 2.0, 3.0], [1.0, -1.0, 0.0, 2.0]])
    x_hat = np.array([[1.0, 0.5, 0.0, 1.0], [-2.0, 1.0, 1.0, 0.0]])

    def rows(first, second, swap):
        """(x, x_hat) of the rows from first to second, with columns swapped."""
        return np.vstack((np.where(swap, x_hat.T, x.T).T, np.where(swap, x.T, x_hat.T).T))[:, first:second].T

    def kernel(a, b):
        square = ((a - b) ** 2).sum()
        return np.mean([np.exp(-square / (2 * width**2)) for width in (1, 2, 4, 8, 16, 32)])

    expected = 0
    first = rows(0, 2, [False, False])
    for swap in ([True, True], swapped):
        second = rows(2, 4, swap)
        expected += kernel(*first) + kernel(*second) - 2 * np.mean([kernel(a, b) for a in first for b in second])
    got = discrepancy(torch.from_numpy(x), torch.from_numpy(x_hat), torch.tensor(swapped))
    assert got.item() == pytest.approx(expected)


def test_the_discrepancy_sees_what_a_swap_changes():
    generator = np.random.default_rng(0)
    x = torch.from_numpy(generator.normal(size=(4, 2000)) + generator.normal(size=2000)).float()
    alternate, every = torch.arange(4) % 2 == 0, torch.ones(4, dtype=torch.bool)
    exact = GaussianKnockoffs.fit(x[None]).draw(keys_of([0]), x[None])[0]
    assert abs(discrepancy(x, exact, alternate)) < 0.1 * discrepancy(x, shuffled(x), alternate), "breaks the dependence"
    assert abs(discrepancy(x, exact, every)) < 0.1 * discrepancy(x, 2 * exact, every), "another scale"


def test_the_other_terms_by_hand():
    x = torch.tensor([[1.0, -1.0, 1.0, -1.0], [1.0, 1.0, -1.0, -1.0]])  # covariance: the identity
    assert second_order(x, x).item() == 0
    assert decorrelation(x, x, 0.5).item() == pytest.approx(2 * 0.5**2)
    assert second_order(x, x + 1).item() == pytest.approx(1), "the means"
    assert second_order(x, 2 * x).item() == pytest.approx(2 * 3**2 / 2), "variances 4 for 1, over the squares of 1, 1"
    swapped = x.flip(0)  # each column for the other: the cross-covariances are 1 where they should be 0
    assert second_order(x, swapped).item() == pytest.approx(2 / 2)
    assert decorrelation(x, swapped, 0.5).item() == pytest.approx(2 * 0.5**2)


@pytest.mark.parametrize(
    "term",
    [
        second_order,
        lambda x, x_hat: decorrelation(x, x_hat, 0.5),
        lambda x, x_hat: discrepancy(x, x_hat, x[:, 0] > 0),
    ],
    ids=["second order", "decorrelation", "discrepancy"],
)
def test_gradients_of_the_terms(term):
    x, x_hat = make_rows(8).double(), make_rows(8, seed=1).double().requires_grad_()
    torch.autograd.gradcheck(lambda values: term(x, values), x_hat)


@pytest.mark.filterwarnings("ignore::hideseek.errors.MaskWarning")  # five steps teach nothing
def test_a_member_with_fewer_columns_and_held_out_rows_can_train(switch):
    X, y = switch[0][:100], switch[1][:100]
    model = HideSeekClassifier(
        "fast",
        steps=5,
        n_members=3,
        column_fraction=0.7,
        validation_fraction=0.2,
        random_state=0,
        replacement="deep_knockoff",
    ).fit(X, y)
    assert np.isfinite(model.history_["validation_loss"]).all()
