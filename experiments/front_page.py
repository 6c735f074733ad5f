"""The front page of the report: one line per table or figure of the paper."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from experiments.experiment import Experiment, Lines

__all__ = ["POINTS", "Line", "front_page", "line_of", "number", "points", "reason_for"]

POINTS = 3.0
"""A number within so many percentage points of the paper's counts as reproduced."""

SCALES = {"auroc": 100.0, "accuracy": 100.0, "r2": 100.0}
"""What turns a score into percent, where it is a share."""

COMPARED = ("invase", "realx", "l2x", "shap", "lime", "forest", "lasso")
"""How the labels of the methods begin that the paper compares Hide&Seek with."""

NAMES = {
    "paper": "Hide&Seek",
    "paper-0.5": "Hide&Seek, lambda 0.5",
    "ensemble": "Hide&Seek, ensemble",
    "reference_knockoff": "Hide&Seek, deep knockoffs",
    "invase": "INVASE",
    "realx": "REAL-X",
    "l2x": "L2X",
    "l2x-one-epoch": "L2X",
    "shap": "SHAP",
    "lime": "LIME",
}
"""What the front page calls a method, where that is not its label."""

NOT_SETTLED = "not settled"
OPEN = "Open"
"""How a reason begins that does not explain the difference."""


@dataclass(frozen=True)
class Line:
    """What the front page says of an experiment.

    Attributes:
        name: The experiment's.
        link: To its page.
        paper: What of the paper it repeats; empty: it is not in the paper.
        about: What it shows.
        counts: Numbers of Hide&Seek, then of the compared methods: reproduced, compared, not run.
        largest: The largest differences, or a sentence where no single numbers are compared.
        reason: Why they differ.
        n_open: How many numbers differ without a settled reason.
    """

    name: str
    link: str
    paper: str
    about: str
    counts: tuple[tuple[int, int, int], tuple[int, int, int]]
    largest: str
    reason: str
    n_open: int = 0

    def with_reason(self, reason: str) -> Line:
        """Return the same line with another reason."""
        return replace(self, reason=reason)

    def cells(self) -> list[str]:
        """Return the cells of the table on the front page."""
        what = f"{self.paper} ([{self.name}]({self.link}))"
        return [what, *map(_count, self.counts), self.largest or f"none over {POINTS:g} points", self.reason or "-"]


def front_page(lines: Sequence[Line], written: str, note: str) -> str:
    """Return the whole page.

    Args:
        lines: Of all experiments.
        written: When and with what.
        note: What a reader has to know about all numbers.
    """
    in_paper = [line for line in lines if line.paper]
    totals = [_count(tuple(sum(line.counts[i][k] for line in in_paper) for k in range(3))) for i in (0, 1)]
    n_apart = sum(compared - same for line in in_paper for same, compared, _ in line.counts)
    n_open = sum(line.n_open for line in in_paper)
    head = ("in the paper", "Hide&Seek", "other methods", "largest difference", "reason")
    rows = [head, ["---"] * len(head), *(line.cells() for line in in_paper)]
    return "\n".join(
        [
            "# Results\n",
            f"{written}\n",
            f"Reproduced numbers of Hide&Seek: {totals[0]}. Of the methods that it is compared with: {totals[1]}. "
            f"Of the {n_apart} numbers that differ, {n_apart - n_open} have a reason that was tried, {n_open} are "
            "open.\n",
            f"*Reproduced* means: within {POINTS:g} percentage points of the paper's number. Counted are methods that "
            "repeat what was published; our own presets and L2X trained for longer stand beside the same numbers in "
            'the tables, and are not counted. "Largest difference" names one number of Hide&Seek and one of the other '
            f'methods that differ by more than {POINTS:g} points; "{NOT_SETTLED}" means that no reason was found. '
            "Every number, the worst seed and the origin of the runs are on the page of the experiment. "
            "[CLAIMS.md](CLAIMS.md) says which claims of the paper hold on these results.\n",
            note,
            "## Tables and figures of the paper\n",
            *(f"| {' | '.join(cells)} |" for cells in rows),
            "\n## Beyond the paper\n",
            *(f"- [{line.name}]({line.link}): {line.about}." for line in lines if not line.paper),
            "",
        ]
    )


