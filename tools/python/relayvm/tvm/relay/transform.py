"""tvm.relay.transform: TVM's passes over the nodes, and relayvm.transform's."""
from ...compiler import transform as _transform


def __getattr__(name):
    found = _transform._in_python(name)
    return found if found is not None else getattr(_transform, name)
