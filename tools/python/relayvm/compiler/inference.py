"""Types of expressions that are no part of a module yet."""
from . import relay


def infer(expr, mod=None):
    """The expression, whose nodes know their types from here on. mod: a `Module` that has the functions and types which it names.

    Raises InvalidInput where it is wrong, or where types of variables that are not written do not follow from how they are read.
    """
    from . import Module
    if expr._type is not None and all(node._type is not None or isinstance(node, (relay.Op, relay.GlobalVar))
                                      for node in relay._post_order(expr, lambda e: e._children())):
        return expr
    function = expr if isinstance(expr, relay.Function) else relay.Function(relay._free_vars(expr), expr)
    name = "_inferred"
    taken = mod._names if mod is not None else ()
    while name in taken:
        name += "_"
    native = (mod if mod is not None else Module())._made_with({name: function})
    typed = Module(native)[name]
    ours, theirs = (relay._post_order(f, relay._parts) for f in (function, typed))
    if [type(node) for node in ours] != [type(node) for node in theirs]:
        return typed if expr is function else typed.body  # the compiler made another form of it
    for mine, other in zip(ours, theirs):
        if isinstance(mine, relay.Expr) and mine._type is None:
            relay._set(mine, "_type", other._type)
    return expr


def type_of(expr, mod=None):
    """The type of an expression; None where it does not follow."""
    from ..errors import Error
    try:
        if expr._type is None:
            expr = infer(expr, mod)
        return expr.checked_type
    except (Error, ValueError, TypeError):
        return None
