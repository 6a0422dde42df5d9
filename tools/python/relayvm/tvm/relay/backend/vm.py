"""tvm.relay.backend.vm: compiles for the virtual machine."""
from ..vm import VMCompiler, VMExecutor, compile

__all__ = ["VMCompiler", "VMExecutor", "compile"]
