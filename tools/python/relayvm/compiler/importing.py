"""What importers of one's own call, as tvm.relay.frontend.common has it: names and attributes of another format's operators, shapes and values of
expressions, and the cells of recurrent layers."""
import ast

import numpy

from . import relay
from .inference import infer
from ..errors import Error, Unsupported


class RequiredAttr:
    """In place of a default: an attribute has none."""


def get_relay_op(op_name):
    """The operator, or function of operators, of a name without its package: "conv2d" is nn.conv2d."""
    for prefix in ("", "nn.", "image.", "vision.", "contrib."):
        found = getattr(relay.op, prefix + op_name, None) if not prefix else getattr(getattr(relay.op, prefix[:-1], None), op_name, None)
        if callable(found) and not op_name.startswith("_"):
            return found
    raise Unsupported(f"Unable to map op_name {op_name} to relay")


class StrAttrsDict:
    """Attributes whose values are texts."""

    def __init__(self, attrs):
        self.attrs = attrs

    def has_attr(self, key):
        """Whether there is one of that name."""
        return key in self.attrs

    def _get(self, key, default, convert):
        if key in self.attrs:
            return convert(self.attrs[key])
        if isinstance(default, RequiredAttr):
            raise AttributeError(f"Required attribute {key} not found.")
        return default

    def get_float(self, key, default=RequiredAttr()):
        """A float."""
        return self._get(key, default, float)

    def get_int(self, key, default=RequiredAttr()):
        """An int; of None, None."""
        return self._get(key, default, lambda text: None if text == "None" else int(text))

    def get_str(self, key, default=RequiredAttr()):
        """The text."""
        return self._get(key, default, str)

    def get_int_tuple(self, key, default=RequiredAttr()):
        """ints, or None where it says so."""
        return self._get(key, default, lambda text: tuple(None if x is None else int(x) for x in _sequence(text)))

    get_int_list = get_int_tuple

    def get_float_tuple(self, key, default=RequiredAttr()):
        """floats."""
        return self._get(key, default, lambda text: tuple(map(float, _sequence(text))))

    def get_tuple_tuple_int(self, key, default=RequiredAttr()):
        """tuples of ints."""
        return self._get(key, default, lambda text: tuple(tuple(map(int, row)) for row in _sequence(text)))

    def get_bool(self, key, default=RequiredAttr()):
        """Whether it is True or 1."""
        return self._get(key, default, lambda text: str(text).strip() in ("True", "true", "1"))


def _sequence(text):
    read = ast.literal_eval(text) if isinstance(text, str) else text
    return read if isinstance(read, (list, tuple)) else (read,)


def get_name(node):
    """The name of a variable; of another expression, ""."""
    return getattr(node, "name_hint", "")


class ExprTable:
    """Expressions by name, and the weights that they read: params."""

    def __init__(self):
        self.exprs, self.params, self.const_ctr, self.in_padding = {}, {}, 1, False
        self.paddings = [0, 0]

    def new_const(self, value, shape=None, dtype="float32", source_name=None):
        """A variable for a weight, which it is the value of."""
        name = f"_param_{self.const_ctr}" if source_name is None else f"{source_name}_{self.const_ctr}"
        self.const_ctr += 1
        if hasattr(value, "shape"):
            shape = value.shape
        self.params[name] = value
        self.exprs[name] = relay.var("v" + name, shape=shape, dtype=dtype)
        return self.exprs[name]

    def get_expr(self, name):
        """The one of a name."""
        return self.exprs[name]

    def set_expr(self, name, expr, force_override=False):
        """Adds one; what has the name stays, unless it is to be replaced."""
        if name not in self.exprs or force_override:
            self.exprs[name] = expr

    def has_expr(self, name):
        """Whether there is one of that name."""
        return name in self.exprs

    def set_padding(self, paddings):
        """Padding that the next operator takes."""
        self.paddings, self.in_padding = paddings, True

    def clear_padding(self):
        """Forgets it."""
        self.in_padding = False


class Renamer:
    """A converter: the operator of another name, with the same attributes."""

    def __init__(self, new_name):
        self._new_name = new_name

    def __call__(self, inputs, attrs, *args):
        attrs = {} if self._new_name == "tanh" else attrs
        return get_relay_op(self._new_name)(*inputs, **attrs)


