"""tvm.relay.analysis: relayvm.analysis."""
from ...compiler import analysis as _analysis
from ...compiler.extracts import LayerCounter
from ...compiler.passes.transposed_weights import search_fc_transpose
from ..elsewhere import elsewhere
from ..ir.module import IRModule
from ..nd import array as _array
from ..nd import cpu
from ..target import Target


def get_calibration_data(mod, data):
    """What goes in and comes out of each function for an engine when main runs: {GlobalVar: {"inputs": [...], "outputs": [...]}}."""
    found = _analysis.get_calibration_data(mod, data)
    return {var: {which: list(map(_array, values)) for which, values in of.items()} for var, of in found.items()}


def __getattr__(name):
    if name in ("AnalyzeOperationsDistribution", "analyze_operations_distribution"):
        return elsewhere(f"relay.analysis.operations_distribution.{name}")
    return getattr(_analysis, name)


__all__ = [*_analysis.__all__, "IRModule", "LayerCounter", "Target", "cpu", "get_calibration_data", "search_fc_transpose"]
