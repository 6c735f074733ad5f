"""``hideseek benchmark``: run methods on datasets over seeds, from a configuration file."""

from __future__ import annotations

import argparse
import warnings
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hideseek.cli._columns import check_names, frame_of
from hideseek.cli._formats import format_of, is_stream
from hideseek.cli._output import Output, one_line
from hideseek.cli._reading import read_table
from hideseek.cli._target import split_target
from hideseek.cli._writing import check_free, encode_table, write_bytes
from hideseek.errors import InputError

if TYPE_CHECKING:
    from hideseek.benchmark import Config, Results

HELP = "run methods on datasets over seeds, as a configuration file says"

_SHOWN = ("method", "dataset", "score", "median", "worst", "low", "high", "n_seeds", "n_failed")
"""Columns that fit on a terminal; ``--out`` and ``--json`` have more."""
_FILE_KEYS = ("file", "target", "drop")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of ``hideseek benchmark``."""
    parser.add_argument(
        "config",
        metavar="CONFIG",
        help='a .toml or .json file with methods, datasets and seeds; {"file": "mine.csv", "target": "label"} is a '
        "dataset of your own, its path beside the file",
    )
    parser.add_argument(
        "--folder", default="runs", help="where results are stored; an interrupted run is resumed; default: runs"
    )
    parser.add_argument("--show", action="store_true", help="run nothing, print what is stored")
    parser.add_argument(
        "--score", action="append", default=[], metavar="NAME", help="print only this score; may be repeated"
    )
    parser.add_argument("--out", metavar="FILE", help="also write the summary to this file")
    parser.add_argument("--force", action="store_true", help="replace that file if it exists")
    parser.add_argument("--backend", choices=("serial", "processes", "ray"), default="serial", help="default: serial")
    parser.add_argument("--jobs", type=int, metavar="N", help="number of processes; default: the number of cores")
    parser.add_argument("--device", default="auto", help="auto, cpu or cuda; default: auto")
    parser.add_argument("--retry-failed", action="store_true", help="run failed jobs again")


def run(arguments: argparse.Namespace, output: Output) -> dict[str, Any]:
    """Run the jobs that are not stored yet, and print the summary."""
    from hideseek.benchmark import load_results

    if arguments.out is not None:
        format_of(arguments.out)
        check_free(arguments.out, force=arguments.force)
        output.check_one_on_standard_output(arguments.out)
    config = _config(arguments.config)
    folder = Path(arguments.folder) / config.name
    if arguments.show:
        results = load_results(folder, config)
    else:
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", message=r"\d+ of \d+ jobs failed")  # failed jobs are printed below
            results = _stored(config, arguments)
    return _say(results, folder, arguments, output)


def _stored(config: Config, arguments: argparse.Namespace) -> Results:
    from hideseek.benchmark import run as run_grid

    try:
        return run_grid(
            config,
            arguments.folder,
            backend=arguments.backend,
            n_jobs=arguments.jobs,
            device=arguments.device,
            retry_failed=arguments.retry_failed,
        )
    except KeyboardInterrupt:
        raise KeyboardInterrupt("interrupted; run the same command again to resume") from None


def _say(results: Results, folder: Path, arguments: argparse.Namespace, output: Output) -> dict[str, Any]:
    unknown = [name for name in arguments.score if name not in results.scores]
    if unknown:
        raise InputError(f"--score {unknown[0]}: no such score; the results have {', '.join(results.scores) or 'none'}")
    summary = results.summary(*arguments.score)
    if arguments.out is not None:
        columns = {name: [line[name] for line in summary] for name in summary.columns}
        write_bytes(arguments.out, encode_table(frame_of(columns), arguments.out))
    if arguments.out is None or not is_stream(arguments.out):
        output.table(_SHOWN, ([line[name] for name in _SHOWN] for line in summary))
        for record in results.failed:
            where = f"{record['method']} on {record['dataset']}, seed {record['seed']}"
            output.line(one_line(f"failed: {where}: {record['error']['type']}: {record['error']['message']}"))
        n_failed, n_missing = len(results.failed), len(results.missing)
        finished = len(results) - n_failed - n_missing
        again = " (--retry-failed runs them again)" if n_failed else ""
        output.line(f"{finished} jobs finished, {n_failed} failed{again}, {n_missing} missing; stored in {folder}")
    output.exit_code = 1 if results.failed else 0
    return {
        "folder": str(folder),
        "jobs": len(results),
        "failed": [
            {**{name: record[name] for name in ("method", "dataset", "seed")}, "error": record["error"]["message"]}
            for record in results.failed
        ],
        "missing": len(results.missing),
        "summary": list(summary),
    }


def _config(path: str) -> Config:
    """Read the configuration, and load the tables of datasets given as files."""
    from hideseek.benchmark import Config
    from hideseek.benchmark.config import read_description

    description = read_description(path)
    datasets = description.get("datasets") if isinstance(description, dict) else None
    if isinstance(datasets, dict):
        folder = Path(path).parent
        description["datasets"] = {
            label: _own_table(label, given, folder) if isinstance(given, Mapping) and "file" in given else given
            for label, given in datasets.items()
        }
    return Config.from_dict(description)


def _own_table(label: str, given: Mapping[str, Any], folder: Path) -> dict[str, Any]:
    if not isinstance(given.get("target"), str):
        raise InputError(f"datasets.{label}: a file needs a target, the name of the column to predict")
    path, dropped = str(folder / given["file"]), list(given.get("drop", []))
    table = read_table(path)
    check_names(table, [given["target"], *dropped], path)
    X, y = split_target(table.drop(dropped), given["target"])
    rest = {name: value for name, value in given.items() if name not in _FILE_KEYS}
    return {"X": X.to_native(), "y": y, **rest}
