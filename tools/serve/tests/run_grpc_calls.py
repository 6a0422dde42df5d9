#!/usr/bin/python3
"""vmserve's gRPC port beside its REST port: TLS and tokens, traces, the access log and metrics, compressed messages, codes of failures.

usage: run_grpc_calls.py BIN_FOLDER EXAMPLES_FOLDER

The client is grpcio with the messages that protoc makes; where one of these or vmserve's gRPC is not there, it is skipped (exit status
77). Closes with the line "N checks passed".
"""
import http.server
import json
import os
import shutil
import socket
import ssl
import struct
import subprocess
import sys
import tempfile
import threading
import time

os.environ.setdefault("GRPC_VERBOSITY", "NONE")  # of handshakes that are to fail
try:
    import google.protobuf  # noqa: F401
    import grpc
except ModuleNotFoundError as missing:
    print(f"skipped: {missing}")
    sys.exit(77)

import run_serve
from run_client import make_certificate
from run_serve import Server, check

SERVICE = "/inference.GRPCInferenceService/"
PARENT = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
TOKEN = "0123456789abcdef"
# Counts its requests.
COUNTING = """#[version = "0.0.5"]
def @main(%numbers: Tensor[(?), float32], %count: float32) -> (Tensor[(?), float32], float32) { (%numbers, add(%count, 1f)) }
"""
pb = None  # inference_pb2


def make_messages(folder):
    here = os.path.dirname(os.path.abspath(__file__))
    subprocess.run(["protoc", f"--python_out={folder}", f"-I{here}/../grpc", f"{here}/../grpc/inference.proto"], check=True)
    sys.path.insert(0, folder)
    global pb
    import inference_pb2
    pb = inference_pb2


class Client:
    def __init__(self, port, credentials=None, options=()):
        # Each has a connection of its own.
        options = [("grpc.use_local_subchannel_pool", 1), ("grpc.max_receive_message_length", -1), *options]
        where = f"localhost:{port}"
        self.channel = grpc.secure_channel(where, credentials, options) if credentials else grpc.insecure_channel(where, options)

    def method(self, name, raw=False):
        kind = self.channel.stream_stream if name == "ModelStreamInfer" else self.channel.unary_unary
        answer = (lambda data: data) if raw or not hasattr(pb, name + "Response") else getattr(pb, name + "Response").FromString
        return kind(name if name.startswith("/") else SERVICE + name,
                    lambda message: message if isinstance(message, bytes) else message.SerializeToString(), answer)

    def infer(self, request, raw=False, **options):
        """The answer, and the call."""
        return self.method("ModelInfer", raw).with_call(request, **{"timeout": 60, **options})

    def code(self, name, request, **options):
        try:
            self.method(name)(request, **{"timeout": 60, **options})
        except grpc.RpcError as failure:
            return failure.code().name
        return "OK"


def check_metrics(server, *lines):
    """Soon: a call ends a moment behind its answer."""
    end = time.time() + 20
    while True:
        text = server.ask("GET", "/metrics", port="metrics")[1].decode().splitlines()
        if time.time() > end or all(line in text for line in lines):
            break
        time.sleep(0.02)
    check(not set(lines) - set(text), set(lines) - set(text))


def numbers(values, model="newton", **parameters):
    request = pb.ModelInferRequest(model_name=model, raw_input_contents=[struct.pack(f"<{len(values)}f", *values)])
    request.inputs.add(name="numbers", datatype="FP32", shape=[len(values)])
    for name, value in parameters.items():
        setattr(request.parameters[name], "bool_param" if isinstance(value, bool) else "int64_param", value)
    return request


def first_root(answer):
    [at] = [i for i, output in enumerate(answer.outputs) if output.name == "roots"]
    return struct.unpack_from("<f", answer.raw_output_contents[at])[0]


# --- TLS and tokens ---

