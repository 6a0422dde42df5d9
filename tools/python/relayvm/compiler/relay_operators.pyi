# Made by tools/python/tests/test_stubs.py, of the table of operators.
from collections.abc import Sequence
from typing import Any

import numpy as np

from . import relay as _relay

_Operand = _relay.Expr | np.ndarray[Any, Any] | np.generic | complex | Sequence[Any]
_Numbers = int | Sequence[Any] | np.ndarray[Any, Any] | np.generic
_Text = str | type[Any] | np.dtype[Any]

class _op_abs(_relay.Op):
    def __call__(self, data: _Operand, *, span: Any = None) -> _relay.Call: ...  # type: ignore[override]
class _op_acos(_relay.Op):
    def __call__(self, data: _Operand, *, span: Any = None) -> _relay.Call: ...  # type: ignore[override]
class _op_acosh(_relay.Op):
    def __call__(self, data: _Operand, *, span: Any = None) -> _relay.Call: ...  # type: ignore[override]
class _op_add(_relay.Op):
    def __call__(self, lhs: _Operand, rhs: _Operand, *, span: Any = None) -> _relay.Call: ...  # type: ignore[override]
class _op_adv_index(_relay.Op):
    def __call__(self, inputs: _Operand, *, span: Any = None) -> _relay.Call: ...  # type: ignore[override]
class _op_all(_relay.Op):
    def __call__(self, data: _Operand, axis: Any = None, keepdims: bool = False, exclude: bool = False, *, span: Any = None) -> _relay.Call: ...  # type: ignore[override]
class _op_annotation_bitpack_end(_relay.Op):
    def __call__(self, operand_0: _Operand, /, *, span: Any = None) -> _relay.Call: ...  # type: ignore[override]
class _op_annotation_bitpack_start(_relay.Op):
    def __call__(self, operand_0: _Operand, /, *, span: Any = None) -> _relay.Call: ...  # type: ignore[override]
class _op_annotation_cast_hint(_relay.Op):
    def __call__(self, operand_0: _Operand, /, dtype: _Text = '', *, span: Any = None) -> _relay.Call: ...  # type: ignore[override]
class _op_annotation_checkpoint(_relay.Op):
    def __call__(self, data: _Operand, *, span: Any = None) -> _relay.Call: ...  # type: ignore[override]
class _op_annotation_compiler_begin(_relay.Op):
    def __call__(self, data: _Operand, compiler: Any, *, span: Any = None) -> _relay.Call: ...  # type: ignore[override]
class _op_annotation_compiler_end(_relay.Op):
    def __call__(self, data: _Operand, compiler: Any, *, span: Any = None) -> _relay.Call: ...  # type: ignore[override]
class _op_annotation_function_on_device(_relay.Op):
    def __call__(self, function: Any, param_devices: Any, result_device: Any, *, span: Any = None) -> Any: ...  # type: ignore[override]
class _op_annotation_on_device(_relay.Op):
    def __call__(self, body: Any, device: Any, constrain_result: bool = False, constrain_body: bool = True, *, span: Any = None) -> Any: ...  # type: ignore[override]
class _op_annotation_stop_fusion(_relay.Op):
    def __call__(self, data: _Operand, *, span: Any = None) -> _relay.Call: ...  # type: ignore[override]
class _op_annotation_with_funcid(_relay.Op):
    def __call__(self, operand_0: _Operand, /, *, span: Any = None) -> _relay.Call: ...  # type: ignore[override]
class _op_any(_relay.Op):
    def __call__(self, data: _Operand, axis: Any = None, keepdims: bool = False, exclude: bool = False, *, span: Any = None) -> _relay.Call: ...  # type: ignore[override]
class _op_arange(_relay.Op):
    def __call__(self, start: Any, stop: Any = None, step: Any = None, dtype: _Text = 'float32', *, span: Any = None) -> _relay.Call: ...  # type: ignore[override]
class _op_argmax(_relay.Op):
    def __call__(self, data: _Operand, axis: Any = None, keepdims: bool = False, exclude: bool = False, select_last_index: bool = False, *, span: Any = None) -> _relay.Call: ...  # type: ignore[override]
class _op_argmin(_relay.Op):
    def __call__(self, data: _Operand, axis: Any = None, keepdims: bool = False, exclude: bool = False, select_last_index: bool = False, *, span: Any = None) -> _relay.Call: ...  # type: ignore[override]
class _op_argsort(_relay.Op):
    def __call__(self, data: _Operand, axis: _Numbers | _relay.Expr | None = -1, is_ascend: _Numbers | _relay.Expr | None = 1, dtype: _Text = 'int32', *, span: Any = None) -> _relay.Call: ...  # type: ignore[override]
class _op_argwhere(_relay.Op):
    def __call__(self, condition: _Operand, *, span: Any = None) -> _relay.Call: ...  # type: ignore[override]
class _op_asin(_relay.Op):
    def __call__(self, data: _Operand, *, span: Any = None) -> _relay.Call: ...  # type: ignore[override]
class _op_asinh(_relay.Op):
    def __call__(self, data: _Operand, *, span: Any = None) -> _relay.Call: ...  # type: ignore[override]
class _op_atan(_relay.Op):
    def __call__(self, data: _Operand, *, span: Any = None) -> _relay.Call: ...  # type: ignore[override]
class _op_atanh(_relay.Op):
    def __call__(self, data: _Operand, *, span: Any = None) -> _relay.Call: ...  # type: ignore[override]
class _op_bitwise_and(_relay.Op):
    def __call__(self, lhs: _Operand, rhs: _Operand, *, span: Any = None) -> _relay.Call: ...  # type: ignore[override]
class _op_bitwise_not(_relay.Op):
    def __call__(self, data: _Operand, *, span: Any = None) -> _relay.Call: ...  # type: ignore[override]
class _op_bitwise_or(_relay.Op):
    def __call__(self, lhs: _Operand, rhs: _Operand, *, span: Any = None) -> _relay.Call: ...  # type: ignore[override]
class _op_bitwise_xor(_relay.Op):
    def __call__(self, lhs: _Operand, rhs: _Operand, *, span: Any = None) -> _relay.Call: ...  # type: ignore[override]
class _op_broadcast_to(_relay.Op):
    def __call__(self, data: _Operand, shape: Any, *, dtype: _Text = ..., span: Any = None) -> _relay.Call: ...  # type: ignore[override]
class _op_broadcast_to_like(_relay.Op):
    def __call__(self, data: _Operand, broadcast_type: _Operand, *, span: Any = None) -> _relay.Call: ...  # type: ignore[override]
class _op_cast(_relay.Op):
    def __call__(self, data: _Operand, dtype: Any, *, span: Any = None) -> _relay.Call: ...  # type: ignore[override]
class _op_cast_like(_relay.Op):
    def __call__(self, data: _Operand, dtype_like: _Operand, *, span: Any = None) -> _relay.Call: ...  # type: ignore[override]
class _op_ceil(_relay.Op):
    def __call__(self, data: _Operand, *, span: Any = None) -> _relay.Call: ...  # type: ignore[override]
class _op_check_range(_relay.Op):
    def __call__(self, operand_0: _Operand, operand_1: _Operand, operand_2: _Operand, /, *, span: Any = None) -> _relay.Call: ...  # type: ignore[override]
class _op_clip(_relay.Op):
    def __call__(self, a: _Operand, a_min: Any, a_max: Any, *, span: Any = None) -> _relay.Call: ...  # type: ignore[override]
class _op_collapse_sum_like(_relay.Op):
    def __call__(self, data: _Operand, collapse_type: _Operand, *, span: Any = None) -> _relay.Call: ...  # type: ignore[override]
class _op_collapse_sum_to(_relay.Op):
    def __call__(self, data: _Operand, shape: _Operand, *, span: Any = None) -> _relay.Call: ...  # type: ignore[override]
class _op_concatenate(_relay.Op):
    def __call__(self, data: _Operand, axis: Any, *, span: Any = None) -> _relay.Call: ...  # type: ignore[override]
class _op_contrib_byte_table(_relay.Op):
    def __call__(self, operand_0: _Operand, operand_1: _Operand, /, *, span: Any = None) -> _relay.Call: ...  # type: ignore[override]
class _op_contrib_reverse_reshape(_relay.Op):
    def __call__(self, data: _Operand, newshape: Any, *, allowzero: bool = ..., span: Any = None) -> _relay.Call: ...  # type: ignore[override]
class _op_copy(_relay.Op):
    def __call__(self, data: _Operand, *, span: Any = None) -> _relay.Call: ...  # type: ignore[override]
class _op_cos(_relay.Op):
    def __call__(self, data: _Operand, *, span: Any = None) -> _relay.Call: ...  # type: ignore[override]
class _op_cosh(_relay.Op):
    def __call__(self, data: _Operand, *, span: Any = None) -> _relay.Call: ...  # type: ignore[override]
class _op_count_grams(_relay.Op):
    def __call__(self, operand_0: _Operand, operand_1: _Operand, operand_2: _Operand, /, width: Any, skips: _Numbers | _relay.Expr | None = 0, *, span: Any = None) -> _relay.Call: ...  # type: ignore[override]
class _op_cumprod(_relay.Op):
    def __call__(self, data: _Operand, axis: Any = None, dtype: Any = None, exclusive: Any = None, *, reversed: bool = ..., span: Any = None) -> _relay.Call: ...  # type: ignore[override]
class _op_cumsum(_relay.Op):
    def __call__(self, data: _Operand, axis: Any = None, dtype: Any = None, exclusive: Any = None, *, reversed: bool = ..., span: Any = None) -> _relay.Call: ...  # type: ignore[override]
class _op_device_copy(_relay.Op):
    def __call__(self, data: _Operand, src_device: _Operand, dst_device: _Operand, *, span: Any = None) -> _relay.Call: ...  # type: ignore[override]
class _op_dft(_relay.Op):
    def __call__(self, re_data: _Operand, im_data: _Operand, inverse: bool = False, *, span: Any = None) -> _relay.Call: ...  # type: ignore[override]
class _op_divide(_relay.Op):
    def __call__(self, lhs: _Operand, rhs: _Operand, *, span: Any = None) -> _relay.Call: ...  # type: ignore[override]
class _op_dyn_broadcast_to(_relay.Op):
    def __call__(self, operand_0: _Operand, operand_1: _Operand, /, shape: Any = None, dtype: _Text = '', *, span: Any = None) -> _relay.Call: ...  # type: ignore[override]
class _op_dyn_expand_dims(_relay.Op):
    def __call__(self, operand_0: _Operand, operand_1: _Operand, /, num_newaxis: _Numbers | _relay.Expr | None = 1, axis: Any = None, *, span: Any = None) -> _relay.Call: ...  # type: ignore[override]
class _op_dyn_full(_relay.Op):
    def __call__(self, operand_0: _Operand, operand_1: _Operand, /, shape: Any = None, dtype: _Text = '', *, span: Any = None) -> _relay.Call: ...  # type: ignore[override]
class _op_dyn_image_resize2d(_relay.Op):
    def __call__(self, operand_0: _Operand, operand_1: _Operand, operand_2: _Operand, /, size: Any = None, roi: Any = None, layout: _Text = 'NCHW', method: _Text = 'linear', coordinate_transformation_mode: _Text = 'half_pixel', rounding_method: _Text = 'round', cubic_alpha: _Operand = -0.5, cubic_exclude: _Numbers | _relay.Expr | None = 0, extrapolation_value: _Operand = 0.0, out_dtype: _Text = '', *, span: Any = None) -> _relay.Call: ...  # type: ignore[override]
class _op_dyn_nn_pad(_relay.Op):
    def __call__(self, operand_0: _Operand, operand_1: _Operand, operand_2: _Operand, /, pad_width: Any = None, pad_mode: _Text = 'constant', *, span: Any = None) -> _relay.Call: ...  # type: ignore[override]
class _op_dyn_nn_upsampling(_relay.Op):
    def __call__(self, operand_0: _Operand, operand_1: _Operand, operand_2: _Operand, /, layout: _Text = 'NCHW', method: _Text = 'nearest_neighbor', scale_h: Any = None, scale_w: Any = None, align_corners: bool = False, *, span: Any = None) -> _relay.Call: ...  # type: ignore[override]
class _op_dyn_nn_upsampling3d(_relay.Op):
    def __call__(self, operand_0: _Operand, operand_1: _Operand, operand_2: _Operand, operand_3: _Operand, /, layout: _Text = 'NCDHW', method: _Text = 'nearest_neighbor', scale_h: Any = None, scale_w: Any = None, scale_d: Any = None, coordinate_transformation_mode: _Text = 'half_pixel', *, span: Any = None) -> _relay.Call: ...  # type: ignore[override]
class _op_dyn_one_hot(_relay.Op):
    def __call__(self, operand_0: _Operand, operand_1: _Operand, operand_2: _Operand, operand_3: _Operand, /, depth: Any = None, axis: _Numbers | _relay.Expr | None = -1, dtype: _Text = '', *, span: Any = None) -> _relay.Call: ...  # type: ignore[override]
class _op_dyn_ones(_relay.Op):
    def __call__(self, operand_0: _Operand, /, shape: Any = None, dtype: _Text = '', *, span: Any = None) -> _relay.Call: ...  # type: ignore[override]
class _op_dyn_reshape(_relay.Op):
    def __call__(self, operand_0: _Operand, operand_1: _Operand, /, newshape: Any = None, allowzero: bool = False, *, span: Any = None) -> _relay.Call: ...  # type: ignore[override]
