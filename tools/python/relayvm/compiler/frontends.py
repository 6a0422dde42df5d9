"""Models of other systems as modules, with the signatures of TVM's relay.frontend.

Each takes what the system's own writer makes: a path, its bytes, or the system's object, which that system writes to memory itself.
None of these systems is needed to read a file. Weights are constants of the module; params is empty, as with TVM's freeze_params.
"""
import io
import operator
import os
import re
import sys
import tempfile

from ..errors import InvalidArgument, Unsupported
from ..keywords import spelt
from . import _native
from .relay import Constant, Expr, Function, TensorType, Tuple, Type, Var, _function_records, _type


_TORCH_DTYPES = {"half": "float16", "float": "float32", "double": "float64", "short": "int16", "int": "int32", "long": "int64"}


def _dim(dim):
    """As text; None, -1 and what relay.Any() gives are open."""
    if isinstance(dim, (str, _native.Dim)):
        return str(dim)
    try:
        size = operator.index(dim)
    except TypeError:
        return "?"
    return str(size) if size >= 0 else "?"


def _dims(shape):
    return "(" + ", ".join(map(_dim, shape)) + ")"


def _is_dims(info):
    """Whether it is a shape, and no list or tuple of what inputs are: (), (1, None), torch.Size."""
    return isinstance(info, (list, tuple)) and not any(isinstance(d, (list, tuple)) for d in info) and (not info or any(d is not None for d in info))


def _dtype(dtype):
    """The name of one that is given by name, or as numpy's or PyTorch's."""
    name = getattr(dtype, "name", None) or getattr(dtype, "__name__", None) or str(dtype)
    name = name.removeprefix("torch.")
    return _TORCH_DTYPES.get(name, name)


def _is_dtype(value):
    return isinstance(value, str) and value.rstrip("0123456789") in ("float", "bfloat", "int", "uint", "bool", "half", "double", "long", "short") \
        or type(value).__module__ in ("torch", "numpy") and "dtype" in type(value).__name__.lower()


def _type_text(info, dtype):
    """What an entry of input_infos says behind its name: a shape, (shape, dtype), None, a list or tuple of such, or a type (as text)."""
    if info is None:
        return "None"
    if isinstance(info, (str, Type)):
        return str(info)
    if isinstance(info, (list, tuple)) and len(info) == 2 and _is_dtype(info[1]) and isinstance(info[0], (list, tuple)):
        info, dtype = info
    if not isinstance(info, (list, tuple)):
        raise TypeError(f"input_infos: expected a shape, (shape, dtype), None, or a list or tuple of such, found {info!r}")
    if _is_dims(info):
        return f"Tensor[{_dims(info)}, {_dtype(dtype)}]"
    return "(" + ", ".join(_type_text(one, dtype) for one in info) + ("," if len(info) == 1 else "") + ")"


def _read(name, content, params=None, converters=None, **read):
    from . import Module, _options
    return Module(_native.read(name, content, _options(**read), params or {}, converters or {})), {}


def _bytes_or_path(model, ending):
    """(name, content) of a path or bytes; None of what is neither."""
    if isinstance(model, (bytes, bytearray, memoryview)):
        return f"<model>{ending}", bytes(model)
    if isinstance(model, (str, os.PathLike)):
        return os.fspath(model), None
    if hasattr(model, "read"):
        return f"<model>{ending}", model.read()
    return None


def _torch_file(model):
    file = _bytes_or_path(model, ".pt")
    if file:
        return file
    torch = sys.modules.get("torch")
    buffer = io.BytesIO()
    exported = getattr(getattr(torch, "export", None), "ExportedProgram", ())
    if torch is not None and isinstance(model, exported):
        torch.export.save(model, buffer)
        return "<model>.pt2", buffer.getvalue()
    if torch is not None and isinstance(model, (torch.jit.ScriptModule, torch.jit.ScriptFunction)):
        torch.jit.save(model, buffer)
        return "<model>.pt", buffer.getvalue()
    raise TypeError("model: expected a TorchScript module (torch.jit.trace(model, inputs) or torch.jit.script(model)), what torch.export.export gives, "
                    f"a path or bytes; found {type(model).__name__}")


