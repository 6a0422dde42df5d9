"""What quantised products mean in plain ones, for QnnCanonicalizeOps: with x' = x - zx and w' = w - zw,

    sum x' w' = sum x w - zw sum x - zx sum w + n zx zw

where the sums of x are those of windows, and padding counts as zx. Where zero points are no constants of one number, or sums over windows
have no simple form, the operands are moved to their zero points first.
"""
import math

import numpy

from .. import relay

__all__ = []


def _number(expr):
    """A constant that is one number; None of others."""
    return int(expr.data.item()) if isinstance(expr, relay.Constant) and expr.data.size == 1 else None


def _int32(value):
    return relay.cast(value, "int32")


def _steps(data, zero, axis, rank):
    """Data less their zero point."""
    value = _number(zero)
    if value == 0:
        return data
    kind = getattr(zero, "_type", None) and zero.checked_type
    if value is not None:
        zero = relay.const(numpy.int32(value))
    elif kind is None or kind.shape:
        zero = relay.expand_dims(zero, 1, rank - 1 - axis % rank) if axis % rank < rank - 1 else zero
    return _int32(data) - _int32(zero)


def _moved(name, attrs, inputs, types, axis):
    """The product of data and weights less their zero points."""
    data, weight = (_steps(x, zero, a, len(kind.shape)) for x, zero, a, kind in zip(inputs, inputs[2:], (-1, axis), types))
    if (data is inputs[0]) != (weight is inputs[1]) or types[0].dtype != types[1].dtype:
        data, weight = _int32(data), _int32(weight)
    return relay.Call(name, [data, weight], {**attrs, "out_dtype": types[-1].dtype})


def _corrected(product, zeros, of_data, of_weight, count, row=None):
    """A product of the integers less what zero points (of data, of weights) add: of_data() and of_weight() are the sums that they multiply,
    count how many numbers each adds up; row: the shape of what the weights add."""
    zero_data, zero_weight = zeros
    both = relay.const(numpy.int32(count * zero_data * zero_weight))
    product = product if zero_weight == 0 else product - relay.const(numpy.int32(zero_weight)) * of_data()
    if zero_data == 0:
        return product
    weight = relay.const(numpy.int32(zero_data)) * of_weight()
    weight = weight if row is None else relay.reshape(weight, row)
    return product - weight if zero_weight == 0 else product + (both - weight)


def _zeros_of(inputs, types):
    """Zero points of a product that can be corrected: constants of one number; None of others."""
    zeros = [_number(zero) for zero in inputs[2:4]]
    return None if None in zeros or types[-1].dtype != "int32" else zeros


def _dense(attrs, inputs, types):
    zeros = _zeros_of(inputs, types)
    if zeros is None or not isinstance(types[1].shape[1], int):
        return _moved("nn.dense", attrs, inputs, types, 0)
    data, weight = inputs[:2]
    return _corrected(relay.Call("nn.dense", [data, weight], attrs), zeros, lambda: relay.sum(_int32(data), [1], keepdims=True),
                      lambda: relay.sum(_int32(weight), [1]), types[1].shape[1])


def _batch_matmul(attrs, inputs, types):
    zeros = _zeros_of(inputs, types)
    rows, count = types[1].shape[1:]
    if zeros is None or attrs["transpose_a"] or not attrs["transpose_b"] or not isinstance(rows, int) or not isinstance(count, int):
        return _moved("nn.batch_matmul", attrs, inputs, types, 0)
    data, weight = inputs[:2]
    return _corrected(relay.Call("nn.batch_matmul", [data, weight], attrs), zeros, lambda: relay.sum(_int32(data), [2], keepdims=True),
                      lambda: relay.sum(_int32(weight), [2], keepdims=True), count, [0, 1, rows])


def _conv2d(attrs, inputs, types):
    zeros, layouts = _zeros_of(inputs, types), (attrs["data_layout"], attrs["kernel_layout"])
    known = layouts in (("NCHW", "OIHW"), ("NHWC", "HWIO"), ("NHWC", "HWOI")) and all(isinstance(d, int) for t in types[:2] for d in t.shape)
    shape = dict(zip(layouts[1], types[1].shape))
    is_depthwise = attrs["groups"] > 1 and attrs["groups"] == types[0].shape[layouts[0].index("C")] == \
        shape["O"] and shape["I"] == 1
    if zeros is None or not known or list(attrs["dilation"]) != [1, 1] or attrs["groups"] > 1 and not is_depthwise or \
            layouts[1] == "HWOI" and not is_depthwise:
        return _moved("nn.conv2d", attrs, inputs, types, layouts[1].index("O"))
    data, weight = inputs[:2]
    padding = _four(attrs["padding"])
    if zeros[0] and any(padding):
        widths = {"H": padding[::2], "W": padding[1::2]}
        data, padding = relay.nn.pad(data, [list(widths.get(c, (0, 0))) for c in layouts[0]], inputs[2]), [0, 0, 0, 0]
    product = relay.Call("nn.conv2d", [data, weight], {**attrs, "padding": padding})
    if zeros[1] and any(padding):  # which counts as zeros, of which windows have fewer at the borders
        return _moved("nn.conv2d", attrs, inputs, types, layouts[1].index("O"))
    window, axis = shape["H"] * shape["W"], layouts[0].index("C")

    def of_data():
        sums = _int32(data) if is_depthwise else relay.sum(_int32(data), [axis], keepdims=True)
        if window != 1:
            sums = sums * relay.const(numpy.int32(window))
        if window == 1 and list(attrs["strides"]) == [1, 1]:
            return sums
        return relay.Call("nn.avg_pool2d", [sums], {"pool_size": [shape["H"], shape["W"]], "strides": attrs["strides"], "layout": layouts[0]})

    def of_weight():
        kept = {"O", "I"} if is_depthwise else {"O"}
        sums = relay.sum(_int32(weight), [i for i, c in enumerate(layouts[1]) if c not in kept])
        channels = math.prod(shape[c] for c in kept)
        return relay.reshape(sums, [channels if c == "C" else 1 for c in layouts[0]])
    return _corrected(product, zeros, of_data, of_weight, window * (1 if is_depthwise else shape["I"]))


def _four(padding):
    padding = list(padding)
    return padding * (4 // len(padding))


def _plain(name):
    return lambda attrs, inputs, types: _moved(name, attrs, inputs, types, attrs["kernel_layout"].index("O"))


PRODUCTS = {"qnn.dense": _dense, "qnn.batch_matmul": _batch_matmul, "qnn.conv2d": _conv2d,
            **{f"qnn.{name}": _plain(f"nn.{name}") for name in ("conv1d", "conv3d", "conv2d_transpose")}}
