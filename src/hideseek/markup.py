"""HTML construction that escapes all text from data."""

from __future__ import annotations

from collections.abc import Mapping
from html import escape

__all__ = ["Markup", "element", "inline_bar", "pairs", "table"]

_EMPTY = {"line", "rect"}


class Markup(str):
    """Text that is already HTML; any other text is escaped when it is combined with it."""


def element(tag: str, *children: object, **attributes: object) -> Markup:
    """Return one element. Underscores in attribute names become hyphens, a trailing one is dropped; None omits it."""
    head = "".join(
        f' {name.rstrip("_").replace("_", "-")}="{escape(str(value))}"'
        for name, value in attributes.items()
        if value is not None
    )
    if tag in _EMPTY:
        return Markup(f"<{tag}{head}/>")
    inner = "".join(child if isinstance(child, Markup) else escape(str(child)) for child in children)
    return Markup(f"<{tag}{head}>{inner}</{tag}>")


def table(caption: str, head: list[str], rows: list[list[object]]) -> Markup:
    """Return a table whose first column names its rows; "#" before a title marks numbers, no title a column of bars."""
    kinds = ["number" if title.startswith("#") else None for title in head]
    top = [
        element("th", title.lstrip("#"), scope="col", class_=kind) if title else element("td")
        for title, kind in zip(head, kinds, strict=True)
    ]
    body = [
        element(
            "tr",
            element("th", row[0], scope="row"),
            *(element("td", cell, class_=kind) for cell, kind in zip(row[1:], kinds[1:], strict=True)),
        )
        for row in rows
    ]
    return element(
        "table",
        element("caption", caption),
        element("thead", element("tr", *top)),
        element("tbody", *body),
    )


def pairs(caption: str, title: str, values: Mapping[str, str]) -> Markup:
    """Return a table of names and their values."""
    return table(caption, [title, "#Value"], [[name, value] for name, value in values.items()])


def inline_bar(share: float) -> Markup:
    """Return a bar on a scale from 0 to 1 that needs no style sheet, for notebooks."""
    filled = element("div", style=f"width:{100 * min(1.0, max(0.0, share)):.0f}%;height:.8em;background:#2f7fc9")
    return element("div", filled, style="width:8em;background:rgba(128,128,128,.2)")
