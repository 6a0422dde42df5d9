"""Small models of each format: relayc makes them, vmrun runs them, and what comes out is what their own systems gave.

usage: run_samples.py BIN FOLDER

samples.json says of each model what relayc is told beside it; NAME.in.npz are its inputs, NAME.out.npz the results, as recorded."""
import json
import os
import subprocess
import sys
import tempfile


def main():
    binaries, folder = (os.path.abspath(path) for path in sys.argv[1:3])
    with open(os.path.join(folder, "samples.json")) as file:
        samples = json.load(file)
    failed = 0
    with tempfile.TemporaryDirectory() as temp:
        program = os.path.join(temp, "model.vmx")

        def run(*command):
            done = subprocess.run(command, cwd=folder, capture_output=True, text=True)
            return "" if done.returncode == 0 else f"{os.path.basename(command[0])}: exit status {done.returncode}\n{done.stderr}"

        for sample in samples:
            name = sample["model"].split(".")[0].removesuffix("-symbol")
            inputs = ["--input", f"{name}.in.npz"] if os.path.exists(os.path.join(folder, f"{name}.in.npz")) else []
            problem = run(os.path.join(binaries, "relayc"), sample["model"], "-o", program, *sample["options"])
            problem = problem or run(os.path.join(binaries, "vmrun"), program, *inputs, "--expect", f"{name}.out.npz", "--rtol", "1e-4")
            if problem:
                failed += 1
                print(f"{sample['model']}: {problem}")
    print(f"{len(samples) - failed} of {len(samples)} models")
    sys.exit(1 if failed or not samples else 0)


main()
