"""tvm.relay.vm: programs for the VM."""
from ...compiler import compile as _compile


def compile(mod, target=None, target_host=None, params=None):
    """An executable of a module or function, for `tvm.runtime.vm.VirtualMachine`."""
    return _compile(mod, target or "llvm", params=params)


__all__ = ["compile"]
