"""Nodes with other fields: TVM's CallWithFields and kin. Where nothing is another, the node itself."""
from . import relay


def _changed(node, fields):
    """What is another than the node has."""
    found = {}
    for name, value in fields.items():
        if value is None:
            continue
        old = getattr(node, name)
        is_same = len(old) == len(value) and all(a is b for a, b in zip(old, value)) if isinstance(old, tuple) else old is value
        if not is_same:
            found[name] = value
    return found


def _with(make, node, fields, span):
    changed = _changed(node, fields)
    if not changed and (span is None or span == node.span):
        return node
    return make(**{name: changed.get(name, getattr(node, name)) for name in fields}, span=span or node.span)


def _let(var, value, body, span):
    return relay.Let(var, value, body, span)


def TupleWithFields(tup, fields=None, virtual_device=None, span=None):  # noqa: N802 (TVM's name)
    """The tuple with other fields."""
    return _with(relay.Tuple, tup, {"fields": fields}, span)


def TupleGetItemWithFields(tuple_get_item, tup=None, index=None, virtual_device=None, span=None):  # noqa: N802
    """The field of another tuple, or of another number."""
    return _with(relay.TupleGetItem, tuple_get_item, {"tuple_value": tup, "index": index}, span)


def CallWithFields(call, op=None, args=None, attrs=None, type_args=None, virtual_device=None, span=None):  # noqa: N802
    """The call with another operator or function, other arguments or attributes."""
    if attrs is not None and dict(attrs) == dict(call.attrs or {}):
        attrs = None
    return _with(relay.Call, call, {"op": op, "args": args, "attrs": attrs, "type_args": type_args}, span)


def LetWithFields(let, let_var=None, value=None, body=None, virtual_device=None, span=None):  # noqa: N802
    """The let with another variable, value or body."""
    return _with(_let, let, {"var": let_var, "value": value, "body": body}, span)


def ConstantWithFields(constant, data=None, virtual_device=None, span=None):  # noqa: N802 (TVM's name)
    """The constant with another tensor."""
    if data is None and span in (None, constant.span):
        return constant
    return relay.Constant(constant.data if data is None else data, span or constant.span)


def VarWithFields(variable, vid=None, type_annotation=None, virtual_device=None, span=None):  # noqa: N802
    """The variable, or another one: of another name, with another type. vid: `relay.Id`."""
    if vid in (None, variable.vid) and type_annotation in (None, variable.type_annotation) and span in (None, variable.span):
        return variable
    return relay.Var((vid or variable).name_hint, type_annotation or variable.type_annotation, span or variable.span)


def RefCreateWithFields(ref_create, value=None, virtual_device=None, span=None):  # noqa: N802
    """The reference to another value."""
    return _with(relay.RefCreate, ref_create, {"value": value}, span)


def RefReadWithFields(ref_read, ref=None, virtual_device=None, span=None):  # noqa: N802
    """The read of another reference."""
    return _with(relay.RefRead, ref_read, {"ref": ref}, span)


def RefWriteWithFields(ref_write, ref=None, value=None, virtual_device=None, span=None):  # noqa: N802
    """The write to another reference, or of another value."""
    return _with(relay.RefWrite, ref_write, {"ref": ref, "value": value}, span)


def IfWithFields(if_node, cond=None, true_branch=None, false_branch=None, virtual_device=None, span=None):  # noqa: N802
    """The if with another condition or other branches."""
    return _with(relay.If, if_node, {"cond": cond, "true_branch": true_branch, "false_branch": false_branch}, span)


def FunctionWithFields(function, params=None, body=None, ret_type=None, ty_params=None, attrs=None, virtual_device=None, span=None):  # noqa: N802
    """The function with other parameters, another body, result type or attributes."""
    changed = _changed(function, {"params": params, "body": body, "type_params": ty_params})
    if not changed and ret_type is None and attrs is None and span is None:
        return function
    return relay.Function(params if params is not None else function.params, body if body is not None else function.body,
                          ret_type if ret_type is not None else function.ret_type, ty_params if ty_params is not None else function.type_params,
                          attrs if attrs is not None else function.attrs, span or function.span, name=function.name)


__all__ = ["CallWithFields", "FunctionWithFields", "IfWithFields", "LetWithFields", "TupleGetItemWithFields", "TupleWithFields"]
