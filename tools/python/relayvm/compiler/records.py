"""Nodes of the compiler's records of a function, and records of nodes (tools/python/src/nodes.h)."""
from . import _native
from .functors import _all_stays, _parts, _post_order
from .nodes import (Attrs, Call, Clause, Constant, Constructor, Function, _get_op, GlobalVar, If, Internal, Let, Match, _NO_TYPES, Op, Pattern,
                    PatternConstructor, PatternTuple, PatternVar, PatternWildcard, RefCreate, RefRead, RefWrite, _set, Tuple, TupleGetItem, Var)
from .types import _handles, IncompleteType, _Parts, _Sequence, _types


def _of_record(cls, record, **fields):
    node = object.__new__(cls)
    for name, value in fields.items():
        _set(node, name, value)
    _set(node, "_type", record[3])
    _set(node, "_span", record[4])
    _set(node, "_bound", record[5])
    return node


def _op_of(call):
    return Op._all.get(call.op) or Op._make(call.op, call.num_args, call.op if _native.operator_arguments(call.op) is not None else call)


def _attrs_of(written):
    values = dict(written)
    return Attrs(values, values.pop("attrs_type_key", None))


# Of a record and its operands (and the module): the node.
_MAKERS = {
    "constant": lambda r, o, m: _of_record(Constant, r, _handle=r[2]),
    "global": lambda r, o, m: m.get_global_var(r[2]),
    "constructor": lambda r, o, m: m.get_constructor(*r[2]),
    "op": lambda r, o, m: _get_op(r[2]),
    "op_call": lambda r, o, m: _of_record(Call, r, op=_op_of(r[2]), args=_Sequence(o), _attrs=r[2], _type_args=_NO_TYPES),
    "call": lambda r, o, m: _of_record(Call, r, op=o[0], args=_Sequence(o[1:]), _attrs=r[2] and _attrs_of(r[2]), _type_args=_NO_TYPES),
    "tuple": lambda r, o, m: _of_record(Tuple, r, fields=_Sequence(o)),
    "get": lambda r, o, m: _of_record(TupleGetItem, r, tuple_value=o[0], index=r[2]),
    "let": lambda r, o, m: _of_record(Let, r, var=o[0], value=o[1], body=o[2]),
    "function": lambda r, o, m: _of_record(Function, r, params=_Sequence(o[:-1]), body=o[-1], _ret_type=None, type_params=_types(r[2].type_params),
                                           _attrs=None, name=r[2].name, module=None, _handle=r[2]),
    "if": lambda r, o, m: _of_record(If, r, cond=o[0], true_branch=o[1], false_branch=o[2]),
    "match": lambda r, o, m: _of_record(Match, r, data=o[0], clauses=_Sequence(o[1:]), complete=r[2]),
    "clause": lambda r, o, m: Clause(*o),
    "pattern_any": lambda r, o, m: PatternWildcard(r[4]),
    "pattern_var": lambda r, o, m: PatternVar(o[0], r[4]),
    "pattern_constructor": lambda r, o, m: PatternConstructor(m.get_constructor(*r[2]), o, r[4]),
    "pattern_tuple": lambda r, o, m: PatternTuple(o, r[4]),
    "ref_create": lambda r, o, m: _of_record(RefCreate, r, value=o[0]),
    "ref_read": lambda r, o, m: _of_record(RefRead, r, ref=o[0]),
    "ref_write": lambda r, o, m: _of_record(RefWrite, r, ref=o[0], value=o[1]),
    "internal": lambda r, o, m: _of_record(Internal, r, args=_Sequence(o), _handle=r[2]),
}


def _make_var(record, operands, module):
    node = _of_record(Var, record, name_hint=record[2].name, type_annotation=None, _handle=record[2])
    if record[3] is not None and not isinstance(node.checked_type, IncompleteType):
        _set(node, "type_annotation", node.checked_type)
    return node


_MAKERS["var"] = _make_var


@_all_stays
def _function_node(module, name):
    """The nodes of a function of a `Module`."""
    from . import calls_in_place  # which needs the nodes
    nodes, records = [], module._typed.records(name)
    is_wanted = getattr(module, "_has_calls_in_place", False) and calls_in_place.may_apply(records)
    builder = calls_in_place.Builder(records) if is_wanted else None
    for record in records:
        node = _MAKERS[record[0]](record, [nodes[i] for i in record[1]], module)
        nodes.append(node if builder is None else builder.add(node, record))
    _set(nodes[-1], "module", module)
    _set(nodes[-1], "name", name)
    return nodes[-1]


