"""tvm.driver.tvmc.compiler: a `TVMCModel` as a `TVMCPackage`."""
import os
import tempfile

from ....compiler import compile as _compile
from ....compiler import transform as _transform
from ...relay.build_module import _of_main, _target_of
from ...transform import PassContext
from .model import TVMCException, TVMCPackage


def compile_model(tvmc_model, target, opt_level=3, executor=None, runtime=None, tuning_records=None, package_path=None, cross=None, cross_options=None,
                  output_format="so", dump_code=None, dump_offloads="", target_host=None, disabled_pass=None, pass_context_configs=None,
                  additional_target_options=None, mod_name="default", desired_layout=None, desired_layout_ops=None, transform_args=None, **kwargs):
    """A `TVMCPackage`, whose file is relayvm's: of vmrun and `relayvm.load` too.

    package_path: where it is written, else in a new folder. tuning_records: a log of relayc --tune-log. desired_layout: "NCHW" or "NHWC", of
    convolutions. pass_context_configs: "name=value" each, or a dict.
    """
    if output_format not in ("so", "tar", "vmx"):
        raise TVMCException(f"output_format: expected so, tar or vmx, found {output_format}; relayc --executor aot makes objects to link")
    mod = tvmc_model.mod
    if desired_layout is not None:
        mod = _transform.ConvertLayout({name: [desired_layout, "default"] for name in desired_layout_ops or ("nn.conv2d", "nn.conv2d_transpose")})(mod)
    with PassContext(opt_level=opt_level, disabled_pass=disabled_pass, config=_settings(pass_context_configs)):
        made = _compile(mod, _target_of(target), params=_of_main(mod, tvmc_model.params), schedules=tuning_records)
    if package_path is None:
        package_path = os.path.join(tempfile.mkdtemp(prefix="tvmc_"), "module.tar")
    with open(os.fspath(package_path), "wb") as file:
        file.write(made.to_bytes())
    if dump_code:
        with open(f"{os.fspath(package_path)}.vmasm", "w") as file:
            file.write(made.bytecode())
    return TVMCPackage(package_path)


def _settings(given):
    if given is None or hasattr(given, "items"):
        return given
    return dict(text.split("=", 1) for text in given)


__all__ = ["compile_model"]
