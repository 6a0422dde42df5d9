'''What operators compute, in words: elements, shapes, selection and order. Those of networks stand in operator_rows_nn.py, the rest in
operator_rows_more.py; `operator_docs` reads all three.

    NAME ... (OPERAND[SHAPE], ...) -> [SHAPE]
        Sentences.
        - OPERAND: what it is
        .ATTRIBUTE: what it is, where ATTRIBUTES does not say it
        numpy: the result in NumPy's terms; "numpy NOTE:" where that holds for some attributes only
        try OPERANDS, ATTRIBUTES: a call, of which tests compute both (f: floats, p: positive floats, i: indices below the first number,
        k: these numbers, t: a tuple)

A line that is indented further goes on with the one above. A shape is dims in brackets: "..." is any number of them, *ATTRIBUTE those of
an attribute, and a name that stands twice the same number (two "..." broadcast where the result is "broadcast"). OPERAND* is a tuple of
tensors, OPERAND? may be left out. Dtypes and ranks are not written here but measured: operator_types.py. Tested by
tests/test_operator_docs.py, against NumPy and against TVM.
'''

# Operators of one operand that compute each element of its own: name | NumPy | what.
EACH = """
abs | np.abs(data) | The absolute value of each element.
acos | np.arccos(data) | The inverse cosine of each element, in radians; NaN outside [-1, 1].
acosh | np.arccosh(data) | The inverse hyperbolic cosine of each element; NaN below 1.
asin | np.arcsin(data) | The inverse sine of each element, in radians; NaN outside [-1, 1].
asinh | np.arcsinh(data) | The inverse hyperbolic sine of each element.
atan | np.arctan(data) | The inverse tangent of each element, in radians.
atanh | np.arctanh(data) | The inverse hyperbolic tangent of each element.
ceil | np.ceil(data) | The smallest whole number that is not below each element.
copy | data | The operand itself.
cos | np.cos(data) | The cosine of each element, which is in radians.
cosh | np.cosh(data) | The hyperbolic cosine of each element.
erf | np.vectorize(math.erf)(data) | The error function of each element.
exp | np.exp(data) | e to the power of each element.
fast_erf | np.vectorize(math.erf)(data) | The error function of each element, by a quicker approximation.
fast_exp | np.exp(data) | e to the power of each element, by a quicker approximation.
fast_tanh | np.tanh(data) | The hyperbolic tangent of each element, by a quicker approximation.
floor | np.floor(data) | The largest whole number that is not above each element.
isfinite | np.isfinite(data) | Whether each element is neither infinite nor NaN.
isinf | np.isinf(data) | Whether each element is infinite.
isnan | np.isnan(data) | Whether each element is NaN.
log | np.log(data) | The natural logarithm of each element.
log10 | np.log10(data) | The logarithm of each element to the base 10.
log2 | np.log2(data) | The logarithm of each element to the base 2.
negative | -data | Each element with its sign changed.
nn.relu | np.maximum(data, 0) | Each element where it is above 0, else 0; 0 for NaN.
ones_like | np.ones_like(data) | Ones, of the operand's shape and dtype.
round | np.copysign(np.floor(np.abs(data) + 0.5), data) | The nearest whole number of each element; halves go away from 0.
round_even | np.round(data) | The nearest whole number of each element; halves go to the even one.
rsqrt | 1 / np.sqrt(data) | One over the square root of each element.
sigmoid | 1 / (1 + np.exp(-data)) | The logistic function of each element.
sign | np.sign(data) | -1, 0 or 1 as each element is below, at or above 0.
sin | np.sin(data) | The sine of each element, which is in radians.
sinh | np.sinh(data) | The hyperbolic sine of each element.
sqrt | np.sqrt(data) | The square root of each element.
tan | np.tan(data) | The tangent of each element, which is in radians.
tanh | np.tanh(data) | The hyperbolic tangent of each element.
trunc | np.trunc(data) | Each element without what stands behind its decimal point.
zeros_like | np.zeros_like(data) | Zeros, of the operand's shape and dtype.
logical_not | np.logical_not(data) | Whether each element is false.
bitwise_not | np.invert(data) | Each element with all bits changed.
"""
OF_OTHER_DTYPES = {"logical_not": "b(2, 3)", "bitwise_not": "i(9, 2, 3)"}  # what these are tried with; the others with floats above 0
OF_ANY_SIGN = set("""abs asinh atan ceil copy cos cosh erf exp fast_erf fast_exp fast_tanh floor negative nn.relu round round_even sigmoid sign
sin sinh tan tanh trunc isnan isinf isfinite""".split())

