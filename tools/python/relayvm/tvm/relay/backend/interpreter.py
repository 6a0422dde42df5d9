"""tvm.relay.backend.interpreter: values of the executor "debug"."""
from ....adt import Adt as ConstructorValue
from ..build_module import Executor


class RefValue:
    """A reference, as an argument: what it refers to is `value`."""

    def __init__(self, value):
        self.value = value


class Interpreter(Executor):
    """create_executor("debug")."""

    def __init__(self, mod, device, target):
        super().__init__("debug", mod, device, target)


__all__ = ["ConstructorValue", "Executor", "Interpreter", "RefValue"]
