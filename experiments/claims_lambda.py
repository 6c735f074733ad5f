"""The claims of the paper's appendix on the penalty lambda, for Hide&Seek, INVASE and REAL-X.

Numbers are those of the stored table of ``lambda``: means over Syn1-6, medians over seeds. A claim on a method whose
runs over lambda are not stored counts as not tested.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from math import inf
from statistics import mean

from experiments.claims import Claim, Finding, Stored
from experiments.penalty import METHODS, N_FEATURES, N_RELEVANT, PENALTIES, label

__all__ = ["CLAIMS"]

RELEVANT = 100 * N_RELEVANT / N_FEATURES
"""The share of the features that are relevant, in percent."""

HIGH, STRONG = 0.8, 0.7
"""From where on an AUROC counts as high, and a correlation as strong."""

SHOWN = (0.15, 0.45, 0.95)
"""Penalties at which REAL-X's AUROC is given: its own of Syn1-6, and two that the paper names."""

NEAR, LOW = 0.01, 10
"""How near to the highest AUROC counts as high, and how many points below the highest F1 count as low."""


def course(stored: Stored, method: str, score: str) -> dict[float, float]:
    """Return the stored medians of a score by penalty."""
    lines = {
        (line["method"], line["score"]): float(line["median"]) for line in stored.table("lambda") if line["median"]
    }
    found = {penalty: lines.get((label(method, penalty), score)) for penalty in PENALTIES}
    return {penalty: value for penalty, value in found.items() if value is not None}


def correlation(first: Sequence[float], second: Sequence[float]) -> float:
    """Return Pearson's correlation."""
    over_a, over_b = ([value - mean(values) for value in values] for values in (first, second))
    together = sum(a * b for a, b in zip(over_a, over_b, strict=True))
    return together / (sum(a * a for a in over_a) * sum(b * b for b in over_b)) ** 0.5


def n_seeds(stored: Stored, *methods: str) -> str:
    """Return how many seeds are stored of each method."""
    said = []
    for method in methods:
        counts = [stored.n_seeds("lambda", label(method, penalty), "Syn1") for penalty in PENALTIES]
        said.append(f"{METHODS[method][0]} {min(filter(None, counts), default=0)}")
    return "; ".join(said)


def sensitivity(stored: Stored) -> Finding:
    f1 = list(course(stored, "paper", "f1").values())
    scores = {score: list(course(stored, "paper", score).values()) for score in ("auroc", "auprc")}
    high = {score: sum(value > HIGH for value in values) for score, values in scores.items()}
    together = {score: correlation(values, f1) for score, values in scores.items()}
    return Finding(
        [
            *(high[score] >= len(f1) - 2 for score in scores),
            *(value > STRONG for value in together.values()),
            *(max(values) > values[0] for values in scores.values()),
        ],
        f"AUROC over {HIGH} at {high['auroc']} of {len(f1)} penalties from 0 to 1.5, AUPRC at {high['auprc']}; "
        f"correlation with F1 {together['auroc']:.2f} and {together['auprc']:.2f}; from lambda 0 to the best, AUROC "
        f"rises from {scores['auroc'][0]:.3f} to {max(scores['auroc']):.3f}, AUPRC from {scores['auprc'][0]:.3f} to "
        f"{max(scores['auprc']):.3f}",
        n_seeds(stored, "paper"),
        ["lambda"],
    )


def too_few(stored: Stored, method: str) -> Finding:
    """Compare the penalties from which on less than half as many features are selected as are relevant."""
    name, first = METHODS[method][0], {}
    for each in ("paper", method):
        shares = course(stored, each, "share_selected")
        first[each] = next((penalty for penalty, share in shares.items() if share < RELEVANT / 2), inf)
    if not course(stored, method, "share_selected"):
        return Finding([], f"{name} is not run over lambda", "-", ["lambda"])
    said = [
        f"{METHODS[each][0]} " + (f"{penalty:g}" if penalty < inf else "none up to 1.5")
        for each, penalty in first.items()
    ]
    return Finding(
        [first[method] < first["paper"]],
        f"first lambda with less than half of the relevant share ({RELEVANT:.0f} % of the features) selected: "
        + ", ".join(said),
        n_seeds(stored, "paper", method),
        ["lambda"],
    )


def realx(stored: Stored) -> Finding:
    courses = {score: course(stored, "realx", score) for score in ("auroc", "auprc", "share_selected")}
    if not courses["auroc"]:
        return Finding([], "REAL-X is not run over lambda", "-", ["lambda"])
    most = max(courses["share_selected"], key=courses["share_selected"].__getitem__)
    best = {score: max(courses[score], key=courses[score].__getitem__) for score in ("auroc", "auprc")}
    some = [penalty for penalty in SHOWN if penalty in courses["auroc"]]
    return Finding(
        [best[score] == most for score in best],
        f"highest AUROC {courses['auroc'][best['auroc']]:.3f} at lambda {best['auroc']:g}, AUPRC "
        f"{courses['auprc'][best['auprc']]:.3f} at {best['auprc']:g}, most features at {most:g}; AUROC "
        + ", ".join(f"{courses['auroc'][penalty]:.3f} at {penalty:g}" for penalty in some),
        n_seeds(stored, "realx"),
        ["lambda"],
    )


def invase(stored: Stored) -> Finding:
    f1 = course(stored, "invase", "f1")
    if not f1:
        return Finding([], "INVASE is not run over lambda", "-", ["lambda"])
    checks, said = [], []
    for score, name in (("auroc_all_features", "its network of all features"), ("auroc", "its critic")):
        values = course(stored, "invase", score)
        lowest = min(f1[p] for p, value in values.items() if value >= max(values.values()) - NEAR)
        checks.append(lowest < max(f1.values()) - LOW)
        said.append(f"{name} {lowest:.1f}")
    return Finding(
        checks,
        f"lowest F1 where AUROC is within {NEAR:g} of its highest: {', '.join(said)}; highest F1 "
        f"{max(f1.values()):.1f}. The first network does not see the selection: its AUROC is the same at every lambda",
        n_seeds(stored, "invase"),
        ["lambda"],
    )


CLAIMS = (
    Claim("D.3", "Hide&Seek is robust to lambda: AUROC over 0.8 at almost all values, in step with F1, and higher than "
          "without a penalty; AUPRC alike", sensitivity),
    Claim("D.3", "INVASE selects too few features from a smaller lambda on than Hide&Seek",
          partial(too_few, method="invase")),
    Claim("D.3", "REAL-X selects too few features from a smaller lambda on than Hide&Seek",
          partial(too_few, method="realx")),
    Claim("D.3", "REAL-X predicts best where it has the most features", realx),
    Claim("D.3", "INVASE has a high AUROC where its F1 is low", invase),
)  # fmt: skip
