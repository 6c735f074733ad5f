import re

from hideseek.cli._parser import COMMANDS


def test_without_arguments_the_first_steps_are_shown(run):
    code, out, err = run()
    assert (code, err) == (0, "")
    assert "hideseek demo" in out
    for command in re.findall(r"^  hideseek (\w+)", out, flags=re.MULTILINE):
        assert command in COMMANDS


def test_demo_leads_from_a_table_to_a_report(run, tmp_path):
    folder = tmp_path / "demo"
    code, out, err = run("demo", "--out", folder)
    assert (code, err) == (0, "")
    assert re.findall(r"^\$ hideseek (\w+)", out, flags=re.MULTILINE) == [
        "datasets",
        "datasets",
        "fit",
        "explain",
        "report",
    ]
    assert out.count("features decided") == 3
    assert out.count("Next: ") == 1
    assert (folder / "report.html").stat().st_size > 100_000
    seconds = int(re.search(r"Done in (\d+) s", out)[1])
    assert seconds < 60


def test_demo_keeps_files_that_are_there(run, tmp_path):
    (tmp_path / "notes.txt").write_text("mine")
    code, _, err = run("demo", "--out", tmp_path)
    assert code == 2
    assert "--force" in err
    assert [path.name for path in tmp_path.iterdir()] == ["notes.txt"]


def test_demo_says_what_to_install_before_it_makes_a_folder(run, tmp_path, without):
    without("pandas", "polars", "pyarrow")
    code, _, err = run("demo", "--out", tmp_path / "demo")
    assert code == 1
    assert "pip install 'hideseek[data]'" in err
    assert not (tmp_path / "demo").exists()
