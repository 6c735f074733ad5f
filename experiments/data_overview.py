"""Print what every dataset looks like, and draw the correlations of the credit data.

Run it with ``python -m experiments.data_overview``; the figure goes to ``experiments/runs/credit_correlation.png``.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np

from experiments.credit import correlation
from hideseek import datasets
from hideseek.datasets import Dataset

FIGURE = Path(__file__).parent / "runs" / "credit_correlation.png"
SYN = [f"Syn{i}" for i in range(1, 7)]


def generated() -> Iterator[Dataset]:
    yield from map(datasets.make_syn, SYN)
    yield datasets.make_cafe()
    yield datasets.make_ice_cream()
    yield datasets.make_switch()
    yield datasets.make_multiclass()
    yield from map(datasets.make_mixed, SYN[3:])
    yield from map(datasets.make_syn_regression, SYN)


def loaded() -> Iterator[datasets.Split]:
    yield datasets.load_credit()
    yield from map(datasets.credit_syn, SYN)
    yield datasets.load_california()
    yield from map(datasets.california_switch, ("released", "paper"))
    yield datasets.load_mnist_3_8()
    yield datasets.load_brca()
    yield datasets.load_brca(by_patient=True)


def describe(parts: list[Dataset]) -> str:
    """One line: shape, rows of each part, balance of the label, how many features are relevant in a row."""
    y = np.concatenate([part.y for part in parts])
    if y.dtype.kind == "f":
        balance = f"real, {y.mean():.2f} +- {y.std():.2f}"
    else:
        classes, counts = np.unique(y, return_counts=True)
        balance = "  ".join(
            f"{label}: {100 * count / len(y):.1f} %" for label, count in zip(classes, counts, strict=True)
        )
    shape = f"{len(y):,} x {len(parts[0].feature_names)}"
    split = "/".join(f"{len(part.y):,}" for part in parts) if len(parts) > 1 else ""
    return f"{parts[0].name:<20}{shape:<15}{split:<21}{balance:<46}{truth(parts)}"


def truth(parts: list[Dataset]) -> str:
    """The sizes of the true sets, each with its share of the rows."""
    if parts[0].relevant is None:
        return "not known"
    sizes, counts = np.unique(np.concatenate([part.relevant.sum(axis=1) for part in parts]), return_counts=True)
    return "  ".join(f"{size}: {100 * count / counts.sum():.0f} %" for size, count in zip(sizes, counts, strict=True))


def main() -> None:
    print(f"{'dataset':<20}{'shape':<15}{'split':<21}{'label':<46}relevant features per row")
    for data in generated():
        print(describe([data]))
    for split in loaded():
        print(describe(list(split)))
    correlation(FIGURE)
    print(f"\nCredit correlations: {FIGURE}")


if __name__ == "__main__":
    main()
