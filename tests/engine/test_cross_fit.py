"""Two Seeks for each member: each learns from its half of the rows, and Hide learns through the other's."""

from dataclasses import replace

import numpy as np
import pytest
import torch

from hideseek.engine import eager
from hideseek.engine.batches import Batches
from hideseek.engine.draws import member_seeds
from hideseek.engine.eager import BigSteps, SmallSteps, eager_steps
from hideseek.engine.ensemble import Ensemble
from hideseek.engine.knockoffs import GaussianKnockoffs
from hideseek.engine.networks import Mlp
from hideseek.engine.pools import draw_pool
from hideseek.engine.recipe import Recipe
from hideseek.engine.replacement import Marginal
from hideseek.engine.scaling import Scaler
from hideseek.engine.stack import Data, Members, Stack, initial_stack
from hideseek.engine.steps import Problem
from hideseek.engine.training import train

CPU = torch.device("cpu")
MEMBERS, COLUMNS, ROWS = 3, 5, 8
RECIPE = Recipe(steps=6, batch_size=48, learning_rate=1e-2, hidden_layers=(8, 6), cross_fit=True)


def make_data(rows=200, kind="classes", tables=1, weighted=False):
    generator = torch.Generator().manual_seed(0)
    X = torch.randn(tables, rows, 4, generator=generator)
    value = X[..., 0] + X[..., 1]
    target = {
        "classes": (X[..., 0] * X[..., 1] > 0).long(),
        "probabilities": torch.stack((torch.sigmoid(4 * value), torch.sigmoid(-4 * value)), dim=2),
        "values": value / value.std(),
    }[kind]
    return Data(X, target, 2 * torch.rand(tables, rows, generator=generator) if weighted else None)


def make_members(n_members=3, seed=1, tables=1):
    visible = np.ones((n_members, 4), dtype=bool)
    visible[-1, 2] = False
    table = np.arange(n_members) % tables
    return Members(member_seeds(seed, n_members), np.linspace(0.0, 0.05, n_members), visible, table)


def make_problem(recipe=RECIPE, **data) -> Problem:
    tables = make_data(tables=2, **data)
    members = make_members(tables=2)
    shapes = Mlp((4, *recipe.hidden_layers, 4)), Mlp((4, *recipe.hidden_layers, 2))
    stack, trainable = initial_stack(*shapes, members, CPU, recipe.n_seeks)
    seeds, table = torch.from_numpy(members.seeds), torch.from_numpy(members.table)
    price, visible = torch.from_numpy(members.price).float(), torch.from_numpy(members.visible).float()
    return Problem(recipe, tables, "cross_entropy", stack, trainable, seeds, table, price, visible)


def fit(recipe, data, members, loss="cross_entropy", **options):
    n_outputs = 1 if loss == "squared_error" else 2
    return train(recipe, data, members, loss=loss, n_outputs=n_outputs, device=CPU, **options)


