"""Terms of one, two or three columns, and how far the target goes with each of them.

The score of a term f is |sum_i r_i f_i| over its standard deviation if r and f were independent, sqrt(mean(r^2) *
sum_i (f_i - mean(f))^2); r is the target without its mean, times the weight of the row. All tables here have their
columns before their rows, and are standardised.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import torch
from torch import Tensor

__all__ = ["Pairs", "Term", "modifier_scores", "pair_scores", "score", "single_scores"]

_BLOCK_CELLS = 2**24
_BLOCK_COLUMNS = 1024
_PARTNERS = 3


class Term(NamedTuple):
    """A column, its square or a product of two columns, each times further columns that modify it."""

    columns: tuple[int, ...]
    squared: bool = False

    def values(self, Z: Tensor) -> Tensor:
        """Shape: ``Z (columns, rows)`` -> ``(rows,)``."""
        return Z[self.columns[0]].square() if self.squared else Z[list(self.columns)].prod(dim=0)


def score(products: Tensor, terms: Tensor, residual: Tensor) -> Tensor:
    """Return sums over rows as scores. Shape: ``products (terms,)``, ``terms (terms, rows)``, ``residual (rows,)``."""
    spread = terms.var(dim=1, correction=0) * terms.shape[1] * residual.square().mean()
    return products.abs() / spread.clamp(min=1e-12).sqrt()


def column_blocks(Z: Tensor) -> Iterator[slice]:
    """Return slices of columns, so that what is computed from them stays small."""
    size = max(1, min(_BLOCK_COLUMNS, _BLOCK_CELLS // Z.shape[1]))
    for start in range(0, len(Z), size):
        yield slice(start, min(start + size, len(Z)))


def single_scores(Z: Tensor, residual: Tensor) -> tuple[Tensor, Tensor]:
    """Return the scores of every column and of its square. Shape: ``Z (columns, rows)`` -> ``(columns,)`` each."""
    plain, squares = Z.new_zeros(len(Z)), Z.new_zeros(len(Z))
    for columns in column_blocks(Z):
        for out, terms in ((plain, Z[columns]), (squares, Z[columns].square())):
            out[columns] = score(terms @ residual, terms, residual)
    return plain, squares


class Pairs(NamedTuple):
    """For every column the few products with another column that go with the target most.

    Shape: ``partner (columns, few)``, ``score (columns, few)``.
    """

    partner: Tensor
    score: Tensor


def pair_scores(Z: Tensor, residual: Tensor) -> Pairs:
    """Return the best partners of every column.

    Products of all pairs are one matrix product, of which blocks above the diagonal are computed, and of those the
    largest are kept. Their exact spread is looked at only then: it is the same for all pairs of independent columns.
    """
    n_columns = len(Z)
    n_best = min(_PARTNERS, n_columns - 1)
    size = Z.new_zeros(n_columns, n_best)
    partner = torch.zeros(n_columns, n_best, dtype=torch.int64)
    for rows in column_blocks(Z):
        products = ((Z[rows] * residual) @ Z[rows.start :].t()).abs_()
        n_rows = len(products)
        products[:, :n_rows].triu_(diagonal=1)
        _merge(size[rows.start :], partner[rows.start :], products.t(), rows.start)
        _merge(size[rows], partner[rows], products, rows.start)
    scores = Z.new_zeros(n_columns, n_best)
    for rows in column_blocks(Z):
        for i in range(n_best):
            terms = Z[rows] * Z[partner[rows, i]]
            scores[rows, i] = score(terms @ residual, terms, residual)
    return Pairs(partner, scores)


def _merge(size: Tensor, partner: Tensor, products: Tensor, first: int) -> None:
    """Let larger products replace smaller ones. Shape: ``products (columns, partners)``, counted from ``first``."""
    largest, position = products.topk(min(size.shape[1], products.shape[1]), dim=1)
    all_sizes = torch.cat((size, largest), dim=1)
    all_partners = torch.cat((partner, position + first), dim=1)
    size[:], order = all_sizes.topk(size.shape[1], dim=1)
    partner[:] = all_partners.gather(1, order)


def modifier_scores(Z: Tensor, residual: Tensor, terms: Tensor) -> Tensor:
    """Return how far every column, or its sign, changes how the target depends on each term.

    Shape: ``terms (terms, rows)`` -> ``(terms, columns)``.
    """
    change = terms * residual
    change -= change.mean(dim=1, keepdim=True)
    change /= change.square().sum(dim=1, keepdim=True).clamp(min=1e-12).sqrt()
    scores = Z.new_zeros(len(terms), len(Z))
    for columns in column_blocks(Z):
        for modifier in (Z[columns], Z[columns].sign()):
            spread = modifier.std(dim=1, correction=0).clamp(min=1e-6)
            scores[:, columns] = torch.maximum(scores[:, columns], (change @ modifier.t()).abs() / spread)
    return scores
