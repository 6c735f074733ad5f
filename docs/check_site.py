"""Check the built site: ``python docs/check_site.py FOLDER``.

Every link within the site must lead to a page and an anchor that exist, and nothing may be loaded from another host, so
that the site can be read without a network.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

LOADED = {"img": "src", "script": "src", "link": "href", "iframe": "src", "source": "src", "video": "src"}
"""Elements that a browser loads by itself, and the attribute that says from where."""
NOT_LOADED = {"canonical", "next", "prev", "author", "index", "search"}
"""Kinds of ``link`` that only name a page."""


class Page(HTMLParser):
    """The links, the anchors and the loaded files of a page."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.links: list[str] = []
        self.loaded: list[str] = []
        self.anchors: set[str] = set()
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Collect what the element names."""
        values = {name: value for name, value in attrs if value}
        self.anchors |= {values[name] for name in ("id", "name") if name in values}
        if tag == "a" and "href" in values:
            self.links.append(values["href"])
        if tag in LOADED and LOADED[tag] in values and values.get("rel") not in NOT_LOADED:
            self.loaded.append(values[LOADED[tag]])


def problems(site: Path) -> Iterator[str]:
    """Yield every broken link and every file of another host."""
    files = (path for path in site.rglob("*.html") if "_static" not in path.parts)  # templates of the theme are there
    pages = {path.resolve(): Page(path.read_text()) for path in files}
    for path, page in pages.items():
        name = path.relative_to(site.resolve())
        for link in page.loaded:
            if urlsplit(link).netloc:
                yield f"{name} loads {link}"
        for link in (*page.links, *page.loaded):
            parts = urlsplit(link)
            if parts.scheme or parts.netloc:
                continue
            target = (path.parent / unquote(parts.path)).resolve() if parts.path else path
            target = target / "index.html" if target.is_dir() else target
            if not target.exists():
                yield f"{name} links to {link}, which does not exist"
            elif parts.fragment and target in pages and unquote(parts.fragment) not in pages[target].anchors:
                yield f"{name} links to {link}, which has no such anchor"


def main() -> int:
    """Print what is wrong."""
    site = Path(sys.argv[1])
    found = sorted(set(problems(site)))
    print(*found, sep="\n")
    print(f"{len(list(site.rglob('*.html')))} pages, {len(found)} problems")
    return 1 if found or not (site / "index.html").exists() else 0


if __name__ == "__main__":
    sys.exit(main())
