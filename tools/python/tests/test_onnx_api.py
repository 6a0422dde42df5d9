"""relayvm.onnx: ONNX Runtime's Python API. Where onnxruntime is installed, answers are compared with its own."""
import gc
import json
import os
import sys
import threading
import time

import numpy as np
import pytest

onnx = pytest.importorskip("onnx")
from onnx import TensorProto, helper, numpy_helper  # noqa: E402

import relayvm as rvm  # noqa: E402
import relayvm.onnx as ort  # noqa: E402
from relayvm.onnx.capi import onnxruntime_pybind11_state as state  # noqa: E402

try:
    import onnxruntime
except ImportError:
    onnxruntime = None
FLOAT = TensorProto.FLOAT
X = np.arange(6, dtype=np.float32).reshape(3, 2)
info = helper.make_tensor_value_info


def model_of(nodes, inputs, outputs, initializers=(), opset=15, ir_version=8, learning=False, **model):
    opsets = [helper.make_opsetid("", opset)] + ([helper.make_opsetid("ai.onnx.ml", 1)] if learning else [])
    graph = helper.make_graph(nodes, "graph", inputs, outputs, list(initializers), doc_string=model.pop("graph_doc", ""))
    made = helper.make_model(graph, opset_imports=opsets, **model)
    made.ir_version = ir_version
    return made


def product(dims=(3, 2), w=(1, 2, 3, 4, 5, 6), **model):
    """y = x * w"""
    return model_of([helper.make_node("Mul", ["x", "w"], ["y"])], [info("x", FLOAT, dims)], [info("y", FLOAT, dims)],
                    [helper.make_tensor("w", FLOAT, [3, 2], w)], **model).SerializeToString()


W = np.float32([[1, 2], [3, 4], [5, 6]])


@pytest.fixture(scope="module")
def session():
    return ort.InferenceSession(product(), providers=["CPUExecutionProvider"])


def sums(**model):
    """Two outputs of two inputs with dims of names."""
    return model_of([helper.make_node("Add", ["a", "b"], ["sum"]), helper.make_node("Sub", ["a", "b"], ["difference"])],
                    [info("a", FLOAT, ["n", 2]), info("b", FLOAT, ["n", 2])], [info("sum", FLOAT, ["n", 2]), info("difference", FLOAT, ["n", 2])],
                    **model).SerializeToString()


def told(api, model, feed, options=None):
    """What an API says of a model and computes."""
    session = api.InferenceSession(model, options, providers=["CPUExecutionProvider"])
    arguments = [(a.name, a.type, a.shape) for a in [*session.get_inputs(), *session.get_outputs(), *session.get_overridable_initializers()]]
    return arguments, session.run(None, feed)


def same(a, b):
    if isinstance(a, np.ndarray):
        assert isinstance(b, np.ndarray) and a.dtype == b.dtype and a.shape == b.shape, (a, b)
        np.testing.assert_allclose(a, b, rtol=1e-5) if a.dtype != object else np.testing.assert_array_equal(a, b)
    elif isinstance(a, (list, tuple)):
        assert type(a) is type(b) and len(a) == len(b), (a, b)
        for one, other in zip(a, b):
            same(one, other)
    elif isinstance(a, dict):
        assert a.keys() == b.keys() and [type(k) for k in a] == [type(k) for k in b]
        same(list(a.values()), list(b.values()))
    else:
        assert type(a) is type(b) and a == pytest.approx(b), (a, b)


def sequence(name, element, dims):
    return helper.make_tensor_sequence_value_info(name, element, dims)


def mapped(name, key, value):
    """A map input or output; with key None a sequence of maps from int64."""
    out = onnx.ValueInfoProto(name=name)
    kind = out.type.map_type
    kind.key_type = key
    kind.value_type.tensor_type.elem_type = value
    kind.value_type.tensor_type.shape.SetInParent()
    return out


def zipped(**labels):
    out = onnx.ValueInfoProto(name="z")
    kind = out.type.sequence_type.elem_type.map_type
    kind.key_type = TensorProto.STRING if "classlabels_strings" in labels else TensorProto.INT64
    kind.value_type.tensor_type.elem_type = FLOAT
    return model_of([helper.make_node("ZipMap", ["x"], ["z"], domain="ai.onnx.ml", **labels)], [info("x", FLOAT, ["n", 2])], [out], learning=True)


