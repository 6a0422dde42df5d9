"""tvm._ffi.runtime_ctypes: dtypes and devices."""
import re

import numpy

from ..elsewhere import elsewhere
from ..nd import Device

RPC_SESS_MASK = 128


class DataTypeCode:
    """Kinds of dtypes, by number."""

    INT, UINT, FLOAT, HANDLE, BFLOAT, E4M3Float, E5M2Float = range(7)


class ArgTypeCode:
    """Kinds of arguments of TVM's functions, by number."""

    (INT, UINT, FLOAT, HANDLE, NULL, TVM_TYPE, DLDEVICE, DLTENSOR_HANDLE, OBJECT_HANDLE, MODULE_HANDLE, PACKED_FUNC_HANDLE, STR, BYTES,
     NDARRAY_HANDLE, OBJECT_RVALUE_REF_ARG) = range(15)
    EXT_BEGIN = 15


_KINDS = {"int": DataTypeCode.INT, "uint": DataTypeCode.UINT, "float": DataTypeCode.FLOAT, "handle": DataTypeCode.HANDLE,
          "bfloat": DataTypeCode.BFLOAT,
          "e4m3_float": DataTypeCode.E4M3Float, "e5m2_float": DataTypeCode.E5M2Float}
_BITS = {"int": 32, "uint": 32, "float": 32, "handle": 64, "bfloat": 16, "e4m3_float": 8, "e5m2_float": 8}


class DataType(str):
    """A dtype, by its name, which it is as a text: type_code, bits, lanes."""

    CODE2STR = {code: name for name, code in _KINDS.items()}
    NUMPY2STR = {numpy.dtype(name): name for name in ("bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "float16",
                                                       "float32", "float64")}

    def __new__(cls, type_str):
        text = cls.NUMPY2STR.get(type_str, type_str) if not isinstance(type_str, str) else type_str
        if text == "bool":
            kind, bits, lanes = DataTypeCode.UINT, 1, 1
        else:
            found = re.fullmatch(r"(e4m3_float|e5m2_float|bfloat|float|uint|int|handle)(\d*)(?:x(\d+))?", str(text) or "handle")
            if found is None:
                raise ValueError(f"there is no dtype {text}")
            kind, bits, lanes = _KINDS[found[1]], int(found[2] or _BITS[found[1]]), int(found[3] or 1)
        name = "bool" if (kind, bits) == (DataTypeCode.UINT, 1) else f"{cls.CODE2STR[kind]}{bits}"
        made = super().__new__(cls, name + (f"x{lanes}" if lanes != 1 else ""))
        made.type_code, made.bits, made.lanes = kind, bits, lanes
        return made

    def __repr__(self):
        return str(self)

    def itemsize(self):
        """Bytes of one."""
        return (self.bits + 7) // 8 * self.lanes


def __getattr__(name):
    if name in ("ObjectRValueRef", "TVMArray", "TVMArrayHandle", "TVMByteArray", "PackedFuncHandle", "check_call",
                "tvm_shape_index_t"):
        return elsewhere(f"_ffi.runtime_ctypes.{name}", "arrays go to C and C++ by DLPack: tvm.nd.array(x).to_dlpack()")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


__all__ = ["ArgTypeCode", "DataType", "DataTypeCode", "Device", "RPC_SESS_MASK"]
