#!/usr/bin/env python3
"""vmserve beside ONNX Runtime in FastAPI and uvicorn: requests a second and latencies, by vmbench, in turns.

    python3 -m venv VENV && VENV/bin/pip install fastapi uvicorn uvloop httptools orjson onnxruntime numpy
    compare.py BIN_FOLDER VENV/bin/python NAME=MODEL.onnx --input 'x=[1, 2]' [--lengths FILE] [--bound p99=3x] [--max-batch N] ...

A ratio is vmserve's over the peer's: above 1 in requests a second, below 1 in time, vmserve is ahead.
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
    parser.add_argument("--max-batch", type=int, default=1, help="of the peer")
    parser.add_argument("--peer-workers", type=int, default=1)
    parser.add_argument("--turns", type=int, default=2)
    parser.add_argument("--vmserve", action="append", default=[], help="more of its options")
    arguments = parser.parse_args()
    name, _, path = arguments.model.partition("=")
    with tempfile.TemporaryDirectory() as folder:
        vmx = os.path.join(folder, "model.vmx")
        subprocess.run([os.path.join(arguments.bin, "relayc"), path, "-q", "-o", vmx], check=True)
        ours, theirs, metrics = free_port(), free_port(), free_port()
        here = os.path.dirname(os.path.abspath(__file__))
        servers = [subprocess.Popen([os.path.join(arguments.bin, "vmserve"), "--model", f"{name}={vmx}", "--http-port", str(ours),
                                     "--metrics-port", str(metrics), *arguments.vmserve], stdout=subprocess.DEVNULL),
                   subprocess.Popen([arguments.python, os.path.join(here, "peer_fastapi.py"), f"{name}={path}", "--port", str(theirs),
                                     "--workers", str(arguments.peer_workers), "--max-batch", str(arguments.max_batch)])]
        try:
            for port in (ours, theirs):
                wait_for(port, name)
            print(f"{'':26}{'vmserve':>12}{'peer':>12}{'ratio':>8}")
            for form in ("json", "binary"):
                for what, more in (("alone", ["--rate", "max", "--connections", "1"]),
                                   (f"{arguments.connections} connections", ["--rate", "max", "--connections", str(arguments.connections)])):
                    rows = [[row(bench(arguments, port, name, "--format", form, *more)) for port in (ours, theirs)] for _ in range(arguments.turns)]
                    for i, unit in enumerate(("a second", "p50 ms", "p99 ms")):
                        best = max if i == 0 else min
                        mine, other = (best(turn[side][i] for turn in rows) for side in (0, 1))
                        print(f"{form + ', ' + what + ', ' + unit:36}{mine:12.3f}{other:12.3f}{mine / other:8.2f}")
            if arguments.bound:
                found = [float(re.search(r": ([0-9.]+) a second", bench(arguments, port, name, "--bound", arguments.bound))[1])
                         for port in (ours, theirs)]
                print(f"{'at ' + arguments.bound + ', a second':36}{found[0]:12.1f}{found[1]:12.1f}{found[0] / max(found[1], 1e-9):8.2f}")
        finally:
            for server in servers:
                server.terminate()
            for server in servers:
                server.wait()


if __name__ == "__main__":
    main()
