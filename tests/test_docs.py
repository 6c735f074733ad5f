"""The pages for people who work on the library name what is there."""

import re
from pathlib import Path

import pytest

from hideseek.engine.recipe import PRESETS

ROOT = Path(__file__).parents[1]
PAGES = [
    "README.md",
    "CONTRIBUTING.md",
    "CHANGELOG.md",
    *(f"docs/{path.name}" for path in (ROOT / "docs").glob("*.md")),
    *(f"docs/how-to/{path.name}" for path in (ROOT / "docs/how-to").glob("*.md")),
]
MAP = (ROOT / "docs/architecture.md").read_text()


@pytest.mark.parametrize("page", PAGES)
def test_links_to_files_lead_somewhere(page):
    links = re.findall(r"\]\(([^)#]+)[^)]*\)", (ROOT / page).read_text())
    missing = [link for link in links if "://" not in link and not (ROOT / page).parent.joinpath(link).exists()]
    assert not missing


@pytest.mark.parametrize("page", ["CONTRIBUTING.md", "docs/architecture.md", "docs/glossary.md", "docs/releasing.md"])
def test_pages_name_files_that_exist(page):
    known = [
        f"/{path.relative_to(ROOT)}"
        for folder in ("src", "tests", "experiments", "benchmarks", "examples", "docs")
        for path in (ROOT / folder).rglob("*.*")
    ]
    named = set(re.findall(r"`([\w/]+\.(?:py|js|html))`", (ROOT / page).read_text()))
    examples = {name for name in named if "NAME" in name or "TOPIC" in name or name == "utils.py"}
    missing = [name for name in named - examples if not any(path.endswith(f"/{name}") for path in known)]
    assert not missing


def test_every_room_is_on_the_map():
    named = set(re.findall(r"`(\w+)`", MAP))
    rooms = {path.stem for path in (ROOT / "src/hideseek").glob("[a-z]*") if path.suffix in ("", ".py")}
    assert rooms <= named


def test_make_targets_that_pages_name_exist():
    targets = set(re.findall(r"^([\w-]+):", (ROOT / "Makefile").read_text(), re.MULTILINE))
    workflows = (".github/workflows/test.yml", ".github/workflows/pages.yml")
    for page in ("README.md", "CONTRIBUTING.md", "docs/releasing.md", "docs/start.md", *workflows):
        assert set(re.findall(r"(?:`|run: )make ([\w-]+)", (ROOT / page).read_text())) <= targets
    workflow = (ROOT / ".github/workflows/test.yml").read_text()
    assert set(re.findall(r"target: ([\w-]+)", workflow)) <= targets


def test_registries_that_the_map_names_exist():
    files = [
        *(ROOT / "src").rglob("*.py"),
        *(ROOT / "experiments").glob("*.py"),
        *(ROOT / "tests").rglob("*.py"),
    ]
    source = "\n".join(path.read_text() for path in files)
    registries = set(re.findall(r"`(_?[A-Z][A-Z_]{3,})`", MAP))
    assert "PRESETS" in registries
    assert not {name for name in registries if not re.search(rf"^{name}\b.*=", source, re.MULTILINE)}


def test_the_glossary_has_every_preset():
    glossary = (ROOT / "docs/glossary.md").read_text()
    assert [preset for preset in PRESETS if f'"{preset}"' not in glossary] == []
