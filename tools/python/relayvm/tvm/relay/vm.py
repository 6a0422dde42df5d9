"""tvm.relay.vm: programs for the virtual machine."""
from ...compiler import compile as _compile
from ..runtime.vm import Executable
from .build_module import Executor, _of_main, _target_of, _with_main, optimize


def compile(mod, target=None, target_host=None, params=None):
    """An `Executable` of a module or function, for `tvm.runtime.vm.VirtualMachine`."""
    mod = _with_main(mod)
    return Executable(_compile(mod, _target_of(target), params=_of_main(mod, params)))


class VMCompiler:
    """The steps of `compile`: lower(mod, target), codegen(), get_exec()."""

    def __init__(self):
        self._params, self._mod, self._target, self._exec = {}, None, None, None

    def set_params(self, params):
        """Weights for the parameters of main."""
        self._params = dict(params)

    def get_params(self):
        """Those weights; once it is compiled they are in the program."""
        return dict(self._params)

    def lower(self, mod, target=None, target_host=None):
        """Takes the module."""
        self._mod, self._target, self._exec = _with_main(mod), _target_of(target), None
        self._mod._typed  # what is wrong with it is said here

    def optimize(self, mod, target=None, target_host=None, params=None):
        """(the module with its weights, after the compiler's passes that leave it Relay; the weights)."""
        return optimize(mod, target, params or self._params)

    def codegen(self):
        """Compiles it."""
        self._exec = Executable(_compile(self._mod, self._target, params=self._params))

    def get_exec(self):
        """The `Executable`."""
        if self._exec is None:
            self.codegen()
        return self._exec


class VMExecutor(Executor):
    """create_executor("vm")."""

    def __init__(self, mod, device, target):
        super().__init__("vm", mod, device, _target_of(target))


__all__ = ["VMCompiler", "VMExecutor", "compile"]
