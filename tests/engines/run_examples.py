#!/usr/bin/python3
"""Programs whose regions run on the example engines (tools/examples/engines), against the native kernels of the same files.

usage: run_examples.py BIN ENGINES EXAMPLES
"""
import os
import subprocess
import sys
import tempfile

BIN, ENGINES, EXAMPLES = map(os.path.abspath, sys.argv[1:])

# Engine, parameters, result, inputs.
PROGRAMS = [
    ("blas", "%x: Tensor[(?, 3), float32], %b: Tensor[(2), float32]",
     "let %w = full(0.5f, shape=[2, 3], dtype=\"float32\"); erf(nn.bias_add(nn.dense(%x, %w, units=2), %b))",
     ["x=[[1,2,3],[-1,0,0]]", "b=[0.5,-1]"]),
    ("blas", "%x: Tensor[(2, ?, 4), float32], %y: Tensor[(2, 5, 4), float32]",
     "let %s = nn.batch_matmul(%x, %y, transpose_b=True); nn.batch_matmul(nn.softmax(%s), %y, transpose_b=False)",
     ["x=2x3x4xf32=random", "y=2x5x4xf32=random"]),
    ("blas", "%x: Tensor[(3, ?), float32], %y: Tensor[(3, 5), float32]",
     "let %p = nn.matmul(%x, %y, transpose_a=True); (%p, nn.relu(nn.dense(%p, %p, units=None)))", ["x=3x4xf32=random", "y=3x5xf32=random"]),
    ("ccompiler", "%x: Tensor[(?, 3), float32], %y: Tensor[(3), float32]", "tanh(add(multiply(subtract(%x, %y), %x), %y))",
     ["x=[[1,2,3],[-1,0,0]]", "y=[1,2,4]"]),
    ("ccompiler", "%x: Tensor[(?, 4, 1), float32], %y: Tensor[(1, 5), float32], %z: Tensor[(4, 5), float32]",
     "let %s = multiply(%x, %x); let %a = add(multiply(%s, %z), %y); (subtract(%a, %y), %s)",
     ["x=2x4x1xf32=random", "y=1x5xf32=random", "z=4x5xf32=random"]),
]


def tool(name, *arguments):
    done = subprocess.run([os.path.join(BIN, name), *arguments], capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"{name} {' '.join(arguments)}\n{done.stdout}{done.stderr}")
    return done


def main():
    missing = set()
    with tempfile.TemporaryDirectory() as folder:
        for number, (engine, params, body, inputs) in enumerate(PROGRAMS):
            program, built = (os.path.join(folder, f"{number}{end}") for end in (".relay", ".vmx"))
            with open(program, "w") as f:
                f.write(f'#[version = "0.0.5"]\ndef @main({params}) {{ {body} }}\n')
            rules = os.path.join(EXAMPLES, engine, f"{engine}.relay")
            tool("relayc", program, "-q", "--byoc", engine, "--byoc-rules", rules, "-o", built)
            given = [a for i in inputs for a in ("--input", i)]
            native = os.path.join(folder, "native.npz")
            tool("vmrun", built, "--no-byoc", *given, "--output", native)
            library = f"{engine}={ENGINES}/librelayvm_{engine}.so"
            done = tool("vmrun", built, "--engine", library, *given, "--expect", native, "--profile")
            if "note: loaded without regions" in done.stderr:
                missing.add(engine)
                print(done.stderr)
                continue
            assert f"_{engine}_" in done.stdout + done.stderr, f"no region of {engine} ran:\n{done.stdout}{done.stderr}"
            print(f"{engine}: {body}")
    if len(missing) == len({p[0] for p in PROGRAMS}):
        sys.exit(77)


main()
