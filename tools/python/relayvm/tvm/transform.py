"""Passes: relayvm.transform's, and PassContext."""
import sys
import warnings

from ..compiler import _TVM_CONFIGS
from ..compiler import PassContext as _PassContext
from ..compiler import _native
from ..compiler import transform as _transform


_WITHOUT_EFFECT = {name: ("IntImm", "has no effect here") for name in ("relay.backend.use_auto_scheduler", "relay.backend.use_meta_schedule")}


def _check_types(config):
    """Raises AttributeError where a setting that is a number is given something else."""
    for name, value in dict(config).items():
        kind, _ = {**_TVM_CONFIGS, **_WITHOUT_EFFECT}.get(name, ("", ""))
        if kind == "IntImm" and not isinstance(getattr(value, "value", value), int):
            raise AttributeError(f"PassContext: {name} is a number or a bool, found {value!r}")


class PassContext(_PassContext):
    """Options for what is built inside of a `with`. Passes of TVM's that have no counterpart of the name here are disabled already."""

    def __init__(self, opt_level=2, required_pass=None, disabled_pass=None, instruments=None, config=None, **options):
        known = set(_native.passes()) | set(_transform._TVM) | set(_transform._names_in_python())
        others = [name for name in disabled_pass or () if name not in known]
        if others:
            warnings.warn(f"PassContext: there are no passes {', '.join(others)} here", stacklevel=2)
        _check_types(config or {})
        try:
            super().__init__(opt_level, required_pass, [name for name in disabled_pass or () if name in known], config, instruments=instruments,
                             **options)
        except ValueError as error:
            raise AttributeError(str(error)) from error  # as TVM has it
        self.config = {**self.config, **self.tvm_config}

    @staticmethod
    def list_configs():
        """{name: {"type"}}: TVM's settings that passes read here, and those of relayvm's passes."""
        told = {name: {"type": kind, "help": text} for name, (kind, text) in {**_TVM_CONFIGS, **_WITHOUT_EFFECT}.items()}
        return {**told, **{name: {"type": "runtime.String", **row} for name, row in _PassContext.list_configs().items()}}


class Sequential(_transform.Sequential):
    """Passes one after the other; those above the opt_level of the PassContext are left out."""

    def __init__(self, passes=None, opt_level=0, name="sequential", required=None, traceable=False, **options):
        super().__init__(passes, max(opt_level, 3), name, required, traceable, **options)
        self.shown_level = opt_level


def PrintIR(header="", show_meta_data=False):  # noqa: N802 (TVM's name)
    """A pass that prints the program to stderr."""
    def run(mod, _):
        print(f"PrintIR({header}):", mod.astext(show_meta_data), sep="\n", file=sys.stderr)
        return mod
    return _transform.ModulePass("PrintIR", run)


def __getattr__(name):
    return getattr(_transform, name)
