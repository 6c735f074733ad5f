"""The paper's tables and figures, one command each: `python -m experiments list`."""

from __future__ import annotations

import argparse
from importlib import import_module
from pathlib import Path

from experiments.experiment import Experiment
from experiments.report import write_report
from hideseek.errors import HideSeekError, InputError

NAMES = (
    "synthetic", "runtime", "switch", "correlated", "knockoff", "credit", "mnist", "brca", "masks", "lambda", "fewer-k",
    "annealing", "million", "hundred", "california",
    "beyond", "unseen", "reliability", "audit", "rows", "conditional",
)  # fmt: skip
"""Each is a module beside this one with an ``EXPERIMENT``; to add one, add its name."""

MODULES = {"lambda": "penalty", "fewer-k": "fewer_k"}
"""Where the name is no name of a module."""


def experiment(name: str) -> Experiment:
    found: Experiment = import_module(f"experiments.{MODULES.get(name, name)}").EXPERIMENT
    return found


def main() -> None:
    arguments = parser().parse_args()
    if arguments.command == "report":
        print(shown(write_report({name: experiment(name) for name in NAMES}, quick=arguments.quick)))
        return
    chosen = NAMES if arguments.command in ("list", "all") else (arguments.name,)
    verbs = ("run", "compare", "figures") if arguments.command == "all" else (arguments.command,)
    for name in chosen:
        for verb in verbs:
            do(verb, name, arguments)


def do(verb: str, name: str, arguments: argparse.Namespace) -> None:
    whole, quick = experiment(name), getattr(arguments, "quick", False)
    if verb == "list":
        print(f"{name:14}{whole.about}")
        return
    parts = (whole, *whole.parts)
    for what in ("methods", "datasets"):
        known = list(dict.fromkeys(label for one in parts for label in getattr(one.config(quick), what)))
        unknown = [label for label in getattr(arguments, what, ()) if label not in known]
        if unknown:
            raise InputError(f"{name} has no {what[:-1]} {'; '.join(unknown)}; it has {'; '.join(known)}")
    for one in parts:
        do_part(verb, one, quick, arguments)


def do_part(verb: str, one: Experiment, quick: bool, arguments: argparse.Namespace) -> None:
    config = one.config(quick)
    name = one.label(quick=False)
    if verb == "run":
        methods = [label for label in arguments.methods if label in config.methods]
        datasets = [label for label in arguments.datasets if label in config.datasets]
        if (arguments.methods and not methods) or (arguments.datasets and not datasets):  # they are of another part
            return
        results = one.run(
            quick=quick,
            seeds=arguments.seeds,
            methods=methods,
            datasets=datasets,
            device=arguments.device,
            backend=arguments.backend,
            n_jobs=arguments.jobs,
            stack_size=arguments.stack,
            retry_failed=arguments.retry_failed,
        )
        print(f"{name}: {results}")
    elif verb == "compare":
        print(one.compare(quick=quick))
    else:
        for path in one.draw(quick=quick):
            print(shown(path))


def shown(path: Path) -> Path:
    return path.relative_to(Path.cwd()) if path.is_relative_to(Path.cwd()) else path


def parser() -> argparse.ArgumentParser:
    top = argparse.ArgumentParser(prog="python -m experiments", description=__doc__.splitlines()[0])
    commands = top.add_subparsers(dest="command", required=True)
    commands.add_parser("list", help="what there is")
    helps = {
        "run": "do the jobs that are not done yet, and store each as it is done",
        "compare": "the paper's numbers beside ours, printed and written to results/NAME/",
        "figures": "draw what the paper draws",
        "all": "run, compare and figures, of every experiment",
        "report": "RESULTS.md, from what compare has written of every experiment",
    }
    for verb, text in helps.items():
        command = commands.add_parser(verb, help=text)
        if verb not in ("all", "report"):
            command.add_argument("name", choices=NAMES)
        command.add_argument("--quick", action="store_true", help="a small version, to see whether everything works")
        if verb in ("run", "all"):
            command.add_argument("--seeds", type=int, help="seeds 0 to N - 1, instead of the experiment's own")
            command.add_argument("--methods", nargs="+", default=(), help="some of the methods, by label")
            command.add_argument("--datasets", nargs="+", default=(), help="some of the datasets, by label")
            command.add_argument("--device", default="auto", help="auto, cpu or cuda")
            command.add_argument("--backend", default="serial", help="serial, processes or ray")
            command.add_argument("--jobs", type=int, help="how many workers; one per core if not given")
            command.add_argument("--stack", type=int, help="how many jobs share a stack at most")
            command.add_argument("--retry-failed", action="store_true", help="do failed jobs again")
    return top


if __name__ == "__main__":
    try:
        main()
    except HideSeekError as error:
        raise SystemExit(f"{type(error).__name__}: {error}") from None