# Operators of two operands that compute each element of one of each, broadcast.
PAIRS = """
add | lhs + rhs | The sum of two tensors, element by element.
subtract | lhs - rhs | The difference of two tensors, element by element.
multiply | lhs * rhs | The product of two tensors, element by element.
divide | lhs / rhs | The quotient of two tensors, element by element; of integers, without its fraction (towards 0).
floor_divide | np.floor_divide(lhs, rhs) | The quotient of two tensors, rounded down.
trunc_divide | np.trunc(lhs / rhs) | The quotient of two tensors, rounded towards 0.
mod | np.fmod(lhs, rhs) | The remainder of a division that rounds towards 0: it has the sign of lhs.
floor_mod | np.mod(lhs, rhs) | The remainder of a division that rounds down: it has the sign of rhs.
trunc_mod | np.fmod(lhs, rhs) | The remainder of a division that rounds towards 0: it has the sign of lhs.
power | np.power(lhs, rhs) | lhs to the power of rhs, element by element.
maximum | np.maximum(lhs, rhs) | The larger of two elements.
minimum | np.minimum(lhs, rhs) | The smaller of two elements.
equal | lhs == rhs | Whether two elements are the same.
not_equal | lhs != rhs | Whether two elements differ.
less | lhs < rhs | Whether lhs is below rhs.
less_equal | lhs <= rhs | Whether lhs is below rhs, or the same.
greater | lhs > rhs | Whether lhs is above rhs.
greater_equal | lhs >= rhs | Whether lhs is above rhs, or the same.
logical_and | np.logical_and(lhs, rhs) | Whether both elements are true.
logical_or | np.logical_or(lhs, rhs) | Whether one of two elements is true, or both.
logical_xor | np.logical_xor(lhs, rhs) | Whether one of two elements is true, and the other is not.
bitwise_and | np.bitwise_and(lhs, rhs) | The bits that are set in both elements.
bitwise_or | np.bitwise_or(lhs, rhs) | The bits that are set in one of two elements, or in both.
bitwise_xor | np.bitwise_xor(lhs, rhs) | The bits that are set in one of two elements and not in the other.
left_shift | np.left_shift(lhs, rhs) | The bits of lhs, rhs places further up.
right_shift | np.right_shift(lhs, rhs) | The bits of lhs, rhs places further down; signed numbers keep their sign.
"""
OF_PAIRS = {"logical_and": "b(2, 3), b(3)", "logical_or": "b(2, 3), b(3)", "logical_xor": "b(2, 3), b(3)", "bitwise_and": "i(9, 2, 3), i(9, 3)",
            "bitwise_or": "i(9, 2, 3), i(9, 3)", "bitwise_xor": "i(9, 2, 3), i(9, 3)", "left_shift": "i(9, 2, 3), i(5, 3)",
            "right_shift": "i(99, 2, 3), i(5, 3)", "power": "p(2, 3), p(3)", "divide": "f(2, 3), p(3)"}

REDUCTIONS = """
sum | np.sum(data, axis, keepdims=keepdims) | The sum of the elements along axes, in the operand's dtype.
prod | np.prod(data, axis, keepdims=keepdims) | The product of the elements along axes, in the operand's dtype.
max | np.max(data, axis, keepdims=keepdims) | The largest element along axes.
min | np.min(data, axis, keepdims=keepdims) | The smallest element along axes.
mean | np.mean(data, axis, keepdims=keepdims) | The mean of the elements along axes, in the operand's dtype.
all | np.all(data, axis, keepdims=keepdims) | Whether all elements along axes are true.
any | np.any(data, axis, keepdims=keepdims) | Whether one element along axes is true, or more.
argmax | np.argmax(data, axis, keepdims=keepdims) | Where along an axis the largest element stands, the first of equal ones; with no axis, its place among all.
argmin | np.argmin(data, axis, keepdims=keepdims) | Where along an axis the smallest element stands, the first of equal ones; with no axis, its place among all.
"""

