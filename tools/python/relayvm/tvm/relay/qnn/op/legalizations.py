"""tvm.relay.qnn.op.legalizations: functions that qnn.transform.Legalize asks."""
from .....compiler.passes.quantised import hardswish_func, register_qnn_legalize

__all__ = ["hardswish_func", "register_qnn_legalize"]
