#!/usr/bin/python3
"""Holds what the tools write to the JSON Schemas beside this file, and what vmserve takes as a config.json.

usage: check_schemas.py BIN_FOLDER EXAMPLES_FOLDER

The schemas say that members may be added. Here none may be that they do not name: a new one has to be written down. Needs
python3-jsonschema. Closes with the line "N documents are as their schemas say".
"""
import copy
import glob
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time

import jsonschema

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "../serve/tests"))
from run_serve import Server  # noqa: E402

TOOLS = ("relayc", "relayrun", "vmrun", "vmdump", "vmasm", "vmserve", "vmbench", "relayvm")
# A config.json, and whether it is one.
CONFIGS = (
    ({}, True), ({"independent_rows": True, "max_batch": 32, "max_delay_ms": 2.5}, True), ({"max_batch": 0}, False), ({"max_batch": 2**20}, True),
    ({"max_batch": 2**20 + 1}, False), ({"max_batch": "8"}, False), ({"max_delay_ms": 1000}, True), ({"max_delay_ms": 1000.5}, False),
    ({"max_delay_ms": -1}, False), ({"independent_rows": 1}, False), ({"batch": 1}, False), ([], False),
    ({"sequences": {"time_to_live_s": 60, "max_count": 1000, "max_bytes": 1000000000}}, True), ({"sequences": {"time_to_live_s": 0}}, False),
    ({"sequences": {"time_to_live_s": 86401}}, False), ({"sequences": {"max_count": 2**31}}, False), ({"sequences": {"most": 1}}, False),
    ({"sequences": 1}, False), ({"states": {"h=": "g"}}, False), ({"states": {"": "g"}}, False), ({"states": {"h": 1}}, False),
)


def closed(schema):
    """The schema with no members but those that it names."""
    schema = copy.deepcopy(schema)

    def close(part):
        if isinstance(part, dict):
            if isinstance(part.get("properties"), dict):
                part.setdefault("additionalProperties", False)
            for inner in part.values():
                close(inner)
        elif isinstance(part, list):
            for inner in part:
                close(inner)
    close(schema)
    return schema


class Checker:
    def __init__(self, binary, folder):
        self.binary, self.folder, self.count, self.used = binary, folder, 0, set()
        self.validators = {}
        for path in glob.glob(os.path.join(HERE, "*.schema.json")):
            with open(path) as f:
                schema = json.load(f)
            jsonschema.Draft202012Validator.check_schema(schema)
            self.validators[os.path.basename(path)[:-len(".schema.json")]] = jsonschema.Draft202012Validator(closed(schema))

    def check(self, name, document, what):
        self.used.add(name)
        errors = [f"{'/'.join(map(str, e.absolute_path))}: {e.message}"[:400] for e in self.validators[name].iter_errors(document)]
        assert not errors, f"{what} is not as {name}.schema.json says: {errors[0]}"
        self.count += 1
        return document

    def refuses(self, name, document):
        return not self.validators[name].is_valid(document)

    def run(self, *command):
        done = subprocess.run([os.path.join(self.binary, command[0]), *command[1:]], cwd=self.folder, capture_output=True, text=True)
        assert done.returncode == 0, f"{command}: {done.stderr}"
        return done.stdout

    def said(self, name, *command):
        return self.check(name, json.loads(self.run(*command)), " ".join(command))

    def file(self, name, path):
        with open(os.path.join(self.folder, path)) as f:
            return self.check(name, json.load(f), path)


