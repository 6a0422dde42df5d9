#!/usr/bin/python3
"""vmrun --server against vmrun here, vmbench, TLS and tokens; and what a hostile server sends.

usage: run_client.py BIN_FOLDER EXAMPLES_FOLDER

Closes with the line "N checks passed".
"""
import json
import os
import re
import shutil
import socket
import subprocess
import sys
import tempfile
import threading
import time

import numpy

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import run_serve
from run_serve import Server, check, make_repository


def vmrun(binary, *arguments, status=0, timeout=60):
    done = subprocess.run([os.path.join(binary, "vmrun"), *arguments], capture_output=True, text=True, timeout=timeout)
    check(status is None or done.returncode == status, (arguments, done.returncode, done.stdout, done.stderr))
    return done


def check_same(binary, url, models, folder):
    """The same arguments, output and files as a run here."""
    numbers = os.path.join(folder, "numbers.npy")
    numpy.save(numbers, numpy.array([2, 9, 1e6], "float32"))
    for name, inputs in (("newton", ["numbers=[2, 9]"]), ("newton", [numbers]), ("newton", ["3xf32=random"]),
                         ("newton", ["numbers=[0.25]"]), ("while_loop", ["xs=[4, 5.5, 1000]"]),
                         ("lstm", ["words=[1, 2, 3, 4]"]), ("lstm", ["[7]"])):
        for more in ([], ["--json"], ["--output", "OUT.npz"]):
            found = []
            for i, where in enumerate(([models[name]], ["--server", url, name], ["--server", url, name + "/" + models[name].split("/")[-2]])):
                out = os.path.join(folder, f"out{i}.npz")
                arguments = [out if word == "OUT.npz" else word for word in more]
                done = vmrun(binary, *where, *(word for text in inputs for word in ("--input", text)), *arguments)
                found.append((done.stdout, {k: v.tolist() for k, v in numpy.load(out).items()} if more[:1] == ["--output"] else None))
            check(found[0] == found[1] == found[2], (name, inputs, found))
    out = os.path.join(folder, "out0.npz")
    vmrun(binary, "--server", url, "lstm", "--input", "[7]", "--expect", out)
    vmrun(binary, "--server", url, "lstm", "--input", "[8]", "--expect", out, status=4)
    times = json.loads(vmrun(binary, "--server", url, "newton", "--input", "[4]", "--repeat", "3", "--json").stdout)["times"]
    check(times["runs"] == 3 and times["min_ms"] > 0, times)


def check_errors(binary, url):
    for arguments, status, text in (
            (["nothing", "--input", "[1]"], 2, "nothing"),
            (["newton/77", "--input", "[1]"], 2, "77"),
            (["newton"], 1, "numbers"),
            (["newton", "--input", "[[1]]"], 2, "expected"),
            (["newton", "--input", "nobody=[1]"], 1, "nobody"),
            (["newton", "--input", "[1]", "--profile"], 1, "--profile"),
            (["newton", "--input", "[1]", "--threads", "2"], 1, "--threads"),
            (["newton", "--input", "[1]", "--output", "x.npy"], 2, "--output")):
        done = vmrun(binary, "--server", url, *arguments, status=status)
        check(done.stderr.startswith("vmrun: ") and text in done.stderr and not done.stdout, (arguments, done.stderr))
    for server, status in (("ftp://x", 1), ("http://", 1), ("http://127.0.0.1:99999", 1), ("http://127.0.0.1:1", 2), ("http://[::1", 1)):
        check(vmrun(binary, "--server", server, "newton", "--input", "[1]", status=status).stderr.startswith("vmrun: "), server)


METADATA = {"name": "m", "versions": ["1"], "platform": "x", "inputs": [{"name": "x", "datatype": "FP32", "shape": [-1]}],
            "outputs": [{"name": "y", "datatype": "FP32", "shape": [-1]}]}


def answer(body, head=""):
    body = body if isinstance(body, bytes) else json.dumps(body).encode()
    return f"HTTP/1.1 200 OK\r\nContent-Length: {len(body)}\r\n{head}\r\n".encode() + body


def with_binary(output, data, length=None):
    text = json.dumps({"outputs": output}).encode()
    return answer(text + data, f"Inference-Header-Content-Length: {len(text) if length is None else length}\r\n")


