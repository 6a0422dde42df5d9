#!/usr/bin/python3
"""Starts vmserve on the shipped examples and holds its answers against vmrun's.

usage: run_serve.py BIN_FOLDER EXAMPLES_FOLDER

With tritonclient installed, its HTTP client is one more. Closes with the line "N checks passed".
"""
import http.client
import json
import os
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
import threading
import time

PASSED = 0


def check(condition, what):
    global PASSED
    if not condition:
        raise AssertionError(what)
    PASSED += 1


class Server:
    def __init__(self, binary, *options, program=None, wait=True):
        command = [program or os.path.join(binary, "vmserve"), "--http-port", "0", "--metrics-port", "0", *options]
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        self.ports = {}
        for line in self.process.stdout:
            word, _, rest = line.partition(" ")
            self.ports[word] = int(rest.rpartition(":")[2])
            if word == "metrics":
                break
        check("metrics" in self.ports and "http" in self.ports, "ports are printed")
        if wait:
            self.wait_until_ready()

    def wait_until_ready(self):
        for line in self.process.stdout:
            if line.startswith("ready"):
                return
        raise AssertionError("it is never ready")

    def ask(self, method, path, body=None, headers=None, port="http"):
        connection = http.client.HTTPConnection("127.0.0.1", self.ports[port], timeout=60)
        connection.request(method, path, body, headers or {})
        answer = connection.getresponse()
        content = answer.read()
        connection.close()
        return answer.status, content, answer.headers

    def infer(self, model, inputs):
        status, content, _ = self.ask("POST", f"/v2/models/{model}/infer", json.dumps({"inputs": inputs}))
        return status, json.loads(content)

    def end(self, how=signal.SIGTERM):
        self.process.send_signal(how)
        return self.process.wait(timeout=60)


def make_repository(binary, examples, folder):
    for name, options in (("while_loop", []), ("lstm", ["--params", os.path.join(examples, "lstm.npz")])):
        os.makedirs(os.path.join(folder, name, "1"))
        subprocess.run([os.path.join(binary, "relayc"), os.path.join(examples, name + ".relay"), *options, "-q", "-o",
                        os.path.join(folder, name, "1", "model.vmx")], check=True)
    os.makedirs(os.path.join(folder, "newton", "3"))
    shutil.copy(os.path.join(examples, "newton.onnx"), os.path.join(folder, "newton", "3", "model.onnx"))


def tensors(value):
    """The tensors of a value as vmrun --json prints it."""
    if "tuple" in value:
        return [t for field in value["tuple"] for t in tensors(field)]
    return [value]


def flat(data):
    return [x for part in data for x in flat(part)] if isinstance(data, list) else [data]


def check_examples(server, binary, models):
    cases = [("newton", models["newton"], [("numbers", "FP32", [2], [2, 9])]),
             ("newton", models["newton"], [("numbers", "FP32", [5], [1e-3, 7, 1e6, 0.25, 3])]),
             ("while_loop", models["while_loop"], [("xs", "FP32", [3], [4, 5.5, 1000])]),
             ("lstm", models["lstm"], [("words", "INT32", [4], [1, 2, 3, 4])]),
             ("lstm", models["lstm"], [("words", "INT32", [1], [7])])]
    for name, path, inputs in cases:
        command = [os.path.join(binary, "vmrun"), path, "--json"]
        for key, _, _, data in inputs:
            command += ["--input", f"{key}={json.dumps(data)}"]
        expected = tensors(json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout))
        status, answer = server.infer(name, [{"name": n, "datatype": d, "shape": s, "data": data}
                                             for n, d, s, data in inputs])
        check(status == 200, f"{name}: {answer}")
        check(len(answer["outputs"]) == len(expected), f"{name}: as many outputs")
        for output, tensor in zip(answer["outputs"], expected):
            check(output["shape"] == tensor["shape"], f"{name}: {output}")
            # vmrun prints fewer digits than the server sends.
            check(all(abs(a - b) <= 1e-5 * abs(b) for a, b in zip(flat(output["data"]), flat(tensor["data"]))),
                  f"{name}: {output} {tensor}")


