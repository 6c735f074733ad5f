"""``hideseek completion``: print scripts for tab completion, built from the parser."""

from __future__ import annotations

import argparse
from typing import Any, NamedTuple

from hideseek.cli._output import Output

HELP = "print a script for tab completion"

_HOW = {
    "bash": "echo 'eval \"$(hideseek completion bash)\"' >> ~/.bashrc",
    "zsh": "echo 'eval \"$(hideseek completion zsh)\"' >> ~/.zshrc",
    "fish": "hideseek completion fish > ~/.config/fish/completions/hideseek.fish",
}


class Option(NamedTuple):
    """An option of a command: its name, its description, whether a value follows, and the possible values."""

    name: str
    about: str
    takes_value: bool
    choices: tuple[str, ...]


class Words(NamedTuple):
    """The words that can follow a command: its options, and fixed words if it does not take files only."""

    about: str
    options: list[Option]
    words: tuple[str, ...]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of ``hideseek completion``."""
    parser.add_argument("shell", choices=tuple(_HOW), help="for which shell")


def run(arguments: argparse.Namespace, output: Output) -> dict[str, Any]:
    """Print the script."""
    shell = arguments.shell
    script = f"{_SCRIPTS[shell](_commands())}# Once and for all: {_HOW[shell]}"
    output.line(script)
    return {"shell": shell, "script": script}


def _commands() -> dict[str, Words]:
    from hideseek.cli._parser import build_parser
    from hideseek.cli.datasets import DATASETS

    (subparsers,) = (action for action in build_parser()._actions if isinstance(action, argparse._SubParsersAction))
    about = {action.dest: action.help or "" for action in subparsers._choices_actions}
    found = {}
    for name, parser in subparsers.choices.items():
        options, words = [], tuple(DATASETS) if name == "datasets" else ()
        for action in parser._actions:
            choices = tuple(map(str, action.choices or ()))
            if action.option_strings:
                help_text = (action.help or "").split(";")[0]
                options.append(Option(action.option_strings[-1], help_text, action.nargs != 0, choices))
            else:
                words += choices
        found[name] = Words(about[name], options, words)
    return found


def _bash(commands: dict[str, Words]) -> str:
    values, options = _cases(commands, 'COMPREPLY=($(compgen -W "{}" -- "$word")); return')
    return f"""\
_hideseek() {{
    local word=${{COMP_WORDS[COMP_CWORD]}} before=${{COMP_WORDS[COMP_CWORD-1]}} command=${{COMP_WORDS[1]}}
    COMPREPLY=()
    if ((COMP_CWORD == 1)); then
        COMPREPLY=($(compgen -W "{" ".join(commands)}" -- "$word"))
        return
    fi
    case "$command $before" in
{values}
    esac
    case "$command $word" in
{options}
    esac
}}
complete -o default -F _hideseek hideseek
"""


def _zsh(commands: dict[str, Words]) -> str:
    values, options = _cases(commands, "compadd -- {}; return")
    names = "\n".join(f"        {_quoted(f'{name}:{words.about}')}" for name, words in commands.items())
    return f"""\
#compdef hideseek
_hideseek() {{
    local -a commands=(
{names}
    )
    if ((CURRENT == 2)); then
        _describe command commands
        return
    fi
    case "$words[2] $words[CURRENT-1]" in
{values}
    esac
    case "$words[2] $words[CURRENT]" in
{options}
    esac
    _files
}}
if [[ $funcstack[1] == _hideseek ]]; then _hideseek "$@"; else compdef _hideseek hideseek; fi
"""


def _fish(commands: dict[str, Words]) -> str:
    lines = []
    for name, words in commands.items():
        lines.append(f"complete -c hideseek -f -n __fish_use_subcommand -a {name} -d {_quoted(words.about)}")
        here = f"complete -c hideseek -n '__fish_seen_subcommand_from {name}'"
        if words.words:
            lines.append(f"{here} -f -a {_quoted(' '.join(words.words))}")
        for option in words.options:
            value = f" -x -a {_quoted(' '.join(option.choices))}" if option.choices else ""
            value = value or (" -r" if option.takes_value else "")
            lines.append(f"{here} -l {option.name.removeprefix('--')}{value} -d {_quoted(option.about)}")
    return "\n".join(lines) + "\n"


def _cases(commands: dict[str, Words], completed: str) -> tuple[str, str]:
    """Return the branches of a shell ``case``: values for each command and option, then the words of each command."""
    values, rest = [], []
    for name, words in commands.items():
        for option in words.options:
            if option.choices:
                values.append(f'        "{name} {option.name}") {completed.format(" ".join(option.choices))} ;;')
        rest.append(f'        "{name} -"*) {completed.format(" ".join(option.name for option in words.options))} ;;')
        if words.words:
            rest.append(f'        "{name} "*) {completed.format(" ".join(words.words))} ;;')
    return "\n".join(values), "\n".join(rest)


def _quoted(text: str) -> str:
    return "'" + text.replace("'", "") + "'"


_SCRIPTS = {"bash": _bash, "zsh": _zsh, "fish": _fish}
