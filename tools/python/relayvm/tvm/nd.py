"""Arrays and devices: `tvm.nd`. An `NDArray` is numpy's, with TVM's methods."""
import numpy


class Device:
    """A place for arrays; there is the processor alone."""

    def __init__(self, device_type, device_id=0):
        self.device_type, self.device_id = device_type, device_id

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

    def copyfrom(self, source):
        """Takes another's elements."""
        self[...] = source
        return self

    def copyto(self, target):
        """An array of that device, or `target` itself, with its elements."""
        if isinstance(target, Device):
            _check(target)
            return array(self)
        target[...] = self
        return target


def array(arr, device=None, mem_scope=None):
    """A copy, as an array of the runtime."""
    _check(device)
    return numpy.array(arr, order="C").view(NDArray)


def empty(shape, dtype="float32", device=None, mem_scope=None):
    """An array whose elements may be any."""
    _check(device)
    return numpy.empty(shape, dtype).view(NDArray)


def _wrapped(value):
    """A result, as TVM gives it: tuples have arrays inside."""
    if isinstance(value, numpy.ndarray):
        return value.view(NDArray)
    return tuple(map(_wrapped, value)) if isinstance(value, tuple) else value


__all__ = ["Device", "NDArray", "array", "cpu", "cuda", "device", "empty"]
