"""Constants that are kept apart from a program: `Executable.move_late_bound_consts`.

They become parameters that main takes after its own, which the virtual machine gives it. A file of such a program begins with a line that
has their names.
"""
import json
import os

from ...compiler import relay as _relay
from ...compiler import Module
from . import params as _params

_MARK = b"relayvm program without its large constants: "


def split(executable, byte_limit):
    """(`LateConstants` without constants, these by name): those of main that take more than `byte_limit` bytes."""
    native, options, passes = executable._source
    module, moved = Module(native), {}

    class Move(_relay.ExprMutator):
        def visit_constant(self, expr):
            if expr.data.nbytes <= byte_limit:
                return expr
            name = f"const_{len(moved)}"
            variable = _relay.var(name, expr.checked_type)
            moved[name] = variable, expr.data
            return variable
    main = module["main"]
    body = Move().visit(main.body)
    more = [variable for variable, _ in moved.values()]
    module = module.with_functions({"main": _relay.Function([*main.params, *more], body, None, main.type_params, main.attrs)})
    program = module._native.compile(options, None, passes).bytes() if more else executable.to_bytes()
    return LateConstants(program, list(moved)), {name: data for name, (_, data) in moved.items()}


def of_bytes(content):
    """The `LateConstants` of a file, None where the program is whole."""
    if not content.startswith(_MARK):
        return None
    line, _, program = content.partition(b"\n")
    return LateConstants(program, json.loads(line[len(_MARK):]))


class LateConstants:
    """A program (`program`, its bytes) that takes constants after its inputs."""

    def __init__(self, program, names):
        self.program, self.names, self._values = program, names, None

    def to_bytes(self):
        """A file of it, without the constants."""
        return _MARK + json.dumps(self.names).encode() + b"\n" + self.program if self.names else self.program

    def load(self, constants):
        """Takes the constants: by name, or the file that has them."""
        if not self.names:
            return
        found = _params.load_param_dict_from_file(constants) if isinstance(constants, (str, os.PathLike)) else constants
        missing = [name for name in self.names if name not in found]
        if missing:
            raise ValueError(f"load_late_bound_consts: {', '.join(missing)} are not there")
        self._values = [found[name] for name in self.names]

    def arguments(self):
        """What main takes besides its inputs."""
        if self.names and self._values is None:
            raise ValueError("the program's large constants are not there: load_late_bound_consts(path) of its executable")
        return self._values or []
