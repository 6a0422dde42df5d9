"""Operators as TVM's Python functions take them: relay.nn.batch_matmul(x, y), relay.reshape(x, (4, 2)), relay.split(x, 2)[0].

TVM's Python functions have names of parameters, an order and defaults of their own, which differ here and there from those of the
operators' attributes that text and `relay.Call` have (nn.batch_matmul: transpose_b is True in Python and False in text). `_FUNCTIONS`
has them all, as of TVM 0.14; what a function does besides making a call stands below it. An operator that is not there takes its
operands, then its attributes in their order, by position too. Walked by tests/test_operators.py.
"""
import ast
import functools
import inspect

from . import _native, inference, op_patterns, relay
from .types import dtype_name, is_dtype

_UNARY = """log log2 log10 tan cos cosh sin sinh acos acosh asin asinh atan atanh exp erf sqrt rsqrt sigmoid floor ceil trunc round abs
sign tanh negative logical_not bitwise_not zeros_like ones_like copy isnan isfinite isinf invert_permutation nn.batch_flatten nn.relu
annotation.stop_fusion annotation.checkpoint"""
_BINARY = """add subtract multiply divide floor_divide trunc_divide power mod floor_mod trunc_mod logical_and logical_or logical_xor
bitwise_and bitwise_or bitwise_xor equal not_equal less less_equal greater greater_equal maximum minimum right_shift left_shift"""

