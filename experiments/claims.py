"""The claims of the paper, each beside what the stored results say: the page CLAIMS.md of the report.

A claim is split into checks of stored numbers, such as one for each problem. It holds if all of them are met, and in
part if some are. "At least as good" allows for half a point, or 0.0005 of an AUROC: the paper's numbers are rounded.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from math import nan
from pathlib import Path
from statistics import mean, median

from experiments.experiment import Lines, read

__all__ = ["Claim", "Finding", "Stored", "claims_page"]

POINTS, AUROC = 0.5, 0.0005
"""How far below another a number may be and still count as at least as good."""


@dataclass(frozen=True)
class Stored:
    """The stored runs and tables of all experiments.

    Attributes:
        folder: The folder with a folder for each experiment.
    """

    folder: Path
    _runs: dict[str, dict[tuple[str, str], list[dict[str, str]]]] = field(default_factory=dict, repr=False)

    def runs(self, name: str, method: str, dataset: str) -> Sequence[dict[str, str]]:
        """Return the finished runs of a method on a dataset."""
        if name not in self._runs:
            by_pair: dict[tuple[str, str], list[dict[str, str]]] = {}
            for line in read(self.folder / name / "runs.csv"):
                if line["status"] == "finished":
                    by_pair.setdefault((line["method"], line["dataset"]), []).append(dict(line))
            self._runs[name] = by_pair
        return self._runs[name].get((method, dataset), [])

    def values(self, name: str, method: str, dataset: str, score: str) -> list[float]:
        """Return a score of every run."""
        return [float(line[score]) for line in self.runs(name, method, dataset) if line.get(score)]

    def median(self, name: str, method: str, dataset: str, score: str) -> float:
        """Return the median over seeds; not a number where nothing is stored."""
        values = self.values(name, method, dataset, score)
        return median(values) if values else nan

    def mean_of_medians(self, name: str, method: str, datasets: Sequence[str], score: str) -> float:
        """Return the mean over datasets of the medians over seeds."""
        return mean(self.median(name, method, dataset, score) for dataset in datasets)

    def n_seeds(self, name: str, method: str, dataset: str) -> int:
        """Return how many runs are stored."""
        return len(self.runs(name, method, dataset))

    def table(self, name: str, file: str = "table") -> Lines:
        """Return a stored table."""
        return read(self.folder / name / f"{file}.csv")


@dataclass(frozen=True)
class Finding:
    """What the stored results say of a claim.

    Attributes:
        checks: One for each part of the claim; none: it was not tested.
        numbers: The numbers, in words.
        seeds: How many seeds they come from.
        experiments: Whose pages have them.
    """

    checks: Sequence[bool]
    numbers: str
    seeds: str
    experiments: Sequence[str]

    @cached_property
    def verdict(self) -> str:
        """Return whether the claim holds, in words."""
        n_met = sum(map(bool, self.checks))
        if not self.checks:
            return "not tested"
        if n_met == len(self.checks):
            return "holds"
        return "does not hold here" if n_met == 0 else f"holds in part ({n_met} of {len(self.checks)})"


@dataclass(frozen=True)
class Claim:
    """A claim of the paper.

    Attributes:
        place: Where the paper makes it.
        text: What it says, shortened.
        look: Finds it in the stored results.
    """

    place: str
    text: str
    look: Callable[[Stored], Finding]


def claims_page(claims: Sequence[Claim], stored: Stored, after: str = "") -> str:
    """Return the page, which lies beside the front page of the results.

    Args:
        claims: In the order of the paper.
        stored: The results.
        after: What follows the table.
    """
    findings = [claim.look(stored) for claim in claims]
    kinds = ("holds", "holds in part", "does not hold here", "not tested")
    counts = {kind: sum(finding.verdict.split(" (")[0] == kind for finding in findings) for kind in kinds}
    head = ("in the paper", "claim", "here", "numbers", "seeds", "results")
    rows = [head, ["---"] * len(head)]
    for claim, finding in zip(claims, findings, strict=True):
        pages = ", ".join(f"[{name}](results/{name}/README.md)" for name in finding.experiments)
        rows.append([claim.place, claim.text, finding.verdict, finding.numbers, finding.seeds, pages])
    return "\n".join(
        [
            "# The claims of the paper\n",
            "Written by `python -m experiments report` from the stored results. "
            f"{len(claims)} claims: {'; '.join(f'{kind}: {n}' for kind, n in counts.items())}.\n",
            "Methods are those that repeat what was published, unless a name is given; numbers are medians over seeds, "
            f"or means of such medians over problems. *At least as good* allows for {POINTS:g} points, or {AUROC:g} of "
            "an AUROC. A claim of several parts holds in part if some of them are met. "
            "[All results](RESULTS.md).\n",
            *(f"| {' | '.join(cells)} |" for cells in rows),
            "",
            after,
        ]
    )
