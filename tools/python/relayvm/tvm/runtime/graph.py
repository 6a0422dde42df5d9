"""Programs with inputs that stay set: what lib["default"](device) gives, and contrib.graph_executor wraps."""
import numpy

from ...compiler import Module as Program
from ...model import _flatten
from ..ir.container import Map
from ..nd import array
from ..values import wrapped
from .container import ShapeTuple, String
from .module import Module


class GraphRun(Module):
    """A program with its inputs. It runs any program, those with control flow and open dims too."""

    type_key = "GraphExecutor"

    def __init__(self, library):
        self.library, self._model, self._outputs = library, library.model, None
        self._arguments = self._model.inputs
        self._inputs = [None] * len(self._arguments)
        self._outs = {}  # arrays that runs write to, by the output's number

    def _functions(self):
        names = ("set_input", "set_input_zero_copy", "get_input", "get_input_index", "get_input_info", "get_num_inputs", "get_num_outputs",
                 "get_output", "load_params", "run", "set_output_zero_copy",
                 "share_params")
        return {name: getattr(self, name) for name in names}

    def get_num_inputs(self):
        """How many inputs there are; weights are in the program."""
        return len(self._inputs)

    def get_num_outputs(self):
        """How many tensors it gives, counted through tuples."""
        return len(self._model.outputs)

    def get_input_index(self, name):
        """The number of an input, -1 where there is none."""
        return next((i for i, a in enumerate(self._arguments) if a.name == name), -1)

    def _number(self, key):
        number = self.get_input_index(key) if isinstance(key, str) else int(key)
        if not 0 <= number < len(self._inputs):
            raise RuntimeError(f"Could not find '{key}' in graph's inputs: {', '.join(a.name for a in self._arguments) or 'none'}")
        return number

    def set_input(self, key, value):
        """A copy of a value for an input, with the input's dtype."""
        number = self._number(key)
        argument = self._arguments[number]
        value = numpy.array(value, argument.dtype) if argument.dtype not in (None, "bfloat16") else value
        if argument.shape is not None and any(isinstance(d, int) and d != n for d, n in zip(argument.shape, value.shape)) \
                or argument.shape is not None and len(argument.shape) != value.ndim:
            raise ValueError(f"{argument.name}: expected {argument.relay_type}, found the shape {value.shape}")
        self._inputs[number] = value

    def set_input_zero_copy(self, key, value):
        """An array that runs read."""
        self._inputs[self._number(key)] = value

    def set_output_zero_copy(self, key, value):
        """An array that runs write an output to, by its number or name."""
        names = [a.name for a in self._model.outputs]
        if isinstance(key, str) and key not in names:
            raise ValueError(f"there is no output {key}; there are {', '.join(names)}")
        self._outs[names.index(key) if isinstance(key, str) else int(key)] = value

    def get_input(self, key):
        """What an input is set to, zeros before that; None where there is no such input."""
        number = self.get_input_index(key) if isinstance(key, str) else self._number(key)
        return None if number < 0 else wrapped(self._value(number))

    def _value(self, number):
        if self._inputs[number] is None:
            argument, shape = self._arguments[number], self._shape(number)
            if shape is None:
                raise ValueError(f"{argument.name} is not set")
            self._inputs[number] = numpy.zeros(shape, argument.dtype)
        return self._inputs[number]

    def _shape(self, number):
        """Of an input: as the source says it, since programs take any size for what they do not read; None where it is open."""
        argument, executable = self._arguments[number], self.library.executable
        shape = argument.shape
        if executable is not None and argument.dtype is not None and not all(isinstance(d, int) for d in shape):
            shape = Program(executable._source[0])["main"].params[number].checked_type.shape
        return shape if argument.dtype is not None and all(isinstance(d, int) for d in shape) else None

    def get_input_info(self):
        """Shapes and dtypes of the inputs, by name."""
        shapes = Map((a.name, ShapeTuple(a.shape or ())) for a in self._arguments)
        return shapes, Map((a.name, String(a.dtype)) for a in self._arguments)

    def run(self):
        """Runs it."""
        flat = []
        _flatten(self._model(*map(self._value, range(len(self._inputs)))), flat)
        self._outputs = [wrapped(one) for one in flat]
        for number, out in self._outs.items():
            self._outputs[number] = copied(self._outputs[number], out)

    def get_output(self, index, out=None):
        """An output of the last run, counted depth first through tuples; into `out`, where that is given."""
        if self._outputs is None:
            raise ValueError("get_output: nothing has run yet")
        return copied(self._outputs[index], out)

    def load_params(self, params):
        """Sets the inputs that bytes of `save_param_dict` have."""
        from .params import load_param_dict  # which needs what is above
        for name, value in load_param_dict(params).items():
            if self.get_input_index(name) >= 0:
                self.set_input(name, value)

    def share_params(self, other, params):
        """Sets what `params` names to what another program's inputs are."""
        from .params import load_param_dict
        for name in load_param_dict(params):
            if self.get_input_index(name) >= 0 and other.get_input_index(name) >= 0:
                self._inputs[self.get_input_index(name)] = other._value(other.get_input_index(name))


def copied(value, out):
    """A value, or `out` with its elements."""
    return value if out is None else out.copyfrom(value) if hasattr(out, "copyfrom") else array(value).copyto(out)
