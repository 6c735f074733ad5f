import numpy as np
import pytest
import torch
from torch import nn

from hideseek.engine.dense import Dense
from hideseek.engine.draws import Stream, step_keys, uniform
from hideseek.engine.networks import split


def start(dense: Dense, members: int = 3) -> tuple[torch.Tensor, torch.Tensor]:
    keys = step_keys(np.arange(members), Stream.WEIGHTS, 0, 1)[0]
    return dense.init(uniform(keys, dense.n_parameters))


@pytest.mark.parametrize("activation", ["relu", "selu"])
@pytest.mark.parametrize("batch_norm", [False, True])
def test_forward_equals_torch_modules(activation, batch_norm):
    dense = Dense((4, 6, 5, 2), activation, batch_norm)
    parameters, statistics = start(dense)
    parameters += 0.1 * torch.randn_like(parameters)
    weights = split(parameters, dense.shapes)
    before = statistics.clone()
    x = torch.randn(3, 4, 50, dtype=torch.float64)
    trained = dense.forward(weights, x, statistics, training=True)
    answered = dense.forward(weights, x, statistics)
    for k in range(3):
        modules: list[nn.Module] = []
        position = 0
        for i, (inputs, outputs) in enumerate(zip(dense.sizes[:-1], dense.sizes[1:], strict=True)):
            linear = nn.Linear(inputs, outputs).double()
            linear.weight.data, linear.bias.data = weights[position][k], weights[position + 1][k, :, 0]
            modules.append(linear)
            position += 2
            if i < 2:
                modules.append(nn.ReLU() if activation == "relu" else nn.SELU())
                if batch_norm:
                    norm = nn.BatchNorm1d(outputs, eps=1e-3, momentum=0.01).double()
                    norm.weight.data, norm.bias.data = weights[position][k, :, 0], weights[position + 1][k, :, 0]
                    modules.append(norm)
                    position += 2
        network = nn.Sequential(*modules)
        torch.testing.assert_close(trained[k].t(), network(x[k].t()))
        # torch's running variance is that of a sample, ours that of the batch: 50 / 49 of a hundredth apart
        torch.testing.assert_close(answered[k].t(), network.eval()(x[k].t()), atol=2e-3, rtol=0)
    assert torch.equal(before, statistics) != batch_norm


def test_the_start_is_glorots():
    dense = Dense((30, 50, 20), batch_norm=True)
    parameters, statistics = start(dense, 50)
    kernel, bias, scale, shift, last, _ = split(parameters, dense.shapes)
    assert kernel.abs().max() <= (6 / 80) ** 0.5
    assert abs(kernel.std() / (2 / 80) ** 0.5 - 1) < 0.02
    assert abs(last.std() / (2 / 70) ** 0.5 - 1) < 0.02
    assert (bias == 0).all()
    assert (shift == 0).all()
    assert (scale == 1).all()
    assert statistics.shape == (50, 100)
    assert statistics.sum() == 50 * 50, "means zero, variances one"


def test_the_penalty_counts_matrices_alone():
    dense = Dense((2, 3, 1), batch_norm=True)
    parameters = torch.full((1, dense.n_parameters), 2.0)
    assert dense.kernel_penalty(split(parameters, dense.shapes)).tolist() == [4.0 * (6 + 3)]
