"""One training step of INVASE, REAL-X and L2X against the step of their released code, written out with torch."""

import numpy as np
import pytest
import torch

from hideseek.baselines import L2X, Invase, RealX
from hideseek.baselines._neural import Networks
from hideseek.datasets import make_syn
from hideseek.engine.draws import Stream, step_keys, uniform
from hideseek.metrics import selection_scores

COLUMNS, ROWS, CLASSES = 4, 30, 3


class Keras:
    """A network of the released code, for one member. Shape: ``(rows, inputs)`` -> ``(rows, outputs)``."""

    def __init__(self, networks: Networks, name: str) -> None:
        shape = networks.shapes[name]
        self.layers = [weights[0] for weights in networks._weights[name]]
        self.activation = {"relu": torch.relu, "selu": torch.selu}[shape.activation]
        self.moments = [
            (mean[0, :, 0].clone(), variance[0, :, 0].clone())
            for mean, variance in shape._moments(networks._statistics[name])
        ]
        self.per_layer = 4 if shape.batch_norm else 2

    @property
    def kernels(self):
        return self.layers[:: self.per_layer]

    def __call__(self, x, training=False):
        starts = range(0, len(self.layers), self.per_layer)
        for i, start in enumerate(starts):
            kernel, bias = self.layers[start : start + 2]
            x = x @ kernel.t() + bias[:, 0]
            if start == starts[-1]:
                return x
            x = self.activation(x)
            if self.moments:
                scale, shift = (part[:, 0] for part in self.layers[start + 2 : start + 4])
                mean, variance = self.moments[i]
                if training:
                    own = x.mean(dim=0), x.var(dim=0, correction=0)
                    self.moments[i] = tuple(
                        0.99 * old + 0.01 * new.detach() for old, new in zip(self.moments[i], own, strict=True)
                    )
                    mean, variance = own
                x = scale * (x - mean) / (variance + 1e-3).sqrt() + shift
        return x


def started(method):
    """Networks in double precision, a batch, and the keys of its draws; outputs are large, so that bounds matter."""
    seeds = np.array([3])
    start = Networks.initial(method._networks(COLUMNS, CLASSES), seeds, torch.device("cpu"))
    parameters = (4 * start.parameters.double()).requires_grad_()
    networks = Networks(start.shapes, parameters, start.statistics.double())
    generator = torch.Generator().manual_seed(0)
    x = 3 * torch.randn(1, COLUMNS, ROWS, dtype=torch.float64, generator=generator)
    y = torch.randint(CLASSES, (1, ROWS), generator=generator)
    return networks, (x, y, None), step_keys(seeds, Stream.REPLACEMENT, 0, 1)[0]


def gradient(loss, networks):
    return torch.autograd.grad(loss.sum(), networks.parameters)[0]


def chance(output, y):
    return output.softmax(dim=1)[torch.arange(len(y)), y]


def squares(kernels):
    return sum((kernel**2).sum() for kernel in kernels)


def test_a_step_of_realx_is_the_released_one():
    method = RealX(penalty=0.2)
    networks, batch, keys = started(method)
    selector, predictor = Keras(networks, "selector"), Keras(networks, "predictor")
    (x,), (y,) = batch[0].transpose(1, 2), batch[1]
    u, v = uniform(keys, 2 * x.numel()).float().clamp(1e-6, 1 - 1e-6).view(2, COLUMNS, ROWS).transpose(1, 2)

    logit = selector(x)
    p = torch.sigmoid(logit)
    z = logit + u.log() - (-u).log1p()  # draws are in single precision
    s = (z > 0).double()
    conditional = torch.where(s > 0, 1 - p + v * p, v * (1 - p)).clamp(1e-6, 1 - 1e-6)
    z_given_s = logit + torch.log(conditional / (1 - conditional))
    masks = (s, torch.sigmoid(z / 0.1), torch.sigmoid(z_given_s / 0.1))
    hard, relaxed, given = (torch.log(chance(predictor(mask * x, training=True), y) + 1e-5) for mask in masks)
    log_q = (s * torch.log(p + 1e-5) + (1 - s) * torch.log(1 - p + 1e-5)).sum(dim=1)
    gain = (hard - given).detach() * log_q + relaxed - given - 0.2 * p.mean(dim=1)
    expected = gradient(-gain.sum(), networks)

    _, (names, loss, _) = method._phases(ROWS, torch.tensor([0.2], dtype=torch.float64))
    torch.testing.assert_close(gradient(loss(networks, batch, keys), networks), expected)
    assert names == ("selector",)
    moved = networks.shapes["predictor"]._moments(networks._statistics["predictor"])
    for (mean, variance), by_hand in zip(moved, predictor.moments, strict=True):
        torch.testing.assert_close((mean[0, :, 0], variance[0, :, 0]), by_hand)


