"""tvm.relay.prelude: standard definitions, and tensor arrays."""
from ...compiler.prelude import Prelude as _Prelude
from ...compiler.prelude import StaticTensorArrayOps, TensorArrayOps, get_name, get_name_static
from ..ir.module import IRModule


class Prelude(_Prelude):
    """The standard definitions in a module: `hd`, `map`, `foldl` ... are their GlobalVars."""

    def __init__(self, mod=None):
        super().__init__(IRModule() if mod is None else mod)


__all__ = ["Prelude", "StaticTensorArrayOps", "TensorArrayOps", "get_name", "get_name_static"]
