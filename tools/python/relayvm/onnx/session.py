"""InferenceSession: a model that runs, with ONNX Runtime's methods."""
import json
import os
import threading
import time
import warnings
import weakref

from ..adt import Adt
from ..errors import Error
from ..runtime import Runtime
from ..trace import ChromeTrace
from .binding import IOBinding
from .errors import Fail, InvalidArgument, translated
from .options import ExecutionMode, GraphOptimizationLevel, RunOptions, SessionOptions
from .profiles import converted
from .programs import ModelMetadata, Programs
from .values import OrtMemoryInfo, OrtValue, SparseTensor, need_host

CPU, DNNL = "CPUExecutionProvider", "DnnlExecutionProvider"
# Others that ONNX Runtime knows: they warn; a name that nobody knows is an error.
_ELSEWHERE = {f"{name}ExecutionProvider" for name in (
    "ACL", "ArmNN", "Azure", "CANN", "CUDA", "CoreML", "Dml", "JS", "Js", "MIGraphX", "Nnapi", "NvTensorRTRTX", "OpenVINO", "QNN", "ROCM",
    "Rknpu", "SNPE", "Tensorrt", "Tvm", "VSINPU", "VitisAI", "WebGpu", "WebNN", "Xnnpack")}
_WRONG = (Error, TypeError, ValueError)  # what the runtime raises of an argument
_runtimes = weakref.WeakValueDictionary()  # by threads, of sessions without profiling
_global_threads = 0
os.register_at_fork(after_in_child=_runtimes.clear)


def set_global_thread_pool_sizes(intra_op_num_threads, inter_op_num_threads=0):
    """The threads of sessions with use_per_session_threads = False."""
    global _global_threads
    _global_threads = intra_op_num_threads


def _runtime(num_threads, trace=None):
    if trace is None and num_threads in _runtimes:
        return _runtimes[num_threads]
    runtime = Runtime(num_threads, scheduler_threads=os.cpu_count() or 1, trace=trace)
    if trace is None:
        _runtimes[num_threads] = runtime
    return runtime


def check_and_normalize_provider_args(providers, provider_options, available_provider_names):
    """Names of providers, and a dict of options for each, of what `providers` and `provider_options` say."""
    if providers is None:
        return [], []
    if not isinstance(providers, (list, tuple)):
        raise ValueError(f"providers: expected a list of names, or of (name, options), found {providers!r}")
    if provider_options is not None:
        if not isinstance(provider_options, (list, tuple)) or not all(isinstance(o, dict) for o in provider_options):
            raise ValueError(f"provider_options: expected a list of dicts, found {provider_options!r}")
        if len(provider_options) != len(providers) or not all(isinstance(p, str) for p in providers):
            raise ValueError(f"provider_options: expected one dict for each of the names {providers!r}, found {provider_options!r}")
        providers = list(zip(providers, provider_options))
    found = {}
    for one in providers:
        name, options = one if isinstance(one, tuple) and len(one) == 2 else (one, {})
        if not isinstance(name, str) or not isinstance(options, dict):
            raise ValueError(f"providers: expected a name or (name, options), found {one!r}")
        if name not in available_provider_names:
            warnings.warn(f"providers: there is no {name} here; there are {', '.join(available_provider_names)}", UserWarning, 4)
        if name in found:
            warnings.warn(f"providers: {name} is given twice; the first counts", UserWarning, 4)
            continue
        found[name] = {str(key): str(value) for key, value in options.items()}
    return list(found), list(found.values())


def _plain(value):
    """A list of a sequence, and an optional value's own."""
    if not isinstance(value, Adt):
        return value
    if value.constructor in ("Cons", "Nil"):
        return [_plain(one) for one in value.to_list()]
    if value.constructor in ("Some", "None"):
        return _plain(value.fields[0]) if value.fields else None
    return value