CASES = {
    "product": (product(), {"x": X}),
    "dims of names": (sums(), {"a": X, "b": X + 1}),
    "no rank": (model_of([helper.make_node("Neg", ["x"], ["y"])], [info("x", FLOAT, None)], [info("y", FLOAT, None)]).SerializeToString(),
                {"x": X}),
    "no shape of the output": (model_of([helper.make_node("Neg", ["x"], ["y"])], [info("x", FLOAT, [3, 2])],
                                        [info("y", FLOAT, None)]).SerializeToString(), {"x": X}),
    "dims that are computed": (model_of([helper.make_node("Concat", ["x", "x"], ["y"], axis=1)], [info("x", FLOAT, ["n", 2])],
                                        [info("y", FLOAT, ["n", "m"])]).SerializeToString(), {"x": X}),
    "strings": (model_of([helper.make_node("Identity", ["x"], ["y"])], [info("x", TensorProto.STRING, [2])],
                         [info("y", TensorProto.STRING, [2])]).SerializeToString(), {"x": np.array(["a", "é漢"], object)}),
    "a sequence in": (model_of([helper.make_node("SequenceLength", ["x"], ["y"])], [sequence("x", FLOAT, [2])],
                               [info("y", TensorProto.INT64, [])]).SerializeToString(), {"x": [np.ones(2, np.float32)] * 3}),
    "a sequence out": (model_of([helper.make_node("SequenceConstruct", ["x", "x"], ["y"])], [info("x", FLOAT, [2])],
                                [sequence("y", FLOAT, [2])]).SerializeToString(), {"x": np.ones(2, np.float32)}),
    "maps from int64": (zipped(classlabels_int64s=[5, 7]).SerializeToString(), {"x": X}),
    "maps from strings": (zipped(classlabels_strings=["a", "b"]).SerializeToString(), {"x": X}),
    **{f"a map cast to {to}, {form}": (
        model_of([helper.make_node("CastMap", ["x"], ["y"], domain="ai.onnx.ml", cast_to=to, map_form=form, max_map=5)],
                 [mapped("x", TensorProto.INT64, FLOAT)], [info("y", element, [1, 5 if form == "SPARSE" else None])],
                 learning=True).SerializeToString(), {"x": {3: 1.5, 1: 2.5}})
       for to, element in (("TO_FLOAT", FLOAT), ("TO_INT64", TensorProto.INT64), ("TO_STRING", TensorProto.STRING)) for form in ("DENSE", "SPARSE")},
    "a map in": (model_of([helper.make_node("DictVectorizer", ["x"], ["v"], domain="ai.onnx.ml", int64_vocabulary=[3, 1, 2]),
                           helper.make_node("Neg", ["v"], ["y"])], [mapped("x", TensorProto.INT64, FLOAT)], [info("y", FLOAT, [1, 3])],
                          learning=True).SerializeToString(), {"x": {1: 2.5, 3: 1.0}}),
    "a map of strings in": (model_of([helper.make_node("DictVectorizer", ["x"], ["v"], domain="ai.onnx.ml", string_vocabulary=["b", "a"]),
                                      helper.make_node("Neg", ["v"], ["y"])], [mapped("x", TensorProto.STRING, FLOAT)],
                                     [info("y", FLOAT, [1, 2])], learning=True).SerializeToString(), {"x": {"a": 2.5}}),
}


@pytest.mark.parametrize("case", CASES)
@pytest.mark.skipif(onnxruntime is None, reason="needs onnxruntime")
def test_what_is_told_and_computed_is_what_onnx_runtime_says(case):
    model, feed = CASES[case]
    ours, theirs = told(ort, model, feed), told(onnxruntime, model, feed)
    assert ours[0] == theirs[0]
    same(theirs[1], ours[1])


EXPECTED = {
    "product": ([("x", "tensor(float)", [3, 2]), ("y", "tensor(float)", [3, 2])], [X * W]),
    "dims of names": ([(n, "tensor(float)", ["n", 2]) for n in ("a", "b", "sum", "difference")], [X + X + 1, np.float32(-1) + 0 * X]),
    "no rank": ([("x", "tensor(float)", []), ("y", "tensor(float)", [])], [-X]),
    "strings": ([("x", "tensor(string)", [2]), ("y", "tensor(string)", [2])], [np.array(["a", "é漢"], object)]),
    "a sequence in": ([("x", "seq(tensor(float))", []), ("y", "tensor(int64)", [])], [np.array(3)]),
    "a sequence out": ([("x", "tensor(float)", [2]), ("y", "seq(tensor(float))", [])], [[np.ones(2, np.float32)] * 2]),
    "maps from int64": ([("x", "tensor(float)", ["n", 2]), ("z", "seq(map(int64,tensor(float)))", [])],
                        [[{5: 0.0, 7: 1.0}, {5: 2.0, 7: 3.0}, {5: 4.0, 7: 5.0}]]),
    "maps from strings": ([("x", "tensor(float)", ["n", 2]), ("z", "seq(map(string,tensor(float)))", [])],
                          [[{"a": 0.0, "b": 1.0}, {"a": 2.0, "b": 3.0}, {"a": 4.0, "b": 5.0}]]),
    "a map cast to TO_STRING, SPARSE": ([("x", "map(int64,tensor(float))", []), ("y", "tensor(string)", [1, 5])],
                                        [np.array([["0.f", "2.500000", "0.f", "1.500000", "0.f"]], object)]),
    "a map cast to TO_INT64, DENSE": ([("x", "map(int64,tensor(float))", []), ("y", "tensor(int64)", [1, None])], [np.array([[2, 1]])]),
    "a map in": ([("x", "map(int64,tensor(float))", []), ("y", "tensor(float)", [1, 3])], [np.float32([[-1, -2.5, 0]])]),
    "a map of strings in": ([("x", "map(string,tensor(float))", []), ("y", "tensor(float)", [1, 2])], [np.float32([[0, -2.5]])]),
}


@pytest.mark.parametrize("case", EXPECTED)
def test_types_names_and_results(case):
    arguments, results = told(ort, *CASES[case])
    assert arguments == EXPECTED[case][0]
    same(EXPECTED[case][1], results)


