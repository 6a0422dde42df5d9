"""RecognizeOperators: what importers write as several calls becomes the operator that TVM's users look for: nn.relu, clip, nn.leaky_relu, nn.prelu,
nn.global_avg_pool2d, nn.global_max_pool2d, nn.dense. Sizes that are known by now are attributes, and lets are gone.

Patterns, tables of engines and passes that ask for these names find them then. Of a NaN nn.relu and clip give 0 or a bound, as TVM's do, where
what importers write gives a NaN.
"""
import numpy

from .. import relay
from .dynamic_to_static import DynamicToStatic
from .normal_forms import ToGraphNormalForm
from .rewriter import PostOrderRewriter, function_pass, is_call

__all__ = ["RecognizeOperators"]


def RecognizeOperators():  # noqa: N802 (as TVM's names)
    """A pass that writes calls of importers as the operators that TVM has for them."""
    from ..transform import Sequential, module_pass

    def run(mod, _):
        steps = [ToGraphNormalForm()]
        sizes = []
        relay.post_order_visit(mod, lambda e: sizes.append(e) if isinstance(e, relay.Op) and e.name.startswith("dyn.") else None)
        if sizes:
            steps.append(DynamicToStatic())
        return Sequential([*steps, function_pass("Recognize", lambda f: PostOrderRewriter(_recognised).visit(f))])(mod)
    return module_pass(run, opt_level=0, name="RecognizeOperators")


def _recognised(call, new):
    """What takes the place of a call; `new` has the new operands."""
    rule = _RULES.get(new.op.name) if isinstance(new.op, relay.Op) and isinstance(new, relay.Call) else None
    found = rule(new, call) if rule is not None else None
    return new if found is None else found


def _make(like, name, args, **attrs):
    return relay.Call(relay.op.get(name), args, attrs, span=like.span)


def _scalar(expr):
    """The number of a constant without dims, or None."""
    if isinstance(expr, relay.Constant) and expr.data.ndim == 0:
        return expr.data.numpy().item() if hasattr(expr.data, "numpy") else expr.data.item()
    return None


def _is_float(call):
    return str(getattr(call.checked_type, "dtype", "")).startswith(("float", "bfloat"))


def _number_and_other(call):
    """(the number, the other operand) of a call of two, where one is a number; else (None, None)."""
    for a, b in (call.args, call.args[::-1]):
        if _scalar(a) is not None:
            return _scalar(a), b
    return None, None


def _maximum(new, call):
    least, x = _number_and_other(new)
    if least is None or not _is_float(call):
        return None
    if is_call(x, "minimum"):
        most, inner = _number_and_other(x)
        if most is not None and least <= most:
            return _make(new, "clip", [inner], a_min=least, a_max=most)
    return _make(new, "nn.relu", [x]) if least == 0 else None


def _minimum(new, call):
    most, x = _number_and_other(new)
    if most is None or not _is_float(call):
        return None
    if is_call(x, "nn.relu") and most >= 0:
        return _make(new, "clip", [x.args[0]], a_min=0.0, a_max=most)
    if is_call(x, "maximum"):
        least, inner = _number_and_other(x)
        if least is not None and least <= most:
            return _make(new, "clip", [inner], a_min=least, a_max=most)
    return None


def _where(new, call):
    """where(x < 0, alpha * x, x), or where(x > 0, x, alpha * x)"""
    condition, scaled, x = new.args
    if is_call(condition, "greater"):
        scaled, x = x, scaled
    if not (is_call(condition, "less", "greater") and condition.args[0] is x and _scalar(condition.args[1]) == 0 and is_call(scaled, "multiply")
            and _is_float(call)):
        return None
    a, b = scaled.args
    slope = b if a is x else a if b is x else None
    if slope is None:
        return None
    if _scalar(slope) is not None:
        return _make(new, "nn.leaky_relu", [x], alpha=_scalar(slope))
    shape = call.checked_type.shape
    if isinstance(slope, relay.Constant) and len(shape) > 1 and slope.data.ndim <= len(shape):
        sizes = (1,) * (len(shape) - slope.data.ndim) + slope.data.shape
        if sizes[1] == shape[1] and all(d == 1 for i, d in enumerate(sizes) if i != 1):
            return _make(new, "nn.prelu", [x, relay.const(numpy.asarray(slope.data).reshape(-1), name=slope.name)], axis=1)
    return None


def _pool(name):
    def rule(new, call):
        rank, attrs = len(call.args[0].checked_type.shape), new.attrs
        axes = sorted(d + rank if d < 0 else d for d in attrs["axis"] or ())
        is_written_so = call.span is not None and "(Reduce" in str(call.span)  # ONNX's node, which is no pool
        if rank == 4 and axes == [2, 3] and attrs["keepdims"] and not attrs["exclude"] and _is_float(call) and not is_written_so:
            return _make(new, name, list(new.args))
        return None
    return rule


def _matmul(new, call):
    """Of two dims: a dense layer, whose weights have their rows as columns."""
    x, weight = new.args
    if any(len(a.checked_type.shape) != 2 for a in call.args) or new.attrs["transpose_a"]:
        return None
    if not new.attrs["transpose_b"]:
        if isinstance(weight, relay.Constant):
            weight = relay.const(numpy.ascontiguousarray(numpy.asarray(weight.data).T), weight.checked_type.dtype, name=weight.name)
        else:
            weight = _make(new, "transpose", [weight], axes=[1, 0])
    return _make(new, "nn.dense", [x, weight], out_dtype=new.attrs["out_dtype"])


_RULES = {"maximum": _maximum, "minimum": _minimum, "where": _where, "mean": _pool("nn.global_avg_pool2d"), "max": _pool("nn.global_max_pool2d"),
          "nn.matmul": _matmul}