def line_of(name: str, whole: Experiment, compared: Lines, link: str) -> Line:
    """Return what the front page says of an experiment.

    Args:
        name: The experiment's.
        whole: The experiment.
        compared: Its stored table, with the paper's numbers beside ours.
        link: To its page.
    """
    if whole.published is None:
        largest = whole.headline(compared) if whole.headline is not None and compared else "no numbers published"
        return Line(name, link, whole.paper, whole.about, ((0, 0, 0), (0, 0, 0)), largest, "")
    groups = [
        [line for line in whole.counted(compared) if line["method"].startswith(COMPARED) is other]
        for other in (False, True)
    ]
    worst = [line for group in groups for line in _largest(group)]
    reasons = [reason_for(line, whole.reasons) or NOT_SETTLED for line in worst]
    named = [f"{_name(line)}: {reason}" for line, reason in zip(worst, reasons, strict=True)]
    return Line(
        name,
        link,
        whole.paper,
        whole.about,
        (_counts(groups[0]), _counts(groups[1])),
        "; ".join(map(_described, worst)),
        " ".join(text if text.endswith(".") else f"{text}." for text in named),
        sum(_is_open(line, whole.reasons) for group in groups for line in group),
    )


def reason_for(line: Mapping[str, str], reasons: Mapping[str, str]) -> str:
    """Return why a number differs: the reason for its method and dataset, for its method, or without the setting."""
    method, dataset = line["method"], line.get("dataset", "")
    labels = (f"{method}, {dataset}", method, f"{_base(method)}, {dataset}", _base(method))
    return next((reasons[label] for label in labels if label in reasons), "")


def _is_open(line: Mapping[str, str], reasons: Mapping[str, str]) -> bool:
    reason = reason_for(line, reasons)
    apart = bool(line.get("difference")) and abs(points(line)) > POINTS
    return apart and (not reason or reason.startswith(OPEN))


def points(line: Mapping[str, str]) -> float:
    """Return the difference to the paper's number, in percentage points."""
    return float(line["difference"]) * SCALES.get(line["score"], 1.0)


def number(text: str) -> str:
    """Return a number with three digits."""
    return f"{float(text):.3g}"


def _base(method: str) -> str:
    """Return the label of a method without its setting: "shap" of "shap, k = 3"."""
    return method.split(",")[0]


def _counts(lines: Lines) -> tuple[int, int, int]:
    run = [line for line in lines if line.get("difference")]
    return sum(abs(points(line)) <= POINTS for line in run), len(run), len(lines) - len(run)


def _count(counts: Sequence[int]) -> str:
    reproduced, compared, not_run = counts
    if not compared + not_run:
        return "-"
    return f"{reproduced} of {compared}" + (f", {not_run} not run" if not_run else "")


def _largest(lines: Lines) -> Lines:
    """Return the line with the largest difference, if that is no reproduction."""
    apart = [line for line in lines if line.get("difference") and abs(points(line)) > POINTS]
    return [max(apart, key=lambda line: abs(points(line)))] if apart else []


def _name(line: Mapping[str, str]) -> str:
    base = _base(line["method"])
    return NAMES.get(base, base) + line["method"].removeprefix(base)


def _described(line: Mapping[str, str]) -> str:
    """Return a number beside the paper's, in words."""
    score = {"tpr": "TPR", "fdr": "FDR", "f1": "F1", "auroc": "AUROC", "switch": "switch accuracy"}.get(line["score"])
    beside = f"{number(line['ours'])} (paper {number(line['published'])})"
    return f"{_name(line)}, {line['dataset']}: {score or line['score']} {beside}"
