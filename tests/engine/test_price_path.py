import numpy as np
import pytest
import torch
from torch.nn.functional import cross_entropy, softplus

from hideseek.engine import eager
from hideseek.engine.draws import member_seeds
from hideseek.engine.groups import Groups
from hideseek.engine.hideseek import HideSeek, Rows
from hideseek.engine.networks import Layer, Mlp
from hideseek.engine.objective import PREDICTION_LOSSES
from hideseek.engine.path import entry_log_prices, mask_at, position_of, positions_of, price_at
from hideseek.engine.recipe import Recipe
from hideseek.engine.stack import Data, Members, Stack
from hideseek.engine.training import train

MEMBERS, ROWS, OUTPUTS = 2, 8, 3
CPU = torch.device("cpu")


def normal(*shape):
    return torch.randn(*shape, dtype=torch.float64)


def test_positions_of_the_ends_and_the_middle_of_a_range():
    price_range = torch.log(torch.tensor([[0.01, 1.0], [0.1, 10.0]]))
    torch.testing.assert_close(position_of(0.1, price_range), torch.tensor([0.0, -2.0]))
    torch.testing.assert_close(position_of(10.0, price_range), torch.tensor([4.0, 2.0]))
    share = torch.tensor([[0.0, 0.5], [0.5, 1.0]])
    torch.testing.assert_close(price_at(share, price_range), torch.tensor([[0.01, 0.1], [1.0, 10.0]]))


def test_mask_falls_with_the_price_and_passes_the_threshold_at_the_entry_price():
    output, price_range = normal(MEMBERS, 10, ROWS), torch.log(torch.tensor([[0.01, 1.0], [0.1, 10.0]])).double()
    masks = [mask_at(output, torch.full((MEMBERS, 1), u, dtype=torch.float64)) for u in (-2, 0, 2)]
    assert (masks[0] > masks[1]).all()
    assert (masks[1] > masks[2]).all()
    entered = entry_log_prices(output, price_range, lambda values: values.mean(dim=0), 0.3)
    for j in range(5):
        at_entry = mask_at(output, positions_of(entered[j], price_range))[:, j].mean(dim=0)
        torch.testing.assert_close(at_entry, torch.full((ROWS,), 0.3).double(), atol=1e-4, rtol=0)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("widths", [None, (1, 3, 2)])
@pytest.mark.parametrize("n_seeks", [1, 2])
@pytest.mark.parametrize("pull", [0.0, 0.3])
def test_gradient_at_drawn_prices_is_autograds(pull, n_seeks, widths, weighted, monkeypatch):
    monkeypatch.setattr("hideseek.engine.hideseek.FARTHEST_LOGIT", 0.5)
    torch.manual_seed(0)
    groups = Groups.from_widths(widths)
    columns, features = (5, 5) if widths is None else (6, 3)
    hide, seek = Mlp((columns, 7, 2 * features)), Mlp((columns + 1, 6, OUTPUTS))
    weights = normal(MEMBERS, hide.n_parameters + n_seeks * seek.n_parameters) / 2
    stack = Stack.from_members(hide, seek, weights, groups, torch.zeros(MEMBERS, 2))
    x, x_hat, u = normal(MEMBERS, columns, ROWS), normal(MEMBERS, columns, ROWS), normal(MEMBERS, ROWS)
    target, price = normal(MEMBERS, OUTPUTS, ROWS).softmax(dim=1), normal(MEMBERS, features, ROWS).exp() / ROWS
    weight = normal(MEMBERS, ROWS).exp() if weighted else None

    parameters = stack.parameters.clone().requires_grad_()
    expected_gradient, expected_loss = autograd(stack, parameters, x, x_hat, u, target, price, weight, pull)
    gradient = torch.full_like(stack.parameters, torch.nan)
    layers = (
        [Layer.of(*pair) for pair in zip(*networks, strict=True)]
        for networks in zip(stack.matrices(stack.parameters), stack.matrices(gradient), strict=True)
    )
    rows = Rows(torch.cat((x, torch.ones_like(x[:, :1])), dim=1), x_hat, x - x_hat, target, weight, price, u)
    objective = HideSeek(stack, PREDICTION_LOSSES["cross_entropy"], MEMBERS, ROWS, ROWS, pull)
    loss_sum, _ = objective.gradient(*layers, rows)
    torch.testing.assert_close(gradient, expected_gradient)
    torch.testing.assert_close(loss_sum.sum(dim=1) / ROWS, expected_loss)


