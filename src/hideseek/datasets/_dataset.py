"""The types that generators and loaders return."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

__all__ = ["Dataset", "Split"]


@dataclass(frozen=True, eq=False)
class Dataset:
    """Rows, labels and, where it is known, which features decide the label of each row.

    Attributes:
        name: The name of the dataset in tables and figures.
        X: The features. Shape: ``(rows, features)``. A pandas frame if loaded with ``as_frame=True``, or if
            columns are of several kinds.
        y: One label per row: a class, or a real number in regression. A pandas series with ``as_frame=True``.
        feature_names: One per column of X.
        relevant: True where a feature decides the label of that row. Shape: ``(rows, features)``. None for real labels.
        probability: P(y = 1) for each row; with more than two classes ``(rows, classes)``. None if it is not known,
            and in regression.

    Example:
        >>> from hideseek.datasets import make_syn
        >>> data = make_syn("Syn1", n_samples=100)
        >>> data
        Dataset(name='Syn1')
        >>> data.X.shape, data.y.shape, data.relevant.shape, data.probability.shape
        ((100, 11), (100,), (100, 11), (100,))
    """

    name: str
    X: NDArray[np.float64] = field(repr=False)
    y: NDArray[np.int64] | NDArray[np.float64] = field(repr=False)
    feature_names: tuple[str, ...] = field(repr=False)
    relevant: NDArray[np.bool_] | None = field(default=None, repr=False)
    probability: NDArray[np.float64] | None = field(default=None, repr=False)


@dataclass(frozen=True, eq=False)
class Split:
    """A dataset in three parts; iterating yields them in this order.

    Attributes:
        train: Rows to fit on. Their means and standard deviations standardise all three parts.
        validation: Rows to choose settings on.
        test: Rows to report on.

    Example:
        >>> from hideseek.datasets import load_credit
        >>> train, validation, test = load_credit()
        >>> train.X.shape, validation.X.shape, test.X.shape
        ((24000, 23), (3000, 23), (3000, 23))
    """

    train: Dataset
    validation: Dataset
    test: Dataset

    def __iter__(self) -> Iterator[Dataset]:
        yield from (self.train, self.validation, self.test)