class AttrCvt:
    """A converter: an operator with its attributes by other names.

    op_name: or a function of the attributes that gives it. transforms: {theirs: ours, (ours, default), (ours, default, function of the value), or
    a function that is called for what it does}. excludes: attributes that must not be there. ignores, disables: that are left out; with a warning
    or without. extras: that are added. custom_check: (function of the attributes, what is wrong where it does not hold).
    """

    _ALWAYS = ("_output_shapes", "_input_shapes", "T", "use_cudnn_on_gpu", "_node_name", "is_training", "_target_layout")

    def __init__(self, op_name, transforms=None, excludes=None, disables=None, ignores=None, extras=None, custom_check=None):
        self._op_name, self._transforms = op_name, dict(transforms or {})
        self._excludes, self._left_out = list(excludes or ()), [*(disables or ()), *(ignores or ()), *self._ALWAYS]
        self._extras, self._custom_check = dict(extras or {}), custom_check

    def __call__(self, inputs, attrs, *args):
        if self._custom_check is not None and not self._custom_check[0](attrs):
            raise RuntimeError(f"Check failed: {self._custom_check[1]}")
        op_name = self._op_name(attrs) if callable(self._op_name) else self._op_name
        new = {}
        for key, value in attrs.items():
            if key in self._excludes:
                raise NotImplementedError(f"Attribute {key} in operator {op_name} is not supported.")
            if key not in self._left_out:
                new.update(self._transformed(key, value))
        new.update(self._extras)
        return get_relay_op(op_name)(*inputs, **new)

    def _transformed(self, key, value):
        if key not in self._transforms:
            return {key: value}
        told = self._transforms[key]
        if isinstance(told, str):
            return {told: value}
        if callable(told):
            return told(value) or {}
        if not isinstance(told, (tuple, list)) or not told:
            raise ValueError(f"{told} is not a valid target, (name, default) expected.")
        return {told[0]: told[2](value) if len(told) > 2 else value}


# --- Shapes and values ---

def _dims_of(expr):
    return infer(expr).checked_type.shape


def _is_known(dims):
    return all(isinstance(dim, int) for dim in dims)


def shape_of(x, dtype="int64", start=None, end=None):
    """The dims of a value as a tensor, from start to end: a constant where they are known."""
    dims = _dims_of(x)[slice(start, end)]
    if _is_known(dims):
        return relay.const(numpy.array(dims, dtype), dtype)
    shape = relay.op.shape_of(x, dtype)
    if start or end is not None:
        whole = len(_dims_of(x))
        shape = relay.op.strided_slice(shape, [slice(start, end).indices(whole)[0]], [slice(start, end).indices(whole)[1]])
    return shape


def unbind(data, axis=0):
    """A tuple of what a tensor has along an axis."""
    dims = _dims_of(data)
    if not -len(dims) <= axis < len(dims):
        raise ValueError(f"unbind: the axis {axis} of a tensor of rank {len(dims)}")
    count = int(dims[axis])
    parts = relay.op.split(data, count, axis)
    return relay.TupleWrapper(relay.Tuple([relay.op.squeeze(relay.TupleGetItem(parts, i), [axis]) for i in range(count)]), count)


def to_int_list(np_array):
    """An array of integers as a list."""
    return [int(x) for x in np_array]


def ensure_scalar_shape(x):
    """It, without its one dim of 1."""
    dims = _dims_of(x)
    if not dims:
        return x
    if any(dim != 1 for dim in dims):
        raise ValueError(f"Cannot squeeze tensor shape {tuple(dims)} to scalar form.")
    return relay.op.squeeze(x)


def try_resolve_var_to_const(x, graph_params):
    """The constant that a variable stands for, where it is one of these weights; else itself."""
    if isinstance(x, relay.Constant):
        return x
    if isinstance(x, relay.Var) and x.name_hint in graph_params:
        value = graph_params[x.name_hint]
        value = value.numpy() if hasattr(value, "numpy") else numpy.asarray(value)
        return relay.const(value, x.type_annotation.dtype if isinstance(x.type_annotation, relay.TensorType) else str(value.dtype))
    return x


