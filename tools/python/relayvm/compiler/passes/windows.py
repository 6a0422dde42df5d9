"""Passes over convolutions and pooling and what pads or dilates their data."""
import numpy

from .. import relay
from .rewriter import PostOrderRewriter, function_pass, is_call

__all__ = ["FlattenAtrousConv", "FoldExplicitPadding"]

_SPACE = "DHW"
_CONVOLUTIONS = ("nn.conv1d", "nn.conv2d", "nn.conv3d", "nn.contrib_conv2d_NCHWc")
_POOLS = {f"nn.{kind}_pool{d}d": kind for kind in ("max", "avg") for d in (1, 2, 3)}


def _same(call, attrs, *args):
    return relay.Call(call.op, args, attrs, span=call.span)


def _number(expr):
    """The number of a constant with one element, or None."""
    return expr.data.item() if isinstance(expr, relay.Constant) and expr.data.size == 1 else None


def _sides(padding, rank):
    """Padding for each side: all the beginnings, then all the ends."""
    padding = list(padding)
    return padding * (2 * rank // len(padding))


# --- FoldExplicitPadding ---

def _padding_of_space(pad, layout):
    """What nn.pad adds before and behind each axis of space; None where it pads other axes."""
    before, behind = [], []
    for letter, (first, last) in zip(layout, pad.attrs["pad_width"]):
        if letter in _SPACE:
            before.append(first)
            behind.append(last)
        elif first or last:
            return None
    return before + behind


def _with_padding(call, layout):
    """The attributes of a convolution or pooling that pads its data as the nn.pad before it does; None where it cannot."""
    more = _padding_of_space(call.args[0], layout)
    if more is None:
        return None
    own = _sides(call.attrs["padding"], len(more) // 2)
    return {**call.attrs, "padding": [a + b for a, b in zip(own, more)]}


def _folded(call, dtype):
    """The attributes of a call whose data, of a dtype, come from a nn.pad, without that; None where they say something else."""
    pad, name = call.args[0], call.op.name
    value = _number(pad.args[1])
    if value is None:
        return None
    if name == "qnn.conv2d":
        return _with_padding(call, call.attrs["data_layout"]) if value == _number(call.args[2]) else None
    if name in _CONVOLUTIONS:
        return _with_padding(call, call.attrs["data_layout"]) if value == 0 else None
    if _POOLS[name] == "max":
        least = (numpy.finfo if dtype.startswith("float") else numpy.iinfo)(dtype).min
        return _with_padding(call, call.attrs["layout"]) if value == least else None
    if value != 0 or not call.attrs["count_include_pad"] and any(call.attrs["padding"]):
        return None
    attrs = _with_padding(call, call.attrs["layout"])
    return attrs and {**attrs, "count_include_pad": True}  # the mean was over what was padded too


def FoldExplicitPadding():  # noqa: N802 (TVM's name)
    """A pass that lets convolutions and pooling pad what a nn.pad before them pads: with zeros, for nn.max_pool with the least number, for
    qnn.conv2d with the zero point.
    """
    def rewrite(call, new):
        if is_call(new, "qnn.conv2d", *_CONVOLUTIONS, *_POOLS) and is_call(new.args[0], "nn.pad") and new.args[0].attrs["pad_mode"] == "constant":
            attrs = _folded(new, call.args[0].checked_type.dtype)
            if attrs is not None:
                return _same(new, attrs, new.args[0].args[0], *new.args[1:])
        return new
    return function_pass("FoldExplicitPadding", lambda f: PostOrderRewriter(rewrite).visit(f))


# --- FlattenAtrousConv ---

def _dilated(last):
    """The convolution with dilation that space_to_batch_nd, a convolution and batch_to_space_nd are, or None."""
    conv = last.args[0]
    if not is_call(conv, "nn.conv2d", "qnn.conv2d") or not is_call(conv.args[0], "nn.space_to_batch_nd"):
        return None
    first = conv.args[0]
    blocks = tuple(first.attrs["block_shape"])
    zero = 0 if conv.op.name == "nn.conv2d" else _number(conv.args[2])
    plain = not any(conv.attrs["padding"]) and all(x == 1 for x in (*conv.attrs["strides"], *conv.attrs["dilation"]))
    if not plain or blocks != tuple(last.attrs["block_shape"]) or first.attrs["pad_value"] != zero or conv.attrs["data_layout"] != "NHWC":
        return None
    padding = [p[side] - c[side] for side in (0, 1) for p, c in zip(first.attrs["paddings"], last.attrs["crops"])]
    if len(blocks) != 2 or any(p < 0 for p in padding):
        return None
    return _same(conv, {**conv.attrs, "padding": padding, "dilation": blocks}, first.args[0], *conv.args[1:])


def FlattenAtrousConv():  # noqa: N802 (TVM's name)
    """A pass that makes one convolution with dilation of a convolution between space_to_batch_nd and batch_to_space_nd."""
    def rewrite(call, new):
        return is_call(new, "nn.batch_to_space_nd") and _dilated(new) or new
    return function_pass("FlattenAtrousConv", lambda f: PostOrderRewriter(rewrite).visit(f))
