"""tvm.testing.aot: what a program gives, to compare with."""
from ..elsewhere import elsewhere
from .. import relay as _relay
from ..contrib import graph_executor as _graph_executor
from ..nd import cpu as _cpu


def generate_ref_data(mod, input_data, params=None, target="llvm"):
    """{"output": array} of a module or function, or output0, output1 ... of several."""
    module = _graph_executor.GraphModule(_relay.build(mod, target, params=params)["default"](_cpu()))
    module.set_input(**input_data)
    module.run()
    results = [module.get_output(i).numpy() for i in range(module.get_num_outputs())]
    return {"output": results[0]} if len(results) == 1 else {f"output{i}": result for i, result in enumerate(results)}


__all__ = ["generate_ref_data"]


def __getattr__(name):
    if name.startswith("__"):
        raise AttributeError(name)
    return elsewhere(f"testing.aot.{name}", "relayc --executor aot makes native code without dependencies")
