"""Copy the pages that lie elsewhere in the repository into the site, with their tables and figures.

Results, changelog and the guide for contributors are written once, beside what they describe. A link from a page of the
site to one of them, such as ``../CHANGELOG.md``, leads to the copy.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from sphinx.application import Sphinx

ROOT = Path(__file__).parents[2]
PAGES = {
    "CHANGELOG.md": "generated/changelog.md",
    "CONTRIBUTING.md": "generated/contributing.md",
    "benchmarks/README.md": "generated/benchmarks/README.md",
    "experiments/CLAIMS.md": "generated/experiments/CLAIMS.md",
    "experiments/LOG.md": "generated/experiments/LOG.md",
    "experiments/README.md": "generated/experiments/README.md",
    "experiments/RESULTS.md": "generated/experiments/RESULTS.md",
}
"""Page in the repository -> page of the site, both from their root."""

_LINK = re.compile(r"\]\((?!\w+:)([^)#\s]+)((?:#[^)]*)?)\)")


def setup(app: Sphinx) -> dict[str, Any]:
    """Copy before anything is read."""
    app.connect("builder-inited", copy_pages)
    app.connect("source-read", redirect_links)
    return {"parallel_read_safe": True}


def copy_pages(app: Sphinx) -> None:
    """Write the copies; those that have not changed stay as they are, so that Sphinx need not read them again."""
    site = Path(app.srcdir)
    for source, target in PAGES.items():
        _copy(ROOT / source, site / target)
    for folder in ("experiments/results", "benchmarks/results"):
        for path in (ROOT / folder).rglob("*.*"):
            if path.suffix in (".md", ".png", ".csv"):
                _copy(path, site / "generated" / path.relative_to(ROOT))


def _copy(source: Path, target: Path) -> None:
    text = source.read_bytes()
    if source.suffix == ".md":
        text = _titled(source, source.read_text()).encode()
    if not target.exists() or target.read_bytes() != text:
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(text)


def _titled(source: Path, text: str) -> str:
    """Return the text with a title; stored tables have none. Pages without a place in the contents say so."""
    if not text.startswith("#"):
        text = f"# {source.parent.name}\n\n{text}"
    return f"---\norphan: true\n---\n\n{text}" if "results" in source.parts else text


def redirect_links(app: Sphinx, name: str, source: list[str]) -> None:
    """Let links to pages of the repository lead to their copies."""
    page = Path(app.env.doc2path(name))
    origin = next((ROOT / path for path, copy in PAGES.items() if Path(app.srcdir) / copy == page), page)
    source[0] = _LINK.sub(lambda match: _redirected(match, page, origin, Path(app.srcdir)), source[0])


def _redirected(match: re.Match[str], page: Path, origin: Path, site: Path) -> str:
    link, anchor = match.groups()
    here = (page.parent / link).resolve()
    if link.startswith("/") or (here.exists() and here.is_relative_to(site)):
        return match[0]
    found = _on_the_site((origin.parent / link).resolve(), site)
    return match[0] if found is None else f"](/{found.relative_to(site).as_posix()}{anchor})"


def _on_the_site(target: Path, site: Path) -> Path | None:
    """Return the page or file of the site that shows a file of the repository; None: there is none."""
    if target.is_relative_to(site):
        return target
    if not target.is_relative_to(ROOT):
        return None
    name = target.relative_to(ROOT).as_posix()
    found = site / PAGES.get(name, f"generated/{name}")
    return found if found.exists() else None
