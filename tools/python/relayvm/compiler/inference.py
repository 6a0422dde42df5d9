"""Types of expressions that are no part of a module yet."""
from . import relay


def _is_open(node):
    """Whether its type is not known."""
    return getattr(node, "_type", node) is None and not isinstance(node, (relay.Op, relay.GlobalVar, relay.Constructor))


class _Copy(relay.ExprMutator):
    """Nodes of new operands, asked for one at a time."""

    def __init__(self, known):
        super().__init__()
        self._depth = 1
        self.memo_map.update(known)


def infer(expr, mod=None):
    """The expression, whose nodes know their types from here on: those that do already are taken as they are.

    mod: a `Module` that has the functions and types which it names. Raises InvalidInput where it is wrong, or where types of variables
    that are not written do not follow from how they are read.
    """
    from . import Module
    if not _is_open(expr):
        return expr
    order = relay._post_order(expr, lambda e: e._children() if _is_open(e) else ())
    known = {node: relay.Var(f"known{i}", node.checked_type) for i, node in enumerate(order)
             if not _is_open(node) and not isinstance(node, (relay.Op, relay.Constant, relay.GlobalVar, relay.Constructor))}
    copy = _Copy(known)
    made = {copy.visit(node): node for node in order if _is_open(node)}
    body = copy.memo_map[expr]
    function = relay.Function(relay._free_vars(body), body)
    name = "_inferred"
    while mod is not None and name in mod._names:
        name += "_"
    typed = Module((mod if mod is not None else Module())._made_with({name: function}))[name]
    ours, theirs = (relay._post_order(f, relay._parts) for f in (function, typed))
    if [type(node) for node in ours] != [type(node) for node in theirs]:
        ours, theirs = [body], [typed.body]  # the compiler made another form of it
    for mine, other in zip(ours, theirs):
        if mine in made:
            relay._set(made[mine], "_type", other._type)
    return expr


def type_of(expr, mod=None):
    """The type of an expression; None where it does not follow."""
    from ..errors import Error
    try:
        return infer(expr, mod).checked_type
    except (Error, ValueError, TypeError):
        return None
