"""tvm.runtime.vm: the virtual machine, and the programs that it runs."""
from ...compiler import Executable as _Executable
from ...compiler.objects import Object
from ..nd import _check, array
from ..values import given as _given
from ..values import wrapped
from . import late_constants
from .module import Library, Module
from .params import save_param_dict_to_file


class Executable(Object):
    """A program for `VirtualMachine`: of relay.vm.compile, or of a loaded Module."""

    def __init__(self, mod):
        if isinstance(mod, _Executable):
            mod = Library(mod)
        if not isinstance(mod, Library):
            raise TypeError(f"Executable: expected what relay.vm.compile or tvm.runtime.load_module gives, found {type(mod).__name__}")
        self.mod = self.module = mod

    @property
    def model(self):
        return self.mod.model

    @property
    def executable(self):
        """The `relayvm.Executable`; None of a program that was loaded."""
        return self.mod.executable

    def _compiled(self, what):
        if self.executable is None:
            raise ValueError(f"{what}: of a program that was compiled here, not loaded")
        return self.executable

    def save(self):
        """(code, lib): the bytes of the program, and the module that has it."""
        return bytearray(self.mod.to_bytes()), self.mod

    @staticmethod
    def load_exec(bytecode, lib):
        """The program of what `save` gave. lib may be None."""
        from ...model import load
        if not isinstance(bytecode, (bytes, bytearray)):
            raise TypeError(f"bytecode is expected to be the type of bytearray, but received {type(bytecode).__name__}")
        if lib is not None and not isinstance(lib, Module):
            raise TypeError(f"lib is expected to be the type of tvm.runtime.Module, but received {type(lib).__name__}")
        return Executable(Library(model=load(bytes(bytecode)), content=bytes(bytecode)))

    @property
    def lib(self):
        """The module that has the kernels."""
        return self.mod

    def get_lib(self):
        """The same."""
        return self.mod

    @property
    def imported_modules(self):
        """What engines run of it."""
        return self.mod.imported_modules

    @property
    def bytecode(self):
        """Its instructions, as text."""
        return self.mod.get_source()

    @property
    def globals(self):
        """Names of its functions; of those of its source, where it was compiled here."""
        return list(self.model.functions) if self.executable is None else self.executable._source[0].functions()

    @property
    def primitive_ops(self):
        """Names of its kernels."""
        return self._compiled("primitive_ops").kernels

    @property
    def stats(self):
        """What it has, in words."""
        program = self._compiled("stats")
        return f"Relay VM executable statistics:\n  Functions: {', '.join(self.globals)}\n  Kernels (#{len(program.kernels)}): " \
               f"[{', '.join(program.kernels)}]\n"

    @property
    def primitives(self):
        """Its kernels, as text."""
        return "\n".join(f"VM PackedFunc[{i}]: {name}" for i, name in enumerate(self._compiled("primitives").kernels))

    @property
    def virtual_devices(self):
        """Where its values are."""
        return "VirtualDevice[0]: device type 1, id 0"

    def get_function_params(self, func_name):
        """Names of a function's parameters."""
        if func_name not in self.model.functions:
            raise ValueError(f"there is no function {func_name}; there are {', '.join(self.model.functions)}")
        return [a.name for a in getattr(self.model, func_name).inputs]

    def get_late_bound_consts(self, byte_limit):
        """Takes the constants of main out that are larger, and gives them by name: `load_late_bound_consts_from_map` brings them back."""
        self.mod._late, constants = late_constants.split(self._compiled("get_late_bound_consts"), byte_limit)
        return {name: array(value) for name, value in constants.items()}

    def move_late_bound_consts(self, path, byte_limit):
        """Takes the constants of main out that are larger, into a file."""
        save_param_dict_to_file(self.get_late_bound_consts(byte_limit), path)

    def load_late_bound_consts(self, path):
        """Brings back what `move_late_bound_consts` wrote."""
        self.mod._load_late(path)

    def load_late_bound_consts_from_map(self, map):
        """Brings back what `get_late_bound_consts` gave."""
        self.mod._load_late(map)

    def __getattr__(self, name):  # what relayvm's has: save to a path is to_bytes, kernels, assembly, warnings ...
        if name.startswith("_") or self.mod.executable is None:
            raise AttributeError(f"Executable has no attribute {name}")
        return getattr(self.mod.executable, name)


