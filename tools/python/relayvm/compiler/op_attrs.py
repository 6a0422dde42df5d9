"""Classes of attributes by TVM's names: isinstance(call.attrs, op_attrs.Conv2DAttrs). Attributes are `relay.Attrs`, whose type_key says which they
are of."""
import abc

from . import operator_facts
from .nodes import Attrs

# Those of operators that are no operators here.
_OTHERS = """AutoSchedulerLayoutTransformAttrs BinaryConv2DAttrs BinaryDenseAttrs BitPackAttrs CastHintAttrs CompilerAttrs Conv2DWinogradAttrs
Conv2DWinogradNNPACKWeightTransformAttrs Conv3DWinogradAttrs ConvWinogradWeightTransformAttrs DebugAttrs DeviceCopyAttrs OnDeviceAttrs
QuantizeAttrs RequantizeAttrs SimulatedQuantizeAttrs DequantizeAttrs VarianceAttrs""".split()


class _OfKind(abc.ABCMeta):
    def __instancecheck__(cls, value):
        return isinstance(value, Attrs) and value.type_key is not None and value.type_key.rpartition(".")[2] == cls.__name__


def _made(name):
    operators = operator_facts.ATTRIBUTES.get(name)
    return _OfKind(name, (Attrs,), {"__slots__": (), "__doc__": f"Attributes of {', '.join(operators.split())}." if operators else "Attributes of no operator here.",
                              "__module__": __name__})


def __getattr__(name):
    if name in operator_facts.ATTRIBUTES or name in _OTHERS or name.endswith("Attrs") and not name.startswith("_"):
        made = globals()[name] = _made(name)
        return made
    raise AttributeError(f"there are no attributes {name}")
