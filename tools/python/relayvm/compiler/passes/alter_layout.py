"""AlterOpLayout and ConvertLayout: operators get other layouts or other operators in their place, and what follows takes them as far as it can.

    @rvm.relay.register_alter_op_layout("nn.conv2d")
    def blocks_of_16(attrs, inputs, tinfos, out_type):
        return relay.nn.conv2d(*inputs, **{**attrs, "data_layout": "NCHW16c"})

    mod = rvm.transform.AlterOpLayout()(mod)

Where a value is wanted in the layout that the program gave it, a layout_transform stands. What layouts operators take: layout_rules.py, and
functions that are registered as FInferCorrectLayout (`tvm.ir.register_op_attr`).
"""
import re
import warnings

from .. import relay
from ..regions import register_op_attr
from .layout import Layout
from .layout_rules import RULES
from .rewriter import ForwardRewriter, Pending, function_pass

__all__ = ["AlterOpLayout", "ConvertLayout"]


class _Altered(Pending):
    """A value whose layout changed from `old` to `new`."""

    __slots__ = ("value", "old", "new", "transforms", "is_ones")

    def __init__(self, value, old, new, transforms, is_ones=False):
        self._init(None, value=value, old=old, new=new, transforms=transforms, is_ones=is_ones)

    def realised(self):
        return self.transforms.apply(self.value, self.new, self.old, self.is_ones)

    def _children(self):
        return (self.value,)


def _has_one_element(kind):
    return isinstance(kind, relay.TensorType) and all(dim == 1 for dim in kind.shape)


class _Transforms:
    """The layout_transforms of a function, each once."""

    def __init__(self):
        self._made = {}

    def apply(self, value, source, target, is_ones):
        """A value in another layout. is_ones: it has one element."""
        if source == target:
            return value
        key = (value, source, target)
        if key not in self._made:
            self._made[key] = self._transform(value, source, target, is_ones)
        return self._made[key]

    @staticmethod
    def _transform(value, source, target, is_ones):
        missing = target.primal_rank - source.primal_rank
        if missing > 0:
            if is_ones:
                return value  # which broadcasts as it is
            source = source.with_missing(target)
            value = relay.expand_dims(value, 0, missing)
            if source == target:
                return value
        if {c for c in source.letters if c.isupper()} != {c for c in target.letters if c.isupper()}:
            raise ValueError(f"no layout_transform leads from {source.name} to {target.name}: their axes are others")
        return relay.layout_transform(value, source.name, target.name)


class InferCorrectLayoutOutput:
    """What functions of FInferCorrectLayout give: layouts of operands and results (`Layout`s, their names, None for what is not known), and
    the attributes that go with them."""

    def __init__(self, input_layouts, output_layouts, new_attrs):
        self.input_layouts, self.output_layouts, self.new_attrs = list(input_layouts), list(output_layouts), new_attrs


def _rule_of(op):
    """How an operator's layouts follow each other: a function that was registered for it, or the rule of its name; None where there is none."""
    function = op.get_attr("FInferCorrectLayout")
    if function is None:
        return RULES.get(op.name)

    def rule(attrs, new, old, types):
        told = function(relay.Attrs(attrs), new, old, types)
        layouts = [[Layout(x) if isinstance(x, str) else x for x in side] for side in (told.input_layouts, told.output_layouts)]
        return *layouts, dict(told.new_attrs)
    return rule


def _infer(call, new, old, types):
    """What a rule says; None where it does not know."""
    rule = _rule_of(call.op) if isinstance(call.op, relay.Op) else None
    if rule is None:
        return None
    inputs, outputs, attrs = rule(dict(call.attrs), new, old, types)
    return None if None in inputs or None in outputs else (inputs, outputs, attrs)


