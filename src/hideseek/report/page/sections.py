"""The static sections of the page, as HTML."""

from __future__ import annotations

from hideseek.estimators import BaseHideSeek, BlackBoxExplainer
from hideseek.export import kept_features
from hideseek.markup import Markup, element, pairs, table
from hideseek.report.agreement import agreement
from hideseek.report.page.bars import numbers_selected, ranking
from hideseek.report.page.believing import findings, quality
from hideseek.report.page.cards import groups
from hideseek.report.page.columns import Column
from hideseek.report.page.content import Content
from hideseek.report.page.opening import answer, overview, picture, protected, short_trust
from hideseek.report.page.origin import name_of, parameters_of, versions

__all__ = ["SECTIONS"]

_MOST_LISTED = 500
_KINDS = {"category": "category", "ordered": "ordered category"}


def data(content: Content) -> Markup:
    """Return the explained table by column."""
    if not content.columns:
        return element("p", "The explanation does not contain the explained values.", class_="quiet")
    rows: list[list[object]] = []
    for column in content.columns[:_MOST_LISTED]:
        kind = f"{_KINDS[column.kind]}, {len(column.categories)}" if column.kind in _KINDS else column.kind
        low, mean, high = ("", "", "") if column.categories or _empty(column) else map(column.display, column.span)
        rows.append([column.name, kind, low, mean, high, f"{column.n_missing:,}" if column.n_missing else "none"])
    head = ["Column", "Type", "#Lowest", "#Mean", "#Highest", "#Missing"]
    more = len(content.columns) - _MOST_LISTED
    tail = element("p", f"{more:,} more columns are not shown.", class_="quiet") if more > 0 else Markup()
    n_rows = len(content.explanation)
    region = element(
        "div",
        table(f"{n_rows:,} rows, {len(content.columns):,} columns", head, rows),
        class_="scroll",
        tabindex=0,
        role="region",
        aria_label="Columns of the table",
    )
    return Markup(region + tail)


def _empty(column: Column) -> bool:
    return column.n_missing == len(column.values)


def rows_note(content: Content) -> Markup:
    """Return a note on whether all rows are shown."""
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
    """Return a note on how to read and use the heatmap."""
    text = (
        "One line per row, one column per feature, the most important first; rows of a group lie together, marked by "
        "its colour at the left edge. Point at a cell, or move with the arrow keys."
    )
    more = " Enter or a click takes its row to the what-if below." if content.obstacle is None else ""
    return element("p", text, more, id="heatmap-help")


def effects_note(content: Content) -> Markup:
    """Return a note on the meaning of the bars."""
    if not content.directions:
        return Markup()
    what = "prediction" if content.explanation.probability is None else "probability of the predicted class"
    return element(
        "p",
        f"The selected features are those that the prediction was made from. Bars: how much each of them raises "
        f"(to the right) or lowers (to the left) the {what}, compared with the prediction without that one "
        "feature. Effects do not add up: if two features carry the same information, hiding one changes little.",
    )


def moved_note(content: Content) -> Markup:
    """Return a note on what the rows do not show while the slider is moved."""
    text = " What if asks the model at this price." if content.obstacle is None else ""
    if len(content.features) < content.explanation.shape[1]:
        text += f" Of each row the {len(content.features):,} features that are in this page are counted."
    return Markup(text)


def what_if_note(content: Content) -> Markup:
    """Return a note on what the reader can change, or why the model cannot run."""
    if content.obstacle is not None:
        return element("p", f"The model does not run in this page. {content.obstacle}", class_="note")
    ensemble, n_features = content.model.learned_.ensemble, content.explanation.shape[1]
    n_networks = len(ensemble.visible) * (1 + ensemble.stack.n_seeks)
    n_left_out = n_features - len(kept_features(content.model))
    text = (
        f"{_what_runs(content.model)} is in this page: {n_networks} networks, "
        f"{ensemble.stack.parameters.numel():,} weights. "
        "Change a row's values to update masks, effects and prediction."
    )
    if n_left_out:
        who = "Screening and the search for copies" if getattr(content.model, "copies_", None) else "Screening"
        text += f" {who} left out {n_left_out:,} of {n_features:,} features before the fit: they have no influence."
    return element("p", text)


def _what_runs(model: BaseHideSeek) -> str:
    if isinstance(model, BlackBoxExplainer):
        return f"The imitation of the model{_named(model)}, not that model itself,"
    return "The model itself"


def _named(explainer: BlackBoxExplainer) -> str:
    """Return the name of the explained model, if it is known."""
    return "" if explainer.model is None else f" ({name_of(explainer.model)})"


def method(content: Content) -> Markup:
    """Return a note on the origin of the importances."""
    if isinstance(content.model, BaseHideSeek):
        text = (
            "Hide, a small network, computes for each row how much of each feature to show: the mask. Hidden values "
            "are replaced by draws, for example from the feature's own column. Seek, another network, predicts from "
            "the mixed row. Showing a feature has a price, so that only what the prediction needs is shown. Masks "
            "show what the model needed; they are not causes."
        )
        if isinstance(content.model, BlackBoxExplainer):
            text = (
                f"A model{_named(content.model)} is explained by an imitation, which is trained on its outputs without "
                f"true labels; the fidelity shows how far it can be trusted. {text}"
            )
    elif content.model is not None:
        text = f"The importances are those of {type(content.model).__name__} ({content.explanation.importance_kind})."
    else:
        text = "Not known: the explanation has no model."
    return element("p", text)


def origin(content: Content) -> Markup:
    """Return parameters and versions."""
    parameters = parameters_of(content.model)
    made = pairs("How the model was made", "Setting", parameters) if parameters else Markup()
    return Markup(made + pairs("Versions", "Library", versions()))


def compare_note(content: Content) -> Markup:
    """Return a note on how exact the shares of groups are, and on how alike two explanations are."""
    exact = (
        "all rows"
        if len(content.rows) == len(content.explanation)
        else (
            f"the {len(content.rows):,} rows in this page, each weighted by the rows it stands for: they are estimates"
        )
    )
    other = "" if content.other is None else f" The two explanations: {agreement(content.explanation, content.other)}."
    return element("p", f"In how many of its rows a group has each feature selected, counted in {exact}.{other}")


SECTIONS = (
    answer,
    overview,
    picture,
    short_trust,
    protected,
    compare_note,
    findings,
    quality,
    ranking,
    numbers_selected,
    groups,
    rows_note,
    heatmap_note,
    effects_note,
    moved_note,
    what_if_note,
    data,
    method,
    origin,
)
"""page.html has a placeholder for each, with the function's name."""
