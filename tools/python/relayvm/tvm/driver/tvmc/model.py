"""tvm.driver.tvmc.model: models, compiled programs, and what these gave."""
import io
import os
import tarfile

import numpy

from ... import parser
from ...ir.module import IRModule
from ...runtime.module import load_module
from ...runtime.params import load_param_dict, save_param_dict
from .result_utils import times_text


class TVMCException(Exception):
    """What tvmc says is wrong."""


class TVMCModel:
    """A model: mod, an IRModule, and params, its weights. Or one that `save` wrote, model_path."""

    _FILES = ("mod.relay", "mod.params")

    def __init__(self, mod=None, params=None, model_path=None):
        if (mod is None) == (model_path is None):
            raise TVMCException("TVMCModel: expected a module with its params, or model_path")
        if model_path is None:
            self.mod, self.params = mod if isinstance(mod, IRModule) else IRModule.from_expr(mod), dict(params or {})
        else:
            self.load(model_path)

    def save(self, model_path):
        """Writes a tar file of the program as text and of the weights."""
        contents = (self.mod.astext().encode(), bytes(save_param_dict(self.params)))
        with tarfile.open(os.fspath(model_path), "w") as tar:
            for name, content in zip(self._FILES, contents):
                row = tarfile.TarInfo(name)
                row.size = len(content)
                tar.addfile(row, io.BytesIO(content))

    def load(self, model_path):
        """Reads what `save` wrote."""
        try:
            with tarfile.open(os.fspath(model_path)) as tar:
                text, params = (tar.extractfile(name).read() for name in self._FILES)
        except (KeyError, tarfile.TarError) as error:
            raise TVMCException(f"TVMCModel: {model_path} is not what TVMCModel.save writes; tvmc.load reads models: {error}") from None
        self.mod, self.params = parser.parse(text.decode()), dict(load_param_dict(params))

    def summary(self, file=None):
        """Prints the program, without weights."""
        print(self.mod.astext(show_meta_data=False), file=file)


class TVMCPackage:
    """A compiled program in a file, as `compile` wrote it."""

    type, executor_type = "classic", "graph"

    def __init__(self, package_path, project_dir=None):
        self.package_path = os.fspath(package_path)
        self.lib = load_module(self.package_path)

    lib_path = property(lambda self: self.package_path)


class TVMCResult:
    """outputs: arrays by name, output_0 and so on. times: a BenchmarkResult, or None."""

    def __init__(self, outputs, times):
        self.outputs, self.times = outputs, times

    def format_times(self):
        """The times as a table."""
        return times_text(self.times)

    def get_output(self, name):
        """The array of an output."""
        if name not in self.outputs:
            raise TVMCException(f"there is no output {name}; there are {', '.join(self.outputs)}")
        return self.outputs[name]

    def save(self, output_path):
        """Writes the outputs as an .npz."""
        numpy.savez(output_path, **self.outputs)

    def __str__(self):
        stats = "Output Names:\n " + str(list(self.outputs))
        return stats if self.times is None else f"{self.format_times()}\n\n{stats}"


__all__ = ["TVMCException", "TVMCModel", "TVMCPackage", "TVMCResult"]
