"""tvm.relay.transform: TVM's passes over the nodes, and relayvm.transform's."""
from ...compiler import transform as _transform
from ...compiler.passes.alter_layout import InferCorrectLayoutOutput, LayoutConfig
from ...compiler.passes.flexible_shape import _with_dim
from ..elsewhere import INSTEAD, elsewhere
from .backend.names import mangle_module_name

__all__ = ["InferCorrectLayoutOutput", "LayoutConfig", "flexible_dispatch", "mangle_module_name", "override_shape"]


def ToCPS(expr, mod=None):  # noqa: N802 (TVM's name)
    """A function in continuation passing style: `to_cps`."""
    return _transform._in_python("to_cps")(expr, mod)


def override_shape(tensor_type, axis, dim):
    """The type of tensors with another size along an axis."""
    return _with_dim(tensor_type, axis, dim)


def flexible_dispatch(mod, buckets, axis=0, auto_pad=False, pad_value=0, input_indices=None, affects_output=True):
    """What FlexibleShapeDispatch makes of a module."""
    return _transform._in_python("FlexibleShapeDispatch")(buckets, axis, auto_pad, pad_value, input_indices, affects_output)(mod)


def __getattr__(name):
    if name == "build_config":
        from .build_module import build_config  # which needs this module
        return build_config
    if f"relay.transform.{name}" in INSTEAD:
        return elsewhere(f"relay.transform.{name}")
    if name in ("ExprOp", "RecastMutator", "specialize_body"):
        return elsewhere(f"relay.transform.{name}", "passes are functions here: relay.transform")
    found = _transform._in_python(name)
    return found if found is not None else getattr(_transform, name)
