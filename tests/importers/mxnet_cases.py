"""Cases of make_mxnet.py: operators by subject. `m` is that script."""
import numpy as np
import mxnet as mx


def elementwise(m):
    S, case = m.S, m.case
    names = ["abs", "arccos", "arccosh", "arcsin", "arcsinh", "arctan", "arctanh", "cbrt", "ceil", "cos", "cosh", "degrees", "erf", "erfinv", "exp", "expm1", "fix", "floor", "gamma", "gammaln", "hard_sigmoid", "log", "log10", "log1p", "log2", "logical_not", "negative",
             "ones_like", "radians", "rcbrt", "reciprocal", "relu", "rint", "round", "rsqrt", "sigmoid", "sign", "sin", "sinh", "softsign", "sqrt", "square", "tan", "tanh", "trunc", "zeros_like", "digamma", "shape_array", "size_array", "identity", "BlockGrad", "Flatten"]
    for n in [n for n in names if hasattr(S, n)]:
        f = getattr(S, n)
        case(f"un_{n}", lambda a: f(a), (2, 3))
        case(f"un_{n}_f64", lambda a: f(a), ((3, 2), "float64"))
        case(f"un_{n}_i32", lambda a: f(a), ((2, 3), "int32"))
        case(f"un_{n}_f16", lambda a: f(a), ((2, 3), "float16"), rtol=5e-3, atol=5e-3)
        case(f"un_{n}_empty", lambda a: f(a), (1, 3, 1))
    for n in ["add", "sub", "mul", "div", "mod", "power", "maximum", "minimum", "hypot", "equal", "not_equal", "greater", "greater_equal", "lesser", "lesser_equal", "logical_and", "logical_or", "logical_xor"]:
        f = getattr(S, "broadcast_" + n)
        case(f"bc_{n}", lambda a, b: f(a, b), (2, 3), (2, 1))
        case(f"bc_{n}_rank", lambda a, b: f(a, b), (2, 1, 3), (1, 4, 1))
        case(f"bc_{n}_i32", lambda a, b: f(a, b), ((2, 3), "int32"), ((2, 3), "int32", 1, 3))
        case(f"bc_{n}_i64", lambda a, b: f(a, b), ((2, 3), "int64"), ((1, 3), "int64", -3, 0))
        case(f"bc_{n}_u8", lambda a, b: f(a, b), ((2, 3), "uint8", 0, 9), ((1, 3), "uint8", 1, 4))
        case(f"bc_{n}_f64", lambda a, b: f(a, b), ((2, 3), "float64"), ((1, 3), "float64"))
    scalars = {"plus": lambda a: a + 1.5, "minus": lambda a: a - 1.5, "rminus": lambda a: 1.5 - a, "mul": lambda a: a * 2.5, "div": lambda a: a / 2.5, "rdiv": lambda a: 2.5 / a, "mod": lambda a: a % 2, "rmod": lambda a: 5 % a, "pow": lambda a: a ** 2, "rpow": lambda a: 2 ** a,
               "eq": lambda a: a == 1, "ne": lambda a: a != 1, "gt": lambda a: a > 0, "ge": lambda a: a >= 1, "lt": lambda a: a < 1, "le": lambda a: a <= 1, "max": lambda a: S.maximum(a, 0.5), "min": lambda a: S.minimum(a, 0.5), "hyp": lambda a: S.hypot(a, 2.0), "neg": lambda a: -a}
    for n, f in scalars.items():
        for d in ("float32", "int32", "float64", "uint8", "float16"):
            case(f"sc_{n}_{d}", lambda a: f(a), ((2, 3), d, 1, 6), rtol=5e-3 if d == "float16" else None)
        case(f"sc_{n}_neg", lambda a: f(a), ((2, 3), "int32", -5, 0))
    for n in ["elemwise_add", "elemwise_sub", "elemwise_mul", "elemwise_div", "_maximum", "_minimum", "_mod", "_power", "_hypot", "_equal", "_greater", "_lesser"]:
        f = getattr(S, n, None) or getattr(mx.symbol._internal, n)
        case(f"ew_{n}", lambda a, b: f(a, b), (2, 3), (2, 3))
        case(f"ew_{n}_i", lambda a, b: f(a, b), ((2, 3), "int32"), ((2, 3), "int32", 1, 4))
    case("clip", lambda a: S.clip(a, -0.5, 0.5), (2, 3))
    case("clip_int", lambda a: S.clip(a, -1, 2), ((2, 3), "int32"))
    case("smooth_l1", lambda a: S.smooth_l1(a, scalar=2.0), (2, 3))
    case("add_n", lambda a, b, c: S.add_n(a, b, c), (2, 3), (2, 3), (2, 3))
    for d in ("int32", "int8", "uint8", "float16", "float64", "int64", "bool"):
        case(f"cast_{d}", lambda a: S.Cast(a, dtype=d), ((2, 3), "float32"))
        case(f"cast_from_{d}", lambda a: S.Cast(a, dtype="float32"), ((2, 3), d))
    for t in ("relu", "sigmoid", "tanh", "softrelu", "softsign"):
        case(f"activation_{t}", lambda a: S.Activation(a, act_type=t), (2, 3))
    for t in ("leaky", "elu", "selu", "gelu", "rrelu"):
        case(f"leaky_{t}", lambda a: S.LeakyReLU(a, act_type=t, slope=0.2), (2, 3))
    case("prelu", lambda a: S.LeakyReLU(a, act_type="prelu"), (2, 3, 4))
    case("where", lambda a, b, c: S.where(a, b, c), ((2, 3), "float32"), (2, 3), (2, 3))
    case("where_rows", lambda a, b, c: S.where(a, b, c), ((2,), "int32", 0, 2), (2, 3), (2, 3))
    case("amp", lambda a: S.amp_cast(a, dtype="float16"), (2, 3))


