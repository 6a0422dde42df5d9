"""What a session asks of an ONNX file itself: names and types of its inputs and outputs, metadata, and nodes with maps.

Reads and writes protocol buffers by field, so that the package onnx is not needed; weights are passed over. Fields by number:
https://github.com/onnx/onnx/blob/main/onnx/onnx.proto.
"""
from .elements import ONNX_NAMES

_VARINT, _EIGHT, _BYTES, _FOUR = 0, 1, 2, 5
_UNSET_VERSION = (1 << 63) - 1  # as ONNX Runtime says it


class Damaged(ValueError):
    """The bytes are no protocol buffer of that kind."""


def _varint(data, at):
    value = shift = 0
    while True:
        if at >= len(data) or shift > 63:
            raise Damaged(f"byte {at}: a number that does not end")
        byte = data[at]
        at += 1
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            return value, at
        shift += 7


def fields(data):
    """(number, value, start, end) of each field of a message: an int, or a memoryview of what has a length."""
    at, size = 0, len(data)
    while at < size:
        start = at
        key, at = _varint(data, at)
        kind = key & 7
        if kind == _VARINT:
            value, at = _varint(data, at)
        elif kind == _BYTES:
            length, at = _varint(data, at)
            value, at = data[at:at + length], at + length
        elif kind in (_EIGHT, _FOUR):
            length = 8 if kind == _EIGHT else 4
            value, at = data[at:at + length], at + length
        else:
            raise Damaged(f"byte {start}: a field of kind {kind}")
        if at > size or key >> 3 == 0:
            raise Damaged(f"byte {start}: a field that does not end")
        yield key >> 3, value, start, at


def _number(value):
    out = bytearray()
    while value > 0x7F:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    out.append(value)
    return bytes(out)


def message(*parts):
    """A message of (number, value): an int, a str, or bytes."""
    out = bytearray()
    for number, value in parts:
        if isinstance(value, int):
            out += _number(number << 3 | _VARINT) + _number(value & (1 << 64) - 1)
        else:
            data = value.encode() if isinstance(value, str) else value
            out += _number(number << 3 | _BYTES) + _number(len(data)) + data
    return bytes(out)


def _text(value):
    return str(value, "utf-8", "replace")


def _signed(value):
    return value - (1 << 64) if value >> 63 else value


def _of(data, number, default=None):
    """The last value of a field."""
    for found, value, _, _ in fields(data):
        if found == number:
            default = value
    return default


def _entry(data):
    """Key and value of a StringStringEntryProto."""
    return _text(_of(data, 1, b"")), _text(_of(data, 2, b""))


class Dim:
    """A dim of an input: size (an int or None), name, denotation."""

    __slots__ = ("size", "name", "denotation")

    def __init__(self, data):
        self.size = self.name = self.denotation = None
        for number, value, _, _ in fields(data):
            if number == 1:
                self.size = _signed(value)
            elif number == 2:
                self.name = _text(value) or None
            elif number == 3:
                self.denotation = _text(value)

    @property
    def shown(self):
        """As a NodeArg has it."""
        return self.size if self.size is not None else self.name


class Type:
    """A TypeProto. text: as ONNX Runtime writes it; kind: "tensor", "seq", "map", "optional", "sparse_tensor"; dims: a list, or None."""

    __slots__ = ("text", "kind", "dims", "element", "key")

    def __init__(self, data):
        self.text, self.kind, self.dims, self.element, self.key = "", "", None, None, None
        for number, value, _, _ in fields(data):
            if number in (1, 8):
                self._read_tensor("tensor" if number == 1 else "sparse_tensor", value)
            elif number in (4, 9):
                self.kind, self.element = "seq" if number == 4 else "optional", Type(_of(value, 1, b""))
                self.text = f"{self.kind}({self.element.text})"
            elif number == 5:
                self.kind, self.element, self.key = "map", Type(_of(value, 2, b"")), ONNX_NAMES.get(_of(value, 1, 0), "undefined")
                self.text = f"map({self.key},{self.element.text})"

    def _read_tensor(self, kind, data):
        self.kind, shape, element = kind, None, 0
        for number, value, _, _ in fields(data):
            if number == 1:
                element = value
            elif number == 2:
                shape = value
        self.element = ONNX_NAMES.get(element, "undefined")
        self.text = f"{kind}({self.element})"
        if shape is not None:
            self.dims = [Dim(value) for number, value, _, _ in fields(shape) if number == 1]


class ValueInfo:
    """name and type of an input or output."""

    __slots__ = ("name", "type")

    def __init__(self, data):
        self.name, self.type = _text(_of(data, 1, b"")), Type(_of(data, 2, b""))


