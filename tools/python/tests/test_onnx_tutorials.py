"""Programs as ONNX Runtime's tutorials write them, with the import changed; where onnxruntime is installed, its answers are the same."""
import json
import os
import threading

import numpy as np
import pytest

onnx = pytest.importorskip("onnx")
from onnx import TensorProto, helper, numpy_helper  # noqa: E402

import relayvm.onnx  # noqa: E402

try:
    import onnxruntime
except ImportError:
    onnxruntime = None
CPU = ["CPUExecutionProvider"]


def write(path, nodes, inputs, outputs, weights=(), metadata=None, **saved):
    """inputs, outputs: (name, dims), of float32. weights: {name: array}."""
    values = [[helper.make_tensor_value_info(name, TensorProto.FLOAT, dims) for name, dims in some] for some in (inputs, outputs)]
    graph = helper.make_graph(nodes, "tutorial", *values, [numpy_helper.from_array(array, name) for name, array in dict(weights).items()])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], producer_name="a tutorial", ir_version=8)
    if metadata:
        helper.set_model_props(model, metadata)
        model.doc_string, model.model_version = "what it is for", 7
    onnx.save(model, str(path), **saved)
    return str(path)


def classifier(path, **saved):
    """A linear layer of 4 features and 3 classes, and its softmax; any number of rows."""
    rng = np.random.default_rng(0)
    return write(path, [helper.make_node("Gemm", ["input", "W", "B"], ["logits"]), helper.make_node("Softmax", ["logits"], ["output"])],
                 [("input", ["batch", 4])], [("output", ["batch", 3])],
                 {"W": rng.standard_normal((4, 3)).astype(np.float32), "B": np.zeros(3, np.float32)}, **saved)


ROWS = np.random.default_rng(1).standard_normal((5, 4)).astype(np.float32)


def basic_inference(ort, folder):
    session = ort.InferenceSession(classifier(folder / "model.onnx"), providers=CPU)
    input_name, output_name = session.get_inputs()[0].name, session.get_outputs()[0].name
    outputs = session.run([output_name], {input_name: ROWS})
    return [(a.name, a.shape, a.type) for a in [*session.get_inputs(), *session.get_outputs()]], outputs, session.get_providers()


def inference_of_bytes_and_ort_values(ort, folder):
    with open(classifier(folder / "model.onnx"), "rb") as file:
        session = ort.InferenceSession(file.read(), providers=CPU)
    value = ort.OrtValue.ortvalue_from_numpy(ROWS.copy())  # which shares its memory
    facts = value.device_name(), value.shape(), value.data_type(), value.is_tensor(), value.numpy()
    results = session.run(["output"], {"input": value})
    [also] = session.run_with_ort_values(["output"], {"input": value})
    value.update_inplace(ROWS + 1)
    return facts, results, also.numpy(), session.run(None, {"input": value})


def io_binding(ort, folder):
    session = ort.InferenceSession(classifier(folder / "model.onnx"), providers=CPU)
    binding = session.io_binding()
    binding.bind_cpu_input("input", ROWS)
    binding.bind_output("output")
    session.run_with_iobinding(binding)
    new = binding.copy_outputs_to_cpu()[0]
    x = ort.OrtValue.ortvalue_from_numpy(ROWS, "cpu", 0)
    y = ort.OrtValue.ortvalue_from_shape_and_type([5, 3], np.float32, "cpu", 0)
    binding = session.io_binding()
    binding.bind_input("input", x.device_name(), 0, np.float32, x.shape(), x.data_ptr())
    binding.bind_output("output", y.device_name(), 0, np.float32, y.shape(), y.data_ptr())
    session.run_with_iobinding(binding)
    [bound] = binding.get_outputs()
    return new, y.numpy(), bound.numpy(), bound.shape()


def profiling(ort, folder):
    options = ort.SessionOptions()
    options.enable_profiling, options.profile_file_prefix = True, str(folder / "profile")
    session = ort.InferenceSession(classifier(folder / "model.onnx"), options, providers=CPU)
    result = session.run(None, {"input": ROWS})
    name = session.end_profiling()
    with open(name) as file:
        events = json.load(file)
    assert {event["cat"] for event in events} == {"Session", "Node"}
    nodes = [event for event in events if event["cat"] == "Node"]
    assert all(event["ph"] == "X" and event["dur"] >= 0 and event["args"]["provider"] == CPU[0] for event in nodes)
    runs = sum(event["name"] == "model_run" for event in events)
    operators = sorted({event["args"]["op_name"] for event in nodes if event["name"].endswith("_kernel_time")})
    return os.path.basename(name).startswith("profile_"), name.endswith(".json"), runs, operators, result


