"""ToMixedPrecision and recast: programs that compute in another dtype.

Of each operator a function says what is done (`register_mixed_precision_conversion`): MIXED_PRECISION_ALWAYS computes in the new dtype,
MIXED_PRECISION_NEVER in float32, MIXED_PRECISION_FOLLOW in the new one where all its float operands have it or can be cast for nothing.
"""
import sys
import warnings

from .. import relay
from ..extracts import count_layers
from ..relay import Call, Constant, ExprMutator, Function, If, Let, Match, Op, TensorType, Tuple, TupleGetItem, TupleType, Var, _set
from ..typed import typed_function
from ._make import expression_pass

__all__ = ["ToMixedPrecision", "mixed_precision", "recast"]

mixed_precision = sys.modules[__name__]  # where TVM has what follows

MIXED_PRECISION_ALWAYS, MIXED_PRECISION_FOLLOW, MIXED_PRECISION_NEVER = 0, 1, 2

DEFAULT_ALWAYS_LIST = """nn.batch_matmul nn.conv1d nn.conv1d_transpose nn.conv2d nn.conv2d_transpose nn.conv3d nn.conv3d_transpose nn.dense
    nn.matmul""".split()
DEFAULT_FOLLOW_LIST = """add argmax argmin argwhere broadcast_to_like cast cast_like concatenate copy divide dyn.broadcast_to dyn.full
    dyn.reshape dyn.strided_slice dyn.tile expand_dims fast_erf fast_exp fast_tanh full greater greater_equal image.resize2d less less_equal max
    maximum min minimum multiply nn.adaptive_max_pool1d nn.adaptive_max_pool2d nn.adaptive_max_pool3d nn.avg_pool1d nn.avg_pool2d nn.avg_pool3d
    nn.batch_flatten nn.batch_norm nn.bias_add nn.depth_to_space nn.dropout nn.global_max_pool2d nn.leaky_relu nn.max_pool1d nn.max_pool2d
    nn.max_pool3d nn.pad nn.prelu nn.relu nn.space_to_depth reshape scatter_elements scatter_nd shape_of sigmoid split sqrt squeeze strided_slice
    subtract take tanh tile transpose where zeros""".split()
# Whose results may be far greater than their operands, or that add many numbers up.
DEFAULT_NEVER_LIST = """arange erf exp mean nn.adaptive_avg_pool1d nn.adaptive_avg_pool2d nn.adaptive_avg_pool3d nn.cross_entropy
    nn.cross_entropy_with_logits nn.global_avg_pool2d nn.l2_normalize nn.layer_norm nn.softmax power sum variance""".split()
_KEY = "FTVMMixedPrecisionConversionType"
_GREATEST = {"float16": 65504.0}


def register_mixed_precision_conversion(op_name, func=None, level=10):
    """Says how an operator is converted, or a decorator: func(call, dtype) gives [one of the three ways, the dtype to add up in, the
    dtype of the result]."""
    def register(function):
        Op.get(op_name).set_attr(_KEY, function, level)
        return function
    return register if func is None else register(func)


def register_func_to_op_list(list_ops):
    """A decorator of a function that says it of several operators."""
    def decorate(function):
        for name in list_ops:
            register_mixed_precision_conversion(name, function)
        return function
    return decorate


def get_generic_out_dtypes(call_node, mixed_precision_type):
    """[the dtype to add up in, the dtype of the result] of most operators."""
    return [mixed_precision_type, mixed_precision_type]


def _way(category):
    def say(call_node, mixed_precision_type):
        """[the category, the dtype to add up in, the dtype of the result] of a call."""
        return [category, *get_generic_out_dtypes(call_node, mixed_precision_type)]
    return say


generic_always_op, generic_follow_op, generic_never_op = map(_way, (MIXED_PRECISION_ALWAYS, MIXED_PRECISION_FOLLOW, MIXED_PRECISION_NEVER))


def _clip(call_node, mixed_precision_type):
    """clip: in the new dtype where that has the bounds."""
    greatest = _GREATEST.get(mixed_precision_type)
    fits = greatest is None or max(abs(call_node.attrs.a_min), abs(call_node.attrs.a_max)) <= greatest
    return (generic_follow_op if fits else generic_never_op)(call_node, mixed_precision_type)


