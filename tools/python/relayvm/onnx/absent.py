"""Names of ONNX Runtime's that have no place here: each says what to use."""
import difflib

_DEVICES = "sessions run on the CPU. For a device of yours: rvm.compile(model, device=NAME) and rvm.Runtime(devices=[rvm.Device(...)])"
_PROVIDERS = ("providers of ONNX Runtime are its own libraries. Engines of yours: rvm.compile(model, byoc=NAME) and "
              "rvm.load(file, engines={NAME: library})")
_LORA = "give the adapter's weights as inputs, or as initializers: SessionOptions.add_initializer"
_PACKAGES = "keep what was compiled as a .vmx file: SessionOptions.optimized_model_filepath, which InferenceSession loads"
_QUANTISING = ("quantised models (QDQ, QLinear*, MatMulNBits) run as they are: make them with onnxruntime.quantization. Weights of a float model are "
               "packed when it is compiled: add_session_config_entry(\"relayvm.weights\", \"q8\") or \"q4\"")
_TABLES = "relayc --list-operators onnx, or rvm.relay.op, lists what there is"
_TRAINING = "programs are compiled for inference; train with the framework that made the model"
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
    "OrtModule": _TRAINING, "get_all_operator_schema": _TABLES, "get_all_opkernel_def": _TABLES, "get_registered_ep_kernel_defs": _TABLES,
    "opkernel": _TABLES, "schemadef": _TABLES,
    "OrtCompiledModelCompatibility": _PACKAGES, "get_compatibility_info_from_model": _PACKAGES,
    "get_compatibility_info_from_model_bytes": _PACKAGES, "get_model_compatibility_for_ep_devices": _PACKAGES,
    "OrtDeviceEpIncompatibilityReason": _DEVICES, "get_hardware_devices": _DEVICES, "get_hardware_device_ep_incompatibility_details": _DEVICES,
    "SessionObjectInitializer": "SessionOptions()", "get_session_initializer": "SessionOptions()",
    "pack_fp4_weights_for_cuda_moe_gemm": _QUANTISING, "quantize_matmul_2bits": _QUANTISING, "quantize_matmul_4bits": _QUANTISING,
    "quantize_matmul_8bits": _QUANTISING, "quantize_matmul_bnb4": _QUANTISING, "quantize_qdq_matmul_2bits": _QUANTISING,
    "quantize_qdq_matmul_4bits": _QUANTISING,
}


class _Absent(type):
    def __getattr__(cls, name):
        if name.startswith("__"):
            raise AttributeError(name)
        raise NotImplementedError(f"{cls.__module__}.{cls.__name__}.{name}: {cls._why}")


def _refuse(self, *_, **__):
    raise NotImplementedError(f"{type(self).__module__}.{type(self).__name__}: {self._why}")


def _absent(name, module, why):
    return _Absent(name, (), {"__init__": _refuse, "__doc__": f"Not here: {why}.", "__module__": module, "_why": why})


def of(name, module, there):
    """What stands for a name: calling it, or taking a part of it, raises NotImplementedError. AttributeError where there is no such name."""
    if name in _REASONS:
        return _absent(name, module, _REASONS[name])
    near = difflib.get_close_matches(name, [*there, *_REASONS], 1)
    raise AttributeError(f"module '{module}' has no attribute {name!r}{f'; did you mean {near[0]}?' if near else ''}")


# Packages of ONNX Runtime's that change models or train them: {name: what to do here}.
PACKAGES = {
    "quantization": _QUANTISING, "training": _TRAINING,
    "transformers": "sessions fuse attention, norms and activations themselves, and run models that onnxruntime.transformers.optimizer wrote",
    "tools": "these read and write ONNX files, which sessions load as they are: use those of the package onnxruntime",
}


def package(name, module):
    """A part of one of `PACKAGES`: what is called there raises NotImplementedError."""
    top = module.removeprefix(__package__ + ".").split(".")[0]
    if name.startswith("__"):
        raise AttributeError(f"module '{module}' has no attribute {name!r}")
    return _absent(name, module, PACKAGES[top])
