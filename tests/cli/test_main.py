import subprocess
import sys

import pytest

from hideseek.cli import main
from hideseek.cli._parser import COMMANDS
from hideseek.explanation import Explanation


def test_help_is_light_and_names_every_command_and_exit_code():
    code = (
        "import sys; from hideseek.cli import main; code = main(['fit', '--help']) or main(['--help']);"
        "heavy = {'torch', 'sklearn', 'numpy', 'pandas', 'narwhals', 'rich'};"
        "print('heavy:', *heavy & set(sys.modules)); sys.exit(code)"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout.endswith("heavy:\n")
    for word in (*COMMANDS, "130  interrupted", "141"):
        assert word in run.stdout


def test_the_module_is_the_command():
    run = subprocess.run([sys.executable, "-m", "hideseek", "--version"], capture_output=True, text=True, check=True)
    assert run.stdout.startswith("hideseek 0.")
    run = subprocess.run([sys.executable, "-m", "hideseek", "fitt"], capture_output=True, text=True, check=False)
    assert (run.returncode, run.stdout) == (2, "")
    assert run.stderr == "error: there is no command 'fitt'; did you mean 'fit'?\n"


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("zzz",), "there is no command 'zzz'; the commands are demo, fit, explain"),
        (("explain",), "the following arguments are required: MODEL.safetensors, DATA; see hideseek explain --help"),
        (("info", "--nonsense"), "unrecognized arguments: --nonsense"),
    ],
)
def test_usage_is_explained_in_one_line(run, run_json, words, message):
    code, out, err = run(*words)
    assert (code, out) == (2, "")
    assert err.startswith(f"error: {message}")
    assert err.count("\n") == 1
    code, result, _ = run_json(*words)
    assert (code, result["exit_code"]) == (2, 2)
    assert result["error"].startswith(message)


def test_json_without_a_command_is_refused(run_json):
    code, result, err = run_json()
    assert (code, result["exit_code"]) == (2, 2)
    assert err.startswith("error: no command given: expected one of demo, fit, explain, report")


def test_an_unexpected_error_is_one_line_and_debug_shows_where(run, saved, data, monkeypatch):
    def broken(*_):
        raise ZeroDivisionError("of all things")

    monkeypatch.setattr(Explanation, "describe", broken)
    code, _, err = run("explain", saved, data, "--sentences")
    assert (code, err) == (1, "error: ZeroDivisionError: of all things (--debug shows where)\n")
    code, _, err = run("explain", saved, data, "--sentences", "--debug")
    assert code == 1
    assert "Traceback" in err


def test_options_of_all_commands_may_stand_in_front(run):
    code, out, _ = run("--json", "datasets")
    assert code == 0
    assert out.startswith('{"command": "datasets"')


def test_a_table_is_bold_on_a_terminal_and_plain_elsewhere(run, monkeypatch):
    monkeypatch.setenv("TERM", "xterm")
    assert "\x1b" not in run("datasets")[1]
    monkeypatch.setattr("sys.stdout.isatty", lambda: True)
    assert "\x1b[1m" in run("datasets")[1]


def test_main_returns_the_exit_code(capsys):
    assert main(["--version"]) == 0
    assert capsys.readouterr().out.startswith("hideseek ")
