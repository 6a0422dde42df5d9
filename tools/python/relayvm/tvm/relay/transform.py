"""tvm.relay.transform: TVM's passes over the nodes, and relayvm.transform's."""
from ...compiler import transform as _transform
from ...compiler.passes import fake_quantization as fake_quantization_to_integer  # noqa: F401 (its rules)
from ...compiler.passes.alter_layout import InferCorrectLayoutOutput, LayoutConfig

__all__ = ["InferCorrectLayoutOutput", "LayoutConfig"]


def __getattr__(name):
    if name == "build_config":
        from .build_module import build_config  # which needs this module
        return build_config
    found = _transform._in_python(name)
    return found if found is not None else getattr(_transform, name)
