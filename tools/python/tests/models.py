"""Small models of formats whose frameworks are not here, as their writers lay them out."""
import io
import json
import struct
import zipfile

import numpy as np


# --- TensorFlow: protocol buffers ---


def varint(n):
    out = bytearray()
    while n > 0x7F:
        out.append(n & 0x7F | 0x80)
        n >>= 7
    return bytes(out) + bytes([n])


def message(*fields):
    """Of (number, value): an int, or what has a length."""
    out = b""
    for number, value in fields:
        if isinstance(value, int):
            out += varint(number << 3) + varint(value)
        else:
            data = value.encode() if isinstance(value, str) else value
            out += varint(number << 3 | 2) + varint(len(data)) + data
    return out


FLOAT = 1


def tensor_shape(dims):
    return message(*[(2, message((1, d if d is not None else (1 << 64) - 1))) for d in dims])


def node(name, op, inputs=(), **attrs):
    """attrs: AttrValues."""
    return message((1, name), (2, op), *[(3, i) for i in inputs], *[(5, message((1, key), (2, value))) for key, value in attrs.items()])


def graph_def(*nodes):
    return message(*[(1, n) for n in nodes])


def dtype(number):
    return message((6, number))


def placeholder(name, dims):
    return node(name, "Placeholder", dtype=dtype(FLOAT), shape=message((7, tensor_shape(dims))))


def constant(name, array):
    array = np.asarray(array, np.float32)
    return node(name, "Const", dtype=dtype(FLOAT), value=message((8, message((1, FLOAT), (2, tensor_shape(array.shape)), (4, array.tobytes())))))


def dense_graph(w, dims=(None, 3)):
    """softmax(x @ w)"""
    return graph_def(placeholder("x", dims), constant("w", w), node("product", "MatMul", ["x", "w"], T=dtype(FLOAT)),
                     node("y", "Softmax", ["product"], T=dtype(FLOAT)))


# --- TensorFlow Lite: a flatbuffer ---


class Flat:
    """Tables are lists of fields: None, an int, or what lies elsewhere: bytes, text, a numpy array of int32, a list of such, a table (a dict of
    fields by number)."""

    def __init__(self, root, identifier):
        self.out = bytearray(8)
        self.out[4:8] = identifier
        struct.pack_into("<I", self.out, 0, self.put(root))

    def pad(self, alignment, before=0):
        self.out += bytes(-(len(self.out) + before) % alignment)

    def offset(self, slot, value):
        struct.pack_into("<I", self.out, slot, self.put(value) - slot)

    def put(self, value):
        return {dict: self.table, list: self.list}.get(type(value), self.data)(value)

    def data(self, value):
        data = value.encode() if isinstance(value, str) else value.tobytes() if isinstance(value, np.ndarray) else value
        self.pad(16, 4)
        at = len(self.out)
        self.out += struct.pack("<I", len(value) if isinstance(value, np.ndarray) else len(data)) + data + b"\0"
        return at

    def list(self, values):
        self.pad(4)
        at = len(self.out)
        self.out += struct.pack("<I", len(values)) + bytes(4 * len(values))
        for i, value in enumerate(values):
            self.offset(at + 4 + 4 * i, value)
        return at

    def table(self, fields):
        count = max(fields, default=-1) + 1
        self.pad(4)
        vtable = len(self.out)
        where = {field: 4 + 4 * i for i, field in enumerate(fields)}
        self.out += struct.pack("<HH", 4 + 2 * count, 4 + 4 * len(fields)) + b"".join(struct.pack("<H", where.get(i, 0)) for i in range(count))
        self.pad(4)
        at = len(self.out)
        self.out += struct.pack("<i", at - vtable) + bytes(4 * len(fields))
        for field, value in fields.items():
            if isinstance(value, int):
                struct.pack_into("<i", self.out, at + where[field], value)
            else:
                self.offset(at + where[field], value)
        return at


def ints(*values):
    return np.array(values, np.int32)


def tflite_model(bias):
    """logistic(x + bias), of x (1, 4)"""
    add, logistic = 0, 14
    tensors = [{0: ints(1, 4), 1: 0, 2: buffer, 3: name} for name, buffer in [("x", 0), ("bias", 1), ("sum", 0), ("y", 0)]]
    operators = [{0: 0, 1: ints(0, 1), 2: ints(2)}, {0: 1, 1: ints(2), 2: ints(3)}]
    root = {0: 3, 1: [{0: code, 2: 1, 3: code} for code in (add, logistic)],
            2: [{0: tensors, 1: ints(0), 2: ints(3), 3: operators, 4: "main"}],
            4: [{}, {0: np.asarray(bias, np.float32).tobytes()}]}
    return bytes(Flat(root, b"TFL3").out)


# --- MXNet ---


