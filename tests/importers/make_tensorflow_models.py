"""Walks TensorFlow's models: functions with control flow, state, lists, tables, and networks of Keras, each as a SavedModel and as frozen
graphs (loops as While, and as Enter and Exit), compiled, run and compared with TensorFlow's results.

usage: make_tensorflow_models.py BIN [--filter TEXT] [--folder DIR]

Needs Python with tensorflow and tf_keras; BIN is the folder of relayc and vmrun. Seeds are fixed."""
import argparse
import os
import subprocess
import sys
import tempfile

os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
os.environ.setdefault("TF_USE_LEGACY_KERAS", "1")
import numpy as np
import tensorflow as tf
from tensorflow.python.framework.convert_to_constants import convert_variables_to_constants_v2

MODELS = {}
rng = np.random.default_rng(5)


def f32(*shape):
    return rng.standard_normal(shape).astype("float32")


def model(signature, *calls, atol=1e-4, frozen=True):
    """A function of tensors; `calls` are lists of its inputs, run one after the other in one state."""
    def note(fn):
        MODELS[fn.__name__] = (fn, signature, calls, atol, frozen)
        return fn
    return note


def spec(*shape, dtype="float32"):
    return tf.TensorSpec(shape, dtype)


@model([spec(None, 3), spec(dtype="int32")], [f32(2, 3), np.int32(4)], [f32(5, 3), np.int32(0)])
def while_sum():
    def f(x, n):
        i, s = tf.constant(0), x
        while i < n:
            s = s * 0.5 + tf.cast(i, tf.float32)
            i += 1
        return s
    return f


@model([spec(None)], [f32(4)], [f32(4) - 9], [f32(1)])
def if_nested():
    def f(x):
        if tf.reduce_sum(x) > 0:
            y = x * 2
            if tf.size(x) > 2:
                y = y + 1
        else:
            y = -x
        return y
    return f


@model([spec(dtype="int32"), spec(3)], [np.int32(0), f32(3)], [np.int32(2), f32(3)], [np.int32(9), f32(3)], [np.int32(-1), f32(3)])
def switch_case():
    return lambda i, x: tf.switch_case(i, [lambda: x, lambda: x + 1, lambda: tf.sort(x)], default=lambda: -x)


@model([spec(3)], [f32(3)], [f32(3) + 9], [f32(3) - 9])
def case_of_conditions():
    return lambda x: tf.case([(tf.reduce_sum(x) > 10, lambda: x + 1), (tf.reduce_sum(x) < -10, lambda: x - 1)], default=lambda: x * 0)


@model([spec(None, 2)], [f32(4, 2)], [f32(1, 2)])
def tensor_array_in_loop():
    def f(x):
        n = tf.shape(x)[0]
        a = tf.TensorArray(tf.float32, n)
        s = tf.zeros([2])
        for i in tf.range(n):
            s = s + x[i]
            a = a.write(i, s)
        return a.stack(), s
    return f


@model([spec(dtype="int32")], [np.int32(5)], [np.int32(1)])
def tensor_array_grows():
    def f(n):
        a = tf.TensorArray(tf.int32, 0, dynamic_size=True, element_shape=[])
        i = tf.constant(0)
        while i < n:
            a = a.write(i, i * i)
            i += 1
        return a.stack()
    return f


@model([spec(None, 2)], [f32(3, 2)], [f32(2, 2)])
def tensor_array_concat():
    def f(x):
        a = tf.TensorArray(tf.float32, 2, element_shape=[None, 2], infer_shape=False)
        a = a.write(0, x)
        a = a.write(1, x + 1)
        return a.concat()
    return f


@model([spec(4, 3)], [f32(4, 3)])
def map_and_scan():
    return lambda x: (tf.map_fn(lambda v: tf.reduce_sum(v) * v, x), tf.scan(lambda a, v: a + v, x), tf.foldl(lambda a, v: a * 0.5 + v, x))


