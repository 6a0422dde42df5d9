"""tvm.topi.arm_cpu: functions that passes ask."""
from . import qnn_legalize

__all__ = ["qnn_legalize"]
