"""Models of TensorFlow, TensorFlow Lite, MXNet and Keras, without those: what stands for their objects does as much as is asked of it.
PyTorch's are in test_pytorch.py."""
import os
import sys
from types import SimpleNamespace

import models
import numpy as np
import pytest

import relayvm as rvm
from relayvm import relay

W = np.random.default_rng(0).standard_normal((3, 4)).astype(np.float32)
BIAS = np.float32([-1, 0, 1, 2])
X = np.random.default_rng(1).standard_normal((2, 3)).astype(np.float32)


def softmax(x):
    e = np.exp(x - x.max(-1, keepdims=True))
    return e / e.sum(-1, keepdims=True)


def params(mod):
    return {p.name_hint: str(p.checked_type) for p in mod["main"].params}


def check(frontend, expected, *inputs):
    mod, weights = frontend
    assert weights == {}
    np.testing.assert_allclose(rvm.compile(mod, opt_level=1)(*inputs), expected, 1e-5, 1e-5)
    return mod


# --- torch.export ---


def test_torch_export_in_one_go(tmp_path):
    path = tmp_path / "model.pt2"
    path.write_bytes(models.exported_program(own=False))
    np.testing.assert_array_equal(rvm.compile(str(path))(X), X.clip(0))
    np.testing.assert_array_equal(rvm.compile(path.read_bytes())(X), X.clip(0))


def test_torch_export(monkeypatch, tmp_path):
    content = models.exported_program()
    path = tmp_path / "model.pt2"
    path.write_bytes(content)
    with pytest.raises(rvm.Unsupported, match=r"demo\.scaled"):
        rvm.from_pytorch(path)

    class Exported:
        pass

    export = SimpleNamespace(ExportedProgram=Exported, save=lambda program, file: file.write(content))
    monkeypatch.setitem(sys.modules, "torch", SimpleNamespace(export=export))
    calls = []

    def scaled(inputs, input_types):
        calls.append((inputs[1], input_types))
        return inputs[0] * relay.const(float(inputs[1]))

    for model in (content, path, Exported()):
        check(rvm.from_pytorch(model, custom_convert_map={"demo::scaled": scaled}), X.clip(0) * 3, X)
    assert calls == [(3, ["float32", "IntType"])] * 3
    convert = {"demo::scaled": scaled, "aten::relu": lambda inputs, input_types: relay.negative(inputs[0])}
    check(rvm.from_pytorch(content, custom_convert_map=convert), -X * 3, X)


# --- TensorFlow ---


def test_tensorflow(tmp_path):
    content = models.dense_graph(W)
    path = tmp_path / "model.pb"
    path.write_bytes(content)
    proto = SimpleNamespace(SerializeToString=lambda: content)
    for graph in (content, path, str(path), proto, SimpleNamespace(as_graph_def=lambda: proto)):
        mod = check(rvm.from_tensorflow(graph), softmax(X @ W), X)
        assert list(params(mod)) == ["x"]
    np.testing.assert_allclose(rvm.compile_model(path)(X), softmax(X @ W), 1e-5)


def test_tensorflow_shape_and_outputs():
    content = models.dense_graph(W, (None, None))
    mod = check(rvm.from_tensorflow(content, layout="NCHW", shape={"x": (2, 3)}, outputs=["product"]), X @ W, X)
    assert params(mod) == {"x": "Tensor[(2, 3), float32]"}
    check(rvm.from_tensorflow(content, shape={"x": ("n", 3)}, outputs="product"), X @ W, X)
    with pytest.raises(TypeError, match="expected a GraphDef, a path or bytes; found int"):
        rvm.from_tensorflow(3)
    with pytest.raises(rvm.Error, match="nowhere"):
        rvm.from_tensorflow(content, outputs=["nowhere"])


# --- TensorFlow Lite ---


def test_tflite(tmp_path):
    content = models.tflite_model(BIAS)
    path = tmp_path / "model.tflite"
    path.write_bytes(content)
    x = np.float32([[1, 2, 3, 4]])
    expected = 1 / (1 + np.exp(-(x + BIAS)))
    for model in (content, path, SimpleNamespace(_tab=SimpleNamespace(Bytes=bytearray(content), Pos=8))):
        mod = check(rvm.from_tflite(model, shape_dict={"x": (1, 4)}, dtype_dict={"x": "float32"}), expected, x)
        assert params(mod) == {"x": "Tensor[(1, 4), float32]"}
    np.testing.assert_allclose(rvm.compile_model(path)(x), expected, 1e-5)
    with pytest.raises(TypeError, match="expected a tflite.Model, a path or bytes; found dict"):
        rvm.from_tflite({})
    with pytest.raises(rvm.InvalidInput):
        rvm.from_tflite(content[:100])


# --- MXNet ---


class Array:
    """An mx.nd.NDArray."""

    def __init__(self, array):
        self.array = array

    def asnumpy(self):
        return self.array


