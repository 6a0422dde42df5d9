"""Arrays and devices: `tvm.nd`. An `NDArray` is numpy's, with TVM's methods."""
import numpy

from ..compiler import relay as _relay


class Device:
    """A place for arrays; there is the processor alone."""

    _NUMBERS = {1: "cpu", 2: "cuda"}

    def __init__(self, device_type, device_id=0):
        self.device_type, self.device_id = self._NUMBERS.get(device_type, device_type), device_id

    @property
    def exist(self):
        return self.device_type == "cpu"

    def sync(self, stream=None):
        """Runs end before they give their results."""

    def __eq__(self, other):
        return isinstance(other, Device) and (self.device_type, self.device_id) == (other.device_type, other.device_id)

    def __hash__(self):
        return hash((self.device_type, self.device_id))

    def __repr__(self):
        return f"{self.device_type}({self.device_id})"


def device(dev_type, dev_id=0):
    """The device of a target."""
    kind = str(dev_type).split()[0]
    return Device("cpu" if kind in ("llvm", "cpu", "c") else kind, dev_id)


def cpu(dev_id=0):
    """The processor."""
    return Device("cpu", dev_id)


def cuda(dev_id=0):
    """A device that is not there: exist is False."""
    return Device("cuda", dev_id)


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

    @property
    def handle(self):
        """Where its elements are."""
        return self.ctypes.data

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


_relay.Constant._array_type = NDArray


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


def from_dlpack(tensor):
    """An array of a tensor with DLPack, in its memory."""
    return numpy.from_dlpack(tensor).view(NDArray)


def gpu(dev_id=0):
    """A device that is not there: exist is False."""
    return cuda(dev_id)


__all__ = ["Device", "NDArray", "array", "cpu", "cuda", "device", "empty", "from_dlpack", "gpu", "numpyasarray"]
