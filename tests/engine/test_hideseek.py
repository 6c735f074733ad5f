import torch

from hideseek.engine.hideseek import mix
from hideseek.engine.objective import as_outputs


def test_mix_shows_a_share_and_replaces_the_rest():
    got = mix(torch.tensor([0.0, 0.25, 1.0]), torch.tensor([8.0, 8.0, 8.0]), torch.tensor([0.0, 0.0, 0.0]))
    assert got.tolist() == [0.0, 2.0, 8.0]


def test_class_numbers_become_indicators_and_values_one_output():
    assert as_outputs(torch.tensor([[1, 0]]), 3).tolist() == [[[0, 1], [1, 0], [0, 0]]]
    assert as_outputs(torch.tensor([[0.5, 2.0]]), 1).tolist() == [[[0.5, 2.0]]]
