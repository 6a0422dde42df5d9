'''What the other operators compute, in words (detection, random numbers, texts, quantised numbers, shapes that data gives, markers):
operator_rows.py says how to read it.'''

ROWS = """
vision.multibox_prior (data[N, C, H, W]) -> [1, boxes, 4]
    Boxes around each position of a feature map, as left, top, right and bottom from 0 to 1.
    - data: the feature map; its elements do not matter
    .sizes: edges of boxes, as parts of the picture
    .ratios: widths by heights
    .steps: how far positions are apart, as parts of the picture; -1: as the feature map's size says
    .offsets: where in its cell a position is
    .clip: whether boxes are cut off at the picture's edges
    try f(1, 2, 2, 2), sizes=(0.5,), ratios=(1.0,)
vision.multibox_transform_loc (cls_prob[N, classes, boxes], loc_pred[N, boxes * 4], anchor[1, boxes, 4]) -> boxes[N, boxes, 6] valid_count[N]
    Boxes of a detector: predictions applied to anchors, as class, score, left, top, right and bottom; and how many there are.
    - cls_prob: probabilities of classes, the background first
    - loc_pred: how boxes differ from their anchors
    - anchor: the boxes of vision.multibox_prior
    .clip: whether boxes are cut off at the picture's edges
    .threshold: the least score of boxes that count
    .variances: what the four parts of a prediction are multiplied by
    .keep_background: whether boxes of the background are kept
    try p(1, 3, 4), f(1, 16), f(1, 4, 4)
vision.get_valid_counts (data[N, boxes, width], score_threshold[]) -> counts[N] data[N, boxes, width] indices[N, boxes]
    The boxes whose score is above a threshold, moved to the front: how many, the boxes, and where they stood. The rest is -1.
    - data: rows of a class, a score and a box
    - score_threshold: what scores must be above
    .score_threshold: what TVM's text has of the operand
    try f(1, 4, 6), s(0.0)
vision.non_max_suppression (data[N, boxes, width], valid_count[N], indices[N, boxes], max_output_size[], iou_threshold[]) -> indices[N, boxes]
        counts[N, 1]
    Boxes that overlap none of a higher score too much: their numbers in order of score, and how many. Without return_indices, the boxes.
    - data: rows of a class, a score and a box
    - valid_count: how many rows count
    - indices: the numbers that rows had (vision.get_valid_counts)
    - max_output_size: how many are kept at most; -1: all
    - iou_threshold: how far boxes may overlap: the common part by the whole
    .force_suppress: whether boxes of different classes are compared too
    .top_k: how many rows of the highest scores are looked at; -1: all
    .coord_start: where in a row the box begins
    .return_indices: whether numbers are given, rather than boxes
    .invalid_to_bottom: whether rows that stay come first
    try f(1, 4, 6), k([4], "int32"), k([[0, 1, 2, 3]], "int32"), k(-1, "int32"), s(0.5)
vision.all_class_non_max_suppression (boxes[N, boxes, 4], scores[N, classes, boxes], max_output_boxes_per_class[], iou_threshold[],
        score_threshold[]) -> selected[n, 3] counts[1]
    Boxes that overlap none of their class and of a higher score too much: rows of picture, class and box, and how many are meant.
    With output_format="tensorflow" a third field has scores.
    - boxes: two corners
    - scores: a score for each class and box
    - max_output_boxes_per_class: how many are kept of each class at most
    - iou_threshold: how far boxes may overlap: the common part by the whole
    - score_threshold: what scores must be above
    .output_format: "onnx"; any other: "tensorflow"
    try p(1, 4, 4), p(1, 2, 4), k(2, "int64"), s(0.5), s(0.0)
vision.regular_non_max_suppression (boxes[N, boxes, 4], scores[N, boxes, classes]) -> boxes[N, max_detections, 4] classes[N, max_detections]
        scores[N, max_detections] counts[N]
    The detections of TensorFlow Lite: for each class, boxes that overlap none of a higher score too much, and of all classes the best ones.
    - boxes: top, left, bottom and right
    - scores: a score for each box and class, the background's in front
    .max_detections_per_class: how many are kept of each class at most
    .max_detections: how many are kept in all
    .num_classes: how many classes there are
    try p(1, 4, 4), p(1, 4, 2), max_detections_per_class=2, max_detections=3, num_classes=2, iou_threshold=0.5, score_threshold=0.0
vision.roi_align (data[N, C, H, W], rois[R, 5]) -> [R, C, *pooled_size]
    Parts of feature maps, in a grid of bins: each is the mean (or the largest) of samples between elements.
    - rois: the picture's number, then left, top, right and bottom
    .sample_ratio: how many samples a bin has along each axis; below 1: as its size says
    .mode: "avg", "max", or "max_of_corners" (ONNX's max)
    .aligned: whether boxes are moved by half an element first
    try f(1, 2, 6, 6), k([[0.0, 0.0, 0.0, 4.0, 4.0]], "float32"), pooled_size=(2, 2), spatial_scale=1.0
vision.roi_pool (data[N, C, H, W], rois[R, 5]) -> [R, C, *pooled_size]
    Parts of feature maps, in a grid of bins: each is its largest element.
    - rois: the picture's number, then left, top, right and bottom
    try f(1, 2, 6, 6), k([[0.0, 0.0, 0.0, 4.0, 4.0]], "float32"), pooled_size=(2, 2), spatial_scale=1.0
vision.proposal (cls_prob[N, A * 2, H, W], bbox_pred[N, A * 4, H, W], im_info[N, 3]) -> [N * rpn_post_nms_top_n, 5]
    Proposals of a region proposal network: the best of its boxes, as the picture's number, left, top, right and bottom.
    - cls_prob: scores of the background, then of objects, for each anchor
    - bbox_pred: how boxes differ from their anchors
    - im_info: height, width and scale of each picture
    .scales: edges of anchors
    .ratios: heights by widths of anchors
    .feature_stride: how many pixels a position is
    .threshold: how far boxes may overlap: the common part by the whole
    .rpn_pre_nms_top_n: how many of the highest scores are looked at; -1: all
    .rpn_post_nms_top_n: how many are given for each picture
    .rpn_min_size: the least edge of a box
    .iou_loss: whether predictions are distances from the anchor's edges
    try p(1, 2, 2, 2), f(1, 4, 2, 2), k([[32.0, 32.0, 1.0]], "float32"), scales=[1.0], ratios=[1.0], feature_stride=16, threshold=0.7,
        rpn_pre_nms_top_n=4, rpn_post_nms_top_n=2, rpn_min_size=1, iou_loss=False
vision.yolo_reorg (data[N, C, H, W]) -> [N, C * stride ** 2, H // stride, W // stride]
    Darknet's reorg: positions become channels, in the order that Darknet has.
    .stride: the edge of a block
    try f(1, 4, 4, 4), stride=2
dft (re_data[..., n], im_data[..., n]) -> real[..., n] imaginary[..., n]
    The discrete Fourier transform along the last axis.
    - re_data: real parts
    - im_data: imaginary parts
    .inverse: whether it is the inverse transform, divided by n
    numpy with inverse=False: (np.fft.fft(re_data + 1j * im_data).real, np.fft.fft(re_data + 1j * im_data).imag)
    try f(2, 4), f(2, 4)
stft (data[..., n], window[win_length]) -> "... , n_fft // 2 + 1 (onesided) or n_fft, frames, 2"
    Fourier transforms of a window that moves over a signal: real and imaginary part of each frequency, for each place.
    - data: the signal, or a batch of signals
    - window: what a piece of the signal is multiplied by
    .n_fft: how long a piece is
    .hop_length: how far places are apart
    .win_length: how long the window is
    .normalized: whether results are divided by the root of n_fft
    .onesided: whether frequencies above the middle are left out, which repeat the others
    try f(8), f(4), n_fft=4, hop_length=2, win_length=4
random.threefry_key (seed[]) -> [10]
    The state of a generator, of a number: a constant.
    - seed: an int
    try 7
random.threefry_generate (key[10]) -> key[10] numbers[*out_shape]
    Random numbers of 64 bits (Threefry), and the generator's next state.
    try key(), shape=[4]
random.threefry_split (key[10]) -> key[10] key[10]
    Two generators of one, which are independent of each other.
    try key()
random.uniform (key[10], low[], high[]) -> key[10] numbers[*out_shape]
    Random numbers between two bounds, all as likely, and the generator's next state.
    - low: the lower bound
    - high: the upper bound, which is left out
    try key(), s(0.0), s(1.0), shape=[4], dtype="float32"
random.normal (key[10], mean[], scale[]) -> key[10] numbers[*out_shape]
    Random numbers of the normal distribution, and the generator's next state.
    - mean: their mean
    - scale: their standard deviation
    try key(), s(0.0), s(1.0), shape=[4], dtype="float32"
random.multinomial (key[10], probs[..., classes]) -> key[10] indices[..., num_samples]
    Random numbers of classes, by their probabilities, and the generator's next state.
    - probs: a weight for each class
    .num_samples: how many
    try key(), p(2, 3), num_samples=4
string.concat (lhs[...], rhs[...]) -> [broadcast]
    Texts, one behind the other.
    try text("a", "b"), text("c")
string.id (data[...]) -> [...]
    A number for each text: the same for the same text in a run, and that of a constant is its own.
    - data: texts
    try text("a", "b")
string.rank (data[...]) -> [...]
    The place of each text in the order of the characters, the same for the same text.
    - data: texts
    try text("b", "a", "b")
string.normalize (data[n], stop_words[m]) -> [words]
    Texts in upper or lower case without some of them; one empty text where nothing is left.
    - data: texts
    - stop_words: texts that are left out
    .change_case: 1: to lower case, 2: to upper case, 0: as they are
    .case_sensitive: whether a stop word is left out only in its own case
    .ascii: whether the letters of other alphabets stay as they are
    try text("A", "b"), text("b"), change_case=1
string.split_count (data[...], delimiter[1]) -> [...]
    How many parts each text has.
    - data: texts
    - delimiter: what stands between parts; "": white space
    .maxsplit: how many times a text is split at most; -1: as often as it can be
    try text("a b", "c"), text(" ")
string.split (data[...], delimiter[1], count[1]) -> [..., parts]
    The parts of each text; texts with fewer parts than there is room for end in empty ones.
    - data: texts
    - delimiter: what stands between parts; "": white space
    - count: how many parts there is room for
    .maxsplit: how many times a text is split at most; -1: as often as it can be
    try text("a b", "c"), text(" "), k([2])
string.full_match (data[...], program[n, 3]) -> [...]
    Whether each text matches a regular expression as a whole.
    - data: texts
    - program: the expression, compiled: importers write it
    try text("a", "b"), k([[0, 0, 0]])
string.count_tokens (data[...], programs[n, 3], starts[k]) -> [...]
    How many tokens each text has: what matches a regular expression, or what is left between the matches of each of several in turn.
    - data: texts
    - programs: the expressions, compiled, one behind the other: importers write them
    - starts: the row at which each expression begins
    .are_matches: whether tokens are what matches
    .least: how many characters a token has at least
    try text("a", "b"), k([[1, 97, 98], [0, 0, 0]]), k([0]), are_matches=True
string.tokens (data[...], programs[n, 3], starts[k], around[3], count[1]) -> [..., tokens]
    The tokens of each text, as string.count_tokens counts them.
    - data: texts
    - programs: the expressions, compiled, one behind the other: importers write them
    - starts: the row at which each expression begins
    - around: texts before the tokens, after them, and in the places of those that a text has fewer than there is room for
    - count: how many tokens there is room for, those before and after with them
    .are_matches: whether tokens are what matches
    .least: how many characters a token has at least
    .mark: whether the texts before and after are written
    try text("a", "b"), k([[1, 97, 98], [0, 0, 0]]), k([0]), text("<", ">", ""), k([3]), are_matches=True, mark=True
string.to_number (data[...]) -> [...]
    The number that each text is.
    - data: texts
    .dtype: the dtype of the result
    try text("1", "2.5"), dtype="float32"
string.from_number (data[...]) -> [...]
    Each number as text.
    - data: numbers
    try f(2, 3)
murmur3 (data[...]) -> [...]
    The hash MurmurHash3 of 32 bits of each number's bytes, or of each text's.
    - data: numbers or texts
    .seed: what the hash begins with
    .dtype: uint32 or int32
    try f(2, 3), dtype="uint32"
count_grams (data[rows, n], grams[k, length], columns[k]) -> [rows, width]
    How often each of some sequences of numbers stands in a row.
    - grams: the sequences, in order
    - columns: for each the column of the result that counts it
    .width: how many columns the result has
    .skips: how many numbers may be left out between two of a sequence
    try i(3, 2, 4), k([[0, 1], [1, 2]]), k([0, 1]), width=2
contrib_byte_table (data[...], table[256]) -> [...]
    Each byte, replaced by what a table has at its place. The compiler writes it where operators of int8 or uint8 follow each other.
    - table: the bytes that stand for 0, 1 ... 255
    numpy: table[data]
    try u8(2, 3), u8(256)
check_range (values[...], begin[n], end[n]) -> [n]
    The ends as they are, after a check that all values lie between their bounds: at or above begin, below end. A value that does not is an error.
    - values: what is checked
    - begin: the least values: one, or one for each place along the last axis
    - end: what values must be below
    numpy: end
    try i(3, 2, 4), k([0]), k([3])
range_checked (values[...], begin[...], end[...]) -> "as values"
    The values as they are, after a check that they lie between their bounds: at or above begin, below end. A value that does not is an error.
    - values: what is checked
    - begin: the least values: one, or one for each place along the last axis
    - end: what values must be below
    numpy: values
    try i(3, 2, 4), k([0]), k([3])
sparse_to_dense (sparse_indices[...], sparse_values[...], default_value[]?) -> [*output_shape]
    A tensor with values at some places, and another value elsewhere.
    - sparse_indices: the places: a row for each value, or a number for each
    - sparse_values: what stands there
    - default_value: what stands elsewhere; 0 where it is left out
    .output_shape: the sizes of the result
    try k([[0, 1], [2, 0]]), f(2), s(0.5), output_shape=[3, 2]
sparse_fill_empty_rows (sparse_indices[n, rank], sparse_values[n], dense_shape[rank], default_value[]) -> indices[m, rank] values[m] empty_rows[rows]
    A sparse tensor with a value put into each row that has none; and which rows those were.
    - sparse_indices: places, in order
    - sparse_values: what stands there
    - dense_shape: the sizes of the tensor
    - default_value: what is put into empty rows
    try k([[0, 1], [2, 0]]), k([5, 6]), k([3, 2]), k(9)
sparse_reshape (sparse_indices[n, rank], prev_shape[rank], new_shape[new_rank]) -> indices[n, new_rank] shape[new_rank]
    The places of a sparse tensor's values under another shape.
    - sparse_indices: places
    - prev_shape: the sizes as they were
    - new_shape: the sizes as they shall be; -1, once: what is left over
    try k([[0, 1], [2, 0]]), k([3, 2]), k([2, 3])
dyn.broadcast_to (data[...], shape[rank]) -> "shape"
    As broadcast_to, of a shape that the program computes.
    - shape: the sizes of the result
    .shape: what TVM's text has of the operand
    numpy: np.broadcast_to(data, shape)
    try f(3), k([2, 3])
dyn.expand_dims (data[...], axis[]) -> "as data, with num_newaxis dims of 1 in front of axis"
    As expand_dims, of an axis that the program computes.
    - axis: where the dims begin
    .num_newaxis: how many
    .axis: what TVM's text has of the operand
    numpy: np.expand_dims(data, axis)
    try f(2, 3), k(1)
dyn.full (fill_value[], shape[rank]) -> "shape"
    As full, of a shape that the program computes.
    - fill_value: the number
    - shape: the sizes of the result
    .shape: what TVM's text has of the operand
    numpy: np.full(shape, fill_value)
    try s(1.5), k([2, 3]), dtype="float32"
dyn.ones dyn.zeros (shape[rank]) -> "shape"
    As ones and zeros, of a shape that the program computes.
    - shape: the sizes of the result
    .shape: what TVM's text has of the operand
    try k([2, 3]), dtype="float32"
dyn.reshape (data[...], newshape[rank]) -> "newshape, its codes replaced"
    As reshape, of sizes that the program computes.
    - newshape: sizes; 0: the size of data at this place; -1: what is left over, once
    .newshape: what TVM's text has of the operand
    .allowzero: whether 0 is a size of 0
    numpy: data.reshape(newshape)
    try f(2, 6), k([3, 4])
dyn.squeeze (data[...], axis[n]) -> "as data, without those dims"
    As squeeze, of axes that the program computes.
    - axis: which dims of 1 are taken out
    .axis: what TVM's text has of the operand
    numpy: np.squeeze(data, tuple(axis))
    try f(2, 1, 3), k([1])
dyn.strided_slice (data[...], begin[n], end[n], strides[n]) -> "as data, with the sizes of the slices"
    As strided_slice, of places that the program computes.
    - begin: the first place along each axis; below 0 from the end
    - end: the place behind the last one; below 0 from the end
    - strides: how far places are apart; below 0 backwards
    .begin: what TVM's text has of the operand
    .end: what TVM's text has of the operand
    .strides: what TVM's text has of the operand
    .slice_mode: "end": end is a place; "size": end is how many, -1 all that follow, and strides are 1
    .axes: none: the first axes are meant
    numpy: data[0:2, 1:4:2]
    try f(3, 4), k([0, 1]), k([2, 4]), k([1, 2])
dyn.tile (data[...], reps[n]) -> "each dim times reps"
    As tile, of numbers that the program computes.
    - reps: how often, for each axis
    .reps: what TVM's text has of the operand
    numpy: np.tile(data, reps)
    try f(2, 3), k([2, 2])
dyn.topk (data[...], k[]) -> values"as data, with k along axis" indices"as data, with k along axis"
    As topk, of a number that the program computes.
    - k: how many; below 1: all
    .ret_type: "both": a tuple of values and places; "values" or "indices": one of them
    .is_ascend: whether the smallest elements are meant, the smallest first
    .k: what TVM's text has of the operand
    .below_one_is_none: whether a k below 1 gives no elements, rather than all
    numpy: (-np.sort(-data, axis)[..., :k], np.argsort(-data, axis)[..., :k])
    try f(3, 4), n(2), dtype="int64"
dyn.one_hot (indices[...], on_value[], off_value[], depth[]) -> "dims of indices, with depth at axis"
    As one_hot, of a depth that the program computes.
    - indices: the places
    - on_value: what stands there
    - off_value: what stands elsewhere
    - depth: how long rows are
    .depth: what TVM's text has of the operand
    .axis: where in the result they lie; -1: behind the last axis
    numpy: np.where(indices[..., None] == np.arange(depth), on_value, off_value)
    try i(4, 5), s(1.0), s(0.0), n(4), dtype="float32"
dyn.nn.pad (data[...], pad_width[rank, 2], pad_value[]) -> "as data, with pad_width more along each axis"
    As nn.pad, of widths that the program computes.
    - pad_width: for each axis how many elements are put before and behind
    - pad_value: what is put there, in mode "constant"
    .pad_width: what TVM's text has of the operand
    numpy with pad_mode="constant": np.pad(data, pad_width, constant_values=pad_value)
    try f(2, 3), k([[1, 0], [2, 1]]), s(1.5)
dyn.nn.upsampling (data[N, C, H, W], scale_h[], scale_w[]) -> [N, C, H', W']
    As nn.upsampling, of scales that the program computes.
    - scale_h: how many times the rows
    - scale_w: how many times the columns
    .scale_h: what TVM's text has of the operand
    .scale_w: what TVM's text has of the operand
    .method: "nearest_neighbor", "bilinear" or "bicubic"
    numpy with scales of 2 and 3: data.repeat(2, 2).repeat(3, 3)
    try f(1, 2, 3, 4), s(2.0), s(3.0)
dyn.nn.upsampling3d (data[N, C, D, H, W], scale_d[], scale_h[], scale_w[]) -> [N, C, D', H', W']
    As nn.upsampling3d, of scales that the program computes.
    - scale_d: how many times the layers
    - scale_h: how many times the rows
    - scale_w: how many times the columns
    .scale_d: what TVM's text has of the operand
    .scale_h: what TVM's text has of the operand
    .scale_w: what TVM's text has of the operand
    .method: "nearest_neighbor" or "trilinear"
    try f(1, 2, 2, 3, 4), s(2.0), s(2.0), s(2.0)
dyn.image.resize2d (data[N, C, H, W], size[2], roi[...]) -> [N, C, H', W']
    As image.resize2d, of a size that the program computes.
    - size: the rows and columns of the result
    - roi: the part that is taken, for "tf_crop_and_resize": where each axis begins, then where each ends, from 0 to 1
    .size: what TVM's text has of the operand
    .roi: what TVM's text has of the operand
    .method: "nearest_neighbor", "linear" or "cubic"
    try f(1, 2, 3, 4), k([6, 8]), k([0.0, 0.0, 1.0, 1.0], "float32")
dyn.sparse_to_dense (sparse_indices[...], sparse_values[...], default_value[], output_shape[rank]) -> "output_shape"
    As sparse_to_dense, of a shape that the program computes.
    - sparse_indices: the places: a row for each value, or a number for each
    - sparse_values: what stands there
    - default_value: what stands elsewhere
    - output_shape: the sizes of the result
    try k([[0, 1], [2, 0]]), f(2), s(0.5), k([3, 2])
qnn.quantize (data[...], output_scale[], output_zero_point[]) -> [...]
    Real numbers as integers: divided by the scale and rounded, halves away from 0, plus the zero point, and kept within the result's dtype.
    - output_scale: how much a step is; one, or one for each place along axis
    - output_zero_point: which integer stands for 0; one, or one for each place along axis
    numpy: np.clip(np.round(data / output_scale) + output_zero_point, -128, 127)
    try f(2, 3), s(0.03), k(3, "int32"), out_dtype="int8"
qnn.dequantize (data[...], input_scale[], input_zero_point[]) -> [...]
    Integers as real numbers: the zero point taken away, times the scale.
    - input_scale: how much a step is; one, or one for each place along axis
    - input_zero_point: which integer stands for 0; one, or one for each place along axis
    numpy: (data.astype("float32") - input_zero_point) * input_scale
    try i8(2, 3), s(0.5), k(3, "int32")
qnn.requantize (data[...], input_scale[], input_zero_point[], output_scale[], output_zero_point[]) -> [...]
    Integers of one scale and zero point as integers of another.
    - input_scale: how much a step of the data is; one, or one for each place along axis
    - input_zero_point: which integer stands for 0 in the data; one, or one for each place along axis
    .rounding: "UPWARD": halves go up; "TONEAREST": away from 0; "None": as the program's target says, which is UPWARD
    .compute_dtype: what numbers are computed as: "int64", "float32", "float64"; "None": int64
    numpy: np.clip(np.floor((data - input_zero_point) * (input_scale / output_scale) + 0.5) + output_zero_point, -128, 127)
    try k([[300, -200], [7, 1]], "int32"), s(0.5), k(0, "int32"), s(1.0), k(3, "int32"), out_dtype="int8"
qnn.simulated_quantize (data[...], out_dtype[], output_scale[], output_zero_point[]) -> [...]
    What qnn.quantize makes, as real numbers, so that a program can be calibrated.
    - out_dtype: a code: 0 leaves the data as it is, 1: int8, 2: uint8, 3: int32. The function takes a name and puts it last
    - output_scale: how much a step is; one, or one for each place along axis
    - output_zero_point: which integer stands for 0; one, or one for each place along axis
    try f(2, 3), k(1, "int32"), s(0.5), k(0, "int32")
qnn.simulated_dequantize (data[...], in_dtype[], input_scale[], input_zero_point[]) -> [...]
    What qnn.dequantize makes, of qnn.simulated_quantize's numbers.
    - in_dtype: a code: 0 leaves the data as it is, 1: int8, 2: uint8, 3: int32. The function takes a name and puts it last
    - input_scale: how much a step is; one, or one for each place along axis
    - input_zero_point: which integer stands for 0; one, or one for each place along axis
    .out_dtype: of TVM's text: the result is of the data's dtype
    try f(2, 3), k(1, "int32"), s(0.5), k(0, "int32")
qnn.add qnn.subtract qnn.mul (lhs[...], rhs[...], lhs_scale[], lhs_zero_point[], rhs_scale[], rhs_zero_point[], output_scale[], output_zero_point[])
        -> [broadcast]
    The sum (difference, product) of quantised numbers, quantised anew.
    - lhs_scale: how much a step of lhs is
    - lhs_zero_point: which number stands for 0 in lhs
    - rhs_scale: how much a step of rhs is
    - rhs_zero_point: which number stands for 0 in rhs
    try i8(2, 3), i8(3), s(0.5), k(0, "int32"), s(0.5), k(0, "int32"), s(1.0), k(0, "int32")
qnn.abs qnn.erf qnn.exp qnn.hardswish qnn.log qnn.rsqrt qnn.sigmoid qnn.sqrt qnn.tanh (x[...], scale[], zero_point[], output_scale[],
        output_zero_point[]) -> [...]
    The function of that name (hardswish: x * min(max(x + 3, 0), 6) / 6) of quantised numbers, quantised anew.
    - x: the input
    try u8(2, 3), s(0.1), k(0, "int32"), s(0.1), k(0, "int32")
qnn.leaky_relu (x[...], input_scale[], input_zero_point[], output_scale[], output_zero_point[]) -> [...]
    nn.leaky_relu of quantised numbers, quantised anew.
    - x: the input
    .alpha: the slope below 0
    try i8(2, 3), s(0.1), k(0, "int32"), s(0.1), k(0, "int32"), alpha=0.1
qnn.softmax (x[...], scale[], zero_point[], output_scale[], output_zero_point[]) -> [...]
    nn.softmax of quantised numbers, by integers only, quantised anew.
    - x: the input
    try i8(2, 3), s(0.1), k(0, "int32"), s(0.01), k(0, "int32")
qnn.concatenate (data*[...], input_scales*[], input_zero_points*[], output_scale[], output_zero_point[]) -> "as data, with the sum of their sizes
        along axis"
    Quantised tensors one behind the other, each brought to the result's scale and zero point.
    - data: tensors that agree in all other dims
    - input_scales: how much a step is, for each tensor
    - input_zero_points: which number stands for 0, for each tensor
    numpy of one scale: np.concatenate(data, axis)
    try t(i8(2, 3), i8(2, 4)), t(s(0.5), s(0.5)), t(k(0, "int32"), k(0, "int32")), s(0.5), k(0, "int32"), axis=1
qnn.avg_pool2d (data[N, C, H, W], input_scale[], input_zero_point[], output_scale[], output_zero_point[]) -> [N, C, H', W']
    nn.avg_pool2d of quantised numbers, which are brought to the result's scale first.
    try i8(1, 2, 4, 4), s(0.5), k(0, "int32"), s(0.5), k(0, "int32"), pool_size=(2, 2), strides=(2, 2), padding=(0, 0), dilation=(1, 1), layout="NCHW"
qnn.dense (data[M, K], weight[units, K], input_zero_point[], kernel_zero_point[], input_scale[], kernel_scale[]) -> [M, units]
    nn.dense of quantised numbers: their zero points are taken away first. The result is in steps of input_scale * kernel_scale.
    - kernel_zero_point: which number stands for 0 in the weights; one, or one for each row of the weight
    - kernel_scale: how much a step of the weights is; one, or one for each row of the weight
    numpy: (data.astype("int32") - input_zero_point) @ (weight.astype("int32") - kernel_zero_point).T
    try i8(2, 3), i8(4, 3), k(3, "int32"), k(1, "int32"), s(0.5), s(0.25), units=4
qnn.batch_matmul (x[B, M, K], y[B, N, K], x_zero_point[], y_zero_point[], x_scale[], y_scale[]) -> [B, M, N]
    nn.batch_matmul of quantised numbers: their zero points are taken away first. The result is in steps of x_scale * y_scale.
    - x: the left matrices
    - y: the right matrices
    - x_zero_point: which number stands for 0 in x
    - y_zero_point: which number stands for 0 in y
    - x_scale: how much a step of x is
    - y_scale: how much a step of y is
    numpy with transpose_b=True: (x.astype("int32") - x_zero_point) @ (y.astype("int32") - y_zero_point).swapaxes(1, 2)
    try i8(2, 3, 4), i8(2, 5, 4), k(3, "int32"), k(1, "int32"), s(0.5), s(0.25)
qnn.conv2d_transpose (data[N, C, H, W], weight[C, O, KH, KW], input_zero_point[], kernel_zero_point[], input_scale[], kernel_scale[]) -> [N, O *
        groups, H', W']
    nn.conv2d_transpose of quantised numbers: their zero points are taken away first. The result is in steps of input_scale * kernel_scale.
    try i8(1, 2, 5, 6), i8(2, 3, 3, 3), k(3, "int32"), k(1, "int32"), s(0.5), s(0.25), channels=3, kernel_size=(3, 3)
relay.op.annotation.simulated_quantize (data[...], dom_scale[], clip_min[], clip_max[]) -> [...]
    What TVM's quantisation pass writes: real numbers divided by a scale, rounded and clipped, times the scale.
    - dom_scale: how much a step is
    - clip_min: the least step
    - clip_max: the largest step
    .kind: what the numbers are, by TVM's codes: 0 leaves them as they are
    .sign: of TVM's text
    .rounding: of TVM's text: "round"
    numpy: np.clip(np.round(data / dom_scale), clip_min, clip_max) * dom_scale
    try f(2, 3), s(0.3), s(-3.0), s(3.0), kind=1
annotation.stop_fusion (data[...]) -> [...]
    A marker: the operand itself; no kernel reaches across it.
    try f(2, 3)
annotation.checkpoint annotation.bitpack_start annotation.bitpack_end annotation.with_funcid (data[...]) -> [...]
    A marker for TVM's passes: the operand itself.
    try f(2, 3)
annotation.cast_hint (data[...]) -> [...]
    A marker for TVM's passes: the operand itself.
    .dtype: of TVM's text
    try f(2, 3)
annotation.compiler_begin annotation.compiler_end (data[...]) -> [...]
    A marker: the operand itself; between begin and end a part of a program goes to a library.
    try f(2, 3), compiler="dnnl"
device_copy (data[...]) -> [...]
    A marker: the operand itself; there is one device.
    .src_device: where TVM would have the operand
    .dst_device: where TVM would have the result
    try f(2, 3), src_device="cpu", dst_device="cpu"
on_device (data[...]) -> [...]
    A marker of TVM's text: the operand itself; there is one device.
    try f(2, 3)
annotation.on_device (body[...]) -> [...]
    A marker: the operand itself; there is one device.
    - body: the expression
    .device: which device TVM would compute it on
    try f(2, 3), device="cpu"
annotation.function_on_device (function[...]) -> "the function"
    A marker: the function itself; there is one device.
    - function: the function
    .param_devices: where TVM would have its parameters
    .result_device: where TVM would have its result
"""
