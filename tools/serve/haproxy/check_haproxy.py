"""haproxy.cfg with real processes: three servers in network namespaces of their own, HAProxy and clients in another, and faults under load.

usage: check_haproxy.py [--server COMMAND] [--relayc RELAYC] [--clients N] [--phase SECONDS] [--random SECONDS] [--requests N]
                        [--patience SECONDS]

Each request has an id, and is answered once, by 200, with its id and twice its numbers: any other is a failure, and the exit status 1. Needs
root, HAProxy and iproute2; exits with 77 without. COMMAND takes vmserve's arguments, and is stand_in.py if it is not given; of vmserve,
RELAYC compiles the model. --random: faults at random after the phases, for so long, or until --requests are answered in all: a million of
them is `--random 86400 --requests 1000000`. --patience: how long a client waits for an answer, and this program for a server that starts
or ends. Namespaces end with this program, whatever ends it.
"""
import argparse
import http.client
import json
import os
import random
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time

HERE = os.path.dirname(os.path.abspath(__file__))
SERVERS = 3
FRONT, STATS = "10.77.0.254:8080", "10.77.0.254:8404"
TIMEOUT = 2  # of a request, before it goes from a server that says nothing to another
MODEL = '#[version = "0.0.5"]\ndef @main(%x: Tensor[(?), float32]) { multiply(%x, 2f) }\n'


def skip(why):
    print(f"skipped: {why}")
    sys.exit(77)


def enter_namespaces():
    """This program again, in namespaces of its own, whose processes end with it."""
    if os.environ.get("RELAYVM_INSIDE") == "1":
        return
    for tool in ("haproxy", "ip", "unshare", "nsenter"):
        if shutil.which(tool, path=os.environ["PATH"] + ":/usr/sbin:/sbin") is None:
            skip(f"needs {tool}")
    new = ["unshare", "--net", "--pid", "--mount-proc", "--fork", "--kill-child"]
    if os.geteuid() != 0 or subprocess.run([*new, "true"], capture_output=True).returncode != 0:
        skip("needs root, and network namespaces")
    os.environ.update(RELAYVM_INSIDE="1", PATH=os.environ["PATH"] + ":/usr/sbin:/sbin")
    os.execvp("unshare", [*new, sys.executable, *sys.argv])


def run(command):
    subprocess.run(shlex.split(command), check=True)


class Server:
    """A server in a network of its own, whose link is vN here."""

    def __init__(self, number, command, models, patience):
        self.number, self.command, self.models, self.patience, self.process = number, command, models, patience, None
        self.holder = subprocess.Popen(["unshare", "--net", "sleep", "infinity"])
        here = os.readlink("/proc/self/ns/net")
        while os.readlink(f"/proc/{self.holder.pid}/ns/net") == here:
            time.sleep(0.01)
        self.inside = f"nsenter --target {self.holder.pid} --net"
        run(f"ip link add v{number} type veth peer name eth0 netns {self.holder.pid}")
        run(f"ip link set v{number} master br0 up")
        run(f"{self.inside} ip address add 10.77.0.{number}/24 dev eth0")
        run(f"{self.inside} ip link set eth0 up")
        run(f"{self.inside} ip link set lo up")

    def start(self):
        command = f"{self.inside} {self.command} --models {self.models} --host 10.77.0.{self.number} --http-port 8000"
        self.process = subprocess.Popen(shlex.split(command))
        self.wait_for_ready()

    def wait_for_ready(self):
        for _ in range(int(self.patience * 20)):
            try:
                connection = http.client.HTTPConnection(f"10.77.0.{self.number}", 8000, timeout=2)
                connection.request("GET", "/v2/health/ready")
                if connection.getresponse().status == 200:
                    break
            except OSError:
                pass
            time.sleep(0.05)
        else:
            sys.exit(f"server {self.number} is not ready")
        for _ in range(int(self.patience * 20)):  # HAProxy knows it too
            if self.status() == "UP":
                return
            time.sleep(0.05)
        sys.exit(f"HAProxy finds server {self.number} {self.status()}")

    def status(self):
        try:
            connection = http.client.HTTPConnection(*STATS.split(":"), timeout=2)
            connection.request("GET", "/;csv")
            lines = connection.getresponse().read().decode().splitlines()
        except OSError:
            return "UP"  # it is not started yet
        [row] = [line.split(",") for line in lines if line.startswith(f"servers,vmserve{self.number},")]
        return row[lines[0].lstrip("# ").split(",").index("status")]

    def wait_for_proxy(self):
        for _ in range(600):
            try:
                http.client.HTTPConnection(*FRONT.split(":"), timeout=2).connect()
                return
            except OSError:
                time.sleep(0.05)
        sys.exit("HAProxy does not listen")

    def kill(self):
        self.process.kill()
        self.process.wait()

    def end(self):
        self.process.send_signal(signal.SIGTERM)
        status = self.process.wait(self.patience)
        if status != 0:
            sys.exit(f"server {self.number} ended with {status} on SIGTERM")

    def pause(self):
        self.process.send_signal(signal.SIGSTOP)

    def go_on(self):
        self.process.send_signal(signal.SIGCONT)

    def link(self, state):
        run(f"ip link set v{self.number} {state}")


