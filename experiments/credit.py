"""Credit default data: Syn1-6 on its correlated columns, AUROC with the real label too, and its correlations.

The split is the same for every seed; the seed redraws the labels and the initialisation. As published, the reported
part is the one called validation. The paper's table has three methods; ours has the others too, with k as on Syn1-6 and
5 where the real label (CDY) leaves it open. INVASE's AUROC is given from the selected features (auroc) and, as
published, from its baseline network on all of them (auroc_all_features).
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from experiments.experiment import Experiment, first_rows
from experiments.figures import beside_paper, new_figure
from experiments.synthetic import LABELS, NAMES, auroc_table, changed, methods, published_auroc, shortened
from hideseek import datasets
from hideseek.benchmark import Config, Results
from hideseek.benchmark.layout import Table
from hideseek.datasets import Dataset, Split

REAL = "CDY"
SEEDS = 20
PENALTIES = [0.02, 0.03, 0.05, 0.1]
"""Of INVASE, from which one is chosen on the part that is not reported; the paper does not say which it used."""
BESIDE = ("balanced", "invase-0.1", "realx-unbiased", "shap", "lime", "l2x", "l2x-one-epoch", "forest", "lasso")
PUBLISHED = "credit.csv"
BOXED = 11
"""Columns that stand for x1 to x11."""


EXPLANATION = """
Hide&Seek on Syn2 and Syn6: the median of 20 runs moves by this much with the seeds taken. Twenty other seeds, in the
table above, are as far from ours as the paper is.

INVASE has ten seeds and chooses its penalty among 0.02, 0.03, 0.05 and 0.1 on rows that are not reported. This grid
was picked after a trial that looked at F1, so it knows something of the truth; the choice within it does not. F1 on
Syn3 goes from {credit/table|invase-0.1|Syn3|f1|ours} with 0.1 (`invase-0.1`) to
{credit/table|invase|Syn3|f1|ours} (paper 99). On Syn2 the rule takes 0.1 in seven seeds of ten, and the median is
{credit/table|invase|Syn2|f1|ours}. The runs that take 0.05 are near the paper on every problem but Syn4: their median
TPR and FDR are 100 and 0 on Syn1 (5 runs; paper 100 and 0), 100 and 0 on Syn2 (2; 100 and 0), 97 and 0 on Syn3 (9; 98
and 0), 81 and 31 on Syn5 (2; 80 and 28), 77 and 38 on Syn6 (6; 73 and 31), and 72 and 32 on Syn4 (1; 58 and 31). On
Syn4-6 single runs differ by up to 30 points. The AUROC of its baseline network, which the penalty does not touch, is
the paper's.

