"""Which rows of files a model was fitted on."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["FittedFiles"]


@dataclass(frozen=True)
class FittedFiles:
    """Which rows a model was fitted on by ``fit_files``.

    Attributes:
        n_files: Files that were read.
        n_rows: Rows in them that have a target and no weight of 0.
        n_used: Rows of the sample that the model was fitted on.
        class_counts: Rows of each class among ``n_rows``, in the order of ``classes_``; None for a regressor.
    """

    n_files: int
    n_rows: int
    n_used: int
    class_counts: tuple[int, ...] | None = None

    def __str__(self) -> str:
        return f"{self.n_used:,} of {self.n_rows:,} rows in {self.n_files:,} files"