class _LayoutRewriter:
    """change(call, attrs, args): the call with other layouts; None for the same."""

    def __init__(self, key, change):
        self.key, self.change = key, change
        self.transforms = _Transforms()

    def _changed(self, call, attrs, args):
        new = self.change(call, attrs, args) if call.op.has_attr(self.key) else None
        if new is None:
            return relay.Call(call.op, args, attrs, span=call.span)
        if not isinstance(new, relay.Call):
            raise TypeError(f"{self.key} of {call.op.name}: expected a call in place of a call, found {type(new).__name__}")
        return new

    def rewrite(self, call, args):
        states = []

        def plain(arg, kind):
            if not isinstance(arg, _Altered):
                arg = _Altered(arg, None, None, self.transforms, _has_one_element(kind))
            states.append(arg)
            return arg.value

        operands = []
        for arg, written in zip(args, call.args):
            kind = written.checked_type
            if isinstance(arg, relay.Tuple):
                operands.append(relay.Tuple([plain(f, t) for f, t in zip(arg.fields, kind.fields)], arg.span))
            else:
                operands.append(plain(arg, kind))
        if _rule_of(call.op) is None:
            return self._changed(call, dict(call.attrs), operands) if call.op.has_attr(self.key) else None
        return self._with_layouts(call, operands, states)

    def _with_layouts(self, call, operands, states):
        """The layouts of a value: as its producer sees it (old and new), and as the call does (now_old and now_new)."""
        types = [a.checked_type for a in call.args]
        old, new = [s.old for s in states], [s.new for s in states]
        written = _infer(call, None, old, types)
        if written is None:
            return None
        now_old, out_old, attrs = written
        changed = self._changed(call, attrs, operands)
        if not isinstance(changed.op, relay.Op):
            return None
        found = _infer(changed, [n or c for n, c in zip(new, now_old)], [o or c for o, c in zip(old, now_old)], types)
        if found is None:
            return None
        now_new, out_new, attrs = found
        if len(now_new) != len(new) or len(out_new) != len(out_old):
            raise ValueError(f"{self.key} of {call.op.name}: {changed.op.name} has another number of operands or results")
        waiting = iter(zip(states, old, now_old, new, now_new))
        moved = [relay.Tuple([self._moved(f, *next(waiting)) for f in a.fields], a.span) if isinstance(a, relay.Tuple)
                 else self._moved(a, *next(waiting)) for a in changed.args]
        result = relay.Call(changed.op, moved, attrs, span=call.span)
        kind = call.checked_type
        if isinstance(kind, relay.TupleType):
            return relay.Tuple([_Altered(relay.TupleGetItem(result, i), o, n, self.transforms, _has_one_element(kind.fields[i]))
                                for i, (o, n) in enumerate(zip(out_old, out_new))])
        return _Altered(result, out_old[0], out_new[0], self.transforms, _has_one_element(kind))

    def _moved(self, arg, state, old, now_old, new, now_new):
        apply = self.transforms.apply
        if old is None or old == now_old:
            return apply(arg, new or now_old, now_new, state.is_ones)
        # The call sees other axes than the producer: both changes stand.
        return apply(apply(arg, new, old, state.is_ones), now_old, now_new, state.is_ones)


def _flat(types):
    return [f for t in types for f in (t.fields if isinstance(t, relay.TupleType) else [t])]


def AlterOpLayout():  # noqa: N802 (TVM's name)
    """A pass that asks FTVMAlterOpLayout functions of operators (`register_alter_op_layout`) for calls in place of theirs, in other layouts.

    function(attrs, inputs, tinfos, out_type): inputs are the new operands, tinfos their types as written. It gives a call, or None.
    """
    def change(call, attrs, args):
        function = call.op.get_attr("FTVMAlterOpLayout")
        return function(relay.Attrs(attrs), args, _flat(a.checked_type for a in call.args), call.checked_type)
    return function_pass("AlterOpLayout", lambda f: ForwardRewriter(_LayoutRewriter("FTVMAlterOpLayout", change).rewrite).run(f), opt_level=3)


def ConvertLayout(desired_layouts):  # noqa: N802 (TVM's name)
    """A pass that computes chosen operators in chosen layouts: {"nn.conv2d": ["NHWC", "OHWI"]}, "default" for the kernel that goes with the
    data's. Functions of FTVMConvertOpLayout (`register_convert_op_layout`) say how.
    """
    desired = {name: [layouts] if isinstance(layouts, str) else list(map(str, layouts)) for name, layouts in dict(desired_layouts).items()}

    def change(call, attrs, args):
        if call.op.name not in desired:
            return None
        function = call.op.get_attr("FTVMConvertOpLayout")
        return function(relay.Attrs(attrs), args, _flat(a.checked_type for a in call.args), desired[call.op.name])

    def run(function):
        for name in desired:
            if not relay.op.get(name).has_attr("FTVMConvertOpLayout"):
                warnings.warn(f"ConvertLayout: {name} has no layouts to choose (register_convert_op_layout)", stacklevel=2)
        return ForwardRewriter(_LayoutRewriter("FTVMConvertOpLayout", change).rewrite).run(function)
    return function_pass("ConvertLayout", run, opt_level=3, required=["CanonicalizeOps"])


def register_alter_op_layout(op_name, alter_layout=None, level=10):
    """A function that AlterOpLayout asks, or a decorator for one."""
    return register_op_attr(op_name, "FTVMAlterOpLayout", alter_layout, level)


def register_convert_op_layout(op_name, convert_layout=None, level=10):
    """function(attrs, inputs, tinfos, desired_layouts) that ConvertLayout asks, or a decorator for one."""
    return register_op_attr(op_name, "FTVMConvertOpLayout", convert_layout, level)


# --- Layouts of the operators that have them ---

