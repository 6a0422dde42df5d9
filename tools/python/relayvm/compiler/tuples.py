"""Tuples of tuples as lists of tensors and back."""
from . import relay


def flatten_tuple_type(ty):
    """The tensor types in a type, depth first."""
    return [part for field in ty.fields for part in flatten_tuple_type(field)] if isinstance(ty, relay.TupleType) else [ty]


def from_tuple_type(ty, expr):
    """Expressions for the tensors in an expression of that type, depth first."""
    if not isinstance(ty, relay.TupleType):
        return [expr]
    return [part for i, field in enumerate(ty.fields) for part in from_tuple_type(field, relay.TupleGetItem(expr, i))]


def to_tuple_type(ty, exprs):
    """An expression of that type, of expressions for the tensors in it."""
    rest = iter(exprs)

    def made(kind):
        return relay.Tuple([made(field) for field in kind.fields]) if isinstance(kind, relay.TupleType) else next(rest)
    return made(ty)
