#!/usr/bin/python3
"""What vmserve tells of its requests: traces, a collector, the access log, metrics and profiles, as those who read them see it.

usage: run_observed.py BIN_FOLDER EXAMPLES_FOLDER

Closes with the line "N checks passed".
"""
import http.server
import json
import os
import signal
import sys
import tempfile
import threading
import time

import run_serve
from run_serve import Server, check

PARENT = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
BODY = json.dumps({"inputs": [{"name": "numbers", "datatype": "FP32", "shape": [2], "data": [2, 9]}]})


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


def check_requests(server):
    status, body, headers = server.ask("POST", "/v2/models/newton/infer", BODY, {"traceparent": PARENT})
    check(status == 200, body)
    ours = headers["traceparent"].split("-")
    check(ours[1] == PARENT.split("-")[1] and ours[2] != PARENT.split("-")[2], "the answer goes on with the trace")
    _, _, headers = server.ask("POST", "/v2/models/newton/infer", BODY, {"traceparent": "00-bad"})
    check(len(headers["traceparent"]) == 55, "what is malformed begins a new one")
    check(server.ask("GET", "/v2/models/%3Cb%3E%0A", headers={"traceparent": PARENT[:-2] + "00"})[0] == 404, "a name with markup")
    return ours[2]


def check_profile(server):
    path = "/v2/models/newton/profile"
    check(server.ask("GET", path + "?format=chrome")[0] == 404, "nothing was recorded")
    check(server.ask("POST", path + "?requests=2")[0] == 200, "a recording begins")
    for _ in range(3):
        server.ask("POST", "/v2/models/newton/infer", BODY, {"traceparent": PARENT})
    profile = json.loads(server.ask("GET", path)[1])
    recording = profile["recording"]
    check(recording["done"] and recording["runs"] == 2, recording)
    check(recording["kernels"] and recording["kernels"][0]["total_ns"] > 0, "kernels have times")
    trace = json.loads(server.ask("GET", path + "?format=chrome")[1])
    check(any(e["ph"] == "X" for e in trace["traceEvents"]), "slices of a Chrome trace")
    check(str(0x8448eb211c80319c) in json.dumps(trace), "runs have the trace's tag")
    check(server.ask("DELETE", path)[0] == 405, "no other method")
    check(server.ask("POST", "/v2/models/none/profile?requests=1")[0] == 404, "no such model")
    graph = json.loads(server.ask("GET", "/v2/models/newton/graph")[1])
    check(any(n["kind"] == "kernel" for f in graph["functions"] for n in f["nodes"]), "the graph has kernels")


def check_metrics(server):
    text = server.ask("GET", "/metrics", port="metrics")[1].decode()
    for name in ("vmserve_kernel_seconds_total{model=\"newton\"", "vmserve_model_active_runs{model=\"newton\",version=\"3\"} 0",
                 "vmserve_model_constant_bytes{model=\"newton\"", "vmserve_spans_dropped_total 0",
                 "vmserve_access_log_dropped_total 0"):
        check(name in text, name)


def check_log(path, span):
    with open(path, encoding="utf-8") as f:
        lines = [json.loads(line) for line in f]
    first = lines[0]
    check(first["model"] == "newton" and first["code"] == 200 and first["bytes_in"] == len(BODY), first)
    check(first["run_us"] > 0 and first["queued_us"] >= 0 and first["trace"] == PARENT.split("-")[1], first)
    missing = [line for line in lines if line["code"] == 404 and "model" not in line]
    check(missing and missing[0]["path"] == "/v2/models/%3Cb%3E%0A", missing)
    spans = {s["spanId"]: s for s in Collector.spans}
    check(spans[span]["parentSpanId"] == PARENT.split("-")[2] and spans[span]["name"] == "POST newton", spans[span])
    sampled = [line for line in lines if not line["path"].startswith("/v2/models/%3C")]
    paths = sorted(a["value"]["stringValue"] for s in Collector.spans for a in s["attributes"] if a["key"] == "url.path")
    check(paths == sorted(line["path"] for line in sampled), f"a span for each sampled request: {paths}, {sampled}")


def main():
    binary, examples = sys.argv[1:3]
    collector = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Collector)
    threading.Thread(target=collector.serve_forever, daemon=True).start()
    with tempfile.TemporaryDirectory() as folder:
        models, log = os.path.join(folder, "models"), os.path.join(folder, "log")
        run_serve.make_repository(binary, examples, models)
        server = Server(binary, "--models", models, "--cache", os.path.join(folder, "cache"), "--access-log", log,
                        "--otlp-endpoint", f"http://127.0.0.1:{collector.server_address[1]}/v1/traces", "--profile-interval", "1")
        span = check_requests(server)
        check_profile(server)
        check_metrics(server)
        end = time.time() + 10
        while not os.path.getsize(log) and time.time() < end:
            time.sleep(0.05)
        os.rename(log, log + ".1")
        server.process.send_signal(signal.SIGHUP)
        time.sleep(0.2)
        server.ask("GET", "/v2")
        check(server.end() == 0, "it ends")
        with open(log, encoding="utf-8") as f:
            rotated = f.read()
        check("\"/v2\"" in rotated, "SIGHUP opens the log again")
        with open(log + ".1", "a", encoding="utf-8") as f:
            f.write(rotated)
        check_log(log + ".1", span)
    print(f"{run_serve.PASSED} checks passed")


if __name__ == "__main__":
    main()
