"""What programs have: `rvm.analysis`, as TVM's relay.analysis.

All functions take expressions, and where it is said modules too.
"""
from ..errors import InvalidInput
from . import relay
from .relay import _all_vars as all_vars
from .relay import _free_vars as free_vars
from .relay import post_order_visit
from .structural import structural_equal


def _roots(of):
    return [of] if isinstance(of, relay.Expr) else [of[name] for name in of._names]


def bound_vars(expr):
    """Variables that an expression binds, in the order in which they are met: parameters, of lets, of patterns."""
    free = set(free_vars(expr))
    found = {}
    for v in _bound_in_order(expr):
        if v not in free:
            found.setdefault(v)
    return list(found)


def _bound_in_order(expr):
    stack, seen = [expr], set()
    while stack:
        node = stack.pop()
        if id(node) in seen:
            continue
        seen.add(id(node))
        if isinstance(node, relay.Function):
            yield from node.params
        elif isinstance(node, relay.Let):
            yield node.var
        elif isinstance(node, relay.Match):
            for clause in node.clauses:
                for pattern in relay._post_order(clause.lhs, lambda p: p._patterns()):
                    if isinstance(pattern, relay.PatternVar):
                        yield pattern.var
        stack.extend(reversed(node._children()))


def _type_vars(of, bound):
    """Type variables of an expression or a type: those that it binds, and all that it names."""
    found = {}

    def see(kind, into_bound):
        stack = [kind]
        while stack:
            t = stack.pop()
            if isinstance(t, relay.TypeVar):
                found.setdefault(t)
            elif isinstance(t, relay.FuncType):
                bound.update(dict.fromkeys(t.type_params))
                stack.extend([t.ret_type, *reversed(t.arg_types), *reversed(t.type_params)])
            elif isinstance(t, relay.TupleType):
                stack.extend(reversed(t.fields))
            elif isinstance(t, relay.RefType):
                stack.append(t.value)
            elif isinstance(t, relay.TypeCall):
                stack.extend(reversed(t.args))

    def visit(node):
        if isinstance(node, relay.Function):
            bound.update(dict.fromkeys(node.type_params))
            found.update(dict.fromkeys(node.type_params))
            if node.ret_type is not None:
                see(node.ret_type, False)
        elif isinstance(node, relay.Var) and node.type_annotation is not None:
            see(node.type_annotation, False)
        elif isinstance(node, relay.Constructor):  # for any type
            own = _type_vars(relay.TupleType(node.inputs), {})
            found.update(dict.fromkeys(own))
            bound.update(dict.fromkeys(own))

    if isinstance(of, relay.Type):
        see(of, False)
    else:
        for root in _roots(of):
            post_order_visit(root, visit)
    return list(found)


def all_type_vars(expr, mod=None):
    """Type variables that an expression or a type names."""
    return _type_vars(expr, {})


def bound_type_vars(expr, mod=None):
    """Those that it binds."""
    bound = {}
    _type_vars(expr, bound)
    return list(bound)


def free_type_vars(expr, mod=None):
    """Those that it does not bind."""
    bound = {}
    return [v for v in _type_vars(expr, bound) if v not in bound]


def alpha_equal(lhs, rhs):
    """Whether two expressions are the same but for names."""
    return structural_equal(lhs, rhs)


def list_op_freqs(mod):
    """{operator: how many calls} of a module's main, or of an expression."""
    counts = {}
    post_order_visit(mod if isinstance(mod, relay.Expr) else mod["main"], lambda node: _count(node, counts))
    return counts


def _count(node, counts):
    if isinstance(node, relay.Call) and isinstance(node.op, relay.Op):
        counts[node.op.name] = counts.get(node.op.name, 0) + 1


def list_fake_quantized_op_freqs(mod):
    """{operator: how many calls of it} between qnn.dequantize and qnn.quantize in main, what FakeQuantizationToInteger could take."""
    from .passes import fake_quantization
    return fake_quantization.list_fake_quantized_op_freqs(mod)


class AnnotatedRegionSet:
    """The regions of an expression between marks: operators, or their names."""

    def __init__(self, expr, region_begin_op, region_end_op):
        from .region_markers import Regions
        begin, end = (op.name if isinstance(op, relay.Op) else op for op in (region_begin_op, region_end_op))
        self._regions = Regions(expr, begin=begin, end=end)

    def get_region(self, expr):
        """The region of a node (args: its begins; rets: its ends; nodes, target), or None."""
        return self._regions.of(expr)

    def __iter__(self):
        return iter(self._regions.all())

    def __len__(self):
        return len(self._regions.all())


def well_formed(expr):
    """Whether each variable is bound at most once, and read only where it is bound."""
    roots = _roots(expr)
    bound = [v for root in roots for v in _bound_in_order(root)]
    return len(set(bound)) == len(bound) and all(_is_in_scope(root) for root in roots)


def _is_in_scope(root):
    free = set(free_vars(root))
    # Of each node, the variables that it reads and does not bind, as bits of numbers.
    numbers, reads = {}, {}
    for node in relay._post_order(root, lambda e: e._children()):
        mine = 0
        if isinstance(node, relay.Var):
            mine = 1 << numbers.setdefault(node, len(numbers))
        else:
            for child in node._children():
                mine |= reads[id(child)]
        binds = []
        if isinstance(node, relay.Function):
            binds = node.params
        elif isinstance(node, relay.Let):
            binds = [node.var]
        elif isinstance(node, relay.Match):
            binds = [p.var for c in node.clauses for p in relay._post_order(c.lhs, lambda p: p._patterns()) if isinstance(p, relay.PatternVar)]
        for v in binds:
            if v in numbers:
                mine &= ~(1 << numbers[v])
        reads[id(node)] = mine
    left = reads[id(root)]
    return all(v in free for v, i in numbers.items() if left >> i & 1)


def check_basic_block_normal_form(expr):
    """True where a let says where what several branches, clauses or functions read is evaluated; else raises InvalidInput, which names a node."""
    from .passes.normal_forms import not_in_basic_blocks
    found = not_in_basic_blocks(expr)
    if found:
        raise InvalidInput(f"not in basic block normal form: {found[0]!r} is read in several scopes; a let outside of them "
                           "(ToBasicBlockNormalForm makes it) says where it is evaluated")
    return True


from .call_graph import CallGraph  # noqa: E402 (with what is above)
from .extracts import (all_dtypes, check_constant, count_layers, extract_fused_functions,  # noqa: E402
                       extract_intermdeiate_expr, get_calibration_data, get_total_mac_number)
from .features import Feature, detect_feature  # noqa: E402
from .kinds import check_kind  # noqa: E402
from .matches import unmatched_cases  # noqa: E402


def __getattr__(name):
    raise AttributeError(f"there is no analysis {name}{relay._native.did_you_mean(name, __all__)}; there are {', '.join(__all__)}")


__all__ = ["AnnotatedRegionSet", "CallGraph", "Feature", "all_dtypes", "all_type_vars", "all_vars", "alpha_equal", "bound_type_vars", "bound_vars",
           "check_basic_block_normal_form", "check_constant", "check_kind", "count_layers", "detect_feature", "extract_fused_functions",
           "extract_intermdeiate_expr", "free_type_vars", "free_vars", "get_calibration_data", "get_total_mac_number",
           "list_fake_quantized_op_freqs", "list_op_freqs", "post_order_visit", "unmatched_cases", "well_formed"]