def shapes(m):
    S, case = m.S, m.case
    for i, (shape, dims) in enumerate([((2, 3, 4), (0, -1)), ((2, 3, 4), (-2,)), ((2, 3, 4), (-3, 4)), ((2, 3, 4), (2, -4, -1, 3, 4)), ((2, 3, 4), (0, -4, 1, 3, -2)), ((2, 3, 4), (-1, 0)), ((2, 3, 4), (0, -3)), ((2, 3, 4), (24,)), ((2, 3, 4), (4, 0, 2)), ((2, 3, 4, 5), (-3, -3))]):
        case(f"reshape_{i}", lambda a: S.reshape(a, shape=dims), shape)
        case(f"reshape_{i}r", lambda a: S.reshape(a, shape=dims, reverse=True), shape)
    for i, axes in enumerate([(), (1, 0, 2), (2, 0, 1), (-1, 0, 1)]):
        case(f"transpose_{i}", lambda a: S.transpose(a, axes=axes), (2, 3, 4))
    for axis in (0, 1, -1, 3):
        case(f"expand_{axis}", lambda a: S.expand_dims(a, axis=axis), (2, 3, 4))
        case(f"stack_{axis}", lambda a, b: S.stack(a, b, axis=axis), (2, 3, 4), (2, 3, 4))
    for axis in (None, 0, (0, 2), -1, (-2,)):
        case(f"squeeze_{axis}", lambda a: S.squeeze(a, axis=axis), (1, 3, 1) if axis != (-2,) else (3, 1, 3))
    for axis in (0, 1, -1):
        case(f"concat_{axis}", lambda a, b: S.concat(a, b, dim=axis), (2, 3, 4), (2, 3, 4))
        case(f"split_{axis}", lambda a: S.split(a, num_outputs=2, axis=axis), (2, 4, 6))
        case(f"split_sq_{axis}", lambda a: S.split(a, num_outputs=2, axis=axis, squeeze_axis=True), (2, 2, 2))
        case(f"flip_{axis}", lambda a: S.reverse(a, axis=axis), (2, 3, 4)) if axis >= 0 else None
        case(f"repeat_{axis}", lambda a: S.repeat(a, repeats=2, axis=axis), (2, 3, 4))
        case(f"swap_{axis}", lambda a: S.SwapAxis(a, dim1=axis, dim2=2), (2, 3, 4)) if axis >= 0 else None
        case(f"slice_axis_{axis}", lambda a: S.slice_axis(a, axis=axis, begin=1, end=None), (2, 3, 4))
        case(f"slice_axis_n{axis}", lambda a: S.slice_axis(a, axis=axis, begin=-2, end=-1), (2, 3, 4))
        case(f"splitv2_{axis}", lambda a: S.split_v2(a, (1, 2), axis=axis), (3, 3, 4))
    case("repeat_flat", lambda a: S.repeat(a, repeats=3), (2, 3))
    case("tile", lambda a: S.tile(a, reps=(2, 1, 3)), (2, 3))
    case("tile_less", lambda a: S.tile(a, reps=(2,)), (2, 3))
    case("slice_0", lambda a: S.slice(a, begin=(1, None), end=(None, 2)), (3, 4))
    case("slice_1", lambda a: S.slice(a, begin=(None, -1), end=(None, None), step=(2, -2)), (3, 4))
    case("slice_2", lambda a: S.slice(a, begin=(-2,), end=(-1,)), (3, 4))
    case("slice_like", lambda a, b: S.slice_like(a, b), (3, 4), (2, 3))
    case("slice_like_axes", lambda a, b: S.slice_like(a, b, axes=(-1,)), (3, 4), (5, 3))
    case("broadcast_to", lambda a: S.broadcast_to(a, shape=(0, 3, 4)), (2, 1, 4))
    case("broadcast_axis", lambda a: S.broadcast_axis(a, axis=(0, 2), size=(2, 3)), (1, 2, 1))
    case("broadcast_like", lambda a, b: S.broadcast_like(a, b), (1, 3), (2, 3))
    case("broadcast_like_axes", lambda a, b: S.broadcast_like(a, b, lhs_axes=(0,), rhs_axes=(1,)), (1, 3), (2, 5))
    case("reshape_like", lambda a, b: S.reshape_like(a, b), (2, 6), (3, 4))
    case("reshape_like_part", lambda a, b: S.reshape_like(a, b, lhs_begin=1, lhs_end=2, rhs_begin=0, rhs_end=2), (2, 6), (2, 3))
    case("depth_to_space", lambda a: S.depth_to_space(a, 2), (1, 8, 2, 3))
    case("space_to_depth", lambda a: S.space_to_depth(a, 2), (1, 2, 4, 6))
    for i, k in enumerate((0, 1, -1)):
        case(f"diag_{i}", lambda a: S.diag(a, k=k), (3, 4))
        case(f"diag_v{i}", lambda a: S.diag(a, k=k), (3,))
        case(f"diag_3_{i}", lambda a: S.diag(a, k=k, axis1=0, axis2=2), (3, 2, 4))
    for mode in ("constant", "edge", "reflect"):
        case(f"pad_{mode}", lambda a: S.pad(a, mode=mode, pad_width=(0, 0, 0, 0, 1, 2, 2, 1), constant_value=1.5), (1, 2, 4, 4))
        case(f"pad5_{mode}", lambda a: S.pad(a, mode=mode, pad_width=(0, 0, 0, 0, 1, 2, 2, 1, 0, 1), constant_value=1.5), (1, 2, 4, 4, 3))
    case("arange", lambda a: S.broadcast_add(a, S.arange(0, 6, 2)), (2, 3))
    case("arange_like", lambda a: S.contrib.arange_like(a, axis=1), (2, 3))
    case("arange_like_all", lambda a: S.contrib.arange_like(a, start=1, step=0.5), (2, 3))
    case("zeros_ones", lambda a: S.broadcast_add(a, S.zeros((1, 3)) + S.ones((2, 1))), (2, 3))
    case("full_eye", lambda a: S.dot(a, S.eye(3, 4, k=1)) + S.full((2, 4), 2.5), (2, 3))
    case("linspace", lambda a: S.broadcast_add(a, S.linspace(0, 1, 3)), (2, 3))
    case("index_array", lambda a: S.contrib.index_array(a), (2, 3))