class _op_dyn_sparse_to_dense(_relay.Op):
    def __call__(self, operand_0: _Operand, operand_1: _Operand, operand_2: _Operand, operand_3: _Operand, /, *, span: Any = None) -> _relay.Call: ...  # type: ignore[override]
class _op_dyn_squeeze(_relay.Op):
    def __call__(self, operand_0: _Operand, operand_1: _Operand, /, axis: Any = None, *, span: Any = None) -> _relay.Call: ...  # type: ignore[override]
class _op_dyn_strided_slice(_relay.Op):
    def __call__(self, operand_0: _Operand, operand_1: _Operand, operand_2: _Operand, operand_3: _Operand, /, begin: Any = None, end: Any = None, strides: Any = None, slice_mode: _Text = 'end', axes: Any = None, *, span: Any = None) -> _relay.Call: ...  # type: ignore[override]
class _op_dyn_tile(_relay.Op):
    def __call__(self, operand_0: _Operand, operand_1: _Operand, /, reps: Any = None, *, span: Any = None) -> _relay.Call: ...  # type: ignore[override]
class _op_dyn_topk(_relay.Op):
    def __call__(self, operand_0: _Operand, operand_1: _Operand, /, axis: _Numbers | _relay.Expr | None = -1, ret_type: _Text = 'both', is_ascend: bool = False, dtype: _Text = '', k: Any = None, below_one_is_none: bool = False, *, span: Any = None) -> _relay.Call: ...  # type: ignore[override]
class _op_dyn_zeros(_relay.Op):
    def __call__(self, operand_0: _Operand, /, shape: Any = None, dtype: _Text = '', *, span: Any = None) -> _relay.Call: ...  # type: ignore[override]
class _op_einsum(_relay.Op):
    def __call__(self, data: _Operand, equation: Any, *, span: Any = None) -> _relay.Call: ...  # type: ignore[override]
class _op_equal(_relay.Op):
    def __call__(self, lhs: _Operand, rhs: _Operand, *, span: Any = None) -> _relay.Call: ...  # type: ignore[override]
class _op_erf(_relay.Op):
    def __call__(self, data: _Operand, *, span: Any = None) -> _relay.Call: ...  # type: ignore[override]
class _op_exp(_relay.Op):
    def __call__(self, data: _Operand, *, span: Any = None) -> _relay.Call: ...  # type: ignore[override]
class _op_expand_dims(_relay.Op):
    def __call__(self, data: _Operand, axis: Any, num_newaxis: _Numbers | _relay.Expr | None = 1, *, span: Any = None) -> _relay.Call: ...  # type: ignore[override]
class _op_fast_erf(_relay.Op):
    def __call__(self, operand_0: _Operand, /, *, span: Any = None) -> _relay.Call: ...  # type: ignore[override]
class _op_fast_exp(_relay.Op):
    def __call__(self, operand_0: _Operand, /, *, span: Any = None) -> _relay.Call: ...  # type: ignore[override]
class _op_fast_tanh(_relay.Op):
    def __call__(self, operand_0: _Operand, /, *, span: Any = None) -> _relay.Call: ...  # type: ignore[override]
class _op_fixed_point_multiply(_relay.Op):
    def __call__(self, data: _Operand, multiplier: Any, shift: Any, *, span: Any = None) -> _relay.Call: ...  # type: ignore[override]
class _op_fixed_point_multiply_per_axis(_relay.Op):
    def __call__(self, operand_0: _Operand, operand_1: _Operand, operand_2: _Operand, operand_3: _Operand, /, *, is_lshift_required: bool = False, is_rshift_required: bool = False, axes: Any, span: Any = None) -> _relay.Call: ...  # type: ignore[override]
class _op_floor(_relay.Op):
    def __call__(self, data: _Operand, *, span: Any = None) -> _relay.Call: ...  # type: ignore[override]
class _op_floor_divide(_relay.Op):
    def __call__(self, lhs: _Operand, rhs: _Operand, *, span: Any = None) -> _relay.Call: ...  # type: ignore[override]
class _op_floor_mod(_relay.Op):
    def __call__(self, lhs: _Operand, rhs: _Operand, *, span: Any = None) -> _relay.Call: ...  # type: ignore[override]
class _op_full(_relay.Op):
    def __call__(self, fill_value: _Operand, shape: _Numbers | _relay.Expr | None = (), dtype: _Text = '', *, span: Any = None) -> _relay.Call: ...  # type: ignore[override]
class _op_full_like(_relay.Op):
    def __call__(self, data: _Operand, fill_value: _Operand, *, span: Any = None) -> _relay.Call: ...  # type: ignore[override]
class _op_gather(_relay.Op):
    def __call__(self, data: _Operand, axis: Any, indices: _Operand, *, span: Any = None) -> _relay.Call: ...  # type: ignore[override]
class _op_gather_nd(_relay.Op):
    def __call__(self, data: _Operand, indices: _Operand, batch_dims: _Numbers | _relay.Expr | None = 0, index_rank: Any = None, *, span: Any = None) -> _relay.Call: ...  # type: ignore[override]
class _op_greater(_relay.Op):
    def __call__(self, lhs: _Operand, rhs: _Operand, *, span: Any = None) -> _relay.Call: ...  # type: ignore[override]
class _op_greater_equal(_relay.Op):
    def __call__(self, lhs: _Operand, rhs: _Operand, *, span: Any = None) -> _relay.Call: ...  # type: ignore[override]
class _op_image_affine_grid(_relay.Op):
    def __call__(self, data: _Operand, target_shape: Any = None, *, span: Any = None) -> _relay.Call: ...  # type: ignore[override]
class _op_image_crop_and_resize(_relay.Op):
    def __call__(self, data: _Operand, boxes: _Operand, box_indices: _Operand, crop_size: Any, layout: Any, method: _Text = 'bilinear', extrapolation_value: _Numbers | _relay.Expr | None = 0, out_dtype: Any = None, *, span: Any = None) -> _relay.Call: ...  # type: ignore[override]
class _op_image_dilation2d(_relay.Op):
    def __call__(self, data: _Operand, weight: _Operand, strides: _Numbers | _relay.Expr | None = (1, 1), padding: _Numbers | _relay.Expr | None = (0, 0), dilations: _Numbers | _relay.Expr | None = (1, 1), data_layout: _Text = 'NCHW', kernel_layout: _Text = 'IHW', out_dtype: _Text = '', *, span: Any = None) -> _relay.Call: ...  # type: ignore[override]
class _op_image_grid_sample(_relay.Op):
    def __call__(self, data: _Operand, grid: _Operand, method: _Text = 'bilinear', layout: _Text = 'NCHW', padding_mode: _Text = 'zeros', align_corners: bool = True, *, span: Any = None) -> _relay.Call: ...  # type: ignore[override]
class _op_image_resize1d(_relay.Op):
    def __call__(self, data: _Operand, size: Any, roi: Any = None, layout: _Text = 'NCW', method: _Text = 'linear', coordinate_transformation_mode: _Text = 'half_pixel', rounding_method: _Text = '', cubic_alpha: _Operand = -0.5, cubic_exclude: _Numbers | _relay.Expr | None = 0, extrapolation_value: _Operand = 0.0, out_dtype: Any = None, *, span: Any = None) -> _relay.Call: ...  # type: ignore[override]
class _op_image_resize2d(_relay.Op):
    def __call__(self, data: _Operand, size: Any, roi: Any = None, layout: _Text = 'NCHW', method: _Text = 'linear', coordinate_transformation_mode: _Text = 'half_pixel', rounding_method: _Text = '', cubic_alpha: _Operand = -0.5, cubic_exclude: _Numbers | _relay.Expr | None = 0, extrapolation_value: _Operand = 0.0, out_dtype: Any = None, *, span: Any = None) -> _relay.Call: ...  # type: ignore[override]
class _op_image_resize3d(_relay.Op):
    def __call__(self, data: _Operand, size: Any, roi: Any = None, layout: _Text = 'NCDHW', method: _Text = 'linear', coordinate_transformation_mode: _Text = 'half_pixel', rounding_method: _Text = '', cubic_alpha: _Operand = -0.5, cubic_exclude: _Numbers | _relay.Expr | None = 0, extrapolation_value: _Operand = 0.0, out_dtype: Any = None, *, span: Any = None) -> _relay.Call: ...  # type: ignore[override]
class _op_invert_permutation(_relay.Op):
    def __call__(self, data: _Operand, *, span: Any = None) -> _relay.Call: ...  # type: ignore[override]
class _op_isfinite(_relay.Op):
    def __call__(self, data: _Operand, *, span: Any = None) -> _relay.Call: ...  # type: ignore[override]
class _op_isinf(_relay.Op):
    def __call__(self, data: _Operand, *, span: Any = None) -> _relay.Call: ...  # type: ignore[override]
class _op_isnan(_relay.Op):
    def __call__(self, data: _Operand, *, span: Any = None) -> _relay.Call: ...  # type: ignore[override]
class _op_layout_transform(_relay.Op):
    def __call__(self, data: _Operand, src_layout: Any, dst_layout: Any, *, span: Any = None) -> _relay.Call: ...  # type: ignore[override]
class _op_left_shift(_relay.Op):
    def __call__(self, lhs: _Operand, rhs: _Operand, *, span: Any = None) -> _relay.Call: ...  # type: ignore[override]
class _op_less(_relay.Op):
    def __call__(self, lhs: _Operand, rhs: _Operand, *, span: Any = None) -> _relay.Call: ...  # type: ignore[override]
class _op_less_equal(_relay.Op):
    def __call__(self, lhs: _Operand, rhs: _Operand, *, span: Any = None) -> _relay.Call: ...  # type: ignore[override]
class _op_log(_relay.Op):
    def __call__(self, data: _Operand, *, span: Any = None) -> _relay.Call: ...  # type: ignore[override]
class _op_log10(_relay.Op):
    def __call__(self, data: _Operand, *, span: Any = None) -> _relay.Call: ...  # type: ignore[override]
class _op_log2(_relay.Op):
    def __call__(self, data: _Operand, *, span: Any = None) -> _relay.Call: ...  # type: ignore[override]
class _op_logical_and(_relay.Op):
    def __call__(self, lhs: _Operand, rhs: _Operand, *, span: Any = None) -> _relay.Call: ...  # type: ignore[override]
class _op_logical_not(_relay.Op):
    def __call__(self, data: _Operand, *, span: Any = None) -> _relay.Call: ...  # type: ignore[override]
class _op_logical_or(_relay.Op):
    def __call__(self, lhs: _Operand, rhs: _Operand, *, span: Any = None) -> _relay.Call: ...  # type: ignore[override]
class _op_logical_xor(_relay.Op):
    def __call__(self, lhs: _Operand, rhs: _Operand, *, span: Any = None) -> _relay.Call: ...  # type: ignore[override]
class _op_logsumexp(_relay.Op):
    def __call__(self, data: Any, axis: Any = None, keepdims: bool = False, *, span: Any = None) -> Any: ...  # type: ignore[override]
class _op_matrix_set_diag(_relay.Op):
    def __call__(self, data: _Operand, diagonal: _Operand, k: _Operand | None = 0, align: _Operand | None = 'RIGHT_LEFT', *, span: Any = None) -> _relay.Call: ...  # type: ignore[override]
class _op_max(_relay.Op):
    def __call__(self, data: _Operand, axis: Any = None, keepdims: bool = False, exclude: bool = False, *, span: Any = None) -> _relay.Call: ...  # type: ignore[override]
class _op_maximum(_relay.Op):
    def __call__(self, lhs: _Operand, rhs: _Operand, *, span: Any = None) -> _relay.Call: ...  # type: ignore[override]
class _op_mean(_relay.Op):
    def __call__(self, data: _Operand, axis: Any = None, keepdims: bool = False, exclude: bool = False, *, span: Any = None) -> _relay.Call: ...  # type: ignore[override]
class _op_mean_std(_relay.Op):
    def __call__(self, data: Any, axis: Any = None, keepdims: bool = False, exclude: bool = False, *, span: Any = None) -> Any: ...  # type: ignore[override]
class _op_mean_variance(_relay.Op):
    def __call__(self, data: Any, axis: Any = None, keepdims: bool = False, exclude: bool = False, unbiased: bool = False, *, span: Any = None) -> Any: ...  # type: ignore[override]
class _op_meshgrid(_relay.Op):
    def __call__(self, data: _Operand, indexing: _Text = 'ij', *, span: Any = None) -> _relay.Call: ...  # type: ignore[override]
class _op_min(_relay.Op):
    def __call__(self, data: _Operand, axis: Any = None, keepdims: bool = False, exclude: bool = False, *, span: Any = None) -> _relay.Call: ...  # type: ignore[override]
class _op_minimum(_relay.Op):
    def __call__(self, lhs: _Operand, rhs: _Operand, *, span: Any = None) -> _relay.Call: ...  # type: ignore[override]
class _op_mod(_relay.Op):
    def __call__(self, lhs: _Operand, rhs: _Operand, *, span: Any = None) -> _relay.Call: ...  # type: ignore[override]
class _op_multiply(_relay.Op):
    def __call__(self, lhs: _Operand, rhs: _Operand, *, span: Any = None) -> _relay.Call: ...  # type: ignore[override]
class _op_ndarray_size(_relay.Op):
    def __call__(self, data: _Operand, dtype: _Text = 'int32', *, span: Any = None) -> _relay.Call: ...  # type: ignore[override]
class _op_negative(_relay.Op):
    def __call__(self, data: _Operand, *, span: Any = None) -> _relay.Call: ...  # type: ignore[override]