def autograd(stack, parameters, x, x_hat, u, target, price, weight, pull):
    """The loss of a row at its own price, for autograd to follow; Hide learns through the Seek of the other half."""

    def network(matrices, values):
        for i, matrix in enumerate(matrices):
            values = matrix[:, :, :-1] @ (values if i == 0 else values.relu()) + matrix[:, :, -1:]
        return values

    hide, seek = stack.matrices(parameters)
    a, b = network(hide, x).chunk(2, dim=1)
    logits = a - softplus(b + 1) * u[:, None]
    mask = torch.sigmoid(logits)
    by_column = stack.by_column(mask)
    z = torch.cat((by_column * x + (1 - by_column) * x_hat, u[:, None]), dim=1)
    own = torch.ones(MEMBERS, ROWS) if weight is None else weight
    penalty = (price * mask * own[:, None]).sum()
    penalty = penalty + pull / 2 * ((logits - 0.5).relu().square() * own[:, None]).sum() / ROWS
    if stack.n_seeks == 1:
        loss = (cross_entropy(network(seek, z), target, reduction="none") * own).mean(dim=1)
        (gradient,) = torch.autograd.grad(loss.sum() + penalty, parameters)
        return gradient, loss.detach()
    half, total, told = ROWS // 2, penalty, 0.0
    halves = slice(0, half), slice(half, None)
    for number, (learned, other) in enumerate((halves, halves[::-1])):
        mine = [matrix[number::2] for matrix in seek]
        frozen = [matrix.detach() for matrix in mine]
        on_own = cross_entropy(network(mine, z[:, :, learned].detach()), target[:, :, learned], reduction="none")
        on_other = cross_entropy(network(frozen, z[:, :, other]), target[:, :, other], reduction="none")
        total = total + (on_own * own[:, learned]).sum() / ROWS + (on_other * own[:, other]).sum() / ROWS
        told = told + (on_other * own[:, other]).sum(dim=1) / ROWS
    (gradient,) = torch.autograd.grad(total, parameters)
    return gradient, told.detach()


def trained(batch_size=20, fold=None, members=slice(None), rows=60):
    rng = np.random.default_rng(0)
    X = torch.from_numpy(rng.normal(size=(1, rows, 4))).float()
    data = Data(X, (X[..., 0] > 0).long(), None, torch.arange(rows)[None] % 3 if fold is not None else None)
    all_members = Members(
        member_seeds(0, 3), np.array([0.1, 0.4, 0.4]), np.ones((3, 4), dtype=bool), np.zeros(3, dtype=np.int64),
        np.full(3, 1e-3), fold,
    )  # fmt: skip
    recipe = Recipe(steps=8, batch_size=batch_size, hidden_layers=(5, 5), cross_fit=True)
    return train(
        recipe, data, all_members.part(members), loss="cross_entropy", n_outputs=2, device=CPU
    )[0].by_member()  # fmt: skip


def test_a_member_with_a_price_range_learns_the_same_alone_and_in_parts(monkeypatch):
    whole = trained()
    torch.testing.assert_close(trained(members=slice(1, 2)), whole[1:2])
    monkeypatch.setitem(eager._SHARD_CELLS, "cpu", 5 * 4 * 6)
    monkeypatch.setattr(eager, "_FEWEST_ROWS", 4)
    torch.testing.assert_close(trained(), whole, atol=1e-5, rtol=1e-4)


@pytest.mark.parametrize("batch_size", [20, None])
def test_a_member_does_not_learn_from_the_fold_it_leaves_out(batch_size):
    fold = np.array([0, 1, 2])
    data_of_all = trained(batch_size, fold=fold)
    rng = np.random.default_rng(0)
    X = torch.from_numpy(rng.normal(size=(1, 60, 4))).float()
    target = (X[..., 0] > 0).long()
    target[0, ::3] = 1 - target[0, ::3]  # fold 0 has other labels
    members = Members(
        member_seeds(0, 3), np.array([0.1, 0.4, 0.4]), np.ones((3, 4), dtype=bool), np.zeros(3, dtype=np.int64),
        np.full(3, 1e-3), fold,
    )  # fmt: skip
    recipe = Recipe(steps=8, batch_size=batch_size, hidden_layers=(5, 5), cross_fit=True)
    changed, _ = train(
        recipe,
        Data(X, target, None, torch.arange(60)[None] % 3),
        members,
        loss="cross_entropy",
        n_outputs=2,
        device=CPU,
    )
    same = (changed.by_member() == data_of_all).all(dim=1).tolist()
    assert same == [True, False, False]
