"""tvm.relay.quantize: float32 models in integers of 8 bits."""
import sys as _sys

from ...compiler import quantize as _quantize
from ...compiler.objects import Object
from ...compiler.quantize import QConfig, current_qconfig
from ..elsewhere import elsewhere
from ..ir.module import IRModule


def qconfig(**kwargs):
    """Settings for `quantize` inside of a `with`: see `QConfig`."""
    return QConfig(**kwargs)


def prerequisite_optimize(mod, params=None):
    """The module with its weights, ready for `quantize`."""
    return IRModule(_quantize.prerequisite_optimize(mod, params)._native)


def quantize(mod, params=None, dataset=None):
    """The module whose convolutions and dense layers are integers, as the current `qconfig` says."""
    return IRModule(_quantize.quantize(mod, params, dataset)._native)


class QAnnotateKind:
    """What a value is for a quantised operator, by number."""

    IDENTITY, INPUT, WEIGHT, ACTIVATION = 0, 1, 2, 3


def kind2str(kind):
    """The name of a `QAnnotateKind`."""
    names = {0: "identity", 1: "input", 2: "weight", 3: "activation"}
    if kind not in names:
        raise ValueError(f"kind2str: there are {', '.join(map(str, names))}, found {kind}")
    return names[kind]


_STEPS = ("QuantizeContext", "annotate", "calibrate", "partition", "partition_conversions", "quantize_context", "realize",
          "register_annotate_function", "register_partition_function", "ir", "kl_divergence", "optimization", "quantization")


def __getattr__(name):
    if name in _STEPS:
        return elsewhere(f"relay.quantize.{name}", "relay.quantize.quantize does it in one step; relay.transform.FakeQuantizationToInteger takes "
                         "programs with qnn.quantize and qnn.dequantize in them")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


__all__ = ["Object", "QAnnotateKind", "QConfig", "current_qconfig", "kind2str", "prerequisite_optimize", "qconfig", "quantize"]
_sys.modules[__name__ + ".quantize"] = _sys.modules[__name__]  # TVM has a module of the name in it
