"""The programs of a session: its model compiled, for ranks and initializers that only a call tells."""
import logging
import mmap
import os
import re

import numpy as np

from .. import model as _models
from ..errors import Error
from . import maps
from .elements import dtype_of, name_of
from .errors import InvalidArgument, InvalidProtobuf, NoSuchFile, NotImplemented, translated
from .proto import Damaged, Initializer, ModelProto, message, tensor_proto

_log = logging.getLogger("relayvm.onnx")
_SHAPE = "relayvm.shape."  # entries of the configuration that say the shape of an input
_PROGRAM, _ORT_FORMAT = b"RVMX", b"ORTM"  # what files begin with; the second after four bytes


class NodeArg:
    """An input or output of a model: name, type ("tensor(float)"), shape (a str or None: a dim that may have any size)."""

    __slots__ = ("name", "type", "shape")

    def __init__(self, name, type, shape):  # noqa: A002 (ONNX Runtime's name)
        self.name, self.type, self.shape = name, type, shape

    def __repr__(self):
        return f"NodeArg(name={self.name!r}, type={self.type!r}, shape={self.shape})"


class ModelMetadata:
    """What a model says of itself."""

    def __init__(self, model=None):
        self.producer_name = model.producer_name if model else ""
        self.graph_name = model.graph_name if model else ""
        self.domain = model.domain if model else ""
        self.description = model.description if model else ""
        self.graph_description = model.graph_description if model else ""
        self.version = model.version if model else (1 << 63) - 1
        self.custom_metadata_map = dict(model.metadata) if model else {}


class Source:
    """A model as it was given: a path or bytes. path: None of bytes; content: None where the file is read."""

    def __init__(self, given):
        self.path = self.content = None
        if hasattr(given, "SerializeToString"):
            raise TypeError(f"InferenceSession: expected the path of a model or its bytes, found {type(given).__name__}: give "
                            "model.SerializeToString()")
        if isinstance(given, (bytes, bytearray, memoryview)):
            self.content = bytes(given)
        elif isinstance(given, (str, os.PathLike)):
            self.path = os.fspath(given)
            if not os.path.isfile(self.path):
                raise NoSuchFile(f"{self.path}: there is no such file")
        else:
            raise TypeError(f"InferenceSession: expected the path of a model or its bytes, found {type(given).__name__}")

    def mapped(self):
        """All bytes, without reading them."""
        if self.content is not None:
            return memoryview(self.content)
        with open(self.path, "rb") as file:
            return memoryview(mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)) if os.path.getsize(self.path) else memoryview(b"")


