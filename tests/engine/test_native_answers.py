"""Answers in C against those in torch, which say what is right."""

import re
from dataclasses import replace
from pathlib import Path
from weakref import ref

import numpy as np
import pytest
import torch
from torch.nn.functional import softplus

from hideseek.engine import ensemble as ensemble_module
from hideseek.engine import native
from hideseek.engine.ensemble import Ensemble, Kept
from hideseek.engine.groups import Groups
from hideseek.engine.native import NativeAnswers, can_answer, library, native_available
from hideseek.engine.native.library import load
from hideseek.engine.networks import Mlp
from hideseek.engine.scaling import Scaler
from hideseek.engine.stack import Stack

CASES = {
    "one price": {},
    "two Seeks": {"n_seeks": 2},
    "a range of prices": {"path": True, "n_seeks": 2},
    "groups": {"widths": (1, 5, 2, 9), "path": True, "n_seeks": 2},
    "many columns": {"widths": (1,) * 70, "path": True},
    "many classes": {"n_outputs": 10, "n_seeks": 2},
    "values": {"n_outputs": 1, "path": True},
    "one hidden layer": {"hidden": (9,)},
    "four hidden layers": {"hidden": (9, 40, 8, 33), "path": True, "n_seeks": 2},
    "screened": {"path": True, "screened": True},
}

needs_library = pytest.mark.skipif(not native_available(), reason="needs the compiled library")


def every_level():
    found = load()
    return range(0 if found is None else found.hideseek_levels())


def make_ensemble(*, widths=(1,) * 5, hidden=(20, 24), n_outputs=3, n_seeks=1, path=False, screened=False):
    n_columns, n_features, generator = sum(widths), len(widths), torch.Generator().manual_seed(0)
    hide, seek = Mlp((n_columns, *hidden, n_features * (1 + path))), Mlp((n_columns + path, *hidden, n_outputs))
    weights = torch.randn(3, hide.n_parameters + n_seeks * seek.n_parameters, generator=generator) / 2
    ranges = torch.tensor([[-8.0, -3.0], [-8.0, -2.0], [-7.0, -3.0]]) if path else None
    stack = Stack.from_members(hide, seek, weights, Groups.from_widths(widths), ranges)
    visible = torch.ones(3, n_features, dtype=torch.bool)
    visible[0, 2] = visible[:, 1] = False
    kept = Kept.of(np.arange(n_features) * 2, [1] * 2 * n_features) if screened else None
    scaler = Scaler(np.full(n_columns, 0.5), np.full(n_columns, 2.0), np.zeros(n_columns, dtype=bool))
    pool = torch.randn(8, n_columns, generator=generator)
    return Ensemble(stack, visible, pool, scaler, kept=kept, price=0.01 if path else None)


def rows_of(ensemble, n_rows=150):
    n_columns = ensemble.pool.shape[1] if ensemble.kept is None else ensemble.kept.n_features
    return np.random.default_rng(1).normal(size=(n_rows, n_columns))


