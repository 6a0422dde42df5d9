"""The nodes of programs, as TVM's users know them: `rvm.relay`.

    from relayvm import relay

    x = relay.var("x", shape=("n", 4))
    y = relay.nn.relu(relay.nn.dense(x, relay.const(w)) + 1.0)
    mod = rvm.IRModule.from_expr(relay.Function([x], y))

    def count(node):
        if isinstance(node, relay.Call) and node.op == relay.op.get("nn.dense"):
            print(node.checked_type, node.span)
    rvm.post_order_visit(mod["main"], count)

A function's body is a DAG: what several nodes use is one object, and nodes are equal when they are the same object. Nodes do not
change; `ExprMutator` makes others of them. Those of a `Module` know their type (checked_type) and their place in the source (span);
new ones get them when a module is made of them: IRModule, mod.with_functions, a pass (`transform.function_pass`).
"""
import contextlib
import sys

from . import _native
from .dims import Any  # noqa: F401
from .functors import _all_stays, _all_vars, bind, ExprFunctor, ExprMutator, ExprVisitor, _free_vars  # noqa: F401
from .functors import _parts, _post_order, post_order_visit  # noqa: F401
from .nodes import (Attrs, Call, Clause, Constant, Constructor, Expr, Function, _get_op, GlobalVar, Id, If, Internal, Let, Match,  # noqa: F401
                    _name_of, Op, _operators, Pattern, PatternConstructor, PatternTuple, PatternVar, PatternWildcard, _plain_call, RefCreate,
                    RefRead, RefWrite, same_call, _set, Tuple, TupleGetItem, TypeData, Var)
from .records import _function_node, _function_records, _MAKERS  # noqa: F401
from .types import (Dim, EnvFunc, FuncType, GlobalTypeVar, IncompleteType, RefType, scalar_type, _Sequence, size_var, TensorType,  # noqa: F401
                    TupleType, Type, _type, TypeCall, TypeConstraint, TypeKind, TypeRelation, _types, TypeVar)
from .spans import SequentialSpan, SourceName, Span  # noqa: F401


def var(name_hint, type_annotation=None, shape=None, dtype="float32", span=None):
    """A new variable. With `shape`, a tensor: its dims are ints, names ("n"; the same name is the same size), None for any."""
    if shape is not None:
        if type_annotation is not None:
            raise ValueError("var: a type or a shape, not both")
        type_annotation = TensorType(shape, dtype)
    elif isinstance(type_annotation, str):
        type_annotation = scalar_type(type_annotation)
    return Var(name_hint, type_annotation, span)


def const(value, dtype=None, span=None, *, name=""):
    """A constant: of an array, whose memory is shared where it is 64-byte aligned and compact and must not change; of a number or
    lists of numbers. Where no dtype is given, float64 and int64, which numpy makes of numbers and lists, become float32 and int32, as in
    TVM."""
    if not hasattr(value, "__dlpack__") and not hasattr(value, "__array_interface__"):
        import numpy
        value = numpy.asarray(value)
    if dtype is None:
        dtype = {"float64": "float32", "int64": "int32"}.get(str(getattr(value, "dtype", "")))
        if dtype == "int32" and value.size and not (-1 << 31 <= value.min() and value.max() < 1 << 31):
            raise ValueError(f"const: {value.min()} to {value.max()} is more than int32 holds, which is what ints become here: give dtype=\"int64\"")
    if dtype is not None:
        value = value.astype(dtype, copy=False)
    return Constant(value, span, name=name)


class _Operators:
    """Operators by name: relay.op.nn.dense, relay.op.get("nn.dense")."""

    def __init__(self, prefix=""):
        self._prefix = prefix

    def get(self, name):
        """The operator of that name."""
        return _get_op(self._prefix + name)

    def __call__(self, name):
        return self.get(name)

    def __getattr__(self, name):
        full = self._prefix + name
        if not name.startswith("__"):
            if _native.operator_arguments(full) is not None:
                return _get_op(full)
            function = _operators().function_of(full)
            if function is not None:
                return function
            if full == "qnn.op":  # where TVM has them
                return self
            if full in ("nn.Constant", "nn.const"):
                return {"nn.Constant": Constant, "nn.const": const}[full]
            if any(n.startswith(full + ".") for n in _native.operator_names()):
                made = self.__dict__[name] = _Operators(full + ".")  # it is asked for often
                return made
        raise AttributeError(f"there is no operator {full}{_native.did_you_mean(full, _native.operator_names())}")

    def __dir__(self):
        return sorted({n[len(self._prefix):].split(".")[0] for n in _native.operator_names() if n.startswith(self._prefix)} | {"get"})


op = _Operators()


class TupleWrapper:
    """A tuple expression whose fields can be taken by [i]: as TVM's, here a `Tuple` of its fields. Calls that give tuples need none."""

    def __new__(cls, tuple_value, size):
        return tuple_value if isinstance(tuple_value, Tuple) else Tuple([TupleGetItem(tuple_value, i) for i in range(size)])


_new_var = var


