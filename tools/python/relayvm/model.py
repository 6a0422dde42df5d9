"""Loading and running programs."""
import os

from . import _native, pages
from .host import _by_name, _call_async
from .keywords import spelt
from .runtime import default_runtime

# As ONNX Runtime names them.
_ORT_TYPES = {"float32": "float", "float64": "double", "float16": "float16", "bfloat16": "bfloat16"}


_NO_OPTIONS = {}
_NO_PICKLE = ("a model cannot be pickled, nor go to another process: send its file's name or bytes (compile(...).to_bytes()), and load it there")


class Argument:
    """An input or output of a function.

    name: as the program says. dtype: "float32", "int64", "bool", ...; None when it is no tensor. shape:
    its dims, where a string is the name of a dim that may have any size, and None has no name; None when
    it is no tensor. relay_type: as Relay writes it. type: as ONNX Runtime writes it.
    """

    __slots__ = ("name", "relay_type", "dtype", "shape")

    def __init__(self, name, relay_type, dtype, shape):
        self.name, self.relay_type, self.dtype = name, relay_type, dtype
        self.shape = list(shape) if shape is not None else None

    @property
    def type(self):
        """Its type as ONNX Runtime writes it: "tensor(float)"."""
        return f"tensor({_ORT_TYPES.get(self.dtype, self.dtype)})" if self.dtype else self.relay_type

    def __repr__(self):
        return f"Argument({self.name}: {self.relay_type})"


class Function(_native.Callable):
    """A function of a model: `model.main`. Call it with inputs by position or name.

    Inputs are numpy arrays, tensors with DLPack (PyTorch's), objects with the buffer protocol, numbers
    and nested lists; tuples for tuples; for algebraic data types see `Adt`. Compact, 64-byte aligned
    memory is used where it is and must not change during the call; afterwards it may, since a result that
    is an input, or a part of one, is a copy. An array of another dtype is converted
    where that loses nothing but digits of floats. Results are arrays whose memory is
    the runtime's, without a copy; tuples; `Adt`; tensors of bfloat16 are `Value`, which has DLPack.

    Besides inputs (unless an input has that name):
      out: a writable C-contiguous array (or tensor of PyTorch's) for the result, or a list of them (None: no buffer) or dict by
        name, one for each tensor of the result; results are then these. A `Device` of the runtime in the place of an array: the
        tensor is left there, and the result a `Value`.
      timeout: seconds; DeadlineExceeded when it takes longer.
      memory_limit: bytes that the run may hold; ResourceExhausted above.
      tag: an int of the caller's, by which events of a `ChromeTrace` say whose run they are of.
      state: what `state()` gave: inputs that are kept need not be given, and it has what they are next.

    Raises subclasses of `Error`. Thread-safe; other Python threads go on during a run.
    """

    def __init__(self, native, session, host_functions):
        self._bind(native)
        self._call, self._session, self._host_functions = native, session, host_functions
        self.__name__ = ""

    def __copy__(self):
        return Function(self._call, self._session, self._host_functions)

    def __reduce__(self):
        raise TypeError(_NO_PICKLE)

    async def run_async(self, *args, **kwargs):
        """The same on the runtime's scheduler, for `await`: thousands of runs share its threads.

        Cancelling the task cancels the run, which may still write to buffers of `out` until it has ended. Takes besides: priority:
        "high", "normal" or "low"; group: a `RunGroup` of the runtime, or a tuple of two, in whose limits it runs.
        """
        import asyncio  # slow to import, and few need it
        loop = asyncio.get_running_loop()
        future = loop.create_future()
        raised = []

        def finish(result, error):
            if not future.done():
                if error is None:
                    future.set_result(result)
                else:
                    future.set_exception(raised[0] if raised else error)

        def done(result, error):
            try:
                loop.call_soon_threadsafe(finish, result, error)
            except RuntimeError:
                pass  # the loop is closed: nobody waits

        def host_call(pending):
            function = self._host_functions[pending.name]
            asyncio.run_coroutine_threadsafe(_call_async(function, pending, raised.append), loop)

        handle = self._call.start(done, host_call, *args, **kwargs)
        try:
            return await future
        except (asyncio.CancelledError, GeneratorExit):
            handle.cancel()
            raise

    def state(self):
        """What it keeps between calls (compile with states=["IN=OUT"]), before the first; see `Model.state`."""
        return self._session.state(self._call.name)

    @property
    def inputs(self):
        """Its parameters, as `Argument`."""
        return [Argument(*a) for a in self._call.inputs()]

    @property
    def outputs(self):
        """The parts of its result, depth first through tuples, as `Argument`."""
        return [Argument(*a) for a in self._call.outputs()]

    def _html(self):
        return pages.arguments(self.inputs, self.outputs)

    def _repr_html_(self):
        return pages.page(f"Function {self._call.name}", self._html())

    def __repr__(self):
        inputs = ", ".join(f"{a.name}: {a.relay_type}" for a in self.inputs)
        return f"<relayvm function ({inputs}) -> {', '.join(a.relay_type for a in self.outputs)}>"


