"""Screening: which columns of a table could matter at all, before any network is trained.

A column is worth keeping if the target goes with it, with its square, or with its product with another column; and if
it changes how the target goes with one of these terms, as a switch does. Every term is a sum over rows that is about
normal if the target does not depend on it, so that there is a level that chance rarely reaches, however many there are.
Of few columns the pieces of each and the products of three are terms as well. What no term shows, such as a product of
four columns without a trace in fewer, is not found.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import comb
from statistics import NormalDist
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from hideseek.blocks import row_blocks
from hideseek.engine.scaling import Scaler
from hideseek.frames import FrameLibrary, make_frame
from hideseek.search.terms import Term, modifier_scores, pair_scores, piece_scores, single_scores, triple_scores
from hideseek.wording import column_names

__all__ = ["REASONS", "Screening", "residuals_of", "screen"]

_FALSE_ALARMS = 0.1
"""Columns that may be kept by chance, in the mean, for each kind of term."""

_FARTHEST = 5.0
"""Standard deviations beyond which a value counts as that far: sums of products are then close to normal."""

REASONS = ("alone", "squared", "product", "modifier", "constant", "pieces")
"""What can speak for a column, or against it."""

_WIDE = 2000
"""Columns from which on products are computed in half precision."""

_CLOSE, _CLOSE_ROWS = 32, 20_000
"""Columns up to which pieces of a column and products of three are looked at as well, and on how many rows."""

_ROUNDS = 3
_MOST_TERMS = 200


@dataclass(frozen=True)
class Screening:
    """Which columns the networks were given, and why.

    Attributes:
        score: The largest score of a term with the column, as a multiple of what chance rarely reaches: columns over 1
            are kept. Shape: ``(columns,)``.
        kept: Shape: ``(columns,)``, bool.
        reason: For each column "alone", "squared", "pieces", "product" or "modifier": the term that the score is of;
            "constant": there is none.
        others: The other columns of that term; -1: none. Shape: ``(columns, 2)``.

    Example:
        >>> from hideseek import HideSeekClassifier
        >>> from hideseek.datasets import make_syn
        >>> data = make_syn("Syn1", n_samples=2000, n_features=50, random_state=0)
        >>> model = HideSeekClassifier("fast", screening=True, random_state=0).fit(data.X, data.y)
        >>> print(model.screening_.why(0))
        x1 * x2
    """

    score: NDArray[np.float32]
    kept: NDArray[np.bool_]
    reason: NDArray[np.str_]
    others: NDArray[np.int64]

    def by_feature(self, widths: Sequence[int]) -> Screening:
        """Return the same for features of so many columns each, with the score of a feature's best column."""
        feature = np.repeat(np.arange(len(widths)), widths)
        starts = np.cumsum([0, *widths[:-1]])
        best = np.array(
            [start + np.argmax(self.score[start : start + n]) for start, n in zip(starts, widths, strict=True)]
        )
        others = np.where(self.others[best] >= 0, feature[self.others[best]], -1)
        return Screening(self.score[best], np.logical_or.reduceat(self.kept, starts), self.reason[best], others)

    def limited(self, fewest: int, most: int) -> Screening:
        """Return the same with at least ``fewest`` and at most ``most`` columns kept, the best ones that vary."""
        varies = self.reason != "constant"
        order = np.argsort(np.where(varies, -self.score, np.inf), kind="stable")
        n_kept = min(max(int(self.kept.sum()), min(fewest, int(varies.sum()))), most)
        kept = np.zeros_like(self.kept)
        kept[order[:n_kept]] = True
        return replace(self, kept=kept)

    def why(self, column: int, feature_names: Sequence[str] | None = None) -> str:
        """Return the term with the largest score of the column, in words."""
        names = column_names(feature_names, len(self.kept))
        own, reason = names[column], str(self.reason[column])
        others = [names[j] for j in self.others[column] if j >= 0]
        texts = {
            "alone": own,
            "squared": f"{own} squared",
            "pieces": f"{own} in pieces",
            "product": f"{own} * {' * '.join(others)}",
            "modifier": f"changes {' * '.join(others)}",
        }
        return texts.get(reason, reason)

    def to_frame(self, feature_names: Sequence[str] | None = None, library: FrameLibrary = "pandas") -> Any:
        """Return one line per column: feature, score, kept, why."""
        names = column_names(feature_names, len(self.kept))
        columns: dict[str, Any] = {
            "feature": names,
            "score": self.score,
            "kept": self.kept,
            "why": [self.why(j, names) for j in range(len(names))],
        }
        return make_frame(columns, library)

    def __repr__(self) -> str:
        return f"Screening: {int(self.kept.sum()):,} of {len(self.kept):,} columns kept"