# Names, then their parameters. What is an attribute of the operator is given as one, the rest are operands in this order.
_FUNCTIONS = f"""
{" ".join(_UNARY.split())} (data)
{" ".join(_BINARY.split())} (lhs, rhs)
zeros ones (shape, dtype)
clip (a, a_min, a_max)
fixed_point_multiply (data, multiplier, shift)
concatenate stack (data, axis)
einsum (data, equation)
device_copy (data, src_device, dst_device)
shape_of ndarray_size (data, dtype="int32")
sliding_window (data, axis, window_shape, strides)
cast reinterpret (data, dtype)
cast_like (data, dtype_like)
expand_dims (data, axis, num_newaxis=1)
transpose (data, axes=None)
squeeze (data, axis=None)
reshape (data, newshape, allowzero=False)
reverse_reshape contrib_reverse_reshape (data, newshape)
argwhere (condition)
scatter_elements (data, indices, updates, axis=0, reduction="update")
scatter_nd (data, indices, updates, mode="update")
reshape_like (data, shape_like, lhs_begin=0, lhs_end=None, rhs_begin=0, rhs_end=None)
take (data, indices, axis=None, batch_dims=0, mode="clip")
full (fill_value, shape=(), dtype="")
full_like (data, fill_value)
arange (start, stop=None, step=None, dtype="float32")
meshgrid (data, indexing="ij")
repeat (data, repeats, axis)
tile (data, reps)
reverse (data, axis)
reverse_sequence (data, seq_lengths, seq_axis=1, batch_axis=0)
where (condition, x, y)
broadcast_to (data, shape)
broadcast_to_like (data, broadcast_type)
collapse_sum_like (data, collapse_type)
collapse_sum_to (data, shape)
split (data, indices_or_sections, axis=0)
strided_slice (data, begin, end, strides=None, axes=None, slice_mode="end")
strided_set (data, v, begin, end, strides=None)
slice_like (data, shape_like, axes=None)
layout_transform (data, src_layout, dst_layout)
gather (data, axis, indices)
gather_nd (data, indices, batch_dims=0, index_rank=None)
sequence_mask (data, valid_length, mask_value=0, axis=0)
one_hot (indices, on_value, off_value, depth, axis, dtype)
unravel_index (indices, shape)
sparse_to_dense (sparse_indices, output_shape, sparse_values, default_value=0)
matrix_set_diag (data, diagonal, k=0, align="RIGHT_LEFT")
adv_index (inputs)
sparse_fill_empty_rows (sparse_indices, sparse_values, dense_shape, default_value)
sparse_reshape (sparse_indices, prev_shape, new_shape)
segment_sum (data, segment_ids, num_segments=None)
cumsum cumprod (data, axis=None, dtype=None, exclusive=None)
unique (data, is_sorted=True, return_counts=False)
stft (data, n_fft, hop_length=None, win_length=None, window=None, normalized=False, onesided=True)
dft (re_data, im_data, inverse=False)
trilu (data, k, upper=True)
argmax argmin (data, axis=None, keepdims=False, exclude=False, select_last_index=False)
sum all any max min mean prod mean_std (data, axis=None, keepdims=False, exclude=False)
variance (data, axis=None, keepdims=False, exclude=False, unbiased=False, with_mean=None)
std mean_variance (data, axis=None, keepdims=False, exclude=False, unbiased=False)
logsumexp (data, axis=None, keepdims=False)
sort (data, axis=-1, is_ascend=1)
argsort (data, axis=-1, is_ascend=1, dtype="int32")
topk (data, k=1, axis=-1, ret_type="both", is_ascend=False, dtype="int32")
searchsorted (sorted_sequence, values, right=False, dtype="int32")
nn.conv1d (data, weight, strides=1, padding=0, dilation=1, groups=1, channels=None, kernel_size=None, data_layout="NCW", kernel_layout="OIW", out_layout="", out_dtype="")
nn.conv2d (data, weight, strides=(1, 1), padding=(0, 0), dilation=(1, 1), groups=1, channels=None, kernel_size=None, data_layout="NCHW", kernel_layout="OIHW", out_layout="", out_dtype="")
nn.conv2d_backward_weight (grad, data, strides=(1, 1), padding=(0, 0), dilation=(1, 1), groups=1, channels=None, kernel_size=None, grad_layout="NCHW", data_layout="NCHW", kernel_layout="OIHW", out_dtype="")
nn.bitpack (data, bits=1, pack_axis=1, bit_axis=2, pack_type="uint32", name="BitPack")
nn.bitserial_conv2d (data, weight, strides=(1, 1), padding=(0, 0), channels=None, kernel_size=(3, 3), activation_bits=1, weight_bits=1, data_layout="NCHW", kernel_layout="OIHW", pack_dtype="uint32", out_dtype="int16", unipolar=True)
nn.bitserial_dense (data, weight, units=None, data_bits=1, weight_bits=1, pack_dtype="uint32", out_dtype="int16", unipolar=True)
nn.conv3d (data, weight, strides=(1, 1, 1), padding=(0, 0, 0), dilation=(1, 1, 1), groups=1, channels=None, kernel_size=None, data_layout="NCDHW", kernel_layout="OIDHW", out_layout="", out_dtype="")
nn.conv3d_transpose (data, weight, strides=(1, 1, 1), padding=(0, 0, 0), dilation=(1, 1, 1), groups=1, channels=None, kernel_size=None, data_layout="NCDHW", kernel_layout="IODHW", out_layout="", output_padding=(0, 0, 0), out_dtype="")
nn.conv2d_transpose (data, weight, strides=(1, 1), padding=(0, 0), dilation=(1, 1), groups=1, channels=None, kernel_size=None, data_layout="NCHW", kernel_layout="IOHW", out_layout="", output_padding=(0, 0), out_dtype="")
nn.conv1d_transpose (data, weight, strides=(1,), padding=(0,), dilation=(1,), groups=1, channels=None, kernel_size=None, data_layout="NCW", kernel_layout="IOW", out_layout="", output_padding=(0,), out_dtype="")
nn.contrib_conv2d_nchwc nn.contrib_conv2d_NCHWc nn.contrib_depthwise_conv2d_nchwc nn.contrib_depthwise_conv2d_NCHWc (data, kernel, strides=(1, 1), padding=(0, 0), dilation=(1, 1), groups=1, channels=None, kernel_size=None, data_layout="NCHW8c", kernel_layout="OIHW", out_layout="", out_dtype="")
nn.softmax nn.fast_softmax nn.log_softmax (data, axis=-1)
nn.max_pool1d (data, pool_size=(1,), strides=(1,), dilation=(1,), padding=(0,), layout="NCW", out_layout="", ceil_mode=False)
nn.max_pool2d (data, pool_size=(1, 1), strides=(1, 1), dilation=(1, 1), padding=(0, 0), layout="NCHW", out_layout="", ceil_mode=False)
nn.max_pool3d (data, pool_size=(1, 1, 1), strides=(1, 1, 1), dilation=(1, 1, 1), padding=(0, 0, 0), layout="NCDHW", out_layout="", ceil_mode=False)
nn.avg_pool1d (data, pool_size=(1,), strides=(1,), dilation=(1,), padding=(0,), layout="NCW", out_layout="", ceil_mode=False, count_include_pad=False)
nn.avg_pool2d (data, pool_size=(1, 1), strides=(1, 1), dilation=(1, 1), padding=(0, 0), layout="NCHW", out_layout="", ceil_mode=False, count_include_pad=False)
nn.avg_pool3d (data, pool_size=(1, 1, 1), strides=(1, 1, 1), dilation=(1, 1, 1), padding=(0, 0, 0), layout="NCDHW", out_layout="", ceil_mode=False, count_include_pad=False)
nn.max_pool2d_grad (out_grad, data, pool_size=(1, 1), strides=(1, 1), padding=(0, 0), layout="NCHW", out_layout="", ceil_mode=False)
nn.avg_pool2d_grad (out_grad, data, pool_size=(1, 1), strides=(1, 1), padding=(0, 0), layout="NCHW", out_layout="", ceil_mode=False, count_include_pad=False)
nn.global_max_pool1d nn.global_avg_pool1d (data, layout="NCW", out_layout="")
nn.global_max_pool2d nn.global_avg_pool2d (data, layout="NCHW", out_layout="")
nn.global_max_pool3d nn.global_avg_pool3d (data, layout="NCDHW", out_layout="")
nn.adaptive_max_pool1d nn.adaptive_avg_pool1d (data, output_size=None, layout="NCW", out_layout="")
nn.adaptive_max_pool2d nn.adaptive_avg_pool2d (data, output_size=None, layout="NCHW", out_layout="")
nn.adaptive_max_pool3d nn.adaptive_avg_pool3d (data, output_size=None, layout="NCDHW", out_layout="")
nn.upsampling (data, scale_h=1, scale_w=1, layout="NCHW", method="nearest_neighbor", align_corners=False)
nn.upsampling3d (data, scale_d=1, scale_h=1, scale_w=1, layout="NCDHW", method="nearest_neighbor", coordinate_transformation_mode="half_pixel")
nn.bias_add (data, bias, axis=1)
nn.matmul (tensor_a, tensor_b, units=None, out_dtype="", transpose_a=False, transpose_b=False)
nn.dense (data, weight, units=None, out_dtype="")
nn.contrib_dense_pack (data, weight, weight_layout="NC", units=None, out_dtype="")
nn.fifo_buffer (data, buffer, axis)
nn.leaky_relu (data, alpha=0.01)
nn.prelu (data, alpha, axis=1)
nn.pad (data, pad_width, pad_value=0, pad_mode="constant")
nn.dilate (data, strides, dilation_value=0.0)
nn.mirror_pad (data, pad_width, mode="SYMMETRIC")
nn.lrn (data, size=5, axis=1, bias=2, alpha=1e-05, beta=0.75)
nn.l2_normalize (data, eps, axis=None)
nn.dropout nn.dropout_raw (data, rate=0.5)
nn.batch_norm (data, gamma, beta, moving_mean, moving_var, axis=1, epsilon=1e-05, center=True, scale=True)
nn.instance_norm (data, gamma, beta, axis=1, epsilon=1e-05, center=True, scale=True)
nn.layer_norm (data, gamma, beta, axis=-1, epsilon=1e-05, center=True, scale=True)
nn.group_norm (data, gamma, beta, num_groups, axis=1, epsilon=1e-05, center=True, scale=True)
nn.batch_matmul (tensor_a, tensor_b, out_dtype="", transpose_a=False, transpose_b=True)
nn.sparse_dense (dense_mat, sparse_mat, sparse_lhs=False)
nn.sparse_transpose (x)
nn.sparse_add (dense_mat, sparse_mat)
nn.deformable_conv2d (data, offset, weight, strides=(1, 1), padding=(0, 0), dilation=(1, 1), deformable_groups=1, groups=1, channels=None, kernel_size=None, data_layout="NCHW", kernel_layout="OIHW", out_layout="", out_dtype="")
nn.cross_entropy nn.cross_entropy_with_logits (predictions, targets)
nn.nll_loss (predictions, targets, weights, reduction="mean", ignore_index=-100)
nn.depth_to_space (data, block_size, layout="NCHW", mode="DCR")
nn.space_to_depth (data, block_size, layout="NCHW")
nn.correlation (data1, data2, kernel_size, max_displacement, stride1, stride2, padding, is_multiply, layout)
nn.space_to_batch_nd (data, block_shape, paddings, pad_value=0)
nn.batch_to_space_nd (data, block_shape, crops)
image.resize1d (data, size, roi=None, layout="NCW", method="linear", coordinate_transformation_mode="half_pixel", rounding_method="", cubic_alpha=-0.5, cubic_exclude=0, extrapolation_value=0.0, out_dtype=None)
image.resize2d (data, size, roi=None, layout="NCHW", method="linear", coordinate_transformation_mode="half_pixel", rounding_method="", cubic_alpha=-0.5, cubic_exclude=0, extrapolation_value=0.0, out_dtype=None)
image.resize3d (data, size, roi=None, layout="NCDHW", method="linear", coordinate_transformation_mode="half_pixel", rounding_method="", cubic_alpha=-0.5, cubic_exclude=0, extrapolation_value=0.0, out_dtype=None)
image.crop_and_resize (data, boxes, box_indices, crop_size, layout, method="bilinear", extrapolation_value=0, out_dtype=None)
image.dilation2d (data, weight, strides=(1, 1), padding=(0, 0), dilations=(1, 1), data_layout="NCHW", kernel_layout="IHW", out_dtype="")
image.affine_grid (data, target_shape=None)
image.grid_sample (data, grid, method="bilinear", layout="NCHW", padding_mode="zeros", align_corners=True)
vision.multibox_prior (data, sizes=(1.0,), ratios=(1.0,), steps=(-1.0, -1.0), offsets=(0.5, 0.5), clip=False)
vision.multibox_transform_loc (cls_prob, loc_pred, anchor, clip=True, threshold=0.01, variances=(0.1, 0.1, 0.2, 0.2), keep_background=False)
vision.get_valid_counts (data, score_threshold, id_index=0, score_index=1)
vision.non_max_suppression (data, valid_count, indices, max_output_size=-1, iou_threshold=0.5, force_suppress=False, top_k=-1, coord_start=2, score_index=1, id_index=0, return_indices=True, invalid_to_bottom=False)
vision.all_class_non_max_suppression (boxes, scores, max_output_boxes_per_class=-1, iou_threshold=-1.0, score_threshold=-1.0, output_format="onnx")
vision.regular_non_max_suppression (boxes, scores, max_detections_per_class, max_detections, num_classes, iou_threshold, score_threshold)
vision.roi_align (data, rois, pooled_size, spatial_scale, sample_ratio=-1, layout="NCHW", mode="avg")
vision.roi_pool (data, rois, pooled_size, spatial_scale, layout="NCHW")
vision.proposal (cls_prob, bbox_pred, im_info, scales, ratios, feature_stride, threshold, rpn_pre_nms_top_n, rpn_post_nms_top_n, rpn_min_size, iou_loss)
vision.yolo_reorg (data, stride)
random.threefry_key (seed)
random.threefry_generate (key, shape)
random.threefry_split (key)
random.uniform (key, shape, dtype="float32", low=0.0, high=1.0)
random.normal (key, shape, dtype="float32", mean=0.0, scale=1.0)
random.multinomial (key, probs, num_samples)
annotation.on_device (body, device, constrain_result=False, constrain_body=True)
annotation.function_on_device (function, param_devices, result_device)
annotation.compiler_begin annotation.compiler_end (data, compiler)
qnn.requantize (data, input_scale, input_zero_point, output_scale, output_zero_point, axis=-1, rounding="None", compute_dtype="None", out_dtype="int8")
qnn.quantize qnn.simulated_quantize (data, output_scale, output_zero_point, axis=-1, out_dtype="int8")
qnn.dequantize (data, input_scale, input_zero_point, axis=-1, out_dtype="float32")
qnn.simulated_dequantize (data, input_scale, input_zero_point, axis=-1, in_dtype="int8")
qnn.concatenate (data, input_scales, input_zero_points, output_scale, output_zero_point, axis)
qnn.conv2d (data, kernel, input_zero_point, kernel_zero_point, input_scale, kernel_scale, kernel_size, channels, strides=(1, 1), padding=(0, 0), dilation=(1, 1), groups=1, data_layout="NCHW", kernel_layout="OIHW", out_layout="", out_dtype="int32")
qnn.conv2d_transpose (data, weight, input_zero_point, kernel_zero_point, input_scale, kernel_scale, strides=(1, 1), padding=(0, 0), dilation=(1, 1), groups=1, channels=None, kernel_size=None, data_layout="NCHW", kernel_layout="IOHW", out_layout="", output_padding=(0, 0), out_dtype="int32")
qnn.dense (data, weight, input_zero_point, kernel_zero_point, input_scale, kernel_scale, units, out_dtype="int32")
qnn.add qnn.mul qnn.subtract (lhs, rhs, lhs_scale, lhs_zero_point, rhs_scale, rhs_zero_point, output_scale, output_zero_point, lhs_axis=-1, rhs_axis=-1)
qnn.tanh qnn.exp qnn.sqrt qnn.rsqrt qnn.erf qnn.abs qnn.sigmoid qnn.hardswish qnn.log (x, scale, zero_point, output_scale, output_zero_point)
qnn.batch_matmul (x, y, x_zero_point, y_zero_point, x_scale, y_scale, out_dtype="int32")
qnn.leaky_relu (x, alpha, input_scale, input_zero_point, output_scale, output_zero_point)
qnn.softmax (x, scale, zero_point, output_scale, output_zero_point, axis=-1)
qnn.avg_pool2d (data, input_scale, input_zero_point, output_scale, output_zero_point, pool_size, strides, padding, dilation, ceil_mode=False, count_include_pad=True, layout="NHWC", out_layout="")
"""

