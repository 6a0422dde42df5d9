"""Cases of make_keras.py: layers, their arguments, and models of them. `m` is that script."""
import itertools

import numpy as np


def convolutions(m):
    L, case, layer, THREE = m.L, m.case, m.layer, m.THREE
    for rank in (1, 2, 3):
        conv = getattr(L, f"Conv{rank}D")
        size = (7, 6, 5)[:rank]
        shape = (*size, 4)
        options = [dict(), dict(padding="same"), dict(strides=2), dict(strides=2, padding="same"), dict(dilation_rate=2),
                   dict(dilation_rate=2, padding="same"), dict(use_bias=False), dict(activation="relu"), dict(groups=2),
                   dict(kernel_size=2, padding="same"), dict(kernel_size=1)]
        if rank == 1:
            options += [dict(padding="causal"), dict(padding="causal", dilation_rate=2), dict(padding="causal", strides=2)]
        else:
            options += [dict(strides=(2, 1, 2)[:rank] if rank == 3 else (2, 1)), dict(kernel_size=(3, 1, 2)[:rank])]
        for i, o in enumerate(options):
            layer(f"conv{rank}d_{i}", lambda: conv(4, **{"kernel_size": 3, **o}), shape)
        layer(f"conv{rank}d_open", lambda: conv(4, 3, padding="same", strides=2), (*(None,) * rank, 4))
        transposed = getattr(L, f"Conv{rank}DTranspose")
        options = [dict(), dict(padding="same"), dict(strides=2), dict(strides=2, padding="same"), dict(strides=3, kernel_size=2),
                   dict(strides=3, kernel_size=2, padding="same"), dict(strides=2, output_padding=1), dict(kernel_size=4, strides=2, padding="same"),
                   dict(strides=2, padding="same", output_padding=1), dict(strides=2, padding="same", output_padding=0), dict(dilation_rate=2), dict(use_bias=False, activation="tanh"),
                   dict(kernel_size=1, strides=2, padding="same"), dict(kernel_size=5, strides=2, padding="same"), dict(kernel_size=5, strides=3, padding="same")]
        for i, o in enumerate(options):
            layer(f"conv{rank}dt_{i}", lambda: transposed(3, **{"kernel_size": 3, **o}), (*(4, 5, 3)[:rank], 2))
        layer(f"conv{rank}dt_open", lambda: transposed(3, 3, padding="same", strides=2), (*(None,) * rank, 2))
    for rank in (1, 2):
        deep = getattr(L, f"DepthwiseConv{rank}D", None)
        shape = (*(7, 6)[:rank], 3)
        options = [dict(), dict(depth_multiplier=2), dict(padding="same", strides=2), dict(dilation_rate=2), dict(use_bias=False, activation="relu6" if THREE else "relu")]
        for i, o in enumerate(options):
            if deep:
                layer(f"depthwise{rank}d_{i}", lambda: deep(3, **o), shape)
            layer(f"separable{rank}d_{i}", lambda: getattr(L, f"SeparableConv{rank}D")(5, 3, **o), shape)
    for rank in (1, 2, 3):
        shape = (*(7, 6, 5)[:rank], 3)
        for kind in ("Max", "Average"):
            pool = getattr(L, f"{kind}Pooling{rank}D")
            for i, o in enumerate([dict(), dict(padding="same"), dict(pool_size=3, strides=2), dict(pool_size=3, strides=1, padding="same"), dict(pool_size=3, strides=2, padding="same")]):
                layer(f"{kind.lower()}pool{rank}d_{i}", lambda: pool(**o), shape)
            layer(f"{kind.lower()}pool{rank}d_open", lambda: pool(padding="same"), (*(None,) * rank, 3))
            whole = getattr(L, f"Global{kind}Pooling{rank}D")
            layer(f"global{kind.lower()}{rank}d_0", lambda: whole(), shape)
            layer(f"global{kind.lower()}{rank}d_1", lambda: whole(keepdims=True), (*(None,) * rank, 3))
            layer(f"global{kind.lower()}{rank}d_2", lambda: whole(data_format="channels_first"), shape)
            if THREE:
                adaptive = getattr(L, f"Adaptive{kind}Pooling{rank}D")
                layer(f"adaptive{kind.lower()}{rank}d_0", lambda: adaptive(3), shape)
                layer(f"adaptive{kind.lower()}{rank}d_1", lambda: adaptive((2, 3, 1)[:rank] if rank > 1 else 2, data_format="channels_first"), shape)
        layer(f"zeropad{rank}d_0", lambda: getattr(L, f"ZeroPadding{rank}D")(2), shape)
        layer(f"zeropad{rank}d_1", lambda: getattr(L, f"ZeroPadding{rank}D")((1, 2) if rank == 1 else ((1, 2), (0, 3), (2, 0))[:rank]), (*(None,) * rank, 3))
        layer(f"crop{rank}d_0", lambda: getattr(L, f"Cropping{rank}D")(1), shape)
        layer(f"crop{rank}d_1", lambda: getattr(L, f"Cropping{rank}D")((1, 2) if rank == 1 else ((1, 2), (0, 3), (2, 0))[:rank]), (*(None,) * rank, 3))
        layer(f"up{rank}d_0", lambda: getattr(L, f"UpSampling{rank}D")(2), shape)
        layer(f"up{rank}d_1", lambda: getattr(L, f"UpSampling{rank}D")(3 if rank == 1 else (1, 3, 2)[:rank]), (*(None,) * rank, 3))
    for rank in (2, 3):
        layer(f"zeropad{rank}d_pair", lambda: getattr(L, f"ZeroPadding{rank}D")((1, 2, 0)[:rank]), (*(7, 6, 5)[:rank], 3))
        layer(f"crop{rank}d_pair", lambda: getattr(L, f"Cropping{rank}D")((1, 2, 0)[:rank]), (*(7, 6, 5)[:rank], 3))
        layer(f"zeropad{rank}d_first", lambda: getattr(L, f"ZeroPadding{rank}D")(1, data_format="channels_first"), (3, *(7, 6, 5)[:rank]))
        layer(f"crop{rank}d_first", lambda: getattr(L, f"Cropping{rank}D")(1, data_format="channels_first"), (3, *(7, 6, 5)[:rank]))
        layer(f"up{rank}d_first", lambda: getattr(L, f"UpSampling{rank}D")(2, data_format="channels_first"), (3, *(7, 6, 5)[:rank]))
    for how in ("bilinear", "bicubic", "lanczos3", "lanczos5", "area", "gaussian", "mitchellcubic"):
        layer(f"up2d_{how}", lambda: L.UpSampling2D((2, 3), interpolation=how), (5, 4, 2))
    for kind, args in (("Conv2D", (4, 3)), ("MaxPooling2D", (2,)), ("AveragePooling2D", (2,)), ("DepthwiseConv2D", (3,)), ("Conv2DTranspose", (3, 3))):
        layer(f"first_{kind.lower()}", lambda: getattr(L, kind)(*args, data_format="channels_first"), (3, 7, 6))


