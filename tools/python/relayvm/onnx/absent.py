"""Names of ONNX Runtime's that have no place here: each says what to use."""
import difflib

_DEVICES = "sessions run on the CPU. For a device of yours: rvm.compile(model, device=NAME) and rvm.Runtime(devices=[rvm.Device(...)])"
_PROVIDERS = ("providers of ONNX Runtime are its own libraries. Engines of yours: rvm.compile(model, byoc=NAME) and "
              "rvm.load(file, engines={NAME: library})")
_LORA = "give the adapter's weights as inputs, or as initializers: SessionOptions.add_initializer"
_PACKAGES = "keep what was compiled as a .vmx file: SessionOptions.optimized_model_filepath, which InferenceSession loads"
_REASONS = {
    "AdapterFormat": _LORA, "LoraAdapter": _LORA,
    "ModelPackage": _PACKAGES, "ModelPackageComponentContext": _PACKAGES, "ModelPackageContext": _PACKAGES, "ModelPackageOptions": _PACKAGES,
    "ModelPackageWriteMode": _PACKAGES, "OrtCompileApiFlags": _PACKAGES, "OrtEpContextData": _PACKAGES, "OrtEpContextDataBuffer": _PACKAGES,
    "OrtExternalInitializerInfo": _PACKAGES,
    "OrtEpAssignedNode": _PROVIDERS, "OrtEpAssignedSubgraph": _PROVIDERS, "register_execution_provider_library": _PROVIDERS,
    "unregister_execution_provider_library": _PROVIDERS,
    "OrtEpDevice": _DEVICES, "OrtExecutionProviderDevicePolicy": _DEVICES, "OrtHardwareDevice": _DEVICES,
    "OrtHardwareDeviceType": _DEVICES, "OrtSyncStream": _DEVICES, "get_ep_devices": _DEVICES,
    "set_default_logger_callback": "remarks go to Python's logger: logging.getLogger(\"relayvm.onnx\").addHandler(...)",
    "set_seed": "the numbers of RandomNormal and its kin are those of the model's attribute seed",
    "training": "programs are compiled for inference; train with the framework that made the model",
    "OrtModule": "programs are compiled for inference; train with the framework that made the model",
}


class _Absent(type):
    def __getattr__(cls, name):
        if name.startswith("__"):
            raise AttributeError(name)
        raise NotImplementedError(f"relayvm.onnx.{cls.__name__}.{name}: {_REASONS[cls.__name__]}")


def _refuse(self, *_, **__):
    raise NotImplementedError(f"relayvm.onnx.{type(self).__name__}: {_REASONS[type(self).__name__]}")


def of(name, module, there):
    """What stands for a name: calling it, or taking a part of it, raises NotImplementedError. AttributeError where there is no such name."""
    if name in _REASONS:
        return _Absent(name, (), {"__init__": _refuse, "__doc__": f"Not here: {_REASONS[name]}.", "__module__": module})
    near = difflib.get_close_matches(name, [*there, *_REASONS], 1)
    raise AttributeError(f"module '{module}' has no attribute {name!r}{f'; did you mean {near[0]}?' if near else ''}", name=name)
