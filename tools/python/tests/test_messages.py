"""What users meet first: mistakes, what they are told, and what prints."""
import pickle

import numpy as np
import pytest

import relayvm as rvm
from relayvm import relay

HEADER = '#[version = "0.0.5"]\n'
ADD = HEADER + "def @main(%x: Tensor[(2), float32], %y: Tensor[(2), float32]) { add(%x, %y) }\n"


@pytest.fixture(scope="module")
def model():
    return rvm.compile(ADD).load()


def test_version():
    assert rvm.__version__.count(".") == 2 and all(part.isdigit() for part in rvm.__version__.split("."))


@pytest.mark.parametrize("read", [rvm.load, rvm.compile, rvm.compile_model, rvm.from_onnx, rvm.load_params, rvm.load_graph])
def test_a_file_that_is_not_there(read, tmp_path):
    path = tmp_path / "none.vmx"
    for kind in (FileNotFoundError, rvm.NotFound, OSError, LookupError, rvm.Error):
        with pytest.raises(kind, match="none.vmx") as raised:
            read(path)
    assert raised.value.errno == 2 and raised.value.filename.startswith(str(path)) and type(pickle.loads(pickle.dumps(raised.value))) is rvm.FileNotFound


def test_what_is_not_found_but_is_no_file():
    with pytest.raises(rvm.NotFound) as raised:
        rvm.compile(ADD, entry="other")
    assert not isinstance(raised.value, OSError)


def test_print_has_no_weights():
    weight = np.arange(4096, dtype="f4").reshape(64, 64)
    x = relay.var("x", shape=(2, 64))
    mod = rvm.IRModule.from_expr(relay.Function([x], relay.nn.dense(x, relay.const(weight))))
    assert len(str(mod)) < 500 and "nn.dense" in str(mod) and "metadata" not in str(mod)
    assert len(mod.astext()) > 16384 and rvm.parse(mod.astext()).astext() == mod.astext()
    with pytest.raises(rvm.InvalidInput) as raised:
        rvm.parse(str(mod))
    assert "mod.astext()" in raised.value.__notes__[0]


def test_models_in_memory():
    onnx = pytest.importorskip("onnx")
    made = onnx.helper.make_graph([onnx.helper.make_node("Relu", ["x"], ["y"])], "g",
                                  [onnx.helper.make_tensor_value_info("x", 1, ["n"])], [onnx.helper.make_tensor_value_info("y", 1, ["n"])])
    proto = onnx.helper.make_model(made, opset_imports=[onnx.helper.make_opsetid("", 13)])
    for model in (proto, proto.SerializeToString(), bytearray(proto.SerializeToString())):
        for compiled in (rvm.compile(model), rvm.compile(model, shape={"x": (2,)}), rvm.compile_model(model)):
            np.testing.assert_array_equal(compiled(np.float32([-1, 2])), [0, 2])
    with pytest.raises(TypeError, match="expected a Module.*found int"):
        rvm.compile(3)


@pytest.mark.parametrize("keyword, text", [
    ("precison", "there is no option precison; did you mean precision?"), ("param", "did you mean params?"),
    ("bathcing", "did you mean batching?"), ("nonsense", "there is no option nonsense; options: .*num_threads.*plugins")])
def test_options_that_are_not_there(keyword, text):
    with pytest.raises(TypeError, match=text) as raised:
        rvm.compile(ADD, **{keyword: 1})
    names = str(raised.value).split("options: ")[1].split(", ")
    assert "opt_level" in names and "disabled_passes" in names and not {"O", "disable_pass", "layout", "dim", "plugin", "threads"} & set(names)


def test_names_that_are_not_there(model):
    with pytest.raises(AttributeError, match="did you mean compile?"):
        rvm.complie
    with pytest.raises(AttributeError, match="the program has no function mian; did you mean main?"):
        model.mian
    with pytest.raises(ValueError, match="there is no output z; outputs: "):
        model.run(["z"], {"x": [1, 2], "y": [1, 2]})


def test_run_takes_inputs_in_order(model):
    name = model.outputs[0].name
    for inputs in ([[1, 2], [3, 4]], ([1, 2], [3, 4]), {"y": [3, 4], "x": [1, 2]}):
        np.testing.assert_array_equal(model.run([name], inputs)[0], [4, 6])
    with pytest.raises(TypeError, match=r"run: expected a dict of inputs by name, or a list of them in the order of \['x', 'y'\], found ndarray"):
        model.run(None, np.zeros(2, "f4"))
    with pytest.raises(TypeError, match="run: expected a list of names of outputs"):
        model.run(name, [[1, 2], [3, 4]])


@pytest.mark.parametrize("keywords, error, text", [
    ({"num_threads": -1}, ValueError, "num_threads: expected 0 to 1024, found -1"),
    ({"num_threads": 2000}, ValueError, "num_threads: expected 0 to 1024, found 2000"),
    ({"num_threads": 1.5}, TypeError, "num_threads: expected an int, found 1.5"),
    ({"scheduler_threads": -2}, ValueError, "scheduler_threads: expected 0 to 1024, found -2"),
    ({"max_batch": "8"}, TypeError, "max_batch: expected an int, found '8'"),
    ({"memory_limit": -1}, ValueError, "memory_limit: expected 0 to"),
    ({"trace": "profile"}, TypeError, "trace: expected a Profile or a ChromeTrace, found str")])