@model([spec(None, dtype="int32")], [np.array([3, 5, 9], "int32")], [np.array([2], "int32")])
def break_and_continue():
    def f(x):
        total = tf.constant(0)
        for v in x:
            if v % 2 == 0:
                continue
            if v > 8:
                break
            total += v
        return total
    return f


@model([spec(None, dtype="int32")], [np.array([3, 5, 9], "int32")], [np.array([12], "int32")])
def early_return():
    def f(x):
        found, i = tf.constant(-1), tf.constant(0)
        while i < tf.size(x):
            if x[i] > 4:
                found = x[i] * 10
                break
            i += 1
        return found
    return f


@model([spec(None, 4)], [f32(3, 4)])
def nested_functions():
    @tf.function
    def inner(a, b):
        return tf.matmul(a, b, transpose_b=True)
    return lambda x: inner(x, x) + inner(x * 2, x)


@model([spec(None)], [f32(6)])
def ragged_inside():
    def f(x):
        r = tf.RaggedTensor.from_row_lengths(x, [2, 0, 4])
        return r.to_tensor(-1.0), tf.reduce_sum(r, 1), r.row_lengths(), (r * 2.0).flat_values
    return f


class Counter(tf.Module):
    def __init__(self):
        super().__init__()
        self.n = tf.Variable(0, dtype=tf.int64)
        self.acc = tf.Variable([1.0, 2.0, 3.0])


@model([spec(3)], [f32(3)], [f32(3)], [f32(3) + 5], frozen=False)
def state_plain():
    m = Counter()

    def f(x):
        m.n.assign_add(1)
        m.acc.assign(m.acc * 0.5 + x)
        return m.acc + 0.0, m.n + 0
    return f, m


@model([spec(3)], [f32(3) - 9], [f32(3) + 9], [f32(3) - 9], frozen=False)
def state_in_arms():
    m = Counter()

    def f(x):
        if tf.reduce_sum(x) > 0:
            m.acc.assign(x)
            m.n.assign_add(2)
        else:
            m.n.assign_sub(1)
        return m.acc * 1.0, m.n + 0
    return f, m


@model([spec(3), spec(dtype="int32")], [f32(3), np.int32(3)], [f32(3), np.int32(0)], frozen=False)
def state_in_loops():
    m = Counter()

    def f(x, n):
        for i in tf.range(n):
            if i % 2 == 0:
                m.acc.assign_add(x)
            m.n.assign_add(tf.cast(i, tf.int64))
        return m.acc + 0.0, m.n + 0
    return f, m


@model([spec(None, dtype="int64")], [np.array([1, 0, 2], "int64")], frozen=False)
def state_rows():
    m = tf.Module()
    m.t = tf.Variable(f32(4, 2))

    def f(i):
        m.t.scatter_nd_add(i[:, None], tf.ones([3, 2]))
        m.t.scatter_update(tf.IndexedSlices(tf.zeros([1, 2]), i[:1]))
        m.t[0, 1].assign(7.0)
        return tf.gather(m.t, i) + 0.0, tf.gather_nd(m.t, i[:, None])
    return f, m


@model([spec(None, dtype="int64")], [np.array([7, 3, 5], "int64")], frozen=False)
def lookup_table():
    m = tf.Module()
    m.t = tf.lookup.StaticHashTable(tf.lookup.KeyValueTensorInitializer(np.array([3, 7], "int64"), np.array([1.5, 2.5], "float32")), -1.0)
    return lambda x: m.t.lookup(x), m


@model([spec(None, dtype="string")], [np.array(["a", "bb", "zz"])], frozen=False)
def lookup_words():
    m = tf.Module()
    m.t = tf.lookup.StaticVocabularyTable(tf.lookup.KeyValueTensorInitializer(np.array(["a", "bb"]), np.array([0, 1], "int64")), 3)
    return lambda x: m.t.lookup(x), m


