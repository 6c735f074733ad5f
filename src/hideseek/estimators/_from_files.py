"""Fitting on files of any size."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Self

from sklearn.base import is_classifier

from hideseek.estimators._base import BaseHideSeek
from hideseek.estimators._fitted_files import FittedFiles
from hideseek.estimators._parameters import draw_seed

if TYPE_CHECKING:
    from hideseek.scoring import Source

__all__ = ["FromFiles"]


class FromFiles(BaseHideSeek):
    """An estimator that can be fitted on files."""

    fitted_files_: FittedFiles

    def fit_files(
        self,
        source: Source,
        target: str,
        *,
        sample_weight: str | None = None,
        drop: Sequence[str] = (),
        n_rows: int | None = None,
        progress: bool = True,
    ) -> Self:
        """Learn which features decide, from the rows of one or many files, in bounded memory.

        One pass over the files draws a random sample of their rows, and the model is fitted on the sample as by
        ``fit``. How many rows there were and how many were used is ``fitted_files_``. More rows than the default hardly
        change the answer (``experiments/results/rows/README.md``). The sample depends on ``random_state`` and on the
        rows, not on the order of files; nor on the order of rows or on the file that each is in, unless some rows are
        equal.
        Needs pyarrow (``hideseek[files]``).

        Args:
            source: A Parquet, CSV or Arrow file, a folder of such files at any depth, a pattern such as
                ``"in/*.parquet"``, or a list of files, all with the same columns. Folders such as "year=2024" are
                columns.
            target: The column to predict. Rows without it are left out, with a warning.
            sample_weight: The column that says how much each row counts.
            drop: Columns that are not to be learned from, such as ids.
            n_rows: How many rows to draw; None: 300,000, and fewer of a table of more than 223 columns, so that they
                fit in memory. A class with fewer than 100 rows among them has rows added, up to 100 or to all that
                there are. There may be up to 1,000 classes.
            progress: Show a progress bar, on a terminal.

        Returns:
            The fitted estimator.

        Raises:
            HideSeekError: A file cannot be read, or has other columns than the others; the message names it.
        """
        from hideseek.scoring import sample_files  # a room above this one, entered only when asked for

        self._check_parameters()
        classifies = bool(is_classifier(self))
        sample = sample_files(
            source,
            target,
            n_rows=n_rows,
            sample_weight=sample_weight,
            drop=drop,
            task="classification" if classifies else "regression",
            seed=draw_seed(self.random_state),
            progress=progress,
        )
        self.fit(sample.X, sample.y, sample.sample_weight)
        self.target_name_ = target
        self.fitted_files_ = sample.fitted_files(len(sample))
        return self
