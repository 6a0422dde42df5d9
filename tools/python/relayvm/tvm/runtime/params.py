"""Weights as bytes, in TVM's format."""
import os

from ...compiler import params as _params
from ..ir.container import Map
from ..nd import array


def save_param_dict(params):
    """The bytes of arrays by name."""
    return _params.save_param_dict(params)


def load_param_dict(param_bytes):
    """Arrays by name, of the bytes that `save_param_dict` made."""
    return Map((name, array(value)) for name, value in _params.load_param_dict(param_bytes).items())


def save_param_dict_to_file(params, path):
    """Writes what `save_param_dict` gives."""
    with open(os.fspath(path), "wb") as file:
        file.write(save_param_dict(params))


def load_param_dict_from_file(path):
    """The arrays of a file."""
    with open(os.fspath(path), "rb") as file:
        return load_param_dict(file.read())
