"""The steps in C against those in torch, which say what is right."""

import os
import shutil
import subprocess
import sys
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from threading import Condition
from types import SimpleNamespace

import numpy as np
import pytest
import torch

from hideseek.engine import native
from hideseek.engine.draws import member_seeds
from hideseek.engine.eager import SmallSteps, eager_steps
from hideseek.engine.groups import Groups
from hideseek.engine.knockoffs import GaussianKnockoffs
from hideseek.engine.native import NativeParts, NativeSteps, native_available, native_steps
from hideseek.engine.native.compile import LIBRARY, compile_library
from hideseek.engine.native.library import load
from hideseek.engine.native.steps import turns
from hideseek.engine.networks import Mlp
from hideseek.engine.recipe import Recipe
from hideseek.engine.replacement import Marginal
from hideseek.engine.stack import Data, Members, initial_stack
from hideseek.engine.steps import Problem
from hideseek.engine.training import choose_steps, train

CPU = torch.device("cpu")
RECIPE = Recipe(steps=40, batch_size=70, hidden_layers=(20, 24))
CASES = {
    "one Seek": {},
    "two Seeks": {"cross_fit": True},
    "an odd batch, several blocks": {"cross_fit": True, "batch_size": 333},
    "weights": {"weighted": True},
    "weights and two Seeks": {"weighted": True, "cross_fit": True},
    "class probabilities": {"target": "probabilities", "cross_fit": True},
    "values": {"target": "values", "cross_fit": True, "weighted": True},
    "groups": {"widths": [1, 5, 2, 9, 1], "cross_fit": True},
    "groups of even width": {"widths": [5] * 7},
    "groups of at most four columns": {"widths": [4, 1, 3, 4, 2, 4, 4, 4, 3, 1], "cross_fit": True},
    "many columns": {"widths": [1] * 70, "cross_fit": True},
    "columns that fill their vectors": {"widths": [1] * 64, "hidden_layers": (64, 32)},
    "many classes": {"outputs": 10, "cross_fit": True},
    "one hidden layer": {"hidden_layers": (9,), "cross_fit": True},
    "four hidden layers": {"hidden_layers": (9, 40, 8, 33)},
    "weight decay": {"weight_decay": 0.1},
    "a learning rate that falls": {"weight_decay": 0.1, "cooldown": 0.6, "steps": 20},
    "a range of prices": {"path": True},
    "a range of prices, groups and weights": {"path": True, "widths": [5] * 7, "weighted": True, "cross_fit": True},
    "a range of prices, logits pulled back": {"path": True, "weighted": True, "cross_fit": True, "logit_pull": 0.3},
    "a range of prices, columns that fill their vectors": {"path": True, "widths": [1] * 32, "cross_fit": True},
    "settled sets of few columns": {"selected": True, "widths": [4, 3, 3]},
    "settled sets": {"selected": True, "weighted": True, "widths": [1, 5, 2, 9, 1]},
    "settled sets, values and folds": {"selected": True, "target": "values", "folds": True, "batch_size": 150},
    "folds": {"folds": True},
    "folds, two Seeks and a range of prices": {"folds": True, "cross_fit": True, "path": True},
    "all rows": {"batch_size": None},
    "all rows, two Seeks and weights": {"batch_size": None, "cross_fit": True, "weighted": True, "rows": 333},
    "all rows, folds": {"batch_size": None, "folds": True, "path": True},
    "parts": {"batch_size": 1100, "rows": 1400},
    "parts of all rows": {"batch_size": None, "rows": 1400, "widths": [1, 5, 2]},
    "parts of many columns": {"batch_size": None, "rows": 1400, "widths": [1] * 70},
    "parts of values": {"batch_size": None, "rows": 1400, "target": "values", "weighted": True},
    "parts of class probabilities": {"batch_size": 1025, "rows": 1400, "target": "probabilities", "cross_fit": True},
    "parts, logits pulled back": {"batch_size": 1100, "rows": 1400, "path": True, "logit_pull": 0.3},
    "parts of settled sets": {"batch_size": 1100, "rows": 1400, "selected": True},
    "most parts": {"batch_size": None, "rows": 9000, "widths": [3, 1, 1]},
    "parts of many columns, folds": {
        "batch_size": None,
        "rows": 1400,
        "widths": [1] * 70,
        "path": True,
        "folds": True,
        "cross_fit": True,
    },
    "parts of all rows, two Seeks of odd size": {"batch_size": None, "rows": 1734, "cross_fit": True, "path": True},
    "parts of all rows, folds": {"batch_size": None, "rows": 1735, "folds": True, "cross_fit": True, "weighted": True},
}


