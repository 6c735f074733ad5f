"""How far to believe the page: figures of the fit, quality of the predictions, warnings."""

from __future__ import annotations

from typing import Any

from hideseek.markup import Markup, element, pairs, table
from hideseek.report.page.content import Content
from hideseek.report.page.quality import fidelity_of
from hideseek.search import Trust

__all__ = ["findings", "quality"]


def findings(content: Content) -> Markup:
    """Return the warnings."""
    if not content.findings:
        return element("p", "No problems were found with the masks or the columns.", class_="quiet")
    return element("ul", *(element("li", finding) for finding in content.findings), class_="findings")


def quality(content: Content) -> Markup:
    """Return the figures of the fit, the quality of the predictions, and of an imitation."""
    trust: Trust | None = getattr(content.model, "trust_", None)
    parts = [] if trust is None or not trust.n_rows else _of_fit(trust, hasattr(content.model, "fidelity_"))
    if content.quality:
        parts.append(pairs("Quality of the predictions", "Figure", content.quality))
    elif not parts:
        text = "Not known: pass the labels of these rows (y=...) or figures of your own (quality={...}) to the report."
        parts.append(element("p", text, class_="quiet"))
    compared = fidelity_of(content.model)
    if compared:
        head = ["Beside the model's answers", "#Agreement", "#KL", "#R²"]
        parts += [element("h3", "Fidelity on rows held out of the fit"), table("Fidelity", head, compared)]
    return Markup("".join(parts))


def _of_fit(trust: Trust, is_imitation: bool) -> list[Markup]:
    """Return what the fit measured on rows that the answering members did not learn from."""
    whose = "the imitation's predictions" if is_imitation else "predictions"
    lead = f"Measured in the fit on {trust.n_rows:,} rows, each answered by members that have not learned from it."
    lines: list[list[object]] = [
        [name, n_shown, _written(score_of, ".3f"), _written(loss, ".4f")]
        for name, n_shown, score_of, loss in (
            ("the selected features", _written(trust.n_selected, ".1f"), trust.score_selected, trust.loss_selected),
            ("all features", trust.n_features, trust.score_all, trust.loss_all),
            ("no feature", 0, trust.score_none, trust.loss_none),
        )
    ]
    shares = {
        "Rows whose selected features suffice: the prediction is close to that from all": _written(
            trust.sufficient, ".0%"
        ),
        "Agreement of two members on the features of a row (1: the same)": _written(trust.agreement, ".2f"),
        "The same, of members that left the row out": _written(trust.agreement_held_out, ".2f"),
    }
    head = [f"{whose.capitalize()} from", "#Features", f"#{trust.score_title}", "#Loss"]
    known = {name: text for name, text in shares.items() if text}
    return [
        element("p", lead),
        table("Predictions by what they are made from", head, lines),
        pairs("Reliability of the selection", "Of the selection", known),
    ]


def _written(value: Any, form: str) -> str:
    return "" if value is None else format(value, form)
