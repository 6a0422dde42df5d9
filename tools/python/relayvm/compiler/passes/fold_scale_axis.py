"""FoldScaleAxis: a multiplication by one number for each channel goes into the weights of the convolution or nn.dense before or behind it.

Where a scale may go, calls say to their operands (forward) or users (backward): `_Wish`, the axes along which it may be, and whether it must be
positive, as it passes a nn.relu. In a second step the multiplications go and their scales are handed on.
"""
from typing import NamedTuple

from .. import relay
from .layout import Layout
from .legalize import at_axis
from .rewriter import ForwardRewriter, Pending, function_pass, is_call, uses_of

__all__ = ["BackwardFoldScaleAxis", "FoldScaleAxis", "ForwardFoldScaleAxis"]

_CONVOLUTIONS = ("nn.conv2d", "nn.conv3d")
_RELUS = ("nn.relu", "nn.leaky_relu")


class _Wish(NamedTuple):
    axes: tuple
    is_positive: bool


def _both(a, b):
    """What two users want."""
    if a is None or b is None:
        return None
    axes = tuple(axis for axis in a.axes if axis in b.axes)
    return _Wish(axes, a.is_positive or b.is_positive) if axes else None


def _shape(expr):
    return expr.checked_type.shape


# --- Scales ---

def _fits(shape, other, axes):
    """Whether a tensor of the shape `other`, broadcast to `shape`, has one number for each place along some axes, and 1 elsewhere."""
    base = len(shape) - len(other)
    return 0 <= base <= min(axes) and all(other[i - base] == (dim if i in axes else 1) for i, dim in enumerate(shape) if i >= base)


def _scale_along(shape, other, axes, value):
    """A value that `_fits` without its axes of 1, or of one number as often as there are places; None where it does not fit."""
    if not other and shape:
        sizes = [shape[a] for a in axes]
        if not all(isinstance(size, int) for size in sizes):
            return None
        value = relay.expand_dims(value, 0, len(axes))
        for i, size in enumerate(sizes):
            value = relay.repeat(value, size, i)
        return value
    if not _fits(shape, other, axes):
        return None
    base = len(shape) - len(other)
    ones = [i for i in range(len(other)) if i + base not in axes]
    return relay.squeeze(value, ones) if ones else value


def _along(scale, shape, axes):
    """A scale as it is broadcast to a shape; None where its sizes are not known."""
    if len(axes) == 1:
        return at_axis(scale, axes[0], len(shape))
    return _reshaped(scale, shape, axes)


def _reshaped(scale, shape, axes):
    if not all(isinstance(shape[a], int) for a in axes):
        return None
    return relay.reshape(scale, [dim if i in axes else 1 for i, dim in enumerate(shape)])


def _is_positive(expr):
    """Whether all of its numbers are known to be greater than 0."""
    while is_call(expr, "expand_dims", "squeeze", "reshape", "transpose", "repeat", "broadcast_to", "layout_transform"):
        expr = expr.args[0]
    return isinstance(expr, relay.Constant) and bool((expr.data > 0).all())


# --- Convolutions ---

def _is_depthwise(call):
    layout, shape = Layout(call.attrs["kernel_layout"]), _shape(call.args[1])

    def extent(letter):
        return shape[layout.index(letter)] * (layout.factor(letter) or 1)
    return extent("O") == call.attrs["groups"] and extent("I") == 1


def _channels(call, layout):
    """The wish of a convolution for its data or result of a layout, or None."""
    layout, kernel = Layout(layout), Layout(call.attrs["kernel_layout"])
    if call.attrs["groups"] != 1 and not _is_depthwise(call):
        return None
    is_in_blocks = {layout.index("c") >= 0, kernel.index("i") >= 0, kernel.index("o") >= 0}
    if len(is_in_blocks) > 1 or any(len(set(x.letters)) < len(x) for x in (layout, kernel)):
        return None
    return _Wish(tuple(layout.index(c) for c in "Cc" if layout.index(c) >= 0), False)


def _result_layout(call):
    return call.attrs["out_layout"] or call.attrs["data_layout"]


def _scaled_kernel(call, weight, scale, letter):
    """A kernel times a scale along its axis I or O; None where its sizes are not known."""
    layout = Layout(call.attrs["kernel_layout"])
    axes = [layout.index(c) for c in (letter, letter.lower()) if layout.index(c) >= 0]
    factor = _along(scale, _shape(call.args[1]), axes)
    return None if factor is None else relay.multiply(weight, factor)