def mxnet_symbol():
    """FullyConnected(data, 4 hidden)"""
    nodes = [{"op": "null", "name": name, "inputs": []} for name in ("data", "fc_weight", "fc_bias")]
    nodes.append({"op": "FullyConnected", "name": "fc", "attrs": {"num_hidden": "4"}, "inputs": [[i, 0, 0] for i in range(3)]})
    return json.dumps({"nodes": nodes, "arg_nodes": [0, 1, 2], "node_row_ptr": list(range(5)), "heads": [[3, 0, 0]],
                       "attrs": {"mxnet_version": ["int", 10900]}})


def mxnet_params(arrays):
    """A .params file of arrays by name ("arg:w"), all float32."""
    out = struct.pack("<QQQ", 0x112, 0, len(arrays))
    for array in arrays.values():
        out += struct.pack("<Ii", 0xF993FAC9, 0) + struct.pack(f"<i{array.ndim}q", array.ndim, *array.shape) + struct.pack("<iii", 1, 0, 0)
        out += array.astype(np.float32).tobytes()
    out += struct.pack("<Q", len(arrays))
    for name in arrays:
        out += struct.pack("<Q", len(name)) + name.encode()
    return out


# --- Keras ---


def keras_model(kernel, bias):
    """A .keras file: Conv2D, 1x1, of pictures (None, 4, 5, channels)."""
    import h5py
    inside, outside = kernel.shape[2:]
    layers = [{"class_name": "InputLayer", "config": {"batch_shape": [None, 4, 5, inside], "dtype": "float32", "name": "input_1"}, "name": "input_1",
               "module": "keras.layers", "registered_name": None},
              {"class_name": "Conv2D", "module": "keras.layers", "registered_name": None, "name": "conv",
               "config": {"name": "conv", "trainable": True, "dtype": "float32", "filters": outside, "kernel_size": [1, 1], "strides": [1, 1], "padding": "valid",
                          "data_format": "channels_last", "dilation_rate": [1, 1], "groups": 1, "activation": "linear", "use_bias": True},
               "build_config": {"input_shape": [None, 4, 5, inside]}}]
    config = {"module": "keras", "class_name": "Sequential", "config": {"name": "model", "layers": layers}, "registered_name": "Sequential"}
    weights = io.BytesIO()
    with h5py.File(weights, "w") as file:
        group = file.create_group("layers/conv2d/vars")
        group["0"], group["1"] = kernel, bias
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        archive.writestr("metadata.json", json.dumps({"keras_version": "3.0.5", "date_saved": "2024-01-01@00:00:00"}))
        archive.writestr("config.json", json.dumps(config))
        archive.writestr("model.weights.h5", weights.getvalue())
    return out.getvalue()


# --- torch.export ---


def exported_program(own=True):
    """An archive of torch.export's: relu of x (2, 3); own: then an operator of a library's own, demo.scaled(relu, by=3)."""
    def tensor(name):
        return {"as_tensor": {"name": name}}

    def call(target, result, *inputs):
        return {"target": target, "inputs": [{"name": name, "arg": arg, "kind": 1} for name, arg in inputs], "outputs": [tensor(result)], "metadata": {}}

    kind = {"dtype": 7, "sizes": [{"as_int": 2}, {"as_int": 3}], "requires_grad": False, "device": {"type": "cpu", "index": None},
            "strides": [{"as_int": 3}, {"as_int": 1}], "storage_offset": {"as_int": 0}, "layout": 7}
    nodes = [call("torch.ops.aten.relu.default", "relu" if own else "y", ("self", tensor("x")))]
    if own:
        nodes.append(call("torch.ops.demo.scaled.default", "y", ("x", tensor("relu")), ("by", {"as_int": 3})))
    graph = {"inputs": [tensor("x")], "outputs": [tensor("y")], "nodes": nodes,
             "tensor_values": {name: kind for name in ("x", "relu", "y")}, "sym_int_values": {}, "sym_bool_values": {},
             "is_single_tensor_return": False, "custom_obj_values": {}, "sym_float_values": {}}
    signature = {"input_specs": [{"user_input": {"arg": tensor("x")}}], "output_specs": [{"user_output": {"arg": tensor("y")}}]}
    program = {"graph_module": {"graph": graph, "signature": signature, "module_call_graph": [], "metadata": {}, "treespec_namedtuple_fields": {}},
               "opset_version": {"aten": 10}, "range_constraints": {}, "schema_version": {"major": 8, "minor": 8}, "verifiers": ["TRAINING"],
               "torch_version": "2.8.0", "guards_code": []}
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        for name, text in [("archive_format", "pt2"), ("archive_version", "0"), ("byteorder", "little"), ("models/model.json", json.dumps(program)),
                           ("data/weights/model_weights_config.json", '{"config": {}}'), ("data/constants/model_constants_config.json", '{"config": {}}')]:
            archive.writestr("model/" + name, text)
    return out.getvalue()