class Clients:
    """Threads that ask and check, and count by phase."""

    def __init__(self, count, patience):
        self.patience = patience
        self.stopped, self.phase, self.lock = threading.Event(), "nothing happens", threading.Lock()
        self.done, self.longest, self.failures, self.answered = {}, {}, [], set()
        self.threads = [threading.Thread(target=self._run, args=(i,)) for i in range(count)]
        for thread in self.threads:
            thread.start()

    def _run(self, client):
        connection, number = None, 0
        while not self.stopped.is_set():
            number += 1
            if connection is None:
                connection = http.client.HTTPConnection(*FRONT.split(":"), timeout=self.patience)
            begin, phase = time.monotonic(), self.phase
            why = self._ask(connection, f"{client}-{number}", [client, number])
            with self.lock:
                self.done[phase] = self.done.get(phase, 0) + 1
                self.longest[phase] = max(self.longest.get(phase, 0), time.monotonic() - begin)
                if why is not None:
                    self.failures.append(f"{phase}: {client}-{number}: {why}")
            if why is not None:
                connection.close()
                connection = None
        if connection is not None:
            self._look_for_more(connection)

    def _ask(self, connection, key, numbers):
        body = {"id": key, "inputs": [{"name": "x", "datatype": "FP32", "shape": [2], "data": numbers}]}
        try:
            connection.request("POST", "/v2/models/double/infer", json.dumps(body), {"Content-Type": "application/json"})
            answer = connection.getresponse()
            text = answer.read()
        except (OSError, http.client.HTTPException) as error:
            return f"{type(error).__name__}: {error}"
        if answer.status != 200:
            return f"{answer.status} {text[:200]!r}"
        told = json.loads(text)
        if told["id"] != key or told["outputs"][0]["data"] != [2 * n for n in numbers]:
            return f"another's answer: {told}"
        with self.lock:
            if key in self.answered:
                return "answered twice"
            self.answered.add(key)
        return None

    def _look_for_more(self, connection):
        """An answer that nobody waits for."""
        if connection.sock is None:
            return
        connection.sock.setblocking(False)
        try:
            more = connection.sock.recv(1)
        except BlockingIOError:
            return
        if more:
            self.failures.append("an answer came twice")

    def stop(self):
        self.stopped.set()
        for thread in self.threads:
            thread.join()


def phases(servers, clients, seconds):
    one, two, three = servers

    def phase(name):
        clients.phase = name
        time.sleep(seconds / 4)

    phase("nothing happens")
    phase("killed")
    one.kill()
    time.sleep(seconds / 2)
    one.start()
    phase("paused")
    two.pause()
    time.sleep(TIMEOUT + seconds / 2)
    two.go_on()
    two.wait_for_ready()
    phase("link is gone")
    three.link("down")
    time.sleep(seconds / 2)
    three.link("up")
    three.wait_for_ready()
    phase("rolling restart")
    for server in servers:
        server.end()
        server.start()
    time.sleep(seconds / 4)


def at_random(servers, clients, seconds, requests):
    clients.phase, end = "at random", time.monotonic() + seconds
    while time.monotonic() < end and (requests == 0 or len(clients.answered) < requests):
        server, pause = random.choice(servers), random.uniform(0.1, 3)
        fault = random.choice(["kill", "pause", "link", "end"])
        if fault == "kill":
            server.kill()
        elif fault == "end":
            server.end()
        elif fault == "pause":
            server.pause()
        else:
            server.link("down")
        time.sleep(pause)
        if fault in ("kill", "end"):
            server.start()
        elif fault == "pause":
            server.go_on()
        else:
            server.link("up")
        server.wait_for_ready()


def models_in(folder, relayc):
    if relayc is not None:
        os.makedirs(os.path.join(folder, "double/1"))
        source = os.path.join(folder, "double.relay")
        with open(source, "w") as file:
            file.write(MODEL)
        subprocess.run([relayc, "-q", source, "-o", os.path.join(folder, "double/1/model.vmx")], check=True)
        os.unlink(source)
    return folder


def main():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("--server")
    parser.add_argument("--relayc")
    parser.add_argument("--clients", type=int, default=8)
    parser.add_argument("--phase", type=float, default=4)
    parser.add_argument("--random", type=float, default=0)
    parser.add_argument("--requests", type=int, default=0)
    parser.add_argument("--patience", type=float, default=30)
    args = parser.parse_args()
    enter_namespaces()
    command = args.server or f"{shlex.quote(sys.executable)} {shlex.quote(os.path.join(HERE, 'stand_in.py'))}"
    run("ip link set lo up")
    run("ip link add br0 type bridge")
    run("ip address add 10.77.0.254/24 dev br0")
    run("ip link set br0 up")
    with tempfile.TemporaryDirectory() as folder:
        models = models_in(folder, args.relayc if args.server else None)
        servers = [Server(i + 1, command, models, args.patience) for i in range(SERVERS)]
        for server in servers:
            server.start()
        environment = {**os.environ, "RELAYVM_LISTEN": FRONT, "RELAYVM_STATS": STATS, "RELAYVM_TIMEOUT": f"{TIMEOUT}s",
                       **{f"VMSERVE{s.number}": f"10.77.0.{s.number}:8000" for s in servers}}
        proxy = subprocess.Popen(["haproxy", "-db", "-q", "-f", os.path.join(HERE, "haproxy.cfg")], env=environment)
        servers[0].wait_for_proxy()
        clients = Clients(args.clients, args.patience)
        try:
            phases(servers, clients, args.phase)
            if args.random > 0:
                at_random(servers, clients, args.random, args.requests)
        finally:
            clients.stop()
        if proxy.poll() is not None:
            sys.exit(f"HAProxy ended with {proxy.returncode}")
    for name, count in clients.done.items():
        failed = sum(f.startswith(f"{name}: ") for f in clients.failures)
        print(f"{name:18} {count:7} requests, the longest {clients.longest[name]:.2f} s, {failed} failed")
    for failure in clients.failures[:20]:
        print(failure)
    sys.exit(1 if clients.failures else 0)


main()