class Node:
    """operator, domain, inputs, outputs of a node, and attributes: lists of ints or strings by name."""

    def __init__(self, data):
        self.operator = self.domain = ""
        self.inputs, self.outputs, self.attributes = [], [], {}
        for number, value, _, _ in fields(data):
            if number == 1:
                self.inputs.append(_text(value))
            elif number == 2:
                self.outputs.append(_text(value))
            elif number == 4:
                self.operator = _text(value)
            elif number == 7:
                self.domain = _text(value)
            elif number == 5:
                self._read_attribute(value)

    def _read_attribute(self, data):
        name, ints, texts = "", [], []
        for number, value, _, _ in fields(data):
            if number == 1:
                name = _text(value)
            elif number in (3, 8):  # i, ints
                ints += [_signed(value)] if isinstance(value, int) else _packed(value)
            elif number in (4, 9):  # s, strings
                texts.append(_text(value))
        self.attributes[name] = ints or texts


def _packed(data):
    numbers, at = [], 0
    while at < len(data):
        number, at = _varint(data, at)
        numbers.append(_signed(number))
    return numbers


class Initializer:
    """name, dims, element type (ONNX's number) and file (of external data, or None) of a tensor of the graph."""

    __slots__ = ("name", "dims", "element", "location", "offset", "length")

    def __init__(self, data):
        self.name, self.dims, self.element, external = "", [], 0, {}
        for number, value, _, _ in fields(data):
            if number == 1:
                self.dims += [_signed(value)] if isinstance(value, int) else _packed(value)
            elif number == 2:
                self.element = value
            elif number == 8:
                self.name = _text(value)
            elif number == 13:
                external.update([_entry(value)])
        self.location = external.get("location")
        self.offset, self.length = int(external.get("offset", 0)), external.get("length")


class ModelProto:
    """A model's top. graph_data: the graph's bytes; the lists of graph are there once it is read."""

    def __init__(self, data):
        self.data = data
        self.ir_version = 0
        self.producer_name = self.domain = self.description = ""
        self.version, self.metadata, self.graph_data = _UNSET_VERSION, {}, None
        for number, value, _, _ in fields(data):
            if number == 1:
                self.ir_version = value
            elif number == 2:
                self.producer_name = _text(value)
            elif number == 4:
                self.domain = _text(value)
            elif number == 5:
                self.version = _signed(value)
            elif number == 6:
                self.description = _text(value)
            elif number == 7:
                self.graph_data = value
            elif number == 14:
                self.metadata.update([_entry(value)])
        if self.graph_data is None or isinstance(self.graph_data, int):
            raise Damaged("there is no graph")
        self._read_graph()

    def _read_graph(self):
        self.graph_name = self.graph_description = ""
        self.graph_inputs, self.outputs, self.initializers = [], [], {}
        for number, value, _, _ in fields(self.graph_data):
            if number == 2:
                self.graph_name = _text(value)
            elif number == 10:
                self.graph_description = _text(value)
            elif number == 5:
                one = Initializer(value)
                self.initializers[one.name] = one
            elif number == 11:
                self.graph_inputs.append(ValueInfo(value))
            elif number == 12:
                self.outputs.append(ValueInfo(value))
        self.inputs = [one for one in self.graph_inputs if one.name not in self.initializers]
        # Before version 4 of the IR every initializer had to be an input, which said nothing.
        self.overridable = [one for one in self.graph_inputs if one.name in self.initializers] if self.ir_version >= 4 else []

    def nodes(self):
        """The nodes of the model's graph."""
        return [Node(value) for number, value, _, _ in fields(self.graph_data) if number == 1]

    def with_graph(self, change):
        """The model's bytes with another graph: change(number, value) gives the bytes of a field, None where it stays."""
        graph, out = bytearray(), bytearray()
        for number, value, start, end in fields(self.graph_data):
            new = change(number, value)
            graph += self.graph_data[start:end] if new is None else new
        for number, _, start, end in fields(self.data):
            out += message((7, bytes(graph))) if number == 7 else self.data[start:end]
        return bytes(out)


def tensor_proto(name, element, dims, raw):
    """A TensorProto of bytes."""
    return message(*((1, dim) for dim in dims), (2, element), (8, name), (9, raw))


def tensor_input(name, element, dims):
    """A field `input` of a graph: a tensor."""
    shape = message(*((1, message((1, dim)) if dim is not None else b"") for dim in dims))
    return message((11, message((1, name), (2, message((1, message((1, element), (2, shape))))))))
