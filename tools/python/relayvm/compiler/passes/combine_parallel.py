"""Passes that compute several products of the same data as one: convolutions, nn.dense, nn.batch_matmul, and other operators in a batch.

    conv2d(x, w1), conv2d(x, w2)   ->   y = conv2d(x, concatenate(w1, w2));  y[:, :n1], y[:, n1:]

Elementwise operators behind them are joined too, as far as all branches have the same ones. A branch is the calls from the product on.
"""
from .. import relay
from .layout_rules import ELEMENTWISE
from .rewriter import function_pass, is_call

__all__ = ["BatchingOps", "CombineParallelBatchMatmul", "CombineParallelConv2D", "CombineParallelDense", "CombineParallelOpBatch"]


def _type(expr):
    return expr.checked_type


def _shape(expr):
    return expr.checked_type.shape


class _Combiner:
    """How branches of an operator become one; subclasses say it for theirs."""

    following = ELEMENTWISE  # operators that may stand behind the product

    def __init__(self, op_name, min_num_branches):
        self.op_name, self.least = op_name, min_num_branches

    # --- What subclasses say ---

    def is_supported(self, call):
        return True

    def are_alike(self, a, b):
        """Whether two products may be one."""
        raise NotImplementedError

    def combined(self, calls):
        """The one product."""
        raise NotImplementedError

    def operand(self, calls, i, data_at):
        """What takes the place of operand i of the elementwise calls of all branches; None where they cannot be one."""
        raise NotImplementedError

    def results(self, data, branches, depth):
        """Each branch's part of the result."""
        raise NotImplementedError

    # --- The search ---

    def run(self, function):
        uses, products = {}, {}
        def see(node):
            if not isinstance(node, relay.Call):
                return
            if is_call(node, self.op_name) and self.is_supported(node):
                products.setdefault(node.args[0], []).append(node)
                uses.setdefault(node.args[0], []).append(node)
            else:
                for arg in node.args:
                    uses.setdefault(arg, []).append(node)
        relay.post_order_visit(function, see)
        instead = {}
        for calls in products.values():
            for group in self._groups(calls, uses):
                if len(group) >= self.least and not self._depend(group):
                    self._combine(group, instead)
        return _Substitution(instead).visit(function) if instead else function

    def _groups(self, calls, uses):
        groups = []
        for call in calls:
            branch = self._branch(call, uses)
            group = next((g for g in groups if self.are_alike(call, g[0][0])), None)
            if group is None:
                groups.append([branch])
            else:
                group.append(branch)
        return groups

    def _branch(self, call, uses):
        branch = [call]
        while len(uses.get(branch[-1], ())) == 1 and is_call(uses[branch[-1]][0], *self.following):
            branch.append(uses[branch[-1]][0])
        return branch

    @staticmethod
    def _depend(group):
        """Whether something of one branch is made of another."""
        calls = {call for branch in group for call in branch}
        others = [arg for call in calls for arg in call.args if arg not in calls]
        found = []
        for arg in others:
            relay.post_order_visit(arg, lambda node: found.append(node) if node in calls else None)
        return bool(found)

    def _combine(self, branches, instead):
        data = self.combined([branch[0] for branch in branches])
        depth = 1
        while depth < min(map(len, branches)):
            following = self._following(data, branches, depth)
            if following is None:
                break
            data, depth = following, depth + 1
        for branch, part in zip(branches, self.results(data, branches, depth - 1)):
            instead[branch[depth - 1]] = part

    def _following(self, data, branches, depth):
        calls = [branch[depth] for branch in branches]
        before = [branch[depth - 1] for branch in branches]
        first = calls[0]
        at = next(i for i, arg in enumerate(first.args) if arg is before[0])
        for call, own in zip(calls, before):
            if call.op is not first.op or dict(call.attrs) != dict(first.attrs) or call.args[at] is not own:
                return None
        args = [data if i == at else self.operand(calls, i, at) for i in range(len(first.args))]
        return None if None in args else relay.Call(first.op, args, first.attrs)


class _Substitution(relay.ExprMutator):
    """Others in place of expressions, in those too."""

    def __init__(self, instead):
        super().__init__()
        self._instead = instead

    def visit_call(self, call):
        return self.visit(self._instead[call]) if call in self._instead else super().visit_call(call)


def _same_types(exprs):
    return all(_type(e) == _type(exprs[0]) for e in exprs)