def activations(m):
    L, K, layer, case, THREE = m.L, m.K, m.layer, m.case, m.THREE
    names = ["linear", "relu", "softmax", "elu", "selu", "softplus", "softsign", "tanh", "sigmoid", "exponential", "hard_sigmoid", "swish", "silu", "gelu", "mish", "relu6", "leaky_relu",
             "log_softmax", "hard_silu", "hard_swish", "hard_tanh", "celu", "log_sigmoid", "soft_shrink", "hard_shrink", "tanh_shrink", "squareplus", "sparse_plus", "sparse_sigmoid", "sparsemax", "threshold", "glu"]
    for a in names:
        layer(f"act_{a}", lambda: L.Activation(a), (3, 4))
        if a not in ("glu", "softmax", "log_softmax", "sparsemax"):
            layer(f"lstm_act_{a}", lambda: L.LSTM(3, activation=a, recurrent_activation="hard_sigmoid"), (4, 2), rtol=1e-3)
    layer("dense_act_layer", lambda: L.Dense(3, activation=L.LeakyReLU()), (4,))
    layer("dense_act_layer_elu", lambda: L.Dense(3, activation=L.ELU(0.5)), (4,))
    layer("relu_0", lambda: L.ReLU(), (3, 4))
    layer("relu_1", lambda: L.ReLU(max_value=0.5, negative_slope=0.1, threshold=0.2), (3, 4))
    layer("relu_2", lambda: L.ReLU(max_value=6), (3, 4))
    layer("relu_3", lambda: L.ReLU(threshold=0.5), (3, 4))
    layer("leaky_0", lambda: L.LeakyReLU(), (3, 4))
    layer("leaky_1", lambda: L.LeakyReLU(0.05), (3, 4))
    layer("elu_1", lambda: L.ELU(0.7), (3, 4))
    layer("prelu_0", lambda: L.PReLU(), (3, 4))
    layer("prelu_1", lambda: L.PReLU(shared_axes=[1]), (3, 4))
    layer("prelu_2", lambda: L.PReLU(shared_axes=[1, 2]), (None, None, 3))
    if not THREE:
        layer("thresholded", lambda: L.ThresholdedReLU(0.4), (3, 4))
    layer("softmax_0", lambda: L.Softmax(), (3, 4))
    layer("softmax_1", lambda: L.Softmax(axis=1), (3, 4))
    layer("softmax_2", lambda: L.Softmax(axis=[1, 2]), (3, 4, 2))
    case("softmax_mask", lambda x, k: L.Softmax()(x, mask=k), (3, 4), ((3, 4), "bool"))
    case("softmax_mask_axes", lambda x, k: L.Softmax(axis=[1, 2])(x, mask=k), (3, 4), ((3, 4), "bool"))
    for kind, args in (("Dropout", (0.5,)), ("SpatialDropout1D", (0.5,)), ("GaussianNoise", (0.5,)), ("GaussianDropout", (0.5,)), ("AlphaDropout", (0.5,)), ("ActivityRegularization", (0.1,))):
        layer(f"drop_{kind.lower()}", lambda: getattr(L, kind)(*args), (3, 4))
    layer("dropout_noise_shape", lambda: L.Dropout(0.5, noise_shape=(None, 1, 4)), (3, 4))


