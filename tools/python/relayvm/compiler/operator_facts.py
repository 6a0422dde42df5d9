"""What TVM tells of its operators besides: the class of a call's attributes, and how common an operator is (1: of every program, to 11)."""
import functools

from . import _native

# Operators by the class of their attributes; others have none.
ATTRIBUTES = {
    "AdaptivePool1DAttrs": "nn.adaptive_avg_pool1d nn.adaptive_max_pool1d",
    "AdaptivePool2DAttrs": "nn.adaptive_avg_pool2d nn.adaptive_max_pool2d",
    "AdaptivePool3DAttrs": "nn.adaptive_avg_pool3d nn.adaptive_max_pool3d",
    "AffineGridAttrs": "image.affine_grid",
    "ArangeAttrs": "arange",
    "ArgReduceAttrs": "argmax argmin",
    "ArgsortAttrs": "argsort sort",
    "AvgPool1DAttrs": "nn.avg_pool1d",
    "AvgPool2DAttrs": "nn.avg_pool2d qnn.avg_pool2d",
    "AvgPool3DAttrs": "nn.avg_pool3d",
    "BatchMatmulAttrs": "nn.batch_matmul qnn.batch_matmul",
    "BatchNormAttrs": "nn.batch_norm",
    "BatchToSpaceNDAttrs": "nn.batch_to_space_nd",
    "BiasAddAttrs": "nn.bias_add",
    "BroadcastAttrs": "qnn.add qnn.mul qnn.subtract",
    "CastAttrs": "cast reinterpret",
    "ClipAttrs": "clip",
    "ConcatenateAttrs": "concatenate qnn.concatenate",
    "Conv1DAttrs": "nn.conv1d",
    "Conv1DTransposeAttrs": "nn.conv1d_transpose",
    "Conv2DAttrs": "nn.contrib_conv2d_NCHWc nn.contrib_depthwise_conv2d_NCHWc nn.conv2d qnn.conv2d",
    "Conv2DTransposeAttrs": "nn.conv2d_transpose qnn.conv2d_transpose",
    "Conv3DAttrs": "nn.conv3d",
    "Conv3DTransposeAttrs": "nn.conv3d_transpose",
    "CorrelationAttrs": "nn.correlation",
    "CropAndResizeAttrs": "image.crop_and_resize",
    "DeformableConv2DAttrs": "nn.deformable_conv2d",
    "DenseAttrs": "nn.contrib_dense_pack nn.dense qnn.dense",
    "DequantizeAttrs": "qnn.dequantize qnn.simulated_dequantize",
    "DeviceCopyAttrs": "device_copy",
    "Dilation2DAttrs": "image.dilation2d",
    "DropoutAttrs": "nn.dropout",
    "EinsumAttrs": "einsum",
    "ExpandDimsAttrs": "expand_dims",
    "FIFOBufferAttrs": "nn.fifo_buffer",
    "FixedPointMultiplyAttrs": "fixed_point_multiply",
    "FixedPointMultiplyPerAxisAttrs": "fixed_point_multiply_per_axis",
    "GatherAttrs": "gather",
    "GatherNDAttrs": "gather_nd",
    "GlobalPool2DAttrs": "nn.global_avg_pool2d nn.global_max_pool2d",
    "GridSampleAttrs": "image.grid_sample",
    "GroupNormAttrs": "nn.group_norm",
    "InitOpAttrs": "broadcast_to dyn.broadcast_to dyn.full dyn.ones dyn.zeros full ones zeros",
    "InstanceNormAttrs": "nn.instance_norm",
    "L2NormalizeAttrs": "nn.l2_normalize",
    "LRNAttrs": "nn.lrn",
    "LayerNormAttrs": "nn.layer_norm",
    "LayoutTransformAttrs": "layout_transform",
    "LeakyReluAttrs": "nn.leaky_relu qnn.leaky_relu",
    "MatmulAttrs": "nn.matmul",
    "MatrixSetDiagAttrs": "matrix_set_diag",
    "MaxPool1DAttrs": "nn.max_pool1d",
    "MaxPool2DAttrs": "nn.avg_pool2d_grad nn.max_pool2d nn.max_pool2d_grad",
    "MaxPool3DAttrs": "nn.max_pool3d",
    "MeshgridAttrs": "meshgrid",
    "MirrorPadAttrs": "nn.mirror_pad",
    "MultiBoxPriorAttrs": "vision.multibox_prior",
    "MultiBoxTransformLocAttrs": "vision.multibox_transform_loc",
    "MultinomialAttrs": "random.multinomial",
    "NLLLossAttrs": "nn.nll_loss",
    "NdarraySizeAttrs": "ndarray_size",
    "NormalAttrs": "random.normal",
    "OnDeviceAttrs": "on_device",
    "OneHotAttrs": "dyn.one_hot one_hot",
    "PReluAttrs": "nn.prelu",
    "PadAttrs": "dyn.nn.pad nn.pad",
    "QuantizeAttrs": "qnn.quantize",
    "ReduceAttrs": "all any max mean min prod sum",
    "RepeatAttrs": "repeat",
    "RequantizeAttrs": "qnn.requantize",
    "ReshapeAttrs": "contrib_reverse_reshape dyn.reshape reshape",
    "ReshapeLikeAttrs": "reshape_like",
    "Resize1DAttrs": "image.resize1d",
    "Resize2DAttrs": "dyn.image.resize2d image.resize2d",
    "Resize3DAttrs": "image.resize3d",
    "ReverseAttrs": "reverse",
    "ReverseSequenceAttrs": "reverse_sequence",
    "SearchSortedAttrs": "searchsorted",
    "SequenceMaskAttrs": "sequence_mask",
    "ShapeOfAttrs": "shape_of vm.shape_of",
    "SimulatedQuantizeAttrs": "qnn.simulated_quantize relay.op.annotation.simulated_quantize",
    "SliceLikeAttrs": "slice_like",
    "SlidingWindowAttrs": "sliding_window",
    "SoftmaxAttrs": "nn.fast_softmax nn.log_softmax nn.softmax qnn.softmax",
    "SpaceToBatchNDAttrs": "nn.space_to_batch_nd",
    "SparseConv2DAttrs": "nn.sparse_conv2d",
    "SparseDenseAttrs": "nn.sparse_dense",
    "SparseToDenseAttrs": "sparse_to_dense",
    "SparseTransposeAttrs": "nn.sparse_transpose",
    "SplitAttrs": "split",
    "SqueezeAttrs": "dyn.squeeze squeeze",
    "StackAttrs": "stack",
    "StridedSliceAttrs": "dyn.strided_slice strided_slice",
    "SubPixelAttrs": "nn.depth_to_space nn.space_to_depth",
    "TakeAttrs": "take",
    "ThreefryGenerateAttrs": "random.threefry_generate",
    "TileAttrs": "dyn.tile tile",
    "TopkAttrs": "dyn.topk topk",
    "TransposeAttrs": "transpose",
    "UniformAttrs": "random.uniform",
    "UpSampling3DAttrs": "dyn.nn.upsampling3d nn.upsampling3d",
    "UpSamplingAttrs": "dyn.nn.upsampling nn.upsampling",
    "VarianceAttrs": "variance",
    "YoloReorgAttrs": "vision.yolo_reorg",
}

