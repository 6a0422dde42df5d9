"""tvm.relay.backend.interpreter: values of the executor "debug"."""
from ....adt import Adt as ConstructorValue

__all__ = ["ConstructorValue"]
