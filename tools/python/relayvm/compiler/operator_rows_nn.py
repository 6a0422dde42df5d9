'''What operators of networks compute, in words: operator_rows.py says how to read it.'''

# Of one axis, of two and of three: {n} is how many, {x} their letters as dims, {y} those of the result, {k} those of the kernel.
WINDOWED = """
nn.conv{n}d (data[N, C, {x}], weight[O, I, {k}]) -> [N, O, {y}]
    A convolution over {axes}: each result is the sum of the products of a window of the data, over all channels of its group, and of a kernel.
    Each axis of the result has (size + padding - dilation * (kernel - 1) - 1) // stride + 1 elements.
    - weight: the kernels; O is the result's channels, I is C / groups. Where groups, C and O are the same and I is larger, O * I channels come out
    numpy with default attributes: np.einsum("ni{s}{w},oi{w}->no{s}", np.lib.stride_tricks.sliding_window_view(data, weight.shape[2:], {at}), weight)
    try f(1, 2, {eight}), f(3, 2, {three})
nn.conv{n}d_transpose (data[N, C, {x}], weight[C, O, {k}]) -> [N, O * groups, {y}]
    A transposed convolution over {axes}: each element of the data adds its product with the kernel to a window of the result.
    Each axis of the result has (size - 1) * stride - padding + dilation * (kernel - 1) + 1 + output_padding elements.
    - weight: the kernels; C is the data's channels, O is those of the result divided by groups
    try f(1, 2, {eight}), f(2, 3, {three}), strides={twos}
nn.max_pool{n}d (data[N, C, {x}]) -> [N, C, {y}]
    The largest element of each window over {axes}.
    Each axis of the result has (size + padding - dilation * (window - 1) - 1) // stride + 1 elements.
    numpy with default strides, dilation and padding: np.lib.stride_tricks.sliding_window_view(data, pool_size, {at}).max({last})
    try f(1, 2, {eight}), pool_size={threes}
nn.avg_pool{n}d (data[N, C, {x}]) -> [N, C, {y}]
    The mean of each window over {axes}.
    Each axis of the result has (size + padding - dilation * (window - 1) - 1) // stride + 1 elements.
    numpy with default strides, dilation and padding: np.lib.stride_tricks.sliding_window_view(data, pool_size, {at}).mean({last})
    try f(1, 2, {eight}), pool_size={threes}
nn.global_max_pool{n}d (data[N, C, {x}]) -> [N, C, {ones}]
    The largest element of each channel.
    numpy: data.max({at}, keepdims=True)
    try f(1, 2, {eight})
nn.global_avg_pool{n}d (data[N, C, {x}]) -> [N, C, {ones}]
    The mean of each channel.
    numpy: data.mean({at}, keepdims=True)
    try f(1, 2, {eight})
nn.adaptive_max_pool{n}d (data[N, C, {x}]) -> [N, C, {y}]
    The largest element of each of as many windows as the result shall have elements; they overlap where sizes do not divide.
    numpy with output_size=1: data.max({at}, keepdims=True)
    try f(1, 2, {eight}), output_size={unit}
nn.adaptive_avg_pool{n}d (data[N, C, {x}]) -> [N, C, {y}]
    The mean of each of as many windows as the result shall have elements; they overlap where sizes do not divide.
    numpy with output_size=1: data.mean({at}, keepdims=True)
    try f(1, 2, {eight}), output_size={unit}
image.resize{n}d (data[N, C, {x}]) -> [N, C, *size]
    Pictures of another size over {axes}.
    .method: "nearest_neighbor", "linear" or "cubic"
    numpy with method="nearest_neighbor", coordinate_transformation_mode="asymmetric", rounding_method="floor" and twice the size: {twice}
    try f(1, 2, {eight}), size={sizes}, method="nearest_neighbor", coordinate_transformation_mode="asymmetric", rounding_method="floor"
qnn.conv{n}d (data[N, C, {x}], kernel[O, I, {k}], input_zero_point[], kernel_zero_point[], input_scale[], kernel_scale[]) -> [N, O, {y}]
    A convolution of quantised numbers over {axes}, as nn.conv{n}d: their zero points are taken away first. The result is in steps of
    input_scale * kernel_scale.
    - kernel_zero_point: which number stands for 0 in the weights; one, or one for each channel of the result
    - kernel_scale: how much a step of the weights is; one, or one for each channel of the result
    numpy with default attributes: np.einsum("ni{s}{w},oi{w}->no{s}", np.lib.stride_tricks.sliding_window_view(data.astype("int32") -
        input_zero_point, kernel.shape[2:], {at}), kernel.astype("int32") - kernel_zero_point)
    try i8(1, 2, {eight}), i8(3, 2, {three}), k(3, "int32"), k(1, "int32"), s(0.5), s(0.25), channels=3, kernel_size={threes}
"""