def reductions(m):
    S, case = m.S, m.case
    for n in ("sum", "mean", "max", "min", "prod", "nansum", "nanprod"):
        f = getattr(S, n)
        for i, o in enumerate([dict(), dict(axis=1), dict(axis=-1, keepdims=True), dict(axis=(0, 2)), dict(axis=(0,), exclude=True), dict(axis=(), keepdims=True)]):
            case(f"red_{n}_{i}", lambda a: f(a, **o), (2, 3, 4))
        case(f"red_{n}_int", lambda a: f(a, axis=1), ((2, 3), "int32"))
        case(f"red_{n}_u8", lambda a: f(a, axis=1), ((2, 3), "uint8", 0, 200))
        case(f"red_{n}_f16", lambda a: f(a, axis=1), ((2, 3), "float16"), rtol=5e-3)
    for o in (1, 2):
        for axis in (None, 1, -1, (0, 1)):
            case(f"norm_{o}_{axis}", lambda a: S.norm(a, ord=o, axis=axis), (2, 3, 4)) if not (o == 1 and axis is None) else None
            case(f"norm_{o}_{axis}_k", lambda a: S.norm(a, ord=o, axis=axis, keepdims=True), (2, 3, 4)) if axis is not None else None
    for n in ("argmax", "argmin"):
        f = getattr(S, n)
        for axis in (0, 1, -1):
            case(f"{n}_{axis}", lambda a: f(a, axis=axis), (2, 3, 4))
            case(f"{n}_{axis}_k", lambda a: f(a, axis=axis, keepdims=True), (2, 3, 4))
        case(f"{n}_all", lambda a: f(a), (2, 3))
    for axis in (0, 1, -1, None):
        for asc in (True, False):
            case(f"sort_{axis}_{asc}", lambda a: S.sort(a, axis=axis, is_ascend=asc), (3, 4))
            case(f"argsort_{axis}_{asc}", lambda a: S.argsort(a, axis=axis, is_ascend=asc, dtype="int32"), (3, 4))
    for r in ("value", "indices", "both", "mask"):
        case(f"topk_{r}", lambda a: S.topk(a, k=2, axis=-1, ret_typ=r), (3, 4))
        case(f"topk_{r}_0", lambda a: S.topk(a, k=2, axis=0, ret_typ=r, is_ascend=True), (3, 4))
    case("topk_flat", lambda a: S.topk(a, k=3, axis=None, ret_typ="value"), (3, 4))
    case("argmax_channel", lambda a: S.argmax_channel(a), (3, 4))
    case("cumsum", lambda a: S.cumsum(a, axis=1) if hasattr(S, "cumsum") else a, (2, 3))
    case("moments", lambda a: S.moments(a, axes=(0, 1)), (2, 3, 4))
    for axis in (-1, 0, 1):
        case(f"softmax_{axis}", lambda a: S.softmax(a, axis=axis), (2, 3, 4))
        case(f"logsoftmax_{axis}", lambda a: S.log_softmax(a, axis=axis), (2, 3, 4))
        case(f"softmin_{axis}", lambda a: S.softmin(a, axis=axis), (2, 3, 4))
    case("softmax_t", lambda a: S.softmax(a, temperature=2.0), (2, 3))
    case("softmax_len", lambda a, b: S.softmax(a, b, use_length=True, axis=1), (2, 4), np.array([2, 3], "int32"))
    case("softmax_len3", lambda a, b: S.softmax(a, b, use_length=True, axis=2), (2, 3, 4), np.array([[2, 3, 1], [4, 1, 2]], "int32"))
    case("softmax_act", lambda a: S.SoftmaxActivation(a), (2, 3, 4))
    case("softmax_act_c", lambda a: S.SoftmaxActivation(a, mode="channel"), (2, 3, 4))


def indexing(m):
    S, case = m.S, m.case
    for mode in ("clip", "wrap"):
        for axis in (0, 1, -1):
            case(f"take_{mode}_{axis}", lambda a, b: S.take(a, b, axis=axis, mode=mode), (3, 4, 2), ((2, 3), "int32", -5, 7))
        case(f"take_{mode}_f", lambda a, b: S.take(a, b, mode=mode), (3, 4), np.array([[0.0, 1.7], [2.2, 5.0]], "float32"))
        case(f"pick_{mode}", lambda a, b: S.pick(a, b, axis=1, mode=mode), (3, 4), ((3,), "int32", -2, 6))
        case(f"pick_{mode}_k", lambda a, b: S.pick(a, b, axis=-1, keepdims=True, mode=mode), (3, 2, 4), ((3, 2), "int32", 0, 6))
    case("embedding", lambda a: S.Embedding(a, input_dim=6, output_dim=3), ((2, 4), "int32", -2, 8))
    case("embedding_f", lambda a: S.Embedding(a, input_dim=6, output_dim=3), np.array([[0.2, 1.9], [5.0, 3.0]], "float32"))
    case("one_hot", lambda a: S.one_hot(a, depth=4, on_value=2.0, off_value=-1.0), ((2, 3), "int32", -1, 6))
    case("one_hot_int", lambda a: S.one_hot(a, depth=4, dtype="int32"), ((3,), "float32"))
    case("gather_nd", lambda a, b: S.gather_nd(a, b), (3, 4, 2), ((2, 5), "int32", 0, 3))
    case("gather_nd_3", lambda a, b: S.gather_nd(a, b), (3, 4, 2), ((1, 2, 2), "int64", 0, 3))
    case("gather_nd_neg", lambda a, b: S.gather_nd(a, b), (3, 4), ((2, 5), "int32", -3, 3))
    case("scatter_nd", lambda a, b: S.scatter_nd(a, b, shape=(3, 4)), (2,), np.array([[0, 2], [1, 3]], "int32"))
    case("batch_take", lambda a, b: S.batch_take(a, b), (3, 4), ((3,), "int32", 0, 4))
    for n in ("SequenceMask", "SequenceLast", "SequenceReverse"):
        f = getattr(S, n)
        case(f"{n.lower()}", lambda a: f(a), (4, 2, 3))
        case(f"{n.lower()}_len", lambda a, b: f(a, b, use_sequence_length=True), (4, 2, 3), np.array([2, 4], "float32"))
        if n != "SequenceReverse":
            case(f"{n.lower()}_axis", lambda a, b: f(a, b, use_sequence_length=True, axis=1), (2, 4, 3), np.array([2, 4], "float32"))
    case("ravel", lambda a: mx.symbol._internal._ravel_multi_index(a, shape=(3, 4)), np.array([[0, 2], [1, 3]], "float32"))
    case("unravel", lambda a: mx.symbol._internal._unravel_index(a, shape=(3, 4)), np.array([5, 11, 0], "float32"))
    case("boolean_mask", lambda a, b: S.contrib.boolean_mask(a, b), (4, 2), np.array([1, 0, 1, 1], "float32"))
    case("index_copy", lambda a, b, c: S.contrib.index_copy(a, b, c), (4, 2), np.array([2, 0], "int32"), (2, 2))
    case("getitem", lambda a: a[0] if False else S.slice_axis(a, axis=0, begin=0, end=1), (4, 2))


