"""Conditional draws: their exact law in small cases, their gradient, their determinism, and what they refuse."""

from itertools import product

import numpy as np
import pandas as pd
import pytest
import torch

import hideseek
from hideseek import HideSeekClassifier, HideSeekRegressor, InputError
from hideseek.engine import eager
from hideseek.engine.conditional import DiscreteConditional, GaussianConditional, inverse_of_shown
from hideseek.engine.draws import Draws, Stream, step_keys
from hideseek.engine.groups import Groups
from hideseek.engine.hideseek import HideSeek, Rows, prediction_loss
from hideseek.engine.networks import Layer, Mlp
from hideseek.engine.objective import PREDICTION_LOSSES
from hideseek.engine.recipe import Recipe
from hideseek.engine.stack import Data, Members, Stack
from hideseek.engine.training import train
from hideseek.search.conditional import MOST_COLUMNS

# the fits here are too short for masks to settle
pytestmark = pytest.mark.filterwarnings("ignore::hideseek.errors.MaskWarning")

QUICK = {"preset": "paper", "steps": 20, "random_state": 0, "replacement": "conditional"}
N_DRAWS = 200_000
MEAN = np.array([1.0, -2.0, 0.5])
COVARIANCE = np.array([[1.0, 0.6, 0.3], [0.6, 4.0, -0.8], [0.3, -0.8, 2.0]])


def keys_of(seeds):
    return step_keys(np.asarray(seeds), Stream.REPLACEMENT, 0, 1)[0]


def gaussian(mean=MEAN, covariance=COVARIANCE):
    tensors = mean[:, None], covariance, np.linalg.cholesky(covariance)
    return GaussianConditional(*(torch.from_numpy(part)[None].float() for part in tensors))


def drawn(conditional, row, mask, n_draws=N_DRAWS):
    """Return many draws for one row and mask. Shape: ``(columns, n_draws)``, float64."""
    x, masks = (torch.tensor(part)[None, :, None].expand(1, -1, n_draws).float() for part in (row, mask))
    noise = conditional.draw(keys_of([0]), x)
    return conditional.given(x, masks)(noise)[0].double().numpy()


def law_given(j, others, row):
    """Return mean and variance of feature j given some others, from the textbook formula."""
    pull = COVARIANCE[j, others] @ np.linalg.inv(COVARIANCE[np.ix_(others, others)])
    return MEAN[j] + pull @ (row[others] - MEAN[others]), COVARIANCE[j, j] - pull @ COVARIANCE[others, j]


@pytest.mark.parametrize("shown", [list(each) for each in product([0, 1], repeat=3)])
def test_every_feature_is_drawn_given_the_other_shown_features(shown):
    row = np.array([2.0, 1.0, -1.0])
    x_hat = drawn(gaussian(), row, [0.9 if each else 0.2 for each in shown])
    for j in range(3):
        mean, variance = law_given(j, [k for k in range(3) if shown[k] and k != j], row)
        assert x_hat[j].mean() == pytest.approx(mean, abs=5 * np.sqrt(variance / N_DRAWS))
        assert x_hat[j].var() == pytest.approx(variance, rel=5 * np.sqrt(2 / N_DRAWS))


def test_hidden_features_keep_their_conditional_covariance():
    row = np.array([2.0, 1.0, -1.0])
    x_hat = drawn(gaussian(), row, [0.1, 0.8, 0.4])
    hidden, pull = [0, 2], COVARIANCE[[0, 2], 1] / COVARIANCE[1, 1]
    expected = COVARIANCE[np.ix_(hidden, hidden)] - np.outer(pull, COVARIANCE[1, hidden])
    np.testing.assert_allclose(np.cov(x_hat[hidden]), expected, atol=5 * 2 * np.sqrt(2 / N_DRAWS))