@model([spec(None, dtype="string")], [np.array(["aB", "b-b 1", "zz"])], frozen=False)
def texts():
    return lambda x: (tf.strings.join([x, x], "-"), tf.strings.regex_full_match(x, "[a-z]+"), tf.strings.lower(x, "utf-8"), tf.strings.upper(x, "utf-8"),
                      tf.equal(x, "zz"), tf.strings.to_number(tf.strings.as_string(tf.range(3))))


@model([spec(1, 400)], [f32(1, 400)], atol=1e-3)
def spectra():
    def f(x):
        s = tf.signal.stft(x, 64, 32, 64)
        m = tf.signal.linear_to_mel_weight_matrix(10, 33, 8000, 100, 3000)
        mel = tf.math.log(tf.matmul(tf.abs(s), m[None]) + 1e-3)
        return tf.signal.mfccs_from_log_mel_spectrograms(mel), tf.signal.inverse_stft(s, 64, 32), tf.signal.dct(x, norm="ortho"), tf.signal.frame(x, 50, 25, pad_end=True)
    return f


@model([spec(None, 8, 9, 3)], [np.abs(f32(2, 8, 9, 3)) % 1])
def images():
    def f(x):
        t = tf.image
        return (t.resize(x, [5, 7]), t.resize(x, [5, 7], "bicubic"), t.resize(x, [5, 7], "area"), t.resize(x, [12, 11], "lanczos3", antialias=True), t.resize(x, [5, 7], "nearest"),
                t.adjust_brightness(x, 0.2), t.adjust_contrast(x, 1.5), t.adjust_gamma(x, 2.0), t.adjust_hue(x, 0.1), t.adjust_saturation(x, 1.4), t.central_crop(x, 0.5),
                t.crop_to_bounding_box(x, 1, 2, 4, 5), t.flip_left_right(x), t.flip_up_down(x), t.rot90(x), t.transpose(x), t.rgb_to_hsv(x), t.rgb_to_grayscale(x), t.rgb_to_yuv(x),
                t.per_image_standardization(x), t.resize_with_pad(x, 10, 20), t.resize_with_crop_or_pad(x, 6, 12), t.sobel_edges(x), t.total_variation(x),
                t.extract_patches(x, [1, 3, 3, 1], [1, 2, 2, 1], [1, 1, 1, 1], "VALID"), t.ssim(x, x * 0.9, 1.0, filter_size=5), t.psnr(x, x * 0.9, 1.0))
    return f


@model([spec(None, 3, 3)], [f32(2, 3, 3) + 3 * np.eye(3, dtype="float32")], atol=2e-3)
def matrices():
    def f(x):
        s = tf.matmul(x, x, transpose_b=True)
        l = tf.linalg
        return (l.inv(x), l.det(x), l.cholesky(s), l.solve(x, x + 1), l.trace(x), l.band_part(x, 1, 0), l.diag_part(x), l.matrix_transpose(x), l.norm(x, axis=[-2, -1]),
                l.cholesky_solve(l.cholesky(s), x), l.logdet(s), l.slogdet(x), l.cross(x, x + 1), l.expm(x * 0.1), l.triangular_solve(l.cholesky(s), x), l.lstsq(x, x + 1),
                l.adjoint(x), l.set_diag(x, x[:, 0]), l.tensor_diag(x[0, 0]), tf.tensordot(x, x, [[1], [2]]), l.einsum("bij,bkj->bik", x, x), l.matvec(x, x[:, 0]))
    return f


@model([spec(None, 3, 3)], [f32(2, 3, 3) + 3 * np.eye(3, dtype="float32")], atol=2e-3)
def factors():
    def f(x):
        s = tf.matmul(x, x, transpose_b=True)
        q, r = tf.linalg.qr(x)
        return tf.matmul(q, r), tf.abs(r), tf.linalg.eigvalsh(s), tf.linalg.svd(x, compute_uv=False), tf.linalg.pinv(x)
    return f