def networks(m):
    S, case = m.S, m.case
    for rank, size in ((1, (7,)), (2, (7, 6)), (3, (5, 4, 5))):
        for i, o in enumerate([dict(), dict(stride=2), dict(pad=1), dict(dilate=2), dict(num_group=2), dict(no_bias=True, stride=2, pad=1), dict(kernel=1)]):
            o = {k: (v,) * rank if k in ("stride", "pad", "dilate", "kernel") else v for k, v in o.items()}
            o = {"kernel": (3,) * rank if not (rank == 3 and "dilate" in o) else (2,) * rank, "num_filter": 4, **o}
            case(f"conv{rank}_{i}", lambda a: S.Convolution(a, **o), (2, 2, *size))
        for i, o in enumerate([dict(), dict(stride=2), dict(pad=1, stride=2), dict(stride=2, adj=1), dict(num_group=2), dict(no_bias=False), dict(dilate=2), dict(stride=2, target_shape=9)]):
            if rank == 3 and "dilate" in o:
                continue
            o = {k: (v,) * rank if k in ("stride", "pad", "dilate", "adj", "target_shape") else v for k, v in o.items()}
            case(f"deconv{rank}_{i}", lambda a: S.Deconvolution(a, kernel=(3,) * rank, num_filter=4, **o), (2, 2, *(4,) * rank))
        for t in ("max", "avg", "sum", "lp"):
            for i, o in enumerate([dict(), dict(stride=2), dict(stride=2, pad=1), dict(stride=2, pooling_convention="full"), dict(stride=2, pad=1, pooling_convention="full"), dict(stride=2, pad=1, count_include_pad=False), dict(global_pool=True), dict(stride=2, pooling_convention="same") if rank == 1 else dict(stride=3)]):
                o = {k: (v,) * rank if k in ("stride", "pad") else v for k, v in o.items()}
                if t == "lp":
                    o["p_value"] = 2
                case(f"pool{rank}_{t}_{i}", lambda a: S.Pooling(a, kernel=(3,) * rank, pool_type=t, **o), (2, 2, *size))
    case("conv_nwc", lambda a: S.Convolution(a, kernel=(3,), num_filter=4, layout="NCW"), (2, 2, 7))
    case("fc", lambda a: S.FullyConnected(a, num_hidden=3), (2, 4))
    case("fc_flat", lambda a: S.FullyConnected(a, num_hidden=3), (2, 4, 2))
    case("fc_noflat", lambda a: S.FullyConnected(a, num_hidden=3, flatten=False, no_bias=True), (2, 4, 2))
    for i, o in enumerate([dict(), dict(fix_gamma=False), dict(axis=-1, fix_gamma=False), dict(eps=0.1, use_global_stats=True), dict(output_mean_var=False, axis=2)]):
        case(f"bn_{i}", lambda a: S.BatchNorm(a, **o), (2, 3, 4))
        case(f"bn_{i}_2d", lambda a: S.BatchNorm(a, **o), (2, 3, 4, 2))
    for axis in (-1, 1, 0):
        case(f"ln_{axis}", lambda a: S.LayerNorm(a, axis=axis), (2, 3, 4))
    case("gn", lambda a: S.GroupNorm(a, num_groups=2), (2, 4, 3, 2))
    case("in", lambda a: S.InstanceNorm(a), (2, 3, 4))
    case("in_2d", lambda a: S.InstanceNorm(a, eps=0.1), (2, 3, 4, 2))
    for mode in ("instance", "channel", "spatial"):
        case(f"l2_{mode}", lambda a: S.L2Normalization(a, mode=mode), (2, 3, 4))
    case("lrn", lambda a: S.LRN(a, nsize=3, alpha=0.1, beta=0.7, knorm=2), (2, 5, 3, 2))
    case("upsample_n", lambda a: S.UpSampling(a, scale=2, sample_type="nearest"), (1, 2, 3, 4))
    case("upsample_2", lambda a, b: S.UpSampling(a, b, scale=2, sample_type="nearest", num_args=2), (1, 2, 3, 4), (1, 3, 6, 8))
    case("upsample_sum", lambda a, b: S.UpSampling(a, b, scale=2, sample_type="nearest", num_args=2, multi_input_mode="sum"), (1, 2, 3, 4), (1, 2, 6, 8))
    case("upsample_b", lambda a: S.UpSampling(a, scale=2, sample_type="bilinear", num_filter=2), (1, 2, 3, 4))
    for o in (dict(height=6, width=5), dict(scale_height=2.0, scale_width=1.5), dict(height=6, width=5, align_corners=False), dict(mode="odd_scale", scale_height=2, scale_width=2)):
        case(f"bilinear_resize_{len(m.ROWS)}", lambda a: S.contrib.BilinearResize2D(a, **o), (1, 2, 3, 4))
    for size in ((1, 1), (2, 3), 3):
        case(f"adaptive_{len(m.ROWS)}", lambda a: S.contrib.AdaptiveAvgPooling2D(a, output_size=size), (1, 2, 7, 6))
    case("dropout", lambda a: S.Dropout(a, p=0.5), (2, 3))
    case("dot", lambda a, b: S.dot(a, b), (2, 3), (3, 4))
    case("dot_t", lambda a, b: S.dot(a, b, transpose_a=True, transpose_b=True), (3, 2), (4, 3))
    case("dot_3", lambda a, b: S.dot(a, b), (2, 3, 4), (4, 5, 2))
    case("dot_v", lambda a, b: S.dot(a, b), (4,), (4,))
    case("dot_mv", lambda a, b: S.dot(a, b), (3, 4), (4,))
    case("batch_dot", lambda a, b: S.batch_dot(a, b), (2, 3, 4), (2, 4, 5))
    case("batch_dot_t", lambda a, b: S.batch_dot(a, b, transpose_b=True), (2, 3, 4), (2, 5, 4))
    case("khatri", lambda a, b: S.khatri_rao(a, b), (3, 2), (4, 2))
    for n in ("SoftmaxOutput", "LogisticRegressionOutput", "LinearRegressionOutput", "MAERegressionOutput", "SVMOutput"):
        case(f"out_{n}", lambda a: getattr(S, n)(a, name="softmax"), (2, 3))
    case("out_multi", lambda a: S.SoftmaxOutput(a, multi_output=True, name="softmax"), (2, 3, 4))
    case("softmax_ce", lambda a, b: S.softmax_cross_entropy(a, b), (3, 4), np.array([0, 3, 1], "float32"))
    case("make_loss", lambda a: S.MakeLoss(S.square(a)), (2, 3))
    for mode in ("rnn_relu", "rnn_tanh", "lstm", "gru"):
        for layers in (1, 2):
            for both in (False, True):
                case(f"rnn_{mode}_{layers}{both}", lambda a: S.RNN(a, S.Variable("p"), S.Variable("h"), *([S.Variable("c")] if mode == "lstm" else []), mode=mode, state_size=4, num_layers=layers, bidirectional=both, state_outputs=True), (5, 2, 3))
    case("ctc", lambda a, b: S.CTCLoss(a, b), (5, 2, 4), np.array([[1, 2], [3, 0]], "float32"))
    case("im2col", lambda a: S.im2col(a, kernel=(2, 2), stride=(2, 1)), (1, 2, 4, 4))
    case("col2im", lambda a: S.col2im(a, output_size=(4, 4), kernel=(2, 2), stride=(2, 2)), (1, 8, 4))


