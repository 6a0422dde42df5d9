#!/usr/bin/env python3
"""vmserve beside ONNX Runtime in FastAPI and uvicorn: requests a second and latencies, by vmbench, in turns.

    python3 -m venv VENV && VENV/bin/pip install fastapi uvicorn uvloop httptools orjson onnxruntime numpy
    compare.py BIN_FOLDER VENV/bin/python NAME=MODEL.onnx --input 'x=[1, 2]' [--lengths FILE] [--bound p99=3x] [--peer='--max-batch 8'] ...

A ratio is vmserve's over the peer's: above 1 in requests a second, below 1 in time, vmserve is ahead. With --bound, each --peer (several: as
many forms of the peer) is searched for the highest rate at which the bound holds, as vmserve is, in turns of --duration; a bound of 3x is of
the peer's latency of a request alone (the shortest of its forms), the same time for both.

Where h2load (Debian's nghttp2-client) is, it asks vmserve by gRPC too, beside the peer's binary form: FastAPI has no gRPC. Inputs are JSON arrays.
"""
import argparse
import itertools
import json
import os
import re
import shutil
import socket
import statistics
import struct
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request


def wait_for(port, name):
    for _ in range(600):
        try:
            urllib.request.urlopen(f"http://127.0.0.1:{port}/v2/models/{name}", timeout=5).close()
            return
        except (urllib.error.URLError, ConnectionError):
            time.sleep(0.1)
    sys.exit("a server does not begin")


def free_port():
    with socket.create_server(("127.0.0.1", 0)) as listener:
        return listener.getsockname()[1]