def test_the_fit_finds_mean_and_covariance_and_keeps_constant_columns():
    rows = np.random.default_rng(0).multivariate_normal(MEAN, COVARIANCE, 5000).T
    X = torch.from_numpy(np.vstack((rows, np.full((1, 5000), 7.0)))).float()
    mean, covariance, root = (part[0].numpy() for part in GaussianConditional.fit(X[None]).tensors)
    np.testing.assert_allclose(mean[:, 0], [*rows.mean(axis=1), 7.0], atol=1e-4)
    np.testing.assert_allclose(covariance[:3, :3], np.cov(rows, bias=True), atol=1e-4)
    np.testing.assert_allclose(root[:3] @ root[:3].T, covariance[:3, :3], atol=1e-5)
    x_hat = drawn(GaussianConditional.fit(X[None]), [0.0, 0.0, 0.0, 7.0], [0.9, 0.1, 0.9, 0.9], 10)
    np.testing.assert_allclose(x_hat[3], 7.0, atol=1e-5)


def test_values_of_hidden_features_never_change_what_is_drawn():
    for conditional in (gaussian(), discrete()):
        mask = [0.9, 0.5, 0.1]
        one, other = (drawn(conditional, row, mask, 1000) for row in ([1.0, 0.0, 0.0], [1.0, 1.0, 1.0]))
        np.testing.assert_array_equal(one, other)


def test_the_inverse_is_that_of_the_shown_part():
    covariance = torch.from_numpy(COVARIANCE)[None]
    shown = torch.tensor(list(product([0.0, 1.0], repeat=3))).double().t()[None]
    inverse = inverse_of_shown(covariance, shown)[0]
    for row, chosen in enumerate(shown[0].t().bool().numpy()):
        expected = np.eye(3)
        expected[np.ix_(chosen, chosen)] = np.linalg.inv(COVARIANCE[np.ix_(chosen, chosen)])
        np.testing.assert_allclose(inverse[:, :, row], expected, atol=1e-12)


TABLE = [(0, 0, 0)] * 3 + [(0, 0, 1)] * 2 + [(0, 1, 1)] * 4 + [(1, 0, 0)] * 1 + [(1, 1, 1)] * 5


def discrete():
    return DiscreteConditional.fit(torch.tensor(TABLE).t()[None].float())


@pytest.mark.parametrize("row", [(0, 0, 1), (1, 1, 1), (1, 0, 1)])
@pytest.mark.parametrize("shown", [(), (0,), (1,), (0, 1)])
def test_hidden_categories_follow_the_enumerated_conditional(row, shown):
    x_hat = drawn(discrete(), [float(value) for value in row], [float(j in shown) for j in range(3)])
    hidden = [j for j in range(3) if j not in shown]
    agreeing = [other for other in TABLE if all(other[j] == row[j] for j in shown)]
    values = [tuple(other[j] for j in hidden) for other in (agreeing if len(agreeing) > 1 else TABLE)]
    found = [tuple(draw) for draw in x_hat[hidden].T.astype(int).tolist()]
    for value in set(values) | set(found):
        assert found.count(value) / N_DRAWS == pytest.approx(values.count(value) / len(values), abs=0.006)


def test_a_shown_category_is_drawn_given_the_other_shown_ones():
    x_hat = drawn(discrete(), [0.0, 0.0, 1.0], [1.0, 1.0, 0.0])
    assert x_hat[0].mean() == pytest.approx(np.mean([row[0] for row in TABLE if row[1] == 0]), abs=0.006)


def test_a_training_row_that_alone_agrees_is_not_drawn():
    x_hat = drawn(discrete(), [1.0, 0.0, 0.0], [1.0, 1.0, 0.0])
    assert x_hat[2].mean() == pytest.approx(np.mean([row[2] for row in TABLE]), abs=0.006)


def test_the_largest_and_smallest_noise_draw_rows_of_the_table():
    x, mask = torch.tensor([[[0.0], [0.0], [1.0]]]), torch.zeros(1, 3, 1)
    drawn_at = [discrete().given(x, mask)(torch.full((1, 3, 1), noise))[0, :, 0].tolist() for noise in (-9.0, 9.0)]
    assert drawn_at == [[0, 0, 0], [1, 1, 1]]


