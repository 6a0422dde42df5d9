"""tvm.relay.quantize: float32 models in integers of 8 bits."""
from ...compiler import quantize as _quantize
from ...compiler.quantize import QConfig, current_qconfig
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


__all__ = ["QConfig", "current_qconfig", "prerequisite_optimize", "qconfig", "quantize"]