def test_the_unbiased_form_of_realx_leaves_the_predictor_as_it_is():
    method = RealX(form="unbiased")
    networks, batch, keys = started(method)
    before = networks.statistics.clone()
    _, (_, loss, _) = method._phases(ROWS, torch.tensor([0.2], dtype=torch.float64))
    loss(networks, batch, keys)
    assert torch.equal(networks.statistics, before)


def test_a_step_of_invase_is_the_released_one():
    method = Invase(penalty=0.2)
    networks, batch, keys = started(method)
    actor, critic, baseline = (Keras(networks, name) for name in ("actor", "critic", "baseline"))
    (x,), (y,) = batch[0].transpose(1, 2), batch[1]

    p = torch.sigmoid(actor(x))
    s = (uniform(keys, x.numel()).view(COLUMNS, ROWS).t() < p.detach()).double()
    likely, likely_of_all = (chance(net(rows), y).detach() for net, rows in ((critic, s * x), (baseline, x)))
    assert likely.min() < 1e-9, "a row on which the bound of the reward matters"
    reward = torch.log(likely + 1e-8) - torch.log(likely_of_all + 1e-8)
    log_pi = (s * torch.log(p + 1e-8) + (1 - s) * torch.log(1 - p + 1e-8)).sum(dim=1)
    total = -(reward * log_pi - 0.2 * p.mean(dim=1)).mean()
    for net, rows in ((critic, s * x), (baseline, x)):
        total = total + torch.nn.functional.cross_entropy(net(rows, training=True), y)
    total = total + 1e-3 * squares([*actor.kernels, *critic.kernels, *baseline.kernels])

    ((_, loss, _),) = method._phases(ROWS, torch.tensor([0.2], dtype=torch.float64))
    torch.testing.assert_close(gradient(loss(networks, batch, keys), networks), gradient(total, networks))


def test_a_step_of_l2x_is_the_released_one():
    method = L2X(k=2)
    networks, batch, keys = started(method)
    selector, predictor = Keras(networks, "selector"), Keras(networks, "predictor")
    (x,), (y,) = batch[0].transpose(1, 2), batch[1]
    u = uniform(keys, 2 * x.numel()).float().clamp(1e-6, 1 - 1e-6).double().view(2, COLUMNS, ROWS).transpose(1, 2)

    draws = ((selector(x) - torch.log(-torch.log(u))) / 0.1).softmax(dim=2)
    total = torch.nn.functional.cross_entropy(predictor(draws.amax(dim=0) * x, training=True), y)
    total = total + 1e-3 * squares([*selector.kernels[:-1], *predictor.kernels])

    ((_, loss, _),) = method._phases(ROWS, torch.zeros(1))
    torch.testing.assert_close(gradient(loss(networks, batch, keys), networks), gradient(total, networks))


@pytest.mark.parametrize(
    "method",
    [
        Invase(iterations=300, learning_rate=3e-3, batch_size=100, activation="relu"),
        RealX(epochs=12, learning_rate=3e-3, batch_size=100),
        L2X(k=4, steps=600, learning_rate=3e-3, batch_size=100, activation="relu"),
    ],
    ids=["invase", "realx", "l2x"],
)
def test_relevant_features_are_found(method):
    """In so short a training single seeds miss features, and which ones depends on rounding."""
    train, test = (make_syn("Syn2", 2000, random_state=seed) for seed in (0, 1))
    models = method.fit_many([(train.X, train.y, seed, {}) for seed in range(6)])
    assert np.mean([selection_scores(model.select(test.X), test.relevant).f1 for model in models]) > 85
