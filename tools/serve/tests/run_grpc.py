#!/usr/bin/python3
"""Clients that nobody here wrote, against vmserve's gRPC port: Triton's and KServe's SDK, where Python has them.

usage: run_grpc.py BIN_FOLDER EXAMPLES_FOLDER CLIENTS_FOLDER

Each runs in a process of its own (both register the protocol's names), by RELAYVM_CLIENT_PYTHON where that is set, and else in a virtual
environment below CLIENTS_FOLDER. Where there is neither client, it is skipped (exit status 77); else it closes with the line
"N checks passed".
"""
import os
import queue
import shutil
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import client_environment  # noqa: E402
from run_serve import Server  # noqa: E402

SKIPPED = 77
CLIENTS = {"triton": ["tritonclient[grpc,http]==2.60.0"], "kserve": ["kserve==0.15.2"]}
PASSED = 0


def check(condition, what):
    global PASSED
    if not condition:
        raise AssertionError(what)
    PASSED += 1


def triton_status(call, exception):
    try:
        call()
    except exception as failure:
        return failure.status(), failure.message()
    return "OK", ""


def triton(ports):
    import numpy
    import tritonclient.grpc as client_library
    from tritonclient.grpc import InferInput, InferRequestedOutput, InferenceServerException
    client = client_library.InferenceServerClient(f"127.0.0.1:{ports['grpc']}")
    check(client.is_server_live() and client.is_server_ready(), "live and ready")
    check(client.is_model_ready("newton") and not client.is_model_ready("nothing"), "models that are ready")
    check(client.get_server_metadata().name == "relayvm", "the server's name")
    check(client.get_model_metadata("newton").inputs[0].shape == [-1], "metadata")
    check(client.get_model_config("newton").config.input[0].data_type == 11, "configuration: TYPE_FP32")

    def numbers(values, dtype="FP32", kind=numpy.float32):
        tensor = InferInput("numbers", [len(values)], dtype)
        tensor.set_data_from_numpy(numpy.array(values, kind))
        return [tensor]

    outputs = [InferRequestedOutput(name) for name in ("steps", "roots")]
    result = client.infer("newton", numbers([4, 9, 16]), outputs=outputs, request_id="a", client_timeout=30)
    check(numpy.allclose(result.as_numpy("roots"), [2, 3, 4]), "roots")
    check([o.name for o in result.get_response().outputs] == ["steps", "roots"], "the outputs' order")
    check(result.get_response().id == "a", "the request's id")
    many = numpy.arange(1, 200001)
    check(numpy.allclose(client.infer("newton", numbers(many)).as_numpy("roots"), numpy.sqrt(many), rtol=1e-3), "800 kB")
    for algorithm in ("gzip", "deflate"):
        result = client.infer("newton", numbers(many), compression_algorithm=algorithm)
        check(numpy.allclose(result.as_numpy("roots"), numpy.sqrt(many), rtol=1e-3), f"800 kB by {algorithm}")
    for status, call in (("NOT_FOUND", lambda: client.infer("nothing", numbers([1]))),
                         ("NOT_FOUND", lambda: client.infer("newton", numbers([1]), model_version="9")),
                         ("INVALID_ARGUMENT", lambda: client.infer("newton", numbers([1], "INT32", numpy.int32))),
                         ("DEADLINE_EXCEEDED", lambda: client.infer("newton", numbers([1]), client_timeout=1e-6))):
        found, message = triton_status(call, InferenceServerException)
        check(status in found and message, (status, found, message))

    answers = queue.Queue()
    client.start_stream(lambda result, error: answers.put((result, error)))
    for number in range(20):
        client.async_stream_infer("newton", numbers([number * number]), request_id=str(number))
    client.async_stream_infer("newton", numbers([1], "INT32", numpy.int32))
    client.async_stream_infer("newton", numbers([25]))
    for number in range(20):
        result, error = answers.get(timeout=60)
        check(error is None and result.get_response().id == str(number), (number, error))
    check(answers.get(timeout=60)[1] is not None, "a request of a stream that fails")
    check(answers.get(timeout=60)[0].as_numpy("roots")[0] == 5, "and the one behind it")
    client.stop_stream()

    check(client.get_inference_statistics("newton").model_stats[0].inference_count >= 22, "statistics")
    check([m.name for m in client.get_model_repository_index().models] == ["newton"], "the index")
    client.unload_model("newton")
    check(not client.is_model_ready("newton"), "unloaded")
    client.load_model("newton")
    check(client.is_model_ready("newton"), "loaded")