def core(m):
    L, K, layer, case, THREE = m.L, m.K, m.layer, m.case, m.THREE
    layer("dense_0", lambda: L.Dense(3), (4,))
    layer("dense_1", lambda: L.Dense(3, use_bias=False, activation="relu"), (2, 4))
    layer("dense_2", lambda: L.Dense(3), (None, 2, 4))
    layer("einsum_0", lambda: L.EinsumDense("abc,cd->abd", (None, 3), bias_axes="d"), (5, 4))
    layer("einsum_1", lambda: L.EinsumDense("...x,xy->...y", (3,), bias_axes="y"), (5, 4))
    layer("einsum_2", lambda: L.EinsumDense("abc,cde->abde", (None, 3, 2), bias_axes="de"), (None, 4))
    layer("einsum_3", lambda: L.EinsumDense("abc,cde->abde", (None, 3, 2), bias_axes="d"), (None, 4))
    layer("einsum_4", lambda: L.EinsumDense("abc,bd->adc", (3, 4), bias_axes="d", activation="relu"), (5, 4))
    layer("einsum_5", lambda: L.EinsumDense("ab,bc->ac", 3), (4,))
    layer("embed_0", lambda: L.Embedding(6, 3), ((4,), "int32"))
    layer("embed_1", lambda: L.Embedding(6, 3), ((None,), "int64"))
    layer("embed_2", lambda: L.Embedding(6, 3), ((4,), "float32"), x=[np.array([[0, 1, 5, 2]], "float32")])
    case("embed_mask_sum", lambda x: L.GlobalAveragePooling1D()(L.Embedding(6, 3, mask_zero=True)(x)), ((4,), "int32"))
    case("embed_mask_lstm", lambda x: L.LSTM(3)(L.Embedding(6, 3, mask_zero=True)(x)), ((5,), "int32", 2))
    case("embed_mask_gru", lambda x: L.GRU(3, return_sequences=True)(L.Embedding(6, 3, mask_zero=True)(x)), ((5,), "int32", 2))
    case("embed_mask_dense_lstm", lambda x: L.LSTM(3)(L.Dropout(0.1)(L.Dense(4, activation="relu")(L.Embedding(6, 3, mask_zero=True)(x)))), ((5,), "int32", 2))
    case("embed_mask_bi", lambda x: L.Bidirectional(L.LSTM(3, return_sequences=True))(L.Embedding(6, 3, mask_zero=True)(x)), ((5,), "int32", 2))
    case("embed_mask_bi_gru_last", lambda x: L.Bidirectional(L.GRU(3))(L.Embedding(6, 3, mask_zero=True)(x)), ((5,), "int32", 2))
    case("embed_mask_concat", lambda x, y: L.LSTM(3)(L.Concatenate()([L.Embedding(6, 3, mask_zero=True)(x), L.Embedding(6, 2, mask_zero=True)(y)])), ((5,), "int32", 2), ((5,), "int32", 2))
    case("embed_mask_concat_time", lambda x, y: L.LSTM(3)(L.Concatenate(axis=1)([L.Embedding(6, 3, mask_zero=True)(x), L.Embedding(6, 3)(y)])), ((5,), "int32", 2), ((5,), "int32", 2))
    case("embed_mask_add", lambda x, y: L.LSTM(3)(L.Add()([L.Embedding(6, 3, mask_zero=True)(x), L.Embedding(6, 3, mask_zero=True)(y)])), ((5,), "int32", 2), ((5,), "int32", 2))
    case("embed_mask_add_none", lambda x, y: L.LSTM(3)(L.Add()([L.Embedding(6, 3, mask_zero=True)(x), L.Embedding(6, 3)(y)])), ((5,), "int32", 2), ((5,), "int32", 2))
    case("embed_mask_multiply", lambda x, y: L.LSTM(3)(L.Multiply()([L.Embedding(6, 3, mask_zero=True)(x), L.Embedding(6, 3, mask_zero=True)(y)])), ((5,), "int32", 2), ((5,), "int32", 2))
    case("embed_mask_conv", lambda x: L.LSTM(3)(L.Conv1D(3, 2, padding="same")(L.Embedding(6, 3, mask_zero=True)(x))), ((5,), "int32", 2))
    case("embed_mask_norm", lambda x: L.LSTM(3)(L.LayerNormalization()(L.Embedding(6, 3, mask_zero=True)(x))), ((5,), "int32", 2))
    case("embed_mask_bn", lambda x: L.LSTM(3)(L.BatchNormalization()(L.Embedding(6, 3, mask_zero=True)(x))), ((5,), "int32", 2))
    case("embed_mask_td", lambda x: L.LSTM(3)(L.TimeDistributed(L.Dense(2))(L.Embedding(6, 3, mask_zero=True)(x))), ((5,), "int32", 2))
    case("embed_mask_softmax", lambda x: L.Softmax(axis=1)(L.Embedding(6, 1, mask_zero=True)(x)), ((5,), "int32", 2))
    case("embed_mask_act", lambda x: L.LSTM(2)(L.Activation("relu")(L.Embedding(6, 3, mask_zero=True)(x))), ((5,), "int32", 2))
    case("embed_mask_reshape", lambda x: L.LSTM(2)(L.Reshape((5, 3))(L.Embedding(6, 3, mask_zero=True)(x))), ((5,), "int32", 2))
    case("embed_mask_flatten", lambda x: L.Dense(2)(L.Flatten()(L.Embedding(6, 3, mask_zero=True)(x))), ((5,), "int32", 2))
    case("embed_mask_attention", lambda x: L.Attention()([L.Embedding(6, 3, mask_zero=True)(x), L.Embedding(6, 3, mask_zero=True)(x)]), ((5,), "int32", 2))
    case("embed_mask_mha", lambda x: (lambda e: L.MultiHeadAttention(2, 3)(e, e))(L.Embedding(6, 3, mask_zero=True)(x)), ((5,), "int32", 2))
    case("embed_mask_mha_pool", lambda x: (lambda e: L.GlobalAveragePooling1D()(L.MultiHeadAttention(2, 3)(e, e)))(L.Embedding(6, 3, mask_zero=True)(x)), ((5,), "int32", 2))
    masked = m.values((2, 5, 3))
    masked[0, 3:] = 0
    masked[1, 1] = 0
    layer("masking_0", lambda: L.Masking(), (5, 3), x=[masked])
    case("masking_lstm", lambda x: L.LSTM(4, return_sequences=True, return_state=True)(L.Masking()(x)), (5, 3), x=[masked])
    case("masking_gru_back", lambda x: L.GRU(4, go_backwards=True, return_sequences=True)(L.Masking()(x)), (None, 3), x=[masked])
    case("masking_rnn_zero", lambda x: L.RNN(L.LSTMCell(4), return_sequences=True, zero_output_for_mask=True)(L.Masking()(x)), (5, 3), x=[masked])
    case("masking_value", lambda x: L.SimpleRNN(4)(L.Masking(mask_value=-1.0)(x)), (5, 3), x=[np.where(masked == 0, np.float32(-1), masked)])
    case("lstm_mask_argument", lambda x, k: L.LSTM(3)(x, mask=k), (5, 3), ((5,), "bool"))
    layer("flatten_0", lambda: L.Flatten(), (3, 4, 2))
    layer("flatten_1", lambda: L.Flatten(data_format="channels_first"), (3, 4, 2))
    layer("flatten_2", lambda: L.Flatten(), (None, 2))
    layer("flatten_3", lambda: L.Flatten(), ())
    layer("reshape_0", lambda: L.Reshape((4, 3)), (12,))
    layer("reshape_1", lambda: L.Reshape((-1, 3)), (4, 6))
    layer("reshape_2", lambda: L.Reshape((-1,)), (None, 6))
    layer("reshape_3", lambda: L.Reshape((2, -1, 3)), (None, 6))
    layer("reshape_4", lambda: L.Reshape((1, 1, 12)), (12,))
    layer("reshape_5", lambda: L.Reshape(()), (1,))
    layer("permute_0", lambda: L.Permute((2, 1)), (3, 4))
    layer("permute_1", lambda: L.Permute((3, 1, 2)), (3, None, 4))
    layer("repeat_0", lambda: L.RepeatVector(3), (4,))
    for kind in ("Add", "Subtract", "Multiply", "Average", "Maximum", "Minimum", "Concatenate"):
        make = getattr(L, kind)
        layer(f"merge_{kind.lower()}_0", lambda: make(), (3, 4), (3, 4))
        if kind not in ("Subtract",):
            layer(f"merge_{kind.lower()}_3", lambda: make(), (3, 4), (3, 4), (3, 4))
        if kind != "Concatenate":
            layer(f"merge_{kind.lower()}_b", lambda: make(), (3, 4), (1, 4))
            layer(f"merge_{kind.lower()}_r", lambda: make(), (3, 4), (4,))
            layer(f"merge_{kind.lower()}_open", lambda: make(), (None, 4), (None, 4))
            layer(f"merge_{kind.lower()}_int", lambda: make(), ((3,), "int32"), ((3,), "int32"))
        else:
            for axis in (1, 2, -2, 0):
                layer(f"merge_concat_axis{axis}", lambda: make(axis=axis), (3, 4), (3, 4))
            layer("merge_concat_open", lambda: make(axis=1), (None, 4), (2, 4))
    layer("dot_0", lambda: L.Dot(1), (4,), (4,))
    layer("dot_1", lambda: L.Dot((2, 2)), (3, 4), (5, 4))
    layer("dot_2", lambda: L.Dot((2, 1), normalize=True), (3, 4), (4, 5))
    layer("dot_3", lambda: L.Dot(-1), (3, 4), (5, 4))
    layer("dot_4", lambda: L.Dot((1, 2)), (4, 3), (5, 4))
    layer("dot_5", lambda: L.Dot((3, 2)), (2, 3, 4), (5, 4))
    layer("identity", lambda: L.Identity() if THREE else L.Activation("linear"), (3,))


