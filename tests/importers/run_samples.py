"""Small models of each format: relayc makes them, vmrun runs them, and what comes out is what their own systems gave.

usage: run_samples.py BIN FOLDER|ARCHIVE.zip

samples.json says of each model what relayc is told beside it, and how near its results must be; NAME.in.npz are its inputs, NAME.out.npz the
results, as recorded. An archive holds the operators of a format; make_FORMAT.py, which needs the system itself, writes it."""
import concurrent.futures
import json
import os
import subprocess
import sys
import tempfile
import zipfile


def run_sample(sample, binaries, folder, temp):
    """What is wrong with it; nothing where nothing is."""
    name = sample["model"].rsplit(".", 1)[0].removesuffix("-symbol")
    program = os.path.join(temp, f"{name}.vmx")

    def run(*command):
        done = subprocess.run(command, cwd=folder, capture_output=True, text=True)
        return "" if done.returncode == 0 else f"{os.path.basename(command[0])}: exit status {done.returncode}\n{done.stderr}"

    inputs = ["--input", f"{name}.in.npz"] if os.path.exists(os.path.join(folder, f"{name}.in.npz")) else []
    near = ["--rtol", str(sample.get("rtol", 1e-4))] + (["--atol", str(sample["atol"])] if "atol" in sample else [])
    problem = run(os.path.join(binaries, "relayc"), sample["model"], "-o", program, *sample.get("options", []))
    problem = problem or run(os.path.join(binaries, "vmrun"), program, *inputs, "--expect", f"{name}.out.npz", *near)
    return f"{sample['model']}: {problem}" if problem else ""


def main():
    binaries, folder = (os.path.abspath(path) for path in sys.argv[1:3])
    with tempfile.TemporaryDirectory() as temp, concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        if folder.endswith(".zip"):
            with zipfile.ZipFile(folder) as archive:
                folder = os.path.join(temp, "models")
                archive.extractall(folder)
        with open(os.path.join(folder, "samples.json")) as file:
            samples = json.load(file)
        problems = [problem for problem in pool.map(lambda sample: run_sample(sample, binaries, folder, temp), samples) if problem]
    print("\n".join(problems))
    print(f"{len(samples) - len(problems)} of {len(samples)} models")
    sys.exit(1 if problems or not samples else 0)


main()
