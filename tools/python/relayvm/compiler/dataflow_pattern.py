"""Patterns of programs as expressions of Python, with TVM's names: `relay.dataflow_pattern`.

    from relayvm.tvm.relay.dataflow_pattern import DFPatternCallback, is_expr, is_op, rewrite, wildcard

    conv = is_op("nn.conv2d")(wildcard(), wildcard())
    pattern = is_op("nn.bias_add")(conv, wildcard()).optional(lambda y: is_op("nn.relu")(y))
    pattern.match(mod["main"].body)
    mod = rvm.transform.MergeComposite([("mine.conv2d_bias", pattern)])(mod)

    class Halve(DFPatternCallback):
        def __init__(self):
            super().__init__()
            self.x = wildcard()
            self.pattern = is_op("divide")(self.x, is_expr(relay.const(2.0)))

        def callback(self, pre, post, node_map):
            return node_map[self.x][0] * relay.const(0.5)
    body = rewrite(Halve(), mod["main"].body)

A pattern object that stands twice in a pattern is the same value both times. add and multiply take their operands in either order, and
products and quotients in a row in either order too. How matches are found and taken: dataflow_groups.py.
Rules in Relay's syntax (`rvm.rewrite`) are the other way to say such things, which the compiler itself uses.
"""
from . import dataflow_groups, relay
from .objects import Node
from .relay import Call, Constant, Function, If, Let, Op, Tuple, TupleGetItem, Var
from .structural import structural_equal

_COMMUTATIVE = ("add", "multiply")


class DFPattern(Node):
    """What all patterns have."""

    def __call__(self, *args):
        """A call of what this matches; without operands named, `pattern(None)`, of any."""
        return CallPattern(self, None if args == (None,) else args)

    def __or__(self, other):
        return AltPattern(self, other)

    def __add__(self, other):
        return is_op("add")(self, other)

    def __sub__(self, other):
        return is_op("subtract")(self, other)

    def __mul__(self, other):
        return is_op("multiply")(self, other)

    def __truediv__(self, other):
        return is_op("divide")(self, other)

    def astext(self, show_meta_data=True, annotate=None):
        """It as text."""
        return str(self)

    def has_attr(self, attrs):
        """This, with attributes of the operator, the call or the function that have these values: {"groups": 1}."""
        return AttrPattern(self, attrs)

    def has_type(self, ttype):
        """This, of a type."""
        return TypePattern(self, ttype)

    def has_dtype(self, dtype):
        """This, a tensor of a dtype."""
        return DataTypePattern(self, dtype)

    def has_shape(self, shape):
        """This, a tensor of these dims; None stands for any."""
        return ShapePattern(self, shape)

    def optional(self, option_constructor):
        """This, or what the function makes of it."""
        return self | option_constructor(self)

    def dominates(self, parent, path=None):
        """This, where all that it is made of comes over `path` from `parent`."""
        return DominatorPattern(parent, wildcard() if path is None else path, self)

    def match(self, expr):
        """Whether an expression is one of these."""
        return match(self, expr)

    def partition(self, expr, attrs=None, check=lambda expr: True):
        """The expression with calls of functions in place of matches: `partition`."""
        return partition(self, expr, attrs, check)

    def _parts(self):
        """Patterns that it is made of."""
        return ()

    def _matches(self, matcher, expr):
        raise NotImplementedError

    def __repr__(self):
        return dataflow_groups.text(self)

    def _text(self, inner):
        return f"{type(self).__name__}({', '.join(map(inner, self._parts()))})"


class WildcardPattern(DFPattern):
    """Anything, or what it was redirected to."""

    pattern = None

    def redirect_to(self, pat):
        """From here on this matches what another pattern does, which may contain this one."""
        _check_pattern(pat)
        self.pattern = pat

    def _parts(self):
        return () if self.pattern is None else (self.pattern,)

    def _matches(self, matcher, expr):
        return self.pattern is None or matcher.match(self.pattern, expr)

    def _text(self, inner):
        return "*" if self.pattern is None else inner(self.pattern)


class ExprPattern(DFPattern):
    """This expression: an operator (`is_op`), or another of the same structure."""

    def __init__(self, expr):
        self.expr = expr

    def _matches(self, matcher, expr):
        if expr is self.expr:
            return True
        return type(expr) is type(self.expr) and not isinstance(expr, Op) and structural_equal(self.expr, expr)

    def _text(self, inner):
        return repr(self.expr)


