"""What layouts operators' operands and results have: a rule for each operator that layouts may pass.

rule(attrs, new, old, types) gives (layouts of the operands, of the results, attributes). old: the layouts that the operands were made in,
None for those that are not known. new: those that they have now; None before anything changes, and the answer says what the operator sees
in the program as written. types: of the operands, as written. Where a layout in an answer is None, the operator keeps the layouts that it was
written with. Operands that are tuples count with each of their fields.
"""
from .. import relay
from ..operators import _BINARY, _UNARY
from .layout import Layout, changed_like, with_blocks_of_one

RULES = {}


def _rule(*names):
    def take(rule):
        RULES.update(dict.fromkeys(names, rule))
        return rule
    return take


def _shapes(types):
    return [t.shape if isinstance(t, relay.TensorType) else tuple(f.shape for f in t.fields) for t in types]


def _axis(axis, rank):
    return axis + rank if axis < 0 else axis


def _letter(layout, axis):
    return layout.letters[axis]


def _first_known(layouts):
    return next((layout for layout in layouts if layout is not None), None)


C = Layout("C")

# --- Elementwise, with broadcasting ---


@_rule(*(set(_UNARY.split()) - {"invert_permutation", "nn.batch_flatten"}), "clip", "fixed_point_multiply", "cast", "nn.leaky_relu",
       "fast_exp", "fast_erf", "fast_tanh", "ndarray_size", "cast_like", "reinterpret", "device_copy", "annotation.compiler_begin",
       "annotation.compiler_end")
def _elementwise(attrs, new, old, types):
    layout = new[0] if new else _first_known(old)
    return [layout] * len(old), [layout], attrs


@_rule("nn.dropout")
def _dropout(attrs, new, old, types):
    inputs, outputs, attrs = _elementwise(attrs, new, old, types)
    return inputs, outputs * 2, attrs


@_rule(*_BINARY.split())
def _broadcast(attrs, new, old, types):
    shapes, layouts = _shapes(types), list(old)
    unknown = [None, None], [None], attrs
    if layouts == [None, None]:
        return unknown
    if None in layouts:
        at = layouts.index(None)
        known, missing = len(shapes[1 - at]), len(shapes[at])
        if known < missing:
            return unknown
        layouts[at] = layouts[1 - at].part(known - missing, missing)
    large = 0 if len(shapes[0]) >= len(shapes[1]) else 1
    if new is None:
        return layouts, [layouts[large]], attrs
    result = new[large]
    large = 0 if new[0].primal_rank >= new[1].primal_rank else 1
    small = 1 - large
    wanted = changed_like(layouts[small], layouts[large], new[large])
    if wanted is None:
        return unknown
    layouts[large], layouts[small] = new[large], with_blocks_of_one(wanted, layouts[small], shapes[small])
    return layouts, [result], attrs


# --- Operators that say their layouts in attributes ---

@_rule("nn.conv1d", "nn.conv2d", "nn.conv3d", "nn.conv1d_transpose", "nn.conv2d_transpose", "nn.conv3d_transpose", "nn.contrib_conv2d_NCHWc",
       "nn.contrib_depthwise_conv2d_NCHWc")
def _convolution(attrs, new, old, types):
    data = Layout(attrs["data_layout"])
    return [data, Layout(attrs["kernel_layout"])], [Layout(attrs["out_layout"]) if attrs["out_layout"] else data], attrs


@_rule("qnn.conv2d", "qnn.conv2d_transpose")
def _quantised_convolution(attrs, new, old, types):
    inputs, outputs, attrs = _convolution(attrs, new, old, types)
    return inputs + [C] * 4, outputs, attrs


@_rule("nn.deformable_conv2d")
def _deformable_convolution(attrs, new, old, types):
    (data, kernel), outputs, attrs = _convolution(attrs, new, old, types)
    return [data, data, kernel], outputs, attrs


@_rule("nn.dense")
def _dense(attrs, new, old, types):
    return [Layout("NC"), Layout("NC")], [Layout("NC")], attrs


@_rule("qnn.dense")
def _quantised_dense(attrs, new, old, types):
    return [Layout("NC"), Layout("NC")] + [Layout("N")] * 4, [Layout("NC")], attrs