def norms(m):
    L, K, layer, case, THREE = m.L, m.K, m.layer, m.case, m.THREE
    layer("bn_0", lambda: L.BatchNormalization(), (3, 4))
    layer("bn_1", lambda: L.BatchNormalization(scale=False, epsilon=0.1), (3, 4))
    layer("bn_2", lambda: L.BatchNormalization(center=False), (3, 4, 2))
    layer("bn_3", lambda: L.BatchNormalization(axis=1), (3, None, 2))
    layer("bn_4", lambda: L.BatchNormalization(scale=False, center=False), (4,))
    layer("bn_5", lambda: L.BatchNormalization(axis=-2), (3, 4))
    if not THREE:
        layer("bn_axes", lambda: L.BatchNormalization(axis=[1, 2]), (3, 4, 2))
        layer("bn_renorm", lambda: L.BatchNormalization(renorm=True), (3, 4))
    layer("ln_0", lambda: L.LayerNormalization(), (3, 4))
    layer("ln_1", lambda: L.LayerNormalization(axis=1), (3, 4))
    layer("ln_2", lambda: L.LayerNormalization(axis=[1, 2]), (3, 4))
    layer("ln_3", lambda: L.LayerNormalization(scale=False, epsilon=1e-6), (None, 4))
    layer("ln_4", lambda: L.LayerNormalization(center=False), (3, 4))
    layer("ln_5", lambda: L.LayerNormalization(axis=[1, 3]), (3, 4, 2))
    layer("ln_6", lambda: L.LayerNormalization(axis=[-1, -2]), (2, 3, 4))
    layer("ln_7", lambda: L.LayerNormalization(axis=2), (2, 3, 4))
    layer("gn_0", lambda: L.GroupNormalization(2), (3, 4))
    layer("gn_1", lambda: L.GroupNormalization(2, axis=1), (4, 3, 2))
    layer("gn_2", lambda: L.GroupNormalization(-1), (3, 3, 4))
    layer("gn_3", lambda: L.GroupNormalization(4, scale=False), (None, None, 8))
    layer("gn_4", lambda: L.GroupNormalization(1, center=False), (8,))
    layer("unit_0", lambda: L.UnitNormalization(), (3, 4))
    layer("unit_1", lambda: L.UnitNormalization(axis=[1, 2]), (3, 4))
    if THREE:
        layer("ln_rms", lambda: L.LayerNormalization(rms_scaling=True), (3, 4))
        layer("rms_0", lambda: L.RMSNormalization(), (3, 4))
        layer("rms_1", lambda: L.RMSNormalization(axis=[1, 2]), (3, 4))
        layer("rms_2", lambda: L.RMSNormalization(axis=1, epsilon=0.1), (3, 4))
        layer("spectral_dense", lambda: L.SpectralNormalization(L.Dense(3)), (4,))
        layer("spectral_conv", lambda: L.SpectralNormalization(L.Conv2D(3, 2), power_iterations=2), (4, 4, 2))
        layer("reversible_0", lambda: L.ReversibleEmbedding(6, 3), ((4,), "int32"))
        case("reversible_1", lambda x: (lambda e: e(L.Dense(3)(e(x)), reverse=True))(L.ReversibleEmbedding(6, 3)), ((4,), "int32"))
        case("reversible_2", lambda x: (lambda e: e(L.Dense(3)(e(x)), reverse=True))(L.ReversibleEmbedding(6, 3, tie_weights=False, logit_soft_cap=2.0)), ((4,), "int32"))
    else:
        layer("spectral_dense", lambda: L.SpectralNormalization(L.Dense(3)), (4,))


