"""Programs that compute what integers stand for, between qnn.dequantize and qnn.quantize, over the integers themselves.

What each operator becomes, the rules say: _quantised_rules.py, and `register_fake_quantization_to_integer`.
"""
from .. import inference, relay
from ..affine_types import TensorAffineType, TupleAffineType
from ..relay import Call, Constant, ExprMutator, Op, Tuple, TupleGetItem, _post_order
from . import _quantised_rules as rules
from ._quantised_rules import register_fake_quantization_to_integer, register_optional_fake_quantization_to_integer

# Operators that are computed with integers by themselves, where all operands are dequantised (use_qat).
_BY_THEMSELVES = set("""broadcast_to clip expand_dims max maximum min minimum nn.avg_pool2d nn.batch_flatten nn.batch_matmul nn.bias_add nn.conv2d
nn.conv2d_transpose nn.dense nn.depth_to_space nn.global_avg_pool2d nn.max_pool2d nn.pad nn.relu reshape split squeeze strided_slice
transpose""".split())


class TypeMap(dict):
    """Affine types of nodes. root: the qnn.quantize at the end, or None; source: the node that a rule is asked for, as it was."""

    root = source = None


def _name(node):
    return node.op.name if isinstance(node, Call) and isinstance(node.op, Op) else None


def _is_data(node):
    """Whether it is no control flow, function or variable."""
    return _name(node) is not None or isinstance(node, (Op, Tuple, TupleGetItem, Constant))


def _parts_in_region(root):
    def parts(node):
        if node is not root and _name(node) == "qnn.dequantize" or not _is_data(node):
            return ()
        return node.args[:1] if _name(node) == "qnn.quantize" else node._children()
    return parts


def _region(root):
    """(calls between the operands of a call and qnn.dequantize, those included; whether all there is data)."""
    order = _post_order(root, _parts_in_region(root))
    return [node for node in order if isinstance(node, Call) and node is not root], all(map(_is_data, order))


def _affine_type(node):
    if _name(node) == "qnn.quantize":
        return TensorAffineType(node.args[1], node.args[2], node.attrs.out_dtype, node.attrs.axis)
    return TensorAffineType(node.args[1], node.args[2], inference.infer(node.args[0]).checked_type.dtype, node.attrs.axis)


class _Integers(ExprMutator):
    """A region over integers; `types` has the affine types of its qnn.dequantize and of the root."""

    def __init__(self, rule_of, types):
        super().__init__()
        self._rule_of, self.types = rule_of, types
        self._depth = 1

    def run(self, root):
        for node in _post_order(root, _parts_in_region(root)):
            self.visit(node)
        return self.memo_map[root]

    def visit_call(self, call):
        expr = call
        if _name(call) != "qnn.dequantize":
            expr = super().visit_call(call)
            if self.types.root is not None:
                self.types[expr] = self.types[self.types.root]
        self.types.source = call
        found = self._rule_of(call)(expr, self.types)
        if len(found) != 2:
            raise TypeError(f"the rule of {_name(call)}: expected an expression and its affine type, found {len(found)} values")
        self.types[found[0]] = found[1]
        return found[0]

    def visit_tuple(self, expr):
        new = super().visit_tuple(expr)
        self.types[new] = TupleAffineType([self.types[field] for field in new.fields])
        return new

    def visit_tuple_getitem(self, expr):
        new = super().visit_tuple_getitem(expr)
        self.types[new] = self.types[new.tuple_value].types[new.index]
        return new


