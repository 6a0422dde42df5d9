"""As much of vmserve's command line and protocol as the test of haproxy.cfg needs, where vmserve is not built: doubles x.

usage: stand_in.py --models DIR --host H --http-port P
On SIGTERM it is not ready, answers what it has and what still comes for a second, and ends.
"""
import argparse
import json
import os
import signal
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

draining = threading.Event()
running = 0
lock = threading.Lock()


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True

    def answer(self, status, body):
        data = json.dumps(body).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def do_GET(self):
        ready = self.path != "/v2/health/ready" or not draining.is_set()
        self.answer(200 if ready else 503, {"ready": ready})

    def do_POST(self):
        global running
        with lock:
            running += 1
        try:
            asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            x = asked["inputs"][0]
            time.sleep(0.002)
            y = {"name": "output_0", "datatype": x["datatype"], "shape": x["shape"], "data": [2 * v for v in x["data"]]}
            self.answer(200, {"model_name": "double", "id": asked["id"], "outputs": [y]})
        finally:
            with lock:
                running -= 1

    def log_message(self, *args):
        pass


class Server(ThreadingHTTPServer):
    def handle_error(self, request, client_address):
        """Who asked is gone."""

    request_queue_size = 1024
    daemon_threads = True


def drain(*_):
    draining.set()
    threading.Thread(target=end).start()


def end():
    time.sleep(1)
    for _ in range(3000):
        with lock:
            if running == 0:
                os._exit(0)
        time.sleep(0.01)
    os._exit(1)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--models", required=True)
    parser.add_argument("--host", default="127.0.0.1")
    parser.add_argument("--http-port", type=int, default=8000)
    args, _ = parser.parse_known_args()
    signal.signal(signal.SIGTERM, drain)
    Server((args.host, args.http_port), Handler).serve_forever()


main()