@model([spec(5, 2, 4), spec(2, dtype="int32")], [f32(5, 2, 4), np.array([5, 3], "int32")])
def ctc_greedy():
    def f(x, n):
        (d,), p = tf.nn.ctc_greedy_decoder(x, n)
        return tf.sparse.to_dense(d, default_value=-1), p
    return f


@model([spec(None, 6)], [f32(3, 6)])
def nn_functions():
    def f(x):
        n = tf.nn
        return (n.top_k(x, 3), n.softmax(x, 0), n.log_softmax(x), n.gelu(x), n.gelu(x, True), n.swish(x), n.elu(x), n.selu(x), n.crelu(x), n.leaky_relu(x), n.l2_normalize(x, 1),
                n.moments(x, [0]), n.weighted_moments(x, [0], tf.abs(x)), n.normalize_moments(tf.constant(3.0), x[0], x[1], None), n.sigmoid_cross_entropy_with_logits(tf.abs(x), x),
                n.softmax_cross_entropy_with_logits(n.softmax(x), x), n.in_top_k([1, 2, 3], x, 2), n.embedding_lookup(x, [2, 0]), n.zero_fraction(x), n.log_poisson_loss(tf.abs(x), x),
                tf.math.segment_sum(x, [0, 0, 1]), tf.math.unsorted_segment_mean(x, [1, 0, 1], 3), tf.math.unsorted_segment_sqrt_n(x, [1, 0, 1], 3), tf.math.bincount([1, 1, 3]),
                tf.math.reduce_logsumexp(x, 1), tf.math.reduce_std(x, 0), tf.math.cumulative_logsumexp(x, 1), tf.math.top_k(x, 2, sorted=True), tf.argsort(x, direction="DESCENDING"),
                tf.sort(x, 0), tf.unique(tf.constant([3, 1, 3])), tf.where(x > 0), tf.boolean_mask(x, x[:, 0] > -9), tf.meshgrid(x[0], x[1]), tf.repeat(x, 2, 1), tf.roll(x, 1, 1),
                tf.sequence_mask([1, 3, 0], 4), tf.one_hot([1, 2], 4), tf.searchsorted(tf.sort(x[0]), x[1]), tf.histogram_fixed_width(x, [-2.0, 2.0], 5), tf.clip_by_norm(x, 1.0),
                tf.tensor_scatter_nd_update(x, [[0, 1]], [9.0]), tf.gather(x, [[1, 0]], axis=1), tf.gather(x, [[1], [0], [2]], batch_dims=1), tf.linspace(0.0, 1.0, 5), tf.eye(3),
                tf.math.polyval([1.0, 2.0], x), tf.math.confusion_matrix([1, 2], [1, 1]), tf.math.lbeta(tf.abs(x)), tf.math.nextafter(x, x) if False else x)
    return f


@model([spec(6, 4), spec(6)], [np.abs(f32(6, 4)), np.abs(f32(6))])
def suppression():
    def f(b, s):
        b = tf.concat([b[:, :2], b[:, :2] + b[:, 2:]], 1)
        t = tf.image
        return (t.non_max_suppression(b, s, 4), t.non_max_suppression_padded(b, s, 4, pad_to_max_output_size=True), t.non_max_suppression_with_scores(b, s, 4, soft_nms_sigma=0.5),
                t.combined_non_max_suppression(b[None, :, None], s[None, :, None], 3, 5), t.crop_and_resize(tf.ones([1, 5, 5, 1]) * s[0], b, [0] * 6, [2, 2]))
    return f


@model([spec(2, dtype="int32")], [np.array([3, 9], "int32")], atol=1e-3)
def random_numbers():
    def f(seed):
        r = tf.random
        return (r.stateless_uniform([5], seed), r.stateless_normal([5], seed), r.stateless_truncated_normal([5], seed), r.stateless_uniform([5], seed, 0, 9, tf.int32),
                r.stateless_categorical(tf.math.log([[0.2, 0.5, 0.3]]), 6, seed), r.split(seed, 2), r.fold_in(seed, 3))
    return f