def vision(m):
    S, case = m.S, m.case
    boxes = np.array([[0.1, 0.1, 0.4, 0.5], [0.2, 0.1, 0.5, 0.6], [0.6, 0.6, 0.9, 0.8]], "float32")
    rois = np.array([[0, 0, 0, 3, 3], [1, 1, 1, 5, 4]], "float32")
    case("roi_pool", lambda a, b: S.ROIPooling(a, b, pooled_size=(2, 2), spatial_scale=1.0), (2, 2, 6, 6), rois)
    case("roi_align", lambda a, b: S.contrib.ROIAlign(a, b, pooled_size=(2, 2), spatial_scale=1.0, sample_ratio=2), (2, 2, 6, 6), rois)
    case("roi_align_auto", lambda a, b: S.contrib.ROIAlign(a, b, pooled_size=(2, 2), spatial_scale=0.5), (2, 2, 6, 6), rois * 2)
    case("roi_align_pos", lambda a, b: S.contrib.ROIAlign(a, b, pooled_size=(2, 2), spatial_scale=0.5, sample_ratio=2, position_sensitive=True), (2, 8, 6, 6), rois)
    case("psroi", lambda a, b: S.contrib.PSROIPooling(a, b, spatial_scale=1.0, output_dim=2, pooled_size=2, group_size=2), (2, 8, 6, 6), rois)
    case("iou", lambda a, b: S.contrib.box_iou(a, b), boxes, boxes[::-1].copy())
    case("iou_center", lambda a, b: S.contrib.box_iou(a, b, format="center"), boxes, boxes[::-1].copy())
    data = np.concatenate([np.array([[[0, 0.9], [1, 0.8], [0, 0.7]]]), boxes[None]], 2).astype("float32")
    for i, o in enumerate([dict(), dict(overlap_thresh=0.3, valid_thresh=0.75), dict(topk=1), dict(force_suppress=True, id_index=0, overlap_thresh=0.3), dict(id_index=0, overlap_thresh=0.3, background_id=1), dict(out_format="center", overlap_thresh=0.3)]):
        case(f"box_nms_{i}", lambda a: S.contrib.box_nms(a, coord_start=2, score_index=1, **o), data)
    case("prior", lambda a: S.contrib.MultiBoxPrior(a, sizes=(0.5, 0.2), ratios=(1, 2), clip=True), (1, 2, 3, 4))
    case("grid_affine", lambda a: S.GridGenerator(a, transform_type="affine", target_shape=(3, 4)), (2, 6))
    case("grid_warp", lambda a: S.GridGenerator(a, transform_type="warp"), (2, 2, 3, 4))
    case("sampler", lambda a, b: S.BilinearSampler(a, b), (2, 2, 4, 4), np.clip(m.values((2, 2, 3, 4)), -0.95, 0.95))
    case("transformer", lambda a, b: S.SpatialTransformer(a, b, transform_type="affine", sampler_type="bilinear", target_shape=(4, 4)), (2, 2, 5, 5), (2, 6))
    case("correlation", lambda a, b: S.Correlation(a, b, kernel_size=1, max_displacement=2, stride1=1, stride2=1, pad_size=2), (1, 2, 5, 5), (1, 2, 5, 5))
    case("crop", lambda a: S.Crop(a, offset=(1, 1), h_w=(3, 2), num_args=1), (1, 2, 5, 5))
    case("crop_like", lambda a, b: S.Crop(a, b, center_crop=True, num_args=2), (1, 2, 5, 5), (1, 2, 3, 3))
    case("deform", lambda a, b: S.contrib.DeformableConvolution(a, b, kernel=(3, 3), num_filter=2, pad=(1, 1)), (1, 2, 5, 5), (1, 18, 5, 5))
    for n, o in (("to_tensor", {}), ("normalize", dict(mean=(0.1, 0.2, 0.3), std=(1.0, 2.0, 3.0))), ("flip_left_right", {}), ("flip_top_bottom", {}), ("resize", dict(size=(5, 4))), ("crop", dict(x=1, y=0, width=2, height=3))):
        f = getattr(mx.symbol.image, n)
        case(f"image_{n}", lambda a: f(a, **o), (3, 4, 5) if n == "normalize" else ((4, 5, 3), "uint8", 0, 255) if n == "to_tensor" else (4, 5, 3))


def linalg(m):
    L, case = m.S.linalg, m.case
    spd = np.array([[[4, 1, 0], [1, 3, 0.5], [0, 0.5, 2]]], "float32")
    low = np.tril(m.values((1, 3, 3))) + 2 * np.eye(3, dtype="float32")
    case("gemm", lambda a, b, c: L.gemm(a, b, c, alpha=2.0, beta=0.5, transpose_b=True), (2, 3, 4), (2, 5, 4), (2, 3, 5))
    case("gemm2", lambda a, b: L.gemm2(a, b, transpose_a=True, alpha=0.5), (2, 4, 3), (2, 4, 5))
    case("gemm2_axis", lambda a, b: L.gemm2(a, b, axis=-3), (3, 2, 4), (4, 2, 5))
    case("potrf", lambda a: L.potrf(a), spd)
    case("potri", lambda a: L.potri(a), low.astype("float32"), rtol=1e-3)
    case("trsm", lambda a, b: L.trsm(a, b, alpha=2.0), low.astype("float32"), (1, 3, 2), rtol=1e-3)
    case("trsm_r", lambda a, b: L.trsm(a, b, rightside=True, transpose=True), low.astype("float32"), (1, 2, 3), rtol=1e-3)
    case("trmm", lambda a, b: L.trmm(a, b), low.astype("float32"), (1, 3, 2))
    case("syrk", lambda a: L.syrk(a, transpose=True, alpha=0.5), (2, 3, 4))
    case("sumlogdiag", lambda a: L.sumlogdiag(a), spd)
    case("extractdiag", lambda a: L.extractdiag(a, offset=1), (2, 3, 3))
    case("makediag", lambda a: L.makediag(a, offset=-1), (2, 3))
    case("extracttrian", lambda a: L.extracttrian(a), (2, 3, 3))
    case("maketrian", lambda a: L.maketrian(a), (2, 6))
    case("inverse", lambda a: L.inverse(a), spd, rtol=1e-3)
    case("det", lambda a: L.det(a), spd, rtol=1e-3)
    case("slogdet", lambda a: L.slogdet(a), spd, rtol=1e-3)