def check_binary(server):
    header = {"inputs": [{"name": "numbers", "datatype": "FP32", "shape": [2],
                          "parameters": {"binary_data_size": 8}}], "parameters": {"binary_data_output": True}}
    text = json.dumps(header).encode()
    status, content, headers = server.ask("POST", "/v2/models/newton/versions/3/infer",
                                          text + struct.pack("<2f", 16, 81),
                                          {"Inference-Header-Content-Length": str(len(text))})
    check(status == 200, content)
    length = int(headers["Inference-Header-Content-Length"])
    answer = json.loads(content[:length])
    check([o["parameters"]["binary_data_size"] for o in answer["outputs"]] == [8, 8], "sizes of the outputs")
    roots = struct.unpack("<2f", content[length:length + 8])
    check(abs(roots[0] - 4) < 1e-5 and abs(roots[1] - 9) < 1e-5, roots)


def check_errors(server):
    number = {"name": "numbers", "datatype": "FP32", "shape": [1], "data": [2]}
    for status, model, inputs in ((404, "nothing", [number]), (400, "newton", []), (400, "newton", [dict(number, shape=[2])]),
                                  (400, "newton", [dict(number, datatype="INT32")])):
        found, answer = server.infer(model, inputs)
        check(found == status and answer["error"], (status, found, answer))
    check(server.ask("POST", "/v2/models/newton/infer", b"\xff" * 100)[0] == 400, "bytes that are no JSON")
    check(server.ask("DELETE", "/v2/models/newton")[0] == 405, "a method that is none")
    status, text, _ = server.ask("GET", "/metrics", port="metrics")
    check(status == 200 and b'vmserve_requests_total{model="newton",code="400"}' in text, text)


def check_reload(server, binary, folder, examples):
    """Requests go on while versions come and go; none fails, and the new one answers at last."""
    wrong, done = [], threading.Event()

    def ask():
        while not done.is_set():
            status, answer = server.infer("while_loop", [{"name": "xs", "datatype": "FP32", "shape": [1], "data": [9]}])
            if status != 200 or abs(answer["outputs"][0]["data"][0] - 3) > 1e-5:
                wrong.append(answer)

    clients = [threading.Thread(target=ask) for _ in range(3)]
    for client in clients:
        client.start()
    for version in (2, 3, 4):
        target = os.path.join(folder, "while_loop", str(version))
        os.makedirs(target)
        shutil.copy(os.path.join(folder, "while_loop", "1", "model.vmx"), os.path.join(target, "model.vmx"))
        server.process.send_signal(signal.SIGHUP)
        for _ in range(300):
            answer = json.loads(server.ask("GET", "/v2/models/while_loop")[1])
            if answer["versions"] == [str(version)]:
                break
            time.sleep(0.1)
        check(answer["versions"] == [str(version)], answer)
    done.set()
    for client in clients:
        client.join()
    check(not wrong, wrong[:1])


def check_start(binary, models, folder):
    """While a model is compiled the server is live, says what it lacks, serves the others, and ends at once when it is told."""
    pids = os.path.join(folder, "pids")
    compiler = os.path.join(folder, "slow_relayc")
    with open(compiler, "w", encoding="utf-8") as f:
        f.write(f"#!/bin/sh\necho $$ >> {pids}\nexec sleep 1000\n")
    os.chmod(compiler, 0o700)
    server = Server(binary, "--models", models, "--compiler", compiler, "--cache", os.path.join(folder, "empty"), wait=False)
    try:
        check(server.ask("GET", "/v2/health/live")[0] == 200, "it is live at once")
        status, content, _ = server.ask("GET", "/v2/health/ready")
        check(status == 503 and json.loads(content) == {"ready": False, "live": True}, "it is not ready yet")
        states = {entry["name"]: entry["state"] for entry in json.loads(server.ask("POST", "/v2/repository/index")[1])}
        check(states["newton"] == "LOADING", states)
        status, _, headers = server.ask("GET", "/v2/models/newton/ready")
        check(status == 503 and headers["Retry-After"], "a model that is compiled is not ready")
        for _ in range(300):
            status, answer = server.infer("while_loop", [{"name": "xs", "datatype": "FP32", "shape": [1], "data": [9]}])
            if status == 200:
                break
            check(status == 503, answer)
            time.sleep(0.1)
        check(status == 200, "others are served")
        for _ in range(300):
            if os.path.exists(pids) and os.path.getsize(pids) > 0:
                break
            time.sleep(0.1)
        begin = time.monotonic()
        check(server.end() == 0, "it ends when it is told")
        check(time.monotonic() - begin < 5, f"promptly, not after {time.monotonic() - begin:.1f} s")
        with open(pids, encoding="utf-8") as f:
            check(not any(os.path.exists(f"/proc/{pid.strip()}") for pid in f), "and its compilers with it")
    finally:
        server.process.kill()


