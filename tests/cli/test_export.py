import numpy as np
import pytest

import hideseek
from hideseek.baselines import L2X


def test_a_saved_model_becomes_an_onnx_file(run, run_json, saved, tmp_path):
    pytest.importorskip("onnx", reason="needs onnx: pip install 'hideseek[onnx]'")
    out = tmp_path / "model.onnx"
    code, printed, err = run("export", saved, "--out", out)
    assert (code, err) == (0, "")
    assert printed == f"Exported HideSeekClassifier ({out.stat().st_size:,} bytes): {out}\n"
    hideseek.load(saved).to_onnx(tmp_path / "same.onnx")
    assert out.read_bytes() == (tmp_path / "same.onnx").read_bytes()
    code, result, _ = run_json("export", saved, "--out", out, "--float32", "--force")
    assert (code, result["input_type"], result["bytes"]) == (0, "float32", out.stat().st_size)


def test_an_export_takes_rows_as_the_model_does(run, saved, table, tmp_path):
    pytest.importorskip("onnx", reason="needs onnx: pip install 'hideseek[onnx]'")
    onnxruntime = pytest.importorskip("onnxruntime", reason="needs onnxruntime: pip install onnxruntime")
    assert run("export", saved, "--out", tmp_path / "model.onnx", "--float32")[0] == 0
    session = onnxruntime.InferenceSession(tmp_path / "model.onnx", providers=["CPUExecutionProvider"])
    X = table.drop(columns="label").astype(np.float32)
    (probability,) = session.run(["probability"], {"X": X.to_numpy()})
    np.testing.assert_allclose(probability, hideseek.load(saved).predict_proba(X), atol=1e-5)


def test_what_cannot_be_exported_is_refused_in_one_line(run, saved, switch, tmp_path):
    L2X(k=2, steps=5, random_state=0).fit(*switch).save(tmp_path / "l2x.safetensors")
    (tmp_path / "there.onnx").write_bytes(b"")
    for words, exit_code, message in (
        ((tmp_path / "l2x.safetensors", "--out", tmp_path / "l2x.onnx"), 1, "is a L2X; only Hide&Seek models"),
        ((saved, "--out", tmp_path / "model.pkl"), 2, "an export is a .onnx file"),
        ((saved, "--out", tmp_path / "there.onnx"), 1, "exists; pass --force"),
    ):
        code, out, err = run("export", *words)
        assert (code, out, err.count("\n")) == (exit_code, "", 1)
        assert message in err
    assert not (tmp_path / "l2x.onnx").exists()
