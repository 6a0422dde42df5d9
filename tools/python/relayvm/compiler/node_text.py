"""Nodes on one line, as repr() gives them."""
from .nodes import (Call, Constant, Constructor, Function, GlobalVar, If, Internal, Let, Match, Op, PatternConstructor, PatternTuple, PatternVar, RefCreate,
                    RefRead, RefWrite, Tuple, TupleGetItem, Var)

_DEPTH = 4  # of the text of a node


def pattern_text(p):
    """A pattern of a match, as Relay text has it."""
    if isinstance(p, PatternVar):
        return "%" + p.var.name_hint
    fields = ", ".join(map(pattern_text, p._patterns()))
    if isinstance(p, PatternConstructor):
        return p.constructor.name_hint + (f"({fields})" if fields else "")
    return f"({fields})" if isinstance(p, PatternTuple) else "_"


def attr_text(value):
    """A value of an attribute, as Relay text has it."""
    if isinstance(value, str):
        return f'"{value}"'
    if isinstance(value, tuple):
        return f"[{', '.join(map(attr_text, value))}]"
    return str(value)


def constant_text(c):
    """A constant for people: its value where it is one number, else its type."""
    kind = c.checked_type
    if kind.shape:
        return f"const {kind}"
    return f"{c.data} /* {kind.dtype} */"


def text(e, depth=_DEPTH):
    """Relay text on one line; ... for what is deep inside."""
    def inner(*nodes):
        return ", ".join(text(n, depth - 1) for n in nodes)

    if isinstance(e, Var):
        return f"%{e.name_hint or '_'}"
    if isinstance(e, GlobalVar):
        return f"@{e.name_hint}"
    if isinstance(e, Constructor):
        return e.name_hint
    if isinstance(e, Op):
        return e.name
    if isinstance(e, Constant):
        return constant_text(e)
    if depth == 0:
        return "..."
    if isinstance(e, Call):
        attrs = "".join(f", {k}={attr_text(v)}" for k, v in (e.attrs or {}).items() if v is not None)
        return f"{inner(e.op)}({inner(*e.args)}{attrs})"
    if isinstance(e, Tuple):
        return f"({inner(*e.fields)}{',' if len(e) == 1 else ''})"
    if isinstance(e, TupleGetItem):
        return f"{inner(e.tuple_value)}.{e.index}"
    if isinstance(e, Let):
        return f"let {inner(e.var)} = {inner(e.value)}; {inner(e.body)}"
    if isinstance(e, If):
        return f"if ({inner(e.cond)}) {{ {inner(e.true_branch)} }} else {{ {inner(e.false_branch)} }}"
    if isinstance(e, Function):
        params = ", ".join(f"{inner(p)}: {p.checked_type}" if p._type is not None else inner(p) for p in e.params)
        return f"fn ({params}) {{ {inner(e.body)} }}"
    if isinstance(e, Match):
        clauses = ", ".join(f"{c.lhs!r} => {{ {inner(c.rhs)} }}" for c in e.clauses)
        return f"match{'' if e.complete else '?'} ({inner(e.data)}) {{ {clauses} }}"
    if isinstance(e, RefCreate):
        return f"ref({inner(e.value)})"
    if isinstance(e, RefRead):
        return f"ref_read({inner(e.ref)})"
    if isinstance(e, RefWrite):
        return f"ref_write({inner(e.ref, e.value)})"
    if isinstance(e, Internal):
        return f"{e.kind}({inner(*e.args)})"
    return object.__repr__(e)