class _op_nn_adaptive_avg_pool1d(_relay.Op):
    def __call__(self, data: _Operand, output_size: Any = None, layout: _Text = 'NCW', out_layout: _Text = '', *, span: Any = None) -> _relay.Call: ...  # type: ignore[override]
class _op_nn_adaptive_avg_pool2d(_relay.Op):
    def __call__(self, data: _Operand, output_size: Any = None, layout: _Text = 'NCHW', out_layout: _Text = '', *, span: Any = None) -> _relay.Call: ...  # type: ignore[override]
class _op_nn_adaptive_avg_pool3d(_relay.Op):
    def __call__(self, data: _Operand, output_size: Any = None, layout: _Text = 'NCDHW', out_layout: _Text = '', *, span: Any = None) -> _relay.Call: ...  # type: ignore[override]
class _op_nn_adaptive_max_pool1d(_relay.Op):
    def __call__(self, data: _Operand, output_size: Any = None, layout: _Text = 'NCW', out_layout: _Text = '', *, span: Any = None) -> _relay.Call: ...  # type: ignore[override]
class _op_nn_adaptive_max_pool2d(_relay.Op):
    def __call__(self, data: _Operand, output_size: Any = None, layout: _Text = 'NCHW', out_layout: _Text = '', *, span: Any = None) -> _relay.Call: ...  # type: ignore[override]
class _op_nn_adaptive_max_pool3d(_relay.Op):
    def __call__(self, data: _Operand, output_size: Any = None, layout: _Text = 'NCDHW', out_layout: _Text = '', *, span: Any = None) -> _relay.Call: ...  # type: ignore[override]
class _op_nn_attention(_relay.Op):
    def __call__(self, *operands: _Operand, q_layout: _Text = 'BHSD', k_layout: _Text = 'BHSD', v_layout: _Text = 'BHSD', out_layout: _Text = 'BHSD', score: _Text = '', span: Any = None) -> _relay.Call: ...  # type: ignore[override]
class _op_nn_avg_pool1d(_relay.Op):
    def __call__(self, data: _Operand, pool_size: _Numbers | _relay.Expr | None = (1,), strides: _Numbers | _relay.Expr | None = (1,), dilation: _Numbers | _relay.Expr | None = (1,), padding: _Numbers | _relay.Expr | None = (0,), layout: _Text = 'NCW', out_layout: _Text = '', ceil_mode: bool = False, count_include_pad: bool = False, *, span: Any = None) -> _relay.Call: ...  # type: ignore[override]
class _op_nn_avg_pool2d(_relay.Op):
    def __call__(self, data: _Operand, pool_size: _Numbers | _relay.Expr | None = (1, 1), strides: _Numbers | _relay.Expr | None = (1, 1), dilation: _Numbers | _relay.Expr | None = (1, 1), padding: _Numbers | _relay.Expr | None = (0, 0), layout: _Text = 'NCHW', out_layout: _Text = '', ceil_mode: bool = False, count_include_pad: bool = False, *, span: Any = None) -> _relay.Call: ...  # type: ignore[override]
class _op_nn_avg_pool2d_grad(_relay.Op):
    def __call__(self, out_grad: _Operand, data: _Operand, pool_size: _Numbers | _relay.Expr | None = (1, 1), strides: _Numbers | _relay.Expr | None = (1, 1), padding: _Numbers | _relay.Expr | None = (0, 0), layout: _Text = 'NCHW', out_layout: _Text = '', ceil_mode: bool = False, count_include_pad: bool = False, *, dilation: _Numbers | _relay.Expr | None = ..., span: Any = None) -> _relay.Call: ...  # type: ignore[override]
class _op_nn_avg_pool3d(_relay.Op):
    def __call__(self, data: _Operand, pool_size: _Numbers | _relay.Expr | None = (1, 1, 1), strides: _Numbers | _relay.Expr | None = (1, 1, 1), dilation: _Numbers | _relay.Expr | None = (1, 1, 1), padding: _Numbers | _relay.Expr | None = (0, 0, 0), layout: _Text = 'NCDHW', out_layout: _Text = '', ceil_mode: bool = False, count_include_pad: bool = False, *, span: Any = None) -> _relay.Call: ...  # type: ignore[override]
class _op_nn_batch_flatten(_relay.Op):
    def __call__(self, data: _Operand, *, span: Any = None) -> _relay.Call: ...  # type: ignore[override]
class _op_nn_batch_matmul(_relay.Op):
    def __call__(self, tensor_a: _Operand, tensor_b: _Operand, out_dtype: _Text = '', transpose_a: bool = False, transpose_b: bool = True, *, span: Any = None) -> _relay.Call: ...  # type: ignore[override]
class _op_nn_batch_norm(_relay.Op):
    def __call__(self, data: _Operand, gamma: _Operand, beta: _Operand, moving_mean: _Operand, moving_var: _Operand, axis: _Numbers | _relay.Expr | None = 1, epsilon: _Operand = 1e-05, center: bool = True, scale: bool = True, *, span: Any = None) -> _relay.Call: ...  # type: ignore[override]
class _op_nn_batch_to_space_nd(_relay.Op):
    def __call__(self, data: _Operand, block_shape: Any, crops: Any, *, span: Any = None) -> _relay.Call: ...  # type: ignore[override]
class _op_nn_bias_add(_relay.Op):
    def __call__(self, data: _Operand, bias: _Operand, axis: _Numbers | _relay.Expr | None = 1, *, span: Any = None) -> _relay.Call: ...  # type: ignore[override]
class _op_nn_bitpack(_relay.Op):
    def __call__(self, data: _Operand, bits: _Numbers | _relay.Expr | None = 1, pack_axis: _Numbers | _relay.Expr | None = 1, bit_axis: _Numbers | _relay.Expr | None = 2, pack_type: _Text = 'uint32', name: _Text = 'BitPack', *, span: Any = None) -> _relay.Call: ...  # type: ignore[override]
class _op_nn_bitserial_conv2d(_relay.Op):
    def __call__(self, data: _Operand, weight: _Operand, strides: _Numbers | _relay.Expr | None = (1, 1), padding: _Numbers | _relay.Expr | None = (0, 0), channels: Any = None, kernel_size: _Numbers | _relay.Expr | None = (3, 3), activation_bits: _Numbers | _relay.Expr | None = 1, weight_bits: _Numbers | _relay.Expr | None = 1, data_layout: _Text = 'NCHW', kernel_layout: _Text = 'OIHW', pack_dtype: _Text = 'uint32', out_dtype: _Text = 'int16', unipolar: bool = True, *, span: Any = None) -> _relay.Call: ...  # type: ignore[override]
class _op_nn_bitserial_dense(_relay.Op):
    def __call__(self, data: _Operand, weight: _Operand, units: Any = None, data_bits: _Numbers | _relay.Expr | None = 1, weight_bits: _Numbers | _relay.Expr | None = 1, pack_dtype: _Text = 'uint32', out_dtype: _Text = 'int16', unipolar: bool = True, *, span: Any = None) -> _relay.Call: ...  # type: ignore[override]
class _op_nn_contrib_conv2d_NCHWc(_relay.Op):
    def __call__(self, data: _Operand, kernel: _Operand, strides: _Numbers | _relay.Expr | None = (1, 1), padding: _Numbers | _relay.Expr | None = (0, 0), dilation: _Numbers | _relay.Expr | None = (1, 1), groups: _Numbers | _relay.Expr | None = 1, channels: Any = None, kernel_size: Any = None, data_layout: _Text = 'NCHW8c', kernel_layout: _Text = 'OIHW', out_layout: _Text = '', out_dtype: _Text = '', *, span: Any = None) -> _relay.Call: ...  # type: ignore[override]
class _op_nn_contrib_conv2d_nchwc(_relay.Op):
    def __call__(self, data: Any, kernel: Any, strides: _Numbers | _relay.Expr | None = (1, 1), padding: _Numbers | _relay.Expr | None = (0, 0), dilation: _Numbers | _relay.Expr | None = (1, 1), groups: _Numbers | _relay.Expr | None = 1, channels: Any = None, kernel_size: Any = None, data_layout: _Text = 'NCHW8c', kernel_layout: _Text = 'OIHW', out_layout: _Text = '', out_dtype: _Text = '', *, span: Any = None) -> Any: ...  # type: ignore[override]
class _op_nn_contrib_conv2d_winograd(_relay.Op):
    def __call__(self, operand_0: _Operand, operand_1: _Operand, /, tile_size: Any, channels: Any, padding: _Numbers | _relay.Expr | None = (0, 0), *, span: Any = None) -> _relay.Call: ...  # type: ignore[override]
class _op_nn_contrib_dense_blocks(_relay.Op):
    def __call__(self, *operands: _Operand, units: Any, in_units: Any, form: _Text = '', out_dtype: _Text = '', span: Any = None) -> _relay.Call: ...  # type: ignore[override]
class _op_nn_contrib_dense_nbits(_relay.Op):
    def __call__(self, *operands: _Operand, bits: Any, in_units: Any, out_dtype: _Text = '', span: Any = None) -> _relay.Call: ...  # type: ignore[override]
class _op_nn_contrib_dense_pack(_relay.Op):
    def __call__(self, data: _Operand, weight: _Operand, weight_layout: _Text = 'NC', units: Any = None, out_dtype: _Text = '', *, in_units: Any = ..., span: Any = None) -> _relay.Call: ...  # type: ignore[override]
class _op_nn_contrib_depthwise_conv2d_NCHWc(_relay.Op):
    def __call__(self, data: _Operand, kernel: _Operand, strides: _Numbers | _relay.Expr | None = (1, 1), padding: _Numbers | _relay.Expr | None = (0, 0), dilation: _Numbers | _relay.Expr | None = (1, 1), groups: _Numbers | _relay.Expr | None = 1, channels: Any = None, kernel_size: Any = None, data_layout: _Text = 'NCHW8c', kernel_layout: _Text = 'OIHW', out_layout: _Text = '', out_dtype: _Text = '', *, span: Any = None) -> _relay.Call: ...  # type: ignore[override]
class _op_nn_contrib_depthwise_conv2d_nchwc(_relay.Op):
    def __call__(self, data: Any, kernel: Any, strides: _Numbers | _relay.Expr | None = (1, 1), padding: _Numbers | _relay.Expr | None = (0, 0), dilation: _Numbers | _relay.Expr | None = (1, 1), groups: _Numbers | _relay.Expr | None = 1, channels: Any = None, kernel_size: Any = None, data_layout: _Text = 'NCHW8c', kernel_layout: _Text = 'OIHW', out_layout: _Text = '', out_dtype: _Text = '', *, span: Any = None) -> Any: ...  # type: ignore[override]
class _op_nn_conv1d(_relay.Op):
    def __call__(self, data: _Operand, weight: _Operand, strides: _Numbers | _relay.Expr | None = 1, padding: _Numbers | _relay.Expr | None = 0, dilation: _Numbers | _relay.Expr | None = 1, groups: _Numbers | _relay.Expr | None = 1, channels: Any = None, kernel_size: Any = None, data_layout: _Text = 'NCW', kernel_layout: _Text = 'OIW', out_layout: _Text = '', out_dtype: _Text = '', *, span: Any = None) -> _relay.Call: ...  # type: ignore[override]
class _op_nn_conv1d_transpose(_relay.Op):
    def __call__(self, data: _Operand, weight: _Operand, strides: _Numbers | _relay.Expr | None = (1,), padding: _Numbers | _relay.Expr | None = (0,), dilation: _Numbers | _relay.Expr | None = (1,), groups: _Numbers | _relay.Expr | None = 1, channels: Any = None, kernel_size: Any = None, data_layout: _Text = 'NCW', kernel_layout: _Text = 'IOW', out_layout: _Text = '', output_padding: _Numbers | _relay.Expr | None = (0,), out_dtype: _Text = '', *, span: Any = None) -> _relay.Call: ...  # type: ignore[override]
class _op_nn_conv2d(_relay.Op):
    def __call__(self, data: _Operand, weight: _Operand, strides: _Numbers | _relay.Expr | None = (1, 1), padding: _Numbers | _relay.Expr | None = (0, 0), dilation: _Numbers | _relay.Expr | None = (1, 1), groups: _Numbers | _relay.Expr | None = 1, channels: Any = None, kernel_size: Any = None, data_layout: _Text = 'NCHW', kernel_layout: _Text = 'OIHW', out_layout: _Text = '', out_dtype: _Text = '', *, span: Any = None) -> _relay.Call: ...  # type: ignore[override]
class _op_nn_conv2d_backward_weight(_relay.Op):
    def __call__(self, grad: _Operand, data: _Operand, strides: _Numbers | _relay.Expr | None = (1, 1), padding: _Numbers | _relay.Expr | None = (0, 0), dilation: _Numbers | _relay.Expr | None = (1, 1), groups: _Numbers | _relay.Expr | None = 1, channels: Any = None, kernel_size: Any = None, grad_layout: _Text = 'NCHW', data_layout: _Text = 'NCHW', kernel_layout: _Text = 'OIHW', out_dtype: _Text = '', *, span: Any = None) -> _relay.Call: ...  # type: ignore[override]
class _op_nn_conv2d_transpose(_relay.Op):
    def __call__(self, data: _Operand, weight: _Operand, strides: _Numbers | _relay.Expr | None = (1, 1), padding: _Numbers | _relay.Expr | None = (0, 0), dilation: _Numbers | _relay.Expr | None = (1, 1), groups: _Numbers | _relay.Expr | None = 1, channels: Any = None, kernel_size: Any = None, data_layout: _Text = 'NCHW', kernel_layout: _Text = 'IOHW', out_layout: _Text = '', output_padding: _Numbers | _relay.Expr | None = (0, 0), out_dtype: _Text = '', *, span: Any = None) -> _relay.Call: ...  # type: ignore[override]
