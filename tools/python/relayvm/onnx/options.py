"""SessionOptions, RunOptions and the enums that they take."""
import operator
import threading
from enum import IntEnum

from .values import OrtValue


class GraphOptimizationLevel(IntEnum):
    """How much is optimised: the compiler's opt_level 0, 1, 2, and 3 for the last two."""

    ORT_DISABLE_ALL = 0
    ORT_ENABLE_BASIC = 1
    ORT_ENABLE_EXTENDED = 2
    ORT_ENABLE_LAYOUT = 3
    ORT_ENABLE_ALL = 99


class ExecutionMode(IntEnum):
    """One operator after the other. ORT_PARALLEL is the same here: the threads share each operator."""

    ORT_SEQUENTIAL = 0
    ORT_PARALLEL = 1


class ExecutionOrder(IntEnum):
    """The order of operators, which the compiler decides."""

    DEFAULT = 0
    PRIORITY_BASED = 1
    MEMORY_EFFICIENT = 2


def _near(name, names):
    import difflib
    found = difflib.get_close_matches(name, names, 1)
    return f"; did you mean {found[0]}?" if found else ""


class _Options:
    """Fields with types; others are errors."""

    _FIELDS = {}  # name: (type, initial)

    def __setattr__(self, name, value):
        if name in self._FIELDS:
            value = self._checked(name, value)
        elif not name.startswith("_"):
            raise AttributeError(f"{type(self).__name__} has no option {name}{_near(name, self._FIELDS)}; it has {', '.join(self._FIELDS)}")
        object.__setattr__(self, name, value)

    def _checked(self, name, value):
        kind = self._FIELDS[name][0]
        if kind is int and not isinstance(value, bool):
            try:
                return operator.index(value)
            except TypeError:
                pass
        elif isinstance(value, kind):
            return value
        elif kind is bool and value in (0, 1):
            return bool(value)
        elif kind is str and hasattr(value, "__fspath__"):
            return value.__fspath__()
        raise TypeError(f"{type(self).__name__}.{name}: expected {kind.__name__}, found {value!r}")

    def _set_initial(self):
        for name, (_, initial) in self._FIELDS.items():
            object.__setattr__(self, name, initial)

    def _entry(self, entries, key):
        if key not in entries:
            raise RuntimeError(f"{type(self).__name__} does not have configuration with key: {key}")
        return entries[key]


