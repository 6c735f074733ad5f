from dataclasses import replace

import numpy as np
import pytest
import torch
from torch import nn

from hideseek.engine import training
from hideseek.engine.adam import Adam
from hideseek.engine.draws import Stream, integers, member_seeds, step_keys
from hideseek.engine.recipe import PRESETS, Recipe
from hideseek.engine.stack import Data, Members, Stack
from hideseek.engine.training import train
from hideseek.errors import TrainingError

CPU = torch.device("cpu")


def make_data(tables: int = 1, rows: int = 200, columns: int = 4, seed: int = 0) -> Data:
    generator = torch.Generator().manual_seed(seed)
    X = torch.randn(tables, rows, columns, generator=generator)
    return Data(X, (X[..., 0] * X[..., 1] > 0).long())


def make_members(seeds, columns: int = 4, price=0.02, table=None, visible=None) -> Members:
    count = len(seeds)
    return Members(
        np.asarray(seeds),
        np.broadcast_to(price, count).astype(float),
        np.ones((count, columns), dtype=bool) if visible is None else np.asarray(visible),
        np.zeros(count, dtype=np.int64) if table is None else np.asarray(table),
    )


def fit(recipe, data, members, **options):
    options = {"loss": "cross_entropy", "n_outputs": 2, "device": CPU, **options}
    return train(recipe, data, members, **options)


@pytest.mark.parametrize("weight_decay", [0.0, 0.5])
def test_adam_equals_torch(weight_decay):
    ours, theirs = torch.randn(2, 30), nn.Parameter(torch.empty(2, 30))
    theirs.data.copy_(ours)
    adam = Adam(ours, 0.01, weight_decay)
    reference = torch.optim.AdamW([theirs], lr=0.01, weight_decay=weight_decay)
    for _ in range(20):
        gradient = torch.randn(2, 30)
        theirs.grad = gradient.clone()
        adam.step(gradient)
        reference.step()
    torch.testing.assert_close(ours, theirs.data)


def test_adam_moves_by_the_given_share_of_the_learning_rate():
    start, gradient = torch.randn(2, 30), torch.randn(2, 30)
    whole, half = start.clone(), start.clone()
    Adam(whole, 0.01).step(gradient)
    Adam(half, 0.02).step(gradient, share=0.5)
    torch.testing.assert_close(half, whole)


def test_the_papers_recipe_equals_the_plain_loop():
    """Full batch, Adam, marginal replacement and quadratic annealing, written with torch's own modules."""
    steps, n, d = 5, 200, 4
    data, members = make_data(), make_members([7], price=0.3 / 4)
    stack, history = fit(replace(PRESETS["paper"], steps=steps), data, members)

    start, _ = fit(replace(PRESETS["paper"], steps=1, learning_rate=1e-30), data, members)
    networks = []
    for mlp, layers in zip((start.hide, start.seek), start.layers(), strict=True):
        linear = [nn.Linear(i, o) for i, o in zip(mlp.sizes[:-1], mlp.sizes[1:], strict=True)]
        for k, module in enumerate(linear):
            module.weight.data.copy_(layers[2 * k][0])
            module.bias.data.copy_(layers[2 * k + 1][0, :, 0])
        networks.append(nn.Sequential(linear[0], nn.ReLU(), linear[1], nn.ReLU(), linear[2]))
    hide, seek = networks
    optimiser = torch.optim.Adam([*hide.parameters(), *seek.parameters()], lr=1e-3)
    x, y = data.X[0], data.target[0]
    for t in range(1, steps + 1):
        keys = step_keys(members.seeds, Stream.REPLACEMENT, t - 1, t)[0]
        rows = integers(keys, n * d, n).view(d, n)
        x_hat = torch.stack([x[rows[j], j] for j in range(d)], dim=1)
        m = torch.sigmoid(hide(x))
        z = m * x + (1 - m) * x_hat
        cross_entropy = nn.functional.cross_entropy(seek(z), y)
        loss = cross_entropy + (t / steps) ** 2 * 0.3 * m.mean()
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()
        assert history.prediction_loss[t - 1, 0] == pytest.approx(cross_entropy.item(), abs=1e-5)
    for network, layers in zip(networks, stack.layers(), strict=True):
        for k, module in enumerate(m for m in network if isinstance(m, nn.Linear)):
            torch.testing.assert_close(layers[2 * k][0], module.weight.data, atol=2e-5, rtol=0)


