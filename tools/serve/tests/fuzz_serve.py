#!/usr/bin/python3
"""Sends damaged requests to vmserve, many at a time, beside good ones, which must all be answered right.

usage: fuzz_serve.py BIN_FOLDER EXAMPLES_FOLDER [--count N] [--seed N] [--server VMSERVE]

The model is newton. Damage: bytes and numbers changed, parts cut, repeated and spliced, of the header, JSON and binary data, sent in pieces; connections that are dropped. Closes with the line "N requests".
"""
import argparse
import json
import os
import random
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import threading

NUMBERS = [b"0", b"-1", b"1", b"4", b"9", b"255", b"65536", b"2147483648", b"4294967295", b"9223372036854775807",
           b"18446744073709551615", b"99999999999999999999999", b"1e999", b"-0.0", b"NaN", b"true", b"null", b"\"\"", b"[]", b"{}"]


def request(numbers, binary, rng):
    tensor = {"name": "numbers", "datatype": "FP32", "shape": [len(numbers)]}
    body = {"inputs": [tensor], "id": str(rng.random())}
    data = b""
    if binary:
        data = struct.pack(f"<{len(numbers)}f", *numbers)
        tensor["parameters"] = {"binary_data_size": len(data)}
        body["parameters"] = {"binary_data_output": True}
    else:
        tensor["data"] = numbers
    text = json.dumps(body).encode()
    head = b"POST /v2/models/newton/infer HTTP/1.1\r\nHost: h\r\n"
    if binary:
        head += b"Inference-Header-Content-Length: %d\r\n" % len(text)
    return head, text + data


def whole(head, body):
    return head + b"Content-Length: %d\r\n\r\n" % len(body) + body


def chunked(head, body, rng):
    out = head + b"Transfer-Encoding: chunked\r\n\r\n"
    while body:
        n = rng.randint(1, 64)
        out += b"%x\r\n" % len(body[:n]) + body[:n] + b"\r\n"
        body = body[n:]
    return out + b"0\r\n\r\n"


def damaged(data, rng):
    data = bytearray(data)
    for _ in range(rng.choice([1, 1, 2, 5])):
        at, end = sorted((rng.randrange(len(data) + 1), rng.randrange(len(data) + 1))) if data else (0, 0)
        kind = rng.randrange(6)
        if kind == 0 and data:
            data[at % len(data)] = rng.randrange(256)
        elif kind == 1:
            del data[at:min(end, at + 40)]
        elif kind == 2:
            data[at:at] = data[at:end][:200] * rng.choice([1, 2, 50])
        elif kind == 3:
            data[at:at] = rng.choice(NUMBERS)
        elif kind == 4:
            digits = [i for i, c in enumerate(data) if chr(c).isdigit()]
            if digits:
                i = rng.choice(digits)
                data[i:i + 1] = rng.choice(NUMBERS)
        else:
            data[at:at] = bytes([rng.choice(b"[]{}\",:\\\r\n\0\xff%/ ")]) * rng.choice([1, 2, 100])
    return bytes(data)


def receive(connection):
    """One answer: its code, headers and body; None where the server closes before."""
    data = b""
    while b"\r\n\r\n" not in data:
        part = connection.recv(65536)
        if not part:
            return None
        data += part
    head, _, body = data.partition(b"\r\n\r\n")
    first, *lines = head.decode().split("\r\n")
    headers = dict(line.lower().split(": ", 1) for line in lines)
    while len(body) < int(headers["content-length"]):
        part = connection.recv(65536)
        if not part:
            return None
        body += part
    return int(first.split()[1]), headers, body


def roots(answer, binary, count):
    if not binary:
        return json.loads(answer[2])["outputs"][0]["data"]
    length = int(answer[1]["inference-header-content-length"])
    return struct.unpack(f"<{count}f", answer[2][length:length + 4 * count])


def hostile(port, rng, count):
    for _ in range(count):
        with socket.create_connection(("127.0.0.1", port), timeout=10) as connection:
            head, body = request([rng.random() for _ in range(rng.choice([0, 1, 3, 100]))], rng.random() < 0.5, rng)
            kind = rng.randrange(4)
            if kind == 0:
                data = whole(head, damaged(body, rng))
            elif kind == 1:
                data = damaged(whole(head, body), rng)
            elif kind == 2:
                data = damaged(chunked(head, body, rng), rng)
            else:
                data = whole(damaged(head, rng), body) + whole(head, body)
            try:
                cut = rng.randrange(len(data) + 1)
                connection.sendall(data[:cut])
                connection.sendall(data[cut:])
                if rng.random() < 0.5:
                    connection.shutdown(socket.SHUT_WR)
                    receive(connection)
            except OSError:
                pass  # it has closed


def good(port, rng, stop, wrong):
    connection = socket.create_connection(("127.0.0.1", port), timeout=60)
    while not stop.is_set():
        numbers = [float(rng.randint(1, 1000)) ** 2 for _ in range(rng.randint(1, 20))]
        binary = rng.random() < 0.5
        head, body = request(numbers, binary, rng)
        connection.sendall(whole(head, body))
        answer = receive(connection)
        if answer is None or answer[0] != 200:
            wrong.append(answer)
            return
        answers = zip(roots(answer, binary, len(numbers)), numbers)
        if any(abs(root * root - number) > 1e-3 * number for root, number in answers):
            wrong.append((numbers, answer))
            return


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("binary")
    parser.add_argument("examples")
    parser.add_argument("--server")
    parser.add_argument("--count", type=int, default=2000)
    parser.add_argument("--seed", type=int, default=1)
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        newton = os.path.join(folder, "newton.vmx")
        subprocess.run([os.path.join(args.binary, "relayc"), os.path.join(args.examples, "newton.onnx"), "-q", "-o", newton],
                       check=True)
        fuzz(args, newton)
    print(f"{args.count} requests")


def fuzz(args, newton):
    command = [args.server or os.path.join(args.binary, "vmserve"), "--model", f"newton={newton}", "--http-port", "0",
               "--metrics-port", "0"]
    server = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    try:
        port = int(server.stdout.readline().rpartition(":")[2])
        while not server.stdout.readline().startswith("ready"):
            pass
        stop, wrong = threading.Event(), []
        friends = [threading.Thread(target=good, args=(port, random.Random(-i - 1), stop, wrong)) for i in range(2)]
        foes = [threading.Thread(target=hostile, args=(port, random.Random(args.seed * 1000 + i), args.count // 4))
                for i in range(4)]
        for thread in friends + foes:
            thread.start()
        for thread in foes:
            thread.join()
        stop.set()
        for thread in friends:
            thread.join()
        if wrong:
            sys.exit(f"a good request: {wrong[0]}")
        server.send_signal(signal.SIGTERM)
        if server.wait(timeout=60) != 0:
            sys.exit(f"vmserve ended with {server.returncode}")
    finally:
        server.kill()


if __name__ == "__main__":
    main()
