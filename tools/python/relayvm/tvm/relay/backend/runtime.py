"""tvm.relay.backend.runtime."""
from .executor import Runtime

__all__ = ["Runtime"]