ROWS = """
clip (a[...]) -> [...]
    Each element, but at least a_min and at most a_max; NaN becomes a_max.
    - a: the input
    .a_min: the least value of the result
    .a_max: the largest value of the result
    numpy: np.clip(a, a_min, a_max)
    try f(2, 3), a_min=-1.0, a_max=0.5
cast (data[...]) -> [...]
    Each element as another dtype: floats become integers without their fraction, and bool says whether an element is not 0.
    .dtype: the dtype of the result
    numpy: data.astype(dtype)
    try f(2, 3), dtype="int32"
reinterpret (data[...]) -> [...]
    The bits of each element as another dtype of the same width.
    .dtype: the dtype of the result
    numpy: data.view(dtype)
    try f(2, 3), dtype="int32"
cast_like (data[...], dtype_like[...]) -> "as data"
    Each element as the dtype of another tensor.
    - dtype_like: a tensor of the wanted dtype; its elements and its shape do not matter
    numpy: data.astype(dtype_like.dtype)
    try f(2, 3), i(9, 4)
where (condition[...], x[...], y[...]) -> [broadcast]
    Elements of x where the condition is true, else of y.
    - condition: what chooses: true is what is not 0
    - x: elements where the condition holds
    - y: elements where it does not
    numpy: np.where(condition, x, y)
    try b(2, 3), f(2, 3), f(3)
fixed_point_multiply (data[...]) -> [...]
    Each element times multiplier / 2**31 times 2**shift, rounded, halves up.
    .multiplier: a fraction in units of 2**-31
    .shift: powers of two, to the left; below 0 to the right
    numpy: np.floor(data * (multiplier / 2**31) * 2.0**shift + 0.5)
    try i32(99, 2, 3), multiplier=1073741824, shift=2
fixed_point_multiply_per_axis (data[...], multiplier[C], left_shift[C], right_shift[C]) -> [...]
    Each element times a fraction that its place along `axes` chooses, shifted before and behind.
    - multiplier: fractions in units of 2**-31
    - left_shift: how many bits up before the product
    - right_shift: how many bits down behind it
    .is_lshift_required: whether there is a shift before the product
    .is_rshift_required: whether there is a shift behind it
    .axes: the axis along which the fractions lie
    numpy: np.floor(data * (multiplier / 2.0**31).reshape(-1, 1) + 0.5)
    try i32(99, 2, 3), k([1073741824, 536870912], "int32"), k([0, 0], "int32"), k([0, 0], "int32"), axes=[0]
zeros () -> [*shape]
    A tensor of zeros.
    numpy: np.zeros(shape, dtype)
    try shape=[2, 3], dtype="float32"
ones () -> [*shape]
    A tensor of ones.
    numpy: np.ones(shape, dtype)
    try shape=[2, 3], dtype="float32"
full (fill_value[]) -> [*shape]
    A tensor whose elements are all one number.
    - fill_value: the number
    numpy: np.full(shape, fill_value)
    try s(1.5), shape=[2, 3], dtype="float32"
full_like (data[...], fill_value[]) -> "as data"
    A tensor of another one's shape and dtype, whose elements are all one number.
    - data: a tensor of the wanted shape
    - fill_value: the number
    numpy: np.full_like(data, fill_value)
    try f(2, 3), s(1.5)
arange (start[], stop[], step[]) -> [n]
    Numbers from start on, step apart, as far as they lie before stop.
    - start: the first number
    - stop: the end, which is left out
    - step: how far numbers are apart
    .start: what TVM's text has of the operand
    .stop: what TVM's text has of the operand
    .step: what TVM's text has of the operand
    numpy: np.arange(start, stop, step)
    try k(1), k(9), k(3), dtype="int64"
meshgrid (data*[n]) -> fields"a dim for each tensor of data"
    Of vectors, the grid of their elements: as many tensors.
    - data: vectors or scalars
    .indexing: "xy": the first two dims are swapped; any other, "ij": dims in the vectors' order
    numpy: tuple(np.meshgrid(*data, indexing=indexing))
    try t(f(2), f(3))
shape_of (data[...]) -> [rank]
    The sizes of a tensor.
    numpy: np.array(data.shape)
    try f(2, 3), dtype="int32"
vm.shape_of (data[...]) -> [rank]
    The sizes of a tensor, as TVM's passes write it.
    numpy: np.array(data.shape)
    try f(2, 3)
ndarray_size (data[...]) -> []
    How many elements a tensor has.
    numpy: np.array(data.size)
    try f(2, 3), dtype="int32"
expand_dims (data[...]) -> "as data, with num_newaxis dims of 1 in front of axis"
    Dims of 1 are put in.
    .axis: where they begin; below 0 counted from the end of the result
    .num_newaxis: how many
    numpy: np.expand_dims(data, axis)
    try f(2, 3), axis=1
squeeze (data[...]) -> "as data, without those dims"
    Dims of 1 are taken out.
    .axis: which; None: all dims that are 1
    numpy: np.squeeze(data, axis)
    try f(2, 1, 3), axis=[1]
transpose (data[...]) -> "dims of data in the order of axes"
    Axes in another order.
    .axes: for each axis of the result, which of the operand's it is; None: the other way round
    numpy: np.transpose(data, axes)
    try f(2, 3, 4), axes=[2, 0, 1]
reshape (data[...]) -> "newshape, its codes replaced"
    The same elements in row-major order, with other dims.
    .newshape: sizes, or 0: the size of data at this place; -1: what is left over, once; -2: all other dims of data; -3: the product of the next
    two dims of data; -4: the next dim of data in two, whose sizes follow
    .allowzero: whether 0 is a size of 0
    numpy: data.reshape(3, 4)
    try f(2, 6), newshape=[3, -1]
contrib_reverse_reshape (data[...]) -> "newshape, its codes replaced"
    As reshape, with the codes read from the last dim to the first.
    .newshape: sizes and codes as of reshape, from right to left
    .allowzero: whether 0 is a size of 0
    numpy: data.reshape(10, 7)
    try f(2, 5, 7), newshape=[-1, 0]
reverse_reshape (data[...]) -> "newshape, its codes replaced"
    As reshape, with the codes read from the last dim to the first: a call of contrib_reverse_reshape.
    .newshape: sizes and codes as of reshape, from right to left
    numpy: data.reshape(10, 7)
    try f(2, 5, 7), newshape=[-1, 0]
reshape_like (data[...], shape_like[...]) -> "dims lhs_begin to lhs_end of data replaced by rhs_begin to rhs_end of shape_like"
    The same elements in row-major order, with the dims of another tensor.
    - shape_like: a tensor of the wanted shape; its elements do not matter
    .lhs_begin: the first dim of data that is replaced
    .lhs_end: the dim behind the last one; None: all that follow
    .rhs_begin: the first dim of shape_like that is taken
    .rhs_end: the dim behind the last one; None: all that follow
    numpy with default attributes: data.reshape(shape_like.shape)
    try f(2, 6), f(4, 3)
nn.batch_flatten (data[N, ...]) -> [N, size]
    All dims but the first become one.
    numpy: data.reshape(data.shape[0], -1)
    try f(2, 3, 4)
layout_transform (data[...]) -> "dims in the order of dst_layout"
    Dims in the order of another layout; lower-case letters are parts of a dim, their size in front (NCHW4c).
    .src_layout: the layout of data, a letter for each dim
    .dst_layout: the layout of the result, of the same letters
    numpy: np.transpose(data, (0, 2, 3, 1))
    try f(2, 3, 4, 5), src_layout="NCHW", dst_layout="NHWC"
broadcast_to (data[...]) -> [*shape]
    A tensor repeated along dims of 1 and dims in front, up to a shape.
    numpy: np.broadcast_to(data, shape)
    try f(3), shape=[2, 3]
broadcast_to_like (data[...], broadcast_type[...]) -> "as broadcast_type"
    A tensor repeated along dims of 1 and dims in front, up to the shape of another.
    - broadcast_type: a tensor of the wanted shape; its elements do not matter
    numpy: np.broadcast_to(data, broadcast_type.shape)
    try f(3), f(2, 3)
collapse_sum_like (data[...], collapse_type[...]) -> "as collapse_type"
    What undoes a broadcast: elements are summed along the axes that the shape of another tensor does not have, or has as 1.
    - collapse_type: a tensor of the wanted shape; its elements do not matter
    numpy: data.sum(0)
    try f(2, 3), f(3)
collapse_sum_to (data[...], shape[rank]) -> "shape"
    What undoes a broadcast: elements are summed along the axes that a shape does not have, or has as 1.
    - shape: the sizes of the result
    numpy: data.sum(0)
    try f(2, 3), k([3])
concatenate (data*[...]) -> "as data, with the sum of their sizes along axis"
    Tensors one behind the other along an axis.
    - data: tensors that agree in all other dims
    numpy: np.concatenate(data, axis)
    try t(f(2, 3), f(2, 4)), axis=1
stack (data*[...]) -> "as data, with a new dim at axis"
    Tensors one behind the other along an axis of their own.
    - data: tensors of one shape
    .axis: where the new axis is in the result
    numpy: np.stack(data, axis)
    try t(f(2, 3), f(2, 3)), axis=1
split (data[...]) -> fields"as data, with a part of its size along axis"
    Parts of a tensor along an axis, as a tuple.
    .indices_or_sections: how many parts of one size; or where each part but the first begins
    numpy: tuple(np.split(data, indices_or_sections, axis))
    try f(4, 6), indices_or_sections=2, axis=1
tile (data[...]) -> "each dim times reps"
    A tensor repeated as a whole along its axes.
    .reps: how often, for each axis; axes in front are added where there are more
    numpy: np.tile(data, reps)
    try f(2, 3), reps=[2, 2]
repeat (data[...]) -> "as data, with repeats times its size along axis"
    Each element repeated on the spot along an axis.
    .repeats: how often
    .axis: along which axis; None: along all elements as one vector
    numpy: np.repeat(data, repeats, axis)
    try f(2, 3), repeats=2, axis=1
reverse (data[...]) -> "as data"
    Elements along an axis the other way round.
    numpy: np.flip(data, axis)
    try f(2, 3), axis=1
reverse_sequence (data[...], seq_lengths[batch]) -> "as data"
    For each entry of a batch, the first elements of its sequence the other way round.
    - seq_lengths: how many elements, for each entry
    .seq_axis: the axis of the sequences
    .batch_axis: the axis of the batch
    numpy: np.stack([np.concatenate([row[:n][::-1], row[n:]]) for row, n in zip(data, seq_lengths)])
    try f(2, 4), k([3, 2])
strided_slice (data[...]) -> "as data, with the sizes of the slices"
    A part of a tensor: from begin, to end without it, in steps.
    .begin: the first place along each axis; below 0 from the end
    .end: the place behind the last one; below 0 from the end
    .strides: how far places are apart; below 0 backwards
    .slice_mode: "end": end is a place; "size": end is how many, -1 all that follow, and strides are 1
    .axes: which axes begin, end and strides are of; None: the first ones
    numpy: data[0:2, 1:4:2]
    try f(3, 4), begin=[0, 1], end=[2, 4], strides=[1, 2]
strided_set (data[...], v[...], begin[rank], end[rank], strides[rank]) -> "as data"
    A tensor with another one in place of a part of it.
    - v: what is put there
    - begin: the first place along each axis
    - end: the place behind the last one
    - strides: how far places are apart
    numpy: (lambda out: (out.__setitem__((slice(0, 2), slice(1, 4, 2)), v), out)[1])(data.copy())
    try f(3, 4), f(2, 2), k([0, 1], "int32"), k([2, 4], "int32"), k([1, 2], "int32")
slice_like (data[...], shape_like[...]) -> "as data, with the sizes of shape_like along axes"
    The first elements along axes: as many as another tensor has.
    - shape_like: a tensor of the wanted sizes; its elements do not matter
    .axes: along which axes; None or []: all
    numpy with axes=None: data[tuple(slice(n) for n in shape_like.shape)]
    try f(3, 4), f(2, 3)
sliding_window (data[...]) -> "the axes in front of axis, places of the window, then window_shape"
    All places of a window that slides over the last axes.
    .axis: the first axis that it slides along, up to the last one
    .window_shape: the sizes of the window
    .strides: how far places are apart
    numpy: np.lib.stride_tricks.sliding_window_view(data, window_shape, (0, 1))
    try f(4, 5), axis=0, window_shape=[2, 3], strides=[1, 1]
take (data[...], indices[...]) -> "data's dims, with those of indices in place of axis"
    Slices along an axis, chosen by number.
    - indices: their numbers
    .batch_dims: how many first axes of both go together
    .mode: of an index out of range: "clip" and "fast": the nearest one, so that -1 is the first; any other, "wrap": counted from the other end
    .axis: along which axis; None: elements of data as one vector
    numpy: np.take(data, indices, axis)
    try f(3, 4), i(3, 2), axis=0
gather (data[...], indices[...]) -> "as indices"
    Elements whose place along one axis is chosen by number, and along the others is that of the result.
    - indices: places along the axis, of as many axes as data
    numpy: np.take_along_axis(data, indices, axis)
    try f(3, 4), i(3, 2, 4), axis=0
gather_nd (data[...], indices[m, ...]) -> "dims of indices behind the first, then dims of data behind the first m"
    Elements or slices, chosen by m numbers each: their first axis has the places along the first m axes of data.
    - indices: a first axis of numbers, then the shape of the choice
    .batch_dims: how many first axes of both go together
    .index_rank: how many numbers there are where the program's types do not tell
    numpy: data[tuple(indices)]
    try f(3, 4), i(3, 2, 5)
adv_index (inputs*[...]) -> "dims of the indices, broadcast, then dims of data behind the indexed ones"
    Elements or slices, chosen by tensors of numbers, one for each of the first axes.
    - inputs: the data, then the tensors of numbers
    numpy: inputs[0][tuple(inputs[1:])]
    try t(f(3, 4), i(3, 2), i(4, 2))
scatter_elements (data[...], indices[...], updates[...]) -> "as data"
    A tensor with updates put in, whose place along one axis is chosen by number and along the others is their own. A number out of range is an error.
    - indices: places along the axis, of the shape of updates; below 0 from the end
    - updates: what is put there
    .reduction: what becomes of what is there: "update" replaces it; "add", "mul", "mean", "min" and "max" combine
    numpy: (lambda out: (np.put_along_axis(out, indices, updates, axis), out)[1])(data.copy())
    try f(3, 4), k([[0, 1, 2, 0]]), f(1, 4), axis=0
scatter_nd (data[...], indices[m, ...], updates[...]) -> "as data"
    A tensor with updates put in, each at a place that m numbers choose. A place out of range is an error.
    - indices: a first axis of numbers, then the shape of the choice
    - updates: what is put there: the shape of the choice, then dims of data behind the first m
    .mode: what becomes of what is there: "update" replaces it; "add", "mul", "min" and "max" combine
    .tuples_last: whether the numbers stand along the last axis of indices, as in ONNX
    numpy: (lambda out: (out.__setitem__(tuple(indices), updates), out)[1])(data.copy())
    try f(3, 4), k([[0, 2], [1, 3]]), f(2)
one_hot (indices[...], on_value[], off_value[]) -> "dims of indices, with depth at axis"
    For each number a row that has one value at that place, and another value elsewhere.
    - indices: the places
    - on_value: what stands there
    - off_value: what stands elsewhere
    .depth: how long rows are
    .axis: where in the result they lie; -1: behind the last axis
    numpy: np.where(indices[..., None] == np.arange(depth), on_value, off_value)
    try i(4, 5), s(1.0), s(0.0), depth=4, axis=-1, dtype="float32"
unravel_index (indices[...], shape[rank]) -> "rank, then the dims of indices"
    Of places in row-major order, the place along each axis.
    - indices: places in a tensor of that shape
    - shape: its sizes
    numpy: np.array(np.unravel_index(indices, shape))
    try k([3, 5, 0]), k([2, 3])
invert_permutation (data[n]) -> [n]
    The permutation that undoes another one.
    - data: the numbers 0 to n - 1, in any order
    numpy: np.argsort(data)
    try k([2, 0, 1])
sequence_mask (data[...], valid_length[batch]) -> "as data"
    A batch of sequences, with a number in place of what lies behind each one's length.
    - valid_length: how long each sequence is
    .mask_value: what stands behind
    .axis: the axis of the sequences, 0 or 1; the batch is the other one
    numpy: np.where(np.arange(data.shape[0])[:, None] < valid_length, data, mask_value)
    try f(4, 3), k([2, 4, 1]), mask_value=-1.0, axis=0
matrix_set_diag (data[..., m, n], diagonal[...]) -> "as data"
    Matrices with other numbers on their diagonals.
    - diagonal: the numbers; a dim of diagonals in front of the last one where there are several
    .k1: the lowest diagonal; below 0 under the main one
    .k2: the highest
    .super_diag_right_align: whether diagonals above the main one lie at the right end of their row
    .sub_diag_right_align: whether those below do
    numpy: np.where(np.eye(data.shape[-1]) == 1, diagonal[..., None], data)
    try f(3, 3), f(3), k=0
trilu (data[..., m, n], k[]) -> "as data"
    Matrices with 0 below a diagonal (upper), or above it.
    - k: which diagonal: 0 the main one, above 0 over it
    .upper: whether the upper part stays
    numpy: np.triu(data, k) if upper else np.tril(data, k)
    try f(3, 4), k(1)
einsum (data*[...]) -> "by the equation"
    Sums of products, by Einstein's notation.
    - data: the tensors
    .equation: letters for the axes of each tensor, and of the result: "ij,jk->ik"
    numpy: np.einsum(equation, *data)
    try t(f(2, 3), f(3, 4)), equation="ij,jk->ik"
argwhere (condition[...]) -> [n, rank]
    The places of all elements that are not 0, in row-major order.
    - condition: what is looked at
    numpy: np.argwhere(condition)
    try b(3, 4)
sort (data[...]) -> "as data"
    Elements along an axis in order.
    .is_ascend: whether the smallest comes first
    numpy: np.sort(data, axis)
    try f(3, 4), axis=-1
argsort (data[...]) -> "as data"
    The places of elements along an axis, in order of the elements.
    .is_ascend: whether the smallest comes first
    numpy: np.argsort(data, axis)
    try f(3, 4), axis=-1, dtype="int32"
topk (data[...]) -> values"as data, with k along axis" indices"as data, with k along axis"
    The largest elements along an axis, in order, and their places.
    .k: how many; below 1: all
    .ret_type: "both": a tuple of values and places; "values" or "indices": one of them
    .is_ascend: whether the smallest elements are meant, the smallest first
    numpy: (-np.sort(-data, axis)[..., :k], np.argsort(-data, axis)[..., :k])
    try f(3, 4), k=2, axis=-1, ret_type="both", dtype="int32"
searchsorted (sorted_sequence[..., n], values[...]) -> "as values"
    Where values would have to be put into an ordered sequence for it to stay ordered.
    - sorted_sequence: elements in order; one sequence, or one for each row of values
    - values: what is looked for
    .right: whether the place behind equal elements is meant
    numpy: np.searchsorted(sorted_sequence, values, side="right" if right else "left")
    try k([1.0, 2.0, 3.0], "float32"), f(2, 3)
unique (data[n]) -> values[n] indices[n] inverse_indices[n] num[1]
    The different elements, where each stands first, and for each element of data the number of its value. Behind `num` values follows padding.
    With counts, one field more: how often each value stands there.
    .sorted: whether values are in order; else as they come
    .return_counts: whether the counts are given too
    try k([3, 1, 3, 2])
unique_rows (data[n, ...]) -> indices[n] inverse_indices[n] num[1] counts[n]
    Where each of the different slices along the first axis stands first, for each slice of data the number of its value, how many there are,
    and how often each stands there. Behind `num` entries follows padding.
    .sorted: whether slices are in order; else as they come
    try k([[3, 1], [2, 2], [3, 1]])
cumsum (data[...]) -> "as data; one vector where axis is None"
    The sum of all elements up to each one along an axis.
    .axis: along which axis; None: all elements in row-major order
    .exclusive: whether an element's own is left out
    .reversed: whether sums run from the end on
    numpy: np.cumsum(data, axis)
    try f(2, 3), axis=1
cumprod (data[...]) -> "as data; one vector where axis is None"
    The product of all elements up to each one along an axis.
    .axis: along which axis; None: all elements in row-major order
    .exclusive: whether an element's own is left out
    .reversed: whether products run from the end on
    numpy: np.cumprod(data, axis)
    try f(2, 3), axis=1
variance (data[...], with_mean[...]) -> "as data without axis; with keepdims, 1 there"
    The mean square of elements' distances from their mean, along axes.
    - with_mean: their mean, with dims of 1
    .unbiased: whether the sum is divided by one less than the number of elements
    numpy: np.var(data, axis, keepdims=keepdims)
    try f(2, 3), axis=1
std (data[...]) -> "as data without axis; with keepdims, 1 there"
    The standard deviation of the elements along axes: the root of variance.
    .unbiased: whether the sum is divided by one less than the number of elements
    numpy: np.std(data, axis, keepdims=keepdims)
    try f(2, 3), axis=1
mean_variance mean_std (data[...]) -> mean"as data without axis" spread"as data without axis"
    The mean of the elements along axes, and their variance (mean_std: their standard deviation), as a tuple.
    .unbiased: whether the sum is divided by one less than the number of elements
    try f(2, 3), axis=1
logsumexp (data[...]) -> "as data without axis; with keepdims, 1 there"
    The logarithm of the sum of e to the power of the elements along axes, without overflow.
    numpy: np.log(np.exp(data).sum(axis, keepdims=keepdims))
    try f(2, 3), axis=1
segment_sum (data[n, ...], segment_ids[n]) -> [segments, ...]
    Sums of the slices that have the same number.
    - segment_ids: the number of each slice's sum
    .num_segments: how many sums there are; None: one more than the largest number
    try f(4, 3), k([0, 1, 0, 2], "int32")
"""

