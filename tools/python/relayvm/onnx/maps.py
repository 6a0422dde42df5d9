"""Maps at the border of a model, which programs have no type for.

An output of ZipMap is the tensor of its scores, which become a list of dicts when they come out. An input that DictVectorizer or CastMap
reads is the tensor that these make of it, which is made of the dict when it comes in; the nodes go.
"""
import numpy as np

from .elements import ONNX_NUMBERS, dtype_of
from .errors import InvalidArgument, NotImplemented
from .proto import tensor_input, Node

_LEARNING = "ai.onnx.ml"


class ZippedMaps:
    """What ZipMap makes of scores: a dict a row."""

    def __init__(self, node):
        self.labels = node.attributes.get("classlabels_int64s") or node.attributes.get("classlabels_strings") or []

    def __call__(self, scores):
        return [dict(zip(self.labels, row)) for row in np.atleast_2d(scores).tolist()]


def zipped_outputs(model):
    """{index of an output: what makes maps of it}, of a `ModelProto`."""
    wanted = {one.name: i for i, one in enumerate(model.outputs) if "map(" in one.type.text}
    if not wanted:
        return {}
    found = {}
    for node in model.nodes():
        if node.operator == "ZipMap" and node.domain == _LEARNING and node.outputs and node.outputs[0] in wanted:
            found[wanted.pop(node.outputs[0])] = ZippedMaps(node)
    if wanted:
        name = next(iter(wanted))
        raise NotImplemented(f"output '{name}': maps are what ZipMap makes of scores; another operator gives this one. Take its input instead")
    return found


class MapInput:
    """A row of a tensor of a dict: the values of known keys (DictVectorizer), of all in the keys' order, or each in its column (CastMap)."""

    def __init__(self, info, node):
        self.name, self.key = info.name, info.type.key
        self.output, self.element, self.is_cast = node.outputs[0], info.type.element.element, False
        if node.operator == "DictVectorizer":
            self.keys = node.attributes.get("int64_vocabulary") or node.attributes.get("string_vocabulary") or []
        else:
            self.is_cast, self.keys, (self.element,) = True, None, node.attributes.get("cast_to", ["TO_FLOAT"])
            self.element = {"TO_FLOAT": "float", "TO_INT64": "int64", "TO_STRING": "string"}[self.element]
            if node.attributes.get("map_form", ["DENSE"]) != ["DENSE"]:
                self.keys = range(node.attributes.get("max_map", [1])[0])

    @property
    def declared(self):
        """The field of the graph for it."""
        return tensor_input(self.output, ONNX_NUMBERS[self.element], [1, None if self.keys is None else len(self.keys)])

    def row(self, value):
        """The tensor of a dict."""
        if not hasattr(value, "items"):
            raise InvalidArgument(f"{self.name}: expected a dict, found {type(value).__name__}")
        given = {self._checked(key): one for key, one in value.items()}
        if not given:
            raise InvalidArgument(f"{self.name}: expected a dict of one or more entries, found an empty one")
        row = [given[key] for key in sorted(given)] if self.keys is None else [given.get(key, self._zero) for key in self.keys]
        if self.element == "string":
            return np.array([[one if isinstance(one, str) else f"{one:.6f}" for one in row]], object).reshape(1, -1)
        return np.asarray([row], dtype_of(self.element)).reshape(1, -1)

    @property
    def _zero(self):
        return "0.f" if self.is_cast and self.element == "string" else "" if self.element == "string" else 0

    def _checked(self, key):
        if self.key == "string" and isinstance(key, str):
            return str(key)
        if self.key != "string" and not isinstance(key, (str, bytes)):
            return int(key)
        raise InvalidArgument(f"{self.name}: Unexpected key type  {type(key)}, it cannot be linked to C type "
                              f"{'std::string' if self.key == 'string' else 'int64_t'}: the map's keys are {self.key}, found {key!r}")


def map_inputs(model):
    """{name: MapInput} of the inputs that are maps, of a `ModelProto`."""
    wanted = {one.name: one for one in model.inputs if one.type.kind == "map"}
    if not wanted:
        return {}
    found = {}
    for node in model.nodes():
        for name in node.inputs:
            if name not in wanted:
                continue
            if node.domain != _LEARNING or node.operator not in ("DictVectorizer", "CastMap") or name in found:
                raise NotImplemented(f"input '{name}': a map goes to one DictVectorizer or CastMap; node of {node.operator} reads it too")
            found[name] = MapInput(wanted[name], node)
    missing = wanted.keys() - found.keys()
    if missing:
        raise NotImplemented(f"input '{missing.pop()}': a map that no node reads")
    return found


def without_maps(model, inputs):
    """The model's bytes with tensors in the place of maps."""
    gone = {one.output for one in inputs.values()}

    def change(number, value):
        if number == 11:
            name = _name(value)
            return inputs[name].declared if name in inputs else None
        if number == 1 and gone.intersection(Node(value).outputs):
            return b""
        return None
    return model.with_graph(change)


def _name(value_info):
    from .proto import ValueInfo
    return ValueInfo(value_info).name