class Model(_native.Callable):
    """A program that is ready to run: `load`, `compile_model`.

        model = rvm.load("model.vmx")
        y = model(x)                                # its function main
        y = model.main(x)
        [y] = model.run(["y"], {"x": x})            # as with ONNX Runtime

    Functions are attributes by their names; see `Function` for what they take and give.
    """

    def __init__(self, program, runtime=None, host_functions=()):
        self._program = program
        self._source = None  # what it was loaded from, for `serve`: a path, or an Executable
        self._runtime = runtime or default_runtime()
        self._host_functions = _by_name(host_functions)
        self._session = _native.Session(program, self._runtime._native, self._host_functions)
        self.functions = program.functions()
        main = "main" if "main" in self.functions else self.functions[0] if self.functions else None
        self._main = self._function(main) if main is not None else None
        self._places = None  # of outputs, by name
        if main is not None:
            self._bind(self._main._call)

    def __copy__(self):
        made = type(self).__new__(type(self))
        made.__dict__.update(self.__dict__)
        if self._main is not None:
            made._bind(self._main._call)
        return made

    def __reduce__(self):
        raise TypeError(_NO_PICKLE)

    def _function(self, name):
        return Function(self._session.function(name), self._session, self._host_functions)

    def __getattr__(self, name):
        if name.startswith("_") or name not in self.functions:
            if name.startswith("_"):
                raise AttributeError(name)
            import difflib
            near = difflib.get_close_matches(name, self.functions, 1)
            raise AttributeError(f"the program has no function {name}{f'; did you mean {near[0]}?' if near else ''}; it has "
                                 f"{', '.join(self.functions)}")
        function = self._function(name)
        setattr(self, name, function)
        return function

    def state(self):
        """What main keeps between calls: one stream's, where an input is what an output of the call before was.

            model = rvm.compile_model("vad.onnx", states=["h=hn"])
            state = model.state()
            for chunk in chunks:
                probability, _ = model(chunk, state=state)

        A dict of arrays by the inputs' names, None before the first call, which then takes the program's own first
        value, or zeros. copy() goes on by itself, reset() begins anew, save("x.npz") and load("x.npz") write and read it.
        in_place = True writes what changes a part of a tensor (a cache of keys) in its place; a call that fails then begins the
        stream anew, else it changes nothing. For one call at a time. FailedPrecondition where main keeps nothing.
        """
        return self._main.state()

    def run(self, output_names, inputs, *, out=None, timeout=None, memory_limit=None, state=None):
        """A list of the named outputs (None: all) for a dict of inputs by name, or a list of them in order. See `Function`."""
        if isinstance(output_names, str):
            raise TypeError(f"run: expected a list of names of outputs, or None for all, found {output_names!r}")
        places = None if output_names is None else self._places_of(output_names)
        if out is timeout is memory_limit is state is None:
            options = _NO_OPTIONS
        else:
            given = {"out": out, "timeout": timeout, "memory_limit": memory_limit, "state": state}
            options = {name: value for name, value in given.items() if value is not None}
        if hasattr(inputs, "keys"):
            result = self._main(**inputs, **options) if options else self._main(**inputs)
        elif isinstance(inputs, (list, tuple)):
            result = self._main(*inputs, **options)
        else:
            raise TypeError(f"run: expected a dict of inputs by name, or a list of them in the order of {[a.name for a in self.inputs]}, "
                            f"found {type(inputs).__name__}")
        flat = []
        if isinstance(result, tuple):
            _flatten(result, flat)
        else:
            flat.append(result)
        return flat if places is None else [flat[place] for place in places]

    def _places_of(self, output_names):
        if self._places is None:
            names = [o.name for o in self.outputs]
            self._places = {name: names.index(name) for name in names}
        try:
            return [self._places[name] for name in output_names]
        except KeyError:
            missing = [name for name in output_names if name not in self._places]
            raise ValueError(f"there is no output {', '.join(map(str, missing))}; outputs: {', '.join(self._places)}") from None

    async def run_async(self, *args, **kwargs):
        """`await` the result of main; see `Function.run_async`."""
        return await self._main.run_async(*args, **kwargs)

    @property
    def inputs(self):
        """The parameters of main, as `Argument`."""
        return self._main.inputs

    @property
    def outputs(self):
        """The parts of main's result, as `Argument`."""
        return self._main.outputs

    def get_inputs(self):
        """The parameters of main, as `Argument`: name, shape, dtype (type: ONNX Runtime's name for it)."""
        return self.inputs

    def get_outputs(self):
        """The parts of main's result."""
        return self.outputs

    @property
    def types(self):
        """Algebraic data types: by name, a dict of constructors with the types of their fields."""
        return self._program.adts()

    @property
    def num_batched_kernels(self):
        """Kernels that a runtime with max_batch can run for several calls at once."""
        return self._program.num_batched_kernels()

    def memory_formula(self, function=None):
        """What a function (main) holds at most, as a formula over the dims of its arguments: "n*1024 + 512" bytes."""
        name = function or ("main" if "main" in self.functions else self.functions[0])
        if name not in self.functions:
            raise KeyError(f"the program has no function {name}; it has {', '.join(self.functions)}")
        return self._program.memory_formula(name)

    def trim(self):
        """Gives back memory that is kept for the next call."""
        self._session.trim()

    def _repr_html_(self):
        parts = []
        for i, name in enumerate(sorted(self.functions, key=lambda name: name != "main")):
            inside = self._function(name)._html() + pages.note(f"memory at most: {self.memory_formula(name)} bytes")
            parts.append(pages.details(name, inside, is_open=i == 0))
        types = [(name, ", ".join(f"{c}({', '.join(map(str, fields))})" for c, fields in made.items())) for name, made in self.types.items()]
        if types:
            parts.append(pages.details(f"{len(types)} types", pages.table(("type", "constructors"), types)))
        return pages.page(f"Model: {len(self.functions)} function{'s'[:len(self.functions) != 1]}", *parts[:pages._ROWS])

    def __repr__(self):
        return "\n".join(f"{name}{repr(self._function(name))[len('<relayvm function '):-1]}" for name in self.functions)


