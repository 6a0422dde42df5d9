"""Values on the border of a session: OrtValue, OrtDevice, SparseTensor."""
import ctypes
import math
from enum import IntEnum

import numpy as np

from .. import _native
from .elements import ONNX_NAMES, ONNX_NUMBERS, dtype_of, name_of

_ALIGNMENT = 64  # with which a tensor goes to the runtime without a copy
_DEVICES = {"cpu": 0, "cuda": 1, "gpu": 1, "dml": 1, "webgpu": 1, "fpga": 2, "npu": 3, "cann": 3}


class OrtDeviceVendorId(IntEnum):
    """Makers of devices."""

    NONE = 0
    AMD = 0x1002
    NVIDIA = 0x10DE
    ARM = 0x13B5
    MICROSOFT = 0x1414
    HUAWEI = 0x19E5
    QUALCOMM = 0x5143
    INTEL = 0x8086


_VENDORS = {"cuda": OrtDeviceVendorId.NVIDIA, "dml": OrtDeviceVendorId.MICROSOFT, "cann": OrtDeviceVendorId.HUAWEI}


class OrtDevice:
    """Where a tensor is: make("cpu", 0). Sessions run on the host; others have a name only."""

    def __init__(self, device_type, memory_type=0, *numbers):
        if isinstance(device_type, OrtDevice):
            device_type, memory_type, numbers = device_type._type, device_type._memory, (device_type._vendor, device_type._id)
        self._type, self._memory = device_type, memory_type
        self._vendor, self._id = numbers if len(numbers) == 2 else (0, *(numbers or (0,)))

    @staticmethod
    def make(ort_device_name, device_id, vendor_id=-1):
        """The device of a name: "cpu", "cuda", ..."""
        if ort_device_name not in _DEVICES:
            raise ValueError(f"OrtDevice.make: expected one of {', '.join(_DEVICES)}, found {ort_device_name!r}")
        vendor = vendor_id if vendor_id >= 0 else _VENDORS.get(ort_device_name, OrtDeviceVendorId.NONE)
        return OrtDevice(_DEVICES[ort_device_name], 0, int(vendor), device_id)

    def device_id(self):
        """Its number among those of its type."""
        return self._id

    def device_type(self):
        """0: a CPU."""
        return self._type

    def device_vendor_id(self):
        """An `OrtDeviceVendorId`."""
        return self._vendor

    def device_mem_type(self):
        """0: its own memory."""
        return self._memory

    mem_type, vendor_id = device_mem_type, device_vendor_id

    def _get_c_device(self):
        return self

    def __repr__(self):
        return f"OrtDevice({next(n for n, t in _DEVICES.items() if t == self._type)}, {self._id})"

    @staticmethod
    def default_memory():
        """The type of a device's own memory."""
        return 0


for _name, _number in _DEVICES.items():
    setattr(OrtDevice, _name, staticmethod(lambda number=_number: number))
    getattr(OrtDevice, _name).__doc__ = f"The number of the device type {_name}."


def need_host(device, what):
    """Nothing but the host's memory is a session's."""
    name = device if isinstance(device, str) else "cpu" if device.device_type() == 0 else repr(device)
    if name.lower() != "cpu":
        raise RuntimeError(f"{what}: sessions run on the CPU, and '{name}' is another device. Give \"cpu\", or compile for a device of "
                           "yours: rvm.compile(model, device=NAME) with rvm.Runtime(devices=[rvm.Device(...)])")


def empty(shape, dtype):
    """An array whose memory the runtime uses where it is."""
    dtype = np.dtype(dtype)
    if dtype == object:
        return np.empty(shape, object)
    count = math.prod(shape) * dtype.itemsize
    memory = np.empty(count + _ALIGNMENT, np.uint8)
    start = -memory.ctypes.data % _ALIGNMENT
    return memory[start:start + count].view(dtype).reshape(shape)


def at_address(address, shape, dtype):
    """The array of memory that is another's, which must stay there as long as it is used."""
    dtype = np.dtype(dtype)
    count = math.prod(shape) * dtype.itemsize
    if count == 0:
        return np.empty(shape, dtype)
    return np.frombuffer((ctypes.c_char * count).from_address(address), dtype).reshape(shape)


class _OfCapsule:
    """A capsule of DLPack as numpy takes it."""

    def __init__(self, capsule):
        self._capsule = capsule

    def __dlpack__(self, **_):
        return self._capsule

    def __dlpack_device__(self):
        return (1, 0)


