"""tvm.relay.op: operators by name, tables of engines in `contrib`, and functions that passes ask for operators."""
from ....compiler.passes.alter_layout import register_alter_op_layout, register_convert_op_layout
from ....compiler.passes.fake_quantization import register_fake_quantization_to_integer, register_optional_fake_quantization_to_integer
from ....compiler.passes.gradients import register_gradient
from ....compiler.passes.legalize import register_legalize
from ....compiler.passes.mixed_precision import register_mixed_precision_conversion
from ....compiler.relay import const
from ....compiler.relay import op as _op
from . import algorithm, annotation, contrib, image, nn, op, random, reduce, tensor, transform, vision
from .op import *  # noqa: F403
from .op import __all__ as _of_op


def __getattr__(name):
    return getattr(_op, name)


__all__ = [*_of_op, "algorithm", "annotation", "const", "contrib", "get", "image", "nn", "op", "random", "reduce", "register_alter_op_layout",
           "register_convert_op_layout", "register_fake_quantization_to_integer", "register_gradient", "register_legalize",
           "register_mixed_precision_conversion", "register_optional_fake_quantization_to_integer", "tensor", "transform", "vision"]
