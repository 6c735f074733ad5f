"""Deep knockoffs as their authors' package trains them: one step worked by hand, and the folding of PReLU units."""

import numpy as np
import pytest
import torch
from torch import nn

from hideseek import HideSeekClassifier, TrainingError, load
from hideseek.engine import reference_knockoffs
from hideseek.engine.deep_knockoffs import diagnostics
from hideseek.engine.draws import Stream, normal, step_keys, uniform
from hideseek.engine.reference_knockoffs import ReferenceKnockoffs, _initial, _outputs, moments_gap, root_discrepancy

COLUMNS, ROWS = 3, 40


@pytest.fixture(name="X")
def table():
    generator = np.random.default_rng(0)
    x = generator.normal(size=(COLUMNS, ROWS)) + generator.normal(size=ROWS)
    return torch.from_numpy((x - x.mean(axis=1, keepdims=True)) / x.std(axis=1, keepdims=True)).float()


def module(weights):
    """The reference network as modules of torch."""
    layers = []
    for i in range(0, len(weights) - 2, 4):
        matrix, gain, shift, _ = weights[i : i + 4]
        linear, norm = nn.Linear(matrix.shape[1], matrix.shape[0], bias=False), nn.BatchNorm1d(matrix.shape[0])
        linear.weight.data = matrix.detach().clone()
        norm.weight.data, norm.bias.data = gain.detach()[:, 0].clone(), shift.detach()[:, 0].clone()
        layers += [linear, norm, nn.PReLU()]
    last = nn.Linear(weights[-2].shape[1], weights[-2].shape[0])
    last.weight.data, last.bias.data = weights[-2].detach().clone(), weights[-1].detach()[:, 0].clone()
    return nn.Sequential(*layers, last)


def loss_by_hand(x, x_hat, swapped, covariance):
    """The three losses of the package. Shape: ``x (rows, columns)``."""

    def kernels(a, b):
        squares = ((a[:, None] - b[None]) ** 2).sum(dim=2)
        return torch.stack([torch.exp(-squares / (2 * width**2)) for width in (1, 2, 4, 8, 16, 32)]).mean(dim=0).mean()

    half = len(x) // 2
    first, discrepancy = torch.cat((x, x_hat), dim=1)[:half], 0
    for swap in (torch.ones_like(swapped), swapped):
        second = torch.cat((torch.where(swap, x_hat, x), torch.where(swap, x, x_hat)), dim=1)[half:]
        gap = kernels(first, first) + kernels(second, second) - 2 * kernels(first, second)
        discrepancy = discrepancy + gap.sqrt()
    a, b = x - x.mean(dim=0), x_hat - x_hat.mean(dim=0)
    own, between = b.t() @ b / len(x), a.t() @ b / len(x)
    apart = ((covariance - own) ** 2).sum() + (((covariance - between) * (1 - torch.eye(x.shape[1]))) ** 2).sum()
    moments = ((x.mean(dim=0) - x_hat.mean(dim=0)) ** 2).mean() + apart / (covariance**2).sum()
    correlation = between.diagonal() / (a.t() @ a / len(x)).diagonal().sqrt() / own.diagonal().sqrt()
    return discrepancy + 25 * moments + ((correlation - 0.5) ** 2).mean()


def test_a_step_is_the_one_of_the_package(X, monkeypatch):
    keys = step_keys(np.array([7]), Stream.KNOCKOFF, 0, 2 + 1 + 2)
    network = module(_initial(COLUMNS, keys[0]))
    optimiser = torch.optim.SGD(network.parameters(), lr=0.01 / 25, momentum=0.9)
    x = X[:, uniform(keys[2], ROWS)[0].argsort()].t()
    noise = normal(keys[3], X.numel()).view(COLUMNS, ROWS).t()
    loss_by_hand(
        x, network(torch.cat((x, noise), dim=1)), uniform(keys[4], COLUMNS)[0] < 0.5, torch.cov(X, correction=0)
    ).backward()
    optimiser.step()

    seen = []
    monkeypatch.setattr(
        reference_knockoffs, "_outputs", lambda weights, rows: (seen.append(weights), _outputs(weights, rows))[1]
    )
    ReferenceKnockoffs.fit(X[None], [7], steps=1)
    expected = [part.detach() for part in network.parameters()]
    got = [part.detach() for part in seen[-1]]
    assert len(got) == len(expected) == 4 * 6 + 2
    for ours, theirs in zip(got, expected, strict=True):
        torch.testing.assert_close(ours.flatten(), theirs.flatten(), atol=1e-6, rtol=1e-5)


def test_the_folded_layers_give_what_the_network_gives(X):
    weights = _initial(COLUMNS, step_keys(np.array([1]), Stream.KNOCKOFF, 0, 1)[0])
    noise = torch.randn(X.shape, generator=torch.Generator().manual_seed(0))
    with torch.no_grad():
        output, layers = _outputs(weights, torch.cat((X, noise)))
    knockoffs = ReferenceKnockoffs(*(layer[None] for layer in layers))
    torch.testing.assert_close(knockoffs.given(X[None])(noise[None])[0], output, atol=1e-5, rtol=1e-4)


def test_the_losses_are_zero_for_knockoffs_that_are_their_columns(X):
    assert root_discrepancy(X[:, [*range(20), *range(20)]], X[:, [*range(20), *range(20)]], torch.ones(3) > 0) < 1e-5
    assert moments_gap(X, X, torch.cov(X, correction=0)).item() == pytest.approx(0, abs=1e-6)


def test_ten_epochs_leave_the_network_near_its_start():
    x = torch.from_numpy(np.random.default_rng(0).normal(size=(4, 2000))).float()
    knockoffs = ReferenceKnockoffs.fit(x[None], [0])
    drawn = knockoffs.draw(step_keys(np.array([9]), Stream.REPLACEMENT, 0, 1)[0], x[None])[0]
    assert abs(diagnostics(x, drawn).self_correlation) < 0.35


def test_values_that_are_not_numbers_raise(X):
    X[0, 0] = torch.nan
    with pytest.raises(TrainingError, match="extreme values"):
        ReferenceKnockoffs.fit(X[None], [0], steps=2)


def test_a_model_with_reference_knockoffs_can_be_stored(tmp_path, switch):
    X, y = switch[0][:100], switch[1][:100]
    model = HideSeekClassifier("paper", replacement="reference_knockoff", steps=3, random_state=0).fit(X, y)
    model.save(tmp_path / "model.safetensors")
    np.testing.assert_array_equal(load(tmp_path / "model.safetensors").predict_proba(X), model.predict_proba(X))