# Data layouts and the kernel's that goes with it.
_KERNELS = {
    "nn.conv1d": {"NCW": "OIW", "NWC": "WIO"},
    "nn.conv2d": {"NCHW": "OIHW", "NHWC": "HWIO", "HWNC": "HWOI"},
    "nn.conv3d": {"NCDHW": "OIDHW", "NDHWC": "DHWIO"},
    "nn.conv2d_transpose": {"NCHW": "IOHW", "NHWC": "HWIO"},
    "nn.conv3d_transpose": {"NCDHW": "IODHW", "NDHWC": "DHWOI"},
    "nn.deformable_conv2d": {"NCHW": "OIHW", "NHWC": "HWIO"},
    "qnn.conv2d": {"NCHW": "OIHW", "NHWC": "HWIO"},
    "qnn.conv2d_transpose": {"NCHW": "IOHW", "NHWC": "HWIO"},
}
_POOLS = ["nn.max_pool2d", "nn.avg_pool2d", "nn.global_max_pool2d", "nn.global_avg_pool2d", "qnn.avg_pool2d"]


class LayoutConfig:
    """Which convolutions of a function ConvertLayout leaves: with LayoutConfig(skip_layers=[0, 2]): ..., counted in their order."""

    current = None

    def __init__(self, skip_layers=None):
        self.skip_layers, self.counter = list(skip_layers or []), 0

    def check_skip(self):
        """Whether the next one stays."""
        self.counter += 1
        return self.counter - 1 in self.skip_layers

    def reset(self):
        """Counts anew."""
        self.counter, self.skip_layers = 0, []

    def __enter__(self):
        self._before, LayoutConfig.current = LayoutConfig.current, self
        return self

    def __exit__(self, *_):
        LayoutConfig.current = self._before


def is_depthwise(data_shape, data_layout, kernel_shape, kernel_layout, groups):
    """Whether a convolution has a group for each channel."""
    channels = data_shape[data_layout.index("C")]
    return groups == channels == kernel_shape[kernel_layout.index("O")] and groups > 1


def _convert_convolution(name):
    kernels, op = _KERNELS[name], relay.op.get(name)

    def convert(attrs, inputs, tinfos, layouts):
        if len(layouts) != 2 or layouts[0] == "default":
            raise ValueError(f"ConvertLayout: {name} wants the layout of its data and that of its kernel, or \"default\" for the latter; "
                             f"found {layouts}")
        if name in ("nn.conv2d", "nn.deformable_conv2d") and LayoutConfig.current is not None and LayoutConfig.current.check_skip():
            return op(*inputs, **attrs)
        data, kernel = layouts
        blocks = re.fullmatch(r"NCHW(\d+)c", data)
        if blocks and name == "nn.conv2d":
            return _convert_to_blocks(attrs, inputs, data, kernel, int(blocks[1]))
        if kernel == "default":
            if data not in kernels:
                raise ValueError(f"ConvertLayout: {name} has no default kernel layout for {data}; there are {', '.join(kernels)}")
            weight = tinfos[2 if name == "nn.deformable_conv2d" else 1]
            depthwise = name in ("nn.conv2d", "qnn.conv2d") and data == "NHWC" and is_depthwise(
                tinfos[0].shape, attrs["data_layout"], weight.shape, attrs["kernel_layout"], attrs["groups"])
            kernel = "HWOI" if depthwise else kernels[data]
        return op(*inputs, **{**attrs, "data_layout": data, "kernel_layout": kernel})
    return convert


def _convert_to_blocks(attrs, inputs, data, kernel, size):
    if kernel == "default":
        raise ValueError(f"ConvertLayout: {data} has no default kernel layout")
    if isinstance(inputs[0], relay.Var) and inputs[0].checked_type.shape[1] % size != 0:
        return relay.nn.conv2d(*inputs, **attrs)
    return relay.nn.contrib_conv2d_nchwc(*inputs, **{**attrs, "data_layout": data, "kernel_layout": kernel})


def _convert_layout_attribute(name, *names):
    op = relay.op.get(name)

    def convert(attrs, inputs, tinfos, layouts):
        if layouts[0] == "default":
            raise ValueError(f"ConvertLayout: {name} wants the layout of its data, found {layouts}")
        return op(*inputs, **{**attrs, **dict.fromkeys(names, layouts[0])})
    return convert


def _register():
    for name in _KERNELS:
        register_convert_op_layout(name, _convert_convolution(name), level=0)
    for name in _POOLS:
        register_convert_op_layout(name, _convert_layout_attribute(name, "layout", "out_layout"), level=0)
    for name in ("image.resize1d", "image.resize2d", "image.resize3d", "vision.roi_align", "vision.roi_pool"):
        register_convert_op_layout(name, _convert_layout_attribute(name, "layout"), level=0)


_register()
