"""The parts of the page that hold still, as HTML."""

from __future__ import annotations

import numpy as np

from hideseek.report.page.content import Content
from hideseek.report.page.markup import Markup, element, table
from hideseek.report.page.origin import parameters_of, versions
from hideseek.report.page.subgroups import Subgroup
from hideseek.validation import listed

__all__ = ["SECTIONS"]

_RANKED_AT_ONCE = 20
_MOST_LISTED = 500
_MOST_BARS = 20
_NAMED_IN_A_GROUP = 8


def overview(content: Content) -> Markup:
    """The size of it all at a glance."""
    explanation = content.explanation
    n_rows, n_features = explanation.shape
    tiles = [
        (f"{n_rows:,}", "rows explained"),
        (f"{n_features:,}", "features"),
        (f"{explanation.n_selected.mean():.1f}", "selected per row, on average"),
        (
            f"{len(content.subgroups)}",
            "groups with different answers" if len(content.subgroups) > 1 else "group of rows",
        ),
    ]
    penalty = getattr(content.model, "penalty_", None)
    if penalty is not None:
        tiles.append((f"{penalty:.3g}", "penalty"))
    return element(
        "dl", *(element("div", element("dt", said), element("dd", figure)) for figure, said in tiles), class_="tiles"
    )


def findings(content: Content) -> Markup:
    """What to know before trusting the page."""
    if not content.findings:
        return element("p", "Nothing odd was noticed about the masks or the columns.", class_="quiet")
    return element("ul", *(element("li", finding) for finding in content.findings), class_="findings")


def quality(content: Content) -> Markup:
    """How well the model predicts."""
    if not content.quality:
        text = "Not known: pass the labels of these rows (y=...) or figures of your own (quality={...}) to the report."
        return element("p", text, class_="quiet")
    return table(
        "Quality of the predictions", ["Figure", "#Value"], [[name, text] for name, text in content.quality.items()]
    )


def ranking(content: Content) -> Markup:
    """Mean importance over all rows, as bars with error bars; the first features at once, the others on demand."""
    ranking = content.ranking
    top = max(float(np.max(ranking["importance"] + np.nan_to_num(ranking["standard_error"]))), 1e-12)
    rows: list[list[object]] = []
    columns = (ranking[name][:_MOST_LISTED] for name in ("feature", "importance", "standard_error", "selected"))
    for name, mean, error, selected in zip(*columns, strict=True):
        spread = "" if np.isnan(error) else f" ± {_figure(error, top)}"
        bar = _bar(mean / top, np.nan_to_num(error) / top)
        rows.append([name, bar, f"{_figure(mean, top)}{spread}", f"{selected:.0%}"])
    head = ["Feature", "", f"#Mean {content.explanation.importance_kind}", "#Selected in"]
    parts = [table("Features by mean importance, with standard errors", head, rows[:_RANKED_AT_ONCE])]
    if len(rows) > _RANKED_AT_ONCE:
        rest = rows[_RANKED_AT_ONCE:]
        parts.append(
            element("details", element("summary", f"{len(rest)} more features"), table("Further features", head, rest))
        )
    if len(ranking["feature"]) > _MOST_LISTED:
        parts.append(
            element(
                "p",
                f"{len(ranking['feature']) - _MOST_LISTED:,} features that matter less are left out.",
                class_="quiet",
            )
        )
    return Markup("".join(parts))


def _figure(value: float, top: float) -> str:
    """Three decimals, where the largest number is of a size for that."""
    return f"{value:.3f}" if 0.1 <= top < 1e4 else f"{value:.3g}"


def _bar(share: float, error: float = 0.0) -> Markup:
    """A bar on a scale from 0 to 1, with an error bar."""
    width = 100 * min(1.0, max(0.0, share))
    parts = [element("rect", x=0, y=2, width=f"{width:.2f}", height=8)]
    if error > 0:
        low, high = 100 * max(0.0, share - error), 100 * min(1.0, share + error)
        parts.append(element("line", x1=f"{low:.2f}", x2=f"{high:.2f}", y1=6, y2=6))
    return element("svg", *parts, viewBox="0 0 100 12", preserveAspectRatio="none", class_="bar", aria_hidden="true")


