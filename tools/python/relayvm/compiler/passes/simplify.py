"""SimplifyExpr in TVM's form: rewrites of a few operators each, in turn until none of them applies.

The compiler's own pass of that name applies rules that keep every bit (compiler/rules/simplify.relay); these are TVM's, some of which round
otherwise: rsqrt in place of a division, constants that meet.
"""
import math

import numpy

from .. import relay
from ..operators import _BINARY
from .layout import Layout
from .rewriter import function_pass, is_call, uses_of

__all__ = ["SimplifyExpr", "SimplifyExprPostAlterOp"]

_BINARY = _BINARY.split()
_COMMUTATIVE = ("add", "multiply")


def _type(expr):
    """A tensor's type, of nodes that know theirs."""
    known = expr._type is not None or isinstance(expr, relay.Constant)
    return expr.checked_type if known and isinstance(expr.checked_type, relay.TensorType) else None


def _dtype(expr):
    kind = _type(expr)
    return kind and kind.dtype


def _static_shape(kind):
    return kind.shape if all(isinstance(dim, int) for dim in kind.shape) else None


def _number(expr):
    return expr.data.item() if isinstance(expr, relay.Constant) and expr.data.size == 1 else None


def _orders(call):
    """The operands of a call in the orders that mean the same."""
    yield call.args
    if call.op.name in _COMMUTATIVE:
        yield call.args[::-1]


# --- Shapes of others ---

def _zeros_like(call, new, kind):
    return _static_shape(kind) is not None and relay.zeros(kind.shape, kind.dtype)


def _ones_like(call, new, kind):
    return _static_shape(kind) is not None and relay.ones(kind.shape, kind.dtype)


def _full_like(call, new, kind):
    return _static_shape(kind) is not None and relay.full(new.args[1], kind.shape, kind.dtype)


def _reshape_like(call, new, kind):
    return _static_shape(kind) is not None and relay.reshape(new.args[0], kind.shape)


def _collapse_sum_like(call, new, kind):
    return _static_shape(kind) is not None and relay.collapse_sum_to(new.args[0], kind.shape)


def _broadcast_to_like(call, new, kind):
    return _static_shape(kind) is not None and relay.broadcast_to(new.args[0], kind.shape)


def _cast_like(call, new, kind):
    return relay.cast(new.args[0], kind.dtype)


# --- Arithmetic ---

def _sum_of_the_same(call, new, kind):
    return new.args[0] is new.args[1] and new.args[0] * relay.const(2, kind.dtype)


def _rsqrt(call, new, kind):
    numerator, root = new.args
    return is_call(root, "sqrt") and relay.multiply(numerator, relay.rsqrt(root.args[0]))


def _identity(call, new, kind):
    neutral = 0 if new.op.name in ("add", "subtract") else 1
    names = ("zeros", "zeros_like") if neutral == 0 else ("ones", "ones_like")
    for (x, other), (old, _) in zip(_orders(new), _orders(call)):
        if (_number(other) == neutral or is_call(other, *names)) and _type(old) == kind:
            return x
    return None


def _full_operand(call, new, kind):
    """A number in place of a tensor that is full of it, beside one of the result's shape."""
    for i, other in enumerate(new.args):
        if is_call(other, "full", "full_like"):
            value = other.args[0] if other.op.name == "full" else other.args[1]
        elif is_call(other, "ones", "ones_like", "zeros", "zeros_like"):
            value = relay.const(1 if other.op.name.startswith("ones") else 0, _dtype(call.args[i]))
        else:
            continue
        if _number(value) is not None and _type(call.args[1 - i]) == kind:
            value = value if not value.data.shape else relay.const(value.data.reshape(()), _dtype(value))
            return relay.Call(new.op, [value, new.args[1]] if i == 0 else [new.args[0], value], new.attrs, span=new.span)
    return None


def _computed(op_name, a, b):
    compute = {"add": numpy.add, "multiply": numpy.multiply}[op_name]
    return relay.const(compute(a.data, b.data), _dtype(a))


def _with_constant(call):
    """(the other operand, the constant) of a call."""
    for x, constant in _orders(call):
        if isinstance(constant, relay.Constant) and not isinstance(x, relay.Constant):
            return x, constant
    return None, None


def _multiply_before_add(call, new, kind):
    inner, factor = _with_constant(new)
    if not is_call(inner, "add"):
        return None
    x, term = _with_constant(inner)
    return x is not None and relay.add(relay.multiply(x, factor), _computed("multiply", term, factor))


def _constants_that_meet(call, new, kind):
    inner, second = _with_constant(new)
    if not is_call(inner, new.op.name):
        return None
    x, first = _with_constant(inner)
    return x is not None and relay.Call(new.op, [x, _computed(new.op.name, first, second)])


def _monomial(expr):
    """(coefficient, x, y) of a product of two values and a number; None of others."""
    if not is_call(expr, "multiply"):
        return None
    for number, rest in _orders(expr):
        if isinstance(number, relay.Constant):
            inner = _monomial(rest) if _number(number) is not None else None
            return inner and (number.data.item() * inner[0], *inner[1:])
        if is_call(rest, "multiply"):
            other, constant = _with_constant(rest)
            if other is not None and _number(constant) is not None:
                return constant.data.item(), number, other
    return 1, *expr.args


