"""The names of tvm.relay.op.memory and op.vm: what TVM's compiler puts into programs for memory. Here it plans memory behind Relay."""
from ....compiler import relay as _relay
from ....compiler.tuples import flatten_tuple_type, from_tuple_type, to_tuple_type
from ...elsewhere import elsewhere

_INSTEAD = "the compiler plans memory of every program behind Relay (vmdump --memory shows it)"


def shape_of(expr):
    """The dims of a value, as int64: relay.shape_of."""
    return _relay.op.shape_of(expr, "int64")


def __getattr__(name):
    if name in ("alloc_storage", "alloc_tensor", "invoke_tvm_op", "shape_func", "reshape_tensor"):
        return elsewhere(f"relay.op.memory.{name}", _INSTEAD)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


__all__ = ["flatten_tuple_type", "from_tuple_type", "shape_of", "to_tuple_type"]
