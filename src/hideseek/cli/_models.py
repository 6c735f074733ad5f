"""Explain the rows of a table with a saved model."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from hideseek.cli._columns import features_for
from hideseek.cli._reading import read_table, title

if TYPE_CHECKING:
    import narwhals as nw

    from hideseek.explanation import Explanation

__all__ = ["explain_file"]


def explain_file(
    model_path: str, data: str, threshold: float | None = None
) -> tuple[Any, nw.DataFrame[Any], Explanation]:
    """Return the model, the table, and the explanation of its rows.

    Args:
        model_path: A file written by ``hideseek fit`` or a model's ``save``.
        data: The path of a table, or "-".
        threshold: Overrides the model's threshold, if given.
    """
    from hideseek import load

    model = load(model_path)
    table = read_table(data)
    if threshold is not None:
        model.set_params(threshold=threshold)
    return model, table, model.explain(features_for(model, table, title(data)))
