"""Where two programs differ first: `tvm.ir.get_first_structural_mismatch`."""
from collections.abc import Mapping

from . import relay
from .dims import IntImm
from .object_path import ObjectPath
from .structural import _Comparison, _Differs

_PARTS = {
    relay.Call: ("op", "args", "attrs", "type_args"), relay.Tuple: ("fields",), relay.TupleGetItem: ("tuple_value", "index"),
    relay.Let: ("var", "value", "body"), relay.If: ("cond", "true_branch", "false_branch"),
    relay.Function: ("params", "ret_type", "type_params", "attrs", "body"), relay.Match: ("data", "clauses", "complete"),
    relay.Clause: ("lhs", "rhs"), relay.RefCreate: ("value",), relay.RefRead: ("ref",), relay.RefWrite: ("ref", "value"),
    relay.PatternVar: ("var",), relay.PatternConstructor: ("constructor", "patterns"), relay.PatternTuple: ("patterns",),
    relay.Var: ("vid", "type_annotation"), relay.Id: ("name_hint",), relay.GlobalVar: ("name_hint",), relay.Constructor: ("name_hint", "inputs"),
    relay.Constant: ("data",), relay.TensorType: ("shape", "dtype"), relay.TupleType: ("fields",), relay.RefType: ("value",),
    relay.FuncType: ("arg_types", "ret_type", "type_params"), relay.TypeCall: ("func", "args"),
}


def _is_same(comparison, left, right):
    """Whether a part is the same, given what corresponds already; then more may."""
    try:
        comparison.run(left, right)
    except _Differs:
        comparison.todo.clear()
        return False
    return True


def _parts_of(thing):
    if isinstance(thing, (list, tuple)):
        return [("array_index", i, part) for i, part in enumerate(thing)]
    if isinstance(thing, Mapping):
        how = "attr" if isinstance(thing, relay.Attrs) else "map_value"
        return [(how, key, part) for key, part in thing.items()]
    if hasattr(thing, "_names"):
        return [("attr", "functions", {relay.GlobalVar(name): thing[name] for name in thing._names})]
    if isinstance(thing, IntImm):
        return [("attr", "value", int(thing))]
    return [("attr", name, getattr(thing, name)) for name in _PARTS.get(type(thing), ())]


def _bound_by(comparison, left, right):
    """Makes variables correspond that the two bind; steps to the first types of these that differ, and the types."""
    params = zip(left.params, right.params) if isinstance(left, relay.Function) else [(left.var, right.var)] if isinstance(left, relay.Let) else ()
    for i, (a, b) in enumerate(params):
        comparison.bind(a, b, id(a), id(b))
        if not _is_same(comparison, a.type_annotation, b.type_annotation):
            steps = [("attr", "params"), ("array_index", i)] if isinstance(left, relay.Function) else [("attr", "var")]
            return [*steps, ("attr", "type_annotation")], a.type_annotation, b.type_annotation
    return None


def _step(comparison, left, right):
    """(steps, left part, right part) of the first part that differs, or None."""
    found = _bound_by(comparison, left, right)
    if found is not None:
        return found
    others = _parts_of(right)
    if isinstance(left, dict):  # in any order
        others = [("map_value", key, right[key]) if key in right else ("", None, None) for key in left]
    for (how, key, a), (_, other, b) in zip(_parts_of(left), others):
        if key == other and not _is_same(comparison, a, b):
            is_number = how != "attr" and all(type(x) in (int, float) for x in (a, b))  # which TVM has as an object
            return [(how, key)] + [("attr", "value")] * is_number, a, b
    return None


def get_first_structural_mismatch(lhs, rhs, map_free_vars=False):
    """A pair of ways to the first parts that differ (`ObjectPath`), None where the two are structurally equal."""
    if _is_same(_Comparison(map_free_vars), lhs, rhs):
        return None
    left, right = ObjectPath.root(), ObjectPath.root()
    comparison = _Comparison(map_free_vars)
    while type(lhs) is type(rhs):
        step = _step(comparison, lhs, rhs)
        if step is None:
            break
        steps, lhs, rhs = step
        for how, key in steps:
            left, right = getattr(left, how)(key), getattr(right, how)(key)
    if isinstance(lhs, (list, tuple)) and isinstance(rhs, (list, tuple)) and len(lhs) != len(rhs):
        at = min(len(lhs), len(rhs))
        left = left.array_index(at) if at < len(lhs) else left.missing_array_element(at)
        right = right.array_index(at) if at < len(rhs) else right.missing_array_element(at)
    if isinstance(lhs, dict) and isinstance(rhs, dict) and set(lhs) != set(rhs):
        left, right = (way.map_value(min(set(own) - set(other), key=str)) if set(own) - set(other) else way.missing_map_entry()
                       for way, own, other in ((left, lhs, rhs), (right, rhs, lhs)))
    return left, right