# Operators by level; of those that are not here it is 10.
LEVELS = {
    1: (
        "acos acosh add asin asinh atan atanh concatenate cos cosh divide erf exp expand_dims fast_erf fast_exp fast_tanh "
        "floor_divide floor_mod invert_permutation log log10 log2 mod multiply nn.batch_norm nn.bias_add nn.dense nn.dropout "
        "nn.fast_softmax nn.group_norm nn.instance_norm nn.layer_norm nn.log_softmax nn.matmul nn.relu nn.softmax nn.sparse_add "
        "nn.sparse_conv2d nn.sparse_dense nn.sparse_transpose rsqrt sigmoid sin sinh sqrt subtract tan tanh trunc_divide "
        "trunc_mod"),
    2: (
        "dyn.nn.pad dyn.nn.upsampling dyn.nn.upsampling3d image.dilation2d nn.avg_pool1d nn.avg_pool2d nn.avg_pool2d_grad "
        "nn.avg_pool3d nn.batch_flatten nn.conv1d nn.conv1d_transpose nn.conv2d nn.conv2d_transpose nn.conv3d "
        "nn.conv3d_transpose nn.correlation nn.global_avg_pool2d nn.global_max_pool2d nn.l2_normalize nn.lrn nn.max_pool1d "
        "nn.max_pool2d nn.max_pool2d_grad nn.max_pool3d nn.mirror_pad nn.pad nn.upsampling nn.upsampling3d"),
    3: (
        "abs adv_index arange cast cast_like ceil clip copy cumprod cumsum dft dyn.expand_dims dyn.full dyn.ones dyn.reshape "
        "dyn.sparse_to_dense dyn.squeeze dyn.tile dyn.zeros floor full full_like gather gather_nd isfinite isinf isnan meshgrid "
        "negative nn.fifo_buffer nn.leaky_relu nn.prelu ones reinterpret repeat reshape reshape_like reverse reverse_sequence "
        "round scatter_elements scatter_nd sign sparse_fill_empty_rows sparse_reshape sparse_to_dense split squeeze stack stft "
        "take tile transpose trilu trunc unique unravel_index zeros"),
    4: (
        "all any argmax argmin bitwise_and bitwise_not bitwise_or bitwise_xor broadcast_to collapse_sum_to dyn.broadcast_to "
        "dyn.strided_slice equal greater greater_equal left_shift less less_equal logical_and logical_not logical_or "
        "logical_xor max maximum mean min minimum not_equal ones_like power prod right_shift strided_set strided_slice sum "
        "variance where zeros_like"),
    5: (
        "dyn.image.resize2d image.affine_grid image.crop_and_resize image.grid_sample image.resize1d image.resize2d "
        "image.resize3d layout_transform nn.batch_to_space_nd nn.deformable_conv2d nn.depth_to_space nn.space_to_batch_nd "
        "nn.space_to_depth vision.all_class_non_max_suppression vision.get_valid_counts vision.multibox_prior "
        "vision.multibox_transform_loc vision.non_max_suppression vision.proposal vision.regular_non_max_suppression "
        "vision.roi_align vision.roi_pool vision.yolo_reorg"),
    6: (
        "argsort dyn.topk searchsorted sort topk"),
    11: (
        "einsum qnn.abs qnn.add qnn.avg_pool2d qnn.batch_matmul qnn.concatenate qnn.conv2d qnn.conv2d_transpose qnn.dense "
        "qnn.dequantize qnn.erf qnn.exp qnn.hardswish qnn.leaky_relu qnn.log qnn.mul qnn.quantize qnn.requantize qnn.rsqrt "
        "qnn.sigmoid qnn.simulated_dequantize qnn.simulated_quantize qnn.softmax qnn.sqrt qnn.subtract qnn.tanh "
        "relay.op.annotation.simulated_quantize"),
}


class Operand:
    """What there is to know of an operand, or of an attribute: name, type_info, description."""

    __slots__ = ("name", "type_info", "description")

    def __init__(self, name, type_info, description=""):
        self.name, self.type_info, self.description = name, type_info, description

    def __repr__(self):
        return f"{self.name}: {self.type_info}"


def arguments_of(name):
    """The operands of an operator, as far as they have names."""
    from . import operators  # which needs the nodes
    schema, names = _native.operator_schema(name), operators.operand_names(name)
    count = _native.operator_arguments(name)
    count = count[0] if isinstance(count, tuple) else count
    names += [f"operand_{i}" for i in range(len(names), count)]
    tuples = schema[0] if schema is not None else ()
    return [Operand(n, "Tuple of Tensors" if i in tuples else "Tensor") for i, n in enumerate(names[:count] if count >= 0 else names)]


@functools.cache
def attributes_key(name):
    """TVM's name of the class of its calls' attributes, "" where it has none."""
    return next((f"relay.attrs.{key}" for key, names in ATTRIBUTES.items() if name in names.split()), "")


def level_of(name):
    """The level that TVM gives an operator."""
    return next((level for level, names in LEVELS.items() if name in names.split()), 10)