@pytest.mark.parametrize("batch_size", [None, 32])
def test_a_member_alone_equals_the_member_in_a_stack(batch_size):
    recipe = Recipe(steps=6, batch_size=batch_size, hidden_layers=(16, 16))
    data = make_data(tables=2)
    seeds, prices, table = member_seeds(1, 4), np.array([0.0, 0.02, 0.1, 0.02]), [0, 1, 1, 0]
    visible = np.ones((4, 4), dtype=bool)
    visible[2, 3] = False
    together, history = fit(recipe, data, make_members(seeds, price=prices, table=table, visible=visible))
    for k in range(4):
        own = Data(data.X[table[k]][None], data.target[table[k]][None])
        alone, single = fit(recipe, own, make_members(seeds[k : k + 1], price=prices[k], visible=visible[k : k + 1]))
        torch.testing.assert_close(together.by_member()[k], alone.by_member()[0], atol=1e-5, rtol=0)
        np.testing.assert_allclose(history.mask_sum[:, k], single.mask_sum[:, 0], atol=1e-4)


def test_same_seed_same_bits_and_another_seed_others():
    recipe, data = Recipe(steps=5, batch_size=32), make_data()
    first, second, other = (fit(recipe, data, make_members([s]))[0].parameters for s in (1, 1, 2))
    assert torch.equal(first, second)
    assert not torch.equal(first, other)


def test_a_higher_price_shows_less():
    recipe = Recipe(steps=150, batch_size=100, learning_rate=1e-2)
    _, history = fit(recipe, make_data(rows=1000), make_members([1, 1, 1], price=[0.0, 0.05, 1.0]))
    low, middle, high = history.mask_sum[-1]
    assert low > middle > high


def test_weight_decay_keeps_weights_small():
    recipe, data = Recipe(steps=50, batch_size=32, learning_rate=1e-2), make_data()
    plain, decayed = (fit(replace(recipe, weight_decay=w), data, make_members([1]))[0] for w in (0.0, 1.0))
    assert decayed.parameters.square().sum() < 0.7 * plain.parameters.square().sum()


@pytest.mark.parametrize("batch_size", [32, None])
def test_the_last_steps_of_a_cooldown_are_short(batch_size):
    recipe, data, members = Recipe(steps=50, batch_size=batch_size, learning_rate=1e-2), make_data(), make_members([1])
    moved = []
    for cooldown in (0.0, 1.0):
        before, after = (
            fit(replace(recipe, steps=steps, cooldown=c), data, members)[0] for steps, c in ((1, 0.0), (50, cooldown))
        )
        moved.append((after.parameters - before.parameters).abs().mean())
    assert moved[1] < 0.9 * moved[0]


def test_hidden_columns_stay_hidden_in_training():
    visible = np.array([[True, True, False, True]])
    stack, _ = fit(Recipe(steps=20, batch_size=32, learning_rate=1e-2), make_data(), make_members([1], visible=visible))
    for layers in stack.layers():
        assert (layers[0][0, :, 2] == 0).all()
        assert (layers[0][0, :, 0] != 0).any()


def test_held_out_rows_are_looked_at_and_never_learned_from():
    recipe, members = Recipe(steps=30, batch_size=32), make_members([1, 2])
    plain, _ = fit(recipe, make_data(), members)
    watched, history = fit(recipe, make_data(), members, validation=make_data(seed=1, rows=50))
    assert torch.equal(plain.parameters, watched.parameters)
    assert history.validation_loss.shape == (30, 2)
    assert np.isfinite(history.validation_loss).all()


def test_weights_of_zero_leave_a_row_out():
    data = make_data()
    broken = data.target.clone()
    broken[:, 100:] = 0  # labels that would mislead
    weight = torch.where(torch.arange(200) < 100, 2.0, 0.0)[None]
    recipe = Recipe(steps=3)
    results = [fit(recipe, Data(data.X, target, weight), make_members([1]))[0] for target in (data.target, broken)]
    assert torch.equal(results[0].parameters, results[1].parameters)


def test_regression_and_soft_labels_learn():
    data = make_data(rows=1000)
    recipe = Recipe(steps=300, batch_size=100, learning_rate=1e-2)
    value = (data.X[..., 0] + data.X[..., 1]) / np.sqrt(2)
    _, history = fit(recipe, Data(data.X, value), make_members([1]), loss="squared_error", n_outputs=1)
    assert history.prediction_loss[-1, 0] < 0.2 * history.prediction_loss[0, 0]
    soft = torch.stack((torch.sigmoid(4 * value), torch.sigmoid(-4 * value)), dim=2)
    _, history = fit(recipe, Data(data.X, soft), make_members([1]), loss="cross_entropy")
    assert history.prediction_loss[-1, 0] < 0.6 * history.prediction_loss[0, 0]


