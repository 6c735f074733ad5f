"""``hideseek explain``: write which features decided each row of a table."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING, Any

from hideseek.cli._columns import frame_of, not_used
from hideseek.cli._folders import explain_into_folder, to_folder
from hideseek.cli._formats import STANDARD_STREAM, format_of, is_stream
from hideseek.cli._models import explain_file
from hideseek.cli._output import Output
from hideseek.cli._reading import title
from hideseek.cli._usage import UsageError
from hideseek.cli._writing import check_free, encode_table, write_bytes
from hideseek.errors import InputError

if TYPE_CHECKING:
    import narwhals as nw
    from numpy.typing import NDArray

    from hideseek.explanation import Explanation

HELP = "say for each row of a table which features decided"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of ``hideseek explain``."""
    parser.add_argument("model", metavar="MODEL.safetensors", help="a model saved by hideseek fit")
    parser.add_argument(
        "data",
        metavar="DATA",
        nargs="+",
        help="the rows to explain; - is CSV on standard input. A folder, a pattern or several files, of any size, are "
        "explained into a folder, and a run that was stopped goes on when it is called again",
    )
    parser.add_argument(
        "--out",
        default=STANDARD_STREAM,
        metavar="FILE",
        help="where the answer goes; default: standard output, as CSV. A name that ends in /: a folder of Parquet "
        "files, for one DATA of any size too",
    )
    parser.add_argument("--force", action="store_true", help="replace the file, or other answers in the folder")
    parser.add_argument(
        "--format",
        choices=("wide", "long"),
        default="wide",
        help="wide: a line per row with the prediction, the selected features, and the importance and the effect of "
        "each feature; long: a line per row and feature; default: wide",
    )
    parser.add_argument("--data", dest="with_data", action="store_true", help="write the columns of DATA first")
    parser.add_argument("--sentences", action="store_true", help="write a sentence per row instead of a table")
    parser.add_argument(
        "--threshold",
        type=float,
        metavar="NUMBER",
        help="select features whose mask is greater; default: the model's threshold",
    )
    parser.add_argument(
        "--outputs",
        metavar="NAME,...",
        help="columns of the files in a folder: prediction, probability, n_selected, selected, selected_bits, mask, "
        "effect, sentence; default: prediction,n_selected,selected_bits",
    )
    parser.add_argument("--carry", metavar="NAME,...", help="columns of DATA that the files in a folder begin with")


def run(arguments: argparse.Namespace, output: Output) -> dict[str, Any]:
    """Explain the rows, write the result, and print a summary."""
    if to_folder(arguments):
        return explain_into_folder(arguments, output)
    (arguments.data,), path = arguments.data, arguments.out
    if not arguments.sentences:
        format_of(path)
    elif not is_stream(path) and not path.endswith(".txt"):
        raise UsageError(f"--out {path}: sentences go to a .txt file or to - (standard output)")
    check_free(path, force=arguments.force)
    model, table, explanation = explain_file(arguments.model, arguments.data, arguments.threshold)
    n_rows, n_features = explanation.shape
    result: dict[str, Any] = {
        "rows": n_rows,
        "features": n_features,
        "selected_per_row": float(explanation.n_selected.mean()),
        "not_used": not_used(model, table),
        "out": None if path == STANDARD_STREAM else path,
    }
    answer: Any = _sentences(explanation) if arguments.sentences else _table(explanation, table, arguments)
    if output.as_json and path == STANDARD_STREAM:
        result["explained"] = answer if arguments.sentences else answer.rows(named=True)
        return result
    write_bytes(path, "\n".join([*answer, ""]).encode() if arguments.sentences else encode_table(answer, path))
    if not is_stream(path):
        output.line(f"Explained {n_rows:,} rows of {title(arguments.data)}: {path}")
        ignored = ", ".join(result["not_used"])
        mean = f"{result['selected_per_row']:.1f} of {n_features:,} features per row"
        output.facts({"selected": mean, "not used": ignored or None})
    return result


def _sentences(explanation: Explanation) -> list[str]:
    _ = explanation.prediction, explanation.effect  # computed for all rows at once
    return [explanation.describe(row) for row in range(len(explanation))]


def _table(explanation: Explanation, table: nw.DataFrame[Any], arguments: argparse.Namespace) -> nw.DataFrame[Any]:
    import narwhals as nw
    import numpy as np

    wide = arguments.format == "wide"
    columns = _wide(explanation) if wide else _long(explanation)
    answer = frame_of({name: _plain(values) for name, values in columns.items()}, like=table)
    if not arguments.with_data:
        return answer
    both = [name for name in table.columns if name in columns]
    if both:
        raise InputError(f"--data: both {title(arguments.data)} and the result have a column {both[0]!r}; rename it")
    beside = table if wide else table[np.repeat(np.arange(len(table)), explanation.shape[1])]
    return nw.concat([nw.maybe_reset_index(beside), answer], how="horizontal")  # the index is in the column "row"


def _wide(explanation: Explanation) -> dict[str, NDArray[Any]]:
    """Return a table with one line per row."""
    import numpy as np

    names = np.array(explanation.feature_names, dtype=object)
    order, effect = np.argsort(-explanation.importance, axis=1, kind="stable"), explanation.effect
    chosen = ["; ".join(names[best[own[best]]]) for best, own in zip(order, explanation.selected, strict=True)]
    return {
        "row": explanation.row_labels,
        **_predicted(explanation),
        "n_selected": explanation.n_selected,
        "selected": np.array(chosen, dtype=object),
        **{f"importance_{name}": explanation.importance[:, j] for j, name in enumerate(names)},
        **({} if effect is None else {f"effect_{name}": effect[:, j] for j, name in enumerate(names)}),
    }


def _long(explanation: Explanation) -> dict[str, NDArray[Any]]:
    """Return a table with one line per row and feature."""
    import numpy as np

    from hideseek.stand_ins import best_stand_ins

    n_rows, n_features = explanation.shape
    data, effect = explanation.data, explanation.effect
    stand_in = best_stand_ins(explanation.stand_ins_by_feature, explanation.feature_names, explanation.selected)
    return {
        "row": np.repeat(explanation.row_labels, n_features),
        **{name: np.repeat(values, n_features) for name, values in _predicted(explanation).items()},
        "feature": np.tile(np.array(explanation.feature_names, dtype=object), n_rows),
        **({} if data is None else {"value": data.reshape(-1)}),
        "importance": explanation.importance.reshape(-1),
        "selected": explanation.selected.reshape(-1),
        **({} if effect is None else {"effect": effect.reshape(-1)}),
        **({} if stand_in is None else {"stand_in": stand_in.reshape(-1)}),
    }


def _predicted(explanation: Explanation) -> dict[str, NDArray[Any]]:
    found = {"prediction": explanation.prediction, "probability": explanation.probability}
    return {name: values for name, values in found.items() if values is not None}


def _plain(values: NDArray[Any]) -> NDArray[Any]:
    """Return a column of one type: values of mixed types become text."""
    import numpy as np

    if values.dtype.kind == "U":
        return values.astype(object)
    if values.dtype != object or len({type(value) for value in values if value is not None}) <= 1:
        return values
    return np.array([None if value is None or value != value else str(value) for value in values], dtype=object)
