"""The public function that writes a report."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import Any

from numpy.typing import ArrayLike

from hideseek.explanation import Explanation
from hideseek.files import write_atomically
from hideseek.report.page.assembly import assemble
from hideseek.report.page.columns import Categories
from hideseek.report.page.content import gather
from hideseek.validation import Rule, check_parameters, integer

__all__ = ["write_report"]


_RULES = {
    "explanation": Rule("an Explanation", lambda value: isinstance(value, Explanation)),
    "title": Rule("text", lambda value: isinstance(value, str)).or_none(),
    "model": Rule(
        "a fitted model", lambda value: hasattr(value, "get_params") and not isinstance(value, type)
    ).or_none(),
    "quality": Rule("a dict from names to figures", lambda value: isinstance(value, Mapping)).or_none(),
    "categories": Rule(
        "a dict from columns to dicts from values to names",
        lambda value: isinstance(value, Mapping) and all(isinstance(names, Mapping) for names in value.values()),
    ).or_none(),
    "protected": Rule(
        "a list of names of features",
        lambda value: isinstance(value, list | tuple) and all(isinstance(name, str) for name in value),
    ).or_none(),
    "max_rows": integer(1),
}


def write_report(
    explanation: Explanation,
    path: str | os.PathLike[str],
    *,
    title: str | None = None,
    model: Any = None,
    y: ArrayLike | None = None,
    quality: Mapping[str, float | str] | None = None,
    categories: Categories | None = None,
    protected: Sequence[str] | None = None,
    other: Explanation | None = None,
    max_rows: int = 5000,
) -> None:
    """Write one self-contained HTML file with the results, which needs no network.

    It says in one sentence and one picture what decides, and how far to believe it; it has the ranking over all rows,
    groups of rows with different selections, comparisons of any two groups, a heatmap, every row with its sentence
    (also as CSV), the model's settings; and the model itself, so that the reader can change a row's values and see the
    new masks and prediction. The address of the page keeps what the reader has chosen.

    Args:
        explanation: The result of a method's ``explain``.
        path: The file, written atomically.
        title: The title of the page.
        model: The fitted model behind the explanation; needed only where the explanation does not know it, for example
            because it was loaded from a file.
        y: The true labels of the rows; the page then shows how well they were predicted.
        quality: Your own figures by name, such as ``{"AUROC, test rows": 0.81}``.
        categories: For columns of numbers that encode categories, the names of the categories:
            ``{"SEX": {1: "male", 2: "female"}}``. They get menus instead of sliders.
        protected: Features that should not decide, such as ``["SEX"]``: the page says in how many rows each of them, or
            any of them, does. The reader can mark others.
        other: Another model's explanation of the same rows, for the comparison on the page.
        max_rows: Largest number of rows that the page shows individually; fewer for wide tables.

    Example:
        >>> import tempfile
        >>> from pathlib import Path
        >>> from hideseek import HideSeekClassifier
        >>> from hideseek.datasets import make_syn
        >>> from hideseek.report import write_report
        >>> data = make_syn("Syn1", n_samples=500, random_state=0)
        >>> explanation = HideSeekClassifier("fast", random_state=0).fit(data.X, data.y).explain(data.X)
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     write_report(explanation, f"{folder}/report.html", y=data.y)
        ...     Path(f"{folder}/report.html").read_text()[:15]
        '<!doctype html>'
    """
    given = {
        "explanation": explanation,
        "title": title,
        "model": model,
        "quality": quality,
        "categories": categories,
        "protected": protected,
        "max_rows": max_rows,
    }
    check_parameters("write_report", given, _RULES)
    content = gather(
        explanation,
        title=title,
        model=model,
        y=y,
        quality=quality,
        categories=categories,
        protected=protected or (),
        other=other,
        max_rows=max_rows,
    )
    write_atomically(path, assemble(content).encode("utf-8"))
