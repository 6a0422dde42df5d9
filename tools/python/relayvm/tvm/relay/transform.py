"""tvm.relay.transform: TVM's passes over the nodes, and relayvm.transform's."""
from ...compiler import transform as _transform
from ...compiler.passes.alter_layout import InferCorrectLayoutOutput, LayoutConfig
from ..elsewhere import INSTEAD, elsewhere
from .backend.names import mangle_module_name

__all__ = ["InferCorrectLayoutOutput", "LayoutConfig", "mangle_module_name"]


def ToCPS(expr, mod=None):  # noqa: N802 (TVM's name)
    """A function in continuation passing style: `to_cps`."""
    return _transform._in_python("to_cps")(expr, mod)


def __getattr__(name):
    if name == "build_config":
        from .build_module import build_config  # which needs this module
        return build_config
    if f"relay.transform.{name}" in INSTEAD:
        return elsewhere(f"relay.transform.{name}")
    found = _transform._in_python(name)
    return found if found is not None else getattr(_transform, name)