for _names, _function in ((DEFAULT_ALWAYS_LIST, generic_always_op), (DEFAULT_FOLLOW_LIST, generic_follow_op),
                          (DEFAULT_NEVER_LIST, generic_never_op), (["clip"], _clip)):
    for _name in _names:
        register_mixed_precision_conversion(_name, _function, 0)


# --- The pass ---


def _is_float(dtype):
    return dtype.startswith(("float", "bfloat"))


def _with_dtype(kind, dtype):
    """The type with another dtype where it has floats."""
    if isinstance(kind, TensorType):
        return TensorType(kind.shape, dtype) if _is_float(kind.dtype) and kind.dtype != dtype else kind
    return TupleType([_with_dtype(k, dtype) for k in kind.fields]) if isinstance(kind, TupleType) else kind


def _has_dtype(kind, dtype):
    """Whether its floats are of a dtype."""
    if isinstance(kind, TensorType):
        return not _is_float(kind.dtype) or kind.dtype == dtype
    return not isinstance(kind, TupleType) or all(_has_dtype(k, dtype) for k in kind.fields)


def _same_dtypes(a, b):
    if isinstance(a, TensorType) and isinstance(b, TensorType):
        return a.dtype == b.dtype
    if isinstance(a, TupleType) and isinstance(b, TupleType):
        return all(map(_same_dtypes, a.fields, b.fields))
    if isinstance(a, relay.FuncType) and isinstance(b, relay.FuncType):
        return _same_dtypes(a.ret_type, b.ret_type)
    return True


