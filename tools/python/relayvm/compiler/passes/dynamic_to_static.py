"""DynamicToStatic: operators whose sizes are operands become those whose sizes are attributes, where these are known."""
from .. import relay
from ..relay import Call, Constant, ExprMutator, Op
from ._make import changed_functions
from .fold_constant import folded

__all__ = ["DynamicToStatic"]

# Of each operator, its operands that are attributes of the other one.
_OPERANDS = {
    "dyn.broadcast_to": {1: "shape"},
    "dyn.expand_dims": {1: "axis"},
    "dyn.full": {1: "shape"},
    "dyn.image.resize2d": {1: "size", 2: "roi"},
    "dyn.nn.pad": {1: "pad_width"},
    "dyn.nn.upsampling": {1: "scale_h", 2: "scale_w"},
    "dyn.nn.upsampling3d": {1: "scale_d", 2: "scale_h", 3: "scale_w"},
    "dyn.one_hot": {3: "depth"},
    "dyn.ones": {0: "shape"},
    "dyn.reshape": {1: "newshape"},
    "dyn.sparse_to_dense": {1: "output_shape"},
    "dyn.squeeze": {1: "axis"},
    "dyn.strided_slice": {1: "begin", 2: "end", 3: "strides"},
    "dyn.tile": {1: "reps"},
    "dyn.topk": {1: "k"},
    "dyn.zeros": {0: "shape"},
}
_REAL = {"scale_h", "scale_w", "scale_d", "roi"}


def _value(name, constant):
    """What an attribute is, of what the operand was."""
    value = constant.data.tolist()

    def rounded(v):
        return [rounded(x) for x in v] if isinstance(v, list) else float(v) if name in _REAL else int(v)
    return rounded(value)


class _Static(ExprMutator):
    changed = False

    def visit_call(self, call):
        new = super().visit_call(call)
        operands = _OPERANDS.get(call.op.name) if isinstance(call.op, Op) else None
        if operands is None or not all(isinstance(new.args[i], Constant) for i in operands):
            return new
        op = relay.op.get(call.op.name.removeprefix("dyn."))
        known = {field[0] for field in relay._native.operator_schema(op.name)[1]}
        attrs = {name: value for name, value in new.attrs.items() if name in known and value is not None}
        attrs.update((name, _value(name, new.args[i])) for i, name in operands.items())
        if op.name == "topk" and attrs["k"] < 1:  # all of them
            attrs["k"] = new.args[0].checked_type.shape[attrs["axis"]]
        self.changed = True
        return Call(op, [a for i, a in enumerate(new.args) if i not in operands], attrs, span=call.span)


def DynamicToStatic():  # noqa: N802 (TVM's name)
    """A pass that makes operators with sizes that are known (dyn.reshape becomes reshape ...) of those whose sizes it can compute: from
    constants, and from shapes that are known."""
    from ..transform import FunctionPass

    def run(mod, _):
        mod = changed_functions(mod, folded, "DynamicToStatic", needs_types=False)._inferred()
        changed = True
        while changed:  # what is known now may make more known
            changed = False

            def change(fn):
                nonlocal changed
                static = _Static()
                made = static.visit(folded(fn))
                changed = changed or static.changed
                return made
            mod = changed_functions(mod, change, "DynamicToStatic")
        return mod
    return FunctionPass("DynamicToStatic", run, opt_level=2, needs_types=False)
