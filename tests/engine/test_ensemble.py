from dataclasses import replace

import numpy as np
import pytest
import torch

from hideseek.engine import ensemble as ensemble_module
from hideseek.engine.draws import member_seeds
from hideseek.engine.ensemble import Ensemble, Kept
from hideseek.engine.pools import POOL_ROWS, draw_pool
from hideseek.engine.recipe import Recipe
from hideseek.engine.scaling import Scaler
from hideseek.engine.stack import Data, Members
from hideseek.engine.training import train


@pytest.fixture(autouse=True, params=["in C", "in torch"])
def way(request, monkeypatch):
    """The library answers where it is compiled; torch does elsewhere and on GPUs."""
    if request.param == "in torch":
        monkeypatch.setattr(ensemble_module, "can_answer", lambda stack: False)


@pytest.fixture(scope="module")
def raw():
    return np.random.default_rng(0).normal(3, 2, size=(3000, 5))


@pytest.fixture(scope="module")
def ensemble(raw):
    scaler = Scaler.fit(raw)
    X = torch.from_numpy(scaler.transform(raw))
    visible = np.ones((3, 5), dtype=bool)
    visible[0, 4] = visible[:, 3] = False
    members = Members(member_seeds(0, 3), np.full(3, 0.01), visible, np.zeros(3, dtype=int))
    stack, _ = train(
        Recipe(steps=30, batch_size=100, learning_rate=1e-2),
        Data(X[None], (X[:, 0] > 0).long()[None]),
        members,
        loss="cross_entropy",
        n_outputs=2,
        device=torch.device("cpu"),
    )
    return Ensemble(stack, torch.from_numpy(visible), draw_pool(0, X), scaler)


def member_masks(ensemble, raw):
    x = torch.from_numpy(ensemble.scaler.transform(raw)).t().expand(3, -1, -1)
    return torch.sigmoid(ensemble.stack.hide.forward(ensemble.stack.layers()[0], x)).numpy()


def test_a_mask_is_the_mean_over_the_members_that_saw_the_column(ensemble, raw):
    each = member_masks(ensemble, raw)
    got = ensemble.masks(raw)
    np.testing.assert_allclose(got[:, 0], each[:, 0].mean(axis=0), atol=1e-6)
    np.testing.assert_allclose(got[:, 4], each[1:, 4].mean(axis=0), atol=1e-6)
    assert (got[:, 3] == 0).all(), "no member saw it"


def test_masks_of_members_are_zero_where_a_member_does_not_see_the_column(ensemble, raw):
    each, rows = member_masks(ensemble, raw[:20]), ensemble.masks_of_members(raw[:20])
    np.testing.assert_allclose(rows[:, :, :3], each.transpose(0, 2, 1)[:, :, :3], atol=1e-6)
    assert (rows[0, :, 4] == 0).all()
    assert (rows[1, :, 4] > 0).all()


def test_some_members_are_those_of_the_weights_by_member(ensemble):
    which = torch.tensor([2, 0])
    assert torch.equal(ensemble.stack.of(which).by_member(), ensemble.stack.by_member()[which])


def test_several_draws_at_once_give_the_same_outputs(ensemble, raw, monkeypatch):
    expected = [ensemble.outputs(raw[:20], 5, softmax=True, threshold=threshold) for threshold in (None, 0.4)]
    monkeypatch.setattr(Ensemble, "_draws_at_once", lambda self, n_rows: 2)
    for threshold, each in zip((None, 0.4), expected, strict=True):
        np.testing.assert_allclose(ensemble.outputs(raw[:20], 5, softmax=True, threshold=threshold), each, atol=1e-6)


def test_outputs_average_members_and_draws(ensemble, raw):
    rows, masks = raw[:20], member_masks(ensemble, raw[:20])
    x = ensemble.scaler.transform(rows).T
    total = np.zeros((20, 2))
    for x_hat in ensemble.pool[:4].numpy():
        z = torch.from_numpy((masks * x + (1 - masks) * x_hat[:, None]).astype(np.float32))
        total += ensemble.stack.seek.forward(ensemble.stack.layers()[1], z).softmax(dim=1).mean(dim=0).numpy().T
    np.testing.assert_allclose(ensemble.outputs(rows, 4, softmax=True), total / 4, atol=1e-5)
    assert not np.allclose(ensemble.outputs(rows, 1, softmax=True), total / 4, atol=1e-5), "one draw is one draw"


def test_with_a_threshold_every_member_sees_what_the_ensemble_selects(ensemble, raw):
    rows = raw[:20]
    selected = ensemble.masks(rows) > 0.4
    assert 0 < selected.mean() < 1
    total = np.zeros((20, 2))
    for x_hat in ensemble.pool[:4].numpy():
        z = np.where(selected.T, ensemble.scaler.transform(rows).T, x_hat[:, None]).astype(np.float32)
        seen = torch.from_numpy(z).expand(3, -1, -1)
        total += ensemble.stack.seek.forward(ensemble.stack.layers()[1], seen).softmax(dim=1).mean(dim=0).numpy().T
    np.testing.assert_allclose(ensemble.outputs(rows, 4, softmax=True, threshold=0.4), total / 4, atol=1e-5)


def test_columns_that_the_members_do_not_know_are_passed_over(ensemble, raw):
    columns = np.array([1, 2, 4, 5, 7])
    wide = np.random.default_rng(1).normal(size=(100, 8))
    wide[:, columns] = raw[:100]
    knowing_some = replace(ensemble, kept=Kept.of(columns, [1] * 8))
    np.testing.assert_array_equal(knowing_some.masks(wide)[:, columns], ensemble.masks(raw[:100]))
    assert (knowing_some.masks(wide)[:, [0, 3, 6]] == 0).all()
    np.testing.assert_array_equal(
        knowing_some.outputs(wide, 2, softmax=True), ensemble.outputs(raw[:100], 2, softmax=True)
    )


