"""tvm.relay.testing: what tests of TVM's users call, and small networks."""
import numpy

from ... import ir as _ir
from ... import nd
from .. import Function, GlobalVar, TensorType, TupleType, analysis, const, create_executor, transform, var
from ..prelude import Prelude
from ...transform import Sequential
from .init import create_workload
from .temp_op_attr import TempOpAttr


def run_opt_pass(expr, opt_pass, import_prelude=False):
    """What a pass makes of an expression; of one that is no function, the body."""
    mod = _ir.IRModule.from_expr(expr)
    mod = opt_pass(mod)
    entry = mod["main"]
    return entry if isinstance(expr, Function) else entry.body


def run_infer_type(expr):
    """The expression with types."""
    return run_opt_pass(expr, transform.InferType())


def enabled_targets():
    """[(target, device)]."""
    from ... import testing
    return testing.enabled_targets()


def rand(dtype="float32", *shape):
    """An array of numbers between 0 and 1."""
    return nd.array(numpy.random.rand(*shape).astype(dtype))


def count_ops(expr):
    """{operator: how many calls of it an expression has}."""
    return analysis.list_op_freqs(expr)


def _np_randn_from_type(t, scale=1, mean=0):
    """An array of a type, normally distributed."""
    return numpy.asarray(mean + scale * numpy.random.randn(*t.concrete_shape)).astype(t.dtype)


def check_grad(func, inputs=None, test_inputs=None, eps=1e-6, atol=1e-5, rtol=1e-3, scale=None, mean=0, mode="higher_order", target_devices=None,
               executor_kind="debug"):
    """Compares a function's gradients (`transform.gradient`) with differences, in float64. inputs: random ones of its parameters' types, as
    small as `scale` says: by default so that differences of eps are seen."""
    func = run_infer_type(func)
    backward = run_infer_type(transform.gradient(func, mode=mode))
    if inputs is None:
        inputs = [_np_randn_from_type(p.checked_type, 10 * eps if scale is None else scale, mean) for p in func.params]
    test_inputs = inputs if test_inputs is None else test_inputs
    run = create_executor(executor_kind).evaluate(func)
    _, gradients = create_executor(executor_kind).evaluate(backward)(*inputs)
    places = [i for i, x in enumerate(inputs) if any(x is t for t in test_inputs)]
    for i in places:
        expected = numpy.zeros(inputs[i].shape)
        for index in numpy.ndindex(*inputs[i].shape):
            def value(delta, index=index):
                moved = [numpy.array(x) for x in inputs]
                moved[i][index] += delta
                return run(*moved).numpy().astype("float64").sum()
            expected[index] = (value(eps) - value(-eps)) / (2 * eps)
        numpy.testing.assert_allclose(gradients[i].numpy(), expected, atol=atol, rtol=rtol)


from ...tree import let_import as _let_import  # noqa: E402
from . import (densenet, dcgan, dqn, inception_v3, layers, lstm, mlp, mobilenet, resnet, resnet_3d, squeezenet, synthetic, vgg,  # noqa: E402
               yolo_detection)
from .py_converter import run_as_python, to_python  # noqa: E402
from .nat import count, make_nat_expr, make_nat_value  # noqa: E402 (with what is above)


_let_import("relay.testing.")

__all__ = ["Sequential", "TempOpAttr", "analysis", "check_grad", "const", "count", "count_ops", "create_executor", "create_workload",
           "enabled_targets", "rand", "run_infer_type", "run_opt_pass", "var", "GlobalVar", "Prelude", "TensorType", "TupleType"]


def __getattr__(name):
    if name == "gradient":
        return transform.gradient
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
