"""Errors: each kind made by running a command that causes it, with its remedy."""
import os
import shutil
import tempfile

from . import block

# What is made first, in a folder with the examples.
PROGRAMS = {
    "spelt.relay": "def @main(%x: Tensor[(2, 3), float32]) {\n  nn.rleu(%x)\n}\n",
    "shapes.relay": "def @main(%x: Tensor[(2, 3), float32], %y: Tensor[(4), float32]) {\n  add(%x, %y)\n}\n",
    "deep.relay": ("def @f(%n: int32) -> int32 {\n  if (less(%n, 1)) { 0 } else { add(1, @f(subtract(%n, 1))) }\n}\n"
                   "def @main(%n: int32) -> int32 { @f(%n) }\n"),
    "names.relay": "def @main(%x: Tensor[(?), float32], %y: Tensor[(?), float32]) {\n  add(%x, %y)\n}\n",
}
PREPARE = """
relayc -q newton.onnx -o newton.vmx
relayc -q lists.relay -o lists.vmx
relayc -q lstm.relay --params lstm.npz -o lstm.vmx
relayc -q deep.relay -o deep.vmx
relayc -q names.relay --shape 'x=(n)' --shape 'y=(n)' -o names.vmx
head -c 1000 newton.vmx > short.vmx
printf '\\211PNG\\r\\n\\032\\n' > picture.png
"""
# (title, command, exit code, code of a Status, what to do)
CASES = (
    ("An option that there is not", "relayc newton.onnx --prams x.npz", 1, "",
     "Look for the nearest in the message, or in the tool's [options](tools.md)."),
    ("A file that is not there", "vmrun nothing.vmx", 2, "not found", "Give the right path. In Python this is a `FileNotFoundError` too."),
    ("A file of another kind", "relayc picture.png", 2, "invalid input",
     "The format is told by the content of a file; the message says what it found. [From where you are](../from/index.md) says what relayc reads."),
    ("A damaged or cut file", "vmrun short.vmx --input '[1, 2]'", 2, "invalid input",
     "Make or copy the file again. `vmdump --check FILE` compares the checksums of the weights too."),
    ("An operator that is spelt wrongly", "relayc spelt.relay", 2, "invalid input",
     "The message has file, line and column, and the nearest name."),
    ("Shapes that do not go together", "relayc shapes.relay", 2, "invalid input",
     "The place is that of the call. In an ONNX model it is the node's name."),
    ("A wrong number of inputs", "vmrun lstm.vmx", 1, "invalid argument", "`vmdump FILE` lists the inputs with their types."),
    ("An input of a wrong shape", "vmrun newton.vmx --input 2x2xf32=1", 2, "invalid argument",
     "The message says what the program takes. A dim in brackets, such as `(n)`, is free."),
    ("One name of a dim with two sizes", "vmrun names.vmx --input x=2xf32=1 --input y=3xf32=1", 2, "invalid argument",
     "A name is one size in all inputs. Where the model calls two different sizes by one name, give one of them another name: "
     "`relayc --shape y='(m)'`. See [dynamic batch](../howto/dynamic_batch.md)."),
    ("Too little memory", "vmrun newton.vmx --input 1000000xf32=2 --memory-limit 1MiB", 3, "resource exhausted",
     "Raise the limit. `vmdump FILE --memory` says how much a run takes, as a formula of the input's sizes: [memory limits](../howto/memory_limits.md)."),
    ("Recursion that is too deep", "vmrun deep.vmx --input 100000000 --stack-limit 16MiB", 3, "resource exhausted",
     "Raise `--stack-limit`, or write the recursion so that its call is the last thing that it does: such calls take no stack."),
    ("A run that takes too long", "vmrun newton.vmx --input 1000000xf32=2 --timeout 0.001", 3, "deadline exceeded",
     "Raise the timeout. The run ended in order; the program and the runtime can be used on."),
    ("A result that is not as expected", "vmrun newton.vmx --input newton_numbers.npy --expect newton_more.expected.npz", 4, "",
     "The message says where the first difference is and how large the largest is. `--rtol` and `--atol` set what is allowed."),
)

CODES = (("invalid argument", "InvalidArgument"), ("invalid input", "InvalidInput"), ("unsupported", "Unsupported"), ("not found", "NotFound"),
         ("out of range", "OutOfRange"), ("resource exhausted", "ResourceExhausted"), ("failed precondition", "FailedPrecondition"),
         ("cancelled", "Cancelled"), ("deadline exceeded", "DeadlineExceeded"), ("internal", "InternalError"))


def pages(build):
    text = """# Errors

A tool says on standard error where it was, what it expected, what it found, and ends with an [exit code](tools.md#exit-codes).
In the libraries a failure is a `Status`: a code, a text, and the same as fields (`relayvm_status_code`, `Status::code`); in Python an
exception. What follows was made by running the commands.

| code | C++ | C | Python |
|---|---|---|---|
"""
    for code, python in CODES:
        words = code.split()
        text += f"| {code} | `k{''.join(w.title() for w in words)}` | `RELAYVM_{'_'.join(words).upper()}` | `{python}` |\n"
    text += "\n"
    with tempfile.TemporaryDirectory() as folder:
        copy = shutil.copytree(build.examples, os.path.join(folder, "examples"))
        for name, program in PROGRAMS.items():
            with open(os.path.join(copy, name), "w") as f:
                f.write('#[version = "0.0.5"]\n' + program)
        build.run(PREPARE, copy)
        for title, command, status, kind, remedy in CASES:
            got, said = build.run(command, copy, check=False)
            if got != status:
                raise RuntimeError(f"errors.py: {command}: expected exit {status}, found {got}: {said}")
            text += f"## {title}\n\n{block(command)}\n{block(said.replace(copy + '/', ''), 'output')}\n"
            text += f"Exit code {status}{f', {kind}' if kind else ''}. {remedy}\n\n"
    yield "reference/errors.md", text