class Session:
    """What runs a model; `InferenceSession` loads it."""

    def get_session_options(self):
        """Its `SessionOptions`, with what the model itself says of them."""
        return self._sess_options

    def get_inputs(self):
        """A `NodeArg` of each input, in order."""
        return self._inputs_meta

    def get_outputs(self):
        """A `NodeArg` of each output, in order."""
        return self._outputs_meta

    def get_overridable_initializers(self):
        """A `NodeArg` of each initializer that is an input too: a run may give it. The first that does compiles the model once more."""
        return self._programs.overridable

    def get_modelmeta(self):
        """The model's `ModelMetadata`."""
        return self._model_meta

    def get_input_memory_infos(self):
        """Where inputs are taken: the host."""
        return [OrtMemoryInfo() for _ in self._inputs_meta]

    def get_output_memory_infos(self):
        """Where outputs are: the host."""
        return [OrtMemoryInfo() for _ in self._outputs_meta]

    def get_input_epdevices(self):
        """None for each input: no provider has devices."""
        return [None] * len(self._inputs_meta)

    def get_providers(self):
        """Names of its execution providers."""
        return self._providers

    def get_provider_options(self):
        """{provider: its options}."""
        return self._provider_options

    def set_providers(self, providers=None, provider_options=None):
        """Other execution providers; the model is compiled again where that matters."""
        self._load(providers, provider_options, ())

    def get_provider_graph_assignment_info(self):
        """[]: nodes are compiled as one, of which `end_profiling` says what ran."""
        return []

    def disable_fallback(self):
        """Nothing: what a provider cannot run the CPU does."""

    def enable_fallback(self):
        """Nothing, as disable_fallback."""

    def set_ep_dynamic_options(self, options):
        """There are none."""
        raise InvalidArgument(f"set_ep_dynamic_options: the CPU's provider has no options, found {', '.join(options)}")

    def get_tuning_results(self):
        """None: relayc --tune measures schedules when it compiles."""
        return []

    def set_tuning_results(self, results, *, error_on_invalid=False):
        """Those of ONNX Runtime's providers mean nothing here."""
        if results and error_on_invalid:
            raise Fail("set_tuning_results: give schedules of relayc --tune: add_session_config_entry(\"relayvm.schedules\", FILE)")

    # --- Runs ---

    def run(self, output_names, input_feed, run_options=None):
        """A list of the named outputs (None or empty: all) for a dict of inputs by name.

        Inputs are arrays of numpy, nested lists, `OrtValue`s, tensors with DLPack; lists for sequences, dicts for maps, None for nothing.
        """
        if run_options is None and input_feed.keys() == self._plain_names:
            try:
                for value in input_feed.values():
                    if value.__class__ is OrtValue:
                        result = self._call(**{name: one._value if one.__class__ is OrtValue else one for name, one in input_feed.items()})
                        break
                else:
                    result = self._call(**input_feed)
            except _WRONG as error:
                raise translated(error) from error
        else:
            result = self._run(input_feed, run_options)
        if self._converts:
            result = self._converted(result)
        if not output_names:
            return list(result) if self._is_tuple else [result]
        if isinstance(output_names, str):
            raise TypeError(f"run: expected a list of names of outputs, found {output_names!r}")
        try:
            places = [self._places[name] for name in output_names]
        except KeyError as error:
            raise self._no_output(error.args[0]) from None
        return [result[place] for place in places] if self._is_tuple else [result] * len(places)

    def _no_output(self, name):
        return InvalidArgument(f"Invalid output name: {name}: outputs are {', '.join(self._places)}")

    def _converted(self, result):
        values = list(result) if self._is_tuple else [result]
        for i in self._converts:
            make = self._programs.maps_out.get(i, _plain)
            values[i] = make(values[i])
        return values if self._is_tuple else values[0]

    def _prepared(self, feed):
        """The function to call, and inputs as it takes them."""
        programs, names = self._programs, self._names
        missing = [name for name, one in names.items() if name not in feed and not one.type.startswith("optional")]
        if missing:
            raise ValueError(f"Required inputs ({missing}) are missing from input feed ({list(feed)}). Model requires {len(names)} inputs, "
                             f"found {len(feed)}")
        extra = [name for name in feed if name not in names]
        overridden = tuple(sorted(name for name in extra if name in self._overridable))
        if len(overridden) < len(extra):
            name = next(name for name in extra if name not in self._overridable)
            raise InvalidArgument(f"Invalid input name: {name}: inputs are {', '.join([*names, *self._overridable])}")
        values = {}
        for name, value in feed.items():
            value = value._value if isinstance(value, OrtValue) else value
            if isinstance(value, SparseTensor):
                raise InvalidArgument(f"{name}: a sparse tensor: give SparseTensor.to_dense(), an array")
            if name in programs.maps_in:
                name, value = programs.maps_in[name].output, programs.maps_in[name].row(value)
            if value is not None:
                values[name] = value
        if not programs.late and not overridden:
            return self._call, values
        return self._bound(programs.model_for(self._runtime, programs.shapes_of(values), overridden)), values

    def _bound(self, model):
        self._is_tuple = model._main._call.result_is_tuple()
        self._model = model
        return model._main

    def _run(self, feed, run_options, out=None):
        """The result of a run, any inputs and options given. out: {output: array}, which the result is written to."""
        if run_options is not None and not isinstance(run_options, RunOptions):
            raise TypeError(f"run_options: expected a RunOptions, found {type(run_options).__name__}")
        call, values = self._prepared(feed)
        if run_options is not None and run_options.terminate:
            raise Fail("Exiting due to terminate flag being set to true: run_options.terminate")
        try:
            # Without another thread nobody can end the run.
            if run_options is not None and threading.active_count() > 1:
                result = self._run_and_watch(call, values, run_options)
            elif out and "out" not in values:
                return call(**values, out=out)
            else:
                result = call(**values)
        except _WRONG as error:
            raise translated(error) from error
        if run_options is not None and "memory.enable_memory_arena_shrinkage" in run_options._config:
            self._model.trim()
        for name, array in (out or {}).items():
            self._write(name, result[self._places[name]] if self._is_tuple else result, array)
        return result

    @staticmethod
    def _write(name, value, array):
        if getattr(value, "shape", None) != array.shape or value.dtype != array.dtype:
            raise InvalidArgument(f"output '{name}': the buffer has {array.dtype} of {list(array.shape)}, the result is {value.dtype} of "
                                  f"{list(value.shape)}")
        array[...] = value

    @staticmethod
    def _run_and_watch(call, values, run_options):
        ended, results = threading.Event(), []

        def done(result, error):
            results.append((result, error))
            ended.set()

        handle = call._call.start(done, None, **values)
        with run_options._lock:
            run_options._runs.add(handle)
        try:
            if run_options.terminate:
                handle.cancel()
            ended.wait()
        except BaseException:
            handle.cancel()
            raise
        finally:
            with run_options._lock:
                run_options._runs.discard(handle)
        result, error = results[0]
        if error is not None:
            raise error
        return result

    def run_async(self, output_names, input_feed, callback, user_data, run_options=None):
        """As `run`, on a thread of the runtime's, which then calls callback(outputs, user_data, error): [] and a text where it failed."""
        call, values = self._prepared(input_feed)
        names = list(output_names or self._places)
        for name in names:
            if name not in self._places:
                raise self._no_output(name)

        def done(result, error):
            if error is not None:
                callback([], user_data, str(error))
                return
            result = self._converted(result) if self._converts else result
            results = result if self._is_tuple else [result]
            callback([results[self._places[name]] for name in names], user_data, "")

        try:
            handle = call._call.start(done, None, **values)
        except _WRONG as error:
            callback([], user_data, str(error))
            return
        if run_options is not None and run_options.terminate:
            handle.cancel()

    def run_with_ort_values(self, output_names, input_dict_ort_values, run_options=None):
        """As `run`, of `OrtValue`s; gives a list of them."""
        names = list(output_names or self._places)
        feed = {name: value._value if isinstance(value, OrtValue) and not value.is_sparse_tensor() else value
                for name, value in input_dict_ort_values.items()}
        results = self.run(names, feed, run_options)
        return [OrtValue(value, self._outputs_meta[self._places[name]].type) for name, value in zip(names, results)]

    def run_with_iobinding(self, iobinding, run_options=None):
        """Runs with what an `IOBinding` of this session has bound."""
        if iobinding._session is not self:
            raise ValueError("run_with_iobinding: expected an IOBinding of this session: session.io_binding()")
        iobinding._run(run_options)

    def run_with_ortvaluevector(self, run_options, feed_names, feeds, fetch_names, fetches, fetch_devices):
        """As `run_with_ort_values`, with names and values in lists of their own; outputs are appended to `fetches`."""
        for device in fetch_devices or ():
            need_host(device, "run_with_ortvaluevector")
        fetches.extend(self.run_with_ort_values(list(fetch_names), dict(zip(feed_names, feeds)), run_options))

    def io_binding(self):
        """A new `IOBinding`."""
        return IOBinding(self)

    def create_ortvalue_from_shape_and_type(self, shape, element_type, device_type="cpu", device_id=0, vendor_id=-1):
        """As `OrtValue.ortvalue_from_shape_and_type`."""
        return OrtValue.ortvalue_from_shape_and_type(shape, element_type, device_type, device_id, vendor_id)

    def release_captured_graph(self, graph_annotation_id=0):
        """Nothing: no graph is captured."""

    # --- Profiling ---

    def end_profiling(self):
        """Writes what ran when (chrome://tracing, ui.perfetto.dev) and gives the file's name; "" without enable_profiling."""
        if self._trace is None:
            return ""
        trace, self._trace = self._trace, None
        path = f"{self._sess_options.profile_file_prefix}_{time.strftime('%Y-%m-%d_%H-%M-%S')}_{time.time_ns() // 1000 % 1000000:06}.json"
        events = converted(trace.events(), self._loading_us)
        with open(path, "w", encoding="utf-8") as file:
            file.write("[\n" + ",\n".join(json.dumps(event) for event in events) + "\n]\n")
        return path

    def get_profiling_start_time_ns(self):
        """When profiling began, as time.monotonic_ns() counts."""
        return self._started_ns

    @property
    def _sess(self):
        from .capi.onnxruntime_pybind11_state import InferenceSession as Native
        if self._native_form is None:
            self._native_form = Native._of(self)
        return self._native_form