def _flatten(value, flat):
    if isinstance(value, tuple):
        for field in value:
            _flatten(field, flat)
    else:
        flat.append(value)


def _engines(engines):
    """Names and paths ("": the provider that comes with relayvm) of `load`'s engines."""
    if isinstance(engines, str):
        raise TypeError(f"engines: expected names or a dict of names and files, found the text '{engines}'")
    if not isinstance(engines, dict):
        return {str(name): "" for name in engines}
    return {str(name): os.fspath(path) if path else "" for name, path in engines.items()}


@spelt
def load(source, *, runtime=None, host_functions=(), target="", perf_map=False, verify=False, clear_memory=False,
         allow_images=True, engines=("dnnl",)):
    """Loads a .vmx file, or its bytes. FileNotFound (a FileNotFoundError) where there is none.

    runtime: a `Runtime`, else the one of all. host_functions: what the program declares without a body,
    see `host_function`. target: of a file for several processors, the part to use ("x86-64-v3"); else the
    best that runs here. perf_map: kernels have names in `perf report`. verify: compares the checksums of the
    weights too, which reads all of them. clear_memory: memory of runs is zero when the program gets it, else
    what other runs of the process have left there: for files that are not trusted. allow_images: False refuses a
    program that has kernels of its own, which are native code (Unsupported); builtins are left.
    engines: those that regions of the program may run on, by name, or a dict of names and their providers' files;
    () for none. Where one is not here, the program's own kernels run instead, where the file has them, and a
    RuntimeWarning says why.
    """
    named = _by_name(host_functions)
    options = {"target": target, "perf_map": perf_map, "verify": verify, "clear_memory": clear_memory,
               "allow_images": allow_images, "engines": _engines(engines)}
    if isinstance(source, (bytes, bytearray, memoryview)):
        program = _native.load_bytes(bytes(source), named, options)
    else:
        program = _native.load(os.fspath(source), named, options)
    model = Model(program, runtime, named.values())
    model._source = os.fspath(source) if isinstance(source, (str, os.PathLike)) else None
    return model


@spelt
def tensor(data, dtype="float32"):
    """A tensor of the runtime: takes DLPack, buffers and nested lists, and has DLPack.

    For what numpy has no array of: tensor(bits, "bfloat16") of an array of uint16.
    """
    return _native.tensor(data, dtype)