@_rule("nn.contrib_dense_pack")
def _packed_dense(attrs, new, old, types):
    return [Layout("NC"), Layout(attrs["weight_layout"])], [Layout("NC")], attrs


@_rule(*(f"nn.{kind}_pool{d}d" for kind in ("max", "avg", "adaptive_max", "adaptive_avg") for d in (1, 2, 3)), "nn.global_max_pool2d",
       "nn.global_avg_pool2d")
def _pool(attrs, new, old, types):
    if attrs["out_layout"]:
        if attrs["layout"] != attrs["out_layout"]:
            raise ValueError(f"pooling: expected one layout and out_layout, found {attrs['layout']} and {attrs['out_layout']}")
    elif new is not None:
        attrs = {**attrs, "layout": new[0].name}
    layout = Layout(attrs["layout"])
    return [layout], [layout], attrs


@_rule("qnn.avg_pool2d")
def _quantised_pool(attrs, new, old, types):
    inputs, outputs, attrs = _pool(attrs, new, old, types)
    return inputs + [None] * 4, outputs, attrs


@_rule("image.resize1d", "image.resize2d", "image.resize3d")
def _resize(attrs, new, old, types):
    if new is not None and new[0] != old[0] and old[0] is not None and old[0].name == attrs["layout"] and len(new[0]) == len(old[0]):
        attrs = {**attrs, "layout": new[0].name}
    layout = Layout(attrs["layout"])
    return [layout], [layout], attrs


@_rule("nn.upsampling", "nn.upsampling3d", "dyn.nn.upsampling", "dyn.nn.upsampling3d")
def _upsampling(attrs, new, old, types):
    written = Layout(attrs["layout"])
    space = [c for c in "WHD" if c != "D" or new is not None and "D" in new[0].letters]
    if new is not None and all(new[0].index(c) == written.index(c) and new[0].index(c.lower()) < 0 for c in space):
        attrs = {**attrs, "layout": new[0].name}
    layout = Layout(attrs["layout"])
    return [layout] + [Layout("1")] * (len(old) - 1), [layout], attrs


@_rule("vision.roi_align", "vision.roi_pool")
def _regions_of_interest(attrs, new, old, types):
    layout = Layout(attrs["layout"])
    return [layout, Layout("N5")], [layout], attrs


@_rule("nn.correlation", "image.dilation2d")
def _with_layout(attrs, new, old, types):
    layout = Layout(attrs["layout"] if "layout" in attrs else attrs["data_layout"])
    return [layout, layout if "layout" in attrs else Layout(attrs["kernel_layout"])], [layout], attrs


# --- Operators with axes ---

def _along_axis(inputs, outputs):
    """Of operators that have an attribute `axis`, which cannot be in blocks; behind the data come operands and results of that axis alone."""
    def rule(attrs, new, old, types):
        layout = old[0]
        letter = layout and _letter(layout, _axis(attrs["axis"], len(_shapes(types)[0])))
        if new is not None and layout is not None and new[0].factor(letter) is None:
            attrs, layout = {**attrs, "axis": new[0].index(letter)}, new[0]
        return [layout] + [C] * inputs, [layout] + [C] * outputs, attrs
    return rule


RULES["nn.batch_norm"] = _along_axis(4, 2)
RULES["nn.layer_norm"] = RULES["nn.instance_norm"] = _along_axis(2, 0)


@_rule("topk")
def _topk(attrs, new, old, types):
    inputs, outputs, attrs = _along_axis(0, 0)(attrs, new, old, types)
    return inputs, outputs * (2 if attrs["ret_type"] == "both" else 1), attrs


@_rule("nn.prelu")
def _prelu(attrs, new, old, types):
    return [old[0], C], [old[0]], attrs


@_rule("nn.l2_normalize")
def _l2_normalize(attrs, new, old, types):
    layout = old[0]
    if new is not None and layout is not None and attrs["axis"] is not None:
        letters = {_letter(layout, _axis(a, len(layout))) for a in attrs["axis"]}
        attrs, layout = {**attrs, "axis": [i for i, letter in enumerate(new[0].letters) if letter.upper() in letters]}, new[0]
    return [layout], [layout], attrs