def test_optional_inputs_may_be_none_or_left_out():
    kind = helper.make_optional_type_proto(helper.make_tensor_type_proto(FLOAT, [2]))
    model = model_of([helper.make_node("OptionalHasElement", ["x"], ["y"])], [helper.make_value_info("x", kind)],
                     [info("y", TensorProto.BOOL, [])]).SerializeToString()
    session = ort.InferenceSession(model)
    assert session.get_inputs()[0].type == "optional(tensor(float))"
    assert [session.run(None, feed)[0].item() for feed in ({"x": np.ones(2, np.float32)}, {"x": None}, {})] == [True, False, False]


def test_outputs_by_name(session):
    both = ort.InferenceSession(sums())
    feed = {"a": X, "b": X}
    assert [y.tolist() for y in both.run(["difference", "sum"], feed)] == [(X - X).tolist(), (X + X).tolist()]
    assert len(both.run([], feed)) == 2 and len(both.run(["sum", "sum"], feed)) == 2
    with pytest.raises(state.InvalidArgument, match="Invalid output name: z: outputs are sum, difference"):
        both.run(["z"], feed)
    with pytest.raises(TypeError, match="expected a list of names"):
        session.run("y", {"x": X})
    # nested lists, other dtypes, tensors with DLPack, other orders of elements
    for x in (X.tolist(), X.astype(np.float64), np.asfortranarray(X), ort.OrtValue.ortvalue_from_numpy(X), rvm.tensor(X)):
        same([X * W], session.run(None, {"x": x}))


def test_wrong_inputs_are_named(session):
    with pytest.raises(ValueError, match=r"Required inputs \(\['x'\]\) are missing from input feed \(\['z'\]\)"):
        session.run(None, {"z": X})
    with pytest.raises(state.InvalidArgument, match="Invalid input name: z: inputs are x"):
        session.run(None, {"x": X, "z": X})
    with pytest.raises(state.InvalidArgument, match=r"expected Tensor\[\(3, 2\), float32\], found Tensor\[\(2, 2\)"):
        session.run(None, {"x": X[:2]})
    with pytest.raises(state.InvalidArgument, match="x: expected a tensor of float32, found str"):
        session.run(None, {"x": "text"})
    scalar = ort.InferenceSession(model_of([helper.make_node("Neg", ["x"], ["y"])], [info("x", FLOAT, [])],
                                           [info("y", FLOAT, [])]).SerializeToString())
    assert scalar.run(None, {"x": 2})[0] == -2
    with pytest.raises(state.InvalidArgument, match="x: expected a tensor, found None"):
        scalar.run(None, {"x": None})
    with pytest.raises(rvm.InvalidArgument):  # it is that too
        session.run(None, {"x": X[:2]})
    with pytest.raises(state.InvalidArgument, match=r"dim 0 \(n\) is 3, b's dim 0 \(n\) is 2"):
        ort.InferenceSession(sums()).run(None, {"a": X, "b": X[:2]})
    options = ort.SessionOptions()  # two sizes after all: one of them broadcasts
    options.add_session_config_entry("relayvm.shape.b", "(m, 2)")
    same([X + X[:1], X - X[:1]], ort.InferenceSession(sums(), options).run(None, {"a": X, "b": X[:1]}))
    with pytest.raises(state.InvalidArgument, match="to_dense"):
        session.run(None, {"x": ort.SparseTensor.sparse_coo_from_numpy([3, 2], X[0], [0, 1], ort.OrtDevice.make("cpu", 0))})


def test_models_that_do_not_load(tmp_path):
    with pytest.raises(state.NoSuchFile, match="nothing.onnx"):
        ort.InferenceSession(tmp_path / "nothing.onnx")
    with pytest.raises(state.InvalidProtobuf, match="expected an ONNX model"):
        ort.InferenceSession(b"junk")
    with pytest.raises(state.InvalidProtobuf):
        ort.InferenceSession(b"")
    with pytest.raises(state.NotImplemented, match="Nonsense"):
        ort.InferenceSession(model_of([helper.make_node("Nonsense", ["x"], ["y"])], [info("x", FLOAT, [1])],
                                      [info("y", FLOAT, [1])]).SerializeToString())
    with pytest.raises(state.NotImplemented, match="own format"):
        ort.InferenceSession(b"\0\0\0\0ORTM" + bytes(64))
    with pytest.raises(TypeError, match="expected the path of a model or its bytes, found int"):
        ort.InferenceSession(3)


def test_every_prefix_of_a_model_is_a_model_or_an_error():
    whole = product()
    for end in range(len(whole)):
        with pytest.raises((rvm.Error, TypeError)):
            ort.InferenceSession(whole[:end])


def test_what_a_model_says_of_itself():
    model = model_of([helper.make_node("Neg", ["x"], ["y"])], [info("x", FLOAT, [1])], [info("y", FLOAT, [1])], producer_name="tests",
                     doc_string="of the model", domain="here", model_version=7, graph_doc="of the graph")
    helper.set_model_props(model, {"author": "é", "empty": ""})
    meta = ort.InferenceSession(model.SerializeToString()).get_modelmeta()
    assert (meta.producer_name, meta.graph_name, meta.domain, meta.version) == ("tests", "graph", "here", 7)
    assert (meta.description, meta.graph_description) == ("of the model", "of the graph")
    assert meta.custom_metadata_map == {"author": "é", "empty": ""}
    assert ort.InferenceSession(product()).get_modelmeta().version == (1 << 63) - 1


