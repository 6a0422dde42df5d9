"""Cases of make_keras.py: the lines between layers, as keras.ops (Keras 3) or functions of TensorFlow (Keras 2). `m` is that script."""
import numpy as np


def keras_3(m):
    ops, case, L = m.K.ops, m.case, m.L
    x2 = ((3, 4), "float32")

    def op(name, make, *inputs, **more):
        case(f"op_{name}", make, *(inputs or (x2,)), h5=False, **more)
    for name in ("abs", "absolute", "arccos", "arccosh", "arcsin", "arcsinh", "arctan", "arctanh", "ceil", "cos", "cosh", "exp", "exp2", "expm1", "floor", "isfinite", "isinf", "isnan", "log", "log10", "log1p", "log2", "negative", "reciprocal", "round",
                 "sign", "sin", "sinh", "sqrt", "square", "tan", "tanh", "trunc", "erf", "rsqrt", "sigmoid", "relu", "relu6", "elu", "selu", "silu", "gelu", "softplus", "softsign", "hard_sigmoid", "hard_silu", "hard_tanh", "log_sigmoid", "sparse_plus",
                 "sparse_sigmoid", "sparsemax", "squareplus", "tanh_shrink", "celu", "leaky_relu", "hard_shrink", "soft_shrink", "glu", "softmax", "log_softmax", "copy", "stop_gradient", "ravel", "zeros_like", "ones_like", "deg2rad", "rad2deg", "logical_not", "normalize", "cumsum", "sort", "argsort"):
        if not hasattr(ops, name):
            continue
        f = getattr(ops, name)
        op(name, lambda x: f(x))
        if name not in ("glu", "softmax", "log_softmax", "normalize", "sparsemax") and name not in ("erf", "rsqrt", "celu", "elu", "selu", "gelu", "silu", "leaky_relu", "hard_sigmoid", "hard_silu", "sigmoid", "softplus", "softsign", "squareplus", "sparse_plus", "sparse_sigmoid", "log_sigmoid", "hard_tanh", "hard_shrink", "soft_shrink", "tanh_shrink"):
            op(name + "_int", lambda x: f(x), ((3, 4), "int32"))
    for name in ("add", "subtract", "multiply", "divide", "true_divide", "power", "maximum", "minimum", "floor_divide", "mod", "logaddexp", "hypot", "divide_no_nan", "equal", "not_equal", "greater", "greater_equal", "less", "less_equal", "logical_and", "logical_or", "logical_xor"):
        f = getattr(ops, name, None)
        if not f:
            continue
        op(name, lambda x, y: f(ops.abs(x), y), x2, x2)
        op(name + "_number", lambda x: f(ops.abs(x), 2.5))
        op(name + "_numbers", lambda x: f(2, ops.abs(x) + 1))
        op(name + "_int_number", lambda x: f(x + 1, 2.5), ((3, 4), "int32"))
        op(name + "_mixed", lambda x, y: f(x, y + 1), x2, ((3, 4), "int32"))
        op(name + "_ints", lambda x, y: f(x, y + 1), ((3, 4), "int32"), ((4,), "int32"))
        op(name + "_array", lambda x: f(ops.abs(x), np.array([1, 2, 3, 4], "float32")))
    for name in ("bitwise_and", "bitwise_or", "bitwise_xor", "left_shift", "right_shift"):
        op(name, lambda x, y: getattr(ops, name)(x, y), ((3, 4), "int32"), ((3, 4), "int32"))
    for name in ("sum", "mean", "max", "min", "prod", "std", "var", "logsumexp", "any", "all", "amax", "amin", "norm", "ptp", "count_nonzero", "argmax", "argmin", "average"):
        f = getattr(ops, name, None)
        if not f:
            continue
        keeps = {} if name in ("count_nonzero", "average") else {"keepdims": True}
        op(name, lambda x: f(x, axis=1))
        op(name + "_neg", lambda x: f(x, axis=-1, **keeps))
        op(name + "_all", lambda x: f(x), batch=2)
        if name not in ("argmax", "argmin"):
            op(name + "_axes", lambda x: f(x, axis=(1, 2)))
        if name != "norm":
            op(name + "_int", lambda x: f(x, axis=1), ((3, 4), "int32"))
            op(name + "_bool", lambda x: f(x, axis=1), ((3, 4), "bool"))
            op(name + "_int8", lambda x: f(x, axis=1), ((3, 4), "int8"))
    op("max_initial", lambda x: ops.max(x, axis=1, initial=0.5))
    op("average_weights", lambda x, w: ops.average(x, axis=1, weights=w), x2, x2)
    op("norm_1", lambda x: ops.norm(x, ord=1, axis=1))
    op("norm_inf", lambda x: ops.norm(x, ord=np.inf, axis=1))
    op("norm_3", lambda x: ops.norm(x, ord=3, axis=1))
    op("normalize_axis", lambda x: ops.normalize(x, axis=1))
    op("normalize_1", lambda x: ops.normalize(x, axis=1, order=1))
    op("moments", lambda x: list(ops.moments(x, axes=[1])))
    op("clip", lambda x: ops.clip(x, -0.5, 0.5))
    op("clip_int", lambda x: ops.clip(x, 1, 3), ((3, 4), "int32"))
    op("where", lambda x, y: ops.where(x > 0, x, y), x2, x2)
    op("where_number", lambda x: ops.where(x > 0, x, 0.0))
    op("where_numbers", lambda x: ops.where(x > 0, 1.0, 0.0))
    op("where_ints", lambda x: ops.where(x > 0, 1, 0))
    op("cast", lambda x: ops.cast(x * 3, "int32"))
    op("cast_half", lambda x: ops.cast(x, "float16"))
    op("softmax_axis", lambda x: ops.softmax(x, axis=1))
    op("gelu_exact", lambda x: ops.gelu(x, approximate=False))
    op("leaky_slope", lambda x: ops.leaky_relu(x, 0.3))
    op("elu_alpha", lambda x: ops.elu(x, 0.3))
    op("threshold", lambda x: ops.threshold(x, 0.2, -1.0))
    op("glu_axis", lambda x: ops.glu(x, axis=1), ((4, 3), "float32"))
    op("reshape", lambda x: ops.reshape(x, (-1, 12)))
    op("reshape_rest", lambda x: ops.reshape(x, (-1, 2, 6)))
    op("transpose", lambda x: ops.transpose(x, (0, 2, 1)))
    op("transpose_all", lambda x: ops.transpose(x))
    op("expand_dims", lambda x: ops.expand_dims(x, 1))
    op("expand_dims_two", lambda x: ops.expand_dims(x, (1, -1)))
    op("squeeze", lambda x: ops.squeeze(x, 1), ((1, 4), "float32"))
    op("stack", lambda x, y: ops.stack([x, y], axis=1), x2, x2)
    op("concatenate", lambda x, y: ops.concatenate([x, y], axis=-1), x2, x2)
    op("concatenate_0", lambda x, y: ops.concatenate([x, y]), x2, x2)
    op("hstack", lambda x, y: ops.append(x, y, axis=1), x2, x2)
    op("split", lambda x: ops.split(x, 2, axis=2))
    op("split_at", lambda x: ops.split(x, [1, 3], axis=2))
    op("unstack", lambda x: ops.unstack(x, axis=1))
    op("tile", lambda x: ops.tile(x, (1, 2, 3)))
    op("tile_more", lambda x: ops.tile(x, (2, 1, 1, 2)))
    op("repeat", lambda x: ops.repeat(x, 2, axis=1))
    op("flip", lambda x: ops.flip(x, axis=1))
    op("flip_all", lambda x: ops.flip(x))
    op("roll", lambda x: ops.roll(x, 2, axis=1))
    op("roll_neg", lambda x: ops.roll(x, -1, axis=2))
    op("roll_flat", lambda x: ops.roll(x, 5), batch=2)
    op("roll_two", lambda x: ops.roll(x, (1, 2), axis=(1, 2)))
    op("moveaxis", lambda x: ops.moveaxis(x, 1, -1))
    op("moveaxis_two", lambda x: ops.moveaxis(x, (0, 1), (2, 0)))
    op("swapaxes", lambda x: ops.swapaxes(x, 1, 2))
    op("broadcast_to", lambda x: ops.broadcast_to(x, (2, 3, 4)), ((1, 4), "float32"), batch=2)
    op("pad", lambda x: ops.pad(x, ((0, 0), (1, 2), (0, 1)), constant_values=2.0))
    op("pad_reflect", lambda x: ops.pad(x, ((0, 0), (1, 2), (0, 1)), mode="reflect"))
    op("pad_symmetric", lambda x: ops.pad(x, ((0, 0), (1, 2), (0, 1)), mode="symmetric"))
    op("pad_one", lambda x: ops.pad(x, 1), batch=2)
    op("tril", lambda x: ops.tril(x))
    op("triu", lambda x: ops.triu(x, 1))
    op("diff", lambda x: ops.diff(x))
    op("full_like", lambda x: ops.full_like(x, 3))
    op("one_hot", lambda x: ops.one_hot(x, 6), ((3,), "int32"))
    op("one_hot_axis", lambda x: ops.one_hot(x, 6, axis=1), ((3,), "int32"))
    op("one_hot_int", lambda x: ops.one_hot(x, 6, dtype="int32"), ((3,), "int32"))
    op("take", lambda x, i: ops.take(x, i, axis=1), x2, ((2,), "int32", 3))
    op("take_const", lambda x: ops.take(x, np.array([2, 0, -1]), axis=1))
    op("take_list", lambda x: ops.take(x, [2, 0], axis=2))
    op("take_one", lambda x: ops.take(x, 1, axis=2))
    op("take_along", lambda x, i: ops.take_along_axis(x, i, axis=1), x2, ((2, 4), "int32", 3))
    op("top_k", lambda x: list(ops.top_k(x, 2)))
    op("sort_axis", lambda x: ops.sort(x, axis=1))
    op("argsort_axis", lambda x: ops.argsort(x, axis=1))
    op("cumsum_axis", lambda x: ops.cumsum(x, axis=1))
    op("cumprod_axis", lambda x: ops.cumprod(x, axis=-1))
    op("matmul", lambda x, y: ops.matmul(x, ops.transpose(y, (0, 2, 1))), x2, x2)
    op("matmul_array", lambda x: ops.matmul(x, np.arange(8, dtype="float32").reshape(4, 2)))
    op("einsum", lambda x, y: ops.einsum("abc,abd->acd", x, y), x2, x2)
    op("dot", lambda x: ops.dot(x, np.arange(4, dtype="float32")))
    op("tensordot", lambda x, y: ops.tensordot(x, y, axes=[[1], [1]]), x2, x2)
    op("tensordot_n", lambda x: ops.tensordot(x, np.ones((4, 2), "float32"), axes=1))
    op("outer", lambda x, y: ops.outer(x, y), ((3,), "float32"), ((2,), "float32"), batch=2)
    op("depth_to_space", lambda x: ops.nn.depth_to_space(x, 2) if hasattr(ops.nn, "depth_to_space") else x, ((2, 3, 8), "float32"))
    op("image_resize", lambda x: ops.image.resize(x, (6, 5)), ((3, 4, 2), "float32"))
    for i, f in enumerate([lambda x: x[:, 0], lambda x: x[:, -1], lambda x: x[..., 0], lambda x: x[:, 1:3], lambda x: x[:, ::2, None], lambda x: x[:, ::-1], lambda x: x[:, :, -2:], lambda x: x[:, None], lambda x: x[:, 1, 1:], lambda x: x[0], lambda x: x[:, -3:-1]]):
        op(f"getitem_{i}", f)
    for i, f in enumerate([lambda x: x + 1, lambda x: 1 - x, lambda x: x * 2.0, lambda x: x / 3, lambda x: 2 / (x * x + 1), lambda x: x ** 2, lambda x: -x, lambda x: abs(x), lambda x: x // 1, lambda x: x % 2, lambda x: (x > 0) & (x < 1), lambda x: (x > 0) | (x < -1), lambda x: ~(x > 0), lambda x: x @ np.ones((4, 2), "float32")]):
        op(f"line_{i}", f)
    case("op_transformer", lambda x: L.LayerNormalization()(x + ops.reshape(L.Dense(4)(ops.reshape(x, (-1, 12))), (-1, 3, 1))), (3, 4), h5=False)


def keras_2(m):
    import tensorflow as tf
    case, B = m.case, m.K.backend
    x2 = ((3, 4), "float32")

    def op(name, make, *inputs, **more):
        case(f"tf_{name}", make, *(inputs or (x2,)), **more)
    for name in ("abs", "sqrt", "exp", "log", "square", "sin", "cos", "tanh", "sigmoid", "negative", "sign", "round", "floor", "ceil", "erf", "softplus", "reciprocal", "is_nan", "rsqrt", "log1p", "expm1"):
        op(name, lambda x: getattr(tf.math, name)(x))
    for name in ("relu", "relu6", "elu", "selu", "leaky_relu", "softmax", "log_softmax", "silu", "gelu", "softsign", "sigmoid", "tanh", "softplus"):
        op("nn_" + name, lambda x: getattr(tf.nn, name)(x))
    for name in ("add", "subtract", "multiply", "divide", "truediv", "maximum", "minimum", "squared_difference", "greater", "less_equal", "equal", "not_equal", "floordiv", "floormod", "pow", "divide_no_nan"):
        f = getattr(tf.math, name)
        op(name, lambda x, y: f(tf.abs(x), y), x2, x2)
        op(name + "_number", lambda x: f(tf.abs(x), 2.0))
        op(name + "_array", lambda x: f(tf.abs(x), tf.constant([1.0, 2.0, 3.0, 4.0])))
        if name not in ("divide_no_nan",):
            op(name + "_ints", lambda x, y: f(x, y + 1), ((3, 4), "int32"), ((3, 4), "int32"))
    for name in ("reduce_mean", "reduce_sum", "reduce_max", "reduce_min", "reduce_prod", "reduce_std", "reduce_variance", "reduce_logsumexp"):
        f = getattr(tf, name, None) or getattr(tf.math, name)
        op(name, lambda x: f(x, 1))
        op(name + "_keep", lambda x: f(x, axis=[1, 2], keepdims=True))
        op(name + "_all", lambda x: f(x), batch=2)
    op("reduce_any", lambda x: tf.reduce_any(x > 0, axis=1))
    op("reduce_all", lambda x: tf.reduce_all(x > 0, axis=1))
    cases = [("number_first", lambda x: 2.0 - x), ("where", lambda x: tf.where(x > 0, x, 0.0)), ("where_zeros", lambda x: tf.where(x > 0, x, tf.zeros_like(x))), ("clip", lambda x: tf.clip_by_value(x, 0, 1)), ("reshape", lambda x: tf.reshape(x, (-1, 12))),
             ("reshape_shape", lambda x: tf.reshape(x, [tf.shape(x)[0], -1])), ("reshape_shape_2", lambda x: tf.reshape(x, tf.concat([tf.shape(x)[:1], [12]], 0))), ("transpose", lambda x: tf.transpose(x, [0, 2, 1])), ("expand", lambda x: tf.expand_dims(x, 1)), ("squeeze", lambda x: tf.squeeze(tf.expand_dims(x, 1), axis=1)),
             ("concat", lambda x: tf.concat([x, x * 2.0], axis=-1)), ("stack", lambda x: tf.stack([x, x * 2.0], axis=1)), ("unstack", lambda x: tf.unstack(x, axis=1)), ("split", lambda x: tf.split(x, 2, axis=2)), ("split_sizes", lambda x: tf.split(x, [1, 3], axis=2)), ("tile", lambda x: tf.tile(x, [1, 2, 1])),
             ("pad", lambda x: tf.pad(x, [[0, 0], [1, 1], [0, 2]])), ("pad_reflect", lambda x: tf.pad(x, [[0, 0], [1, 1], [0, 2]], mode="REFLECT")), ("cast", lambda x: tf.cast(x * 3, tf.int32)), ("slice_0", lambda x: x[:, 0]), ("slice_1", lambda x: x[:, 1:3, None]), ("slice_2", lambda x: x[..., -1]),
             ("slice_3", lambda x: x[:, ::-1]), ("slice_4", lambda x: x[:, -2:]), ("pow", lambda x: x ** 2), ("neg", lambda x: -x), ("l2", lambda x: tf.math.l2_normalize(x, axis=1)), ("k_mean", lambda x: B.mean(x, axis=1)), ("k_sum", lambda x: B.sum(x, axis=-1, keepdims=True)), ("k_relu", lambda x: m.K.activations.relu(x)),
             ("k_squeeze", lambda x: B.squeeze(B.expand_dims(x, 1), 1)), ("k_concat", lambda x: B.concatenate([x, x])), ("k_softmax", lambda x: B.softmax(x)), ("matmul", lambda x: tf.matmul(x, x, transpose_b=True)), ("gather", lambda x: tf.gather(x, [2, 0], axis=1)), ("argmax", lambda x: tf.argmax(x, axis=1)), ("argmax_32", lambda x: tf.argmax(x, axis=-1, output_type=tf.int32)),
             ("top_k", lambda x: tf.math.top_k(x, 2)[0]), ("cumsum", lambda x: tf.cumsum(x, axis=1)), ("reverse", lambda x: tf.reverse(x, axis=[1])), ("zeros_like", lambda x: tf.zeros_like(x)), ("softmax_axis", lambda x: tf.nn.softmax(x, axis=1)), ("leaky", lambda x: tf.nn.leaky_relu(x, alpha=0.3)), ("gelu_tanh", lambda x: tf.nn.gelu(x, approximate=True)),
             ("broadcast", lambda x: tf.broadcast_to(x, [2, 3, 4])), ("repeat", lambda x: tf.repeat(x, 2, axis=1)), ("identity", lambda x: tf.identity(x)), ("add_n", lambda x: tf.add_n([x, x * 2.0, x])), ("compare", lambda x: tf.cast(x > 0.5, tf.float32)), ("roll", lambda x: tf.roll(x, 1, axis=1)), ("slice", lambda x: tf.slice(x, [0, 1, 0], [-1, 2, 3])),
             ("mean_line", lambda x: (x - tf.reduce_mean(x, axis=-1, keepdims=True)) / tf.sqrt(tf.math.reduce_variance(x, axis=-1, keepdims=True) + 1e-5))]
    for name, f in cases:
        op(name, f)
    op("one_hot", lambda x: tf.one_hot(x, 6), ((3,), "int32"))
    op("gather_tensor", lambda x, i: tf.gather(x, i[0], axis=1), x2, ((2,), "int32", 3))
    op("image_resize", lambda x: tf.image.resize(x, (6, 8)), ((3, 4, 2), "float32"))
    op("image_resize_nearest", lambda x: tf.image.resize(x, (6, 8), method="nearest"), ((3, 4, 2), "float32"))


def add(m):
    (keras_3 if m.THREE else keras_2)(m)
