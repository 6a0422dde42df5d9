"""tvm.relay.analysis: relayvm.analysis."""
from ...compiler import analysis as _analysis


def __getattr__(name):
    return getattr(_analysis, name)