def kserve(ports):
    import asyncio
    import numpy
    from kserve import InferInput, InferRequest, InferenceGRPCClient, InferenceRESTClient, RESTConfig

    def request():
        tensor = InferInput("numbers", [3], "FP32")
        tensor.set_data_from_numpy(numpy.float32([4, 9, 16]), binary_data=False)
        return InferRequest("newton", [tensor])

    async def ask():
        rest = InferenceRESTClient(RESTConfig(protocol="v2"))
        url = f"http://127.0.0.1:{ports['http']}"
        check(await rest.is_server_live(url) and await rest.is_server_ready(url), "REST: live and ready")
        check(await rest.is_model_ready(url, "newton"), "REST: the model is ready")
        answer = await rest.infer(url, request(), model_name="newton")
        check(numpy.allclose(roots(answer), [2, 3, 4]), "REST: roots")
        client = InferenceGRPCClient(f"127.0.0.1:{ports['grpc']}")
        check(await client.is_server_live() and await client.is_server_ready(), "gRPC: live and ready")
        check(await client.is_model_ready("newton"), "gRPC: the model is ready")
        answer = await client.infer(request())
        check(numpy.allclose(roots(answer), [2, 3, 4]), "gRPC: roots")

    def roots(answer):
        return [output for output in answer.outputs if output.name == "roots"][0].as_numpy()

    asyncio.run(ask())


def python_of(name, folder):
    """Raises client_environment.Unavailable."""
    python = os.environ.get("RELAYVM_CLIENT_PYTHON")
    if python is None:
        return client_environment.python_with(folder, CLIENTS[name])
    module = {"triton": "tritonclient.grpc", "kserve": "kserve"}[name]
    if subprocess.run([python, "-c", f"import {module}"], capture_output=True, check=False).returncode != 0:
        raise client_environment.Unavailable(f"{python} has no {module}")
    return python


def run_client(python, name, ports):
    arguments = [f"{key}={value}" for key, value in ports.items()]
    text = subprocess.run([python, os.path.abspath(__file__), "--client", name, *arguments], check=True, timeout=120,
                          stdout=subprocess.PIPE, text=True).stdout
    return int(text.split()[-1])


def main():
    if sys.argv[1] == "--client":
        ports = dict(argument.split("=") for argument in sys.argv[3:])
        {"triton": triton, "kserve": kserve}[sys.argv[2]](ports)
        print(PASSED)
        return 0
    binary, examples, clients = sys.argv[1:4]
    pythons = {}
    for name in CLIENTS:
        try:
            pythons[name] = python_of(name, clients)
        except client_environment.Unavailable as why:
            print(f"without {name}: {why}")
    if not pythons:
        return SKIPPED
    with tempfile.TemporaryDirectory() as folder:
        models = os.path.join(folder, "models")
        os.makedirs(os.path.join(models, "newton", "3"))
        shutil.copy(os.path.join(examples, "newton.onnx"), os.path.join(models, "newton", "3", "model.onnx"))
        server = Server(binary, "--models", models, "--cache", os.path.join(folder, "cache"))
        try:
            passed = sum(run_client(python, name, server.ports) for name, python in pythons.items())
            check(server.end() == 0, "it ends when it is told")
        finally:
            server.process.kill()
    print(f"{passed + PASSED} checks passed")
    return 0


if __name__ == "__main__":
    sys.exit(main())
