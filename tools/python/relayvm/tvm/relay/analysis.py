"""tvm.relay.analysis: relayvm.analysis."""
from ...compiler import analysis as _analysis
from ..nd import array as _array


def get_calibration_data(mod, data):
    """What goes in and comes out of each function for an engine when main runs: {GlobalVar: {"inputs": [...], "outputs": [...]}}."""
    found = _analysis.get_calibration_data(mod, data)
    return {var: {which: list(map(_array, values)) for which, values in of.items()} for var, of in found.items()}


def __getattr__(name):
    return getattr(_analysis, name)
