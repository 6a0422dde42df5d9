"""tvm.ir: modules that take functions, and what engines run."""
from ..compiler import Module
from ..compiler.regions import register_op_attr


class IRModule(Module):
    """A module whose functions can be set, as in TVM: mod["main"] = function. Passes give `relayvm.Module`s, which do not change."""

    def __setitem__(self, name, function):
        self.__init__(self._made_with({name: function}))

    def update_func(self, var, func):
        """mod[var] = func"""
        self[var] = func


__all__ = ["IRModule", "register_op_attr"]
