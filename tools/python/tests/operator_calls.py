"""Calls of every operator, of the examples of their rows (compiler/operator_rows*.py): for tests and for measure_operators.py."""
import math

import numpy as np

import relayvm as rvm
from relayvm import relay
from relayvm.compiler import _native, operator_table, operators


class Example:
    """The arguments of a row's example: arrays in place of operands (a tuple where it is one), then attributes."""

    def __init__(self, row):
        rng = np.random.default_rng(3)

        def with_dtype(dtype, low, high):
            return lambda *dims: rng.integers(low, high, dims).astype(dtype)
        words = {
            "f": lambda *dims: rng.uniform(-2, 2, dims).astype("float32"), "p": lambda *dims: rng.uniform(0.1, 0.9, dims).astype("float32"),
            "q": lambda *dims: rng.uniform(1.1, 3, dims).astype("float32"), "i": lambda n, *dims: rng.integers(0, n, dims),
            "i32": lambda n, *dims: rng.integers(0, n, dims).astype("int32"), "b": lambda *dims: rng.integers(0, 2, dims).astype(bool),
            "u8": with_dtype("uint8", 0, 256), "i8": with_dtype("int8", -30, 30), "s": lambda v: np.array(v, "float32"),
            "n": lambda v: np.array(v, "int64"), "k": lambda v, dtype="int64": np.array(v, dtype), "t": lambda *fields: fields,
            "key": lambda: np.array(relay.random.threefry_key(7).data), "text": lambda *words: np.array(words, object),
            "call": lambda *args, **attrs: (list(args), attrs),
        }
        self.row = row
        self.operands, self.attrs = eval(f"call({row.example})", {"__builtins__": {}}, words)

    def arrays(self):
        """The operands' tensors, fields of tuples among them, in order."""
        return [a for x in self.operands for a in (x if isinstance(x, tuple) else (x,)) if isinstance(a, np.ndarray)]

    def named(self):
        """{operand: array or tuple of arrays}"""
        return {part.name: value for part, value in zip(self.row.operands, self.operands)}


def is_text(array):
    return array.dtype == object


def dtype_of(array):
    return "string" if is_text(array) else array.dtype.name


def function(name):
    """relay.nn.relu for "nn.relu", as users write it."""
    found = relay
    for part in name.split("."):
        found = getattr(found, part)
    return found


def call_of(name, operands, attrs):
    """(expression, variables) of a call, each tensor of `operands` (a type or an array) a variable."""
    variables = []

    def operand(x):
        if isinstance(x, tuple):
            return relay.Tuple([operand(field) for field in x])
        if isinstance(x, np.ndarray):
            x = relay.TensorType(x.shape, dtype_of(x))
        if not isinstance(x, relay.TensorType):
            return x
        variables.append(relay.Var(f"x{len(variables)}", x))
        return variables[-1]
    made = [operand(x) for x in operands]
    if name.startswith(("nn.sparse_", "vm.")):  # whose functions take a matrix's parts together; that has no place in relay
        return relay.Call(relay.op.get(name), made, attrs), variables
    by_name = {part.name: x for part, x in zip(operator_table.rows()[name].operands, made)}
    signature = operators.signature_of(name)
    if signature is None or not set(by_name) <= set(signature.parameters):
        return function(name)(*made, **attrs), variables
    return function(name)(**by_name, **attrs), variables


def program_of(name, operands, attrs):
    """A module whose main makes the call."""
    call, variables = call_of(name, operands, attrs)
    return rvm.Module({"main": relay.Function(variables, call)})


def computed(example):
    """What the operator gives for an example: an array, or a list of them."""
    mod = program_of(example.row.name, example.operands, example.attrs)
    inputs = [a.tolist() if is_text(a) else a for a in example.arrays()]
    result = rvm.create_executor("vm", mod).evaluate()(*inputs)
    return [np.asarray(field) for field in result] if isinstance(result, (tuple, list)) else np.asarray(result)


def expected(example):
    """What the row's formula gives for it; None where it has none."""
    row = example.row
    if row.formula is None:
        return None
    call, _ = call_of(row.name, example.operands, example.attrs)
    if row.name in operators._SPECIAL or not hasattr(call, "attrs") or call.op.name != row.name:
        bound = operators.signature_of(row.name)
        known = {p.name: p.default for p in bound.parameters.values()} if bound else {}
        attrs = {**known, **getattr(call, "attrs", {})}
    else:
        attrs = dict(call.attrs)
    names = {name: tuple(value) if isinstance(value, list) else value for name, value in {**attrs, **example.attrs}.items()}
    return eval(row.formula, {"np": np, "math": math, **names, **example.named()})


def all_names():
    """Operators, and functions that make several calls."""
    return sorted(set(_native.operator_names()) | set(operators._SPECIAL))
