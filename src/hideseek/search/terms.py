"""Terms of one, two or three columns, and how far the target goes with each of them.

The score of a term f is |sum_i r_i f_i| over its standard deviation if r and f were independent, sqrt(mean(r^2) *
sum_i (f_i - mean(f))^2); r is the target without its mean, times the weight of the row. All tables here have their
columns before their rows, and are standardised. They may be of half precision: scores are computed in float32.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import torch
from torch import Tensor

__all__ = [
    "Pairs",
    "Term",
    "Triples",
    "modifier_scores",
    "pair_scores",
    "piece_scores",
    "score",
    "single_scores",
    "triple_scores",
]

_BLOCK_CELLS = 2**24
_BLOCK_COLUMNS, _PAIRED_COLUMNS = 128, 256
"""Columns of a block, and of one that is only multiplied with others, which needs less memory."""

_PARTNERS = 3

_PIECES = 8
"""Parts of a column with about equally many rows each, in which the target may be larger or smaller."""


class Term(NamedTuple):
    """A column, its square or a product of two columns, each times further columns that modify it."""

    columns: tuple[int, ...]
    squared: bool = False

    def values(self, Z: Tensor) -> Tensor:
        """Shape: ``Z (columns, rows)`` -> ``(rows,)``."""
        factors = Z[list(self.columns)].float()
        return factors[0].square() if self.squared else factors.prod(dim=0)


def score(products: Tensor, terms: Tensor, residual: Tensor) -> Tensor:
    """Return sums over rows as scores. Shape: ``products (terms,)``, ``terms (terms, rows)``, ``residual (rows,)``."""
    spread = _squares(terms) * residual.square().mean()
    return products.abs() / spread.clamp(min=1e-12).sqrt()


def _squares(values: Tensor) -> Tensor:
    """Return sums of squared distances to the mean; faster than ``var``. Shape: ``(n, rows)`` -> ``(n,)``."""
    norms: Tensor = torch.linalg.vector_norm(values, dim=1)
    return norms.square() - values.shape[1] * values.mean(dim=1).square()


def column_blocks(Z: Tensor, first: int = 0, most: int | None = None) -> Iterator[slice]:
    """Return slices of columns from the first on, so that what is computed from them stays small."""
    size = max(1, min(most or _BLOCK_COLUMNS, _BLOCK_CELLS // Z.shape[1]))
    for start in range(first, len(Z), size):
        yield slice(start, min(start + size, len(Z)))


def single_scores(Z: Tensor, residual: Tensor) -> tuple[Tensor, Tensor]:
    """Return the scores of every column and of its square. Shape: ``Z (columns, rows)`` -> ``(columns,)`` each."""
    plain, squares = residual.new_zeros(2, len(Z))
    for columns in column_blocks(Z):
        block = Z[columns].float()
        for out, terms in ((plain, block), (squares, block.square())):
            out[columns] = score(terms @ residual, terms, residual)
    return plain, squares


def piece_scores(Z: Tensor, residual: Tensor) -> Tensor:
    """Return how far the target differs between pieces of each column, in whatever way it goes with the column.

    The squared sums over the pieces have a chi-squared distribution by chance; its cube root is about normal (Wilson
    and Hilferty, 1931). Equal values are in one piece. Shape: ``Z (columns, rows)`` -> ``(columns,)``.
    """
    scores = residual.new_zeros(len(Z))
    shares = torch.arange(1, _PIECES, device=Z.device) / _PIECES
    for columns in column_blocks(Z):
        block = Z[columns].float().contiguous()
        ordered = block.sort(dim=1).values
        ends = ordered[:, (shares * block.shape[1]).long()].contiguous()
        piece = torch.searchsorted(ends, block, right=True)
        sums, counts = (
            block.new_zeros(len(block), _PIECES).scatter_add_(1, piece, values.expand_as(block))
            for values in (residual, torch.ones_like(residual))
        )
        squares = (sums.square() / counts.clamp(min=1)).sum(dim=1) / residual.square().mean()
        freedom = ((counts > 0).sum(dim=1) - 1).clamp(min=1).float()
        error = 2 / (9 * freedom)
        scores[columns] = ((squares / freedom).pow(1 / 3) - 1 + error) / error.sqrt()
    return scores


class Triples(NamedTuple):
    """For every column the product with two others that goes with the target most.

    Shape: ``others (columns, 2)``, ``score (columns,)``.
    """

    others: Tensor
    score: Tensor


def triple_scores(Z: Tensor, residual: Tensor) -> Triples:
    """Return the best product of each column with two others."""
    best, others = residual.new_zeros(len(Z)), torch.zeros(len(Z), 2, dtype=torch.int64, device=Z.device)
    numbers, Z, n_rows = torch.arange(len(Z), device=Z.device), Z.float(), Z.shape[1]
    for pairs in torch.split(torch.combinations(numbers, 2), max(1, _BLOCK_CELLS // n_rows)):
        product = Z[pairs[:, 0]] * Z[pairs[:, 1]]
        squares = product.square() @ Z.square().t() - (product @ Z.t()).square() / n_rows
        scores = ((product * residual) @ Z.t()).abs() / (squares * residual.square().mean()).clamp(min=1e-12).sqrt()
        scores[(numbers == pairs[:, :1]) | (numbers == pairs[:, 1:])] = 0.0
        largest, where = scores.max(dim=0)
        better = largest > best
        best, others = torch.where(better, largest, best), torch.where(better[:, None], pairs[where], others)
    return Triples(others, best)


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
    partner = torch.zeros(n_columns, n_best, dtype=torch.int64, device=Z.device)
    for rows in column_blocks(Z, most=_PAIRED_COLUMNS):
        weighted = Z[rows] * residual.to(Z.dtype)
        for others in column_blocks(Z, rows.start, _PAIRED_COLUMNS):
            products = (weighted @ Z[others].t()).abs_()
            if others == rows:
                products.triu_(diagonal=1)
            _merge(size[others], partner[others], products.t(), rows.start)
            _merge(size[rows], partner[rows], products, others.start)
    scores = residual.new_zeros(n_columns, n_best)
    for rows in column_blocks(Z):
        block = Z[rows].float()
        for i in range(n_best):
            terms = block * Z[partner[rows, i]]
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
    scores = residual.new_zeros(len(terms), len(Z))
    for columns in column_blocks(Z):
        block = Z[columns].float()
        for modifier in (block, block.sign()):
            spread = (_squares(modifier) / modifier.shape[1]).clamp(min=1e-12).sqrt()
            scores[:, columns] = torch.maximum(scores[:, columns], (change @ modifier.t()).abs() / spread)
    return scores