def _differ_only_at(exprs, axis):
    """Whether the types of tensors are the same but for one dim."""
    first = _type(exprs[0])
    return all(_type(e).dtype == first.dtype and len(_shape(e)) == len(first.shape)
               and all(a == b for i, (a, b) in enumerate(zip(_shape(e), first.shape)) if i != axis) for e in exprs)


def _slices(data, rank, axis, sizes):
    """Parts of a tensor along an axis, one behind the other."""
    first = 0
    for size in sizes:
        begin, end = [0] * rank, [-1] * rank
        begin[axis], end[axis] = first, size
        yield relay.strided_slice(data, begin, end, [1] * rank, slice_mode="size")
        first += size


# --- Convolutions ---

class _Conv2D(_Combiner):
    def is_supported(self, call):
        layouts = call.attrs["data_layout"] + call.attrs["kernel_layout"] + call.attrs["out_layout"]
        return call.attrs["groups"] == 1 and layouts.isupper() and isinstance(self._filters(call), int)

    @staticmethod
    def _filters(call):
        return _shape(call.args[1])[call.attrs["kernel_layout"].index("O")]

    @staticmethod
    def _channel(call):
        return (call.attrs["out_layout"] or call.attrs["data_layout"]).index("C")

    def are_alike(self, a, b):
        def attrs(call):
            return {name: value for name, value in call.attrs.items() if name not in ("channels", "kernel_size")}
        return attrs(a) == attrs(b) and _differ_only_at([a.args[1], b.args[1]], a.attrs["kernel_layout"].index("O"))

    def combined(self, calls):
        self._at = self._channel(calls[0])
        weight = relay.concatenate([c.args[1] for c in calls], calls[0].attrs["kernel_layout"].index("O"))
        return relay.Call(calls[0].op, [calls[0].args[0], weight], {**calls[0].attrs, "channels": sum(map(self._filters, calls))})

    def operand(self, calls, i, data_at):
        args = [c.args[i] for c in calls]
        at = self._at - len(_shape(calls[0])) + len(_shape(args[0]))
        if at < 0 or not _differ_only_at(args, at) or any(_shape(a)[at] != _shape(c)[self._at] for a, c in zip(args, calls)):
            return None
        return relay.concatenate(args, at)

    def results(self, data, branches, depth):
        return _slices(data, self._at + 1, self._at, [self._filters(branch[0]) for branch in branches])


def CombineParallelConv2D(min_num_branches=3):  # noqa: N802 (TVM's name)
    """A pass that computes nn.conv2d of the same data as one, from a number of them on."""
    return function_pass("CombineParallelConv2d", lambda f: _Conv2D("nn.conv2d", min_num_branches).run(f), opt_level=4)


# --- Products ---

class _BatchMatmul(_Combiner):
    def is_supported(self, call):
        weight = _type(call.args[1])
        return not call.attrs["transpose_a"] and call.attrs["transpose_b"] and len(weight.shape) == 3 and isinstance(weight.shape[1], int)

    def are_alike(self, a, b):
        return dict(a.attrs) == dict(b.attrs) and _type(a).dtype == _type(b).dtype and _differ_only_at([a.args[1], b.args[1]], 1)

    def combined(self, calls):
        return relay.Call(calls[0].op, [calls[0].args[0], relay.concatenate([c.args[1] for c in calls], 1)], calls[0].attrs)

    def operand(self, calls, i, data_at):
        args = [c.args[i] for c in calls]
        rank = len(_shape(args[0]))
        if rank == 0 or not _differ_only_at(args, rank - 1) or any(_shape(a)[-1] != _shape(c)[-1] for a, c in zip(args, calls)):
            return None
        return relay.concatenate(args, -1)

    def results(self, data, branches, depth):
        return _slices(data, 3, 2, [_shape(branch[0].args[1])[1] for branch in branches])


def CombineParallelBatchMatmul(min_num_branches=3):  # noqa: N802 (TVM's name)
    """A pass that computes nn.batch_matmul of the same data as one, from a number of them on."""
    return function_pass("CombineParallelBatchMatmul", lambda f: _BatchMatmul("nn.batch_matmul", min_num_branches).run(f), opt_level=4)


