"""Arrays and devices: `tvm.nd`. An `NDArray` is numpy's, with TVM's methods."""
import numpy

from ..compiler import nodes as _nodes
from ..compiler.objects import Object
from ..errors import Unsupported


# Numbers of kinds of devices, as DLPack has them, and their names; the first of each number is how it is written.
_NAMES = {1: "cpu", 2: "cuda", 3: "cuda_host", 4: "opencl", 5: "aocl", 6: "sdaccel", 7: "vulkan", 8: "metal", 9: "vpi", 10: "rocm", 11: "rocm_host",
          12: "ext_dev", 13: "cuda_managed", 14: "oneapi", 15: "webgpu", 16: "hexagon", 17: "microdev"}
_NUMBERS = {name: number for number, name in _NAMES.items()} | {
    "llvm": 1, "stackvm": 1, "c": 1, "hybrid": 1, "composite": 1, "test": 1, "nvptx": 2, "cl": 4, "gpu": 2, "mtl": 8, "native": 1}


class Device(Object):
    """A place for arrays; there is the processor alone. device_type: its kind by number, or by name where it is made."""

    kDLCPU, kDLCUDA, kDLCUDAHost, kDLOpenCL, kDLAOCL, kDLSDAccel, kDLVulkan, kDLMetal, kDLVPI, kDLROCM, kDLROCMHost, kDLExtDev, kDLCUDAManaged, \
        kDLOneAPI, kDLWebGPU, kDLHexagon, kDLMicroDev = range(1, 18)
    kOpenGL = 11
    MASK2STR, STR2MASK = _NAMES, _NUMBERS
    # What is known of graphics cards alone.
    max_threads_per_block = warp_size = max_shared_memory_per_block = compute_version = device_name = max_clock_rate = multi_processor_count = \
        max_thread_dimensions = api_version = driver_version = l2_cache_size_bytes = total_global_memory = available_global_memory = None

    def __init__(self, device_type, device_id=0):
        self.device_type, self.device_id = _NUMBERS[device_type] if isinstance(device_type, str) else int(device_type), device_id

    @property
    def exist(self):
        """Whether programs run there."""
        return self.device_type == self.kDLCPU

    def sync(self, stream=None):
        """Runs end before they give their results."""

    def texture_spatial_limit(self):
        """Of graphics cards: none."""

    def create_raw_stream(self):
        """Refused: there are no streams."""
        raise Unsupported("Device.create_raw_stream: there is the processor alone, and runs end before they give their results; "
                          "relayvm.Runtime(num_threads) and asyncio run several")

    free_raw_stream = set_raw_stream = lambda self, stream: self.create_raw_stream()  # noqa: E731

    def __eq__(self, other):
        return isinstance(other, Device) and (self.device_type, self.device_id) == (other.device_type, other.device_id)

    def __hash__(self):
        return hash((self.device_type, self.device_id))

    def __repr__(self):
        return f"{_NAMES.get(self.device_type, self.device_type)}({self.device_id})"


def device(dev_type, dev_id=0):
    """The device of a kind, or of a target: "cpu", "llvm -mcpu=core-avx2"."""
    if isinstance(dev_type, int):
        return Device(dev_type, dev_id)
    kind = str(dev_type).split()[0]
    if kind not in _NUMBERS:
        raise ValueError(f"Unknown device type: {kind}; there are {', '.join(_NUMBERS)}")
    return Device(kind, dev_id)


def cpu(dev_id=0):
    """The processor."""
    return Device("cpu", dev_id)


def _elsewhere(kind):
    def make(dev_id=0):
        return Device(kind, dev_id)
    make.__name__ = make.__qualname__ = kind
    make.__doc__ = "A device that is not there: exist is False."
    return make


cuda, opencl, vulkan, metal, vpi, rocm, ext_dev, hexagon, webgpu = map(
    _elsewhere, ("cuda", "opencl", "vulkan", "metal", "vpi", "rocm", "ext_dev", "hexagon", "webgpu"))
cl, mtl, gpu = opencl, metal, cuda


def _check(where):
    if where is not None and not where.exist:
        raise ValueError(f"{where!r}: there is the processor alone; write tvm.cpu() and the target \"llvm\"")


class NDArray(numpy.ndarray):
    """An array of the runtime."""

    def numpy(self):
        """It as numpy's."""
        return self.view(numpy.ndarray)

    asnumpy = numpy

    @property
    def device(self):
        return cpu()

    ctx = device

    is_view = False

    @property
    def handle(self):
        """Where its elements are."""
        return self.ctypes.data

    def __repr__(self):
        return f"<tvm.nd.NDArray shape={self.shape}, {self.device}>\n{self.numpy()!r}"

    def __str__(self):
        return str(self.numpy())

    def same_as(self, other):
        """Whether it is the same array."""
        return self is other

    def copyfrom(self, source_array):
        """Takes another's elements, which are as many in each dim."""
        source = numpy.asarray(source_array, self.dtype)
        if source.shape != self.shape:
            raise ValueError(f"array shape do not match the shape of NDArray {source.shape} vs {self.shape}")
        self[...] = source
        return self

    def copyto(self, target, mem_scope=None):
        """An array of that device, or `target` itself, with its elements."""
        if isinstance(target, Device):
            _check(target)
            return array(self)
        target[...] = self
        return target

    def to_dlpack(self):
        """A DLPack capsule."""
        return self.numpy().__dlpack__()


_nodes.Constant._array_type = NDArray


def array(arr, device=None, mem_scope=None):
    """A copy, as an array of the runtime."""
    _check(device)
    return numpy.array(arr, order="C").view(NDArray)


def empty(shape, dtype="float32", device=None, mem_scope=None):
    """An array whose elements may be any."""
    _check(device)
    return numpy.empty(shape, dtype).view(NDArray)


def numpyasarray(np_data):
    """An array of numpy's, in its memory."""
    return numpy.ascontiguousarray(np_data).view(NDArray)


class _Capsule:
    """A DLPack capsule, as numpy takes it."""

    def __init__(self, capsule):
        self._capsule = capsule

    def __dlpack__(self, **_):
        return self._capsule

    def __dlpack_device__(self):
        return Device.kDLCPU, 0


class _Writable:
    """The memory of an array, to be written too."""

    def __init__(self, array):
        address, _ = array.__array_interface__["data"]
        self._array, self.__array_interface__ = array, {**array.__array_interface__, "data": (address, False)}


def from_dlpack(dltensor):
    """An array of a tensor with DLPack, or of a capsule, in its memory."""
    made = numpy.from_dlpack(dltensor if hasattr(dltensor, "__dlpack__") else _Capsule(dltensor))
    if not made.flags.writeable and not isinstance(dltensor, numpy.ndarray):  # as numpy marks what is others'
        made = numpy.asarray(_Writable(made))
    return made.view(NDArray)


__all__ = ["Device", "NDArray", "array", "cl", "cpu", "cuda", "device", "empty", "ext_dev", "from_dlpack", "gpu", "hexagon", "metal", "mtl",
           "numpyasarray", "opencl", "rocm", "vpi", "vulkan", "webgpu"]