def test_runtimes(keywords, error, text):
    with pytest.raises(error, match=text):
        rvm.Runtime(**keywords)
    rvm.Runtime(num_threads=np.int64(1)).close()


@pytest.mark.parametrize("target, error, text", [
    ("cuda", rvm.InvalidArgument, "cuda"), ("llvm -mcpu=pentium", ValueError, "-mcpu=pentium; give one: x86-64-v2"),
    ("llvm -mtriple=aarch64-linux-gnu", rvm.Unsupported, "aarch64"), ("llvm -mtriple=riscv64-linux-gnu", ValueError, "no machine for riscv64"),
    ("llvm -mtriple=x86_64-linux-gnu -mcpu=haswell", None, ""), ("llvm -mcpu=haswell", None, ""), ("llvm -device=x", None, ""), ("llvm", None, ""), (["x86-64-v2", "x86-64-v3"], None, "")])
def test_targets(target, error, text):
    if error is None:
        assert rvm.compile(ADD, target=target).kernels
        return
    with pytest.raises(error, match=text):
        rvm.compile(ADD, target=target)


def test_settings_of_tvm():
    with pytest.warns(UserWarning, match="TVM's settings have no effect here: relay.backend.use_auto_scheduler"):
        rvm.PassContext(opt_level=3, config={"relay.backend.use_auto_scheduler": True})
    with pytest.raises(ValueError, match="there are no settings batching"):
        rvm.PassContext(config={"batching": True})


def test_an_operator_is_named_once():
    x = relay.var("x", shape=(1, 3, 8, 8))
    with pytest.raises(rvm.InvalidInput) as raised:
        relay.Call("nn.conv2d", [x, x], {"stride": 2})
    assert str(raised.value).count("nn.conv2d") == 1 and "did you mean strides?" in str(raised.value)


@pytest.mark.parametrize("name, content, text", [
    ("m.pt", b"PK\x03\x04" + b"\0" * 26 + b"archive/data.pkl", "archive"),
    ("m.tflite", b"\x1c\0\0\0TFL3" + b"\0" * 20, "a TensorFlow Lite model"),
    ("m.safetensors", (16).to_bytes(8, "little") + b'{"a":{}}        ', "a safetensors file.*--params"),
    ("m.gguf", b"GGUF\x03\0\0\0" + b"\0" * 20, "a GGUF file")])
def test_files_of_others(name, content, text, tmp_path):
    (tmp_path / name).write_bytes(content)
    for read in (rvm.compile, rvm.load):
        with pytest.raises(rvm.Error, match=text):
            read(tmp_path / name)


def test_batching_that_gains_nothing():
    assert rvm.compile(ADD).warnings == []
    [warning] = rvm.compile(ADD, batching=True).warnings
    assert "batching: no kernel can run the products of many requests at once" in warning


def test_tuning_is_advised_where_products_take_long():
    def advice(columns):
        text = f"def @main(%x: Tensor[(?, 512), float32], %w: Tensor[({columns}, 512), float32]) {{ nn.dense(%x, %w) }}\n"
        try:
            exe = rvm.compile(HEADER + text, target="x86-64-v3")
            exe.load()
        except rvm.Unsupported as error:
            pytest.skip(str(error))
        return exe.warnings
    [warning] = advice(17)  # 2 panels of 16; one of 24 is less
    assert "1 kernel is estimated below 60 % of what this machine reaches; 'relayc --tune 60s'" in warning
    assert advice(512) == []


def test_executables_say_what_they_are():
    exe = rvm.compile(ADD)
    assert [a.name for a in exe.inputs] == ["x", "y"] and len(exe.outputs) == 1 and len(exe.kernels) == 1
    assert repr(exe) == "<relayvm.Executable (x: Tensor[(2), float32], y: Tensor[(2), float32]) -> (output_0: Tensor[(2), float32]): 1 kernel>"


def test_weights_of_a_file_are_said_to_be_its(tmp_path):
    path = tmp_path / "wrong.npz"
    np.savez(path, nope=np.zeros(2, "f4"))
    with pytest.raises(rvm.InvalidInput, match=r'wrong.npz: parameter "nope" matches no parameter of @main; it has %x'):
        rvm.compile(ADD, params=path)
    with pytest.raises(rvm.InvalidInput, match='^parameter "nope" matches no parameter'):
        rvm.compile(ADD, params={"nope": np.zeros(2, "f4")})


def test_formats_are_the_compilers_own():
    for name in ("onnx", "relay"):
        assert f"--list-operators {name}" in rvm.list_operators(name)
    with pytest.raises(ValueError, match="expected one of relay, onnx, .*found caffe"):
        rvm.list_operators("caffe")
    with pytest.raises(TypeError, match="an ONNX model.* the path of a .relay or .*file; found int"):
        rvm.compile(3)
