"""The models of make_tflite.py, by subject."""
import itertools
import numpy as np
from make_tflite import CASES, I, K, O, T, V, Model, case, graph, i32, s

A = s.ActivationFunctionType
NONE, RELU, N1TO1, RELU6, TANH, SIGN_BIT = 0, 1, 2, 3, 4, 5
SAME, VALID = 0, 1
NP = {"f32": np.float32, "f16": np.float16, "f64": np.float64, "i8": np.int8, "u8": np.uint8, "i16": np.int16, "u16": np.uint16, "i32": np.int32, "u32": np.uint32, "i64": np.int64, "u64": np.uint64, "b1": np.bool_}
# Scales of codes: data, a second operand, results.
Q = {"i8": (0.05, 3), "u8": (0.05, 131), "i16": (0.0007, 0)}
Q2 = {"i8": (0.03, -7), "u8": (0.03, 120), "i16": (0.0004, 0)}
QO = {"i8": (0.08, -5), "u8": (0.08, 125), "i16": (0.0011, 0)}


def rng(seed): return np.random.default_rng(seed)


def data(dtype, shape, seed=0, low=-3, high=3):
    r = rng(seed)
    if dtype in ("f32", "f16", "f64"): return (r.uniform(low, high, shape)).astype(NP[dtype])
    if dtype == "b1": return r.integers(0, 2, shape).astype(np.bool_)
    if dtype in ("i8", "u8", "i16", "u16"):
        i = np.iinfo(NP[dtype]); return r.integers(i.min, i.max + 1, shape).astype(NP[dtype])
    return r.integers(-20 if dtype[0] == "i" else 0, 21, shape).astype(NP[dtype])


def q(dtype, table=Q): return table.get(dtype)


SHAPES = {"r0": (), "r1": (7,), "r2": (3, 5), "r4": (2, 3, 4, 5), "r6": (1, 2, 1, 3, 2, 2), "e": (2, 0, 3)}
ALL = ("f32", "f16", "f64", "i8", "u8", "i16", "u16", "i32", "u32", "i64", "u64", "b1")


def unary():
    ops = {"ABS": None, "NEG": None, "SQUARE": None, "SIN": None, "COS": None, "FLOOR": None, "CEIL": None, "ROUND": None, "SIGN": None, "ELU": None, "RELU": None, "RELU6": None, "RELU_N1_TO_1": None, "RELU_0_TO_1": None,
           "HARD_SWISH": None, "LOGISTIC": None, "TANH": None, "LOGICAL_NOT": None, "ZEROS_LIKE": None, "EXP": None, "L2_NORMALIZATION": None, "LOG_SOFTMAX": None, "RANK": "i32",
           "LOG": "pos", "SQRT": "pos", "RSQRT": "pos", "WHERE": "i64", "REAL": None, "IMAG": None, "COMPLEX_ABS": None, "DENSIFY": None}
    for op, kind in ops.items():
        for dt in ALL:
            for sh, shape in SHAPES.items():
                if sh not in ("r2", "r4") and dt not in ("f32", "i8", "i32"): continue
                x = data(dt, shape, hash_of(op) % 97)
                if kind == "pos" and dt[0] == "f": x = np.abs(x) + NP[dt](0.01)
                qi, qo = q(dt), q(dt, QO)
                if kind == "pos" and dt == "i8": qi = (0.05, -128)
                if kind == "pos" and dt == "i16": x = np.abs(x)
                if op == "RSQRT" and dt == "i8": qo = (0.02, -128)
                if op == "LOGISTIC": qo = {"i8": (1 / 256, -128), "u8": (1 / 256, 0), "i16": (1 / 32768, 0)}.get(dt)
                if op == "TANH": qo = {"i8": (1 / 128, 0), "u8": (1 / 128, 128), "i16": (1 / 32768, 0)}.get(dt)
                if op == "L2_NORMALIZATION": qo = {"i8": (1 / 128, 0), "u8": (1 / 128, 128)}.get(dt)
                if op == "LOG_SOFTMAX": qo = {"i8": (16 / 256, 127), "u8": (16 / 256, 255)}.get(dt)
                out = O(kind if kind in ("i32", "i64") else dt, None if kind in ("i32", "i64") else qo)
                case(f"unary/{op}-{dt}-{sh}", op, [I(x, qi)], [out], keep=(sh == "r2" and dt in ("i8", "i16") and op in ("ABS", "EXP", "LOG", "HARD_SWISH", "RSQRT", "SQRT", "TANH", "LOGISTIC")))
            # Of codes with one scale, and with powers of two.
            if dt in ("i8", "u8", "i16"):
                case(f"unary/{op}-{dt}-same", op, [I(data(dt, (4, 9), 5), q(dt))], [O(dt, q(dt))])
                case(f"unary/{op}-{dt}-pow2", op, [I(data(dt, (4, 9), 6), (2.0**-12 if dt == "i16" else 2.0**-4, 0 if dt != "u8" else 128))], [O(dt, (2.0**-15 if dt == "i16" else 2.0**-7, 0 if dt != "u8" else 128))])
                every = np.arange(-128, 128).astype(np.int8) if dt == "i8" else np.arange(256).astype(np.uint8) if dt == "u8" else np.arange(-32768, 32768, 37).astype(np.int16)
                if kind == "pos" and dt == "i16": every = np.abs(every)
                case(f"unary/{op}-{dt}-all", op, [I(every.reshape(2, -1) if op in ("L2_NORMALIZATION", "LOG_SOFTMAX") else every, (0.05, -128) if kind == "pos" and dt == "i8" else (0.05, 0) if kind == "pos" and dt == "u8" else q(dt))], [O(dt, (0.02, -128 if dt == "i8" else 0) if op == "RSQRT" and dt != "i16" else {"LOGISTIC": {"i8": (1 / 256, -128), "u8": (1 / 256, 0), "i16": (1 / 32768, 0)}, "TANH": {"i8": (1 / 128, 0), "u8": (1 / 128, 128), "i16": (1 / 32768, 0)}, "L2_NORMALIZATION": {"i8": (1 / 128, 0), "u8": (1 / 128, 128)}, "LOG_SOFTMAX": {"i8": (16 / 256, 127), "u8": (16 / 256, 255)}}.get(op, QO).get(dt, QO[dt]))], open_=False)
                case(f"unary/{op}-{dt}-sized", op, [I(data(dt, (4, 9), 7), (0.003 if dt == "i16" else 0.4, 0 if dt != "u8" else 10))], [O(dt, (0.009 if dt == "i16" else 0.9, 0 if dt == "i16" else 50))])
    x = np.array([0.5, 1.5, 2.5, -0.5, -1.5, -2.5, 0.49999997, 8388609.0, -0.0, np.inf, -np.inf, np.nan, 3e38, 1e-40, 2147483648.0], np.float32)
    for op in ("ROUND", "FLOOR", "CEIL", "SIGN", "ABS", "NEG", "RELU", "RELU6", "RELU_N1_TO_1", "ELU", "EXP", "LOG", "SQRT", "RSQRT", "TANH", "LOGISTIC", "HARD_SWISH", "SQUARE", "SIN", "COS"):
        case(f"unary/{op}-special", op, [I(x if op not in ("SIN", "COS") else x[:9])], [O("f32")])
    for dt in ("f32", "i8", "u8", "i16"):
        for alpha in (0.2, 1.5, -0.3, 0.0):
            case(f"unary/LEAKY_RELU-{dt}-{alpha}", "LEAKY_RELU", [I(data(dt, (3, 5, 2), 1), q(dt))], [O(dt, q(dt, QO))], ("LeakyReluOptions", {"alpha": alpha}), keep=dt != "f32" and alpha == 0.2)
        for approx in (True, False):
            case(f"unary/GELU-{dt}-{approx}", "GELU", [I(data(dt, (3, 5, 2), 2), q(dt))], [O(dt, q(dt, QO))], ("GeluOptions", {"approximate": approx}), keep=dt == "i8")
        for beta in (1.0, 0.3, 2.5):
            for sh, shape in (("r1", (9,)), ("r2", (4, 11)), ("r4", (2, 3, 2, 6)), ("r3", (2, 2, 40)), ("one", (3, 1)), ("e", (0, 4))):
                qo = {"i8": (1 / 256, -128), "u8": (1 / 256, 0), "i16": (1 / 32768, 0)}.get(dt)
                case(f"unary/SOFTMAX-{dt}-{sh}-{beta}", "SOFTMAX", [I(data(dt, shape, 3), q(dt))], [O(dt, qo)], ("SoftmaxOptions", {"beta": beta}), steps=1)
        for sh, ashape in (("last", (5,)), ("full", (3, 4, 5)), ("one", (1, 1, 5)), ("s", (1,))):
            case(f"unary/PRELU-{dt}-{sh}", "PRELU", [I(data(dt, (2, 3, 4, 5), 4), q(dt)), K(data(dt, ashape, 5), q(dt, Q2))], [O(dt, q(dt, QO))], keep=dt == "i8" and sh == "one")
    case("unary/SOFTMAX-i8-i16", "SOFTMAX", [I(data("i8", (4, 11), 3), Q["i8"])], [O("i16", (1 / 65536, -32768))], ("SoftmaxOptions", {"beta": 1.0}))
    for r in (0, 1, 2, 7):
        case(f"unary/LRN-{r}", "LOCAL_RESPONSE_NORMALIZATION", [I(data("f32", (2, 3, 3, 6), 7))], [O()], ("LocalResponseNormalizationOptions", {"radius": r, "bias": 1.5, "alpha": 0.3, "beta": 0.75}))
    for dt in ("i32", "i64"):
        for sh, shape in SHAPES.items():
            case(f"unary/SHAPE-{sh}-{dt}", "SHAPE", [I(data("f32", shape))], [O(dt)], ("ShapeOptions", {"outType": getattr(s.TensorType, "INT32" if dt == "i32" else "INT64")}))


