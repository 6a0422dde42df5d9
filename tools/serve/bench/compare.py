#!/usr/bin/env python3
"""vmserve beside ONNX Runtime in FastAPI and uvicorn: requests a second and latencies, by vmbench, in turns.

    python3 -m venv VENV && VENV/bin/pip install fastapi uvicorn uvloop httptools orjson onnxruntime numpy
    compare.py BIN_FOLDER VENV/bin/python NAME=MODEL.onnx --input 'x=[1, 2]' [--lengths FILE] [--bound p99=3x] [--peer='--max-batch 8'] ...

A ratio is vmserve's over the peer's: above 1 in requests a second, below 1 in time, vmserve is ahead. With --bound, each --peer (several: as
many forms of the peer) is searched for the highest rate at which the bound holds, as vmserve is, one after the other; a bound of 3x is of the peer's latency of a
request alone (the shortest of its forms), the same time for both.
"""
import argparse
import os
import re
import socket
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
    done = subprocess.run([*command, "--duration", str(arguments.duration), *more], capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(done.stderr)
    return done.stdout


def row(text):
    words = text.splitlines()[-1].split()
    return float(words[1]), float(words[2]), float(words[4])


def compare_at(arguments, name, ours, peers):
    """The highest rates at which the bound holds, in turns."""
    bound = arguments.bound
    if bound.endswith("x"):
        percentile, _, times = bound[:-1].partition("=")
        alone = {port: row(bench(arguments, port, name, "--rate", "max", "--connections", "1"))[1] for _, port in [("", ours), *peers]}
        print("a request alone, ms: " + ", ".join(f"{form or 'vmserve'}: {alone[port]:.1f}" for form, port in [("", ours), *peers]))
        bound = f"{percentile}={float(times) * min(alone[port] for _, port in peers):.3f}ms"
    found = {port: [] for port in (ours, *(port for _, port in peers))}
    for _ in range(arguments.turns):
        for port, rates in found.items():
            text = bench(arguments, port, name, "--bound", bound, "--rate", arguments.rate)
            rates.append(float(re.search(r": ([0-9.]+) a second", text)[1]))
    mine = max(found[ours])
    print(f"at {bound}, a second: vmserve {mine:.1f} of {found[ours]}")
    for form, port in peers:
        print(f"  peer {form}: {max(found[port]):.1f} of {found[port]}, ratio {mine / max(*found[port], 1e-9):.2f}")


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
        ours, metrics, *ports = [free_port() for _ in range(2 + len(forms))]
        here = os.path.dirname(os.path.abspath(__file__))
        servers = [subprocess.Popen([os.path.join(arguments.bin, "vmserve"), "--model", f"{name}={vmx}", "--http-port", str(ours),
                                     "--metrics-port", str(metrics), *arguments.vmserve], stdout=subprocess.DEVNULL)]
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
        finally:
            for server in servers:
                server.terminate()
            for server in servers:
                server.wait()


if __name__ == "__main__":
    main()
