"""tvm.driver.tvmc: a model loaded, compiled and run in a call each; `python3 -m relayvm.tvm.driver.tvmc` does so from the shell."""
from . import compiler, frontends, model, result_utils, runner
from .compiler import compile_model as compile
from .frontends import load_model as load
from .model import TVMCException, TVMCModel, TVMCPackage, TVMCResult
from .runner import run_module as run


def tune(*args, **kwargs):
    """Kernels are tuned by relayc --tune 60s --tune-log FILE; compile(model, target, tuning_records=FILE) takes what it found."""
    raise TVMCException(f"tvmc.tune is not there; instead: {tune.__doc__}")


__all__ = ["TVMCException", "TVMCModel", "TVMCPackage", "TVMCResult", "compile", "compiler", "frontends", "load", "model", "result_utils", "run",
           "runner", "tune"]