def attention(m):
    L, K, layer, case, THREE = m.L, m.K, m.layer, m.case, m.THREE
    for kind in ("Attention", "AdditiveAttention"):
        make = getattr(L, kind)
        low = kind.lower()
        layer(f"{low}_0", lambda: make(), (3, 4), (5, 4))
        layer(f"{low}_1", lambda: make(use_scale=True), (3, 4), (5, 4), (5, 4))
        layer(f"{low}_1f", lambda: make(use_scale=False), (3, 4), (5, 4), (5, 4))
        case(f"{low}_2", lambda q, v: make()([q, v], use_causal_mask=True), (5, 4), (5, 4))
        case(f"{low}_3", lambda q, v, a, b: make()([q, v], mask=[a, b]), (3, 4), (5, 4), ((3,), "bool"), ((5,), "bool"))
        case(f"{low}_4", lambda q, v, b: make()([q, v], mask=[None, b]), (3, 4), (5, 4), ((5,), "bool"))
        case(f"{low}_scores", lambda q, v: make()([q, v], return_attention_scores=True), (3, 4), (5, 4))
    layer("attention_concat", lambda: L.Attention(score_mode="concat"), (3, 4), (5, 4))
    layer("attention_concat_scale", lambda: L.Attention(score_mode="concat", use_scale=True), (3, 4), (5, 4))
    layer("attention_open", lambda: L.Attention(), (None, 4), (None, 4))
    if THREE:
        layer("attention_dropout", lambda: L.Attention(dropout=0.2), (3, 4), (5, 4))
        layer("attention_rank4", lambda: L.Attention(), (2, 3, 4), (2, 5, 4))
    mha = L.MultiHeadAttention
    case("mha_0", lambda q, v: mha(2, 3)(q, v), (3, 4), (5, 4))
    case("mha_1", lambda q, v, k: mha(2, 3, value_dim=5)(q, v, k), (3, 4), (5, 6), (5, 3))
    case("mha_2", lambda q: mha(2, 3, use_bias=False)(q, q), (None, 4))
    case("mha_3", lambda q: mha(2, 3)(q, q, use_causal_mask=True), (5, 4))
    case("mha_4", lambda q, v, a: mha(2, 3)(q, v, attention_mask=a), (3, 4), (5, 4), ((3, 5), "bool"))
    case("mha_5", lambda q, v: mha(2, 3)(q, v, return_attention_scores=True), (3, 4), (5, 4))
    case("mha_6", lambda q, v: mha(2, 3, output_shape=7)(q, v), (3, 4), (5, 4))
    case("mha_7", lambda q, v: mha(2, 3, attention_axes=(2,))(q, v), (2, 3, 4), (2, 5, 4))
    case("mha_8", lambda q, v: mha(2, 3, attention_axes=(1, 2))(q, v), (2, 3, 4), (2, 5, 4))
    case("mha_9", lambda q, v: mha(2, 3)(query=q, value=v), (3, 4), (5, 4))
    case("mha_kv", lambda q, v, k: mha(2, 3)(q, key=k, value=v), (3, 4), (5, 4), (5, 4))
    case("mha_int_mask", lambda q, a: mha(2, 3)(q, q, attention_mask=a), (4, 4), ((4, 4), "int32", 2))
    if THREE:
        case("mha_masks", lambda q, v, a, b: mha(2, 3)(q, v, query_mask=a, value_mask=b), (3, 4), (5, 4), ((3,), "bool"), ((5,), "bool"))
        case("mha_keymask", lambda q, v, a: mha(2, 3)(q, v, key_mask=a), (3, 4), (5, 4), ((5,), "bool"))
        case("mha_gate", lambda q, v: mha(2, 3, use_gate=True)(q, v), (3, 4), (5, 4))
        gqa = L.GroupQueryAttention
        case("gqa_0", lambda q, v: gqa(3, 4, 2)(q, v), (3, 4), (5, 4))
        case("gqa_1", lambda q, v, k: gqa(3, 4, 2, use_bias=False)(q, v, k), (3, 4), (5, 4), (5, 4))
        case("gqa_2", lambda q: gqa(3, 4, 1)(q, q, use_causal_mask=True), (None, 4))
        case("gqa_3", lambda q, v, a: gqa(3, 4, 4)(q, v, attention_mask=a), (3, 4), (5, 4), ((3, 5), "bool"))
        case("gqa_4", lambda q, v: gqa(3, 4, 2)(q, v, return_attention_scores=True), (3, 4), (5, 4))
        case("gqa_5", lambda q, v, a, b: gqa(3, 4, 2)(q, v, query_mask=a, value_mask=b), (3, 4), (5, 4), ((3,), "bool"), ((5,), "bool"))