class _op_nn_conv3d(_relay.Op):
    def __call__(self, data: _Operand, weight: _Operand, strides: _Numbers | _relay.Expr | None = (1, 1, 1), padding: _Numbers | _relay.Expr | None = (0, 0, 0), dilation: _Numbers | _relay.Expr | None = (1, 1, 1), groups: _Numbers | _relay.Expr | None = 1, channels: Any = None, kernel_size: Any = None, data_layout: _Text = 'NCDHW', kernel_layout: _Text = 'OIDHW', out_layout: _Text = '', out_dtype: _Text = '', *, span: Any = None) -> _relay.Call: ...  # type: ignore[override]
class _op_nn_conv3d_transpose(_relay.Op):
    def __call__(self, data: _Operand, weight: _Operand, strides: _Numbers | _relay.Expr | None = (1, 1, 1), padding: _Numbers | _relay.Expr | None = (0, 0, 0), dilation: _Numbers | _relay.Expr | None = (1, 1, 1), groups: _Numbers | _relay.Expr | None = 1, channels: Any = None, kernel_size: Any = None, data_layout: _Text = 'NCDHW', kernel_layout: _Text = 'IODHW', out_layout: _Text = '', output_padding: _Numbers | _relay.Expr | None = (0, 0, 0), out_dtype: _Text = '', *, span: Any = None) -> _relay.Call: ...  # type: ignore[override]
class _op_nn_correlation(_relay.Op):
    def __call__(self, data1: _Operand, data2: _Operand, kernel_size: Any, max_displacement: Any, stride1: Any, stride2: Any, padding: Any, is_multiply: Any, layout: Any, *, span: Any = None) -> _relay.Call: ...  # type: ignore[override]
class _op_nn_cross_entropy(_relay.Op):
    def __call__(self, predictions: _Operand, targets: _Operand, *, span: Any = None) -> _relay.Call: ...  # type: ignore[override]
class _op_nn_cross_entropy_with_logits(_relay.Op):
    def __call__(self, predictions: _Operand, targets: _Operand, *, span: Any = None) -> _relay.Call: ...  # type: ignore[override]
class _op_nn_deformable_conv2d(_relay.Op):
    def __call__(self, data: _Operand, offset: _Operand, weight: _Operand, strides: _Numbers | _relay.Expr | None = (1, 1), padding: _Numbers | _relay.Expr | None = (0, 0), dilation: _Numbers | _relay.Expr | None = (1, 1), deformable_groups: _Numbers | _relay.Expr | None = 1, groups: _Numbers | _relay.Expr | None = 1, channels: Any = None, kernel_size: Any = None, data_layout: _Text = 'NCHW', kernel_layout: _Text = 'OIHW', out_layout: _Text = '', out_dtype: _Text = '', *, span: Any = None) -> _relay.Call: ...  # type: ignore[override]
class _op_nn_dense(_relay.Op):
    def __call__(self, data: _Operand, weight: _Operand, units: Any = None, out_dtype: _Text = '', *, span: Any = None) -> _relay.Call: ...  # type: ignore[override]
class _op_nn_depth_to_space(_relay.Op):
    def __call__(self, data: _Operand, block_size: Any, layout: _Text = 'NCHW', mode: _Text = 'DCR', *, span: Any = None) -> _relay.Call: ...  # type: ignore[override]
class _op_nn_dilate(_relay.Op):
    def __call__(self, data: _Operand, strides: Any, dilation_value: _Operand = 0.0, *, span: Any = None) -> _relay.Call: ...  # type: ignore[override]
class _op_nn_dropout(_relay.Op):
    def __call__(self, data: _Operand, rate: _Operand = 0.5, *, span: Any = None) -> Any: ...  # type: ignore[override]
class _op_nn_dropout_raw(_relay.Op):
    def __call__(self, data: Any, rate: _Operand = 0.5, *, span: Any = None) -> Any: ...  # type: ignore[override]
class _op_nn_fast_softmax(_relay.Op):
    def __call__(self, data: _Operand, axis: _Numbers | _relay.Expr | None = -1, *, span: Any = None) -> _relay.Call: ...  # type: ignore[override]
class _op_nn_fifo_buffer(_relay.Op):
    def __call__(self, data: _Operand, buffer: _Operand, axis: Any, *, span: Any = None) -> _relay.Call: ...  # type: ignore[override]
class _op_nn_global_avg_pool1d(_relay.Op):
    def __call__(self, data: Any, layout: _Text = 'NCW', out_layout: _Text = '', *, span: Any = None) -> Any: ...  # type: ignore[override]
class _op_nn_global_avg_pool2d(_relay.Op):
    def __call__(self, data: _Operand, layout: _Text = 'NCHW', out_layout: _Text = '', *, span: Any = None) -> _relay.Call: ...  # type: ignore[override]
class _op_nn_global_avg_pool3d(_relay.Op):
    def __call__(self, data: Any, layout: _Text = 'NCDHW', out_layout: _Text = '', *, span: Any = None) -> Any: ...  # type: ignore[override]
class _op_nn_global_max_pool1d(_relay.Op):
    def __call__(self, data: Any, layout: _Text = 'NCW', out_layout: _Text = '', *, span: Any = None) -> Any: ...  # type: ignore[override]
class _op_nn_global_max_pool2d(_relay.Op):
    def __call__(self, data: _Operand, layout: _Text = 'NCHW', out_layout: _Text = '', *, span: Any = None) -> _relay.Call: ...  # type: ignore[override]
class _op_nn_global_max_pool3d(_relay.Op):
    def __call__(self, data: Any, layout: _Text = 'NCDHW', out_layout: _Text = '', *, span: Any = None) -> Any: ...  # type: ignore[override]
class _op_nn_group_norm(_relay.Op):
    def __call__(self, data: _Operand, gamma: _Operand, beta: _Operand, num_groups: Any, axis: _Numbers | _relay.Expr | None = 1, epsilon: _Operand = 1e-05, center: bool = True, scale: bool = True, *, span: Any = None) -> _relay.Call: ...  # type: ignore[override]
class _op_nn_instance_norm(_relay.Op):
    def __call__(self, data: _Operand, gamma: _Operand, beta: _Operand, axis: _Numbers | _relay.Expr | None = 1, epsilon: _Operand = 1e-05, center: bool = True, scale: bool = True, *, span: Any = None) -> _relay.Call: ...  # type: ignore[override]
class _op_nn_l2_normalize(_relay.Op):
    def __call__(self, data: _Operand, eps: Any, axis: Any = None, *, span: Any = None) -> _relay.Call: ...  # type: ignore[override]
class _op_nn_layer_norm(_relay.Op):
    def __call__(self, data: _Operand, gamma: _Operand, beta: _Operand, axis: _Numbers | _relay.Expr | None = -1, epsilon: _Operand = 1e-05, center: bool = True, scale: bool = True, *, span: Any = None) -> _relay.Call: ...  # type: ignore[override]
class _op_nn_leaky_relu(_relay.Op):
    def __call__(self, data: _Operand, alpha: _Operand = 0.01, *, span: Any = None) -> _relay.Call: ...  # type: ignore[override]
class _op_nn_log_softmax(_relay.Op):
    def __call__(self, data: _Operand, axis: _Numbers | _relay.Expr | None = -1, *, span: Any = None) -> _relay.Call: ...  # type: ignore[override]
class _op_nn_lrn(_relay.Op):
    def __call__(self, data: _Operand, size: _Numbers | _relay.Expr | None = 5, axis: _Numbers | _relay.Expr | None = 1, bias: _Numbers | _relay.Expr | None = 2, alpha: _Operand = 1e-05, beta: _Operand = 0.75, *, span: Any = None) -> _relay.Call: ...  # type: ignore[override]
class _op_nn_matmul(_relay.Op):
    def __call__(self, tensor_a: _Operand, tensor_b: _Operand, units: Any = None, out_dtype: _Text = '', transpose_a: bool = False, transpose_b: bool = False, *, span: Any = None) -> _relay.Call: ...  # type: ignore[override]
class _op_nn_max_pool1d(_relay.Op):
    def __call__(self, data: _Operand, pool_size: _Numbers | _relay.Expr | None = (1,), strides: _Numbers | _relay.Expr | None = (1,), dilation: _Numbers | _relay.Expr | None = (1,), padding: _Numbers | _relay.Expr | None = (0,), layout: _Text = 'NCW', out_layout: _Text = '', ceil_mode: bool = False, *, span: Any = None) -> _relay.Call: ...  # type: ignore[override]
class _op_nn_max_pool2d(_relay.Op):
    def __call__(self, data: _Operand, pool_size: _Numbers | _relay.Expr | None = (1, 1), strides: _Numbers | _relay.Expr | None = (1, 1), dilation: _Numbers | _relay.Expr | None = (1, 1), padding: _Numbers | _relay.Expr | None = (0, 0), layout: _Text = 'NCHW', out_layout: _Text = '', ceil_mode: bool = False, *, span: Any = None) -> _relay.Call: ...  # type: ignore[override]
class _op_nn_max_pool2d_grad(_relay.Op):
    def __call__(self, out_grad: _Operand, data: _Operand, pool_size: _Numbers | _relay.Expr | None = (1, 1), strides: _Numbers | _relay.Expr | None = (1, 1), padding: _Numbers | _relay.Expr | None = (0, 0), layout: _Text = 'NCHW', out_layout: _Text = '', ceil_mode: bool = False, *, dilation: _Numbers | _relay.Expr | None = ..., span: Any = None) -> _relay.Call: ...  # type: ignore[override]
class _op_nn_max_pool3d(_relay.Op):
    def __call__(self, data: _Operand, pool_size: _Numbers | _relay.Expr | None = (1, 1, 1), strides: _Numbers | _relay.Expr | None = (1, 1, 1), dilation: _Numbers | _relay.Expr | None = (1, 1, 1), padding: _Numbers | _relay.Expr | None = (0, 0, 0), layout: _Text = 'NCDHW', out_layout: _Text = '', ceil_mode: bool = False, *, span: Any = None) -> _relay.Call: ...  # type: ignore[override]
class _op_nn_mirror_pad(_relay.Op):
    def __call__(self, data: _Operand, pad_width: Any, mode: _Text = 'SYMMETRIC', *, span: Any = None) -> _relay.Call: ...  # type: ignore[override]
class _op_nn_nll_loss(_relay.Op):
    def __call__(self, predictions: _Operand, targets: _Operand, weights: _Operand, reduction: _Text = 'mean', ignore_index: _Numbers | _relay.Expr | None = -100, *, span: Any = None) -> _relay.Call: ...  # type: ignore[override]
class _op_nn_pad(_relay.Op):
    def __call__(self, data: _Operand, pad_width: Any, pad_value: _Operand | None = 0, pad_mode: _Text = 'constant', *, span: Any = None) -> _relay.Call: ...  # type: ignore[override]
class _op_nn_prelu(_relay.Op):
    def __call__(self, data: _Operand, alpha: _Operand, axis: _Numbers | _relay.Expr | None = 1, *, span: Any = None) -> _relay.Call: ...  # type: ignore[override]
class _op_nn_relu(_relay.Op):
    def __call__(self, data: _Operand, *, span: Any = None) -> _relay.Call: ...  # type: ignore[override]
class _op_nn_softmax(_relay.Op):
    def __call__(self, data: _Operand, axis: _Numbers | _relay.Expr | None = -1, *, span: Any = None) -> _relay.Call: ...  # type: ignore[override]
class _op_nn_space_to_batch_nd(_relay.Op):
    def __call__(self, data: _Operand, block_shape: Any, paddings: Any, pad_value: _Numbers | _relay.Expr | None = 0, *, span: Any = None) -> _relay.Call: ...  # type: ignore[override]
class _op_nn_space_to_depth(_relay.Op):
    def __call__(self, data: _Operand, block_size: Any, layout: _Text = 'NCHW', *, mode: _Text = ..., span: Any = None) -> _relay.Call: ...  # type: ignore[override]
class _op_nn_sparse_add(_relay.Op):
    def __call__(self, dense_mat: _Operand, sparse_mat: _Operand, *, span: Any = None) -> _relay.Call: ...  # type: ignore[override]
class _op_nn_sparse_conv2d(_relay.Op):
    def __call__(self, operand_0: _Operand, operand_1: _Operand, operand_2: _Operand, operand_3: _Operand, /, layout: _Text = 'NHWC', kernel_size: _Numbers | _relay.Expr | None = (1, 1), *, span: Any = None) -> _relay.Call: ...  # type: ignore[override]
class _op_nn_sparse_dense(_relay.Op):
    def __call__(self, dense_mat: _Operand, sparse_mat: _Operand, sparse_lhs: bool = False, *, span: Any = None) -> _relay.Call: ...  # type: ignore[override]
class _op_nn_sparse_transpose(_relay.Op):
    def __call__(self, x: _Operand, *, span: Any = None) -> _relay.Call: ...  # type: ignore[override]
class _op_nn_upsampling(_relay.Op):
    def __call__(self, data: _Operand, scale_h: _Numbers | _relay.Expr | None = 1, scale_w: _Numbers | _relay.Expr | None = 1, layout: _Text = 'NCHW', method: _Text = 'nearest_neighbor', align_corners: bool = False, *, span: Any = None) -> _relay.Call: ...  # type: ignore[override]
