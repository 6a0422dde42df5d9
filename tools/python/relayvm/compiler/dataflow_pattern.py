"""Patterns of programs as expressions of Python, with TVM's names: `relay.dataflow_pattern`.

    from relayvm.relay.dataflow_pattern import is_op, wildcard

    conv = is_op("nn.conv2d")(wildcard(), wildcard())
    pattern = is_op("nn.bias_add")(conv, wildcard()).optional(lambda y: is_op("nn.relu")(y))
    pattern.match(mod["main"].body)
    mod = rvm.transform.MergeComposite([("mine.conv2d_bias", pattern)])(mod)

A pattern object that stands twice in a pattern is the same value both times. add and multiply take their operands in either order.
Rules in Relay's syntax (`rvm.rewrite`) are the other way to say such things, which the compiler itself uses.
"""
from . import relay
from .relay import Call, Constant, Expr, ExprMutator, Function, Op, Tuple, TupleGetItem, Var, _post_order

_COMMUTATIVE = ("add", "multiply")


class DFPattern:
    """What all patterns have."""

    _is_inside = False  # whether what it matches is part of a match; else it is an operand of it

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

    def has_attr(self, attrs):
        """This, with attributes of the call or the function that have these values: {"groups": 1}."""
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

    def match(self, expr):
        """Whether an expression is one of these."""
        return match(self, expr)

    def partition(self, expr, attrs=None, check=lambda expr: True):
        """The expression with calls of functions in place of matches: `partition`."""
        return partition(self, expr, attrs, check)

    def _matches(self, matcher, expr):
        raise NotImplementedError


class WildcardPattern(DFPattern):
    """Anything."""

    def _matches(self, matcher, expr):
        return True


class ExprPattern(DFPattern):
    """This expression: an operator (`is_op`), or a constant of the same elements."""

    def __init__(self, expr):
        self.expr = expr

    def _matches(self, matcher, expr):
        if isinstance(self.expr, Constant) and isinstance(expr, Constant):
            mine, other = self.expr, expr
            return mine.checked_type == other.checked_type and bool((mine.data == other.data).all())
        return expr is self.expr


class VarPattern(DFPattern):
    """A variable; of a name, where one is given."""

    def __init__(self, name_hint=""):
        self.name_hint = name_hint

    def _matches(self, matcher, expr):
        return isinstance(expr, Var) and self.name_hint in ("", expr.name_hint)


class ConstantPattern(DFPattern):
    """A constant."""

    def _matches(self, matcher, expr):
        return isinstance(expr, Constant)


class CallPattern(DFPattern):
    """A call; args: None for any."""

    _is_inside = True

    def __init__(self, op, args):
        self.op, self.args = op, None if args is None else tuple(args)

    def _matches(self, matcher, expr):
        if not isinstance(expr, Call) or not matcher.match(self.op, expr.op):
            return False
        if self.args is None or matcher.match_all(self.args, expr.args):
            return True
        is_commutative = isinstance(expr.op, Op) and expr.op.name in _COMMUTATIVE
        return is_commutative and matcher.match_all(self.args[::-1], expr.args)


class TuplePattern(DFPattern):
    """A tuple; fields: None for any."""

    _is_inside = True

    def __init__(self, fields):
        self.fields = None if fields is None else tuple(fields)

    def _matches(self, matcher, expr):
        return isinstance(expr, Tuple) and (self.fields is None or matcher.match_all(self.fields, expr.fields))


class TupleGetItemPattern(DFPattern):
    """A field of a tuple; index: None for any."""

    _is_inside = True

    def __init__(self, tuple_value, index=None):
        self.tuple, self.index = tuple_value, index

    def _matches(self, matcher, expr):
        return isinstance(expr, TupleGetItem) and self.index in (None, expr.index) and matcher.match(self.tuple, expr.tuple_value)


class AltPattern(DFPattern):
    """One or the other; the first that matches counts."""

    def __init__(self, left, right):
        self.left, self.right = left, right

    def _matches(self, matcher, expr):
        return matcher.match(self.left, expr) or matcher.match(self.right, expr)


class _Narrowed(DFPattern):
    def __init__(self, pattern, wanted):
        self.pattern, self.wanted = pattern, wanted

    def _matches(self, matcher, expr):
        return matcher.match(self.pattern, expr) and self._fits(expr)


