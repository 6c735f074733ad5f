from dataclasses import replace

import numpy as np
import pytest
import torch

from hideseek.engine.draws import member_seeds
from hideseek.engine.groups import Groups
from hideseek.engine.networks import Mlp
from hideseek.engine.recipe import Recipe
from hideseek.engine.refining import Seeks, refine
from hideseek.engine.stack import Data, Members, initial_stack
from hideseek.errors import TrainingError

CPU, N_ROWS, U = torch.device("cpu"), 300, 0.3
RECIPE = Recipe(steps=100, batch_size=64, hidden_layers=(16, 16), learning_rate=1e-2, cross_fit=True, refinement=0.5)


def make(widths=(1, 1, 1, 1), visible=None):
    """Two members with two Seeks each, before any training, and rows whose first feature tells the class."""
    n_columns, n_features = sum(widths), len(widths)
    visible = np.ones((2, n_features), dtype=bool) if visible is None else visible
    price = np.array([0.1, 0.2])
    members = Members(member_seeds(0, 2), price, visible, np.zeros(2, dtype=np.int64), price / 50, np.arange(2))
    hide, seek = Mlp((n_columns, 16, 16, 2 * n_features)), Mlp((n_columns + 1, 16, 16, 2))
    stack, _ = initial_stack(hide, seek, members, CPU, 2, Groups.from_widths(widths))
    X = torch.randn(1, N_ROWS, n_columns, generator=torch.Generator().manual_seed(0))
    selected = torch.zeros(1, N_ROWS, n_features, dtype=torch.uint8)
    selected[:, :, 0] = 1
    fold = (torch.arange(N_ROWS) % 5)[None]
    data = Data(X, (X[:, :, 0] > 0).long(), None, fold, selected)
    seeds, table = torch.from_numpy(member_seeds(7, 4)), torch.zeros(2, dtype=torch.int64)
    return data, Seeks(stack, seeds, table, torch.from_numpy(visible), torch.arange(2))


def refined(data, seeks, **recipe):
    return refine(replace(RECIPE, **recipe), data, torch.full((1, N_ROWS), U), seeks, loss="cross_entropy")


def shown(data, seeks):
    """The inputs of Seek with the first feature shown and the others 0."""
    columns = seeks.stack.by_column(data.selected[0].T[None].float())
    return data.X[0].T[None] * columns


@pytest.mark.parametrize("widths", [(1, 1, 1, 1), (1, 3, 2)])
def test_seeks_learn_to_predict_from_the_selected_features(widths):
    data, seeks = make(widths)
    stack = refined(data, seeks)
    output = stack.seek_outputs(stack.seek_at(torch.full((2,), U)), shown(data, seeks))
    assert (output.argmax(dim=1) == data.target).float().mean() > 0.95


def test_hides_are_not_changed():
    data, seeks = make()
    before, after = (stack.matrices(stack.parameters) for stack in (seeks.stack, refined(data, seeks)))
    assert all(torch.equal(a, b) for a, b in zip(before[0], after[0], strict=True))
    assert not torch.equal(before[1][0], after[1][0])


def test_seeks_alone_answer_as_in_their_members_and_back_in_them():
    data, seeks = make((1, 3, 2))
    alone, z, u = seeks.alone(), shown(data, seeks), torch.full((2,), U)
    expected = seeks.stack.seek_outputs(seeks.stack.seek_at(u), z)
    with_u = torch.cat((z, torch.full((1, 1, N_ROWS), U)), dim=1)
    torch.testing.assert_close(alone.seek_outputs(alone.seek_at(None), with_u), expected)
    back = seeks.with_weights(alone)
    torch.testing.assert_close(back.seek_outputs(back.seek_at(u), z), expected)


def test_the_fold_that_a_member_leaves_out_is_not_learned_from():
    data, seeks = make()
    wrong = replace(data, target=torch.where(data.fold == 0, 1 - data.target, data.target))
    first, second = (refined(each, seeks).by_member() for each in (data, wrong))
    assert torch.equal(first[0], second[0])
    assert not torch.equal(first[1], second[1])


def test_columns_that_a_member_does_not_see_stay_out():
    data, seeks = make(visible=np.array([[True, False, True, True], [True, True, True, True]]))
    _, (first, *_) = (stack := refined(data, seeks)).matrices(stack.parameters)
    assert (first[:2, :, 1] == 0).all()
    assert (first[2:, :, 1] != 0).any()


def test_a_member_alone_is_refined_as_in_a_stack():
    data, seeks = make()
    one = Seeks(seeks.stack.of(torch.tensor([1])), seeks.seeds[2:], seeks.table[1:], seeks.visible[1:], seeks.fold[1:])
    torch.testing.assert_close(refined(data, one).by_member()[0], refined(data, seeks).by_member()[1])


def test_a_loss_that_is_not_finite_is_said():
    data, seeks = make()
    data.X[0, :, 0] = torch.inf
    with pytest.raises(TrainingError, match="lower learning_rate"):
        refined(data, seeks)
