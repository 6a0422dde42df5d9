"""One of the systems that python_overheads.py asks: `overhead_peer.py SYSTEM MODEL FOLDER`, under the interpreter that has it.

For each line of standard input it measures a round of each of its calls and prints {call: microseconds} as JSON; the first line that it
prints says {call: result} of one call each, or {"absent": why}. Runs under Python 3.8 too, which TVM has.
"""
import json
import os
import statistics
import sys
import time

for name in ("OMP_NUM_THREADS", "TVM_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[name] = "1"

import numpy as np  # noqa: E402


def inputs_of(folder, model):
    with np.load(os.path.join(folder, model + ".npz")) as arrays:
        return {name: arrays[name] for name in sorted(arrays.files) if name[0] != "w"}, \
               {name: arrays[name] for name in sorted(arrays.files) if name[0] == "w"}


def text_of(folder, model):
    with open(os.path.join(folder, model + ".relay")) as f:
        return f.read()


def relayvm_calls(folder, model):
    """rvm's model(...), and the session of relayvm.onnx."""
    import relayvm as rvm
    inputs, _ = inputs_of(folder, model)
    called = rvm.load(os.path.join(folder, model + ".vmx"), runtime=rvm.Runtime(1))
    given = list(inputs.values())
    out = np.empty_like(called(*given))
    calls = {"model(x)": lambda: called(*given), "model(x, out=y)": lambda: called(*given, out=out)}
    if os.path.exists(os.path.join(folder, model + ".onnx")):
        import relayvm.onnx as ort
        calls.update(session_calls(ort, folder, model))
    return calls


def session_calls(ort, folder, model):
    """ONNX Runtime's API, its own or ours."""
    inputs, _ = inputs_of(folder, model)
    options = ort.SessionOptions()
    options.intra_op_num_threads = 1
    session = ort.InferenceSession(os.path.join(folder, model + ".onnx"), options, providers=["CPUExecutionProvider"])
    values = {name: ort.OrtValue.ortvalue_from_numpy(one) for name, one in inputs.items()}
    y = ort.OrtValue.ortvalue_from_numpy(np.zeros_like(session.run(None, inputs)[0]))
    binding, bound = session.io_binding(), session.io_binding()
    for name, one in inputs.items():
        binding.bind_cpu_input(name, one)
        bound.bind_ortvalue_input(name, values[name])
    binding.bind_output("y")
    bound.bind_ortvalue_output("y", y)

    def by_binding(which):
        session.run_with_iobinding(which)
        return which.get_outputs()[0].numpy()

    return {"session.run(None, feed)": lambda: session.run(None, inputs)[0], "session.run, OrtValues": lambda: session.run(None, values)[0],
            "run_with_ort_values": lambda: session.run_with_ort_values(["y"], values)[0].numpy(),
            "io binding, new output": lambda: by_binding(binding), "io binding, bound output": lambda: by_binding(bound)}


def onnxruntime_calls(folder, model):
    import onnxruntime as ort
    return session_calls(ort, folder, model)


def tvm_calls(folder, model):
    """The graph executor and the VM."""
    import tvm
    from tvm import relay
    from tvm.contrib import graph_executor
    inputs, _ = inputs_of(folder, model)
    target, device = os.environ.get("TVM_TARGET", "llvm"), tvm.cpu()
    module = tvm.parser.parse(text_of(folder, model)) if hasattr(tvm, "parser") else tvm.relay.fromtext(text_of(folder, model))
    weights = {name: tvm.nd.array(one) for name, one in inputs_of(folder, model)[1].items()}
    with tvm.transform.PassContext(opt_level=3):
        built = relay.build(module, target=target, params=weights)
        executable = relay.vm.compile(module, target=target, params=weights)
    graph = graph_executor.GraphModule(built["default"](device))
    machine = tvm.runtime.vm.VirtualMachine(executable, device)
    arrays = [tvm.nd.array(one) for one in inputs.values()]

    def run_graph():
        graph.set_input(**inputs)
        graph.run()
        return graph.get_output(0).numpy()

    def run_only():
        graph.run()
        return graph.get_output(0)

    run_graph()
    return {"graph_executor: set_input, run, get_output": run_graph, "graph_executor: run, get_output": run_only,
            "VirtualMachine.invoke": lambda: machine.invoke("main", *arrays)}


def torch_calls(folder, model):
    """Eager PyTorch, torch.compile, and torch.compile with our backend where relayvm is there."""
    import torch
    torch.set_num_threads(1)
    inputs, weights = inputs_of(folder, model)
    given, layers = [torch.from_numpy(one) for one in inputs.values()], [torch.from_numpy(one) for one in weights.values()]

    class Model(torch.nn.Module):
        def __init__(self):
            super().__init__()
            for i, one in enumerate(layers):
                self.register_buffer("w%d" % i, one)

        def forward(self, x, *rest):
            if model == "relu":
                return torch.relu(x)
            if model == "add":
                return x + rest[0]
            for i in range(len(layers)):
                x = torch.relu(torch.nn.functional.linear(x, getattr(self, "w%d" % i)))
            return x

    calls = {"eager": Model().eval()}
    for name, backend in (("torch.compile", "inductor"), ("torch.compile, relayvm.torch", None)):
        try:
            if backend is None:
                import relayvm.torch
                backend = relayvm.torch.backend
            calls[name] = torch.compile(Model().eval(), backend=backend)
            with torch.no_grad():
                calls[name](*given)
        except Exception as error:  # noqa: BLE001 (no compiler here, or no relayvm)
            calls.pop(name, None)
            print("%s: %s" % (name, str(error).splitlines()[0]), file=sys.stderr)

    def without_gradients(call):
        def run():
            with torch.no_grad():
                return call(*given)
        return run

    return {name: without_gradients(call) for name, call in calls.items()}


def measured(call):
    """Microseconds of a call: the median of some 10 ms of batches of 20, so that who else uses the machine counts little."""
    end, batches = time.perf_counter() + 0.01, []
    while not batches or time.perf_counter() < end:
        begin = time.perf_counter()
        for _ in range(20):
            call()
        batches.append((time.perf_counter() - begin) / 20)
    return statistics.median(batches) * 1e6


def main():
    system, model, folder = sys.argv[1:]
    try:
        calls = {"relayvm": relayvm_calls, "onnxruntime": onnxruntime_calls, "tvm": tvm_calls, "torch": torch_calls}[system](folder, model)
    except ImportError as error:
        print(json.dumps({"absent": str(error)}), flush=True)
        return
    results = {}
    for name, call in calls.items():
        y = call()
        results[name] = np.asarray(y.numpy() if hasattr(y, "numpy") else y).reshape(-1).tolist()
    print(json.dumps(results), flush=True)
    for _ in sys.stdin:
        print(json.dumps({name: measured(call) for name, call in calls.items()}), flush=True)


if __name__ == "__main__":
    main()