class VarPattern(DFPattern):
    """A variable; of a name, where one is given."""

    def __init__(self, name_hint=""):
        self.name_hint = self.name = name_hint

    def _matches(self, matcher, expr):
        return isinstance(expr, Var) and self.name_hint in ("", expr.name_hint)

    def _text(self, inner):
        return f"VarPattern({self.name})"


class ConstantPattern(DFPattern):
    """A constant."""

    def _matches(self, matcher, expr):
        return isinstance(expr, Constant)


class CallPattern(DFPattern):
    """A call; args: None for any."""

    def __init__(self, op, args):
        self.op, self.args = op, None if args is None else tuple(args)
        self._others = None

    def _parts(self):
        return (self.op, *(self.args or ()))

    def _matches(self, matcher, expr):
        if not isinstance(expr, Call):
            return False
        if not matcher.match(self.op, expr.op):
            return isinstance(expr.op, Op) and self._matches_in_another_order(matcher, expr)
        if self.args is None or matcher.match_all(self.args, expr.args):
            return True
        return _operator_of(self) in _COMMUTATIVE and matcher.match_all(self.args[::-1], expr.args)

    def _matches_in_another_order(self, matcher, expr):
        """a * b / c as a * (b / c), and the other way round."""
        mine, other = _operator_of(self), expr.op.name
        if {mine, other} != {"multiply", "divide"} or self.args is None or len(self.args) != 2:
            return False
        if not any(isinstance(arg, Call) and isinstance(arg.op, Op) and arg.op.name == mine for arg in expr.args):
            return False
        if self._others is None:
            self._others = _in_another_order(self, mine, other)
        for pattern in self._others:
            if matcher.match(pattern, expr):
                return True
        return False

    def _text(self, inner):
        return f"{inner(self.op)}({'*' if self.args is None else ', '.join(map(inner, self.args))})"


def _operator_of(pattern):
    """The name of the operator that a pattern of a call names."""
    if isinstance(pattern, CallPattern) and isinstance(pattern.op, ExprPattern) and isinstance(pattern.op.expr, Op):
        return pattern.op.expr.name
    return None


def _in_another_order(pattern, mine, other):
    """Patterns of calls of `other` that have the same value as the pattern, a call of `mine`."""
    a, b = pattern.args
    if mine == "divide":
        if _operator_of(a) != other:
            return []
        return [CallPattern(a.op, [a.args[1 - i], CallPattern(pattern.op, [a.args[i], b])]) for i in range(2)]
    return [CallPattern(x.op, [CallPattern(pattern.op, [x.args[0], y]), x.args[1]]) for x, y in ((a, b), (b, a)) if _operator_of(x) == other]


class FunctionPattern(DFPattern):
    """A function; params: None for any."""

    def __init__(self, params, body):
        self.params, self.body = None if params is None else tuple(params), body

    def _parts(self):
        return (*(self.params or ()), self.body)

    def _matches(self, matcher, expr):
        if not isinstance(expr, Function) or self.params is not None and not matcher.match_all(self.params, expr.params):
            return False
        return matcher.match(self.body, expr.body)


class TuplePattern(DFPattern):
    """A tuple; fields: None for any."""

    def __init__(self, fields):
        self.fields = None if fields is None else tuple(fields)

    def __getitem__(self, index):
        return self.fields[index]

    def __len__(self):
        return len(self.fields)

    def _parts(self):
        return self.fields or ()

    def _matches(self, matcher, expr):
        return isinstance(expr, Tuple) and (self.fields is None or matcher.match_all(self.fields, expr.fields))


class TupleGetItemPattern(DFPattern):
    """A field of a tuple; index: None for any."""

    def __init__(self, tuple_value, index=None):
        self.tuple, self.index = tuple_value, index

    def _parts(self):
        return (self.tuple,)

    def _matches(self, matcher, expr):
        return isinstance(expr, TupleGetItem) and self.index in (None, expr.index) and matcher.match(self.tuple, expr.tuple_value)

    def _text(self, inner):
        return f"{inner(self.tuple)}.{'*' if self.index is None else self.index}"


