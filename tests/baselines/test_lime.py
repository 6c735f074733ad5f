import numpy as np
import pytest
import torch
from lime.discretize import QuartileDiscretizer
from lime.lime_tabular import LimeTabularExplainer

from hideseek import InputError
from hideseek.baselines import LimeExplainer
from hideseek.baselines import lime as module


@pytest.fixture
def table():
    X = np.random.default_rng(0).normal(size=(400, 4))
    return X, (X[:, 1] > 0).astype(int)


def rule(X):
    """Sure of class one where x2 is positive, and of class zero elsewhere."""
    return np.column_stack([X[:, 1] <= 0, X[:, 1] > 0]).astype(float)


def test_a_rule_of_one_feature_worked_by_hand(table):
    # The most probable class is certain in the row's quartile of x2, and in one of the three others:
    # the linear model on [same quartile] falls from 1 to 1/3.
    explanation = LimeExplainer(k=1, predict_fn=rule, random_state=0).fit(*table).explain(table[0][:6])
    np.testing.assert_array_equal(explanation.selected, np.tile([False, True, False, False], (6, 1)))
    np.testing.assert_allclose(explanation.importance[:, 1], 2 / 3, atol=0.05)
    np.testing.assert_array_equal(explanation.prediction, table[1][:6])


def test_only_the_most_probable_class_is_explained(table):
    def three(X):
        last = 0.6 + 0.3 * (X[:, 2] > 0)  # the most probable everywhere; x1 shares out the rest
        return np.column_stack([(1 - last) * (X[:, 0] > 0), (1 - last) * (X[:, 0] <= 0), last])

    y = np.arange(len(table[0])) % 3
    selected = LimeExplainer(k=1, predict_fn=three, num_samples=1000, random_state=0).fit(table[0], y).select
    np.testing.assert_array_equal(selected(table[0][:4]), np.tile([False, False, True, False], (4, 1)))


def test_the_published_parameters_reach_lime(table, monkeypatch):
    calls = []
    explain_instance = LimeTabularExplainer.explain_instance

    def spy(self, *row, **how):
        calls.append((type(self.discretizer), how))
        return explain_instance(self, *row, **how)

    monkeypatch.setattr(LimeTabularExplainer, "explain_instance", spy)
    explanation = LimeExplainer(k=3, predict_fn=rule, random_state=0).fit(*table).explain(table[0][:1])
    assert calls == [(QuartileDiscretizer, {"top_labels": 1, "num_features": 3, "num_samples": 5000})]
    assert explanation.n_selected.tolist() == [3]


def test_the_network_is_seek_alone_as_published(table, monkeypatch):
    rates, steps = [], []

    class Spy(module.Adam):
        def __init__(self, parameters, learning_rate):
            super().__init__(parameters, learning_rate)
            rates.append(learning_rate)

        def step(self, gradient):
            super().step(gradient)
            steps.append(gradient)

    monkeypatch.setattr(module, "Adam", Spy)
    model = LimeExplainer(k=1, random_state=0).fit(*table)
    assert rates == [1e-3]
    assert len(steps) == 1000
    assert model.model_.network.sizes == (4, 32, 32, 2)
    assert model.score(*table) > 0.97


def test_training_equals_torchs_own_to_rounding(table):
    X, y = table
    first = LimeExplainer(k=1, epochs=1, random_state=0).fit(X, y)
    network, steps = first.model_.network, 6
    keys = module.step_keys(np.array([first.seed_]), module.Stream.WEIGHTS, 0, 1)[0]
    draws = module.uniform(keys, network.n_parameters)
    start = module.split(network.init(draws, torch.ones(1, 4, dtype=torch.bool))[0].float(), network.shapes)
    layers = [torch.nn.Linear(*sizes) for sizes in ((4, 32), (32, 32), (32, 2))]
    for layer, weight, bias in zip(layers, start[0::2], start[1::2], strict=True):
        layer.load_state_dict({"weight": weight[0], "bias": bias[0, :, 0]})
    reference = torch.nn.Sequential(layers[0], torch.nn.ReLU(), layers[1], torch.nn.ReLU(), layers[2])
    optimiser = torch.optim.Adam(reference.parameters(), lr=1e-3)
    x = torch.from_numpy(first.model_.scaler.transform(X))
    for _ in range(steps):
        optimiser.zero_grad()
        torch.nn.functional.cross_entropy(reference(x), torch.from_numpy(y)).backward()
        optimiser.step()
    expected = reference(x).softmax(dim=1).detach().numpy()
    ours = LimeExplainer(k=1, epochs=steps, random_state=0).fit(X, y).predict_proba(X)
    np.testing.assert_allclose(ours, expected, atol=1e-5)


def test_training_in_blocks_of_rows_equals_training_on_all_rows_at_once(table, monkeypatch):
    whole = LimeExplainer(k=1, epochs=20, random_state=0).fit(*table).predict_proba(table[0])
    sizes, forward = [], module.Mlp.forward

    def spy(self, parameters, x):
        sizes.append(x.shape[-1])
        return forward(self, parameters, x)

    monkeypatch.setattr(module, "_BLOCK_ROWS", 150)
    monkeypatch.setattr(module.Mlp, "forward", spy)
    model = LimeExplainer(k=1, epochs=20, random_state=0).fit(*table)
    assert sizes == [150, 150, 100] * 20
    np.testing.assert_allclose(model.predict_proba(table[0]), whole, atol=1e-5)


def test_a_function_that_gives_no_probabilities_is_refused_in_fit(table):
    with pytest.raises(InputError, match=r"shape \(1, 2\); it returned shape \(1, 3\)"):
        LimeExplainer(k=1, predict_fn=lambda X: X[:, :3]).fit(*table)
