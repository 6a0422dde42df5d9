"""tvm.runtime.module: programs as modules of functions, and how long these take."""
import os
import time

import numpy

from ... import model as _model
from ...compiler.objects import Object
from ...errors import Unsupported
from ..nd import Device, _check


class BenchmarkResult:
    """Seconds of each repetition: results, and their mean, median, max, min, std."""

    def __init__(self, results):
        self.results = tuple(results)
        self.mean, self.median, self.std = (float(f(results)) for f in (numpy.mean, numpy.median, numpy.std))
        self.max, self.min = max(results), min(results)

    def __str__(self):
        names = ("mean", "median", "max", "min", "std")
        return "Execution time summary:\n" + " ".join(f"{name + ' (ms)':^13}" for name in names) + "\n" \
            + " ".join(f"{getattr(self, name) * 1e3:^13.4f}" for name in names)

    __repr__ = __str__


def benchmark(run, repeat=5, number=5, min_repeat_ms=None):
    """The times of `repeat` times `number` calls; more calls where `min_repeat_ms` asks for more."""
    run()
    results = []
    for _ in range(repeat):
        count, begin = 0, time.perf_counter()
        while count < number or min_repeat_ms and time.perf_counter() - begin < min_repeat_ms / 1e3:
            run()
            count += 1
        results.append((time.perf_counter() - begin) / count)
    return BenchmarkResult(results)


class ModulePropertyMask:
    """What can be done with a module, as TVM numbers it."""

    BINARY_SERIALIZABLE, RUNNABLE, DSO_EXPORTABLE = 1, 2, 4


class Module(Object):
    """Functions by name: module["main"]."""

    type_key = "relayvm"
    imported_modules = ()
    entry_name = "main"
    format = ""
    is_binary_serializable = is_dso_exportable = False
    is_runnable = True

    def __init__(self, handle=None):
        self.handle = handle

    def _functions(self):
        return {}

    def get_property_mask(self):
        """What can be done with it: a sum of `ModulePropertyMask`."""
        return (ModulePropertyMask.BINARY_SERIALIZABLE * self.is_binary_serializable + ModulePropertyMask.RUNNABLE * self.is_runnable
                + ModulePropertyMask.DSO_EXPORTABLE * self.is_dso_exportable)

    def import_module(self, module):
        """Refused: programs are whole."""
        raise Unsupported("import_module: programs are whole here; relay.transform.PartitionGraph gives parts of them to engines")

    def clear_imports(self):
        """Takes imported modules away: there are none."""

    def save(self, file_name, fmt=""):
        """Writes a program; other modules have no form as files."""
        raise Unsupported(f"save: a {type(self).__name__} has no form as a file; relay.build(...).export_library(path) writes a program")

    def export_library(self, file_name, fcompile=None, fpack_imports=None, addons=None, workspace_dir=None, **kwargs):
        """As `save`."""
        self.save(file_name)

    def implements_function(self, name, query_imports=False):
        """Whether it has a function of that name."""
        return name in self._functions()

    def get_function(self, name, query_imports=False):
        """The function of that name."""
        functions = self._functions()
        if name not in functions:
            raise AttributeError(f"Module has no function '{name}'; it has {', '.join(functions) or 'none'}")
        return functions[name]

    def __getitem__(self, name):
        return self.get_function(name)

    @property
    def entry_func(self):
        """The function main."""
        return self["main"]

    def __call__(self, *args):
        return self.entry_func(*args)

    def time_evaluator(self, func_name, dev, number=10, repeat=1, min_repeat_ms=0, limit_zero_time_iterations=100, cooldown_interval_ms=0,
                       repeats_to_cooldown=1, cache_flush_bytes=0, f_preproc=""):
        """A function of the arguments of `func_name` that gives the times of its calls."""
        _check(dev)
        function = self[func_name]
        return lambda *args: benchmark(lambda: function(*args), repeat, number, min_repeat_ms)

    def get_source(self, fmt=""):
        """It as text."""
        return ""