@model([spec(None, None, 3)], [f32(2, 4, 3)], [f32(1, 2, 3)])
def unknown_extents():
    def f(x):
        s = tf.shape(x)
        y = tf.reshape(x, [s[0] * s[1], 3])
        z = tf.tile(x, [1, 2, 1])
        return y, z, tf.transpose(x, [2, 0, 1]), tf.reduce_mean(x, 1), tf.pad(x, [[0, 0], [1, 0], [0, 0]]), tf.range(s[1]), x[:, ::-1], tf.zeros([s[1], 2]), tf.broadcast_to(x[:1], s), \
            tf.concat([x, x], 1), tf.split(x, 3, 2), tf.unstack(x, axis=2), tf.stack([x, x], 1), tf.einsum("bij,bkj->bik", x, x), tf.image.resize(x[..., None], [s[1] * 2, 6])
    return f


def of_keras(build, *calls, atol=2e-4, shape=None, dtype=None):
    """A model of tf_keras."""
    def note():
        import tf_keras as keras
        keras.utils.set_random_seed(3)
        m = build(keras)
        signature = [tf.TensorSpec([None] + list(i.shape[1:]), i.dtype) for i in m.inputs]
        for w in m.weights:  # moving means and gains that do something
            if "batch_normalization" in w.name or "bn" in w.name:
                w.assign(tf.abs(w + 0.3 * rng.standard_normal(w.shape).astype("float32")))
        return (lambda *x: m(x[0] if len(x) == 1 else list(x), training=False)), m, signature
    MODELS["keras_" + build.__name__] = (note, None, calls, atol, True)
    return build


@lambda b: of_keras(b, [f32(1, 32, 32, 3)])
def mobilenet_v2(k):
    return k.applications.MobileNetV2((32, 32, 3), 0.35, weights=None, classes=5)


@lambda b: of_keras(b, [f32(1, 32, 32, 3)])
def mobilenet_v3(k):
    return k.applications.MobileNetV3Small((32, 32, 3), minimalistic=False, weights=None, classes=5, alpha=0.75)


@lambda b: of_keras(b, [f32(1, 32, 32, 3)])
def efficientnet_b0(k):
    return k.applications.EfficientNetB0(weights=None, input_shape=(32, 32, 3), classes=5)


@lambda b: of_keras(b, [f32(2, 7, 4)], [f32(1, 3, 4)])
def recurrent(k):
    L = k.layers
    x = i = L.Input((None, 4))
    x = L.Bidirectional(L.LSTM(5, return_sequences=True))(x)
    x = L.Bidirectional(L.GRU(3, return_sequences=True), merge_mode="sum")(x)
    x = L.SimpleRNN(4, return_sequences=True)(x)
    x = L.LSTM(5, go_backwards=True, return_sequences=True)(x)
    x = L.GRU(5, reset_after=False)(x)
    return k.Model(i, L.Dense(2)(x))


@lambda b: of_keras(b, [np.array([[1, 2, 0, 0], [3, 4, 5, 0]], "int32")], [np.array([[1, 2, 3]], "int32")])
def masked(k):
    L = k.layers
    i = L.Input((None,), dtype="int32")
    x = L.Embedding(9, 6, mask_zero=True)(i)
    y = L.Bidirectional(L.LSTM(5, return_sequences=True))(x)
    y = L.GRU(4, return_sequences=True)(y)
    y = L.Attention()([y, y])
    z = L.LSTM(3)(x)
    return k.Model(i, L.Concatenate()([L.GlobalAveragePooling1D()(y), z]))


