"""onnx.backend.Backend over sessions."""
from ..options import SessionOptions
from ..session import InferenceSession, get_available_providers
from .backend_rep import OnnxRuntimeBackendRep


class OnnxRuntimeBackend:
    """What onnx's own tests of backends call."""

    allowReleasedOpsetsOnly = True  # noqa: N815 (ONNX Runtime's name)

    @classmethod
    def is_compatible(cls, model, device=None, **kwargs):
        """Whether sessions run on the device; of the model its compilation says it."""
        return cls.supports_device(device or "CPU")

    @classmethod
    def is_opset_supported(cls, model):
        """(True, ""): an operator that there is not is named when the model is compiled."""
        return True, ""

    @classmethod
    def supports_device(cls, device):
        """Of "CPU"."""
        return device.split(":")[0].upper() == "CPU"

    @classmethod
    def prepare(cls, model, device=None, **kwargs):
        """A model (path, bytes, onnx.ModelProto, session) with run(inputs). kwargs: options of `SessionOptions`, and providers."""
        if isinstance(model, OnnxRuntimeBackendRep):
            return model
        if isinstance(model, InferenceSession):
            return OnnxRuntimeBackendRep(model)
        if device is not None and not cls.supports_device(device):
            raise RuntimeError(f"prepare: sessions run on CPU, found the device {device}")
        providers, options = kwargs.pop("providers", get_available_providers()), SessionOptions()
        for name, value in kwargs.items():
            setattr(options, name, value)
        given = model.SerializeToString() if hasattr(model, "SerializeToString") else model
        return OnnxRuntimeBackendRep(InferenceSession(given, options, providers))

    @classmethod
    def run_model(cls, model, inputs, device=None, **kwargs):
        """The outputs of a model."""
        return cls.prepare(model, device, **kwargs).run(inputs)

    @classmethod
    def run_node(cls, node, inputs, device=None, outputs_info=None, **kwargs):
        """A node alone has no types: make a model of it (onnx.helper.make_model)."""
        raise NotImplementedError("run_node: make a model of the node (onnx.helper.make_model) for run_model")


is_compatible, prepare, run_model, run_node = (OnnxRuntimeBackend.is_compatible, OnnxRuntimeBackend.prepare, OnnxRuntimeBackend.run_model,
                                               OnnxRuntimeBackend.run_node)
run, supports_device = run_model, OnnxRuntimeBackend.supports_device
