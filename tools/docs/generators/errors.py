"""Errors: each kind made by running a command that causes it, with its remedy."""
import os
import re
import shlex
import shutil
import tempfile

from . import PYTHON, block, table

# What is made first, in a folder with the examples.
PROGRAMS = {
    "spelt.relay": "def @main(%x: Tensor[(2, 3), float32]) {\n  nn.rleu(%x)\n}\n",
    "shapes.relay": "def @main(%x: Tensor[(2, 3), float32], %y: Tensor[(4), float32]) {\n  add(%x, %y)\n}\n",
    "deep.relay": ("def @f(%n: int32) -> int32 {\n  if (less(%n, 1)) { 0 } else { add(1, @f(subtract(%n, 1))) }\n}\n"
                   "def @main(%n: int32) -> int32 { @f(%n) }\n"),
    "index.relay": "def @main(%x: Tensor[(?), float32], %i: Tensor[(?), int64]) {\n  take(%x, range_checked(%i, 0i64, 3i64))\n}\n",
    "relu.relay": "def @main(%x: Tensor[(2), float32]) {\n  nn.relu(%x)\n}\n",
    "swish.relay": "def @main(%x: Tensor[(2), float32]) {\n  example.hardswish(%x)\n}\n",
    "names.relay": "def @main(%x: Tensor[(?), float32], %y: Tensor[(?), float32]) {\n  add(%x, %y)\n}\n",
}
PREPARE = """
relayc -q newton.onnx -o newton.vmx
relayc -q lists.relay -o lists.vmx
relayc -q lstm.relay --params lstm.npz -o lstm.vmx
relayc -q deep.relay -o deep.vmx
relayc -q index.relay -o index.vmx
relayc -q relu.relay --executor graph -o relu_graph
relayc -q names.relay --shape 'x=(n)' --shape 'y=(n)' -o names.vmx
head -c 1000 newton.vmx > short.vmx
sed 's/return RELAYVM_KERNEL_OK;/return 7;/' operators/example_operators.c > failing.c
cc -shared -fPIC -I "$TREE" failing.c -o libfailing.so
relayc -q swish.relay --plugin ./libfailing.so -o swish.vmx
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
    ("What nothing here does", "relayc lists.relay --executor graph", 2, "unsupported",
     "The message names what it is, with its place, and often what does it: here the executor `vm`, which is the default. Of models, "
     "`relayc --list-operators FORMAT` lists what is read."),
    ("An index that is out of range", "vmrun index.vmx --input '[1, 2, 3]' --input '[0, 5]'", 3, "out of range",
     "The kernel and the place in the source are named: look at the data. With `--trace-values` the values before it are shown."),
    ("A call at the wrong time", f"{PYTHON} -c 'import relayvm as rvm; rvm.load_graph(\"relu_graph\").get_output(0)'", 1,
     "failed precondition", "Do first what the message says: here, run the graph."),
    ("Too little memory", "vmrun newton.vmx --input 1000000xf32=2 --memory-limit 1MiB", 3, "resource exhausted",
     "Raise the limit. `vmdump FILE --memory` says how much a run takes, as a formula of the input's sizes: [memory limits](../howto/memory_limits.md)."),
    ("Recursion that is too deep", "vmrun deep.vmx --input 100000000 --stack-limit 16MiB", 3, "resource exhausted",
     "Raise `--stack-limit`, or write the recursion so that its call is the last thing that it does: such calls take no stack."),
    ("A run that takes too long", "vmrun newton.vmx --input 1000000xf32=2 --timeout 0.001", 3, "deadline exceeded",
     "Raise the timeout. The run ended in order; the program and the runtime can be used on."),
    ("A run that is cancelled",
     f"{PYTHON} -c 'import relayvm as rvm; g = rvm.load_graph(\"relu_graph\"); g.set_input(0, [1, 2]); g.cancel(); g.run()'", 1,
     "cancelled", "Run it again if its result is still wanted. `cancel` ends the run in progress, from any thread, or else the next one."),
    ("A kernel of your own that fails", "vmrun swish.vmx --plugin ./libfailing.so --input 2xf32=1", 3, "internal",
     "Look for the code in the operator's kernel: it is none of those in `kernel_abi.h`, whose meaning is known "
     "([an operator of your own](../howto/own_operator.md)). Where no kernel of yours is named, the fault is relayvm's: report it, with what "
     "`relayvm doctor` prints."),
    ("A result that is not as expected", "vmrun newton.vmx --input newton_numbers.npy --expect newton_more.expected.npz", 4, "",
     "The message says where the first difference is and how large the largest is. `--rtol` and `--atol` set what is allowed."),
)

# (code, Python's exception, what it means and what to do)
CODES = (("invalid argument", "InvalidArgument", "a caller gave what does not fit the program: give what the message says"),
         ("invalid input", "InvalidInput", "a file or a program is not right: mend it at the place that is named"),
         ("unsupported", "Unsupported", "it is right, but nothing here does it: take the way that the message names"),
         ("not found", "NotFound", "there is no such file, function or name: look for the nearest, which the message has"),
         ("out of range", "OutOfRange", "an index or a size, of data or of a call, is outside of what is there: look at the data"),
         ("resource exhausted", "ResourceExhausted", "a limit of memory, stack, depth or waiting runs was reached: raise it, or ask less at once"),
         ("failed precondition", "FailedPrecondition", "something else has to be done before, or a guard of the program did not hold: the message says what"),
         ("cancelled", "Cancelled", "the caller cancelled the run, or its scheduler ended: run it again if it is still wanted"),
         ("deadline exceeded", "DeadlineExceeded", "the run took longer than its deadline: raise it, or look where time goes (`--profile`)"),
         ("internal", "InternalError", "a fault of relayvm, or of a kernel of your own: report it, with what `relayvm doctor` prints"))


def pages(build):
    text = """# Errors

