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

    match e:
        case Var():
            return f"%{e.name_hint or '_'}"
        case GlobalVar():
            return f"@{e.name_hint}"
        case Constructor():
            return e.name_hint
        case Op():
            return e.name
        case Constant():
            return constant_text(e)
    if depth == 0:
        return "..."
    match e:
        case Call():
            attrs = "".join(f", {k}={attr_text(v)}" for k, v in (e.attrs or {}).items() if v is not None)
            return f"{inner(e.op)}({inner(*e.args)}{attrs})"
        case Tuple():
            return f"({inner(*e.fields)}{',' if len(e) == 1 else ''})"
        case TupleGetItem():
            return f"{inner(e.tuple_value)}.{e.index}"
        case Let():
            return f"let {inner(e.var)} = {inner(e.value)}; {inner(e.body)}"
        case If():
            return f"if ({inner(e.cond)}) {{ {inner(e.true_branch)} }} else {{ {inner(e.false_branch)} }}"
        case Function():
            params = ", ".join(f"{inner(p)}: {p.checked_type}" if p._type is not None else inner(p) for p in e.params)
            return f"fn ({params}) {{ {inner(e.body)} }}"
        case Match():
            clauses = ", ".join(f"{c.lhs!r} => {{ {inner(c.rhs)} }}" for c in e.clauses)
            return f"match{'' if e.complete else '?'} ({inner(e.data)}) {{ {clauses} }}"
        case RefCreate():
            return f"ref({inner(e.value)})"
        case RefRead():
            return f"ref_read({inner(e.ref)})"
        case RefWrite():
            return f"ref_write({inner(e.ref, e.value)})"
        case Internal():
            return f"{e.kind}({inner(*e.args)})"
    return object.__repr__(e)
