#!/usr/bin/python3
"""Schemathesis against vmserve, by the description that the server itself gives: what is sent by it is answered by it.

usage: run_openapi.py BIN_FOLDER EXAMPLES_FOLDER CLIENTS_FOLDER [--seconds 12] [--seed 1] [--server VMSERVE]

Schemathesis is RELAYVM_CLIENT_PYTHON's, where that is set, else it is installed into a virtual environment below CLIENTS_FOLDER; where no
registry answers the test is skipped (exit status 77). Closes with the line "N cases".
"""
import argparse
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile

import client_environment
import run_serve
from run_serve import Server, check

REQUIREMENTS = ["schemathesis==4.32.5"]
SKIPPED = 77
# Names that lead to models, beside those that it makes up, and what a description of all models cannot say: shapes, inputs' names.
CONFIGURATION = """
[parameters]
"path.model" = ["newton", "while_loop", "lstm", "none", "a/b %", "stats"]
"path.version" = ["1", "3", "7", "x y"]

[checks.positive_data_acceptance]
expected-statuses = ["2xx", "400", "404", "409", "503", "504"]
"""


def compiled(binary, examples, folder):
    run_serve.make_repository(binary, examples, folder)
    # A model's name in a path is text like any other.
    shutil.copytree(os.path.join(folder, "while_loop"), os.path.join(folder, "stats"))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("binary")
    parser.add_argument("examples")
    parser.add_argument("clients")
    parser.add_argument("--seconds", type=int, default=12)
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
        compiled(args.binary, args.examples, models)
        server = Server(args.binary, "--models", models, "--cache", os.path.join(folder, "cache"), "--run-memory-limit", "64MiB", "--timeout", "5",
                        program=args.server)
        try:
            address = f"http://127.0.0.1:{server.ports['http']}"
            with open(os.path.join(folder, "schemathesis.toml"), "w", encoding="utf-8") as f:
                f.write(CONFIGURATION)
            command = [os.path.join(os.path.dirname(python), "schemathesis"), "--config-file", f.name, "run", address + "/openapi.json",
                       "--max-time", str(args.seconds), "--seed", str(args.seed), "--no-color", "--warnings", "off"]
            done = subprocess.run(command, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False,
                                  timeout=600)
            check(done.returncode == 0, done.stdout)
            cases = int(re.search(r"(\d+) generated", done.stdout)[1])
            check(cases > 100, done.stdout)
            description = json.loads(server.ask("GET", "/openapi.json")[1])
            tested = int(re.search(r"Tested: (\d+)", done.stdout)[1])
            check(tested == sum(len(item) - ("parameters" in item) for item in description["paths"].values()), done.stdout)
            check(server.ask("GET", "/v2/health/ready")[0] == 200, "the server goes on")
            check(server.end() == 0, "and ends when it is told")
        finally:
            server.process.kill()
    print(f"{cases} cases")
    return 0


if __name__ == "__main__":
    sys.exit(main())