@lambda b: of_keras(b, [np.array([[1, 2, 0, 0], [3, 4, 5, 0]], "int32")])
def encoder(k):
    L = k.layers
    i = L.Input((None,), dtype="int32")
    x = L.Embedding(9, 8, mask_zero=True)(i)
    y = L.MultiHeadAttention(2, 4)(x, x, use_causal_mask=True)
    x = L.LayerNormalization()(x + y)
    y = L.EinsumDense("abc,cd->abd", output_shape=(None, 8), bias_axes="d", activation="gelu")(x)
    x = L.LayerNormalization()(x + y)
    x = L.AdditiveAttention()([x, x])
    return k.Model(i, L.Dense(3, activation="softmax")(x))


@lambda b: of_keras(b, [f32(2, 3, 6, 6, 2)])
def conv_lstm(k):
    L = k.layers
    i = L.Input((None, 6, 6, 2))
    x = L.ConvLSTM2D(3, 3, padding="same", return_sequences=True)(i)
    x = L.TimeDistributed(L.Conv2D(2, 3))(x)
    x = L.ConvLSTM2D(2, 3, dilation_rate=1, go_backwards=True)(x)
    return k.Model(i, x)


@lambda b: of_keras(b, [f32(2, 12, 12, 4)])
def convolutions(k):
    L = k.layers
    x = i = L.Input((12, 12, 4))
    x = L.Conv2D(8, 3, groups=2, padding="same", activation="relu")(x)
    x = L.SeparableConv2D(6, 3, depth_multiplier=2, activation="swish")(x)
    x = L.DepthwiseConv2D(3, strides=2, padding="same")(x)
    x = L.Conv2DTranspose(5, 3, strides=2, padding="same", output_padding=1)(x)
    x = L.Conv2D(4, 3, dilation_rate=2, padding="same")(x)
    x = L.PReLU(shared_axes=[1, 2])(x)
    x = L.UpSampling2D(2, interpolation="bilinear")(x)
    x = L.ZeroPadding2D(((1, 0), (2, 1)))(x)
    x = L.Cropping2D(1)(x)
    x = L.GroupNormalization(2)(x)
    x = L.SpatialDropout2D(0.1)(x)
    y = L.Concatenate()([L.GlobalMaxPooling2D()(x), L.GlobalAveragePooling2D()(x), L.Flatten()(L.AveragePooling2D(5)(x))])
    y = L.UnitNormalization()(y)
    return k.Model(i, L.Dense(3)(L.Reshape((-1,))(L.Permute((2, 1))(L.RepeatVector(2)(y)))))


@lambda b: of_keras(b, [f32(2, 16, 3)])
def sequences(k):
    L = k.layers
    x = i = L.Input((16, 3))
    x = L.Conv1D(6, 3, padding="causal", dilation_rate=2, activation="tanh")(x)
    x = L.SeparableConv1D(5, 3)(x)
    x = L.MaxPooling1D(2)(x)
    x = L.Conv1DTranspose(4, 3, strides=2)(x)
    x = L.LocallyConnected1D(3, 2)(x) if hasattr(L, "LocallyConnected1D") else x
    return k.Model(i, L.Dot(1)([x, x]))


def names_of(concrete):
    return [t.name.split(":")[0] for t in concrete.inputs if t.dtype != tf.resource]


def compare(found, expected, atol):
    for k, e in expected.items():
        if k not in found:
            return f"no output {k} among {sorted(found)}"
        g = found[k]
        if e.dtype.kind in "SUO":
            if [s if isinstance(s, bytes) else str(s).encode() for s in g.ravel()] != list(e.ravel()):
                return f"{k}: texts {g.tolist()}, expected {e.tolist()}"
        elif g.shape != e.shape or g.dtype != e.dtype:
            return f"{k}: {g.dtype}{g.shape}, expected {e.dtype}{e.shape}"
        elif e.dtype.kind in "iub" and (g != e).any() or e.dtype.kind == "f" and not np.allclose(g, e, 1e-3, atol, equal_nan=True):
            return f"{k}: values differ: {g.ravel()[:4]}, expected {e.ravel()[:4]}"
    return ""


