"""tvm.relay.backend.interpreter: values of the executor "debug"."""
from ...values import ConstructorValue, RefValue
from ..build_module import Executor


class Interpreter(Executor):
    """create_executor("debug")."""

    def __init__(self, mod, device, target):
        super().__init__("debug", mod, device, target)


__all__ = ["ConstructorValue", "Executor", "Interpreter", "RefValue"]