# Parameters that have another name as an attribute.
_RENAMED = {
    "nn.conv2d_backward_weight": {"grad_layout": "data_layout", "data_layout": "kernel_layout", "kernel_layout": "out_layout"},
    "unique": {"is_sorted": "sorted"},
    "random.threefry_generate": {"shape": "out_shape"},
    "random.uniform": {"shape": "out_shape", "dtype": "out_dtype"},
    "random.normal": {"shape": "out_shape", "dtype": "out_dtype"},
}
# Parameters of functions that make a call of dyn.NAME where one of these is an expression.
_DYNAMIC = {
    "broadcast_to": ["shape"], "expand_dims": ["axis"], "full": ["shape"], "image.resize2d": ["size", "roi"], "nn.pad": ["pad_width"],
    "nn.upsampling": ["scale_h", "scale_w"], "nn.upsampling3d": ["scale_d", "scale_h", "scale_w"], "one_hot": ["depth"], "ones": ["shape"],
    "reshape": ["newshape"], "sparse_to_dense": ["output_shape"], "squeeze": ["axis"], "strided_slice": ["begin", "end", "strides"],
    "tile": ["reps"], "topk": ["k"], "zeros": ["shape"],
}
# What those and other calls have in place of attributes that are not read, where that is not their default.
_NOT_READ = {
    "dyn.image.resize2d": {"size": [], "roi": []}, "dyn.nn.pad": {"pad_width": []}, "dyn.nn.upsampling": {"scale_h": 0.0, "scale_w": 0.0},
    "dyn.nn.upsampling3d": {"scale_d": 0.0, "scale_h": 0.0, "scale_w": 0.0}, "dyn.one_hot": {"depth": 0}, "dyn.reshape": {"newshape": []},
    "dyn.squeeze": {"axis": []}, "dyn.tile": {"reps": []}, "nn.space_to_depth": {"mode": ""},
}
# dtypes of what may be a number where an operand is wanted; else float32 and int32.
_DTYPES = {
    "dyn.image.resize2d": {"size": "int64", "roi": "float32"},
    "dyn.nn.upsampling": {"scale_h": "float64", "scale_w": "float64"},
    "dyn.nn.upsampling3d": {"scale_d": "float64", "scale_h": "float64", "scale_w": "float64"},
    "vision.all_class_non_max_suppression": {"max_output_boxes_per_class": "int32", "iou_threshold": "float32", "score_threshold": "float32"},
    "vision.get_valid_counts": {"score_threshold": "float32"},
    "vision.non_max_suppression": {"max_output_size": "int32", "iou_threshold": "float32"},
    "collapse_sum_to": {"shape": "int32"}, "trilu": {"k": "int32"},
}
# Operands that the relation reads too, by the same name.
_OPERANDS = {"vision.get_valid_counts": {"score_threshold"}}
# Numbers have the dtype of another operand.
_LIKE = {**{name: {"lhs": "rhs", "rhs": "lhs"} for name in _BINARY.split()}, "where": {"x": "y", "y": "x"},
         "full_like": {"fill_value": "data"}, "sparse_to_dense": {"default_value": "sparse_values"}}
