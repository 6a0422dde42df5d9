"""Names of ONNX Runtime's native part: exceptions by its names, and its forms of sessions and bindings."""
from .. import absent as _absent
from ..binding import IOBinding
from ..errors import (DeviceReset, EPFail, EngineError, Fail, InvalidArgument, InvalidGraph, InvalidProtobuf, ModelLoadCanceled,
                      ModelLoaded, ModelRequiresCompilation, NoModel, NoSuchFile, NotFound, NotImplemented, RuntimeException)
from ..options import ExecutionMode, ExecutionOrder, GraphOptimizationLevel, RunOptions, SessionOptions
from ..programs import ModelMetadata, NodeArg
from ..session import InferenceSession as _Session
from ..session import get_available_providers, set_global_thread_pool_sizes
from ..values import (ArenaExtendStrategy, OrtAllocatorType, OrtArenaCfg, OrtDevice, OrtDeviceMemoryType, OrtDeviceVendorId, OrtMemoryInfo,
                      OrtMemoryInfoDeviceType, OrtMemType, OrtSparseFormat, OrtValue,
                      OrtValueVector, SparseBlockSparseView, SparseCooView, SparseCsrView, SparseTensor, copy_tensors, need_host)

get_all_providers = get_available_providers
kNextPowerOfTwo, kSameAsRequested = ArenaExtendStrategy  # noqa: N816 (ONNX Runtime's names)


def get_default_session_options():
    """A new `SessionOptions`."""
    return SessionOptions()


def is_dlpack_uint8_tensor(capsule):
    """Whether a capsule's elements are uint8."""
    import ctypes
    get = ctypes.pythonapi.PyCapsule_GetPointer
    get.restype, get.argtypes = ctypes.c_void_p, (ctypes.py_object, ctypes.c_char_p)
    # DLTensor: data, device (two ints), ndim, and its dtype: code and bits.
    code, bits = (ctypes.c_uint8 * 2).from_address(get(capsule, b"dltensor") + 20)
    return (code, bits) == (1, 8)


class SessionIOBinding(IOBinding):
    """An `IOBinding` of a native session, with ONNX Runtime's native arguments."""

    def __init__(self, session):
        super().__init__(session._session if isinstance(session, InferenceSession) else session)

    def bind_input(self, name, *args):
        """name and an array; or name, device, element type, dims, address."""
        if len(args) == 1:
            self._bind_input(name, args[0])
        else:
            device, element_type, shape, buffer_ptr = args
            super().bind_input(name, device, 0, element_type, shape, buffer_ptr)

    def bind_output(self, name, device, *memory):
        """name, device; or also element type, dims, address."""
        super().bind_output(name, device, 0, *memory)

    def get_outputs(self):
        """An `OrtValueVector`."""
        return OrtValueVector(super().get_outputs())


class InferenceSession:
    """The native form of a session: `session._sess`. Use relayvm.onnx.InferenceSession."""

    def __init__(self, options, path_or_bytes, is_path=True, read_config=False):
        self._session, self._given = None, (path_or_bytes, options, read_config)

    @classmethod
    def _of(cls, session):
        native = cls(None, None)
        native._session = session
        return native

    def initialize_session(self, providers=(), provider_options=(), disabled_optimizers=()):
        """Loads the model."""
        given, options, read_config = self._given
        self._session = _Session(given, options, list(providers) or None, list(provider_options) or None,
                                 disabled_optimizers=list(disabled_optimizers), read_config_from_model=read_config)

    def run(self, output_names, input_feed, run_options=None):
        """As a session's."""
        return self._session.run(output_names, input_feed, run_options)

    def run_async(self, output_names, input_feed, callback, user_data, run_options=None):
        """As a session's."""
        self._session.run_async(output_names, input_feed, callback, user_data, run_options)

    def run_with_ort_values(self, input_feed, output_names, run_options=None):
        """As a session's, with the inputs first; gives an `OrtValueVector`."""
        return OrtValueVector(self._session.run_with_ort_values(output_names, input_feed, run_options))

    def run_with_iobinding(self, iobinding, run_options=None):
        """As a session's."""
        self._session.run_with_iobinding(iobinding, run_options)

    def run_with_ortvaluevector(self, run_options, feed_names, feeds, fetch_names, fetches, fetch_devices=()):
        """As a session's."""
        self._session.run_with_ortvaluevector(run_options, feed_names, feeds, fetch_names, fetches, fetch_devices)

    def end_profiling(self):
        """As a session's."""
        return self._session.end_profiling()

    @property
    def get_profiling_start_time_ns(self):
        """As a session's method."""
        return self._session.get_profiling_start_time_ns()

    def get_providers(self):
        """As a session's."""
        return self._session.get_providers()

    def get_provider_options(self):
        """As a session's."""
        return self._session.get_provider_options()

    def get_provider_graph_assignment_info(self):
        """As a session's."""
        return self._session.get_provider_graph_assignment_info()

    def get_tuning_results(self):
        """As a session's."""
        return self._session.get_tuning_results()

    def set_tuning_results(self, results, error_on_invalid=False):
        """As a session's."""
        self._session.set_tuning_results(results, error_on_invalid=error_on_invalid)

    def set_ep_dynamic_options(self, options):
        """As a session's."""
        self._session.set_ep_dynamic_options(options)

    def release_captured_graph(self, graph_annotation_id=0):
        """As a session's."""

    def create_ortvalue_from_shape_and_type(self, shape, element_type, device):
        """A tensor whose elements are not set."""
        need_host(device, "create_ortvalue_from_shape_and_type")
        return OrtValue.ortvalue_from_shape_and_type(shape, element_type)

    create_ortvalue_from_shape_and_onnx_type = create_ortvalue_from_shape_and_type

    is_webgpu_graph_capture_enabled, webgpu_context_id = False, -1

    @property
    def input_meminfos(self):
        """As a session's get_input_memory_infos()."""
        return self._session.get_input_memory_infos()

    @property
    def output_meminfos(self):
        """As a session's get_output_memory_infos()."""
        return self._session.get_output_memory_infos()

    @property
    def input_epdevices(self):
        """As a session's get_input_epdevices()."""
        return self._session.get_input_epdevices()

    @property
    def inputs_meta(self):
        """As a session's get_inputs()."""
        return self._session.get_inputs()

    @property
    def outputs_meta(self):
        """As a session's get_outputs()."""
        return self._session.get_outputs()

    @property
    def overridable_initializers(self):
        """As a session's get_overridable_initializers()."""
        return self._session.get_overridable_initializers()

    @property
    def model_meta(self):
        """As a session's get_modelmeta()."""
        return self._session.get_modelmeta()

    @property
    def session_options(self):
        """As a session's get_session_options()."""
        return self._session.get_session_options()


def __getattr__(name):
    if name in ("set_default_logger_severity", "set_default_logger_verbosity", "get_device", "get_version_string", "get_build_info",
                "create_and_register_allocator", "create_and_register_allocator_v2", "enable_telemetry_events", "disable_telemetry_events",
                "has_collective_ops", "ModelCompiler"):
        import relayvm.onnx
        return getattr(relayvm.onnx, name)
    return _absent.of(name, __name__, globals())