class OrtValue:
    """A tensor, a sequence, a map or nothing, as a session takes and gives them.

    Of a numpy array the array itself, without a copy.
    """

    __slots__ = ("_value", "_text", "__weakref__")

    def __init__(self, value, text=None):
        if isinstance(value, OrtValue):
            value, text = value._value, value._text
        self._value, self._text = value, text

    @classmethod
    def ortvalue_from_numpy(cls, numpy_obj, device_type="cpu", device_id=0, vendor_id=-1):
        """Of an array, whose memory it is."""
        need_host(device_type, "ortvalue_from_numpy")
        if not isinstance(numpy_obj, (np.ndarray, np.generic)):
            raise TypeError(f"ortvalue_from_numpy: expected an array of numpy, found {type(numpy_obj).__name__}")
        return cls(np.ascontiguousarray(numpy_obj) if np.ndim(numpy_obj) else np.asarray(numpy_obj))

    @classmethod
    def ortvalue_from_numpy_with_onnx_type(cls, data, onnx_element_type):
        """Of an array of the bits of a type that numpy has not, by its number in onnx.TensorProto: bfloat16 as uint16."""
        if onnx_element_type not in ONNX_NAMES:
            raise ValueError(f"ortvalue_from_numpy_with_onnx_type: there is no element type {onnx_element_type}")
        return cls(np.ascontiguousarray(data), f"tensor({ONNX_NAMES[onnx_element_type]})")

    @classmethod
    def ortvalue_from_shape_and_type(cls, shape, element_type=np.float32, device_type="cpu", device_id=0, vendor_id=-1, memory_info=None):
        """A tensor whose elements are not set. element_type: numpy's dtype, or the number of onnx.TensorProto."""
        need_host(device_type if memory_info is None else memory_info.name, "ortvalue_from_shape_and_type")
        if element_type in (16, "bfloat16"):
            return cls(empty(shape, np.uint16), "tensor(bfloat16)")
        return cls(empty(shape, dtype_of(element_type)))

    ortvalue_from_shape_and_onnx_type = ortvalue_from_shape_and_type

    @classmethod
    def ortvalue_from_shape_and_type_for_memory_info(cls, shape, element_type, memory_info):
        """As ortvalue_from_shape_and_type, where an `OrtMemoryInfo` says."""
        return cls.ortvalue_from_shape_and_type(shape, element_type, memory_info=memory_info)

    ortvalue_from_shape_and_onnx_type_for_memory_info = ortvalue_from_shape_and_type_for_memory_info

    @classmethod
    def ort_value_from_sparse_tensor(cls, sparse_tensor):
        """Of a `SparseTensor`."""
        return cls(sparse_tensor, sparse_tensor.data_type())

    @classmethod
    def from_dlpack(cls, data, is_bool_tensor=False):
        """Of a tensor that has DLPack, or a capsule of it, without a copy."""
        source = data if hasattr(data, "__dlpack_device__") else _OfCapsule(data.__dlpack__() if hasattr(data, "__dlpack__") else data)
        need_host("cpu" if source.__dlpack_device__()[0] in (1, 3) else "cuda", "from_dlpack")
        try:
            array = np.from_dlpack(source)
        except (BufferError, RuntimeError):  # what numpy has no dtype for, or this numpy does not take
            value = _shared_runtime().from_dlpack(source)
            array = value if not isinstance(value, np.ndarray) else value
        return cls(array.view(np.bool_) if is_bool_tensor and array.dtype == np.uint8 else array)

    def _get_c_value(self):
        return self

    @property
    def _ortvalue(self):
        return self

    def _array(self, what):
        value = self._value
        if isinstance(value, np.ndarray):
            return value
        if isinstance(value, _native.Value):
            return value.numpy()
        raise RuntimeError(f"{what}: expected a tensor, found {self.data_type() or 'no value'}")

    def numpy(self):
        """The tensor as an array of the same memory. Of bfloat16: its bits, as uint16."""
        return self._array("numpy")

    def __array__(self, dtype=None, copy=None):
        array = self._array("__array__")
        if copy is False and dtype is not None and np.dtype(dtype) != array.dtype:
            raise ValueError(f"__array__: {array.dtype} as {np.dtype(dtype)} is a copy")
        return np.array(array, dtype, copy=True) if copy else array if dtype is None else array.astype(dtype, copy=False)

    def __dlpack__(self, *, stream=None, max_version=None, dl_device=None, copy=None):
        """The tensor as a capsule of DLPack."""
        value = self._value
        if not isinstance(value, np.ndarray):
            self._array("__dlpack__")
            return value.__dlpack__(stream=stream)
        element = self._element
        if element != "bfloat16":
            try:
                return value.__dlpack__(stream=stream)
            except BufferError:  # it is read-only, or of bools, which older numpy does not give
                pass
        return _native.tensor(value, element if element == "bfloat16" else value.dtype.name).__dlpack__()

    to_dlpack = __dlpack__

    def __dlpack_device__(self):
        self._array("__dlpack_device__")
        return (1, 0)

    def update_inplace(self, data):
        """Copies an array, or a tensor of another OrtValue, into this one's memory."""
        new, mine = data.numpy() if isinstance(data, OrtValue) else np.asarray(data), self._array("update_inplace")
        if new.size != mine.size or new.dtype != mine.dtype:
            raise RuntimeError(f"update_inplace: expected {mine.size} elements of {mine.dtype}, found {new.size} of {new.dtype}")
        np.copyto(mine, new.reshape(mine.shape))

    def data_ptr(self):
        """The address of the first element."""
        return self._array("data_ptr").ctypes.data

    def device_name(self):
        """"cpu"."""
        return "cpu"

    def shape(self):
        """The dims of a tensor, as a list."""
        return list(self._array("shape").shape)

    @property
    def _element(self):
        if self._text is not None:
            return self._text[self._text.index("(") + 1:-1]
        return name_of(self._value.dtype)

    def data_type(self):
        """The type, as NodeArg has it: "tensor(float)"."""
        if self._text is None and isinstance(self._value, (np.ndarray, _native.Value)):
            self._text = f"tensor({name_of(self._value.dtype)})"
        return self._text or ""

    def element_type(self):
        """The number of onnx.TensorProto of a tensor's elements."""
        self._array("element_type")
        return ONNX_NUMBERS[self._element]

    def tensor_size_in_bytes(self):
        """Of all elements."""
        return self._array("tensor_size_in_bytes").nbytes

    def has_value(self):
        """False for an optional value that is none."""
        return self._value is not None

    def is_tensor(self):
        """Whether it is a tensor."""
        return isinstance(self._value, (np.ndarray, _native.Value))

    def is_sparse_tensor(self):
        """Whether it is a `SparseTensor`."""
        return isinstance(self._value, SparseTensor)

    def is_tensor_sequence(self):
        """Whether it is a sequence of tensors."""
        return isinstance(self._value, list) and "map(" not in self.data_type()

    def as_sparse_tensor(self):
        """The `SparseTensor`."""
        if not self.is_sparse_tensor():
            raise RuntimeError(f"as_sparse_tensor: expected a sparse tensor, found {self.data_type() or 'no value'}")
        return self._value

    def __repr__(self):
        return f"<OrtValue: {self.data_type()}{f' {self.shape()}' if self.is_tensor() else ''}>"