# Of operators whose result is a tuple: how many fields it has.
_FIELDS = {
    "dft": 2, "dyn.topk": lambda attrs, _: 2 if attrs["ret_type"] == "both" else None, "meshgrid": lambda _, args: len(args[0].fields),
    "nn.batch_norm": 3, "nn.dropout": 2, "nn.sparse_transpose": 3, "random.threefry_split": 2, "random.multinomial": 2, "random.normal": 2,
    "random.threefry_generate": 2, "random.uniform": 2, "sparse_fill_empty_rows": 3, "sparse_reshape": 2,
    "split": lambda attrs, _: len(s) + 1 if isinstance(s := attrs["indices_or_sections"], tuple) else s,
    "topk": lambda attrs, _: 2 if attrs["ret_type"] == "both" else None, "unique": lambda attrs, _: 5 if attrs["return_counts"] else 4,
    "vision.all_class_non_max_suppression": lambda attrs, _: 2 if attrs["output_format"] == "onnx" else 3, "vision.get_valid_counts": 3,
    "vision.multibox_transform_loc": 2, "vision.non_max_suppression": lambda attrs, _: 2 if attrs["return_indices"] else None,
    "vision.regular_non_max_suppression": 4,
}
# Functions of windows, which give strides, sizes and padding for each axis and side, and how many axes those have.
_WINDOWS = {name: int(digit) for digit in "123" for name in f"""nn.conv{digit}d nn.conv{digit}d_transpose nn.max_pool{digit}d nn.avg_pool{digit}d
nn.conv{digit}d_backward_weight nn.bitserial_conv{digit}d nn.deformable_conv{digit}d nn.contrib_conv{digit}d_NCHWc
nn.contrib_depthwise_conv{digit}d_NCHWc qnn.conv{digit}d qnn.conv{digit}d_transpose""".split() if name != "nn.conv1d_transpose"}
# Functions of pictures, which take a region of interest: how many axes that has.
_IMAGE_AXES = {"image.resize1d": 1, "image.resize2d": 2, "image.resize3d": 3}
# Functions for which no axes are all axes.
_REDUCTIONS = frozenset("""sum all any max min mean prod argmax argmin variance std mean_variance mean_std logsumexp""".split())
# Codes of dtypes in operands of the simulated quantisation.
_DTYPE_CODES = {"disable": 0, "int8": 1, "uint8": 2, "int32": 3}


