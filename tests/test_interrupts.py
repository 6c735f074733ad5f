import sys
import time

import numpy as np
import pytest
import torch
from sklearn.exceptions import NotFittedError

from benchmarks import interrupts
from hideseek import HideSeekClassifier
from hideseek.baselines import RealX
from hideseek.engine import device, teams
from hideseek.search import fitting

pytestmark = [
    pytest.mark.skipif(sys.platform == "win32", reason="no timer there that raises a signal"),
    pytest.mark.filterwarnings(
        "ignore::hideseek.errors.MaskWarning"
    ),  # the fits here are too short for masks to settle
]


@pytest.mark.parametrize("name", ["classifier", "black box", "L2X", "forest"])
def test_an_interrupted_fit_leaves_no_old_and_no_half_state(name):
    states = interrupts.left_of_fits(interrupts.MODELS[name], 6, np.random.default_rng(0))
    assert states.total() == 6
    assert set(states) <= set(interrupts.GOOD)


def test_an_interrupted_save_leaves_the_old_file_or_the_new_one(tmp_path):
    states = interrupts.left_of_saves(tmp_path, 10, np.random.default_rng(0))
    assert states.total() == 10
    assert set(states) <= {"old file", "new file"}


@pytest.mark.parametrize("where", ["_check_parameters", "_prepared", "shown_by", "_finish"])
def test_an_interrupt_in_any_part_of_a_fit_leaves_it_unfitted(switch, monkeypatch, where):
    model = HideSeekClassifier("fast", steps=5, random_state=0).set_output(transform="pandas").fit(*switch)
    before = model.get_params()

    def interrupted(*args, **kwargs):
        raise KeyboardInterrupt

    owner = fitting if where == "shown_by" else HideSeekClassifier
    monkeypatch.setattr(owner, where, interrupted)
    with pytest.raises(KeyboardInterrupt, match="this HideSeekClassifier is not fitted"):
        model.fit(*switch)
    assert set(interrupts.learned(model)) == {"_sklearn_output_config"}
    assert model.get_params() == before
    with pytest.raises(NotFittedError):
        model.explain(switch[0])


def test_a_model_is_not_fitted_while_it_is_fitted_anew(switch, monkeypatch):
    model = HideSeekClassifier("fast", steps=5, random_state=0).fit(*switch)
    train, seen = teams.train, []

    def watched(*args, **kwargs):
        seen.append(interrupts.learned(model))
        return train(*args, **kwargs)

    monkeypatch.setattr(teams, "train", watched)
    assert model.fit(*switch) is model
    assert seen == [{}]
    assert model.n_features_in_ == 4


def test_an_interrupt_of_many_fits_leaves_the_method_as_it_was(switch):
    X, y = switch
    method = HideSeekClassifier("fast", steps=200, random_state=0)
    problems = [(X, y, seed, {}) for seed in range(3)]
    started = time.perf_counter()
    assert interrupts.interrupted_after(0.02, lambda: method.fit_many(problems))
    assert time.perf_counter() - started < 30
    assert not interrupts.learned(method)


def test_an_interrupt_that_leaves_gradients_off_does_not_spoil_the_next_fit(switch, monkeypatch):
    def interrupted(*args, **kwargs):
        torch.set_grad_enabled(False)  # as one between the lines of torch.no_grad does
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(RealX, "_networks", interrupted)
        with pytest.raises(KeyboardInterrupt):
            RealX(epochs=1).fit(*switch)
    assert torch.is_grad_enabled()
    RealX(epochs=1, random_state=0).fit(*switch)


def test_an_interrupt_on_the_way_out_gives_the_threads_back(monkeypatch):
    leave, calls = device._leave, []

    def interrupted_at_first(caller):
        calls.append(caller)
        if len(calls) == 1:
            raise KeyboardInterrupt
        leave(caller)

    before = torch.get_num_threads()
    torch.set_num_threads(3)
    monkeypatch.setattr(device, "_leave", interrupted_at_first)
    try:
        with pytest.raises(KeyboardInterrupt), device.one_thread():
            assert torch.get_num_threads() == 1
        assert torch.get_num_threads() == 3
    finally:
        torch.set_num_threads(before)