def test_what_is_kept_of_features_of_several_columns():
    kept = Kept.of(np.array([0, 2]), [2, 1, 3])
    assert (kept.columns.tolist(), kept.n_features) == ([0, 1, 3, 4, 5], 3)


def test_an_answer_depends_on_its_row_alone(ensemble, raw):
    shuffled = np.random.default_rng(1).permutation(len(raw))
    masks, outputs = ensemble.masks(raw), ensemble.outputs(raw, 3, softmax=True)
    np.testing.assert_array_equal(ensemble.masks(raw[shuffled]), masks[shuffled])
    for rows in (slice(7, 8), slice(0, 3), slice(100, 165)):
        np.testing.assert_array_equal(ensemble.masks(raw[rows]), masks[rows])
        np.testing.assert_array_equal(ensemble.outputs(raw[rows], 3, softmax=True), outputs[rows])


def test_blocks_and_threads_do_not_change_the_answer(ensemble, raw, monkeypatch):
    whole = ensemble.masks(raw)
    before = torch.get_num_threads()
    for threads in (1, 2):
        torch.set_num_threads(threads)
        np.testing.assert_array_equal(ensemble.masks(raw), whole)
        assert torch.get_num_threads() == threads
    torch.set_num_threads(before)
    monkeypatch.setitem(ensemble_module._BLOCK_CELLS, "cpu", 1000)
    np.testing.assert_array_equal(ensemble.masks(raw), whole)


def test_the_pool_is_bounded_and_drawn_column_by_column(raw):
    X = torch.from_numpy(Scaler.fit(raw).transform(raw))
    pool = draw_pool(0, X)
    assert pool.shape == (POOL_ROWS, 5)
    for j in range(5):
        assert set(pool[:, j].tolist()) <= set(X[:, j].tolist())
    assert not any((X == row).all(dim=1).any() for row in pool)
    assert not torch.equal(pool, draw_pool(1, X))


def test_scaler_centres_scales_and_silences_constants():
    X = np.column_stack((np.array([1.0, 2.0, 3.0]), np.full(3, 0.1), np.array([1e9, 1e9 + 1, 1e9 + 2])))
    scaler = Scaler.fit(X)
    expected = np.array([-1, 0, 1]) / np.sqrt(2 / 3)
    np.testing.assert_allclose(scaler.transform(X), np.column_stack((expected, np.zeros(3), expected)), rtol=1e-6)
    assert scaler.constant.tolist() == [False, True, False]
    assert (scaler.transform(X + 5)[:, 1] == 0).all(), "a constant column stays silent whatever comes later"


def test_hiding_a_feature_equals_a_selection_without_it(ensemble, raw):
    rows = raw[:200]
    selected = ensemble.masks(rows) > 0.4
    hidden = np.where(np.arange(200) % 2, 0, -1)
    assert selected[hidden == 0, 0].any()
    total = np.zeros((200, 2))
    shown = selected & ~((hidden == 0)[:, None] & (np.arange(5) == 0))
    for x_hat in ensemble.pool[:4].numpy():
        z = np.where(shown.T, ensemble.scaler.transform(rows).T, x_hat[:, None]).astype(np.float32)
        seen = torch.from_numpy(z).expand(3, -1, -1)
        total += ensemble.stack.seek.forward(ensemble.stack.layers()[1], seen).softmax(dim=1).mean(dim=0).numpy().T
    got = ensemble.outputs(rows, 4, softmax=True, threshold=0.4, hidden=hidden)
    np.testing.assert_allclose(got, total / 4, atol=1e-5)

    knowing_some = replace(ensemble, kept=Kept.of(np.array([1, 2, 3, 4, 6]), [1] * 8))
    wide = np.zeros((200, 8))
    wide[:, [1, 2, 3, 4, 6]] = rows
    wide_hidden = np.where(hidden == 0, 1, 7)  # 7 is a feature that the members do not know
    again = knowing_some.outputs(wide, 4, softmax=True, threshold=0.4, hidden=wide_hidden)
    np.testing.assert_array_equal(again, got)


def test_seeks_that_answer_in_turn_give_each_seek_its_draws(ensemble, raw):
    rows = raw[:20]
    selected = ensemble.masks(rows) > 0.4
    total = np.zeros((20, 2))
    for draw, seeks in enumerate([[0, 2], [1], [0, 2], [1]]):
        z = np.where(selected.T, ensemble.scaler.transform(rows).T, ensemble.pool[draw].numpy()[:, None])
        seen = torch.from_numpy(z.astype(np.float32)).expand(3, -1, -1)
        outputs = ensemble.stack.seek.forward(ensemble.stack.layers()[1], seen).softmax(dim=1)
        total += outputs[seeks].sum(dim=0).numpy().T
    got = ensemble.outputs(rows, 4, softmax=True, threshold=0.4, n_turns=2)
    np.testing.assert_allclose(got, total / 6, atol=1e-5)


def test_a_prediction_from_selected_features_depends_on_its_row_alone(ensemble, raw):
    answers = ensemble.outputs(raw, 3, softmax=True, threshold=0.4)
    for rows in (slice(7, 8), slice(0, 3), slice(100, 165)):
        np.testing.assert_array_equal(ensemble.outputs(raw[rows], 3, softmax=True, threshold=0.4), answers[rows])