@pytest.mark.parametrize(("rows", "size"), [(200, None), (201, None), (200, 48), (201, 47)])
def test_each_half_of_a_batch_comes_from_its_half_of_the_rows(rows, size):
    problem = make_problem(replace(RECIPE, batch_size=size), rows=rows)
    batches = Batches(problem, n_ahead=40)
    numbers = {tuple(x.tolist()): i for i, x in enumerate(problem.data.X.flatten(0, 1))}
    window = batches.after(torch.tensor([0]))
    half = problem.batch_size // 2
    assert window.x.shape[3] == 2 * half == (200 if size is None else 48)
    seen = set()
    for k in range(3):
        first, second = (
            {numbers[tuple(x.tolist())] for x in part.transpose(1, 2).reshape(-1, 4)}
            for part in (window.x[:, k, :-1, :half], window.x[:, k, :-1, half:])
        )
        assert not first & second
        assert {i // rows for i in first | second} == {k % 2}, "rows of its own table"
        assert len(first) == len(second) == 100
        seen.add(frozenset(i % rows for i in first))
    assert len(seen) == 3, "each member has halves of its own"


@pytest.mark.parametrize("batch_size", [None, 601])
@pytest.mark.parametrize("weighted", [False, True])
def test_a_step_in_parts_is_the_step(monkeypatch, batch_size, weighted):
    results = []
    for cells, kind in ((2**18, SmallSteps), (8 * 4 * 256, BigSteps)):
        monkeypatch.setitem(eager._SHARD_CELLS, "cpu", cells)
        problem = make_problem(replace(RECIPE, batch_size=batch_size), rows=1001, weighted=weighted)
        with torch.inference_mode():
            steps = eager_steps(problem, Marginal(problem.data.columns, problem.table), n_threads=2)
            assert isinstance(steps, kind)
            steps.run(5)
            results.append((problem.stack.parameters, steps.take_losses(5)))
            steps.close()
    for got, expected in zip(*results, strict=True):
        torch.testing.assert_close(got, expected, atol=1e-5, rtol=0)


@pytest.mark.parametrize("batch_size", [None, 48])
@pytest.mark.parametrize("weighted", [False, True])
def test_a_member_alone_equals_itself_in_a_stack(batch_size, weighted):
    recipe, data, members = replace(RECIPE, batch_size=batch_size), make_data(weighted=weighted), make_members()
    together, history = fit(recipe, data, members)
    again, _ = fit(recipe, data, members)
    assert torch.equal(together.parameters, again.parameters), "same seed, same bits"
    assert not torch.equal(together.parameters, fit(recipe, data, make_members(seed=2))[0].parameters)
    for k in range(len(members)):
        alone, single = fit(recipe, data, members.part(slice(k, k + 1)))
        torch.testing.assert_close(together.by_member()[k], alone.by_member()[0], atol=1e-5, rtol=0)
        np.testing.assert_allclose(history.prediction_loss[:, k], single.prediction_loss[:, 0], atol=1e-5)


@pytest.mark.parametrize("kind", ["classes", "probabilities", "values"])
@pytest.mark.parametrize("knockoffs", [False, True])
def test_every_kind_of_target_learns(kind, knockoffs):
    data, members = make_data(1000, kind), make_members(2)
    replacement = None
    if knockoffs:
        replacement = GaussianKnockoffs.fit(data.columns, [0]).of(torch.from_numpy(members.table))
    loss = "squared_error" if kind == "values" else "cross_entropy"
    recipe = Recipe(steps=250, batch_size=100, learning_rate=1e-2, cross_fit=True)
    _, history = fit(recipe, data, members, loss, replacement=replacement, validation=data)
    for losses in (history.prediction_loss, history.validation_loss):
        assert (losses[-1] < 0.7 * losses[0]).all()


def test_columns_that_a_member_does_not_see_stay_hidden_from_both_seeks():
    stack, _ = fit(RECIPE, make_data(), make_members())
    _, (matrix, *_) = stack.layers()
    assert (matrix[-2:, :, 2] == 0).all()
    assert (matrix[:-2] != 0).all()
    assert not torch.equal(matrix[0], matrix[1])


def test_weights_by_member_and_back():
    stack, _ = fit(RECIPE, make_data(), make_members())
    again = Stack.from_members(stack.hide, stack.seek, stack.by_member()[1:])
    assert (stack.n_seeks, stack.n_members, again.n_members) == (2, 3, 2)
    for before, after in zip(stack.matrices(stack.parameters)[1], again.matrices(again.parameters)[1], strict=True):
        assert torch.equal(before[2:], after)


def test_predictions_are_the_mean_of_both_seeks():
    raw = np.random.default_rng(0).normal(size=(100, 4)).astype(np.float32)
    stack, _ = fit(RECIPE, make_data(), make_members())
    hide, seek, weights = stack.hide, stack.seek, stack.by_member()
    scaler, visible = Scaler.fit(raw), torch.ones(3, 4, dtype=torch.bool)
    pool = draw_pool(0, torch.from_numpy(scaler.transform(raw)))
    ends = (hide.n_parameters, hide.n_parameters + seek.n_parameters)
    own, first, second = weights[:, : ends[0]], weights[:, ends[0] : ends[1]], weights[:, ends[1] :]
    stacks = stack, *(Stack.from_members(hide, seek, torch.cat((own, each), dim=1)) for each in (first, second))
    both, one, other = (Ensemble(each, visible, pool, scaler).outputs(raw, 4, softmax=True) for each in stacks)
    np.testing.assert_allclose(both, (one + other) / 2, atol=1e-6)
    assert not np.allclose(one, other, atol=1e-4)


@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a GPU: steps are recorded and replayed there")
@pytest.mark.parametrize("batch_size", [None, 48])
def test_a_gpu_takes_the_same_steps(batch_size):
    recipe, data, members = replace(RECIPE, batch_size=batch_size, steps=12), make_data(weighted=True), make_members()
    (stack, history), (other, other_history) = (
        train(recipe, data, members, loss="cross_entropy", n_outputs=2, device=torch.device(device))
        for device in ("cpu", "cuda")
    )
    torch.testing.assert_close(other.parameters.cpu(), stack.parameters, atol=1e-4, rtol=0)
    np.testing.assert_allclose(other_history.prediction_loss, history.prediction_loss, atol=1e-4)