class IfPattern(DFPattern):
    """An if."""

    def __init__(self, cond, true_branch, false_branch):
        self.cond, self.true_branch, self.false_branch = cond, true_branch, false_branch

    def _parts(self):
        return (self.cond, self.true_branch, self.false_branch)

    def _matches(self, matcher, expr):
        return isinstance(expr, If) and matcher.match_all(self._parts(), (expr.cond, expr.true_branch, expr.false_branch))


class LetPattern(DFPattern):
    """A let."""

    def __init__(self, var, value, body):
        self.var, self.value, self.body = var, value, body

    def _parts(self):
        return (self.var, self.value, self.body)

    def _matches(self, matcher, expr):
        return isinstance(expr, Let) and matcher.match_all(self._parts(), (expr.var, expr.value, expr.body))


class AltPattern(DFPattern):
    """One or the other; the first that matches counts."""

    def __init__(self, left, right):
        self.left, self.right = left, right

    def _parts(self):
        return (self.left, self.right)

    def _matches(self, matcher, expr):
        return matcher.match(self.left, expr) or matcher.match(self.right, expr)

    def _text(self, inner):
        return f"({inner(self.left)} | {inner(self.right)})"


class DominatorPattern(DFPattern):
    """`child`, to which every way leads from `parent` over nodes that are `path`, and none of its operands come from elsewhere."""

    def __init__(self, parent, path, child):
        self.parent, self.path, self.child = parent, path, child

    def _parts(self):
        return (self.parent, self.path, self.child)

    def _matches(self, matcher, expr):
        return matcher.match(self.child, expr) and matcher.comes_over_path(self, expr) and matcher.dominates(self.parent, expr)


class _Narrowed(DFPattern):
    def _parts(self):
        return (self.pattern,)


def _plain(value):
    if isinstance(value, (list, tuple)):
        return tuple(map(_plain, value))
    return value.value if type(value).__name__ in ("IntImm", "FloatImm", "StringImm") else value


class AttrPattern(_Narrowed):
    """A pattern, and attributes."""

    def __init__(self, pattern, attrs):
        self.pattern, self.attrs = pattern, relay.Attrs(attrs)

    def _matches(self, matcher, expr):
        if not matcher.match(self.pattern, expr):
            return False
        if isinstance(expr, Op):
            return all(expr.has_attr(name) and _plain(expr.get_attr(name)) == _plain(value) for name, value in self.attrs.items())
        if not isinstance(expr, (Call, Function)):
            return False
        attrs = expr.attrs if expr.attrs is not None else {}
        return all(name in attrs and _plain(attrs[name]) == _plain(value) for name, value in self.attrs.items())


class TypePattern(_Narrowed):
    """A pattern, and a type."""

    def __init__(self, pattern, ttype):
        self.pattern, self.type = pattern, ttype

    def _matches(self, matcher, expr):
        kind = matcher.type_of(expr)
        return kind is not None and structural_equal(kind, self.type) and matcher.match(self.pattern, expr)


class DataTypePattern(_Narrowed):
    """A pattern, and a dtype."""

    def __init__(self, pattern, dtype):
        self.pattern, self.dtype = pattern, str(dtype)

    def _matches(self, matcher, expr):
        return getattr(matcher.type_of(expr), "dtype", None) == self.dtype and matcher.match(self.pattern, expr)


class ShapePattern(_Narrowed):
    """A pattern, and a shape."""

    def __init__(self, pattern, shape):
        self.pattern, self.shape = pattern, list(shape)

    def _matches(self, matcher, expr):
        shape = getattr(matcher.type_of(expr), "shape", None)
        if shape is None or len(shape) != len(self.shape):
            return False
        return all(w is None or structural_equal(w, d) for w, d in zip(self.shape, shape)) and matcher.match(self.pattern, expr)


def wildcard():
    """Anything."""
    return WildcardPattern()


def is_op(op_name):
    """An operator, to be called with patterns of its operands: is_op("nn.relu")(wildcard())."""
    return ExprPattern(relay.op.get(op_name))


def is_expr(expr):
    """This node; what has the same structure is one too, such as a constant of the same elements."""
    return ExprPattern(expr)


def is_var(name=""):
    """A variable, of that name where one is given."""
    return VarPattern(name)


def is_constant():
    """A constant."""
    return ConstantPattern()


