"""tvm.driver.tvmc.runner: runs of a `TVMCPackage`."""
import numpy

from ...contrib.graph_executor import GraphModule
from ...nd import device as _device
from .model import TVMCException, TVMCResult

_FILLS = {"random": lambda shape: numpy.random.uniform(size=shape), "zeros": numpy.zeros, "ones": numpy.ones,
          "arange": lambda shape: numpy.arange(numpy.prod(shape, dtype=int)).reshape(shape)}


def make_inputs_dict(shape_dict, dtype_dict, inputs=None, fill_mode="random"):
    """Arrays for all inputs: those that are given, others by fill_mode."""
    if fill_mode not in _FILLS:
        raise TVMCException(f"fill_mode: expected one of {', '.join(_FILLS)}, found {fill_mode}")
    others = [name for name in inputs or {} if name not in shape_dict]
    if others:
        raise TVMCException(f"there is no input {', '.join(others)}; there are {', '.join(shape_dict)}")
    made = {}
    for name, shape in shape_dict.items():
        if inputs and name in inputs:
            made[name] = numpy.asarray(inputs[name])
        elif not all(isinstance(d, int) for d in shape):
            raise TVMCException(f"{name} has the shape {tuple(shape)}: give it in inputs")
        else:
            made[name] = _FILLS[fill_mode](tuple(shape)).astype(dtype_dict[name])
    return made


def run_module(tvmc_package, device, hostname=None, port=9090, rpc_key=None, inputs=None, fill_mode="random", benchmark=False, repeat=10, number=10,
               profile=False, end_to_end=False, options=None):
    """A `TVMCResult` of one run, and of `repeat` times `number` more for the times, where they are asked for.

    inputs: arrays by name; others are made up by fill_mode: random, zeros, ones, arange.
    """
    if hostname is not None:
        raise TVMCException("run: programs run here; vmserve serves them to other machines")
    run = tvmc_package.lib["default"](_device(device if device != "cpu" else "llvm"))
    module = GraphModule(run)
    arguments = run.library.model.inputs
    given = make_inputs_dict({a.name: a.shape for a in arguments}, {a.name: a.dtype for a in arguments}, inputs, fill_mode)
    module.run(**given)
    outputs = {f"output_{i}": module.get_output(i).numpy() for i in range(module.get_num_outputs())}
    times = module.benchmark(_device("llvm"), number=number, repeat=repeat, end_to_end=end_to_end)
    return TVMCResult(outputs, times)


__all__ = ["make_inputs_dict", "run_module"]