def value_of(expr, params):
    """The array of an expression, of the values of its variables by name."""
    from . import Module, create_executor
    free = relay._free_vars(expr)
    missing = [v.name_hint for v in free if v.name_hint not in params]
    if missing:
        raise KeyError(f"there are no values for {', '.join(missing)}")
    run = create_executor("vm", Module.from_expr(relay.Function(free, expr))).evaluate()
    return run(*[params[v.name_hint].numpy() if hasattr(params[v.name_hint], "numpy") else params[v.name_hint] for v in free])


def try_infer_value(val, on_success=None, on_failure=None, parameters=None):
    """(the value of an expression, True), or (the expression, False) where it is not constant; what the functions make of either."""
    try:
        found = val.data if isinstance(val, relay.Constant) else value_of(val, parameters or {})
    except (KeyError, Error):
        return (on_failure() if on_failure is not None else val), False
    found = numpy.asarray(found)
    return (on_success(found) if on_success is not None else found), True


def infer_value_simulated(input_val, params):
    """The array of an expression, of random numbers for the variables that have no values."""
    params, random = dict(params), numpy.random.default_rng(0)
    for variable in relay._free_vars(input_val):
        if variable.name_hint not in params:
            kind = variable.type_annotation
            params[variable.name_hint] = random.random([int(d) for d in kind.shape]).astype(kind.dtype)
    return value_of(input_val, params)


def set_span(sym, span):
    """The expression, or a tuple or list of such, whose new nodes stand at a place: a `Span`, or the name of a source. Nodes that have one keep
    it."""
    if isinstance(sym, (list, tuple)):
        return type(sym)([set_span(one, span) for one in sym])
    place = relay.Span(span, 0, 0, 0, 0) if isinstance(span, str) else span
    for node in relay._post_order(sym, lambda e: e._children()) if place is not None else ():
        if not isinstance(node, (relay.Op, relay.Constructor)) and node._span is None and not (isinstance(node, relay.Var) and node is not sym):
            relay._set(node, "_span", place)
    return sym