def numpy_ops(m):
    import mxnet.symbol.numpy as N
    case = m.case
    np_case = lambda name, f, *i, **k: case("np_" + name, lambda *v: f(*[x.as_np_ndarray() for x in v]), *i, **k)
    mx.npx.set_np()
    try:
        for n in ("abs", "exp", "log", "sqrt", "square", "sin", "cos", "tan", "arcsin", "arctan", "sinh", "tanh", "log1p", "expm1", "log2", "log10", "ceil", "floor", "trunc", "rint", "fix", "sign", "negative", "reciprocal", "degrees", "radians", "cbrt", "isnan", "isinf", "isfinite", "logical_not", "zeros_like", "ones_like"):
            f = getattr(N, n)
            np_case(n, f, (2, 3))
            np_case(n + "_i", f, ((2, 3), "int32"))
            np_case(n + "_0d", f, ())
            np_case(n + "_empty", f, (0, 3))
        for n in ("add", "subtract", "multiply", "true_divide", "mod", "power", "maximum", "minimum", "hypot", "arctan2", "equal", "not_equal", "less", "greater_equal", "logical_and", "logical_or", "logical_xor", "copysign", "ldexp", "fmod"):
            f = getattr(N, n, None)
            if not f:
                continue
            np_case(n, f, (2, 3), (3,))
            np_case(n + "_i", f, ((2, 3), "int32"), ((3,), "int32", 1, 4))
            np_case(n + "_mix", f, (2, 3), ((3,), "int32", 1, 4))
            np_case(n + "_b", f, ((2, 3), "bool"), ((3,), "bool"))
            np_case(n + "_s", lambda a: f(a, 2.5), (2, 3))
            np_case(n + "_si", lambda a: f(a, 2), ((2, 3), "int32"))
            np_case(n + "_sf", lambda a: f(a, 2.5), ((2, 3), "int32"))
            np_case(n + "_r", lambda a: f(2.0, a), (2, 3)) if n not in ("fmod",) else None
        for n in ("bitwise_and", "bitwise_or", "bitwise_xor", "lcm"):
            np_case(n, getattr(N, n), ((2, 3), "int32", 0, 9), ((3,), "int32", 1, 9))
        for n in ("sum", "mean", "max", "min", "prod", "std", "var", "any", "all", "argmax", "argmin", "cumsum"):
            f = getattr(N, n)
            np_case(n, lambda a: f(a), (2, 3, 4))
            np_case(n + "_1", lambda a: f(a, axis=1), (2, 3, 4))
            np_case(n + "_i", lambda a: f(a, axis=-1), ((2, 3), "int32"))
            np_case(n + "_b", lambda a: f(a, axis=-1), ((2, 3), "bool"))
            if n not in ("cumsum", "argmax", "argmin"):
                np_case(n + "_k", lambda a: f(a, axis=(0, 2), keepdims=True), (2, 3, 4))
        for name, f, i in [("reshape", lambda a: N.reshape(a, (-1, 4)), [(2, 6)]), ("reshape0", lambda a: N.reshape(a, (0, 3)), [(0, 3)]), ("transpose", lambda a: N.transpose(a), [(2, 3, 4)]), ("swapaxes", lambda a: N.swapaxes(a, 0, 2), [(2, 3, 4)]), ("moveaxis", lambda a: N.moveaxis(a, 0, -1), [(2, 3, 4)]), ("expand", lambda a: N.expand_dims(a, -1), [(2, 3)]),
                           ("squeeze", lambda a: N.squeeze(a, 0), [(1, 3)]), ("concat", lambda a, b: N.concatenate([a, b], axis=-1), [(2, 3), (2, 1)]), ("concat_flat", lambda a, b: N.concatenate([a, b], axis=None), [(2, 3), (2, 1)]), ("stack", lambda a, b: N.stack([a, b], axis=1), [(2, 3), (2, 3)]), ("vstack", lambda a, b: N.vstack([a, b]), [(3,), (2, 3)]), ("hstack", lambda a, b: N.hstack([a, b]), [(2, 3), (2, 3)]),
                           ("dstack", lambda a, b: N.dstack([a, b]), [(2, 3), (2, 3)]), ("split", lambda a: N.split(a, 2, axis=1), [(2, 4)]), ("array_split", lambda a: N.array_split(a, 3), [(7, 2)]), ("tile", lambda a: N.tile(a, (2, 1, 2)), [(2, 3)]), ("repeat", lambda a: N.repeat(a, 2, axis=1), [(2, 3)]), ("flip", lambda a: N.flip(a, 1), [(2, 3)]), ("roll", lambda a: N.roll(a, 2, axis=1), [(2, 3)]), ("rot90", lambda a: N.rot90(a), [(2, 3)]),
                           ("broadcast_to", lambda a: N.broadcast_to(a, (2, 3)), [(3,)]), ("dot", lambda a, b: N.dot(a, b), [(2, 3), (3, 4)]), ("dot3", lambda a, b: N.dot(a, b), [(2, 3), (4, 3, 2)]), ("matmul", lambda a, b: N.matmul(a, b), [(2, 1, 3, 4), (5, 4, 2)]), ("matmul_v", lambda a, b: N.matmul(a, b), [(3, 4), (4,)]), ("tensordot", lambda a, b: N.tensordot(a, b, axes=([1], [0])), [(2, 3), (3, 4)]), ("tensordot2", lambda a, b: N.tensordot(a, b, axes=2), [(2, 3, 4), (3, 4, 5)]),
                           ("einsum", lambda a, b: N.einsum("ij,jk->ki", a, b), [(2, 3), (3, 4)]), ("outer", lambda a, b: N.outer(a, b), [(2,), (3,)]), ("inner", lambda a, b: N.inner(a, b), [(2, 3), (4, 3)]), ("where", lambda a, b, c: N.where(a, b, c), [((2, 3), "bool"), (2, 3), (3,)]), ("where_s", lambda a, b: N.where(a, b, 1.5), [((2, 3), "bool"), (2, 3)]), ("clip", lambda a: N.clip(a, -0.5, 0.5), [(2, 3)]), ("take", lambda a, b: N.take(a, b, axis=1, mode="clip"), [(3, 4), ((2,), "int32", 0, 6)]),
                           ("tril", lambda a: N.tril(a, 1), [(3, 4)]), ("triu", lambda a: N.triu(a), [(3, 4)]), ("diag", lambda a: N.diag(a, 1), [(3, 4)]), ("diagonal", lambda a: N.diagonal(a, 0, 1, 2), [(2, 3, 4)]), ("trace", lambda a: N.trace(a), [(3, 4)]), ("diff", lambda a: N.diff(a), [(3, 4)]), ("ediff1d", lambda a: N.ediff1d(a), [(3, 4)]), ("sort", lambda a: N.sort(a, axis=0), [(3, 4)]), ("argsort", lambda a: N.argsort(a), [(3, 4)]),
                           ("around", lambda a: N.around(a, 1), [(3, 4)]), ("nan_to_num", lambda a: N.nan_to_num(a), [(3, 4)]), ("average", lambda a, b: N.average(a, axis=1, weights=b), [(2, 3), (2, 3)]), ("percentile", lambda a: N.percentile(a, 30, axis=1), [(3, 4)]), ("norm", lambda a: N.linalg.norm(a, axis=1), [(3, 4)]), ("norm_f", lambda a: N.linalg.norm(a), [(3, 4)]), ("inv", lambda a: N.linalg.inv(a), [(3, 3)]), ("solve", lambda a, b: N.linalg.solve(a, b), [(3, 3), (3, 2)]), ("chol", lambda a: N.linalg.cholesky(N.matmul(a, N.transpose(a)) + 3 * N.eye(3)), [(3, 3)]),
                           ("det", lambda a: N.linalg.det(a), [(3, 3)]), ("polyval", lambda a, b: N.polyval(a, b), [(3,), (4,)]), ("bincount", lambda a: N.bincount(a, minlength=5), [((6,), "int32", 0, 5)]), ("full_like", lambda a: N.full_like(a, 2.5), [(2, 3)]), ("arange", lambda a: a + N.arange(3), [(2, 3)]), ("eye", lambda a: a + N.eye(3), [(2, 3)][:1] and [(3, 3)]), ("delete", lambda a: N.delete(a, 1, axis=1), [(2, 3)]), ("getitem", lambda a: a[1], [(2, 3)])]:
            np_case(name, f, *i, rtol=1e-3 if name in ("inv", "solve", "det", "chol") else None)
    finally:
        mx.npx.reset_np()