A tool says on standard error where it was, what it expected, what it found, and ends with an [exit code](tools.md#exit-codes).
In the libraries a failure is a `Status`: a code, a text, and the same as fields (`relayvm_status_code`, `Status::code`); in Python an
exception. What follows was made by running the commands.

"""
    examples = {kind: title for title, _, _, kind, _ in CASES}
    rows = []
    enum = re.search(r"enum class StatusCode : int \{(.*?)\};", build.read("bytecode/base/status.h"), re.S).group(1)
    if len(re.findall(r"^  k\w+", enum, re.M)) != 1 + len(CODES):
        raise RuntimeError("errors.py: CODES are not those of bytecode/base/status.h")
    for code, python, meaning in CODES:
        words = code.split()
        example = f"[{examples[code]}](#{examples[code].lower().replace(' ', '-')})" if code in examples else "-"
        rows.append((code, f"`k{''.join(w.title() for w in words)}`", f"`RELAYVM_{'_'.join(words).upper()}`", f"`{python}`", meaning, example))
    text += table(("code", "C++", "C", "Python", "what it means, and what to do", "example"), rows) + "\n"
    with tempfile.TemporaryDirectory() as folder:
        copy = shutil.copytree(build.examples, os.path.join(folder, "examples"))
        for name, program in PROGRAMS.items():
            with open(os.path.join(copy, name), "w") as f:
                f.write('#[version = "0.0.5"]\n' + program)
        build.run(f"TREE={shlex.quote(build.tree)}\n{PREPARE}", copy)
        for title, command, status, kind, remedy in CASES:
            if command.startswith(PYTHON) and build.package is None:
                continue
            got, said = build.run(command, copy, check=False)
            if got != status:
                raise RuntimeError(f"errors.py: {command}: expected exit {status}, found {got}: {said}")
            for folder_here in (copy, build.package or copy):
                said = said.replace(folder_here + "/", "")
            text += f"## {title}\n\n{block(command)}\n{block(said, 'output')}\n"
            text += f"Exit code {status}{f', {kind}' if kind else ''}. {remedy}\n\n"
    yield "reference/errors.md", text