class InferenceSession(Session):
    """A model that runs: InferenceSession("model.onnx"), of its bytes, or of a .vmx file.

    sess_options: `SessionOptions`. providers: names, or (name, options): "CPUExecutionProvider", and "DnnlExecutionProvider" for oneDNN;
    others warn, and the CPU runs the model. disabled_optimizers: passes of the compiler that do not run. The model is compiled here, which
    takes longer than ONNX Runtime's loading: SessionOptions.optimized_model_filepath keeps what was compiled.
    """

    def __init__(self, path_or_bytes, sess_options=None, providers=None, provider_options=None, **kwargs):
        unknown = kwargs.keys() - {"disabled_optimizers", "enable_fallback", "read_config_from_model"}
        if unknown:
            raise TypeError(f"InferenceSession: there is no argument {unknown.pop()}")
        if sess_options is not None and not isinstance(sess_options, SessionOptions):
            raise TypeError(f"sess_options: expected a SessionOptions, found {type(sess_options).__name__}")
        self._given, self._trace, self._native_form = path_or_bytes, None, None
        self._model_path = path_or_bytes if isinstance(path_or_bytes, (str, os.PathLike)) else None
        self._sess_options = sess_options if sess_options is not None else SessionOptions()
        self._reads_config = kwargs.get("read_config_from_model", os.environ.get("ORT_LOAD_CONFIG_FROM_MODEL") == "1")
        self._load(providers, provider_options, kwargs.get("disabled_optimizers") or ())

    def _load(self, providers, provider_options, disabled):
        if providers is None and self._sess_options.has_providers():
            providers = self._sess_options._providers
        for name in (one[0] if isinstance(one, tuple) and one else one for one in providers or () if not isinstance(providers, str)):
            if isinstance(name, str) and name not in (CPU, DNNL) and name not in _ELSEWHERE:
                raise RuntimeError(f"Unknown Provider Type: {name}: there are {CPU} and {DNNL}")
        names, options = check_and_normalize_provider_args(providers, provider_options, [CPU, DNNL])
        self._provider_options = {name: o for name, o in zip(names, options) if name in (CPU, DNNL)} | {CPU: {}}
        self._providers = list(self._provider_options)
        self._programs = Programs(self._given, self._sess_options, "dnnl" if DNNL in self._providers else None, _passes(disabled))
        if self._reads_config and self._programs.model is not None:
            self._read_config(self._programs.model.metadata.get("ort_config"))
        self._begin()

    def _read_config(self, text):
        """Options that the model has itself."""
        if not text:
            return
        self._sess_options = self._programs._options = options = self._sess_options._copy()
        kinds = {"execution_mode": ExecutionMode, "graph_optimization_level": GraphOptimizationLevel, "enable_profiling": bool}
        for name, value in json.loads(text).get("session_options", {}).items():
            setattr(options, name, kinds.get(name, lambda same: same)(value))

    def _begin(self):
        options, programs = self._sess_options, self._programs
        self._started_ns = time.monotonic_ns()
        self._trace = ChromeTrace() if options.enable_profiling else None
        self._runtime = _runtime(options.intra_op_num_threads if options.use_per_session_threads else _global_threads, self._trace)
        self._model_meta = ModelMetadata(programs.model)
        self._call, self._is_tuple = None, False
        if not programs.late:
            self._call = self._bound(programs.model_for(self._runtime))
        self._inputs_meta, self._outputs_meta = programs.inputs, programs.outputs
        named = {dim for one in self._inputs_meta for dim in one.shape}  # others are the compiler's own
        for one, declared, made in zip(self._outputs_meta, programs.declared_outputs(), self._model.outputs if self._call else ()):
            if declared.kind == "tensor" and made.shape is not None:
                is_told = declared.dims is not None and len(declared.dims) == len(made.shape)
                told = one.shape if is_told else [dim if dim in named else None for dim in made.shape]
                one.shape = [m if isinstance(m, int) else d for d, m in zip(told, made.shape)]
        self._names = {one.name: one for one in self._inputs_meta}
        self._overridable = {one.name for one in programs.overridable}
        self._places = {one.name: i for i, one in enumerate(self._outputs_meta)}
        self._converts = [i for i, one in enumerate(self._outputs_meta) if not one.type.startswith("tensor")]
        are_tensors = self._call is not None and all(one.type.startswith("tensor") for one in self._inputs_meta)
        self._plain_names = frozenset(self._names) if are_tensors else None  # of feeds that go to the runtime as they are
        self._loading_us = (time.monotonic_ns() - self._started_ns) // 1000
        if options.optimized_model_filepath:
            programs.save(options.optimized_model_filepath)


def get_available_providers():
    """Names of execution providers."""
    return [CPU]


def _passes(names):
    """Those of `disabled_optimizers` that are passes of the compiler; ONNX Runtime's optimizers are none."""
    if not names:
        return []
    import relayvm as rvm
    known = rvm.compile and rvm.compiler._native.passes()
    return [name for name in names if name in known]
