"""The classes of attributes that TVM has for calls of operators: their names, operators and fields, in TVM's order.

A line of the table: the class (relay.attrs.NAME) | operators; `~` before one whose calls are not read with attributes as text, only with an
object of the class | fields: name:kind, name!:kind of one without a default. Kinds: i a whole number, d a float, b a truth value, s text, t a
dtype, o anything else, an object.
"""
from typing import NamedTuple

_TABLE = r"""
AdaptivePool1DAttrs | nn.adaptive_avg_pool1d nn.adaptive_max_pool1d | output_size:o layout:s out_layout:o
AdaptivePool2DAttrs | nn.adaptive_avg_pool2d nn.adaptive_max_pool2d | output_size:o layout:s out_layout:o
AdaptivePool3DAttrs | nn.adaptive_avg_pool3d nn.adaptive_max_pool3d | output_size:o layout:s out_layout:o
AffineGridAttrs | image.affine_grid | target_shape!:o
AllClassNonMaximumSuppressionAttrs | ~vision.all_class_non_max_suppression | output_format:s
ArangeAttrs | arange | start!:o stop!:o step!:o dtype!:t
ArgReduceAttrs | argmax argmin | axis:o keepdims:b select_last_index:b exclude:b
ArgsortAttrs | argsort sort | axis:i is_ascend:b dtype:t
AvgPool1DAttrs | nn.avg_pool1d | pool_size!:o strides:o dilation:o padding:o layout:s out_layout:o ceil_mode:b count_include_pad:b
AvgPool2DAttrs | nn.avg_pool2d qnn.avg_pool2d | pool_size!:o strides:o dilation:o padding:o layout:o out_layout:o ceil_mode:b count_include_pad:b
AvgPool3DAttrs | nn.avg_pool3d | pool_size!:o strides:o dilation:o padding:o layout:s out_layout:o ceil_mode:b count_include_pad:b
BatchMatmulAttrs | nn.batch_matmul qnn.batch_matmul | out_dtype:t transpose_a:b transpose_b:b
BatchNormAttrs | nn.batch_norm | axis:i epsilon:d center:b scale:b
BatchToSpaceNDAttrs | nn.batch_to_space_nd | block_shape:o crops!:o
BiasAddAttrs | nn.bias_add | axis:i
BroadcastAttrs | qnn.add qnn.mul qnn.subtract | lhs_axis:i rhs_axis:i
CastAttrs | cast reinterpret | dtype!:t
CastHintAttrs | ~annotation.cast_hint | dtype!:t
ClipAttrs | clip | a_min!:d a_max!:d
CompilerAttrs | ~annotation.compiler_begin ~annotation.compiler_end | compiler!:s
ConcatenateAttrs | concatenate qnn.concatenate | axis:i
Conv1DAttrs | nn.conv1d | strides:o padding:o dilation:o groups:i channels:o kernel_size:o data_layout:o kernel_layout:o out_layout:o out_dtype:t
Conv1DTransposeAttrs | nn.conv1d_transpose | channels:o kernel_size:o strides:o output_padding:o padding:o dilation:o groups:i data_layout:s \
kernel_layout:s out_layout:s out_dtype:t
Conv2DAttrs | nn.contrib_conv2d_NCHWc nn.contrib_depthwise_conv2d_NCHWc nn.conv2d qnn.conv2d | strides:o padding:o dilation:o groups:i channels:o \
kernel_size:o data_layout:o kernel_layout:o out_layout:o out_dtype:t
Conv2DTransposeAttrs | nn.conv2d_transpose qnn.conv2d_transpose | channels:o kernel_size:o strides:o output_padding:o padding:o dilation:o \
groups:i data_layout:s kernel_layout:s out_layout:s out_dtype:t
Conv3DAttrs | nn.conv3d | strides:o padding:o dilation:o groups:i channels:o kernel_size:o data_layout:o kernel_layout:o out_layout:o out_dtype:t
Conv3DTransposeAttrs | nn.conv3d_transpose | channels:o kernel_size:o strides:o output_padding:o padding:o dilation:o groups:i data_layout:o \
kernel_layout:o out_layout:o out_dtype:t
CorrelationAttrs | nn.correlation | kernel_size:i max_displacement:i stride1:i stride2:i padding:o is_multiply:b layout:o
CropAndResizeAttrs | image.crop_and_resize | crop_size:o layout:s method:s extrapolation_value:d out_dtype:t
DFTAttrs | ~dft | inverse:o
DeformableConv2DAttrs | nn.deformable_conv2d | strides:o padding:o dilation:o deformable_groups:i groups:i channels:o kernel_size:o data_layout:s \
kernel_layout:s out_layout:s out_dtype:t
DenseAttrs | nn.contrib_dense_pack nn.dense qnn.dense | units!:o out_dtype:t
DequantizeAttrs | qnn.dequantize qnn.simulated_dequantize | out_dtype!:t axis:i
DeviceCopyAttrs | device_copy | src_virtual_device!:o dst_virtual_device!:o
DilateAttrs | ~nn.dilate | strides:o dilation_value:d
Dilation2DAttrs | image.dilation2d | strides:o padding:o dilations:o data_layout:s kernel_layout:s out_dtype:t
DropoutAttrs | nn.dropout | rate:d
DynExpandDimsAttrs | ~dyn.expand_dims | num_newaxis:i
EinsumAttrs | einsum | equation!:o
ExpandDimsAttrs | expand_dims | axis!:i num_newaxis:i
FIFOBufferAttrs | nn.fifo_buffer | axis:i
FixedPointMultiplyAttrs | fixed_point_multiply | multiplier!:i shift!:i
FixedPointMultiplyPerAxisAttrs | fixed_point_multiply_per_axis | is_lshift_required:b is_rshift_required:b axes!:o
GatherAttrs | gather | axis:o
GatherNDAttrs | gather_nd | batch_dims:o index_rank:o
GetValidCountsAttrs | ~vision.get_valid_counts | score_threshold!:o id_index:i score_index:i
GlobalPool2DAttrs | nn.global_avg_pool2d nn.global_max_pool2d | layout:o out_layout:o
GridSampleAttrs | image.grid_sample | method:o layout:o padding_mode:o align_corners:b
GroupNormAttrs | nn.group_norm | num_groups:i axis:i epsilon:d center:b scale:b
InitOpAttrs | broadcast_to dyn.broadcast_to dyn.full dyn.ones dyn.zeros full ones zeros | shape!:o dtype:t
InstanceNormAttrs | nn.instance_norm | axis:i epsilon:d center:b scale:b
L2NormalizeAttrs | nn.l2_normalize | eps!:d axis!:o
LRNAttrs | nn.lrn | size:i axis:i bias:d alpha:d beta:d
LayerNormAttrs | nn.layer_norm | axis:i epsilon:d center:b scale:b
LayoutTransformAttrs | layout_transform | src_layout!:s dst_layout!:s
LeakyReluAttrs | nn.leaky_relu qnn.leaky_relu | alpha:d
MatmulAttrs | nn.matmul | units!:o out_dtype:t transpose_a:b transpose_b:b
MatrixSetDiagAttrs | matrix_set_diag | k1:i k2:i super_diag_right_align:b sub_diag_right_align:b
MaxPool1DAttrs | nn.max_pool1d | pool_size!:o strides:o dilation:o padding:o layout:s out_layout:o ceil_mode:b
MaxPool2DAttrs | nn.avg_pool2d_grad nn.max_pool2d nn.max_pool2d_grad | pool_size!:o strides:o dilation:o padding:o layout:o out_layout:o ceil_mode:b
MaxPool3DAttrs | nn.max_pool3d | pool_size!:o strides:o dilation:o padding:o layout:s out_layout:o ceil_mode:b
MeshgridAttrs | meshgrid | indexing:s
MirrorPadAttrs | nn.mirror_pad | mode:s pad_width!:o
MultiBoxPriorAttrs | vision.multibox_prior | sizes:o ratios:o steps:o offsets:o clip:b
MultiBoxTransformLocAttrs | vision.multibox_transform_loc | clip:b threshold:d variances:o keep_background:b
MultinomialAttrs | random.multinomial | num_samples:o
NLLLossAttrs | nn.nll_loss | reduction:s ignore_index!:i
NdarraySizeAttrs | ndarray_size | dtype:t
NonMaximumSuppressionAttrs | ~vision.non_max_suppression | force_suppress:b top_k:i coord_start:i score_index:i id_index:i return_indices:b \
invalid_to_bottom:b
NormalAttrs | random.normal | out_shape!:o out_dtype:t
OnDeviceAttrs | on_device | virtual_device:o constrain_result:b constrain_body:b
OneHotAttrs | dyn.one_hot one_hot | depth:i axis:i dtype:t
PReluAttrs | nn.prelu | axis:i
PadAttrs | dyn.nn.pad nn.pad | pad_width!:o pad_mode:o
ProposalAttrs | ~vision.proposal | scales:o ratios:o feature_stride:i threshold:d rpn_pre_nms_top_n:i rpn_post_nms_top_n:i rpn_min_size:i iou_loss:b
QuantizeAttrs | qnn.quantize | out_dtype!:t axis:i
ROIAlignAttrs | ~vision.roi_align | pooled_size!:o spatial_scale!:d sample_ratio:i layout:s mode:s
ROIPoolAttrs | ~vision.roi_pool | pooled_size!:o spatial_scale!:d layout:s
ReduceAttrs | all any max mean min prod sum | axis:o keepdims:b exclude:b
RegularNonMaximumSuppressionAttrs | ~vision.regular_non_max_suppression | max_detections_per_class!:i max_detections!:i num_classes!:i \
iou_threshold!:d score_threshold!:d
RepeatAttrs | repeat | repeats!:o axis:o
RequantizeAttrs | qnn.requantize | axis:i rounding:s compute_dtype:s out_dtype:t
ReshapeAttrs | contrib_reverse_reshape dyn.reshape reshape | newshape!:o allowzero:b
ReshapeLikeAttrs | reshape_like | lhs_begin:i lhs_end:o rhs_begin:i rhs_end:o
Resize1DAttrs | image.resize1d | size:o roi:o layout:s method:s coordinate_transformation_mode:s rounding_method:s cubic_alpha:d cubic_exclude:i \
extrapolation_value:d out_dtype:t
Resize2DAttrs | dyn.image.resize2d image.resize2d | size:o roi:o layout:s method:s coordinate_transformation_mode:s rounding_method:s \
cubic_alpha:d cubic_exclude:i extrapolation_value:d out_dtype:t
Resize3DAttrs | image.resize3d | size:o roi:o layout:s method:s coordinate_transformation_mode:s rounding_method:s cubic_alpha:d cubic_exclude:i \
extrapolation_value:d out_dtype:t
ReverseAttrs | reverse | axis:o
ReverseSequenceAttrs | reverse_sequence | seq_axis:o batch_axis:o
ScanopAttrs | ~cumprod ~cumsum | axis:o dtype:t exclusive:o
ScatterElementsAttrs | ~scatter_elements | axis:o reduction:o
ScatterNDAttrs | ~scatter_nd | mode:o
SearchSortedAttrs | searchsorted | right:b dtype:t
SequenceMaskAttrs | sequence_mask | mask_value:d axis:i
ShapeOfAttrs | shape_of vm.shape_of | dtype:t
SimulatedQuantizeAttrs | relay.op.annotation.simulated_quantize | kind!:i sign:b rounding:s
SliceLikeAttrs | slice_like | axes!:o
SlidingWindowAttrs | sliding_window | axis!:i window_shape!:o strides!:o
SoftmaxAttrs | nn.fast_softmax nn.log_softmax nn.softmax qnn.softmax | axis:i
SpaceToBatchNDAttrs | nn.space_to_batch_nd | block_shape:o paddings!:o pad_value:d
SparseConv2DAttrs | nn.sparse_conv2d | layout:s kernel_size:o
SparseDenseAttrs | nn.sparse_dense | sparse_lhs:b
SparseToDenseAttrs | sparse_to_dense | output_shape!:o
SparseTransposeAttrs | nn.sparse_transpose | 
SplitAttrs | split | indices_or_sections!:o axis:i
SqueezeAttrs | dyn.squeeze squeeze | axis:o
StackAttrs | stack | axis:o
StftAttrs | ~stft | n_fft:i hop_length:i win_length:i normalized:b onesided:b
StridedSliceAttrs | dyn.strided_slice strided_slice | begin!:o end!:o strides!:o slice_mode:o axes!:o
SubPixelAttrs | nn.depth_to_space nn.space_to_depth | block_size:i layout:s mode:s
TakeAttrs | take | batch_dims:o axis:o mode:o
ThreefryGenerateAttrs | random.threefry_generate | out_shape!:o
TileAttrs | dyn.tile tile | reps!:o
TopkAttrs | dyn.topk topk | k!:o axis:i ret_type:s is_ascend:b dtype:t
TransposeAttrs | transpose | axes!:o
TriluAttrs | ~trilu | upper:b
UniformAttrs | random.uniform | out_shape!:o out_dtype:t
UniqueAttrs | ~unique | sorted:b return_counts:b
UpSampling3DAttrs | dyn.nn.upsampling3d nn.upsampling3d | scale_d!:d scale_h!:d scale_w!:d layout:s method:s coordinate_transformation_mode:s
UpSamplingAttrs | dyn.nn.upsampling nn.upsampling | scale_h!:d scale_w!:d layout:o method:o align_corners:b
VarianceAttrs | variance | axis:o keepdims:b exclude:b unbiased:b
YoloReorgAttrs | vision.yolo_reorg | stride:o
"""


class Field(NamedTuple):
    """A field of a class of attributes."""

    name: str
    kind: str
    has_default: bool


class AttributeClass(NamedTuple):
    """Of an operator: TVM's name of its attributes' class, whether text may have them, and their fields."""

    type_key: str
    is_text: bool
    fields: tuple


def _field(text):
    name, kind = text.split(":")
    return Field(name.rstrip("!"), kind, not name.endswith("!"))


def _read():
    by_operator, by_key = {}, {}
    for line in _TABLE.replace(" \\\n", " ").strip().splitlines():
        name, operators, fields = (part.split() for part in line.split("|"))
        key = name[0] if "." in name[0] else f"relay.attrs.{name[0]}"
        by_key[key] = tuple(map(_field, fields))
        for operator in operators:
            by_operator[operator.lstrip("~")] = AttributeClass(key, not operator.startswith("~"), by_key[key])
    return by_operator, by_key


OF_OPERATORS, FIELDS = _read()