def recurrent(m):
    L, K, layer, case, THREE = m.L, m.K, m.layer, m.case, m.THREE
    kinds = {"LSTM": 2, "GRU": 1, "SimpleRNN": 1}
    for kind, states in kinds.items():
        make = getattr(L, kind)
        low = kind.lower()
        options = [dict(), dict(return_sequences=True), dict(return_state=True), dict(return_sequences=True, return_state=True), dict(go_backwards=True), dict(go_backwards=True, return_sequences=True),
                   dict(use_bias=False), dict(unroll=True), dict(activation="relu"), dict(recurrent_dropout=0.2, dropout=0.1), dict(return_sequences=True, activation="softsign")]
        if kind == "GRU":
            options += [dict(reset_after=False), dict(reset_after=False, use_bias=False), dict(reset_after=False, return_sequences=True, go_backwards=True), dict(recurrent_activation="hard_sigmoid")]
        if kind == "LSTM":
            options += [dict(unit_forget_bias=False), dict(recurrent_activation="hard_sigmoid"), dict(recurrent_activation="relu")]
        for i, o in enumerate(options):
            layer(f"{low}_{i}", lambda: make(4, **o), (5, 3))
        layer(f"{low}_open", lambda: make(4, return_sequences=True), (None, 3))
        case(f"{low}_init", lambda x, *s: make(4)(x, initial_state=list(s) if len(s) > 1 else s[0]), (5, 3), *((4,),) * states)
        case(f"{low}_encoder", lambda x, y: make(4, return_sequences=True)(y, initial_state=make(4, return_state=True)(x)[1:]), (5, 3), (None, 2))
        for mode in ("concat", "sum", "mul", "ave", None):
            layer(f"bi_{low}_{mode}", lambda: L.Bidirectional(make(4, return_sequences=True), merge_mode=mode), (5, 3))
        layer(f"bi_{low}_last", lambda: L.Bidirectional(make(4)), (5, 3))
        layer(f"bi_{low}_state", lambda: L.Bidirectional(make(4, return_state=True)), (5, 3))
        layer(f"bi_{low}_back", lambda: L.Bidirectional(make(4, return_sequences=True), backward_layer=make(4, return_sequences=True, go_backwards=True, activation="relu")), (5, 3))
        case(f"bi_{low}_init", lambda x, *s: L.Bidirectional(make(4))(x, initial_state=list(s)), (5, 3), *((4,),) * (2 * states))
        cell = getattr(L, kind + "Cell")
        layer(f"rnn_{low}_0", lambda: L.RNN(cell(4)), (5, 3))
        layer(f"rnn_{low}_1", lambda: L.RNN(cell(4), return_sequences=True, return_state=True), (None, 3))
        layer(f"rnn_{low}_2", lambda: L.RNN(cell(4), go_backwards=True, return_sequences=True, unroll=False), (5, 3))
        case(f"rnn_{low}_3", lambda x, *s: L.RNN(cell(4))(x, initial_state=list(s)), (5, 3), *((4,),) * states)
        layer(f"rnn_{low}_bi", lambda: L.Bidirectional(L.RNN(cell(4), return_sequences=True)), (5, 3))
        layer(f"rnn_{low}_stack", lambda: L.RNN([cell(4), cell(3)], return_sequences=True), (5, 3))
        layer(f"{low}_stateful", lambda: make(4, stateful=True, return_sequences=True), (5, 3), batch=2)
        case(f"{low}_cell", lambda x, *s: cell(4)(x, list(s)), (3,), *((4,),) * states)
    layer("gru_cell_before", lambda: L.RNN(L.GRUCell(4, reset_after=False)), (5, 3))
    layer("rnn_mixed", lambda: L.RNN([L.LSTMCell(4), L.GRUCell(3), L.SimpleRNNCell(2)], return_state=True), (5, 3))
    layer("rnn_stacked_two", lambda: L.RNN(L.StackedRNNCells([L.LSTMCell(4), L.LSTMCell(4)]), return_sequences=True), (5, 3))
    case("rnn_two_layers", lambda x: L.LSTM(3)(L.LSTM(4, return_sequences=True)(x)), (5, 3))
    case("cudnn", lambda x: K.layers.CuDNNLSTM(3)(x) if False else L.LSTM(3, time_major=True)(x), (5, 3)) if not THREE else None
    for rank in (1, 2, 3):
        make = getattr(L, f"ConvLSTM{rank}D")
        size = (5, 4, 3)[:rank]
        for i, o in enumerate([dict(), dict(padding="same", return_sequences=True), dict(strides=2, padding="same"), dict(dilation_rate=2), dict(go_backwards=True, return_sequences=True, padding="same"),
                               dict(return_state=True, padding="same"), dict(use_bias=False, activation="relu", recurrent_activation="sigmoid", padding="same")]):
            if rank == 3 and i in (0, 3):
                o = {**o, "kernel_size": 1, "dilation_rate": 1}
            layer(f"convlstm{rank}d_{i}", lambda: make(2, **{"kernel_size": 2, **o}), (3, *size, 2))
        layer(f"convlstm{rank}d_open", lambda: make(2, 2, padding="same"), (None, *(None,) * rank, 2))
        layer(f"convlstm{rank}d_bi", lambda: L.Bidirectional(make(2, 2, padding="same", return_sequences=True)), (3, *size, 2))
    layer("td_dense", lambda: L.TimeDistributed(L.Dense(3)), (5, 4))
    layer("td_conv", lambda: L.TimeDistributed(L.Conv2D(3, 2, activation="relu")), (3, 5, 4, 2))
    layer("td_open", lambda: L.TimeDistributed(L.Flatten()), (None, 4, 2))
    layer("td_bn", lambda: L.TimeDistributed(L.BatchNormalization()), (5, 4))
    layer("td_lstm", lambda: L.TimeDistributed(L.LSTM(3)), (2, 5, 4))
    layer("td_model", lambda: L.TimeDistributed(K.Sequential([L.Input((4,)), L.Dense(3, activation="relu"), L.Dense(2)])), (5, 4))


