"""Select the columns of a table that a command needs, by name."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from hideseek.errors import InputError
from hideseek.wording import did_you_mean, some

if TYPE_CHECKING:
    import narwhals as nw

__all__ = ["check_names", "features_for", "frame_of", "not_used"]


_NAMED = 20


def check_names(table: nw.DataFrame[Any], names: Iterable[str], source: str) -> None:
    """Raise if the table has no column of one of these names."""
    for name in names:
        if name not in table.columns:
            hint = did_you_mean(name, table.columns) or f"; it has {', '.join(table.columns[:_NAMED])}"
            more = "" if hint.endswith("?") or len(table.columns) <= _NAMED else ", ..."
            raise InputError(f"{source} has no column {name!r}{hint}{more}")


def features_for(model: Any, table: nw.DataFrame[Any], source: str) -> Any:
    """Return the columns that the model was fitted on, in that order; other columns are ignored."""
    names = getattr(model, "feature_names_in_", None)
    if names is None:  # fitted on an array: columns are matched by position
        return table.to_numpy()
    known = set(table.columns)
    missing = [str(name) for name in names if name not in known]
    if missing:
        hint = did_you_mean(missing[0], not_used(model, table))
        raise InputError(f"{source} lacks {len(missing)} of the model's {len(names)} features: {some(missing)}{hint}")
    return table.select([str(name) for name in names]).to_native()


def not_used(model: Any, table: nw.DataFrame[Any]) -> list[str]:
    """Return the columns of the table that the model does not use."""
    known = {str(name) for name in getattr(model, "feature_names_in_", table.columns)}
    return [name for name in table.columns if name not in known]


def frame_of(columns: dict[str, Any], like: nw.DataFrame[Any] | None = None) -> nw.DataFrame[Any]:
    """Return a table with these columns, made with the library of ``like`` or with any installed one."""
    import narwhals as nw

    from hideseek.cli._formats import installed

    if like is not None:
        return nw.from_dict(columns, backend=like.implementation)
    for library in ("pandas", "polars", "pyarrow"):
        if installed(library):
            return nw.from_dict(columns, backend=library)
    raise ModuleNotFoundError("writing a table needs pandas, polars or pyarrow: pip install 'hideseek[data]'")
