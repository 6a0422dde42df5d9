"""Natural numbers as the type nat of nat.rly: zero, succ(zero) ..."""
from ....adt import Adt


def get_type(prelude, name):
    """(the type's GlobalTypeVar, its constructors ...)."""
    return prelude.mod.get_type(name)


def count(prelude, n):
    """The number that a value or an expression of nat is."""
    number = 0
    while True:
        fields = n.fields if isinstance(n, Adt) else n.args
        if not fields:
            return number
        number, n = number + 1, fields[0]


def make_nat_value(prelude, n):
    """The value of a number."""
    _, zero, succ = prelude.mod.get_type("nat")
    value = Adt(zero.name_hint)
    for _ in range(n):
        value = Adt(succ.name_hint, value)
    return value


def make_nat_expr(prelude, n):
    """The expression of a number."""
    _, zero, succ = prelude.mod.get_type("nat")
    expr = zero()
    for _ in range(n):
        expr = succ(expr)
    return expr
