"""The proof of the paper's appendix A as an experiment: a selector and a predictor that talk through the mask.

A switch x_i acts through the cell of a partition in which it lies. The honest pair selects the relevant features, the
switch among them, and predicts from their values. The leaking pair hides the switch wherever it lies in one cell, and
its predictor takes a hidden switch for a sign of that cell. Both pairs are written down here, nothing is trained; the
true probabilities are known, so that the divergence is exact for every row and only rows are drawn.

Where hidden values are zero, the leaking pair has the lower loss, by the price of the switch times the probability of
the cell. It misses the switch as often as the cell is met, and that may be the largest. Where hidden values are drawn
from their columns there is no such sign, and it loses, even with the best predictor that there is for its selector.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import rel_entr

from hideseek.benchmark.layout import Table
from hideseek.datasets import Dataset, make_ice_cream, make_syn
from hideseek.datasets.truth import falling_probability, syn_truth
from hideseek.engine.recipe import PRICE_PER_FEATURE
from hideseek.metrics import switch_accuracy

Floats = NDArray[np.float64]
Predictor = Callable[[Floats], Floats]  # from what is shown of each row to the probability of label one
ABLATED = 0.0
"""The proof's asterisk: a column with a density has this value in no row, so that it says that the value is hidden."""


@dataclass(frozen=True)
class SwitchProblem:
    """Rows with a switch.

    Attributes:
        data: The rows; their relevant features are what the honest selector selects.
        switch: Column of the switch, i.
        cells: A value of the switch in each cell.
        cell_of: From values of the switch to the numbers of their cells.
        truth: P(Y = 1 | X = x), which needs no other values than those of the relevant features.
    """

    data: Dataset
    switch: int
    cells: tuple[float, ...]
    cell_of: Callable[[Floats], NDArray[np.intp]]
    truth: Predictor

    def cell_probabilities(self) -> Floats:
        """How often each cell is met."""
        return np.bincount(self.cell_of(self.data.X[:, self.switch]), minlength=len(self.cells)) / len(self.data.X)

    def truth_in(self, cell: int, z: Floats) -> Floats:
        """P(Y = 1) of rows whose switch is known to lie in a cell, whatever z says of it."""
        told = z.copy()
        told[:, self.switch] = self.cells[cell]
        return self.truth(told)


def leaking_selector(problem: SwitchProblem, cell: int) -> NDArray[np.bool_]:
    """S' of the proof: the relevant features, without the switch where it lies in the cell."""
    selected = np.array(problem.data.relevant)
    selected[problem.cell_of(problem.data.X[:, problem.switch]) == cell, problem.switch] = False
    return selected


def leaking_predictor(problem: SwitchProblem, cell: int) -> Predictor:
    """P' of the proof: takes a hidden switch for a sign of the cell."""

    def predict(z: Floats) -> Floats:
        hidden = z[:, problem.switch] == ABLATED
        return np.where(hidden, problem.truth_in(cell, z), problem.truth(z))

    return predict


def best_predictor_of_marginals(problem: SwitchProblem, cell: int) -> Predictor:
    """P(Y | z) for the leaking selector where hidden values are drawn from their columns, which are independent.

    A switch seen in the cell was replaced, since it is hidden whenever it lies there; the row is one of the cell. Seen
    in another cell, of probability p, it is genuine with weight p, and replaced with weight p times that of the cell.
    """
    share = problem.cell_probabilities()[cell]

    def predict(z: Floats) -> Floats:
        replaced = problem.truth_in(cell, z)
        mixed = (problem.truth(z) + share * replaced) / (1 + share)
        return np.where(problem.cell_of(z[:, problem.switch]) == cell, replaced, mixed)

    return predict


def proxy_loss(
    problem: SwitchProblem, selected: NDArray[np.bool_], predictor: Predictor, hidden: Floats | float, price: float
) -> float:
    """The mean divergence of the prediction from the truth, and the price of what is selected (the proof's l_Z).

    The predictor sees x where it is selected, and elsewhere ``hidden``: ``ABLATED``, or a draw of x_hat.
    """
    X = problem.data.X
    true, predicted = problem.truth(X), predictor(np.where(selected, X, hidden))
    divergence = rel_entr(true, predicted) + rel_entr(1 - true, 1 - predicted)
    return float(divergence.mean() + price * selected.sum(axis=1).mean())


def facts(problem: SwitchProblem, price: float = PRICE_PER_FEATURE, random_state: int = 0) -> dict[str, Any]:
    """The losses of both pairs under both replacements, and how often the leaking one misses the switch."""
    X, cells = problem.data.X, problem.cell_probabilities()
    cell = int(cells.argmax())
    honest, leaking = np.array(problem.data.relevant), leaking_selector(problem, cell)
    pair, best = leaking_predictor(problem, cell), best_predictor_of_marginals(problem, cell)
    rows = np.random.default_rng(random_state).integers(len(X), size=X.shape)
    x_hat = np.take_along_axis(X, rows, axis=0)
    return {
        "problem": problem.data.name,
        "zeros: honest": proxy_loss(problem, honest, problem.truth, ABLATED, price),
        "zeros: leaking": proxy_loss(problem, leaking, pair, ABLATED, price),
        "switch missed, %": 100 - switch_accuracy(leaking, problem.switch),
        "largest cell, %": float(100 * cells.max()),
        "marginal: honest": proxy_loss(problem, honest, problem.truth, x_hat, price),
        "marginal: leaking": proxy_loss(problem, leaking, pair, x_hat, price),
        "marginal: leaking, best predictor": proxy_loss(problem, leaking, best, x_hat, price),
    }


def syn(name: str, n_samples: int = 10_000, random_state: int = 0) -> SwitchProblem:
    """Syn4, Syn5 or Syn6, whose x11 has two cells."""
    data = make_syn(name, n_samples, random_state=random_state)
    return SwitchProblem(
        data, 10, (-1.0, 1.0), lambda x: (x >= 0).astype(np.intp), lambda z: falling_probability(syn_truth(name, z)[0])
    )


def ice_cream(n_samples: int = 10_000, random_state: int = 0) -> SwitchProblem:
    """Ice cream is sold at 25 degrees and more: a switch that decides the label directly."""
    data = make_ice_cream(n_samples, random_state=random_state)
    return SwitchProblem(
        data, 0, (20.0, 30.0), lambda x: (x >= 25).astype(np.intp), lambda z: (z[:, 0] >= 25).astype(np.float64)
    )


def leakage_table(n_samples: int = 10_000) -> Table:
    """The facts for the paper's problems with a switch."""
    lines = [facts(problem) for problem in (*(syn(f"Syn{i}", n_samples) for i in (4, 5, 6)), ice_cream(n_samples))]
    return Table(tuple(lines[0]), lines)