def _plain(value):
    return tuple(map(_plain, value)) if isinstance(value, (list, tuple)) else value


class AttrPattern(_Narrowed):
    """A pattern, and attributes."""

    def _fits(self, expr):
        if isinstance(expr, Call):
            attrs = expr.attrs if isinstance(expr.op, Op) else getattr(expr.op, "attrs", None)
        else:
            attrs = expr.attrs if isinstance(expr, Function) else None
        return attrs is not None and all(name in attrs and _plain(attrs[name]) == _plain(value) for name, value in dict(self.wanted).items())


class TypePattern(_Narrowed):
    """A pattern, and a type."""

    def _fits(self, expr):
        return expr.checked_type == self.wanted


class DataTypePattern(_Narrowed):
    """A pattern, and a dtype."""

    def _fits(self, expr):
        return getattr(expr.checked_type, "dtype", None) == str(self.wanted)


class ShapePattern(_Narrowed):
    """A pattern, and a shape."""

    def _fits(self, expr):
        shape = getattr(expr.checked_type, "shape", None)
        return shape is not None and len(shape) == len(self.wanted) and all(w is None or w == d for w, d in zip(self.wanted, shape))


def wildcard():
    """Anything."""
    return WildcardPattern()


def is_op(op_name):
    """An operator, to be called with patterns of its operands: is_op("nn.relu")(wildcard())."""
    return ExprPattern(relay.op.get(op_name))


def is_expr(expr):
    """This node; a constant of the same elements is one too."""
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


def has_attr(attrs, pattern=None):
    """A pattern (any), with attributes."""
    return (pattern or wildcard()).has_attr(attrs)


def has_type(ttype, pattern=None):
    """A pattern (any), of a type."""
    return (pattern or wildcard()).has_type(ttype)


def has_dtype(dtype, pattern=None):
    """A pattern (any), of a dtype."""
    return (pattern or wildcard()).has_dtype(dtype)


def has_shape(shape, pattern=None):
    """A pattern (any), of a shape."""
    return (pattern or wildcard()).has_shape(shape)


class _Matcher:
    """What each pattern stands for, of one match."""

    def __init__(self):
        self.found = {}

    def match(self, pattern, expr):
        if pattern in self.found:
            return self.found[pattern] is expr
        before = len(self.found)
        if pattern._matches(self, expr):
            self.found[pattern] = expr
            return True
        self._forget(before)
        return False

    def match_all(self, patterns, exprs):
        before = len(self.found)
        if len(patterns) == len(exprs) and all(map(self.match, patterns, exprs)):
            return True
        self._forget(before)
        return False

    def _forget(self, size):
        while len(self.found) > size:
            self.found.popitem()

    def inside(self):
        """Nodes that are part of the match."""
        return {expr for pattern, expr in self.found.items() if pattern._is_inside}


def _check_pattern(pattern):
    if not isinstance(pattern, DFPattern):
        raise TypeError(f"expected a pattern (relay.dataflow_pattern), found {type(pattern).__name__}")


def match(pattern, expr):
    """Whether an expression is what a pattern describes."""
    _check_pattern(pattern)
    return _Matcher().match(pattern, expr)


# --- Functions in place of matches ---


def _parts(node):
    """What a node is made of; composites are done."""
    return () if isinstance(node, Function) and "Composite" in node.attrs else node._children()