@functools.cache
def _table():
    functions = {}
    for line in _FUNCTIONS.strip().splitlines():
        names, _, params = line.partition("(")
        tree = ast.parse(f"def f({params}: pass").body[0].args
        defaults = [inspect.Parameter.empty] * (len(tree.args) - len(tree.defaults)) + [ast.literal_eval(d) for d in tree.defaults]
        signature = inspect.Signature([inspect.Parameter(a.arg, inspect.Parameter.POSITIONAL_OR_KEYWORD, default=d)
                                       for a, d in zip(tree.args, defaults)])
        for name in names.split():
            functions[name] = signature
    return functions


def signature_of(name):
    """The parameters of TVM's Python function of that name (nn.conv2d; qnn.add for relay.qnn.op.add); None where it has none."""
    return _table().get(name)


def whole_signature_of(name):
    """The parameters of an operator: where TVM has no function of it, operands and then attributes."""
    from . import operator_docs  # which needs what is here
    return operator_docs.signature_of(name)


def doc_of(name):
    """What help() says of an operator."""
    from . import operator_docs  # which needs what is here
    return operator_docs.doc_of(name)


def description_of(name):
    """What an operator computes."""
    from . import operator_docs  # which needs what is here
    row = operator_docs.row_of(name)
    return row.summary if row is not None else ""


def arguments_of(name):
    """Rows of an operator's operands."""
    from . import operator_docs  # which needs what is here
    row = operator_docs.row_of(name)
    return row.operands if row is not None else ()


def operand_names(name):
    """Names of an operator's operands, as far as TVM's function has them."""
    signature, schema = signature_of(name), _native.operator_schema(name)
    if signature is None or schema is None:
        return []
    attributes = {a[0] for a in schema[1]} - _OPERANDS.get(name, set())
    renamed = _RENAMED.get(name, {})
    return [param for param in signature.parameters if renamed.get(param, param) not in attributes]


def attribute_of(name, attribute):
    """What TVM's operator of that name has as an attribute without anyone setting it; None where it has none."""
    return op_patterns.KINDS.get(name) if attribute == "TOpPattern" else None


def number_of_fields(call):
    """Of a call of an operator: how many fields the tuple has that it gives; None where it gives no tuple."""
    fields = _FIELDS.get(getattr(call.op, "name", None)) if isinstance(call.op, relay.Op) else None
    return fields(call.attrs, call.args) if callable(fields) else fields


# --- Operands and attributes ---


def _is_number(value):
    return isinstance(value, (bool, int, float)) or getattr(value, "shape", None) == () and not isinstance(value, relay.Expr)


def _operand(name, param, value, dtype=None):
    if isinstance(value, relay.Expr):
        return value
    if isinstance(value, (list, tuple)) and any(isinstance(v, relay.Expr) for v in value):
        return relay.Tuple([_operand(name, param, v) for v in value])
    if _is_number(value) or hasattr(value, "__array__") or hasattr(value, "__dlpack__") or \
            isinstance(value, (list, tuple, range)) and (len(value) or dtype is not None):
        try:
            return relay.const(value if not isinstance(value, range) else list(value), dtype)
        except (TypeError, ValueError) as error:
            raise TypeError(f"{name}: {param}: {error}") from None
    raise TypeError(f"{name}: {param}: expected an expression (relay.var, relay.const ...), a number or an array, "
                    f"found {type(value).__name__}")


def _attribute(name, param, value):
    """A value of an attribute, of what numpy and constants give too."""
    if isinstance(value, relay.Constant):
        value = value.data
    if isinstance(value, relay.Expr):
        raise TypeError(f"{name}: {param} is an attribute, whose value the program does not compute: expected a number, a string or a list, "
                        f"found {value!r}")
    if isinstance(value, (list, tuple, range)):
        return [_attribute(name, param, v) for v in value]
    if is_dtype(value) or isinstance(value, str) and param.endswith("dtype"):
        return dtype_name(value)
    return value.tolist() if hasattr(value, "tolist") else value  # numpy's numbers and arrays


def _for_each_axis(name, values):
    """A window's sizes for each axis, and its padding for each side, of fewer numbers."""
    rank = _WINDOWS[name]
    for param in ("kernel_size", "pool_size", "strides", "dilation"):
        if isinstance(values.get(param), int):
            values[param] = (values[param],) * rank
    padding = _attribute(name, "padding", values["padding"])
    padding = [padding] if isinstance(padding, int) else list(padding)
    if len(padding) in (1, rank):
        values["padding"] = (padding * rank)[:rank] * 2