def autopad(data, strides, kernel_shape, dilations=(1, 1), pad_type="constant", deconv=False, mode="SAME_UPPER", pad_value=0.0):
    """Data padded so that windows of these strides give as many places as ONNX's SAME_UPPER or SAME_LOWER says."""
    dims = _dims_of(data)
    rank = len(kernel_shape)
    if mode not in ("SAME_UPPER", "SAME_LOWER"):
        raise Unsupported(f'Value {mode} in attribute "mode" is invalid.')
    spans = [(k - 1) * d + 1 for k, d in zip(kernel_shape, [*dilations, *[1] * rank])]
    if not _is_known(dims[-rank:]):
        return _autopad_any(data, len(dims), strides, spans, pad_type, kernel_shape if deconv else None, mode, pad_value)
    pairs = [(0, 0)] * (len(dims) - rank)
    for size, stride, span, kernel in zip(dims[-rank:], strides, spans, kernel_shape):
        whole = max(span - (size % stride or stride), 0)
        whole = kernel - 1 - whole if deconv else whole
        pairs.append((whole // 2, whole - whole // 2) if mode == "SAME_UPPER" else (whole - whole // 2, whole // 2))
    return relay.op.nn.pad(data, pairs, _pad_value(data, pad_value), pad_type)


def _pad_value(data, pad_value):
    return relay.const(pad_value, infer(data).checked_type.dtype)


def _autopad_any(data, rank, strides, spans, pad_type, of_transposed, mode, pad_value):
    count = len(spans)
    shape = relay.op.strided_slice(relay.op.shape_of(data, "int64"), [rank - count], [rank])
    stride, span = (relay.const(numpy.array(x, "int64"), "int64") for x in (strides, spans))
    rest = relay.op.mod(shape, stride)
    used = relay.op.where(relay.op.equal(rest, relay.const(0, "int64")), stride, rest)
    whole = relay.op.maximum(span - used, relay.const(0, "int64"))
    if of_transposed is not None:
        whole = relay.const(numpy.array(of_transposed, "int64") - 1, "int64") - whole
    half = relay.op.floor_divide(whole, relay.const(2, "int64"))
    parts = [half, whole - half] if mode == "SAME_UPPER" else [whole - half, half]
    pairs = relay.op.stack(parts, axis=1)
    widths = relay.op.concatenate([relay.const(numpy.zeros((rank - count, 2), "int64"), "int64"), pairs], axis=0)
    return relay.op.nn.pad(data, widths, _pad_value(data, pad_value), pad_type)


# --- Cells of recurrent layers: lists of the steps' results, then the states ---

def _affine(x, weight, bias):
    y = relay.op.nn.dense(x, weight)
    return y if bias is None else y + bias


def _steps(input_seqs, backwards):
    return reversed(list(enumerate(input_seqs))) if backwards else enumerate(input_seqs)


def rnn_cell(input_seqs, hidden_state, w_inp, w_hid, b_inp=None, b_hid=None, backwards=False, act=None):
    """act(x * w_inp + h * w_hid) for each of a list: (the results, the last one). act: tanh where it is left out."""
    act = act or relay.op.tanh
    outputs = []
    for _, x in _steps(input_seqs, backwards):
        hidden_state = act(_affine(x, w_inp, b_inp) + _affine(hidden_state, w_hid, b_hid))
        outputs.append(hidden_state)
    return outputs, hidden_state


def gru_cell(input_seqs, hidden_state, w_inp, w_hid, b_inp=None, b_hid=None, rz_act=None, n_act=None, backwards=False, linear_before_reset=True,
             sequence_lens=None):
    """Gates r, z and n of each of a list, in rows of the weights in that order: (the results, the last one). sequence_lens: of each of the batch,
    how many are of its sequence; states stay behind that."""
    rz_act, n_act = rz_act or relay.op.sigmoid, n_act or relay.op.tanh
    outputs = []
    for step, x in _steps(input_seqs, backwards):
        before = hidden_state
        xr, xz, xn = relay.op.split(_affine(x, w_inp, b_inp), 3, axis=-1)
        if linear_before_reset:
            hr, hz, hn = relay.op.split(_affine(hidden_state, w_hid, b_hid), 3, axis=-1)
            r, z = rz_act(xr + hr), rz_act(xz + hz)
            n = n_act(xn + r * hn)
        else:
            wr, wz, wn = relay.op.split(w_hid, 3, axis=0)
            br, bz, bn = relay.op.split(b_hid, 3, axis=-1) if b_hid is not None else (None,) * 3
            r, z = rz_act(xr + _affine(hidden_state, wr, br)), rz_act(xz + _affine(hidden_state, wz, bz))
            n = n_act(xn + _affine(r * hidden_state, wn, bn))
        hidden_state = (hidden_state - n) * z + n
        if sequence_lens is not None:
            is_in = relay.op.expand_dims(relay.op.greater(sequence_lens, relay.const(step, infer(sequence_lens).checked_type.dtype)), 1)
            hidden_state = relay.op.where(is_in, hidden_state, before)
        outputs.append(hidden_state)
    return outputs, hidden_state


def lstm_cell(input_seqs, hidden_state, cell_state, w_inp, w_hid, b_inp=None, b_hid=None, proj=None, p_i=None, p_f=None, p_o=None, f_act=None,
              g_act=None, h_act=None, backwards=False):
    """Gates i, f, g and o of each of a list, in rows of the weights in that order: (the results, the last one, the last cell). proj: weights that
    results go through. p_i, p_f, p_o: weights of the cell in gates."""
    f_act, g_act, h_act = f_act or relay.op.sigmoid, g_act or relay.op.tanh, h_act or relay.op.tanh
    outputs = []
    for _, x in _steps(input_seqs, backwards):
        gates = _affine(x, w_inp, b_inp) + _affine(hidden_state, w_hid, b_hid)
        i, f, g, o = relay.op.split(gates, 4, axis=-1)
        i, f = (gate if p is None else gate + p * cell_state for gate, p in ((i, p_i), (f, p_f)))
        cell_state = f_act(f) * cell_state + f_act(i) * g_act(g)
        o = o if p_o is None else o + p_o * cell_state
        hidden_state = f_act(o) * h_act(cell_state)
        hidden_state = hidden_state if proj is None else relay.op.nn.dense(hidden_state, proj)
        outputs.append(hidden_state)
    return outputs, hidden_state, cell_state


__all__ = ["AttrCvt", "ExprTable", "Renamer", "RequiredAttr", "StrAttrsDict", "autopad", "ensure_scalar_shape", "get_name", "get_relay_op",
           "gru_cell", "infer_value_simulated", "lstm_cell", "rnn_cell", "set_span", "shape_of", "to_int_list", "try_infer_value", "try_resolve_var_to_const",
           "unbind"]
