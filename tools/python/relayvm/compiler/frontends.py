"""Models of other systems as modules, with the signatures of TVM's relay.frontend.

Each takes what the system's own writer makes: a path, its bytes, or the system's object, which that system writes to memory itself.
None of these systems is needed to read a file. Weights are constants of the module; params is empty, as with TVM's freeze_params.
"""
import io
import os
import sys
import tempfile

from .. import _native


def _dims(shape):
    """(1, None, 300) as text; what relay.Any() gives and -1 are open too."""
    return "(" + ", ".join(str(d) if isinstance(d, str) or type(d).__name__.startswith("int") and d >= 0 else "?" for d in shape) + ")"


def _is_dims(shape):
    return isinstance(shape, (list, tuple)) and not any(isinstance(d, (list, tuple)) for d in shape)


def _type_text(info, dtype):
    """What an entry of input_infos says behind its name: a shape, (shape, dtype), or a list or tuple of such."""
    if isinstance(info, str):
        return info
    if isinstance(info, (list, tuple)) and len(info) == 2 and isinstance(info[1], str) and not isinstance(info[0], str):
        info, dtype = info
    if _is_dims(info):
        return f"{_dims(info)}:{dtype}"
    return "(" + ", ".join(_type_text(one, dtype) for one in info) + ",)"


def _read(name, content, params=None, **read):
    from . import Module, _options
    return Module(_native.read(name, content, _options(**read), params or {})), {}


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


def from_pytorch(script_module, input_infos=None, custom_convert_map=None, default_dtype="float32", use_parser_friendly_name=False,
                 keep_quantized_weight=False, export_renamed_c_graph_path=None, *, dims=None):
    """(Module, params) of a TorchScript module or of what torch.export gives.

    input_infos: (name, shape) or (name, (shape, dtype)) for each input in its order, which names main's parameters; a shape's -1,
    None and relay.Any() are open, a string is the name of a dim. A text is a whole type, "List[Tensor[(?, 3), float32]]". TorchScript has no
    shapes of its own; without them the error says what to write. default_dtype: of inputs without one. Weights that are quantised
    stay so, whatever keep_quantized_weight is.
    """
    if custom_convert_map:
        raise NotImplementedError("custom_convert_map: operators of your own are those of plugins (relayc --plugin)")
    name, content = _torch_file(script_module)
    infos = [(f"input{i}", info) if _is_dims(info) else info for i, info in enumerate(input_infos or ())]
    shape = {str(i): _type_text(info[1], default_dtype) for i, info in enumerate(infos)}
    names = [str(info[0]) for info in infos]
    if use_parser_friendly_name:
        names = [n.replace(".", "_").replace(":", "_").replace("/", "_") for n in names]
    return _read(name, content, shape=shape, dims=dims, input_names=names)


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


def from_keras(model, shape=None, layout="NHWC"):
    """(Module, params) of a Keras model: its object, the path of a .keras or .h5 file, or bytes. Pictures are as the model has them: channels
    last, unless it says otherwise (TVM's default, layout="NCHW", transposes inputs; such callers pass layout="NHWC")."""
    if layout not in ("NHWC", "NDHWC", "NWC"):
        raise ValueError(f"layout: the program takes what the Keras model takes, NHWC; found {layout}")
    file = _bytes_or_path(model, ".keras")
    if file is not None:
        return _read(*file, shape=_of_names(shape, None))
    if not hasattr(model, "save"):
        raise TypeError(f"model: expected a Keras model, a path or bytes; found {type(model).__name__}")
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "model.keras")
        model.save(path)
        with open(path, "rb") as saved:
            return _read("<model>.keras", saved.read(), shape=_of_names(shape, None))