def dynamic_axes(ort, folder):
    session = ort.InferenceSession(classifier(folder / "model.onnx"), providers=CPU)
    return [session.run(None, {"input": np.repeat(ROWS[:1], n, axis=0)})[0].shape for n in (1, 2, 7, 64)]


def free_dimension_overrides(ort, folder):
    options = ort.SessionOptions()
    options.add_free_dimension_override_by_name("batch", 5)
    session = ort.InferenceSession(classifier(folder / "model.onnx"), options, providers=CPU)
    return session.get_inputs()[0].shape, session.run(None, {"input": ROWS})


def metadata(ort, folder):
    path = write(folder / "model.onnx", [helper.make_node("Relu", ["x"], ["y"])], [("x", ["n"])], [("y", ["n"])],
                 metadata={"labels": "a,b", "author": "somebody"})
    meta = ort.InferenceSession(path, providers=CPU).get_modelmeta()
    return sorted(meta.custom_metadata_map.items()), meta.producer_name, meta.version, meta.description, meta.graph_name, meta.domain


def threads_and_levels(ort, folder):
    results = []
    for level in (ort.GraphOptimizationLevel.ORT_DISABLE_ALL, ort.GraphOptimizationLevel.ORT_ENABLE_ALL):
        options = ort.SessionOptions()
        options.intra_op_num_threads, options.inter_op_num_threads = 2, 1
        options.execution_mode, options.graph_optimization_level = ort.ExecutionMode.ORT_SEQUENTIAL, level
        options.add_session_config_entry("session.intra_op.allow_spinning", "0")
        session = ort.InferenceSession(classifier(folder / "model.onnx"), sess_options=options, providers=CPU)
        found = [None] * 4

        def work(i, session=session, found=found):
            found[i] = session.run(None, {"input": ROWS[i:i + 1]})[0]

        workers = [threading.Thread(target=work, args=(i,)) for i in range(4)]
        for worker in workers:
            worker.start()
        for worker in workers:
            worker.join()
        results.append(np.concatenate(found))
    return results


def external_data(ort, folder):
    path = classifier(folder / "model.onnx", save_as_external_data=True, location="weights.bin", size_threshold=0)
    with_file = ort.InferenceSession(path, providers=CPU).run(None, {"input": ROWS})
    options = ort.SessionOptions()
    weights = folder / "weights.bin"
    content = weights.read_bytes()
    options.add_external_initializers_from_files_in_memory(["weights.bin"], [content], [len(content)])
    with open(path, "rb") as file:
        in_memory = ort.InferenceSession(file.read(), options, providers=CPU).run(None, {"input": ROWS})
    return with_file, in_memory


def shared_initializers(ort, folder):
    path, options = classifier(folder / "model.onnx"), ort.SessionOptions()
    ours = ort.OrtValue.ortvalue_from_numpy(np.ones((4, 3), np.float32))
    options.add_initializer("W", ours)
    return [ort.InferenceSession(path, options, providers=CPU).run(None, {"input": ROWS})[0] for _ in range(2)]


def errors(ort, folder):
    import importlib
    state = importlib.import_module(ort.__name__ + ".capi.onnxruntime_pybind11_state")
    (folder / "text.onnx").write_bytes(b"not a model")
    (folder / "wrong.onnx").write_bytes(helper.make_model(helper.make_graph([helper.make_node("NoSuchOperator", ["x"], ["y"])], "g", [], []),
                                                           ir_version=8).SerializeToString())
    session, found = ort.InferenceSession(classifier(folder / "model.onnx"), providers=CPU), []
    for call, kind in ((lambda: ort.InferenceSession("no such file.onnx", providers=CPU), state.NoSuchFile),
                       (lambda: ort.InferenceSession(str(folder / "text.onnx"), providers=CPU), state.InvalidProtobuf),
                       (lambda: session.run(None, {"inputs": ROWS}), ValueError),
                       (lambda: session.run(["nothing"], {"input": ROWS}), state.InvalidArgument),
                       (lambda: session.run(None, {"input": ROWS[:, :3]}), state.InvalidArgument),
                       (lambda: session.run(None, {"input": ROWS.astype(str)}), (state.InvalidArgument, state.Fail))):
        try:
            call()
        except kind:
            found.append(True)
        except Exception as error:  # noqa: BLE001
            found.append(repr(error))
    return found


def asynchronous_runs(ort, folder):
    session, ended, found = ort.InferenceSession(classifier(folder / "model.onnx"), providers=CPU), threading.Event(), []

    def callback(results, user_data, error):
        found.append((results, user_data, error))
        ended.set()

    session.run_async(["output"], {"input": ROWS}, callback, "mine")
    assert ended.wait(60)
    return found