class Hostile:
    """Answers the first request of a connection with its metadata and the next with `reply`: bytes, or what is called with the socket."""

    def __init__(self, metadata, reply):
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.url = f"http://127.0.0.1:{self.listener.getsockname()[1]}"
        self.replies = [metadata, reply]
        threading.Thread(target=self.serve, daemon=True).start()

    def serve(self):
        try:
            connection, _ = self.listener.accept()
            self.listener.close()
            for reply in self.replies:
                self.read_request(connection)
                if callable(reply):
                    reply(connection)
                else:
                    connection.sendall(reply)
            connection.recv(1)
            connection.close()
        except OSError:
            pass

    @staticmethod
    def read_request(connection):
        data = b""
        while b"\r\n\r\n" not in data:
            data += connection.recv(1 << 16) or sys.exit()
        head, _, body = data.partition(b"\r\n\r\n")
        length = re.search(rb"Content-Length: ([0-9]+)", head)
        left = (int(length[1]) if length else 0) - len(body)
        while left > 0:
            left -= len(connection.recv(1 << 16))


def endless(connection):
    connection.sendall(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n")
    while True:
        connection.sendall(b"100000\r\n" + b"x" * (1 << 20) + b"\r\n")


def endless_header(connection):
    connection.sendall(b"HTTP/1.1 200 OK\r\n")
    while True:
        connection.sendall(b"a: b\r\n" * 1000)


def silent(connection):
    time.sleep(30)


def trickle(connection):
    connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 100000\r\n\r\n")
    while True:
        connection.sendall(b"x")
        time.sleep(0.05)


def check_hostile(binary):
    good = answer(METADATA)
    y = {"name": "y", "datatype": "FP32", "shape": [2], "parameters": {"binary_data_size": 8}}
    right = Hostile(good, with_binary([y], b"\0" * 8))
    check("[0., 0.]" in vmrun(binary, "--server", right.url, "m", "--input", "[1]").stdout, "a server that is right")
    wrong = [
        with_binary([dict(y, shape=[3])], b"\0" * 8), with_binary([dict(y, shape=[1 << 40])], b"\0" * 8),
        with_binary([dict(y, shape=[1 << 62, 1 << 62])], b"\0" * 8), with_binary([dict(y, shape=[2, 1])], b"\0" * 8),
        with_binary([dict(y, shape=[-2])], b"\0" * 8), with_binary([dict(y, datatype="INT32")], b"\0" * 8),
        with_binary([dict(y, datatype="NONE")], b"\0" * 8), with_binary([dict(y, name="z")], b"\0" * 8),
        with_binary([y], b"\0" * 7), with_binary([y], b"\0" * 9), with_binary([y], b"\0" * 8, 1 << 60), with_binary([y], b"\0" * 8, 3),
        with_binary([y], b"\0" * 8, "x"), with_binary([dict(y, datatype="BYTES")], b"\xff" * 8), answer({}), answer({"outputs": 3}),
        answer(b"[" * 100000), answer(b"\xff\xfe"), b"SSH-2.0-OpenSSH_9.2\r\n\r\n", b"HTTP/1.1 200 OK\r\n: x\r\n\r\n", b"HTTP/1.1 abc OK\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\nContent-Length: 6\r\n\r\nabcdef", b"HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nContent-Length: 99999999999999999999\r\n\r\n", b"HTTP/1.1 200 OK\r\nContent-Length: 4000000000000\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n", b"HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip\r\n\r\n",
        b"HTTP/1.1 100 Continue\r\n\r\n" * 20, endless_header]
    for reply in wrong:
        for server in (Hostile(good, reply), Hostile(reply, good)) if isinstance(reply, bytes) and b"HTTP/1.1 200" not in reply else (Hostile(good, reply),):
            done = vmrun(binary, "--server", server.url, "m", "--input", "[1]", status=None, timeout=20)
            check(done.returncode in (2, 3) and done.stderr.startswith("vmrun: "), (reply, done))
    for metadata in (dict(METADATA, inputs=[]), dict(METADATA, outputs=[]), dict(METADATA, inputs=[{"name": "x", "datatype": "FP32", "shape": [-7]}]),
                     dict(METADATA, inputs=[{"name": "x", "datatype": "X", "shape": []}]), [], {"error": "x"}):
        check(vmrun(binary, "--server", Hostile(answer(metadata), b"").url, "m", "--input", "[1]", status=None).returncode in (1, 2), metadata)
    for reply in (silent, trickle):
        start = time.monotonic()
        done = vmrun(binary, "--server", Hostile(good, reply).url, "m", "--input", "[1]", "--timeout", "0.5", status=3)
        check("too long" in done.stderr and time.monotonic() - start < 10, done)
    bounded = ["sh", "-c", 'ulimit -v 4000000; exec "$@"', "sh", os.path.join(binary, "vmrun"), "--server", Hostile(good, endless).url, "m", "--input", "[1]"]
    done = subprocess.run(bounded, capture_output=True, text=True, timeout=60)
    check(done.returncode == 3 and "body above" in done.stderr, done)
    end = b'HTTP/1.1 400 Bad\r\nContent-Length: 18\r\n\r\n{"error":"a\\u0007"}'
    check("\a" not in vmrun(binary, "--server", Hostile(good, end).url, "m", "--input", "[1]", status=2).stderr, "no control characters")


def make_certificate(folder):
    for name, subject in (("good", "localhost"), ("other", "elsewhere")):
        subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "2", "-subj",
                        f"/CN={subject}", "-addext", f"subjectAltName=DNS:{subject}" + (",IP:127.0.0.1" if name == "good" else ""), "-keyout",
                        os.path.join(folder, name + ".key"), "-out", os.path.join(folder, name + ".pem")], check=True, capture_output=True)