def _pairs(input_infos, default_dtype):
    """(name, type as text) of each."""
    pairs = []
    for i, info in enumerate(input_infos or ()):
        named = isinstance(info, (list, tuple)) and len(info) == 2 and isinstance(info[0], str)
        name, kind = info if named else (f"input{i}", info)
        pairs.append((name, _type_text(kind, default_dtype)))
    return pairs


def _as_input_infos(message):
    """What from_pytorch takes for the options that a message of relayc's says to write."""
    said = re.findall(r"--shape '(\w+)=(.*)'", message)
    if not said:
        return None
    infos = []
    for name, kind in said:
        dims = re.fullmatch(r"\(([^()]*)\):(\w+)", kind)
        shape = dims and "(" + ", ".join("None" if d == "?" else d for d in dims[1].split(", ")) + ")"
        infos.append(f'("{name}", ({shape}, "{dims[2]}"))' if dims else f'("{name}", "{kind}")')
    return f"In Python: input_infos=[{', '.join(infos)}], one for each input in its order."


# --- Converters of one's own ---


def _input(argument, variables):
    """What a converter is given, and its type as TVM's converters are told."""
    if not isinstance(argument, tuple):
        kinds = {type(None): "OptionalType", bool: "BoolType", int: "IntType", float: "FloatType", str: "StringType"}
        return argument, kinds[type(argument)]
    kind, value = argument
    if kind in ("list", "tuple"):
        values = [_input(one, variables)[0] for one in value]
        return (values, "ListType") if kind == "list" else (tuple(values), "TupleType")
    if isinstance(value, _native.Constant):
        node = Constant(value)
    else:
        node = Var(f"input{len(variables)}", _type(value))
        variables.append(node)
    dtype = node.checked_type.dtype if isinstance(node.checked_type, TensorType) else "TupleType"
    return node, dtype if kind == "tensor" else {"b": "BoolType", "i": "IntType"}.get(dtype[0], "FloatType")


def _result(name, value, expressions):
    """What a converter gives, with numbers in place of its expressions."""
    if value is None or isinstance(value, (bool, int, float, str)):
        return value
    if isinstance(value, (list, tuple)):
        return "list" if isinstance(value, list) else "tuple", [_result(name, one, expressions) for one in value]
    if not isinstance(value, Expr):
        raise TypeError(f"the converter of {name}: expected an expression, or a list or tuple of them, found {type(value).__name__}")
    expressions.append(value)
    return "field", len(expressions) - 1


def _converter(name, convert):
    def run(arguments):
        variables, expressions = [], []
        inputs = [_input(argument, variables) for argument in arguments]
        result = _result(name, convert([value for value, _ in inputs], [kind for _, kind in inputs]), expressions)
        return _function_records(Function(variables, Tuple(expressions))), result
    return run


def _converters(custom_convert_map):
    return {full: _converter(full, convert) for name, convert in (custom_convert_map or {}).items()
            for full in [name if "::" in name else f"aten::{name}"]}


