"""IOBinding: inputs and outputs of runs, set once for many."""
import numpy as np

from .elements import dtype_of
from .errors import translated
from .values import OrtValue, OrtValueVector, at_address, need_host
from ..errors import Error


class IOBinding:
    """Inputs and outputs by name: `session.io_binding()`. Arrays that are bound are read, and written, where they are."""

    def __init__(self, session):
        self._session = session
        self._inputs, self._outputs, self._results = {}, {}, []
        self._written = {}  # {output: array} of those with memory of their own

    def _check(self, kind, name, known):
        if name not in known:
            raise RuntimeError(f"IOBinding: the model has no {kind} {name}; it has {', '.join(known)}")

    def _bind_input(self, name, value):
        session = self._session
        self._check("input", name, session._names if name in session._names else {**session._names, **dict.fromkeys(session._overridable)})
        self._inputs[name] = value

    def bind_cpu_input(self, name, arr_on_cpu):
        """An array, which runs read."""
        if not isinstance(arr_on_cpu, np.ndarray):
            raise RuntimeError(f"bind_cpu_input: expected an array of numpy, found {type(arr_on_cpu).__name__}")
        self._bind_input(name, arr_on_cpu)

    def bind_input(self, name, device_type, device_id, element_type, shape, buffer_ptr):
        """Memory at an address, compact, which stays there as long as it is bound."""
        need_host(device_type, "bind_input")
        self._bind_input(name, at_address(buffer_ptr, tuple(shape), dtype_of(element_type)))

    def bind_ortvalue_input(self, name, ortvalue):
        """An `OrtValue`."""
        self._bind_input(name, ortvalue._value)

    def _bind_output(self, name, value):
        self._check("output", name, self._session._places)
        self._outputs[name] = value
        self._written.pop(name, None)
        if value is not None:
            self._written[name] = value.numpy()

    def bind_output(self, name, device_type="cpu", device_id=0, element_type=None, shape=None, buffer_ptr=None):
        """An output that runs give: new memory each time, or the memory at an address."""
        need_host(device_type, "bind_output")
        if buffer_ptr is None:
            self._bind_output(name, None)
        elif element_type is None or shape is None:
            raise ValueError("bind_output: expected element_type and shape with buffer_ptr")
        else:
            self._bind_output(name, OrtValue(at_address(buffer_ptr, tuple(shape), dtype_of(element_type))))

    def bind_ortvalue_output(self, name, ortvalue):
        """An `OrtValue` of a tensor, which runs write to."""
        self._bind_output(name, ortvalue)

    def synchronize_inputs(self):
        """Nothing: the CPU has no streams."""

    def synchronize_outputs(self):
        """Nothing, as synchronize_inputs."""

    def _run(self, run_options=None):
        session = self._session
        if not self._outputs:
            raise RuntimeError("run_with_iobinding: expected one or more outputs: bind_output(name)")
        if run_options is None and self._inputs.keys() == session._plain_names and "out" not in self._inputs:
            try:
                result = session._call(**self._inputs, out=self._written) if self._written else session._call(**self._inputs)
            except (Error, TypeError, ValueError) as error:
                raise translated(error) from error
        else:
            result = session._run(self._inputs, run_options, self._written)
        if session._converts:
            result = session._converted(result)
        self._results = result if session._is_tuple else (result,)

    def get_outputs(self):
        """`OrtValue`s of the outputs that are bound, in the order in which they were, of the last run."""
        session, values = self._session, []
        for name, bound in self._outputs.items() if self._results else ():
            place = session._places[name]
            values.append(bound if bound is not None else OrtValue(self._results[place], session._outputs_meta[place].type))
        return values

    def get_outputs_as_ortvaluevector(self):
        """`get_outputs` as an `OrtValueVector`."""
        return OrtValueVector(self.get_outputs())

    def copy_outputs_to_cpu(self):
        """Arrays of the outputs that are bound, which later runs do not write to."""
        return [value.numpy().copy() if name in self._written else value.numpy() if value.is_tensor() else value._value
                for name, value in zip(self._outputs, self.get_outputs())]

    def clear_binding_inputs(self):
        """Unbinds all inputs."""
        self._inputs.clear()

    def clear_binding_outputs(self):
        """Unbinds all outputs."""
        self._outputs.clear()
        self._written.clear()
        self._results = []

    @property
    def _iobinding(self):
        return self
