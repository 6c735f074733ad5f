"""Assemble the HTML page from templates, sections and data."""

from __future__ import annotations

import json
from base64 import b64encode
from hashlib import sha256
from html import escape
from importlib.resources import files
from string import Template
from typing import Any

from hideseek.report.agreement import method_names
from hideseek.report.page.content import Content
from hideseek.report.page.fields import page_fields
from hideseek.report.page.model import page_model
from hideseek.report.page.path import page_path
from hideseek.report.page.rows import page_features, page_rows
from hideseek.report.page.sections import SECTIONS
from hideseek.report.page.splits import page_splits

__all__ = ["assemble"]

_SCRIPTS = (
    "arrays.js",
    "words.js",
    "model.js",
    "effects.js",
    "path.js",
    "heatmap.js",
    "rows.js",
    "fields.js",
    "whatif.js",
    "compare.js",
    "protected.js",
    "state.js",
    "start.js",
)
"""Concatenated, these form one module; each describes itself at its top."""


def assemble(content: Content) -> str:
    """Return the whole page."""
    style, script = _template("page.css"), "\n".join(_template(name) for name in _SCRIPTS)
    parts = {section.__name__: section(content) for section in SECTIONS}
    return Template(_template("page.html")).substitute(
        parts,
        title=escape(content.title),
        policy=_policy(style, script),
        style=style,
        script=script,
        page_data=_data(content),
    )


def _template(name: str) -> str:
    return (files("hideseek.report.page") / "templates" / name).read_text(encoding="utf-8")


def _policy(style: str, script: str) -> str:
    """Return a content security policy that allows no requests, and no script except this one."""
    style_hash, script_hash = (
        f"'sha256-{b64encode(sha256(text.encode()).digest()).decode()}'" for text in (style, script)
    )
    return (
        f"default-src 'none'; script-src {script_hash}; style-src {style_hash}; img-src data:; "
        "base-uri 'none'; form-action 'none'"
    )


def _data(content: Content) -> str:
    described: dict[str, Any] = {
        "kind": content.explanation.importance_kind,
        "features": page_features(content),
        "groups": [subgroup.name for subgroup in content.subgroups],
        "rows": page_rows(content),
        "path": page_path(content),
        "splits": page_splits(content),
        "protected": [content.explanation.feature_names[j] for j in content.protected],
        "other": _other(content),
        "model": page_model(content.model) if content.obstacle is None else None,
        "fields": page_fields(content) if content.obstacle is None else None,
    }
    text = json.dumps(described, allow_nan=False, separators=(",", ":"), ensure_ascii=False)
    return text.replace("<", "\\u003c")  # otherwise a name could end the script element


def _other(content: Content) -> dict[str, Any] | None:
    """Return the names of the two explanations, and the share of the rows in which the other selects each feature."""
    if content.other is None:
        return None
    shares = content.other.selected[:, content.features].mean(axis=0)
    return {"names": method_names(content.explanation, content.other), "shares": [round(s, 6) for s in shares.tolist()]}
