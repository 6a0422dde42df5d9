"""tvm.error: what TVM raises, by the names that it has here."""
from ..errors import DeadlineExceeded, Error, InternalError, InvalidInput, Unsupported

TVMError = OpError = Error
DiagnosticError = InvalidInput
OpNotImplemented = Unsupported


class OpAttributeRequired(OpError, AttributeError):
    """An attribute of an operator is not given."""


class OpAttributeInvalid(OpError, AttributeError):
    """An attribute of an operator has a value that it must not have."""


class OpAttributeUnImplemented(Unsupported):
    """An attribute of an operator has a value that there is no code for."""


class RPCError(Error):
    """A machine elsewhere failed; there is none here."""


class RPCSessionTimeoutError(RPCError, TimeoutError):
    """A machine elsewhere took too long; there is none here."""


def register_error(func_name=None, cls=None):
    """Of TVM, where errors of C++ are found by their names; gives the class as it is."""
    if isinstance(func_name, type):
        return func_name
    return cls if cls is not None else lambda made: made


__all__ = ["DeadlineExceeded", "DiagnosticError", "InternalError", "OpAttributeInvalid", "OpAttributeRequired", "OpAttributeUnImplemented", "OpError",
           "OpNotImplemented", "RPCError", "RPCSessionTimeoutError", "TVMError", "register_error"]