@spelt
def from_pytorch(script_module, input_infos=None, custom_convert_map=None, default_dtype="float32", use_parser_friendly_name=False,
                 keep_quantized_weight=False, export_renamed_c_graph_path=None, *, dims=None, signature=None):
    """(Module, params) of a TorchScript module, or of what torch.export gives: the object, a path, or bytes.

        mod, params = rvm.from_pytorch(torch.jit.trace(model, x), [("x", (1, 3, None, None))])

    input_infos: (name, shape), (name, (shape, dtype)) or (name, None) for each input in its order, which names main's parameters; a
    shape's -1, None and relay.Any() are open, a text is the name of a dim. Inputs that are lists and tuples have lists and tuples
    of these in place of the shape, or a type as text, "List[Tensor[(?, 3), float32]]". TorchScript has no shapes of its own; where they
    are missing the error says what to write. default_dtype: of inputs without one. use_parser_friendly_name: names with _ for . and
    :. custom_convert_map: {"aten::relu": f}: f(inputs, input_types) gives the expression (or list, or tuple) for such a call, before
    what is known of the operator; inputs: expressions for tensors and numbers that only running tells, else Python's values;
    input_types: dtypes, "IntType", "ListType" ... What it raises is raised here. dims: sizes by the model's names of dims. signature: the method, in
    place of forward. Weights that are quantised stay so, whatever keep_quantized_weight is, and the graph is renamed nowhere.
    """
    name, content = _torch_file(script_module)
    pairs = _pairs(input_infos, default_dtype)
    names = [one for one, kind in pairs if kind != "None"]  # what is None is no parameter
    if use_parser_friendly_name:
        names = [re.sub(r"[.:/]", "_", one) for one in names]
    try:
        return _read(name, content, converters=_converters(custom_convert_map), shape={str(i): kind for i, (_, kind) in enumerate(pairs)},
                     dims=dims, input_names=names, signature=signature)
    except (InvalidArgument, Unsupported) as error:
        note = _as_input_infos(str(error))
        if note:
            error.add_note(note)
        raise


@spelt
def from_tensorflow(graph, layout="NHWC", shape=None, outputs=None, convert_config=None, *, signature=None):
    """(Module, params) of a GraphDef (a message, a path, bytes, what has as_graph_def), or the folder of a SavedModel.

    shape: dims of inputs by name, where the graph leaves them open. outputs: names of nodes; without them those that nothing reads.
    Inputs and outputs are laid out as the graph has them, whatever `layout` says: the compiler chooses for what is between.
    """
    file = _bytes_or_path(graph, ".pb")
    if file is None and hasattr(graph, "as_graph_def"):
        graph = graph.as_graph_def()
    if file is None and hasattr(graph, "SerializeToString"):
        file = "<model>.pb", graph.SerializeToString()
    if file is None:
        raise TypeError(f"graph: expected a GraphDef, a path or bytes; found {type(graph).__name__}")
    return _read(*file, shape=_of_names(shape, None), output_nodes=[outputs] if isinstance(outputs, str) else outputs, signature=signature)


def _of_names(shape, dtypes):
    if not shape:
        return None
    said = {}
    for name, dims in shape.items():
        dtype = dtypes.get(name) if hasattr(dtypes, "get") else dtypes
        said[name] = dims if isinstance(dims, str) else _dims(dims) + (f":{dtype}" if dtype else "")
    return said


@spelt
def from_tflite(model, shape_dict=None, dtype_dict=None, op_converter=None, *, signature=None):
    """(Module, params) of a TensorFlow Lite model: tflite.Model, a path, or bytes. shape_dict: dims of inputs, where they are other than
    the file's (the model must allow it, as ResizeInputTensor does)."""
    del dtype_dict, op_converter  # the file has the dtypes
    file = _bytes_or_path(model, ".tflite")
    if file is None and hasattr(model, "_tab"):
        file = "<model>.tflite", bytes(model._tab.Bytes)
    if file is None:
        raise TypeError(f"model: expected a tflite.Model, a path or bytes; found {type(model).__name__}")
    return _read(*file, shape=_of_names(shape_dict, None), signature=signature)


def _array(value):
    return value.asnumpy() if hasattr(value, "asnumpy") else value