def run_options(ort, folder):
    options = ort.RunOptions()
    options.log_severity_level, options.logid = 3, "one run"
    options.add_run_config_entry("memory.enable_memory_arena_shrinkage", "cpu:0")
    return ort.InferenceSession(classifier(folder / "model.onnx"), providers=CPU).run(None, {"input": ROWS}, options)


def iris_of_scikit_learn(ort, folder):
    pytest.importorskip("skl2onnx")
    from skl2onnx import to_onnx
    from sklearn.datasets import load_iris
    from sklearn.ensemble import RandomForestClassifier
    x, y = load_iris(return_X_y=True)
    x = x.astype(np.float32)
    forest = RandomForestClassifier(10, random_state=0).fit(x, y)
    session = ort.InferenceSession(to_onnx(forest, x[:1], target_opset=17).SerializeToString(), providers=CPU)
    labels, probabilities = session.run(None, {"X": x[::7]})
    assert (labels == forest.predict(x[::7])).all()
    return labels, probabilities, [(a.name, a.type, a.shape) for a in session.get_inputs()]


def texts_of_scikit_learn(ort, folder):
    pytest.importorskip("skl2onnx")
    from skl2onnx import convert_sklearn
    from skl2onnx.common.data_types import StringTensorType
    from sklearn.feature_extraction.text import TfidfVectorizer
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline
    texts = np.array(["the cat sat", "a dog ran fast", "the dog and the cat", "fast cars run"])
    # Without a change of case ONNX Runtime needs no locale.
    pipeline = make_pipeline(TfidfVectorizer(lowercase=False, ngram_range=(1, 2)), LogisticRegression()).fit(texts, ["pets", "pets", "pets", "cars"])
    model = convert_sklearn(pipeline, "texts", [("text", StringTensorType([None, 1]))], target_opset=17)
    session = ort.InferenceSession(model.SerializeToString(), providers=CPU)
    labels, probabilities = session.run(None, {"text": texts.reshape(-1, 1)})
    assert (labels == pipeline.predict(texts)).all()
    np.testing.assert_allclose([[row[label] for label in pipeline.classes_] for row in probabilities], pipeline.predict_proba(texts), rtol=1e-4)
    return labels, probabilities


def export_of_pytorch(ort, folder):
    torch = pytest.importorskip("torch")
    model = torch.nn.Sequential(torch.nn.Linear(4, 8), torch.nn.ReLU(), torch.nn.Linear(8, 3)).eval()
    path = str(folder / "net.onnx")
    with torch.no_grad():
        for parameter, number in zip(model.parameters(), range(1, 9)):
            parameter.copy_(torch.linspace(-1, 1, parameter.numel()).reshape(parameter.shape) / number)
        options = {"dynamo": False} if torch.__version__ >= "2.5" else {}
        torch.onnx.export(model, torch.from_numpy(ROWS), path, input_names=["input"], output_names=["output"],
                          dynamic_axes={"input": {0: "batch"}, "output": {0: "batch"}}, **options)
        expected = model(torch.from_numpy(ROWS)).numpy()
    session = ort.InferenceSession(path, providers=CPU)
    [result] = session.run(None, {session.get_inputs()[0].name: ROWS})
    np.testing.assert_allclose(result, expected, rtol=1e-3, atol=1e-5)
    return result, session.get_inputs()[0].shape


PROGRAMS = [basic_inference, inference_of_bytes_and_ort_values, io_binding, profiling, dynamic_axes, free_dimension_overrides, metadata,
            threads_and_levels, external_data, shared_initializers, errors, asynchronous_runs, run_options, iris_of_scikit_learn,
            texts_of_scikit_learn, export_of_pytorch]


def same(a, b):
    if isinstance(a, np.ndarray):
        assert a.dtype == b.dtype and a.shape == b.shape
        np.testing.assert_allclose(a, b, rtol=1e-4, atol=1e-6) if a.dtype.kind == "f" else np.testing.assert_array_equal(a, b)
    elif isinstance(a, (list, tuple)):
        assert len(a) == len(b)
        for one, other in zip(a, b):
            same(one, other)
    elif isinstance(a, dict):
        assert list(a) == list(b)
        same(list(a.values()), list(b.values()))
    else:
        assert a == (pytest.approx(b, rel=1e-4) if isinstance(b, float) else b)


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda program: program.__name__)
def test_a_tutorial_runs_with_the_import_changed(program, tmp_path):
    ours = tmp_path / "ours"
    ours.mkdir()
    result = program(relayvm.onnx, ours)
    assert result is not None and "error" not in str(result).lower()
    if onnxruntime is not None:
        theirs = tmp_path / "theirs"
        theirs.mkdir()
        same(result, program(onnxruntime, theirs))