def test_records_are_means_over_their_steps():
    recipe = Recipe(steps=250, batch_size=32)
    _, history = fit(recipe, make_data(), make_members([1]))
    assert len(history.step) == 100
    assert history.step[-1] == 250
    assert history.anneal[-1] == 1
    _, every = fit(replace(recipe, steps=10, anneal_power=0.0), make_data(), make_members([1]))
    assert len(every.step) == 10


def test_a_loss_that_is_not_finite_raises():
    data = make_data()
    data.X[0, 0, 0] = torch.nan
    with pytest.raises(TrainingError, match=r"member 0 .* learning_rate"):
        fit(Recipe(steps=3), data, make_members([1]))


@pytest.mark.parametrize("batch_size", [None, 16])
def test_the_callers_threads_are_put_back(batch_size):
    before = torch.get_num_threads()
    fit(Recipe(steps=2, batch_size=batch_size), make_data(), make_members([1]))
    assert torch.get_num_threads() == before


def test_a_batch_of_all_rows_is_the_full_batch():
    results = [fit(Recipe(steps=3, batch_size=size), make_data(), make_members([1]))[0] for size in (None, 200, 500)]
    assert torch.equal(results[0].parameters, results[1].parameters)
    assert torch.equal(results[0].parameters, results[2].parameters)


def test_parameters_split_into_hide_and_seek():
    stack, _ = fit(Recipe(steps=1), make_data(), make_members([1]))
    hide, seek = stack.layers()
    assert [tuple(w.shape[1:]) for w in hide] == [(32, 4), (32, 1), (32, 32), (32, 1), (4, 32), (4, 1)]
    assert [tuple(w.shape[1:]) for w in seek][-2:] == [(2, 32), (2, 1)]
    assert sum(w.numel() for w in (*hide, *seek)) == stack.parameters.numel()
    again = Stack.from_members(stack.hide, stack.seek, stack.by_member())
    assert torch.equal(again.parameters, stack.parameters)


def test_a_stack_too_big_for_the_card_is_cut_into_pieces(monkeypatch):
    recipe, data = Recipe(steps=5, batch_size=32), make_data(tables=3)
    members = make_members(member_seeds(1, 5), price=np.linspace(0, 0.1, 5), table=[2, 0, 2, 1, 0])
    held_out = make_data(tables=3, rows=20, seed=1)
    whole, history = fit(recipe, data, members, validation=held_out)
    plain, sizes = training._train, []

    def small_card(recipe, data, members, *rest, **options):
        sizes.append(len(members))
        if len(members) > 2:
            raise torch.OutOfMemoryError
        return plain(recipe, data, members, *rest, **options)

    monkeypatch.setattr(training, "_train", small_card)
    pieces, other = fit(recipe, data, members, validation=held_out)
    assert sizes == [5, 2, 3, 1, 2]
    torch.testing.assert_close(pieces.by_member(), whole.by_member(), atol=1e-6, rtol=0)
    for name in ("prediction_loss", "mask_sum", "validation_loss"):
        np.testing.assert_allclose(getattr(other, name), getattr(history, name), atol=1e-5)


def test_one_member_too_big_for_the_card_is_said(monkeypatch):
    def no_card(*arguments, **options):
        raise torch.OutOfMemoryError

    monkeypatch.setattr(training, "_train", no_card)
    with pytest.raises(TrainingError, match=r"4 columns .* 200 rows, 32 of them .* lower batch_size"):
        fit(Recipe(steps=5, batch_size=32), make_data(), make_members([1]))


def test_a_loss_that_broke_is_found_in_the_records_where_no_step_looked_at_it():
    recorder = training._Recorder(Recipe(steps=4), lambda step: None, None)
    for step, loss in ((2, 0.5), (4, float("nan"))):  # as on a GPU, where a record is not read at once
        recorder._records.append((step, 0.1, torch.tensor([[0.5, loss], [1.0, 1.0]]), None))
    with pytest.raises(TrainingError, match="member 1 is no longer finite at step 4 of 4"):
        recorder.history()