def test_dims_are_fixed_by_name_and_denotation():
    x = info("x", FLOAT, ["a", "b", None])
    x.type.tensor_type.shape.dim[1].denotation = "DATA_CHANNEL"
    x.type.tensor_type.shape.dim[2].denotation = "DATA_FEATURE"
    model = model_of([helper.make_node("Neg", ["x"], ["y"])], [x], [info("y", FLOAT, ["a", "b", None])]).SerializeToString()
    options = ort.SessionOptions()
    options.add_free_dimension_override_by_name("a", 2)
    options.add_free_dimension_override_by_denotation("DATA_CHANNEL", 3)
    options.add_free_dimension_override_by_denotation("DATA_FEATURE", 4)
    session = ort.InferenceSession(model, options)
    assert session.get_inputs()[0].shape == [2, 3, 4] and session.get_outputs()[0].shape[:2] == [2, 3]
    assert session.run(None, {"x": np.ones((2, 3, 4), np.float32)})[0].shape == (2, 3, 4)
    with pytest.raises(state.InvalidArgument):
        session.run(None, {"x": np.ones((1, 3, 4), np.float32)})


def test_initializers_of_the_users(tmp_path):
    options = ort.SessionOptions()
    options.add_initializer("w", ort.OrtValue.ortvalue_from_numpy(W * 10))
    same([X * W * 10], ort.InferenceSession(product(), options).run(None, {"x": X}))
    options.add_initializer("v", ort.OrtValue.ortvalue_from_numpy(W))
    with pytest.raises(state.InvalidArgument, match="initializer 'v': the model has none of that name; it has w"):
        ort.InferenceSession(product(), options)
    options = ort.SessionOptions()
    options.add_initializer("w", ort.OrtValue.ortvalue_from_numpy(W.T))
    with pytest.raises(state.InvalidArgument, match=r"expected dims \[3, 2\]"):
        ort.InferenceSession(product(), options)

    # data in a file that is not there, and one that is
    external = onnx.load_from_string(product())
    w = external.graph.initializer[0]
    w.ClearField("float_data")
    w.data_location = TensorProto.EXTERNAL
    w.external_data.add(key="location", value="w.bin")
    w.external_data.add(key="offset", value="4")
    path = tmp_path / "model.onnx"
    path.write_bytes(external.SerializeToString())
    with pytest.raises(rvm.Error, match="w.bin"):
        ort.InferenceSession(path)
    options = ort.SessionOptions()
    options.add_external_initializers(["w"], [ort.OrtValue.ortvalue_from_numpy(W)])
    same([X * W], ort.InferenceSession(path, options).run(None, {"x": X}))
    content = b"skip" + (W + 1).tobytes() + b"rest"
    options = ort.SessionOptions()
    options.add_external_initializers_from_files_in_memory(["w.bin"], [content], [28])
    same([X * (W + 1)], ort.InferenceSession(path, options).run(None, {"x": X}))
    (tmp_path / "w.bin").write_bytes(content)
    same([X * (W + 1)], ort.InferenceSession(path).run(None, {"x": X}))


def test_overridable_initializers_are_given_or_not():
    inputs = [info("x", FLOAT, [3, 2]), info("w", FLOAT, [3, 2])]
    made = model_of([helper.make_node("Mul", ["x", "w"], ["y"])], inputs, [info("y", FLOAT, [3, 2])],
                    [helper.make_tensor("w", FLOAT, [3, 2], W.ravel())])
    session = ort.InferenceSession(made.SerializeToString())
    assert [a.name for a in session.get_inputs()] == ["x"]
    assert [(a.name, a.type, a.shape) for a in session.get_overridable_initializers()] == [("w", "tensor(float)", [3, 2])]
    for _ in range(2):
        same([X * W], session.run(None, {"x": X}))
        same([X * 7], session.run(None, {"x": X, "w": np.full((3, 2), 7, np.float32)}))
    made.ir_version = 3  # where all initializers had to be inputs
    old = ort.InferenceSession(made.SerializeToString())
    assert old.get_overridable_initializers() == [] and [a.name for a in old.get_inputs()] == ["x"]


def test_options_have_types_and_names():
    options = ort.SessionOptions()
    assert options.graph_optimization_level == ort.GraphOptimizationLevel.ORT_ENABLE_ALL
    assert (options.intra_op_num_threads, options.enable_mem_pattern, options.log_severity_level) == (0, True, -1)
    with pytest.raises(AttributeError, match="did you mean intra_op_num_threads"):
        options.intra_op_num_thread = 1
    with pytest.raises(TypeError, match="intra_op_num_threads: expected int, found '2'"):
        options.intra_op_num_threads = "2"
    with pytest.raises(TypeError, match="expected GraphOptimizationLevel"):
        options.graph_optimization_level = 2
    options.add_session_config_entry("session.key", "1")
    assert options.get_session_config_entry("session.key") == "1"
    with pytest.raises(RuntimeError, match="does not have configuration with key: other"):
        options.get_session_config_entry("other")
    with pytest.raises(NotImplementedError, match="plugins"):
        options.register_custom_ops_library("custom.so")
    with pytest.raises(TypeError, match="expected a SessionOptions"):
        ort.InferenceSession(product(), {"intra_op_num_threads": 1})
    for level in ort.GraphOptimizationLevel:
        options.graph_optimization_level = level
        options.intra_op_num_threads = 1
        same([X * W], ort.InferenceSession(product(), options).run(None, {"x": X}))


