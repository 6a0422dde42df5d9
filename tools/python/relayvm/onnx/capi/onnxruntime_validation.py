"""The names of onnxruntime.capi.onnxruntime_validation."""

version, package_name, is_manylinux = "1.23.0", "relayvm", False
has_ortmodule = False


def check_distro_info():
    """Nothing: the wheels say what they need."""
