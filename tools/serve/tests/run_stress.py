#!/usr/bin/python3
"""Holds vmserve to what it promises under load: many idle connections, a quick start, and mixed requests with faults.

usage: run_stress.py BIN_FOLDER EXAMPLES_FOLDER [--server VMSERVE] [--seconds 60] [--requests N] [--idle 10000] [--models 20]

Mixed requests are JSON and binary, compressed and not, good, wrong and damaged, with deadlines, with clients that go before their answer, beside reloads and unloads of a model. Each good answer is checked; none may be lost. It ends after --requests requests (0: no such limit) or --seconds, whichever comes first: a million of them is `--requests 1000000 --seconds 86400`. Prints figures, and closes with the line "stress passed".
"""
import argparse
import gzip
import json
import os
import random
import resource
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time

import fuzz_serve


def memory(pid):
    """Resident bytes."""
    with open(f"/proc/{pid}/statm") as file:
        return int(file.read().split()[1]) * resource.getpagesize()


class Server:
    def __init__(self, command, *options):
        begin = time.monotonic()
        self.process = subprocess.Popen([command, "--http-port", "0", "--metrics-port", "0", *options], stdout=subprocess.PIPE,
                                        text=True)
        self.port = int(self.process.stdout.readline().rpartition(":")[2])
        while not self.process.stdout.readline().startswith("ready"):
            pass
        self.seconds = time.monotonic() - begin

    def connect(self):
        return socket.create_connection(("127.0.0.1", self.port), timeout=60)

    def ask(self, data):
        with self.connect() as connection:
            connection.sendall(data)
            return fuzz_serve.receive(connection)

    def end(self):
        self.process.send_signal(signal.SIGTERM)
        if self.process.wait(timeout=60) != 0:
            sys.exit(f"vmserve ended with {self.process.returncode}")


def check_start(command, newton, folder, count):
    for i in range(count):
        os.makedirs(os.path.join(folder, f"m{i}", "1"))
        shutil.copy(newton, os.path.join(folder, f"m{i}", "1", "model.vmx"))
    times = []
    for _ in range(5):
        server = Server(command, "--models", folder)
        times.append(server.seconds)
        server.end()
    print(f"start to ready with {count} models: {min(times) * 1000:.0f} ms")
    return min(times)


def open_many(server, request, count):
    connections = []
    for i in range(count):
        connection = server.connect()
        if i % 3 == 0:  # others say nothing, or half a header
            connection.sendall(request)
            if fuzz_serve.receive(connection)[0] != 200:
                sys.exit("an answer of many connections")
        elif i % 30 == 1:
            connection.sendall(b"GET / HTTP/1.1\r\nHo")
        connections.append(connection)
    return connections


def check_idle(command, newton, count):
    """Memory while `count` connections are open that have each been served, and after they have gone, twice."""
    server = Server(command, "--model", f"newton={newton}", "--max-connections", str(count + 100))
    request = fuzz_serve.whole(*fuzz_serve.request([4.0], False, random.Random(1)))
    for _ in range(200):
        server.ask(request)
    time.sleep(2)
    rounds, before = [], memory(server.process.pid)
    for _ in range(2):
        connections = open_many(server, request, count)
        samples = [memory(server.process.pid)]
        for _ in range(3):
            time.sleep(1)
            if server.ask(request)[0] != 200:
                sys.exit("a request beside many connections")
            samples.append(memory(server.process.pid))
        for connection in connections:
            connection.close()
        time.sleep(4)
        rounds.append((samples, memory(server.process.pid)))
        print(f"{count} connections: {before >> 10} KiB before, {samples[0] >> 10} with them, {max(samples) >> 10} later, "
              f"{rounds[-1][1] >> 10} when they have gone; {(max(samples) - before) / count:.0f} bytes each")
    server.end()
    return before, rounds