def _shared_runtime():
    from ..runtime import default_runtime
    return default_runtime()


class OrtValueVector(list):
    """A list of `OrtValue`, with ONNX Runtime's methods."""

    push_back = list.append

    def push_back_batch(self, tensors, data_ptrs, element_types, shapes, devices):
        """Tensors at addresses."""
        for address, element, shape in zip(data_ptrs, element_types, shapes):
            self.append(OrtValue(at_address(address, shape, dtype_of(element))))

    def reserve(self, size):
        """Nothing: a list grows by itself."""

    def shrink_to_fit(self):
        """Nothing."""

    def element_type_at(self, idx):
        """The number of onnx.TensorProto of a tensor's elements."""
        return self[idx].element_type()

    def dlpack_at(self, index):
        """A tensor as a capsule of DLPack."""
        return self[index].to_dlpack()

    def to_dlpacks(self, to_tensor=None):
        """All tensors as capsules of DLPack, or what to_tensor makes of them."""
        return [one.to_dlpack() if to_tensor is None else to_tensor(one.to_dlpack()) for one in self]


def copy_tensors(src, dst, stream=None):
    """Copies the elements of each `OrtValue` of src into that of dst."""
    src, dst = list(src), list(dst)
    if len(src) != len(dst):
        raise ValueError(f"copy_tensors: expected as many tensors in dst as in src, found {len(dst)} and {len(src)}")
    for source, target in zip(src, dst):
        target.update_inplace(source)