def check_secure(binary, models, folder):
    if shutil.which("openssl") is None:
        return
    make_certificate(folder)
    pem, key, other, token = (os.path.join(folder, name) for name in ("good.pem", "good.key", "other.pem", "token"))
    with open(token, "w", encoding="utf-8") as file:
        file.write(TOKEN + "\n")
    server = Server(binary, "--models", models, "--tls-cert", pem, "--tls-key", key, "--token-file", token)
    try:
        port = server.ports["grpc"]

        def trusting(path):
            with open(path, "rb") as file:
                return Client(port, grpc.ssl_channel_credentials(file.read()))

        client, bearer = trusting(pem), [("authorization", f"Bearer {TOKEN}")]
        check(abs(first_root(client.infer(numbers([9]), metadata=bearer)[0]) - 3) < 1e-5, "TLS with a token")
        many = [4.0] * 300000
        check(len(client.infer(numbers(many), metadata=bearer)[0].raw_output_contents[0]) == 4 * len(many), "1.2 MB over TLS")
        for text in (None, f"Bearer {TOKEN[:-1]}F", f"Bearer {TOKEN}x", "Bearer ", TOKEN, f"Basic {TOKEN}"):
            metadata = [("authorization", text)] if text else []
            check(client.code("ModelInfer", numbers([9]), metadata=metadata) == "UNAUTHENTICATED", metadata)
            check(client.code("RepositoryIndex", pb.RepositoryIndexRequest(), metadata=metadata) == "UNAUTHENTICATED", metadata)
        check(client.code("Nothing", b"") == "UNAUTHENTICATED", "which methods there are is not told")
        try:
            list(client.method("ModelStreamInfer")(iter([numbers([9])]), timeout=60))
            check(False, "a stream without a token")
        except grpc.RpcError as failure:
            check(failure.code().name == "UNAUTHENTICATED", failure)
        for probe in ("ServerLive", "ServerReady"):
            check(client.code(probe, b"") == "OK", "probes need no token")
        health = client.method("/grpc.health.v1.Health/Check", raw=True)
        check(health(b"", timeout=60) == b"\x08\x01", "Kubernetes' probe: serving")
        check(trusting(other).code("ServerLive", b"", timeout=5) in ("UNAVAILABLE", "DEADLINE_EXCEEDED"), "another's certificate")
        with open("/dev/null", "rb") as nothing:
            check(Client(port, grpc.ssl_channel_credentials(nothing.read() or None)).code("ServerLive", b"", timeout=5) != "OK",
                  "a certificate that nobody signed")
        check(Client(port).code("ServerLive", b"", timeout=5) != "OK", "no TLS")
        for garbage in (b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", b"\x16\x03\x01\xff\xff" + b"x" * 70000, b""):
            with socket.create_connection(("127.0.0.1", port), timeout=20) as stranger:
                stranger.sendall(garbage)
        old = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
        old.check_hostname, old.verify_mode = False, ssl.CERT_NONE
        old.maximum_version = ssl.TLSVersion.TLSv1_2
        old.set_alpn_protocols(["h2"])
        with socket.create_connection(("127.0.0.1", port), timeout=20) as plain, old.wrap_socket(plain) as wrapped:
            check(wrapped.version() == "TLSv1.2" and wrapped.selected_alpn_protocol() == "h2", "TLS 1.2 is taken")
        check(abs(first_root(client.infer(numbers([16]), metadata=bearer)[0]) - 4) < 1e-5, "it goes on")
    finally:
        check(server.end() == 0, "it ends")


# --- What is told of calls ---

class Collector(http.server.BaseHTTPRequestHandler):
    spans = []

    def do_POST(self):
        batch = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        for resource in batch["resourceSpans"]:
            for scope in resource["scopeSpans"]:
                self.spans.extend(scope["spans"])
        self.send_response(200)
        self.end_headers()

    def log_message(self, *arguments):
        pass


def traceparent(call):
    return dict(call.initial_metadata())["traceparent"]


def check_calls_that_are_told(client):
    """The id of the first one's span."""
    parent = [("traceparent", PARENT)]
    _, call = client.infer(numbers([4, 9]), metadata=parent)
    ours = traceparent(call).split("-")
    check(ours[1] == PARENT.split("-")[1] and ours[2] != PARENT.split("-")[2], "the answer goes on with the trace")
    _, call = client.infer(numbers([4]), metadata=[("traceparent", "00-bad")])
    check(len(traceparent(call)) == 55 and ours[1] not in traceparent(call), "what is malformed begins a new one")
    call = client.method("ModelInfer").future(numbers([4], model="<b>\n"), metadata=parent)
    check(call.code().name == "NOT_FOUND" and len(traceparent(call)) == 55, "failures have one too")
    check(client.code("<b>", b"", metadata=parent) == "UNIMPLEMENTED", "no such method")
    check(client.code("ServerLive", b"", metadata=parent) == "OK", "other methods")
    call = client.method("ModelStreamInfer")(iter([numbers([4]), numbers([4], model="none"), numbers([9])]), metadata=parent, timeout=60)
    check([bool(answer.error_message) for answer in call] == [False, True, False], "a stream")
    check(traceparent(call).split("-")[1] == ours[1], "a stream's trace")
    return ours[2]


def check_log(path, span):
    with open(path, encoding="utf-8") as file:
        lines = [json.loads(line) for line in file]
    lines = [line for line in lines if line["method"] == "gRPC"]
    # A line is written when a call has ended, which may be after its answer, and another's line.
    plain = sorted((line for line in lines if line["path"] != SERVICE + "ModelStreamInfer"), key=lambda line: line["time"])
    first = plain[0]
    check([first[key] for key in ("path", "model", "version", "code")] == [SERVICE + "ModelInfer", "newton", "3", 200], first)
    check(first["run_us"] > 0 and first["queued_us"] >= 0 and first["trace"] == PARENT.split("-")[1], first)
    check(first["bytes_in"] == len(numbers([4, 9]).SerializeToString()) and first["bytes_out"] > 16, first)
    check([(line["path"], line["code"]) for line in plain[2:5]] ==
          [(SERVICE + "ModelInfer", 404), (SERVICE + "<b>", 501), (SERVICE + "ServerLive", 200)], plain[2:5])
    stream = [line for line in lines if line["path"] == SERVICE + "ModelStreamInfer"]
    check([line["code"] for line in stream] == [200, 404, 200, 200], stream)
    check([line.get("model") for line in stream] == ["newton", None, "newton", None], "its requests, and the whole")
    check(all(line["trace"] == PARENT.split("-")[1] for line in stream), stream)
    spans = {s["spanId"]: s for s in Collector.spans}
    check(spans[span]["parentSpanId"] == PARENT.split("-")[2] and spans[span]["name"] == "gRPC newton", spans[span])
    check({"key": "rpc.system", "value": {"stringValue": "grpc"}} in spans[span]["attributes"], spans[span])
    check(len(spans) >= len(lines) - 1, "a span for each but what was not sampled")
    [whole] = [s for s in spans.values()
               if s["name"] == "gRPC" and "ModelStreamInfer" in json.dumps(s) and s.get("parentSpanId") == PARENT.split("-")[2]]
    check(sum(s.get("parentSpanId") == whole["spanId"] for s in spans.values()) == 3, "a stream's requests are within it")


def check_told(binary, models, folder):
    collector = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Collector)
    threading.Thread(target=collector.serve_forever, daemon=True).start()
    log = os.path.join(folder, "log")
    server = Server(binary, "--models", models, "--cache", os.path.join(folder, "cache"), "--access-log", log, "--otlp-endpoint",
                    f"http://127.0.0.1:{collector.server_address[1]}/v1/traces")
    try:
        client = Client(server.ports["grpc"])
        server.ask("POST", "/v2/models/newton/profile?requests=1")
        span = check_calls_that_are_told(client)
        trace = server.ask("GET", "/v2/models/newton/profile?format=chrome")[1].decode()
        check(str(int(PARENT.split("-")[1][16:], 16)) in trace, "runs have the trace's tag")
        check_metrics(server, 'vmserve_requests_total{model="newton",code="200"} 4', 'vmserve_grpc_calls 0',
                      'vmserve_run_seconds_count{model="newton"} 4')
    finally:
        check(server.end() == 0, "it ends")
        collector.shutdown()
    check_log(log, span)


