"""Every public name of ONNX Runtime 1.32's Python package, as onnx_names.txt records them: it is there, with its parameters, or says what to use."""
import importlib
import inspect
import os

import pytest

import relayvm.onnx as ort

FILE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "onnx_names.txt")
# Of classes whose instances have fields of their own.
INSTANCES = {"SessionOptions": ort.SessionOptions, "RunOptions": ort.RunOptions, "ModelMetadata": lambda: ort.programs.ModelMetadata(),
             "OrtArenaCfg": lambda: ort.OrtArenaCfg({}), "OrtMemoryInfo": ort.OrtMemoryInfo}


def read():
    """{module: [(name, class that it is of or None, parameters or None)]}"""
    found, names, owner = {}, [], None
    with open(FILE) as file:
        for line in file.read().splitlines():
            text = line.strip()
            if text.startswith("["):
                names = found[text[1:-1]] = []
            elif not text.startswith("#"):
                name, _, parameters = text.partition("(")
                parameters = [one for one in parameters.rstrip(")").split(", ") if one] if "(" in text else None
                names.append((name, owner if line.startswith(" ") else None, parameters))
                owner = owner if line.startswith(" ") else name
    return found


TABLE = read()


def taken(what):
    """Names of the parameters of a function or class; None where it takes any."""
    try:
        parameters = inspect.signature(what).parameters.values()
    except ValueError:  # an enum's, of the oldest Python
        return None
    return None if any(one.kind == one.VAR_POSITIONAL for one in parameters) else [one.name for one in parameters]


def is_absent(value):
    return type(value).__name__ == "_Absent"


def problem_of(module, name, owner, parameters):
    """What is wrong with a name; None where it is there, or says what to use."""
    try:
        where = getattr(module, owner) if owner is not None else module
        if is_absent(where) or is_absent(getattr(where, name, None)):
            return None
        value = getattr(INSTANCES[owner]() if owner in INSTANCES else where, name)
    except NotImplementedError:
        return None
    except AttributeError as error:
        return str(error)
    if parameters is None or not callable(value) or inspect.isclass(value) and issubclass(value, int):
        return None
    ours = taken(value)
    if ours is None or [one for one in ours if one in parameters] == parameters:
        return None
    return f"expected parameters {parameters}, found {ours}"


@pytest.mark.parametrize("module", TABLE, ids=lambda name: name or "onnx")
def test_names_are_there_with_their_parameters(module):
    assert TABLE[module]
    loaded = importlib.import_module("relayvm.onnx" + (f".{module}" if module else ""))
    problems = {f"{owner}.{name}" if owner else name: problem_of(loaded, name, owner, parameters) for name, owner, parameters in TABLE[module]}
    assert {name: why for name, why in problems.items() if why is not None} == {}


def test_what_is_not_here_says_so_when_it_is_called():
    quantization = importlib.import_module("relayvm.onnx.quantization")

    class Reader(quantization.CalibrationDataReader):  # a script's own
        def get_next(self):
            return None

    with pytest.raises(NotImplementedError, match="quantization.quantize_dynamic: quantised models .* run as they are"):
        quantization.quantize_dynamic("model.onnx", "small.onnx", weight_type=None)
    with pytest.raises(NotImplementedError, match="relayvm.weights"):
        Reader()
    with pytest.raises(NotImplementedError, match="QuantType.QInt8: quantised"):
        quantization.QuantType.QInt8
    from relayvm.onnx.training import api
    with pytest.raises(NotImplementedError, match="compiled for inference"):
        api.Trainer()
    from relayvm.onnx.transformers import optimizer
    with pytest.raises(NotImplementedError, match="optimizer.optimize_model: sessions fuse"):
        optimizer.optimize_model("model.onnx")


def test_values_of_enums_are_those_of_onnx_runtime():
    theirs = pytest.importorskip("onnxruntime")
    for name in ("ExecutionMode", "ExecutionOrder", "GraphOptimizationLevel", "OrtAllocatorType", "OrtDeviceMemoryType", "OrtMemType",
                 "OrtMemoryInfoDeviceType", "OrtSparseFormat", "OrtDeviceVendorId"):
        values = {member: int(value.value) for member, value in getattr(theirs, name).__members__.items()}
        assert {member: int(value) for member, value in getattr(ort, name).__members__.items()} == values, name