def _reduced(attrs, layout, reduced):
    """(the result's layout, the axes) where the axes of some letters go."""
    result, axes = [], []
    for i, (letter, factor) in enumerate(layout.axes):
        goes = letter.upper() in reduced
        if goes != bool(attrs["exclude"]):
            axes.append(i)
        if not goes:
            result.append((letter, factor))
        elif attrs["keepdims"]:
            result.append((letter, 1 if factor else 0))
    return Layout.of(result), axes


@_rule("argmax", "argmin", "sum", "all", "any", "max", "min", "prod", "mean", "variance")
def _reduce(attrs, new, old, types):
    layout = old[0]
    if layout is None:
        return [None] * len(old), [None], attrs
    rank = len(_shapes(types)[0])
    axes = attrs["axis"]
    axes = range(rank) if axes is None else [axes] if isinstance(axes, int) else axes
    axes = {_axis(a, rank) for a in axes}
    if attrs["axis"] is not None and attrs["exclude"]:
        axes = set(range(rank)) - axes
    reduced = {_letter(layout, a) for a in axes}
    if new is not None and axes:
        layout = new[0]
        result, changed = _reduced(attrs, layout, reduced)
        attrs = {**attrs, "axis": changed}
    else:
        result, _ = _reduced(attrs, layout, reduced)
    return [layout] * len(old), [result], attrs


@_rule("nn.pad")
def _pad(attrs, new, old, types):
    layout, widths = old[0], attrs["pad_width"]
    if new is not None and layout is not None:
        of = dict(zip(layout.letters, widths))
        # A block takes no part in padding.
        if all(letter in of or tuple(of.get(letter.upper(), (1, 1))) == (0, 0) for letter in new[0].letters):
            attrs, layout = {**attrs, "pad_width": [of.get(letter, (0, 0)) for letter in new[0].letters]}, new[0]
    return [layout, Layout("1")], [layout], attrs


@_rule("concatenate")
def _concatenate(attrs, new, old, types):
    axis = _axis(attrs["axis"], len(_shapes(types)[0][0]))
    layout = _first_known(old)
    if new is not None and all(x == new[0] for x in new):
        return [new[0]] * len(old), [new[0]], {**attrs, "axis": new[0].index(_letter(old[0] or layout, axis))}
    if layout is None or len(layout) <= axis or not _letter(layout, axis).isupper():
        return [None], [None], attrs
    return [layout] * len(old), [layout], attrs


@_rule("qnn.concatenate")
def _quantised_concatenate(attrs, new, old, types):
    count = len(types[0].fields)
    inputs, outputs, attrs = _concatenate(attrs, new and new[:count], old[:count], types[:1])
    return inputs + [C] * (2 * count + 2), outputs, attrs


@_rule("transpose")
def _transpose(attrs, new, old, types):
    layout = old[0]
    if layout is None:
        return [None], [None], attrs
    axes = [_axis(a, len(layout)) for a in attrs["axes"] or reversed(range(len(layout)))]
    if new is not None:
        changed = [new[0].index(_letter(layout, a)) for a in axes]
        if -1 not in changed and len(changed) == len(new[0]):
            axes, layout = changed, new[0]
    if any(factor for _, factor in layout.axes):
        return [None], [None], attrs
    return [layout], [Layout.of(layout.axes[a] for a in axes)], {**attrs, "axes": axes}


@_rule("squeeze")
def _squeeze(attrs, new, old, types):
    layout = new[0] if new else old[0]
    if layout is None or old[0] is None:
        return [None], [None], attrs
    shape = _shapes(types)[0]
    axes = [i for i, dim in enumerate(shape) if dim == 1] if attrs["axis"] is None else attrs["axis"]
    axes = [_axis(a, len(shape)) for a in ([axes] if isinstance(axes, int) else axes)]
    if new is not None:
        axes = [layout.index(_letter(old[0], a)) for a in axes]
        attrs = {**attrs, "axis": axes}
    return [layout], [Layout.of(part for i, part in enumerate(layout.axes) if i not in axes)], attrs


