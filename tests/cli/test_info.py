import shutil
import subprocess

import pytest

import hideseek
from hideseek.baselines import L2X


def test_what_is_in_a_model(run, run_json, saved):
    code, out, err = run("info", saved)
    assert (code, err) == (0, "")
    assert "HideSeekClassifier" in out
    assert "4: x1, x2, x3 and x4" in out
    assert "steps 1200" in out
    assert f"hideseek {hideseek.__version__}, file format 2" in out
    assert "each answered by members that have not learned from it" in out
    code, result, _ = run_json("info", saved)
    assert code == 0
    assert result["trust"]["n_rows"] > 0
    assert result["trust"]["warnings"] == list(hideseek.load(saved).trust_.warnings)
    assert result["feature_names"] == ["x1", "x2", "x3", "x4"]
    assert (result["kind"], result["classes"], result["recipe"]["batch_size"]) == ("HideSeekClassifier", [0, 1], 32)
    assert result["penalty"] > 0


def test_a_saved_baseline_too(run, switch, tmp_path):
    L2X(k=2, steps=5, random_state=0).fit(*switch).save(tmp_path / "l2x.safetensors")
    code, out, _ = run("info", tmp_path / "l2x.safetensors")
    assert code == 0
    assert "L2X" in out


def test_what_is_installed(run, run_json):
    code, out, _ = run("info")
    assert code == 0
    assert f"hideseek {hideseek.__version__}, Python 3." in out
    code, result, _ = run_json("info")
    assert code == 0
    assert result["devices"][0] == "cpu"
    assert result["versions"]["torch"]


def completed(words):
    """What bash would offer after these words."""
    listed = " ".join(f"'{word}'" for word in words)
    return f"COMP_WORDS=({listed}); COMP_CWORD={len(words) - 1}; _hideseek; echo ${{COMPREPLY[@]}}"


@pytest.mark.parametrize(
    ("words", "offered"),
    [
        (("hideseek", "da"), "datasets"),
        (("hideseek", "fit", "--ta"), "--target --task"),
        (("hideseek", "fit", "data.csv", "--task", ""), "auto classification regression"),
        (("hideseek", "datasets", "Syn4"), "Syn4 Syn4-regression"),
        (("hideseek", "completion", ""), "bash zsh fish"),
        (("hideseek", "explain", "mod"), ""),
    ],
)
def test_bash_completes(run, words, offered):
    _, script, _ = run("completion", "bash")
    shell = subprocess.run(["bash", "-c", script + completed(words)], capture_output=True, text=True, check=True)
    assert shell.stdout.strip() == offered


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_scripts_can_be_read_by_their_shell(run, tmp_path, shell):
    code, script, _ = run("completion", shell)
    assert code == 0
    assert "held-out" in script
    if shutil.which(shell) is None:
        pytest.skip(f"{shell} is not installed")
    (tmp_path / "script").write_text(script)
    subprocess.run([shell, "-n", tmp_path / "script"], check=True)


def test_other_shells_are_refused(run):
    code, _, err = run("completion", "tcsh")
    assert code == 2
    assert "invalid choice: 'tcsh'" in err
