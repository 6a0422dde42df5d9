"""Types of elements: ONNX's numbers, ONNX Runtime's names and numpy's dtypes."""
import numpy as np

# ONNX's number: ONNX Runtime's name, numpy's (None: it has none).
_ROWS = {1: ("float", "float32"), 2: ("uint8", "uint8"), 3: ("int8", "int8"), 4: ("uint16", "uint16"), 5: ("int16", "int16"),
         6: ("int32", "int32"), 7: ("int64", "int64"), 8: ("string", "object"), 9: ("bool", "bool"), 10: ("float16", "float16"),
         11: ("double", "float64"), 12: ("uint32", "uint32"), 13: ("uint64", "uint64"), 14: ("complex64", None), 15: ("complex128", None),
         16: ("bfloat16", None), 17: ("float8e4m3fn", None), 18: ("float8e4m3fnuz", None), 19: ("float8e5m2", None),
         20: ("float8e5m2fnuz", None), 21: ("uint4", None), 22: ("int4", None), 23: ("float4e2m1", None)}
ONNX_NAMES = {number: name for number, (name, _) in _ROWS.items()}
ONNX_NUMBERS = {name: number for number, name in ONNX_NAMES.items()}
_NAMES = {numpy_name: name for name, numpy_name in _ROWS.values() if numpy_name}
_DTYPES = {name: np.dtype(numpy_name) for name, numpy_name in _ROWS.values() if numpy_name}


def name_of(dtype):
    """ONNX Runtime's name of a dtype of numpy, or of ours: "float" of float32."""
    if isinstance(dtype, str) and dtype in ONNX_NUMBERS and dtype not in _NAMES:
        return dtype
    dtype = np.dtype(dtype)
    if dtype.kind in "USOV":
        return "string" if dtype.kind != "V" or dtype.name.startswith("void") else dtype.name
    return _NAMES.get(dtype.name, dtype.name)


def dtype_of(element):
    """numpy's dtype of an ONNX number, a name of ONNX Runtime's, or a dtype."""
    if isinstance(element, int) and not isinstance(element, bool):
        if element not in ONNX_NAMES:
            raise ValueError(f"element type: expected a dtype, or a number of onnx.TensorProto (1 to {max(ONNX_NAMES)}), found {element}")
        element = ONNX_NAMES[element]
    if isinstance(element, str) and element in ONNX_NUMBERS:
        if element not in _DTYPES:
            raise ValueError(f"element type: numpy has no {element}")
        return _DTYPES[element]
    return np.dtype(element)
