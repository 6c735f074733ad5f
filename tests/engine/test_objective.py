import math

import pytest
import torch
from torch.autograd import gradcheck

from hideseek.engine.objective import PREDICTION_LOSSES, annealed, mix, parsimony, row_mean


def test_mix_shows_a_share_and_replaces_the_rest():
    got = mix(torch.tensor([0.0, 0.25, 1.0]), torch.tensor([8.0, 8.0, 8.0]), torch.tensor([0.0, 0.0, 0.0]))
    assert got.tolist() == [0.0, 2.0, 8.0]


def test_annealing_reaches_the_whole_penalty_at_the_last_step():
    assert annealed(500, 500, 2) == 1
    assert annealed(250, 500, 2) == 0.25
    assert annealed(1, 500, 0) == 1


def test_cross_entropy_by_hand():
    output = torch.tensor([[[0.0, math.log(3)], [0.0, 0.0]]])  # classes by rows: (1/2, 1/2) and (3/4, 1/4)
    loss = PREDICTION_LOSSES["cross_entropy"](output, torch.tensor([[1, 0]]))
    torch.testing.assert_close(loss, torch.tensor([[math.log(2), math.log(4 / 3)]]))


def test_soft_labels_of_zero_and_one_are_hard_labels():
    output = torch.randn(2, 3, 5)
    target = torch.randint(3, (2, 5))
    one_hot = torch.nn.functional.one_hot(target, 3).transpose(1, 2).float()
    hard = PREDICTION_LOSSES["cross_entropy"](output, target)
    torch.testing.assert_close(PREDICTION_LOSSES["soft_cross_entropy"](output, one_hot), hard)


def test_soft_cross_entropy_by_hand():
    output = torch.tensor([[[math.log(3)], [0.0]]])
    loss = PREDICTION_LOSSES["soft_cross_entropy"](output, torch.tensor([[[0.5], [0.5]]]))
    torch.testing.assert_close(loss, torch.tensor([[0.5 * math.log(4 / 3) + 0.5 * math.log(4)]]))


def test_squared_error_by_hand():
    loss = PREDICTION_LOSSES["squared_error"](torch.tensor([[[1.0, 2.0]]]), torch.tensor([[3.0, 2.0]]))
    assert loss.tolist() == [[4.0, 0.0]]


def test_parsimony_is_the_price_times_what_a_member_shows_of_what_it_sees():
    mask = torch.tensor([[[1.0, 0.0], [0.5, 0.5], [1.0, 1.0]]])  # members, columns, rows
    assert parsimony(mask, torch.tensor([[1.0, 1.0, 0.0]]), None).tolist() == [1.0]
    assert parsimony(mask, torch.tensor([[1.0, 1.0, 1.0]]), torch.tensor([[2.0, 0.0]])).tolist() == [2.5]


def test_a_weight_of_two_counts_a_row_twice():
    repeated = row_mean(torch.tensor([[1.0, 4.0, 4.0]]), None)
    weighted = row_mean(torch.tensor([[1.0, 4.0]]), torch.tensor([[2 / 3, 4 / 3]]))
    torch.testing.assert_close(weighted, repeated)


@pytest.mark.parametrize("name", sorted(PREDICTION_LOSSES))
def test_gradient_of_each_prediction_loss(name):
    outputs = 1 if name == "squared_error" else 3
    output = torch.randn(2, outputs, 4, dtype=torch.float64, requires_grad=True)
    target = {
        "cross_entropy": torch.randint(3, (2, 4)),
        "soft_cross_entropy": torch.rand(2, 3, 4, dtype=torch.float64).softmax(dim=1),
        "squared_error": torch.randn(2, 4, dtype=torch.float64),
    }[name]
    assert gradcheck(lambda out: PREDICTION_LOSSES[name](out, target), (output,))


def test_gradient_of_mixing_and_of_parsimony():
    mask = torch.rand(2, 3, 4, dtype=torch.float64, requires_grad=True)
    x, x_hat = torch.randn(2, 2, 3, 4, dtype=torch.float64)
    visible = torch.tensor([[1.0, 0.0, 1.0], [1.0, 1.0, 1.0]], dtype=torch.float64)
    weight = torch.rand(2, 4, dtype=torch.float64)
    assert gradcheck(lambda m: mix(m, x, x_hat), (mask,))
    assert gradcheck(lambda m: parsimony(m, visible, weight), (mask,))