# --- Compressed messages ---

def check_compressed(server):
    client = Client(server.ports["grpc"])
    as_sent = Client(server.ports["grpc"], options=[("grpc.per_message_decompression", 0)])
    many = [4.0] * 20000
    for kind, marks in ((grpc.Compression.Gzip, (b"\x1f\x8b",)), (grpc.Compression.Deflate, (b"\x78", b"\x1f\x8b"))):
        answer, _ = client.infer(numbers(many), compression=kind)
        check(abs(first_root(answer) - 2) < 1e-5 and len(answer.raw_output_contents[0]) == 80000, f"{kind}: the answer")
        packed, _ = as_sent.infer(numbers(many), compression=kind, raw=True)
        check(packed.startswith(marks) and len(packed) < 8000, f"{kind}: the answer is compressed, {len(packed)} bytes")
        answers = client.method("ModelStreamInfer")(iter([numbers(many), numbers([9])]), compression=kind, timeout=60)
        check([round(first_root(answer.infer_response)) for answer in answers] == [2, 3], f"{kind}: a stream")
    plain, _ = as_sent.infer(numbers(many), raw=True)
    check(len(plain) > 80000, "what came plain is answered so")
    noise = list(struct.unpack("<20000f", b"".join(struct.pack("<I", 0x3F800000 + i * 2654435761 % (1 << 23)) for i in range(20000))))
    packed, _ = as_sent.infer(numbers(noise), compression=grpc.Compression.Gzip, raw=True)
    check(len(packed) > 60000, f"what gets no smaller stays as it is: {len(packed)}")
    bomb = numbers([0.0] * (4 << 20))
    check(client.code("ModelInfer", bomb, compression=grpc.Compression.Gzip) == "RESOURCE_EXHAUSTED", "16 MiB within some KiB")
    check_metrics(server, "vmserve_grpc_message_bytes 0")