def run(*command):
    done = subprocess.run(command, capture_output=True, text=True, errors="replace")
    return "" if done.returncode == 0 else f"{os.path.basename(command[0])}: exit {done.returncode}: {' '.join(done.stderr.split())[-420:]}"


def check(binaries, source, folder, calls, results, state, atol):
    """`calls`: dicts of inputs by name."""
    vmx = os.path.join(folder, "m.vmx")
    problem = run(os.path.join(binaries, "relayc"), source, "-o", vmx, *(["--output-node=" + k for k in results[0]] if source.endswith(".pb") else []))
    if os.path.exists(os.path.join(folder, "state.npz")):
        os.remove(os.path.join(folder, "state.npz"))
    for inputs, expected in zip(calls, results):
        if problem:
            return problem
        np.savez(os.path.join(folder, "in.npz"), **inputs)
        problem = run(os.path.join(binaries, "vmrun"), vmx, "--input", os.path.join(folder, "in.npz"), "--output", os.path.join(folder, "out.npz"),
                      *(["--state", os.path.join(folder, "state.npz")] if state else []))
        if not problem:
            with np.load(os.path.join(folder, "out.npz"), allow_pickle=True) as z:
                problem = compare({k: z[k] for k in z.files}, expected, atol)
    return problem


def main():
    p = argparse.ArgumentParser()
    p.add_argument("bin")
    p.add_argument("--filter", default="")
    p.add_argument("--folder")
    a = p.parse_args()
    failed, total = 0, 0
    for name, (build, signature, calls, atol, frozen) in MODELS.items():
        if a.filter not in name:
            continue
        folder = os.path.join(a.folder or tempfile.mkdtemp(), name)
        os.makedirs(folder, exist_ok=True)
        try:
            made = build()
            fn, module = made[:2] if isinstance(made, tuple) else (made, tf.Module())
            if signature is None:
                signature = made[2]
            named = [tf.TensorSpec(s.shape, s.dtype, name=f"a{i}") for i, s in enumerate(signature)]

            def as_dict(*args):
                return {f"y{i}": tf.identity(t) for i, t in enumerate(tf.nest.flatten(fn(*args), expand_composites=True))}
            holder = tf.Module()
            holder.f = tf.function(as_dict, input_signature=named)
            holder.m = module
            concrete = holder.f.get_concrete_function()
            tf.saved_model.save(holder, os.path.join(folder, "saved"), signatures={"serving_default": concrete})
            results = [{k: v.numpy() for k, v in concrete(*[tf.constant(x) for x in c]).items()} for c in calls]
        except Exception as e:
            print(f"UNMADE {name}: {type(e).__name__}: {' '.join(str(e).split())[:300]}")
            continue
        inputs = [{f"a{i}": x for i, x in enumerate(c)} for c in calls]
        results = [{k: v for k, v in r.items()} for r in results]
        checks = [("saved", os.path.join(folder, "saved"), results)]
        for lower in (False, True) if frozen else ():
            graph = convert_variables_to_constants_v2(concrete, lower_control_flow=lower).graph.as_graph_def()
            path = os.path.join(folder, f"frozen_{int(lower)}.pb")
            # Outputs of a frozen function are Identity nodes in the order of their keys.
            ends = [n.name for n in graph.node if n.op == "Identity" and n.name.startswith("Identity")]
            order = sorted(results[0], key=lambda k: int(k[1:]))
            ends = sorted(ends, key=lambda s: int(s.split("_")[1]) if "_" in s else 0)[:len(order)]
            with open(path, "wb") as f:
                f.write(graph.SerializeToString())
            checks.append((f"frozen_{int(lower)}", path, [{e: r[k] for e, k in zip(ends, order)} for r in results]))
        for kind, source, expected in checks:
            total += 1
            problem = check(a.bin, source, folder, inputs, expected, name.startswith("state"), atol)
            if problem:
                failed += 1
                print(f"FAIL {name} {kind}: {problem}")
    print(f"{total - failed} of {total} models")
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
