"""Types that belong to no module: the same types, made of Python's parts.

Types of a module know it, for its symbols and type variables, and a type is made of parts of one module. What has neither may go anywhere.
"""
from . import _native, relay
from .types import is_strange_dtype


class OwnTypes:
    """Makes types without a module. is_open: type variables and sizes that have names stay those of the module; else they are new ones,
    the same wherever one is met."""

    def __init__(self, is_open=False):
        self._is_open, self._vars, self._dims = is_open, {}, {}

    def type(self, kind):
        """The type without its module, as far as it can do without."""
        if isinstance(kind, relay.TensorType):
            dims = [self._dim(dim) for dim in kind.shape]
            return kind if any(dim is None for dim in dims) else relay.TensorType(dims, kind.dtype)
        if isinstance(kind, relay.TupleType):
            return relay.TupleType(map(self.type, kind.fields))
        if isinstance(kind, relay.FuncType):
            return relay.FuncType(map(self.type, kind.arg_types), self.type(kind.ret_type), map(self.type, kind.type_params),
                                  kind.type_constraints)
        if isinstance(kind, relay.RefType):
            return relay.RefType(self.type(kind.value))
        if isinstance(kind, relay.TypeCall) and is_strange_dtype(str(kind.func)) and not kind.args:
            return relay.TensorType((), str(kind.func))
        if isinstance(kind, relay.TypeCall):
            return relay.TypeCall(kind.func, [self.type(arg) for arg in kind.args])
        if isinstance(kind, relay.TypeVar) and not self._is_open:
            if kind._handle not in self._vars:
                self._vars[kind._handle] = relay.TypeVar(kind.name_hint, kind.kind)
            return self._vars[kind._handle]
        return kind

    def _dim(self, dim):
        """A size without its module; None where only the module has it."""
        if isinstance(dim, int):
            return int(dim)
        if str(dim) == "?":
            return "?"
        if self._is_open or not isinstance(dim, _native.Dim) or not dim.is_symbol:
            return None
        if dim not in self._dims:
            self._dims[dim] = relay.size_var(str(dim))
        return self._dims[dim]
