"""RESULTS.md: every experiment's numbers beside the paper's, what was reproduced, and what they can be traced to.

It is written from the files in results/, which are kept with the code, so that it can be written anew without the runs.
"""

from __future__ import annotations

import csv
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from experiments import experiment
from experiments.experiment import Experiment
from hideseek.benchmark._origin import commit, now, versions
from hideseek.files import write_atomically

POINTS = 3.0
"""A number within so many percentage points of the paper's counts as reproduced."""

LONG = 30
"""Lines of a table that are shown at once."""

SCALES = {"auroc": 100.0, "accuracy": 100.0, "r2": 100.0}
"""What turns a score into percent, where it is a share."""

EARLIER_RECIPES = """The rows "fast", "balanced" and "best" were made by the recipes that had these names before members
answered for ranges of penalties, except in "audit"; each experiment names its commits. LOG.md, "One network for every
price", has figures of the present default.
"""

Lines = Sequence[Mapping[str, str]]


def write_report(experiments: Mapping[str, Experiment], *, quick: bool = False) -> Path:
    """Write the report on all experiments; that of quick runs lies with them."""
    folder = experiment.RUNS if quick else experiment.RESULTS
    path = folder / "RESULTS.md" if quick else folder.with_name("RESULTS.md")
    made_with = ", ".join(f"{name} {version}" for name, version in versions().items())
    head = (
        f"# Results\n\nWritten on {now()[:10]} by `python -m experiments report`, at commit {commit()}, "
        f"with {made_with}. Each experiment says below which version and commit its runs were made with.\n\n"
        f"*Reproduced* means: within {POINTS:g} percentage points of the paper's number.\n\n{EARLIER_RECIPES}"
    )
    folder.mkdir(parents=True, exist_ok=True)
    sections = [section(name, whole, folder, quick=quick) for name, whole in experiments.items()]
    write_atomically(path, "\n".join([head, *sections]).encode())
    return path


def section(name: str, whole: Experiment, folder: Path, *, quick: bool) -> str:
    """What is known of one experiment, with its parts."""
    text = [f"## {name}\n", f"{whole.about}.\n"]
    for one in (whole, *whole.parts):
        stored = folder / one.label(quick)
        runs = read(stored.with_name(f"{stored.name}_runs.csv"))
        if one.parts or one is not whole:
            text.append(f"### {stored.name}\n")
        if not runs:
            text.append("No results are stored yet.\n")
            continue
        text.append(origin(runs))
        compared = read(stored.with_name(f"{stored.name}.csv"))
        if one.published is not None:
            text.append(verdict(compared))
        text.append(folded(stored.with_name(f"{stored.name}.md").read_text(), "All numbers"))
        for file in sorted(folder.glob(f"{stored.name}_*.md")):
            text.append(folded(file.read_text(), file.stem))
        for file in sorted(folder.glob(f"{stored.name}_*.png")):
            text.append(f"![{file.stem}]({file.name if quick else f'{folder.name}/{file.name}'})\n")
    if whole.explanation:
        text.append(f"{whole.explanation.strip()}\n")
    return "\n".join(text)


def folded(table: str, title: str) -> str:
    """A table as it is, or one that opens on a click if it is long."""
    if table.count("\n") <= LONG:
        return table
    return f"<details><summary>{title}</summary>\n\n{table}\n</details>\n"


def read(path: Path) -> Lines:
    if not path.exists():
        return []
    with open(path, newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def origin(runs: Lines) -> str:
    """Which seeds were run, when, where and with what."""
    finished = [run for run in runs if run["status"] == "finished"]
    days = sorted({run["time"][:10] for run in runs})
    facts = [
        f"{len(finished)} runs finished, {len(runs) - len(finished)} failed",
        f"seeds {ranges(int(run['seed']) for run in runs)}",
        f"hideseek {', '.join(unique(runs, 'version'))}",
        f"commit {', '.join(unique(runs, 'commit'))}",
        f"on {', '.join(unique(runs, 'device'))}",
        days[0] if len(days) == 1 else f"{days[0]} to {days[-1]}",
    ]
    return "; ".join(facts) + ".\n"


def unique(runs: Lines, column: str) -> list[str]:
    return sorted({run[column] or "unknown" for run in runs})


def ranges(numbers: Iterable[int]) -> str:
    """0, 1, 2, 5 as "0-2, 5"."""
    spans: list[list[int]] = []
    for number in sorted(set(numbers)):
        if spans and number == spans[-1][1] + 1:
            spans[-1][1] = number
        else:
            spans.append([number, number])
    return ", ".join(str(first) if first == last else f"{first}-{last}" for first, last in spans)


def verdict(compared: Lines) -> str:
    """What agrees with the paper, by number, and what does not, by name."""
    ours = [line for line in compared if line.get("difference")]
    waiting = [line for line in compared if line.get("published") and not line.get("ours")]
    apart = [line for line in ours if abs(float(line["difference"])) * SCALES.get(line["score"], 1.0) > POINTS]
    text = f"Reproduced: {len(ours) - len(apart)} of {len(ours)} numbers; {len(waiting)} are not run yet.\n"
    if not apart:
        return text
    named: dict[str, list[str]] = {}
    for line in apart:
        beside = f"{line['dataset']} {line['score']} {number(line['ours'])} (paper {number(line['published'])})"
        named.setdefault(line["method"], []).append(beside)
    return (
        text + "\nNot reproduced:\n\n" + "".join(f"- {method}: {', '.join(all_)}\n" for method, all_ in named.items())
    )


def number(text: str) -> str:
    return f"{float(text):.3g}"
