"""tvm.testing: what test files of TVM's users call. It needs pytest."""
import functools
import inspect
import itertools
import sys

import numpy
import pytest

from .. import contrib
from ..elsewhere import elsewhere, reason
from ..error import TVMError  # noqa: F401 (TVM's users find it here)
from ..nd import cpu
from ..nd import device as _device
from ..target import codegen
from .cases import *  # noqa: F403


def assert_allclose(actual, desired, rtol=1e-7, atol=1e-7):
    """Whether arrays are alike, their shapes too."""
    actual, desired = numpy.asanyarray(actual), numpy.asanyarray(desired)
    numpy.testing.assert_allclose(actual.shape, desired.shape)
    numpy.testing.assert_allclose(actual, desired, rtol=rtol, atol=atol, verbose=True)


def main():
    """Runs the tests of the file that calls it."""
    sys.exit(pytest.main([sys._getframe(1).f_globals["__file__"], *sys.argv[1:]]))


def device_enabled(target):
    """Whether programs of a target run here."""
    return str(target).split()[0] in ("llvm", "c", "cpu")


def enabled_targets():
    """[(target, device)] that tests run on."""
    return [("llvm", cpu())]


def _parameter(values, ids, group):
    def take(*args, request):
        return request.param
    take.parametrize_values, take.parametrize_ids, take.parametrize_group = list(values), ids, group
    return pytest.fixture(take)


def parameter(*values, ids=None, by_dict=None):
    """A fixture that has one of the values in each test: those of several fixtures, in all combinations."""
    if by_dict is not None:
        ids, values = list(by_dict), list(by_dict.values())
    return _parameter(values, ids, _Group())


def parameters(*value_sets, ids=None):
    """Fixtures, a tuple of them, that take a set of values in each test."""
    group = _Group()
    return tuple(_parameter(values, ids, group) for values in zip(*value_sets))


class _Group:
    """Fixtures that change together are of one."""


def fixture(func=None, *, cache_return_value=False):
    """pytest's. cache_return_value: it is made once for the parameters that it is made of."""
    def decorate(function):
        if not cache_return_value:
            return pytest.fixture(function)
        known = {}

        @functools.wraps(function)
        def cached(*args, **kwargs):
            key = repr((args, sorted(kwargs.items())))
            if key not in known:
                known[key] = function(*args, **kwargs)
            return known[key]
        return pytest.fixture(cached)
    return decorate if func is None else decorate(func)


def parametrize_targets(*targets):
    """Of a test that takes target and dev: the targets that it runs on."""
    def decorate(function):
        here = [t for t in targets if device_enabled(t)] if not callable(targets[0]) else []
        if "dev" not in inspect.signature(function).parameters:  # or of fixtures that it takes
            return pytest.mark.parametrize("target", here, ids=str)(function)
        return pytest.mark.parametrize(("target", "dev"), [pytest.param(t, _device(t), id=str(t)) for t in here])(function)
    return targets[0] if len(targets) == 1 and callable(targets[0]) else decorate


def _mark_all(*args):
    def decorate(function):
        return function
    return args[0] if len(args) == 1 and callable(args[0]) else decorate


uses_gpu = uses_multi_gpu = known_failing_targets = exclude_targets = skip_if_wheel_test = slow = _mark_all
requires_llvm = _mark_all


def requires_package(*names):
    """Of a test: it runs where the packages can be imported."""
    def is_missing(name):
        try:
            __import__(name)
        except ImportError:
            return True
        return False
    return pytest.mark.skipif(any(map(is_missing, names)), reason=f"needs {', '.join(names)}")


_OF_C = ("ErrorTest", "FrontendTestModule", "call_cpp_ffi", "call_cpp_py_ffi", "call_py_ffi", "device_test", "echo", "identity_cpp", "nop",
         "object_use_count", "register_ffi", "run_check_signal", "test_check_eq_callback", "test_raise_error_callback", "test_wrap_callback")
_PROCESSES = ("after_initializer", "fast_summation", "identity_after", "initializer", "slow_summation", "terminate_self", "timeout_job")
_INSTEAD = {
    **dict.fromkeys(_OF_C, "they test TVM's C++ interface to Python; this package has one of its own"),
    **dict.fromkeys(_PROCESSES, "multiprocessing, or concurrent.futures"),
    **dict.fromkeys(("check_bool_expr_is_true", "check_int_constraints_trans_consistency"), "sizes are simplified as they are made"),
    **dict.fromkeys(("disable_span_filling", "enable_span_filling"), "importers keep the places of what they read always"),
    **dict.fromkeys(("fetch_model_from_url", "install_request_hook", "load_model"), "contrib.download fetches files, relay.frontend reads them"),
    **dict.fromkeys(("local_run", "rpc_run"), "module.time_evaluator(\"run\", tvm.cpu()) measures programs"),
    **dict.fromkeys(("skip_parameterizations", "xfail_parameterizations"), "pytest.param(value, marks=pytest.mark.skip) marks one case"),
}


def __getattr__(name):
    if name.startswith("requires_"):
        def requires(func=None, support_required="compile-and-run", **kwargs):
            mark = pytest.mark.skipif(True, reason=f"needs {name[len('requires_'):]}, which there is not")
            return mark(func) if callable(func) else mark
        return requires
    if name in _INSTEAD or reason(f"testing.{name}"):
        return elsewhere(f"testing.{name}", _INSTEAD.get(name))
    found = getattr(contrib, name, None) if name in ("cudnn", "hexagon", "nvcc", "rocm") else codegen if name == "codegen" else None
    if found is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return found


def strtobool(text):
    """Whether a text means yes."""
    return str(text).lower() in ("y", "yes", "t", "true", "on", "1")


def check_numerical_grads(function, input_values, grad_values, function_value=None, delta=1e-3, atol=1e-2, rtol=0.1):
    """Compares gradients with differences of the function."""
    names = list(input_values) if isinstance(input_values, dict) else range(len(input_values))
    at = {n: numpy.array(input_values[n], dtype="float64") for n in names}

    def value():
        given = {n: v.astype(numpy.asarray(input_values[n]).dtype) for n, v in at.items()}
        return function(**given) if isinstance(input_values, dict) else function(*given.values())
    for n in names:
        expected = numpy.zeros_like(at[n])
        for index in itertools.product(*map(range, at[n].shape)):
            before = at[n][index]
            at[n][index] = before + delta
            above = value()
            at[n][index] = before - delta
            expected[index] = (above - value()) / (2 * delta)
            at[n][index] = before
        numpy.testing.assert_allclose(grad_values[n], expected, atol=atol, rtol=rtol)


utils = sys.modules[__name__]  # where TVM defines most of it