class VirtualMachine(Object):
    """Runs a program of relay.vm.compile, or one that was loaded."""

    NAIVE_ALLOCATOR, POOLED_ALLOCATOR, PAGED_ALLOCATOR = 1, 2, 3

    def __init__(self, exe, device=None, memory_cfg=None):
        for one in device if isinstance(device, (list, tuple)) else [device]:
            _check(one)
        self._exec = exe if isinstance(exe, Executable) else Executable(exe)
        self._model, self._set, self._outs, self._result = self._exec.model, {}, {}, None
        self.module = _Machine(self)

    def _inputs(self, name):
        if name not in self._model.functions:
            raise ValueError(f"there is no function {name}; there are {', '.join(self._model.functions)}")
        late = self._late(name)
        inputs = getattr(self._model, name).inputs
        return inputs[:len(inputs) - len(late)]

    def _late(self, name):
        late = self._exec.mod._late
        return late.arguments() if late is not None and self._exec.executable is None and name == "main" else []

    def _placed(self, name, args, kwargs):
        """{number of the parameter: value}."""
        inputs = self._inputs(name)
        names = [a.name for a in inputs]
        other = [key for key in kwargs if key not in names]
        if len(args) > len(names) or other:
            found = f"an input {other[0]}" if other else f"{len(args)}"
            raise ValueError(f"{name} takes {', '.join(names) or 'nothing'}; found {found}")
        placed = {**dict(enumerate(args)), **{names.index(key): value for key, value in kwargs.items()}}
        return {i: _given(_only(value) if inputs[i].dtype is not None else value, self._model) for i, value in placed.items()}

    def set_input(self, func_name, *args, **kwargs):
        """What the next call of a function takes, by position and name."""
        self._set[func_name] = self._placed(func_name, args, kwargs)

    def set_one_input(self, func_name, *args, **kwargs):
        """One of what the next call takes: its number or name, and the value."""
        if args:
            key, value = args
            if not isinstance(key, int):
                kwargs = {key: value}
            else:
                kwargs = {self._inputs(func_name)[key].name: value}
        if len(kwargs) != 1:
            raise ValueError(f"set_one_input: expected one input, found {len(kwargs)}")
        self._set.setdefault(func_name, {}).update(self._placed(func_name, (), kwargs))

    def set_outputs(self, func_name, *args, **kwargs):
        """Arrays that the next call of a function writes what it gives to."""
        self._outs[func_name] = [*args, *kwargs.values()]

    def invoke(self, func_name, *args, **kwargs):
        """What a function gives for these, or for what `set_input` said."""
        if args or kwargs:
            self.set_input(func_name, *args, **kwargs)
        inputs, given = self._inputs(func_name), self._set.get(func_name, {})
        missing = [a.name for i, a in enumerate(inputs) if i not in given]
        if missing:
            raise ValueError(f"{func_name}: {', '.join(missing)} {'is' if len(missing) == 1 else 'are'} not set")
        result = getattr(self._model, func_name)(*(given[i] for i in range(len(inputs))), *self._late(func_name))
        self._result = wrapped(result)
        for out, value in zip(self._outs.pop(func_name, ()), self.get_outputs()):
            array(value).copyto(out)
        return self._result

    def run(self, *args, **kwargs):
        """What main gives."""
        return self.invoke("main", *args, **kwargs)

    def invoke_stateful(self, func_name, *args, **kwargs):
        """Runs a function; `get_outputs` has what it gives."""
        self.invoke(func_name, *args, **kwargs)

    def invoke_with_outputs(self, func_name, input_args, output_args):
        """Runs a function whose results go into arrays. input_args: by name, or a list."""
        args, kwargs = ((), input_args) if isinstance(input_args, dict) else (input_args, {})
        self.set_outputs(func_name, *output_args)
        self.invoke(func_name, *args, **kwargs)

    def get_outputs(self):
        """What the last call gave, as a list."""
        return list(self._result) if isinstance(self._result, tuple) else [self._result]

    def get_input_index(self, input_name, func_name="main"):
        """The number of a parameter, -1 where there is none."""
        return next((i for i, a in enumerate(self._inputs(func_name)) if a.name == input_name), -1)

    def benchmark(self, device, *args, func_name="main", repeat=5, number=5, min_repeat_ms=None, limit_zero_time_iterations=100,
                  end_to_end=False, cooldown_interval_ms=0, repeats_to_cooldown=1, **kwargs):
        """The times of calls, a `BenchmarkResult`."""
        self.set_input(func_name, *args, **kwargs)
        return self.module.time_evaluator("invoke", device, repeat=repeat, number=number, min_repeat_ms=min_repeat_ms or 0)(func_name)


def _only(value):
    """The array of a list that has one array, as TVM takes it for a tensor."""
    return value[0] if isinstance(value, list) and len(value) == 1 and hasattr(value[0], "dtype") else value


class _Machine(Module):
    """The machine's functions by name."""

    type_key = "VirtualMachine"

    def __init__(self, machine):
        self._machine = machine

    def _functions(self):
        names = ("get_input_index", "invoke", "invoke_stateful", "set_input", "set_one_input", "set_outputs")
        return {name: getattr(self._machine, name) for name in names}


__all__ = ["Executable", "VirtualMachine"]