class Library(Module):
    """A compiled program: what relay.build and relay.vm.compile give as lib, and what `load_module` reads.

    What `export_library` writes is relayvm's file, whatever its ending; `relayvm.load` and vmrun read it too.
    """

    format = "vmx"
    is_binary_serializable = True

    def __init__(self, executable=None, model=None, content=None):
        self.executable, self._model, self._content = executable, model, content  # content: of a program that was loaded, its bytes
        regions = executable._native.regions() if executable is not None else ()
        self.imported_modules = [RegionModule(name, engine, text) for name, engine, text in regions]
        self._late = None  # `late_constants.LateConstants` of a program whose weights are elsewhere

    @property
    def model(self):
        return self.executable.model if self._model is None else self._model

    def get_function(self, name, query_imports=False):
        """The function of that name. Of a program that was loaded, any other name, with devices, is that of its module (`build(mod_name=...)`), which
        files do not keep."""
        if self.executable is not None or name in self._functions():
            return super().get_function(name, query_imports)

        def of_module(*devices):
            if not all(isinstance(device, Device) for device in devices):
                super(Library, self).get_function(name)  # which says what there is
            return self._default(*devices)
        return of_module

    def _functions(self):
        functions = {name: getattr(self.model, name) for name in self.model.functions}
        functions["default"] = self._default
        functions["debug_create"] = lambda name, *devices: self._default(*devices)
        functions["load_late_bound_consts"] = self._load_late
        functions["load_late_bound_consts_from_map"] = self._load_late
        return functions

    def _default(self, *devices):
        from .graph import GraphRun  # which needs what is above
        for device in devices:
            _check(device)
        return GraphRun(self)

    def _load_late(self, constants):
        if self._late is not None:
            self._late.load(constants)

    def get_source(self, fmt=""):
        """The program's instructions, as text."""
        return self.executable.bytecode() if self.executable is not None else repr(self.model)

    def to_bytes(self):
        """What `export_library` writes."""
        if self.executable is None and self._content is None:
            raise ValueError("this program was loaded: copy its file")
        return self._content if self.executable is None else self.executable.to_bytes()

    def loaded_for(self, runtime):
        """Its model on a `relayvm.Runtime`."""
        return _model.load(self.to_bytes(), runtime=runtime) if self.executable is None else self.executable.load(runtime=runtime)

    def export_library(self, file_name, fcompile=None, fpack_imports=None, addons=None, workspace_dir=None, **kwargs):
        """Writes the program."""
        content = self.to_bytes() if self._late is None else self._late.to_bytes()
        with open(os.fspath(file_name), "wb") as file:
            file.write(content)
        return os.fspath(file_name)

    def save(self, file_name, fmt=""):
        """As `export_library`."""
        self.export_library(file_name)


class RegionModule(Module):
    """A part of the program that an engine runs: symbol (its name), compiler (the engine)."""

    def __init__(self, symbol, compiler, text):
        self.symbol, self.compiler, self._text = symbol, compiler, text
        self.type_key = f"{compiler}_json"

    def get_source(self, fmt="json"):
        """The JSON that the engine's provider gets."""
        return self._text


def load_module(path, fmt=""):
    """The program that `export_library` wrote."""
    from . import late_constants
    with open(os.fspath(path), "rb") as file:
        content = file.read()
    late = late_constants.of_bytes(content)
    program = content if late is None else late.program
    library = Library(model=_model.load(program), content=bytes(program))
    library._late = late
    return library


def enabled(target):
    """Whether programs of a target run here."""
    return str(target).split()[0] in ("llvm", "cpu", "c")


def num_threads():
    """How many threads kernels may use: as TVM_NUM_THREADS or OMP_NUM_THREADS says, or one for each core."""
    return int(os.environ.get("TVM_NUM_THREADS") or os.environ.get("OMP_NUM_THREADS") or os.cpu_count())


def load_static_library(path, func_names):
    """Refused: programs are files."""
    raise Unsupported("load_static_library: programs are files here: load_module; relayc --executor aot makes objects to link")


def system_lib(symbol_prefix=""):
    """Programs that are linked into the process: there are none."""
    raise AttributeError("system_lib: programs are files here: load_module; relayc --executor aot makes objects to link")


__all__ = ["BenchmarkResult", "Library", "Module", "ModulePropertyMask", "RegionModule", "benchmark", "enabled", "load_module",
           "load_static_library", "num_threads", "system_lib"]
