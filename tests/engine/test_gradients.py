"""The gradient of every kind of step against autograd: loss, depth, weights, Seeks, groups and classes together."""

from itertools import product

import pytest
import torch

from hideseek.engine.groups import Groups
from hideseek.engine.hideseek import HideSeek, Rows, prediction_loss
from hideseek.engine.networks import Layer, Mlp
from hideseek.engine.objective import PREDICTION_LOSSES
from hideseek.engine.stack import Stack

MEMBERS, ROWS = 3, 8
WIDTHS = {"single": (1, 1, 1, 1, 1), "grouped": (1, 3, 2)}
OUTPUTS = [("cross_entropy", 2), ("cross_entropy", 4), ("squared_error", 1)]


def network(matrices, values):
    for i, matrix in enumerate(matrices):
        values = matrix[:, :, :-1] @ (values if i == 0 else values.relu()) + matrix[:, :, -1:]
    return values


def row_losses(loss, y_hat, target):
    """Shape: ``(members, outputs, rows)`` twice -> ``(members, rows)``."""
    if loss == "cross_entropy":
        return torch.nn.functional.cross_entropy(y_hat, target, reduction="none")
    return ((y_hat - target) ** 2)[:, 0]


def seek_losses(loss, seek, z, target, n_seeks):
    """The loss that Seek learns from and the loss that Hide learns from, eq. 12. Shape of each: ``(members, rows)``.

    Of two Seeks, each learns from its half of the rows, and Hide learns through the other, which is then held fixed.
    """
    if n_seeks == 1:
        one = row_losses(loss, network(seek, z), target)
        return torch.zeros_like(one), one
    learned, told, half = [], [None, None], ROWS // 2
    for number, (own, others) in enumerate(((slice(half), slice(half, None)), (slice(half, None), slice(half)))):
        mine = [matrix[number::2] for matrix in seek]
        learned.append(row_losses(loss, network(mine, z[:, :, own].detach()), target[:, :, own]))
        fixed = [matrix.detach() for matrix in mine]
        told[1 - number] = row_losses(loss, network(fixed, z[:, :, others]), target[:, :, others])
    return torch.cat(learned, dim=1), torch.cat(told, dim=1)


@pytest.mark.parametrize("hidden", [(), (7,), (20, 3), (6, 6, 6)], ids=["0", "1", "2", "3"])
@pytest.mark.parametrize("widths", WIDTHS.values(), ids=WIDTHS)
@pytest.mark.parametrize("n_seeks", [1, 2])
def test_losses_and_gradients_are_those_of_autograd(hidden, widths, n_seeks):
    torch.manual_seed(0)
    for (loss, n_outputs), weighted in product(OUTPUTS, (False, True)):
        check_gradient(hidden, widths, n_seeks, loss, n_outputs, weighted)


def check_gradient(hidden, widths, n_seeks, loss, n_outputs, weighted):
    n_features, n_columns = len(widths), sum(widths)
    hide, seek = Mlp((n_columns, *hidden, n_features)), Mlp((n_columns, *hidden, n_outputs))

    def normal(*shape):
        return torch.randn(*shape, dtype=torch.float64)

    weights = normal(MEMBERS, hide.n_parameters + n_seeks * seek.n_parameters) / 2
    stack = Stack.from_members(hide, seek, weights, Groups.from_widths(widths))
    x, x_hat = normal(2, MEMBERS, n_columns, ROWS)
    target = normal(MEMBERS, n_outputs, ROWS)
    target = target.softmax(dim=1) if loss == "cross_entropy" else target
    weight = normal(MEMBERS, ROWS).exp() if weighted else None
    price = normal(MEMBERS, n_features, 1).exp()
    price[1, 2] = 0  # a feature that this member does not see

    parameters = stack.parameters.clone().requires_grad_()
    hide_matrices, seek_matrices = stack.matrices(parameters)
    mask = network(hide_matrices, x).sigmoid()
    by_column = mask.repeat_interleave(torch.tensor(widths), dim=1)
    learned, told = seek_losses(loss, seek_matrices, by_column * x + (1 - by_column) * x_hat, target, n_seeks)
    counted = torch.ones(MEMBERS, ROWS, dtype=torch.float64) if weight is None else weight
    total = ((learned + told) * counted).sum() / ROWS + (price * mask * counted[:, None]).sum()
    (expected,) = torch.autograd.grad(total, parameters)

    gradient = torch.full_like(stack.parameters, torch.nan)
    layers = [
        [Layer.of(*pair) for pair in zip(*networks, strict=True)]
        for networks in zip(stack.matrices(stack.parameters), stack.matrices(gradient), strict=True)
    ]
    rows = Rows(torch.cat((x, torch.ones_like(x[:, :1])), dim=1), x_hat, x - x_hat, target, weight, price)
    objective = HideSeek(stack, PREDICTION_LOSSES[loss], MEMBERS, ROWS, ROWS)
    for times in (1, 1, 2):  # buffers are used again; the last time adds
        loss_sum, mask_sum = objective.gradient(*layers, rows, add=times == 2)
        torch.testing.assert_close(loss_sum.sum(dim=1), (told * counted).sum(dim=1).detach())
        torch.testing.assert_close(mask_sum, (mask * counted[:, None]).sum(dim=2).detach())
        torch.testing.assert_close(gradient, times * expected)
    z = by_column * x + (1 - by_column) * x_hat
    each = [row_losses(loss, network([part[i::n_seeks] for part in seek_matrices], z), target) for i in range(n_seeks)]
    got = prediction_loss(stack, PREDICTION_LOSSES[loss], (x, target, weight), x_hat)
    torch.testing.assert_close(got, (torch.stack(each) * counted).mean(dim=(0, 2)).detach())