@_rule("split")
def _split(attrs, new, old, types):
    layout, parts = old[0], attrs["indices_or_sections"]
    count = parts if isinstance(parts, int) else len(parts) + 1
    if new is not None and layout is not None:
        letter = _letter(layout, _axis(attrs["axis"], len(_shapes(types)[0])))
        factor = new[0].factor(letter) or 1
        attrs = {**attrs, "axis": new[0].index(letter)}
        if isinstance(parts, int) or all(p % factor == 0 for p in parts):
            layout = new[0]
            if not isinstance(parts, int):
                attrs["indices_or_sections"] = [p // factor for p in parts]
    return [layout], [layout] * count, attrs


@_rule("slice_like")
def _slice_like(attrs, new, old, types):
    if new is not None and new[0] == new[1] and old[0] == old[1] and attrs["axes"]:
        axes = [new[0].index(_letter(old[0], a)) for a in attrs["axes"]]
        if -1 not in axes:
            return [new[0]] * 2, [new[0]], {**attrs, "axes": axes}
    return list(old), [old[1]], attrs


@_rule("strided_slice")
def _strided_slice(attrs, new, old, types):
    layout = old[0]
    if layout is None or new is None:
        return [layout], [layout], attrs
    changed = _sliced(attrs, layout, new[0], _shapes(types)[0])
    return ([None], [None], attrs) if changed is None else ([changed[0]], [changed[0]], changed[1])


def _sliced(attrs, layout, new, shape):
    """(the layout, the attributes) of a slice whose data changes its layout; None where it cannot."""
    begin, end = list(attrs["begin"]), list(attrs["end"])
    strides = [1] * len(begin) if attrs["slice_mode"] == "size" else list(attrs["strides"])
    if new.name.startswith(layout.name) or layout.name.startswith(new.name):
        if len(layout.name) >= len(new.name):
            return layout, attrs
        return _sliced_in_blocks(attrs, layout, new, shape, begin, end, strides)
    if len(layout.name) != len(new.name):
        return None
    if attrs["axes"]:
        return new, {**attrs, "axes": [new.index(_letter(layout, a)) for a in attrs["axes"]], "strides": _filled(strides, [1] * len(begin))}
    at = [layout.index(letter) for letter in new.letters]
    end = _filled(end, shape)
    if -1 in at or not all(isinstance(e, int) for e in end):
        return None
    begin, strides = _filled(begin, [0] * len(shape)), _filled(strides, [1] * len(shape))
    return new, {**attrs, "begin": [begin[i] for i in at], "end": [end[i] for i in at], "strides": [strides[i] for i in at]}


def _filled(values, defaults):
    return [*values, *defaults[len(values):]]


def _sliced_in_blocks(attrs, layout, new, shape, begin, end, strides):
    axes = attrs["axes"] or range(len(begin))
    for i, a in enumerate(axes):
        factor = new.factor(_letter(layout, a))
        if factor is None:
            continue
        first, last = begin[i], end[i]
        if attrs["slice_mode"] == "size":
            last = shape[a] if last < 0 else first + last
        if (i < len(strides) and strides[i] != 1) or not isinstance(last, int) or first % factor or last % factor:
            return None
        begin[i], end[i] = first // factor, (last - first if attrs["slice_mode"] == "size" else last) // factor
    changed = {**attrs, "begin": begin, "end": end}
    if attrs["axes"]:
        changed["axes"] = [new.index(_letter(layout, a)) for a in axes]
    return new, changed


# --- Quantised operators ---

@_rule("qnn.requantize")
def _requantize(attrs, new, old, types):
    layout = old[0]
    if new is not None and layout is not None:
        letter = _letter(layout, _axis(attrs["axis"], len(_shapes(types)[0])))
        is_scalar = all(all(dim == 1 for dim in t.shape) for t in types[1:3])
        layout = new[0] if is_scalar else Layout.of((c, factor) for c, factor in new[0].axes if c.isupper())
        attrs = {**attrs, "axis": layout.index(letter)}
    return [layout] + [C] * 4, [layout], attrs


@_rule("qnn.add", "qnn.mul", "qnn.subtract")
def _quantised_broadcast(attrs, new, old, types):
    inputs, outputs, attrs = _broadcast(attrs, new and new[:2], old[:2], types[:2])
    return inputs + [C] * 6, outputs, attrs


# Operators that compute element by element, with broadcasting.
ELEMENTWISE = frozenset(name for name, rule in RULES.items() if rule in (_elementwise, _broadcast))
