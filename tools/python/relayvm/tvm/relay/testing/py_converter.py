"""Programs as Python code, which runs them: each operator by itself, the rest as Python."""
import ast

from ....adt import Adt
from ....compiler import create_executor, relay, transform
from ....compiler.python_code import python_code
from ...elsewhere import elsewhere
from ...ir.module import IRModule
from ...nd import array

_EXPRESSION = "expression"


def _module_of(expr, mod):
    """A module with an expression's function besides what is there."""
    made = IRModule(mod._native) if mod is not None else IRModule()
    name = _EXPRESSION
    while name in made._names:
        name += "_"
    made[name] = relay.Function([], expr)
    return transform.InferType()(made), name


def _given(value):
    return tuple(map(_given, value)) if isinstance(value, tuple) else value


def _tuple(*fields):
    from ...runtime.container import tuple_object  # which needs what this is part of
    return tuple_object(list(fields))


def _wrapped(value):
    return _tuple(*map(_wrapped, value)) if isinstance(value, tuple) else array(value)


class _Operators:
    """Runs the calls of a program, each as a program of its own that is made once."""

    def __init__(self, calls):
        self.calls, self.made = calls, {}

    def __call__(self, number, *operands):
        if number not in self.made:
            call = self.calls[number]
            params = [relay.var(f"x{i}", arg.checked_type) for i, arg in enumerate(call.args)]
            function = relay.Function(params, relay.Call(call.op, params, call.attrs))
            self.made[number] = create_executor("debug", IRModule.from_expr(function)).evaluate()
        return _wrapped(self.made[number](*map(_given, operands)))


def to_python(expr, mod=None, target=None):
    """The code of an expression as Python's syntax tree."""
    return ast.parse(python_code(_module_of(expr, mod)[0]).text)


def run_as_python(expr, mod=None, target=None):
    """The value of an expression, which Python computes: arrays, tuples, values of data types, references; functions as Python's."""
    from ..backend.interpreter import RefValue  # which needs what this is part of
    made, name = _module_of(expr, mod)
    code = python_code(made)
    names = {}
    exec(compile(code.text, "<relay>", "exec"), names)
    constructors = [c.name_hint for c in code.constructors]
    functions = names["main_of"]({}, [array(c.data) for c in code.constants], _Operators(code.calls),
                                 lambda number, *fields: Adt(constructors[number], *fields), _tuple, RefValue,
                                 lambda value: bool(value.item()))
    return functions[name]()


PythonConverter = elsewhere("relay.testing.py_converter.PythonConverter", "to_python gives the code, run_as_python runs it")

__all__ = ["run_as_python", "to_python"]