class _Rewriting:
    def __init__(self, hard_fail, optional):
        self._hard_fail, self._optional = hard_fail, set(optional)

    def rule_of(self, call):
        """The rule of a call's operator; None where it has none."""
        rule = call.op.get_attr(rules.ATTRIBUTE)
        if rule is None and call.op.name in self._optional:
            rule = call.op.get_attr(rules.OPTIONAL)
        return rule

    def _integers(self, root, new_root, calls, memo):
        """new_root over integers, and its affine type; None where a rule does not apply."""
        types = TypeMap()
        try:
            for node in calls:
                if _name(node) == "qnn.dequantize":
                    types[memo.get(node, node)] = _affine_type(memo.get(node, node))
            if _name(root) == "qnn.quantize":
                types.root = new_root
                types[new_root] = _affine_type(new_root)
            result = _Integers(self.rule_of, types).run(new_root)
            return result, types[result]
        except Exception as error:
            if self._hard_fail:
                raise ValueError(f"FakeQuantizationToInteger: {_name(root)}: {type(error).__name__}: {error}") from error
            return None

    def _lacks(self, calls, is_there, what):
        missing = [_name(call) for call in calls if not is_there(call)]
        if missing and self._hard_fail:
            raise ValueError(f"FakeQuantizationToInteger: {what} {missing[0]}")
        return bool(missing)

    def quantized(self, root, new_root, memo):
        """In place of a qnn.quantize."""
        calls, is_data = _region(root)
        if _name(root) != "qnn.quantize" or not is_data or not calls \
                or self._lacks(calls, lambda call: self.rule_of(call) is not None, "there is no rule for"):
            return None
        found = self._integers(root, new_root, calls, memo)
        return found and found[0]

    def by_itself(self, root, new_root, memo):
        """In place of an operator whose operands are dequantised."""
        if _name(root) not in _BY_THEMSELVES or self.rule_of(root) is None:
            return None
        calls, is_data = _region(new_root)
        if not is_data or not calls or self._lacks(calls, lambda call: _name(call) == "qnn.dequantize", f"{_name(root)}: an operand comes from"):
            return None
        found = self._integers(new_root, new_root, calls, {})
        if found is None:
            return None
        result, kind = found
        return relay.qnn.op.dequantize(result, kind.scale, kind.zero_point, kind.axis) if isinstance(kind, TensorAffineType) else None


class _Rebuilt(ExprMutator):
    """Nodes of new operands, asked for one at a time."""

    def __init__(self):
        super().__init__()
        self._depth = 1


def _rewritten(fn, replace):
    """The function with replace(node, the same of new operands, {node: new one}) in place of calls where it is not None."""
    rebuilt = _Rebuilt()
    for node in _post_order(fn, lambda e: e._children()):
        new = rebuilt.visit(node)
        if isinstance(node, Call):
            other = replace(node, new, rebuilt.memo_map)
            if other is not None:
                new = rebuilt.memo_map[node] = other
        if isinstance(new, relay.Expr) and new._type is None:  # all that is replaced keeps its type
            relay._set(new, "_type", node._type)
    return rebuilt.memo_map[fn]


def FakeQuantizationToInteger(hard_fail=False, use_qat=False, optional_qnn_ops=None):  # noqa: N802 (TVM's name)
    """A pass that computes what stands between qnn.dequantize and qnn.quantize with integers.

    hard_fail: what cannot be is an error, which says why; else it stays as it is. use_qat: operators whose operands are all dequantised
    are computed with integers even where no qnn.quantize follows. optional_qnn_ops: operators to take along whose integers are less exact:
    nn.softmax.
    """
    from ..regions import _changed
    from ..transform import PythonPass
    rewriting = _Rewriting(hard_fail, optional_qnn_ops or ())

    def change(fn):
        fn = _rewritten(fn, rewriting.quantized)
        return _rewritten(fn, rewriting.by_itself) if use_qat else fn

    return PythonPass("FakeQuantizationToInteger", lambda mod, _: _changed(mod, change, "FakeQuantizationToInteger"),
                      required=["InferType", "DivToMul"])


def list_fake_quantized_op_freqs(mod):
    """{operator: how many calls of it} between qnn.dequantize and qnn.quantize in main, what FakeQuantizationToInteger could take."""
    counts = {}
    for root in _post_order(mod["main"], lambda e: e._children()):
        calls, is_data = _region(root) if _name(root) == "qnn.quantize" else ([], False)
        for name in (_name(call) for call in calls if is_data):
            if name not in ("qnn.dequantize", "qnn.quantize"):
                counts[name] = counts.get(name, 0) + 1
    return counts


__all__ = ["FakeQuantizationToInteger", "list_fake_quantized_op_freqs", "register_fake_quantization_to_integer",
           "register_optional_fake_quantization_to_integer"]