class _Dense(_Combiner):
    """One nn.dense with more units."""

    following = ELEMENTWISE | {"expand_dims"}

    def is_supported(self, call):
        return isinstance(_shape(call.args[1])[0], int)

    def are_alike(self, a, b):
        return a.attrs["out_dtype"] == b.attrs["out_dtype"] and _differ_only_at([a.args[1], b.args[1]], 0)

    def combined(self, calls):
        weight = relay.concatenate([c.args[1] for c in calls], 0)
        return relay.Call(calls[0].op, [calls[0].args[0], weight], {**calls[0].attrs, "units": sum(_shape(c.args[1])[0] for c in calls)})

    @staticmethod
    def _axis(branch, depth):
        """Where the units are behind a branch's call."""
        axis = len(_shape(branch[0])) - 1
        for call in branch[1:depth + 1]:
            if is_call(call, "expand_dims"):
                at = call.attrs["axis"]
                at = at + len(_shape(call)) - call.attrs["num_newaxis"] + 1 if at < 0 else at
                axis += call.attrs["num_newaxis"] if at <= axis else 0
        return axis

    def _following(self, data, branches, depth):
        if len(branches[0][depth].args) > 1 and any(self._axis(b, depth) != len(_shape(b[depth])) - 1 for b in branches):
            return None
        return super()._following(data, branches, depth)

    def operand(self, calls, i, data_at):
        args = [c.args[i] for c in calls]
        rank = len(_shape(args[0]))
        if rank > len(_shape(calls[0])) or not _differ_only_at(args, rank - 1):
            return None
        axis, parts = max(rank - 1, 0), []
        for call, arg in zip(calls, args):
            units = _shape(call.args[data_at])[-1]
            is_repeated = rank == 0 or units > 1 and _shape(arg)[-1] == 1
            arg = relay.expand_dims(arg, -1, 1) if rank == 0 else arg
            parts.append(relay.repeat(arg, units, axis) if is_repeated else arg)
        return relay.concatenate(parts, axis)

    def results(self, data, branches, depth):
        return _slices(data, len(_shape(branches[0][depth])), self._axis(branches[0], depth), [_shape(b[0].args[1])[0] for b in branches])


class _Batch(_Combiner):
    """One operator over a batch of the operands."""

    def __init__(self, op_name, batch_op_name, min_num_branches):
        super().__init__(op_name, min_num_branches)
        self.batch_op_name = batch_op_name

    def are_alike(self, a, b):
        return len(a.args) == len(b.args) and all(_same_types([x, y]) for x, y in zip(a.args, b.args))

    def attrs(self, call):
        return {}

    def combined(self, calls):
        args = [relay.stack([c.args[i] for c in calls], 0) for i in range(len(calls[0].args))]
        return relay.Call(relay.op.get(self.batch_op_name), args, self.attrs(calls[0]))

    def operand(self, calls, i, data_at):
        args = [c.args[i] for c in calls]
        rank = len(_shape(args[0]))
        if not _same_types(args) or rank not in (1, len(_shape(calls[0]))):
            return None
        if rank == 1:
            args = [relay.expand_dims(a, 0, 1) for a in args]
        return relay.stack(args, 0)

    def results(self, data, branches, depth):
        parts = relay.split(data, len(branches), 0)
        return [relay.squeeze(parts[i], [0]) for i in range(len(branches))]


class _DenseBatch(_Batch):
    def are_alike(self, a, b):
        return a.attrs["out_dtype"] == b.attrs["out_dtype"] and _same_types([a.args[1], b.args[1]])

    def is_supported(self, call):
        return len(_shape(call.args[0])) == 2

    def attrs(self, call):
        return {"out_dtype": call.attrs["out_dtype"], "transpose_a": False, "transpose_b": True}


def CombineParallelDense(min_num_branches=3, to_batch=True):  # noqa: N802 (TVM's name)
    """A pass that computes nn.dense of the same data as one, from a number of them on.

    to_batch: as a nn.batch_matmul, of those whose weights have the same shape; else as a nn.dense with the units of all.
    """
    def run(function):
        made = _DenseBatch("nn.dense", "nn.batch_matmul", min_num_branches) if to_batch else _Dense("nn.dense", min_num_branches)
        return made.run(function)
    return function_pass("CombineParallelDense", run, opt_level=4)


def CombineParallelOpBatch(op_name, batch_op_name, min_num_branches=3):  # noqa: N802 (TVM's name)
    """A pass that computes calls of an operator with the same data as one of another operator, over a batch."""
    return function_pass("CombineParallelOpBatch", lambda f: _Batch(op_name, batch_op_name, min_num_branches).run(f), opt_level=4)


def BatchingOps():  # noqa: N802 (TVM's name)
    """The passes that join convolutions, nn.dense and nn.batch_matmul of the same data."""
    from ..transform import Sequential
    return Sequential([CombineParallelConv2D(), CombineParallelDense(), CombineParallelBatchMatmul()], name="BatchingOps")
