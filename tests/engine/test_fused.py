import os
from dataclasses import replace

import numpy as np
import pytest
import torch

if not torch.cuda.is_available():
    os.environ["TRITON_INTERPRET"] = "1"  # read when a kernel is defined
pytest.importorskip("triton", reason="needs triton, which runs GPU kernels on a CPU too, slowly")

from triton.language import float16, float32
from triton.runtime.errors import OutOfResources

from hideseek.engine import kernels
from hideseek.engine.draws import Stream, member_seeds, step_keys
from hideseek.engine.eager import eager_steps
from hideseek.engine.fused import FusedMarginal, TooSmallCardError, fused_steps, pays
from hideseek.engine.groups import Groups
from hideseek.engine.networks import Mlp
from hideseek.engine.recipe import Recipe
from hideseek.engine.replacement import Marginal
from hideseek.engine.stack import Data, Members, initial_stack
from hideseek.engine.steps import Problem

DEVICE = torch.device("cuda" if torch.cuda.is_available() else "cpu")
CHECK = (float16, 1, 2.0**-11) if DEVICE.type == "cuda" else (float32, 1, 1e-6)
WAYS = [(float16, 4, 2.0**-11), CHECK]
"""Factors, how many tiles are chunks of their own, and the error that is allowed."""
CASES = {
    "full batch": {},
    "drawn batch": {"batch_size": 50},
    "regression": {"target": "values", "outputs": 1},
    "odd widths and weights": {"hidden": (20, 24), "weighted": True},
    "many columns, classes and chunks": {"columns": 20, "outputs": 5, "rows": 150},
    "class probabilities": {"target": "probabilities", "batch_size": 40},
    "two Seeks": {"cross_fit": True, "batch_size": 60},
    "two Seeks, full batch": {"cross_fit": True, "weighted": True, "rows": 61},
    "folds": {"folds": True},
    "range of prices": {"path": True, "batch_size": 50},
    "groups": {"groups": (1, 3, 2), "columns": 6, "batch_size": 50},
    "the default": {
        "path": True,
        "cross_fit": True,
        "folds": True,
        "batch_size": 48,
        "groups": (2, 1, 5, 9),
        "columns": 17,
    },
    "many units": {"columns": 50, "hidden": (64, 40), "path": True, "cross_fit": True, "batch_size": 40},
    "wide layers": {"columns": 70, "hidden": (32, 20), "path": True, "cross_fit": True, "batch_size": 80},
    "settled features": {"settled": True, "batch_size": 50},
    "settled features of the default": {
        "settled": True,
        "folds": True,
        "weighted": True,
        "groups": (2, 1, 5),
        "columns": 8,
        "batch_size": 48,
    },
    "everything": {
        "columns": 9,
        "groups": (4, 1, 4),
        "path": True,
        "cross_fit": True,
        "folds": True,
        "weighted": True,
        "target": "probabilities",
        "batch_size": 140,
        "rows": 300,
    },
}


@pytest.fixture(autouse=True)
def lower_farthest_logit(monkeypatch):
    """Untrained networks have logits near 0."""
    for module in ("hideseek.engine.hideseek", "hideseek.engine.fused"):
        monkeypatch.setattr(f"{module}.FARTHEST_LOGIT", 0.0)


def make_problem(
    *,
    rows=70,
    columns=5,
    outputs=3,
    hidden=(32, 32),
    batch_size=None,
    target="numbers",
    weighted=False,
    cross_fit=False,
    path=False,
    folds=False,
    groups=None,
    settled=False,
) -> Problem:
    generator = torch.Generator().manual_seed(0)
    X = torch.randn(2, rows, columns, generator=generator)
    targets = {
        "values": X[..., 0],
        "numbers": torch.randint(outputs, (2, rows), generator=generator),
        "probabilities": torch.rand(2, rows, outputs, generator=generator).softmax(dim=2),
    }
    weight = 2 * torch.rand(2, rows, generator=generator) if weighted else None
    visible = np.ones((3, columns if groups is None else len(groups)), dtype=bool)
    visible[1, 2] = False
    price, fold = np.array([0.02, 0.05, 1e-9]), np.arange(3) if folds else None
    lowest = price / 50 if path else None
    members = Members(member_seeds(0, 3), price, visible, np.array([1, 0, 1]), lowest, fold)
    group = Groups.from_widths(groups, DEVICE)
    hide = Mlp((columns, *((1,) if settled else hidden), visible.shape[1] * (1 + path)))
    stack, trainable = initial_stack(
        hide, Mlp((columns + path, *hidden, outputs)), members, DEVICE, 1 + cross_fit, group
    )
    seeds, table, price, visible = (
        torch.from_numpy(part).to(DEVICE) for part in (members.seeds, members.table, members.price, visible)
    )
    how = {"batch_size": batch_size, "hidden_layers": hidden, "cross_fit": cross_fit, "logit_pull": 0.3}
    recipe = Recipe(steps=6, learning_rate=1e-2, **how)
    of_row = (torch.arange(rows) % 5).expand(2, -1) if folds else None
    shown = torch.rand(2, rows, visible.shape[1], generator=generator) < 0.5 if settled else None
    selected = None if shown is None else shown.to(torch.uint8)
    data = Data(X, targets[target], weight, of_row, selected).to(DEVICE)
    left_out = None if fold is None else torch.from_numpy(fold).to(DEVICE)
    loss = "squared_error" if target == "values" else "cross_entropy"
    return Problem(recipe, data, loss, stack, trainable, seeds, table, price.float(), visible.float(), left_out)


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize(("factors", "alone", "error"), WAYS)
def test_the_kernel_takes_the_steps_of_the_eager_path(case, factors, alone, error, monkeypatch):
    monkeypatch.setattr("hideseek.engine.fused._CHUNK_ROWS", 80)
    monkeypatch.setattr("hideseek.engine.fused._FACTORS", factors)
    monkeypatch.setattr("hideseek.engine.fused._ALONE", alone)
    fused, eager = make_problem(**CASES[case]), make_problem(**CASES[case])
    with torch.inference_mode():
        steps, reference = (
            fused_steps(fused),
            eager_steps(eager, Marginal(eager.data.columns, eager.table, eager.stack.groups)),
        )
        steps.run(1)
        reference.run(1)
        gradient, expected = (one._gradients.sum(dim=0) * fused.trainable for one in (steps, reference))
        torch.testing.assert_close(gradient, expected, atol=error * expected.abs().max().item(), rtol=0)
        steps.run(1)
        reference.run(1)
        torch.testing.assert_close(steps.take_losses(2), reference.take_losses(2), atol=1e-3, rtol=1e-3)
    if factors == float32:
        # Adam magnifies rounding errors where a gradient is nearly zero; a wrong sign would make 2e-2.
        torch.testing.assert_close(fused.stack.parameters, eager.stack.parameters, atol=2e-3, rtol=0)