ROWS = """
nn.leaky_relu (data[...]) -> [...]
    Each element where it is above 0, else alpha times it.
    .alpha: the slope below 0
    numpy: np.where(data > 0, data, data * alpha)
    try f(2, 3), alpha=0.1
nn.prelu (data[...], alpha[C]) -> "as data"
    Each element where it is above 0, else alpha times it, where each channel has an alpha of its own.
    - alpha: the slopes below 0, one for each place along axis
    numpy: np.where(data > 0, data, data * alpha.reshape(-1, 1))
    try f(2, 3, 4), f(3), axis=1
nn.bias_add (data[...], bias[C]) -> "as data"
    A vector added along an axis.
    - bias: what is added, one number for each place along axis
    numpy: data + bias.reshape(-1, 1)
    try f(2, 3, 4), f(3), axis=1
nn.softmax (data[...]) -> [...]
    e to the power of each element, divided by the sum of these along an axis.
    numpy: np.exp(data) / np.exp(data).sum(axis, keepdims=True)
    try f(2, 3), axis=-1
nn.fast_softmax (data[...]) -> [...]
    As nn.softmax, with a quicker approximation of e to the power.
    numpy: np.exp(data) / np.exp(data).sum(axis, keepdims=True)
    try f(2, 3), axis=-1
nn.log_softmax (data[...]) -> [...]
    The logarithm of nn.softmax.
    numpy: data - np.log(np.exp(data).sum(axis, keepdims=True))
    try f(2, 3), axis=-1
nn.batch_norm (data[...], gamma[C], beta[C], moving_mean[C], moving_var[C]) -> data"as data" moving_mean[C] moving_var[C]
    Each channel, with its mean and its variance from training brought to 0 and 1, then scaled and moved. The two go through as they are.
    - gamma: what each channel is scaled by
    - beta: what is added to each channel
    - moving_mean: the mean of each channel
    - moving_var: the variance of each channel
    .axis: the axis of the channels
    numpy: ((data - moving_mean.reshape(-1, 1)) / np.sqrt(moving_var.reshape(-1, 1) + epsilon) * gamma.reshape(-1, 1) + beta.reshape(-1, 1),
        moving_mean, moving_var)
    try f(2, 3, 4), f(3), f(3), f(3), p(3)
nn.layer_norm (data[...], gamma[C], beta[C]) -> [...]
    Elements along an axis, brought to a mean of 0 and a variance of 1, then scaled and moved.
    - gamma: what is multiplied by, for each place along axis
    - beta: what is added, for each place along axis
    numpy with axis=-1: (data - data.mean(-1, keepdims=True)) / np.sqrt(data.var(-1, keepdims=True) + epsilon) * gamma + beta
    try f(2, 3), f(3), f(3)
nn.instance_norm (data[N, ...], gamma[C], beta[C]) -> "as data"
    Each channel of each picture, brought to a mean of 0 and a variance of 1, then scaled and moved.
    - gamma: what each channel is scaled by
    - beta: what is added to each channel
    .axis: the axis of the channels
    numpy with axis=1: (data - data.mean(2, keepdims=True)) / np.sqrt(data.var(2, keepdims=True) + epsilon) * gamma.reshape(-1, 1) +
        beta.reshape(-1, 1)
    try f(2, 3, 4), f(3), f(3)
nn.group_norm (data[N, ...], gamma[C], beta[C]) -> "as data"
    Each group of channels of each picture, brought to a mean of 0 and a variance of 1; then each channel scaled and moved.
    - gamma: what each channel is scaled by
    - beta: what is added to each channel
    .num_groups: how many groups there are
    .axis: the axis of the channels
    numpy with num_groups=1: (data - data.mean((1, 2), keepdims=True)) / np.sqrt(data.var((1, 2), keepdims=True) + epsilon) * gamma.reshape(-1,
        1) + beta.reshape(-1, 1)
    try f(2, 3, 4), f(3), f(3), num_groups=1
nn.l2_normalize (data[...]) -> [...]
    Each element, divided by the root of the sum of the squares along axes.
    .eps: what the sum is at least
    .axis: along which axes; None: each element by itself
    numpy: data / np.sqrt(np.maximum((data * data).sum(axis, keepdims=True), eps))
    try f(2, 3), eps=0.001, axis=[1]
nn.lrn (data[N, C, H, W]) -> [N, C, H, W]
    Each element, divided by (bias + alpha / size * the sum of the squares of its neighbours along an axis) ** beta.
    .size: how many neighbours, itself among them
    .axis: the axis of the channels
    .bias: what is added to the sum
    .alpha: what the sum is multiplied by, divided by size
    .beta: the exponent
    numpy with size=1: data / (bias + alpha * data * data) ** beta
    try f(1, 3, 2, 2), size=1, alpha=0.5
nn.dropout (data[...]) -> data[...] mask[...]
    The data as it is: elements are left out in training only. The mask is of ones.
    .rate: how many would be left out, from 0 to 1
    try f(2, 3)
nn.dropout_raw (data[...]) -> data[...] mask[...]
    What nn.dropout's operator gives: the data as it is, and a mask of ones.
    .rate: how many would be left out, from 0 to 1
    try f(2, 3)
nn.dense (data[..., K], weight[units, K]) -> [..., units]
    The product of a matrix and of another one's transpose: each row of the weight makes a column of the result.
    - weight: a row for each column of the result
    numpy: data @ weight.T
    try f(2, 3), f(4, 3)
nn.matmul (tensor_a[..., K], tensor_b[K, units]) -> [..., units]
    The product of two matrices.
    - tensor_a: the left matrix
    - tensor_b: the right matrix
    numpy: (tensor_a.T if transpose_a else tensor_a) @ (tensor_b.T if transpose_b else tensor_b)
    try f(2, 3), f(3, 4)
nn.batch_matmul (tensor_a[B, M, K], tensor_b[B, N, K]) -> [B, M, N]
    The products of as many pairs of matrices; one of either side goes with all of the other. In Python, the right ones are transposed unless
    transpose_b is False.
    - tensor_a: the left matrices
    - tensor_b: the right matrices
    numpy: (tensor_a.swapaxes(1, 2) if transpose_a else tensor_a) @ (tensor_b.swapaxes(1, 2) if transpose_b else tensor_b)
    try f(2, 3, 4), f(2, 5, 4)
nn.contrib_dense_pack (data[M, K], weight[units / n, K, n]) -> [M, units]
    The product of nn.dense, of a weight whose rows lie in panels of n.
    - weight: panels of n rows, those of a panel side by side
    .weight_layout: "NC" or, with panels of 8 rows, "NC8n"
    .in_units: how many columns of the data count; None: all
    numpy: data @ weight.transpose(1, 0, 2).reshape(weight.shape[1], -1)
    try f(2, 3), f(2, 3, 4), weight_layout="NC4n"
nn.contrib_dense_ordered (data[M, K], weight[panels, steps, 8, 4], order[panels, row]) -> [M, units]
    The product of nn.dense, of integers of 8 bits in panels of 8 rows, four columns side by side. The compiler writes it for machines whose
        kernels go by the order.
    - weight: panels of 8 rows, those of a panel side by side
    - order: in which order kernels may take the steps of each panel; the result is the same
    .weight_layout: is not used
    .in_units: how many columns of the data count
    try u8(2, 6), i8(1, 2, 8, 4), k([[0, 2, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1]], "int32"), units=7, in_units=6, out_dtype="int32"
nn.contrib_dense_blocks (data[..., K], weight[panels, blocks, rows, n], scales[panels, blocks, n], zero_points[panels, blocks, n]?) -> [..., units]
    The product of nn.dense, of a weight whose integers lie in blocks, each with a scale. The compiler writes it where weights are packed.
    - weight: integers, in panels of n rows of the weight
    - scales: how much a step of each block is
    - zero_points: which integer stands for 0 in each block
    .in_units: how many columns the data has
    .form: the name of the way in which integers lie; "": the first of the weight's dtype
    try f(2, 6), i8(2, 2, 4, 4), f(2, 2, 4), units=7, in_units=6
nn.contrib_dense_nbits (data[..., K], weight[units, blocks, bytes], scales[units, blocks], zero_points[units, blocks]?) -> [..., units]
    The product of nn.dense, of a weight whose integers of 4 or 8 bits lie in blocks, each with a scale (ONNX: MatMulNBits).
    - weight: integers, the lowest bits of a byte first
    - scales: how much a step of each block is
    - zero_points: which integer stands for 0 in each block; left out: half of their range
    .bits: how many bits an integer has, 4 or 8
    .in_units: how many columns the data has
    try f(2, 6), u8(3, 2, 4), f(3, 2), bits=8, in_units=6
nn.attention (q[B, H, S, D], k[B, H, T, D], v[B, H, T, E], steps[]?) -> [B, H, S, E]
    Attention: softmax of a score of q @ k.T, times v. The compiler writes it where a program spells attention out.
    - q: queries
    - k: keys
    - v: values
    - steps: what the steps of the score read, in order, any number of them
    .q_layout: the order of the dims of q: batch, heads, positions, elements
    .k_layout: the order of the dims of k
    .v_layout: the order of the dims of v
    .out_layout: the order of the result's dims
    .score: steps from a product to its score: add, subtract, multiply, divide, where, where_not, tanh
    numpy with default attributes: (lambda e: e / e.sum(-1, keepdims=True) @ v)(np.exp(q @ k.swapaxes(2, 3)))
    try f(1, 2, 3, 4), f(1, 2, 5, 4), f(1, 2, 5, 6)
nn.contrib_conv2d_NCHWc nn.contrib_depthwise_conv2d_NCHWc nn.contrib_conv2d_nchwc nn.contrib_depthwise_conv2d_nchwc (data[N, C / c, H, W, c],
        kernel[O / o, I / i, KH, KW, i, o]) -> [N, O / o, H', W', o]
    The convolution of nn.conv2d, of channels in blocks of c.
    - kernel: the kernels, their channels in blocks of i and o
    .data_layout: the order of the data's dims with the size of its blocks, NCHW4c
    .kernel_layout: the order of the kernel's dims with the sizes of its blocks, OIHW4i4o
    try f(1, 2, 5, 5, 4), f(3, 2, 3, 3, 4, 4), channels=12, kernel_size=(3, 3), data_layout="NCHW4c", kernel_layout="OIHW4i4o", out_layout="NCHW4c"
nn.contrib_conv2d_ordered (data[N, H, W, C], kernel[panels, KH, KW, words, 8, 4], order[panels, row]) -> [N, H', W', O]
    The convolution of nn.conv2d, of integers of 8 bits with kernels in panels of 8 results, four channels side by side. The compiler writes
        it for machines whose kernels go by the order.
    - kernel: the kernels, in panels
    - order: in which order kernels may take the steps of each panel; the result is the same
    try u8(1, 2, 2, 4), i8(1, 1, 1, 1, 8, 4), k([[0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]], "int32"), data_layout="NHWC",
        kernel_layout="OHWI8o4i", out_dtype="int32"
nn.contrib_conv2d_winograd (data[N, C, H, W], weight[panels, window, blocks, C, P]) -> [N, channels, H', W']
    A convolution by kernels of 3 x 3 with strides of 1, of kernels that were transformed before (Winograd's minimal filtering). The compiler
        writes it.
    - weight: the kernels, transformed, in panels
    .tile_size: the edge of the results that are computed together, 2 or 4
    .channels: how many channels the result has
    try f(1, 2, 6, 6), f(1, 16, 1, 2, 4), tile_size=2, channels=4
nn.conv2d_backward_weight (grad[N, O, H', W'], data[N, C, H, W]) -> [O, C / groups, KH, KW]
    The gradient of the weight of nn.conv2d: for each element of the kernel the sum of the products of the result's gradient and of the data.
    - grad: the gradient of the result
    .data_layout: the order of grad's dims (the parameter grad_layout)
    .kernel_layout: the order of data's dims (the parameter data_layout)
    .out_layout: the order of the result's dims (the parameter kernel_layout)
    numpy with default strides, padding, dilation and groups: np.einsum("nohw,nchwyx->ocyx", grad, np.lib.stride_tricks.sliding_window_view(data,
        grad.shape[2:], (2, 3)).transpose(0, 1, 4, 5, 2, 3))
    try f(1, 3, 2, 3), f(1, 2, 4, 5), kernel_size=(3, 3), channels=3
nn.bitpack (data[...]) -> "as data, with bits in front of bit_axis, and pack_axis divided by the bits of a word"
    The lowest bits of integers, each bit in a place of its own, as many elements to a word as it has bits.
    .bits: how many bits of an element are kept
    .pack_axis: the axis along which elements go to a word
    .bit_axis: where in the result the axis of the bits is
    .pack_type: the dtype of the words, an unsigned integer
    .name: of TVM's text
    try i(2, 2, 32), bits=1, pack_axis=1, bit_axis=2, pack_type="uint32"
nn.bitserial_dense (data[..., K], weight[units, K]) -> [..., units]
    nn.dense of integers of a few bits. Where unipolar, a bit of the weight stands for 1 or -1; else for 1 or 0.
    - weight: a row for each column of the result
    .data_bits: how many bits of the data count
    .weight_bits: how many bits of the weight count
    .pack_dtype: of TVM's text: words that its kernels pack bits in
    .unipolar: whether a bit of the weight is 1 or -1, rather than 1 or 0
    numpy with unipolar=False: data @ weight.T
    try i(2, 2, 32), i(2, 3, 32), unipolar=False
nn.bitserial_conv2d (data[N, C, H, W], weight[O, C, KH, KW]) -> [N, O, H', W']
    nn.conv2d of integers of a few bits. Where unipolar, a bit of the weight stands for 1 or -1; else for 1 or 0.
    - weight: the kernels
    .activation_bits: how many bits of the data count
    .weight_bits: how many bits of the weight count
    .pack_dtype: of TVM's text: words that its kernels pack bits in
    .unipolar: whether a bit of the weight is 1 or -1, rather than 1 or 0
    try i(2, 1, 2, 5, 5), i(2, 3, 2, 3, 3), unipolar=False
nn.deformable_conv2d (data[N, C, H, W], offset[N, G * KH * KW * 2, H', W'], weight[O, I, KH, KW]) -> [N, O, H', W']
    A convolution whose windows read the data where an offset moves each of their elements to, between elements by bilinear interpolation.
    - offset: rows, then columns, for each element of the window, for each group of channels
    - weight: the kernels; O is the result's channels, I is C / groups
    .deformable_groups: in how many groups channels are divided, each with offsets of its own
    try f(1, 2, 5, 5), f(1, 18, 3, 3), f(3, 2, 3, 3), kernel_size=(3, 3), channels=3
nn.correlation (data1[N, C, H, W], data2[N, C, H, W]) -> [N, (2 * max_displacement // stride2 + 1) ** 2, H', W']
    How much a window of one picture is like those around it in another: for each displacement the mean of the products.
    - data1: the one
    - data2: the other
    .kernel_size: the edge of the windows
    .max_displacement: how far windows of data2 are away at most
    .stride1: how far windows of data1 are apart
    .stride2: how far displacements are apart
    .is_multiply: whether it is the mean of the products; else of the distances
    try f(1, 2, 5, 5), f(1, 2, 5, 5), kernel_size=1, max_displacement=1, stride1=1, stride2=1, padding=(1, 1), is_multiply=True, layout="NCHW"
nn.max_pool2d_grad (out_grad[N, C, H', W'], data[N, C, H, W]) -> [N, C, H, W]
    The gradient of nn.max_pool2d: each element of the result's gradient, added where its window has its largest element.
    - out_grad: the gradient of the result
    try f(1, 2, 2, 2), f(1, 2, 4, 4), pool_size=(2, 2), strides=(2, 2)
nn.avg_pool2d_grad (out_grad[N, C, H', W'], data[N, C, H, W]) -> [N, C, H, W]
    The gradient of nn.avg_pool2d: each element of the result's gradient, spread over its window.
    - out_grad: the gradient of the result
    numpy with pool_size=(2, 2), strides=(2, 2): out_grad.repeat(2, 2).repeat(2, 3) / 4
    try f(1, 2, 2, 2), f(1, 2, 4, 4), pool_size=(2, 2), strides=(2, 2)
nn.upsampling (data[N, C, H, W]) -> [N, C, H', W']
    Pictures, some times as large.
    .method: "nearest_neighbor", "bilinear" or "bicubic"
    numpy with scale_h=2, scale_w=3: data.repeat(2, 2).repeat(3, 3)
    try f(1, 2, 3, 4), scale_h=2.0, scale_w=3.0
nn.upsampling3d (data[N, C, D, H, W]) -> [N, C, D', H', W']
    Volumes, some times as large.
    .method: "nearest_neighbor" or "trilinear"
    try f(1, 2, 2, 3, 4), scale_d=2.0, scale_h=2.0, scale_w=2.0
nn.pad (data[...], pad_value[]) -> "as data, with pad_width more along each axis"
    Elements put around the data.
    - pad_value: what is put there, in mode "constant"
    numpy with pad_mode="constant": np.pad(data, pad_width, constant_values=pad_value)
    try f(2, 3), s(1.5), pad_width=[[1, 0], [2, 1]]
nn.mirror_pad (data[...]) -> "as data, with pad_width more along each axis"
    The data mirrored at its edges.
    .mode: "SYMMETRIC": with the outermost element; any other, "REFLECT": without it
    numpy with mode="SYMMETRIC": np.pad(data, pad_width, "symmetric")
    try f(3, 4), pad_width=[[1, 0], [2, 1]], mode="SYMMETRIC"
nn.dilate (data[...]) -> "(size - 1) * stride + 1 along each axis"
    Elements put apart, with a number between them.
    .strides: how far apart, for each axis
    .dilation_value: what stands between them
    numpy: (lambda out: (out.__setitem__((slice(None, None, 2), slice(None, None, 3)), data), out)[1])(np.full((3, 7), dilation_value, data.dtype))
    try f(2, 3), strides=[2, 3]
nn.depth_to_space (data[N, C, H, W]) -> [N, C // block_size ** 2, H * block_size, W * block_size]
    Channels become square blocks of positions.
    try f(1, 8, 2, 3), block_size=2
nn.space_to_depth (data[N, C, H, W]) -> [N, C * block_size ** 2, H // block_size, W // block_size]
    Square blocks of positions become channels, position first.
    .mode: not read: it is "DCR", position first
    try f(1, 2, 4, 6), block_size=2
nn.space_to_batch_nd (data[N, ...]) -> "N times the product of block_shape; then the padded sizes divided by block_shape"
    Blocks of positions become entries of the batch, after padding.
    .block_shape: the sizes of a block, for the axes behind the first
    .paddings: how many rows are put before and behind each of these axes
    .pad_value: what is put there
    try f(1, 4, 4, 2), block_shape=[2, 2], paddings=[[0, 0], [0, 0]]
nn.batch_to_space_nd (data[N, ...]) -> "N divided by the product of block_shape; then the sizes times block_shape, less crops"
    Entries of the batch become blocks of positions; then edges are cut off.
    .block_shape: the sizes of a block, for the axes behind the first
    .crops: how many rows are cut off before and behind each of these axes
    try f(4, 2, 2, 3), block_shape=[2, 2], crops=[[0, 0], [0, 0]]
nn.fifo_buffer (data[...], buffer[...]) -> "as buffer"
    A queue of a fixed length along an axis: new data comes in behind, the oldest goes.
    - data: what is new
    - buffer: the queue as it was
    numpy with axis=0: np.concatenate([buffer, data])[data.shape[0]:]
    try f(2, 3), f(5, 3), axis=0
nn.cross_entropy (predictions[N, C], targets[N, C]) -> []
    The mean over rows of -sum(targets * log(predictions)).
    - predictions: probabilities of classes
    - targets: those that are right
    numpy: -(targets * np.log(predictions)).sum() / len(targets)
    try p(2, 3), p(2, 3)
nn.cross_entropy_with_logits (predictions[N, C], targets[N, C]) -> []
    The mean over rows of -sum(targets * predictions), of predictions that are logarithms.
    - predictions: logarithms of the probabilities of classes
    - targets: the probabilities that are right
    numpy: -(targets * predictions).sum() / len(targets)
    try f(2, 3), p(2, 3)
nn.nll_loss (predictions[N, C, ...], targets[N, ...], weights[C]) -> "one number; as targets with reduction=\\"none\\""
    The negated logarithm of the right class's probability, times its weight. Targets of ignore_index have none.
    - predictions: logarithms of the probabilities of classes
    - targets: the number of the right class
    - weights: a weight for each class
    .reduction: "mean" (by the weights), "sum" or "none"
    .ignore_index: the number that targets without a class have
    numpy with reduction="mean": -(predictions[np.arange(len(targets)), targets] * weights[targets]).sum() / weights[targets].sum()
    try f(2, 3), i(3, 2), p(3), reduction="mean", ignore_index=-100
nn.sparse_dense (dense_mat[M, K], data[...], indices[nnz], indptr[N + 1]) -> [M, N]
    The product of a dense matrix and of the transpose of a sparse one (CSR or BSR). The function takes its three parts as sparse_mat.
    - dense_mat: the dense matrix
    - data: the elements of the sparse one: numbers, or blocks of them
    - indices: the column of each
    - indptr: where each row begins among them
    .sparse_lhs: whether it is the sparse matrix times the dense one's transpose
    try f(2, 3), f(3), k([0, 2, 1], "int32"), k([0, 2, 3], "int32")
nn.sparse_add (dense_mat[M, N], data[nnz], indices[nnz], indptr[M + 1]) -> [M, N]
    The sum of a dense matrix and of a sparse one (CSR). The function takes its three parts as sparse_mat.
    - dense_mat: the dense matrix
    - data: the elements of the sparse one
    - indices: the column of each
    - indptr: where each row begins among them
    try f(2, 3), f(3), k([0, 2, 1], "int32"), k([0, 2, 3], "int32")
nn.sparse_transpose (data[nnz], indices[nnz], indptr[N + 1]) -> data[nnz] indices[nnz] indptr[N + 1]
    The transpose of a square sparse matrix (CSR), as its three parts. The function takes them as x.
    - data: the elements
    - indices: the column of each
    - indptr: where each row begins among them
    try f(3), k([0, 1, 1], "int32"), k([0, 2, 3], "int32")
nn.sparse_conv2d (data[N, H, W, C], kernel_data[...], kernel_indices[nnz], kernel_indptr[rows]) -> [N, H', W', O]
    A convolution by a sparse kernel (CSR or BSR) of 1 x 1 elements.
    - kernel_data: the elements of the kernel: numbers, or blocks of them
    - kernel_indices: the column of each
    - kernel_indptr: where each row begins among them
    .kernel_size: the sizes of the kernel
    try f(1, 3, 3, 4), f(3), k([0, 2, 1], "int32"), k([0, 2, 3], "int32"), layout="NHWC", kernel_size=[1, 1]
image.crop_and_resize (data[N, C, H, W], boxes[R, 4], box_indices[R]) -> [R, C, *crop_size]
    Parts of pictures, brought to one size.
    - boxes: top, left, bottom and right of each, from 0 to 1
    - box_indices: which picture of the batch each is of
    .crop_size: the sizes of the result
    .method: "bilinear" or "nearest_neighbor"
    try f(1, 2, 6, 6), k([[0.0, 0.0, 0.5, 0.5], [0.25, 0.25, 1.0, 1.0]], "float32"), k([0, 0], "int32"), crop_size=[3, 3], layout="NCHW"
image.dilation2d (data[N, C, H, W], weight[C, KH, KW]) -> [N, C, H', W']
    Greyscale dilation: the largest sum of a window of the data and of the weight.
    - weight: what is added to the window of each channel
    .dilations: how far the window's elements are apart, for each axis
    numpy with default attributes: (np.lib.stride_tricks.sliding_window_view(data, weight.shape[1:], (2, 3)) + weight[:, None, None]).max((-2, -1))
    try f(1, 2, 5, 5), f(2, 3, 3)
image.affine_grid (data[N, 2, 3]) -> [N, 2, *target_shape]
    A grid of points between -1 and 1, moved by a matrix for each picture: where image.grid_sample reads it.
    - data: matrices of 2 x 3
    .target_shape: the rows and columns of the grid
    numpy: np.einsum("nij,jyx->niyx", data, np.stack([*np.meshgrid(np.linspace(-1, 1, target_shape[1]), np.linspace(-1, 1, target_shape[0])),
        np.ones(target_shape)]))
    try f(1, 2, 3), target_shape=[3, 4]
image.grid_sample (data[N, C, ...], grid[N, 2, ...]) -> "N, C, then the dims of grid behind the second"
    Pictures read where a grid says, between elements by interpolation.
    - grid: for each element of the result a column and a row (and a layer, of volumes), between -1 and 1
    .method: "nearest", "bilinear" or, of pictures, "bicubic"
    .padding_mode: what stands outside the data: "zeros", "border": the outermost element, "reflection": elements mirrored there
    try f(1, 2, 4, 4), f(1, 2, 3, 3)
"""

_LETTERS = {1: "W", 2: "HW", 3: "DHW"}


def _of_axes(n):
    letters = _LETTERS[n]

    def each(text):
        return ", ".join(text for _ in letters)
    sizes = "456"[3 - n:]
    return WINDOWED.format(
        n=n, x=", ".join(letters), y=", ".join(f"{c}'" for c in letters), k=", ".join(f"K{c}" for c in letters), s=letters.lower(),
        w="ZYX"[3 - n:], at=tuple(range(2, 2 + n)), last=tuple(range(-n, 0)), eight=", ".join(sizes), three=each("3"),
        threes=f"({each('3')},)", twos=f"({each('2')},)", ones=each("1"), unit=f"({each('1')},)", sizes=[2 * int(c) for c in sizes],
        axes={1: "one axis", 2: "rows and columns", 3: "layers, rows and columns"}[n],
        twice="data" + "".join(f".repeat(2, {2 + i})" for i in range(n)))


ROWS += "".join(map(_of_axes, _LETTERS))