class SessionOptions(_Options):
    """What a session does. See the table in relayvm/onnx/README.md for what has no effect here.

    intra_op_num_threads: that one run's kernels may use; 0: as many as the machine has. graph_optimization_level: what the compiler does.
    optimized_model_filepath: a .vmx file to write, which InferenceSession loads without compiling. enable_profiling, profile_file_prefix:
    a file of what ran when (`end_profiling`). log_severity_level: at 1 and below the compiler's remarks go to the logger "relayvm.onnx".
    """

    _FIELDS = {
        "enable_cpu_mem_arena": (bool, True), "enable_mem_pattern": (bool, True), "enable_mem_reuse": (bool, True),
        "enable_profiling": (bool, False), "execution_mode": (ExecutionMode, ExecutionMode.ORT_SEQUENTIAL),
        "execution_order": (ExecutionOrder, ExecutionOrder.DEFAULT),
        "graph_optimization_level": (GraphOptimizationLevel, GraphOptimizationLevel.ORT_ENABLE_ALL), "inter_op_num_threads": (int, 0),
        "intra_op_num_threads": (int, 0), "log_severity_level": (int, -1), "log_verbosity_level": (int, 0), "logid": (str, ""),
        "optimized_model_filepath": (str, ""), "profile_file_prefix": (str, "onnxruntime_profile_"),
        "use_deterministic_compute": (bool, False), "use_per_session_threads": (bool, True),
    }

    def __init__(self):
        self._set_initial()
        self._config, self._dims_by_name, self._dims_by_denotation = {}, {}, {}
        self._initializers, self._external, self._files, self._providers = {}, {}, {}, []

    def _copy(self):
        new = SessionOptions()
        for name, value in vars(self).items():
            object.__setattr__(new, name, value.copy() if isinstance(value, (dict, list)) else value)
        return new

    def add_session_config_entry(self, key, value):
        """A setting by its key ("session.…"), both texts."""
        self._config[str(key)] = str(value)

    def get_session_config_entry(self, key):
        """The setting of a key; RuntimeError where there is none."""
        return self._entry(self._config, key)

    def add_free_dimension_override_by_name(self, name, size):
        """The size of the dims that the model calls `name`."""
        self._dims_by_name[name] = operator.index(size)

    def add_free_dimension_override_by_denotation(self, denotation, size):
        """The size of the inputs' dims of a denotation ("DATA_BATCH")."""
        self._dims_by_denotation[denotation] = operator.index(size)

    def add_initializer(self, name, value):
        """An `OrtValue` in the place of an initializer of the model."""
        self._initializers[name] = _tensor_value("add_initializer", value)

    def add_external_initializers(self, names, values):
        """`OrtValue`s in the place of initializers whose data is in other files, which are then not read."""
        names, values = list(names), list(values)
        if len(names) != len(values):
            raise ValueError(f"add_external_initializers: expected a value for each name, found {len(names)} names and {len(values)} values")
        self._external.update({name: _tensor_value("add_external_initializers", value) for name, value in zip(names, values)})

    def add_external_initializers_from_files_in_memory(self, names, buffers, lengths):
        """The bytes of files with external data, by their names."""
        names, buffers, lengths = list(names), list(buffers), list(lengths)
        if not len(names) == len(buffers) == len(lengths):
            raise ValueError("add_external_initializers_from_files_in_memory: expected a buffer and a length for each name, found "
                             f"{len(names)} names, {len(buffers)} buffers, {len(lengths)} lengths")
        self._files.update({name: memoryview(buffer).cast("B")[:length] for name, buffer, length in zip(names, buffers, lengths)})

    def register_custom_ops_library(self, path):
        """There are no libraries of ONNX Runtime's operators here."""
        raise NotImplementedError(
            f"register_custom_ops_library: {path} is built for ONNX Runtime. Operators of yours are a library for "
            "rvm.from_onnx(model, plugins=[library]) (kernels/runtime/operator_plugin.h), or a function of Python that a program calls "
            "(rvm.host_function)")

    def add_provider(self, name, options=None):
        """An execution provider, as InferenceSession(providers=) takes it."""
        self._providers.append((name, dict(options or {})))

    def has_providers(self):
        """Whether add_provider was called."""
        return bool(self._providers)

    def _no_devices(self, *_):
        """Refused: relayvm.onnx runs on the CPU."""
        raise NotImplementedError("relayvm.onnx runs on the CPU; for another device give rvm.compile(model, device=NAME) and "
                                  "rvm.Runtime(devices=[rvm.Device(...)])")

    add_provider_for_devices = set_provider_selection_policy = set_provider_selection_policy_delegate = _no_devices

    def set_load_cancellation_flag(self, cancel):
        """Loading is ended by KeyboardInterrupt here."""
        if cancel:
            raise NotImplementedError("set_load_cancellation_flag: KeyboardInterrupt ends a compilation")

    def set_ep_context_data_read_func(self, read_func, max_data_size=0):
        """There are no files of execution providers here."""
        raise NotImplementedError("set_ep_context_data_read_func: what was compiled is in one .vmx file: SessionOptions.optimized_model_filepath")

    def clear_ep_context_data_read_func(self):
        """Nothing: there is no such function."""

    @property
    def _opt_level(self):
        return min(int(self.graph_optimization_level), 3)


def _tensor_value(what, value):
    if not isinstance(value, OrtValue) or not value.is_tensor():
        raise TypeError(f"{what}: expected an OrtValue of a tensor, found {type(value).__name__}")
    return value


class RunOptions(_Options):
    """What one run does. terminate: True ends the runs that have these options, and those to come, with Fail."""

    _FIELDS = {"log_severity_level": (int, -1), "log_verbosity_level": (int, 0), "logid": (str, ""),
               "only_execute_path_to_fetches": (bool, False), "terminate": (bool, False), "training_mode": (bool, False)}

    def __init__(self):
        self._set_initial()
        self._config, self._runs, self._lock = {}, set(), threading.Lock()

    def __setattr__(self, name, value):
        super().__setattr__(name, value)
        if name == "terminate" and value:
            with self._lock:
                runs = list(self._runs)
            for handle in runs:
                handle.cancel()
        elif name == "training_mode" and value:
            object.__setattr__(self, name, False)
            raise NotImplementedError("RunOptions.training_mode: programs are compiled for inference here")

    def add_run_config_entry(self, key, value):
        """A setting by its key, both texts. "memory.enable_memory_arena_shrinkage" gives memory back after the run."""
        self._config[str(key)] = str(value)

    def get_run_config_entry(self, key):
        """The setting of a key; RuntimeError where there is none."""
        return self._entry(self._config, key)

    def add_active_adapter(self, adapter):
        """There are no LoRA adapters here."""
        raise NotImplementedError("add_active_adapter: give the adapter's weights as inputs, or as initializers "
                                  "(SessionOptions.add_initializer)")