class _Converter(ExprMutator):
    """New nodes have types: those that they will have."""

    def __init__(self, dtype):
        super().__init__()
        self._dtype, self._casts, self.missing = dtype, {}, {}

    def _typed(self, node, kind):
        if node._type is None:
            _set(node, "_type", kind)
        return node

    def _cast(self, x, dtype):
        kind = x.checked_type
        if isinstance(kind, TupleType) and not _has_dtype(kind, dtype):
            fields = x.fields if isinstance(x, Tuple) else [self._typed(TupleGetItem(x, i), k) for i, k in enumerate(kind.fields)]
            fields = [self._cast(f, dtype) for f in fields]
            return self._typed(Tuple(fields), TupleType([f.checked_type for f in fields]))
        if not isinstance(kind, TensorType) or _has_dtype(kind, dtype):
            return x
        if (x, dtype) not in self._casts:
            made = self._typed(relay.cast(x, dtype), TensorType(kind.shape, dtype))
            self._casts[x, dtype], self._casts[made, kind.dtype] = made, x
        return self._casts[x, dtype]

    def _as(self, x, kind):
        """With the dtypes of a type."""
        if isinstance(kind, TensorType):
            return self._cast(x, kind.dtype) if _is_float(kind.dtype) else x
        if isinstance(kind, TupleType) and not _same_dtypes(kind, x.checked_type):
            fields = x.fields if isinstance(x, Tuple) else [self._typed(TupleGetItem(x, i), k) for i, k in enumerate(x.checked_type.fields)]
            return self._typed(Tuple([self._as(f, k) for f, k in zip(fields, kind.fields)]), kind)
        return x

    def visit_call(self, call):
        if not isinstance(call.op, Op):
            return self._call_of_function(call)
        args = [self.visit(a) for a in call.args]
        category, accumulated, result = self._category(call)
        if category == MIXED_PRECISION_FOLLOW:
            follows = all(isinstance(a, (Var, Constant)) or _has_dtype(a.checked_type, self._dtype) for a in args)
            category = MIXED_PRECISION_ALWAYS if follows else MIXED_PRECISION_NEVER
        if category == MIXED_PRECISION_NEVER:
            return self._made(call, [self._cast(a, "float32") for a in args], call.attrs, "float32")
        args = [self._cast(a, self._dtype) for a in args]
        made = self._made(call, args, self._attrs(call, accumulated), accumulated)
        return self._cast(made, result) if accumulated != result else made

    def _category(self, call):
        say = call.op.get_attr(_KEY)
        if say is None:
            self.missing[call.op.name] = self.missing.get(call.op.name, 0) + 1
            return MIXED_PRECISION_FOLLOW, self._dtype, self._dtype
        told = say(call, self._dtype)
        if len(told) != 3:
            raise ValueError(f"ToMixedPrecision: expected [way, dtype to add up in, dtype] of {call.op.name}, found {told}")
        return told

    @staticmethod
    def _attrs(call, accumulated):
        attrs = dict(call.attrs)
        if "out_dtype" in attrs and (not attrs["out_dtype"] or _is_float(attrs["out_dtype"])):
            attrs["out_dtype"] = accumulated
        if call.op.name in ("zeros", "ones", "full", "dyn.zeros", "dyn.ones", "dyn.full") and (not attrs["dtype"] or _is_float(attrs["dtype"])):
            attrs["dtype"] = accumulated
        return attrs

    def _made(self, call, args, attrs, dtype):
        told = attrs.get("out_dtype") or attrs.get("dtype")
        kind = _with_dtype(call.checked_type, told if told and _is_float(told) else dtype)
        if all(a is b for a, b in zip(args, call.args)) and dict(attrs) == dict(call.attrs):
            return call
        return self._typed(Call(call.op, args, attrs, span=call.span), kind)

    def _call_of_function(self, call):
        """Of a function: its parameters keep their types; what a literal gives may have another one."""
        callee = self.visit(call.op)
        args = [self._as(self.visit(a), a.checked_type) for a in call.args]
        kind = callee.body.checked_type if isinstance(callee, Function) else call.checked_type
        if callee is call.op and all(a is b for a, b in zip(args, call.args)):
            return call
        return self._typed(Call(callee, args, span=call.span), kind)

    def visit_function(self, fn):
        body = self.visit(fn.body)
        if body is fn.body:
            return fn
        new = Function(fn.params, body, None, fn.type_params, fn.attrs, fn.span, name=fn.name)
        return self._typed(new, relay.FuncType([p.checked_type for p in fn.params], body.checked_type, fn.type_params))

    def _kept(self, fn):
        """A function that is called by a name: its result keeps its type."""
        body = self.visit(fn.body)
        kept = self._as(body, fn.body.checked_type)
        return fn if kept is fn.body else self._typed(Function(fn.params, kept, fn.ret_type, fn.type_params, fn.attrs, fn.span), fn.checked_type)

    def visit_tuple(self, expr):
        new = super().visit_tuple(expr)
        return new if new is expr else self._typed(new, TupleType([f.checked_type for f in new.fields]))

    def visit_tuple_getitem(self, expr):
        new = super().visit_tuple_getitem(expr)
        return new if new is expr else self._typed(new, new.tuple_value.checked_type.fields[new.index])

    def visit_let(self, let):
        lets = []
        while isinstance(let, Let):
            value = self._kept(let.value) if isinstance(let.value, Function) else self.visit(let.value)
            kind = value.checked_type
            var = let.var
            if not _same_dtypes(kind, var.checked_type):
                var = Var(var.name_hint, kind if var.type_annotation is not None else None, var.span)
                _set(var, "_type", kind)
            self.memo_map[let.var] = var
            lets.append((let, var, value))
            let = let.body
        result = self.visit(let)
        for old, var, value in reversed(lets):
            same = var is old.var and value is old.value and result is old.body
            result = old if same else Let(var, value, result, old.span)
        return result

    def visit_if(self, expr):
        cond = self.visit(expr.cond)
        yes, no = (self._as(self.visit(e), expr.checked_type) for e in (expr.true_branch, expr.false_branch))
        if cond is expr.cond and yes is expr.true_branch and no is expr.false_branch:
            return expr
        return self._typed(If(cond, yes, no, expr.span), expr.checked_type)

    def visit_match(self, expr):
        data = self._as(self.visit(expr.data), expr.data.checked_type)
        clauses = [relay.Clause(c.lhs, self._as(self.visit(c.rhs), expr.checked_type)) for c in expr.clauses]
        return self._typed(Match(data, clauses, expr.complete, expr.span), expr.checked_type)

    def _of_references(self, expr, make):
        parts = [self._as(self.visit(p), p.checked_type) for p in expr._children()]
        return expr if all(a is b for a, b in zip(parts, expr._children())) else self._typed(make(*parts, expr.span), expr.checked_type)

    def visit_ref_create(self, expr):
        return self._of_references(expr, relay.RefCreate)

    def visit_ref_read(self, expr):
        return self._of_references(expr, relay.RefRead)

    def visit_ref_write(self, expr):
        return self._of_references(expr, relay.RefWrite)


