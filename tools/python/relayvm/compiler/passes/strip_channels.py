"""StripChannels: channels of quantised convolutions whose weights are all zero have fixed values; they go, and what they gave to the product
behind them goes into its bias.

    conv2d -> bias_add -> requantize -> ... -> conv2d or dense -> bias_add

In between may stand what keeps channels apart. What fixed channels become there is computed by the operators themselves.
"""
import numpy

from .. import relay
from .quantised import run_const_expr
from .rewriter import PostOrderRewriter, function_pass, is_call

__all__ = ["StripChannels"]

# Operators that compute each channel by itself; of these, the ones with vectors along the channels.
_ALONE = ("cast", "clip", "nn.avg_pool2d", "nn.max_pool2d", "nn.relu", "reshape", "qnn.requantize", "nn.bias_add", "qnn.conv2d")


def _static(expr):
    kind = expr._type and expr.checked_type
    return isinstance(kind, relay.TensorType) and all(isinstance(dim, int) for dim in kind.shape)


def _constants(args):
    return all(isinstance(a, relay.Constant) for a in args)


def _is_product(call):
    """Whether a convolution mixes all of its channels."""
    return is_call(call, "qnn.conv2d") and call.attrs["groups"] == 1 and call.attrs["kernel_layout"].isalpha()


def _channel_axis(call):
    """Where the channels of a call's result are; None where that is not known."""
    if is_call(call, "qnn.conv2d"):
        layout = call.attrs["out_layout"] or call.attrs["data_layout"]
        return layout.index("C") if layout.isupper() else None
    axis = _channel_axis(call.args[0]) if is_call(call.args[0], *_ALONE) else None
    if is_call(call, "reshape") and axis is not None:
        before, after = call.args[0].checked_type.shape, call.checked_type.shape
        return len(after) - 1 if axis == len(before) - 1 and after[-1] == before[-1] else None
    return axis


def _keeps_channels(call, axis):
    """Whether a call computes each channel by itself, with constants besides."""
    if not is_call(call, *_ALONE) or not _static(call) or not _constants(call.args[1:]) or axis is None:
        return False
    rank = len(call.checked_type.shape)
    if is_call(call, "nn.bias_add", "qnn.requantize"):
        return call.attrs["axis"] in (axis, axis - rank)
    if is_call(call, "qnn.conv2d"):
        channels = call.args[0].checked_type.shape[axis]
        return call.attrs["groups"] == channels == call.checked_type.shape[axis] and call.attrs["kernel_layout"].isalpha()
    return True


def _filled(kind, axis, fixed, rest=0):
    """Data of a type: fixed values in their channels, `rest` in the others."""
    data = numpy.full(kind.shape, rest, kind.dtype)
    for channel, value in fixed.items():
        data[(slice(None),) * axis + (channel,)] = value
    return relay.const(data, kind.dtype)


def _uniform(channels):
    """{channel: value} of those channels that have one value alone."""
    return {channel: numpy.ravel(values)[0].item() for channel, values in channels.items() if len(numpy.unique(values)) == 1}


def _fixed(expr):
    """{channel: values} of the channels whose values are always the same: one everywhere, or at the border others than inside."""
    if not is_call(expr, *_ALONE) or not _static(expr):
        return {}
    if _is_product(expr):
        if not _constants(expr.args[1:]):
            return {}
        kernel, zero = expr.args[1].data, expr.args[3].data
        at = expr.attrs["kernel_layout"].index("O")
        zeros = zero.size == 1 and [c for c in range(kernel.shape[at]) if (numpy.take(kernel, c, at) == zero.reshape(())).all()]
        return dict.fromkeys(zeros or [], 0)
    axis = _channel_axis(expr)
    if not _keeps_channels(expr, axis):
        return {}
    before = _fixed(expr.args[0])
    if not before:
        return {}
    data = _filled(expr.args[0].checked_type, _channel_axis(expr.args[0]), before)
    result = run_const_expr(relay.Call(expr.op, [data, *expr.args[1:]], expr.attrs))
    return {channel: numpy.take(result, channel, axis) for channel in before}


# --- The same without some channels ---

def _without(constant, channels, axis=0):
    """A vector along the channels, or a kernel, without some; numbers stay."""
    if constant.data.size == 1:
        return constant
    return relay.const(numpy.delete(constant.data, channels, axis), constant.checked_type.dtype)


def _stripped(expr, channels):
    args, attrs = list(expr.args), dict(expr.attrs)
    if not _is_product(expr):
        args[0] = _stripped(args[0], channels)
    if is_call(expr, "qnn.conv2d"):
        layout = attrs["kernel_layout"]
        args[1] = _without(args[1], channels, layout.index("O"))
        args[3], args[5] = _without(args[3], channels), _without(args[5], channels)
        attrs["channels"] = args[1].data.shape[layout.index("O")]
        if not _is_product(expr):
            attrs["groups"] = attrs["channels"]
    elif is_call(expr, "nn.bias_add"):
        args[1] = _without(args[1], channels)
    elif is_call(expr, "qnn.requantize"):
        args[1:] = [_without(a, channels) for a in args[1:]]
    elif is_call(expr, "reshape"):
        attrs["newshape"] = [*expr.checked_type.shape[:-1], expr.checked_type.shape[-1] - len(channels)]
    return relay.Call(expr.op, args, attrs, span=expr.span)


def _takes_channels(product):
    """The axis of a product's weights along its data's channels; None of other calls."""
    if not is_call(product, "qnn.conv2d", "qnn.dense") or not _constants(product.args[1:]) or product.args[2].data.size != 1 or not _static(product):
        return None
    if is_call(product, "qnn.dense"):
        return 1
    return product.attrs["kernel_layout"].index("I") if _is_product(product) and not any(product.attrs["padding"]) else None


def legalize_bias_add(attrs, inputs, types):
    """A nn.bias_add whose product reads no channels of fixed values; None where there are none. For FTVMLegalize."""
    product, bias = inputs
    at = _takes_channels(product)
    if at is None or not isinstance(bias, relay.Constant):
        return None
    data = product.args[0]
    fixed = _uniform(_fixed(data))
    axis = _channel_axis(data) if fixed else None
    if axis is None or not fixed:
        return None
    if len(fixed) == data.checked_type.shape[axis]:
        fixed.popitem()  # some channel must be left
    kind = data.checked_type
    given = run_const_expr(relay.Call(product.op, [_filled(kind, axis, fixed, product.args[2].data.item()), *product.args[1:]], product.attrs))
    result_axis = attrs["axis"] % given.ndim
    more = _uniform(dict(enumerate(numpy.moveaxis(given, result_axis, 0))))
    if len(more) != given.shape[result_axis]:
        return None
    channels = sorted(fixed)
    args = [_stripped(data, channels), _without(product.args[1], channels, at), *product.args[2:]]
    bias = relay.const(bias.data + numpy.array(list(more.values()), "int32"), "int32")
    return relay.nn.bias_add(relay.Call(product.op, args, product.attrs, span=product.span), bias, **attrs)


def StripChannels():  # noqa: N802 (as TVM's names)
    """A pass that removes channels of quantised convolutions whose values are fixed."""
    def rewrite(call, new):
        found = legalize_bias_add(new.attrs, new.args, None) if is_call(new, "nn.bias_add") and new is call else None
        return found or new
    return function_pass("StripChannels", lambda f: PostOrderRewriter(rewrite).visit(f))