def bench(arguments, port, name, *more):
    command = [os.path.join(arguments.bin, "vmbench"), "--server", f"http://127.0.0.1:{port}", name]
    command += [word for text in arguments.input for word in ("--input", text)]
    if arguments.lengths:
        command += ["--lengths", arguments.lengths]
    if "--duration" not in more:
        command += ["--duration", str(arguments.duration)]
    done = subprocess.run([*command, *more], capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(done.stderr)
    return done.stdout


def row(text):
    words = text.splitlines()[-1].split()
    return float(words[1]), float(words[2]), float(words[4])


# --- gRPC ---

PACKED = {"FP32": "f", "FP64": "d", "INT64": "q", "INT32": "i"}


def field(number, data):
    """Of protobuf: bytes, fewer than 128."""
    return bytes([number << 3 | 2, len(data)]) + data


def grpc_request(arguments, port, name):
    """A ModelInferRequest with raw contents, in gRPC's frame."""
    with urllib.request.urlopen(f"http://127.0.0.1:{port}/v2/models/{name}", timeout=30) as answer:
        datatypes = {tensor["name"]: tensor["datatype"] for tensor in json.load(answer)["inputs"]}
    message, raw = field(1, name.encode()), b""
    for text in arguments.input:
        key, _, value = text.partition("=")
        numbers = json.loads(value)
        tensor = field(1, key.encode()) + field(2, datatypes[key].encode()) + field(3, bytes([len(numbers)]))
        message += field(5, tensor)
        raw += field(7, struct.pack(f"<{len(numbers)}{PACKED[datatypes[key]]}", *numbers))
    message += raw
    return b"\0" + struct.pack(">I", len(message)) + message


def answered(port, name):
    with urllib.request.urlopen(f"http://127.0.0.1:{port}/metrics", timeout=30) as answer:
        return int(re.search(rf'vmserve_requests_total{{model="{name}",code="200"}} (\d+)', answer.read().decode())[1])


def bench_grpc(arguments, ports, body, name, connections):
    before = answered(ports["metrics"], name)
    done = subprocess.run(["h2load", "-D", str(max(1, round(arguments.duration))), "-c", str(connections), "-m", "1", "-d", body, "-H",
                           "content-type: application/grpc", "-H", "te: trailers",
                           f"http://127.0.0.1:{ports['grpc']}/inference.GRPCInferenceService/ModelInfer"], capture_output=True, text=True, check=True)
    asked = int(re.search(r"(\d+) 2xx", done.stdout)[1])
    if answered(ports["metrics"], name) - before < asked:  # a failure of gRPC is 200 of HTTP
        sys.exit("not all of gRPC's requests were answered")
    return float(re.search(r"([0-9.]+) req/s", done.stdout)[1])


def compare_grpc(arguments, name, ports, theirs, folder):
    body = os.path.join(folder, "request")
    with open(body, "wb") as file:
        file.write(grpc_request(arguments, ports["http"], name))
    for connections in (1, arguments.connections):
        mine, other = [], []
        for _ in range(arguments.turns):
            mine.append(bench_grpc(arguments, ports, body, name, connections))
            other.append(row(bench(arguments, theirs, name, "--format", "binary", "--rate", "max", "--connections", str(connections)))[0])
        what = "alone" if connections == 1 else f"{connections} connections"
        print(f"{'grpc, ' + what + ', a second':36}{max(mine):12.3f}{max(other):12.3f}{max(mine) / max(other):8.2f}")


class Search:
    """Of a server: the highest rate that holds, to 5 percent: doubled until one does not, then halved."""

    def __init__(self, form, port, rate):
        self.form, self.port, self.rate, self.good, self.bad, self.found = form, port, rate, 0, 0, 0
        self.asked = self.late = self.seconds = 0

    def add(self, times, seconds, bound_ms, share, least):
        """Requests at the rate. Whether it is decided: as many are late as may be of so many, or so many have been asked."""
        self.asked, self.seconds = self.asked + len(times), self.seconds + seconds
        self.late += sum(time > bound_ms for time in times)
        is_lost = self.late > share * max(self.asked, least)
        if not is_lost and self.asked < least:
            return False
        print(f"  {self.form}: {self.late} of {self.asked} late at {self.rate:g} a second", flush=True)
        if is_lost:
            self.bad = self.rate
        else:
            self.good, self.found = self.rate, self.asked / self.seconds
        self.rate = self.good * 2 if self.bad == 0 else (self.good + self.bad) / 2
        self.asked = self.late = self.seconds = 0
        return True

    def is_done(self):
        return self.bad > 0 and (self.bad <= self.good * 1.05 or self.bad < 0.5)


def compare_at(arguments, name, ours, peers):
    """The highest rates at which the bound holds. A rate's requests are asked in slices in which the servers take turns, each after a few alone
    that a bound of 3x is of: where the machine's speed changes, it does for all. And until so many may be late that no crowd which came by chance
    decides."""
    percentile, _, limit = arguments.bound.partition("=")
    share = 1 - float(percentile.removeprefix("p")) / 100
    servers = [("vmserve", ours), *((f"peer {form}", port) for form, port in peers)]
    alone = {port: [] for _, port in servers}

    def bound_now():
        """Of a request alone as long as that takes now."""
        if not limit.endswith("x"):
            return float(limit.removesuffix("ms"))
        for port, times in alone.items():
            times.append(row(bench(arguments, port, name, "--rate", "max", "--connections", "1", "--duration", "1.5"))[1])
        return float(limit[:-1]) * min(alone[port][-1] for _, port in peers)

    searches = {port: Search(form, port, float(arguments.rate)) for form, port in servers}
    with tempfile.NamedTemporaryFile() as file:
        while any(not search.is_done() for search in searches.values()):
            left = [search for search in searches.values() if not search.is_done()]
            for seed in itertools.count(1):
                bound_ms = bound_now()
                for search in list(left):
                    bench(arguments, search.port, name, "--rate", str(search.rate), "--seed", str(seed), "--latencies", file.name)
                    with open(file.name) as lines:
                        times = [float(line.split(",")[1]) for line in list(lines)[1:]]
                    if search.add(times, arguments.duration, bound_ms, share, arguments.late / share):
                        left.remove(search)
                if not left:
                    break
    mine = searches[ours].found
    if limit.endswith("x"):
        print("a request alone, ms: " + ", ".join(f"{form}: {statistics.median(alone[port]):.1f}" for form, port in servers))
    print(f"at {arguments.bound}, a second: vmserve {mine:.1f}")
    for form, port in peers:
        theirs = searches[port].found
        print(f"  peer {form}: {theirs:.1f}, ratio {mine / max(theirs, 1e-9):.2f}")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("bin")
    parser.add_argument("python")
    parser.add_argument("model")
    parser.add_argument("--input", action="append", required=True)
    parser.add_argument("--lengths")
    parser.add_argument("--duration", type=float, default=3)
    parser.add_argument("--connections", type=int, default=16)
    parser.add_argument("--bound")
    parser.add_argument("--late", type=int, default=10, help="of --bound: each rate is asked for until so many may be late (10: 1000 for p99)")
    parser.add_argument("--peer", action="append", help="more of its options, in one word")
    parser.add_argument("--relayc", action="append", default=[], help="more of its options")
    parser.add_argument("--rate", default="20", help="where the search begins")
    parser.add_argument("--turns", type=int, default=2)
    parser.add_argument("--vmserve", action="append", default=[], help="more of its options")
    arguments = parser.parse_args()
    name, _, path = arguments.model.partition("=")
    with tempfile.TemporaryDirectory() as folder:
        vmx = os.path.join(folder, "model.vmx")
        subprocess.run([os.path.join(arguments.bin, "relayc"), path, "-q", "-o", vmx, *arguments.relayc], check=True)
        forms = arguments.peer or [""]
        ours, metrics, grpc, *ports = [free_port() for _ in range(3 + len(forms))]
        here = os.path.dirname(os.path.abspath(__file__))
        servers = [subprocess.Popen([os.path.join(arguments.bin, "vmserve"), "--model", f"{name}={vmx}", "--http-port", str(ours),
                                     "--metrics-port", str(metrics), "--grpc-port", str(grpc), *arguments.vmserve], stdout=subprocess.DEVNULL)]
        servers += [subprocess.Popen([arguments.python, os.path.join(here, "peer_fastapi.py"), f"{name}={path}", "--port", str(port), *form.split()])
                    for form, port in zip(forms, ports)]
        theirs = ports[0]
        try:
            for port in (ours, *ports):
                wait_for(port, name)
            if arguments.bound:
                return compare_at(arguments, name, ours, list(zip(forms, ports)))
            print(f"{'':26}{'vmserve':>12}{'peer':>12}{'ratio':>8}")
            for form in ("json", "binary"):
                for what, more in (("alone", ["--rate", "max", "--connections", "1"]),
                                   (f"{arguments.connections} connections", ["--rate", "max", "--connections", str(arguments.connections)])):
                    rows = [[row(bench(arguments, port, name, "--format", form, *more)) for port in (ours, theirs)] for _ in range(arguments.turns)]
                    for i, unit in enumerate(("a second", "p50 ms", "p99 ms")):
                        best = max if i == 0 else min
                        mine, other = (best(turn[side][i] for turn in rows) for side in (0, 1))
                        print(f"{form + ', ' + what + ', ' + unit:36}{mine:12.3f}{other:12.3f}{mine / other:8.2f}")
            if shutil.which("h2load"):
                compare_grpc(arguments, name, {"http": ours, "metrics": metrics, "grpc": grpc}, theirs, folder)
        finally:
            for server in servers:
                server.terminate()
            for server in servers:
                server.wait()


if __name__ == "__main__":
    main()