def test_the_columns_of_a_category_are_drawn_from_one_row():
    levels = torch.tensor([0, 1, 2, 0, 1, 1])
    X = torch.cat((torch.nn.functional.one_hot(levels).t(), torch.tensor([[0, 1, 1, 0, 0, 1]]))).float()
    conditional = DiscreteConditional.fit(X[None], Groups.from_widths((3, 1)))
    x_hat = drawn(conditional, X[:, 1].tolist(), [0.1, 0.1, 0.1, 0.9], 5000)
    assert (x_hat[:3].sum(axis=0) == 1).all()
    assert (x_hat[0] == 0).all(), "level 0 never comes with 1 in the last column"
    x_hat = drawn(conditional, X[:, 1].tolist(), [0.9, 0.9, 0.9, 0.9], 5000)
    assert (x_hat[:3].sum(axis=0) == 1).all(), "shown, so drawn given the last column"
    assert 0 < x_hat[2].mean() < 1


def two_tables():
    rows = [np.random.default_rng(seed).multivariate_normal(MEAN, COVARIANCE, 200).T for seed in (0, 1)]
    return torch.from_numpy(np.array(rows)).float()


@pytest.mark.parametrize("kind", [GaussianConditional, DiscreteConditional])
def test_a_member_draws_the_same_alone_and_in_a_stack(kind):
    X = two_tables() if kind is GaussianConditional else (two_tables() > 0).float()
    table, keys, mask = torch.tensor([0, 1, 0]), keys_of([5, 6, 7]), torch.rand(3, 3, 50)
    together, x = kind.fit(X).of(table), X[table][:, :, :50]
    x_hat = together.given(x, mask)(together.draw(keys, x))
    for k in range(3):
        own = kind.fit(X[table[k]][None])
        alone = own.given(x[k : k + 1], mask[k : k + 1])(own.draw(keys[k : k + 1], x[k : k + 1]))[0]
        torch.testing.assert_close(x_hat[k], alone, atol=1e-6, rtol=0)


def test_the_gradient_is_that_of_autograd_with_the_draw_held_fixed():
    n_columns, n_rows, conditional = 3, 40, gaussian(MEAN * 0, np.eye(3) * 0.5 + 0.5)
    conditional = GaussianConditional(*(part.double() for part in conditional.tensors))
    hide, seek = Mlp((n_columns, 6, n_columns)), Mlp((n_columns, 6, 2))
    stack = Stack.from_members(hide, seek, torch.randn(2, hide.n_parameters + seek.n_parameters, dtype=torch.float64))
    x, noise = torch.randn(2, 2, n_columns, n_rows, dtype=torch.float64)
    target = torch.nn.functional.one_hot(torch.randint(2, (2, n_rows))).transpose(1, 2).double()
    price = torch.full((2, n_columns, 1), 0.1, dtype=torch.float64) / n_rows
    weights = stack.parameters.clone().requires_grad_()

    def network(matrices, values):
        for i, matrix in enumerate(matrices):
            values = matrix[:, :, :-1] @ (values if i == 0 else values.relu()) + matrix[:, :, -1:]
        return values

    own_hide, own_seek = stack.matrices(weights)
    mask = network(own_hide, x).sigmoid()
    x_hat = conditional.given(x, mask.detach())(noise)
    z = mask * x + (1 - mask) * x_hat
    loss = torch.nn.functional.cross_entropy(network(own_seek, z), target, reduction="none").mean(dim=1)
    (loss.sum() + (price * mask).sum()).backward()

    gradient = torch.zeros_like(stack.parameters)
    layers = [
        [Layer.of(*pair) for pair in zip(*network, strict=True)]
        for network in zip(stack.matrices(stack.parameters), stack.matrices(gradient), strict=True)
    ]
    ones = torch.cat((x, x.new_ones(2, 1, n_rows)), dim=1)
    rows = Rows(ones, noise, x - noise, target, None, price, conditional=conditional)
    objective = HideSeek(stack, PREDICTION_LOSSES["cross_entropy"], 2, n_rows, n_rows)
    loss_sum, mask_sum = objective.gradient(*layers, rows)
    torch.testing.assert_close(gradient, weights.grad)
    torch.testing.assert_close(loss_sum.sum(dim=1), loss.detach() * n_rows)
    torch.testing.assert_close(mask_sum, mask.detach().sum(dim=2))