def data(m):
    L, K, layer, case, THREE = m.L, m.K, m.layer, m.case, m.THREE
    layer("rescale_0", lambda: L.Rescaling(1 / 127.5, offset=-1), ((3, 3, 3), "uint8", 255))
    layer("rescale_1", lambda: L.Rescaling([1.0, 2.0, 3.0], offset=[0.5, 0.0, 1.0]), (3, 3, 3))
    layer("rescale_2", lambda: L.Rescaling(0.5), ((3,), "int32"))
    for how in ("bilinear", "nearest", "bicubic", "lanczos3", "area"):
        layer(f"resize_{how}", lambda: L.Resizing(7, 3, interpolation=how), (5, 4, 2))
        layer(f"resize_{how}_open", lambda: L.Resizing(4, 6, interpolation=how), (None, None, 2))
    layer("resize_crop", lambda: L.Resizing(4, 4, crop_to_aspect_ratio=True), (6, 8, 2))
    layer("resize_crop2", lambda: L.Resizing(5, 3, crop_to_aspect_ratio=True), (6, 8, 2))
    if THREE:
        layer("resize_pad", lambda: L.Resizing(4, 4, pad_to_aspect_ratio=True), (6, 8, 2))
        layer("resize_anti", lambda: L.Resizing(3, 3, antialias=True), (8, 8, 2))
        layer("resize_first", lambda: L.Resizing(3, 3, data_format="channels_first"), (2, 8, 8))
    layer("crop_0", lambda: L.CenterCrop(3, 2), (6, 7, 2))
    layer("crop_1", lambda: L.CenterCrop(8, 2), (6, 7, 2))
    layer("crop_2", lambda: L.CenterCrop(3, 2), (None, None, 2))
    layer("norm_0", lambda: L.Normalization(mean=[1.0, 2.0, 3.0], variance=[1.0, 4.0, 9.0]), (4, 3))
    layer("norm_1", lambda: L.Normalization(axis=None, mean=2.0, variance=3.0), (4, 3))
    layer("norm_2", lambda: L.Normalization(mean=[1.0, 2.0, 3.0], variance=[1.0, 4.0, 9.0], invert=True), (4, 3))

    def adapted(axis, shape):
        n = L.Normalization(axis=axis)
        n.adapt(m.rng.randn(8, *shape).astype("float32") * 3)
        return n
    layer("norm_adapt_0", lambda: adapted(-1, (4, 3)), (4, 3), weights=False)
    layer("norm_adapt_1", lambda: adapted(None, (4, 3)), (4, 3), weights=False)
    layer("norm_adapt_2", lambda: adapted((1, 2), (4, 3)), (4, 3), weights=False)
    layer("norm_adapt_3", lambda: adapted(1, (4, 3)), (4, 3), weights=False)
    for mode in ("int", "one_hot", "multi_hot", "count"):
        layer(f"discretize_{mode}", lambda: L.Discretization(bin_boundaries=[-1.0, 0.0, 1.0], output_mode=mode), (1,) if mode == "one_hot" else (4,))

    def learnt():
        d = L.Discretization(num_bins=4)
        d.adapt(m.rng.randn(100, 1).astype("float32"))
        return d
    layer("discretize_adapt", learnt, (4,), weights=False)
    for mode in ("one_hot", "multi_hot", "count"):
        layer(f"category_{mode}", lambda: L.CategoryEncoding(num_tokens=6, output_mode=mode), ((1,) if mode == "one_hot" else (4,), "int32"))
        layer(f"category_{mode}_3", lambda: L.CategoryEncoding(num_tokens=6, output_mode=mode), ((3, 1) if mode == "one_hot" else (3, 4), "int32"))
    layer("category_onehot_many", lambda: L.CategoryEncoding(num_tokens=6, output_mode="one_hot"), ((4,), "int32"))
    case("category_weights", lambda x, w: L.CategoryEncoding(num_tokens=6, output_mode="count")(x, count_weights=w), ((4,), "int32"), (4,))
    words = np.array([["a", "b", "zz"], ["c", "", "a"]])
    for i, o in enumerate([dict(), dict(num_oov_indices=0), dict(num_oov_indices=3), dict(mask_token=""), dict(output_mode="multi_hot"), dict(output_mode="count"), dict(oov_token="b"), dict(output_mode="tf_idf", idf_weights=[0.5, 1, 2])]):
        w = np.array([["a", "b", "c"], ["c", "b", "a"]]) if i == 1 else words
        layer(f"stringlookup_{i}", lambda: L.StringLookup(vocabulary=["a", "b", "c"], **o), ((3,), "string"), x=[w])
    layer("stringlookup_invert", lambda: L.StringLookup(vocabulary=["a", "b", "c"], invert=True), ((3,), "int64"), x=[np.array([[0, 1, 3], [2, 1, 9]])])
    for i, o in enumerate([dict(), dict(num_oov_indices=0), dict(num_oov_indices=3), dict(mask_token=0), dict(output_mode="multi_hot"), dict(output_mode="count"), dict(invert=True)]):
        x = np.array([[10, 20, 40], [40, 10, 10]]) if i == 1 else np.array([[1, 2, 0]]) if i == 6 else np.array([[10, 20, 7], [40, 0, 10]])
        layer(f"intlookup_{i}", lambda: L.IntegerLookup(vocabulary=[10, 20, 40], **o), ((3,), "int64"), x=[x])
    for i, o in enumerate([dict(), dict(salt=5), dict(salt=(3, 9)), dict(mask_value="")]):
        layer(f"hashing_{i}", lambda: L.Hashing(7, **o), ((3,), "string"), x=[words])
    layer("hashing_int", lambda: L.Hashing(7), ((3,), "int64"), x=[np.array([[1, 2, 3], [-7, 100000, 0]])])
    layer("hashing_int_salt", lambda: L.Hashing(7, salt=(3, 9)), ((3,), "int64"), x=[np.array([[1, 2, 3], [-7, 100000, 0]])])
    for kind, args in (("RandomFlip", ()), ("RandomRotation", (0.1,)), ("RandomZoom", (0.1,)), ("RandomContrast", (0.1,)), ("RandomTranslation", (0.1, 0.1)), ("RandomCrop", (3, 3)), ("RandomBrightness", (0.1,)),
                       ("RandomHue", (0.1,)), ("RandomSaturation", (0.1,)), ("RandomGrayscale", ()), ("RandomErasing", ()), ("RandomShear", ()), ("RandomInvert", ()), ("RandomSharpness", (0.1,)), ("RandomPosterization", (4,)),
                       ("RandomPerspective", ()), ("RandomGaussianBlur", ()), ("RandomElasticTransform", ()), ("RandomColorJitter", ()), ("RandomColorDegeneration", (0.1,)), ("RandomHeight", (0.1,)), ("RandomWidth", (0.1,)),
                       ("Solarization", ()), ("AutoContrast", ()), ("Equalization", ()), ("MixUp", ()), ("CutMix", ()), ("AugMix", ()), ("RandAugment", ())):
        if hasattr(L, kind):
            layer(f"aug_{kind.lower()}", lambda: getattr(L, kind)(*args), (6, 6, 3), h5=False)
    if THREE:
        layer("mel", lambda: L.MelSpectrogram(fft_length=32, num_mel_bins=4, sequence_stride=16), (128,), h5=False)
        layer("stft", lambda: L.STFTSpectrogram(frame_length=16, frame_step=8), (64, 1), h5=False)


