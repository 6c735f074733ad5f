import pytest
import torch

from hideseek.engine.hideseek import HideSeek, Rows, mix, prediction_loss
from hideseek.engine.networks import Layer, Mlp
from hideseek.engine.objective import PREDICTION_LOSSES, as_outputs
from hideseek.engine.stack import Stack

MEMBERS, COLUMNS, ROWS, SHARE = 3, 5, 7, 0.3


def test_mix_shows_a_share_and_replaces_the_rest():
    got = mix(torch.tensor([0.0, 0.25, 1.0]), torch.tensor([8.0, 8.0, 8.0]), torch.tensor([0.0, 0.0, 0.0]))
    assert got.tolist() == [0.0, 2.0, 8.0]


def problem(loss: str, hidden: tuple[int, ...], weighted: bool):
    outputs = 1 if loss == "squared_error" else 4
    hide, seek = Mlp((COLUMNS, *hidden, COLUMNS)), Mlp((COLUMNS, *hidden, outputs))
    generator = torch.Generator().manual_seed(0)

    def normal(*shape):
        return torch.randn(*shape, generator=generator, dtype=torch.float64)

    stack = Stack.from_members(hide, seek, normal(MEMBERS, hide.n_parameters + seek.n_parameters) / 2)
    target = {"cross_entropy": normal(MEMBERS, 4, ROWS).softmax(dim=1), "squared_error": normal(MEMBERS, 1, ROWS)}[loss]
    weight = normal(MEMBERS, ROWS).exp() if weighted else None
    price = torch.tensor([0.0, 0.5, 2.0], dtype=torch.float64)
    visible = torch.ones(MEMBERS, COLUMNS, dtype=torch.float64)
    visible[1, 2] = 0
    batch = normal(MEMBERS, COLUMNS, ROWS), target, weight
    return stack, price, visible, batch, normal(MEMBERS, COLUMNS, ROWS)


def plain_losses(stack, parameters, row_loss, visible, batch, x_hat):
    """Eq. 12 as it is written, one operation after the other, for autograd to follow."""
    x, target, weight = batch

    def network(matrices, values):
        for i, matrix in enumerate(matrices):
            values = matrix[:, :, :-1] @ (values if i == 0 else values.relu()) + matrix[:, :, -1:]
        return values

    hide, seek = stack.matrices(parameters)
    mask = network(hide, x).sigmoid()
    y_hat = network(seek, mask * x + (1 - mask) * x_hat)
    loss = {
        "cross_entropy": lambda: torch.nn.functional.cross_entropy(y_hat, target, reduction="none"),
        "squared_error": lambda: (y_hat[:, 0] - target[:, 0]) ** 2,
    }[row_loss]()
    shown = (mask * visible[:, :, None]).sum(dim=1)
    if weight is not None:
        loss, shown = loss * weight, shown * weight
    return loss.mean(dim=1), shown.mean(dim=1)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("hidden", [(), (8,), (20, 3), (6, 6, 6)])
@pytest.mark.parametrize("loss", sorted(PREDICTION_LOSSES))
def test_losses_and_gradient_are_autograds(loss, hidden, weighted):
    stack, price, visible, batch, x_hat = problem(loss, hidden, weighted)
    parameters = stack.parameters.clone().requires_grad_()
    prediction, shown = plain_losses(stack, parameters, loss, visible, batch, x_hat)
    (expected,) = torch.autograd.grad((prediction + SHARE * price * shown).sum(), parameters)

    gradient = torch.full_like(stack.parameters, torch.nan)
    hide, seek = (
        [Layer.of(*pair) for pair in zip(*networks, strict=True)]
        for networks in zip(stack.matrices(stack.parameters), stack.matrices(gradient), strict=True)
    )
    x, target, weight = batch
    with_ones = torch.cat((x, torch.ones_like(x[:, :1])), dim=1)
    price = (SHARE * price[:, None] * visible)[:, :, None] / ROWS
    rows = Rows(with_ones, x_hat, x - x_hat, target, weight, price)
    objective = HideSeek(stack, PREDICTION_LOSSES[loss], MEMBERS, ROWS, ROWS)
    for times in (1, 1, 2):  # buffers are used again; the last time adds
        loss_sum, mask_sum = objective.gradient(hide, seek, rows, add=times == 2)
        torch.testing.assert_close(loss_sum.sum(dim=1) / ROWS, prediction.detach())
        torch.testing.assert_close((mask_sum * visible).sum(dim=1) / ROWS, shown.detach())
        torch.testing.assert_close(gradient, times * expected)
    torch.testing.assert_close(prediction_loss(stack, PREDICTION_LOSSES[loss], batch, x_hat), prediction.detach())


def test_class_numbers_become_indicators_and_values_one_output():
    assert as_outputs(torch.tensor([[1, 0]]), 3).tolist() == [[[0, 1], [1, 0], [0, 0]]]
    assert as_outputs(torch.tensor([[0.5, 2.0]]), 1).tolist() == [[[0.5, 2.0]]]
