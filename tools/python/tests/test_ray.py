"""Programs on Ray, where it is installed: Data's batches, a Serve deployment by its handle and over HTTP."""
import json
import urllib.error
import urllib.request

import numpy as np
import pytest

import relayvm as rvm
import relayvm.ray as relayvm_ray

SCALE = "def @main(%x: Tensor[(?, 2), float32], %f: float32) { (multiply(%x, %f), sum(%x, axis=[1])) }"


@pytest.fixture(scope="module")
def path(tmp_path_factory):
    made = tmp_path_factory.mktemp("ray") / "model.vmx"
    rvm.compile(rvm.parse('#[version = "0.0.5"]\n' + SCALE)).save(str(made))
    return str(made)


@pytest.fixture(scope="module")
def ray():
    made = pytest.importorskip("ray", reason="pip install 'ray[serve,data]'")
    try:
        made.init(num_cpus=2, include_dashboard=False, log_to_driver=False, configure_logging=False)
    except Exception as error:  # its processes have half a minute to start
        pytest.skip(f"Ray does not start: {error}")
    yield made
    made.shutdown()


def test_batches_of_a_dataset(ray, path):
    data = pytest.importorskip("ray.data")
    x = np.arange(40, dtype=np.float32).reshape(20, 2)
    made = data.from_items([{"id": i, "features": x[i]} for i in range(20)]).map_batches(
        relayvm_ray.Predictor, batch_size=7, concurrency=1, fn_constructor_kwargs={
            "source": relayvm_ray.put(path), "columns": {"x": "features"}, "fixed": {"f": np.float32(3)}, "keep": ["id"]})
    rows = sorted(made.take_all(), key=lambda row: row["id"])
    assert [row["id"] for row in rows] == list(range(20))
    np.testing.assert_array_equal(np.stack([row["output_0"] for row in rows]), x * 3)
    np.testing.assert_array_equal([row["output_1"] for row in rows], x.sum(1))


def test_a_predictor_by_itself(path):
    pytest.importorskip("ray", reason="pip install 'ray[serve,data]'")
    predictor = relayvm_ray.Predictor(path, fixed={"f": np.float32(2)})
    batch = predictor({"x": np.ones((3, 2), np.float32), "id": np.arange(3)})
    assert set(batch) == {"x", "id", "output_0", "output_1"}
    with pytest.raises(ValueError, match="input x: there is no column x; there are y"):
        predictor({"y": np.ones((3, 2), np.float32)})
    with pytest.raises(ValueError, match="f: expected x.0 rows"):
        relayvm_ray.Predictor(path)


def posted(url, body):
    request = urllib.request.Request(url, json.dumps(body).encode(), {"Content-Type": "application/json"})
    try:
        with urllib.request.urlopen(request, timeout=60) as answer:
            return answer.status, json.load(answer)
    except urllib.error.HTTPError as error:
        return error.code, json.load(error)


def test_a_deployment(ray, path):
    serve = pytest.importorskip("ray.serve", reason="pip install 'ray[serve]'")
    port = 18431
    serve.start(http_options={"host": "127.0.0.1", "port": port})
    try:
        handle = serve.run(relayvm_ray.application(path, name="scale", num_replicas=1, ray_actor_options={"num_cpus": 0.1}),
                           name="scale", route_prefix="/scale")
        x = np.ones((3, 2), np.float32)
        outputs = handle.infer.remote(x=x, f=np.float32(2)).result(timeout_s=60)
        np.testing.assert_array_equal(outputs["output_0"], x * 2)
        inputs = [{"name": "x", "shape": [1, 2], "datatype": "FP32", "data": [[1, 2]]}, {"name": "f", "shape": [], "datatype": "FP32", "data": 2}]
        url = f"http://127.0.0.1:{port}/scale"
        status, answer = posted(url, {"id": "7", "inputs": inputs})
        assert (status, answer["id"], answer["outputs"][0]) == (
            200, "7", {"name": "output_0", "datatype": "FP32", "shape": [1, 2], "data": [2.0, 4.0]})
        assert posted(url, {"inputs": inputs[:1]})[0] == 400
        status, answer = posted(url, {"inputs": [{**inputs[0], "datatype": "INT8"}]})
        assert (status, answer) == (400, {"error": "input x: expected FP32, found INT8"})
        assert posted(url, {})[1] == {"error": "the request has no 'inputs'"}
        with urllib.request.urlopen(url, timeout=60) as told:
            assert json.load(told)["inputs"][0] == {"name": "x", "datatype": "FP32", "shape": [-1, 2]}
    finally:
        serve.shutdown()
