"""Leakage on tables of a few bits, where every selector can be tried and nothing is estimated.

A selector names a set of columns for every row. Its intended loss is the cross-entropy of P(Y | x_S), which knows the
values of the named columns alone, and the price of what is named. Its proxy loss is that of the best predictor that
sees z: the named values, and in place of the others a mark (ablation), draws from their columns (marginal), or draws
given the named values (conditional). Where the best proxy loss is below the best intended loss, selector and predictor
share something that the named values do not say: the mask has become a message.

Two of the problems are those of which Jethani et al. proved that joint training leaks: a label that is encoded in the
mask (appendix A.1, first scenario; here the parity of two bits) and a tree whose leaves use different columns (second
scenario). The third is the direct switch. The conditional draws are those of appendix A.3, with columns that depend.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hideseek.benchmark.layout import Table

Floats = NDArray[np.float64]
Selector = tuple[int, ...]
"""For every row the number of a set of columns; its binary digits say which."""

HIDDEN = 2
"""What stands for a hidden value where hidden values are marked."""

PRICE = 0.02
REPLACEMENTS = ("ablation", "marginal", "conditional")


@dataclass(frozen=True)
class Bits:
    """All rows of a few bits.

    Attributes:
        name: Of the problem.
        rows: Every combination of the bits. Shape: ``(rows, columns)``.
        weight: P(X = x).
        chance: P(Y = 1 | X = x).
        looks_at: The columns that a selector may look at; trying all selectors of all columns can be too much.
    """

    name: str
    rows: NDArray[np.intp]
    weight: Floats
    chance: Floats
    looks_at: tuple[int, ...]

    def selectors(self) -> Iterator[Selector]:
        """Yield every selector that looks at those columns."""
        sets, seen = range(2 ** self.rows.shape[1]), self.rows[:, self.looks_at]
        patterns, which = np.unique(seen, axis=0, return_inverse=True)
        for choice in product(sets, repeat=len(patterns)):
            yield tuple(choice[i] for i in which)

    def columns(self, number: int) -> list[int]:
        """Return the columns of a set."""
        return [j for j in range(self.rows.shape[1]) if number >> j & 1]


def bits(
    name: str, truth: Callable[[Any], float], n_columns: int, dependence: float, looks_at: tuple[int, ...]
) -> Bits:
    """Return a problem whose columns repeat a common hidden bit with the given dependence; 0: they are independent."""
    rows = np.array(list(product((0, 1), repeat=n_columns)))
    same = (1 + dependence) / 2
    weight = sum(0.5 * np.where(rows == common, same, 1 - same).prod(axis=1) for common in (0, 1))
    return Bits(name, rows, np.asarray(weight), np.array([truth(row) for row in rows], dtype=float), looks_at)


def problems(dependence: float) -> list[Bits]:
    """Return the parity of two bits, the direct switch beside a second bit, and the tree."""
    return [
        bits("label in the mask", lambda x: float(x[0] ^ x[1]), 2, dependence, (0, 1)),
        bits("direct switch", lambda x: 0.1 + 0.8 * x[0], 2, dependence, (0, 1)),
        bits("tree", lambda x: 0.1 + 0.8 * (x[2] if x[0] else x[1]), 3, dependence, (0,)),
    ]


def intended_loss(problem: Bits, selector: Selector, price: float = PRICE) -> float:
    """Return the cross-entropy of P(Y | x_S) and the price of S."""
    total = 0.0
    for row, number in enumerate(selector):
        alike = _alike(problem, row, problem.columns(number))
        predicted = problem.weight[alike] @ problem.chance[alike] / problem.weight[alike].sum()
        total += problem.weight[row] * _cross_entropy(problem.chance[row], predicted)
    return total + price * _size(problem, selector)


def proxy_loss(problem: Bits, selector: Selector, replacement: str, price: float = PRICE) -> float:
    """Return the cross-entropy of the best predictor that sees z, and the price of S."""
    met, ones = seen(problem, selector, replacement)
    loss = sum(met[z] * _cross_entropy(ones[z] / met[z], ones[z] / met[z]) for z in met)
    return float(loss + price * _size(problem, selector))


def seen(problem: Bits, selector: Selector, replacement: str) -> tuple[dict[Any, float], dict[Any, float]]:
    """Return P(Z = z) and P(Z = z, Y = 1)."""
    met: dict[Any, float] = {}
    ones: dict[Any, float] = {}
    for row, number in enumerate(selector):
        for z, chance in _shown(problem, row, problem.columns(number), replacement):
            weight = problem.weight[row] * chance
            met[z] = met.get(z, 0.0) + weight
            ones[z] = ones.get(z, 0.0) + weight * problem.chance[row]
    return met, ones


def distance(problem: Bits, selector: Selector, replacement: str) -> float:
    """Return the total variation between z and x: 0 where the predictor cannot tell them apart."""
    met, _ = seen(problem, selector, replacement)
    own = {tuple(row): weight for row, weight in zip(problem.rows.tolist(), problem.weight, strict=True)}
    return sum(abs(met.get(z, 0.0) - own.get(z, 0.0)) for z in {*met, *own}) / 2


def facts(problem: Bits) -> list[dict[str, Any]]:
    """Return for each replacement the best selector of the proxy loss, beside that of the intended loss."""
    every = list(problem.selectors())
    intended = np.array([intended_loss(problem, each) for each in every])
    best = every[int(intended.argmin())]
    lines = []
    for replacement in REPLACEMENTS:
        proxy = np.array([proxy_loss(problem, each, replacement) for each in every])
        found = every[int(proxy.argmin())]
        line: dict[str, Any] = {"problem": problem.name, "replacement": replacement, "selectors": len(every)}
        line |= {"intended, best": float(intended.min()), "proxy, best": float(proxy.min())}
        line["gained by leaking"] = max(0.0, float(intended.min() - proxy.min()))
        line |= {"named, intended": _size(problem, best), "named, proxy": _size(problem, found)}
        fixed = [(number,) * len(problem.rows) for number in range(2 ** problem.rows.shape[1])]
        line["z from x, fixed sets"] = max(distance(problem, each, replacement) for each in fixed)
        line["z from x, best selector"] = distance(problem, found, replacement)
        # Sums of a few products are exact to about 1e-16; what is smaller than 1e-12 is none.
        lines.append({name: round(value, 12) if isinstance(value, float) else value for name, value in line.items()})
    return lines


def exact_table(dependences: Mapping[str, float] | None = None) -> Table:
    """Return the facts of all problems with independent and with dependent columns."""
    lines = [
        {"columns": label, **line}
        for label, dependence in (dependences or {"independent": 0.0, "dependent": 0.6}).items()
        for problem in problems(dependence)
        for line in facts(problem)
    ]
    return Table(tuple(lines[0]), lines)


def _shown(problem: Bits, row: int, named: list[int], replacement: str) -> list[tuple[tuple[int, ...], float]]:
    """Return what the predictor may see of a row, with probabilities."""
    own = problem.rows[row].tolist()
    if replacement == "ablation":
        return [(tuple(value if j in named else HIDDEN for j, value in enumerate(own)), 1.0)]
    if replacement == "conditional":
        alike = _alike(problem, row, named)
        shares = problem.weight[alike] / problem.weight[alike].sum()
        return [(tuple(z), share) for z, share in zip(problem.rows[alike].tolist(), shares, strict=True)]
    ones = problem.weight @ problem.rows  # P(x_j = 1)
    alike = _alike(problem, row, named)
    hidden = [j for j in range(len(own)) if j not in named]
    shares = np.where(problem.rows[alike], ones, 1 - ones)[:, hidden].prod(axis=1)
    return [(tuple(z), share) for z, share in zip(problem.rows[alike].tolist(), shares, strict=True)]


def _alike(problem: Bits, row: int, named: list[int]) -> NDArray[np.bool_]:
    return (problem.rows[:, named] == problem.rows[row, named]).all(axis=1)


def _size(problem: Bits, selector: Selector) -> float:
    return float(problem.weight @ [number.bit_count() for number in selector])


def _cross_entropy(true: float, predicted: float) -> float:
    """Return the cross-entropy of two chances of label one, in nats; 0 log 0 is 0."""
    terms = ((true, predicted), (1 - true, 1 - predicted))
    return float(-sum(p * (np.log(q) if q > 0 else -np.inf) for p, q in terms if p > 1e-15))