def test_a_held_out_loss_is_that_of_draws_given_the_mask():
    hide, seek, conditional = Mlp((3, 6, 3)), Mlp((3, 6, 2)), gaussian()
    stack = Stack.from_members(hide, seek, torch.randn(2, hide.n_parameters + seek.n_parameters))
    x, noise = torch.randn(2, 2, 3, 40)
    batch = x, torch.nn.functional.one_hot(torch.randint(2, (2, 40))).transpose(1, 2).float(), None
    x_hat = conditional.given(x, stack.hide.forward(stack.layers()[0], x).sigmoid())(noise)
    loss = PREDICTION_LOSSES["cross_entropy"]
    got = prediction_loss(stack, loss, batch, noise, conditional)
    torch.testing.assert_close(got, prediction_loss(stack, loss, batch, x_hat))


@pytest.mark.parametrize("shard_cells", [2**18, 2**5], ids=["whole steps", "shards"])
def test_training_and_held_out_losses_draw_given_the_mask(monkeypatch, shard_cells):
    X, given, n_drawn = two_tables()[:1].transpose(1, 2).repeat(1, 3, 1), GaussianConditional.given, []
    data, steps = Data(X, (X[:, :, 0] > 0).long()), 4

    def counted(self, x, mask):
        assert 0 < mask.min() < mask.max() < 1
        n_drawn.append(x.shape[2])
        return given(self, x, mask)

    monkeypatch.setattr(GaussianConditional, "given", counted)
    monkeypatch.setitem(eager._SHARD_CELLS, "cpu", shard_cells)
    members = Members(np.array([3]), np.array([0.01]), np.ones((1, 3), bool), np.array([0]))
    fitted = GaussianConditional.fit(data.columns)
    how = {"loss": "cross_entropy", "n_outputs": 2, "device": torch.device("cpu"), "replacement": fitted}
    train(Recipe(steps=steps), data, members, **how)
    assert sum(n_drawn) == steps * 600
    train(Recipe(steps=steps), data, members, **how, validation=data)
    assert sum(n_drawn) == (steps + 2 * steps) * 600


def test_rows_of_features_of_several_columns_have_noise_of_their_own():
    cells = Draws(torch.arange(2 * 50, dtype=torch.int32), 1)
    noise = discrete().draw(keys_of([0]), torch.zeros(1, 4, 50), cells)
    assert noise.shape == (1, 4, 50)
    assert len(torch.unique(noise)) == 50


CATEGORIES = pd.DataFrame(
    {
        "colour": np.random.default_rng(0).choice(["red", "green", "blue"], 300),
        "open": np.random.default_rng(1).integers(0, 2, 300),
        "day": np.random.default_rng(2).choice(["mon", "tue"], 300),
    }
)


def fitted(kind, switch):
    if kind == "categories":
        return HideSeekClassifier(**QUICK).fit(CATEGORIES, CATEGORIES["open"]), CATEGORIES
    X, y = switch[0][:300], switch[1][:300]
    if kind == "classes":
        return HideSeekClassifier(**QUICK, n_members=2, column_fraction=0.75, validation_fraction=0.2).fit(X, y), X
    return HideSeekRegressor(**QUICK, cross_fit=True).fit(X, X[:, 0] + X[:, 1]), X


def answer(model, X):
    return model.predict_proba(X) if hasattr(model, "predict_proba") else model.predict(X)


@pytest.mark.parametrize("kind", ["categories", "classes", "values"])
def test_estimators_answer_the_same_for_the_same_row(switch, kind):
    model, X = fitted(kind, switch)
    again, _ = fitted(kind, switch)
    np.testing.assert_array_equal(model.explain(X).importance, again.explain(X).importance)
    np.testing.assert_array_equal(answer(model, X), answer(model, X))
    np.testing.assert_array_equal(answer(model, X[7:9]), answer(model, X)[7:9], "a row depends on itself alone")
    assert model.recipe_.replacement == "conditional"
    assert model.pool_ == "noise"