class OrtSparseFormat(IntEnum):
    """Forms of sparse tensors."""

    ORT_SPARSE_UNDEFINED = 0
    ORT_SPARSE_COO = 1
    ORT_SPARSE_CSRC = 2
    ORT_SPARSE_BLOCK_SPARSE = 4


def _frozen(array, dtype=None):
    view = np.asarray(array, dtype).view()
    view.flags.writeable = False
    return view


class SparseCooView:
    """Places of the values of a tensor in this form."""

    def __init__(self, indices):
        self._indices = indices

    def indices(self):
        """Of each value the place in the flat tensor, or one for each dim."""
        return self._indices


class SparseCsrView:
    """Places of the values of a tensor in this form."""

    def __init__(self, inner, outer):
        self._inner, self._outer = inner, outer

    def inner(self):
        """The column of each value."""
        return self._inner

    def outer(self):
        """Where each row begins among the values, and the end."""
        return self._outer


class SparseBlockSparseView(SparseCooView):
    """Places of the blocks of a tensor in this form."""


class SparseTensor:
    """Values and indices of a sparse tensor. It holds them; sessions take dense tensors: `to_dense`."""

    def __init__(self, dense_shape, values, form, **indices):
        self._shape, self._format = [int(d) for d in dense_shape], form
        self._values, self._indices = _frozen(values), {name: _frozen(i, np.int64) for name, i in indices.items()}

    @classmethod
    def sparse_coo_from_numpy(cls, dense_shape, values, coo_indices, ort_device):
        """By the places of its values: of each the place in the flat tensor, or one for each dim."""
        need_host(ort_device, "sparse_coo_from_numpy")
        if np.asarray(coo_indices).size not in (len(values), len(values) * len(dense_shape)):
            raise RuntimeError(f"sparse_coo_from_numpy: expected {len(values)} indices, or {len(dense_shape)} times as many, found "
                               f"{np.asarray(coo_indices).size}")
        return cls(dense_shape, values, OrtSparseFormat.ORT_SPARSE_COO, indices=coo_indices)

    @classmethod
    def sparse_csr_from_numpy(cls, dense_shape, values, inner_indices, outer_indices, ort_device):
        """By columns of its values, and where each row begins."""
        need_host(ort_device, "sparse_csr_from_numpy")
        if len(inner_indices) != len(values) or len(outer_indices) != dense_shape[0] + 1:
            raise RuntimeError(f"sparse_csr_from_numpy: expected {len(values)} inner and {dense_shape[0] + 1} outer indices, found "
                               f"{len(inner_indices)} and {len(outer_indices)}")
        return cls(dense_shape, values, OrtSparseFormat.ORT_SPARSE_CSRC, inner=inner_indices, outer=outer_indices)

    @classmethod
    def blocksparse_from_numpy(cls, dense_shape, values, block_indices, ort_device):
        """By the places of blocks of values."""
        need_host(ort_device, "blocksparse_from_numpy")
        return cls(dense_shape, values, OrtSparseFormat.ORT_SPARSE_BLOCK_SPARSE, indices=block_indices)

    def values(self):
        """The values, which cannot be written."""
        return self._values

    def _view(self, form, what):
        if self._format != form:
            raise RuntimeError(f"{what}: the tensor's form is {self._format.name}")
        kind = {OrtSparseFormat.ORT_SPARSE_COO: SparseCooView, OrtSparseFormat.ORT_SPARSE_CSRC: SparseCsrView}.get(form, SparseBlockSparseView)
        return kind(**self._indices)

    def as_coo_view(self):
        """indices()"""
        return self._view(OrtSparseFormat.ORT_SPARSE_COO, "as_coo_view")

    def as_csrc_view(self):
        """inner() and outer()"""
        return self._view(OrtSparseFormat.ORT_SPARSE_CSRC, "as_csrc_view")

    def as_blocksparse_view(self):
        """There are no blocks here."""
        return self._view(OrtSparseFormat.ORT_SPARSE_BLOCK_SPARSE, "as_blocksparse_view")

    get_coo_data, get_csrc_data, get_blocksparse_data = as_coo_view, as_csrc_view, as_blocksparse_view

    def to_dense(self):
        """The tensor as an array, which a session takes."""
        if self._format == OrtSparseFormat.ORT_SPARSE_BLOCK_SPARSE:
            raise NotImplementedError("to_dense: of a tensor of blocks; give one by places: sparse_coo_from_numpy, or by rows: sparse_csr_from_numpy")
        dense = np.zeros(self._shape, self._values.dtype)
        if self._format == OrtSparseFormat.ORT_SPARSE_CSRC:
            rows = np.repeat(np.arange(self._shape[0]), np.diff(self._indices["outer"]))
            dense[rows, self._indices["inner"]] = self._values
        elif (indices := self._indices["indices"]).size == self._values.size and len(self._shape) != 1:
            dense.reshape(-1)[indices.reshape(-1)] = self._values
        else:
            dense[tuple(indices.reshape(len(self._values), -1).T)] = self._values
        return dense

    def __array__(self, dtype=None, copy=None):
        raise TypeError("sessions take dense tensors: give SparseTensor.to_dense()")

    def to_cuda(self, ort_device):
        """There is no other device here."""
        need_host(ort_device, "to_cuda")
        raise RuntimeError("to_cuda: expected a device of CUDA, and sessions run on the CPU")

    def format(self):
        """An `OrtSparseFormat`."""
        return self._format

    def dense_shape(self):
        """The dims of the tensor, as a list."""
        return self._shape

    def data_type(self):
        """"sparse_tensor(float)\""""
        return f"sparse_tensor({name_of(self._values.dtype)})"

    def device_name(self):
        """"cpu"."""
        return "cpu"


