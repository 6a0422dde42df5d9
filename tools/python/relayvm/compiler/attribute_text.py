"""Attributes of calls as Relay text has them, where TVM's order or what it writes differs from what the operators here say."""
from . import _native, relay

_CONV_TRANSPOSE = "channels kernel_size strides output_padding padding dilation groups data_layout kernel_layout out_layout out_dtype"
_UPSAMPLING3D = "scale_d scale_h scale_w layout method coordinate_transformation_mode"
_ARG_REDUCE = "axis keepdims select_last_index exclude"
_POOL = "output_size layout out_layout"
_ORDERS = {
    "argmax": _ARG_REDUCE, "argmin": _ARG_REDUCE, "dyn.nn.upsampling": "scale_h scale_w layout method align_corners",
    "dyn.nn.upsampling3d": _UPSAMPLING3D, "dyn.topk": "k axis ret_type is_ascend dtype", "nn.batch_matmul": "out_dtype transpose_a transpose_b",
    "nn.conv1d_transpose": _CONV_TRANSPOSE, "nn.conv2d_transpose": _CONV_TRANSPOSE, "nn.conv3d_transpose": _CONV_TRANSPOSE,
    "nn.deformable_conv2d": "strides padding dilation deformable_groups groups channels kernel_size data_layout kernel_layout out_layout out_dtype",
    "nn.group_norm": "num_groups axis epsilon center scale", "nn.matmul": "units out_dtype transpose_a transpose_b",
    "nn.upsampling3d": _UPSAMPLING3D, "qnn.conv2d_transpose": _CONV_TRANSPOSE, "topk": "k axis ret_type is_ascend dtype",
    **{f"nn.adaptive_{kind}_pool{n}d": _POOL for kind in ("avg", "max") for n in (1, 2, 3)},
}
_ALWAYS = {  # written also where they are None or what they are by default
    "dyn.broadcast_to": "shape", "dyn.full": "shape", "dyn.nn.pad": "pad_width", "dyn.nn.upsampling": "scale_h scale_w", "dyn.nn.upsampling3d": "scale_d scale_h scale_w",
    "dyn.ones": "shape", "dyn.reshape": "newshape", "dyn.strided_slice": "begin end strides axes", "dyn.tile": "reps", "dyn.topk": "k",
    "dyn.zeros": "shape", "full": "shape", "nn.contrib_dense_pack": "units", "nn.dense": "units", "nn.l2_normalize": "axis", "nn.matmul": "units",
    "nn.upsampling": "scale_h scale_w", "nn.upsampling3d": "scale_d scale_h scale_w", "qnn.batch_matmul": "out_dtype", "qnn.conv2d": "out_dtype",
    "qnn.conv2d_transpose": "out_dtype", "qnn.dense": "units out_dtype", "qnn.dequantize": "out_dtype", "qnn.requantize": "out_dtype", "slice_like": "axes",
    "strided_slice": "begin end strides axes", "topk": "k", "transpose": "axes", "vision.get_valid_counts": "score_threshold",
    "vision.multibox_transform_loc": "variances",
}
_OPERANDS = {"arange": ("start", "stop", "step")}  # which are attributes, too

_schemas = {}


def _schema(op):
    """(name, whether it is written always, default) of each attribute of an operator, in the order of the text; None where that is not known."""
    if op.name not in _schemas:
        known = _native.operator_schema(op.name)
        _schemas[op.name] = known and _as_written(op.name, known[1])
    return _schemas[op.name]


def _as_written(name, fields):
    order, always = _ORDERS.get(name, "").split(), _ALWAYS.get(name, "").split()
    places = {field: i for i, field in enumerate(order)}
    fields = sorted(fields, key=lambda field: places.get(field[0], len(order)))
    return [(field, is_required or field in always, fallback) for field, is_required, fallback in fields]


def written_attrs(call):
    """(name, value) of the attributes of a call that the text has, in its order: those that have not their defaults."""
    if not isinstance(call.op, relay.Op):
        return list(call.attrs.items()) if call.attrs else []
    schema = _schema(call.op)
    if schema == []:
        return []
    attrs = call.attrs
    if schema is None:
        return [(name, value) for name, value in attrs.items() if value is not None]
    written = [(name, attrs[name]) for name, is_always, fallback in schema if name in attrs and (is_always or attrs[name] != fallback)]
    return _operands(call) + written if call.op.name in _OPERANDS else written


def _operands(call):
    """Operands that stand as attributes once more: the constants among them."""
    return [(name, arg) for name, arg in zip(_OPERANDS[call.op.name], call.args) if isinstance(arg, relay.Constant)]