def _make(op_name, operands, attrs):
    return relay.Call(relay._get_op(op_name), operands, attrs)


# --- What functions do besides making a call of their operator: of bound parameters, the expression ---

_SPECIAL = {}


def _special(*names):
    def take(function):
        for name in names:
            _SPECIAL[name] = function
        return function
    return take


@_special("arange")
def _arange(name, start, stop, step, dtype):
    step = relay.const(1, dtype) if step is None else step
    if stop is None:
        start, stop = relay.const(0, dtype), start
    start, stop, step = (_operand(name, n, v, dtype) for n, v in (("start", start), ("stop", stop), ("step", step)))
    return _make(name, [start, stop, step], {"dtype": dtype})


@_special("strided_slice")
def _strided_slice(name, data, begin, end, strides, axes, slice_mode):
    strides = [1] if strides is None or isinstance(strides, (list, tuple)) and not strides else strides
    if isinstance(end, (list, tuple)):  # None is where the axis ends
        steps = strides if isinstance(strides, (list, tuple)) else []
        ends = {True: -1 << 31, False: (1 << 31) - 1}
        end = [ends[i < len(steps) and isinstance(steps[i], int) and steps[i] < 0] if e is None else e for i, e in enumerate(end)]
    bounds = [b if isinstance(b, relay.Expr) and not isinstance(b, relay.Constant) else _attribute(name, "begin", b) for b in (begin, end, strides)]
    if not any(isinstance(b, relay.Expr) for b in bounds):
        begin, end, strides = bounds
        return _make(name, [data], {"begin": begin, "end": end, "strides": strides, "axes": _attribute(name, "axes", axes), "slice_mode": slice_mode})
    if axes is not None:
        raise ValueError("strided_slice: axes are for begin, end and strides that are numbers")
    begin, end, strides = (_operand(name, "begin, end, strides", b) for b in bounds)
    return _make("dyn.strided_slice", [data, begin, end, strides], {"slice_mode": slice_mode})


@_special("image.dilation2d")
def _dilation2d(name, data, weight, strides, padding, dilations, data_layout, kernel_layout, out_dtype):
    strides, dilations = (_attribute(name, "strides, dilations", x)[:2] for x in (strides, dilations))  # TVM reads two of them
    return _make(name, [data, _operand(name, "weight", weight)],
                 {"strides": strides, "padding": _attribute(name, "padding", padding), "dilations": dilations, "data_layout": data_layout,
                  "kernel_layout": kernel_layout, "out_dtype": _attribute(name, "out_dtype", out_dtype)})


@_special("sparse_to_dense")
def _sparse_to_dense(name, sparse_indices, output_shape, sparse_values, default_value):
    indices, values = (_operand(name, param, x) for param, x in (("sparse_indices", sparse_indices), ("sparse_values", sparse_values)))
    if not isinstance(default_value, relay.Expr):
        default_value = _number_like(name, "default_value", 0 if default_value is None else default_value, values)
    if isinstance(output_shape, relay.Expr) and not isinstance(output_shape, relay.Constant):
        return _make("dyn.sparse_to_dense", [indices, values, default_value, output_shape], {})
    return _make(name, [indices, values, default_value], {"output_shape": _attribute(name, "output_shape", output_shape)})


@_special("strided_set")
def _strided_set(name, data, v, begin, end, strides):
    return _make(name, [data, v, *(_operand(name, "begin, end, strides", b) for b in (begin, end, [1] if strides is None else strides))], {})


@_special("matrix_set_diag")
def _matrix_set_diag(name, data, diagonal, k, align):
    k = _attribute(name, "k", k)
    k1, k2 = (k[0], k[1] if len(k) > 1 else k[0]) if isinstance(k, list) else (k, k)
    return _make(name, [data, diagonal], {"k1": k1, "k2": k2, "super_diag_right_align": align[:5] == "RIGHT",
                                          "sub_diag_right_align": align[-5:] == "RIGHT"})


@_special("segment_sum")
def _segment_sum(name, data, segment_ids, num_segments):
    one = relay.cast_like(relay.const([1]), segment_ids)
    if num_segments is None:
        rows = relay.add(relay.reshape(relay.max(segment_ids, [0]), -1), one)
    else:
        rows = relay.cast_like(_operand(name, "num_segments", [num_segments] if isinstance(num_segments, int) else num_segments), segment_ids)
    row = relay.cast_like(relay.strided_slice(relay.shape_of(data, "int32"), [1], [-1], slice_mode="size"), rows)
    ids = relay.transpose(relay.tile(segment_ids, relay.concatenate([relay.reverse(row, 0), one], 0)))
    zeros = relay.cast_like(relay.zeros(relay.concatenate([rows, row], 0), "float64"), data)
    return relay.scatter_elements(zeros, ids, data, 0, "add")


@_special("stft")
def _stft(name, data, n_fft, hop_length, win_length, window, normalized, onesided):
    window = relay.ones([n_fft], "int32") if window is None else _operand(name, "window", window)
    return _make(name, [data, window], {"n_fft": n_fft, "hop_length": n_fft // 4 if hop_length is None else hop_length,
                                        "win_length": n_fft if win_length is None else win_length, "normalized": normalized, "onesided": onesided})


@_special("device_copy", "annotation.on_device")
def _same_device(name, data, *_):
    return _make(name.removeprefix("annotation."), [data], {})  # there is one device


@_special("annotation.function_on_device")
def _function_on_device(name, function, param_devices, result_device):
    return function


@_special("reverse_reshape")
def _reverse_reshape(name, data, newshape):
    return relay.contrib_reverse_reshape(data, [newshape] if isinstance(newshape, int) else newshape)