class _op_nn_upsampling3d(_relay.Op):
    def __call__(self, data: _Operand, scale_d: _Numbers | _relay.Expr | None = 1, scale_h: _Numbers | _relay.Expr | None = 1, scale_w: _Numbers | _relay.Expr | None = 1, layout: _Text = 'NCDHW', method: _Text = 'nearest_neighbor', coordinate_transformation_mode: _Text = 'half_pixel', *, span: Any = None) -> _relay.Call: ...  # type: ignore[override]
class _op_not_equal(_relay.Op):
    def __call__(self, lhs: _Operand, rhs: _Operand, *, span: Any = None) -> _relay.Call: ...  # type: ignore[override]
class _op_on_device(_relay.Op):
    def __call__(self, operand_0: _Operand, /, virtual_device: Any = None, constrain_result: bool = False, constrain_body: bool = True, *, span: Any = None) -> _relay.Call: ...  # type: ignore[override]
class _op_one_hot(_relay.Op):
    def __call__(self, indices: _Operand, on_value: _Operand, off_value: _Operand, depth: Any, axis: Any, dtype: Any, *, span: Any = None) -> _relay.Call: ...  # type: ignore[override]
class _op_ones(_relay.Op):
    def __call__(self, shape: Any, dtype: Any, *, span: Any = None) -> _relay.Call: ...  # type: ignore[override]
class _op_ones_like(_relay.Op):
    def __call__(self, data: _Operand, *, span: Any = None) -> _relay.Call: ...  # type: ignore[override]
class _op_power(_relay.Op):
    def __call__(self, lhs: _Operand, rhs: _Operand, *, span: Any = None) -> _relay.Call: ...  # type: ignore[override]
class _op_prod(_relay.Op):
    def __call__(self, data: _Operand, axis: Any = None, keepdims: bool = False, exclude: bool = False, *, span: Any = None) -> _relay.Call: ...  # type: ignore[override]
class _op_qnn_abs(_relay.Op):
    def __call__(self, x: _Operand, scale: _Operand, zero_point: _Operand, output_scale: _Operand, output_zero_point: _Operand, *, span: Any = None) -> _relay.Call: ...  # type: ignore[override]
class _op_qnn_add(_relay.Op):
    def __call__(self, lhs: _Operand, rhs: _Operand, lhs_scale: _Operand, lhs_zero_point: _Operand, rhs_scale: _Operand, rhs_zero_point: _Operand, output_scale: _Operand, output_zero_point: _Operand, lhs_axis: _Numbers | _relay.Expr | None = -1, rhs_axis: _Numbers | _relay.Expr | None = -1, *, span: Any = None) -> _relay.Call: ...  # type: ignore[override]
class _op_qnn_avg_pool2d(_relay.Op):
    def __call__(self, data: _Operand, input_scale: _Operand, input_zero_point: _Operand, output_scale: _Operand, output_zero_point: _Operand, pool_size: Any, strides: Any, padding: Any, dilation: Any, ceil_mode: bool = False, count_include_pad: bool = True, layout: _Text = 'NHWC', out_layout: _Text = '', *, span: Any = None) -> _relay.Call: ...  # type: ignore[override]
class _op_qnn_batch_matmul(_relay.Op):
    def __call__(self, x: _Operand, y: _Operand, x_zero_point: _Operand, y_zero_point: _Operand, x_scale: _Operand, y_scale: _Operand, out_dtype: _Text = 'int32', *, span: Any = None) -> _relay.Call: ...  # type: ignore[override]
class _op_qnn_concatenate(_relay.Op):
    def __call__(self, data: _Operand, input_scales: _Operand, input_zero_points: _Operand, output_scale: _Operand, output_zero_point: _Operand, axis: Any, *, span: Any = None) -> _relay.Call: ...  # type: ignore[override]
class _op_qnn_conv1d(_relay.Op):
    def __call__(self, operand_0: _Operand, operand_1: _Operand, operand_2: _Operand, operand_3: _Operand, operand_4: _Operand, operand_5: _Operand, /, strides: _Numbers | _relay.Expr | None = (1,), padding: _Numbers | _relay.Expr | None = (0, 0), dilation: _Numbers | _relay.Expr | None = (1,), groups: _Numbers | _relay.Expr | None = 1, channels: Any = None, kernel_size: Any = None, data_layout: _Text = 'NCW', kernel_layout: _Text = 'OIW', out_layout: _Text = '', out_dtype: _Text = 'int32', *, span: Any = None) -> _relay.Call: ...  # type: ignore[override]
class _op_qnn_conv2d(_relay.Op):
    def __call__(self, data: _Operand, kernel: _Operand, input_zero_point: _Operand, kernel_zero_point: _Operand, input_scale: _Operand, kernel_scale: _Operand, kernel_size: Any, channels: Any, strides: _Numbers | _relay.Expr | None = (1, 1), padding: _Numbers | _relay.Expr | None = (0, 0), dilation: _Numbers | _relay.Expr | None = (1, 1), groups: _Numbers | _relay.Expr | None = 1, data_layout: _Text = 'NCHW', kernel_layout: _Text = 'OIHW', out_layout: _Text = '', out_dtype: _Text = 'int32', *, span: Any = None) -> _relay.Call: ...  # type: ignore[override]
class _op_qnn_conv2d_transpose(_relay.Op):
    def __call__(self, data: _Operand, weight: _Operand, input_zero_point: _Operand, kernel_zero_point: _Operand, input_scale: _Operand, kernel_scale: _Operand, strides: _Numbers | _relay.Expr | None = (1, 1), padding: _Numbers | _relay.Expr | None = (0, 0), dilation: _Numbers | _relay.Expr | None = (1, 1), groups: _Numbers | _relay.Expr | None = 1, channels: Any = None, kernel_size: Any = None, data_layout: _Text = 'NCHW', kernel_layout: _Text = 'IOHW', out_layout: _Text = '', output_padding: _Numbers | _relay.Expr | None = (0, 0), out_dtype: _Text = 'int32', *, span: Any = None) -> _relay.Call: ...  # type: ignore[override]
class _op_qnn_conv3d(_relay.Op):
    def __call__(self, operand_0: _Operand, operand_1: _Operand, operand_2: _Operand, operand_3: _Operand, operand_4: _Operand, operand_5: _Operand, /, strides: _Numbers | _relay.Expr | None = (1, 1, 1), padding: _Numbers | _relay.Expr | None = (0, 0, 0), dilation: _Numbers | _relay.Expr | None = (1, 1, 1), groups: _Numbers | _relay.Expr | None = 1, channels: Any = None, kernel_size: Any = None, data_layout: _Text = 'NCDHW', kernel_layout: _Text = 'OIDHW', out_layout: _Text = '', out_dtype: _Text = 'int32', *, span: Any = None) -> _relay.Call: ...  # type: ignore[override]
class _op_qnn_dense(_relay.Op):
    def __call__(self, data: _Operand, weight: _Operand, input_zero_point: _Operand, kernel_zero_point: _Operand, input_scale: _Operand, kernel_scale: _Operand, units: Any, out_dtype: _Text = 'int32', *, span: Any = None) -> _relay.Call: ...  # type: ignore[override]
class _op_qnn_dequantize(_relay.Op):
    def __call__(self, data: _Operand, input_scale: _Operand, input_zero_point: _Operand, axis: _Numbers | _relay.Expr | None = -1, out_dtype: _Text = 'float32', *, span: Any = None) -> _relay.Call: ...  # type: ignore[override]
class _op_qnn_erf(_relay.Op):
    def __call__(self, x: _Operand, scale: _Operand, zero_point: _Operand, output_scale: _Operand, output_zero_point: _Operand, *, span: Any = None) -> _relay.Call: ...  # type: ignore[override]
class _op_qnn_exp(_relay.Op):
    def __call__(self, x: _Operand, scale: _Operand, zero_point: _Operand, output_scale: _Operand, output_zero_point: _Operand, *, span: Any = None) -> _relay.Call: ...  # type: ignore[override]
class _op_qnn_hardswish(_relay.Op):
    def __call__(self, x: _Operand, scale: _Operand, zero_point: _Operand, output_scale: _Operand, output_zero_point: _Operand, *, span: Any = None) -> _relay.Call: ...  # type: ignore[override]
class _op_qnn_leaky_relu(_relay.Op):
    def __call__(self, x: _Operand, alpha: Any, input_scale: _Operand, input_zero_point: _Operand, output_scale: _Operand, output_zero_point: _Operand, *, span: Any = None) -> _relay.Call: ...  # type: ignore[override]
class _op_qnn_log(_relay.Op):
    def __call__(self, x: _Operand, scale: _Operand, zero_point: _Operand, output_scale: _Operand, output_zero_point: _Operand, *, span: Any = None) -> _relay.Call: ...  # type: ignore[override]
class _op_qnn_mul(_relay.Op):
    def __call__(self, lhs: _Operand, rhs: _Operand, lhs_scale: _Operand, lhs_zero_point: _Operand, rhs_scale: _Operand, rhs_zero_point: _Operand, output_scale: _Operand, output_zero_point: _Operand, lhs_axis: _Numbers | _relay.Expr | None = -1, rhs_axis: _Numbers | _relay.Expr | None = -1, *, span: Any = None) -> _relay.Call: ...  # type: ignore[override]
class _op_qnn_quantize(_relay.Op):
    def __call__(self, data: _Operand, output_scale: _Operand, output_zero_point: _Operand, axis: _Numbers | _relay.Expr | None = -1, out_dtype: _Text = 'int8', *, span: Any = None) -> _relay.Call: ...  # type: ignore[override]
class _op_qnn_requantize(_relay.Op):
    def __call__(self, data: _Operand, input_scale: _Operand, input_zero_point: _Operand, output_scale: _Operand, output_zero_point: _Operand, axis: _Numbers | _relay.Expr | None = -1, rounding: _Text = 'None', compute_dtype: _Text = 'None', out_dtype: _Text = 'int8', *, span: Any = None) -> _relay.Call: ...  # type: ignore[override]
class _op_qnn_rsqrt(_relay.Op):
    def __call__(self, x: _Operand, scale: _Operand, zero_point: _Operand, output_scale: _Operand, output_zero_point: _Operand, *, span: Any = None) -> _relay.Call: ...  # type: ignore[override]
class _op_qnn_sigmoid(_relay.Op):
    def __call__(self, x: _Operand, scale: _Operand, zero_point: _Operand, output_scale: _Operand, output_zero_point: _Operand, *, span: Any = None) -> _relay.Call: ...  # type: ignore[override]
class _op_qnn_simulated_dequantize(_relay.Op):
    def __call__(self, data: _Operand, input_scale: _Operand, input_zero_point: _Operand, axis: _Numbers | _relay.Expr | None = -1, in_dtype: _Operand | None = 'int8', *, span: Any = None) -> _relay.Call: ...  # type: ignore[override]
class _op_qnn_simulated_quantize(_relay.Op):
    def __call__(self, data: _Operand, output_scale: _Operand, output_zero_point: _Operand, axis: _Numbers | _relay.Expr | None = -1, out_dtype: _Operand | None = 'int8', *, span: Any = None) -> _relay.Call: ...  # type: ignore[override]
class _op_qnn_softmax(_relay.Op):
    def __call__(self, x: _Operand, scale: _Operand, zero_point: _Operand, output_scale: _Operand, output_zero_point: _Operand, axis: _Numbers | _relay.Expr | None = -1, *, span: Any = None) -> _relay.Call: ...  # type: ignore[override]
class _op_qnn_sqrt(_relay.Op):
    def __call__(self, x: _Operand, scale: _Operand, zero_point: _Operand, output_scale: _Operand, output_zero_point: _Operand, *, span: Any = None) -> _relay.Call: ...  # type: ignore[override]
class _op_qnn_subtract(_relay.Op):
    def __call__(self, lhs: _Operand, rhs: _Operand, lhs_scale: _Operand, lhs_zero_point: _Operand, rhs_scale: _Operand, rhs_zero_point: _Operand, output_scale: _Operand, output_zero_point: _Operand, lhs_axis: _Numbers | _relay.Expr | None = -1, rhs_axis: _Numbers | _relay.Expr | None = -1, *, span: Any = None) -> _relay.Call: ...  # type: ignore[override]
class _op_qnn_tanh(_relay.Op):
    def __call__(self, x: _Operand, scale: _Operand, zero_point: _Operand, output_scale: _Operand, output_zero_point: _Operand, *, span: Any = None) -> _relay.Call: ...  # type: ignore[override]
class _op_random_multinomial(_relay.Op):
    def __call__(self, key: _Operand, probs: _Operand, num_samples: Any, *, span: Any = None) -> _relay.Call: ...  # type: ignore[override]
class _op_random_normal(_relay.Op):
    def __call__(self, key: _Operand, shape: Any, dtype: _Text = 'float32', mean: _Operand | None = 0.0, scale: _Operand | None = 1.0, *, span: Any = None) -> _relay.Call: ...  # type: ignore[override]
class _op_random_threefry_generate(_relay.Op):
    def __call__(self, key: _Operand, shape: Any, *, span: Any = None) -> _relay.Call: ...  # type: ignore[override]
class _op_random_threefry_key(_relay.Op):
    def __call__(self, seed: Any, *, span: Any = None) -> Any: ...  # type: ignore[override]
class _op_random_threefry_split(_relay.Op):
    def __call__(self, key: _Operand, *, span: Any = None) -> _relay.Call: ...  # type: ignore[override]
class _op_random_uniform(_relay.Op):
    def __call__(self, key: _Operand, shape: Any, dtype: _Text = 'float32', low: _Operand | None = 0.0, high: _Operand | None = 1.0, *, span: Any = None) -> _relay.Call: ...  # type: ignore[override]