def _optional(kind):
    if kind is None or isinstance(kind, IncompleteType):
        return None
    if isinstance(kind._handle, _Parts):
        raise TypeError(f"{kind}: the compiler has no types with parts that are not known; leave the type out, and it is inferred")
    return kind._handle


def _payload(node):
    if isinstance(node, Var):
        return node._handle or (node.name_hint, _optional(node.type_annotation))
    if isinstance(node, Constant):
        return node._handle
    if isinstance(node, GlobalVar):
        return node.name_hint
    if isinstance(node, Op):
        return node.name
    if isinstance(node, Constructor):
        return (node.belong_to, node.name_hint)
    if isinstance(node, Call):
        return node._attrs if isinstance(node._attrs, _native.Call) else None
    if isinstance(node, TupleGetItem):
        return node.index
    if isinstance(node, Function):
        return node._handle or (_handles(node.type_params), _optional(node.ret_type), dict(node.attrs))
    if isinstance(node, Match):
        return node.complete
    if isinstance(node, PatternConstructor):
        return (node.constructor.belong_to, node.constructor.name_hint)
    if isinstance(node, Internal):
        return node._handle


_KINDS = {Var: "var", Constant: "constant", GlobalVar: "global", Constructor: "constructor", Call: "call", Tuple: "tuple",
          TupleGetItem: "get", Let: "let", Function: "function", If: "if", Match: "match", Clause: "clause",
          PatternWildcard: "pattern_any", PatternVar: "pattern_var", PatternConstructor: "pattern_constructor",
          PatternTuple: "pattern_tuple", RefCreate: "ref_create", RefRead: "ref_read", RefWrite: "ref_write", Op: "op", Internal: "internal"}


def _argument_positions(call, at):
    return tuple([at[id(arg)] for arg in call.args])


def _open_record(kind, parts=lambda node: node._children(), payload=lambda node: None):
    return lambda node, at: (kind, tuple([at[id(part)] for part in parts(node)]), payload(node), None, None, None)


def _open_call(call, at):
    if type(call.op) is Op:
        return "op_call", _argument_positions(call, at), call._attrs, None, None, None
    return "call", (at[id(call.op)], *_argument_positions(call, at)), None, None, None, None


_OPEN_RECORDS = {
    **{kind: _open_record(name, _parts, _payload) for kind, name in _KINDS.items()},
    Call: _open_call,
    Constant: lambda node, at: ("constant", (), node._handle, None, None, None),
    Function: _open_record("function", payload=lambda f: (_handles(f.type_params), _optional(f.ret_type), dict(f.attrs))),
    Tuple: _open_record("tuple"),
    TupleGetItem: _open_record("get", payload=lambda node: node.index),
    Var: lambda var, at: ("var", (), (var.name_hint, _optional(var.type_annotation)), None, None, None),
}


@_all_stays
def _open_records(function):
    """(the nodes of a function, records of them), to find their types: as they were written, without places."""
    order = _post_order(function, _parts)
    at = {id(node): i for i, node in enumerate(order)}
    try:
        return order, [_OPEN_RECORDS[type(node)](node, at) for node in order]
    except KeyError as e:
        raise TypeError(f"a {e.args[0].__name__} stands for no value") from None


@_all_stays
def _function_records(function, span=None):
    """What the compiler makes a function of. span: where it stands, if it does not know."""
    if not isinstance(function, Function):
        raise TypeError(f"expected a relay.Function, found {type(function).__name__}")
    order = _post_order(function, _parts)
    positions = {id(node): i for i, node in enumerate(order)}
    # New nodes stand where their users stand.
    spans = {id(function): span}
    for node in reversed(order):
        span = getattr(node, "_span", None) or spans.get(id(node))
        spans[id(node)] = span
        for part in _parts(node):
            if spans.get(id(part)) is None:
                spans[id(part)] = span
    records = []
    for node in order:
        kind = _KINDS.get(type(node))
        if kind is None:
            raise TypeError(f"a {type(node).__name__} stands for no value: {node!r}")
        if kind == "call" and isinstance(node.op, Op):
            kind = "op_call"
        span = node.span if isinstance(node, Pattern) else spans[id(node)]
        span = span if isinstance(span, _native.Span) else None
        records.append((kind, tuple(positions[id(p)] for p in _parts(node)), _payload(node), None, span,
                        getattr(node, "_bound", None)))
    return records
