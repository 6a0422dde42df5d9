"""tvm.relay.analysis.feature: kinds of expressions."""
from ....compiler.analysis import Feature, detect_feature

__all__ = ["Feature", "detect_feature"]
