"""The first screen: what decides, in one sentence and one picture, and how far to believe it."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from hideseek.markup import Markup, element, table
from hideseek.report.page.content import Content
from hideseek.report.page.directions import Directions
from hideseek.search import Trust
from hideseek.wording import listed, values_by_name

__all__ = ["answer", "overview", "picture", "protected", "short_trust"]

_NAMED = 3
_DRAWN = 7


def answer(content: Content) -> Markup:
    """Return one sentence on what decides."""
    explanation = content.explanation
    n_rows, n_features = explanation.shape
    often, order = _often(content)
    if not len(order):
        return Markup(f"Nothing decides: no feature is selected in any of the {n_rows:,} rows.")
    first, *others = order[:_NAMED]
    named = [f"{explanation.feature_names[j]} ({often[j]:.0%})" for j in others]
    found = next((each for each in content.directions if each.rule[first]), None)
    raised = "" if found is None else f" (it raises {found.what} if {found.rule[first]})"
    more = f", then {listed(named)}" if named else ""
    return element(
        "span",
        element("strong", explanation.feature_names[first]),
        f" decides most often, in {often[first]:.0%} of the {n_rows:,} rows{raised}{more}; "
        f"a row needs {explanation.n_selected.mean():.1f} of {n_features:,} features on average.",
    )


def _often(content: Content) -> tuple[NDArray[np.float64], NDArray[np.intp]]:
    """Return the share of the rows that select each feature, and the features selected at all, most often first."""
    often = content.explanation.selected.mean(axis=0)
    order = content.ranked[np.argsort(-often[content.ranked], kind="stable")]
    return often, order[often[order] > 0]


def picture(content: Content) -> Markup:
    """Return bars: in how many rows each feature decides, divided by what it does to the prediction."""
    if not content.directions:
        return _drawn(content, None)
    drawn = [_drawn(content, found) for found in content.directions]
    if len(drawn) == 1:
        return drawn[0]
    options = (element("option", found.what, value=i) for i, found in enumerate(content.directions))
    label = element("label", "Effects on ", element("select", *options, id="picture-of"), class_="no-print quiet")
    parts = [element("div", each, data_picture=i, hidden="" if i else None) for i, each in enumerate(drawn)]
    return Markup(label + "".join(parts))


def _drawn(content: Content, found: Directions | None) -> Markup:
    often, order = _often(content)
    rows: list[list[object]] = []
    for j in order[:_DRAWN]:
        raises, lowers = (0.0, 0.0) if found is None else (found.raises[j], found.lowers[j])
        rule = element("small", f"raises it if {found.rule[j]}") if found is not None and found.rule[j] else Markup()
        name = Markup(element("span", content.explanation.feature_names[j]) + rule)
        rows.append([name, _stacked(raises, often[j] - raises - lowers, lowers), f"{often[j]:.0%}"])
    drawn = table("Share of the rows that each feature decides", ["Feature", "", "#Rows"], rows)
    return drawn if found is None else Markup(_legend(found) + drawn)


def _legend(found: Directions) -> Markup:
    named = (("raises", "raises"), ("unchanged", "hardly changes"), ("lowers", f"lowers {found.what}"))
    parts = (
        element("span", element("span", class_=f"swatch {kind}", aria_hidden="true"), text) for kind, text in named
    )
    return element("p", *parts, class_="legend")


def _stacked(*shares: float) -> Markup:
    """Return one bar of parts that raise, hardly change and lower the prediction, on a scale from 0 to 1."""
    parts, start = [], 0.0
    for kind, share in zip(("raises", "unchanged", "lowers"), shares, strict=True):
        width = 100 * max(0.0, share)
        parts.append(element("rect", x=f"{start:.2f}", y=1, width=f"{width:.2f}", height=10, class_=kind))
        start += width
    return element("svg", *parts, viewBox="0 0 100 12", preserveAspectRatio="none", class_="bar", aria_hidden="true")


def overview(content: Content) -> Markup:
    """Return the size of the table and the selection at a glance."""
    explanation = content.explanation
    n_rows, n_features = explanation.shape
    n_groups = len(content.subgroups)
    tiles: list[tuple[str, str, str | None]] = [
        (f"{n_rows:,}", "rows explained", None),
        (f"{n_features:,}", "features", None),
        (f"{explanation.n_selected.mean():.1f}", "selected per row", "tile-selected"),
        (f"{n_groups}", "groups with different answers" if n_groups > 1 else "group", None),
    ]
    penalty = getattr(content.model, "penalty_", None)
    if penalty is not None:
        tiles.append((f"{penalty:.3g}", "penalty", "tile-penalty"))
    described = [element("div", element("dt", label), element("dd", figure, id=name)) for figure, label, name in tiles]
    return element("dl", *described, class_="tiles")


def short_trust(content: Content) -> Markup:
    """Return in two sentences how far to believe the page."""
    trust: Trust | None = getattr(content.model, "trust_", None)
    said: list[Any] = []
    if trust is not None and trust.score_selected is not None and trust.score_all is not None:
        said.append(
            f"{trust.score_title} {trust.score_selected:.3f} from the selected features, {trust.score_all:.3f} from "
            f"all {trust.n_features:,}, {trust.score_none:.1f} from none, on {trust.n_rows:,} rows of the fit that the "
            "members who answer had not learned from. "
        )
    elif content.quality:
        name, figure = next(iter(content.quality.items()))
        said.append(f"{name}: {figure}. ")
    else:
        said.append("The quality of the predictions is not known. ")
    cuts = getattr(content.model, "cuts_", None)
    if cuts:
        said.append(f"The answer jumps where a column passes a value: {values_by_name(cuts)}. ")
    n_warnings = len(content.findings)
    if n_warnings:
        told = f"{n_warnings} warning{'s' if n_warnings > 1 else ''}, the first:"
        said += [element("a", told, href="#believe"), f" {content.findings[0]}"]
    else:
        said.append("No problems were found with the masks or the columns.")
    return element("p", *said)


def protected(content: Content) -> Markup:
    """Return in how many rows the protected features decide."""
    if not content.protected:
        return Markup("No column is marked as protected.")
    names, selected = content.explanation.feature_names, content.explanation.selected[:, list(content.protected)]
    if not selected.any():
        each = [names[j] for j in content.protected]
        return Markup(element("span", f"{listed(each)} decide{'s' if len(each) == 1 else ''} in no row."))
    shares = [_share_of_rows(share) for share in selected.mean(axis=0)]
    said = [f"{names[j]}{'' if i else ' decides'} in {shares[i]}" for i, j in enumerate(content.protected)]
    any_of_them = f"; at least one of them in {_share_of_rows(selected.any(axis=1).mean())}" if len(said) > 1 else ""
    return Markup(element("span", f"{listed(said)}{any_of_them}."))


def _share_of_rows(share: float) -> str:
    """Return the share in words, which tell "no row" from a few."""
    return f"{share:.1%} of the rows" if share else "no row"