def _binomial(call, new, kind):
    """a x x + b x y + c y y as a (x + r y) (x + s y)."""
    if kind.dtype not in ("float32", "float64", "int32"):
        return None
    for inner, last in _orders(new):
        if not is_call(inner, "add"):
            continue
        terms = [_monomial(term) for term in (*inner.args, last)]
        if None in terms:
            continue
        squares = [t for t in terms if t[1] is t[2]]
        product = [t for t in terms if t[1] is not t[2]]
        if len(squares) == 2 and len(product) == 1:
            found = _factors(squares, product[0], kind.dtype)
            if found is not None:
                return found
    return None


def _factors(squares, product, dtype):
    (a, x, _), (c, y, _) = squares
    if {id(product[1]), id(product[2])} != {id(x), id(y)}:
        return None
    b = product[0]
    if c == 1 and a > 1:
        (a, x), (c, y) = (c, y), (a, x)
    under_root = b * b - 4 * a * c
    if under_root < 0 or a == 0:
        return None
    is_square = under_root < 10e-5
    roots = [(b + sign * math.sqrt(under_root)) / (2 * a) for sign in (1, -1)]
    if dtype == "int32" and any(root != int(root) for root in roots):
        return None
    factors = [relay.add(x, relay.multiply(y, relay.const(root, dtype))) for root in roots[:1 if is_square else 2]]
    return relay.multiply(relay.const(a, dtype), relay.multiply(factors[0], factors[-1]))


# --- Reshape, transpose ---

def _reshapes(call, new, kind):
    return is_call(new.args[0], "reshape", "contrib_reverse_reshape") and _static_shape(kind) is not None and \
        relay.reshape(new.args[0].args[0], kind.shape)


def _layouts(call):
    return Layout(call.attrs["src_layout"]), Layout(call.attrs["dst_layout"])


def _order(call, rank):
    """The axes of a transpose, or of a layout_transform that is one; None of another."""
    if call.op.name == "transpose":
        axes = call.attrs["axes"] or range(rank - 1, -1, -1)
        return [a + rank if a < 0 else a for a in axes]
    source, target = _layouts(call)
    if sorted(source.axes) != sorted(target.axes) or len(set(source.axes)) != len(source):
        return None
    return [source.axes.index(axis) for axis in target.axes]


def _transposes(call, new, kind):
    inner = new.args[0]
    if not is_call(inner, "transpose", "layout_transform"):
        return None
    x, rank = inner.args[0], len(kind.shape)
    first, second = _order(inner, rank if new.op.name == "transpose" else len(_layouts(new)[0])), _order(new, rank)
    if first is not None and second is not None:
        return relay.transpose(x, [first[a] for a in second])
    layouts = _joined_layouts(inner, new, first, second)
    if layouts is None:
        return None
    source, target = layouts
    return x if source == target else relay.layout_transform(x, source.name, target.name)


def _joined_layouts(inner, new, first, second):
    """The layouts of one layout_transform in place of two transforms, where one changes the rank."""
    if first is not None:
        source, target = _layouts(new)
        back = [first.index(i) for i in range(len(first))]
        return Layout.of(source.axes[i] for i in back), target
    source, target = _layouts(inner)
    if second is not None:
        return source, Layout.of(target.axes[a] for a in second)
    between, last = _layouts(new)
    return (source, last) if between == target else None


def _transpose_of_nothing(call, new, kind):
    order = _order(new, len(kind.shape)) if new.op.name == "transpose" or new.attrs["src_layout"] == new.attrs["dst_layout"] else None
    return new.args[0] if order == list(range(len(kind.shape))) else None


# --- Casts and clips ---

def _bounds(dtype):
    if dtype == "bool":
        return 0, 1
    if dtype == "bfloat16":
        return -3.3895313892515355e38, 3.3895313892515355e38
    info = numpy.finfo(dtype) if dtype.startswith("float") else numpy.iinfo(dtype)
    return float(info.min), float(info.max)


def _cast_to_the_same(call, new, kind):
    return new.args[0] if _dtype(call.args[0]) == kind.dtype else None


_KINDS = ("int", "uint", "float")  # each may hold those before it of no more bits


def _split_dtype(dtype):
    name = dtype.rstrip("0123456789")
    return name, int(dtype[len(name):] or 1)


def _holds(dtype, wider):
    """Whether a dtype loses nothing in another one, as TVM sees it."""
    (kind, bits), (other, more) = _split_dtype(dtype), _split_dtype(wider)
    if bits > more:
        return False
    return kind == other or kind in _KINDS and other in _KINDS and _KINDS.index(kind) < _KINDS.index(other)


def _casts(call, new, kind):
    inner = new.args[0]
    if not is_call(inner, "cast", "cast_like"):
        return None
    first, between = _dtype(inner.args[0]), _dtype(call.args[0])
    return first and between and _holds(first, between) and relay.cast(inner.args[0], kind.dtype)


