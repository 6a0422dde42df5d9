#!/usr/bin/python3
"""Schemathesis against vmserve, by the description that the server itself gives: what is sent by it is answered by it.

usage: run_openapi.py BIN_FOLDER EXAMPLES_FOLDER CLIENTS_FOLDER [--seconds N] [--seed 1] [--server VMSERVE]

Schemathesis is RELAYVM_CLIENT_PYTHON's, where that is set, else it is installed into a virtual environment below CLIENTS_FOLDER; where no
registry answers the test is skipped (exit status 77). Each operation is asked its examples and what lies at the bounds of its schema; with
--seconds paths with a version, made-up requests and chains of them follow, for so long. Closes with the line "N cases".
"""
import argparse
import json
import os
import re
import subprocess
import sys
import tempfile

import client_environment
import run_serve
from run_serve import Server, check

REQUIREMENTS = ["schemathesis==4.32.5"]
SKIPPED = 77
# A model that is there. A deadline of no time, or no memory now, is no fault of the server; and a description of all models cannot say what
# one of them takes: shapes, inputs' names.
CONFIGURATION = """
[parameters]
"path.model" = "newton"
"path.version" = "3"

[checks.not_a_server_error]
expected-statuses = ["2xx", "3xx", "4xx", "503", "504"]

[checks.positive_data_acceptance]
expected-statuses = ["2xx", "400", "404", "409", "503", "504"]
"""


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("binary")
    parser.add_argument("examples")
    parser.add_argument("clients")
    parser.add_argument("--seconds", type=int)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--server")
    args = parser.parse_args()
    try:
        python = os.environ.get("RELAYVM_CLIENT_PYTHON") or client_environment.python_with(args.clients, REQUIREMENTS)
    except client_environment.Unavailable as why:
        print(f"without schemathesis: {why}")
        return SKIPPED
    with tempfile.TemporaryDirectory() as folder:
        models = os.path.join(folder, "models")
        run_serve.make_repository(args.binary, args.examples, models)
        server = Server(args.binary, "--models", models, "--cache", os.path.join(folder, "cache"), "--run-memory-limit", "64MiB", "--timeout", "5",
                        program=args.server)
        try:
            address = f"http://127.0.0.1:{server.ports['http']}"
            with open(os.path.join(folder, "schemathesis.toml"), "w", encoding="utf-8") as f:
                f.write(CONFIGURATION)
            command = [os.path.join(os.path.dirname(python), "schemathesis"), "--config-file", f.name, "run", address + "/openapi.json",
                       "--seed", str(args.seed), "--no-color", "--warnings", "off"]
            command += ["--max-time", str(args.seconds)] if args.seconds else ["--phases", "examples,coverage", "--exclude-path-regex", "/versions/"]
            done = subprocess.run(command, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False,
                                  timeout=(args.seconds or 0) * 5 + 600)
            check(done.returncode == 0, done.stdout)
            cases, tested = (re.search(rf"{before}(\d+){behind}", done.stdout) for before, behind in (("", " generated"), ("Tested: +", "")))
            check(cases and tested and int(cases[1]) > 100, done.stdout)
            # It does not ask for the description again, which it has read.
            paths = json.loads(server.ask("GET", "/openapi.json")[1])["paths"]
            expected = sum(len(item) - ("parameters" in item) for path, item in paths.items()
                           if path != "/openapi.json" and (args.seconds or "/versions/" not in path))
            check(int(tested[1]) == expected, done.stdout)
            check(server.ask("GET", "/v2/health/ready")[0] == 200, "the server goes on")
            check(server.end() == 0, "and ends when it is told")
        finally:
            server.process.kill()
    print(f"{cases[1]} cases")
    return 0


if __name__ == "__main__":
    sys.exit(main())