class _op_range_checked(_relay.Op):
    def __call__(self, operand_0: _Operand, operand_1: _Operand, operand_2: _Operand, /, *, span: Any = None) -> _relay.Call: ...  # type: ignore[override]
class _op_reinterpret(_relay.Op):
    def __call__(self, data: _Operand, dtype: Any, *, span: Any = None) -> _relay.Call: ...  # type: ignore[override]
class _op_relay_op_annotation_simulated_quantize(_relay.Op):
    def __call__(self, operand_0: _Operand, operand_1: _Operand, operand_2: _Operand, operand_3: _Operand, /, kind: Any, sign: bool = True, rounding: _Text = 'round', *, span: Any = None) -> _relay.Call: ...  # type: ignore[override]
class _op_repeat(_relay.Op):
    def __call__(self, data: _Operand, repeats: Any, axis: Any, *, span: Any = None) -> _relay.Call: ...  # type: ignore[override]
class _op_reshape(_relay.Op):
    def __call__(self, data: _Operand, newshape: Any, allowzero: bool = False, *, span: Any = None) -> _relay.Call: ...  # type: ignore[override]
class _op_reshape_like(_relay.Op):
    def __call__(self, data: _Operand, shape_like: _Operand, lhs_begin: _Numbers | _relay.Expr | None = 0, lhs_end: Any = None, rhs_begin: _Numbers | _relay.Expr | None = 0, rhs_end: Any = None, *, span: Any = None) -> _relay.Call: ...  # type: ignore[override]
class _op_reverse(_relay.Op):
    def __call__(self, data: _Operand, axis: Any, *, span: Any = None) -> _relay.Call: ...  # type: ignore[override]
class _op_reverse_reshape(_relay.Op):
    def __call__(self, data: Any, newshape: Any, *, span: Any = None) -> Any: ...  # type: ignore[override]
class _op_reverse_sequence(_relay.Op):
    def __call__(self, data: _Operand, seq_lengths: _Operand, seq_axis: _Numbers | _relay.Expr | None = 1, batch_axis: _Numbers | _relay.Expr | None = 0, *, span: Any = None) -> _relay.Call: ...  # type: ignore[override]
class _op_right_shift(_relay.Op):
    def __call__(self, lhs: _Operand, rhs: _Operand, *, span: Any = None) -> _relay.Call: ...  # type: ignore[override]
class _op_round(_relay.Op):
    def __call__(self, data: _Operand, *, span: Any = None) -> _relay.Call: ...  # type: ignore[override]
class _op_round_even(_relay.Op):
    def __call__(self, operand_0: _Operand, /, *, span: Any = None) -> _relay.Call: ...  # type: ignore[override]
class _op_rsqrt(_relay.Op):
    def __call__(self, data: _Operand, *, span: Any = None) -> _relay.Call: ...  # type: ignore[override]
class _op_scatter_elements(_relay.Op):
    def __call__(self, data: _Operand, indices: _Operand, updates: _Operand, axis: _Numbers | _relay.Expr | None = 0, reduction: _Text = 'update', *, span: Any = None) -> _relay.Call: ...  # type: ignore[override]
class _op_scatter_nd(_relay.Op):
    def __call__(self, data: _Operand, indices: _Operand, updates: _Operand, mode: _Text = 'update', *, tuples_last: bool = ..., span: Any = None) -> _relay.Call: ...  # type: ignore[override]
class _op_searchsorted(_relay.Op):
    def __call__(self, sorted_sequence: _Operand, values: _Operand, right: bool = False, dtype: _Text = 'int32', *, span: Any = None) -> _relay.Call: ...  # type: ignore[override]
class _op_segment_sum(_relay.Op):
    def __call__(self, data: Any, segment_ids: Any, num_segments: Any = None, *, span: Any = None) -> Any: ...  # type: ignore[override]
class _op_sequence_mask(_relay.Op):
    def __call__(self, data: _Operand, valid_length: _Operand, mask_value: _Numbers | _relay.Expr | None = 0, axis: _Numbers | _relay.Expr | None = 0, *, span: Any = None) -> _relay.Call: ...  # type: ignore[override]
class _op_shape_of(_relay.Op):
    def __call__(self, data: _Operand, dtype: _Text = 'int32', *, span: Any = None) -> _relay.Call: ...  # type: ignore[override]
class _op_sigmoid(_relay.Op):
    def __call__(self, data: _Operand, *, span: Any = None) -> _relay.Call: ...  # type: ignore[override]
class _op_sign(_relay.Op):
    def __call__(self, data: _Operand, *, span: Any = None) -> _relay.Call: ...  # type: ignore[override]
class _op_sin(_relay.Op):
    def __call__(self, data: _Operand, *, span: Any = None) -> _relay.Call: ...  # type: ignore[override]
class _op_sinh(_relay.Op):
    def __call__(self, data: _Operand, *, span: Any = None) -> _relay.Call: ...  # type: ignore[override]
class _op_slice_like(_relay.Op):
    def __call__(self, data: _Operand, shape_like: _Operand, axes: Any = None, *, span: Any = None) -> _relay.Call: ...  # type: ignore[override]
class _op_sliding_window(_relay.Op):
    def __call__(self, data: _Operand, axis: Any, window_shape: Any, strides: Any, *, span: Any = None) -> _relay.Call: ...  # type: ignore[override]
class _op_sort(_relay.Op):
    def __call__(self, data: _Operand, axis: _Numbers | _relay.Expr | None = -1, is_ascend: _Numbers | _relay.Expr | None = 1, *, dtype: _Text = ..., span: Any = None) -> _relay.Call: ...  # type: ignore[override]
class _op_sparse_fill_empty_rows(_relay.Op):
    def __call__(self, sparse_indices: _Operand, sparse_values: _Operand, dense_shape: _Operand, default_value: _Operand, *, span: Any = None) -> _relay.Call: ...  # type: ignore[override]
class _op_sparse_reshape(_relay.Op):
    def __call__(self, sparse_indices: _Operand, prev_shape: _Operand, new_shape: _Operand, *, span: Any = None) -> _relay.Call: ...  # type: ignore[override]
class _op_sparse_to_dense(_relay.Op):
    def __call__(self, sparse_indices: _Operand, output_shape: Any, sparse_values: _Operand, default_value: _Operand | None = 0, *, span: Any = None) -> _relay.Call: ...  # type: ignore[override]
class _op_split(_relay.Op):
    def __call__(self, data: _Operand, indices_or_sections: Any, axis: _Numbers | _relay.Expr | None = 0, *, span: Any = None) -> _relay.Call: ...  # type: ignore[override]
class _op_sqrt(_relay.Op):
    def __call__(self, data: _Operand, *, span: Any = None) -> _relay.Call: ...  # type: ignore[override]
class _op_squeeze(_relay.Op):
    def __call__(self, data: _Operand, axis: Any = None, *, span: Any = None) -> _relay.Call: ...  # type: ignore[override]
class _op_stack(_relay.Op):
    def __call__(self, data: _Operand, axis: Any, *, span: Any = None) -> _relay.Call: ...  # type: ignore[override]
class _op_std(_relay.Op):
    def __call__(self, data: Any, axis: Any = None, keepdims: bool = False, exclude: bool = False, unbiased: bool = False, *, span: Any = None) -> Any: ...  # type: ignore[override]
class _op_stft(_relay.Op):
    def __call__(self, data: _Operand, n_fft: Any, hop_length: Any = None, win_length: Any = None, window: _Operand | None = None, normalized: bool = False, onesided: bool = True, *, span: Any = None) -> _relay.Call: ...  # type: ignore[override]
class _op_strided_set(_relay.Op):
    def __call__(self, data: _Operand, v: _Operand, begin: _Operand, end: _Operand, strides: _Operand | None = None, *, span: Any = None) -> _relay.Call: ...  # type: ignore[override]
class _op_strided_slice(_relay.Op):
    def __call__(self, data: _Operand, begin: Any, end: Any, strides: Any = None, axes: Any = None, slice_mode: _Text = 'end', *, span: Any = None) -> _relay.Call: ...  # type: ignore[override]
class _op_string_concat(_relay.Op):
    def __call__(self, operand_0: _Operand, operand_1: _Operand, /, *, span: Any = None) -> _relay.Call: ...  # type: ignore[override]
class _op_string_from_number(_relay.Op):
    def __call__(self, operand_0: _Operand, /, *, span: Any = None) -> _relay.Call: ...  # type: ignore[override]
class _op_string_full_match(_relay.Op):
    def __call__(self, operand_0: _Operand, operand_1: _Operand, /, *, span: Any = None) -> _relay.Call: ...  # type: ignore[override]
class _op_string_id(_relay.Op):
    def __call__(self, operand_0: _Operand, /, *, span: Any = None) -> _relay.Call: ...  # type: ignore[override]
class _op_string_normalize(_relay.Op):
    def __call__(self, operand_0: _Operand, operand_1: _Operand, /, change_case: _Numbers | _relay.Expr | None = 0, case_sensitive: bool = False, *, span: Any = None) -> _relay.Call: ...  # type: ignore[override]
class _op_string_rank(_relay.Op):
    def __call__(self, operand_0: _Operand, /, *, span: Any = None) -> _relay.Call: ...  # type: ignore[override]
class _op_string_split(_relay.Op):
    def __call__(self, operand_0: _Operand, operand_1: _Operand, operand_2: _Operand, /, maxsplit: _Numbers | _relay.Expr | None = -1, *, span: Any = None) -> _relay.Call: ...  # type: ignore[override]
class _op_string_split_count(_relay.Op):
    def __call__(self, operand_0: _Operand, operand_1: _Operand, /, maxsplit: _Numbers | _relay.Expr | None = -1, *, span: Any = None) -> _relay.Call: ...  # type: ignore[override]
class _op_string_to_number(_relay.Op):
    def __call__(self, operand_0: _Operand, /, dtype: Any, *, span: Any = None) -> _relay.Call: ...  # type: ignore[override]
class _op_subtract(_relay.Op):
    def __call__(self, lhs: _Operand, rhs: _Operand, *, span: Any = None) -> _relay.Call: ...  # type: ignore[override]
class _op_sum(_relay.Op):
    def __call__(self, data: _Operand, axis: Any = None, keepdims: bool = False, exclude: bool = False, *, span: Any = None) -> _relay.Call: ...  # type: ignore[override]
class _op_take(_relay.Op):
    def __call__(self, data: _Operand, indices: _Operand, axis: Any = None, batch_dims: _Numbers | _relay.Expr | None = 0, mode: _Text = 'clip', *, span: Any = None) -> _relay.Call: ...  # type: ignore[override]
class _op_tan(_relay.Op):
    def __call__(self, data: _Operand, *, span: Any = None) -> _relay.Call: ...  # type: ignore[override]
class _op_tanh(_relay.Op):
    def __call__(self, data: _Operand, *, span: Any = None) -> _relay.Call: ...  # type: ignore[override]
class _op_tile(_relay.Op):
    def __call__(self, data: _Operand, reps: Any, *, span: Any = None) -> _relay.Call: ...  # type: ignore[override]
class _op_topk(_relay.Op):
    def __call__(self, data: _Operand, k: _Numbers | _relay.Expr | None = 1, axis: _Numbers | _relay.Expr | None = -1, ret_type: _Text = 'both', is_ascend: bool = False, dtype: _Text = 'int32', *, span: Any = None) -> _relay.Call: ...  # type: ignore[override]
class _op_transpose(_relay.Op):
    def __call__(self, data: _Operand, axes: Any = None, *, span: Any = None) -> _relay.Call: ...  # type: ignore[override]
class _op_trilu(_relay.Op):
    def __call__(self, data: _Operand, k: _Operand, upper: bool = True, *, span: Any = None) -> _relay.Call: ...  # type: ignore[override]
class _op_trunc(_relay.Op):
    def __call__(self, data: _Operand, *, span: Any = None) -> _relay.Call: ...  # type: ignore[override]
class _op_trunc_divide(_relay.Op):
    def __call__(self, lhs: _Operand, rhs: _Operand, *, span: Any = None) -> _relay.Call: ...  # type: ignore[override]
class _op_trunc_mod(_relay.Op):
    def __call__(self, lhs: _Operand, rhs: _Operand, *, span: Any = None) -> _relay.Call: ...  # type: ignore[override]
class _op_unique(_relay.Op):
    def __call__(self, data: _Operand, is_sorted: bool = True, return_counts: bool = False, *, span: Any = None) -> _relay.Call: ...  # type: ignore[override]
class _op_unique_rows(_relay.Op):
    def __call__(self, operand_0: _Operand, /, sorted: bool = True, *, span: Any = None) -> _relay.Call: ...  # type: ignore[override]
class _op_unravel_index(_relay.Op):
    def __call__(self, indices: _Operand, shape: _Operand, *, span: Any = None) -> _relay.Call: ...  # type: ignore[override]
class _op_variance(_relay.Op):
    def __call__(self, data: _Operand, axis: Any = None, keepdims: bool = False, exclude: bool = False, unbiased: bool = False, with_mean: _Operand | None = None, *, span: Any = None) -> _relay.Call: ...  # type: ignore[override]
class _op_vision_all_class_non_max_suppression(_relay.Op):
    def __call__(self, boxes: _Operand, scores: _Operand, max_output_boxes_per_class: _Operand | None = -1, iou_threshold: _Operand | None = -1.0, score_threshold: _Operand | None = -1.0, output_format: _Text = 'onnx', *, span: Any = None) -> _relay.Call: ...  # type: ignore[override]