def hide_gradients(problem):
    """Return the gradient of Hide of the kernel's first step, and of the eager path's."""
    with torch.inference_mode():
        steps = fused_steps(problem), eager_steps(problem, Marginal(problem.data.columns, problem.table))
        gradients = []
        for each in steps:
            parameters = problem.stack.parameters.clone()
            each.run(1)
            problem.stack.parameters.copy_(parameters)
            hide, _ = problem.stack.matrices(each._gradients.sum(dim=0) * problem.trainable)
            gradients.append(torch.cat([part.flatten() for part in hide]))
        return gradients


def test_the_kernel_learns_from_masks_that_are_nearly_one():
    problem = make_problem()
    with torch.inference_mode():
        *_, last = problem.stack.matrices(problem.stack.parameters)[0]
        last[:, :, -1] = 12  # a slope of 6e-6
        gradient, expected = hide_gradients(problem)
    assert (gradient - expected).norm() < 0.01 * expected.norm()


def test_a_slope_beyond_half_precision_is_cut():
    problem = make_problem(target="values", outputs=1)
    problem = replace(problem, data=replace(problem.data, target=problem.data.target.clone()))
    problem.data.target[:, 0] = 1e5
    gradient, expected = hide_gradients(problem)
    assert gradient.isfinite().all()
    assert torch.nn.functional.cosine_similarity(gradient, expected, dim=0) > 0.9


def test_draws_are_the_same_cell_by_cell():
    X, table = torch.randn(3, 7, 500, device=DEVICE), torch.tensor([2, 0, 1, 1], device=DEVICE)
    keys = step_keys(np.arange(4), Stream.REPLACEMENT, 5, 7).flatten(0, 1).to(DEVICE)
    x = torch.empty(8, 7, 300, device=DEVICE)
    assert torch.equal(FusedMarginal(X, table).draw(keys, x), Marginal(X, table).draw(keys, x))
    some = slice(1, 3)
    parts = [kind(X, table).part(some).draw(keys[some], x[some]) for kind in (FusedMarginal, Marginal)]
    assert torch.equal(*parts)


def test_a_smaller_card_gets_smaller_tiles(monkeypatch):
    kernel, limit = kernels.gradient, [48]

    class Card:
        def __getitem__(self, grid):
            def launch(**arguments):
                if arguments["TILE"] > limit[0]:
                    raise OutOfResources(2, 1, "shared memory")
                return kernel[grid](**arguments)

            return launch

    monkeypatch.setattr(kernels, "gradient", Card())
    with torch.inference_mode():
        steps = fused_steps(make_problem())
        assert (steps.take_losses(1) == 0).all(), "the trial leaves no trace"
        steps.run(1)
        small = steps.take_losses(1)
        limit[0] = 64
        steps = fused_steps(make_problem())
        steps.run(1)
        torch.testing.assert_close(small, steps.take_losses(1))
        limit[0] = 8
        with pytest.raises(TooSmallCardError):
            fused_steps(make_problem())


def test_it_is_used_where_it_pays(monkeypatch):
    problem = make_problem()
    assert not pays(problem), "a small fit is over before the kernel is compiled"
    monkeypatch.setattr("hideseek.engine.fused._WORTH_COMPILING", 0)
    assert pays(problem)
    for groups, hidden in (((2,) * 63, (32, 32)), ((2,) * 31, (64, 64))):
        n_columns = sum(groups)
        assert pays(
            make_problem(columns=n_columns, hidden=hidden, path=True, cross_fit=True, folds=True, groups=groups)
        )
    for case in (
        {"hidden": (65, 64)},
        {"hidden": (33, 32), "columns": 64},
        {"hidden": (8,)},
        {"columns": 128},
        {"columns": 127, "path": True},
        {"outputs": 65},
    ):
        assert not pays(make_problem(**case))
