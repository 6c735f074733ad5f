"""Breast cancer: gene expression of tumours and their molecular subtype."""

from __future__ import annotations

import csv
import io

import numpy as np
from numpy.typing import NDArray
from sklearn.model_selection import GroupShuffleSplit, train_test_split

from hideseek.datasets._dataset import Split
from hideseek.datasets._files import PublishedFile, read_published
from hideseek.datasets._parts import RawTable, Rows, divide

__all__ = ["load_brca"]

_FILE = PublishedFile(
    path="brca/brca_small.csv",
    sha256="6b56f6729bafb640a72439f5d558ac03f4e07a5c9cca4aab689a0a8e3500609f",
    url="https://raw.githubusercontent.com/iancovert/removal-explanations/"
    "6c342c0e88b159485a72eabdef8331810db297c1/data/brca_small.csv",
)
_PART = 100
"""Rows of the test part and of the validation part."""


def load_brca(*, by_patient: bool = False, standardize: bool = True, as_frame: bool = False) -> Split:
    """Load the breast cancer data: 572 samples, 100 genes, four subtypes with 105, 49, 304 and 114 samples.

    The split is the paper's: 372, 100 and 100 rows. It is one of samples, not of patients: 62 of the 510 patients have
    two samples, always of the same subtype, and 20 test rows belong to a patient who is also in train. A model that
    recognises patients gets a score there that is too high; ``by_patient`` keeps every patient in one part.

    The file does not say what the codes 0 to 3 mean. Alphabetical order would make them Basal, Her2, LumA and LumB,
    which the expression of ESR1 agrees with.

    Provenance: The Cancer Genome Atlas, reduced to 100 genes by the authors of "Explaining by removing", from their
    repository. Licence: MIT according to its ``setup.py``; the open data of the atlas have terms of their own.

    Citation: I. Covert, S. Lundberg and S.-I. Lee, "Explaining by removing: a unified framework for model explanation",
    JMLR 22(209), 1-90, 2021; The Cancer Genome Atlas Network, "Comprehensive molecular portraits of human breast
    tumours", Nature 490, 61-70, 2012.

    Args:
        by_patient: Divide patients instead of samples, in the same proportions; parts differ by a few rows from 100.
        standardize: Give every column mean 0 and standard deviation 1 on the training rows.
        as_frame: Return X as a pandas frame and y as a series, indexed by the patient's barcode, which may occur twice.

    Example:
        >>> from hideseek.datasets import load_brca
        >>> split = load_brca()
        >>> split.train.X.shape, split.test.X.shape
        ((372, 100), (100, 100))
    """
    header, *records = csv.reader(io.StringIO(read_published(_FILE).decode()))
    cells = np.array(records)
    patients, y = cells[:, 0], cells[:, -1].astype(np.int64)
    name = "BRCA by patient" if by_patient else "BRCA"
    table = RawTable(name, cells[:, 1:-1].astype(np.float64), y, tuple(header[1:-1]), header[-1], patients)
    rows = _rows_by_patient(patients) if by_patient else _rows(len(y))
    return divide(table, rows, standardize=standardize, as_frame=as_frame)


def _rows(n_rows: int) -> Rows:
    rest, test = train_test_split(np.arange(n_rows), test_size=_PART, random_state=0)
    train, validation = train_test_split(rest, test_size=_PART, random_state=1)
    return train, validation, test


def _rows_by_patient(patients: NDArray[np.str_]) -> Rows:
    """Return the same split by patient: the same two steps with the same seeds, each on shares of the patients."""
    every = np.arange(len(patients))
    rest, test = _take(every, patients, seed=0)
    train, validation = _take(rest, patients[rest], seed=1)
    return train, validation, test


def _take(rows: NDArray[np.intp], patients: NDArray[np.str_], seed: int) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    splitter = GroupShuffleSplit(n_splits=1, test_size=_PART / len(rows), random_state=seed)
    kept, taken = next(splitter.split(rows, groups=patients))
    return rows[kept], rows[taken]