def test_options_of_the_compiler_are_entries():
    options = ort.SessionOptions()
    options.add_session_config_entry("relayvm.precison", "bf16")
    with pytest.raises(TypeError, match="did you mean precision"):
        ort.InferenceSession(product(), options)
    options = ort.SessionOptions()
    options.add_session_config_entry("relayvm.exact", "true")
    same([X * W], ort.InferenceSession(product(), options).run(None, {"x": X}))


def test_options_that_a_model_has_itself(monkeypatch):
    model = onnx.load_from_string(product())
    helper.set_model_props(model, {"ort_config": json.dumps({"session_options": {"intra_op_num_threads": 2, "graph_optimization_level": 1}})})
    given = ort.SessionOptions()
    monkeypatch.setenv("ORT_LOAD_CONFIG_FROM_MODEL", "1")
    options = ort.InferenceSession(model.SerializeToString(), given).get_session_options()
    assert options.intra_op_num_threads == 2 and options.graph_optimization_level == ort.GraphOptimizationLevel.ORT_ENABLE_BASIC
    assert given.intra_op_num_threads == 0
    monkeypatch.setenv("ORT_LOAD_CONFIG_FROM_MODEL", "0")
    assert ort.InferenceSession(model.SerializeToString()).get_session_options().intra_op_num_threads == 0


def test_providers():
    assert ort.get_available_providers() == ["CPUExecutionProvider"] and ort.get_device() == "CPU"
    with pytest.warns(UserWarning, match="no CUDAExecutionProvider here"):
        session = ort.InferenceSession(product(), providers=[("CUDAExecutionProvider", {"device_id": 0}), "CPUExecutionProvider"])
    assert session.get_providers() == ["CPUExecutionProvider"] and session.get_provider_options() == {"CPUExecutionProvider": {}}
    with pytest.raises(RuntimeError, match="Unknown Provider Type: CPUProvider"):
        ort.InferenceSession(product(), providers=["CPUProvider"])
    session.set_providers(["CPUExecutionProvider"])
    same([X * W], session.run(None, {"x": X}))
    with pytest.raises(ValueError, match="expected a list of names"):
        ort.InferenceSession(product(), providers="CPUExecutionProvider")
    if os.path.isdir(os.path.join(os.path.dirname(rvm.__file__), "engines")):
        nodes = [helper.make_node("MatMul", ["x", "w"], ["p"]), helper.make_node("Relu", ["p"], ["y"])]
        w = np.random.default_rng(0).random((64, 64), np.float32)
        model = model_of(nodes, [info("x", FLOAT, [64, 64])], [info("y", FLOAT, [64, 64])], [numpy_helper.from_array(w, "w")])
        one = ort.InferenceSession(model.SerializeToString(), providers=["DnnlExecutionProvider", "CPUExecutionProvider"])
        assert one.get_providers() == ["DnnlExecutionProvider", "CPUExecutionProvider"] and one._programs.executable().regions
        np.testing.assert_allclose(one.run(None, {"x": w})[0], w @ w, rtol=1e-4)


def test_what_was_compiled_is_kept_in_a_file(tmp_path, session):
    options = ort.SessionOptions()
    options.optimized_model_filepath = tmp_path / "product.vmx"
    ort.InferenceSession(product(), options)
    arguments, results = told(ort, tmp_path / "product.vmx", {"x": X})
    assert arguments == EXPECTED["product"][0]
    same([X * W], results)
    arguments, results = told(ort, (tmp_path / "product.vmx").read_bytes(), {"x": X})
    same([X * W], results)
    with pytest.raises(state.NotImplemented, match="zipmap"):
        ort.InferenceSession(zipped(classlabels_int64s=[5, 7]).SerializeToString(), options)
    compiler = ort.ModelCompiler(None, CASES["a sequence out"][0])
    compiler.compile_to_file(tmp_path / "sequence.vmx")
    assert told(ort, tmp_path / "sequence.vmx", CASES["a sequence out"][1])[0] == EXPECTED["a sequence out"][0]
    assert ort.InferenceSession(compiler.compile_to_bytes()).get_outputs()[0].type == "seq(tensor(float))"


def test_profiling(tmp_path):
    options = ort.SessionOptions()
    options.enable_profiling, options.profile_file_prefix = True, str(tmp_path / "profile")
    before = time.monotonic_ns()
    session = ort.InferenceSession(product(), options)
    assert before <= session.get_profiling_start_time_ns() <= time.monotonic_ns()
    session.run(None, {"x": X})
    path = session.end_profiling()
    events = json.loads(open(path).read())
    assert path.startswith(options.profile_file_prefix) and any("multiply" in event["args"].get("kernel", "") for event in events)
    assert {(event["cat"], event["args"].get("op_name")) for event in events} == {("Session", None), ("Node", "Mul")}
    assert all(event["ph"] == "X" and {"pid", "tid", "ts", "dur", "args"} <= event.keys() for event in events)
    assert session.end_profiling() == "" and ort.InferenceSession(product()).end_profiling() == ""
    same([X * W], session.run(None, {"x": X}))


def test_run_async(session):
    ended, got = threading.Event(), []

    def callback(results, user_data, error):
        got.append((results, user_data, error))
        ended.set()

    session.run_async(["y"], {"x": X}, callback, "mine")
    assert ended.wait(60)
    same([([X * W], "mine", "")], got)
    ended.clear()
    session.run_async(None, {"x": X[:1]}, callback, 2)
    assert ended.wait(60) and got[1][:2] == ([], 2) and "expected" in got[1][2]
    with pytest.raises(state.InvalidArgument, match="Invalid output name"):
        session.run_async(["z"], {"x": X}, callback, None)