def _again(call, args):
    return relay.Call(call.op, args, call.attrs, span=call.span)


# --- Forward ---

class _Scaled(Pending):
    """A value that is yet to be multiplied."""

    __slots__ = ("value", "scale", "axes", "shape")

    def __init__(self, value, scale, axes, shape):
        self._init(None, value=value, scale=scale, axes=axes, shape=shape)

    def realised(self):
        return relay.multiply(self.value, _along(self.scale, self.shape, self.axes))

    def _children(self):
        return (self.value, self.scale)


def _wishes_of(call, wish):
    """What a call wants of its operands, of what is wanted of it."""
    none = [None] * len(call.args)
    if is_call(call, *_RELUS):
        return [wish and _Wish(wish.axes, True)]
    if is_call(call, *_CONVOLUTIONS):
        return [_channels(call, call.attrs["data_layout"]), None]
    if is_call(call, "nn.dense") and len(_shape(call.args[0])) == 2:
        return [_Wish((1,), False), None]
    if is_call(call, "add", "subtract") and wish is not None:
        left, right = map(_shape, call.args)
        if _fits(left, right, wish.axes):
            return [wish, None]
        if _fits(right, left, wish.axes):
            return [None, wish]
    return none


def _forward_wishes(function):
    order, wishes = [], {}
    relay.post_order_visit(function, order.append)

    def update(node, wish):
        wishes[node] = _both(wishes[node], wish) if node in wishes else wish
    for node in reversed(order):
        if isinstance(node, relay.Call):
            for arg, wish in zip(node.args, _wishes_of(node, wishes.get(node))):
                update(arg, wish)
        else:
            for child in node._children():
                update(child, None)
    return wishes


def _fold_forward(function):
    wishes = _forward_wishes(function)
    if not any(wishes.values()):
        return function

    def rewrite(call, args):
        name = call.op.name
        if name == "multiply" and wishes.get(call) is not None:
            return _without_multiply(call, args, wishes[call])
        if not any(isinstance(a, _Scaled) for a in args):
            return None
        if name in _RELUS:
            data = args[0]
            return _Scaled(_again(call, [data.value]), data.scale, data.axes, data.shape)
        if name in ("add", "subtract"):
            return _divided(call, args)
        if name in _CONVOLUTIONS and isinstance(args[0], _Scaled):
            weight = _scaled_kernel(call, args[1], args[0].scale, "O" if _is_depthwise(call) else "I")
            return weight and _again(call, [args[0].value, weight])
        if name == "nn.dense" and isinstance(args[0], _Scaled):
            return _again(call, [args[0].value, relay.multiply(args[1], args[0].scale)])
        return None
    return ForwardRewriter(rewrite).run(function)


def _without_multiply(call, args, wish):
    shapes = [_shape(a) for a in call.args]
    for data, other in ((0, 1), (1, 0)):
        scale = _scale_along(shapes[data], shapes[other], wish.axes, args[other])
        if scale is not None and (not wish.is_positive or _is_positive(scale)):
            return _Scaled(args[data], scale, wish.axes, shapes[data])
    return None


def _divided(call, args):
    """An addition of what is scaled later: the other operand is divided by the scale."""
    at = 0 if isinstance(args[0], _Scaled) else 1
    data = args[at]
    factor = _along(data.scale, data.shape, data.axes)
    if factor is None or isinstance(args[1 - at], _Scaled):
        return None
    new = [data.value] * 2
    new[1 - at] = relay.divide(args[1 - at], factor)
    return _Scaled(_again(call, new), data.scale, data.axes, data.shape)


# --- Backward ---

def _backward_wish(call, of):
    """What a call lets its user ask of it, of what its operands do."""
    if is_call(call, *_RELUS):
        wish = of(call.args[0])
        return wish and _Wish(wish.axes, True)
    if is_call(call, *_CONVOLUTIONS):
        return _channels(call, _result_layout(call))
    if is_call(call, "nn.dense"):
        return _Wish((1,), False) if len(_shape(call)) == 2 else None
    if is_call(call, "nn.bias_add"):
        wish, axis = of(call.args[0]), call.attrs["axis"]
        return wish if wish and wish.axes == (axis + len(_shape(call)) if axis < 0 else axis,) else None
    return _wish_of_sum(call, *map(of, call.args)) if is_call(call, "add", "subtract") else None