class OrtMemType(IntEnum):
    """Whose memory."""

    CPU_INPUT = -2
    CPU_OUTPUT = -1
    CPU = -1
    DEFAULT = 0


class OrtAllocatorType(IntEnum):
    """How memory is taken; the runtime keeps its own."""

    INVALID = -1
    ORT_DEVICE_ALLOCATOR = 0
    ORT_ARENA_ALLOCATOR = 1


class ArenaExtendStrategy(IntEnum):
    """How an arena grows; the runtime's own says that itself."""

    kNextPowerOfTwo = 0  # noqa: N815 (ONNX Runtime's names)
    kSameAsRequested = 1  # noqa: N815


class OrtDeviceMemoryType(IntEnum):
    """A device's own memory, or such as the host reaches too."""

    DEFAULT = 0
    HOST_ACCESSIBLE = 5


class OrtMemoryInfoDeviceType(IntEnum):
    """Kinds of devices."""

    CPU = 0
    GPU = 1
    FPGA = 2
    NPU = 3


class OrtMemoryInfo:
    """Where memory is: name, allocator_type, device_id, mem_type, device_mem_type, device_vendor_id."""

    def __init__(self, name="Cpu", allocator_type=OrtAllocatorType.ORT_DEVICE_ALLOCATOR, device_id=0, mem_type=OrtMemType.DEFAULT):
        self.name, self.allocator_type, self.device_id, self.mem_type = name, allocator_type, device_id, mem_type
        self.device_mem_type, self.device_vendor_id = OrtDeviceMemoryType.DEFAULT, 0

    @classmethod
    def create_v2(cls, name, device_type, vendor_id, device_id, device_mem_type, alignment, allocator_type):
        """With the maker of the device, and what kind of memory it is."""
        info = cls(name, allocator_type, device_id)
        info.device_mem_type, info.device_vendor_id = device_mem_type, vendor_id
        return info


class OrtArenaCfg:
    """Bounds of an arena, in order or as a dict; the runtime's own (rvm.Runtime(memory_limit=)) are others."""

    _NAMES = ("max_mem", "arena_extend_strategy", "initial_chunk_size_bytes", "max_dead_bytes_per_chunk", "initial_growth_chunk_size_bytes",
              "max_power_of_two_extend_bytes")

    def __init__(self, *values):
        given = values[0] if len(values) == 1 and isinstance(values[0], dict) else dict(zip(self._NAMES, values))
        unknown = [name for name in given if name not in self._NAMES]
        if unknown or len(values) > 4:
            raise ValueError(f"OrtArenaCfg: expected {', '.join(self._NAMES[:4])}, or a dict of {', '.join(self._NAMES)}, found {values}")
        for name in self._NAMES:
            setattr(self, name, given.get(name, -1))
