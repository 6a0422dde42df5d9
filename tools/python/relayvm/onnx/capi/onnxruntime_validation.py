"""The names of onnxruntime.capi.onnxruntime_validation."""

version, package_name, cuda_version, is_manylinux = "1.32.0", "relayvm", None, False
has_ortmodule = False


def get_package_name_and_version_info():
    """The package, the version of ONNX Runtime whose API this is, and CUDA's: none."""
    return package_name, version, ""


def check_training_module():
    """Whether models are trained, and the package and version for that: they are not."""
    return False, "", "", ""


def check_distro_info():
    """Nothing: the wheels say what they need."""