def _wish_of_sum(call, left, right):
    shapes = [_shape(a) for a in call.args]
    same = left and right and left.axes == right.axes and len(shapes[0]) == len(shapes[1])
    is_positive = bool(left and left.is_positive or right and right.is_positive)
    if left and _fits(*shapes, left.axes):
        return _Wish(left.axes, is_positive)
    if right and _fits(*reversed(shapes), right.axes):
        return _Wish(right.axes, is_positive)
    return _Wish(left.axes, is_positive) if same and shapes[0] == shapes[1] else None


class _FoldBackward(relay.ExprMutator):
    def __init__(self, function):
        super().__init__()
        uses, self._wishes = uses_of(function), {}

        def see(node):
            if isinstance(node, relay.Call) and uses[node] == 1:
                wish = _backward_wish(node, self._wishes.get)
                if wish is not None:
                    self._wishes[node] = wish
        relay.post_order_visit(function, see)

    def visit_call(self, call):
        if is_call(call, "multiply"):
            shapes = [_shape(a) for a in call.args]
            for data, other in ((0, 1), (1, 0)):
                wish = self._wishes.get(call.args[data])
                if wish is None:
                    continue
                scale = _scale_along(shapes[data], shapes[other], wish.axes, call.args[other])
                if scale is not None and (not wish.is_positive or _is_positive(scale)) and self._takes(call.args[data], wish.axes):
                    return self._scaled(call.args[data], wish.axes, scale)
        return super().visit_call(call)

    def _takes(self, call, axes):
        """Whether the shapes are known that the scale is brought into, from here to the weights."""
        if len(axes) > 1 and not all(isinstance(_shape(call)[a], int) for a in axes):
            return False
        if is_call(call, *_CONVOLUTIONS):
            return len(axes) == 1 or all(isinstance(dim, int) for dim in _shape(call.args[1]))
        return is_call(call, "nn.dense") or all(self._takes(a, axes) for a in call.args if a in self._wishes)

    def _scaled(self, call, axes, scale):
        """A call whose result is multiplied."""
        if is_call(call, *_CONVOLUTIONS):
            data, weight = map(self.visit, call.args)
            return _again(call, [data, _scaled_kernel(call, weight, scale, "O")])
        if is_call(call, "nn.dense"):
            data, weight = map(self.visit, call.args)
            return _again(call, [data, relay.multiply(weight, at_axis(scale, 0, 2))])
        if is_call(call, *_RELUS):
            return _again(call, [self._scaled(call.args[0], axes, scale)])
        if is_call(call, "nn.bias_add"):
            return _again(call, [self._scaled(call.args[0], axes, scale), relay.multiply(self.visit(call.args[1]), scale)])
        shapes = [_shape(a) for a in call.args]
        return _again(call, [self._scaled(arg, axes, scale) if self._is_scaled(call, arg, axes)
                             else relay.multiply(self.visit(arg), _along(scale, shapes[1 - i], axes)) for i, arg in enumerate(call.args)])

    def _is_scaled(self, call, arg, axes):
        """Whether an operand of an addition takes the scale itself."""
        wish = self._wishes.get(arg)
        return wish is not None and wish.axes == axes and len(_shape(arg)) == len(_shape(call))


def ForwardFoldScaleAxis():  # noqa: N802 (TVM's name)
    """A pass that folds multiplications along channels into the weights of the convolution or nn.dense behind them."""
    return function_pass("ForwardFoldScaleAxis", _fold_forward, opt_level=3)


def BackwardFoldScaleAxis():  # noqa: N802 (TVM's name)
    """A pass that folds multiplications along channels into the weights of the convolution or nn.dense before them."""
    return function_pass("BackwardFoldScaleAxis", lambda f: _FoldBackward(f).visit(f), opt_level=3)


def FoldScaleAxis():  # noqa: N802 (TVM's name)
    """Both, then what is constant is computed."""
    from .. import transform
    from .fold_constant import FoldConstant
    return transform.Sequential([BackwardFoldScaleAxis(), ForwardFoldScaleAxis(), FoldConstant()], name="FoldScaleAxis")
