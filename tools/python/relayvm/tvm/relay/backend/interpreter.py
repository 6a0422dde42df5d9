"""tvm.relay.backend.interpreter: values of the executor "debug"."""
from ....compiler.relay import Call, Constant, Function, GlobalVar, RefCreate, ScopeBuilder, Tuple, const
from ...values import ConstructorValue, RefValue
from ..build_module import Executor


class Interpreter(Executor):
    """create_executor("debug")."""

    def __init__(self, mod, device, target):
        super().__init__("debug", mod, device, target)


__all__ = ["Call", "Constant", "ConstructorValue", "Executor", "Function", "GlobalVar", "Interpreter", "RefCreate", "RefValue",
           "ScopeBuilder", "Tuple", "const"]
