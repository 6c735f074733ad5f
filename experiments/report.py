"""RESULTS.md, one line per experiment, CLAIMS.md, one per claim, and a page for each experiment on its origin.

All are written from the files in results/, which are kept with the code, so that they can be written anew without the
runs. The tables themselves are not copied: the pages link to them.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from pathlib import Path

from experiments import claims_appendix, claims_text
from experiments.claims import Stored, claims_page
from experiments.experiment import Experiment, Lines, read, results_folder
from experiments.front_page import POINTS, front_page, line_of, number, points, reason_for
from hideseek.benchmark.origin import commit, now, versions
from hideseek.files import write_atomically

PAGE = "README.md"
"""The page of an experiment, beside its tables and figures."""

EARLIER_RECIPES = """Presets are those of earlier recipes everywhere but in "beyond", "real", "reliability" and the
default in "unseen": from before cuts where "balanced" stands beside the paper's tables, and in "audit", "rows" and
"black_box". In "beyond" its page names the settings of "best" and "fast" that are. Each experiment names its commits.
"""

_REFERENCE = re.compile(r"{([^{}|]+)\|([^{}|]+)\|([^{}|]+)\|([^{}|]+)\|([^{}|]+)}")
"""A number in an explanation: table, method, dataset, score, column."""


def write_report(experiments: Mapping[str, Experiment], *, quick: bool = False) -> Path:
    """Write the front page, the claims and the page of every experiment; pages of quick runs lie with these."""
    folder = results_folder(quick)
    path = folder / "RESULTS.md" if quick else folder.with_name("RESULTS.md")
    made_with = ", ".join(f"{name} {version}" for name, version in versions().items())
    written = (
        f"Written on {now()[:10]} by `python -m experiments report`, at commit {commit()}, with {made_with}. "
        "The page of each experiment says which version and commit its runs were made with."
    )
    lines = []
    for name, whole in experiments.items():
        page = whole.folder(quick) / PAGE
        write_atomically(page, section(name, whole, folder, quick=quick).encode())
        compared = read(page.with_name("table.csv"))
        line = line_of(name, whole, compared, page.relative_to(path.parent).as_posix())
        lines.append(line.with_reason(with_numbers(line.reason, folder)))
    write_atomically(path, front_page(lines, written, EARLIER_RECIPES).encode())
    if not quick:
        stored, claims = Stored(folder), (*claims_text.CLAIMS, *claims_appendix.CLAIMS)
        page = claims_page(claims, stored, claims_text.own_penalties(stored))
        write_atomically(path.with_name("CLAIMS.md"), page.encode())
    return path


def section(name: str, whole: Experiment, folder: Path, *, quick: bool) -> str:
    """Return the page of one experiment, with its parts."""
    front = "../RESULTS.md" if quick else "../../RESULTS.md"
    text = [f"# {name}\n", f"{whole.about}. [All experiments]({front}).\n"]
    for one in (whole, *whole.parts):
        stored = one.folder(quick)
        runs = read(one.stored_runs(quick))
        if one.parts or one is not whole:
            text.append(f"## {stored.name}\n")
        if not runs:
            text.append("No results are stored yet.\n")
            continue
        text.append(origin(runs))
        if one.published is not None:
            text.append(verdict(one.counted(read(stored / "table.csv")), one.reasons))
        text.append(links(stored, one.stored_runs(quick)))
        for file in sorted(stored.glob("*.png")):
            text.append(f"![{stored.name}: {file.stem}](../{stored.name}/{file.name})\n")
    if whole.explanation:
        text.append(f"{whole.explanation.strip()}\n")
    return with_numbers("\n".join(text), folder)


def links(stored: Path, runs: Path) -> str:
    """Return a line with links to the tables of an experiment."""
    tables = sorted(file.stem for file in stored.glob("*.csv") if file.stem not in ("table", "runs"))
    named = [f"[{name.replace('_', ' ')}](../{stored.name}/{name}.csv)" for name in ("table", *tables)]
    return f"Tables: {', '.join([*named, f'[every run](../{runs.parent.name}/runs.csv)'])}.\n"


def with_numbers(text: str, folder: Path) -> str:
    """Return the text with each ``{table|method|dataset|score|column}`` replaced by that number of the stored table."""

    def stored(reference: re.Match[str]) -> str:
        table, method, dataset, score, column = reference.groups()
        for line in read(folder / f"{table}.csv"):
            if (line["method"], line["dataset"], line["score"]) == (method, dataset, score):
                return number(line[column])
        return "(not stored)"

    return _REFERENCE.sub(stored, text)


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
    for each in sorted(set(numbers)):
        if spans and each == spans[-1][1] + 1:
            spans[-1][1] = each
        else:
            spans.append([each, each])
    return ", ".join(str(first) if first == last else f"{first}-{last}" for first, last in spans)


def verdict(compared: Lines, reasons: Mapping[str, str] | None = None) -> str:
    """Return how many numbers agree with the paper's, and the others by name, with the reason where it is known."""
    ours = [line for line in compared if line.get("difference")]
    waiting = [line for line in compared if line.get("published") and not line.get("ours")]
    apart = [line for line in ours if abs(points(line)) > POINTS]
    text = (
        f"Within {POINTS:g} points of the paper, methods as published: {len(ours) - len(apart)} of {len(ours)} "
        f"numbers; {len(waiting)} are not run yet.\n"
    )
    if not apart:
        return text
    named: dict[tuple[str, str], list[str]] = {}
    for line in apart:
        beside = f"{line['dataset']} {line['score']} {number(line['ours'])} (paper {number(line['published'])})"
        named.setdefault((line["method"], reason_for(line, reasons or {})), []).append(beside)
    listed = [
        f"- {method}: {', '.join(numbers)}" + (f". {reason}\n" if reason else "\n")
        for (method, reason), numbers in named.items()
    ]
    return f"{text}\nOthers:\n\n{''.join(listed)}"
