"""tvm.relay.backend.vm: compiles for the VM."""
from ..vm import compile

__all__ = ["compile"]
