"""tvm.ir.supply: names that nothing has yet."""
from ...compiler.supply import GlobalVarSupply, NameSupply

__all__ = ["GlobalVarSupply", "NameSupply"]