class Programs:
    """A model and what was compiled of it.

    inputs, outputs, overridable: lists of `NodeArg`. model: a `ModelProto`; None of a .vmx file. late: names of inputs whose rank the
    model does not say, so that the first run compiles.
    """

    def __init__(self, given, options, byoc, disabled):
        self._source, self._options, self._byoc, self._disabled = Source(given), options, byoc, disabled
        self._made, self.model, self.maps_in, self.maps_out, self.late, self.overridable = {}, None, {}, {}, [], []
        data = self._source.mapped()
        self.is_program = bytes(data[:4]) == _PROGRAM
        if bytes(data[4:8]) == _ORT_FORMAT:
            raise NotImplemented("a model in ONNX Runtime's own format (.ort): give the ONNX model that it was made of")
        if not self.is_program:
            self._read(data)

    def _read(self, data):
        try:
            self.model = model = ModelProto(data)
            self.maps_in, self.maps_out = maps.map_inputs(model), maps.zipped_outputs(model)
        except Error:
            raise
        except (Damaged, ValueError, AttributeError, TypeError, RecursionError) as error:
            raise InvalidProtobuf(f"{self._source.path or '<model>'}: expected an ONNX model: {error}") from error
        self._find_dims()
        self.inputs = [self._argument(one) for one in model.inputs]
        self.outputs = [self._argument(one) for one in model.outputs]
        self.overridable = [self._argument(one) for one in model.overridable]
        self.late = [one.name for one in model.inputs if _is_open(one.type)]
        self._edit()
        self.model.data = self.model.graph_data = None  # the file may change from here on

    def declared_outputs(self):
        """Types of the outputs, as the model says them."""
        return [one.type for one in self.model.outputs] if self.model is not None else []

    def _find_dims(self):
        """Sizes by the model's names of dims, and shapes of inputs with dims that have a denotation and no name."""
        self._dims, self._shapes = {}, {}
        by_name, by_denotation = self._options._dims_by_name, self._options._dims_by_denotation
        for one in self.model.inputs:
            for i, dim in enumerate(one.type.dims or ()):
                size = by_denotation.get(dim.denotation) if dim.denotation else None
                size = by_name.get(dim.name, size) if dim.name else size
                if size is None or dim.size is not None:
                    continue
                dim.size = size
                if dim.name:
                    self._dims[dim.name] = size
                else:
                    self._shapes.setdefault(one.name, [None] * len(one.type.dims))[i] = size

    def _argument(self, info):
        shape = []
        for dim in info.type.dims or ():
            size = self._dims.get(dim.name) if dim.size is None else dim.size
            shape.append(size if size is not None else dim.name)
        return NodeArg(info.name, info.type.text, shape)

    def _edit(self):
        """Puts initializers of the user's in, and takes maps out: the content is another then."""
        options = self._options
        given = {**options._initializers, **options._external}
        unknown = [name for name in given if name not in self.model.initializers]
        if unknown:
            raise InvalidArgument(f"initializer '{unknown[0]}': the model has none of that name; it has "
                                  f"{', '.join(list(self.model.initializers)[:20]) or 'none'}")
        if given or options._files:
            self._source.content = self.model.with_graph(lambda number, value: self._initializer(value, given) if number == 5 else None)
            self.model = ModelProto(memoryview(self._source.content))
        if self.maps_in:
            self._source.content = maps.without_maps(self.model, self.maps_in)

    def _initializer(self, data, given):
        """The field of another initializer in the place of this one, or None."""
        old = Initializer(data)
        if old.name in given:
            value = given[old.name]
            if value.shape() != old.dims or value.element_type() != old.element:
                raise InvalidArgument(f"initializer '{old.name}': expected dims {old.dims} of ONNX's type {old.element}, found "
                                      f"{value.shape()} of {value.data_type()}")
            return message((5, tensor_proto(old.name, old.element, old.dims, np.ascontiguousarray(value.numpy()).tobytes())))
        if old.location in self._options._files:
            content = self._options._files[old.location][old.offset:]
            raw = bytes(content if old.length is None else content[:int(old.length)])
            return message((5, tensor_proto(old.name, old.element, old.dims, raw)))
        return None

    def executable(self, shapes=(), overridden=()):
        """The compiled model. shapes: pairs of an input and its shape; overridden: initializers that are parameters."""
        import relayvm as rvm  # which says it where the compiler is not installed
        compiler = rvm.compile and rvm.compiler
        path, content = self._source.path, self._source.content
        given = {key.removeprefix(_SHAPE): shape for key, shape in self._options._config.items() if key.startswith(_SHAPE)}
        read = {"shape": {**self._shapes, **dict(shapes), **given} or None, "dims": self._dims or None, "overridable": list(overridden) or "none"}
        native = compiler._native.read(path or "<model>.onnx", content, compiler._options(**read), {})
        return rvm.compile(compiler.Module(native), **self._compile_options())

    def _compile_options(self):
        options = {"opt_level": self._options._opt_level}
        if self._byoc:
            options["byoc"] = self._byoc
        if self._disabled:
            options["disabled_passes"] = self._disabled
        for key, value in self._options._config.items():
            if key.startswith("relayvm.") and not key.startswith(_SHAPE):
                options[key.removeprefix("relayvm.")] = {"true": True, "false": False}.get(value, value)
        return options

    def model_for(self, runtime, shapes=(), overridden=()):
        """A `Model`; the same one each time."""
        key = shapes, overridden
        if key not in self._made:
            try:
                self._made[key] = self._make(runtime, shapes, overridden)
            except Error as error:
                raise translated(error) from error
        return self._made[key]

    def _make(self, runtime, shapes, overridden):
        if self.is_program:
            made = _models.load(self._source.content if self._source.path is None else self._source.path, runtime=runtime)
            self.inputs, self.outputs = [[NodeArg(a.name, _type_text(a), a.shape or []) for a in some] for some in (made.inputs, made.outputs)]
            return made
        exe = self.executable(shapes, overridden)
        severity = self._options.log_severity_level
        for warning in exe.warnings:
            _log.log(logging.WARNING if 0 <= severity <= 1 else logging.DEBUG, "%s", warning)
        return exe.load(runtime=runtime)

    def shapes_of(self, feeds):
        """The shapes that `model_for` needs: of inputs without a rank of their own, what they are given with."""
        types = {one.name: one.type for one in self.model.inputs} if self.late else {}
        return tuple((name, _shape_of(types[name], feeds[name])) for name in self.late if feeds.get(name) is not None)

    def save(self, path):
        """Writes the .vmx file."""
        self.checked_executable().save(path)

    def checked_executable(self):
        """What a .vmx file is made of, where the file says all that the model does."""
        why = None
        if self.is_program:
            why = "it is one already"
        elif self.late:
            why = f"the model does not say the rank of input '{self.late[0]}'"
        elif self.maps_in or self.maps_out:
            why = "a program has no maps: take ZipMap off the model (skl2onnx: options={'zipmap': False})"
        if why is not None:
            raise NotImplemented(f"{self._source.path or '<model>'} as a .vmx file: {why}")
        try:
            return self.executable()
        except Error as error:
            raise translated(error) from error


def _is_open(kind):
    """Whether ranks are not said."""
    while kind.kind in ("seq", "optional"):
        kind = kind.element
    return kind.kind == "tensor" and kind.dims is None


def _shape_of(kind, value):
    """As `shape=` takes it, with the ranks of a value."""
    if kind.kind == "tensor":
        return (None,) * np.ndim(value)
    depth, inner = "{}", kind
    while inner.kind in ("seq", "optional"):
        depth = depth.format("List[{}]" if inner.kind == "seq" else "Optional[{}]")
        inner = inner.element
    while isinstance(value, (list, tuple)):
        value = value[0] if value else np.zeros(1)
    dtype = dtype_of(inner.element)
    dims = ", ".join(["?"] * np.ndim(value))
    return depth.format(f"Tensor[({dims}), {'string' if dtype == object else dtype.name}]")


def _type_text(argument):
    """The type of an argument of a program, as ONNX Runtime writes it."""
    if argument.dtype:
        return argument.type
    text = re.sub(r"Tensor\[\([^)]*\), (\w+)\]", lambda m: f"tensor({m[1] if m[1] == 'string' else name_of(m[1])})", argument.relay_type)
    return text.replace("List[", "seq(").replace("Optional[", "optional(").replace("]", ")")
