"""The drawing of the house: which room may import which, what is private, what is heavy, how big a file may be.

Every table of exceptions must be exact: a new exception makes a test fail, and so does one that is no longer needed.
"""

import ast
import re
import subprocess
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import NamedTuple

import hideseek

ROOT = Path(__file__).parent.parent
PACKAGE = ROOT / "src/hideseek"

ROOMS = (
    # what every room may use
    *("_version", "errors", "wording", "markup", "extras", "blocks", "warn", "files", "digests", "cells", "validation"),
    *("frames", "schema", "archives", "persistence", "targets", "tables"),
    "engine",
    "progress",
    "tabular",
    "datasets",
    "metrics",
    # what an explanation is made of
    *("effects", "answers", "stand_ins", "picking", "ranking", "sentences", "interop"),
    *("explanation_file", "explanation_html", "explanation"),
    "search",
    "estimators",
    "scoring",
    "export",
    "baselines",
    "benchmark",
    "report",
    "cli",
    "__main__",
)
"""From the lowest to the highest: a room imports only rooms that stand before it."""

UPWARDS = {
    ("estimators", "export"): "to_onnx loads the export when it is called",
    ("estimators", "scoring"): "explain_files and fit_files load the scoring of files when they are called",
    ("explanation", "report"): "explanation.plot and .report load the figures and the page when they are asked for",
    ("metrics", "report"): "Audit.plot loads the figures when it is asked for",
    ("persistence", "baselines"): "load() finds the class that a file names",
    ("persistence", "estimators"): "load() finds the class that a file names",
}
"""Imports of a higher room inside a function, or by the name of its module, with the reason."""

PRIVATE_ATTRIBUTES = {
    "src/hideseek/baselines/_file_checks.py": {"_moments"},
    "src/hideseek/export/description.py": {"_loss", "_names", "_resolve_shown", "_units"},
    "src/hideseek/export/onnx_file.py": {"_names"},
    "src/hideseek/persistence.py": {"_check_state", "_restore"},  # every class that can be saved has them
    "src/hideseek/report/figures/entering.py": {"_units"},
    "src/hideseek/report/page/quality.py": {"_probabilities"},
}
"""Private attributes of another room that a file still reads. To be made fewer."""

LIBRARIES = {
    "matplotlib": ("report.figures",),
    "narwhals": ("benchmark", "frames", "scoring", "tables", "tabular", "targets"),
    "numpy": ("",),
    "safetensors": ("persistence",),
    "scipy": ("effects", "report.figures", "search"),
    "sklearn": ("baselines", "benchmark", "datasets", "estimators", "metrics", "report", "search", "tables", "targets"),
    "torch": ("baselines", "benchmark", "engine", "estimators", "export", "metrics._audit", "search"),
    "triton": ("engine.fused", "engine.kernel_draws", "engine.kernels"),
}
"""Where a library may be imported at the top of a module; those that are not named are imported inside functions."""

LIGHT = ("datasets", "explanation", "metrics", "persistence", "tables", "tabular", "targets", "validation")
"""Rooms that can be imported without torch."""

MOST_LINES, MOST_LINES_OF_A_FUNCTION = 400, 60
LONG_FILES: dict[str, int] = {}
LONG_FUNCTIONS = {
    "src/hideseek/engine/kernels.py:gradient": 152,  # one kernel of the GPU, whose values stay in registers
    "src/hideseek/estimators/_black_box.py:__init__": 62,  # stores its parameters, one a line
    "src/hideseek/estimators/_classifier.py:__init__": 60,  # the same
}
"""Over the limit when it was set; they may not grow."""


class Import(NamedTuple):
    """One imported module or name, such as "hideseek.engine.recipe.PRESETS".

    ``where`` is "top" of a module, "function", "types" (under TYPE_CHECKING) or "text" (the name of a module as text).
    """

    target: str
    where: str


@cache
def trees() -> dict[Path, ast.Module]:
    folders = ("src", "experiments", "benchmarks", "examples")
    files = sorted(path for folder in folders for path in (ROOT / folder).rglob("*.py"))
    return {path: ast.parse(path.read_text()) for path in files}


def in_package() -> list[Path]:
    return [path for path in trees() if path.is_relative_to(PACKAGE)]


def module_of(path: Path) -> str:
    """Return "engine.recipe" for a module of the package, and "experiments" for any file of that folder."""
    if not path.is_relative_to(PACKAGE):
        return path.relative_to(ROOT).parts[0]
    return ".".join(path.relative_to(PACKAGE).with_suffix("").parts).removesuffix(".__init__")


def room_of(path: Path) -> str:
    return module_of(path).partition(".")[0]


@cache
def imports_of(path: Path) -> list[Import]:
    return list(_imports(path))


