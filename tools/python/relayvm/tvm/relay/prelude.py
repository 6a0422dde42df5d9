"""tvm.relay.prelude: standard definitions, and tensor arrays."""
from ...compiler.prelude import Prelude as _Prelude
from ...compiler.prelude import StaticTensorArrayOps, TensorArrayOps, get_name, get_name_static
from ...compiler.relay import TypeCall, Var
from ..ir.module import IRModule


class Prelude(_Prelude):
    """The standard definitions in a module: `hd`, `map`, `foldl` ... are their GlobalVars."""

    def __init__(self, mod=None):
        super().__init__(IRModule() if mod is None else mod)


def get_tensor_array_shape(expr, dtype, prelude):
    """The dims of the tensors of a fixed shape in an expression for a tensor array; None where they have any shape."""
    kind = expr.type_annotation if isinstance(expr, Var) else expr.checked_type
    kind = kind.args[0] if isinstance(kind, TypeCall) and str(kind.func) == "List" else kind
    name = str(kind.func) if isinstance(kind, TypeCall) else ""
    if not name.startswith(f"static_tensor_{dtype}_"):
        return None
    fields = [c.inputs for c in prelude.mod.type_definitions[name].constructors]
    return next((tuple(inputs[0].shape) for inputs in fields if inputs), ())


__all__ = ["Prelude", "StaticTensorArrayOps", "TensorArrayOps", "get_name", "get_name_static", "get_tensor_array_shape"]