def check_secure(binary, repository, folder):
    if shutil.which("openssl") is None:
        return
    make_certificate(folder)
    token, wrong = os.path.join(folder, "token"), os.path.join(folder, "wrong")
    for path, text in ((token, "0123456789abcdef\n"), (wrong, "0123456789abcdeF\n"), (os.path.join(folder, "short"), "x\n")):
        with open(path, "w") as file:
            file.write(text)
    pem, key, other = (os.path.join(folder, name) for name in ("good.pem", "good.key", "other.pem"))
    server = Server(binary, "--models", repository, "--tls-cert", pem, "--tls-key", key, "--token-file", token)
    try:
        for host in ("127.0.0.1", "localhost"):
            url = f"https://{host}:{server.ports['http']}"
            ask = ["--server", url, "newton", "--input", "[4, 9]"]
            check("2" in vmrun(binary, *ask, "--server-ca", pem, "--server-token-file", token).stdout, "TLS with a token")
        check("Bearer" in vmrun(binary, *ask, "--server-ca", pem, status=2).stderr, "no token")
        check("Bearer" in vmrun(binary, *ask, "--server-ca", pem, "--server-token-file", wrong, status=2).stderr, "another token")
        check("TLS" in vmrun(binary, *ask, "--server-token-file", token, status=2).stderr, "a certificate that nobody signed")
        check("TLS" in vmrun(binary, *ask, "--server-token-file", token, "--server-ca", other, status=2).stderr, "another's certificate")
        vmrun(binary, *(word.replace("https", "http") for word in ask), status=2)
        check_tls_clients(server, pem, token)
    finally:
        server.end()
    server = Server(binary, "--models", repository, "--tls-cert", pem, "--tls-key", key)
    try:  # 4 MB there and back, by one piece of the answer
        big = os.path.join(folder, "big.npy")
        numpy.save(big, numpy.linspace(1, 9, 1 << 20, dtype="float32"))
        out = os.path.join(folder, "big.npz")
        vmrun(binary, "--server", f"https://127.0.0.1:{server.ports['http']}", "newton", "--input", big, "--output", out, "--server-ca", pem)
        check(numpy.allclose(list(numpy.load(out).values())[0] ** 2, numpy.load(big), rtol=1e-4), "large tensors over TLS")
    finally:
        server.end()
    for options in (["--tls-cert", pem], ["--tls-key", key], ["--tls-cert", key, "--tls-key", key], ["--tls-cert", other, "--tls-key", key],
                    ["--token-file", os.path.join(folder, "short")], ["--token-file", folder], ["--token-file", "/nothing"]):
        done = subprocess.run([os.path.join(binary, "vmserve"), "--models", repository, "--http-port", "0", "--metrics-port", "0", *options],
                              capture_output=True, text=True, timeout=30)
        check(done.returncode in (1, 2) and done.stderr.startswith("vmserve: "), (options, done))
    for options, said in (([], "without --tls-cert and --token-file"), (["--token-file", token], "without --tls-cert:")):
        process = subprocess.Popen([os.path.join(binary, "vmserve"), "--models", repository, "--host", "0.0.0.0", "--http-port", "0",
                                    "--metrics-port", "0", *options], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        while not process.stdout.readline().startswith("ready"):
            pass
        process.terminate()
        check(said in process.communicate(timeout=60)[1], said)


def check_tls_clients(server, pem, token):
    """Python's TLS: kept connections, requests in a row, garbage, and a client that goes."""
    import http.client
    import ssl
    context = ssl.create_default_context(cafile=pem)
    with open(token) as file:
        bearer = {"Authorization": "bearer " + file.read().strip()}
    connection = http.client.HTTPSConnection("localhost", server.ports["http"], context=context, timeout=30)
    for headers, status in ((bearer, 200), ({}, 401), ({"Authorization": "Basic eDp5"}, 401), (bearer, 200)):
        connection.request("GET", "/v2/models/newton", headers=headers)
        answered = connection.getresponse()
        answered.read()
        check(answered.status == status, (headers, answered.status))
    for path in ("/v2/health/live", "/v2/health/ready"):
        connection.request("GET", path)
        answered = connection.getresponse()
        check(answered.read() and answered.status == 200, "probes need no token")
    body = json.dumps({"inputs": [{"name": "numbers", "datatype": "FP32", "shape": [2], "data": [4, 9]}]})
    request = (f"POST /v2/models/newton/infer HTTP/1.1\r\nHost: x\r\nAuthorization: {bearer['Authorization']}\r\n"
               f"Content-Length: {len(body)}\r\n\r\n{body}").encode()
    with context.wrap_socket(socket.create_connection(("127.0.0.1", server.ports["http"])), server_hostname="localhost") as raw:
        raw.sendall(request * 20)
        data = b""
        while data.count(b"HTTP/1.1 200") < 20:
            more = raw.recv(65536)
            check(more, data)
            data += more
    for garbage in (b"GET / HTTP/1.1\r\n\r\n", b"\x16\x03\x01" + b"\xff" * 600, os.urandom(4096)):
        with socket.create_connection(("127.0.0.1", server.ports["http"])) as raw:
            raw.sendall(garbage)
            raw.settimeout(30)
            try:
                while raw.recv(4096):
                    pass
            except ConnectionError:
                pass
    connection.request("GET", "/v2/models/newton", headers=bearer)
    check(connection.getresponse().status == 200, "after garbage")


def check_bench(binary, url, folder):
    bench = [os.path.join(binary, "vmbench"), "--server", url]
    svg, csv, latencies, lengths = (os.path.join(folder, name) for name in ("load.svg", "load.csv", "latencies", "lengths"))
    with open(lengths, "w") as file:
        file.write("3\n1\n17\n")
    for form in ("binary", "json"):
        done = subprocess.run([*bench, "newton", "--input", "numbers={n}xf32=2", "--lengths", lengths, "--rate", "100,200,max", "--duration", "0.5",
                               "--connections", "4", "--svg", svg, "--csv", csv, "--latencies", latencies, "--format", form], capture_output=True, text=True, timeout=60)
        check(done.returncode == 0, done)
        rows = [line.split(",") for line in open(csv).read().splitlines()]
        check([row[0] for row in rows] == ["rate", "100", "200", "max"], rows)
        for row in rows[1:]:
            check(row[-2] == "0" and 0 < float(row[2]) <= float(row[4]) <= float(row[6]), row)  # a machine that stands still leaves some unsent
        check(0 < float(rows[1][1]) < 150, rows)
        times = [line.split(",")[1] for line in open(latencies).read().splitlines() if line.startswith("200,")]
        check(len(times) > 20 and float(times[-1]) == float(rows[2][6]), (rows, times))
        text = open(svg).read()
        check(text.startswith("<svg") and text.rstrip().endswith("</svg>") and "NaN" not in text and "nan" not in text and "inf" not in text, text)
    import xml.dom.minidom
    xml.dom.minidom.parse(svg)
    done = subprocess.run([*bench, "newton", "--input", "[2]", "--bound", "p99=2000ms", "--rate", "2000", "--duration", "0.2"], capture_output=True,
                          text=True, timeout=120)
    found = re.search(r"throughput at p99 <= 2000.000 ms: ([0-9.]+)", done.stdout)
    check(done.returncode == 0 and found and float(found[1]) > 0, done)
    # A rate that cannot hold is known by its late ones, and one that does by as many as its percentile needs.
    for bound, rate, seconds, least, most in (("p100=0.000001ms", "2", "30", 0, 100), ("p90=5000ms", "100", "0.01", 1, 100)):
        start = time.monotonic()
        done = subprocess.run([*bench, "newton", "--input", "[2]", "--bound", bound, "--rate", rate, "--duration", seconds], capture_output=True, text=True,
                              timeout=120)
        check(done.returncode == 0 and least < time.monotonic() - start < most, (time.monotonic() - start, done))
        check((" 0.0 a second" in done.stdout) == (least == 0), done)
    for arguments, status in (([], 1), (["newton", "--rate", "0"], 1), (["newton", "--bound", "x"], 1), (["newton"], 2), (["none", "--input", "[1]"], 2),
                              (["newton", "--input", "[2]", "--rate", "1e9", "--duration", "1"], 2)):
        done = subprocess.run([*bench, *arguments], capture_output=True, text=True, timeout=60)
        check(done.returncode == status and done.stderr.startswith("vmbench: "), (arguments, done))


def check_open_loop(binary):
    """A server that stands still for a while: those that were due meanwhile have waited."""
    y = {"name": "y", "datatype": "FP32", "shape": [1], "parameters": {"binary_data_size": 4}}
    text = with_binary([y], b"\0" * 4)
    listener = socket.create_server(("127.0.0.1", 0))
    still = {"from": time.monotonic() + 1.0, "to": time.monotonic() + 2.0}

    def serve(connection):
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        while request := connection.recv(65536):  # a small request is one piece
            if request.startswith(b"GET"):
                still.update({"from": time.monotonic() + 0.5, "to": time.monotonic() + 1.0})
                connection.sendall(answer(METADATA))
                continue
            now = time.monotonic()
            if still["from"] <= now < still["to"]:
                time.sleep(still["to"] - now)
            connection.sendall(text)

    def accept():
        while True:
            threading.Thread(target=serve, args=(listener.accept()[0],), daemon=True).start()

    threading.Thread(target=accept, daemon=True).start()
    done = subprocess.run([os.path.join(binary, "vmbench"), "--server", f"http://127.0.0.1:{listener.getsockname()[1]}", "m", "--input", "[1]",
                           "--rate", "200", "--duration", "2", "--fixed", "--connections", "1"], capture_output=True, text=True, timeout=60)
    check(done.returncode == 0, done)
    row = done.stdout.splitlines()[-1].split()
    # Of 400 requests, the 100 that were due while it stood still waited some 250 ms on average; a closed loop had one that did.
    check(float(row[3]) > 100 and float(row[6]) > 300, done.stdout)


def main():
    binary, examples = sys.argv[1:3]
    with tempfile.TemporaryDirectory() as folder:
        repository = os.path.join(folder, "models")
        make_repository(binary, examples, repository)
        newton = os.path.join(folder, "local", "3")
        os.makedirs(newton)
        subprocess.run([os.path.join(binary, "relayc"), os.path.join(examples, "newton.onnx"), "-q", "-o", os.path.join(newton, "model.vmx")], check=True)
        models = {name: os.path.join(repository, name, "1", "model.vmx") for name in ("while_loop", "lstm")}
        models["newton"] = os.path.join(newton, "model.vmx")
        server = Server(binary, "--models", repository, "--cache", os.path.join(folder, "cache"))
        url = f"http://127.0.0.1:{server.ports['http']}"
        try:
            check_same(binary, url, models, folder)
            check_errors(binary, url)
            check_bench(binary, url, folder)
        finally:
            server.end()
        check_hostile(binary)
        check_open_loop(binary)
        check_secure(binary, repository, folder)
    print(f"{run_serve.PASSED} checks passed")


if __name__ == "__main__":
    main()