def _imports(path: Path) -> Iterator[Import]:
    tree = trees()[path]
    where: dict[ast.AST, str] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef):
            where.update(dict.fromkeys(ast.walk(node), "function"))
        elif isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING":
            where.update(dict.fromkeys(ast.walk(node), "types"))
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (Import(alias.name, where.get(node, "top")) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield from (Import(f"{node.module}.{alias.name}", where.get(node, "top")) for alias in node.names)
        elif isinstance(node, ast.Constant) and re.fullmatch(r"hideseek(\.\w+)+", str(node.value)):
            yield Import(node.value, "text")


def room_named_by(target: str) -> str | None:
    """Return the room of an import; of a name that the package itself offers, the room that it comes from."""
    package, _, rest = target.partition(".")
    if package != "hideseek" or not rest:
        return None
    name = rest.partition(".")[0]
    return name if name in ROOMS else hideseek._ROOMS.get(name, "errors")


def relative(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


def test_every_room_has_its_place_in_the_order():
    assert {room_of(path) for path in in_package()} - {"__init__"} == set(ROOMS)


def test_rooms_import_only_lower_rooms():
    upwards = {
        (room_of(path), room)
        for path in in_package()
        if room_of(path) != "__init__"
        for found in imports_of(path)
        if found.where != "types" and (room := room_named_by(found.target)) is not None
        if ROOMS.index(room) > ROOMS.index(room_of(path))
    }
    assert upwards == set(UPWARDS)


def test_a_higher_room_is_never_imported_at_the_top_of_a_module():
    at_the_top = [
        (relative(path), found.target)
        for path in in_package()
        for found in imports_of(path)
        if found.where == "top" and (room_of(path), room_named_by(found.target)) in UPWARDS
    ]
    assert at_the_top == []


def test_private_modules_and_names_are_imported_in_their_own_room_alone():
    reached = [
        (relative(path), found.target)
        for path in trees()
        for found in imports_of(path)
        if found.target.startswith("hideseek.") and room_named_by(found.target) != room_of(path)
        if any(re.match("_[^_]", part) for part in found.target.split(".")[2:])
    ]
    assert reached == []


def private_names(tree: ast.Module) -> Iterator[str]:
    """Give what a module defines: functions, classes, attributes, names."""
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            yield node.name
        elif isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store):
            yield node.attr
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            yield node.id


def test_private_attributes_are_read_in_their_own_room_alone():
    defined: dict[str, set[str]] = {}
    for path, tree in trees().items():
        defined.setdefault(room_of(path), set()).update(private_names(tree))
    ours = set().union(*defined.values())
    reached: dict[str, set[str]] = {}
    for path, tree in trees().items():
        foreign = ours - defined[room_of(path)]  # what no room defines belongs to another library
        for node in ast.walk(tree):
            if isinstance(node, ast.Attribute) and re.fullmatch("_[^_].*[^_]", node.attr) and node.attr in foreign:
                reached.setdefault(relative(path), set()).add(node.attr)
    assert reached == PRIVATE_ATTRIBUTES


def test_libraries_are_imported_at_the_top_of_modules_only_where_they_are_needed():
    misplaced = [
        (relative(path), found.target)
        for path in in_package()
        for found in imports_of(path)
        if found.where == "top"
        if (library := found.target.partition(".")[0]) not in (*sys.stdlib_module_names, "hideseek")
        if not any(f"{module_of(path)}.".startswith(f"{room}." if room else "") for room in LIBRARIES.get(library, ()))
    ]
    assert misplaced == []


def test_light_rooms_load_no_torch():
    steps = (f"import hideseek.{room}; print({room!r}) if 'torch' in sys.modules else None" for room in LIGHT)
    run = subprocess.run([sys.executable, "-c", "\n".join(["import sys", *steps])], capture_output=True, check=True)
    assert run.stdout.decode().split() == []  # the first room that is named loads torch


def length_of(function: ast.FunctionDef) -> int:
    """Count the lines without the docstring."""
    first = function.body[0]
    documented = ast.get_docstring(function, clean=False) is not None and first.end_lineno is not None
    return function.end_lineno - function.lineno + 1 - (first.end_lineno - first.lineno + 1 if documented else 0)


def check_lengths(lengths: dict[str, int], most: int, longer: dict[str, int]) -> None:
    assert {name: length for name, length in lengths.items() if length > longer.get(name, most)} == {}
    assert [name for name in longer if lengths.get(name, 0) <= most] == []  # no longer needed


def test_files_are_short():
    check_lengths({relative(path): len(path.read_text().splitlines()) for path in trees()}, MOST_LINES, LONG_FILES)


def test_most_files_are_under_200_lines():
    lengths = [len(path.read_text().splitlines()) for path in trees()]
    assert sum(length < 200 for length in lengths) > 0.85 * len(lengths)


def test_functions_are_short():
    lengths: dict[str, int] = {}
    for path, tree in trees().items():
        for node in ast.walk(tree):
            if isinstance(node, ast.FunctionDef):
                name = f"{relative(path)}:{node.name}"
                lengths[name] = max(length_of(node), lengths.get(name, 0))
    check_lengths(lengths, MOST_LINES_OF_A_FUNCTION - 1, LONG_FUNCTIONS)