def hash_of(text): return sum(ord(c) * (i + 1) for i, c in enumerate(text))


def casts():
    names = {"f32": "FLOAT32", "f16": "FLOAT16", "f64": "FLOAT64", "i8": "INT8", "u8": "UINT8", "i16": "INT16", "u16": "UINT16", "i32": "INT32", "u32": "UINT32", "i64": "INT64", "u64": "UINT64", "b1": "BOOL"}
    for a, b in itertools.product(ALL, ALL):
        x = data(a, (3, 5), 11, 0 if b[0] == "u" else -100, 100)
        case(f"cast/CAST-{a}-{b}", "CAST", [I(x)], [O(b)], ("CastOptions", {"inDataType": getattr(s.TensorType, names[a]), "outDataType": getattr(s.TensorType, names[b])}), open_=False)
        case(f"cast/CAST-{a}-{b}-bare", "CAST", [I(x)], [O(b)], open_=False)
        case(f"cast/BITCAST-{a}-{b}", "BITCAST", [I(np.abs(data(a, (3, 4, NP[b]().itemsize // max(1, NP[a]().itemsize)) if NP[b]().itemsize > NP[a]().itemsize else (3, 4), 12)))], [O(b)], ("BitcastOptions", {}), open_=a != b)
    for b in ("i8", "u8", "i16", "i32", "i64"):
        case(f"cast/CAST-f32-{b}-far", "CAST", [I(np.array([300.7, -300.2, 1e9, -1e9, 40000.5, -0.9, 0.9, 255.5, 127.9, -128.9], np.float32))], [O(b)], ("CastOptions", {}), open_=False)
    for b in ("i8", "u8", "i16"):
        qs = {"i8": [(0.05, 3), (0.5, -128), (1 / 128, 0)], "u8": [(0.05, 131), (0.5, 0)], "i16": [(0.001, 0), (2.0**-10, 0)]}[b]
        for i, qq in enumerate(qs):
            x = np.concatenate([data("f32", (40,), 13, -9, 9), np.arange(-10, 10).astype(np.float32) * np.float32(qq[0]) * 0.5, np.array([1e6, -1e6, 0, -0.0], np.float32)])
            case(f"cast/QUANTIZE-f32-{b}-{i}", "QUANTIZE", [I(x)], [O(b, qq)], keep=i == 0)
            case(f"cast/DEQUANTIZE-{b}-{i}", "DEQUANTIZE", [I(data(b, (3, 7), 14), qq)], [O("f32")])
    for b in ("i8", "u8", "i16"):
        case(f"cast/QUANTIZE-channels-{b}", "QUANTIZE", [I(data("f32", (2, 3, 4), 15))], [O(b, ([0.03, 0.05, 0.01, 0.2], [0] * 4 if b != "u8" else [128, 3, 200, 0], 2))])
        case(f"cast/DEQUANTIZE-channels-{b}", "DEQUANTIZE", [I(data(b, (2, 3, 4), 16), ([0.03, 0.05, 0.01], [0] * 3 if b != "u8" else [128, 3, 200], 1))], [O("f32")])
    for a, b in itertools.product(("i8", "u8", "i16", "i32"), ("i8", "u8", "i16", "i32")):
        qa, qb = Q.get(a, (0.0001, 0)), QO.get(b, (0.0003, 0))
        x = data(a, (4, 60), 17)
        if a == "i32": x = rng(3).integers(-100000, 100000, (4, 60)).astype(np.int32)
        case(f"cast/QUANTIZE-{a}-{b}", "QUANTIZE", [I(x, qa)], [O(b, qb)], keep=a != "i32" and b != "i32")
        case(f"cast/QUANTIZE-{a}-{b}-same", "QUANTIZE", [I(x, qa)], [O(b, (qa[0], Q.get(b, (0, 0))[1]))])
        case(f"cast/QUANTIZE-{a}-{b}-up", "QUANTIZE", [I(x, qa)], [O(b, (qa[0] / 3.3, Q.get(b, (0, 0))[1]))])
    case("cast/DEQUANTIZE-f16", "DEQUANTIZE", [I(data("f16", (3, 4), 18))], [O("f32")])
    case("cast/DEQUANTIZE-f16-const", "DEQUANTIZE", [K(data("f16", (3, 4), 18))], [O("f32")])
    case("cast/DEQUANTIZE-i4", "DEQUANTIZE", [K(rng(2).integers(-8, 8, (3, 5)).astype(np.int8), (0.1, 0), dtype="i4")], [O("f32")])
    case("cast/DEQUANTIZE-i4-channels", "DEQUANTIZE", [K(rng(2).integers(-8, 8, (3, 5)).astype(np.int8), ([0.1, 0.2, 0.3], [0, 0, 0], 0), dtype="i4")], [O("f32")])
    case("cast/DEQUANTIZE-i2", "DEQUANTIZE", [K(rng(2).integers(-2, 2, (3, 5)).astype(np.int8), (0.1, 0), dtype="i2")], [O("f32")])
    case("cast/CAST-i4", "CAST", [K(rng(2).integers(-8, 8, (3, 5)).astype(np.int8), dtype="i4")], [O("f32")])
    for bits, narrow in ((8, False), (8, True), (4, False), (16, False)):
        for lo, hi in ((-1.0, 3.0), (0.0, 6.0), (-6.3, -0.2), (0.5, 4.0)):
            case(f"cast/FAKE_QUANT-{bits}-{narrow}-{lo}", "FAKE_QUANT", [I(data("f32", (50,), 19, -8, 8))], [O()], ("FakeQuantOptions", {"min": lo, "max": hi, "numBits": bits, "narrowRange": narrow}))


BROADCASTS = {"same": ((2, 3, 4), (2, 3, 4)), "scalar": ((2, 3), ()), "scalar1": ((), (2, 3)), "last": ((2, 3, 4), (4,)), "mid": ((2, 1, 4), (1, 3, 1)), "r5": ((1, 2, 1, 3, 2), (2, 1, 3, 1, 2)), "r6": ((2, 1, 2, 1, 3, 2), (1, 2, 1, 3, 1, 2)), "s0": ((), ()), "e": ((0, 3), (1, 3)), "one": ((1,), (5,)), "r4": ((2, 3, 4, 5), (1, 1, 1, 5))}


def binary():
    opts = {"ADD": "AddOptions", "SUB": "SubOptions", "MUL": "MulOptions", "DIV": "DivOptions"}
    for op in ("ADD", "SUB", "MUL", "DIV", "MAXIMUM", "MINIMUM", "FLOOR_DIV", "FLOOR_MOD", "POW", "SQUARED_DIFFERENCE", "ATAN2", "BITWISE_XOR", "RIGHT_SHIFT", "EQUAL", "NOT_EQUAL", "LESS", "LESS_EQUAL", "GREATER", "GREATER_EQUAL", "LOGICAL_AND", "LOGICAL_OR"):
        for dt in ALL:
            for bc, (sa, sb) in BROADCASTS.items():
                if dt not in ("f32", "i8", "i32") and bc not in ("same", "mid"): continue
                x, y = data(dt, sa, 20), data(dt, sb, 21)
                if op in ("DIV", "FLOOR_DIV", "FLOOR_MOD"): y = np.where(y == 0, np.ones_like(y), y)
                if op == "POW": x, y = (np.abs(x) + NP[dt](0.1), y) if dt[0] == "f" else (x % 5, np.abs(y) % 4)
                if op == "RIGHT_SHIFT": y = np.abs(y) % 7
                qa, qb, qo = q(dt), q(dt, Q2), q(dt, QO)
                if op in ("MAXIMUM", "MINIMUM"): qb = qo = qa
                if op == "DIV" and dt == "u8": qb = (0.03, 3)
                cmp = op in ("EQUAL", "NOT_EQUAL", "LESS", "LESS_EQUAL", "GREATER", "GREATER_EQUAL", "LOGICAL_AND", "LOGICAL_OR")
                if op in ("FLOOR_DIV", "FLOOR_MOD", "POW", "BITWISE_XOR", "RIGHT_SHIFT", "ATAN2"): qa = qb = qo = None
                case(f"binary/{op}-{dt}-{bc}", op, [I(x, qa), I(y.astype(x.dtype), qb)], [O("b1" if cmp else dt, None if cmp else qo)], (opts[op], {}) if op in opts else None, keep=bc == "mid" and dt in ("i8", "i16") and op in ("ADD", "SUB", "MUL", "DIV", "SQUARED_DIFFERENCE"))
            if op in opts:
                for act in (RELU, N1TO1, RELU6):
                    y = data(dt, (3, 5), 23)
                    if op == "DIV": y = np.where(y == 0, np.ones_like(y), y)
                    case(f"binary/{op}-{dt}-act{act}", op, [I(data(dt, (3, 5), 22), q(dt)), I(y, q(dt, Q2))], [O(dt, q(dt, QO))], (opts[op], {"fusedActivationFunction": act}))
                for i, (qa, qb, qo) in enumerate((((0.1, 0), (0.1, 0), (0.1, 0)), ((0.0123, 5), (0.7, -9), (0.5, 17)), ((1.0, 0), (0.001, 0), (0.002, 0)))):
                    if dt not in ("i8", "u8", "i16"): continue
                    fix = lambda t: (t[0] / (256 if dt == "i16" else 1), 0 if dt == "i16" else t[1] + (128 if dt == "u8" else 0))
                    case(f"binary/{op}-{dt}-q{i}", op, [I(data(dt, (3, 50), 24), fix(qa)), I(np.where(data(dt, (3, 50), 25) == 0, 1, data(dt, (3, 50), 25)).astype(NP[dt]), fix(qb))], [O(dt, fix(qo))], (opts[op], {}))
                case(f"binary/{op}-{dt}-const", op, [I(data(dt, (2, 3, 4), 26), q(dt)), K(np.maximum(data(dt, (4,), 27), 1).astype(NP[dt]), q(dt, Q2))], [O(dt, q(dt, QO))], (opts[op], {}))
    for op in ("ADD", "SUB"):
        case(f"binary/{op}-i16-pot", op, [I(data("i16", (3, 50), 28), (2.0**-11, 0)), I(data("i16", (3, 50), 29), (2.0**-12, 0))], [O("i16", (2.0**-11, 0))], (opts[op], {"potScaleInt16": True}), keep=True)
        case(f"binary/{op}-i16-nopot", op, [I(data("i16", (3, 50), 28), (2.0**-11, 0)), I(data("i16", (3, 50), 29), (2.0**-12, 0))], [O("i16", (2.0**-11, 0))], (opts[op], {"potScaleInt16": False}))
    big = np.array([2**31 - 1, -2**31, 7, -7, 0, 1], np.int32)
    for op in ("FLOOR_DIV", "FLOOR_MOD", "DIV"):
        for dt in ("i32", "f32", "i8", "i16", "i64"):
            case(f"binary/{op}-{dt}-signs", op, [I(np.array([7, -7, 7, -7, 6, -6, 0], NP[dt])), I(np.array([3, 3, -3, -3, 2, -3, 5], NP[dt]))], [O(dt)], (opts[op], {}) if op in opts else None)
    for op in ("ADD", "SUB", "MUL"):
        case(f"binary/{op}-i32-wraps", op, [I(big), I(big[::-1].copy())], [O("i32")], (opts[op], {}))
    for op in ("MAXIMUM", "MINIMUM", "EQUAL", "LESS", "ADD", "DIV", "FLOOR_DIV", "FLOOR_MOD", "POW", "ATAN2"):
        cmp = op in ("EQUAL", "LESS")
        x = np.array([0.0, -0.0, np.inf, -np.inf, np.nan, 1.0, -1.0, 0.0], np.float32)
        case(f"binary/{op}-special", op, [I(x), I(np.roll(x, 1))], [O("b1" if cmp else "f32")], (opts[op], {}) if op in opts else None)
    for op in ("EQUAL", "NOT_EQUAL"):
        pass
    for n in (1, 2, 3, 5):
        for dt in ("f32", "i32", "i8"):
            case(f"binary/ADD_N-{dt}-{n}", "ADD_N", [I(data(dt, (2, 3), 30 + i)) for i in range(n)], [O(dt)])
    for dt in ALL:
        for code, cs, sa, sb in (("SELECT", (3, 4), (3, 4), (3, 4)), ("SELECT", (3,), (3, 4), (3, 4)), ("SELECT", (), (3, 4), (3, 4)), ("SELECT_V2", (3, 1), (3, 4), (4,)), ("SELECT_V2", (4,), (), (3, 1)), ("SELECT_V2", (1, 2, 1, 2, 1), (2, 1, 1, 1, 3), ())):
            case(f"binary/{code}-{dt}-{'x'.join(map(str, cs))}", code, [I(data("b1", cs, 31)), I(data(dt, sa, 32), q(dt)), I(data(dt, sb, 33), q(dt))], [O(dt, q(dt))], open_=dt in ("f32", "i8"))


def convolutions():
    def weights(kind, shape, axis, channels, bits=8):
        r = rng(41); lim = 127 if bits == 8 else 7
        if kind == "f32": return K(data("f32", shape, 41, -1, 1))
        if kind == "f16": return K(data("f16", shape, 41, -1, 1))
        w = r.integers(-lim, lim + 1, shape).astype(np.int8)
        dt = "i8" if bits == 8 else "i4"
        if kind == "u8": return K(r.integers(0, 256, shape).astype(np.uint8), (0.011, 119))
        if kind == "tensor": return K(w, (0.011, 0), dtype=dt)
        return K(w, ([float(v) for v in r.uniform(0.004, 0.02, channels)], [0] * channels, axis), dtype=dt)
    def bias(dt, channels, xq, w):
        if dt == "f32": return K(data("f32", (channels,), 42))
        n = np.int64 if dt == "i16" else np.int32
        sc = np.atleast_1d(w.q[0])
        b = rng(43).integers(-900, 900, channels).astype(n)
        if dt == "i16": b = b * 3000
        return K(b, ([float(xq[0] * v) for v in sc], [0] * len(sc), 0))
    kinds = [("f32", "f32"), ("i8", "chan"), ("i8", "tensor"), ("u8", "u8"), ("i16", "chan"), ("f32", "chan"), ("f32", "tensor"), ("i8", "chan4"), ("f32", "chan4")]
    for (dt, wk) in kinds:
        bits, kind = (4, "chan") if wk == "chan4" else (8, wk)
        for i, (h, w_, cin, cout, kh, kw, sh, sw, dh, dw, pad, act, g, n) in enumerate([(5, 6, 3, 4, 3, 3, 1, 1, 1, 1, SAME, NONE, 1, 1), (7, 6, 4, 5, 3, 2, 2, 1, 1, 1, SAME, RELU6, 1, 2), (8, 9, 2, 3, 3, 3, 1, 1, 2, 3, SAME, RELU, 1, 1), (5, 6, 3, 4, 1, 1, 1, 1, 1, 1, VALID, NONE, 1, 2), (8, 8, 3, 4, 3, 3, 2, 2, 1, 1, VALID, N1TO1, 1, 1), (6, 6, 4, 6, 3, 3, 1, 1, 1, 1, SAME, NONE, 2, 1), (5, 5, 2, 2, 5, 5, 1, 1, 1, 1, VALID, NONE, 1, 1), (4, 4, 2, 3, 6, 6, 1, 1, 1, 1, SAME, NONE, 1, 1), (9, 9, 1, 1, 3, 3, 1, 1, 3, 3, VALID, NONE, 1, 1)]):
            xq, oq = q(dt), q(dt, {"i8": (0.2, -3), "u8": (0.2, 100), "i16": (0.004, 0)})
            w = weights(kind, (cout, kh, kw, cin // g), 0, cout, bits)
            case(f"conv/CONV_2D-{dt}-{wk}-{i}", "CONV_2D", [I(data(dt, (n, h, w_, cin), 44), xq), w, bias(dt, cout, xq, w)], [O(dt, oq)], ("Conv2DOptions", dict(padding=pad, strideH=sh, strideW=sw, dilationHFactor=dh, dilationWFactor=dw, fusedActivationFunction=act)), keep=i == 1 and dt != "f32", rtol=2e-4 if dt == "f32" else None, atol=1e-4 if dt == "f32" else None)
            if i == 0:
                case(f"conv/CONV_2D-{dt}-{wk}-nobias", "CONV_2D", [I(data(dt, (n, h, w_, cin), 44), xq), w, None], [O(dt, oq)], ("Conv2DOptions", dict(padding=pad, strideH=sh, strideW=sw, dilationHFactor=dh, dilationWFactor=dw)))
                case(f"conv/CONV_2D-{dt}-{wk}-two", "CONV_2D", [I(data(dt, (n, h, w_, cin), 44), xq), w], [O(dt, oq)], ("Conv2DOptions", dict(padding=pad, strideH=sh, strideW=sw, dilationHFactor=dh, dilationWFactor=dw)))
            if g == 1:
                mult = 2 if i in (1, 3) else 1
                w = weights(kind, (1, kh, kw, cin * mult), 3, cin * mult, bits)
                case(f"conv/DEPTHWISE-{dt}-{wk}-{i}", "DEPTHWISE_CONV_2D", [I(data(dt, (n, h, w_, cin), 45), xq), w, bias(dt, cin * mult, xq, w)], [O(dt, oq)], ("DepthwiseConv2DOptions", dict(padding=pad, strideH=sh, strideW=sw, dilationHFactor=dh, dilationWFactor=dw, depthMultiplier=mult, fusedActivationFunction=act)), keep=i == 1 and dt != "f32", rtol=2e-4 if dt == "f32" else None, atol=1e-4 if dt == "f32" else None)
                if i == 3:
                    case(f"conv/DEPTHWISE-{dt}-{wk}-mult0", "DEPTHWISE_CONV_2D", [I(data(dt, (n, h, w_, cin), 45), xq), w, bias(dt, cin * mult, xq, w)], [O(dt, oq)], ("DepthwiseConv2DOptions", dict(padding=pad, strideH=1, strideW=1, dilationHFactor=1, dilationWFactor=1, depthMultiplier=0)))
        for i, (h, w_, cin, cout, kh, kw, sh, sw, pad, act, b_) in enumerate([(3, 4, 3, 4, 3, 3, 2, 2, SAME, NONE, True), (3, 4, 3, 4, 2, 3, 1, 2, VALID, RELU, True), (3, 3, 2, 3, 3, 3, 3, 3, SAME, NONE, False), (4, 3, 1, 2, 4, 4, 2, 2, VALID, RELU6, True), (3, 3, 2, 2, 1, 1, 2, 2, SAME, NONE, True)]):
            xq, oq = q(dt), q(dt, {"i8": (0.2, -3), "u8": (0.2, 100), "i16": (0.004, 0)})
            w = weights(kind, (cout, kh, kw, cin), 0, cout, bits)
            oh, ow = (h * sh, w_ * sw) if pad == SAME else ((h - 1) * sh + kh, (w_ - 1) * sw + kw)
            ins = [i32(2, oh, ow, cout), w, I(data(dt, (2, h, w_, cin), 46), xq)] + ([bias(dt, cout, xq, w)] if b_ else [])
            case(f"conv/TRANSPOSE_CONV-{dt}-{wk}-{i}", "TRANSPOSE_CONV", ins, [O(dt, oq)], ("TransposeConvOptions", dict(padding=pad, strideH=sh, strideW=sw, fusedActivationFunction=act)), keep=i == 1, rtol=2e-4 if dt == "f32" else None, atol=1e-4 if dt == "f32" else None)
            if pad == SAME and sh > 1:  # odd extents
                case(f"conv/TRANSPOSE_CONV-{dt}-{wk}-odd{i}", "TRANSPOSE_CONV", [i32(2, oh - 1, ow - 1, cout)] + ins[1:], [O(dt, oq)], ("TransposeConvOptions", dict(padding=pad, strideH=sh, strideW=sw)), rtol=2e-4 if dt == "f32" else None, atol=1e-4 if dt == "f32" else None)
    for i, (sd, dd, pad, act, b_) in enumerate([((1, 1, 1), (1, 1, 1), SAME, NONE, True), ((2, 1, 2), (1, 1, 1), SAME, RELU, True), ((1, 1, 1), (1, 2, 1), VALID, NONE, False), ((1, 2, 1), (1, 1, 1), VALID, RELU6, True)]):
        o = dict(padding=pad, strideD=sd[0], strideH=sd[1], strideW=sd[2], dilationDFactor=dd[0], dilationHFactor=dd[1], dilationWFactor=dd[2], fusedActivationFunction=act)
        case(f"conv/CONV_3D-{i}", "CONV_3D", [I(data("f32", (2, 4, 5, 6, 3), 47)), K(data("f32", (2, 3, 2, 3, 4), 48))] + ([K(data("f32", (4,), 49))] if b_ else []), [O()], ("Conv3DOptions", o), rtol=2e-4, atol=1e-4)
        if dd == (1, 1, 1):
            x = data("f32", (2, 2, 3, 3, 3), 47); k = (2, 3, 2)
            shape = [2] + [v * st if pad == SAME else (v - 1) * st + kk for v, st, kk in zip(x.shape[1:4], sd, k)] + [4]
            case(f"conv/CONV_3D_TRANSPOSE-{i}", "CONV_3D_TRANSPOSE", [i32(*shape), K(data("f32", k + (4, 3), 48)), I(x)] + ([K(data("f32", (4,), 49))] if b_ else []), [O()], ("Conv3DOptions", o), rtol=2e-4, atol=1e-4)


def matrices():
    fc = "FullyConnectedOptions"
    for dt, wk in (("f32", "f32"), ("i8", "tensor"), ("i8", "chan"), ("u8", "u8"), ("i16", "tensor"), ("i16", "chan"), ("f32", "tensor"), ("f32", "chan"), ("f32", "i4"), ("i8", "i4"), ("i8", "i4chan"), ("f32", "i4chan"), ("f32", "asym"), ("f32", "asymchan"), ("f32", "u8"), ("i16", "i4"), ("i8", "zero")):
        r = rng(51)
        for i, (xs, out, keep_dims, act, b_) in enumerate([((3, 8), 5, False, NONE, True), ((2, 3, 8), 4, True, RELU, True), ((2, 3, 8), 4, False, NONE, False), ((2, 2, 4), 3, False, RELU6, True), ((8,), 3, False, NONE, True), ((1, 2, 3, 8), 2, True, N1TO1, False), ((1, 8), 1, False, NONE, True)]):
            w = r.integers(-127, 128, (out, 8)).astype(np.int8)
            if wk == "f32": w = K(data("f32", (out, 8), 52))
            elif wk == "u8": w = K(r.integers(0, 256, (out, 8)).astype(np.uint8), (0.013, 119))
            elif wk in ("tensor", "asym"): w = K(w, (0.013, 0))
            elif wk == "zero": w = K(w, (0.013, 4))
            elif wk == "i4": w = K(r.integers(-7, 8, (out, 8)).astype(np.int8), (0.1, 0), dtype="i4")
            elif wk == "i4chan": w = K(r.integers(-7, 8, (out, 8)).astype(np.int8), ([float(v) for v in r.uniform(.05, .2, out)], [0] * out, 0), dtype="i4")
            else: w = K(w, ([float(v) for v in r.uniform(.005, .02, out)], [0] * out, 0))
            xq, oq = q(dt), q(dt, {"i8": (0.2, -3), "u8": (0.2, 100), "i16": (0.004, 0)})
            b = None
            if b_ and dt == "f32": b = K(data("f32", (out,), 53))
            elif b_: sc = np.atleast_1d(w.q[0]); b = K(r.integers(-900, 900, out).astype(np.int64 if dt == "i16" else np.int32) * (500 if dt == "i16" else 1), ([float(xq[0] * v) for v in sc], [0] * len(sc), 0))
            case(f"matrix/FC-{dt}-{wk}-{i}", "FULLY_CONNECTED", [I(data(dt, xs, 54), xq), w, b], [O(dt, oq)], (fc, dict(fusedActivationFunction=act, keepNumDims=keep_dims, asymmetricQuantizeInputs=wk.startswith("asym"))), keep=i == 1, rtol=2e-4 if dt == "f32" else None, atol=1e-4 if dt == "f32" else None)
        xq, oq = q(dt), q(dt, {"i8": (0.2, -3), "u8": (0.2, 100), "i16": (0.004, 0)})
        if wk in ("f32", "u8") and dt in ("f32", "u8") or wk == "tensor":
            w = I(data("f32", (5, 8), 55)) if wk == "f32" else I(data("u8" if wk == "u8" else "i8", (5, 8), 55), (0.013, 119 if wk == "u8" else 0))
            case(f"matrix/FC-{dt}-{wk}-dynamic", "FULLY_CONNECTED", [I(data(dt, (3, 8), 54), xq), w, None], [O(dt, oq)], (fc, {}), open_=False, rtol=2e-4 if dt == "f32" else None, atol=1e-4 if dt == "f32" else None)
    case("matrix/FC-i16-i8-b32", "FULLY_CONNECTED", [I(data("i16", (3, 8), 54), Q["i16"]), K(data("i8", (4, 8), 55), (0.013, 0)), K(rng(1).integers(-900, 900, 4).astype(np.int32))], [O("i16", (0.004, 0))], (fc, {}))
    bm = "BatchMatMulOptions"
    for dt in ("f32", "i8", "i16", "i32", "hyb", "hyba"):
        for i, (a, b, ax, ay) in enumerate([((2, 3, 4), (2, 4, 5), 0, 0), ((2, 4, 3), (2, 4, 5), 1, 0), ((2, 3, 4), (2, 5, 4), 0, 1), ((4, 3), (5, 4), 1, 1), ((3, 1, 2, 4), (2, 4, 3), 0, 0), ((1, 2, 4), (3, 4, 2), 0, 0), ((2, 1, 3, 2, 4), (1, 2, 1, 4, 2), 0, 0), ((2, 1, 4), (2, 4, 1), 0, 0), ((0, 2, 3), (0, 3, 2), 0, 0)]):
            o = (bm, dict(adjX=bool(ax), adjY=bool(ay), asymmetricQuantizeInputs=dt == "hyba"))
            if dt[:3] == "hyb": ins, out = [I(data("f32", a, 56)), K(data("i8", b, 57), (0.013, 0))], O()
            else: ins, out = [I(data(dt, a, 56), q(dt)), I(data(dt, b, 57), q(dt, Q2))], O(dt, q(dt, {"i8": (0.3, 4), "i16": (0.003, 0)}))
            case(f"matrix/BMM-{dt}-{i}", "BATCH_MATMUL", ins, [out], o, keep=i in (4,), rtol=2e-4, atol=1e-4)
            if dt in ("f32", "i8"):
                case(f"matrix/BMM-{dt}-const{i}", "BATCH_MATMUL", [I(data(dt, a, 56), q(dt)), K(data(dt, b, 57), q(dt, Q2))], [out], o, rtol=2e-4, atol=1e-4)


def pools():
    for op in ("AVERAGE_POOL_2D", "MAX_POOL_2D", "L2_POOL_2D"):
        for dt in ("f32", "i8", "u8", "i16"):
            for i, (h, w_, kh, kw, sh, sw, pad, act) in enumerate([(6, 7, 2, 2, 2, 2, VALID, NONE), (6, 7, 3, 3, 1, 1, SAME, NONE), (7, 5, 3, 2, 2, 3, SAME, RELU), (5, 5, 5, 5, 1, 1, VALID, RELU6), (4, 4, 6, 6, 1, 1, SAME, N1TO1), (9, 9, 1, 1, 2, 2, VALID, NONE), (16, 16, 16, 16, 1, 1, VALID, NONE)]):
                case(f"pool/{op}-{dt}-{i}", op, [I(data(dt, (2, h, w_, 3), 61), q(dt))], [O(dt, q(dt))], ("Pool2DOptions", dict(padding=pad, strideH=sh, strideW=sw, filterHeight=kh, filterWidth=kw, fusedActivationFunction=act)), keep=i == 2 and dt != "f32")


def moves():
    for dt in ALL:
        qq = q(dt)
        few = dt not in ("f32", "i8", "i32")
        x3 = data(dt, (2, 3, 4), 70)
        def c(name, code, ins, outs=None, options=None, keep=False, **k):
            case(f"move/{name}-{dt}", code, ins, outs or [O(dt, qq)], options, keep=keep, **k)
        c("RESHAPE", "RESHAPE", [I(x3, qq), i32(4, -1)], None, ("ReshapeOptions", dict(newShape=[4, -1])))
        if not few:
            c("RESHAPE-opt", "RESHAPE", [I(x3, qq)], None, ("ReshapeOptions", dict(newShape=[6, 4])))
            c("RESHAPE-dyn", "RESHAPE", [I(x3, qq), I(np.array([-1, 6], np.int32))], None, ("ReshapeOptions", dict(newShape=[])), open_=False)
            c("RESHAPE-0d", "RESHAPE", [I(data(dt, (1,)), qq), K(np.zeros((0,), np.int32))], None, ("ReshapeOptions", dict(newShape=[])))
            c("RESHAPE-empty", "RESHAPE", [I(data(dt, (0, 3)), qq), i32(3, 0)], None, ("ReshapeOptions", dict(newShape=[3, 0])))
            for name, dims, shape in (("all", [], (1, 3, 1, 2)), ("some", [0, 2], (1, 3, 1, 2)), ("neg", [-2], (1, 3, 1, 2)), ("0d", [], (1, 1))):
                c(f"SQUEEZE-{name}", "SQUEEZE", [I(data(dt, shape, 71), qq)], None, ("SqueezeOptions", dict(squeezeDims=dims)), open_=name != "all" and name != "0d")
        for ax in (0, 1, -1, -4):
            if few and ax != 1: continue
            c(f"EXPAND_DIMS{ax}", "EXPAND_DIMS", [I(x3, qq), i32(ax)])
        for p in ((2, 0, 1), (1, 0, 2), (0, 1, 2)):
            c(f"TRANSPOSE{''.join(map(str, p))}", "TRANSPOSE", [I(x3, qq), i32(*p)])
        if not few:
            c("TRANSPOSE5", "TRANSPOSE", [I(data(dt, (2, 1, 3, 2, 2), 72), qq), i32(4, 2, 0, 3, 1)])
            c("TRANSPOSE6", "TRANSPOSE", [I(data(dt, (2, 1, 3, 2, 1, 2), 72), qq), i32(5, 4, 2, 0, 3, 1)])
            c("TRANSPOSEneg", "TRANSPOSE", [I(x3, qq), i32(-1, 0, 1)])
        c("FILL", "FILL", [i32(2, 3), I(data(dt, (), 73), qq)])
        if not few:
            c("FILL-dyn", "FILL", [I(np.array([3, 2], np.int32)), K(data(dt, (), 73), qq)], open_=False)
            c("FILL-0d", "FILL", [K(np.zeros((0,), np.int32)), K(data(dt, (), 73), qq)])
            c("FILL-i64", "FILL", [K(np.array([2, 3], np.int64)), K(data(dt, (), 73), qq)])
        if dt in ("f32", "i32", "i64"):
            for n, (a, b, st) in enumerate(((0, 7, 2), (5, -3, -2), (3, 3, 1), (1, 2, 5))):
                c(f"RANGE{n}", "RANGE", [I(np.array(v, NP[dt])) for v in (a, b, st)], [O(dt)], None)
                c(f"RANGEk{n}", "RANGE", [K(np.array(v, NP[dt])) for v in (a, b, st)], [O(dt)], None)
            if dt == "f32": c("RANGEf", "RANGE", [I(np.array(v, np.float32)) for v in (0.5, 2.3, 0.25)], [O(dt)])
        c("BROADCAST_TO", "BROADCAST_TO", [I(data(dt, (3, 1), 74), qq), i32(2, 3, 4)], keep=dt == "i8")
        if not few:
            c("BROADCAST_TO-0d", "BROADCAST_TO", [I(data(dt, (), 74), qq), i32(2, 3)])
            c("BROADCAST_TO-r6", "BROADCAST_TO", [I(data(dt, (1, 2, 1), 74), qq), i32(1, 2, 1, 3, 2, 2)])
            c("BROADCAST_TO-dyn", "BROADCAST_TO", [I(data(dt, (3, 1), 74), qq), I(np.array([2, 3, 4], np.int64))])
        if dt in ("i32", "i64"): c("BROADCAST_ARGS", "BROADCAST_ARGS", [I(np.array([1, 3], NP[dt])), I(np.array([2, 1, 1], NP[dt]))], [O(dt)], open_=False)
        for ax in (0, 1, -1):
            if few and ax != 1: continue
            c(f"CONCAT{ax}", "CONCATENATION", [I(x3, qq), I(data(dt, (2, 3, 4), 75), qq), K(data(dt, (2, 3, 4), 76), qq)], None, ("ConcatenationOptions", dict(axis=ax)))
            c(f"PACK{ax}", "PACK", [I(x3, qq), I(data(dt, (2, 3, 4), 75), qq)], None, ("PackOptions", dict(axis=ax, valuesCount=2)))
            c(f"UNPACK{ax}", "UNPACK", [I(data(dt, (2, 2, 2), 77), qq)], [O(dt, qq), O(dt, qq)], ("UnpackOptions", dict(axis=ax, num=2)))
        if not few:
            c("PACK-0d", "PACK", [I(data(dt, (), 75), qq), I(data(dt, (), 76), qq)], None, ("PackOptions", dict(axis=0, valuesCount=2)))
            c("UNPACK-1d", "UNPACK", [I(data(dt, (2,), 77), qq)], [O(dt, qq), O(dt, qq)], ("UnpackOptions", dict(axis=0, num=2)))
            c("CONCAT-e", "CONCATENATION", [I(data(dt, (2, 0), 75), qq), I(data(dt, (2, 3), 75), qq)], None, ("ConcatenationOptions", dict(axis=1)))
        c("TILE", "TILE", [I(x3, qq), i32(2, 1, 3)])
        if not few:
            c("TILE64", "TILE", [I(x3, qq), K(np.array([1, 2, 1], np.int64))])
            c("TILE-dyn", "TILE", [I(x3, qq), I(np.array([1, 2, 0], np.int32))])
        c("PAD", "PAD", [I(x3, qq), K(np.array([[1, 0], [0, 2], [1, 1]], np.int32))])
        c("PADV2", "PADV2", [I(x3, qq), K(np.array([[1, 0], [0, 2], [1, 1]], np.int32)), K(np.asarray(data(dt, (1,), 78)), qq)])
        if not few:
            c("PAD64", "PAD", [I(x3, qq), K(np.array([[1, 0], [0, 2], [1, 1]], np.int64))])
            c("PAD-dyn", "PAD", [I(x3, qq), I(np.array([[1, 0], [0, 2], [1, 1]], np.int32))], open_=False)
            c("PAD5", "PAD", [I(data(dt, (1, 2, 1, 2, 2), 1), qq), K(np.array([[1, 0], [0, 2], [1, 1], [0, 0], [0, 1]], np.int32))])
            c("PADV2-dyn", "PADV2", [I(x3, qq), I(np.array([[1, 0], [0, 2], [1, 1]], np.int32)), I(data(dt, (), 78), qq)], open_=False)
        for mode in (0, 1):
            c(f"MIRROR_PAD{mode}", "MIRROR_PAD", [I(x3, qq), K(np.array([[1, 0], [1, 2], [0, 3]] if mode == 0 else [[2, 0], [1, 3], [4, 3]], np.int32))], None, ("MirrorPadOptions", dict(mode=mode)))
            if not few: c(f"MIRROR_PAD{mode}-dyn", "MIRROR_PAD", [I(x3, qq), I(np.array([[1, 0], [1, 2], [0, 3]], np.int32))], None, ("MirrorPadOptions", dict(mode=mode)), open_=False)
        c("REVERSE_V2", "REVERSE_V2", [I(x3, qq), i32(1)])
        if not few: c("REVERSE_V2n", "REVERSE_V2", [I(x3, qq), i32(-1)]); c("REVERSE_V2two", "REVERSE_V2", [I(x3, qq), i32(1, 2)])
        c("REVERSE_SEQ", "REVERSE_SEQUENCE", [I(data(dt, (4, 3, 2), 79), qq), I(np.array([1, 4, 0], np.int64) if not few else np.array([2, 3, 1], np.int32))], None, ("ReverseSequenceOptions", dict(seqDim=0, batchDim=1)))
        if not few: c("REVERSE_SEQ2", "REVERSE_SEQUENCE", [I(data(dt, (2, 3, 5), 79), qq), I(np.array([1, 4], np.int32))], None, ("ReverseSequenceOptions", dict(seqDim=2, batchDim=0)))
        c("D2S", "DEPTH_TO_SPACE", [I(data(dt, (2, 2, 3, 12), 80), qq)], None, ("DepthToSpaceOptions", dict(blockSize=2)))
        c("S2D", "SPACE_TO_DEPTH", [I(data(dt, (2, 4, 6, 3), 80), qq)], None, ("SpaceToDepthOptions", dict(blockSize=2)))
        c("S2B", "SPACE_TO_BATCH_ND", [I(data(dt, (2, 4, 5, 2), 81), qq), i32(2, 3), K(np.array([[1, 1], [0, 1]], np.int32))])
        c("B2S", "BATCH_TO_SPACE_ND", [I(data(dt, (12, 2, 2, 2), 81), qq), i32(2, 3), K(np.array([[1, 0], [0, 2]], np.int32))])
        if not few:
            c("S2B3", "SPACE_TO_BATCH_ND", [I(data(dt, (2, 4, 3), 81), qq), i32(2), K(np.array([[1, 1]], np.int32))])
            c("S2B-dyn", "SPACE_TO_BATCH_ND", [I(data(dt, (2, 4, 5, 2), 81), qq), I(np.array([2, 3], np.int32)), I(np.array([[1, 1], [0, 1]], np.int32))], open_=False)
            c("B2S-dyn", "BATCH_TO_SPACE_ND", [I(data(dt, (12, 2, 2, 2), 81), qq), I(np.array([2, 3], np.int32)), I(np.array([[1, 0], [0, 2]], np.int32))], open_=False)
            c("B2S3", "BATCH_TO_SPACE_ND", [I(data(dt, (4, 2, 3), 81), qq), i32(2), K(np.array([[1, 0]], np.int32))])
        slices(c, dt, qq, few)
        if dt in ("f32", "i32", "i8", "i64", "i16", "u8", "b1"):
            c("MATRIX_DIAG", "MATRIX_DIAG", [I(data(dt, (2, 3), 82), qq)]); c("MATRIX_DIAG1", "MATRIX_DIAG", [I(data(dt, (3,), 82), qq)])
            c("MATRIX_SET_DIAG", "MATRIX_SET_DIAG", [I(data(dt, (2, 3, 3), 82), qq), I(data(dt, (2, 3), 83), qq)]); c("MATRIX_SET_DIAGr", "MATRIX_SET_DIAG", [I(data(dt, (2, 3, 5), 82), qq), I(data(dt, (2, 3), 83), qq)])
        c("DILATE", "DILATE", [I(x3, qq), i32(2, 1, 3), K(data(dt, (), 84), qq)])
        c("DUS", "DYNAMIC_UPDATE_SLICE", [I(data(dt, (4, 5), 85), qq), I(data(dt, (2, 3), 86), qq), I(np.array([1, 4], np.int32))], open_=False)
        if not few: c("DUS64", "DYNAMIC_UPDATE_SLICE", [I(data(dt, (4, 5), 85), qq), I(data(dt, (2, 3), 86), qq), K(np.array([-1, 1], np.int64))])
    for mode in ("RESIZE_BILINEAR", "RESIZE_NEAREST_NEIGHBOR"):
        table = "ResizeBilinearOptions" if mode == "RESIZE_BILINEAR" else "ResizeNearestNeighborOptions"
        for dt in ("f32", "i8", "u8", "i16", "f16"):
            for (h, w), (oh, ow) in (((3, 4), (6, 8)), ((3, 4), (5, 7)), ((6, 7), (3, 2)), ((1, 1), (3, 3)), ((5, 5), (1, 1)), ((4, 6), (4, 6)), ((2, 3), (7, 5))):
                for ac, hp in ((False, False), (True, False), (False, True)):
                    case(f"move/{mode}-{dt}-{h}{w}{oh}{ow}-{int(ac)}{int(hp)}", mode, [I(data(dt, (2, h, w, 3), 87), q(dt)), i32(oh, ow)], [O(dt, q(dt))], (table, dict(alignCorners=ac, halfPixelCenters=hp)), keep=(h, oh, dt) == (2, 7, "i8"))
            case(f"move/{mode}-{dt}-dyn", mode, [I(data(dt, (1, 3, 4, 2), 87), q(dt)), I(np.array([5, 6], np.int32))], [O(dt, q(dt))], (table, {}))


def slices(c, dt, qq, few):
    x = data(dt, (4, 5, 6), 90)
    c("SLICE", "SLICE", [I(x, qq), i32(1, 0, 2), i32(2, -1, 3)])
    c("SPLIT", "SPLIT", [i32(1), I(data(dt, (2, 6, 3), 91), qq)], [O(dt, qq), O(dt, qq), O(dt, qq)], ("SplitOptions", dict(numSplits=3)))
    c("SPLIT_V", "SPLIT_V", [I(data(dt, (2, 6, 3), 91), qq), i32(1, -1, 2), i32(1)], [O(dt, qq), O(dt, qq), O(dt, qq)], ("SplitVOptions", dict(numSplits=3)))
    ss = "StridedSliceOptions"
    c("SS", "STRIDED_SLICE", [I(x, qq), i32(1, 0, 0), i32(3, 5, 6), i32(1, 2, 3)], None, (ss, {}))
    if few: return
    c("SLICE64", "SLICE", [I(x, qq), K(np.array([1, 0, 2], np.int64)), K(np.array([2, -1, 3], np.int64))])
    c("SLICE-dyn", "SLICE", [I(x, qq), I(np.array([1, 0, 2], np.int32)), I(np.array([2, -1, 0], np.int32))])
    c("SLICE5", "SLICE", [I(data(dt, (2, 3, 2, 2, 3), 90), qq), i32(0, 1, 0, 1, 0), i32(2, 2, 1, 1, -1)])
    c("SPLITn", "SPLIT", [i32(-1), I(data(dt, (2, 6), 91), qq)], [O(dt, qq), O(dt, qq)], ("SplitOptions", dict(numSplits=2)))
    c("SPLIT_Vn", "SPLIT_V", [I(data(dt, (2, 6), 91), qq), K(np.array([4, 2], np.int64)), i32(-1)], [O(dt, qq), O(dt, qq)], ("SplitVOptions", dict(numSplits=2)))
    c("SPLIT_V0", "SPLIT_V", [I(data(dt, (2, 6), 91), qq), i32(0, 6), i32(1)], [O(dt, qq), O(dt, qq)], ("SplitVOptions", dict(numSplits=2)))
    for name, b, e, st, o in (("masks", (1, 9, 1), (2, 9, 5), (1, 1, 2), dict(beginMask=2, endMask=2)), ("neg", (-3, -1, 5), (-1, -5, 0), (1, -2, -1), {}), ("shrink", (1, 2, 0), (2, 3, 6), (1, 1, 1), dict(shrinkAxisMask=3)),
                              ("shrinkneg", (-1, 0, -2), (0, 5, 0), (1, 1, 1), dict(shrinkAxisMask=5)), ("ellipsis", (1, 0, 2), (3, 0, 4), (1, 1, 1), dict(ellipsisMask=2)), ("newaxis", (0, 1, 2), (0, 3, 4), (1, 1, 1), dict(newAxisMask=1)),
                              ("newaxis2", (0, 1, 0, 2), (0, 3, 0, 4), (1, 1, 1, 1), dict(newAxisMask=5)), ("few", (1,), (3,), (1,), {}), ("far", (0, -100, 3), (100, 100, 100), (1, 1, 1), {}), ("none", (3, 0, 0), (1, 5, 6), (1, 1, 1), {}),
                              ("negend", (0, 0, 0), (-1, -1, -1), (1, 1, 1), {}), ("endneg", (3, 4, 5), (0, 0, 0), (-1, -1, -1), dict(endMask=7)), ("offset", (1, 1, 1), (2, 2, 2), (1, 1, 1), dict(offset=True)), ("ellnew", (1, 0, 0), (2, 0, 0), (1, 1, 1), dict(ellipsisMask=2, newAxisMask=4, shrinkAxisMask=1)), ("shrinkall", (1, 2, 3), (2, 3, 4), (1, 1, 1), dict(shrinkAxisMask=7))):
        c(f"SS-{name}", "STRIDED_SLICE", [I(x, qq), i32(*b), i32(*e), i32(*st)], None, (ss, o), keep=dt == "f32" and name in ("neg", "offset", "newaxis2"))
        if name in ("masks", "neg", "shrink", "offset", "ellipsis", "newaxis", "few", "shrinkneg"):
            c(f"SS-{name}-dyn", "STRIDED_SLICE", [I(x, qq), I(np.array(b, np.int32)), I(np.array(e, np.int32)), i32(*st)], None, (ss, o), open_=False)


def indices():
    for dt in ALL:
        qq, few = q(dt), dt not in ("f32", "i8", "i32")
        def c(name, code, ins, outs=None, options=None, keep=False, **k): case(f"index/{name}-{dt}", code, ins, outs or [O(dt, qq)], options, keep=keep, **k)
        x = data(dt, (3, 4, 5), 100)
        g = lambda ax, bd=0: ("GatherOptions", dict(axis=ax, batchDims=bd))
        for it in (np.int32, np.int64, np.int16):
            if few and it != np.int32: continue
            n = np.dtype(it).name
            c(f"GATHER-{n}", "GATHER", [I(x, qq), I(np.array([[0, 2], [1, 0]], it))], None, g(1))
            c(f"GATHER_ND-{n}", "GATHER_ND", [I(x, qq), I(np.array([[0, 2], [1, 3]], it))], open_=False)
        if not few:
            c("GATHER-0d", "GATHER", [I(x, qq), I(np.array(2, np.int32))], None, g(-1)); c("GATHER-b", "GATHER", [I(x, qq), I(np.array([[0, 2], [1, 0], [3, 3]], np.int32))], None, g(1, 1)); c("GATHER-nb", "GATHER", [I(x, qq), I(np.array([[0, 2], [1, 0], [3, 3]], np.int32))], None, g(-1, -1))
            c("GATHER-1d", "GATHER", [I(data(dt, (6,), 101), qq), I(np.array([5, 0, 0], np.int32))], None, g(0)); c("GATHER-e", "GATHER", [I(x, qq), I(np.zeros((0,), np.int32))], None, g(0))
            c("GATHER_ND-full", "GATHER_ND", [I(x, qq), I(np.array([[[0, 2, 1]], [[1, 3, 4]]], np.int32))], open_=False); c("GATHER_ND-b", "GATHER_ND", [I(x, qq), I(np.array([[2], [0]], np.int32))], open_=False)
            c("EMBED", "EMBEDDING_LOOKUP", [I(np.array([2, 0, 1], np.int32)), K(x, qq)])
            c("SCATTER_ND-slices", "SCATTER_ND", [I(np.array([[2], [0]], np.int32)), I(data(dt, (2, 3), 103), qq), i32(4, 3)], open_=False)
            c("SCATTER_ND-dup", "SCATTER_ND", [I(np.array([[2], [0], [2]], np.int32)), I(np.array([3, 4, 5]).astype(NP[dt]), qq), I(np.array([5], np.int32))], open_=False)
            c("SCATTER_ND64", "SCATTER_ND", [K(np.array([[2, 1], [0, 0]], np.int64)), I(data(dt, (2,), 103), qq), K(np.array([3, 2], np.int64))], open_=False)
        c("SCATTER_ND", "SCATTER_ND", [I(np.array([[2, 1], [0, 0]], np.int32)), I(data(dt, (2,), 103), qq), i32(3, 2)], open_=False)
        c("ONE_HOT", "ONE_HOT", [I(np.array([[1, 0], [3, -1]], np.int32)), i32(4).with_shape(()), K(data(dt, (), 104), qq), K(data(dt, (), 105), qq)], None, ("OneHotOptions", dict(axis=-1)))
        if not few:
            c("ONE_HOT0", "ONE_HOT", [I(np.array([1, 5, 2], np.int64)), I(np.array(3, np.int32)), I(data(dt, (), 104), qq), I(data(dt, (), 105), qq)], None, ("OneHotOptions", dict(axis=0)))
        for k in (1, 3, 5):
            c(f"TOPK{k}", "TOPK_V2", [I(data(dt, (3, 5), 106), qq), i32(k).with_shape(())], [O(dt, qq), O("i32")])
        if not few:
            c("TOPK-dyn", "TOPK_V2", [I(data(dt, (3, 5), 106), qq), I(np.array(2, np.int32))], [O(dt, qq), O("i32")]); c("TOPK-ties", "TOPK_V2", [I(np.array([3, 1, 3, 3, 2]).astype(NP[dt]), qq), i32(4).with_shape(())], [O(dt, qq), O("i32")])
            c("TOPK-0", "TOPK_V2", [I(data(dt, (3, 5), 106), qq), i32(0).with_shape(())], [O(dt, qq), O("i32")])
        for out in ("i32", "i64"):
            c(f"UNIQUE-{out}", "UNIQUE", [I(np.array([3, 1, 3, 2, 1, 7]).astype(NP[dt]), qq)], [O(dt, qq), O(out)], ("UniqueOptions", dict(idxOutType=getattr(s.TensorType, "INT32" if out == "i32" else "INT64"))))
            c(f"ARG_MAX-{out}", "ARG_MAX", [I(x, qq), i32(1).with_shape(())], [O(out)], ("ArgMaxOptions", dict(outputType=getattr(s.TensorType, "INT32" if out == "i32" else "INT64"))))
            c(f"ARG_MIN-{out}", "ARG_MIN", [I(x, qq), i32(-1)], [O(out)], ("ArgMinOptions", dict(outputType=getattr(s.TensorType, "INT32" if out == "i32" else "INT64"))))
        c("SPARSE_TO_DENSE", "SPARSE_TO_DENSE", [I(np.array([[0, 1], [2, 0]], np.int32)), i32(3, 2), I(data(dt, (2,), 107), qq), K(data(dt, (), 108), qq)], open_=False)
        if not few:
            c("SPARSE_TO_DENSE-s", "SPARSE_TO_DENSE", [I(np.array([[0, 1], [2, 0]], np.int64)), K(np.array([3, 2], np.int64)), I(data(dt, (), 107), qq), K(data(dt, (), 108), qq)], open_=False); c("SPARSE_TO_DENSE-1", "SPARSE_TO_DENSE", [I(np.array([3, 1], np.int32)), i32(5), I(data(dt, (2,), 107), qq), I(data(dt, (), 108), qq)], open_=False)
        c("SEGMENT_SUM", "SEGMENT_SUM", [I(data(dt, (5, 3), 109), qq), I(np.array([0, 0, 1, 3, 3], np.int32))])
        for k in ("SUM", "PROD", "MAX", "MIN"):
            c(f"UNSORTED_{k}", f"UNSORTED_SEGMENT_{k}", [I(data(dt, (5, 3), 109), qq), I(np.array([2, 0, 2, 4, 0], np.int32)), i32(5).with_shape(())])
            if not few: c(f"UNSORTED_{k}2", f"UNSORTED_SEGMENT_{k}", [I(data(dt, (2, 3, 2), 109), qq), I(np.array([[2, 0, 2], [-1, 0, 1]], np.int32)), I(np.array(4, np.int32))])
        c("BUCKETIZE", "BUCKETIZE", [I(data(dt, (3, 4), 110))], [O("i32")], ("BucketizeOptions", dict(boundaries=[-2.5, 0.0, 1.0, 9.0])))
        c("WHERE1", "WHERE", [I(data(dt, (7,), 111) if dt == "b1" else (data(dt, (7,), 111) % NP[dt](2)).astype(NP[dt]))], [O("i64")])
        for ex, rv in itertools.product((False, True), (False, True)):
            if few and ex: continue
            c(f"CUMSUM{int(ex)}{int(rv)}", "CUMSUM", [I(x, qq), i32(1 if ex else -1).with_shape(())], None, ("CumsumOptions", dict(exclusive=ex, reverse=rv)))
    boxes = np.array([[0, 0, 1, 1], [0, 0.1, 1, 1.1], [0, -0.1, 1, 0.9], [0, 10, 1, 11], [0, 10.1, 1, 11.1], [0, 100, 1, 101]], np.float32); scores = np.array([0.9, 0.75, 0.6, 0.95, 0.5, 0.3], np.float32)
    f = lambda v: K(np.array(v, np.float32))
    for most in (3, 6, 10, 0):
        for iou, thr in ((0.5, 0.0), (0.5, 0.4), (0.95, 0.0), (0.0, 0.7)):
            ins = [I(boxes), I(scores), i32(most).with_shape(()), f(iou), f(thr)]
            case(f"index/NMS4-{most}-{iou}-{thr}", "NON_MAX_SUPPRESSION_V4", ins, [O("i32"), O("i32")], ("NonMaxSuppressionV4Options", {}))
            for sigma in (0.0, 0.5, 0.1):
                case(f"index/NMS5-{most}-{iou}-{thr}-{sigma}", "NON_MAX_SUPPRESSION_V5", ins + [f(sigma)], [O("i32"), O("f32"), O("i32")], ("NonMaxSuppressionV5Options", {}), keep=(most, thr, sigma) == (6, 0.4, 0.5))
    case("index/NMS5-dyn", "NON_MAX_SUPPRESSION_V5", [I(boxes), I(scores), I(np.array(4, np.int32)), I(np.array(0.5, np.float32)), I(np.array(0.1, np.float32)), I(np.array(0.3, np.float32))], [O("i32"), O("f32"), O("i32")], ("NonMaxSuppressionV5Options", {}))
    case("index/HASHTABLE_LOOKUP", "HASHTABLE_LOOKUP", [I(np.array([7, 1, 4], np.int32)), K(np.array([1, 4, 9], np.int32)), K(data("f32", (3, 2), 112))], [O("f32"), O("u8")])
    for comb in (0, 1, 2):
        case(f"index/EMBED_SPARSE-{comb}", "EMBEDDING_LOOKUP_SPARSE", [I(np.array([1, 3, 0], np.int32)), I(np.array([[0, 0], [2, 0], [2, 1]], np.int32)), i32(3, 2), I(np.array([1.0, 2.0, 4.0], np.float32)), I(data("f32", (4, 3, 2), 113))], [O()], ("EmbeddingLookupSparseOptions", dict(combiner=comb)), open_=False)
    for w in ("tensor", "chan"):
        case(f"index/EMBED-hybrid-{w}", "EMBEDDING_LOOKUP", [I(np.array([2, 0], np.int32)), K(data("i8", (3, 4), 114), (0.1, 0) if w == "tensor" else ([0.1, 0.2, 0.3], [0, 0, 0], 0))], [O("f32")])
    case("index/EMBED-i4", "EMBEDDING_LOOKUP", [I(np.array([2, 0], np.int32)), K(rng(1).integers(-7, 8, (3, 4)).astype(np.int8), ([0.1, 0.2, 0.3], [0, 0, 0], 0), dtype="i4")], [O("f32")])


def reductions():
    for op in ("MEAN", "SUM", "REDUCE_PROD", "REDUCE_MAX", "REDUCE_MIN", "REDUCE_ANY", "REDUCE_ALL"):
        for dt in ALL:
            few = dt not in ("f32", "i8", "i32", "u8", "i16")
            for name, axes, keep, shape in (("last", (2,), False, (2, 3, 4)), ("keep", (1,), True, (2, 3, 4)), ("two", (1, 2), False, (2, 5, 6, 3)), ("neg", (-1, 0), True, (2, 3, 4)), ("all", (0, 1, 2), False, (2, 3, 4)), ("dup", (1, 1, -2), False, (2, 3, 4)), ("r1", (0,), False, (7,)), ("none", (), False, (2, 3)), ("big", (1, 2), True, (1, 17, 19, 2)), ("0d", (), False, ()), ("empty", (0,), False, (0, 3))):
                if few and name not in ("keep", "two"): continue
                x = data(dt, shape, 120, -1.5, 1.5) if dt != "i64" else data(dt, shape, 120) % 4
                case(f"reduce/{op}-{dt}-{name}", op, [I(x, q(dt)), i32(*axes)], [O(dt, q(dt, QO) if op in ("MEAN", "SUM", "REDUCE_PROD") else q(dt))], ("ReducerOptions", dict(keepDims=keep)), keep=op in ("MEAN", "SUM") and name == "two" and dt in ("i8", "u8", "i16"))
            case(f"reduce/{op}-{dt}-same", op, [I(data(dt, (2, 5, 6, 3), 121, -1.2, 1.2), q(dt)), i32(1, 2)], [O(dt, q(dt))], ("ReducerOptions", dict(keepDims=False)))
            if not few:
                case(f"reduce/{op}-{dt}-dyn", op, [I(data(dt, (2, 3, 4), 121, -1.2, 1.2), q(dt)), I(np.array([0, 2], np.int32))], [O(dt, q(dt))], ("ReducerOptions", dict(keepDims=False)), open_=False)
                case(f"reduce/{op}-{dt}-dynk", op, [I(data(dt, (2, 3, 4), 121, -1.2, 1.2), q(dt)), I(np.array([0, 2], np.int32))], [O(dt, q(dt))], ("ReducerOptions", dict(keepDims=True)), open_=False)
                case(f"reduce/{op}-{dt}-scalar", op, [I(data(dt, (2, 3, 4), 122, -1.2, 1.2), q(dt)), i32(1).with_shape(())], [O(dt, q(dt))], ("ReducerOptions", dict(keepDims=False)))


def recurrent():
    r = rng(130)
    def w(kind, shape, scale=0.5):
        if kind == "f32": return K(r.uniform(-scale, scale, shape).astype(np.float32))
        return K(r.integers(-127, 128, shape).astype(np.int8), (scale / 127, 0))
    for kind in ("f32", "i8"):
        for asym in (False, True):
            if kind == "f32" and asym: continue
            for act in (RELU, TANH, NONE):
                tag = f"{kind}{'a' if asym else ''}-act{act}"
                case(f"rnn/RNN-{tag}", "RNN", [I(data("f32", (2, 4), 131)), w(kind, (3, 4)), w(kind, (3, 3)), K(data("f32", (3,), 132)), V("f32", (2, 3))], [O()], ("RNNOptions", dict(fusedActivationFunction=act, asymmetricQuantizeInputs=asym)), open_=False, rtol=1e-3, atol=1e-4)
                for tm in (False, True):
                    x = data("f32", (5, 2, 4) if tm else (2, 5, 4), 133)
                    case(f"rnn/SEQ_RNN-{tag}-{tm}", "UNIDIRECTIONAL_SEQUENCE_RNN", [I(x), w(kind, (3, 4)), w(kind, (3, 3)), K(data("f32", (3,), 132)), V("f32", (2, 3))], [O()], ("SequenceRNNOptions", dict(timeMajor=tm, fusedActivationFunction=act, asymmetricQuantizeInputs=asym)), open_=False, rtol=1e-3, atol=1e-4)
                    for merge in (False, True):
                        side = lambda: [w(kind, (3, 4)), w(kind, (3, 3)), K(data("f32", (3,), 132)), V("f32", (2, 3))]
                        case(f"rnn/BI_RNN-{tag}-{tm}-{merge}", "BIDIRECTIONAL_SEQUENCE_RNN", [I(x)] + side() + side() + [None, None, None], [O()] if merge else [O(), O()], ("BidirectionalSequenceRNNOptions", dict(timeMajor=tm, mergeOutputs=merge, fusedActivationFunction=act, asymmetricQuantizeInputs=asym)), open_=False, rtol=1e-3, atol=1e-4)
                    if merge:
                        side = lambda: [w(kind, (3, 4)), w(kind, (3, 3)), K(data("f32", (3,), 132)), V("f32", (2, 3))]
                        case(f"rnn/BI_RNN-aux-{tag}-{tm}", "BIDIRECTIONAL_SEQUENCE_RNN", [I(x)] + side() + side() + [I(data("f32", x.shape[:2] + (2,), 139)), w(kind, (3, 2)), w(kind, (3, 2))], [O()], ("BidirectionalSequenceRNNOptions", dict(timeMajor=tm, mergeOutputs=True, fusedActivationFunction=act, asymmetricQuantizeInputs=asym)), open_=False, rtol=1e-3, atol=1e-4)
                case(f"rnn/SVDF-{tag}", "SVDF", [I(data("f32", (2, 4), 134)), w(kind, (6, 4)), (K(data("f32", (6, 5), 135)) if kind == "f32" else w(kind, (6, 5))), K(data("f32", (3,), 136)), V("f32", (2, 30))], [O()], ("SVDFOptions", dict(rank=2, fusedActivationFunction=act, asymmetricQuantizeInputs=asym)), open_=False, rtol=1e-3, atol=1e-4)
    for st in ("i16", "i8"):
        case(f"rnn/SVDF-{st}", "SVDF", [I(data("i8", (2, 4), 134), (0.02, 4)), K(r.integers(-127, 128, (6, 4)).astype(np.int8), (0.01, 0)), K(data(st, (6, 5), 135), (0.001 if st == "i16" else 0.02, 0)), K(r.integers(-500, 500, 3).astype(np.int32), (0.0001, 0)), V(st, (2, 30), (0.0005 if st == "i16" else 0.03, 0))], [O("i8", (0.1, -9))], ("SVDFOptions", dict(rank=2, fusedActivationFunction=RELU)), open_=False)
    lstms(r, w)


def lstms(r, w):
    def parts(kind, cifg, peep, proj, pbias, norm, n_in=4, n_cell=5, n_out=None):
        n_out = n_out or (3 if proj else n_cell)
        wi = [None if cifg and g == 0 else w(kind, (n_cell, n_in)) for g in range(4)]
        wr = [None if cifg and g == 0 else w(kind, (n_cell, n_out)) for g in range(4)]
        pe = [w(kind, (n_cell,)) if peep and not (cifg and g == 0) else None for g in range(3)]
        bi = [None if cifg and g == 0 else K(r.uniform(-.5, .5, n_cell).astype(np.float32)) for g in range(4)]
        pr = [w(kind, (n_out, n_cell)) if proj else None, K(r.uniform(-.2, .2, n_out).astype(np.float32)) if pbias else None]
        no = [None if (cifg and g == 0) or not norm else K(r.uniform(.5, 1.5, n_cell).astype(np.float32)) for g in range(4)]
        return wi, wr, pe, bi, pr, no, n_cell, n_out
    for kind, asym in (("f32", False), ("i8", False), ("i8", True)):
        for cifg, peep, proj, pbias, norm in itertools.product((False, True), repeat=5):
            if pbias and not proj: continue
            wi, wr, pe, bi, pr, no, nc, no_ = parts(kind, cifg, peep, proj, pbias, norm)
            tag = f"{kind}{'a' if asym else ''}-{''.join(str(int(v)) for v in (cifg, peep, proj, pbias, norm))}"
            for tm in (False, True):
                x = data("f32", (6, 2, 4) if tm else (2, 6, 4), 140)
                ins = [I(x)] + wi + wr + pe + bi + pr + [V("f32", (2, no_)), V("f32", (2, nc))] + no
                case(f"rnn/LSTM-{tag}-{int(tm)}", "UNIDIRECTIONAL_SEQUENCE_LSTM", ins, [O()], ("UnidirectionalSequenceLSTMOptions", dict(fusedActivationFunction=TANH, cellClip=1.5 if peep else 0.0, projClip=0.4 if pbias else 0.0, timeMajor=tm, asymmetricQuantizeInputs=asym)), open_=False, rtol=1e-3, atol=2e-4)
            ins = [I(data("f32", (2, 4), 140))] + wi + wr + pe + bi + pr + [V("f32", (2, no_)), V("f32", (2, nc))] + no
            case(f"rnn/LSTM1-{tag}", "LSTM", ins, [O()], ("LSTMOptions", dict(fusedActivationFunction=TANH, cellClip=1.5 if peep else 0.0, projClip=0.4 if pbias else 0.0, asymmetricQuantizeInputs=asym)), open_=False, rtol=1e-3, atol=2e-4)
            if not norm:
                for tm, merge, aux in ((False, False, 0), (True, True, 0), (False, True, 1), (False, True, 2)):
                    x = data("f32", (6, 2, 4) if tm else (2, 6, 4), 140); sides = []
                    for _ in range(2):
                        a = parts(kind, cifg, peep, proj, pbias, False); sides.append(a[0] + a[1] + a[2] + a[3] + a[4])
                    states = [V("f32", (2, no_)), V("f32", (2, nc)), V("f32", (2, no_)), V("f32", (2, nc))]
                    auxs = [None] * 9
                    if aux:  # 1: the backward layer reads it instead; 2: both read it beside the input
                        ax = lambda: [None if cifg and g == 0 else w(kind, (nc, 4)) for g in range(4)]
                        auxs = [I(data("f32", x.shape, 141))] + (ax() + ax() if aux == 2 else [None] * 8)
                    case(f"rnn/BILSTM-{tag}-{int(tm)}{int(merge)}{aux}", "BIDIRECTIONAL_SEQUENCE_LSTM", [I(x)] + sides[0] + sides[1] + states + auxs, [O()] if merge else [O(), O()], ("BidirectionalSequenceLSTMOptions", dict(fusedActivationFunction=TANH, timeMajor=tm, mergeOutputs=merge, asymmetricQuantizeInputs=asym)), open_=False, rtol=1e-3, atol=2e-4)
    quantised_lstms(r)


def quantised_lstms(r):
    for cifg, peep, proj, norm in itertools.product((False, True), repeat=4):
        n_in, nc = 5, 4
        no_ = 3 if proj else nc
        wq = lambda shape: K(r.integers(-127, 128, shape).astype(np.int8), (0.006, 0))
        xq, hq, cq, hid = (0.01, 2), (0.007, -3), (2.0**-11, 0), (0.0072, -5)
        skip = lambda g: cifg and g == 0
        wi = [None if skip(g) else wq((nc, n_in)) for g in range(4)]; wr = [None if skip(g) else wq((nc, no_)) for g in range(4)]
        pe = [K(r.integers(-20000, 20000, (nc,)).astype(np.int16), (2.0**-15, 0)) if peep and not skip(g) else None for g in range(3)]
        bscale = (2.0**-20, 0) if norm else (0.01 * 0.006, 0)
        bi = [None if skip(g) else K(r.integers(-3000, 3000, (nc,)).astype(np.int32) * (100 if norm else 1), bscale) for g in range(4)]
        pr = [wq((no_, nc)) if proj else None, K(r.integers(-300, 300, no_).astype(np.int32), (0.0072 * 0.006, 0)) if proj else None]
        ns = [None if skip(g) or not norm else K(r.integers(9000, 20000, (nc,)).astype(np.int16), (0.00005, 0)) for g in range(4)]
        between = [T(None, "out", "i16", (0.0003 if norm else 2.0**-12, 0), shape=[]) for _ in range(4)] + [T(None, "out", "i8", hid if proj else hq, shape=[])]
        x = data("i8", (2, 6, n_in), 150)
        ins = [I(x, xq)] + wi + wr + pe + bi + pr + [V("i8", (2, no_), hq), V("i16", (2, nc), cq)] + ns
        tag = "".join(str(int(v)) for v in (cifg, peep, proj, norm))
        case(f"rnn/QLSTM-{tag}", "UNIDIRECTIONAL_SEQUENCE_LSTM", ins, [O("i8", hq)], ("UnidirectionalSequenceLSTMOptions", dict(fusedActivationFunction=TANH, cellClip=2.0 if peep else 0.0)), between=between, open_=False, keep=tag in ("0110", "1011"))


def add_all(part):
    T.with_shape = lambda self, shape: (setattr(self, "shape", list(shape)), setattr(self, "value", self.value.reshape(shape)), self)[2]
    parts = dict(unary=unary, casts=casts, binary=binary, convolutions=convolutions, matrices=matrices, pools=pools, moves=moves, indices=indices, reductions=reductions, recurrent=recurrent)
    for more in ("make_tflite_graphs",):
        try: parts.update(__import__(more).PARTS)
        except ImportError: pass
    for name, add in parts.items():
        if not part or name in part.split(","): add()
