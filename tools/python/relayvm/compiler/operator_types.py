"""Measured by tools/python/tests/measure_operators.py: which dtypes and ranks operators take, what they give, and which values attributes have.

    NAME: (((DTYPES, RANKS[, the operand whose dtype it has to be[, (of these dtypes, these go too)]...]) of each operand),
           ("as OPERAND" or DTYPE, " | ATTRIBUTE" where that says another one; DTYPE of DTYPES; ...) of each result,
           {ATTRIBUTE: (kind, its values where there are only these)})
"""

TYPES = {
    'abs':
        ((('float bfloat int uint bool', '0-6'),), ('as data',), {}),
    'acos':
        ((('float bfloat', '0-6'),), ('as data',), {}),
    'acosh':
        ((('float bfloat', '0-6'),), ('as data',), {}),
    'add':
        ((('float bfloat int uint', '0-6'), ('float bfloat int uint', '0-6', 'lhs')), ('as lhs',), {}),
    'adv_index':
        ((('float bfloat int uint bool string', '2-6'),), ('as inputs',), {}),
    'all':
        ((('bool', '1-6'),), ('bool',), {'axis': ('a list of integers',), 'exclude': ('True or False',), 'keepdims': ('True or False',)}),
    'annotation.bitpack_end':
        ((('float bfloat int uint bool string', '0-6'),), ('as data',), {}),
    'annotation.bitpack_start':
        ((('float bfloat int uint bool string', '0-6'),), ('as data',), {}),
    'annotation.cast_hint':
        ((('float bfloat int uint bool string', '0-6'),), ('as data',), {'dtype': ('the name of a dtype',)}),
    'annotation.checkpoint':
        ((('float bfloat int uint bool string', '0-6'),), ('as data',), {}),
    'annotation.compiler_begin':
        ((('float bfloat int uint bool string', '0-6'),), ('as data',), {'compiler': ('a string',)}),
    'annotation.compiler_end':
        ((('float bfloat int uint bool string', '0-6'),), ('as data',), {'compiler': ('a string',)}),
    'annotation.on_device':
        ((('float bfloat int uint bool string', '0-6'),), ('as body',), {}),
    'annotation.stop_fusion':
        ((('float bfloat int uint bool string', '0-6'),), ('as data',), {}),
    'annotation.with_funcid':
        ((('float bfloat int uint bool string', '0-6'),), ('as data',), {}),
    'any':
        ((('bool', '1-6'),), ('bool',), {'axis': ('a list of integers',), 'exclude': ('True or False',), 'keepdims': ('True or False',)}),
    'arange':
        ((('float bfloat int uint', '0'), ('float bfloat int uint', '0', 'start'), ('float bfloat int uint', '0', 'start')), ('float32 | dtype',),
         {'dtype': ('the name of a dtype',), 'start': ('any value',), 'step': ('any value',), 'stop': ('any value',)}),
    'argmax':
        ((('float bfloat int uint bool', '1-6'),), ('int32',),
         {'axis': ('a list of integers',), 'exclude': ('True or False',), 'keepdims': ('True or False',), 'select_last_index': ('True or False',)}),
    'argmin':
        ((('float bfloat int uint bool', '1-6'),), ('int32',),
         {'axis': ('a list of integers',), 'exclude': ('True or False',), 'keepdims': ('True or False',), 'select_last_index': ('True or False',)}),
    'argsort':
        ((('float bfloat int uint bool', '1-6'),), ('int32 | dtype',),
         {'axis': ('an integer',), 'dtype': ('the name of a dtype',), 'is_ascend': ('True or False',)}),
    'argwhere':
        ((('float bfloat int uint bool', '0-6'),), ('int32',), {}),
    'asin':
        ((('float bfloat', '0-6'),), ('as data',), {}),
    'asinh':
        ((('float bfloat', '0-6'),), ('as data',), {}),
    'atan':
        ((('float bfloat', '0-6'),), ('as data',), {}),
    'atanh':
        ((('float bfloat', '0-6'),), ('as data',), {}),
    'bitwise_and':
        ((('int uint bool', '0-6'), ('int uint bool', '0-6', 'lhs')), ('as lhs',), {}),
    'bitwise_not':
        ((('int uint bool', '0-6'),), ('as data',), {}),
    'bitwise_or':
        ((('int uint bool', '0-6'), ('int uint bool', '0-6', 'lhs')), ('as lhs',), {}),
    'bitwise_xor':
        ((('int uint bool', '0-6'), ('int uint bool', '0-6', 'lhs')), ('as lhs',), {}),
    'broadcast_to':
        ((('float bfloat int uint bool string', '0-6'),), ('as data',), {'dtype': ('the name of a dtype',), 'shape': ('a list of integers or ?',)}),
    'broadcast_to_like':
        ((('float bfloat int uint bool string', '0-6'), ('float bfloat int uint bool string', '0-6')), ('as data',), {}),
    'cast':
        ((('float bfloat int uint bool', '0-6'),), ('dtype',), {'dtype': ('the name of a dtype',)}),
    'cast_like':
        ((('float bfloat int uint bool', '0-6'), ('float bfloat int uint bool', '0-6')), ('as dtype_like',), {}),
    'ceil':
        ((('float bfloat int uint', '0-6'),), ('as data',), {}),
    'check_range':
        ((('int uint', '0-6'), ('int64', '1'), ('int64', '1')), ('int64',), {}),
    'clip':
        ((('float bfloat int uint', '0-6'),), ('as a',), {'a_max': ('a number',), 'a_min': ('a number',)}),
    'collapse_sum_like':
        ((('float bfloat int uint', '0-6'), ('float bfloat int uint bool', '0-6')), ('as data',), {}),
    'collapse_sum_to':
        ((('float bfloat int uint', '1-6'), ('float32 float64 int uint bool', '0-6')), ('as data',), {}),
    'concatenate':
        ((('float bfloat int uint bool string', '1-6'),), ('as data',), {'axis': ('an integer',)}),
    'contrib_byte_table':
        ((('int8 uint8', '0-6'), ('int8 uint8', '1')), ('as table',), {}),
    'contrib_reverse_reshape':
        ((('float bfloat int uint bool', '0-6'),), ('as data',), {'allowzero': ('True or False',), 'newshape': ('a list of integers or ?',)}),
    'copy':
        ((('float bfloat int uint bool string', '0-6'),), ('as data',), {}),
    'cos':
        ((('float bfloat', '0-6'),), ('as data',), {}),
    'cosh':
        ((('float bfloat', '0-6'),), ('as data',), {}),
    'count_grams':
        ((('int64', '2'), ('int64', '2'), ('int64', '1')), ('int64',), {'skips': ('an integer',), 'width': ('an integer',)}),
    'cumprod':
        ((('float bfloat int uint bool', '1-6'),), ('as data | dtype',),
         {'axis': ('an integer',), 'dtype': ('the name of a dtype',), 'exclusive': ('True or False',), 'reversed': ('True or False',)}),
    'cumsum':
        ((('float bfloat int uint bool', '1-6'),), ('as data | dtype',),
         {'axis': ('an integer',), 'dtype': ('the name of a dtype',), 'exclusive': ('True or False',), 'reversed': ('True or False',)}),
    'device_copy':
        ((('float bfloat int uint bool string', '0-6'),), ('as data',),
         {'dst_virtual_device': ('any value',), 'src_virtual_device': ('any value',)}),
    'dft':
        ((('float bfloat', '1-6'), ('float bfloat', '1-6', 're_data')), ('as re_data', 'as re_data'), {'inverse': ('True or False',)}),
    'divide':
        ((('float bfloat int uint', '0-6'), ('float bfloat int uint', '0-6', 'lhs')), ('as lhs',), {}),
    'dyn.broadcast_to':
        ((('float bfloat int uint bool string', '0-2'), ('float32 float64 int uint bool string', '1')), ('as data',),
         {'dtype': ('the name of a dtype',), 'shape': ('any value',)}),
    'dyn.expand_dims':
        ((('float bfloat int uint bool string', '0-6'), ('float32 float64 int uint bool string', '0-6')), ('as data',),
         {'axis': ('any value',), 'num_newaxis': ('an integer',)}),
    'dyn.full':
        ((('float bfloat int uint bool string', '0'), ('float32 float64 int uint bool string', '1')), ('as fill_value | dtype',),
         {'dtype': ('the name of a dtype',), 'shape': ('any value',)}),
    'dyn.image.resize2d':
        ((('float bfloat int uint', '4'), ('float32 float64 int uint bool', '1'), ('float bfloat int uint bool', '0-6')), ('as data | out_dtype',),
         {'coordinate_transformation_mode': ('a string', 'align_corners', 'asymmetric', 'half_pixel', 'pytorch_half_pixel', 'tf_crop_and_resize',
                                             'tf_half_pixel_for_nn'),
          'cubic_alpha': ('a number',),
          'cubic_exclude': ('an integer',),
          'extrapolation_value': ('a number',),
          'layout': ('a string', 'any order of NCHW'),
          'method': ('a string', 'cubic', 'linear', 'nearest_neighbor'),
          'out_dtype': ('the name of a dtype',),
          'roi': ('any value',),
          'rounding_method': ('a string',),
          'size': ('any value',)}),
    'dyn.nn.pad':
        ((('float bfloat int uint bool string', '2'), ('int uint', '2'), ('float bfloat int uint bool string', '0')), ('as data',),
         {'pad_mode': ('a string', 'constant', 'edge', 'reflect'), 'pad_width': ('any value',)}),
    'dyn.nn.upsampling':
        ((('float bfloat int uint', '4'), ('float bfloat int uint', '0'), ('float bfloat int uint', '0')), ('as data',),
         {'align_corners': ('True or False',),
          'layout': ('a string', 'any order of NCHW'),
          'method': ('a string', 'bicubic', 'bilinear', 'cubic', 'linear', 'nearest_neighbor'),
          'scale_h': ('any value',),
          'scale_w': ('any value',)}),
    'dyn.nn.upsampling3d':
        ((('float bfloat int uint', '5'), ('float bfloat int uint', '0'), ('float bfloat int uint', '0'), ('float bfloat int uint', '0')),
         ('as data',),
         {'coordinate_transformation_mode': ('a string', 'align_corners', 'asymmetric', 'half_pixel', 'pytorch_half_pixel', 'tf_crop_and_resize',
                                             'tf_half_pixel_for_nn'),
          'layout': ('a string', 'any order of NCDHW'),
          'method': ('a string', 'cubic', 'linear', 'nearest_neighbor'),
          'scale_d': ('any value',),
          'scale_h': ('any value',),
          'scale_w': ('any value',)}),
    'dyn.one_hot':
        ((('int uint', '0-6'), ('float bfloat int uint bool string', '0'), ('float bfloat int uint bool string', '0'),
          ('float32 float64 int uint bool string', '0-6')),
         ('as on_value | dtype',), {'axis': ('an integer',), 'depth': ('any value',), 'dtype': ('the name of a dtype',)}),
    'dyn.ones':
        ((('float32 float64 int uint bool', '1'),), ('float32 | dtype',), {'dtype': ('the name of a dtype',), 'shape': ('any value',)}),
    'dyn.reshape':
        ((('float bfloat int uint bool string', '0-6'), ('float32 float64 int uint bool string', '1')), ('as data',),
         {'allowzero': ('True or False',), 'newshape': ('any value',)}),
    'dyn.sparse_to_dense':
        ((('int uint', '1 2'), ('float bfloat int uint bool', '0 1'), ('float bfloat int uint bool', '0'), ('float32 float64 int uint bool', '1')),
         ('as sparse_values',), {}),
    'dyn.squeeze':
        ((('float bfloat int uint bool string', '1-6'), ('float32 float64 int uint bool string', '0-6')), ('as data',), {'axis': ('any value',)}),
    'dyn.strided_slice':
        ((('float bfloat int uint bool string', '1-6'), ('int uint', '1'), ('int uint', '1'), ('int uint', '1')), ('as data',),
         {'axes': ('any value',),
          'begin': ('any value',),
          'end': ('any value',),
          'slice_mode': ('a string', 'end', 'size'),
          'strides': ('any value',)}),
    'dyn.tile':
        ((('float bfloat int uint bool string', '0-6'), ('float32 float64 int uint bool string', '1')), ('as data',), {'reps': ('any value',)}),
    'dyn.topk':
        ((('float bfloat int uint bool', '1-6'), ('float32 float64 int uint bool', '0-6')), ('as data', 'int32 | dtype'),
         {'axis': ('an integer',),
          'below_one_is_none': ('True or False',),
          'dtype': ('the name of a dtype',),
          'is_ascend': ('True or False',),
          'k': ('any value',),
          'ret_type': ('a string', 'both', 'indices', 'values')}),
    'dyn.zeros':
        ((('float32 float64 int uint bool string', '1'),), ('float32 | dtype',), {'dtype': ('the name of a dtype',), 'shape': ('any value',)}),
    'einsum':
        ((('float bfloat int uint', '0-6'),), ('as data',), {'equation': ('a string',)}),
    'equal':
        ((('float bfloat int uint bool string', '0-6'), ('float bfloat int uint bool string', '0-6', 'lhs')), ('bool',), {}),
    'erf':
        ((('float bfloat', '0-6'),), ('as data',), {}),
    'exp':
        ((('float bfloat', '0-6'),), ('as data',), {}),
    'expand_dims':
        ((('float bfloat int uint bool string', '0-6'),), ('as data',), {'axis': ('an integer',), 'num_newaxis': ('an integer',)}),
    'fast_erf':
        ((('float bfloat', '0-6'),), ('as data',), {}),
    'fast_exp':
        ((('float bfloat', '0-6'),), ('as data',), {}),
    'fast_tanh':
        ((('float bfloat', '0-6'),), ('as data',), {}),
    'fixed_point_multiply':
        ((('int32', '0-6'),), ('int32',), {'multiplier': ('an integer',), 'shift': ('an integer',)}),
    'fixed_point_multiply_per_axis':
        ((('int32', '1-6'), ('int uint', '0-6'), ('float bfloat int uint bool', '0-6'), ('float bfloat int uint bool', '0-6')), ('int32',),
         {'axes': ('a list of integers',), 'is_lshift_required': ('True or False',), 'is_rshift_required': ('True or False',)}),
    'floor':
        ((('float bfloat int uint', '0-6'),), ('as data',), {}),
    'floor_divide':
        ((('float bfloat int uint', '0-6'), ('float bfloat int uint', '0-6', 'lhs')), ('as lhs',), {}),
    'floor_mod':
        ((('float bfloat int uint', '0-6'), ('float bfloat int uint', '0-6', 'lhs')), ('as lhs',), {}),
    'full':
        ((('float bfloat int uint bool string', '0'),), ('as fill_value | dtype',),
         {'dtype': ('the name of a dtype',), 'shape': ('a list of integers or ?',)}),
    'full_like':
        ((('float bfloat int uint bool string', '0-6'), ('float bfloat int uint bool string', '0')), ('as data',), {}),
    'gather':
        ((('float bfloat int uint bool string', '1-6'), ('int uint', '1-6')), ('as data',), {'axis': ('an integer',)}),
    'gather_nd':
        ((('float bfloat int uint bool string', '1-6'), ('float bfloat int uint', '1-6')), ('as data',),
         {'batch_dims': ('an integer',), 'index_rank': ('an integer',)}),
    'greater':
        ((('float bfloat int uint bool', '0-6'), ('float bfloat int uint bool', '0-6', 'lhs')), ('bool',), {}),
    'greater_equal':
        ((('float bfloat int uint bool', '0-6'), ('float bfloat int uint bool', '0-6', 'lhs')), ('bool',), {}),
    'image.affine_grid':
        ((('float bfloat', '3'),), ('as data',), {'target_shape': ('a list of integers',)}),
    'image.crop_and_resize':
        ((('float bfloat int uint', '4'), ('float bfloat', '2'), ('int uint', '1')), ('as data | out_dtype',),
         {'crop_size': ('a list of integers or ?',),
          'extrapolation_value': ('a number',),
          'layout': ('a string', 'any order of NCHW'),
          'method': ('a string', 'bilinear', 'cubic', 'linear', 'nearest_neighbor'),
          'out_dtype': ('the name of a dtype',)}),
    'image.dilation2d':
        ((('float bfloat int uint', '4'), ('float bfloat int uint', '3', 'data')), ('as data | out_dtype',),
         {'data_layout': ('a string', 'NCHW'),
          'dilations': ('a list of integers',),
          'kernel_layout': ('a string', 'IHW'),
          'out_dtype': ('the name of a dtype',),
          'padding': ('a list of integers',),
          'strides': ('a list of integers',)}),
    'image.grid_sample':
        ((('float bfloat', '4'), ('float bfloat', '4')), ('as data',),
         {'align_corners': ('True or False',),
          'layout': ('a string', 'NCHW'),
          'method': ('a string', 'bicubic', 'bilinear', 'nearest'),
          'padding_mode': ('a string', 'border', 'reflection', 'zeros')}),
    'image.resize1d':
        ((('float bfloat int uint', '3'),), ('as data | out_dtype',),
         {'coordinate_transformation_mode': ('a string', 'align_corners', 'asymmetric', 'half_pixel', 'pytorch_half_pixel', 'tf_crop_and_resize',
                                             'tf_half_pixel_for_nn'),
          'cubic_alpha': ('a number',),
          'cubic_exclude': ('an integer',),
          'extrapolation_value': ('a number',),
          'layout': ('a string', 'any order of NCW'),
          'method': ('a string', 'cubic', 'linear', 'nearest_neighbor'),
          'out_dtype': ('the name of a dtype',),
          'roi': ('a list of numbers',),
          'rounding_method': ('a string', 'ceil', 'floor', 'round', 'round_prefer_ceil', 'round_prefer_floor'),
          'size': ('a list of integers or ?',)}),
    'image.resize2d':
        ((('float bfloat int uint', '4'),), ('as data | out_dtype',),
         {'coordinate_transformation_mode': ('a string', 'align_corners', 'asymmetric', 'half_pixel', 'pytorch_half_pixel', 'tf_crop_and_resize',
                                             'tf_half_pixel_for_nn'),
          'cubic_alpha': ('a number',),
          'cubic_exclude': ('an integer',),
          'extrapolation_value': ('a number',),
          'layout': ('a string', 'any order of NCHW'),
          'method': ('a string', 'cubic', 'linear', 'nearest_neighbor'),
          'out_dtype': ('the name of a dtype',),
          'roi': ('a list of numbers',),
          'rounding_method': ('a string', 'ceil', 'floor', 'round', 'round_prefer_ceil', 'round_prefer_floor'),
          'size': ('a list of integers or ?',)}),
    'image.resize3d':
        ((('float bfloat int uint', '5'),), ('as data | out_dtype',),
         {'coordinate_transformation_mode': ('a string', 'align_corners', 'asymmetric', 'half_pixel', 'pytorch_half_pixel', 'tf_crop_and_resize',
                                             'tf_half_pixel_for_nn'),
          'cubic_alpha': ('a number',),
          'cubic_exclude': ('an integer',),
          'extrapolation_value': ('a number',),
          'layout': ('a string', 'any order of NCDHW'),
          'method': ('a string', 'cubic', 'linear', 'nearest_neighbor'),
          'out_dtype': ('the name of a dtype',),
          'roi': ('a list of numbers',),
          'rounding_method': ('a string', 'ceil', 'floor', 'round', 'round_prefer_ceil', 'round_prefer_floor'),
          'size': ('a list of integers or ?',)}),
    'invert_permutation':
        ((('int uint', '1'),), ('as data',), {}),
    'isfinite':
        ((('float bfloat int uint bool', '0-6'),), ('bool',), {}),
    'isinf':
        ((('float bfloat int uint bool', '0-6'),), ('bool',), {}),
    'isnan':
        ((('float bfloat int uint bool', '0-6'),), ('bool',), {}),
    'layout_transform':
        ((('float bfloat int uint bool', '4'),), ('as data',),
         {'dst_layout': ('a string', 'any order of NHWC'), 'src_layout': ('a string', 'any order of NCHW')}),
    'left_shift':
        ((('int uint', '0-6'), ('int uint', '0-6', 'lhs')), ('as lhs',), {}),
    'less':
        ((('float bfloat int uint bool', '0-6'), ('float bfloat int uint bool', '0-6', 'lhs')), ('bool',), {}),
    'less_equal':
        ((('float bfloat int uint bool', '0-6'), ('float bfloat int uint bool', '0-6', 'lhs')), ('bool',), {}),
    'log':
        ((('float bfloat', '0-6'),), ('as data',), {}),
    'log10':
        ((('float bfloat', '0-6'),), ('as data',), {}),
    'log2':
        ((('float bfloat', '0-6'),), ('as data',), {}),
    'logical_and':
        ((('bool', '0-6'), ('bool', '0-6')), ('bool',), {}),
    'logical_not':
        ((('bool', '0-6'),), ('bool',), {}),
    'logical_or':
        ((('bool', '0-6'), ('bool', '0-6')), ('bool',), {}),
    'logical_xor':
        ((('bool', '0-6'), ('bool', '0-6')), ('bool',), {}),
    'logsumexp':
        ((('float bfloat', '1-6'),), ('as data',), {}),
    'matrix_set_diag':
        ((('float bfloat int uint bool', '2'), ('float bfloat int uint bool', '1', 'data')), ('as data',),
         {'k1': ('an integer',), 'k2': ('an integer',), 'sub_diag_right_align': ('True or False',), 'super_diag_right_align': ('True or False',)}),
    'max':
        ((('float bfloat int uint bool', '1-6'),), ('as data',),
         {'axis': ('a list of integers',), 'exclude': ('True or False',), 'keepdims': ('True or False',)}),
    'maximum':
        ((('float bfloat int uint bool', '0-6'), ('float bfloat int uint bool', '0-6', 'lhs')), ('as lhs',), {}),
    'mean':
        ((('float bfloat int uint bool', '1-6'),), ('as data',),
         {'axis': ('a list of integers',), 'exclude': ('True or False',), 'keepdims': ('True or False',)}),
    'mean_std':
        ((('float bfloat', '1-6'),), ('as data', 'as data'), {}),
    'mean_variance':
        ((('float bfloat int uint bool', '1-6'),), ('as data', 'as data'), {}),
    'meshgrid':
        ((('float bfloat int uint bool string', '0 1'),), ('as data', 'as data'), {'indexing': ('a string',)}),
    'min':
        ((('float bfloat int uint bool', '1-6'),), ('as data',),
         {'axis': ('a list of integers',), 'exclude': ('True or False',), 'keepdims': ('True or False',)}),
    'minimum':
        ((('float bfloat int uint bool', '0-6'), ('float bfloat int uint bool', '0-6', 'lhs')), ('as lhs',), {}),
    'mod':
        ((('float bfloat int uint', '0-6'), ('float bfloat int uint', '0-6', 'lhs')), ('as lhs',), {}),
    'multiply':
        ((('float bfloat int uint', '0-6'), ('float bfloat int uint', '0-6', 'lhs')), ('as lhs',), {}),
    'murmur3':
        ((('float bfloat int uint bool string', '0-6'),), ('dtype',), {'dtype': ('the name of a dtype',), 'seed': ('an integer',)}),
    'ndarray_size':
        ((('float bfloat int uint bool string', '0-6'),), ('int32 | dtype',), {'dtype': ('the name of a dtype',)}),
    'negative':
        ((('float bfloat int uint', '0-6'),), ('as data',), {}),
    'nn.adaptive_avg_pool1d':
        ((('float bfloat int uint bool', '3'),), ('as data',),
         {'layout': ('a string', 'any order of NCW'), 'out_layout': ('a string',), 'output_size': ('a list of integers',)}),
    'nn.adaptive_avg_pool2d':
        ((('float bfloat int uint bool', '4'),), ('as data',),
         {'layout': ('a string', 'any order of NCHW'), 'out_layout': ('a string',), 'output_size': ('a list of integers',)}),
    'nn.adaptive_avg_pool3d':
        ((('float bfloat int uint bool', '5'),), ('as data',),
         {'layout': ('a string', 'any order of NCDHW'), 'out_layout': ('a string',), 'output_size': ('a list of integers',)}),
    'nn.adaptive_max_pool1d':
        ((('float bfloat int uint bool', '3'),), ('as data',),
         {'layout': ('a string', 'any order of NCW'), 'out_layout': ('a string',), 'output_size': ('a list of integers',)}),
    'nn.adaptive_max_pool2d':
        ((('float bfloat int uint bool', '4'),), ('as data',),
         {'layout': ('a string', 'any order of NCHW'), 'out_layout': ('a string',), 'output_size': ('a list of integers',)}),
    'nn.adaptive_max_pool3d':
        ((('float bfloat int uint bool', '5'),), ('as data',),
         {'layout': ('a string', 'any order of NCDHW'), 'out_layout': ('a string',), 'output_size': ('a list of integers',)}),
    'nn.attention':
        ((('float bfloat', '4'), ('float bfloat', '4', 'q'), ('float bfloat', '4', 'q')), ('as q',),
         {'k_layout': ('a string', 'any order of BHSD'),
          'out_layout': ('a string', 'any order of BHSD'),
          'q_layout': ('a string', 'any order of BHSD'),
          'score': ('a string', 'tanh'),
          'v_layout': ('a string', 'any order of BHSD')}),
    'nn.avg_pool1d':
        ((('float bfloat int uint bool', '3'),), ('as data',),
         {'ceil_mode': ('True or False',),
          'count_include_pad': ('True or False',),
          'dilation': ('a list of integers',),
          'layout': ('a string', 'any order of NCW'),
          'out_layout': ('a string',),
          'padding': ('a list of integers',),
          'pool_size': ('a list of integers',),
          'strides': ('a list of integers',)}),
    'nn.avg_pool2d':
        ((('float bfloat int uint bool', '4'),), ('as data',),
         {'ceil_mode': ('True or False',),
          'count_include_pad': ('True or False',),
          'dilation': ('a list of integers',),
          'layout': ('a string', 'any order of NCHW'),
          'out_layout': ('a string',),
          'padding': ('a list of integers',),
          'pool_size': ('a list of integers',),
          'strides': ('a list of integers',)}),
    'nn.avg_pool2d_grad':
        ((('float bfloat int uint bool', '4'), ('float bfloat int uint bool', '4', 'out_grad')), ('as out_grad',),
         {'ceil_mode': ('True or False',),
          'count_include_pad': ('True or False',),
          'dilation': ('a list of integers',),
          'layout': ('a string', 'any order of NCHW'),
          'out_layout': ('a string',),
          'padding': ('a list of integers',),
          'pool_size': ('a list of integers',),
          'strides': ('a list of integers',)}),
    'nn.avg_pool3d':
        ((('float bfloat int uint bool', '5'),), ('as data',),
         {'ceil_mode': ('True or False',),
          'count_include_pad': ('True or False',),
          'dilation': ('a list of integers',),
          'layout': ('a string', 'any order of NCDHW'),
          'out_layout': ('a string',),
          'padding': ('a list of integers',),
          'pool_size': ('a list of integers',),
          'strides': ('a list of integers',)}),
    'nn.batch_flatten':
        ((('float bfloat int uint bool string', '1-6'),), ('as data',), {}),
    'nn.batch_matmul':
        ((('float bfloat int uint bool', '3'), ('float bfloat int uint bool', '3', 'tensor_a', ('int uint', 'int uint'))),
         ('as tensor_a | out_dtype',),
         {'out_dtype': ('the name of a dtype',), 'transpose_a': ('True or False',), 'transpose_b': ('True or False',)}),
    'nn.batch_norm':
        ((('float bfloat', '2-6'), ('float bfloat', '1', 'data'), ('float bfloat', '1', 'data'), ('float bfloat', '1', 'data'),
          ('float bfloat', '1', 'data')),
         ('as data', 'as data', 'as data'),
         {'axis': ('an integer',), 'center': ('True or False',), 'epsilon': ('a number',), 'scale': ('True or False',)}),
    'nn.batch_to_space_nd':
        ((('float bfloat int uint bool', '3-6'),), ('as data',),
         {'block_shape': ('a list of integers',), 'crops': ('a list of lists of integers',)}),
    'nn.bias_add':
        ((('float bfloat int uint bool', '1-6'), ('float bfloat int uint bool', '1', 'data')), ('as data',), {'axis': ('an integer',)}),
    'nn.bitpack':
        ((('int uint', '2-6'),), ('uint32 | pack_type',),
         {'bit_axis': ('an integer',),
          'bits': ('an integer',),
          'name': ('a string',),
          'pack_axis': ('an integer',),
          'pack_type': ('the name of a dtype',)}),
    'nn.bitserial_conv2d':
        ((('int uint', '4'), ('int uint', '4')), ('int16 | out_dtype',),
         {'activation_bits': ('an integer',),
          'channels': ('an integer',),
          'data_layout': ('a string', 'any order of NCHW'),
          'kernel_layout': ('a string', 'any order of OIHW'),
          'kernel_size': ('a list of integers',),
          'out_dtype': ('the name of a dtype',),
          'pack_dtype': ('the name of a dtype',),
          'padding': ('a list of integers',),
          'strides': ('a list of integers',),
          'unipolar': ('True or False',),
          'weight_bits': ('an integer',)}),
    'nn.bitserial_dense':
        ((('int uint', '1-6'), ('int uint', '2')), ('int16 | out_dtype',),
         {'data_bits': ('an integer',),
          'out_dtype': ('the name of a dtype',),
          'pack_dtype': ('the name of a dtype',),
          'unipolar': ('True or False',),
          'units': ('an integer',),
          'weight_bits': ('an integer',)}),
    'nn.contrib_conv2d_NCHWc':
        ((('float bfloat int uint bool', '5'),
          ('float bfloat int uint bool', '6', 'data', ('float32', 'float16 float32'), ('int uint', 'int uint'))),
         ('as data | out_dtype',),
         {'channels': ('an integer',),
          'data_layout': ('a string',),
          'dilation': ('a list of integers',),
          'groups': ('an integer',),
          'kernel_layout': ('a string',),
          'kernel_size': ('a list of integers',),
          'out_dtype': ('the name of a dtype',),
          'out_layout': ('a string',),
          'padding': ('a list of integers',),
          'strides': ('a list of integers',)}),
    'nn.contrib_conv2d_nchwc':
        ((('float bfloat int uint bool', '5'),
          ('float bfloat int uint bool', '6', 'data', ('float32', 'float16 float32'), ('int uint', 'int uint'))),
         ('as data',), {}),
    'nn.contrib_conv2d_ordered':
        ((('int uint', '4'), ('int8', '6'), ('int32', '2')), ('as data | out_dtype',),
         {'channels': ('an integer',),
          'data_layout': ('a string',),
          'dilation': ('a list of integers',),
          'groups': ('an integer',),
          'kernel_layout': ('a string',),
          'kernel_size': ('a list of integers',),
          'out_dtype': ('the name of a dtype',),
          'out_layout': ('a string',),
          'padding': ('a list of integers',),
          'strides': ('a list of integers',)}),
    'nn.contrib_conv2d_winograd':
        ((('float32', '4'), ('float32', '5')), ('float32',),
         {'channels': ('an integer',), 'padding': ('a list of integers',), 'tile_size': ('an integer',)}),
    'nn.contrib_dense_blocks':
        ((('float32', '1-6'), ('int8', '4'), ('float32', '3')), ('float32',),
         {'form': ('a string',), 'in_units': ('an integer',), 'out_dtype': ('the name of a dtype',), 'units': ('an integer',)}),
    'nn.contrib_dense_nbits':
        ((('float32', '1-6'), ('uint8', '3'), ('float32', '2')), ('float32',),
         {'bits': ('an integer',), 'in_units': ('an integer',), 'out_dtype': ('the name of a dtype',)}),
    'nn.contrib_dense_ordered':
        ((('uint8', '1-6'), ('int8', '4'), ('int32', '2')), ('int32',),
         {'in_units': ('an integer',), 'out_dtype': ('the name of a dtype',), 'units': ('an integer',), 'weight_layout': ('a string',)}),
    'nn.contrib_dense_pack':
        ((('float bfloat int uint bool', '1-6'),
          ('float bfloat int uint bool', '3', 'data', ('float32', 'float16 float32'), ('int uint', 'int uint'))),
         ('as data | out_dtype',),
         {'in_units': ('an integer',), 'out_dtype': ('the name of a dtype',), 'units': ('an integer',), 'weight_layout': ('a string',)}),
    'nn.contrib_depthwise_conv2d_NCHWc':
        ((('float bfloat int uint bool', '5'),
          ('float bfloat int uint bool', '6', 'data', ('float32', 'float16 float32'), ('int uint', 'int uint'))),
         ('as data | out_dtype',),
         {'channels': ('an integer',),
          'data_layout': ('a string',),
          'dilation': ('a list of integers',),
          'groups': ('an integer',),
          'kernel_layout': ('a string',),
          'kernel_size': ('a list of integers',),
          'out_dtype': ('the name of a dtype',),
          'out_layout': ('a string',),
          'padding': ('a list of integers',),
          'strides': ('a list of integers',)}),
    'nn.contrib_depthwise_conv2d_nchwc':
        ((('float bfloat int uint bool', '5'),
          ('float bfloat int uint bool', '6', 'data', ('float32', 'float16 float32'), ('int uint', 'int uint'))),
         ('as data',), {}),
    'nn.conv1d':
        ((('float bfloat int uint bool', '3'),
          ('float bfloat int uint bool', '3', 'data', ('float32', 'float16 float32'), ('int uint', 'int uint'))),
         ('as data | out_dtype',),
         {'channels': ('an integer',),
          'data_layout': ('a string', 'any order of NCW'),
          'dilation': ('a list of integers',),
          'groups': ('an integer',),
          'kernel_layout': ('a string', 'any order of OIW'),
          'kernel_size': ('a list of integers',),
          'out_dtype': ('the name of a dtype',),
          'out_layout': ('a string',),
          'padding': ('a list of integers',),
          'strides': ('a list of integers',)}),
    'nn.conv1d_transpose':
        ((('float bfloat int uint bool', '3'), ('float bfloat int uint bool', '3', 'data', ('int uint', 'int uint'))), ('as data | out_dtype',),
         {'channels': ('an integer',),
          'data_layout': ('a string', 'any order of NCW'),
          'dilation': ('a list of integers',),
          'groups': ('an integer',),
          'kernel_layout': ('a string', 'any order of IOW'),
          'kernel_size': ('a list of integers',),
          'out_dtype': ('the name of a dtype',),
          'out_layout': ('a string',),
          'output_padding': ('a list of integers',),
          'padding': ('a list of integers',),
          'strides': ('a list of integers',)}),
    'nn.conv2d':
        ((('float bfloat int uint bool', '4'),
          ('float bfloat int uint bool', '4', 'data', ('float32', 'float16 float32'), ('int uint', 'int uint'))),
         ('as data | out_dtype',),
         {'channels': ('an integer',),
          'data_layout': ('a string', 'any order of NCHW'),
          'dilation': ('a list of integers',),
          'groups': ('an integer',),
          'kernel_layout': ('a string', 'any order of OIHW'),
          'kernel_size': ('a list of integers',),
          'out_dtype': ('the name of a dtype',),
          'out_layout': ('a string',),
          'padding': ('a list of integers',),
          'strides': ('a list of integers',)}),
    'nn.conv2d_backward_weight':
        ((('float bfloat int uint bool', '4'), ('float bfloat int uint bool', '4', 'grad')), ('as grad | out_dtype',),
         {'channels': ('an integer',),
          'data_layout': ('a string', 'any order of NCHW'),
          'dilation': ('a list of integers',),
          'groups': ('an integer',),
          'kernel_layout': ('a string',),
          'kernel_size': ('a list of integers',),
          'out_dtype': ('the name of a dtype',),
          'out_layout': ('a string',),
          'padding': ('a list of integers',),
          'strides': ('a list of integers',)}),
    'nn.conv2d_transpose':
        ((('float bfloat int uint bool', '4'), ('float bfloat int uint bool', '4', 'data', ('int uint', 'int uint'))), ('as data | out_dtype',),
         {'channels': ('an integer',),
          'data_layout': ('a string', 'any order of NCHW'),
          'dilation': ('a list of integers',),
          'groups': ('an integer',),
          'kernel_layout': ('a string', 'any order of IOHW'),
          'kernel_size': ('a list of integers',),
          'out_dtype': ('the name of a dtype',),
          'out_layout': ('a string',),
          'output_padding': ('a list of integers',),
          'padding': ('a list of integers',),
          'strides': ('a list of integers',)}),
    'nn.conv3d':
        ((('float bfloat int uint bool', '5'),
          ('float bfloat int uint bool', '5', 'data', ('float32', 'float16 float32'), ('int uint', 'int uint'))),
         ('as data | out_dtype',),
         {'channels': ('an integer',),
          'data_layout': ('a string', 'any order of NCDHW'),
          'dilation': ('a list of integers',),
          'groups': ('an integer',),
          'kernel_layout': ('a string', 'any order of OIDHW'),
          'kernel_size': ('a list of integers',),
          'out_dtype': ('the name of a dtype',),
          'out_layout': ('a string',),
          'padding': ('a list of integers',),
          'strides': ('a list of integers',)}),
    'nn.conv3d_transpose':
        ((('float bfloat int uint bool', '5'), ('float bfloat int uint bool', '5', 'data', ('int uint', 'int uint'))), ('as data | out_dtype',),
         {'channels': ('an integer',),
          'data_layout': ('a string', 'any order of NCDHW'),
          'dilation': ('a list of integers',),
          'groups': ('an integer',),
          'kernel_layout': ('a string', 'any order of IODHW'),
          'kernel_size': ('a list of integers',),
          'out_dtype': ('the name of a dtype',),
          'out_layout': ('a string',),
          'output_padding': ('a list of integers',),
          'padding': ('a list of integers',),
          'strides': ('a list of integers',)}),
    'nn.correlation':
        ((('float bfloat', '4'), ('float bfloat', '4', 'data1')), ('as data1',),
         {'is_multiply': ('True or False',),
          'kernel_size': ('an integer',),
          'layout': ('a string', 'NCHW'),
          'max_displacement': ('an integer',),
          'padding': ('a list of integers',),
          'stride1': ('an integer',),
          'stride2': ('an integer',)}),
    'nn.cross_entropy':
        ((('float bfloat', '2'), ('float bfloat', '2', 'predictions')), ('as predictions',), {}),
    'nn.cross_entropy_with_logits':
        ((('float bfloat', '2'), ('float bfloat', '2', 'predictions')), ('as predictions',), {}),
    'nn.deformable_conv2d':
        ((('float bfloat', '4'), ('float bfloat', '4', 'data'), ('float bfloat', '4', 'data')), ('as data | out_dtype',),
         {'channels': ('an integer',),
          'data_layout': ('a string', 'any order of NCHW'),
          'deformable_groups': ('an integer',),
          'dilation': ('a list of integers',),
          'groups': ('an integer',),
          'kernel_layout': ('a string', 'any order of OIHW'),
          'kernel_size': ('a list of integers',),
          'out_dtype': ('the name of a dtype',),
          'out_layout': ('a string',),
          'padding': ('a list of integers',),
          'strides': ('a list of integers',)}),
    'nn.dense':
        ((('float bfloat int uint bool', '1-6'), ('float bfloat int uint bool', '2', 'data', ('int uint', 'int uint'))), ('as data | out_dtype',),
         {'out_dtype': ('the name of a dtype',), 'units': ('an integer',)}),
    'nn.depth_to_space':
        ((('float bfloat int uint bool string', '4'),), ('as data',),
         {'block_size': ('an integer',), 'layout': ('a string', 'NCHW', 'NHWC'), 'mode': ('a string',)}),
    'nn.dilate':
        ((('float bfloat int uint bool', '0-6'),), ('as data',), {'dilation_value': ('a number',), 'strides': ('a list of integers',)}),
    'nn.dropout':
        ((('float bfloat int uint bool', '0-6'),), ('as data', 'as data'), {'rate': ('a number',)}),
    'nn.dropout_raw':
        ((('float bfloat int uint bool', '0-6'),), ('as data', 'as data'), {}),
    'nn.fast_softmax':
        ((('float bfloat', '1-6'),), ('as data',), {'axis': ('an integer',)}),
    'nn.fifo_buffer':
        ((('float bfloat int uint bool', '1-6'), ('float bfloat int uint bool', '1-6', 'data')), ('as data',), {'axis': ('an integer',)}),
    'nn.global_avg_pool1d':
        ((('float bfloat int uint bool', '3'),), ('as data',), {}),
    'nn.global_avg_pool2d':
        ((('float bfloat int uint bool', '4'),), ('as data',), {'layout': ('a string', 'any order of NCHW'), 'out_layout': ('a string',)}),
    'nn.global_avg_pool3d':
        ((('float bfloat int uint bool', '5'),), ('as data',), {}),
    'nn.global_max_pool1d':
        ((('float bfloat int uint bool', '3'),), ('as data',), {}),
    'nn.global_max_pool2d':
        ((('float bfloat int uint bool', '4'),), ('as data',), {'layout': ('a string', 'any order of NCHW'), 'out_layout': ('a string',)}),
    'nn.global_max_pool3d':
        ((('float bfloat int uint bool', '5'),), ('as data',), {}),
    'nn.group_norm':
        ((('float bfloat', '2-6'), ('float bfloat', '1', 'data'), ('float bfloat', '1', 'data')), ('as data',),
         {'axis': ('an integer',),
          'center': ('True or False',),
          'epsilon': ('a number',),
          'num_groups': ('an integer',),
          'scale': ('True or False',)}),
    'nn.instance_norm':
        ((('float bfloat', '2-6'), ('float bfloat', '1', 'data'), ('float bfloat', '1', 'data')), ('as data',),
         {'axis': ('an integer',), 'center': ('True or False',), 'epsilon': ('a number',), 'scale': ('True or False',)}),
    'nn.l2_normalize':
        ((('float bfloat', '1-6'),), ('as data',), {'axis': ('a list of integers',), 'eps': ('a number',)}),
    'nn.layer_norm':
        ((('float bfloat', '1-6'), ('float bfloat', '1', 'data'), ('float bfloat', '1', 'data')), ('as data',),
         {'axis': ('an integer',), 'center': ('True or False',), 'epsilon': ('a number',), 'scale': ('True or False',)}),
    'nn.leaky_relu':
        ((('float bfloat int uint bool', '0-6'),), ('as data',), {'alpha': ('a number',)}),
    'nn.log_softmax':
        ((('float bfloat', '1-6'),), ('as data',), {'axis': ('an integer',)}),
    'nn.lrn':
        ((('float bfloat', '2-6'),), ('as data',),
         {'alpha': ('a number',), 'axis': ('an integer',), 'beta': ('a number',), 'bias': ('a number',), 'size': ('an integer',)}),
    'nn.matmul':
        ((('float bfloat int uint bool', '1-6'), ('float bfloat int uint bool', '2', 'tensor_a', ('int uint', 'int uint'))),
         ('as tensor_a | out_dtype',),
         {'out_dtype': ('the name of a dtype',), 'transpose_a': ('True or False',), 'transpose_b': ('True or False',), 'units': ('an integer',)}),
    'nn.max_pool1d':
        ((('float bfloat int uint bool', '3'),), ('as data',),
         {'ceil_mode': ('True or False',),
          'dilation': ('a list of integers',),
          'layout': ('a string', 'any order of NCW'),
          'out_layout': ('a string',),
          'padding': ('a list of integers',),
          'pool_size': ('a list of integers',),
          'strides': ('a list of integers',)}),
    'nn.max_pool2d':
        ((('float bfloat int uint bool', '4'),), ('as data',),
         {'ceil_mode': ('True or False',),
          'dilation': ('a list of integers',),
          'layout': ('a string', 'any order of NCHW'),
          'out_layout': ('a string',),
          'padding': ('a list of integers',),
          'pool_size': ('a list of integers',),
          'strides': ('a list of integers',)}),
    'nn.max_pool2d_grad':
        ((('float bfloat int uint bool', '4'), ('float bfloat int uint bool', '4', 'out_grad')), ('as out_grad',),
         {'ceil_mode': ('True or False',),
          'dilation': ('a list of integers',),
          'layout': ('a string', 'any order of NCHW'),
          'out_layout': ('a string',),
          'padding': ('a list of integers',),
          'pool_size': ('a list of integers',),
          'strides': ('a list of integers',)}),
    'nn.max_pool3d':
        ((('float bfloat int uint bool', '5'),), ('as data',),
         {'ceil_mode': ('True or False',),
          'dilation': ('a list of integers',),
          'layout': ('a string', 'any order of NCDHW'),
          'out_layout': ('a string',),
          'padding': ('a list of integers',),
          'pool_size': ('a list of integers',),
          'strides': ('a list of integers',)}),
    'nn.mirror_pad':
        ((('float bfloat int uint bool string', '0-6'),), ('as data',), {'mode': ('a string',), 'pad_width': ('a list of lists of integers',)}),
    'nn.nll_loss':
        ((('float bfloat', '2'), ('int uint', '1'), ('float bfloat', '1', 'predictions')), ('as predictions',),
         {'ignore_index': ('an integer',), 'reduction': ('a string', 'mean', 'none', 'sum')}),
    'nn.pad':
        ((('float bfloat int uint bool string', '0-6'), ('float bfloat int uint bool string', '0-6')), ('as data',),
         {'pad_mode': ('a string', 'constant', 'edge', 'reflect'), 'pad_width': ('a list of lists of integers',)}),
    'nn.prelu':
        ((('float bfloat int uint bool', '1-6'), ('float bfloat int uint bool', '1', 'data')), ('as data',), {'axis': ('an integer',)}),
    'nn.relu':
        ((('float bfloat int uint bool', '0-6'),), ('as data',), {}),
    'nn.softmax':
        ((('float bfloat', '1-6'),), ('as data',), {'axis': ('an integer',)}),
    'nn.space_to_batch_nd':
        ((('float bfloat int uint bool', '3-6'),), ('as data',),
         {'block_shape': ('a list of integers',), 'pad_value': ('a number',), 'paddings': ('a list of lists of integers',)}),
    'nn.space_to_depth':
        ((('float bfloat int uint bool string', '4'),), ('as data',),
         {'block_size': ('an integer',), 'layout': ('a string', 'NCHW', 'NHWC'), 'mode': ('a string',)}),
    'nn.sparse_add':
        ((('float bfloat int uint bool', '2'), ('float bfloat int uint bool', '1 3', 'dense_mat'), ('int uint', '1'), ('int uint', '1')),
         ('as dense_mat',), {}),
    'nn.sparse_conv2d':
        ((('float bfloat int uint bool', '4'), ('float bfloat int uint bool', '1 3', 'data'), ('int uint', '1'), ('int uint', '1')), ('as data',),
         {'kernel_size': ('a list of integers',), 'layout': ('a string', 'NCHW', 'NHWC')}),
    'nn.sparse_dense':
        ((('float bfloat int uint bool', '2'), ('float bfloat int uint bool', '1 3', 'dense_mat'), ('int uint', '1'), ('int uint', '1')),
         ('as dense_mat',), {'sparse_lhs': ('True or False',)}),
    'nn.sparse_transpose':
        ((('float bfloat int uint bool', '1'), ('int uint', '1'), ('int uint', '1')), ('as data', 'as indices', 'as indptr'), {}),
    'nn.upsampling':
        ((('float bfloat int uint bool', '4'),), ('as data',),
         {'align_corners': ('True or False',),
          'layout': ('a string', 'any order of NCHW'),
          'method': ('a string', 'bicubic', 'bilinear', 'cubic', 'linear', 'nearest_neighbor'),
          'scale_h': ('a number',),
          'scale_w': ('a number',)}),
    'nn.upsampling3d':
        ((('float bfloat int uint bool', '5'),), ('as data',),
         {'coordinate_transformation_mode': ('a string', 'align_corners', 'asymmetric', 'half_pixel', 'pytorch_half_pixel', 'tf_crop_and_resize',
                                             'tf_half_pixel_for_nn'),
          'layout': ('a string', 'any order of NCDHW'),
          'method': ('a string', 'cubic', 'linear', 'nearest_neighbor'),
          'scale_d': ('a number',),
          'scale_h': ('a number',),
          'scale_w': ('a number',)}),
    'not_equal':
        ((('float bfloat int uint bool string', '0-6'), ('float bfloat int uint bool string', '0-6', 'lhs')), ('bool',), {}),
    'on_device':
        ((('float bfloat int uint bool string', '0-6'),), ('as data',),
         {'constrain_body': ('True or False',), 'constrain_result': ('True or False',), 'virtual_device': ('any value',)}),
    'one_hot':
        ((('int uint', '0-6'), ('float bfloat int uint bool string', '0'), ('float bfloat int uint bool string', '0')), ('float32 | dtype',),
         {'axis': ('an integer',), 'depth': ('an integer',), 'dtype': ('the name of a dtype',)}),
    'ones':
        ((), ('float32 | dtype',), {'dtype': ('the name of a dtype',), 'shape': ('a list of integers or ?',)}),
    'ones_like':
        ((('float bfloat int uint bool', '0-6'),), ('as data',), {}),
    'power':
        ((('float bfloat', '0-6'), ('float bfloat', '0-6', 'lhs')), ('as lhs',), {}),
    'prod':
        ((('float bfloat int uint bool', '1-6'),), ('as data',),
         {'axis': ('a list of integers',), 'exclude': ('True or False',), 'keepdims': ('True or False',)}),
    'qnn.abs':
        ((('int8 int16 int32 uint8 uint16', '0-6'), ('float bfloat int uint bool', '0-6'), ('float bfloat int uint bool', '0-6'),
          ('float bfloat int uint bool', '0-6'), ('float bfloat int uint bool', '0-6')),
         ('as x',), {}),
    'qnn.add':
        ((('int8 int16 int32 uint8 uint16', '0-6'), ('int8 int16 int32 uint8 uint16', '0-6', 'lhs'), ('float bfloat int uint bool', '0-6'),
          ('float bfloat int uint bool', '0-6'), ('float bfloat int uint bool', '0-6'), ('float bfloat int uint bool', '0-6'),
          ('float bfloat int uint bool', '0-6'), ('float bfloat int uint bool', '0-6')),
         ('as lhs',), {'lhs_axis': ('an integer',), 'rhs_axis': ('an integer',)}),
    'qnn.avg_pool2d':
        ((('int uint', '4'), ('float bfloat int uint bool', '0-6'), ('float bfloat int uint bool', '0-6'), ('float bfloat int uint bool', '0-6'),
          ('float bfloat int uint bool', '0-6')),
         ('as data',),
         {'ceil_mode': ('True or False',),
          'count_include_pad': ('True or False',),
          'dilation': ('a list of integers',),
          'layout': ('a string', 'any order of NCHW'),
          'out_layout': ('a string',),
          'padding': ('a list of integers',),
          'pool_size': ('a list of integers',),
          'strides': ('a list of integers',)}),
    'qnn.batch_matmul':
        ((('int uint', '3'), ('int uint', '3'), ('float bfloat int uint bool', '0-6'), ('float bfloat int uint bool', '0-6'),
          ('float bfloat int uint bool', '0-6'), ('float bfloat int uint bool', '0-6')),
         ('int32 | out_dtype',), {'out_dtype': ('the name of a dtype',), 'transpose_a': ('True or False',), 'transpose_b': ('True or False',)}),
    'qnn.concatenate':
        ((('int8 int16 int32 uint8 uint16', '1-6'), ('float bfloat int uint bool', '0-6'), ('float bfloat int uint bool', '0-6'),
          ('float bfloat int uint bool', '0-6'), ('float bfloat int uint bool', '0-6')),
         ('as data',), {'axis': ('an integer',)}),
    'qnn.conv1d':
        ((('int uint', '3'), ('int uint', '3'), ('float bfloat int uint bool', '0-6'), ('float bfloat int uint bool', '0-6'),
          ('float bfloat int uint bool', '0-6'), ('float bfloat int uint bool', '0-6')),
         ('int32 | out_dtype',),
         {'channels': ('an integer',),
          'data_layout': ('a string', 'any order of NCW'),
          'dilation': ('a list of integers',),
          'groups': ('an integer',),
          'kernel_layout': ('a string', 'any order of OIW'),
          'kernel_size': ('a list of integers',),
          'out_dtype': ('the name of a dtype',),
          'out_layout': ('a string',),
          'padding': ('a list of integers',),
          'strides': ('a list of integers',)}),
    'qnn.conv2d':
        ((('int uint', '4'), ('int uint', '4'), ('float bfloat int uint bool', '0-6'), ('float bfloat int uint bool', '0-6'),
          ('float bfloat int uint bool', '0-6'), ('float bfloat int uint bool', '0-6')),
         ('int32 | out_dtype',),
         {'channels': ('an integer',),
          'data_layout': ('a string', 'any order of NCHW'),
          'dilation': ('a list of integers',),
          'groups': ('an integer',),
          'kernel_layout': ('a string', 'any order of OIHW'),
          'kernel_size': ('a list of integers',),
          'out_dtype': ('the name of a dtype',),
          'out_layout': ('a string',),
          'padding': ('a list of integers',),
          'strides': ('a list of integers',)}),
    'qnn.conv2d_transpose':
        ((('int uint', '4'), ('int uint', '4'), ('float bfloat int uint bool', '0-6'), ('float bfloat int uint bool', '0-6'),
          ('float bfloat int uint bool', '0-6'), ('float bfloat int uint bool', '0-6')),
         ('int32 | out_dtype',),
         {'channels': ('an integer',),
          'data_layout': ('a string', 'any order of NCHW'),
          'dilation': ('a list of integers',),
          'groups': ('an integer',),
          'kernel_layout': ('a string', 'any order of IOHW'),
          'kernel_size': ('a list of integers',),
          'out_dtype': ('the name of a dtype',),
          'out_layout': ('a string',),
          'output_padding': ('a list of integers',),
          'padding': ('a list of integers',),
          'strides': ('a list of integers',)}),
    'qnn.conv3d':
        ((('int uint', '5'), ('int uint', '5'), ('float bfloat int uint bool', '0-6'), ('float bfloat int uint bool', '0-6'),
          ('float bfloat int uint bool', '0-6'), ('float bfloat int uint bool', '0-6')),
         ('int32 | out_dtype',),
         {'channels': ('an integer',),
          'data_layout': ('a string', 'any order of NCDHW'),
          'dilation': ('a list of integers',),
          'groups': ('an integer',),
          'kernel_layout': ('a string', 'any order of OIDHW'),
          'kernel_size': ('a list of integers',),
          'out_dtype': ('the name of a dtype',),
          'out_layout': ('a string',),
          'padding': ('a list of integers',),
          'strides': ('a list of integers',)}),
    'qnn.dense':
        ((('int uint', '1-6'), ('int uint', '2'), ('float bfloat int uint bool', '0-6'), ('float bfloat int uint bool', '0-6'),
          ('float bfloat int uint bool', '0-6'), ('float bfloat int uint bool', '0-6')),
         ('int32 | out_dtype',), {'out_dtype': ('the name of a dtype',), 'units': ('an integer',)}),
    'qnn.dequantize':
        ((('int8 int16 int32 uint8 uint16', '0-6'), ('float bfloat int uint bool', '0-6'), ('float bfloat int uint bool', '0-6')),
         ('float32 | out_dtype',), {'axis': ('an integer',), 'out_dtype': ('the name of a dtype',)}),
    'qnn.erf':
        ((('int8 int16 int32 uint8 uint16', '0-6'), ('float bfloat int uint bool', '0-6'), ('float bfloat int uint bool', '0-6'),
          ('float bfloat int uint bool', '0-6'), ('float bfloat int uint bool', '0-6')),
         ('as x',), {}),
    'qnn.exp':
        ((('int8 int16 int32 uint8 uint16', '0-6'), ('float bfloat int uint bool', '0-6'), ('float bfloat int uint bool', '0-6'),
          ('float bfloat int uint bool', '0-6'), ('float bfloat int uint bool', '0-6')),
         ('as x',), {}),
    'qnn.hardswish':
        ((('int8 int16 int32 uint8 uint16', '0-6'), ('float bfloat int uint bool', '0-6'), ('float bfloat int uint bool', '0-6'),
          ('float bfloat int uint bool', '0-6'), ('float bfloat int uint bool', '0-6')),
         ('as x',), {}),
    'qnn.leaky_relu':
        ((('int8 int16 int32 uint8 uint16', '0-6'), ('float bfloat int uint bool', '0-6'), ('float bfloat int uint bool', '0-6'),
          ('float bfloat int uint bool', '0-6'), ('float bfloat int uint bool', '0-6')),
         ('as x',), {'alpha': ('a number',)}),
    'qnn.log':
        ((('int8 int16 int32 uint8 uint16', '0-6'), ('float bfloat int uint bool', '0-6'), ('float bfloat int uint bool', '0-6'),
          ('float bfloat int uint bool', '0-6'), ('float bfloat int uint bool', '0-6')),
         ('as x',), {}),
    'qnn.mul':
        ((('int8 int16 int32 uint8 uint16', '0-6'), ('int8 int16 int32 uint8 uint16', '0-6', 'lhs'), ('float bfloat int uint bool', '0-6'),
          ('float bfloat int uint bool', '0-6'), ('float bfloat int uint bool', '0-6'), ('float bfloat int uint bool', '0-6'),
          ('float bfloat int uint bool', '0-6'), ('float bfloat int uint bool', '0-6')),
         ('as lhs',), {'lhs_axis': ('an integer',), 'rhs_axis': ('an integer',)}),
    'qnn.quantize':
        ((('float bfloat', '0-6'), ('float bfloat int uint bool', '0-6'), ('float bfloat int uint bool', '0-6')), ('out_dtype',),
         {'axis': ('an integer',), 'out_dtype': ('the name of a dtype',)}),
    'qnn.requantize':
        ((('int8 int16 int32 uint8 uint16', '0-6'), ('float bfloat int uint bool', '0-6'), ('float bfloat int uint bool', '0-6'),
          ('float bfloat int uint bool', '0-6'), ('float bfloat int uint bool', '0-6')),
         ('int8 | out_dtype',),
         {'axis': ('an integer',),
          'compute_dtype': ('a string', 'None'),
          'out_dtype': ('the name of a dtype',),
          'rounding': ('a string', 'None', 'TONEAREST', 'UPWARD')}),
    'qnn.rsqrt':
        ((('int8 int16 int32 uint8 uint16', '0-6'), ('float bfloat int uint bool', '0-6'), ('float bfloat int uint bool', '0-6'),
          ('float bfloat int uint bool', '0-6'), ('float bfloat int uint bool', '0-6')),
         ('as x',), {}),
    'qnn.sigmoid':
        ((('int8 int16 int32 uint8 uint16', '0-6'), ('float bfloat int uint bool', '0-6'), ('float bfloat int uint bool', '0-6'),
          ('float bfloat int uint bool', '0-6'), ('float bfloat int uint bool', '0-6')),
         ('as x',), {}),
    'qnn.simulated_dequantize':
        ((('float bfloat', '0-6'), ('float bfloat int uint', '0'), ('float bfloat int uint bool', '0-6'), ('float bfloat int uint bool', '0-6')),
         ('as data',), {'axis': ('an integer',), 'out_dtype': ('any value',)}),
    'qnn.simulated_quantize':
        ((('float bfloat', '0-6'), ('float bfloat int uint', '0'), ('float bfloat int uint bool', '0-6'), ('float bfloat int uint bool', '0-6')),
         ('as data',), {'axis': ('an integer',)}),
    'qnn.softmax':
        ((('int uint', '1-6'), ('float bfloat int uint bool', '0-6'), ('float bfloat int uint bool', '0-6'), ('float bfloat int uint bool', '0-6'),
          ('float bfloat int uint bool', '0-6')),
         ('as x',), {'axis': ('an integer',)}),
    'qnn.sqrt':
        ((('int8 int16 int32 uint8 uint16', '0-6'), ('float bfloat int uint bool', '0-6'), ('float bfloat int uint bool', '0-6'),
          ('float bfloat int uint bool', '0-6'), ('float bfloat int uint bool', '0-6')),
         ('as x',), {}),
    'qnn.subtract':
        ((('int8 int16 int32 uint8 uint16', '0-6'), ('int8 int16 int32 uint8 uint16', '0-6', 'lhs'), ('float bfloat int uint bool', '0-6'),
          ('float bfloat int uint bool', '0-6'), ('float bfloat int uint bool', '0-6'), ('float bfloat int uint bool', '0-6'),
          ('float bfloat int uint bool', '0-6'), ('float bfloat int uint bool', '0-6')),
         ('as lhs',), {'lhs_axis': ('an integer',), 'rhs_axis': ('an integer',)}),
    'qnn.tanh':
        ((('int8 int16 int32 uint8 uint16', '0-6'), ('float bfloat int uint bool', '0-6'), ('float bfloat int uint bool', '0-6'),
          ('float bfloat int uint bool', '0-6'), ('float bfloat int uint bool', '0-6')),
         ('as x',), {}),
    'random.multinomial':
        ((('uint64', '1'), ('float bfloat', '1-6')), ('uint64', 'int32'), {'num_samples': ('an integer',)}),
    'random.normal':
        ((('uint64', '1'), ('float bfloat int uint bool', '0-6'), ('float bfloat int uint bool', '0-6')), ('uint64', 'float32 | out_dtype'),
         {'out_dtype': ('the name of a dtype',), 'out_shape': ('a list of integers or ?',)}),
    'random.threefry_generate':
        ((('uint64', '1'),), ('uint64', 'uint64'), {'out_shape': ('a list of integers or ?',)}),
    'random.threefry_split':
        ((('uint64', '1'),), ('uint64', 'uint64'), {}),
    'random.uniform':
        ((('uint64', '1'), ('float bfloat int uint bool', '0-6'), ('float bfloat int uint bool', '0-6')), ('uint64', 'float32 | out_dtype'),
         {'out_dtype': ('the name of a dtype',), 'out_shape': ('a list of integers or ?',)}),
    'range_checked':
        ((('int uint', '0-6'), ('int64', '0 1'), ('int64', '0 1')), ('as values',), {}),
    'reinterpret':
        ((('float bfloat int uint bool', '0-6'),), ('dtype',), {'dtype': ('the name of a dtype',)}),
    'relay.op.annotation.simulated_quantize':
        ((('float bfloat', '0-6'), ('float bfloat', '0', 'data'), ('float bfloat', '0', 'data'), ('float bfloat', '0', 'data')), ('as data',),
         {'kind': ('an integer',), 'rounding': ('a string', 'round'), 'sign': ('True or False',)}),
    'repeat':
        ((('float bfloat int uint bool string', '1-6'),), ('as data',), {'axis': ('an integer',), 'repeats': ('an integer',)}),
    'reshape':
        ((('float bfloat int uint bool string', '0-6'),), ('as data',), {'allowzero': ('True or False',), 'newshape': ('a list of integers or ?',)}),
    'reshape_like':
        ((('float bfloat int uint bool string', '0-6'), ('float bfloat int uint bool string', '0-6')), ('as data',),
         {'lhs_begin': ('an integer',), 'lhs_end': ('an integer',), 'rhs_begin': ('an integer',), 'rhs_end': ('an integer',)}),
    'reverse':
        ((('float bfloat int uint bool string', '1-6'),), ('as data',), {'axis': ('an integer',)}),
    'reverse_reshape':
        ((('float bfloat int uint bool', '0-6'),), ('as data',), {}),
    'reverse_sequence':
        ((('float bfloat int uint bool string', '2-6'), ('int uint', '1')), ('as data',),
         {'batch_axis': ('an integer',), 'seq_axis': ('an integer',)}),
    'right_shift':
        ((('int uint', '0-6'), ('int uint', '0-6', 'lhs')), ('as lhs',), {}),
    'round':
        ((('float bfloat int uint', '0-6'),), ('as data',), {}),
    'round_even':
        ((('float bfloat int uint', '0-6'),), ('as data',), {}),
    'rsqrt':
        ((('float bfloat', '0-6'),), ('as data',), {}),
    'scatter_elements':
        ((('float bfloat int uint bool string', '1-6'), ('int uint', '1-6'), ('float bfloat int uint bool string', '1-6', 'data')), ('as data',),
         {'axis': ('an integer',), 'reduction': ('a string', 'add', 'max', 'mean', 'min', 'mul', 'update')}),
    'scatter_nd':
        ((('float bfloat int uint bool string', '1 2'), ('int uint', '1 2'), ('float bfloat int uint bool string', '1-6', 'data')), ('as data',),
         {'mode': ('a string', 'add', 'max', 'mean', 'min', 'mul', 'update'), 'tuples_last': ('True or False',)}),
    'searchsorted':
        ((('float bfloat int uint bool', '1-6'), ('float bfloat int uint bool', '0-6', 'sorted_sequence')), ('int32 | dtype',),
         {'dtype': ('the name of a dtype',), 'right': ('True or False',)}),
    'segment_sum':
        ((('float bfloat int uint bool', '1-6'), ('int uint', '1-6')), ('as data',), {}),
    'sequence_mask':
        ((('float bfloat int uint bool', '2-6'), ('float bfloat int uint', '1')), ('as data',),
         {'axis': ('an integer',), 'mask_value': ('a number',)}),
    'shape_of':
        ((('float bfloat int uint bool string', '0-6'),), ('int32 | dtype',), {'dtype': ('the name of a dtype',)}),
    'sigmoid':
        ((('float bfloat', '0-6'),), ('as data',), {}),
    'sign':
        ((('float bfloat int uint', '0-6'),), ('as data',), {}),
    'sin':
        ((('float bfloat', '0-6'),), ('as data',), {}),
    'sinh':
        ((('float bfloat', '0-6'),), ('as data',), {}),
    'slice_like':
        ((('float bfloat int uint bool string', '0-6'), ('float bfloat int uint bool string', '0-6')), ('as data',),
         {'axes': ('a list of integers',)}),
    'sliding_window':
        ((('float bfloat int uint bool string', '1-3'),), ('as data',),
         {'axis': ('an integer',), 'strides': ('a list of integers',), 'window_shape': ('a list of integers',)}),
    'sort':
        ((('float bfloat int uint bool', '1-6'),), ('as data',),
         {'axis': ('an integer',), 'dtype': ('the name of a dtype',), 'is_ascend': ('True or False',)}),
    'sparse_fill_empty_rows':
        ((('int uint', '2'), ('float bfloat int uint bool', '1'), ('float32 float64 int uint bool', '1'),
          ('float bfloat int uint bool', '0 1', 'sparse_values')),
         ('as sparse_indices', 'as sparse_values', 'bool'), {}),
    'sparse_reshape':
        ((('int uint', '2'), ('float bfloat int uint bool', '1'), ('int uint', '1')), ('as sparse_indices', 'as new_shape'), {}),
    'sparse_to_dense':
        ((('int uint', '1 2'), ('float bfloat int uint bool', '0 1'), ('float bfloat int uint bool', '0')), ('as sparse_values',),
         {'output_shape': ('a list of integers or ?',)}),
    'split':
        ((('float bfloat int uint bool string', '1-6'),), ('as data', 'as data'),
         {'axis': ('an integer',), 'indices_or_sections': ('an integer or a list of integers',)}),
    'sqrt':
        ((('float bfloat', '0-6'),), ('as data',), {}),
    'squeeze':
        ((('float bfloat int uint bool string', '1-6'),), ('as data',), {'axis': ('a list of integers',)}),
    'stack':
        ((('float bfloat int uint bool string', '0-6'),), ('as data',), {'axis': ('an integer',)}),
    'std':
        ((('float bfloat', '1-6'),), ('as data',), {}),
    'stft':
        ((('float bfloat', '1 2'), ('float bfloat int uint bool', '1')), ('as data',),
         {'hop_length': ('an integer',),
          'n_fft': ('an integer',),
          'normalized': ('True or False',),
          'onesided': ('True or False',),
          'win_length': ('an integer',)}),
    'strided_set':
        ((('float bfloat int uint bool string', '1-6'), ('float bfloat int uint bool string', '1-6', 'data'), ('int uint', '1'), ('int uint', '1'),
          ('int uint', '1')),
         ('as data',), {}),
    'strided_slice':
        ((('float bfloat int uint bool string', '0-6'),), ('as data',),
         {'axes': ('a list of integers',),
          'begin': ('a list of integers',),
          'end': ('a list of integers',),
          'slice_mode': ('a string', 'end', 'size'),
          'strides': ('a list of integers',)}),
    'string.concat':
        ((('string', '0-6'), ('string', '0-6')), ('string',), {}),
    'string.count_tokens':
        ((('string', '0-6'), ('int64', '2'), ('int64', '1')), ('int64',), {'are_matches': ('True or False',), 'least': ('an integer',)}),
    'string.from_number':
        ((('float bfloat int uint bool', '0-6'),), ('string',), {}),
    'string.full_match':
        ((('string', '0-6'), ('int64', '2')), ('bool',), {}),
    'string.id':
        ((('string', '0-6'),), ('int64',), {}),
    'string.normalize':
        ((('string', '1'), ('string', '1')), ('string',),
         {'ascii': ('True or False',), 'case_sensitive': ('True or False',), 'change_case': ('an integer',)}),
    'string.rank':
        ((('string', '1'),), ('int64',), {}),
    'string.split':
        ((('string', '0-6'), ('string', '1'), ('int64', '1')), ('string',), {'maxsplit': ('an integer',)}),
    'string.split_count':
        ((('string', '0-6'), ('string', '1')), ('int64',), {'maxsplit': ('an integer',)}),
    'string.to_number':
        ((('string', '0-6'),), ('dtype',), {'dtype': ('the name of a dtype',)}),
    'string.tokens':
        ((('string', '0-6'), ('int64', '2'), ('int64', '1'), ('string', '1'), ('int64', '1')), ('string',),
         {'are_matches': ('True or False',), 'least': ('an integer',), 'mark': ('True or False',)}),
    'subtract':
        ((('float bfloat int uint', '0-6'), ('float bfloat int uint', '0-6', 'lhs')), ('as lhs',), {}),
    'sum':
        ((('float bfloat int uint bool', '1-6'),), ('as data',),
         {'axis': ('a list of integers',), 'exclude': ('True or False',), 'keepdims': ('True or False',)}),
    'take':
        ((('float bfloat int uint bool string', '1-6'), ('int uint', '0-6')), ('as data',),
         {'axis': ('an integer',), 'batch_dims': ('an integer',), 'mode': ('a string',)}),
    'tan':
        ((('float bfloat', '0-6'),), ('as data',), {}),
    'tanh':
        ((('float bfloat', '0-6'),), ('as data',), {}),
    'tile':
        ((('float bfloat int uint bool string', '0-6'),), ('as data',), {'reps': ('a list of integers',)}),
    'topk':
        ((('float bfloat int uint bool', '1-6'),), ('as data', 'int32 | dtype'),
         {'axis': ('an integer',),
          'dtype': ('the name of a dtype',),
          'is_ascend': ('True or False',),
          'k': ('a list of integers or ?',),
          'ret_type': ('a string', 'both', 'indices', 'values')}),
    'transpose':
        ((('float bfloat int uint bool string', '0-6'),), ('as data',), {'axes': ('a list of integers',)}),
    'trilu':
        ((('float bfloat int uint bool string', '2-6'), ('int uint', '0')), ('as data',), {'upper': ('True or False',)}),
    'trunc':
        ((('float bfloat int uint', '0-6'),), ('as data',), {}),
    'trunc_divide':
        ((('float bfloat int uint', '0-6'), ('float bfloat int uint', '0-6', 'lhs')), ('as lhs',), {}),
    'trunc_mod':
        ((('float bfloat int uint', '0-6'), ('float bfloat int uint', '0-6', 'lhs')), ('as lhs',), {}),
    'unique':
        ((('float bfloat int uint bool string', '1'),), ('as data', 'int32', 'int32', 'int32'),
         {'return_counts': ('True or False',), 'sorted': ('True or False',)}),
    'unique_rows':
        ((('float bfloat int uint bool', '1-6'),), ('int32', 'int32', 'int32', 'int32'), {'sorted': ('True or False',)}),
    'unravel_index':
        ((('int uint', '0 1'), ('int uint', '1')), ('as indices',), {}),
    'variance':
        ((('float bfloat int uint bool', '1-6'),), ('as data',),
         {'axis': ('a list of integers',), 'exclude': ('True or False',), 'keepdims': ('True or False',), 'unbiased': ('True or False',)}),
    'vision.all_class_non_max_suppression':
        ((('float bfloat', '3'), ('float bfloat', '3', 'boxes'), ('float bfloat int uint bool', '0-6'), ('float bfloat int uint bool', '0-6'),
          ('float bfloat int uint bool', '0-6')),
         ('int64', 'int64'), {'output_format': ('a string',)}),
    'vision.get_valid_counts':
        ((('float bfloat', '3'), ('float bfloat int uint bool', '0-6')), ('int32', 'as data', 'int32'),
         {'id_index': ('an integer',), 'score_index': ('an integer',), 'score_threshold': ('any value',)}),
    'vision.multibox_prior':
        ((('float bfloat', '4'),), ('as data',),
         {'clip': ('True or False',),
          'offsets': ('a list of numbers',),
          'ratios': ('a list of numbers',),
          'sizes': ('a list of numbers',),
          'steps': ('a list of numbers',)}),
    'vision.multibox_transform_loc':
        ((('float bfloat', '3'), ('float bfloat', '2', 'cls_prob'), ('float bfloat', '3', 'cls_prob')), ('as cls_prob', 'int32'),
         {'clip': ('True or False',), 'keep_background': ('True or False',), 'threshold': ('a number',), 'variances': ('a list of numbers',)}),
    'vision.non_max_suppression':
        ((('float bfloat', '3'), ('int uint', '1'), ('int uint', '2'), ('float bfloat int uint bool', '0-6'),
          ('float bfloat int uint bool', '0-6')),
         ('int32', 'int32'),
         {'coord_start': ('an integer',),
          'force_suppress': ('True or False',),
          'id_index': ('an integer',),
          'invalid_to_bottom': ('True or False',),
          'return_indices': ('True or False',),
          'score_index': ('an integer',),
          'top_k': ('an integer',)}),
    'vision.proposal':
        ((('float32', '4'), ('float32', '4'), ('float32', '2')), ('float32',),
         {'feature_stride': ('an integer',),
          'iou_loss': ('True or False',),
          'ratios': ('a list of numbers',),
          'rpn_min_size': ('an integer',),
          'rpn_post_nms_top_n': ('an integer',),
          'rpn_pre_nms_top_n': ('an integer',),
          'scales': ('a list of numbers',),
          'threshold': ('a number',)}),
    'vision.regular_non_max_suppression':
        ((('float bfloat', '3'), ('float bfloat', '3', 'boxes')), ('as boxes', 'float32', 'as boxes', 'int32'),
         {'iou_threshold': ('a number',),
          'max_detections': ('an integer',),
          'max_detections_per_class': ('an integer',),
          'num_classes': ('an integer',),
          'score_threshold': ('a number',)}),
    'vision.roi_align':
        ((('float bfloat', '4'), ('float bfloat', '2')), ('as data',),
         {'aligned': ('True or False',),
          'layout': ('a string', 'NCHW', 'NHWC'),
          'mode': ('a string', 'avg', 'max', 'max_corner'),
          'pooled_size': ('a list of integers',),
          'sample_ratio': ('an integer',),
          'spatial_scale': ('a number',)}),
    'vision.roi_pool':
        ((('float bfloat', '4'), ('float bfloat', '2')), ('as data',),
         {'layout': ('a string', 'NCHW', 'NHWC'), 'pooled_size': ('a list of integers',), 'spatial_scale': ('a number',)}),
    'vision.yolo_reorg':
        ((('float bfloat int uint bool', '4'),), ('as data',), {'stride': ('an integer',)}),
    'vm.shape_of':
        ((('float bfloat int uint bool string', '0-6'),), ('int64 | dtype',), {'dtype': ('the name of a dtype',)}),
    'where':
        ((('float bfloat int uint bool string', '0-6'), ('float bfloat int uint bool string', '0-6'),
          ('float bfloat int uint bool string', '0-6', 'x')),
         ('as x',), {}),
    'zeros':
        ((), ('float32 | dtype',), {'dtype': ('the name of a dtype',), 'shape': ('a list of integers or ?',)}),
    'zeros_like':
        ((('float bfloat int uint bool string', '0-6'),), ('as data',), {}),
}