def is_tuple(fields=None):
    """A tuple of these fields, or of any."""
    return TuplePattern(fields)


def is_tuple_get_item(tuple_value, index=None):
    """A field of a tuple: of that index, or any."""
    return TupleGetItemPattern(tuple_value, index)


def is_if(cond, true_branch, false_branch):
    """An if of these parts."""
    return IfPattern(cond, true_branch, false_branch)


def is_let(var, value, body):
    """A let of these parts."""
    return LetPattern(var, value, body)


def has_attr(attrs, pattern=None):
    """A pattern (any), with attributes."""
    return (wildcard() if pattern is None else pattern).has_attr(attrs)


def has_type(ttype, pattern=None):
    """A pattern (any), of a type."""
    return (wildcard() if pattern is None else pattern).has_type(ttype)


def has_dtype(dtype, pattern=None):
    """A pattern (any), of a dtype."""
    return (wildcard() if pattern is None else pattern).has_dtype(dtype)


def has_shape(shape, pattern=None):
    """A pattern (any), of a shape."""
    return (wildcard() if pattern is None else pattern).has_shape(shape)


def dominates(parent, path, child):
    """`child`, all of whose operands come from `parent` over nodes that are `path`."""
    return DominatorPattern(parent, path, child)


def _check_pattern(pattern):
    if not isinstance(pattern, DFPattern):
        raise TypeError(f"expected a pattern (relay.dataflow_pattern), found {type(pattern).__name__}")


def match(pattern, expr):
    """Whether an expression is what a pattern describes."""
    _check_pattern(pattern)
    return dataflow_groups.Matcher(expr, pattern).matches(expr)


class DFPatternCallback:
    """A rewriting: subclasses set `pattern`, and give what stands in place of a match by `callback`.

    require_type: whether nodes know their types in `callback`. rewrite_once: whether it is over when something was rewritten.
    """

    def __init__(self, require_type=False, rewrite_once=False):
        self.pattern, self.require_type, self.rewrite_once = None, require_type, rewrite_once

    def rewrite(self, expr):
        """The expression, rewritten: `rewrite`."""
        return rewrite(self, expr)

    def callback(self, pre, post, node_map):
        """What stands in place of a match. pre: the match; post: the same of rewritten operands; node_map: {pattern: [expressions that it
        stood for, of rewritten operands]}."""
        raise NotImplementedError("DFPatternCallback: subclasses define callback(pre, post, node_map)")


def rewrite(callbacks, expr, mod=None):
    """The expression after rewriting by a `DFPatternCallback`, or several, until nothing changes any more. mod: a module that has the functions
    and types which the expression names."""
    callbacks = [callbacks] if isinstance(callbacks, DFPatternCallback) else list(callbacks)
    for callback in callbacks:
        if callback.pattern is None:
            raise ValueError(f"rewrite: {type(callback).__name__} has no pattern")
        _check_pattern(callback.pattern)
    return dataflow_groups.rewrite(callbacks, expr, mod)


def partition(pattern, expr, attrs=None, check=lambda expr: True):
    """The expression with a call of a function in place of each match.

    The function has the attribute PartitionedFromPattern (its operators) and `attrs`; its parameters are what the pattern leaves open. What
    others read of a match, beside its result, is no match, unless all of it comes back to the match. check: called with the matched
    expression, says whether it is taken.
    """
    _check_pattern(pattern)
    return dataflow_groups.partition(pattern, expr, dict(attrs or {}), check)


def _merge_composites(table, fn):
    """A function after the (name, pattern[, predicate]) of a table, in their order."""
    for _, pattern, *_ in table:
        _check_pattern(pattern)
    return dataflow_groups.merge_composites(table, fn)


__all__ = ["AltPattern", "AttrPattern", "CallPattern", "ConstantPattern", "DFPattern", "DFPatternCallback", "DataTypePattern", "DominatorPattern",
           "ExprPattern", "FunctionPattern", "IfPattern", "LetPattern", "ShapePattern", "TupleGetItemPattern", "TuplePattern", "TypePattern",
           "VarPattern", "WildcardPattern", "dominates", "has_attr", "has_dtype", "has_shape", "has_type", "is_constant", "is_expr", "is_if",
           "is_let", "is_op", "is_tuple", "is_tuple_get_item", "is_var", "match", "partition", "rewrite", "wildcard"]