def residuals_of(target: NDArray[Any], n_outputs: int, weight: NDArray[np.float64] | None) -> NDArray[np.float32]:
    """Return what terms are correlated with: the target without its mean, times the row's weight.

    Values count by their rank, so that a few wild ones do not drown the others.
    Shape: class numbers ``(rows,)`` int, class probabilities ``(rows, classes)`` or values ``(rows,)`` -> for more than
    two classes one line for each, ``(classes, rows)``, else ``(1, rows)``.
    """
    if np.issubdtype(target.dtype, np.integer):
        target = np.eye(n_outputs)[target]
    lines = _normal_scores(target)[None] if target.ndim == 1 else target.T[1:] if target.shape[1] == 2 else target.T
    share = np.full(lines.shape[1], 1 / lines.shape[1]) if weight is None else weight / weight.sum()
    centred = lines - (lines @ share)[:, None]
    weighted = centred * share * lines.shape[1]
    return np.asarray(weighted - weighted.mean(axis=1, keepdims=True), dtype=np.float32)


def _normal_scores(values: NDArray[Any]) -> NDArray[np.float64]:
    """Return the normal scores of the values, by rank; equal values have equal scores."""
    _, position, counts = np.unique(values, return_inverse=True, return_counts=True)
    share_below = (np.cumsum(counts) - counts / 2) / len(values)
    return np.asarray(torch.special.ndtri(torch.from_numpy(share_below)).numpy()[position])


def screen(
    X: NDArray[np.floating],
    scaler: Scaler,
    residuals: NDArray[np.float32],
    *,
    widths: Sequence[int] | None = None,
    fewest: int = 0,
    most: int | None = None,
    device: torch.device | None = None,
) -> Screening:
    """Score every column and keep those that chance does not explain.

    Args:
        X: Raw columns. Shape: ``(rows, columns)``.
        scaler: What standardises them.
        residuals: Of ``residuals_of``. Shape: ``(targets, rows)``.
        widths: Number of columns of each feature, which has the score of its best column; None: one each.
        fewest: Keep the best features up to this many, whatever their score.
        most: Keep the best ones up to this many and no more.
        device: Where to compute; the CPU if not given, or if the table does not fit there.
    """
    Z, varies = _standardised(X, scaler, device)
    record = _Record(len(Z))
    for residual in torch.from_numpy(residuals).to(Z.device):
        _score_columns(record, Z, residual, len(residuals))
    reason = np.where(varies.numpy(), np.array(REASONS)[record.reason.numpy()], "constant")
    score, others = record.score.numpy(), record.others.numpy()
    by_column = Screening(score, (score > 1) & varies.numpy(), reason, others)
    found = by_column if widths is None else by_column.by_feature(widths)
    return found.limited(fewest, len(found.kept) if most is None else most)


def _standardised(X: NDArray[np.floating], scaler: Scaler, device: torch.device | None) -> tuple[Tensor, Tensor]:
    """Return the columns, without far values, and which of them vary. Shape: ``(columns, rows)``, ``(columns,)``."""
    device = _device_for(X.size, device)
    dtype = _dtype_for(X.shape[1], device)
    Z = torch.empty(X.shape[1], len(X), dtype=dtype, device=device)
    varies = torch.empty(X.shape[1], dtype=torch.bool)
    for columns in row_blocks(X.shape[1], len(X)):
        numbers = np.arange(columns.start, columns.stop)
        block = torch.from_numpy(scaler.of(numbers).transform(X[:, columns])).t().contiguous()
        block.clamp_(-_FARTHEST, _FARTHEST)
        block -= block.mean(dim=1, keepdim=True)
        spread = torch.linalg.vector_norm(block, dim=1, keepdim=True) / len(X) ** 0.5
        varies[columns] = spread[:, 0] > 1e-6
        Z[columns] = (block / spread.clamp(min=1e-6)).to(dtype)
    return Z, varies


def _device_for(n_cells: int, device: torch.device | None) -> torch.device:
    """Return the GPU if the table fits there with room for what is computed from it, else the CPU."""
    if device is None or device.type != "cuda":
        return torch.device("cpu")
    free, _ = torch.cuda.mem_get_info(device)
    return device if 2 * n_cells * torch.bfloat16.itemsize < free else torch.device("cpu")