# What attributes mean, of all operators whose row does not say it.
ATTRIBUTES = {
    "axis": "along which axis; below 0 from the end",
    "keepdims": "whether those axes stay, with a size of 1",
    "exclude": "whether it is all other axes",
    "select_last_index": "whether it is the last one of equal elements",
    "dtype": "the dtype of the result; \"\": as without it",
    "shape": "the sizes of the result",
    "out_dtype": "the dtype of the result; \"\": as without it",
    "strides": "how far places of the window are apart, for each axis; one number for all",
    "padding": "how many rows are put around the data: one number, one for each axis, or those before each axis and then those behind",
    "dilation": "how far the window's elements are apart, for each axis; one number for all",
    "groups": "in how many groups channels are divided, each with a kernel of its own",
    "channels": "how many channels the result has; None: as the weight says",
    "kernel_size": "the sizes of the kernel; None: as the weight says",
    "data_layout": "the order of the data's dims, a letter for each",
    "kernel_layout": "the order of the weight's dims, a letter for each",
    "out_layout": "the order of the result's dims; \"\" is that of the data",
    "output_padding": "how many rows the result has more behind each axis",
    "layout": "the order of the data's dims, a letter for each",
    "pool_size": "the sizes of the window, for each axis; one number for all",
    "ceil_mode": "whether a last window that is not whole counts",
    "count_include_pad": "whether padding counts among the elements of a mean",
    "output_size": "the sizes of the result's axes; () is those of the data, one number for all",
    "units": "how many columns the result has; None: as the weight says",
    "transpose_a": "whether the first operand's last two dims are swapped",
    "transpose_b": "whether the second operand's last two dims are swapped",
    "epsilon": "what is added to the variance",
    "center": "whether beta is added",
    "scale": "whether gamma is multiplied by",
    "scale_h": "how many times the rows", "scale_w": "how many times the columns", "scale_d": "how many times the layers",
    "align_corners": "whether the middles of the outermost elements stay where they are, rather than their edges",
    "coordinate_transformation_mode": "where elements of the result lie among those of the data",
    "rounding_method": "how \"nearest_neighbor\" finds its element",
    "cubic_alpha": "the coefficient of cubic interpolation",
    "cubic_exclude": "whether weights outside the data are left out, and the others made to sum to 1",
    "extrapolation_value": "what stands outside the data",
    "size": "the sizes of the result's axes",
    "roi": "the part that is taken, for \"tf_crop_and_resize\": where each axis begins, then where each ends, from 0 to 1",
    "lhs_axis": "the axis of lhs along which its scales lie", "rhs_axis": "the axis of rhs along which its scales lie",
    "pooled_size": "the sizes of the result of each box",
    "spatial_scale": "how many elements of the data a unit of the boxes is",
    "pad_mode": "what is put around: \"constant\": pad_value; \"edge\": the outermost element; \"reflect\": elements mirrored at it",
    "pad_width": "for each axis how many elements are put before and behind; below 0 are taken away",
    "block_size": "the edge of a block",
    "mode": "the order of a block's elements among channels: \"DCR\": position first; any other, \"CRD\": channel first",
    "out_shape": "the sizes of the result",
    "iou_threshold": "how far boxes may overlap: the common part by the whole",
    "score_threshold": "the least score of boxes that count",
    "id_index": "where in a box its class stands; below 0: there are no classes",
    "score_index": "where in a box its score stands",
    "compiler": "the name of the library that takes the part",
    "method": "how elements between those of the data are found",
    "virtual_device": "of TVM's text: there is one device", "src_virtual_device": "of TVM's text: there is one device",
    "dst_virtual_device": "of TVM's text: there is one device",
    "constrain_result": "of TVM's text: there is one device", "constrain_body": "of TVM's text: there is one device",
}
OPERANDS = {"data": "the input", "lhs": "the left operand", "rhs": "the right operand", "weight": "the weights", "kernel": "the weights",
            "key": "the state of a generator: random.threefry_key, or what another call gave",
            "scale": "how much a step of the quantised data is", "zero_point": "which quantised number stands for 0",
            "input_scale": "how much a step of the quantised data is", "input_zero_point": "which quantised number stands for 0 in the data",
            "kernel_scale": "how much a step of the quantised weights is", "kernel_zero_point": "which quantised number stands for 0 in the weights",
            "output_scale": "how much a step of the quantised result is", "output_zero_point": "which quantised number stands for 0 in the result"}