def _converted(fn, dtype, missing_op_mode, keeps_results):
    converter = _Converter(dtype)
    body = converter.visit(fn.body)
    if converter.missing and missing_op_mode != 2:
        text = "ToMixedPrecision: nothing is said of " + ", ".join(f"{name} ({n} times)" for name, n in converter.missing.items())
        if missing_op_mode == 0:
            raise ValueError(text + "; relay.op.register_mixed_precision_conversion says it")
        warnings.warn(text + "; they follow their operands", stacklevel=2)
    if keeps_results:
        body = converter._as(body, fn.body.checked_type)
    return fn if body is fn.body else Function(fn.params, body, None, fn.type_params, fn.attrs, fn.span, name=fn.name)


def ToMixedPrecision(mixed_precision_type="float16", missing_op_mode=1):  # noqa: N802 (TVM's name)
    """A pass after which operators compute in another float dtype where that is good for them.

    missing_op_mode: what is done where nothing is said of an operator: 0 an error, 1 a warning, 2 nothing. The context's setting
    relay.ToMixedPrecision.keep_orig_output_dtype: results keep their dtypes. `compile(precision=...)` does the same natively.
    """
    if not _is_float(mixed_precision_type):
        raise ValueError(f"ToMixedPrecision: expected a float dtype, found {mixed_precision_type}")
    if missing_op_mode not in (0, 1, 2):
        raise ValueError(f"ToMixedPrecision: missing_op_mode is 0, 1 or 2, found {missing_op_mode}")

    def change(fn):
        from .. import PassContext
        keeps = bool(PassContext.current().tvm_config.get("relay.ToMixedPrecision.keep_orig_output_dtype", False))
        return _converted(fn, mixed_precision_type, missing_op_mode, keeps)
    return expression_pass("ToMixedPrecision", change)


# --- recast ---


class _Recaster(ExprMutator):
    def __init__(self, dtype, out_dtype, ops, count, skip):
        super().__init__()
        self._dtype, self._out_dtype, self._ops, self._count = dtype, out_dtype, ops, count
        self._skip = {layer % count if count and layer < 0 else layer for layer in skip}
        self._of = 0  # how many of them stand behind a node

    def visit_call(self, call):
        layer = self._count - self._of - 1
        is_one = isinstance(call.op, Op) and call.op.name in self._ops
        here, args = self._of, []
        self._of += is_one
        callee = self.visit(call.op)
        for arg in call.args:
            args.append(self.visit(arg))
            self._of = here  # as count_layers counts
        if not is_one or layer in self._skip:
            return Call(callee, args, call.attrs if isinstance(callee, Op) else None, span=call.span)
        attrs = dict(call.attrs)
        before = attrs.get("out_dtype") or _dtype_of(call)
        if "out_dtype" in attrs:
            attrs["out_dtype"] = self._out_dtype
        return relay.cast(Call(callee, [self._cast(a) for a in args], attrs, span=call.span), before)

    def _cast(self, x):
        return Tuple([self._cast(f) for f in x.fields]) if isinstance(x, Tuple) else relay.cast(x, self._dtype)


def _dtype_of(call):
    if call._type is None:
        call = typed_function(Function(relay._free_vars(call), call)).body
    return call.checked_type.dtype


def recast(expr, dtype, out_dtype, ops=None, skip_layers=None):
    """An expression, or module, in which these operators compute in another dtype: what they read and give is cast, whatever becomes of it.

    out_dtype: that in which they add up, where they say so. ops: their names; None for nn.conv2d. skip_layers: which of them stay: the number of a layer, 0 that of the input,
    negative from the output.
    """
    body = expr["main"] if not isinstance(expr, relay.Expr) else expr
    ops = ["nn.conv2d"] if ops is None else list(ops)
    made = _Recaster(dtype, out_dtype, set(ops), count_layers(body, ops), skip_layers or ()).visit(body)
    return made if isinstance(expr, relay.Expr) else expr._changed_to({"main": made}, "recast")
