"""``hideseek datasets``: write synthetic data with known relevant features, and the paper's real data, as tables."""

from __future__ import annotations

import argparse
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from hideseek.cli._columns import frame_of
from hideseek.cli._formats import STANDARD_STREAM, format_of, is_stream
from hideseek.cli._output import Output
from hideseek.cli._usage import UsageError
from hideseek.cli._writing import check_free, encode_table, write_bytes
from hideseek.wording import did_you_mean

if TYPE_CHECKING:
    from hideseek.datasets import Dataset

HELP = "list the datasets, or write one of them as a table"

_OPTIONS = {"rows": "n_samples", "features": "n_features", "rho": "rho", "seed": "random_state"}


@dataclass(frozen=True)
class Entry:
    """A dataset that the command can write.

    Attributes:
        maker: The name of a function of ``hideseek.datasets``.
        about: A description in one line.
        rows: The default number of rows.
        features: The default number of features.
        target: The name of the label column.
        parameters: Fixed arguments of the maker.
        options: The options of the command that apply to it.
    """

    maker: str
    about: str
    rows: int = 10_000
    features: int = 11
    target: str = "y"
    parameters: dict[str, Any] = field(default_factory=dict)
    options: tuple[str, ...] = tuple(_OPTIONS)

    @property
    def is_split(self) -> bool:
        """Return whether the dataset has three parts."""
        return not self.maker.startswith("make_")