def check_runs(checker):
    run = checker.run
    for name, options in (("newton.onnx", []), ("lists.relay", []), ("lstm.relay", ["--params", "lstm.npz"]), ("while_loop.relay", []),
                          ("newton.onnx", ["--state", "numbers=roots"]), ("newton.onnx", [])):
        run("relayc", "-q", name, *options, "-o", name.split(".")[0] + ".vmx")
        checker.said("vmdump", "vmdump", name.split(".")[0] + ".vmx", "--json", "--bytecode", "--kernels", "--memory", "--constants", "--regions")
    newton = ("newton.vmx", "--input", "newton_numbers.npy", "--json")
    checker.said("value", "vmrun", *newton)
    checker.said("value", "relayrun", "newton.onnx", "--input", "newton_numbers.npy", "--json")
    checker.said("value", "vmrun", "lists.vmx", "--input", "Cons(1, Cons(2, Nil))", "--json")
    checker.said("value", "vmrun", "newton.vmx", "--input", "2000xf32=2", "--json")
    for words in (["--repeat", "3"], ["--stats"], ["--profile"], ["--repeat", "3", "--stats", "--profile"]):
        report = checker.said("run_report", "vmrun", *newton, *words)
        assert ("times" in report) == ("--repeat" in words) and ("stats" in report) == ("--stats" in words), words
    run("vmrun", "newton.vmx", "--input", "newton_numbers.npy", "--trace", "trace.json")
    run("vmrun", "newton.vmx", "--input", "newton_numbers.npy", "--profile", "profile.json")
    checker.file("trace", "trace.json")
    checker.file("trace", "profile.json")
    # What the schemas are for: a document that is another is refused.
    assert checker.refuses("value", {"dtype": "float32", "shape": [1]}) and checker.refuses("run_report", {"result": {}, "times": 1})
    assert checker.refuses("vmdump", {"format": "1", "bytecode_version": 1, "program": {}})


def check_values(checker):
    """Elements of each form that JSON has, and those that it lacks."""
    for text in ("float32=nan", "float32=inf", "bool=True", "int8=-3", "float64=1e300"):
        dtype, number = text.split("=")
        with open(os.path.join(checker.folder, "one.relay"), "w") as f:
            f.write(f'#[version = "0.0.5"]\ndef @main(%x: Tensor[(2), {dtype}]) {{ (%x,) }}\n')
        checker.said("value", "relayrun", "one.relay", "--input", f"[{number}, {number}]", "--json")


def check_server(checker):
    repository = os.path.join(checker.folder, "models")
    with open(os.path.join(checker.folder, "rows.relay"), "w") as f:
        f.write('#[version = "0.0.5"]\ndef @main(%x: Tensor[(?, 2), float32]) { nn.relu(%x) }\n')
    checker.run("relayc", "-q", "rows.relay", "-o", "rows.vmx")
    for i, (config, _) in enumerate(CONFIGS):
        os.makedirs(os.path.join(repository, f"m{i}", "1"))
        shutil.copy(os.path.join(checker.folder, "rows.vmx"), os.path.join(repository, f"m{i}", "1", "model.vmx"))
        with open(os.path.join(repository, f"m{i}", "config.json"), "w") as f:
            json.dump(config, f)
    log = os.path.join(checker.folder, "access.log")
    server = Server(checker.binary, "--models", repository, "--access-log", log)
    try:
        index = json.loads(server.ask("POST", "/v2/repository/index")[1])
        ready = {model["name"]: model["state"] == "READY" for model in index}
        for i, (config, good) in enumerate(CONFIGS):
            assert ready.get(f"m{i}", False) == good, f"vmserve: {config}: expected {'READY' if good else 'a refusal'}, found {index}"
            assert checker.refuses("model_config", config) != good, f"model_config.schema.json: {config}"
            checker.count += 1
        status, _ = server.infer("m0", [{"name": "x", "shape": [1, 2], "datatype": "FP32", "data": [4, -4]}])
        assert status == 200
        server.ask("GET", "/nothing%0a")
    finally:
        server.end()
    end = time.time() + 10
    while not os.path.getsize(log) and time.time() < end:
        time.sleep(0.1)
    with open(log) as f:
        lines = [checker.check("access_log", json.loads(line), "a line of the access log") for line in f]
    assert any("run_us" in line for line in lines) and any("run_us" not in line for line in lines), lines


def main():
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    os.environ["RELAYVM_CACHE"] = "off"
    with tempfile.TemporaryDirectory() as folder:
        copied = shutil.copytree(sys.argv[2], os.path.join(folder, "examples"))
        checker = Checker(os.path.abspath(sys.argv[1]), copied)
        for tool in TOOLS:
            checker.said("help", tool, "--help-json")
        checker.said("doctor", "relayvm", "doctor", "--json")
        check_runs(checker)
        check_values(checker)
        check_server(checker)
        checker.used.add("model_config")
        unused = sorted(set(checker.validators) - checker.used)
        assert not unused, f"schemas that nothing is held to: {', '.join(unused)}"
        print(f"{checker.count} documents are as their schemas say")


if __name__ == "__main__":
    main()