@_special("variance")
def _variance(name, data, axis, keepdims, exclude, unbiased, with_mean):
    mean = relay.mean(data, axis, True, exclude) if with_mean is None else with_mean
    return _make(name, [data, mean], {"axis": _attribute(name, "axis", axis), "keepdims": keepdims, "exclude": exclude, "unbiased": unbiased})


@_special("std")
def _std(name, data, axis, keepdims, exclude, unbiased):
    return relay.sqrt(relay.variance(data, axis, keepdims, exclude, unbiased))


@_special("mean_variance", "mean_std")
def _mean_and(name, data, axis, keepdims, exclude, unbiased=False):
    mean = relay.mean(data, axis, True, exclude)
    spread = relay.variance(data, axis, keepdims, exclude, unbiased, mean)
    if not keepdims:
        mean = relay.mean(data, axis, False, exclude) if exclude else relay.squeeze(mean, axis)
    return relay.Tuple([mean, relay.sqrt(spread) if name == "mean_std" else spread])


@_special("logsumexp")
def _logsumexp(name, data, axis, keepdims):
    greatest = relay.max(data, axis, True)
    total = relay.log(relay.sum(relay.exp(data - greatest), axis, True)) + greatest
    return total if keepdims else relay.squeeze(total, axis)


@_special("nn.matmul")
def _matmul(name, tensor_a, tensor_b, units, out_dtype, transpose_a, transpose_b):
    if transpose_b and not transpose_a:
        return relay.nn.dense(tensor_a, tensor_b, units, out_dtype)
    return _make(name, [tensor_a, tensor_b], {"units": units, "out_dtype": _attribute(name, "out_dtype", out_dtype), "transpose_a": transpose_a,
                                              "transpose_b": transpose_b})


@_special("nn.dropout", "nn.dropout_raw")
def _dropout(name, data, rate):
    both = _make("nn.dropout", [data], {"rate": rate})
    return both if name == "nn.dropout_raw" else both[0]


def _sparse_parts(name, matrix):
    """data, indices and indptr of scipy's csr_matrix, or a tuple of them."""
    parts = (matrix.data, matrix.indices, matrix.indptr) if hasattr(matrix, "indptr") else tuple(matrix)
    if len(parts) != 3:
        raise TypeError(f"{name}: a sparse matrix is a csr_matrix, or (data, indices, indptr); found {len(parts)} parts")
    return [_operand(name, part, value) for part, value in zip(("data", "indices", "indptr"), parts)]


@_special("nn.sparse_dense")
def _sparse_dense(name, dense_mat, sparse_mat, sparse_lhs):
    return _make(name, [dense_mat, *_sparse_parts(name, sparse_mat)], {"sparse_lhs": sparse_lhs})


@_special("nn.sparse_add")
def _sparse_add(name, dense_mat, sparse_mat):
    return _make(name, [dense_mat, *_sparse_parts(name, sparse_mat)], {})


@_special("nn.sparse_transpose")
def _sparse_transpose(name, x):
    return _make(name, _sparse_parts(name, x), {})


@_special("nn.global_max_pool1d", "nn.global_avg_pool1d", "nn.global_max_pool3d", "nn.global_avg_pool3d")
def _global_pool(name, data, layout, out_layout):
    return _make(name.replace("global", "adaptive"), [data], {"output_size": [1] * int(name[-2]), "layout": layout, "out_layout": out_layout})


@_special("nn.contrib_conv2d_nchwc", "nn.contrib_depthwise_conv2d_nchwc")
def _conv_in_blocks(name, data, kernel, **attrs):
    return relay._get_op(name.replace("nchwc", "NCHWc"))(data, kernel, **attrs)


@_special("random.threefry_key")
def _threefry_key(name, seed):
    import numpy
    words = numpy.frombuffer(int(seed).to_bytes(32, "little"), "<u8")
    return relay.const(numpy.concatenate([words, numpy.array([0, 0, 0, 0, 1 << 63, 0], "uint64")]), "uint64")


@_special("random.uniform", "random.normal")
def _random(name, key, shape, dtype, *bounds):
    numbers = [_operand(name, "a bound", b, dtype) for b in bounds]
    return _make(name, [key, *numbers], {"out_shape": _attribute(name, "shape", shape), "out_dtype": dtype})


@_special("qnn.simulated_quantize", "qnn.simulated_dequantize")
def _simulated(name, data, scale, zero_point, axis, dtype):
    if isinstance(dtype, str):
        if dtype not in _DTYPE_CODES:
            raise ValueError(f"{name}: expected one of {', '.join(_DTYPE_CODES)}, found {dtype}")
        dtype = relay.const(_DTYPE_CODES[dtype], "int32")
    flat = [relay.reshape(_operand(name, "a scale or zero point", x), [-1]) for x in (scale, zero_point)]
    return _make(name, [data, dtype, *flat], {"axis": axis, **({"out_dtype": ""} if name == "qnn.simulated_dequantize" else {})})


@_special("qnn.batch_matmul")
def _qnn_batch_matmul(name, *operands, out_dtype="int32", transpose_a=False, transpose_b=True):
    *operands, out_dtype = operands if len(operands) == 7 else (*operands, out_dtype)
    return _make(name, [_operand(name, "an operand", x) for x in operands],
                 {"out_dtype": out_dtype, "transpose_a": transpose_a, "transpose_b": transpose_b})


# --- A call as TVM's functions take it ---


