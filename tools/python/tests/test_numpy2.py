"""Results and inputs with numpy 2, whose arrays pybind11 does not know in all.

Runs with the interpreter's numpy where that is one, or with that in the folder RELAYVM_NUMPY2 (a site-packages of the same Python).
"""
import os
import subprocess
import sys

import numpy as np
import pytest

import relayvm

PROGRAM = r"""
import numpy as np

import relayvm as rvm

assert int(np.__version__.split(".")[0]) >= 2, np.__version__
HEADER = '#[version = "0.0.5"]\n'
DTYPES = "bool int8 int16 int32 int64 uint8 uint16 uint32 uint64 float16 float32 float64".split()
for dtype in DTYPES:
    model = rvm.compile(HEADER + f"def @main(%x: Tensor[(?, ?, ?), {dtype}]) {{ (%x, transpose(%x, axes=[2, 0, 1])) }}").load()
    whole = np.arange(4 * 6 * 10).reshape(4, 6, 10).astype(dtype)
    # In order, with gaps, backwards, transposed, of one element, empty.
    for x in (whole, whole[::2, 1:, ::3], whole[::-1, :, ::-1], whole.T, whole[:1, :1, :1], whole[:0]):
        same, moved = (np.asarray(y) for y in model(x))
        for y, expected in ((same, x), (moved, x.transpose(2, 0, 1))):
            assert y.dtype == expected.dtype and y.shape == expected.shape, (dtype, y.dtype, y.shape, expected.shape)
            assert np.array_equal(y, expected), dtype
            plain = np.ascontiguousarray(expected)
            # Of dims of 1 and of empty arrays strides say nothing.
            assert y.size < 2 or all(a == b for a, b, n in zip(y.strides, plain.strides, y.shape) if n > 1), (dtype, y.strides)
            assert y.flags.c_contiguous
    scalar = rvm.compile(HEADER + f"def @main(%x: {dtype}) {{ %x }}").load()
    y = np.asarray(scalar(np.dtype(dtype).type(1)))
    assert y.dtype == dtype and y.shape == () and y.strides == () and y == 1, (dtype, y)
print("all dtypes")
"""


def test_strides_and_dtypes_of_results():
    env = dict(os.environ)
    paths = [os.path.dirname(os.path.dirname(relayvm.__file__))]
    if int(np.__version__.split(".")[0]) < 2:
        if "RELAYVM_NUMPY2" not in os.environ:
            pytest.skip("no numpy 2: RELAYVM_NUMPY2 names no folder that has it")
        paths.insert(0, os.environ["RELAYVM_NUMPY2"])
    env["PYTHONPATH"] = os.pathsep.join(paths)
    run = subprocess.run([sys.executable, "-c", PROGRAM], env=env, capture_output=True, text=True, timeout=300)
    assert run.returncode == 0, run.stderr
    assert run.stdout == "all dtypes\n"
