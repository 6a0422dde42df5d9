"""tvm.driver.tvmc: a model loaded, compiled and run in a call each, from Python and from the shell."""
import subprocess
import sys

import models
import numpy as np
import pytest

import relayvm.tvm as tvm
from relayvm.tvm.driver import tvmc

W = np.random.default_rng(0).standard_normal((3, 4)).astype("float32")
X = np.random.default_rng(1).standard_normal((2, 3)).astype("float32")


@pytest.fixture
def path(tmp_path):
    file = tmp_path / "model.pb"
    file.write_bytes(models.dense_graph(W, (None, 3)))
    return file


def expected(x):
    e = np.exp(x @ W)
    return e / e.sum(-1, keepdims=True)


def test_load_compile_run(path, tmp_path):
    model = tvmc.load(str(path), shape_dict={"x": [2, 3]})
    assert model.mod["main"].params[0].checked_type == tvm.relay.TensorType((2, 3))
    package = tvmc.compile(model, target="llvm", package_path=tmp_path / "module.tar", dump_code="asm")
    assert (tmp_path / "module.tar.vmasm").read_text().startswith(".version")
    for one in (package, tvmc.TVMCPackage(package_path=tmp_path / "module.tar")):
        result = tvmc.run(one, device="cpu", inputs={"x": X}, repeat=2, number=1)
        np.testing.assert_allclose(result.get_output("output_0"), expected(X), 1e-5)
    assert len(result.times.results) == 2 and "mean (ms)" in str(result) and "output_0" in str(result)
    made = tvmc.run(package, "cpu", fill_mode="ones", repeat=1, number=1)
    np.testing.assert_allclose(made.outputs["output_0"], expected(np.ones((2, 3))), 1e-5)
    np.testing.assert_array_equal(tvmc.result_utils.get_top_results(result, 3)[0], result.outputs["output_0"].ravel().argsort()[::-1][:3])


def test_models_are_saved(path, tmp_path, capsys):
    model = tvmc.load(path)
    model.save(tmp_path / "saved.tar")
    again = tvmc.TVMCModel(model_path=tmp_path / "saved.tar")
    assert tvm.ir.structural_equal(again.mod, model.mod) and again.params == {}
    again.summary()
    assert "nn.softmax" in capsys.readouterr().out
    package = tvmc.compile(again, "llvm")
    np.testing.assert_allclose(tvmc.run(package, "cpu", inputs={"x": X}, repeat=1, number=1).outputs["output_0"], expected(X), 1e-5)


def test_what_is_wrong(path, tmp_path):
    package = tvmc.compile(tvmc.load(path), "llvm")
    for call, message in (
            (lambda: tvmc.run(package, "cpu"), "x has the shape .*: give it in inputs"), (lambda: tvmc.run(package, "cpu", inputs={"y": X}), "no input y; there are x"),
            (lambda: tvmc.load(path, model_format="onx"), "did you mean onnx"), (lambda: tvmc.tune(None, "llvm"), "relayc --tune 60s"),
            (lambda: tvmc.TVMCModel(model_path=path), "not what TVMCModel.save writes"), (lambda: tvmc.TVMCModel(), "expected a module")):
        with pytest.raises(tvmc.TVMCException, match=message):
            call()


def test_from_the_shell(path, tmp_path):
    def shell(*arguments):
        return subprocess.run([sys.executable, "-m", "relayvm.tvm.driver.tvmc", *map(str, arguments)], capture_output=True, text=True, timeout=120)
    program, inputs, outputs = tmp_path / "m.tar", tmp_path / "in.npz", tmp_path / "out.npz"
    np.savez(inputs, x=X)
    made = shell("compile", "--target", "llvm", "--output", program, "--input-shapes", "x:[2,3]", path)
    assert made.returncode == 0, made.stderr
    ran = shell("run", "--inputs", inputs, "--output", outputs, "--print-time", program)
    assert ran.returncode == 0 and "mean (ms)" in ran.stdout, ran.stderr
    np.testing.assert_allclose(np.load(outputs)["output_0"], expected(X), 1e-5)
    wrong = shell("compile", "--target", "cuda", "--output", program, path)
    assert wrong.returncode == 1 and "tvmc: target cuda: there is the processor alone" in wrong.stderr
