#!/usr/bin/python3
"""The trained models among the examples (g2p, stories) against their golden results, where their public weights are at hand.

usage: run_trained_models.py BIN_FOLDER EXAMPLES_FOLDER MODELS_FOLDER
MODELS_FOLDER holds g2p/{checkpoint20.npz, golden.json} and stories260K/{stories260K.bin, tok512.bin}. Where it does not exist
this says so and passes. Closes with the line "N passed, N failed".
"""
import json
import os
import subprocess
import sys
import tempfile

ZOO = ("Zoo was a little girl named Lily. She loved to play outside in the park. One day, she saw a big, red ball. "
       "She wanted to play with it, but she didn't want to play with")
EMPTY = ("Once upon a time, there was a little girl named Lily. She loved to play outside in the park. One day, she saw a big, "
         "red ball. She wanted to play with it, but it was too high")


def call(*command):
    p = subprocess.run(command, capture_output=True, text=True, timeout=300)
    if p.returncode != 0:
        sys.exit(f"{' '.join(command)}: exit {p.returncode}: {p.stderr}")
    return p.stdout.strip()


def main():
    if len(sys.argv) != 4:
        sys.exit(__doc__)
    binary, examples, models = sys.argv[1:]
    g2p, stories = os.path.join(models, "g2p"), os.path.join(models, "stories260K")
    if not os.path.isdir(g2p) or not os.path.isdir(stories):
        print(f"skipped: the weights are not here ({models})")
        return 0
    passed = failed = 0

    def compare(what, got, expected):
        nonlocal passed, failed
        passed += got == expected
        failed += got != expected
        if got != expected:
            print(f"{what}: {got}\n    expected {expected}")

    with tempfile.TemporaryDirectory() as folder:
        def compiled(name, weights):
            script = os.path.join(examples, name + ".py")
            params, vmx = os.path.join(folder, name + ".npz"), os.path.join(folder, name + ".vmx")
            call("/usr/bin/python3", script, "weights", weights, params)
            call(os.path.join(binary, "relayc"), os.path.join(examples, name + ".relay"), "--params", params, "-o", vmx)
            return script, vmx

        def tokens(vmx, *inputs):
            args = [a for i in inputs for a in ("--input", i)]
            return json.loads(call(os.path.join(binary, "vmrun"), vmx, "--json", *args))["data"]

        script, vmx = compiled("g2p", os.path.join(g2p, "checkpoint20.npz"))
        for golden in json.load(open(os.path.join(g2p, "golden.json"))):
            letters = call("/usr/bin/python3", script, "letters", golden["word"])
            compare(golden["word"], tokens(vmx, letters), golden["ids"])
        script, vmx = compiled("stories", os.path.join(stories, "stories260K.bin"))
        tokenizer = os.path.join(stories, "tok512.bin")
        for prompt, text in (("Zoo", ZOO), ("", EMPTY)):
            start = call("/usr/bin/python3", script, "encode", tokenizer, prompt)
            result = tokens(vmx, start, "60")
            compare(f"stories from '{prompt}'", call("/usr/bin/python3", script, "decode", tokenizer, *map(str, result)), text)
    print(f"{passed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
