"""rvm.serve: servers as processes beside this one."""
import json
import os
import shutil
import signal
import subprocess
import sys
import time
import urllib.error
import urllib.request

import pytest

import relayvm as rvm

DOUBLE = '#[version = "0.0.5"]\ndef @main(%x: Tensor[(?), float32]) { multiply(%x, 2f) }'


@pytest.fixture(scope="module")
def executable():
    return rvm.compile(rvm.parse(DOUBLE))


@pytest.fixture(scope="module")
def path(tmp_path_factory, executable):
    made = tmp_path_factory.mktemp("server") / "model.vmx"
    executable.save(str(made))
    return str(made)


def infer(server, name, data):
    body = json.dumps({"inputs": [{"name": "x", "datatype": "FP32", "shape": [len(data)], "data": data}]}).encode()
    with urllib.request.urlopen(urllib.request.Request(f"{server.url}/v2/models/{name}/infer", body), timeout=60) as answer:
        return json.loads(answer.read())["outputs"][0]["data"]


def gone(url):
    for _ in range(200):
        try:
            urllib.request.urlopen(url + "/v2/health/live", timeout=5).close()
        except (urllib.error.URLError, ConnectionError):
            return True
        time.sleep(0.05)
    return False


def test_a_block_has_a_server(path):
    with rvm.serve(path) as server:
        assert infer(server, "model", [1.5, 2]) == [3, 4]
        assert server.is_running and server.http_port > 0 and server.metrics_port not in (0, server.http_port)
        assert server.url == f"http://127.0.0.1:{server.http_port}" and server.names == ["model"]
        with urllib.request.urlopen(f"http://127.0.0.1:{server.metrics_port}/metrics", timeout=60) as answer:
            assert b"vmserve_requests_total" in answer.read()
        assert repr(server) == f"<relayvm server {server.url}: model>"
    assert not server.is_running and gone(server.url) and repr(server).endswith("ended>")
    assert server.stop() == 0  # once more


def test_what_is_a_model(path, executable):
    with open(path, "rb") as file:
        data = file.read()
    given = {"path": path, "bytes": data, "executable": executable, "loaded": rvm.load(path), "compiled": executable.load(),
             "module": rvm.parse(DOUBLE)}
    server = rvm.serve(models=given)
    try:
        assert sorted(server.names) == sorted(given)
        for name in given:
            assert infer(server, name, [4.0]) == [8], name
    finally:
        assert server.stop() == 0


def test_a_repository(path, tmp_path):
    os.makedirs(tmp_path / "m" / "1")
    shutil.copy(path, tmp_path / "m" / "1" / "model.vmx")
    with rvm.serve(repository=tmp_path, options=["--workers", 1]) as server:
        assert infer(server, "m", [0.5]) == [1]


def test_a_token(path, tmp_path):
    token = tmp_path / "token"
    token.write_text("0123456789\n")
    with rvm.serve(path, token_file=token) as server, pytest.raises(urllib.error.HTTPError) as refused:
        infer(server, "model", [1])
    assert refused.value.code == 401


def test_what_is_none(path):
    with open(path, "rb") as file:
        data = file.read()
    with pytest.raises(TypeError, match="a model, models or a repository"):
        rvm.serve()
    with pytest.raises(TypeError, match="not loaded from a file"):
        rvm.serve(rvm.load(data))
    with pytest.raises(TypeError, match="did you mean port"):
        rvm.serve(path, prt=1)
    with pytest.raises(ValueError, match="two models are called model"):
        rvm.serve(path, models={"model": path})
    with pytest.raises(rvm.Error, match="expected an IP address"):
        rvm.serve(path, host="no.such.host.example")
    with pytest.raises(FileNotFoundError):
        rvm.serve(path, executable="/nothing/vmserve")
    with rvm.serve(path) as server, pytest.raises(rvm.Error, match="in use"):
        rvm.serve(path, port=server.http_port)


def test_it_ends_with_what_started_it(path):
    """Also where that is killed, and says nothing any more."""
    text = f"import time, relayvm as rvm\nserver = rvm.serve({path!r})\nprint(server.url, flush=True)\ntime.sleep(600)"
    process = subprocess.Popen([sys.executable, "-c", text], stdout=subprocess.PIPE, text=True)
    url = process.stdout.readline().strip()
    urllib.request.urlopen(url + "/v2/health/live", timeout=60).close()
    process.send_signal(signal.SIGKILL)
    process.wait()
    assert gone(url)


def test_a_server_that_nobody_holds_ends(path):
    url = rvm.serve(path).url
    assert gone(url)


def test_a_server_that_dies_is_noticed(path):
    with rvm.serve(path) as server:
        os.kill(server.pid, signal.SIGKILL)
        assert gone(server.url)
        for _ in range(100):
            if not server.is_running:
                break
            time.sleep(0.05)
        assert not server.is_running
    assert server.stop() == -signal.SIGKILL
