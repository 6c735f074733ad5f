"""HTML in which nothing that comes from data can be anything but text."""

from __future__ import annotations

from html import escape

__all__ = ["Markup", "element", "table"]

_EMPTY = {"line", "rect"}


class Markup(str):
    """Text that is HTML already; any other text is escaped when it meets HTML."""


def element(tag: str, *children: object, **attributes: object) -> Markup:
    """One element. Underscores in the names of attributes are hyphens, a last one is dropped; None leaves one out."""
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
    """A table whose first column names its rows; "#" before a title makes a column of numbers, no title one of bars."""
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
