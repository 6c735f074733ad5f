import math

import pytest
import torch
from torch.nn.functional import cross_entropy, mse_loss

from hideseek.engine.objective import PREDICTION_LOSSES, annealed, as_outputs, cooled, row_mean


def test_annealing_reaches_the_whole_penalty_at_the_last_step():
    assert annealed(torch.tensor([250, 500]), 500, 2).tolist() == [0.25, 1]
    assert annealed(torch.tensor(1), 500, 0) == 1


def test_the_learning_rate_falls_to_a_fiftieth_in_the_last_steps():
    assert cooled(torch.tensor([1, 70, 85, 100]), 100, 0.3).tolist() == pytest.approx([1, 1, 0.51, 0.02])
    assert cooled(torch.tensor([1, 100]), 100, 0).tolist() == [1, 1]


def test_cross_entropy_by_hand():
    output = torch.tensor([[[0.0, math.log(3)], [0.0, 0.0]]])  # classes by rows: (1/2, 1/2) and (3/4, 1/4)
    loss, _ = PREDICTION_LOSSES["cross_entropy"](output, as_outputs(torch.tensor([[1, 0]]), 2))
    torch.testing.assert_close(loss.sum(dim=1), torch.tensor([[math.log(2), math.log(4 / 3)]]))


def test_cross_entropy_of_soft_labels_by_hand():
    output = torch.tensor([[[math.log(3)], [0.0]]])
    loss, _ = PREDICTION_LOSSES["cross_entropy"](output, torch.tensor([[[0.5], [0.5]]]))
    torch.testing.assert_close(loss.sum(dim=1), torch.tensor([[0.5 * math.log(4 / 3) + 0.5 * math.log(4)]]))


def test_squared_error_by_hand():
    loss, _ = PREDICTION_LOSSES["squared_error"](torch.tensor([[[1.0, 2.0]]]), torch.tensor([[[3.0, 2.0]]]))
    assert loss.tolist() == [[[4.0, 0.0]]]


def test_a_weight_of_two_counts_a_row_twice():
    repeated = row_mean(torch.tensor([[[1.0, 4.0, 4.0]]]), None)
    weighted = row_mean(torch.tensor([[[1.0, 4.0]]]), torch.tensor([[2 / 3, 4 / 3]]))
    torch.testing.assert_close(weighted, repeated)


@pytest.mark.parametrize("name", sorted(PREDICTION_LOSSES))
def test_the_gradient_of_each_prediction_loss_is_autograds(name):
    outputs = 1 if name == "squared_error" else 3
    output = torch.randn(2, outputs, 4, dtype=torch.float64, requires_grad=True)
    target = torch.randn(2, outputs, 4, dtype=torch.float64)
    if name == "cross_entropy":
        target = target.softmax(dim=1)
    plain = {
        "cross_entropy": lambda: cross_entropy(output, target, reduction="none"),
        "squared_error": lambda: mse_loss(output, target, reduction="none").sum(dim=1),
    }[name]()
    (expected,) = torch.autograd.grad(plain.sum(), output)
    loss, gradient = PREDICTION_LOSSES[name](output.detach().clone(), target)
    torch.testing.assert_close(loss.sum(dim=1), plain.detach())
    torch.testing.assert_close(gradient, expected)