def _dtype_for(n_columns: int, device: torch.device) -> torch.dtype:
    """Return half precision for wide tables where the processor multiplies it faster.

    It moves a score by less than 0.01, and halves the time and the memory of the products of all pairs.
    """
    multiplies_halves = device.type == "cuda" or getattr(torch.cpu, "_is_avx512_bf16_supported", bool)()
    return torch.bfloat16 if n_columns >= _WIDE and multiplies_halves else torch.float32


class _Record:
    """The best term of every column so far."""

    def __init__(self, n_columns: int) -> None:
        self.score = torch.zeros(n_columns)
        self.reason = torch.zeros(n_columns, dtype=torch.int64)
        self.others = torch.full((n_columns, 2), -1)

    def add(self, score: Tensor, reason: str, others: Tensor | None = None) -> None:
        """Take these scores where they are larger. Shape: ``score (columns,)``, ``others (columns, 1 or 2)``."""
        better = score > self.score
        self.score = torch.where(better, score, self.score)
        self.reason[better] = REASONS.index(reason)
        self.others[better] = -1
        if others is not None:
            self.others[better, : others.shape[1]] = others[better]


def _score_columns(record: _Record, Z: Tensor, residual: Tensor, n_targets: int) -> None:
    """Return the scores of one target, as multiples of what chance reaches with probability ``_FALSE_ALARMS``."""
    n_columns = len(Z)
    level_alone, level_pair = (
        _level(n_targets * n_tests) for n_tests in (2 * n_columns, max(1, n_columns * (n_columns - 1) // 2))
    )
    found: dict[Term, float] = {}
    for reason, scores in zip(("alone", "squared"), single_scores(Z, residual), strict=True):
        relative = scores.cpu() / level_alone
        record.add(relative, reason)
        for j in torch.nonzero(relative > 1)[:, 0].tolist():
            found[Term((j,), squared=reason == "squared")] = float(relative[j])
    if n_columns > 1:
        pairs = pair_scores(Z, residual)
        relative, partner = pairs.score.cpu() / level_pair, pairs.partner.cpu()
        for i in range(relative.shape[1]):
            record.add(relative[:, i], "product", partner[:, i : i + 1])
        for j, i in torch.nonzero(relative > 1).tolist():
            other = int(partner[j, i])
            found[Term((min(j, other), max(j, other)))] = float(relative[j, i])
    if n_columns <= _CLOSE:
        _add_close(record, Z, residual, n_targets)
    _add_modifiers(record, Z, residual, n_targets, found)


def _add_close(record: _Record, Z: Tensor, residual: Tensor, n_targets: int) -> None:
    """Add columns that go with the target in pieces, in whatever way, or as a product of three."""
    every, n_columns = -(-Z.shape[1] // _CLOSE_ROWS), len(Z)
    Z, residual = Z[:, ::every], residual[::every] - residual[::every].mean()
    record.add(piece_scores(Z, residual).cpu() / _level(n_targets * n_columns), "pieces")
    if n_columns > 2:
        triples = triple_scores(Z, residual)
        record.add(triples.score.cpu() / _level(n_targets * comb(n_columns, 3)), "product", triples.others.cpu())


def _add_modifiers(record: _Record, Z: Tensor, residual: Tensor, n_targets: int, found: dict[Term, float]) -> None:
    """Add columns that change how the target depends on a term: switches. Their product with it is a term again."""
    tried: set[Term] = set()
    for _ in range(_ROUNDS):
        terms = sorted((term for term in found if term not in tried), key=lambda term: -found[term])[:_MOST_TERMS]
        if not terms:
            return
        tried.update(terms)
        values = torch.stack([term.values(Z) for term in terms])
        scores = modifier_scores(Z, residual, values).cpu() / _level(n_targets * 2 * len(terms) * len(Z))
        for i, term in enumerate(terms):
            scores[i, list(term.columns)] = 0
            others = torch.tensor(term.columns[:2]).expand(len(Z), -1)
            new = torch.nonzero((scores[i] > 1) & (record.score <= 1))[:, 0].tolist()
            record.add(scores[i], "modifier", others)
            if not term.squared and len(term.columns) == 1:
                found.update({Term((*term.columns, k)): float(scores[i, k]) for k in new})


def _level(n_tests: int) -> float:
    """Return what the largest of so many independent standard normal scores reaches with small probability."""
    return -NormalDist().inv_cdf(_FALSE_ALARMS / (2 * n_tests))