def _bind(name, signature, args, kwargs):
    """(parameters and their values, attributes that TVM's function does not have)."""
    params = signature.parameters
    known = {key: value for key, value in kwargs.items() if key in params}
    more = {key: value for key, value in kwargs.items() if key not in params and key != "span"}
    if more:  # a misspelt one is said before that the right one is missing
        schema = _native.operator_schema(name)
        there = [a[0] for a in schema[1]] if schema is not None else []
        for key in more:
            if key not in there:
                raise TypeError(f"{name}: there is no parameter {key}{_native.did_you_mean(key, [*params, *there])}; it takes {signature}")
    try:
        bound = signature.bind(*args, **known)
    except TypeError as error:
        raise TypeError(f"{name}: {error}; it takes {signature}") from None
    bound.apply_defaults()
    return dict(bound.arguments), more


def _call_by_schema(name, op, args, kwargs):
    """Of an operator that TVM has no function of: operands, then attributes in their order."""
    tuples, attrs = _native.operator_schema(name) if isinstance(op._key, str) else ([], [])
    kwargs.pop("span", None)
    count = op.num_inputs if op.num_inputs >= 0 else sum(isinstance(a, (relay.Expr, list, tuple)) for a in args)
    if len(args) > count + len(attrs):
        raise TypeError(f"{name} takes {count} operand{'s'[:count != 1]} and {len(attrs)} attributes, {len(args)} given")
    names = [a[0] for a in attrs]
    given = {n: _attribute(name, n, value) for n, value in zip(names, args[count:])}
    given |= {n: _attribute(name, n, value) for n, value in kwargs.items()}
    return relay.Call(op, [_operand(name, f"operand {i}", value) for i, value in enumerate(args[:count])], given)


@functools.cache
def _plain_attrs(name, count):
    """The attributes of a call of an operator that has none, and whose function does no more than to make the call; else None."""
    signature = signature_of(name)
    is_plain = signature is not None and name not in _SPECIAL and name not in _DYNAMIC and _native.operator_schema(name) == ([], [])
    return relay.Call(relay._get_op(name), [relay.const(0)] * count)._attrs if is_plain and len(signature.parameters) == count else None


def call(name, op, args, kwargs):
    """What TVM's function gives for these arguments."""
    if not kwargs and all([isinstance(arg, relay.Expr) for arg in args]):
        attrs = _plain_attrs(name, len(args))
        if attrs is not None:
            return relay._plain_call(op, args, attrs)
    signature = signature_of(name)
    if signature is None:
        return _call_by_schema(name, op, args, dict(kwargs))
    values, more = _bind(name, signature, args, kwargs)
    if name in _WINDOWS:
        _for_each_axis(name, values)
    if name in _REDUCTIONS and isinstance(values["axis"], (list, tuple)) and not values["axis"]:
        values["axis"] = None
    if name == "nn.correlation" and isinstance(values["padding"], int):
        values["padding"] = (values["padding"],) * 2
    if name in _IMAGE_AXES and values["roi"] is None:
        values["roi"] = [0.0] * (2 * _IMAGE_AXES[name])
    special = _SPECIAL.get(name)
    if special is not None:
        for param in ("data", "tensor_a", "tensor_b", "body"):
            if param in values:
                values[param] = _operand(name, param, values[param])
        return special(name, *values.values(), **more) if special is not _conv_in_blocks else special(name, **values, **more)
    target = name
    changing = [p for p in _DYNAMIC.get(name, ()) if isinstance(values[p], relay.Expr) and not isinstance(values[p], relay.Constant)]
    if changing:
        target = "dyn." + name
    tuples, schema = _native.operator_schema(target)
    attributes = {a[0] for a in schema} - _OPERANDS.get(name, set())
    if changing:
        attributes -= set(_DYNAMIC[name])
    renamed, like, dtypes = _RENAMED.get(name, {}), _LIKE.get(name, {}), _DTYPES.get(target, {})
    operands, attrs = [], {**_NOT_READ.get(target, {}), **more}
    for param, value in values.items():
        attribute = renamed.get(param, param)
        if attribute in attributes:
            attrs[attribute] = _attribute(name, param, value)
        elif len(operands) in tuples:
            operands.append(_tuple(name, param, value))
        elif param in like and _is_number(value):
            operands.append(_number_like(name, param, value, values[like[param]]))
        else:
            operands.append(_operand(name, param, value, dtypes.get(param)))
    return _make(target, operands, attrs)


def _tuple(name, param, value):
    if isinstance(value, relay.Call) and number_of_fields(value):
        return relay.Tuple(list(value))  # as TVM takes its TupleWrapper
    if isinstance(value, relay.Expr):
        return value
    try:
        fields = list(value)
    except TypeError:
        fields = []
    if not fields:
        raise TypeError(f"{name}: {param}: expected expressions, one at least, found {type(value).__name__}")
    return relay.Tuple([_operand(name, f"{param}[{i}]", field) for i, field in enumerate(fields)])


def _number_like(name, param, value, other):
    """A number that has the dtype of another operand."""
    if not isinstance(other, relay.Expr):
        return _operand(name, param, value)
    dtype = inference.dtype_at_hand(other)
    if dtype is None:
        return relay.Call(relay._get_op("cast_like"), [relay.const(value), other])
    if isinstance(value, float) and not dtype.startswith(("float", "bfloat")):
        raise TypeError(f"{name}: {param}: {value} is no {dtype}, which the other operand has: cast that, or relay.const({value})")
    return relay.const(value, dtype) if dtype != "bfloat16" else relay.cast(relay.const(value, "float32"), dtype=dtype)


@functools.cache
def function_of(name):
    """What there is under a name that is no operator's: a function of TVM's that makes several calls, or None."""
    if name not in _SPECIAL:
        return None

    def function(*args, **kwargs):
        return call(name, None, args, kwargs)
    function.__name__ = function.__qualname__ = name.rpartition(".")[2]
    function.__signature__ = signature_of(name)
    function.__doc__ = doc_of(name)
    return function
