from types import SimpleNamespace

import numpy as np
import pytest
import torch

from hideseek.engine import eager
from hideseek.engine.draws import member_seeds
from hideseek.engine.eager import BigSteps, SmallSteps, cut, eager_steps
from hideseek.engine.networks import Mlp
from hideseek.engine.recipe import Recipe
from hideseek.engine.replacement import Marginal
from hideseek.engine.stack import Data, Members, initial_stack
from hideseek.engine.steps import Problem

CPU = torch.device("cpu")


def make_problem(rows=1000, batch_size=None, members=3, columns=4, weighted=False) -> Problem:
    generator = torch.Generator().manual_seed(0)
    X = torch.randn(2, rows, columns, generator=generator)
    weight = 2 * torch.rand(2, rows, generator=generator) if weighted else None
    visible, table = np.ones((members, columns), dtype=bool), np.arange(members) % 2
    group = Members(member_seeds(0, members), np.full(members, 0.02), visible, table)
    stack, trainable = initial_stack(Mlp((columns, 8, 6, columns)), Mlp((columns, 8, 6, 2)), group, CPU)
    seeds, where, price, seen = (
        torch.from_numpy(part) for part in (group.seeds, group.table, group.price, group.visible)
    )
    recipe = Recipe(steps=30, batch_size=batch_size, hidden_layers=(8, 6))
    data = Data(X, (X[..., 0] > 0).long(), weight)
    return Problem(recipe, data, "cross_entropy", stack, trainable, seeds, where, price.float(), seen.float())


def after_steps(problem: Problem, n_steps: int = 6, **options) -> tuple[torch.Tensor, torch.Tensor]:
    with torch.inference_mode():
        steps = eager_steps(problem, Marginal(problem.data.columns, problem.table), **options)
        steps.run(n_steps - 1)
        steps.run(1)
        losses = steps.take_losses(n_steps)
        assert (steps.take_losses(1) == 0).all(), "losses are taken once"
        steps.close()
    return problem.stack.parameters, losses


@pytest.mark.parametrize("batch_size", [None, 600])
@pytest.mark.parametrize("weighted", [False, True])
def test_a_step_in_parts_is_the_step(monkeypatch, batch_size, weighted):
    whole = after_steps(make_problem(batch_size=batch_size, weighted=weighted))
    monkeypatch.setitem(eager._SHARD_CELLS, "cpu", 8 * 300)
    problem = make_problem(batch_size=batch_size, weighted=weighted)
    parts = cut(problem, 8 * 300)
    assert len(parts) == 3 * (4 if batch_size is None else 2), "a member and 250 or 300 rows at a time"
    for got, expected in zip(after_steps(problem), whole, strict=True):
        torch.testing.assert_close(got, expected, atol=1e-5, rtol=0)


@pytest.mark.parametrize("part_cells", [2**18, 8 * 300])
def test_threads_do_not_change_a_bit(monkeypatch, part_cells):
    monkeypatch.setitem(eager._SHARD_CELLS, "cpu", part_cells)
    kind = BigSteps if part_cells < 8 * 600 else SmallSteps
    assert isinstance(eager_steps(make_problem(), Marginal(make_problem().data.columns, torch.arange(2))), kind)
    one, four = (after_steps(make_problem(batch_size=900), n_steps=20, n_threads=n) for n in (1, 4))
    assert torch.equal(one[0], four[0])
    assert torch.equal(one[1], four[1])


def test_drawing_ahead_draws_the_same(monkeypatch):
    results = []
    for cells in (1, 2**12, 2**17):  # one, a few and many steps at a time
        monkeypatch.setattr(eager, "_AHEAD_CELLS", cells)
        results.append(after_steps(make_problem(batch_size=50), n_steps=25)[0])
    torch.testing.assert_close(results[0], results[1], atol=1e-5, rtol=0)
    torch.testing.assert_close(results[0], results[2], atol=1e-5, rtol=0)


def test_parts_cover_every_member_and_row_once():
    problem = make_problem(rows=5003, members=5)
    seen = np.zeros((5, 5003), dtype=int)
    chunk_of = {}
    for part in cut(problem, 8 * 300):
        for rows in part.blocks:
            seen[part.members, rows] += 1
            chunk_of.setdefault(rows.start, set()).add(part.chunk)
    assert (seen == 1).all()
    assert all(len(chunks) == 1 for chunks in chunk_of.values()), "a row's chunk is the same for all members"
    assert len(set.union(*chunk_of.values())) <= 16


def test_rows_drawn_ahead_are_used_once_even_past_the_last_step():
    """The recipe has 30 steps; whoever asks for more gets new rows, with a second thread as without."""
    one, two = (after_steps(make_problem(batch_size=900), n_steps=60, n_threads=n) for n in (1, 2))
    assert torch.equal(one[0], two[0])


def test_a_block_of_a_batch_of_more_than_two_billion_cells_can_be_drawn():
    n_columns = 2200
    stack, _ = initial_stack(
        Mlp((n_columns, n_columns)),
        Mlp((n_columns, 2)),
        Members(member_seeds(0, 1), np.zeros(1), np.ones((1, n_columns), dtype=bool), np.zeros(1, dtype=int)),
        CPU,
    )
    problem = SimpleNamespace(
        recipe=Recipe(),
        stack=stack,
        loss="cross_entropy",
        batch_size=1_000_000,
        visible=torch.ones(1, n_columns),
        seeds=torch.zeros(1),
    )
    _, draws = eager._Workspace(problem).of(1, 4)
    picked = draws.integers(torch.zeros(1, 2, dtype=torch.int32), 1000)
    assert picked.shape == (1, 4 * n_columns)
    assert picked.unique().numel() > 990