@pytest.fixture(autouse=True)
def lower_farthest_logit(monkeypatch):
    """Untrained networks have logits near 0."""
    for module in ("hideseek.engine.hideseek", "hideseek.engine.native.steps"):
        monkeypatch.setattr(f"{module}.FARTHEST_LOGIT", 0.0)


needs_library = pytest.mark.skipif(not native_available(), reason="needs the compiled step")


def make_problem(
    *,
    rows=400,
    widths=(1,) * 5,
    outputs=3,
    target="classes",
    weighted=False,
    members=3,
    path=False,
    folds=False,
    selected=False,
    **recipe,
):
    generator = torch.Generator().manual_seed(0)
    columns, features = sum(widths), len(widths)
    X = torch.randn(2, rows, columns, generator=generator)
    targets = {
        "classes": torch.randint(outputs, (2, rows), generator=generator),
        "probabilities": torch.rand(2, rows, outputs, generator=generator).softmax(dim=2),
        "values": X[..., 0] + X[..., 1],
    }
    outputs = 1 if target == "values" else outputs
    weight = 2 * torch.rand(2, rows, generator=generator) if weighted else None
    visible = np.ones((members, features), dtype=bool)
    visible[1:2, 2] = False
    price = np.array([0.02, 0.05, 0.3, 0.1])[:members]
    lowest, fold = price / 50 if path else None, np.arange(members) if folds else None
    group = Members(member_seeds(0, members), price, visible, np.array([1, 0, 1, 0])[:members], lowest, fold)
    recipe = replace(RECIPE, **recipe)
    hide = Mlp((columns, *recipe.hidden_layers, features * (2 if path else 1)))
    seek = Mlp((columns + path, *recipe.hidden_layers, outputs))
    stack, trainable = initial_stack(hide, seek, group, CPU, recipe.n_seeks, Groups.from_widths(widths))
    seeds, table = torch.from_numpy(group.seeds), torch.from_numpy(group.table)
    prices, seen = torch.from_numpy(price).float(), torch.from_numpy(visible).float()
    loss = "squared_error" if target == "values" else "cross_entropy"
    sets = (torch.rand(2, rows, features, generator=generator) < 0.5).to(torch.uint8) if selected else None
    data = Data(X, targets[target], weight, (torch.arange(rows) % 4).expand(2, -1) if folds else None, sets)
    left_out = None if fold is None else torch.from_numpy(fold)
    return Problem(recipe, data, loss, stack, trainable, seeds, table, prices, seen, left_out)


def reference(problem):
    return eager_steps(problem, Marginal(problem.data.columns, problem.table, problem.stack.groups))


