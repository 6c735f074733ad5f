"""Odd inputs to explanations, pictures, pages, metrics, datasets, configurations and commands."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import matplotlib
import numpy as np

from benchmarks.odd_inputs.case import Case, any_of, each
from benchmarks.odd_inputs.models import first_column, fitted
from benchmarks.odd_inputs.values import FRAME, SCALARS, TABLES, TARGETS, X, Y
from hideseek import Explanation, datasets, metrics, report
from hideseek.benchmark import Config, load_results, run
from hideseek.cli import main

matplotlib.use("Agg")

MASK = X > 0
ARRAYS = {
    given: TABLES[given]
    for given in (
        "None", "a number", "text", "an object", "empty list", "ragged list", "list of texts", "dict of lists",
        "one-dimensional", "three-dimensional", "no rows", "no columns", "one row", "too many columns", "one NaN",
        "inf", "complex", "texts", "dates", "structured", "matrix", "object with None", "object with 10**400",
        "sparse", "frame", "polars",
    )
}  # fmt: skip


def explanations() -> Iterator[Case]:
    """Odd arguments of explanations."""
    for name in ("importance", "selected", "data", "feature_names", "row_labels"):
        yield from any_of("Explanation", {name: {**ARRAYS, **SCALARS}}, made)
    for name in ("importance_kind", "predictor", "inputs", "frame_library", "target_name"):
        yield from any_of("Explanation", {name: SCALARS}, lambda **given: used(made(**given)))
    keys = {**SCALARS, "99": 99, "-99": -99, "slice": slice(None, None, 0), "three": (0, 0, 0), "two": (99, "x9")}
    yield from each("explanation[...]", keys, lambda key: made()[key])
    yield from each("explanation.describe", {**SCALARS, "99": 99}, lambda row: made().describe(row))


def made(**given: Any) -> Explanation:
    """A small explanation with some arguments replaced."""
    return Explanation(**{"importance": np.abs(X), "selected": MASK, "data": X, **given})


def used(explanation: Explanation) -> None:
    """Ask for all that an explanation gives."""
    explanation.describe(0)
    explanation.to_frame()
    explanation.mean_importance()
    repr(explanation)
    explanation._repr_html_()


def pictures(folder: Path) -> Iterator[Case]:
    """Odd arguments of pictures and pages."""
    plot = made().plot
    for name, parameters in {
        "heatmap": ("max_rows", "max_features", "ax"),
        "bar": ("max_features",),
        "beeswarm": ("max_rows",),
        "histograms": ("relevant", "order"),
        "row": ("row",),
        "image": ("row", "shape", "patch_size", "n_patches", "pixels"),
        "compare": ("other", "labels"),
    }.items():
        fixed: dict[str, Any] = {
            "row": {"row": 0},
            "image": {"row": 0, "shape": (1, 3), "patch_size": 1, "n_patches": 1},
        }
        fixed["compare"] = {"other": made()}
        draw = partial(drawn, getattr(plot, name), fixed.get(name, {}))
        yield from any_of(f"plot.{name}", dict.fromkeys(parameters, SCALARS), draw)
    for draw in (report.plot_history, report.plot_path, report.plot_screening):
        models = {**SCALARS, "unfitted": fitted("HideSeekClassifier", "array").__class__()}
        yield from each(draw.__name__, models, draw)
    explanation = fitted("HideSeekClassifier", "array").explain(X)
    write = partial(report.write_report, explanation, folder / "page.html")
    odd = dict.fromkeys(("title", "model", "y", "quality", "categories", "max_rows"), SCALARS)
    yield from any_of("write_report", {**odd, "y": {**SCALARS, **TARGETS}}, write)
    yield from each(
        "write_report(explanation)", SCALARS, lambda value: report.write_report(value, folder / "page.html")
    )


def drawn(draw: Callable[..., Any], fixed: dict[str, Any], **given: Any) -> None:
    """Draw, and close the figure."""
    from matplotlib import pyplot

    try:
        draw(**{**fixed, **given})
    finally:
        pyplot.close("all")


def scores() -> Iterator[Case]:
    """Odd arguments of metrics."""
    numbers = np.arange(12.0)
    for function, fixed, odd in (
        (metrics.selection_scores, {"selected": MASK, "relevant": MASK}, ("selected", "relevant")),
        (metrics.row_scores, {"selected": MASK, "relevant": MASK}, ("selected",)),
        (metrics.switch_accuracy, {"selected": MASK, "switch": 0}, ("selected", "switch")),
        (metrics.top_k, {"scores": X, "k": 1}, ("scores", "k")),
        (metrics.auroc, {"y": Y, "probability": numbers / 12}, ("y", "probability")),
        (metrics.summarize_seeds, {"values": numbers}, ("values", "confidence", "random_state")),
        (metrics.compare_seeds, {"first": numbers, "second": numbers}, ("first", "second")),
        (metrics.patch_scores, {"importance": X, "shape": (1, 3), "size": 1}, ("importance", "shape", "size")),
        (metrics.best_patches, {"importance": X, "shape": (1, 3), "size": 1, "n_patches": 1}, ("n_patches", "shape")),
        (metrics.answer_fidelity, {"answers": numbers, "others": numbers}, ("answers", "others", "task")),
        (
            metrics.fidelity,
            {"predict": first_column, "X": X, "selected": MASK},
            ("predict", "X", "selected", "background", "task", "n_draws", "random_state"),
        ),
        (
            metrics.compare_fidelity,
            {"predict": first_column, "X": X, "selected": MASK},
            ("importances", "random_state"),
        ),
    ):
        for name in odd:
            yield from any_of(function.__name__, {name: {**SCALARS, **ARRAYS}}, partial(function, **fixed))


def makers() -> Iterator[Case]:
    """Odd arguments of datasets."""
    for function, odd in (
        (datasets.make_syn, ("name", "n_samples", "n_features", "rho", "random_state")),
        (datasets.make_syn_regression, ("name", "n_samples", "random_state")),
        (datasets.make_mixed, ("name", "missing", "n_samples")),
        (datasets.make_switch, ("n_cells", "rho")),
        (datasets.make_multiclass, ("n_classes", "n_features")),
        (datasets.make_cafe, ("n_samples", "random_state")),
        (datasets.make_ice_cream, ("n_samples",)),
    ):
        fixed = {"name": "Syn1"} if function in (datasets.make_syn, datasets.make_syn_regression) else {}
        yield from any_of(function.__name__, dict.fromkeys(odd, SCALARS), partial(function, **fixed))
        yield Case(function.__name__, "unknown keyword", partial(function, no_such_thing=1), (TypeError,))


METHOD = {"forest": {"parameters": {"k": 1, "n_estimators": 2}}}


def deep(levels: int, inner: Any = 0) -> Any:
    """A dict in a dict in a dict."""
    for _ in range(levels):
        inner = {"a": inner}
    return inner


def configurations(folder: Path) -> Iterator[Case]:
    """Odd descriptions of benchmarks, in Python and in files."""
    loop: list[Any] = []
    loop.append(loop)
    odd = {**SCALARS, "1,000 deep": deep(1000), "100,000 deep": deep(100_000), "contains itself": loop}
    odd |= {"labels": {1: "forest"}, "empty dict": {}, "nested": {"forest": {"parameters": deep(1000)}}}
    fixed: dict[str, Any] = {"methods": METHOD, "datasets": {"mine": (X, Y)}}
    yield from any_of("Config", dict.fromkeys(("methods", "datasets", "name", "seeds", "rows", "scores"), odd),
                      lambda **given: Config(**{**fixed, **given}))  # fmt: skip
    yield from each("Config.from_dict", odd, Config.from_dict)
    yield from each("Config methods.forest", odd, lambda value: Config({"forest": value}, fixed["datasets"]))
    yield from each("Config datasets.mine", odd, lambda value: Config(METHOD, {"mine": value}))
    yield from each("Config datasets.mine.X", TABLES, lambda table: Config(METHOD, {"mine": (table, Y)}))
    yield from each("Config datasets.mine.y", TARGETS, lambda y: Config(METHOD, {"mine": (X, y)}))
    texts = {
        "deep.json": '{"a":' * 5000 + "1" + "}" * 5000,
        "deep.toml": "a = " + "[" * 5000 + "]" * 5000,
        "list.json": "[" * 100_000,
        "number.json": "1" * 10_000,
        "broken.json": "{",
        "empty.json": "",
        "empty.toml": "",
        "broken.toml": "= 1",
        "text.txt": "methods",
        "latin.json": b'{"\xe9": 1}',
        "null.json": "\0",
        "nan.json": '{"methods": NaN}',
    }
    for name, text in texts.items():
        (folder / name).write_bytes(text if isinstance(text, bytes) else text.encode())
    files = {name: folder / name for name in (*texts, "missing.json")}
    yield from each("Config.from_file", {**files, **SCALARS}, Config.from_file)
    yield from each("load_results", {**files, **SCALARS}, load_results)
    arguments = dict.fromkeys(("backend", "n_jobs", "stack_size", "device", "keep"), SCALARS)
    small = Config(METHOD, {"mine": (X, Y)})
    yield from any_of("run", arguments, lambda **given: run(small, folder / "runs", verbose=False, **given))
    yield from each("run(config)", odd, lambda value: run(value, folder / "runs", verbose=False))


def commands(folder: Path) -> Iterator[Case]:
    """Odd command lines; an exit code is good, an error of another library in the message is not."""
    FRAME.assign(y=Y).to_csv(folder / "table.csv", index=False)
    (folder / "text.csv").write_text("no table\n")
    (folder / "binary.csv").write_bytes(bytes(range(256)))
    fitted("HideSeekClassifier", "frame").save(folder / "model.safetensors")
    table, model, out = (str(folder / name) for name in ("table.csv", "model.safetensors", "out.safetensors"))
    lines: dict[str, list[str]] = {
        "nothing": [],
        "unknown command": ["odd"],
        "unknown option": ["fit", table, "--odd"],
        "fit without target": ["fit", table, "--out", out],
        "fit missing file": ["fit", "none.csv", "--target", "y", "--out", out],
        "fit missing target": ["fit", table, "--target", "none", "--out", out],
        "fit text": ["fit", str(folder / "text.csv"), "--target", "y", "--out", out],
        "fit binary": ["fit", str(folder / "binary.csv"), "--target", "y", "--out", out],
        "fit other ending": ["fit", table, "--target", "y", "--out", "model.txt"],
        "explain text": ["explain", str(folder / "text.csv"), table],
        "explain table as model": ["explain", table, table],
        "explain missing model": ["explain", "none.safetensors", table],
        "explain other columns": ["explain", model, str(folder / "text.csv")],
        "explain folder": ["explain", model, str(folder)],
        "report other ending": ["report", model, table, "--out", str(folder / "page.txt")],
        "info text": ["info", str(folder / "text.csv")],
        "info folder": ["info", str(folder)],
        "benchmark missing": ["benchmark", "none.toml"],
        "benchmark deep": ["benchmark", str(folder / "deep.json")],
        "datasets unknown": ["datasets", "odd"],
        "completion unknown": ["completion", "odd"],
    }
    for value in ("nan", "-1", "1e400", "odd", ""):
        lines[f"fit --penalty {value!r}"] = ["fit", table, "--target", "y", "--out", out, f"--penalty={value}"]
        lines[f"fit --held-out {value!r}"] = ["fit", table, "--target", "y", "--out", out, f"--held-out={value}"]
        lines[f"fit --seed {value!r}"] = ["fit", table, "--target", "y", "--out", out, f"--seed={value}"]
        lines[f"fit --set n_members={value!r}"] = [
            "fit",
            table,
            "--target",
            "y",
            "--out",
            out,
            f"--set=n_members={value}",
        ]
        lines[f"explain --threshold {value!r}"] = ["explain", model, table, f"--threshold={value}"]
    yield from each("hideseek", lines, commanded)


def commanded(arguments: list[str]) -> None:
    """Run a command; raise its message if that is an error of another library."""
    import contextlib
    import io

    errors = io.StringIO()
    with contextlib.redirect_stderr(errors), contextlib.suppress(SystemExit):
        main(["--json", *arguments] if arguments else arguments)
    if "--debug shows where" in errors.getvalue() or "Traceback" in errors.getvalue():
        raise RuntimeError(errors.getvalue())