class Mix:
    def __init__(self, server, folder, seconds, requests):
        self.server, self.folder = server, folder
        self.end, self.left = time.monotonic() + seconds, requests or 1 << 62
        self.lock = threading.Lock()
        self.codes, self.wrong = {}, []

    def goes_on(self):
        with self.lock:
            self.left -= 1
            return self.left >= 0 and time.monotonic() < self.end and not self.wrong

    def count(self, what):
        with self.lock:
            self.codes[what] = self.codes.get(what, 0) + 1

    def good(self, connection, rng, model):
        numbers = [float(rng.randint(1, 1000)) ** 2 for _ in range(rng.randint(1, 20))]
        binary = rng.random() < 0.5
        head, body = fuzz_serve.request(numbers, binary, rng)
        head = head.replace(b"/newton/", b"/%s/" % model)
        if rng.random() < 0.2:
            head, body = head + b"Content-Encoding: gzip\r\n", gzip.compress(body, 1)
        if rng.random() < 0.1:
            head += b"X-Request-Timeout-Ms: 60000\r\n"
        data = fuzz_serve.chunked(head, body, rng) if rng.random() < 0.1 else fuzz_serve.whole(head, body)
        connection.sendall(data)
        answer = fuzz_serve.receive(connection)
        if answer is None:
            raise AssertionError("no answer to a good request")
        self.count(answer[0])
        if answer[0] == 404 and model == b"changing":
            return  # it is unloaded
        if answer[0] != 200:
            raise AssertionError(f"a good request: {answer}")
        roots = fuzz_serve.roots(answer, binary, len(numbers))
        if any(abs(root * root - number) > 1e-3 * number for root, number in zip(roots, numbers)):
            raise AssertionError(f"{numbers}: {roots}")

    def friend(self, seed, model):
        rng = random.Random(seed)
        connection = self.server.connect()
        try:
            while self.goes_on():
                self.good(connection, rng, model)
                if rng.random() < 0.01:
                    connection.close()
                    connection = self.server.connect()
        except (AssertionError, OSError) as failure:
            self.wrong.append(failure)

    def faults(self, seed):
        rng = random.Random(seed)
        while self.goes_on():
            head, body = fuzz_serve.request([4.0] * rng.randint(1, 50), rng.random() < 0.5, rng)
            kind = rng.randrange(3)
            if kind == 0:  # it goes before its answer, or before its request is whole
                with self.server.connect() as connection:
                    data = fuzz_serve.whole(head, body)
                    connection.sendall(data if rng.random() < 0.5 else data[:rng.randrange(len(data))])
                self.count("left")
            elif kind == 1:
                answer = self.server.ask(fuzz_serve.whole(head + b"X-Request-Timeout-Ms: 0\r\n", body))
                self.count(answer[0])
                if answer[0] != 504:
                    self.wrong.append(answer)
            else:
                fuzz_serve.hostile(self.server.port, rng, 1)
                self.count("damaged")

    def control(self, model, verb):
        """Until nobody else loads or unloads the model."""
        while True:
            answer = self.server.ask(b"POST /v2/repository/models/%s/%s HTTP/1.1\r\nContent-Length: 0\r\n\r\n" % (model, verb))
            self.count((verb.decode(), answer[0]))
            if answer[0] != 409:
                break
            time.sleep(0.01)
        if answer[0] != 200:
            self.wrong.append(answer)

    def reloads(self):
        versions = os.path.join(self.folder, "newton")
        version = 1
        while self.goes_on():
            for verb in (b"load", b"unload", b"load"):
                self.control(b"changing", verb)
            # A new version of the model that is asked all the time: no request of it may be lost.
            shutil.copytree(os.path.join(versions, str(version)), os.path.join(versions, "new"))
            version += 1
            os.rename(os.path.join(versions, "new"), os.path.join(versions, str(version)))
            self.control(b"newton", b"load")
            shutil.rmtree(os.path.join(versions, str(version - 1)))
            time.sleep(0.05)


def check_mix(command, newton, folder, seconds, requests):
    for name in ("newton", "changing"):
        os.makedirs(os.path.join(folder, name, "1"))
        shutil.copy(newton, os.path.join(folder, name, "1", "model.vmx"))
    server = Server(command, "--models", folder, "--poll", "0.1")
    mix = Mix(server, folder, seconds, requests)
    threads = [threading.Thread(target=mix.friend, args=(i, model)) for i, model in enumerate((b"newton", b"newton", b"changing"))]
    threads += [threading.Thread(target=mix.faults, args=(100 + i,)) for i in range(2)] + [threading.Thread(target=mix.reloads)]
    for thread in threads:
        thread.start()
    begin, early, course = time.monotonic(), None, []
    while any(thread.is_alive() for thread in threads):
        time.sleep(0.5)
        done = sum(mix.codes.copy().values())
        if early is None and done > 2000:
            early = memory(server.process.pid)
        part = max(done / requests if requests else 0, (time.monotonic() - begin) / seconds)
        if part * 20 > len(course) + 1:
            course.append((done, memory(server.process.pid) >> 10))
    time.sleep(3)
    late = memory(server.process.pid)
    if mix.wrong:
        sys.exit(f"wrong: {mix.wrong[0]}")
    server.end()
    total = sum(mix.codes.values())
    print(f"{total} mixed requests: {json.dumps({str(k): v for k, v in sorted(mix.codes.items(), key=str)})}; "
          f"{(early or late) >> 10} KiB early, {late >> 10} at the end")
    print("KiB in its course: " + ", ".join(f"{size} at {done}" for done, size in course))
    return early or late, late


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("binary")
    parser.add_argument("examples")
    parser.add_argument("--server")
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--requests", type=int, default=0)
    parser.add_argument("--idle", type=int, default=10000)
    parser.add_argument("--models", type=int, default=20)
    args = parser.parse_args()
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    command = args.server or os.path.join(args.binary, "vmserve")
    is_checked = args.server is None  # others are slower and larger: they are sanitized
    with tempfile.TemporaryDirectory() as folder:
        newton = os.path.join(folder, "newton.vmx")
        subprocess.run([os.path.join(args.binary, "relayc"), os.path.join(args.examples, "newton.onnx"), "-q", "-o", newton], check=True)
        seconds = check_start(command, newton, os.path.join(folder, "start"), args.models)
        if is_checked and seconds > 0.2 * max(1, args.models / 20):
            sys.exit("it starts slowly")
        idle = min(args.idle, hard - 200)
        before, ((first, left), (second, left_again)) = check_idle(command, newton, idle)
        if is_checked and max(first) - before > idle * 16384 + (8 << 20):
            sys.exit("connections take much memory")
        if is_checked and max(max(s) - min(s) for s in (first, second)) > 4 << 20:
            sys.exit("idle connections take more and more memory")
        # Some of it stays: what Asio knows of a socket is kept for the next one.
        if is_checked and left - before > (max(first) - before) / 3 + (4 << 20):
            sys.exit("memory that connections left is kept")
        if is_checked and (max(second) > max(first) + (4 << 20) or left_again > left + (4 << 20)):
            sys.exit("memory that connections left is not used again")
        early, late = check_mix(command, newton, os.path.join(folder, "mix"), args.seconds, args.requests)
        if is_checked and late > early * 1.25 + (16 << 20):
            sys.exit("mixed requests take more and more memory")
    print("stress passed")


if __name__ == "__main__":
    main()