class ScopeBuilder:
    """Lets and ifs in the order in which they are written.

        sb = relay.ScopeBuilder()
        t = sb.let("t", relay.add(x, y))
        with sb.if_scope(relay.less(t, x)):
            sb.ret(t)
        with sb.else_scope():
            sb.ret(x)
        body = sb.get()
    """

    def __init__(self):
        self._scopes = [[]]
        self._results = [None]

    def let(self, var, value):
        """Binds a value to a variable, or to a new one of that name; gives the variable."""
        if isinstance(var, (str, tuple)):
            var = _new_var(*((var,) if isinstance(var, str) else var))
        self._scopes[-1].append((var, value))
        return var

    def type_of(self, expr):
        """The type of an expression, as far as it is known; of a variable, that which is written."""
        return expr.type_annotation if isinstance(expr, Var) else expr.checked_type

    def ret(self, value):
        """What the scope gives: its last line."""
        if self._results[-1] is not None:
            raise ValueError("ScopeBuilder: this scope has a result already")
        self._results[-1] = value

    def if_scope(self, cond):
        """with sb.if_scope(cond): the branch for a condition that holds. An else_scope follows."""
        return self._branch(lambda body: self.ret(("if", cond, body)))

    def else_scope(self):
        """with sb.else_scope(): the other branch."""
        pending = self._results[-1]
        if not isinstance(pending, tuple):
            raise ValueError("ScopeBuilder: else_scope comes after an if_scope")

        def end(body):
            self._results[-1] = If(pending[1], pending[2], body)
        return self._branch(end)

    @contextlib.contextmanager
    def _branch(self, end):
        self._scopes.append([])
        self._results.append(None)
        yield
        body = self.get()
        self._scopes.pop()
        self._results.pop()
        end(body)

    def get(self):
        """The expression."""
        result = self._results[-1]
        if result is None:
            raise ValueError("ScopeBuilder: a scope has no result: call ret")
        if isinstance(result, tuple):
            raise ValueError("ScopeBuilder: an if_scope has no else_scope")
        for variable, value in reversed(self._scopes[-1]):
            result = Let(variable, value, result)
        return result


def _elsewhere(name):
    """What TVM has in relay and relayvm elsewhere."""
    from types import SimpleNamespace
    import relayvm
    if name == "analysis":
        return relayvm.analysis
    if name == "expr_functor":
        return SimpleNamespace(ExprFunctor=ExprFunctor, ExprMutator=ExprMutator, ExprVisitor=ExprVisitor)
    if name == "dataflow_pattern":
        from . import dataflow_pattern  # which needs what is above
        return dataflow_pattern
    if name == "expr":
        return sys.modules[__name__]
    if name in ("TypeFunctor", "TypeMutator", "TypeVisitor"):
        from . import type_functors  # which needs what is above
        return getattr(type_functors, name)
    if name in ("build", "transform"):
        return getattr(relayvm, name)
    if name == "fromtext":
        return relayvm.parse
    if name == "frontend":
        return SimpleNamespace(**{f"from_{format}": getattr(relayvm, f"from_{format}") for format in _FRONTENDS})
    if name == "create_executor":
        def create_executor(kind="debug", mod=None, device=None, target="llvm", params=None):
            return relayvm.create_executor(kind, mod, params, target)
        create_executor.__doc__ = relayvm.create_executor.__doc__
        return create_executor
    return None


_ELSEWHERE = ("TypeFunctor", "TypeMutator", "TypeVisitor", "analysis", "build", "create_executor", "dataflow_pattern", "expr", "expr_functor", "fromtext",
              "frontend", "transform")
_FRONTENDS = ("keras", "mxnet", "onnx", "pytorch", "tensorflow", "tflite")
_INSTEAD = {
    "Prelude": "relayvm.tvm.relay.Prelude; programs may write the types that they use: type List[A] { Cons(A, List[A]), Nil }",
    "build_module": "rvm.compile, rvm.build; relayvm.tvm.relay.build_module",
    "load_param_dict": "rvm.load_params; relayvm.tvm.relay.load_param_dict of bytes",
    "prelude": "relayvm.tvm.relay.prelude; programs may write the types that they use: type List[A] { Cons(A, List[A]), Nil }",
    "save_param_dict": "numpy.savez, whose .npz `params` takes; relayvm.tvm.relay.save_param_dict",
    "testing": "relayvm.tvm.relay.testing; models come as text (rvm.parse) or as ONNX (rvm.from_onnx)",
    "vm": "rvm.compile makes programs for the VM; relayvm.tvm.relay.vm",
}


def __getattr__(name):  # relay.add, relay.nn.dense
    if name.startswith("__"):
        raise AttributeError(name)
    if name in Op._all and "." not in name:  # as often
        return Op._all[name]
    found = _elsewhere(name)
    if found is not None:
        return found
    if name in _INSTEAD:
        raise AttributeError(f"relay.{name} is not there; instead: {_INSTEAD[name]}")
    try:
        return getattr(op, name)
    except AttributeError:
        names = [n for n in globals() if not n.startswith("_")] + _native.operator_names() + list(_FRONTENDS) + list(_ELSEWHERE) + list(_INSTEAD)
        raise AttributeError(f"there is no operator {name}, and nothing else of that name{_native.did_you_mean(name, names)}") from None
