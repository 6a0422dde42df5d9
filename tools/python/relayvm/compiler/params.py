"""Weights in TVM's parameter format: `save_param_dict` writes what `load_params` and `load_param_dict` read."""
import os
import struct
import tempfile

_FILE, _ARRAY = 0xF7E58D4F05049CB7, 0xDD5E40F096B4A13F
_CODES = {"i": 0, "u": 1, "f": 2, "b": 1}


def save_param_dict(params):
    """The bytes of arrays by name."""
    import numpy
    out = bytearray(struct.pack("<QQQ", _FILE, 0, len(params)))
    for name in params:
        text = name.encode()
        out += struct.pack("<Q", len(text)) + text
    out += struct.pack("<Q", len(params))
    for name, value in params.items():
        array = numpy.ascontiguousarray(value).reshape(numpy.shape(value))
        if array.dtype.kind not in _CODES:
            raise TypeError(f"save_param_dict: {name}: the format has no {array.dtype}")
        bits = 1 if array.dtype.kind == "b" else array.dtype.itemsize * 8
        out += struct.pack("<QQiiiBBH", _ARRAY, 0, 1, 0, array.ndim, _CODES[array.dtype.kind], bits, 1)
        out += struct.pack(f"<{array.ndim}q", *array.shape) + struct.pack("<q", array.nbytes) + array.tobytes()
    return out


def load_param_dict(param_bytes):
    """Arrays by name, of the bytes of a parameter file."""
    from . import load_params
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "weights.params")
        with open(path, "wb") as file:
            file.write(bytes(param_bytes))
        return {name: value.copy() for name, value in load_params(path).items()}