def contrib(m):
    S, case = m.S, m.case
    C = S.contrib
    case("c_div_sqrt", lambda a: C.div_sqrt_dim(a), (2, 5))
    case("c_quadratic", lambda a: C.quadratic(a, a=2.0, b=3.0, c=1.0), (2, 3))
    case("c_round_ste", lambda a: C.round_ste(a), (2, 3))
    case("c_sign_ste", lambda a: C.sign_ste(a), (2, 3))
    case("c_allclose", lambda a, b: C.allclose(a, b), (2, 3), (2, 3))
    case("c_self_qk", lambda a: C.interleaved_matmul_selfatt_qk(a, heads=2), (5, 2, 24))
    case("c_self_val", lambda a, b: C.interleaved_matmul_selfatt_valatt(a, b, heads=2), (5, 2, 24), (4, 5, 5))
    case("c_enc_qk", lambda a, b: C.interleaved_matmul_encdec_qk(a, b, heads=2), (3, 2, 8), (5, 2, 16))
    case("c_enc_val", lambda a, b: C.interleaved_matmul_encdec_valatt(a, b, heads=2), (5, 2, 16), (4, 3, 5))
    case("c_syncbn", lambda a: C.SyncBatchNorm(a, key="k", fix_gamma=False), (2, 3, 4, 2))
    boxes = np.array([[[0.1, 0.1, 0.4, 0.5], [0.2, 0.1, 0.5, 0.6], [0.6, 0.6, 0.9, 0.8]]], "float32")
    case("c_bipartite", lambda a: C.bipartite_matching(a, threshold=0.1), np.array([[[0.5, 0.6], [0.1, 0.2], [0.3, 0.4]]], "float32"))
    case("c_bipartite_asc", lambda a: C.bipartite_matching(a, threshold=0.5, is_ascend=True), np.array([[[0.5, 0.6], [0.1, 0.2], [0.3, 0.4]]], "float32"))
    case("c_box_decode", lambda a, b: C.box_decode(a, b, std0=0.1, std1=0.1, std2=0.2, std3=0.2, clip=1.0, format="corner"), (1, 3, 4), boxes)
    case("c_box_decode_c", lambda a, b: C.box_decode(a, b, format="center"), (1, 3, 4), boxes)
    cls = np.array([[[0.1, 0.2, 0.7], [0.6, 0.5, 0.2], [0.3, 0.3, 0.1]]], "float32")
    for i, o in enumerate([dict(), dict(threshold=0.3), dict(nms_threshold=0.2, force_suppress=True), dict(nms_topk=2), dict(background_id=1), dict(clip=False, variances=(0.2, 0.2, 0.3, 0.3))]):
        case(f"c_detection_{i}", lambda a, b, c: C.MultiBoxDetection(a, b, c, **o), cls, m.values((1, 12)) * np.float32(0.3), boxes)
    case("c_target", lambda a, b, c: C.MultiBoxTarget(a, b, c, overlap_threshold=0.4), boxes, np.array([[[0, 0.1, 0.1, 0.35, 0.45], [1, 0.6, 0.6, 0.95, 0.8]]], "float32"), cls)
    case("c_proposal", lambda a, b, c: C.Proposal(a, b, c, rpn_pre_nms_top_n=12, rpn_post_nms_top_n=4, scales=(8,), ratios=(0.5, 1, 2), feature_stride=8, rpn_min_size=1), np.abs(m.values((1, 6, 3, 3))), m.values((1, 12, 3, 3)) * np.float32(0.1), np.array([[24, 24, 1.0]], "float32"))
    case("c_modulated", lambda a, b, c: C.ModulatedDeformableConvolution(a, b, c, kernel=(3, 3), num_filter=2, pad=(1, 1), num_deformable_group=1), (1, 2, 5, 5), (1, 18, 5, 5), np.abs(m.values((1, 9, 5, 5))))
    case("c_histogram", lambda a: S.histogram(a, bins=4, range=(-1.0, 1.0)) if hasattr(S, "histogram") else a, (3, 4))
    case("c_all_finite", lambda a: S.all_finite(a), (2, 3))
    case("c_multi_sum_sq", lambda a, b: S.multi_sum_sq(a, b, num_arrays=2), (2, 3), (4,))
    case("c_fill_element", lambda a, b, c: mx.symbol._internal._fill_element_0index(a, b, c) if hasattr(mx.symbol._internal, "_fill_element_0index") else S.fill_element_0index(a, b, c), (3, 4), (3,), np.array([0, 3, 1], "float32"))
    for n in ("_logical_and_scalar", "_logical_or_scalar", "_logical_xor_scalar"):
        case("c" + n, lambda a: getattr(mx.symbol._internal, n)(a, scalar=1.0), ((2, 3), "int32", 0, 2))
    case("c_slice_assign", lambda a, b: mx.symbol._internal._slice_assign(a, b, begin=(0, 1), end=(2, 3)), (3, 4), (2, 2))
    case("c_slice_assign_s", lambda a: mx.symbol._internal._slice_assign_scalar(a, begin=(0, 1), end=(2, None), scalar=7.0), (3, 4))
    case("c_scatter_set", lambda a, b, c: mx.symbol._internal._scatter_set_nd(a, b, c, shape=(3, 4)), (3, 4), (2,), np.array([[0, 2], [1, 3]], "int64"))
    case("c_param_concat", lambda a, b: mx.symbol._internal._rnn_param_concat(a, b, dim=0), (6,), (4,))
    case("c_square_sum", lambda a: mx.symbol._internal._square_sum(a, axis=1), (3, 4))
    for name, cond, kind in (("foreach", None, 0), ("while", None, 1), ("cond", None, 2)):
        if kind == 0:
            case("c_foreach", lambda a, b: (lambda r: [r[0], r[1]])(C.foreach(lambda d, s: (d + s, d * s), a, b)), (4, 3), (3,))
            case("c_foreach_list", lambda a, b, c: (lambda r: [*r[0], *r[1]])(C.foreach(lambda d, s: ([d + s[0], s[1] * 2], [d * s[0], s[1] + d]), a, [b, c])), (4, 3), (3,), (3,))
        elif kind == 1:
            case("c_while", lambda a, b: (lambda r: [*r[0], *r[1]])(C.while_loop(cond=lambda i, s: i < 4, func=lambda i, s: ([s + i], [i + 1, s + i]), loop_vars=[a, b], max_iterations=6)), np.array([1], "float32"), (1,))
        else:
            case("c_cond", lambda a, b: C.cond(a.sum() > 0, lambda: a + b, lambda: a - b), (3,), (3,))
            case("c_cond_not", lambda a, b: C.cond(a.sum() > 100, lambda: a + b, lambda: a - b), (3,), (3,))


