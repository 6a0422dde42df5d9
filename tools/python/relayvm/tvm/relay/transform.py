"""tvm.relay.transform: relayvm.transform's passes."""
from ...compiler import transform as _transform


def __getattr__(name):
    return getattr(_transform, name)
