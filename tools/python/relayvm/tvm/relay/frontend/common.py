"""tvm.relay.frontend.common: what importers of one's own call."""
from ....compiler import relay as _relay
from ....compiler import transform as _transform
from ....compiler.importing import *  # noqa: F403
from ....compiler.importing import __all__ as _of_importing
from ...ir.module import IRModule
from ..build_module import create_executor


def infer_type(node, mod=None):
    """The expression with types. mod: which has the functions that it calls."""
    made = IRModule.from_expr(node) if mod is None else IRModule(mod._native)._with_main(
        node if isinstance(node, _relay.Function) else _relay.Function(_relay._free_vars(node), node))
    entry = _transform.InferType()(made)["main"]
    return entry if isinstance(node, _relay.Function) else entry.body


def infer_shape(inputs, mod=None):
    """The dims of an expression's value; of a tuple's first field."""
    kind = infer_type(inputs, mod).checked_type
    while isinstance(kind, _relay.TupleType):
        kind = kind.fields[0]
    return tuple(kind.shape)


def infer_channels(inputs, transpose=False):
    """How many channels a kernel (OIHW) makes; of a transposed one, takes."""
    return infer_shape(inputs)[1 if transpose else 0]


def infer_value(input_val, params, mod=None):
    """The value of an expression, whose free variables are named in `params`."""
    free = _relay._free_vars(input_val)
    function = _relay.Function(free, input_val)
    return create_executor("debug", mod).evaluate(function)(*[params[v.name_hint] for v in free])


def fold_constant(node, mod=None):
    """The expression, parts of which that are constant are computed."""
    entry = _transform.FoldConstant()(IRModule.from_expr(node))["main"]
    return entry if isinstance(node, _relay.Function) else entry.body


def new_var(name_hint, type_annotation=None, shape=None, dtype="float32"):
    """A variable."""
    return _relay.var(name_hint, type_annotation, shape, dtype)


def get_const_tuple(in_tuple):
    """Dims as ints, where they are known."""
    return tuple(int(dim) if isinstance(dim, int) else dim for dim in in_tuple)


class DuplicateFilter:
    """Of logging: takes each message once."""

    def __init__(self):
        self._seen = set()

    def filter(self, record):
        """Whether it is new."""
        is_new = record.msg not in self._seen
        self._seen.add(record.msg)
        return is_new


__all__ = [*_of_importing, "DuplicateFilter", "fold_constant", "get_const_tuple", "infer_channels", "infer_shape", "infer_type", "infer_value",
           "new_var"]
