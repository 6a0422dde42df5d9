"""tvm.relay.qnn.transform: passes over quantised operators."""
from ....compiler.passes.quantised import QnnCanonicalizeOps as CanonicalizeOps
from ....compiler.passes.quantised import QnnLegalize as Legalize

__all__ = ["CanonicalizeOps", "Legalize"]
