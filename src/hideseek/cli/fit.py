"""``hideseek fit``: fit a model to a table and save it."""

from __future__ import annotations

import argparse
import json
import shlex
import time
from typing import TYPE_CHECKING, Any

from hideseek.cli._output import Output
from hideseek.cli._target import TASKS
from hideseek.cli._training_rows import TrainingRows, training_rows
from hideseek.cli._usage import UsageError
from hideseek.cli._writing import check_free, check_suffix, with_path_in_errors
from hideseek.engine.recipe import PRESETS
from hideseek.errors import InputError
from hideseek.wording import did_you_mean, values_by_name

if TYPE_CHECKING:
    import narwhals as nw
    from numpy.typing import NDArray

    from hideseek.explanation import Explanation

HELP = "learn from a table which features decide, and save the model"

_TOP = 5


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of ``hideseek fit``."""
    parser.add_argument(
        "data",
        metavar="DATA",
        nargs="+",
        help="the table to learn from; - is CSV on standard input. Of a folder, a pattern or several files, of "
        "any size, a random sample of the rows is learned from",
    )
    parser.add_argument("--target", required=True, metavar="COLUMN", help="the column to predict")
    parser.add_argument("--out", required=True, metavar="MODEL.safetensors", help="where the model goes")
    parser.add_argument("--force", action="store_true", help="replace the file if it exists")
    parser.add_argument(
        "--drop", action="append", default=[], metavar="COLUMN", help="ignore this column; may be repeated"
    )
    parser.add_argument("--weight", metavar="COLUMN", help="how much each row counts; default: all the same")
    parser.add_argument(
        "--rows",
        type=int,
        metavar="NUMBER",
        help="rows to draw from a folder, a pattern or several files; default: 300,000, fewer of a wide table",
    )
    parser.add_argument(
        "--task",
        choices=TASKS,
        default="auto",
        help="auto: classification for text and for at most 20 different integers, else regression",
    )
    parser.add_argument(
        "--preset", choices=tuple(PRESETS), default="balanced", help="training preset; default: balanced"
    )
    parser.add_argument(
        "--penalty",
        type=_penalty,
        metavar="auto|NUMBER",
        help="price of showing all features of a row; a larger one selects fewer. Default: chosen on held-out rows; "
        "with --preset paper, fixed by the number of features",
    )
    parser.add_argument(
        "--held-out", type=float, default=0.0, metavar="SHARE", help="share of the rows to hold out and score on"
    )
    parser.add_argument("--device", default="auto", help="auto, cpu or cuda; default: auto")
    parser.add_argument(
        "--seed", type=int, default=0, help="random seed; the same seed gives the same model; default: 0"
    )
    parser.add_argument(
        "--set",
        action="append",
        default=[],
        type=_assignment,
        metavar="NAME=VALUE",
        help="any other parameter of the estimator, as in --set n_members=3 --set 'hidden_layers=[64, 64]'",
    )


def run(arguments: argparse.Namespace, output: Output) -> dict[str, Any]:
    """Fit the model, save it, and print a summary."""
    check_suffix(arguments.out, ".safetensors", "a model")
    if not 0 <= arguments.held_out < 1:
        raise UsageError(f"--held-out {arguments.held_out:g}: expected a share of at least 0 and below 1, such as 0.2")
    check_free(arguments.out, force=arguments.force)
    rows = training_rows(arguments, progress=not output.as_json)
    model = _estimator(rows.task, arguments)
    train, held_out = _parts(rows.y, rows.task, arguments)
    start = time.perf_counter()
    model.fit(rows.table[train].to_native(), rows.y[train], None if rows.weight is None else rows.weight[train])
    model.target_name_ = arguments.target  # y is an array, which has no name
    if rows.sample is not None:
        model.fitted_files_ = rows.sample.fitted_files(len(train))
    seconds = time.perf_counter() - start
    with with_path_in_errors(arguments.out):
        model.save(arguments.out)
    explanation = model.explain(rows.table[train].to_native())
    result = {
        "model": arguments.out,
        "rows": len(train),
        "rows_seen": rows.n_seen,
        "features": len(explanation.feature_names),
        "target": arguments.target,
        "task": rows.task,
        "classes": getattr(model, "classes_", None),
        "preset": model.preset,
        "penalty": model.penalty_,
        "seconds": seconds,
        "held_out": _scores(model, rows.table[held_out], rows.y[held_out]) if len(held_out) else None,
        "selected_per_row": float(explanation.n_selected.mean()),
        "most_selected": _most_selected(explanation),
        "cuts": model.cuts_,
    }
    _say(result, rows, output)
    return result


def _penalty(text: str) -> float | str:
    try:
        return text if text == "auto" else float(text)
    except ValueError:
        raise argparse.ArgumentTypeError(f"expected auto or a number, got {text!r}") from None


def _assignment(text: str) -> tuple[str, Any]:
    name, sign, value = text.partition("=")
    if not (name and sign):
        raise argparse.ArgumentTypeError(f"expected NAME=VALUE, got {text!r}")
    try:
        return name, json.loads(value)
    except ValueError:
        return name, value


def _estimator(task: str, arguments: argparse.Namespace) -> Any:
    from hideseek import HideSeekClassifier, HideSeekRegressor

    estimator = HideSeekClassifier if task == "classification" else HideSeekRegressor
    given = {
        "preset": arguments.preset,
        "penalty": arguments.penalty,
        "device": arguments.device,
        "random_state": arguments.seed,
        "verbose": True,
    }
    others = dict(arguments.set)
    known = [name for name in estimator().get_params() if name not in given]
    for name in others:
        if name not in known:
            hint = "; use its own option" if name in given or name == "random_state" else ""
            raise UsageError(f"--set {name}: no such parameter{hint or did_you_mean(name, known)}")
    return estimator(**given, **others)


def _parts(y: NDArray[Any], task: str, arguments: argparse.Namespace) -> list[NDArray[Any]]:
    """Return the rows to fit and the rows to score on, stratified by class in classification."""
    import numpy as np

    from hideseek.tables import held_out_rows

    if not arguments.held_out:
        return [np.arange(len(y)), np.arange(0)]
    classes = y.astype(str) if task == "classification" else None
    try:
        return held_out_rows(len(y), arguments.held_out, arguments.seed, classes)
    except ValueError as error:
        raise InputError(f"--held-out {arguments.held_out:g}: {error}") from error


def _scores(model: Any, table: nw.DataFrame[Any], y: NDArray[Any]) -> dict[str, Any]:
    from hideseek.metrics import auroc

    X = table.to_native()
    if not hasattr(model, "classes_"):
        return {"rows": len(y), "r2": model.score(X, y)}
    try:
        area = auroc(y, model.predict_proba(X))
    except InputError:  # too few rows to contain every class
        area = None
    return {"rows": len(y), "accuracy": model.score(X, y), "auroc": area}


def _most_selected(explanation: Explanation) -> list[dict[str, Any]]:
    share = explanation.selected.mean(axis=0)
    order = (-share).argsort(kind="stable")[:_TOP]
    return [{"feature": explanation.feature_names[j], "share": float(share[j])} for j in order if share[j]]


def _say(result: dict[str, Any], rows: TrainingRows, output: Output) -> None:
    classes, held_out = result["classes"], result["held_out"]
    names = {"accuracy": "accuracy", "auroc": "AUROC", "r2": "R2"}
    found = {word: (held_out or {}).get(name) for name, word in names.items()}
    scores = [f"{word} {score:.3f}" for word, score in found.items() if score is not None]
    often = [f"{item['feature']} ({item['share']:.0%} of rows)" for item in result["most_selected"]]
    kind = result["task"] if classes is None else f"{result['task']}, {len(classes)} classes"
    of_all = f" of {rows.n_seen:,}" if result["rows"] < rows.n_seen else ""
    files = "" if rows.sample is None else f" ({rows.sample.n_files:,} files)"
    output.line(f"Fitted {result['rows']:,}{of_all} rows of {rows.title}{files} in {result['seconds']:.1f} s.")
    output.facts(
        {
            "target": f"{result['target']} ({kind})",
            "penalty": f"{result['penalty']:.3g}",
            "held out": f"{', '.join(scores)} on {held_out['rows']:,} held-out rows" if held_out else None,
            "selected": f"{result['selected_per_row']:.1f} of {result['features']:,} features per row",
            "most often": ", ".join(often) or None,
            "jumps": values_by_name(result["cuts"]) if result["cuts"] else None,
            "model": result["model"],
        }
    )
    output.line(f"Next: hideseek explain {shlex.quote(result['model'])} NEW.csv --out explained.csv")
