"""The models that ONNX Runtime's tutorials name."""
import importlib.util
import os


def get_example(name):
    """The path of an example: "mul_1.onnx", "sigmoid.onnx", "logreg_iris.onnx". They are ONNX Runtime's, and found where it is installed."""
    spec = importlib.util.find_spec("onnxruntime")
    path = os.path.join(os.path.dirname(spec.origin), "datasets", name) if spec is not None and spec.origin else ""
    if not os.path.isfile(path):
        why = "has none of that name" if path else "is not here"
        raise FileNotFoundError(f"get_example: {name} is a file of the package onnxruntime, which {why}")
    return path