class _op_vision_get_valid_counts(_relay.Op):
    def __call__(self, data: _Operand, score_threshold: Any, id_index: _Numbers | _relay.Expr | None = 0, score_index: _Numbers | _relay.Expr | None = 1, *, span: Any = None) -> _relay.Call: ...  # type: ignore[override]
class _op_vision_multibox_prior(_relay.Op):
    def __call__(self, data: _Operand, sizes: _Numbers | _relay.Expr | None = (1.0,), ratios: _Numbers | _relay.Expr | None = (1.0,), steps: _Numbers | _relay.Expr | None = (-1.0, -1.0), offsets: _Numbers | _relay.Expr | None = (0.5, 0.5), clip: bool = False, *, span: Any = None) -> _relay.Call: ...  # type: ignore[override]
class _op_vision_multibox_transform_loc(_relay.Op):
    def __call__(self, cls_prob: _Operand, loc_pred: _Operand, anchor: _Operand, clip: bool = True, threshold: _Operand = 0.01, variances: _Numbers | _relay.Expr | None = (0.1, 0.1, 0.2, 0.2), keep_background: bool = False, *, span: Any = None) -> _relay.Call: ...  # type: ignore[override]
class _op_vision_non_max_suppression(_relay.Op):
    def __call__(self, data: _Operand, valid_count: _Operand, indices: _Operand, max_output_size: _Operand | None = -1, iou_threshold: _Operand | None = 0.5, force_suppress: bool = False, top_k: _Numbers | _relay.Expr | None = -1, coord_start: _Numbers | _relay.Expr | None = 2, score_index: _Numbers | _relay.Expr | None = 1, id_index: _Numbers | _relay.Expr | None = 0, return_indices: bool = True, invalid_to_bottom: bool = False, *, span: Any = None) -> _relay.Call: ...  # type: ignore[override]
class _op_vision_proposal(_relay.Op):
    def __call__(self, cls_prob: _Operand, bbox_pred: _Operand, im_info: _Operand, scales: Any, ratios: Any, feature_stride: Any, threshold: Any, rpn_pre_nms_top_n: Any, rpn_post_nms_top_n: Any, rpn_min_size: Any, iou_loss: Any, *, span: Any = None) -> _relay.Call: ...  # type: ignore[override]
class _op_vision_regular_non_max_suppression(_relay.Op):
    def __call__(self, boxes: _Operand, scores: _Operand, max_detections_per_class: Any, max_detections: Any, num_classes: Any, iou_threshold: Any, score_threshold: Any, *, span: Any = None) -> _relay.Call: ...  # type: ignore[override]
class _op_vision_roi_align(_relay.Op):
    def __call__(self, data: _Operand, rois: _Operand, pooled_size: Any, spatial_scale: Any, sample_ratio: _Numbers | _relay.Expr | None = -1, layout: _Text = 'NCHW', mode: _Text = 'avg', *, aligned: bool = ..., span: Any = None) -> _relay.Call: ...  # type: ignore[override]
class _op_vision_roi_pool(_relay.Op):
    def __call__(self, data: _Operand, rois: _Operand, pooled_size: Any, spatial_scale: Any, layout: _Text = 'NCHW', *, span: Any = None) -> _relay.Call: ...  # type: ignore[override]
class _op_vision_yolo_reorg(_relay.Op):
    def __call__(self, data: _Operand, stride: Any, *, span: Any = None) -> _relay.Call: ...  # type: ignore[override]
class _op_vm_shape_of(_relay.Op):
    def __call__(self, operand_0: _Operand, /, dtype: _Text = '', *, span: Any = None) -> _relay.Call: ...  # type: ignore[override]
class _op_where(_relay.Op):
    def __call__(self, condition: _Operand, x: _Operand, y: _Operand, *, span: Any = None) -> _relay.Call: ...  # type: ignore[override]
class _op_zeros(_relay.Op):
    def __call__(self, shape: Any, dtype: Any, *, span: Any = None) -> _relay.Call: ...  # type: ignore[override]
class _op_zeros_like(_relay.Op):
    def __call__(self, data: _Operand, *, span: Any = None) -> _relay.Call: ...  # type: ignore[override]

class _in_vm:
    def get(self, name: str) -> _relay.Op: ...
    def __call__(self, name: str) -> _relay.Op: ...
    shape_of: _op_vm_shape_of

class _in_vision:
    def get(self, name: str) -> _relay.Op: ...
    def __call__(self, name: str) -> _relay.Op: ...
    all_class_non_max_suppression: _op_vision_all_class_non_max_suppression
    get_valid_counts: _op_vision_get_valid_counts
    multibox_prior: _op_vision_multibox_prior
    multibox_transform_loc: _op_vision_multibox_transform_loc
    non_max_suppression: _op_vision_non_max_suppression
    proposal: _op_vision_proposal
    regular_non_max_suppression: _op_vision_regular_non_max_suppression
    roi_align: _op_vision_roi_align
    roi_pool: _op_vision_roi_pool
    yolo_reorg: _op_vision_yolo_reorg

class _in_string:
    def get(self, name: str) -> _relay.Op: ...
    def __call__(self, name: str) -> _relay.Op: ...
    concat: _op_string_concat
    from_number: _op_string_from_number
    full_match: _op_string_full_match
    id: _op_string_id
    normalize: _op_string_normalize
    rank: _op_string_rank
    split: _op_string_split
    split_count: _op_string_split_count
    to_number: _op_string_to_number

class _in_relay_op_annotation:
    def get(self, name: str) -> _relay.Op: ...
    def __call__(self, name: str) -> _relay.Op: ...
    simulated_quantize: _op_relay_op_annotation_simulated_quantize

class _in_relay_op:
    def get(self, name: str) -> _relay.Op: ...
    def __call__(self, name: str) -> _relay.Op: ...
    annotation: _in_relay_op_annotation

class _in_relay:
    def get(self, name: str) -> _relay.Op: ...
    def __call__(self, name: str) -> _relay.Op: ...
    op: _in_relay_op

class _in_random:
    def get(self, name: str) -> _relay.Op: ...
    def __call__(self, name: str) -> _relay.Op: ...
    multinomial: _op_random_multinomial
    normal: _op_random_normal
    threefry_generate: _op_random_threefry_generate
    threefry_key: _op_random_threefry_key
    threefry_split: _op_random_threefry_split
    uniform: _op_random_uniform

class _in_qnn:
    def get(self, name: str) -> _relay.Op: ...
    def __call__(self, name: str) -> _relay.Op: ...
    abs: _op_qnn_abs
    add: _op_qnn_add
    avg_pool2d: _op_qnn_avg_pool2d
    batch_matmul: _op_qnn_batch_matmul
    concatenate: _op_qnn_concatenate
    conv1d: _op_qnn_conv1d
    conv2d: _op_qnn_conv2d
    conv2d_transpose: _op_qnn_conv2d_transpose
    conv3d: _op_qnn_conv3d
    dense: _op_qnn_dense
    dequantize: _op_qnn_dequantize
    erf: _op_qnn_erf
    exp: _op_qnn_exp
    hardswish: _op_qnn_hardswish
    leaky_relu: _op_qnn_leaky_relu
    log: _op_qnn_log
    mul: _op_qnn_mul
    op: _in_qnn
    quantize: _op_qnn_quantize
    requantize: _op_qnn_requantize
    rsqrt: _op_qnn_rsqrt
    sigmoid: _op_qnn_sigmoid
    simulated_dequantize: _op_qnn_simulated_dequantize
    simulated_quantize: _op_qnn_simulated_quantize
    softmax: _op_qnn_softmax
    sqrt: _op_qnn_sqrt
    subtract: _op_qnn_subtract
    tanh: _op_qnn_tanh

class _in_nn:
    def get(self, name: str) -> _relay.Op: ...
    def __call__(self, name: str) -> _relay.Op: ...
    adaptive_avg_pool1d: _op_nn_adaptive_avg_pool1d
    adaptive_avg_pool2d: _op_nn_adaptive_avg_pool2d
    adaptive_avg_pool3d: _op_nn_adaptive_avg_pool3d
    adaptive_max_pool1d: _op_nn_adaptive_max_pool1d
    adaptive_max_pool2d: _op_nn_adaptive_max_pool2d
    adaptive_max_pool3d: _op_nn_adaptive_max_pool3d
    attention: _op_nn_attention
    avg_pool1d: _op_nn_avg_pool1d
    avg_pool2d: _op_nn_avg_pool2d
    avg_pool2d_grad: _op_nn_avg_pool2d_grad
    avg_pool3d: _op_nn_avg_pool3d
    batch_flatten: _op_nn_batch_flatten
    batch_matmul: _op_nn_batch_matmul
    batch_norm: _op_nn_batch_norm
    batch_to_space_nd: _op_nn_batch_to_space_nd
    bias_add: _op_nn_bias_add
    bitpack: _op_nn_bitpack
    bitserial_conv2d: _op_nn_bitserial_conv2d
    bitserial_dense: _op_nn_bitserial_dense
    contrib_conv2d_NCHWc: _op_nn_contrib_conv2d_NCHWc
    contrib_conv2d_nchwc: _op_nn_contrib_conv2d_nchwc
    contrib_conv2d_winograd: _op_nn_contrib_conv2d_winograd
    contrib_dense_blocks: _op_nn_contrib_dense_blocks
    contrib_dense_nbits: _op_nn_contrib_dense_nbits
    contrib_dense_pack: _op_nn_contrib_dense_pack
    contrib_depthwise_conv2d_NCHWc: _op_nn_contrib_depthwise_conv2d_NCHWc
    contrib_depthwise_conv2d_nchwc: _op_nn_contrib_depthwise_conv2d_nchwc
    conv1d: _op_nn_conv1d
    conv1d_transpose: _op_nn_conv1d_transpose
    conv2d: _op_nn_conv2d
    conv2d_backward_weight: _op_nn_conv2d_backward_weight
    conv2d_transpose: _op_nn_conv2d_transpose
    conv3d: _op_nn_conv3d
    conv3d_transpose: _op_nn_conv3d_transpose
    correlation: _op_nn_correlation
    cross_entropy: _op_nn_cross_entropy
    cross_entropy_with_logits: _op_nn_cross_entropy_with_logits
    deformable_conv2d: _op_nn_deformable_conv2d
    dense: _op_nn_dense
    depth_to_space: _op_nn_depth_to_space
    dilate: _op_nn_dilate
    dropout: _op_nn_dropout
    dropout_raw: _op_nn_dropout_raw
    fast_softmax: _op_nn_fast_softmax
    fifo_buffer: _op_nn_fifo_buffer
    global_avg_pool1d: _op_nn_global_avg_pool1d
    global_avg_pool2d: _op_nn_global_avg_pool2d
    global_avg_pool3d: _op_nn_global_avg_pool3d
    global_max_pool1d: _op_nn_global_max_pool1d
    global_max_pool2d: _op_nn_global_max_pool2d
    global_max_pool3d: _op_nn_global_max_pool3d
    group_norm: _op_nn_group_norm
    instance_norm: _op_nn_instance_norm
    l2_normalize: _op_nn_l2_normalize
    layer_norm: _op_nn_layer_norm
    leaky_relu: _op_nn_leaky_relu
    log_softmax: _op_nn_log_softmax
    lrn: _op_nn_lrn
    matmul: _op_nn_matmul
    max_pool1d: _op_nn_max_pool1d
    max_pool2d: _op_nn_max_pool2d
    max_pool2d_grad: _op_nn_max_pool2d_grad
    max_pool3d: _op_nn_max_pool3d
    mirror_pad: _op_nn_mirror_pad
    nll_loss: _op_nn_nll_loss
    pad: _op_nn_pad
    prelu: _op_nn_prelu
    relu: _op_nn_relu
    softmax: _op_nn_softmax
    space_to_batch_nd: _op_nn_space_to_batch_nd
    space_to_depth: _op_nn_space_to_depth
    sparse_add: _op_nn_sparse_add
    sparse_conv2d: _op_nn_sparse_conv2d
    sparse_dense: _op_nn_sparse_dense
    sparse_transpose: _op_nn_sparse_transpose
    upsampling: _op_nn_upsampling
    upsampling3d: _op_nn_upsampling3d

class _in_image:
    def get(self, name: str) -> _relay.Op: ...
    def __call__(self, name: str) -> _relay.Op: ...
    affine_grid: _op_image_affine_grid
    crop_and_resize: _op_image_crop_and_resize
    dilation2d: _op_image_dilation2d
    grid_sample: _op_image_grid_sample
    resize1d: _op_image_resize1d
    resize2d: _op_image_resize2d
    resize3d: _op_image_resize3d

class _in_dyn_nn:
    def get(self, name: str) -> _relay.Op: ...
    def __call__(self, name: str) -> _relay.Op: ...
    pad: _op_dyn_nn_pad
    upsampling: _op_dyn_nn_upsampling
    upsampling3d: _op_dyn_nn_upsampling3d

class _in_dyn_image:
    def get(self, name: str) -> _relay.Op: ...
    def __call__(self, name: str) -> _relay.Op: ...
    resize2d: _op_dyn_image_resize2d

class _in_dyn:
    def get(self, name: str) -> _relay.Op: ...
    def __call__(self, name: str) -> _relay.Op: ...
    broadcast_to: _op_dyn_broadcast_to
    expand_dims: _op_dyn_expand_dims
    full: _op_dyn_full
    image: _in_dyn_image
    nn: _in_dyn_nn
    one_hot: _op_dyn_one_hot
    ones: _op_dyn_ones
    reshape: _op_dyn_reshape
    sparse_to_dense: _op_dyn_sparse_to_dense
    squeeze: _op_dyn_squeeze
    strided_slice: _op_dyn_strided_slice
    tile: _op_dyn_tile
    topk: _op_dyn_topk
    zeros: _op_dyn_zeros

