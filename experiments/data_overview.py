"""Print what every dataset looks like, and draw the correlations of the credit data.

Run it with ``python -m experiments.data_overview``; the figure goes to ``experiments/runs/credit_correlation.png``.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import matplotlib
import numpy as np
from matplotlib.colors import Normalize
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle

from hideseek import datasets
from hideseek.datasets import Dataset

FIGURE = Path(__file__).parent / "runs" / "credit_correlation.png"
BOXED = 11
SYN = [f"Syn{i}" for i in range(1, 7)]


def generated() -> Iterator[Dataset]:
    yield from map(datasets.make_syn, SYN)
    yield datasets.make_cafe()
    yield datasets.make_ice_cream()
    yield datasets.make_switch()
    yield datasets.make_multiclass()
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


def draw_credit_correlation(path: Path) -> None:
    """The correlation matrix of the 23 columns, with the eleven that make the Syn labels in a box."""
    split = datasets.load_credit(standardize=False)
    names = split.train.feature_names
    correlation = np.corrcoef(np.concatenate([part.X for part in split]), rowvar=False)
    figure = Figure(figsize=(9.5, 8.2), layout="constrained")
    axes = figure.add_subplot()
    image = axes.imshow(correlation, cmap=matplotlib.colormaps["RdBu_r"], norm=Normalize(-1, 1))
    labels = [f"{name}  x{j + 1}" if j < BOXED else name for j, name in enumerate(names)]
    axes.set_xticks(range(len(names)), names, rotation=90)
    axes.set_yticks(range(len(names)), labels)
    axes.tick_params(length=0)
    axes.spines[:].set_visible(False)
    for row, column in zip(*np.nonzero(np.abs(correlation) >= 0.05), strict=True):
        value = correlation[row, column]
        text = f"{value:.2f}".replace("0.", ".")
        shade = "white" if abs(value) > 0.6 else "black"
        axes.text(column, row, text, ha="center", va="center", size=7, color=shade)
    axes.add_patch(Rectangle((-0.5, -0.5), BOXED, BOXED, fill=False, edgecolor="black", linewidth=3, clip_on=False))
    figure.colorbar(image, ax=axes, shrink=0.8, label="Pearson correlation (numbers where it is at least 0.05 in size)")
    axes.set_title("Credit default data: the boxed columns stand for x1 to x11, AGE is the switch", loc="left", pad=12)
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, dpi=150)


def main() -> None:
    print(f"{'dataset':<20}{'shape':<15}{'split':<21}{'label':<46}relevant features per row")
    for data in generated():
        print(describe([data]))
    for split in loaded():
        print(describe(list(split)))
    draw_credit_correlation(FIGURE)
    print(f"\nCredit correlations: {FIGURE}")


if __name__ == "__main__":
    main()
