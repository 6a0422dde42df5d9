"""tvm.error: what TVM raises, by the names that it has here."""
from ..errors import Error, InvalidInput, Unsupported

TVMError = Error
DiagnosticError = InvalidInput
OpNotImplemented = Unsupported

__all__ = ["DiagnosticError", "OpNotImplemented", "TVMError"]