# --- Codes ---

def rest_code(server, values, model="newton", version=None, datatype="FP32", parameters=None, headers=None):
    path = f"/v2/models/{model}" + (f"/versions/{version}" if version else "") + "/infer"
    body = {"inputs": [{"name": "numbers", "datatype": datatype, "shape": [len(values)], "data": values}], "parameters": parameters or {}}
    return server.ask("POST", path, json.dumps(body), headers)[0]


def check_codes(server):
    client = Client(server.ports["grpc"])
    check(rest_code(server, [4], "counting", parameters={"sequence_id": 1, "sequence_start": True}) == 200, "a sequence begins")
    check(client.code("ModelInfer", numbers([4], "counting", sequence_id=2, sequence_start=True)) == "OK", "another one begins")
    wrong_type, other_version = numbers([4]), numbers([4])
    wrong_type.inputs[0].datatype = "INT32"
    other_version.model_version = "9"
    table = (
        ("no such model", 404, rest_code(server, [4], "none"), "NOT_FOUND", numbers([4], "none")),
        ("no such version", 404, rest_code(server, [4], version="9"), "NOT_FOUND", other_version),
        ("another type", 400, rest_code(server, [4], datatype="INT32"), "INVALID_ARGUMENT", wrong_type),
        ("a malformed message", 400, server.ask("POST", "/v2/models/newton/infer", "{")[0], "INVALID_ARGUMENT", b"\xff\xff"),
        ("a sequence that has begun", 409, rest_code(server, [4], "counting", parameters={"sequence_id": 1, "sequence_start": True}),
         "ALREADY_EXISTS", numbers([4], "counting", sequence_id=2, sequence_start=True)),
        ("no such sequence", 404, rest_code(server, [4], "counting", parameters={"sequence_id": 7}),
         "NOT_FOUND", numbers([4], "counting", sequence_id=7)),
        ("too late", 504, rest_code(server, [4] * 100000, parameters={"timeout": 1}),
         "DEADLINE_EXCEEDED", numbers([4] * 100000, timeout=1)),
        ("too large", 413, server.ask("POST", "/v2/models/newton/infer", "x" * (9 << 20))[0],
         "RESOURCE_EXHAUSTED", numbers([4] * (9 << 18))),
    )
    for what, expected_rest, rest, expected, request in table:
        check(rest == expected_rest, (what, "REST", rest))
        found = client.code("ModelInfer", request)
        check(found == expected, (what, "gRPC", found))
    check(client.code("RepositoryModelLoad", pb.RepositoryModelLoadRequest(model_name="none")) == "NOT_FOUND", "no such model to load")
    check(client.code("Nothing", b"") == "UNIMPLEMENTED", "no such method")


def check_loading(server, examples, models):
    """Two that load a model, which takes a while: the second is told so, by each protocol."""
    os.makedirs(os.path.join(models, "later", "1"))
    shutil.copy(os.path.join(examples, "newton.onnx"), os.path.join(models, "later", "1", "model.onnx"))
    client = Client(server.ports["grpc"])
    request = pb.RepositoryModelLoadRequest(model_name="later")
    loads = [client.method("RepositoryModelLoad").future(request, timeout=60) for _ in range(2)]
    end = time.time() + 20
    while not any(load.done() for load in loads) and time.time() < end:
        time.sleep(0.01)
    rest = server.ask("POST", "/v2/repository/models/later/load", "{}")[0]
    codes = sorted(load.code().name for load in loads)
    check((codes, rest) == (["ABORTED", "OK"], 409), ("while it is loaded", codes, rest))