def models(m):
    L, K, layer, case, save, THREE = m.L, m.K, m.layer, m.case, m.save, m.THREE
    shared = L.Dense(4, activation="relu")
    case("shared", lambda x: L.Add()([shared(x), shared(shared(x))]), (4,))
    case("nested", lambda x: K.Sequential([L.Dense(3), L.Dense(2)])(K.Sequential([L.Dense(5), L.BatchNormalization()])(x)), (4,))

    def inner(prefix):
        a = L.Input((3,))
        b = L.Input((3,))
        return K.Model([a, b], [L.Dense(2)(a), L.Add()([a, b])])
    case("nested_functional", lambda x, y: (lambda f: f([f([x, y])[1], y]))(inner("a")), (3,), (3,))
    case("outputs", lambda x: [L.Dense(2)(x), L.Dense(3)(x), x], (4,))
    case("outputs_same", lambda x: (lambda y: [y, y])(L.Dense(2)(x)), (4,))
    case("outputs_dict", lambda x: {"b": L.Dense(2)(x), "a": L.Dense(3)(x)}, (4,))
    for dtype in ("float16", "bfloat16", "mixed_float16", "mixed_bfloat16", "float64"):
        case(f"dtype_{dtype}_dense", lambda x: L.Dense(2, dtype=dtype)(L.Dense(3, activation="relu", dtype=dtype)(x)), (4,), rtol=2e-2, atol=2e-2)
        case(f"dtype_{dtype}_conv", lambda x: L.BatchNormalization(dtype=dtype)(L.Conv2D(3, 2, dtype=dtype)(x)), (4, 4, 2), rtol=2e-2, atol=3e-2)
        case(f"dtype_{dtype}_lstm", lambda x: L.LSTM(3, dtype=dtype)(x), (4, 2), rtol=2e-2, atol=2e-2)
        case(f"dtype_{dtype}_ln", lambda x: L.Activation("softmax", dtype="float32")(L.LayerNormalization(dtype=dtype)(x)), (4, 2), rtol=2e-2, atol=2e-2)
        case(f"dtype_{dtype}_mha", lambda x: L.MultiHeadAttention(2, 2, dtype=dtype)(x, x), (4, 2), rtol=3e-2, atol=3e-2)
    for dtype in ("int8", "uint8", "int16", "int32", "int64", "bool", "float16", "float64"):
        case(f"input_{dtype}", lambda x: L.Dense(2)(L.Flatten()(x)), ((2, 3), dtype), rtol=1e-3)
    if ONLY_MODELS(m):
        s = K.Sequential([L.Dense(3, input_shape=(4,))]) if not THREE else K.Sequential([L.Input((4,)), L.Dense(3)])
        save("sequential", s, [m.values((2, 4))])
        s = K.Sequential([L.Dense(3), L.Dense(2, activation="softmax")])
        s.build((None, 4))
        save("sequential_built", s, [m.values((2, 4))])
        s = K.Sequential([L.Dense(3, name="d1"), L.Dense(2)])
        s(m.values((2, 4)))
        save("sequential_called", s, [m.values((2, 4))])
    if THREE:
        a, b = L.Input((4,), name="a"), L.Input((4,), name="b")
        model = K.Model({"b": b, "a": a}, {"y": L.Subtract()([a, b]), "x": L.Dense(2)(b)})
        try:
            save("dict", model, {"a": m.values((2, 4)), "b": m.values((2, 4))})
        except Exception as e:
            m.SKIPPED.append(f"dict: {e}")
        for mode in ("int8", "int4", "float8"):
            for name, make, shape in (("dense", lambda: L.Dense(8), (16,)), ("einsum", lambda: L.EinsumDense("abc,cd->abd", (None, 8), bias_axes="d"), (5, 16)), ("embed", lambda: L.Embedding(10, 16), ((5,), "int32"))):
                def quantised(*t):
                    return make()(*t)
                try:
                    if m.ONLY and m.ONLY not in f"k3_quant_{mode}_{name}":
                        continue
                    x = L.Input(shape if name != "embed" else shape[0], dtype="float32" if name != "embed" else "int32")
                    model = K.Model(x, make()(x))
                    m.fill(model)
                    model.quantize(mode)
                    save(f"quant_{mode}_{name}", model, [m.values((2, *(shape if name != "embed" else shape[0])), "float32" if name != "embed" else "int32")], weights=False, rtol=2e-3, atol=1e-3)
                except Exception as e:
                    m.SKIPPED.append(f"quant_{mode}_{name}: {type(e).__name__} {str(e)[:100]}")


def ONLY_MODELS(m):
    return True


def add(m):
    for part in (convolutions, activations, core, norms, attention, recurrent, data, models):
        part(m)