_SYN = {
    "Syn1": "x1 x2 decide",
    "Syn2": "x3 to x6 decide",
    "Syn3": "x7 to x10 decide",
    "Syn4": "x11 switches between x1 x2 and x3 to x6",
    "Syn5": "x11 switches between x1 x2 and x7 to x10",
    "Syn6": "x11 switches between x3 to x6 and x7 to x10",
}
_RAW = {"standardize": False}
DATASETS: dict[str, Entry] = {
    **{name: Entry("make_syn", about, parameters={"name": name}) for name, about in _SYN.items()},
    **{
        f"{name}-regression": Entry("make_syn_regression", f"{name} with a real target", parameters={"name": name})
        for name in _SYN
    },
    "cafe": Entry("make_cafe", "the temperature decides which drinks matter", target="profit"),
    "ice-cream": Entry("make_ice_cream", "the temperature alone decides"),
    "switch": Entry("make_switch", "a switch with three cells"),
    "multiclass": Entry("make_multiclass", "a switch with three classes"),
    "mixed": Entry("make_mixed", "Syn4 with text for a switch", 10_000, 15, options=("rows", "rho", "seed")),
    "credit": Entry("load_credit", "default of credit card clients", 30_000, 23, "default", _RAW, ()),
    **{
        f"credit-{name}": Entry("credit_syn", f"clients, labels of {name}", 30_000, 23, "y", {"name": name}, ("seed",))
        for name in _SYN
    },
    "california": Entry("load_california", "median house value", 16_036, 7, "MedHouseVal", _RAW, ("seed",)),
    "california-switch": Entry("california_switch", "the longitude switches", 16_036, 7, "y", {}, ("seed",)),
    "mnist-3-8": Entry("load_mnist_3_8", "images of threes and eights", 13_966, 784, "digit", _RAW, ()),
    "brca": Entry("load_brca", "gene expression, subtype of breast cancer", 572, 100, "subtype", _RAW, ()),
}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of ``hideseek datasets``."""
    parser.add_argument("name", nargs="?", metavar="NAME", help="the dataset to write; without it, list all datasets")
    parser.add_argument("--out", default=STANDARD_STREAM, metavar="FILE", help="default: standard output, as CSV")
    parser.add_argument("--truth", metavar="FILE", help="a second table: True where a feature is relevant for the row")
    parser.add_argument("--force", action="store_true", help="replace the files if they exist")
    parser.add_argument("--rows", type=int, metavar="N", help="how many rows to draw")
    parser.add_argument(
        "--features", type=int, metavar="N", help="number of columns to draw; additional columns are noise"
    )
    parser.add_argument("--rho", type=float, metavar="R", help="correlation of every pair of columns")
    parser.add_argument("--seed", type=int, metavar="N", help="seed of the draw, the labels or the split; default: 0")
    parser.add_argument(
        "--part", choices=("all", "train", "validation", "test"), default="all", help="of real data; default: all"
    )


def run(arguments: argparse.Namespace, output: Output) -> dict[str, Any]:
    """List the datasets, or write one."""
    if arguments.name is None:
        names = ("name", "rows", "features", "about")
        lines = [(name, entry.rows, entry.features, entry.about) for name, entry in DATASETS.items()]
        output.table(names, lines)
        output.line("\nNext: hideseek datasets Syn4 --out syn4.csv")
        return {"datasets": [dict(zip(names, line, strict=True)) for line in lines]}
    name, entry = _entry(arguments.name)
    paths = [path for path in (arguments.out, arguments.truth) if path is not None]
    for path in paths:
        format_of(path)
        check_free(path, force=arguments.force)
    output.check_one_on_standard_output(*paths)
    data = _made(name, entry, arguments)
    if arguments.truth is not None and data.relevant is None:
        raise UsageError(f"--truth: the relevant features of {name} are not known")
    titles = data.feature_names
    features = {title: _column(data.X, j) for j, title in enumerate(titles)}
    write_bytes(arguments.out, encode_table(frame_of({**features, entry.target: data.y}), arguments.out))
    if data.relevant is not None and arguments.truth is not None:
        truth = {title: data.relevant[:, j] for j, title in enumerate(titles)}
        write_bytes(arguments.truth, encode_table(frame_of(truth), arguments.truth))
    result = {"name": name, "rows": len(data.y), "features": len(titles), "target": entry.target, "out": arguments.out}
    if not is_stream(arguments.out):
        output.line(f"{name}: {len(data.y):,} rows, {len(titles):,} features, target {entry.target!r}: {arguments.out}")
        output.line(f"Next: hideseek fit {arguments.out} --target {entry.target} --out {name}.safetensors")
    return result


def _column(X: Any, j: int) -> Any:
    """Return one column; integers in a float array lose their decimal point."""
    if hasattr(X, "iloc"):
        return X.iloc[:, j]
    values = X[:, j]
    return values.astype(int) if (values == values.round()).all() else values


def _entry(given: str) -> tuple[str, Entry]:
    by_lower = {name.lower(): name for name in DATASETS}
    if given.lower() not in by_lower:
        raise UsageError(
            f"there is no dataset {given!r}{did_you_mean(given, DATASETS)}; run hideseek datasets for a list"
        )
    name = by_lower[given.lower()]
    return name, DATASETS[name]


def _made(name: str, entry: Entry, arguments: argparse.Namespace) -> Dataset:
    """Return the rows of a dataset; of real data, all parts in order or one of them."""
    import numpy as np

    from hideseek import datasets

    given = {option: getattr(arguments, option) for option in _OPTIONS}
    given = {option: value for option, value in given.items() if value is not None}
    strange = [option for option in given if option not in entry.options]
    if arguments.part != "all" and not entry.is_split:
        strange.append("part")
    if strange:
        raise UsageError(f"--{strange[0]} does not apply to {name}")
    parameters = {_OPTIONS[option]: value for option, value in given.items()}
    made = getattr(datasets, entry.maker)(**entry.parameters, **parameters)
    if not entry.is_split:
        return datasets.Dataset(made.name, made.X, made.y, made.feature_names, made.relevant)
    parts = list(made) if arguments.part == "all" else [getattr(made, arguments.part)]
    relevant = None if parts[0].relevant is None else np.concatenate([part.relevant for part in parts])
    X, y = (np.concatenate([getattr(part, name) for part in parts]) for name in ("X", "y"))
    return datasets.Dataset(name, X, y, parts[0].feature_names, relevant)
