"""How operators go with others into one loop, as TVM's FuseOps sees them (TOpPattern)."""
from ..relay import Op

__all__ = []

ELEMWISE, BROADCAST, INJECTIVE, COMM_REDUCE, OUT_FUSABLE, TUPLE, OPAQUE = 0, 1, 2, 3, 4, 7, 8

_ELEMWISE = """abs acos acosh asin asinh atan atanh bitwise_not cast ceil clip copy cos cosh erf exp fast_erf fast_exp fast_tanh fixed_point_multiply floor
    isfinite isinf isnan log log10 log2 logical_not negative nn.leaky_relu nn.relu ones_like reinterpret round rsqrt sigmoid sign sin
    sinh sqrt tan tanh trunc zeros_like device_copy nn.dropout nn.fifo_buffer"""
_BROADCAST = """add bitwise_and bitwise_or bitwise_xor broadcast_to broadcast_to_like cast_like divide dyn.broadcast_to equal fixed_point_multiply_per_axis
    floor_divide floor_mod full_like greater greater_equal left_shift less less_equal logical_and logical_or logical_xor maximum minimum mod multiply
    nn.bias_add nn.prelu not_equal power right_shift subtract where trunc_divide trunc_mod"""
_INJECTIVE = """adv_index arange batch_to_space_nd concatenate contrib_reverse_reshape dyn.expand_dims dyn.full dyn.nn.pad dyn.nn.upsampling dyn.nn.upsampling3d
    dyn.ones dyn.reshape dyn.squeeze dyn.strided_slice dyn.tile dyn.zeros expand_dims full gather gather_nd image.affine_grid image.crop_and_resize
    image.grid_sample image.resize1d image.resize2d image.resize3d layout_transform matrix_set_diag meshgrid ndarray_size nn.batch_flatten
    nn.batch_to_space_nd nn.depth_to_space nn.mirror_pad nn.pad nn.space_to_batch_nd nn.space_to_depth nn.upsampling nn.upsampling3d one_hot ones repeat
    reshape reshape_like reverse reverse_sequence sequence_mask shape_of slice_like sliding_window split squeeze stack strided_set strided_slice take tile
    transpose trilu unravel_index zeros dyn.one_hot"""
_COMM_REDUCE = "all any argmax argmin collapse_sum_like collapse_sum_to max mean min prod sum variance"
_OUT_FUSABLE = """nn.adaptive_avg_pool1d nn.adaptive_avg_pool2d nn.adaptive_avg_pool3d nn.adaptive_max_pool1d nn.adaptive_max_pool2d nn.adaptive_max_pool3d
    nn.avg_pool1d nn.avg_pool2d nn.avg_pool3d nn.batch_matmul nn.bitserial_conv2d nn.bitserial_dense nn.contrib_conv2d_NCHWc
    nn.contrib_depthwise_conv2d_NCHWc nn.contrib_dense_pack nn.conv1d nn.conv1d_transpose nn.conv2d nn.conv2d_backward_weight nn.conv2d_transpose
    nn.conv3d nn.conv3d_transpose nn.correlation nn.deformable_conv2d nn.dense nn.dilate nn.global_avg_pool2d nn.global_max_pool2d nn.l2_normalize
    nn.log_softmax nn.lrn nn.matmul nn.max_pool1d nn.max_pool2d nn.max_pool3d nn.max_pool2d_grad nn.avg_pool2d_grad nn.sparse_dense nn.softmax
    image.dilation2d nn.fast_softmax vision.roi_align vision.roi_pool nn.instance_norm nn.layer_norm nn.group_norm"""
RESHAPES = {"reshape", "dyn.reshape", "expand_dims", "squeeze", "nn.batch_flatten", "contrib_reverse_reshape", "reshape_like"}

_PATTERNS = {name: pattern for names, pattern in ((_ELEMWISE, ELEMWISE), (_BROADCAST, BROADCAST), (_INJECTIVE, INJECTIVE),
                                                  (_COMM_REDUCE, COMM_REDUCE), (_OUT_FUSABLE, OUT_FUSABLE)) for name in names.split()}


def pattern_of(op):
    """That of an operator: what was set for it (TOpPattern), or what it is known to be; OPAQUE where it goes with none."""
    given = Op._attributes.get((op.name, "TOpPattern"))
    return given[1] if given is not None else _PATTERNS.get(op.name, OPAQUE)