ARGS = {"fc_weight": np.ascontiguousarray(W.T), "fc_bias": BIAS}


def test_mxnet(tmp_path):
    text = models.mxnet_symbol()
    symbol = SimpleNamespace(tojson=lambda: text)
    expected = X @ W + BIAS
    arrays = {name: Array(value) for name, value in ARGS.items()}
    mod = check(rvm.from_mxnet(symbol, {"data": (2, 3)}, arg_params=arrays, aux_params={}), expected, X)
    assert params(mod) == {"data": "Tensor[(2, 3), float32]"}
    check(rvm.from_mxnet(text, {"data": ("n", 3)}, arg_params=ARGS), expected, X)
    path, weights = tmp_path / "model-symbol.json", tmp_path / "model-0000.params"
    path.write_text(text)
    weights.write_bytes(models.mxnet_params({f"arg:{name}": value for name, value in ARGS.items()}))
    check(rvm.from_mxnet(path, {"data": (2, 3)}, dtype={"data": "float32"}, arg_params=weights), expected, X)
    with pytest.raises(TypeError, match="expected an MXNet symbol or block"):
        rvm.from_mxnet(3, {"data": (2, 3)})
    assert params(rvm.from_mxnet(text, arg_params=ARGS)[0]).keys() == {"data"}


def test_mxnet_block(monkeypatch):
    """A gluon.HybridBlock gives its symbol when it is called with variables."""
    text, asked = models.mxnet_symbol(), []

    class Block:
        def collect_params(self):
            return {name: SimpleNamespace(data=lambda value=value: Array(value)) for name, value in ARGS.items()}

        def __call__(self, *variables):
            asked.extend(variables)
            return SimpleNamespace(tojson=lambda: text)

    monkeypatch.setitem(sys.modules, "mxnet", SimpleNamespace(sym=SimpleNamespace(Variable=lambda name: name)))
    check(rvm.from_mxnet(Block(), {"data": (2, 3)}), X @ W + BIAS, X)
    assert asked == ["data"]


# --- Keras ---


class KerasModel:
    """Writes .keras files, or those of versions that have .h5 alone a folder of that name."""

    def __init__(self, content, has_keras=True):
        self.content, self.has_keras = content, has_keras

    def save(self, path):
        if path.endswith(".keras") and not self.has_keras:
            os.mkdir(path)
        else:
            with open(path, "wb") as file:
                file.write(self.content)


def test_keras():
    pytest.importorskip("h5py")
    if len(rvm.list_operators("keras").splitlines()) < 6:
        pytest.skip("Keras models are not read yet")
    kernel, bias = W.reshape(1, 1, 3, 4), BIAS
    content = models.keras_model(kernel, bias)
    x = np.random.default_rng(0).random((2, 4, 5, 3), np.float32)
    mod = check(rvm.from_keras(content, layout="NHWC"), x @ W + bias, x)
    assert len(params(mod)) == 1
    first = np.ascontiguousarray(x.transpose(0, 3, 1, 2))
    for model in (content, KerasModel(content)):
        check(rvm.from_keras(model), (x @ W + bias).transpose(0, 3, 1, 2), first)
    [name] = params(mod)
    sized = check(rvm.from_keras(content, {name: first.shape}), (x @ W + bias).transpose(0, 3, 1, 2), first)
    assert params(sized) == {name: "Tensor[(2, 3, 4, 5), float32]"}
    check(rvm.from_keras(content, {name: x.shape}, layout="NHWC"), x @ W + bias, x)


def test_channels_first():
    """What from_keras does where the layout is TVM's."""
    from relayvm.compiler.frontends import _channels_first
    text = """#[version = "0.0.5"]
def @main(%x: Tensor[(?, 4, 5, 3), float32], %y: Tensor[(4), float32]) { (add(%x, %x), %y) }"""
    mod = _channels_first(rvm.parse(text), 4)
    assert list(params(mod).values())[1] == "Tensor[(4), float32]"
    x = np.random.default_rng(0).random((2, 3, 4, 5), np.float32)
    first, second = rvm.compile(mod)(x, BIAS)
    np.testing.assert_array_equal(first, x + x)
    np.testing.assert_array_equal(second, BIAS)


def test_keras_errors():
    with pytest.raises(ValueError, match="layout: expected NCHW"):
        rvm.from_keras(b"", layout="CHWN")
    with pytest.raises(TypeError, match="expected a Keras model"):
        rvm.from_keras(3)
    with pytest.raises(rvm.Error):  # what is no HDF5 file, by way of .h5
        rvm.from_keras(KerasModel(b"nothing", has_keras=False), layout="NHWC")


def test_names_of_tvm():
    for name in ("keras", "mxnet", "onnx", "pytorch", "tensorflow", "tflite"):
        assert getattr(relay.frontend, f"from_{name}") is getattr(rvm, f"from_{name}")