def quantised(m):
    import logging
    from mxnet.contrib.quantization import quantize_model
    logging.disable(logging.CRITICAL)
    S = m.S

    def net(name, make, shape, **more):
        if m.ONLY and m.ONLY not in f"quant_{name}":
            return
        for dtype in ("int8", "uint8", "auto"):
            try:
                with mx.name.NameManager():
                    symbol = make(S.Variable("data"))
                shapes, _, aux = symbol.infer_shape(data=shape)
                arg = {k: mx.nd.array(m.values(s) * 0.5) for k, s in zip(symbol.list_arguments(), shapes) if k != "data" and "label" not in k}
                auxs = {k: mx.nd.array(np.abs(m.values(s)) + 0.5) for k, s in zip(symbol.list_auxiliary_states(), aux)}
                data = mx.io.NDArrayIter(data=np.abs(m.values((8, *shape[1:]))) if dtype != "int8" else m.values((8, *shape[1:])), batch_size=shape[0])
                for mode in ("none", "naive"):
                    q, qarg, qaux = quantize_model(sym=symbol, arg_params=arg, aux_params=auxs, ctx=mx.cpu(), calib_mode=mode, calib_data=data if mode != "none" else None, num_calib_examples=8, quantized_dtype=dtype, logger=logging, **more)
                    data.reset()
                    m.save(f"quant_{name}_{dtype}_{mode}", q, {"data": np.abs(m.values(shape)) if dtype != "int8" else m.values(shape)}, {k: v.asnumpy() for k, v in {**qarg, **qaux}.items()}, rtol=5e-2, atol=5e-2)
            except Exception as e:
                m.SKIPPED.append(f"quant_{name}_{dtype}: {type(e).__name__}: {str(e).strip().splitlines()[0][:120]}")
    net("conv", lambda x: S.Convolution(x, kernel=(3, 3), num_filter=4), (2, 4, 6, 6))
    net("conv3", lambda x: S.Convolution(x, kernel=(3, 3), num_filter=4, no_bias=True, pad=(1, 1), stride=(2, 2)), (2, 3, 6, 6))
    net("convrelu", lambda x: S.Activation(S.Convolution(x, kernel=(3, 3), num_filter=4), act_type="relu"), (2, 4, 6, 6))
    net("convpool", lambda x: S.Pooling(S.Convolution(x, kernel=(3, 3), num_filter=4), kernel=(2, 2), stride=(2, 2), pool_type="max"), (2, 4, 6, 6))
    net("convavg", lambda x: S.Pooling(S.Convolution(x, kernel=(3, 3), num_filter=4), kernel=(2, 2), stride=(2, 2), pool_type="avg", global_pool=True), (2, 4, 6, 6))
    net("fc", lambda x: S.FullyConnected(x, num_hidden=5), (2, 8))
    net("fcfc", lambda x: S.FullyConnected(S.Activation(S.FullyConnected(x, num_hidden=5), act_type="relu"), num_hidden=3, no_bias=True), (2, 8))
    net("concat", lambda x: S.concat(S.Convolution(x, kernel=(1, 1), num_filter=4), S.Convolution(x, kernel=(1, 1), num_filter=4), dim=1), (2, 4, 6, 6))
    net("add", lambda x: S.Convolution(x, kernel=(1, 1), num_filter=4) + S.Convolution(x, kernel=(1, 1), num_filter=4), (2, 4, 6, 6))
    net("flatfc", lambda x: S.FullyConnected(S.Flatten(S.Convolution(x, kernel=(3, 3), num_filter=4)), num_hidden=3), (2, 4, 5, 5))
    net("bn", lambda x: S.BatchNorm(S.Convolution(x, kernel=(3, 3), num_filter=4), fix_gamma=False), (2, 4, 5, 5))


def zoo(m):
    from mxnet.gluon.model_zoo import vision
    for name, size in (("resnet18_v1", 32), ("resnet18_v2", 32), ("resnet50_v1", 32), ("vgg11_bn", 32), ("alexnet", 64), ("densenet121", 224), ("squeezenet1.0", 64), ("squeezenet1.1", 64), ("mobilenet0.25", 32), ("mobilenetv2_0.25", 32), ("inceptionv3", 299)):
        if m.ONLY and m.ONLY not in f"zoo_{name}":
            continue
        try:
            net = vision.get_model(name, classes=5)
            net.initialize(mx.init.Xavier())
            x = mx.sym.Variable("data")
            symbol = net(x)
            net(mx.nd.array(m.values((1, 3, size, size))))
            params = {k: v.data().asnumpy() for k, v in net.collect_params().items()}
            m.save(f"zoo_{name}", symbol, {"data": m.values((1, 3, size, size))}, params, rtol=1e-3, atol=1e-4)
        except Exception as e:
            m.SKIPPED.append(f"zoo_{name}: {e}"[:200])


def add(m):
    for part in (elementwise, shapes, reductions, indexing, networks, vision, linalg, numpy_ops, contrib, quantised):
        part(m)
    if m.ONLY.startswith("zoo"):
        zoo(m)
