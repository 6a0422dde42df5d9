"""Values on devices: the host as one."""
import gc
import subprocess
import sys

import numpy as np
import pytest

import relayvm as rvm

TEXT = """#[version = "0.0.5"]
def @main(%x: Tensor[(?, 4), float32], %w: Tensor[(4, 4), float32]) { nn.relu(nn.dense(%x, %w)) }
"""
X = np.arange(12, dtype="f4").reshape(3, 4) - 5
W = np.eye(4, dtype="f4")


def on(device, **options):
    runtime = rvm.Runtime(devices=[device], **options)
    return runtime, rvm.compile_model(rvm.parse(TEXT), device="npu", runtime=runtime)


def test_inputs_and_results_stay_there():
    device = rvm.Device("npu")
    runtime, model = on(device)
    expected = np.maximum(X @ W.T, 0)
    np.testing.assert_array_equal(model(X, W), expected)
    there = runtime.copy_to(X, device)
    assert there.device == device and there.device.name == "npu"
    assert there.shape == (3, 4) and there.dtype == "float32"
    np.testing.assert_array_equal(model(there, W), expected)
    left = model(there, W, out=device)
    assert isinstance(left, rvm.Value) and left.device == device
    np.testing.assert_array_equal(runtime.copy_to(left), expected)
    np.testing.assert_array_equal(runtime.copy_to(model(left, W, out=[device])), expected)
    del runtime, model
    gc.collect()
    assert left.device == device  # it outlives them
    np.testing.assert_array_equal(rvm.Runtime(devices=[device]).copy_to(left), expected)


def test_what_is_wrong_is_said():
    device, other = rvm.Device("npu"), rvm.Device("gpu7")
    runtime, model = on(device)
    there = runtime.copy_to(X, device)
    with pytest.raises(TypeError, match="on device 'npu', which is no array"):
        there.numpy()
    with pytest.raises(rvm.Unsupported, match="no number for device 'npu'"):
        there.__dlpack__()
    with pytest.raises(BufferError, match="no number for device 'npu'"):
        there.__dlpack_device__()
    with pytest.raises(rvm.InvalidArgument, match="has not device 'gpu7'.*its devices: npu"):
        runtime.copy_to(X, other)
    with pytest.raises(rvm.InvalidArgument, match="has not device 'gpu7', of output 0"):
        model(X, W, out=other)
    with pytest.raises(rvm.InvalidArgument, match="has not device 'npu', of input 0"):
        rvm.compile_model(rvm.parse(TEXT))(there, W)
    with pytest.raises(rvm.Unsupported, match="needs device 'npu'"):
        rvm.compile_model(rvm.parse(TEXT), device="npu")(X, W)
    with pytest.raises(TypeError, match="devices: expected a list of Device"):
        rvm.Runtime(devices=["npu"])
    with pytest.raises(TypeError, match="device: expected a Device or None"):
        runtime.copy_to(X, "npu")
    with pytest.raises(TypeError, match="expected a Value or an array"):
        runtime.copy_to([1, 2], device)
    with pytest.raises(TypeError):
        rvm.Device(3)


def test_limits():
    device = rvm.Device("npu")
    runtime, _ = on(device, device_memory_limit=1024)
    held = [runtime.copy_to(np.zeros(128, "f4"), device) for _ in range(2)]
    with pytest.raises(rvm.ResourceExhausted, match="the runtime's limit there is 1024"):
        runtime.copy_to(X, device)
    del held
    gc.collect()
    runtime.copy_to(X, device)


def test_dlpack_of_the_host():
    runtime = rvm.Runtime()
    value = runtime.from_dlpack(rvm.tensor(X))
    assert value.device is None
    np.testing.assert_array_equal(value.numpy(), X)

    class Elsewhere:
        def __dlpack__(self, **_):
            return rvm.tensor(X)

    with pytest.raises(TypeError, match="capsule"):
        runtime.from_dlpack(Elsewhere())


def test_a_device_of_a_capsule():
    import ctypes
    make = ctypes.pythonapi.PyCapsule_New
    make.restype, make.argtypes = ctypes.py_object, [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]
    functions = (ctypes.c_uint64 * 20)()
    address = ctypes.addressof(functions)
    with pytest.raises(TypeError, match="relayvm_device_functions"):
        rvm.Device(make(address, b"another", None))
    with pytest.raises(rvm.InvalidArgument, match="struct_size"):
        rvm.Device(make(address, b"relayvm_device_functions", None))
    functions[0] = ctypes.sizeof(functions)
    with pytest.raises(rvm.InvalidArgument, match="name is NULL"):
        rvm.Device(make(address, b"relayvm_device_functions", None))


def test_a_run_waits_for_functions_that_need_the_gil():
    # In a process of its own: where somebody waits with the GIL, for ever.
    code = '''
import ctypes as C, faulthandler, os, threading
import numpy as np
import relayvm as rvm
faulthandler.dump_traceback_later(60, exit=True)
V, held, memory = C.c_void_p, [], {}
def function(result, args, f):
    made = C.CFUNCTYPE(result, *args)(f)
    held.append(made)
    return C.cast(made, V).value
def give(out):
    C.cast(out, C.POINTER(V))[0] = 1
def allocate(user, queue, size):
    block = C.create_string_buffer(size + 64)
    at = (C.addressof(block) + 63) & ~63
    memory[at] = block
    return at
def copy(user, queue, to, source, size):
    C.memmove(to, source, size)
def notify(user, queue, done, context):
    threading.Timer(.01, lambda: C.CFUNCTYPE(None, V)(done)(context)).start()
none = lambda *_: None
functions = [function(V, [V, V, C.c_size_t, V], lambda user, image, size, out: give(out)), function(None, [V, V], none),
             function(V, [V, V, C.c_char_p, C.c_uint64], lambda *_: 1), function(V, [V, V], lambda user, out: give(out)),
             function(None, [V, V], none), function(V, [V, V, C.c_size_t], allocate), function(None, [V, V, V], none),
             function(None, [V, V, V], none), function(None, [V, V], none), function(None, [V, V, V], none),
             function(None, [V, V, V, V, C.c_size_t], copy), function(None, [V, V, V, V, C.c_size_t], copy),
             function(None, [V] * 4, notify), function(None, [V, V, V], none), function(None, [V, V], none)]
name = C.create_string_buffer(b"npu")
struct = (C.c_uint64 * 20)(160, C.addressof(name), 0, *functions, 0, 0)
capsule = C.pythonapi.PyCapsule_New
capsule.restype, capsule.argtypes = C.py_object, [V, C.c_char_p, V]
device = rvm.Device(capsule(C.addressof(struct), b"relayvm_device_functions", None))
text = '#[version = "0.0.5"] def @main(%x: Tensor[(3, 4), float32]) { negative(%x) }'
model = rvm.compile_model(rvm.parse(text), device="npu", runtime=rvm.Runtime(devices=[device]))
assert model(np.ones((3, 4), "f4")).shape == (3, 4)
print("it has run", flush=True)
os._exit(0)  # its end would wait with the GIL
'''
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert ran.stdout == "it has run\n", ran.stderr
