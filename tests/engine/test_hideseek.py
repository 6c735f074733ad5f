import pytest
import torch

from hideseek.engine.hideseek import HideSeek, mix
from hideseek.engine.networks import Mlp, split
from hideseek.engine.objective import PREDICTION_LOSSES
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

    stack = Stack(hide, seek, normal(MEMBERS, hide.n_parameters + seek.n_parameters) / 2)
    target = {
        "cross_entropy": torch.randint(4, (MEMBERS, ROWS), generator=generator),
        "soft_cross_entropy": normal(MEMBERS, 4, ROWS).softmax(dim=1),
        "squared_error": normal(MEMBERS, ROWS),
    }[loss]
    weight = normal(MEMBERS, ROWS).exp() if weighted else None
    price = torch.tensor([0.0, 0.5, 2.0], dtype=torch.float64)
    visible = torch.ones(MEMBERS, COLUMNS, dtype=torch.float64)
    visible[1, 2] = 0
    batch = normal(MEMBERS, COLUMNS, ROWS), target, weight
    return stack, price, visible, batch, normal(MEMBERS, COLUMNS, ROWS)


def plain_losses(stack, parameters, row_loss, visible, batch, x_hat):
    """Eq. 12 as it is written, one operation after the other, for autograd to follow."""
    x, target, weight = batch
    views = split(parameters, stack.hide.shapes + stack.seek.shapes)

    def network(layers, values):
        for i in range(0, len(layers), 2):
            values = layers[i] @ (values if i == 0 else values.relu()) + layers[i + 1]
        return values

    mask = network(views[: len(stack.hide.shapes)], x).sigmoid()
    y_hat = network(views[len(stack.hide.shapes) :], mask * x + (1 - mask) * x_hat)
    loss = {
        "cross_entropy": lambda: torch.nn.functional.cross_entropy(y_hat, target, reduction="none"),
        "soft_cross_entropy": lambda: torch.nn.functional.cross_entropy(y_hat, target, reduction="none"),
        "squared_error": lambda: (y_hat[:, 0] - target) ** 2,
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

    objective = HideSeek(stack, PREDICTION_LOSSES[loss], price, visible, ROWS)
    for _ in range(2):  # buffers are used again
        got = objective.step(batch, x_hat, SHARE)
        torch.testing.assert_close(got, (prediction.detach(), shown.detach()))
        torch.testing.assert_close(objective.gradient, expected)
    torch.testing.assert_close(objective.losses(batch, x_hat), got)