REAL-X as released has ten seeds. Its F1 is within 4.5 points of the paper on all six problems; on Syn2 and Syn3 single
runs differ by much more. Its AUROC is 1.7 to 3.3 points above the paper's everywhere.
"""


NAMES_HERE = {**LABELS, "invase-0.1": "INVASE"}


def credit(name: str, random_state: int = 0, n_rows: int | None = None) -> Split:
    """The clients with the labels of Syn1-6, or with their own; the first rows of each part if a number is given."""
    return first_rows(datasets.load_credit() if name == REAL else datasets.credit_syn(name, random_state), n_rows)


def chosen_methods() -> dict[str, dict[str, Any]]:
    """As published, except that INVASE's penalty, which is not published with the labels of Syn1-6, is chosen.

    "invase-0.1" has the penalty of Syn1-6, and with the real label the published one: see ``as_published``.
    """
    known = methods()
    free = {label: changed(known[label], k=5) for label in ("shap", "lime", "l2x", "l2x-one-epoch", "forest", "lasso")}
    free["l2x-one-epoch"] = changed(free["l2x-one-epoch"], steps=24)
    invase = known["invase"]
    return {
        "paper": changed(known["paper"], penalty=0.1),
        "balanced": known["balanced"],
        "invase": {**invase, "penalties": PENALTIES},
        "invase-0.1": {**invase, "method": "invase", "by_dataset": {**invase["by_dataset"], REAL: {"penalty": 0.05}}},
        "realx": changed(known["realx"], penalty=0.05),
        "realx-unbiased": changed(known["realx-unbiased"], penalty=0.05, activation="selu"),
        **free,
    }


def config(quick: bool = False) -> Config:
    chosen = shortened(chosen_methods()) if quick else chosen_methods()
    if quick:
        chosen["lime"]["rows"] = 1
    size = {"n_rows": 200} if quick else {}
    described = {
        name: {"maker": credit, "parameters": {"name": name, **size}, "test": "validation"} for name in (*NAMES, REAL)
    }
    return Config(chosen, described, name="credit-quick" if quick else "credit", seeds=1 if quick else SEEDS)


def keep(model: Any, test: Dataset, explanation: Any) -> Mapping[str, float]:
    return published_auroc(model, test)


def as_published(results: Results) -> Results:
    """Return the results in which INVASE has the published penalty with the real label, and a chosen one elsewhere."""
    others = [record for record in results if (record["method"], record["dataset"]) != ("invase", REAL)]
    own = [record for record in others if (record["method"], record["dataset"]) == ("invase-0.1", REAL)]
    return Results([*others, *({**record, "method": "invase"} for record in own)], scores=results.scores)


def tables(results: Results) -> Mapping[str, Table]:
    return {"auroc": auroc_table(results)}


def figures(results: Results, path: Path) -> list[Path]:
    scores = beside_paper(results, PUBLISHED, NAMES_HERE, ["f1", "auroc"], path / "scores.png")
    return [scores, correlation(path / "correlation.png")]


def correlation(path: Path) -> Path:
    """The correlation matrix of the 23 columns, with the eleven that make the Syn labels in a box."""
    from matplotlib import colormaps
    from matplotlib.colors import Normalize
    from matplotlib.patches import Rectangle

    split = datasets.load_credit(standardize=False)
    names = split.train.feature_names
    matrix = np.corrcoef(np.concatenate([part.X for part in split]), rowvar=False)
    figure = new_figure(9.5, 8.2)
    axes = figure.add_subplot()
    image = axes.imshow(matrix, cmap=colormaps["RdBu_r"], norm=Normalize(-1, 1))
    labels = [f"{name}  x{j + 1}" if j < BOXED else name for j, name in enumerate(names)]
    axes.set_xticks(range(len(names)), names, rotation=90)
    axes.set_yticks(range(len(names)), labels)
    axes.tick_params(length=0)
    axes.spines[:].set_visible(False)
    for row, column in zip(*np.nonzero(np.abs(matrix) >= 0.05), strict=True):
        value = matrix[row, column]
        text = f"{value:.2f}".replace("0.", ".")
        shade = "white" if abs(value) > 0.6 else "black"
        axes.text(column, row, text, ha="center", va="center", size=7, color=shade)
    axes.add_patch(Rectangle((-0.5, -0.5), BOXED, BOXED, fill=False, edgecolor="black", linewidth=3, clip_on=False))
    figure.colorbar(image, ax=axes, shrink=0.8, label="Pearson correlation (numbers where it is at least 0.05 in size)")
    axes.set_title("Credit default data: the boxed columns stand for x1 to x11, AGE is the switch", loc="left", pad=12)
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, dpi=150)
    return path


EXPERIMENT = Experiment(
    about="Syn1-6 on the correlated columns of the credit data, AUROC with the real label, correlation matrix",
    paper="Tables of the credit data",
    reasons={
        "paper": "Seeds: the medians of 20 other seeds are as far from ours as the paper's.",
        "invase": "The penalty, which the paper does not give: our runs that take 0.05 are within four points of it on "
        "Syn1, Syn2, Syn3 and Syn5, and no run of Syn4 is. The grid was picked after a trial that knew the truth.",
        "realx": "Seeds on Syn2, Syn3 and Syn6, whose single runs differ by more than this; open for AUROC.",
    },
    config=config,
    published=PUBLISHED,
    labels={label: NAMES_HERE[label] for label in chosen_methods()},
    beside=BESIDE,
    figures=figures,
    keep=keep,
    view=as_published,
    means=("auroc", "auroc_all_features"),
    tables=tables,
    explanation=EXPLANATION,
)
