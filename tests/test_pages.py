"""What the README and the pages of the site show can be done: code runs, commands run, numbers are the stored ones."""

import csv
import re
import shlex
from importlib.util import find_spec
from pathlib import Path

import pytest

from hideseek import cli

ROOT = Path(__file__).parent.parent
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md")), *sorted((ROOT / "docs/how-to").glob("*.md"))]
BLOCK = re.compile(r"^```python\n(.*?)^```\n(?:\n```text\n(.*?)```)?", flags=re.DOTALL | re.MULTILINE)
BLOCKS: dict[str, tuple[str, str]] = {}
for page in PAGES:
    for i, (code, output) in enumerate(BLOCK.findall(page.read_text())):
        if not any(code == known for known, _ in BLOCKS.values()):  # the first lines are on two pages
            BLOCKS[f"{page.stem} {i + 1}"] = code, output
README = PAGES[0].read_text()


@pytest.mark.parametrize(("code", "output"), BLOCKS.values(), ids=BLOCKS)
def test_code_on_pages_runs(code, output, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    exec(compile(code, "page", "exec"), {})
    if output:
        # The features are promised; the last digits, and so the order of equals, belong to the machine.
        words = re.compile(r"[A-Za-z]\w*")
        assert sorted(words.findall(capsys.readouterr().out)) == sorted(words.findall(output))


def commands_of(page):
    blocks = "".join(re.findall(r"```sh\n(.*?)```", page.read_text(), flags=re.DOTALL))
    return [shlex.split(line, comments=True)[1:] for line in re.findall(r"^hideseek .*", blocks, re.MULTILINE)]


def test_commands_on_pages_run(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    commands = commands_of(ROOT / "docs/how-to/command-line.md")
    assert len(commands) > 4
    assert [words for words in commands_of(PAGES[0]) if words not in commands] == []
    for words in commands:
        if words[0] == "demo" or (words[0] == "export" and not find_spec("onnx")):
            continue  # the demo has tests of its own
        assert cli.main(words) == 0, (words, capsys.readouterr().err)


def test_the_readme_is_short_and_reaches_an_explanation_in_six_lines():
    assert len(README.splitlines()) <= 120
    first, _ = BLOCKS["README 1"]
    assert len([line for line in first.splitlines() if line]) <= 6
    assert "explain" in first


def test_figures_of_the_readme_are_the_stored_ones():
    names = {
        "Syn1-6, 11 columns, 10,000 rows": ("11", "Syn4, 11 columns"),
        "Syn1-6, 100 columns": ("100", "Syn4, 100 columns"),
        "Syn1-6, all columns correlated at 0.9": ("rho 0.9", "Syn4, 11 columns, rho 0.9"),
        "Syn1-6 on the columns of a credit table": ("credit", "Syn4 on credit columns"),
        "California switch": ("california", "California switch"),
        "Syn1-6, 2,000 rows": ("2000 rows", None),
        "Syn1-6, 300 rows": ("300 rows", None),
    }
    scores = {
        line["setting"]: line for line in stored("experiments/results/beyond/table.csv") if line["method"] == "balanced"
    }
    seconds = {
        (line["setting"], line["method"]): float(line["seconds"]) for line in stored("benchmarks/results/cost.csv")
    }
    for name, (setting, table) in names.items():
        f1, worst, time = re.search(
            rf"^\| {re.escape(name)} \| (.*?) \| (.*?) \| (.*?)\|$", README, re.MULTILINE
        ).groups()
        assert float(f1) == pytest.approx(float(scores[setting]["f1"]), abs=0.06)
        assert float(worst) == pytest.approx(float(scores[setting]["worst seed"]), abs=0.06)
        if table:
            assert float(time) == pytest.approx(seconds[table, "balanced"] / seconds[table, "peer"], abs=0.06)
    real = (ROOT / "experiments/results/real/README.md").read_text()
    credit = re.search(r"^\| credit \|.*", real, re.MULTILINE)[0].split("|")
    for number in (f"{float(credit[5]):.3f}", f"{float(credit[6]):.3f}", f"{float(credit[8]):.1f}"):
        assert number in README


def stored(path):
    with (ROOT / path).open(newline="") as file:
        return list(csv.DictReader(file))
