"""Each estimator of a gradient against the exact one, by going through all selections of three features."""

from itertools import product

import numpy as np
import pytest
import torch

from hideseek.baselines._neural import Networks
from hideseek.baselines.invase import Invase, log_bernoulli
from hideseek.baselines.l2x import relaxed_subset
from hideseek.baselines.realx import rebar
from hideseek.engine.draws import Stream, step_keys, uniform

N = 400_000
LOGIT = torch.tensor([0.3, -1.2, 0.8], dtype=torch.float64)
FACTORS = torch.tensor([1.0, -2.0, 0.5], dtype=torch.float64)


def value(mask: torch.Tensor) -> torch.Tensor:
    """Something that depends on the features together. Shape: ``(members, 3, rows)`` -> ``(members, rows)``."""
    a, b, c = mask.unbind(dim=1)
    return (mask * FACTORS[:, None]).sum(dim=1) + 3 * a * b - 2 * a * b * c


def exact_gradient() -> torch.Tensor:
    """Of the expected value over independent selections with probabilities sigmoid(logit)."""
    logit = LOGIT.clone().requires_grad_()
    probability = torch.sigmoid(logit)
    expected = torch.zeros((), dtype=torch.float64)
    for bits in product([0.0, 1.0], repeat=3):
        mask = torch.tensor(bits, dtype=torch.float64)
        chance = torch.where(mask > 0, probability, 1 - probability).prod()
        expected = expected + chance * value(mask[None, :, None])[0, 0]
    return torch.autograd.grad(expected, logit)[0]


def draws(count: int) -> torch.Tensor:
    """Shape: ``(count, 3, N)``, in (0, 1)."""
    return uniform(step_keys(np.array([5]), Stream.REPLACEMENT, 0, 1)[0], count * 3 * N).view(count, 3, N)


def assert_unbiased(per_row: torch.Tensor, exact: torch.Tensor) -> None:
    """Shape: ``per_row (1, 3, N)``."""
    error = per_row[0].std(dim=1) / N**0.5
    assert ((per_row[0].mean(dim=1) - exact).abs() < 4 * error).all()


def test_reinforce_is_unbiased():
    logit = LOGIT[None, :, None].expand(1, 3, N).clone().requires_grad_()
    probability = torch.sigmoid(logit)
    selected = (draws(1) < probability).double()
    gain = value(selected).detach() * log_bernoulli(probability, selected)
    assert_unbiased(torch.autograd.grad(gain.sum(), logit)[0], exact_gradient())


@pytest.mark.parametrize("temperature", [0.1, 1.0])
def test_rebar_is_unbiased_and_quieter_than_reinforce(temperature):
    logit = LOGIT[None, :, None].expand(1, 3, N).clone().requires_grad_()
    u, v = draws(2)[:, None]
    per_row = torch.autograd.grad(rebar(logit, u, v, value, temperature).sum(), logit)[0]
    assert_unbiased(per_row, exact_gradient())
    if temperature == 1.0:
        plain = LOGIT[None, :, None].expand(1, 3, N).clone().requires_grad_()
        probability = torch.sigmoid(plain)
        selected = (u < probability).double()
        noisy = torch.autograd.grad((value(selected).detach() * log_bernoulli(probability, selected)).sum(), plain)[0]
        assert per_row.var() < noisy.var()


def test_relaxed_draws_pick_features_with_their_probabilities():
    logits = LOGIT[None, :, None].expand(1, 3, N)
    picked = relaxed_subset(logits, draws(1)[:, None], 0.1).argmax(dim=1)[0]
    share = torch.bincount(picked, minlength=3) / N
    expected = LOGIT.softmax(dim=0)
    assert ((share - expected).abs() < 4 * (expected * (1 - expected) / N).sqrt()).all()


def test_the_gradient_of_relaxed_draws_tends_to_the_exact_one():
    """Its bias is that of the relaxation: it vanishes with the temperature, while the noise grows."""
    logits = LOGIT.clone().requires_grad_()
    exact = torch.autograd.grad((logits.softmax(dim=0) * FACTORS).sum(), logits)[0]
    bias = []
    for temperature in (1.0, 0.1):
        wide = LOGIT[None, :, None].expand(1, 3, N).clone().requires_grad_()
        mask = relaxed_subset(wide, draws(1)[:, None], temperature)
        per_row = torch.autograd.grad((mask * FACTORS[:, None]).sum(), wide)[0]
        bias.append((per_row[0].mean(dim=1) - exact).abs().max())
    assert_unbiased(per_row, exact)
    assert bias[1] < 0.2 * bias[0]


def test_k_draws_select_at_most_k_features():
    logits = torch.randn(2, 6, 50)
    u = torch.rand(2, 3, 6, 50).clamp(1e-6, 1 - 1e-6)
    assert (relaxed_subset(logits, u, 0.01) > 0.5).sum(dim=1).max() <= 3


# -- worked by hand -----------------------------------------------------------------------------------------------


def test_log_bernoulli_by_hand():
    probability = torch.tensor([[[0.25], [0.5], [0.9]]], dtype=torch.float64)
    selected = torch.tensor([[[1.0], [0.0], [1.0]]], dtype=torch.float64)
    assert log_bernoulli(probability, selected).item() == pytest.approx(np.log(0.25 * 0.5 * 0.9), abs=1e-6)


def test_relaxed_subset_by_hand():
    logits = torch.tensor([[[0.0], [0.1 * np.log(3)]]], dtype=torch.float64)
    equal = torch.full((1, 1, 2, 1), np.exp(-1.0), dtype=torch.float64)  # Gumbel noise of zero
    assert relaxed_subset(logits, equal, 0.1).flatten().tolist() == pytest.approx([0.25, 0.75])
    second = torch.tensor([np.exp(-1.0), np.exp(-9.0)], dtype=torch.float64)[None, None, :, None]  # 1/9: less for x2
    draws_of_two = torch.cat((equal, second), dim=1)
    chance = 1 / (1 + 3 * 9.0 ** (-1 / 0.1))  # of x1 in the second draw
    assert relaxed_subset(logits, draws_of_two, 0.1).flatten().tolist() == pytest.approx([chance, 0.75])


def test_rebar_of_a_constant_has_no_gradient():
    logit = torch.randn(2, 3, 5, dtype=torch.float64, requires_grad=True)
    u, v = torch.rand(2, 2, 3, 5, dtype=torch.float64)
    gain = rebar(logit, u, v, lambda mask: mask.sum(dim=1) * 0 + 7, 0.1)
    assert torch.autograd.grad(gain.sum(), logit)[0].abs().max() == 0


@pytest.mark.parametrize("with_baseline", [True, False])
def test_invase_loss_by_hand(with_baseline):
    """Networks of zeros give probabilities of a half everywhere: the losses are logarithms of two."""
    method = Invase(penalty=0.4, baseline=with_baseline, l2=0.0)
    shapes = method._networks(3, 2)
    seeds = np.array([0])
    networks = Networks.initial(shapes, seeds, torch.device("cpu"))
    networks.parameters.zero_()
    ((_, loss, _),) = method._phases(4, torch.tensor([0.4]))
    batch = torch.randn(1, 3, 4), torch.tensor([[0, 1, 1, 0]]), None
    keys = step_keys(seeds, Stream.REPLACEMENT, 0, 1)[0]
    log2 = np.log(2)
    reward = 0.0 if with_baseline else -log2
    predictions = 2 * log2 if with_baseline else log2
    expected = -(reward * -3 * log2 - 0.4 * 0.5) + predictions
    assert loss(networks, batch, keys).item() == pytest.approx(expected, abs=1e-5)