def forever():
    """y = x, after a loop that does not end within hours."""
    body = helper.make_graph([helper.make_node("Identity", ["condition"], ["on"]), helper.make_node("Tanh", ["state"], ["next"])], "body",
                             [info("i", TensorProto.INT64, []), info("condition", TensorProto.BOOL, []), info("state", FLOAT, [64])],
                             [info("on", TensorProto.BOOL, []), info("next", FLOAT, [64])])
    times = helper.make_tensor("times", TensorProto.INT64, [], [1 << 60])
    true = helper.make_tensor("true", TensorProto.BOOL, [], [True])
    return model_of([helper.make_node("Loop", ["times", "true", "x"], ["y"], body=body)], [info("x", FLOAT, [64])], [info("y", FLOAT, [64])],
                    [times, true]).SerializeToString()


def test_terminate_ends_runs(session):
    options = ort.RunOptions()
    same([X * W], session.run(None, {"x": X}, options))
    endless = ort.InferenceSession(forever())
    timer = threading.Timer(0.2, lambda: setattr(options, "terminate", True))
    timer.start()
    with pytest.raises(state.Fail):
        endless.run(None, {"x": np.ones(64, np.float32)}, options)
    timer.join()
    with pytest.raises(state.Fail, match="terminate"):
        session.run(None, {"x": X}, options)
    options.terminate = False
    same([X * W], session.run(None, {"x": X}, options))
    with pytest.raises(TypeError, match="expected a RunOptions"):
        session.run(None, {"x": X}, {})
    with pytest.raises(NotImplementedError, match="inference"):
        options.training_mode = True
    options.add_run_config_entry("memory.enable_memory_arena_shrinkage", "cpu:0")
    same([X * W], session.run(None, {"x": X}, options))