def test_a_prediction_draws_given_the_selected_features(switch):
    """Each row by itself, from the textbook's law with the noise of the pool."""
    X, y = switch
    X = np.column_stack((X, X[:, 0] + 0.5 * X[:, 3]))
    model = HideSeekClassifier(**{**QUICK, "steps": 60, "learning_rate": 0.01}, prediction_draws=3).fit(X, y)
    ensemble, selected = model._ensemble, model.select(X[:20])
    assert 0 < selected.mean() < 1
    mean, covariance, root = (part[0].double().numpy() for part in ensemble.conditional.tensors)
    rows = ensemble.scaler.transform(X[:20]).astype(float)
    for row, shown, expected in zip(rows, selected, model.predict_proba(X[:20], shown="selected"), strict=True):
        total = 0
        for noise in ensemble.pool[:3].double().numpy():
            w = mean[:, 0] + root @ noise
            pull = covariance[:, shown] @ np.linalg.inv(covariance[np.ix_(shown, shown)])
            z = np.where(shown, row, w + pull @ (row - w)[shown])
            output = ensemble.stack.seek.forward(ensemble.stack.layers()[1], torch.from_numpy(z)[None, :, None].float())
            total = total + output[0, :, 0].softmax(dim=0)
        np.testing.assert_allclose(expected, total / 3, atol=1e-5)


def test_a_model_of_numbers_survives_a_file(switch, tmp_path):
    for kind in ("classes", "values"):
        model, X = fitted(kind, switch)
        model.save(tmp_path / "model.safetensors")
        again = hideseek.load(tmp_path / "model.safetensors")
        np.testing.assert_array_equal(answer(again, X), answer(model, X))
        assert again.pool_ == "noise"


def test_a_model_of_categories_is_not_written(switch, tmp_path):
    model, _ = fitted("categories", switch)
    with pytest.raises(InputError, match=r"complete training rows.*replacement=\"marginal\""):
        model.save(tmp_path / "model.safetensors")


def test_conditional_draws_are_not_exported(switch, tmp_path):
    pytest.importorskip("onnx")
    model, _ = fitted("classes", switch)
    with pytest.raises(InputError, match=r"replacement='conditional'"):
        model.to_onnx(tmp_path / "model.onnx")


def test_a_covariance_that_cannot_be_inverted_is_no_content_of_a_file(switch, tmp_path):
    model, _ = fitted("classes", switch)
    model._ensemble.conditional.tensors[1].fill_(1.0)
    with pytest.raises(InputError, match="answers could be infinite"):
        model.save(tmp_path / "model.safetensors")


@pytest.mark.parametrize(
    ("X", "parameters", "said"),
    [
        (np.eye(40), {"preset": "balanced"}, r'needs preset="paper".*preset=\'balanced\' came'),
        (np.eye(40), {"ramps": True}, 'ramps=True needs replacement="marginal"'),
        ("wide", {}, f"at most {MOST_COLUMNS} columns of numbers; 40 came"),
        ("mixed", {}, "'x4' are no numbers of one column each, and 'x1', 'x2' and 'x3' have more values"),
        ("grouped", {"groups": {"both": [0, 1]}}, "'both' are no numbers of one column each"),
        ("bits", {}, r"at most 1024, and \d+ came"),
    ],
)
def test_what_cannot_be_drawn_is_refused_by_name(X, parameters, said):
    rng = np.random.default_rng(0)
    tables = {
        "wide": rng.normal(size=(200, 40)),
        "mixed": np.column_stack((rng.normal(size=(200, 3)), rng.integers(0, 2, 200))),
        "grouped": rng.normal(size=(200, 3)),
        "bits": rng.integers(0, 2, (2000, 20)),
    }
    X = tables[X] if isinstance(X, str) else X
    with pytest.raises(InputError, match=said):
        HideSeekClassifier(**{**QUICK, **parameters}).fit(X, np.arange(len(X)) % 2)


def test_problems_of_both_kinds_do_not_share_a_call(switch):
    X, y = switch[0][:200], switch[1][:200]
    with pytest.raises(InputError, match="call fit_many for each kind"):
        HideSeekClassifier(**QUICK).fit_many([(X, y, 0, {}), ((X > 0).astype(float), y, 1, {})])