def padded(size):
    return -(-size // 16) * 16


def gradients_of(steps):
    """The gradients of a first step, which Adam's means are a tenth of, in the order of the stack's parameters."""
    problem = steps._problem
    means = steps._moments.unflatten(1, (2, -1))[:, 0] / (1 - steps._adam.beta1)
    networks = [problem.stack.hide.sizes, *[problem.stack.seek.sizes] * problem.stack.n_seeks]
    start, layers = 0, []
    for sizes in networks:
        for i, (inputs, outputs) in enumerate(pairwise(sizes)):
            last = i == len(sizes) - 2
            n, width = (outputs, padded(inputs)) if last else (inputs, padded(outputs))
            matrix = means[:, start : start + n * width].unflatten(1, (n, width))
            bias = means[:, start + n * width : start + n * width + outputs]
            matrix = matrix[:, :, :inputs] if last else matrix[:, :, :outputs].transpose(1, 2)
            layers.append(torch.cat((matrix, bias[:, :, None]), dim=2))
            start += n * width + padded(outputs)
    n_layers = len(networks[0]) - 1
    hide, seeks = layers[:n_layers], layers[n_layers:]
    together = [torch.stack(seeks[i::n_layers], dim=1) for i in range(n_layers)]
    return torch.cat([layer.flatten() for layer in (*hide, *together)])


def every_level():
    library = load()
    return range(0 if library is None else library.hideseek_levels())


@needs_library
@pytest.mark.parametrize("level", every_level())
@pytest.mark.parametrize("case", CASES)
def test_gradients_and_losses_are_those_of_the_torch_steps(case, level):
    ours, theirs = make_problem(**CASES[case]), make_problem(**CASES[case])
    with torch.inference_mode():
        steps, expected = native_steps(ours, level=level), reference(theirs)
        steps.run(1)
        expected.run(1)
        gradient = expected._gradients.sum(dim=0)
        gradient *= 1 if theirs.trainable is None else theirs.trainable
        error = 1e-6 * gradient.abs().max().item()
        torch.testing.assert_close(gradients_of(steps), gradient, atol=error, rtol=1e-5)
        torch.testing.assert_close(steps.take_losses(1), expected.take_losses(1), atol=1e-6, rtol=1e-6)
        assert (steps.take_losses(1) == 0).all(), "losses are taken once"


@needs_library
@pytest.mark.parametrize("case", CASES)
def test_steps_stay_those_of_the_torch_path(case):
    # A gradient near 0 may have another sign, and Adam's first steps are as long for it as for any other.
    ours, theirs = make_problem(**CASES[case]), make_problem(**CASES[case])
    with torch.inference_mode():
        steps, expected = native_steps(ours, n_threads=2), reference(theirs)
        for n_steps, share in ((1, 1e-3), (2, 1e-2), (17, 5e-2)):
            steps.run(n_steps)
            expected.run(n_steps)
            far = (ours.stack.parameters - theirs.stack.parameters).abs() > 1e-4
            assert far.float().mean() < share
            torch.testing.assert_close(steps.take_losses(n_steps), expected.take_losses(n_steps), atol=1e-3, rtol=1e-3)
        steps.close()


def after_steps(problem, n_threads=1):
    with torch.inference_mode():
        steps = native_steps(problem, n_threads)
        steps.run(7)
        steps.run(5)
        losses = steps.take_losses(12)
        steps.close()
    return problem.stack.by_member(), losses


@needs_library
@pytest.mark.parametrize("size", [{}, {"rows": 1800, "batch_size": None}])
def test_threads_do_not_change_a_bit(size):
    case = {"cross_fit": True, "weighted": True, "members": 4, **size}
    one, *others = (after_steps(make_problem(**case), n) for n in (1, 2, 3, 8))
    for other in others:
        assert torch.equal(one[0], other[0])
        assert torch.equal(one[1], other[1])


@needs_library
def test_calls_of_few_steps_do_not_change_a_bit(monkeypatch):
    whole = after_steps(make_problem(cross_fit=True))
    monkeypatch.setattr("hideseek.engine.native.steps._MOST_PRODUCTS", 1)
    again = after_steps(make_problem(cross_fit=True))
    assert all(map(torch.equal, whole, again))


@needs_library
def test_a_table_of_columns_does_not_change_a_bit(monkeypatch):
    case = {"rows": 1400, "batch_size": None, "cross_fit": True}
    by_row = after_steps(make_problem(**case))
    monkeypatch.setattr("hideseek.engine.native.steps._NARROW", 0)
    by_column = after_steps(make_problem(**case))
    assert all(map(torch.equal, by_row, by_column))


@needs_library
@pytest.mark.parametrize("n_threads", [2, 3, 5])
def test_a_failed_call_leaves_no_thread_waiting(monkeypatch, n_threads):
    monkeypatch.setattr("hideseek.engine.native.steps._STEPS_OF_A_CALL", 0.0)  # as many turns as it takes
    problem = make_problem(members=4)
    came = []

    class Impatient(Condition):
        def wait_for(self, predicate, timeout=60):
            came.append(super().wait_for(predicate, timeout))

    with torch.inference_mode():
        steps = NativeSteps(problem, n_threads)
        steps._moved, library, failed = Impatient(), steps._library, []

        def fails_once(*arguments):
            if not failed:
                failed.append(arguments)
                raise MemoryError
            library.hideseek_run(*arguments)

        steps._library = SimpleNamespace(hideseek_run=fails_once)
        with pytest.raises(MemoryError):
            steps.run(12)
        steps.close()
    assert came
    assert all(came), "a thread waited for steps that nobody took"


@needs_library
def test_turns_share_out_the_work():
    assert [turns(4, 2, 30), turns(8, 2, 30), turns(3, 3, 30)] == [1, 1, 1]
    assert turns(5, 2, 12) == 2, "five members on two threads: the fifth is trained by both, in turn"
    assert turns(10, 8, 45) == 4
    assert turns(101, 2, 12) == 1, "more calls cost more than they save"
    assert turns(5, 2, 1) == turns(5, 2, 0) == 1


@needs_library
@pytest.mark.parametrize("cross_fit", [False, True])
@pytest.mark.parametrize("size", [{}, {"rows": 1800, "batch_size": None}, {"rows": 5000, "batch_size": None}])
def test_a_member_alone_has_the_bits_that_it_has_in_a_stack(cross_fit, size):
    problem = make_problem(cross_fit=cross_fit, **size)
    recipe = problem.recipe
    visible = problem.visible.bool().numpy()
    members = Members(problem.seeds.numpy(), problem.price.double().numpy(), visible, problem.table.numpy())

    def fit(part):
        return train(recipe, problem.data, members.part(part), loss="cross_entropy", n_outputs=3, device=CPU)

    together, history = fit(slice(None))
    for k in range(3):
        alone, single = fit(slice(k, k + 1))
        assert torch.equal(together.by_member()[k], alone.by_member()[0])
        assert np.array_equal(history.prediction_loss[:, k], single.prediction_loss[:, 0])
        assert np.array_equal(history.mask_sum[:, k], single.mask_sum[:, 0])


@needs_library
def test_columns_that_a_member_does_not_see_stay_out():
    problem = make_problem(cross_fit=True, weight_decay=0.1)
    after_steps(problem)
    hide, seek = problem.stack.matrices(problem.stack.parameters)
    assert (hide[0][1, :, 2] == 0).all()
    assert (seek[0][2:4, :, 2] == 0).all()
    assert (seek[0][[0, 1, 4, 5]] != 0).all()


@needs_library
def test_a_loss_that_is_not_finite_is_seen():
    problem = make_problem()
    problem.stack.matrices(problem.stack.parameters)[1][0][1] = torch.nan
    with torch.inference_mode():
        steps = NativeSteps(problem)
        steps.run(2)
        loss = steps.take_losses(2)[0]
    assert loss.isfinite().tolist() == [True, False, True]


@needs_library
def test_steps_beyond_those_of_the_recipe_are_refused():
    problem = make_problem()
    steps = NativeSteps(problem)
    with pytest.raises(ValueError, match="step 41 is beyond the 40 steps"):
        steps.run(problem.recipe.steps + 1)


@needs_library
def test_it_is_chosen_where_it_fits(monkeypatch):
    def chosen(replacement=None, **case):
        return type(choose_steps(make_problem(**case), replacement, 1))

    assert chosen() is chosen(cross_fit=True) is chosen(batch_size=None) is chosen(batch_size=400) is NativeSteps
    assert chosen(rows=1800, batch_size=None) is chosen(batch_size=1100, rows=1400) is NativeParts
    assert chosen(hidden_layers=()) is chosen(hidden_layers=(4,) * 8) is SmallSteps
    problem = make_problem()
    knockoffs = GaussianKnockoffs.fit(problem.data.columns, [0, 1]).of(problem.table)
    assert chosen(knockoffs) is SmallSteps
    monkeypatch.setenv("HIDESEEK_NATIVE", "0")
    assert not native_available()
    assert chosen() is SmallSteps
    with pytest.raises(RuntimeError, match="HIDESEEK_NATIVE"):
        NativeSteps(problem)


def test_without_the_library_torch_takes_the_steps(monkeypatch, tmp_path):
    monkeypatch.setattr(native.library, "__file__", str(tmp_path / "library.py"))
    assert not native_available()
    steps = choose_steps(make_problem(), None, 1)
    assert isinstance(steps, SmallSteps)


@needs_library
def test_a_library_of_other_sources_is_not_used(monkeypatch, tmp_path):
    folder = Path(native.library.__file__).parent
    for name in [LIBRARY, *(path.name for path in folder.glob("*.[ch]"))]:
        shutil.copyfile(folder / name, tmp_path / name)
    monkeypatch.setattr(native.library, "__file__", str(tmp_path / "library.py"))
    assert native_available()
    (tmp_path / "step.h").write_text("/* another version */")
    native.library._load.cache_clear()
    assert not native_available()


def test_the_build_leaves_the_library_out_where_there_is_no_compiler(monkeypatch, tmp_path):
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.delenv("CC", raising=False)
    with pytest.raises(OSError, match="no C compiler"):
        compile_library(Path(native.library.__file__).parent, tmp_path / LIBRARY)
    assert not (tmp_path / LIBRARY).exists()


def test_the_build_says_in_one_line_that_there_is_no_compiler(tmp_path):
    script = Path(native.library.__file__).parent / "compile.py"
    environment = {name: value for name, value in os.environ.items() if name != "CC"} | {"PATH": str(tmp_path)}
    built = subprocess.run([sys.executable, script], env=environment, capture_output=True, text=True, check=False)
    assert built.returncode == 1
    assert built.stderr.startswith("no C compiler")
    assert built.stderr.count("\n") == 1