def test_many_threads_share_a_session(session):
    wrong = []

    def work(i):
        options = ort.RunOptions() if i % 2 else None
        for k in range(100):
            [y] = session.run(None, {"x": X + k}, options)
            if not np.array_equal(y, (X + k) * W):
                wrong.append(k)

    threads = [threading.Thread(target=work, args=(i,)) for i in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


@pytest.mark.parametrize("count", [8, 4096])
def test_outputs_are_memory_of_their_own(count):
    model = model_of([helper.make_node("Identity", ["x"], ["same"]), helper.make_node("Neg", ["x"], ["y"])], [info("x", FLOAT, ["n"])],
                     [info("same", FLOAT, ["n"]), info("y", FLOAT, ["n"])]).SerializeToString()
    session = ort.InferenceSession(model)
    kept = []
    for k in range(3):
        x = ort.OrtValue.ortvalue_from_shape_and_type([count], np.float32)
        x.numpy()[:] = k
        kept.append(session.run(None, {"x": x.numpy()}))
        x.numpy()[:] = 100
    assert [[y[0].min(), y[1].max()] for y in kept] == [[0, 0], [1, -1], [2, -2]]


# --- OrtValue ---


@pytest.mark.parametrize("dtype", "f4 f8 f2 i1 i2 i4 i8 u1 u2 u4 u8 ?".split())
def test_values_of_every_dtype(dtype):
    x = np.array([0, 1, 1], dtype)
    value = ort.OrtValue.ortvalue_from_numpy(x)
    element = numpy_helper.from_array(x).data_type
    assert value.element_type() == element and value.shape() == [3] and value.device_name() == "cpu"
    assert value.is_tensor() and value.has_value() and not value.is_sparse_tensor() and not value.is_tensor_sequence()
    assert value.tensor_size_in_bytes() == x.nbytes and value.data_ptr() == x.ctypes.data
    assert np.shares_memory(value.numpy(), x) and np.asarray(value).dtype == x.dtype
    other = ort.OrtValue.ortvalue_from_shape_and_type([3], x.dtype)
    other.update_inplace(value)
    assert np.array_equal(other.numpy(), x) and other.data_type() == value.data_type()
    assert ort.OrtValue.ortvalue_from_shape_and_type([3], element).numpy().dtype == x.dtype
    # through a session, by DLPack and bound
    model = model_of([helper.make_node("Identity", ["x"], ["y"])], [info("x", element, [None])], [info("y", element, [None])])
    session = ort.InferenceSession(model.SerializeToString())
    assert session.get_inputs()[0].type == value.data_type()
    [y] = session.run_with_ort_values(["y"], {"x": value})
    assert y.data_type() == value.data_type() and np.array_equal(y.numpy(), x) and y.numpy().dtype == x.dtype
    if dtype != "?":  # which numpy 1.24 has no DLPack of
        assert ort.OrtValue.from_dlpack(value).data_ptr() == x.ctypes.data
        assert np.array_equal(ort.OrtValue.from_dlpack(value.to_dlpack()).numpy(), x)


def test_values_of_bfloat16():
    model = model_of([helper.make_node("Cast", ["x"], ["y"], to=TensorProto.BFLOAT16)], [info("x", FLOAT, [2])],
                     [info("y", TensorProto.BFLOAT16, [2])]).SerializeToString()
    session = ort.InferenceSession(model)
    [y] = session.run_with_ort_values(None, {"x": ort.OrtValue.ortvalue_from_numpy(np.float32([1, 2]))})
    assert (y.data_type(), y.element_type(), y.shape()) == ("tensor(bfloat16)", 16, [2]) and y.numpy().tolist() == [0x3F80, 0x4000]
    back = ort.InferenceSession(model_of([helper.make_node("Cast", ["x"], ["y"], to=FLOAT)], [info("x", TensorProto.BFLOAT16, [2])],
                                         [info("y", FLOAT, [2])]).SerializeToString())
    assert back.run(None, {"x": y})[0].tolist() == [1, 2]
    bits = ort.OrtValue.ortvalue_from_numpy_with_onnx_type(np.uint16([0x3F80, 0x4000]), 16)
    assert bits.data_type() == "tensor(bfloat16)" and back.run(None, {"x": bits})[0].tolist() == [1, 2]


def test_values_that_are_read_only_or_no_tensors(session):
    x = X.copy()
    x.flags.writeable = False
    same([X * W], session.run(None, {"x": ort.OrtValue.ortvalue_from_numpy(x)}))
    made = ort.InferenceSession(CASES["a sequence out"][0])
    [values] = made.run_with_ort_values(None, {"x": ort.OrtValue.ortvalue_from_numpy(np.ones(2, np.float32))})
    assert values.is_tensor_sequence() and not values.is_tensor() and values.data_type() == "seq(tensor(float))"
    with pytest.raises(RuntimeError, match=r"numpy: expected a tensor, found seq\(tensor\(float\)\)"):
        values.numpy()
    length = ort.InferenceSession(CASES["a sequence in"][0])
    assert length.run_with_ort_values(None, {"x": values})[0].numpy() == 2
    with pytest.raises(RuntimeError, match="expected 6 elements of float32"):
        ort.OrtValue.ortvalue_from_numpy(X).update_inplace(X[:1])
    with pytest.raises(RuntimeError, match="'cuda' is another device"):
        ort.OrtValue.ortvalue_from_numpy(X, "cuda", 0)
    with pytest.raises(TypeError, match="expected an array of numpy"):
        ort.OrtValue.ortvalue_from_numpy([1.0])


def test_sparse_tensors_are_held():
    cpu = ort.OrtDevice.make("cpu", 0)
    for indices in ([1, 5], [[0, 1], [1, 2]]):
        coo = ort.SparseTensor.sparse_coo_from_numpy([2, 3], np.float32([7, 8]), np.int64(indices), cpu)
        assert coo.to_dense().tolist() == [[0, 7, 0], [0, 0, 8]]
    assert coo.format() == ort.OrtSparseFormat.ORT_SPARSE_COO and coo.data_type() == "sparse_tensor(float)"
    csr = ort.SparseTensor.sparse_csr_from_numpy([2, 3], np.array(["a", "b"]), np.int64([1, 2]), np.int64([0, 1, 2]), cpu)
    assert csr.data_type() == "sparse_tensor(string)" and csr.as_csrc_view().outer().tolist() == [0, 1, 2]
    with pytest.raises(RuntimeError, match="form is ORT_SPARSE_CSRC"):
        csr.as_coo_view()
    value = ort.OrtValue.ort_value_from_sparse_tensor(coo)
    assert value.is_sparse_tensor() and value.as_sparse_tensor() is coo and not value.is_tensor()


# --- IOBinding ---


def test_bindings_read_and_write_where_they_are(session):
    binding = session.io_binding()
    x, y = X.copy(), ort.OrtValue.ortvalue_from_shape_and_type([3, 2], np.float32)
    binding.bind_cpu_input("x", x)
    binding.bind_ortvalue_output("y", y)
    for k in range(3):
        x += k
        session.run_with_iobinding(binding)
        assert np.array_equal(y.numpy(), x * W)
    copy = binding.copy_outputs_to_cpu()[0]
    x += 1
    session.run_with_iobinding(binding, ort.RunOptions())
    assert not np.array_equal(copy, y.numpy()) and binding.get_outputs()[0] is y
    address = session.io_binding()
    address.bind_input("x", "cpu", 0, np.float32, [3, 2], x.ctypes.data)
    target = np.zeros((3, 2), np.float32)
    address.bind_output("y", "cpu", 0, np.float32, [3, 2], target.ctypes.data)
    address.synchronize_inputs()
    session.run_with_iobinding(address)
    assert np.array_equal(target, x * W)
    address.clear_binding_outputs()
    address.bind_output("y")
    session.run_with_iobinding(address)
    assert np.array_equal(address.get_outputs()[0].numpy(), x * W) and address.get_outputs_as_ortvaluevector()[0].shape() == [3, 2]


def test_bindings_that_are_wrong(session):
    binding = session.io_binding()
    with pytest.raises(RuntimeError, match="no output z; it has y"):
        binding.bind_output("z")
    with pytest.raises(RuntimeError, match="no input z; it has x"):
        binding.bind_cpu_input("z", X)
    with pytest.raises(RuntimeError, match="another device"):
        binding.bind_output("y", "cuda")
    binding.bind_output("y")
    with pytest.raises(ValueError, match="Required inputs"):
        session.run_with_iobinding(binding)
    binding.bind_cpu_input("x", X)
    binding.bind_ortvalue_output("y", ort.OrtValue.ortvalue_from_shape_and_type([2, 2], np.float32))
    for options in (None, ort.RunOptions()):
        with pytest.raises(state.InvalidArgument):
            session.run_with_iobinding(binding, options)
    with pytest.raises(ValueError, match="IOBinding of this session"):
        ort.InferenceSession(product()).run_with_iobinding(binding)
    binding.clear_binding_outputs()
    with pytest.raises(RuntimeError, match="one or more outputs"):
        session.run_with_iobinding(binding)


def test_inputs_may_have_the_names_of_options():
    names = ["out", "timeout", "tag", "memory_limit", "state"]
    model = model_of([helper.make_node("Sum", names, ["y"])], [info(name, FLOAT, [2]) for name in names], [info("y", FLOAT, [2])])
    session = ort.InferenceSession(model.SerializeToString())
    feed = {name: np.ones(2, np.float32) for name in names}
    assert session.run(None, feed)[0].tolist() == [5, 5]
    binding, y = session.io_binding(), ort.OrtValue.ortvalue_from_shape_and_type([2])
    for name in names:
        binding.bind_cpu_input(name, feed[name])
    binding.bind_ortvalue_output("y", y)
    session.run_with_iobinding(binding)
    assert y.numpy().tolist() == [5, 5]
    with pytest.raises(state.InvalidArgument, match="Invalid input name: out"):
        ort.InferenceSession(product()).run(None, {"x": X, "out": X})


# --- Names ---


def test_native_names(session):
    assert session._sess.run_with_ort_values({"x": ort.OrtValue.ortvalue_from_numpy(X)}, ["y"])[0].shape() == [3, 2]
    device = state.OrtDevice(state.OrtDevice.cpu(), state.OrtDevice.default_memory(), 0)
    binding = state.SessionIOBinding(session._sess)
    binding.bind_input("x", device, np.float32, X.shape, X.ctypes.data)
    binding.bind_output("y", device)
    session._sess.run_with_iobinding(binding, None)
    assert isinstance(binding.get_outputs(), state.OrtValueVector)
    from relayvm.onnx.capi import _pybind_state
    for name in ("Fail", "InvalidArgument", "NoSuchFile", "InvalidProtobuf", "InvalidGraph", "NotImplemented", "RuntimeException", "EPFail"):
        assert issubclass(getattr(_pybind_state, name), rvm.Error)


def test_a_model_of_the_package_onnx_is_given_as_bytes():
    model = onnx.load_from_string(product())
    with pytest.raises(TypeError, match=r"found ModelProto: give model.SerializeToString\(\)"):
        ort.InferenceSession(model)
    same([X * W], ort.InferenceSession(model.SerializeToString()).run(None, {"x": X}))
    same([X * W], ort.backend.prepare(model).run([X]))


def test_what_there_is_not_says_what_to_use():
    with pytest.raises(NotImplementedError, match="add_initializer"):
        ort.LoraAdapter()
    with pytest.raises(NotImplementedError, match="byoc"):
        ort.register_execution_provider_library("name", "library.so")
    with pytest.raises(NotImplementedError, match="rvm.compile"):
        ort.get_ep_devices()
    with pytest.raises(NotImplementedError, match="optimized_model_filepath"):
        ort.ModelPackage.open("x")
    with pytest.raises(AttributeError, match="did you mean InferenceSession"):
        ort.InferenceSesion
    assert not hasattr(ort, "nonsense")
    if onnxruntime is not None:
        missing = [name for name in dir(onnxruntime) if not name.startswith("_") and not hasattr(ort, name)]
        assert set(missing) <= {"contextlib", "import_capi_exception"}


def test_backend(session):
    from relayvm.onnx import backend
    assert backend.supports_device("CPU") and not backend.supports_device("CUDA:0")
    prepared = backend.prepare(onnx.load_from_string(product()))
    same([X * W], prepared.run(X))
    same([X * W], backend.run_model(product(), [X]))
    assert backend.prepare(prepared) is prepared


def test_a_linear_classifier_with_more_coefficients_than_it_uses():
    node = helper.make_node("LinearClassifier", ["x"], ["label", "scores"], domain="ai.onnx.ml", classlabels_ints=[4, 5, 6],
                            coefficients=[float(i) for i in range(12)], intercepts=[0.0, 1.0, 2.0], post_transform="NONE")
    outputs = [info("label", TensorProto.INT64, [None]), info("scores", FLOAT, [None, 3])]
    session = ort.InferenceSession(model_of([node], [info("x", FLOAT, [None, 2])], outputs, learning=True).SerializeToString())
    label, scores = session.run(None, {"x": X})
    np.testing.assert_allclose(scores, X @ np.arange(6).reshape(3, 2).T + [0, 1, 2])
    assert label.tolist() == [6, 6, 6]


def test_sessions_go():
    counts = []
    for _ in range(3):
        ort.InferenceSession(product()).run(None, {"x": X})
        gc.collect()
        counts.append(sum(isinstance(one, ort.InferenceSession) for one in gc.get_objects()))
    assert counts[0] == counts[2]


def test_the_stub_says_what_is_there():
    from test_stubs import told_by
    there = {name for name, value in vars(ort).items() if not name.startswith("_") and getattr(value, "__module__", "").startswith("relayvm.onnx")}
    told = told_by(ort)
    assert there | {"ModelCompiler"} <= told | {"absent"}, there - told
    for name in told - {"version", "package_name", "cuda_version", "__getattr__", "__version__"}:
        assert getattr(ort, name).__doc__, name


def test_importing_it_does_not_import_the_compiler():
    import subprocess
    code = "import sys, relayvm.onnx; sys.exit('relayvm.compiler' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}).returncode == 0
