"""Scores of selections and predictions, and their summaries over seeds. Arrays in, numbers out."""

from __future__ import annotations

from hideseek.metrics._audit import Audit, Estimate, audit
from hideseek.metrics._fidelity import Fidelity, answer_fidelity, compare_fidelity, fidelity
from hideseek.metrics._prediction import auroc
from hideseek.metrics._seeds import PairedComparison, SeedSummary, compare_seeds, summarize_seeds
from hideseek.metrics._selection import (
    RowScores,
    SelectionScores,
    row_scores,
    selection_scores,
    switch_accuracy,
    top_k,
)
from hideseek.metrics.patches import best_patches, patch_scores

__all__ = [
    "Audit",
    "Estimate",
    "Fidelity",
    "PairedComparison",
    "RowScores",
    "SeedSummary",
    "SelectionScores",
    "answer_fidelity",
    "audit",
    "auroc",
    "best_patches",
    "compare_fidelity",
    "compare_seeds",
    "fidelity",
    "patch_scores",
    "row_scores",
    "selection_scores",
    "summarize_seeds",
    "switch_accuracy",
    "top_k",
]