class _Composites(ExprMutator):
    """Calls of functions in place of the roots of groups, {root: nodes inside}. All keeps its type."""

    def __init__(self, groups, attrs):
        super().__init__()
        self._groups, self._attrs = groups, attrs
        self._numbers = {root: i for i, root in enumerate(groups)}

    def visit(self, expr):
        result = super().visit(expr)
        if result is not expr and isinstance(result, Expr) and result._type is None:
            relay._set(result, "_type", expr._type)
        return result

    def visit_function(self, fn):
        return fn if "Composite" in fn.attrs else super().visit_function(fn)

    def visit_call(self, call):
        return self._made(call) if call in self._groups else super().visit_call(call)

    def visit_tuple(self, expr):
        return self._made(expr) if expr in self._groups else super().visit_tuple(expr)

    def visit_tuple_getitem(self, expr):
        return self._made(expr) if expr in self._groups else super().visit_tuple_getitem(expr)

    def _made(self, root):
        inside, number = self._groups[root], self._numbers[root]
        body, params, args, seen = _Body(), [], [], set()

        def take(node):  # what the innermost reads comes first
            seen.add(node)
            children = [child for child in node._children() if not isinstance(child, Op)]
            for child in children:
                if child in inside and child not in seen:
                    take(child)
            for child in children:
                is_number = isinstance(child, Constant) and not child.checked_type.shape
                if child in inside or child in body.memo_map or is_number:
                    continue
                param = Var(f"FunctionVar_{number}_{len(params)}", child.checked_type if child._type is not None else None)
                body.memo_map[child] = param
                params.append(param)
                args.append(self.visit(child))

        take(root)
        names = [node.op.name + "_" for node in _post_order(root, lambda e: e._children() if e in inside else ())
                 if node in inside and isinstance(node, Call) and isinstance(node.op, Op)]
        attrs = {"PartitionedFromPattern": "".join(names), **self._attrs}
        return Call(Function(params, body.visit(root), attrs=attrs), args, span=root.span)


class _Body(ExprMutator):
    """A copy of what is inside; parameters are in its memo_map."""


class _WithoutLets(ExprMutator):
    """Values without effects stand where they are read."""

    def visit_let(self, let):
        chain = []
        while isinstance(let, relay.Let):
            value = self.visit(let.value)
            if isinstance(value, (Constant, Tuple, TupleGetItem, Var)) or isinstance(value, Call) and isinstance(value.op, Op):
                self.memo_map[let.var] = value
            else:
                chain.append((let, value))
            let = let.body
        body = self.visit(let)
        for old, value in reversed(chain):
            body = relay.Let(old.var, value, body, old.span)
        return body

    def visit(self, expr):
        result = super().visit(expr)
        if result is not expr and isinstance(result, Expr) and result._type is None:
            relay._set(result, "_type", expr._type)
        return result


def _groups_of(pattern, expr, check):
    """{root: nodes} of matches that have no node in common, the outermost first, whose nodes nobody else reads."""
    order = _post_order(expr, _parts)
    users, groups, taken = {}, {}, set()
    for node in order:
        for part in _parts(node):
            users.setdefault(part, set()).add(node)
    for node in reversed(order):
        if node in taken or not isinstance(node, (Call, Tuple, TupleGetItem)):
            continue
        matcher = _Matcher()
        if not matcher.match(pattern, node):
            continue
        inside = matcher.inside()
        is_free = node in inside and not inside & taken
        if is_free and all(users.get(part, set()) <= inside for part in inside if part is not node) and check(node):
            groups[node] = inside
            taken |= inside
    return groups


def partition(pattern, expr, attrs=None, check=lambda expr: True):
    """The expression with a call of a function in place of each match.

    The function has the attribute PartitionedFromPattern (its operators) and `attrs`; its parameters are what the match reads, tensors
    that are constant too. What others read of a match, beside its result, is no match. check: called with the matched expression, says
    whether it is one.
    """
    _check_pattern(pattern)
    groups = _groups_of(pattern, expr, check)
    return _Composites(groups, dict(attrs or {})).visit(expr) if groups else expr


def _merge_composites(table, fn):
    """A function after the (name, pattern[, predicate]) of a table, in their order."""
    result = fn
    if any(isinstance(node, relay.Let) for node in _post_order(fn, _parts)):
        result = _WithoutLets().visit(fn)
    merged = result
    for name, pattern, *check in table:
        _check_pattern(pattern)
        merged = partition(pattern, merged, {"Composite": name}, *check)
    return fn if merged is result else merged


__all__ = ["AltPattern", "AttrPattern", "CallPattern", "ConstantPattern", "DFPattern", "DataTypePattern", "ExprPattern", "ShapePattern",
           "TupleGetItemPattern", "TuplePattern", "TypePattern", "VarPattern", "WildcardPattern", "has_attr", "has_dtype", "has_shape",
           "has_type", "is_constant", "is_expr", "is_op", "is_tuple", "is_tuple_get_item", "is_var", "match", "partition", "wildcard"]