class _in_annotation:
    def get(self, name: str) -> _relay.Op: ...
    def __call__(self, name: str) -> _relay.Op: ...
    bitpack_end: _op_annotation_bitpack_end
    bitpack_start: _op_annotation_bitpack_start
    cast_hint: _op_annotation_cast_hint
    checkpoint: _op_annotation_checkpoint
    compiler_begin: _op_annotation_compiler_begin
    compiler_end: _op_annotation_compiler_end
    function_on_device: _op_annotation_function_on_device
    on_device: _op_annotation_on_device
    stop_fusion: _op_annotation_stop_fusion
    with_funcid: _op_annotation_with_funcid

class _in_:
    def get(self, name: str) -> _relay.Op: ...
    def __call__(self, name: str) -> _relay.Op: ...
    abs: _op_abs
    acos: _op_acos
    acosh: _op_acosh
    add: _op_add
    adv_index: _op_adv_index
    all: _op_all
    annotation: _in_annotation
    any: _op_any
    arange: _op_arange
    argmax: _op_argmax
    argmin: _op_argmin
    argsort: _op_argsort
    argwhere: _op_argwhere
    asin: _op_asin
    asinh: _op_asinh
    atan: _op_atan
    atanh: _op_atanh
    bitwise_and: _op_bitwise_and
    bitwise_not: _op_bitwise_not
    bitwise_or: _op_bitwise_or
    bitwise_xor: _op_bitwise_xor
    broadcast_to: _op_broadcast_to
    broadcast_to_like: _op_broadcast_to_like
    cast: _op_cast
    cast_like: _op_cast_like
    ceil: _op_ceil
    check_range: _op_check_range
    clip: _op_clip
    collapse_sum_like: _op_collapse_sum_like
    collapse_sum_to: _op_collapse_sum_to
    concatenate: _op_concatenate
    contrib_byte_table: _op_contrib_byte_table
    contrib_reverse_reshape: _op_contrib_reverse_reshape
    copy: _op_copy
    cos: _op_cos
    cosh: _op_cosh
    count_grams: _op_count_grams
    cumprod: _op_cumprod
    cumsum: _op_cumsum
    device_copy: _op_device_copy
    dft: _op_dft
    divide: _op_divide
    dyn: _in_dyn
    einsum: _op_einsum
    equal: _op_equal
    erf: _op_erf
    exp: _op_exp
    expand_dims: _op_expand_dims
    fast_erf: _op_fast_erf
    fast_exp: _op_fast_exp
    fast_tanh: _op_fast_tanh
    fixed_point_multiply: _op_fixed_point_multiply
    fixed_point_multiply_per_axis: _op_fixed_point_multiply_per_axis
    floor: _op_floor
    floor_divide: _op_floor_divide
    floor_mod: _op_floor_mod
    full: _op_full
    full_like: _op_full_like
    gather: _op_gather
    gather_nd: _op_gather_nd
    greater: _op_greater
    greater_equal: _op_greater_equal
    image: _in_image
    invert_permutation: _op_invert_permutation
    isfinite: _op_isfinite
    isinf: _op_isinf
    isnan: _op_isnan
    layout_transform: _op_layout_transform
    left_shift: _op_left_shift
    less: _op_less
    less_equal: _op_less_equal
    log: _op_log
    log10: _op_log10
    log2: _op_log2
    logical_and: _op_logical_and
    logical_not: _op_logical_not
    logical_or: _op_logical_or
    logical_xor: _op_logical_xor
    logsumexp: _op_logsumexp
    matrix_set_diag: _op_matrix_set_diag
    max: _op_max
    maximum: _op_maximum
    mean: _op_mean
    mean_std: _op_mean_std
    mean_variance: _op_mean_variance
    meshgrid: _op_meshgrid
    min: _op_min
    minimum: _op_minimum
    mod: _op_mod
    multiply: _op_multiply
    ndarray_size: _op_ndarray_size
    negative: _op_negative
    nn: _in_nn
    not_equal: _op_not_equal
    on_device: _op_on_device
    one_hot: _op_one_hot
    ones: _op_ones
    ones_like: _op_ones_like
    power: _op_power
    prod: _op_prod
    qnn: _in_qnn
    random: _in_random
    range_checked: _op_range_checked
    reinterpret: _op_reinterpret
    relay: _in_relay
    repeat: _op_repeat
    reshape: _op_reshape
    reshape_like: _op_reshape_like
    reverse: _op_reverse
    reverse_reshape: _op_reverse_reshape
    reverse_sequence: _op_reverse_sequence
    right_shift: _op_right_shift
    round: _op_round
    round_even: _op_round_even
    rsqrt: _op_rsqrt
    scatter_elements: _op_scatter_elements
    scatter_nd: _op_scatter_nd
    searchsorted: _op_searchsorted
    segment_sum: _op_segment_sum
    sequence_mask: _op_sequence_mask
    shape_of: _op_shape_of
    sigmoid: _op_sigmoid
    sign: _op_sign
    sin: _op_sin
    sinh: _op_sinh
    slice_like: _op_slice_like
    sliding_window: _op_sliding_window
    sort: _op_sort
    sparse_fill_empty_rows: _op_sparse_fill_empty_rows
    sparse_reshape: _op_sparse_reshape
    sparse_to_dense: _op_sparse_to_dense
    split: _op_split
    sqrt: _op_sqrt
    squeeze: _op_squeeze
    stack: _op_stack
    std: _op_std
    stft: _op_stft
    strided_set: _op_strided_set
    strided_slice: _op_strided_slice
    string: _in_string
    subtract: _op_subtract
    sum: _op_sum
    take: _op_take
    tan: _op_tan
    tanh: _op_tanh
    tile: _op_tile
    topk: _op_topk
    transpose: _op_transpose
    trilu: _op_trilu
    trunc: _op_trunc
    trunc_divide: _op_trunc_divide
    trunc_mod: _op_trunc_mod
    unique: _op_unique
    unique_rows: _op_unique_rows
    unravel_index: _op_unravel_index
    variance: _op_variance
    vision: _in_vision
    vm: _in_vm
    where: _op_where
    zeros: _op_zeros
    zeros_like: _op_zeros_like

__all__ = ["op", "abs", "acos", "acosh", "add", "adv_index", "all", "annotation", "any", "arange", "argmax", "argmin", "argsort", "argwhere", "asin", "asinh", "atan", "atanh", "bitwise_and", "bitwise_not", "bitwise_or", "bitwise_xor", "broadcast_to", "broadcast_to_like", "cast", "cast_like", "ceil", "check_range", "clip", "collapse_sum_like", "collapse_sum_to", "concatenate", "contrib_byte_table", "contrib_reverse_reshape", "copy", "cos", "cosh", "count_grams", "cumprod", "cumsum", "device_copy", "dft", "divide", "dyn", "einsum", "equal", "erf", "exp", "expand_dims", "fast_erf", "fast_exp", "fast_tanh", "fixed_point_multiply", "fixed_point_multiply_per_axis", "floor", "floor_divide", "floor_mod", "full", "full_like", "gather", "gather_nd", "greater", "greater_equal", "image", "invert_permutation", "isfinite", "isinf", "isnan", "layout_transform", "left_shift", "less", "less_equal", "log", "log10", "log2", "logical_and", "logical_not", "logical_or", "logical_xor", "logsumexp", "matrix_set_diag", "max", "maximum", "mean", "mean_std", "mean_variance", "meshgrid", "min", "minimum", "mod", "multiply", "ndarray_size", "negative", "nn", "not_equal", "on_device", "one_hot", "ones", "ones_like", "power", "prod", "qnn", "random", "range_checked", "reinterpret", "relay", "repeat", "reshape", "reshape_like", "reverse", "reverse_reshape", "reverse_sequence", "right_shift", "round", "round_even", "rsqrt", "scatter_elements", "scatter_nd", "searchsorted", "segment_sum", "sequence_mask", "shape_of", "sigmoid", "sign", "sin", "sinh", "slice_like", "sliding_window", "sort", "sparse_fill_empty_rows", "sparse_reshape", "sparse_to_dense", "split", "sqrt", "squeeze", "stack", "std", "stft", "strided_set", "strided_slice", "string", "subtract", "sum", "take", "tan", "tanh", "tile", "topk", "transpose", "trilu", "trunc", "trunc_divide", "trunc_mod", "unique", "unique_rows", "unravel_index", "variance", "vision", "where", "zeros", "zeros_like"]

op: _in_
abs: _op_abs
acos: _op_acos
acosh: _op_acosh
add: _op_add
adv_index: _op_adv_index
all: _op_all
annotation: _in_annotation
any: _op_any
arange: _op_arange
argmax: _op_argmax
argmin: _op_argmin
argsort: _op_argsort
argwhere: _op_argwhere
asin: _op_asin
asinh: _op_asinh
atan: _op_atan
atanh: _op_atanh
bitwise_and: _op_bitwise_and
bitwise_not: _op_bitwise_not
bitwise_or: _op_bitwise_or
bitwise_xor: _op_bitwise_xor
broadcast_to: _op_broadcast_to
broadcast_to_like: _op_broadcast_to_like
cast: _op_cast
cast_like: _op_cast_like
ceil: _op_ceil
check_range: _op_check_range
clip: _op_clip
collapse_sum_like: _op_collapse_sum_like
collapse_sum_to: _op_collapse_sum_to
concatenate: _op_concatenate
contrib_byte_table: _op_contrib_byte_table
contrib_reverse_reshape: _op_contrib_reverse_reshape
copy: _op_copy
cos: _op_cos
cosh: _op_cosh
count_grams: _op_count_grams
cumprod: _op_cumprod
cumsum: _op_cumsum
device_copy: _op_device_copy
dft: _op_dft
divide: _op_divide
dyn: _in_dyn
einsum: _op_einsum
equal: _op_equal
erf: _op_erf
exp: _op_exp
expand_dims: _op_expand_dims
fast_erf: _op_fast_erf
fast_exp: _op_fast_exp
fast_tanh: _op_fast_tanh
fixed_point_multiply: _op_fixed_point_multiply
fixed_point_multiply_per_axis: _op_fixed_point_multiply_per_axis
floor: _op_floor
floor_divide: _op_floor_divide
floor_mod: _op_floor_mod
full: _op_full
full_like: _op_full_like
gather: _op_gather
gather_nd: _op_gather_nd
greater: _op_greater
greater_equal: _op_greater_equal
image: _in_image
invert_permutation: _op_invert_permutation
isfinite: _op_isfinite
isinf: _op_isinf
isnan: _op_isnan
layout_transform: _op_layout_transform
left_shift: _op_left_shift
less: _op_less
less_equal: _op_less_equal
log: _op_log
log10: _op_log10
log2: _op_log2
logical_and: _op_logical_and
logical_not: _op_logical_not
logical_or: _op_logical_or
logical_xor: _op_logical_xor
logsumexp: _op_logsumexp
matrix_set_diag: _op_matrix_set_diag
max: _op_max
maximum: _op_maximum
mean: _op_mean
mean_std: _op_mean_std
mean_variance: _op_mean_variance
meshgrid: _op_meshgrid
min: _op_min
minimum: _op_minimum
mod: _op_mod
multiply: _op_multiply
ndarray_size: _op_ndarray_size
negative: _op_negative
nn: _in_nn
not_equal: _op_not_equal
on_device: _op_on_device
one_hot: _op_one_hot
ones: _op_ones
ones_like: _op_ones_like
power: _op_power
prod: _op_prod
qnn: _in_qnn
random: _in_random
range_checked: _op_range_checked
reinterpret: _op_reinterpret
relay: _in_relay
repeat: _op_repeat
reshape: _op_reshape
reshape_like: _op_reshape_like
reverse: _op_reverse
reverse_reshape: _op_reverse_reshape
reverse_sequence: _op_reverse_sequence
right_shift: _op_right_shift
round: _op_round
round_even: _op_round_even
rsqrt: _op_rsqrt
scatter_elements: _op_scatter_elements
scatter_nd: _op_scatter_nd
searchsorted: _op_searchsorted
segment_sum: _op_segment_sum
sequence_mask: _op_sequence_mask
shape_of: _op_shape_of
sigmoid: _op_sigmoid
sign: _op_sign
sin: _op_sin
sinh: _op_sinh
slice_like: _op_slice_like
sliding_window: _op_sliding_window
sort: _op_sort
sparse_fill_empty_rows: _op_sparse_fill_empty_rows
sparse_reshape: _op_sparse_reshape
sparse_to_dense: _op_sparse_to_dense
split: _op_split
sqrt: _op_sqrt
squeeze: _op_squeeze
stack: _op_stack
std: _op_std
stft: _op_stft
strided_set: _op_strided_set
strided_slice: _op_strided_slice
string: _in_string
subtract: _op_subtract
sum: _op_sum
take: _op_take
tan: _op_tan
tanh: _op_tanh
tile: _op_tile
topk: _op_topk
transpose: _op_transpose
trilu: _op_trilu
trunc: _op_trunc
trunc_divide: _op_trunc_divide
trunc_mod: _op_trunc_mod
unique: _op_unique
unique_rows: _op_unique_rows
unravel_index: _op_unravel_index
variance: _op_variance
vision: _in_vision
where: _op_where
zeros: _op_zeros
zeros_like: _op_zeros_like