def threshold_between(masks):
    """Return a threshold that no mask is so close to that rounding decides."""
    ordered = np.sort(masks[masks > 0])
    middle = slice(len(ordered) // 3, 2 * len(ordered) // 3)
    gap = np.diff(ordered[middle]).argmax()
    return float(ordered[middle][gap : gap + 2].mean())


def answers(ensemble, X, threshold):
    n_features = ensemble.visible.shape[1] if ensemble.kept is None else ensemble.kept.n_features
    hidden = np.arange(len(X)) % (n_features + 1) - 1
    return {
        "masks": ensemble.masks(X),
        "probabilities": ensemble.outputs(X, 5, softmax=True, threshold=threshold),
        "values": ensemble.outputs(X, 5, softmax=False, threshold=threshold),
        "hidden": ensemble.outputs(X, 4, softmax=True, threshold=threshold, hidden=hidden),
        "in turn": ensemble.outputs(X, 5, softmax=True, threshold=threshold, n_turns=2),
    }


def mean_masks_at(ensemble, X, prices):
    """Return each feature's mean mask at a price of its own."""
    hide_layers, _ = ensemble.stack.layers()
    a, b = ensemble.stack.hide.forward(hide_layers, ensemble.standardised(X))[:, :, : len(X)].chunk(2, dim=1)
    low, high = ensemble.price_range[:, :, None, None].unbind(dim=1)
    u = (torch.from_numpy(prices).log().t() - low) / (high - low) * 4 - 2
    return ensemble.mean(torch.sigmoid(a - softplus(b + 1) * u)).t().numpy()


@pytest.fixture
def in_torch(monkeypatch):
    def with_torch(function, *arguments):
        with monkeypatch.context() as patch:
            patch.setattr(ensemble_module, "can_answer", lambda stack: False)
            return function(*arguments)

    return with_torch


@needs_library
@pytest.mark.parametrize("level", every_level())
@pytest.mark.parametrize("case", CASES)
def test_answers_are_those_of_torch(case, level, in_torch, monkeypatch):
    monkeypatch.setattr(load(), "hideseek_levels", lambda: level + 1)
    ensemble = make_ensemble(**CASES[case])
    X = rows_of(ensemble)
    threshold = threshold_between(in_torch(ensemble.masks, X))
    found, expected = answers(ensemble, X, threshold), in_torch(answers, ensemble, X, threshold)
    assert 0.1 < (expected["masks"] > threshold).mean() < 0.9
    for name, values in expected.items():
        np.testing.assert_allclose(found[name], values, atol=3e-6, rtol=1e-5, err_msg=name)


@needs_library
@pytest.mark.parametrize("case", ["one price", "groups", "many columns"])
def test_an_answer_depends_on_its_row_alone(case):
    ensemble = make_ensemble(**CASES[case])
    X = rows_of(ensemble)
    whole = answers(ensemble, X, 0.5)
    for rows in (slice(7, 8), slice(3), slice(60, 133)):
        for name in ("masks", "probabilities", "values", "in turn"):
            np.testing.assert_array_equal(answers(ensemble, X[rows], 0.5)[name], whole[name][rows], err_msg=name)


@needs_library
def test_blocks_of_rows_and_threads_do_not_change_a_bit(monkeypatch):
    ensemble = make_ensemble(path=True, n_seeks=2)
    X = rows_of(ensemble, 1000)
    whole = answers(ensemble, X, 0.5)
    monkeypatch.setattr(ensemble_module, "_NATIVE_CELLS", 1)
    for name, values in answers(ensemble, X, 0.5).items():
        np.testing.assert_array_equal(values, whole[name], err_msg=name)


@needs_library
def test_memory_is_held_while_the_library_works_in_it(monkeypatch):
    rooms, make_room = [], NativeAnswers._room

    def watched(self):
        room = make_room(self)
        rooms.append(ref(room))
        return room

    def held(*given):
        assert rooms[-1]() is not None, "another thread could be given this memory"

    monkeypatch.setattr(NativeAnswers, "_room", watched)
    for name in ("pack", "masks", "entries", "outputs"):
        monkeypatch.setattr(load(), f"hideseek_{name}", held)
    answers(make_ensemble(path=True), rows_of(make_ensemble(path=True)), 0.5)
    assert len(rooms) > 4


@needs_library
def test_a_price_beyond_the_range_is_the_nearest_for_seek(in_torch):
    ensemble = replace(make_ensemble(path=True), price=10.0)
    X = rows_of(ensemble)
    threshold = threshold_between(in_torch(ensemble.masks, X))
    expected = in_torch(answers, ensemble, X, threshold)
    for name, values in answers(ensemble, X, threshold).items():
        np.testing.assert_allclose(values, expected[name], atol=3e-6, rtol=1e-5, err_msg=name)


@needs_library
def test_no_rows_have_no_answers():
    ensemble = make_ensemble()
    assert ensemble.masks(np.empty((0, 5))).shape == (0, 5)
    assert ensemble.outputs(np.empty((0, 5)), 2, softmax=True, threshold=0.5).shape == (0, 3)


@needs_library
def test_rows_in_double_precision_are_converted():
    ensemble = make_ensemble(path=True)
    X = rows_of(ensemble)
    standardised = ensemble.inputs(X).double()
    for name, values in answers(ensemble, standardised, 0.5).items():
        np.testing.assert_array_equal(values, answers(ensemble, X, 0.5)[name], err_msg=name)
    np.testing.assert_array_equal(ensemble.entry_prices(standardised, 0.5), ensemble.entry_prices(X, 0.5))


@needs_library
def test_the_library_is_asked_where_it_can_answer(monkeypatch):
    asked = []
    monkeypatch.setattr(ensemble_module, "NativeAnswers", lambda *given: asked.append(given) or NativeAnswers(*given))
    ensemble = make_ensemble(path=True)
    X = rows_of(ensemble)
    ensemble.masks(X)
    ensemble.outputs(X, 2, softmax=True, threshold=0.5)
    ensemble.entry_prices(X, 0.5)
    replace(ensemble, n_features=2).masks(X)
    assert len(asked) == 4
    ensemble.outputs(X, 2, softmax=True)
    assert len(asked) == 4, "rows mixed by the members' masks are left to torch"
    assert not can_answer(make_ensemble(hidden=()).stack)
    assert not can_answer(replace(ensemble.stack, parameters=ensemble.stack.parameters.double()))
    monkeypatch.setenv("HIDESEEK_NATIVE", "0")
    assert not can_answer(ensemble.stack)
    with pytest.raises(RuntimeError, match="HIDESEEK_NATIVE"):
        NativeAnswers(ensemble.stack, ensemble.visible.float())


def test_without_the_library_torch_answers(monkeypatch, tmp_path):
    monkeypatch.setattr(native.library, "__file__", str(tmp_path / "library.py"))
    ensemble = make_ensemble(path=True)
    assert not can_answer(ensemble.stack)
    assert ensemble.masks(rows_of(ensemble)).shape == (150, 5)


@needs_library
@pytest.mark.parametrize("level", every_level())
@pytest.mark.parametrize("case", [case for case, given in CASES.items() if given.get("path")])
def test_a_mean_mask_is_at_the_threshold_at_the_entry_price(case, level, in_torch, monkeypatch):
    monkeypatch.setattr(load(), "hideseek_levels", lambda: level + 1)
    ensemble = make_ensemble(**CASES[case])
    X = rows_of(ensemble)
    entered = ensemble.entry_prices(X, 0.3)
    if ensemble.kept is not None:
        assert (np.delete(entered, ensemble.kept.features, axis=1) == 0).all()
        entered = entered[:, ensemble.kept.features]
    within = (entered > 1e-20) & (entered < 1e8)
    assert within.mean() > 0.5
    np.testing.assert_allclose(mean_masks_at(ensemble, X, entered)[within], 0.3, atol=3e-5)
    of_two = replace(ensemble, n_features=2)
    np.testing.assert_allclose(of_two.masks(X), in_torch(of_two.masks, X), atol=1e-4)


@needs_library
def test_an_entry_price_depends_on_its_row_alone(monkeypatch):
    ensemble = make_ensemble(**CASES["groups"])
    X = rows_of(ensemble)
    whole = ensemble.entry_prices(X, 0.5)
    for rows in (slice(7, 8), slice(3), slice(60, 133)):
        np.testing.assert_array_equal(ensemble.entry_prices(X[rows], 0.5), whole[rows])
    monkeypatch.setattr(ensemble_module, "_NATIVE_CELLS", 1)
    np.testing.assert_array_equal(ensemble.entry_prices(X, 0.5), whole)


@pytest.mark.parametrize("name", ["MOST_LAYERS", "MOST_ROWS"])
def test_limits_are_those_of_the_sources(name):
    header = (Path(native.__file__).parent / "step.h").read_text()
    assert re.search(rf"^#define {name} (\d+)", header, re.MULTILINE)[1] == str(getattr(library, name))
