"""Show numbers that are stored in the repository, so that no page repeats them by hand.

The directive ``stored-table`` shows some columns and lines of a stored table, the role ``stored`` one of its numbers,
as in ``FILE.csv|column=value|name``, and the figures of ``FIGURES`` are drawn from stored tables at each build.
"""

from __future__ import annotations

import csv
from pathlib import Path
from typing import Any, ClassVar

from docutils import nodes
from docutils.parsers.rst import directives
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective, SphinxRole
from sphinx.util.typing import OptionSpec

ROOT = Path(__file__).parents[2]
Lines = list[dict[str, str]]


def setup(app: Sphinx) -> dict[str, Any]:
    """Offer the directive and the role, and draw the figures before anything is read."""
    app.add_directive("stored-table", StoredTable)
    app.add_role("stored", StoredNumber())
    app.connect("builder-inited", draw_figures)
    return {"parallel_read_safe": True}


def read_lines(path: str, where: str = "") -> Lines:
    """Return the lines of a stored table in which the columns have the given values: ``method=balanced;...``."""
    text = (ROOT / path).read_text()
    lines = list(csv.DictReader(text.splitlines())) if path.endswith(".csv") else _first_table(text)
    conditions = [condition.split("=", 1) for condition in where.split(";") if condition]
    return [line for line in lines if all(line[name.strip()] == value.strip() for name, value in conditions)]


def _first_table(text: str) -> Lines:
    """Return the lines of the first table of a Markdown page."""
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in text.splitlines() if line.startswith("|")]
    names, _, *lines = rows
    return [dict(zip(names, line, strict=True)) for line in lines if len(line) == len(names)]


def shown(value: str, digits: int) -> str:
    """Return a number with so many digits behind the point at most; anything else stays as it is."""
    try:
        number = float(value)
    except ValueError:
        return value
    return f"{number:,.{digits}f}".rstrip("0").rstrip(".") if digits and "." in value else f"{number:,.0f}"


class StoredTable(SphinxDirective):
    """A part of a stored table, with its file named below."""

    required_arguments = 1
    option_spec: ClassVar[OptionSpec] = {
        "columns": directives.unchanged_required,
        "headers": directives.unchanged,
        "where": directives.unchanged,
        "digits": directives.nonnegative_int,
    }

    def run(self) -> list[nodes.Node]:
        """Return the table."""
        path = self.arguments[0]
        self.env.note_dependency(str(ROOT / path))
        columns = [name.strip() for name in self.options["columns"].split(";")]
        headers = [name.strip() for name in self.options.get("headers", self.options["columns"]).split(";")]
        lines = read_lines(path, self.options.get("where", ""))
        if not lines or len(headers) != len(columns):
            raise self.error(f"{path}: no line fits, or headers and columns differ in number")
        cells = [[shown(line[name], self.options.get("digits", 1)) for name in columns] for line in lines]
        source = nodes.paragraph("", "Source: ")
        source += nodes.literal("", path)
        return [_table(headers, cells), source]


class StoredNumber(SphinxRole):
    """One number of a stored table."""

    def run(self) -> tuple[list[nodes.Node], list[nodes.system_message]]:
        """Return it as text; ``|name|2`` asks for two digits."""
        path, where, name, *digits = self.text.split("|")
        self.env.note_dependency(str(ROOT / path))
        lines = read_lines(path, where)
        if len(lines) != 1:
            raise ValueError(f"{self.text}: expected one line of the table, found {len(lines)}")
        return [nodes.Text(shown(lines[0][name], int(digits[0]) if digits else 1))], []


def _table(headers: list[str], lines: list[list[str]]) -> nodes.table:
    table, group = nodes.table(), nodes.tgroup(cols=len(headers))
    table += group
    group += [nodes.colspec(colwidth=1) for _ in headers]
    head, body = nodes.thead(), nodes.tbody()
    head += _row(headers)
    body += [_row(line) for line in lines]
    group += [head, body]
    return table


def _row(cells: list[str]) -> nodes.row:
    row = nodes.row()
    for cell in cells:
        entry = nodes.entry()
        entry += nodes.paragraph("", cell)
        row += entry
    return row


# -- figures ----------------------------------------------------------------------------------------------------------


def draw_figures(app: Sphinx) -> None:
    """Draw every figure into the folder generated/figures of the site."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    folder = Path(app.srcdir) / "generated/figures"
    folder.mkdir(parents=True, exist_ok=True)
    for name, draw in FIGURES.items():
        figure = draw()
        figure.savefig(folder / f"{name}.png", dpi=150)
        plt.close(figure)


def draw_growth() -> Any:
    """Draw the time of a training step against the number of rows, on both devices."""
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(1, 2, figsize=(8, 3.4), layout="constrained", sharey=True)
    titles = {"growth_cpu": "two CPU cores", "growth_h200": "one H200"}
    for ax, (name, title) in zip(axes, titles.items(), strict=True):
        lines = read_lines(f"benchmarks/results/{name}.csv", "members=10")
        for columns in ("11", "100", "784"):
            of_columns = [line for line in lines if line["columns"] == columns]
            rows = [int(line["rows"]) for line in of_columns]
            ax.loglog(rows, [float(line["milliseconds"]) for line in of_columns], "o-", label=f"{columns} columns")
        ax.set(title=title, xlabel="rows of a full batch")
    axes[0].set_ylabel("milliseconds of a step, ten members")
    axes[0].legend(frameon=False)
    return figure


def draw_cost() -> Any:
    """Draw the time of fit and explanation as a multiple of that of XGBoost with TreeSHAP."""
    import matplotlib.pyplot as plt

    lines = read_lines("benchmarks/results/cost.csv")
    settings = list(dict.fromkeys(line["setting"] for line in lines))
    seconds = {(line["setting"], line["method"]): float(line["seconds"]) for line in lines}
    figure, ax = plt.subplots(figsize=(8, 3.6), layout="constrained")
    for k, preset in enumerate(("fast", "balanced", "best")):
        ratios = [seconds[setting, preset] / seconds[setting, "peer"] for setting in settings]
        ax.barh([i + 0.26 * (k - 1) for i in range(len(settings))], ratios, 0.24, label=preset)
    ax.axvline(1, color="black", linewidth=0.8)
    ax.set(yticks=range(len(settings)), yticklabels=settings, xscale="log")
    ax.set_xlabel("time of fit and explanation, as a multiple of XGBoost + TreeSHAP")
    ax.invert_yaxis()
    ax.legend(frameon=False)
    return figure


FIGURES = {"growth": draw_growth, "cost": draw_cost}
