"""The documentation site: every public name has a page, no warning, no broken link, nothing from another host."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import hideseek
from hideseek import baselines, benchmark, cli, datasets, metrics, report

ROOT = Path(__file__).parents[1]
ROOMS = (hideseek, baselines, benchmark, cli, datasets, metrics, report)
PUBLIC = {f"{room.__name__}.{name}" for room in ROOMS for name in room.__all__ if not name.startswith("__")}
TUTORIALS = sorted((ROOT / "docs/tutorials").glob("*.py"))


def test_every_public_name_is_in_the_reference():
    listed = set(re.findall(r"^   (hideseek\.\S+)$", (ROOT / "docs/api/index.md").read_text(), re.MULTILINE))
    assert PUBLIC - listed == set()


def test_learned_attributes_are_in_the_reference():
    text = (ROOT / "docs/api/index.md").read_text()
    for name in ("search.PenaltyPath", "search.Screening", "search.Trust", "tabular.TableEncoder"):
        assert f"hideseek.{name}\n" in text


def test_every_tutorial_is_executed_by_a_target_and_states_its_time():
    settings = (ROOT / "docs/conf.py").read_text()
    for path in TUTORIALS:
        assert f'"{path.stem}"' in settings
        assert re.search(r"^Takes about .* on one CPU core\.", path.read_text(), re.MULTILINE), path.name
    assert len(TUTORIALS) >= 7


def test_the_site_is_built_without_warnings_broken_links_or_other_hosts(tmp_path):
    pytest.importorskip("sphinx_gallery")
    pytest.importorskip("pydata_sphinx_theme")
    source = tmp_path / "repository/docs"  # a copy, so that a site which is being built or read stays as it is
    for folder in ("docs", "experiments", "benchmarks", "examples"):
        ignored = shutil.ignore_patterns("_build", "generated", "runs", "__pycache__")
        shutil.copytree(ROOT / folder, source.parent / folder, ignore=ignored)
    for page in ("CHANGELOG.md", "CONTRIBUTING.md"):
        shutil.copy(ROOT / page, source.parent)
    build = [
        sys.executable,
        "-m",
        "sphinx",
        "-W",
        "--keep-going",
        "-q",
        "-b",
        "html",
        str(source),
        str(tmp_path / "site"),
    ]
    environment = {**os.environ, "HIDESEEK_TUTORIALS": "none"}
    run = subprocess.run(build, capture_output=True, text=True, check=False, env=environment)
    assert run.returncode == 0, run.stderr[-2000:]
    check = [sys.executable, str(source / "check_site.py"), str(tmp_path / "site")]
    run = subprocess.run(check, capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stdout[-2000:]
    pages = {path.stem for path in (tmp_path / "site/generated/api").glob("*.html")}
    assert PUBLIC - pages == set()
