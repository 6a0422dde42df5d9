"""Classes of attributes by TVM's names: isinstance(call.attrs, op_attrs.Conv2DAttrs). Attributes are `relay.Attrs`, whose type_key says which they
are of."""
import abc

from .attribute_classes import FIELDS, OF_OPERATORS
from .nodes import Attrs

# Those of operators that are no operators here.
_OTHERS = """AutoSchedulerLayoutTransformAttrs BinaryConv2DAttrs BinaryDenseAttrs BitPackAttrs Conv2DWinogradAttrs
Conv2DWinogradNNPACKWeightTransformAttrs Conv3DWinogradAttrs ConvWinogradWeightTransformAttrs DebugAttrs DensePackAttrs
MetaScheduleLayoutTransformAttrs ShapeFuncAttrs TupleGetItemAttrs WithFuncIdAttrs""".split()


class _OfKind(abc.ABCMeta):
    def __instancecheck__(cls, value):
        return isinstance(value, Attrs) and value.type_key == f"relay.attrs.{cls.__name__}"


def _made(name):
    operators = [op for op, known in OF_OPERATORS.items() if known.type_key == f"relay.attrs.{name}"]
    text = f"Attributes of {', '.join(operators)}." if operators else "Attributes of no operator here."
    return _OfKind(name, (Attrs,), {"__slots__": (), "__doc__": text, "__module__": __name__})


def __getattr__(name):
    if f"relay.attrs.{name}" in FIELDS or name in _OTHERS:
        made = globals()[name] = _made(name)
        return made
    raise AttributeError(f"there are no attributes {name}")