@spelt
def from_mxnet(symbol, shape=None, dtype="float32", arg_params=None, aux_params=None):
    """(Module, params) of an MXNet symbol (or a hybrid block), the path of a -symbol.json, or its text.

    shape: dims of inputs by name, which symbols do not have. dtype: of inputs, one or by name. arg_params, aux_params: arrays by name;
    with a path, that of a .params file is taken too.
    """
    params, params_file = {}, None
    if isinstance(arg_params, (str, os.PathLike)):
        params_file = os.fspath(arg_params)
    else:
        params = {name: _array(value) for one in (arg_params, aux_params) for name, value in (one or {}).items()}
    if hasattr(symbol, "collect_params"):  # a block
        params = {name: _array(value.data()) for name, value in symbol.collect_params().items()}
        mx = sys.modules["mxnet"]
        symbol = symbol(*[mx.sym.Variable(name) for name in (shape or {"data": None})])
        symbol = mx.sym.Group(symbol) if isinstance(symbol, (list, tuple)) else symbol
    if hasattr(symbol, "tojson"):
        file = "<model>-symbol.json", symbol.tojson().encode()
    elif isinstance(symbol, str) and symbol.lstrip().startswith("{"):
        file = "<model>-symbol.json", symbol.encode()
    else:
        file = _bytes_or_path(symbol, "-symbol.json")
    if file is None:
        raise TypeError(f"symbol: expected an MXNet symbol or block, a path or its JSON; found {type(symbol).__name__}")
    from . import Module, _options
    options = _options(shape=_of_names(shape, dtype))
    if params_file:
        options.append(("params", params_file))
    return Module(_native.read(*file, options, params)), {}


def _keras_bytes(model):
    """(name, content) of what Keras itself writes."""
    with tempfile.TemporaryDirectory() as folder:
        for ending in (".keras", ".h5"):  # versions before .keras write a folder of TensorFlow's of that name
            path = os.path.join(folder, "model" + ending)
            model.save(path)
            if os.path.isfile(path):
                with open(path, "rb") as saved:
                    return f"<model>{ending}", saved.read()
    raise TypeError(f"model: a {type(model).__name__} saves no file")


_CHANNELS_FIRST = {"NCHW": 4, "NCDHW": 5, "NCW": 3}  # and the rank of what they are of


def _channels_first(mod, rank):
    """The program with inputs and outputs of that rank laid out with channels before the rest."""
    from . import Module, relay
    main = mod["main"]

    def is_picture(kind):
        return isinstance(kind, TensorType) and len(kind.shape) == rank

    def to_first(value):
        return relay.transpose(value, axes=[0, rank - 1, *range(1, rank - 1)])

    params, binds = [], {}
    for old in main.params:
        kind = old.checked_type
        if is_picture(kind):
            n, *rest, c = kind.shape
            new = Var(old.name_hint, TensorType((n, c, *rest), kind.dtype))
            binds[old] = relay.transpose(new, axes=[0, *range(2, rank), 1])
        else:
            new = old
        params.append(new)
    body = relay.bind(main.body, binds)
    kind = main.ret_type
    if isinstance(kind, relay.TupleType):
        fields = [relay.TupleGetItem(body, i) for i in range(len(kind.fields))]
        body = Tuple([to_first(field) if is_picture(one) else field for field, one in zip(fields, kind.fields)])
    elif is_picture(kind):
        body = to_first(body)
    return Module(mod.with_functions({"main": Function(params, body, None, main.type_params, main.attrs, main.span)})._native)


@spelt
def from_keras(model, shape=None, layout="NCHW"):
    """(Module, params) of a Keras model: its object, the path of a .keras or .h5 file, or bytes.

    shape: dims of inputs by name, in that layout. layout: as TVM has it: with "NCHW" (or "NCDHW", "NCW") inputs and outputs of that rank have
    their channels before the rest; with "NHWC" ("NDHWC", "NWC") they are as the model has them.
    """
    if layout not in _CHANNELS_FIRST and layout not in ("NHWC", "NDHWC", "NWC"):
        raise ValueError(f"layout: expected {', '.join(_CHANNELS_FIRST)}, NHWC, NDHWC or NWC, found {layout}")
    file = _bytes_or_path(model, ".keras")
    if file is None and hasattr(model, "save"):
        file = _keras_bytes(model)
    if file is None:
        raise TypeError(f"model: expected a Keras model, a path or bytes; found {type(model).__name__}")
    rank = _CHANNELS_FIRST.get(layout)
    if rank is not None and hasattr(shape, "items"):  # the model has channels last
        shape = {name: (dims[0], *dims[2:], dims[1]) if len(dims) == rank and not isinstance(dims, str) else dims for name, dims in shape.items()}
    mod, params = _read(*file, shape=_of_names(shape, None))
    return (mod if rank is None else _channels_first(mod, rank)), params
