import numpy as np
import torch
from torch import nn

from hideseek.engine.draws import Stream, step_keys, uniform
from hideseek.engine.networks import Layer, Mlp, Pass, split


def start(mlp: Mlp, visible: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    keys = step_keys(np.arange(len(visible)), Stream.WEIGHTS, 0, 1)[0]
    return mlp.init(uniform(keys, mlp.n_parameters), visible)


def test_the_papers_networks_have_3309_parameters():
    assert Mlp((11, 32, 32, 11)).n_parameters + Mlp((11, 32, 32, 2)).n_parameters == 3309


def test_forward_equals_torch_modules_with_the_same_weights():
    mlp = Mlp((5, 8, 6, 3))
    parameters, _ = start(mlp, torch.ones(4, 5, dtype=torch.bool))
    layers = split(parameters, mlp.shapes)
    x = torch.randn(4, 5, 7, dtype=torch.float64)
    got = mlp.forward(layers, x)
    for k in range(4):
        network = nn.Sequential(nn.Linear(5, 8), nn.ReLU(), nn.Linear(8, 6), nn.ReLU(), nn.Linear(6, 3)).double()
        linear = [module for module in network if isinstance(module, nn.Linear)]
        with torch.no_grad():
            for i, module in enumerate(linear):
                module.weight.copy_(layers[2 * i][k])
                module.bias.copy_(layers[2 * i + 1][k, :, 0])
        torch.testing.assert_close(got[k].t(), network(x[k].t()))


def test_the_start_has_the_spread_of_torch_linear():
    mlp = Mlp((9, 64, 25))
    parameters, _ = start(mlp, torch.ones(200, 9, dtype=torch.bool))
    for i, weights in enumerate(split(parameters, mlp.shapes)):
        bound = 1 / np.sqrt(9 if i < 2 else 64)
        assert weights.abs().max() <= bound
        assert abs(weights.std() / (bound / np.sqrt(3)) - 1) < 0.02


def test_a_hidden_column_does_not_exist_for_its_member():
    mlp = Mlp((4, 8, 2))
    visible = torch.tensor([[True, True, False, True], [True, True, True, True]])
    parameters, trainable = start(mlp, visible)
    x = torch.randn(2, 4, 10, dtype=torch.float64)
    changed = x.clone()
    changed[:, 2] += 5
    layers = split(parameters, mlp.shapes)
    before, after = mlp.forward(layers, x), mlp.forward(layers, changed)
    assert torch.equal(before[0], after[0])
    assert not torch.equal(before[1], after[1])
    first = split(trainable, mlp.shapes)[0]
    assert (first[0, :, 2] == 0).all()
    assert first.sum() == first.numel() - 8
    assert split(parameters, mlp.shapes)[0][0].abs().max() > 0.5, "three inputs, not four, set its bound"


def test_long_sums_in_pieces_are_the_sums():
    torch.manual_seed(1)
    matrix, x = torch.randn(3, 6, 5, dtype=torch.float64), torch.randn(3, 5, 40, dtype=torch.float64)
    gradients = []
    for pieces in (1, 8):
        layer = Layer.of(matrix, torch.zeros_like(matrix))
        network = Pass((4, 6), matrix, 3, 40)
        network._n_pieces = pieces
        network.slope.copy_(network.forward([layer], x))
        network.backward([layer], x, add=False)
        network.backward([layer], x, add=True)
        gradients.append(layer.gradient)
    torch.testing.assert_close(gradients[0], gradients[1])
    torch.testing.assert_close(gradients[0], 2 * matrix @ x @ x.transpose(1, 2))