def _casts_of_clip(call, new, kind):
    """Casts that change nothing of what a clip leaves go."""
    chain, clip = [], new
    while is_call(clip, "cast"):
        chain.append(clip)
        clip = clip.args[0]
    dtype = _dtype(clip)
    if not is_call(clip, "clip") or dtype is None:
        return None
    low, high = clip.attrs["a_min"], clip.attrs["a_max"]
    kept = [c.attrs["dtype"] for c in reversed(chain) if not (_bounds(c.attrs["dtype"])[0] <= low and high <= _bounds(c.attrs["dtype"])[1])]
    if (kept or [dtype])[-1] != kind.dtype:
        kept.append(kind.dtype)
    if kept == [c.attrs["dtype"] for c in reversed(chain)]:
        return None
    for to in kept:
        clip = relay.cast(clip, to)
    return clip


def _clip_of_all(call, new, kind):
    low, high = _bounds(kind.dtype)
    x = new.args[0]
    return x if new.attrs["a_min"] <= low and new.attrs["a_max"] >= high and not is_call(x, "qnn.requantize", "qnn.add") else None


def _place_of_quantised(call, new, kind):
    dequantize = new.args[0]
    if not is_call(dequantize, "qnn.dequantize") or not all(isinstance(a, relay.Constant) and a.data.size == 1 for a in dequantize.args[1:]):
        return None
    return relay.Call(new.op, [dequantize.args[0]], new.attrs)


# (operators, rewrite(call, new, type of the result)); what is false leaves the call.
_REWRITES = [
    (["zeros_like"], _zeros_like), (["ones_like"], _ones_like), (["full_like"], _full_like), (["reshape_like"], _reshape_like),
    (["collapse_sum_like"], _collapse_sum_like), (["broadcast_to_like"], _broadcast_to_like), (["cast_like"], _cast_like),
    (["add"], _sum_of_the_same), (["divide"], _rsqrt), (["add", "subtract", "multiply", "divide"], _identity),
    (["reshape", "contrib_reverse_reshape"], _reshapes), (["transpose", "layout_transform"], _transposes),
    (["transpose", "layout_transform"], _transpose_of_nothing), (["cast", "cast_like"], _cast_to_the_same), (["cast", "cast_like"], _casts),
    (_BINARY, _full_operand), (["multiply"], _multiply_before_add), (["add", "multiply"], _constants_that_meet),
    (["argmax", "argmin", "argsort"], _place_of_quantised), (["cast"], _casts_of_clip), (["clip"], _clip_of_all), (["add"], _binomial),
]
_AFTER_LAYOUTS = [row for row in _REWRITES if row[1] in (_identity, _reshapes, _cast_to_the_same, _casts, _casts_of_clip, _clip_of_all)]


class _Rewriter(relay.ExprMutator):
    """Rewrites calls. An operand that something else reads too stays: the rewrite sees a variable in its place."""

    def __init__(self, names, rewrite, uses):
        super().__init__()
        self._names, self._rewrite, self._uses = names, rewrite, uses

    def visit_call(self, call):
        new = super().visit_call(call)
        if not is_call(call, *self._names) or _type(call) is None:
            return new
        shared = {arg: self._stand_in(old) for arg, old in zip(new.args, call.args) if isinstance(arg, relay.Call) and self._is_shared(old, call)}
        if not shared:
            return self._rewrite(call, new, call.checked_type) or new
        result = self._rewrite(call, relay.same_call(new, new.op, [shared.get(arg, arg) for arg in new.args]), call.checked_type)
        return relay.bind(result, {var: arg for arg, var in shared.items()}) if result else new

    def _is_shared(self, node, call):
        return self._uses[node] > sum(arg is node for arg in call.args)

    @staticmethod
    def _stand_in(node):
        return relay.Var("shared", _type(node))


def _simplify(rewrites):
    def run(mod, _):
        names, changed = _operators_of(mod), True
        while changed:
            changed = False
            for operators, rewrite in rewrites:
                if not names.isdisjoint(operators):
                    after = function_pass("SimplifyExpr", lambda f, o=operators, r=rewrite: _Rewriter(o, r, uses_of(f)).visit(f))(mod)
                    if after is not mod:
                        mod, names, changed = after, _operators_of(after), True
        return mod
    return run


def _operators_of(mod):
    found = set()
    relay.post_order_visit(mod, lambda e: found.add(e.name) if isinstance(e, relay.Op) else None)
    return found


def SimplifyExpr():  # noqa: N802 (TVM's name)
    """A pass that simplifies arithmetic, casts, transposes and reshapes that follow each other, and what is shaped like another value."""
    from ..transform import PythonPass
    return PythonPass("SimplifyExpr", _simplify(_REWRITES))


def SimplifyExprPostAlterOp():  # noqa: N802 (TVM's name)
    """Of `SimplifyExpr`, what tidies up after AlterOpLayout."""
    from ..transform import PythonPass
    return PythonPass("SimplifyExprPostAlterOp", _simplify(_AFTER_LAYOUTS))
