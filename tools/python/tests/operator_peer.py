"""Run by a Python that has TVM: what TVM gives for the calls of a folder (test_operator_docs.py writes them), as NAME.npz or NAME.txt."""
import json
import platform
import sys

import numpy as np
import tvm
from tvm import relay


TARGET = "llvm -mtriple=%s-unknown-linux-gnu" % platform.machine()


def function(name):
    found = relay
    for part in name.replace("qnn.", "qnn.op.").split("."):
        found = getattr(found, part)
    return found


def computed(call, arrays):
    variables, at = [], 0

    def operand(field):
        if isinstance(field, list):
            return relay.Tuple([operand(x) for x in field])
        array = arrays[field]
        variables.append(relay.var("x%d" % len(variables), shape=array.shape, dtype=str(array.dtype)))
        return variables[-1]
    operands = {name: operand(field) for name, field in call["operands"]}
    if call["by_name"]:
        made = function(call["name"])(**operands, **call["attrs"])
    else:
        made = function(call["name"])(*operands.values(), **call["attrs"])
    if not isinstance(made, relay.Expr):
        made = made.astuple()
    mod = tvm.IRModule.from_expr(relay.Function(variables, made))
    result = relay.create_executor("vm", mod, tvm.cpu(), TARGET).evaluate()(*[arrays[i] for i in range(len(variables))])
    return [x.numpy() for x in result] if not hasattr(result, "numpy") else [result.numpy()]


def main(folder):
    with open(folder + "/calls.json") as f:
        calls = json.load(f)
    for call in calls:
        stored = np.load("%s/%s.in.npz" % (folder, call["name"]))
        try:
            results = computed(call, [stored[str(i)] for i in range(len(stored.files))])
            np.savez("%s/%s.npz" % (folder, call["name"]), **{str(i): r for i, r in enumerate(results)})
        except Exception as error:  # what TVM cannot do is said, not tested
            with open("%s/%s.txt" % (folder, call["name"]), "w") as f:
                f.write(str(error).strip().splitlines()[-1] if str(error).strip() else repr(error))


if __name__ == "__main__":
    main(sys.argv[1])
