"""Codes of dtypes, which operands of the simulated quantisation are."""
from ....compiler.operators import _DTYPE_CODES

SQNN_DTYPE_TO_CODE = dict(_DTYPE_CODES)
SQNN_CODE_TO_DTYPE = {code: dtype for dtype, code in _DTYPE_CODES.items()}
SQNN_DISABLE, SQNN_INT8, SQNN_UINT8, SQNN_INT32 = (_DTYPE_CODES[name] for name in ("disable", "int8", "uint8", "int32"))

__all__ = ["SQNN_CODE_TO_DTYPE", "SQNN_DISABLE", "SQNN_DTYPE_TO_CODE", "SQNN_INT32", "SQNN_INT8", "SQNN_UINT8"]