def check_shares(binary, models, folder):
    server = Server(binary, "--models", models, "--cache", os.path.join(folder, "cache"), "--max-client-requests", "1")
    try:
        client = Client(server.ports["grpc"])
        go_on = threading.Event()

        def requests():
            yield numbers([4])
            go_on.wait(60)

        stream = client.method("ModelStreamInfer")(requests(), timeout=60)
        check(first_root(next(stream).infer_response) == 2, "a stream is open")
        call = client.method("ModelInfer").future(numbers([4]), timeout=60)
        check(call.code().name == "RESOURCE_EXHAUSTED", "more than the client's share, as REST's 429")
        check(("grpc-retry-pushback-ms", "1000") in [tuple(pair) for pair in call.trailing_metadata()], "and when to try again")
        go_on.set()
        check(not list(stream), "the stream ends")
        end = time.time() + 20
        while client.code("ModelInfer", numbers([4])) != "OK" and time.time() < end:
            time.sleep(0.01)
        check(client.code("ModelInfer", numbers([4])) == "OK", "then there is room")
    finally:
        server.end()


# --- Start ---

def check_start(binary, examples, folder):
    """The port is open while a model is compiled: health says as much as REST's probe."""
    models, compiler, go_on = (os.path.join(folder, name) for name in ("starting", "waiting", "go_on"))
    os.makedirs(os.path.join(models, "newton", "1"))
    shutil.copy(os.path.join(examples, "newton.onnx"), os.path.join(models, "newton", "1", "model.onnx"))
    with open(compiler, "w", encoding="utf-8") as file:
        relayc = os.path.abspath(os.path.join(binary, "relayc"))
        file.write(f'#!/bin/sh\nwhile [ ! -e {go_on} ]; do sleep 0.05; done\nexec {relayc} "$@"\n')
    os.chmod(compiler, 0o755)
    server = Server(binary, "--models", models, "--cache", os.path.join(folder, "starting_cache"), "--compiler", compiler, wait=False)
    try:
        client = Client(server.ports["grpc"])
        kinds = (client.channel.unary_unary, client.channel.unary_stream)
        ask, watch = (kind("/grpc.health.v1.Health/" + name, bytes, bytes) for kind, name in zip(kinds, ("Check", "Watch")))
        watched = watch(b"", timeout=60)
        check(next(watched) == ask(b"", timeout=60) == b"\x08\x02", "not serving while models are loaded")
        check(server.ask("GET", "/v2/health/ready")[0] == 503, "nor by REST")
        open(go_on, "w", encoding="utf-8").close()
        check(next(watched) == ask(b"", timeout=60) == b"\x08\x01", "serving, and told so")
        check(server.ask("GET", "/v2/health/ready")[0] == 200, "as by REST")
        check(abs(first_root(client.infer(numbers([9]))[0]) - 3) < 1e-5, "as it is")
    finally:
        check(server.end() == 0, "it ends")


def main():
    binary, examples = sys.argv[1:3]
    if shutil.which("protoc") is None:
        print("skipped: there is no protoc")
        return 77
    with tempfile.TemporaryDirectory() as folder:
        make_messages(folder)
        models = os.path.join(folder, "models")
        os.makedirs(os.path.join(models, "newton", "3"))
        subprocess.run([os.path.join(binary, "relayc"), os.path.join(examples, "newton.onnx"), "-q", "-o",
                        os.path.join(models, "newton", "3", "model.vmx")], check=True)
        os.makedirs(os.path.join(models, "counting", "1"))
        with open(os.path.join(folder, "counting.relay"), "w", encoding="utf-8") as file:
            file.write(COUNTING)
        subprocess.run([os.path.join(binary, "relayc"), os.path.join(folder, "counting.relay"), "--state", "count=output_1", "-q", "-o",
                        os.path.join(models, "counting", "1", "model.vmx")], check=True)
        compiler = os.path.join(folder, "compiler")
        with open(compiler, "w", encoding="utf-8") as file:
            file.write(f'#!/bin/sh\nsleep 2\nexec {os.path.abspath(os.path.join(binary, "relayc"))} "$@"\n')
        os.chmod(compiler, 0o755)
        server = Server(binary, "--models", models, "--cache", os.path.join(folder, "cache"), "--max-body", "8MiB", "--poll", "0",
                        "--compiler", compiler)
        try:
            if "grpc" not in server.ports:
                print("skipped: vmserve was built without gRPC")
                return 77
            check_codes(server)
            check_compressed(server)
            check_loading(server, examples, models)
        finally:
            server.end()
        check_start(binary, examples, folder)
        check_told(binary, models, folder)
        check_shares(binary, models, folder)
        check_secure(binary, models, folder)
    print(f"{run_serve.PASSED} checks passed")
    return 0


if __name__ == "__main__":
    sys.exit(main())