def check_limits(binary, models):
    """What is larger than there is memory for is the request's fault; strings are counted as what they take."""
    server = Server(binary, "--model", f"while_loop={models['while_loop']}", "--memory-limit", "4MiB", "--run-memory-limit", "1MiB")
    try:
        for count, expected in ((1000, 200), (400_000, 400), (1_500_000, 400)):
            tensor = {"name": "xs", "datatype": "FP32", "shape": [count], "parameters": {"binary_data_size": 4 * count}}
            text = json.dumps({"inputs": [tensor], "parameters": {"binary_data_output": True}}).encode()
            status, content, _ = server.ask("POST", "/v2/models/while_loop/infer", text + struct.pack("<f", 1) * count,
                                            {"Inference-Header-Content-Length": str(len(text))})
            check(status == expected, (count, status, content[:300]))
        status, content = server.infer("while_loop", [{"name": "xs", "datatype": "FP32", "shape": [1_500_000], "data": [1] * 1_500_000}])
        check(status == 400, (status, content))
        check(server.end() == 0, "it ends when it is told")
    finally:
        server.process.kill()


def check_triton_client(server):
    try:
        import numpy
        import tritonclient.http as triton
    except ImportError:
        print("without tritonclient")
        return
    client = triton.InferenceServerClient(f"127.0.0.1:{server.ports['http']}")
    check(client.is_server_live() and client.is_server_ready() and client.is_model_ready("newton"), "ready")
    check(client.get_model_metadata("lstm")["inputs"][0]["datatype"] == "INT32", "metadata")
    for binary in (True, False):
        numbers = triton.InferInput("numbers", [3], "FP32")
        numbers.set_data_from_numpy(numpy.float32([4, 9, 16]), binary_data=binary)
        outputs = [triton.InferRequestedOutput(name, binary_data=binary) for name in ("steps", "roots")]
        result = client.infer("newton", [numbers], outputs=outputs, request_id="a")
        check(numpy.allclose(result.as_numpy("roots"), [2, 3, 4]), "roots")
        check(result.get_response()["id"] == "a", "the request's id")
        check([o["name"] for o in result.get_response()["outputs"]] == ["steps", "roots"], "the outputs' order")
    client.unload_model("lstm")
    check(not client.is_model_ready("lstm"), "unloaded")
    client.load_model("lstm")
    check(client.is_model_ready("lstm"), "loaded")
    check(client.get_inference_statistics("newton")["model_stats"][0]["inference_count"] >= 2, "statistics")


def main():
    binary, examples = sys.argv[1:3]
    with tempfile.TemporaryDirectory() as folder:
        models = os.path.join(folder, "models")
        make_repository(binary, examples, models)
        newton = os.path.join(folder, "newton.vmx")
        subprocess.run([os.path.join(binary, "relayc"), os.path.join(examples, "newton.onnx"), "-q", "-o", newton],
                       check=True)
        paths = {name: os.path.join(models, name, "1", "model.vmx") for name in ("while_loop", "lstm")}
        server = Server(binary, "--models", models, "--cache", os.path.join(folder, "cache"))
        try:
            check_examples(server, binary, dict(paths, newton=newton))
            check_binary(server)
            check_errors(server)
            check_start(binary, models, folder)
            check_limits(binary, paths)
            check_reload(server, binary, models, examples)
            check_triton_client(server)
            check(server.end() == 0, "it ends when it is told")
        finally:
            server.process.kill()
    print(f"{PASSED} checks passed")


if __name__ == "__main__":
    main()