def numbers_selected(content: Content) -> Markup:
    """How many features decide, over the rows."""
    counts = np.bincount(content.explanation.n_selected)
    first, last = int(np.flatnonzero(counts)[0]), len(counts) - 1
    step = -(-(last - first + 1) // _MOST_BARS)
    bins = [
        (low, min(low + step - 1, last), int(counts[low : low + step].sum())) for low in range(first, last + 1, step)
    ]
    most = max(n for _, _, n in bins)
    rows: list[list[object]] = [
        [f"{low}" if low == high else f"{low} to {high}", _bar(n / most), f"{n:,}", f"{n / counts.sum():.1%}"]
        for low, high, n in bins
    ]
    return table("Features selected per row", ["Selected", "", "#Rows", "#Share"], rows)


def groups(content: Content) -> Markup:
    """One card per subgroup, in words."""
    if len(content.subgroups) == 1:
        lead = "The rows do not fall into groups with clearly different answers."
    else:
        lead = f"By what was selected, the rows fall into {len(content.subgroups)} groups."
    cards = [_card(content, subgroup) for subgroup in content.subgroups]
    return Markup(element("p", lead) + element("ul", *cards, class_="cards"))


def _card(content: Content, subgroup: Subgroup) -> Markup:
    names = content.explanation.feature_names
    features = [f"{names[j]} ({share:.0%})" for j, share in subgroup.deciding[:_NAMED_IN_A_GROUP]]
    if len(subgroup.deciding) > _NAMED_IN_A_GROUP:
        features.append(f"{len(subgroup.deciding) - _NAMED_IN_A_GROUP} more")
    number = subgroup.number - 1
    parts = [
        element("h3", element("span", class_=f"swatch group-{number}", aria_hidden="true"), subgroup.name),
        element("p", f"{subgroup.n_rows:,} rows, {subgroup.share:.0%} of all.", class_="quiet"),
        element(
            "p",
            element("strong", "What decides: "),
            listed(features) if features else "no feature in most of its rows",
            ".",
        ),
    ]
    if len(content.subgroups) > 1:
        parts.append(element("p", element("strong", "Which rows: "), *_rule_said(subgroup)))
        parts.append(element("p", _answers(content, number)))
        parts.append(element("p", element("a", "Show these rows", href="#rows", data_group=number), class_="no-print"))
    return element("li", *parts)


def _rule_said(subgroup: Subgroup) -> list[object]:
    rule = subgroup.rule
    if rule is None:
        return ["no short rule tells them from the others."]
    return [
        element("b", rule, class_="rule"),
        f" holds for {rule.covered:.0%} of them, and {rule.pure:.0%} of the rows for which it holds are theirs "
        f"(a decision tree's rule; accuracy {rule.accuracy:.0%} on rows it was not made from).",
    ]


def _answers(content: Content, number: int) -> str:
    """What the model predicts for the rows of a group."""
    prediction = content.explanation.prediction
    if prediction is None:
        return ""
    own = prediction[content.group == number]
    if content.explanation.probability is None:
        return f"Predicted {np.mean(own):.4g} on average; {np.mean(prediction):.4g} over all rows."
    labels, counts = np.unique(own.astype(str), return_counts=True)
    first = np.argsort(-counts, kind="stable")[:3]
    return f"Predicted: {', '.join(f'class {labels[i]} {counts[i] / len(own):.0%}' for i in first)}."


def data(content: Content) -> Markup:
    """The explained table, column by column."""
    if not content.columns:
        return element("p", "The explanation came without the values that were explained.", class_="quiet")
    rows: list[list[object]] = []
    for column in content.columns[:_MOST_LISTED]:
        low, mean, high = ("" if column.kind == "category" else f"{number:,.5g}" for number in column.span)
        kind = f"category, {len(column.categories)}" if column.kind == "category" else column.kind
        rows.append([column.name, kind, low, mean, high, f"{column.n_missing:,}" if column.n_missing else "none"])
    head = ["Column", "Type", "#Lowest", "#Mean", "#Highest", "#Missing"]
    more = len(content.columns) - _MOST_LISTED
    tail = element("p", f"{more:,} more columns are left out.", class_="quiet") if more > 0 else Markup()
    n_rows, n_features = content.explanation.shape
    region = element(
        "div",
        table(f"{n_rows:,} rows, {n_features:,} columns", head, rows),
        class_="scroll",
        tabindex=0,
        role="region",
        aria_label="Columns of the table",
    )
    return Markup(region + tail)


def rows_note(content: Content) -> Markup:
    """Whether the rows that can be looked at are all there are."""
    shown, total = len(content.rows), len(content.explanation)
    if shown == total:
        return element("p", f"All {total:,} rows are here.", class_="quiet")
    return element(
        "p",
        f"The heatmap and the table of rows hold {shown:,} of {total:,} rows, to keep this file small: those with the "
        "most extreme predictions, and a draw from every group. Everything else on this page counts all rows.",
        class_="note",
    )


def heatmap_note(content: Content) -> Markup:
    """How to read the heatmap and move in it."""
    text = (
        "One line per row, one column per feature, the most important first; rows of a group lie together, marked by "
        "its colour at the left edge. Point at a cell, or move with the arrow keys."
    )
    more = " Enter or a click takes its row to the what-if below." if content.obstacle is None else ""
    return element("p", text, more, id="heatmap-help")


def what_if_note(content: Content) -> Markup:
    """What can be done there, or why it cannot."""
    if content.obstacle is not None:
        return element("p", f"The model does not run in this page. {content.obstacle}", class_="note")
    ensemble = content.model._ensemble
    return element(
        "p",
        f"The model itself is in this page: {len(ensemble.visible)} pairs of networks, "
        f"{ensemble.stack.parameters.numel():,} weights. Change a row's values, and masks and prediction follow.",
    )


def origin(content: Content) -> Markup:
    """Parameters and versions."""
    parameters = parameters_of(content.model)
    made = (
        table("How the model was made", ["Setting", "#Value"], [[name, value] for name, value in parameters.items()])
        if parameters
        else element("p", "The explanation came without its model.", class_="quiet")
    )
    return Markup(
        made + table("Versions", ["Library", "#Version"], [[name, value] for name, value in versions().items()])
    )


SECTIONS = (
    overview,
    findings,
    quality,
    ranking,
    numbers_selected,
    groups,
    rows_note,
    heatmap_note,
    what_if_note,
    data,
    origin,
)
"""page.html has a place for each, under the function's name."""
