"""The rows of make_tensorflow.py: operators, inputs, attributes. X(kind, dims) is an input of the row's dtype, I of a dtype of its own,
K a constant of the graph; C one of a kind."""
import numpy as np
import tensorflow as tf
from make_tensorflow import COMPLEX, INTS, REAL, In, Row, values

ROWS = []
FLOATS = ["float32", "float64", "float16", "bfloat16"]
SINGLE = ["float32", "float64"]
NUMBERS = FLOATS + INTS
ALL = NUMBERS + ["bool"]
r, v1 = tf.raw_ops, tf.compat.v1


def X(*shape, kind="n"):
    return In(lambda rng, dtype: values(rng, kind, shape, dtype))


def C(*shape, kind="n"):
    return In(lambda rng, dtype: values(rng, kind, shape, dtype), None, True)


def I(data, dtype="int32"):
    return In(lambda rng, _: np.array(data, tf.as_dtype(dtype).as_numpy_dtype if dtype != "string" else object), dtype)


def L(data, dtype="int32"):
    """As I; its extents, which decide ranks, are always known."""
    return In(lambda rng, _: np.array(data, tf.as_dtype(dtype).as_numpy_dtype), dtype, fixed=True)


def K(data, dtype="int32"):
    return In(lambda rng, _: np.array(data, tf.as_dtype(dtype).as_numpy_dtype if dtype != "string" else object), dtype, True)


def KT(data):
    return In(lambda rng, dtype: np.array(data, tf.as_dtype(dtype).as_numpy_dtype), None, True)


def XT(data):
    return In(lambda rng, dtype: np.array(data, tf.as_dtype(dtype).as_numpy_dtype))


def R(low, high, *shape, dtype="int32", constant=False):
    return In(lambda rng, _: rng.integers(low, high, shape).astype(dtype), dtype, constant)


def F(*shape, kind="n", dtype="float32"):
    return In(lambda rng, _: values(rng, kind, shape, dtype), dtype)


def S(*shape):
    """Matrices that are symmetric and positive."""
    def make(rng, dtype):
        a = values(rng, "n", shape, dtype)
        if not np.iscomplexobj(a):
            a = a.astype("float64")
        return (a @ np.conj(np.swapaxes(a, -1, -2)) + 3 * np.eye(shape[-1])).astype(tf.as_dtype(dtype).as_numpy_dtype)
    return In(make)


def op(name, *inputs, dt=None, o=True, rtol=None, atol=None, keep=False, run=None, shapes_only=False, steps=0, **attrs):
    ROWS.append(Row(name, list(inputs), attrs, dt or ["float32"], run, o, rtol, atol, keep, shapes_only, steps))


def rows():
    return ROWS


# --- elementwise ---
for n, kind, dt in [("Abs", "n", FLOATS + ["int8", "int16", "int32", "int64"]), ("Acos", "s", FLOATS), ("Acosh", "g", FLOATS), ("Asin", "s", FLOATS),
                    ("Asinh", "n", FLOATS), ("Atan", "n", FLOATS), ("Atanh", "s", FLOATS), ("BesselI0e", "n", FLOATS), ("BesselI1e", "n", FLOATS),
                    ("BesselI0", "n", SINGLE), ("BesselI1", "n", SINGLE), ("BesselJ0", "n", SINGLE), ("BesselJ1", "n", SINGLE), ("BesselY0", "p", SINGLE),
                    ("BesselY1", "p", SINGLE), ("BesselK0", "p", SINGLE), ("BesselK1", "p", SINGLE), ("BesselK0e", "p", SINGLE), ("BesselK1e", "p", SINGLE),
                    ("Ceil", "n", FLOATS), ("Cos", "n", FLOATS + COMPLEX), ("Cosh", "n", FLOATS + COMPLEX), ("Digamma", "p", FLOATS), ("Elu", "n", FLOATS),
                    ("Erf", "n", FLOATS), ("Erfc", "n", FLOATS), ("Erfinv", "s", SINGLE), ("Exp", "n", FLOATS + COMPLEX), ("Expm1", "n", FLOATS + COMPLEX),
                    ("Floor", "n", FLOATS), ("Inv", "p", FLOATS), ("IsFinite", "x", FLOATS), ("IsInf", "x", FLOATS), ("IsNan", "x", FLOATS),
                    ("Lgamma", "p", FLOATS), ("Log", "p", FLOATS + COMPLEX), ("Log1p", "p", FLOATS + COMPLEX), ("LogSoftmax", "n", FLOATS), ("Ndtri", "u", SINGLE),
                    ("Neg", "n", FLOATS + ["int8", "int16", "int32", "int64"] + COMPLEX), ("Reciprocal", "p", FLOATS + COMPLEX), ("Relu", "n", NUMBERS),
                    ("Relu6", "n", NUMBERS), ("Rint", "x", FLOATS), ("Round", "x", FLOATS), ("Rsqrt", "p", FLOATS + COMPLEX),
                    ("Selu", "n", FLOATS), ("Sigmoid", "n", FLOATS + COMPLEX), ("Sign", "z", FLOATS + ["int32", "int64"] + COMPLEX),
                    ("Sin", "n", FLOATS + COMPLEX), ("Sinh", "n", FLOATS + COMPLEX), ("Softmax", "n", FLOATS), ("Softplus", "n", FLOATS),
                    ("Softsign", "n", FLOATS), ("Sqrt", "p", FLOATS + COMPLEX), ("Square", "n", FLOATS + ["int32", "int64"] + COMPLEX),
                    ("Tan", "s", FLOATS + COMPLEX), ("Tanh", "n", FLOATS + COMPLEX), ("L2Loss", "n", FLOATS), ("Dawsn", "n", SINGLE), ("Expint", "p", SINGLE),
                    ("FresnelCos", "n", SINGLE), ("FresnelSin", "n", SINGLE), ("Spence", "p", SINGLE)]:
    op(n, X(3, 5, kind=kind), dt=dt, keep=n in ("Lgamma", "Digamma", "Round", "Erfinv", "BesselI0e"))
    if n not in ("Softmax", "LogSoftmax"):
        op(n, X(kind=kind), dt=dt[:1])
    op(n, X(0, 3, kind=kind), dt=dt[:1])
for n in ("Round", "Rint", "Sign", "Relu", "Relu6", "Abs", "Ceil", "Floor", "Exp", "Tanh", "Sigmoid", "Softplus", "Elu", "Selu", "Sqrt", "Log", "Erf", "Square",
          "Softsign", "Atan", "Neg", "Lgamma", "Erfc", "Expm1", "Log1p", "Digamma"):
    op(n, X(4, 12, kind="x"), o=False, dt=SINGLE)
for n in ("Lgamma", "Digamma"):
    op(n, XT([-0.5, -1.5, -2.3, 0.1, 30.0, 100.0, 1e-3, 1.0, 2.0]), dt=SINGLE, o=False)
op("LogicalNot", X(3, 4), dt=["bool"])
op("LogicalAnd", X(3, 4), X(1, 4), dt=["bool"])
op("LogicalOr", X(3, 4), X(4), dt=["bool"])
op("Invert", X(3, 4), dt=INTS)
op("PopulationCount", X(3, 4), dt=INTS)
op("Softmax", X(2, 3, 4), dt=FLOATS)
op("Softmax", X(2, 3, 4, 2, 2))
op("LogSoftmax", X(2, 3, 4))
op("LeakyRelu", X(3, 4), alpha=0.3, dt=FLOATS)
op("LeakyRelu", X(3, 4))
op("LeakyRelu", X(3, 4), alpha=1.7)
for n, kind, dt in [("Add", "n", NUMBERS + COMPLEX), ("AddV2", "n", NUMBERS + COMPLEX), ("Sub", "n", NUMBERS + COMPLEX), ("Mul", "n", NUMBERS + COMPLEX),
                    ("Div", "p", NUMBERS + COMPLEX), ("RealDiv", "p", FLOATS + COMPLEX), ("DivNoNan", "z", FLOATS + COMPLEX), ("FloorDiv", "p", NUMBERS),
                    ("FloorMod", "p", NUMBERS), ("Mod", "p", FLOATS + ["int32", "int64"]), ("TruncateDiv", "p", INTS), ("TruncateMod", "p", FLOATS + ["int32", "int64"]),
                    ("Maximum", "n", NUMBERS), ("Minimum", "n", NUMBERS), ("Pow", "p", FLOATS + ["int32", "int64"] + COMPLEX),
                    ("SquaredDifference", "n", FLOATS + ["int32", "int64"] + COMPLEX), ("Atan2", "n", FLOATS), ("Xdivy", "z", FLOATS + COMPLEX),
                    ("Xlogy", "p", FLOATS + COMPLEX), ("Xlog1py", "p", FLOATS + COMPLEX), ("MulNoNan", "z", FLOATS + COMPLEX), ("Equal", "n", ALL + COMPLEX),
                    ("NotEqual", "n", ALL + COMPLEX), ("Less", "n", NUMBERS), ("LessEqual", "n", NUMBERS), ("Greater", "n", NUMBERS), ("GreaterEqual", "n", NUMBERS),
                    ("ApproximateEqual", "z", FLOATS), ("Complex", "n", SINGLE), ("BitwiseAnd", "n", INTS), ("BitwiseOr", "n", INTS), ("BitwiseXor", "n", INTS),
                    ("LeftShift", "u", INTS), ("RightShift", "u", INTS), ("Igamma", "p", SINGLE), ("Igammac", "p", SINGLE), ("Zeta", "g", SINGLE),
                    ("Polygamma", "p", SINGLE), ("NextAfter", "n", SINGLE)]:
    if n == "Polygamma":
        op(n, XT([[0.0, 1.0, 2.0, 3.0]]), X(3, 4, kind="p"), dt=dt)
        continue
    same = n in ("ApproximateEqual",)
    op(n, X(3, 4, kind=kind), X(3, 4, kind=kind), dt=dt, keep=n in ("FloorMod", "TruncateMod", "Xlog1py", "Pow"))
    op(n, X(2, 1, 4, kind=kind), X(*(2, 1, 4) if same else (3, 1), kind=kind), dt=dt[:1])
    op(n, X(3, 4, kind=kind), X(*(3, 4) if same else (), kind=kind), dt=dt[:1])
    op(n, X(0, 4, kind=kind), X(*(0, 4) if same else (4,), kind=kind), dt=dt[:1])
for n in ("FloorDiv", "FloorMod", "TruncateDiv", "TruncateMod", "Mod", "Div"):
    op(n, XT([7, -7, 7, -7, 0, 6]), XT([3, 3, -3, -3, 5, -6]), dt=["int32", "int64"] + ([] if n == "TruncateDiv" else SINGLE), o=False, keep=True)
for n in ("Maximum", "Minimum", "Less", "Equal", "FloorMod", "DivNoNan", "MulNoNan", "Xlogy", "Xdivy", "Atan2", "Pow", "SquaredDifference", "FloorDiv", "RealDiv"):
    op(n, X(6, 6, kind="x"), X(6, 6, kind="x"), o=False, dt=SINGLE)
op("Pow", XT([2, 3, -2, 0]), XT([3, 0, 3, 0]), dt=["int32", "int64"], o=False)
op("Pow", XT([2.0, -3, -2, 0, 0]), XT([3.0, 2, 3, 0, 2]), o=False)
op("ApproximateEqual", XT([1.0, 2, 3]), XT([1.001, 2.5, 3]), tolerance=0.01)
op("Equal", X(3, 4), X(3, 1), incompatible_shape_error=True, dt=["int32"])
for n in ("Relu", "Elu", "Selu"):
    op(n + "Grad", X(3, 4), X(3, 4, kind="p"), dt=FLOATS)
for n in ("Relu6Grad", "LeakyReluGrad", "SoftplusGrad", "SoftsignGrad", "SigmoidGrad", "TanhGrad", "SqrtGrad", "RsqrtGrad", "InvGrad", "ReciprocalGrad"):
    op(n, X(3, 4, kind="p"), X(3, 4, kind="p"), dt=FLOATS)
op("AddN", [X(2, 3), X(2, 3), X(2, 3)], dt=NUMBERS + COMPLEX)
op("AddN", [X(2, 3)])
op("AccumulateNV2", [X(2, 3), X(2, 3)], shape=[2, 3], o=False)
op("ClipByValue", X(3, 4), KT(-1), KT(1), dt=FLOATS + ["int8", "int32", "int64"])
op("ClipByValue", X(3, 4), X(3, 4, kind="s"), X(3, 4, kind="p"))
op("Cast", X(3, 4), dt=FLOATS + INTS + ["bool"] + COMPLEX, DstT="float32")
op("Cast", X(3, 4), dt=FLOATS + INTS + ["bool"], DstT="int32")
op("Cast", X(3, 4), dt=FLOATS + INTS + ["bool"], DstT="bool")
op("Cast", X(3, 4), dt=FLOATS + INTS + ["bool"], DstT="complex64")
op("Cast", XT([1.5, -1.5, 200.7, -3.9, 0.0]), DstT="int8", o=False)
op("Cast", XT([1.5, 100.7, 3.9, 0.0]), DstT="uint8", o=False)
op("Cast", XT([300, -1, 256, 127]), dt=["int32"], DstT="uint8", o=False, keep=True)
op("Cast", XT([1e9, 1.5e10]), dt=["float64"], DstT="int64", o=False)
for d in FLOATS + ["int64", "uint8", "int16", "uint32"]:
    op("Cast", X(3, 4, kind="p"), DstT=d, o=False)
op("Bitcast", X(2, 3), type="int32")
op("Bitcast", X(2, 3), type="uint8")
op("Bitcast", R(0, 255, 2, 4, dtype="uint8"), type="float32", o=False)
op("Bitcast", X(2, 3), type="float32", dt=["int32"])
op("Bitcast", X(3, 2), type="int64", dt=["int32"])
for n in ("Real", "Imag", "ComplexAbs", "Angle"):
    op(n, X(3, 4), dt=COMPLEX, **({"Tout": tf.float32} if n != "ComplexAbs" else {}), o=False) if n == "ComplexAbs" else \
        op(n, X(3, 4), dt=COMPLEX[:1], Tout=tf.float32)
op("Conj", X(3, 4), dt=COMPLEX)
op("BroadcastArgs", L([2, 1, 3]), L([4, 1]), dt=["int32"])
op("BroadcastGradientArgs", I([2, 1, 3]), I([4, 1]), dt=["int32"], o=False)
op("BroadcastGradientArgs", K([2, 1, 3]), K([4, 1]), dt=["int32"], o=False)
op("BroadcastTo", X(3, 1), K([2, 3, 4]), dt=ALL)
op("BroadcastTo", X(3, 1), L([2, 3, 4]))
op("BroadcastTo", X(), K([2, 3]))
op("Bucketize", X(3, 4), boundaries=[-1.0, 0.0, 2.0], dt=["float32", "float64", "int32", "int64"])
op("Bucketize", X(3, 4), boundaries=[])
op("CheckNumerics", X(3, 4), message="m", dt=FLOATS)
op("CheckNumericsV2", X(3, 4), message="m")
op("Snapshot", X(3, 4))
op("Identity", X(3, 4), dt=ALL)
op("IdentityN", [X(3, 4), I([1, 2])])
op("GuaranteeConst", X(3, 4))
op("PreventGradient", X(3, 4), message="m")
op("StopGradient", X(3, 4))
op("DebugGradientIdentity", X(3, 4))
op("OnesLike", X(3, 4), dt=ALL + COMPLEX)
op("ZerosLike", X(3, 4), dt=ALL + COMPLEX)
op("EnsureShape", X(3, 4), shape=[None, 4])
op("EnsureShape", X(3, 4), shape=[3, 4])
op("DeepCopy", X(3, 4))
op("Print", X(3, 4), [X(2)])
op("PlaceholderWithDefault", C(3, 4), shape=[3, 4])
op("PlaceholderWithDefault", C(3, 4), shape=[None, 4])

# --- shapes ---
op("Shape", X(3, 4), dt=["float32", "int64", "bool"])
op("Shape", X(3, 4), out_type="int64")
op("Shape", X())
op("ShapeN", [X(3, 4), X(2)])
op("Size", X(3, 4))
op("Size", X(3, 4), out_type="int64")
op("Size", X(0, 4))
op("Rank", X(3, 4))
op("Reshape", X(3, 4), K([2, 6]), dt=ALL + COMPLEX)
op("Reshape", X(3, 4), K([-1, 2]))
op("Reshape", X(3, 4), L([-1, 2]))
op("Reshape", X(3, 4), L([12]))
op("Reshape", X(0, 4), K([4, -1]))
op("Reshape", X(1), K([], "int32"))
op("Reshape", X(3, 4), K([4, 3], "int64"))
op("ExpandDims", X(3, 4), K(0), dt=ALL)
op("ExpandDims", X(3, 4), K(-1))
op("ExpandDims", X(3, 4), K([1]))
op("ExpandDims", X(), K(0))
op("Squeeze", X(3, 1, 4, 1))
op("Squeeze", X(3, 1, 4, 1), axis=[1])
op("Squeeze", X(3, 1, 4, 1), axis=[-1, 1], dt=ALL)
op("Squeeze", X(1, 1), axis=[])
op("Transpose", X(2, 3, 4), K([2, 0, 1]), dt=ALL + COMPLEX)
op("Transpose", X(2, 3, 4), I([2, 0, 1]))
op("Transpose", X(2, 3, 4), K([-1, 0, 1]))
op("Transpose", X(), K(np.zeros(0)))
op("ConjugateTranspose", X(2, 3, 4), K([2, 0, 1]), dt=["float32"] + COMPLEX)
op("InvertPermutation", I([2, 0, 1]), dt=["int32"])
op("InvertPermutation", I([2, 0, 1], "int64"))
op("Pack", [X(2, 3), X(2, 3)], axis=1, dt=ALL + COMPLEX)
op("Pack", [X(2, 3), X(2, 3)], axis=-1)
op("Pack", [X(), X(), X()], axis=0)
op("Pack", [X(2)], axis=-2)
op("ParallelConcat", [X(1, 3), X(1, 3)], shape=[2, 3], o=False)
op("Unpack", X(2, 3), num=2, dt=ALL)
op("Unpack", X(2, 3), num=3, axis=-1)
op("Unpack", X(2, 3, 1), num=1, axis=2)
op("Concat", K(1), [X(2, 3), X(2, 1)])
op("ConcatV2", [X(2, 3), X(2, 1)], K(1), dt=ALL + COMPLEX)
op("ConcatV2", [X(2, 3), X(2, 1)], K(-1))
op("ConcatV2", [X(2, 3), X(0, 3)], K(0))
op("ConcatV2", [X(2, 3), X(2, 3)], I(1))
op("ConcatV2", [X(2, 3), X(2, 3)], K(-2, "int64"))
op("ConcatOffset", K(1), [K([2, 3]), K([2, 1])], o=False)
op("Split", K(1), X(4, 6), num_split=3, dt=ALL + COMPLEX)
op("Split", K(-2), X(4, 6), num_split=2)
op("Split", K(0), X(4, 6), num_split=1)
op("SplitV", X(4, 6), K([1, 2, 3]), K(1), num_split=3, dt=ALL)
op("SplitV", X(4, 6), K([1, -1, 3], "int64"), K(-1), num_split=3)
op("SplitV", X(4, 6), I([1, 2, 3]), K(1), num_split=3)
op("Tile", X(2, 3), K([2, 1]), dt=ALL + COMPLEX)
op("Tile", X(2, 3), L([2, 2]))
op("Tile", X(2, 3), K([0, 2], "int64"))
op("Tile", X(), K(np.zeros(0)))
op("Fill", K([2, 3]), X(), dt=ALL)
op("Fill", L([2, 3]), X())
op("Fill", K([2, 3], "int64"), KT(2.5))
op("Fill", K(np.zeros(0)), X())
op("Range", K(0), K(10), K(3), o=False)
op("Range", I(0), I(10), I(3), dt=["int32"])
op("Range", I(5, "int64"), I(-5, "int64"), I(-2, "int64"))
op("Range", XT(0.5), XT(3.0), XT(0.4), dt=SINGLE)
op("LinSpace", XT(0.5), XT(3.0), K(5), dt=SINGLE)
op("LinSpace", XT(0.5), XT(3.0), K(1))
op("LinSpace", XT(0.5), XT(3.0), I(4))
op("Empty", K([2, 3]), dtype="float32", init=True, o=False)
op("Pad", X(2, 3), K([[1, 0], [2, 1]]), dt=ALL + COMPLEX)
op("Pad", X(2, 3), L([[1, 0], [2, 1]]))
op("Pad", X(2, 3), K([[0, 0], [0, 0]], "int64"))
op("PadV2", X(2, 3), K([[1, 0], [2, 1]]), KT(7), dt=NUMBERS)
op("PadV2", X(2, 3), K([[1, 0], [2, 1]]), X())
for m in ("REFLECT", "SYMMETRIC"):
    op("MirrorPad", X(3, 4), K([[1, 2], [2, 1]]), mode=m, dt=NUMBERS)
    op("MirrorPad", X(1, 3, 4, 2), K([[0, 0], [1, 1], [2, 2], [0, 0]], "int64"), mode=m)
op("Reverse", X(2, 3), K([True, False], "bool"), o=False)
op("ReverseV2", X(2, 3), K([1]), dt=ALL + COMPLEX)
op("ReverseV2", X(2, 3), K([0, -1], "int64"))
op("ReverseV2", X(2, 3), K(np.zeros(0)))
op("ReverseSequence", X(3, 5, 2), I([2, 5, 0]), seq_dim=1, batch_dim=0, dt=ALL)
op("ReverseSequence", X(5, 3, 2), I([2, 5, 1], "int64"), seq_dim=0, batch_dim=1)
op("Roll", X(4, 5), K([1, -2]), K([0, 1]), dt=ALL)
op("Roll", X(4, 5), K(3), K(-1))
op("Roll", X(4, 5), I(7), K(1))
op("Roll", X(4, 5), I([1, 2]), K([1, 1], "int64"))
op("Diag", X(3), dt=FLOATS + ["int32", "int64"])
op("Diag", X(2, 3))
op("DiagPart", X(3, 3), dt=FLOATS + ["int32", "int64"])
op("DiagPart", X(2, 3, 2, 3))
op("MatrixBandPart", X(2, 4, 5), K(1, "int64"), K(0, "int64"), dt=ALL)
op("MatrixBandPart", X(4, 5), K(-1, "int64"), K(2, "int64"))
op("MatrixBandPart", X(4, 5), I(2, "int64"), I(-1, "int64"))
op("BatchMatrixBandPart", X(4, 5), K(-1, "int64"), K(2, "int64"))
op("BatchMatrixDiag", X(2, 3), run=lambda x: r.BatchMatrixDiag(diagonal=x))
op("BatchMatrixDiagPart", X(2, 3, 3))
op("BatchMatrixSetDiag", X(2, 3, 4), X(2, 3))
op("MatrixDiag", X(2, 3), dt=ALL)
op("MatrixDiagPart", X(2, 3, 4), dt=ALL)
op("MatrixDiagV2", X(2, 3), K(1), K(-1), K(-1), KT(5))
op("MatrixDiagV3", X(2, 2, 3), K([0, 1]), K(3), K(4), KT(9), dt=NUMBERS)
op("MatrixDiagV3", X(2, 2, 3), K([-1, 0]), K(-1), K(-1), KT(9), align="LEFT_RIGHT")
op("MatrixDiagPartV2", X(2, 3, 4), K([-1, 1]), KT(9))
op("MatrixDiagPartV3", X(2, 3, 4), K([-1, 2]), KT(9), dt=NUMBERS)
op("MatrixDiagPartV3", X(2, 3, 4), K(1), KT(9), align="LEFT_LEFT")
op("MatrixSetDiag", X(2, 3, 4), X(2, 3), dt=ALL)
op("MatrixSetDiagV2", X(2, 3, 4), X(2, 3), K(0))
op("MatrixSetDiagV3", X(2, 3, 4), X(2, 2, 3), K([0, 1]), align="LEFT_RIGHT")
op("BatchToSpace", X(4, 2, 2, 3), K([[0, 0], [0, 1]]), block_size=2)
op("BatchToSpaceND", X(4, 2, 2, 3), K([2, 2]), K([[0, 0], [1, 0]]), dt=NUMBERS)
op("BatchToSpaceND", X(6, 2, 2), K([3]), K([[1, 2]]))
op("SpaceToBatch", X(1, 4, 3, 2), K([[0, 0], [0, 1]]), block_size=2)
op("SpaceToBatchND", X(1, 4, 3, 2), K([2, 2]), K([[1, 1], [0, 1]]), dt=NUMBERS)
op("SpaceToBatchND", X(2, 5, 3), K([2]), K([[0, 1]], "int64"))
op("SpaceToDepth", X(1, 4, 6, 2), block_size=2, dt=FLOATS + ["int32", "uint8"])
op("DepthToSpace", X(1, 2, 3, 8), block_size=2, dt=FLOATS + ["int32", "uint8"])
op("UnravelIndex", I([5, 7, 0]), K([2, 5]), o=True)
op("UnravelIndex", I(5, "int64"), K([2, 5], "int64"))
op("Slice", X(3, 4), K([1, 0]), K([2, 3]), dt=ALL + COMPLEX)
op("Slice", X(3, 4), K([1, 0]), K([-1, 2]))
op("Slice", X(3, 4), L([1, 0]), L([2, 3]))
op("Slice", X(3, 4), L([1, 0]), K([-1, 2]))
op("Slice", X(3, 4), L([1, 0]), L([-1, 2]))
A = dict(begin_mask=0, end_mask=0, ellipsis_mask=0, new_axis_mask=0, shrink_axis_mask=0)
op("StridedSlice", X(4, 5), K([1, 0]), K([3, 4]), K([1, 2]), **A, dt=ALL + COMPLEX)
for b, e, s, masks in [([3], [0], [-1], {}), ([1, -1], [0, -4], [1, -2], {"end_mask": 1}), ([0, 2], [0, 3], [1, 1], {"ellipsis_mask": 1, "shrink_axis_mask": 2}),
                       ([0, 0, 1], [0, 0, 4], [1, 1, 1], {"new_axis_mask": 1, "begin_mask": 2, "end_mask": 2}), ([2], [3], [1], {"shrink_axis_mask": 1}),
                       ([-1], [0], [1], {"shrink_axis_mask": 1}), ([5], [10], [1], {}), ([-9], [9], [3], {}), ([0, 0], [0, 0], [-1, 1], {"begin_mask": 1, "end_mask": 3}),
                       ([2, 0, 0], [3, 0, 0], [1, 1, 1], {"shrink_axis_mask": 1, "new_axis_mask": 2, "ellipsis_mask": 4})]:
    op("StridedSlice", X(4, 5), K(b), K(e), K(s), **(A | masks), keep=True)
    op("StridedSlice", X(4, 5), L(b), L(e), K(s), **(A | masks))
op("StridedSliceGrad", K([4, 5]), K([1, 0]), K([3, 4]), K([1, 2]), X(2, 2))
op("TensorStridedSliceUpdate", X(4, 5), K([1, 0]), K([3, 4]), K([1, 2]), X(2, 2))
op("TensorStridedSliceUpdate", X(4, 5), K([3]), K([0]), K([-1]), X(3, 5))
op("Where", X(3, 4, kind="z"), dt=["float32", "bool", "int32"])
op("Where", X(2, 2, 3), dt=["bool"])
op("Where", X(0, 3), dt=["bool"])
op("Select", I([[True, False], [False, True]], "bool"), X(2, 2), X(2, 2), dt=ALL)
op("Select", I([True, False], "bool"), X(2, 3), X(2, 3))
op("Select", I(True, "bool"), X(2, 3), X(2, 3))
op("SelectV2", I([True, False, True], "bool"), X(2, 3), X(2, 1), dt=ALL + COMPLEX)
op("SelectV2", I(True, "bool"), X(2, 3), X())

# --- reductions ---
for n, dt in [("Sum", NUMBERS + COMPLEX), ("Mean", NUMBERS + COMPLEX), ("Max", NUMBERS), ("Min", NUMBERS), ("Prod", NUMBERS), ("All", ["bool"]), ("Any", ["bool"]),
              ("EuclideanNorm", FLOATS + ["int32"] + COMPLEX)]:
    op(n, X(2, 3, 4), K([1]), dt=dt)
    op(n, X(2, 3, 4), K([0, -1]), dt=dt[:1], keep_dims=True)
    op(n, X(2, 3, 4), K(-1, "int64"), dt=dt[:1])
    op(n, X(2, 3, 4), K(np.zeros(0)), dt=dt[:1])
    op(n, X(2, 3, 4), K([0, 1, 2]), dt=dt[:1])
    op(n, X(2, 3, 4), I([1]), dt=dt[:1])
    op(n, X(2, 3, 4), I(1), dt=dt[:1], keep_dims=True)
    op(n, X(0, 3), K([0]), dt=dt[:1])
    op(n, X(), K(np.zeros(0)), dt=dt[:1])
for n in ("Sum", "Mean", "Max", "Min", "Prod"):
    op(n, X(3, 5, kind="x"), K([1]), o=False)
op("Mean", XT([[120, 100], [-7, 2]]), K([1]), dt=["int8", "int32"], o=False)
op("Prod", XT([[120, 100], [7, 2]]), K([1]), dt=["uint8", "int8"], o=False)
for n in ("ArgMax", "ArgMin"):
    op(n, X(3, 4), K(1), dt=NUMBERS + ["bool"])
    op(n, X(3, 4), K(-2), output_type="int32")
    op(n, XT([[1, 3, 3], [2, 2, 0]]), K(1, "int64"), dt=["int32", "float32"])
    op(n, X(3, 4), I(1))
for n, dt in (("Cumsum", NUMBERS + COMPLEX), ("Cumprod", NUMBERS)):
    op(n, X(3, 4), K(1), dt=dt)
    op(n, X(3, 4), K(-2), exclusive=True)
    op(n, X(3, 4), K(0), reverse=True, exclusive=True, keep=True)
    op(n, X(3, 4), I(1), reverse=True)
op("CumulativeLogsumexp", X(3, 4), K(1), dt=SINGLE)
op("CumulativeLogsumexp", X(3, 4), K(0), exclusive=True, reverse=True)

# --- indices ---
op("Gather", X(4, 3), I([2, 0, 3]), dt=ALL)
op("GatherV2", X(4, 3), I([[2, 0], [1, 1]]), K(0), dt=ALL + COMPLEX)
op("GatherV2", X(4, 3), I([2, 0]), K(-1))
op("GatherV2", X(2, 4, 3), I([[2, 0], [1, 3]]), K(1), batch_dims=1)
op("GatherV2", X(2, 4, 3), I([[2, 0], [1, 2]]), K(2), batch_dims=-1 + 2)
op("GatherV2", X(4, 3), I(2, "int64"), K(0))
op("GatherV2", X(4, 3), I(np.zeros((0, 2))), K(1))
op("GatherNd", X(2, 3, 4), L([[0, 1], [1, 2]]), dt=ALL + COMPLEX)
op("GatherNd", X(2, 3, 4), L([[[0]], [[1]]], "int64"))
op("GatherNd", X(2, 3), L(np.zeros((4, 0))))
op("ScatterNd", L([[1], [3]]), X(2, 3), K([5, 3]), dt=NUMBERS)
op("ScatterNd", L([[1], [1]]), X(2, 3), L([5, 3]))
op("ScatterNdNonAliasingAdd", X(5, 3), L([[1], [1]]), X(2, 3))
for n in ("Add", "Sub", "Update", "Max", "Min"):
    op("TensorScatter" + n, X(5, 3), L([[1], [3]]), X(2, 3), dt=FLOATS + ["int32", "int64"])
    op("TensorScatter" + n, X(5, 3), L([[1, 2], [3, 0]], "int64"), X(2))
op("DynamicStitch", [I([0, 2]), I([1, 3])], [X(2, 3), X(2, 3)], dt=NUMBERS)
op("DynamicStitch", [K([0, 2]), K(1)], [X(2, 3), X(3)])
op("DynamicStitch", [I([0, 1]), I([1, 3])], [X(2), X(2)])
op("ParallelDynamicStitch", [I([0, 2]), I([1, 3])], [X(2, 3), X(2, 3)])
op("DynamicPartition", X(4, 3), I([0, 1, 0, 2]), num_partitions=3, dt=NUMBERS)
op("DynamicPartition", X(2, 2), I([[0, 1], [0, 1]]), num_partitions=2)
op("OneHot", I([0, 2, -1, 5]), K(4), KT(1), KT(0), dt=ALL)
op("OneHot", I([[0, 2]], "int64"), K(4), KT(5.0), KT(-1.0), axis=0)
op("OneHot", I([0, 2], "uint8"), I(4), KT(5.0), KT(-1.0), axis=1)
op("TopK", X(2, 5, kind="d"), k=3)
op("TopKV2", X(2, 5, kind="d"), K(3), dt=NUMBERS)
op("TopKV2", X(2, 5, kind="d"), I(2))
op("TopKV2", X(2, 5), K(3), dt=["int32"], keep=True)
op("NthElement", X(2, 5, kind="d"), K(1), dt=NUMBERS)
op("NthElement", X(2, 5, kind="d"), I(3), reverse=True)
op("InTopK", X(3, 5, kind="d"), I([1, 4, 2]), k=2)
op("InTopKV2", X(3, 5, kind="d"), I([1, 4, 2]), K(3))
op("Unique", X(7), dt=["int32", "float32", "int64", "uint8"])
op("Unique", X(7), dt=["int32"], out_idx="int64")
op("UniqueV2", X(4, 2), K([0]), dt=["int32"])
op("UniqueV2", X(7), K(np.zeros(0), "int64"), dt=["int32"])
op("UniqueWithCounts", X(9), dt=["int32", "float32"])
op("UniqueWithCountsV2", X(9), K([0], "int64"), dt=["int32"])
op("ListDiff", XT([1, 5, 3, 7, 5]), XT([3, 9]), dt=["int32", "float32", "int64"])
for n in ("LowerBound", "UpperBound"):
    op(n, XT([[1, 3, 5], [2, 4, 6]]), XT([[0, 3, 7], [4, 5, 2]]), dt=["float32", "int32", "int64", "float64"])
op("Bincount", I([1, 2, 2, 5]), K(6), KT([]), dt=["float32", "int32", "int64", "float64"], o=False)
op("Bincount", I([1, 2, 2, 5]), I(6), XT([1, 2, 3, 4]))
op("DenseBincount", I([1, 2, 2, 5]), K(6), KT([]), o=False)
op("DenseBincount", I([[1, 2], [2, 5]]), K(4), KT([]), o=False)
op("DenseBincount", I([1, 2, 2, 5]), K(6), XT([1, 2, 3, 4]))
op("DenseBincount", I([1, 2, 2, 5], "int64"), K(6, "int64"), KT([]), binary_output=True, o=False)
op("HistogramFixedWidth", X(20), KT([-2, 2]), K(5), dt=["float32", "int32"], o=False)
op("SearchSorted", XT([1, 3, 5]), XT([0, 3, 7]), run=lambda a, v: tf.searchsorted(a, v, side="right"))
op("RandomShuffle", X(1, 4), o=False)

# --- segments, ragged, sparse ---
for n in ("Sum", "Mean", "Max", "Min", "Prod"):
    op("Segment" + n, X(5, 2), I([0, 0, 1, 3, 3]), dt=FLOATS + ["int32", "int64"])
    op("Segment" + n, X(5, 2), K([0, 0, 1, 3, 3], "int64"))
    if n != "Mean":
        op("UnsortedSegment" + n, X(5, 2), I([2, 0, 2, 3, 0]), K(5), dt=FLOATS + ["int32", "int64"])
        op("UnsortedSegment" + n, X(2, 3, 2), I([[2, 0, -1], [2, 3, 0]]), K(5))
        op("UnsortedSegment" + n, X(5, 2), I([2, 0, 2, 3, 0]), I(4))
        if n != "Mean" and hasattr(r, f"Segment{n}V2"):
            op(f"Segment{n}V2", X(5, 2), I([0, 0, 1, 3, 3]), K(5))
for n in ("Sum", "Mean", "SqrtN"):
    op("SparseSegment" + n, X(5, 2), I([0, 3, 4, 1]), I([0, 0, 1, 3]), dt=SINGLE)
    op(f"SparseSegment{n}WithNumSegments", X(5, 2), I([0, 3, 4, 1]), I([0, 0, 1, 3]), K(6))
op("RaggedRange", I([0, 2, 5]), I([3, 2, 9]), I([1, 1, 2]), dt=["int32"])
op("RaggedRange", XT([0.0, 2]), XT([1.0, 4]), XT([0.3, 1]))
op("RaggedGather", [I([0, 2, 2, 5], "int64")], X(5, 2), I([2, 0]), OUTPUT_RAGGED_RANK=1)
op("RaggedTensorToTensor", K([-1, -1], "int64"), X(5), KT(0), [I([0, 2, 2, 5], "int64")], row_partition_types=["ROW_SPLITS"])
op("RaggedTensorToTensor", K([4, 2], "int64"), X(5), KT(9), [I([0, 2, 2, 5], "int64")], row_partition_types=["ROW_SPLITS"])
SP = ([[0, 1], [1, 0], [2, 3]], [3, 4])


def sparse(*extra):
    return [L(SP[0], "int64"), X(3), K(SP[1], "int64"), *extra]


op("SparseToDense", I([[0, 1], [2, 2]]), K([3, 4]), X(2), KT(0), dt=NUMBERS + ["bool"])
op("SparseToDense", I([1, 3], "int64"), L([5], "int64"), X(), KT(7))
op("SparseToDense", I(2), K([5]), X(), KT(7))
op("SparseTensorDenseMatMul", *sparse(X(4, 2)), dt=SINGLE)
op("SparseTensorDenseMatMul", *sparse(X(3, 2)), adjoint_a=True)
op("SparseTensorDenseMatMul", *sparse(X(2, 4)), adjoint_b=True)
op("SparseTensorDenseAdd", *sparse(X(3, 4)))
op("SparseDenseCwiseMul", *sparse(X(3, 4)))
op("SparseDenseCwiseDiv", *sparse(X(3, 4, kind="p")))
op("SparseDenseCwiseAdd", *sparse(X(1, 4)))
op("SparseReduceSum", *sparse(K([1])))
op("SparseReduceSum", *sparse(K([0])), keep_dims=True)
op("SparseReduceMax", *sparse(K([-1])))
op("SparseReshape", I(SP[0], "int64"), K(SP[1], "int64"), K([2, -1], "int64"))
op("SparseReorder", I([[2, 3], [0, 1], [1, 0]], "int64"), X(3), K(SP[1], "int64"))
op("SparseSlice", *sparse(K([0, 0], "int64"), K([2, 2], "int64")))
op("SparseConcat", [I([[0, 1], [1, 0]], "int64"), I([[0, 0]], "int64")], [X(2), X(1)], [K([2, 2], "int64"), K([2, 3], "int64")], concat_dim=1)
op("SparseFillEmptyRows", I([[0, 1], [2, 0]], "int64"), X(2), K([4, 3], "int64"), KT(5))
op("SparseMatMul", X(3, 4, kind="z"), X(4, 2))
op("SparseMatMul", X(4, 3, kind="z"), X(2, 4), transpose_a=True, transpose_b=True)
op("SparseSoftmax", *sparse())
op("SparseAdd", L(SP[0], "int64"), X(3), K(SP[1], "int64"), L(SP[0], "int64"), X(3), K(SP[1], "int64"), KT(0))

# --- products, convolutions ---
op("MatMul", X(3, 4), X(4, 2), dt=FLOATS + ["int32", "int64"] + COMPLEX)
op("MatMul", X(4, 3), X(2, 4), transpose_a=True, transpose_b=True)
op("MatMul", X(0, 4), X(4, 2))
for n in ("BatchMatMul", "BatchMatMulV2"):
    op(n, X(2, 3, 4), X(2, 4, 2), dt=FLOATS + ["int32", "int64"] + COMPLEX)
    op(n, X(2, 4, 3), X(2, 2, 4), adj_x=True, adj_y=True, dt=["float32"] + COMPLEX[:1])
op("BatchMatMulV2", X(5, 1, 3, 4), X(2, 4, 2))
op("BatchMatMulV2", X(3, 4), X(2, 4, 2))
op("BatchMatMulV3", X(2, 3, 4), X(2, 4, 2), Tout="float32")
op("BatchMatMulV3", X(2, 3, 4), X(2, 4, 2), Tout="int32", dt=["int8"])
for eq, shapes in [("ij,jk->ik", [(2, 3), (3, 4)]), ("bij,bjk->bik", [(2, 2, 3), (2, 3, 4)]), ("ij->ji", [(2, 3)]), ("ii->i", [(3, 3)]), ("ij->", [(2, 3)]),
                   ("...ij,jk->...ik", [(2, 5, 2, 3), (3, 4)]), ("i,j->ij", [(2,), (3,)]), ("abc,cd,de->abe", [(2, 3, 4), (4, 5), (5, 2)]), ("ij,ij->i", [(2, 3), (2, 3)]),
                   ("BTNH,BSNH->BNTS", [(2, 3, 2, 4), (2, 5, 2, 4)])]:
    op("Einsum", [X(*s) for s in shapes], equation=eq, dt=SINGLE[:1] if len(shapes) > 2 else FLOATS[:3], run=None if len(shapes) < 3 else
       (lambda xs, eq=eq: tf.einsum(eq, *xs)))
op("BiasAdd", X(2, 3, 4), X(4), dt=NUMBERS)
op("BiasAdd", X(2, 3, 4, 5), X(3), data_format="NCHW")
op("BiasAddV1", X(2, 3), X(3))
op("BiasAddGrad", X(2, 3, 4))
op("BiasAddGrad", X(2, 3, 4, 5), data_format="NCHW")
op("Cross", X(2, 3), X(2, 3), dt=FLOATS + ["int32"])
for pad in ("SAME", "VALID"):
    for s, d in ((1, 1), (2, 1), (1, 2), (3, 1)):
        op("Conv2D", X(1, 7, 8, 3), C(3, 2, 3, 4), strides=[1, s, s, 1], dilations=[1, d, d, 1], padding=pad, keep=s == 2)
        op("DepthwiseConv2dNative", X(1, 7, 8, 3), C(3, 2, 3, 2), strides=[1, s, s, 1], dilations=[1, d, d, 1], padding=pad)
    op("Conv2DBackpropInput", K([1, 7, 8, 3]), C(3, 2, 3, 4), X(*((1, 4, 4, 4) if pad == "SAME" else (1, 3, 4, 4))), strides=[1, 2, 2, 1], padding=pad)
    op("Conv3D", X(1, 5, 6, 7, 2), C(2, 3, 2, 2, 3), strides=[1, 2, 1, 2, 1], padding=pad, dt=["float32", "float64"])
    op("Dilation2D", X(1, 7, 8, 3), C(3, 2, 3), strides=[1, 2, 2, 1], rates=[1, 1, 2, 1], padding=pad, dt=["float32", "float64"])
op("Conv2D", X(1, 7, 8, 3), C(3, 2, 3, 4), strides=[1, 1, 1, 1], padding="SAME", dt=FLOATS + ["int32"])
op("Conv2D", X(1, 7, 8, 3), X(3, 2, 3, 4), strides=[1, 1, 2, 1], padding="EXPLICIT", explicit_paddings=[0, 0, 1, 2, 3, 0, 0, 0])
op("Conv2D", X(1, 7, 8, 4), C(3, 2, 2, 6), strides=[1, 1, 1, 1], padding="SAME")
op("DepthwiseConv2dNative", X(1, 7, 8, 3), C(3, 2, 3, 2), strides=[1, 1, 1, 1], padding="EXPLICIT", explicit_paddings=[0, 0, 1, 2, 3, 0, 0, 0])
op("Conv2DBackpropInput", I([1, 7, 8, 3]), C(3, 2, 3, 4), X(1, 7, 8, 4), strides=[1, 1, 1, 1], padding="SAME")
op("Conv2DBackpropInput", K([7, 8]), C(3, 2, 3, 4), X(1, 7, 8, 4), strides=[1, 1, 1, 1], padding="SAME")
op("Conv2DBackpropInput", K([1, 7, 8, 3]), C(3, 2, 3, 4), X(1, 7, 8, 4), strides=[1, 1, 1, 1], dilations=[1, 1, 1, 1], padding="EXPLICIT",
   explicit_paddings=[0, 0, 1, 1, 1, 0, 0, 0])
op("Conv3DBackpropInputV2", K([1, 5, 6, 7, 2]), C(2, 3, 2, 2, 3), X(1, 3, 3, 4, 3), strides=[1, 2, 2, 2, 1], padding="SAME")
op("DepthwiseConv2dNativeBackpropInput", K([1, 7, 8, 3]), C(3, 2, 3, 2), X(1, 7, 8, 6), strides=[1, 1, 1, 1], padding="SAME")
op("Conv2DBackpropFilter", X(1, 7, 8, 3), K([3, 2, 3, 4]), X(1, 7, 8, 4), strides=[1, 1, 1, 1], padding="SAME")
for act, extra in (("Relu", []), ("Elu", []), ("Relu6", []), ("", [])):
    op("_FusedMatMul", X(3, 4), C(4, 2), [C(2)], run=lambda a, b, args, act=act: fused("_FusedMatMul", [a, b], args, act, {"transpose_a": False, "transpose_b": False}))
    op("_FusedConv2D", X(1, 5, 6, 3), C(3, 3, 3, 4), [C(4)], run=lambda a, b, args, act=act: fused(
        "_FusedConv2D", [a, b], args, act, {"strides": [1, 1, 1, 1], "padding": "SAME"}))


def fused(name, tensors, args, act, attrs):
    """tf.raw_ops has none of those; the graph's own way."""
    g = v1.get_default_graph()
    node_attrs = {"T": tf.float32, "num_args": len(args), "fused_ops": ["BiasAdd"] + ([act] if act else [])} | attrs
    from tensorflow.core.framework import attr_value_pb2
    protos = {}
    for k, v in node_attrs.items():
        p = attr_value_pb2.AttrValue()
        if isinstance(v, tf.DType):
            p.type = v.as_datatype_enum
        elif isinstance(v, bool):
            p.b = v
        elif isinstance(v, int):
            p.i = v
        elif isinstance(v, str):
            p.s = v.encode()
        elif v and isinstance(v[0], str):
            p.list.s.extend(s.encode() for s in v)
        else:
            p.list.i.extend(v)
        protos[k] = p
    if name == "_FusedConv2D":
        p = attr_value_pb2.AttrValue()
        p.list.type.extend([1] * len(args))
        protos["TArgs"] = p
        p = attr_value_pb2.AttrValue()
        p.i = 0
        protos["num_host_args"] = p
    return g.create_op(name, tensors + args, [tf.float32], attrs=protos).outputs[0]


# --- pools, patches ---
for pad in ("SAME", "VALID"):
    for n in ("MaxPool", "AvgPool"):
        op(n, X(1, 7, 8, 3), ksize=[1, 3, 2, 1], strides=[1, 2, 2, 1], padding=pad, dt=FLOATS + (["int32", "uint8", "int8"] if n == "MaxPool" and pad == "VALID" else []))
        op(n + "3D", X(1, 5, 6, 7, 2), ksize=[1, 2, 3, 2, 1], strides=[1, 2, 2, 1, 1], padding=pad)
    op("MaxPoolV2", X(1, 7, 8, 3), K([1, 3, 2, 1]), K([1, 2, 2, 1]), padding=pad)
    op("MaxPoolWithArgmax", X(2, 7, 8, 3), ksize=[1, 3, 2, 1], strides=[1, 2, 2, 1], padding=pad)
    op("MaxPoolWithArgmax", X(2, 7, 8, 3), ksize=[1, 3, 2, 1], strides=[1, 2, 2, 1], padding=pad, include_batch_in_index=True, Targmax="int32")
    op("ExtractImagePatches", X(1, 7, 8, 3), ksizes=[1, 3, 2, 1], strides=[1, 2, 2, 1], rates=[1, 1, 2, 1], padding=pad, dt=FLOATS + ["int32", "uint8"])
    op("ExtractVolumePatches", X(1, 5, 6, 7, 2), ksizes=[1, 2, 2, 2, 1], strides=[1, 2, 2, 2, 1], padding=pad)
op("MaxPool", X(1, 7, 8, 3), ksize=[1, 3, 2, 1], strides=[1, 2, 2, 1], padding="EXPLICIT", explicit_paddings=[0, 0, 1, 1, 1, 0, 0, 0])
op("MaxPool", X(1, 4, 4, 6), ksize=[1, 1, 1, 3], strides=[1, 1, 1, 3], padding="VALID")
op("FractionalMaxPool", X(1, 8, 8, 2), pooling_ratio=[1.0, 1.5, 1.5, 1.0], deterministic=True, seed=1, seed2=2)

# --- norms, losses ---
for n in ("FusedBatchNorm", "FusedBatchNormV2", "FusedBatchNormV3"):
    op(n, X(2, 3, 4, 5), C(5, kind="p"), C(5), C(5), C(5, kind="p"), is_training=False, run=lambda *t, n=n: getattr(r, n)(
        x=t[0], scale=t[1], offset=t[2], mean=t[3], variance=t[4], is_training=False, epsilon=0.01)[0])
    op(n, X(2, 3, 4, 5), C(5, kind="p"), C(5), KT([]), KT([]), is_training=True, run=lambda *t, n=n: getattr(r, n)(
        x=t[0], scale=t[1], offset=t[2], mean=t[3], variance=t[4], is_training=True)[:3])
op("FusedBatchNormV3", X(2, 5, 3, 4), C(5, kind="p"), C(5), C(5), C(5, kind="p"), run=lambda *t: tf.transpose(r.FusedBatchNormV3(
    x=tf.transpose(t[0], [0, 2, 3, 1]), scale=t[1], offset=t[2], mean=t[3], variance=t[4], is_training=False)[0], [0, 3, 1, 2]))
op("FusedBatchNormV3", X(2, 2, 3, 4, 5), C(5, kind="p"), C(5), C(5), C(5, kind="p"), run=lambda *t: r.FusedBatchNormV3(
    x=t[0], scale=t[1], offset=t[2], mean=t[3], variance=t[4], is_training=False, data_format="NDHWC")[0])
op("BatchNormWithGlobalNormalization", X(2, 3, 4, 5), C(5), C(5, kind="p"), C(5), C(5), variance_epsilon=0.01, scale_after_normalization=True)
op("BatchNormWithGlobalNormalization", X(2, 3, 4, 5), C(5), C(5, kind="p"), C(5), C(5), variance_epsilon=0.01, scale_after_normalization=False)
op("LRN", X(2, 3, 4, 7), depth_radius=2, bias=1.5, alpha=0.5, beta=0.6, dt=["float32", "float16", "bfloat16"])
op("LRN", X(2, 3, 4, 7))
op("SoftmaxCrossEntropyWithLogits", X(3, 4), X(3, 4, kind="u"), dt=FLOATS)
op("SparseSoftmaxCrossEntropyWithLogits", X(3, 4), I([1, 0, 3]), dt=FLOATS)
op("SparseSoftmaxCrossEntropyWithLogits", X(3, 4), I([1, 0, 3], "int64"))

# --- images ---
for n in ("ResizeBilinear", "ResizeBicubic", "ResizeArea", "ResizeNearestNeighbor"):
    for size in ([7, 5], [3, 9], [4, 6], [1, 1], [8, 12]):
        for ac, hp in ((False, False), (True, False), (False, True)):
            if n == "ResizeArea" and hp:
                continue
            op(n, X(2, 4, 6, 3), K(size), align_corners=ac, **({} if n == "ResizeArea" else {"half_pixel_centers": hp}), o=size == [7, 5], keep=size == [7, 5])
    op(n, X(2, 4, 6, 3), I([5, 5]))
    op(n, X(2, 4, 6, 3), K([5, 7]), dt=["uint8", "int8", "int16", "int32", "int64", "float16", "float64", "bfloat16"] if n != "ResizeBicubic" else ["uint8", "int32", "float64"], o=False)
for k in ("lanczos1", "lanczos3", "lanczos5", "gaussian", "box", "triangle", "keyscubic", "mitchellcubic"):
    for anti in (True, False):
        op("ScaleAndTranslate", X(1, 6, 7, 2), K([4, 9]), K([0.6, 1.3], "float32"), K([0.3, -0.5], "float32"), kernel_type=k, antialias=anti, o=False)
op("AdjustContrastv2", X(2, 4, 5, 3, kind="u"), KT(1.7), dt=["float32", "float16"], run=lambda x, f: r.AdjustContrastv2(images=x, contrast_factor=tf.cast(f, tf.float32)))
op("AdjustHue", X(4, 5, 3, kind="u"), K(0.3, "float32"), dt=["float32", "float16"])
op("AdjustHue", X(2, 4, 5, 3, kind="u"), F())
op("AdjustSaturation", X(4, 5, 3, kind="u"), K(1.3, "float32"), dt=["float32", "float16"])
op("HSVToRGB", X(4, 5, 3, kind="u"), dt=FLOATS)
op("RGBToHSV", X(4, 5, 3, kind="u"), dt=FLOATS)
BOX = [[0.1, 0.1, 0.8, 0.9], [0.3, -0.2, 1.2, 0.5], [0.9, 0.8, 0.1, 0.2]]
op("CropAndResize", X(2, 6, 7, 3), I(BOX, "float32"), I([0, 1, 1]), K([3, 4]), extrapolation_value=0.5, dt=FLOATS[:3] + ["uint8", "int32"], keep=True)
op("CropAndResize", X(2, 6, 7, 3), I(BOX, "float32"), I([0, 1, 1]), K([3, 4]), method="nearest")
op("CropAndResize", X(2, 6, 7, 3), I(BOX, "float32"), I([0, 1, 1]), K([1, 1]))
op("CropAndResize", X(2, 6, 7, 3), I(BOX, "float32"), I([0, 1, 1]), I([3, 4]))
for m in ("NEAREST", "BILINEAR"):
    for f in ("CONSTANT", "REFLECT", "WRAP", "NEAREST"):
        op("ImageProjectiveTransformV3", X(1, 5, 6, 2), I([[1.1, 0.2, -1, -0.1, 0.9, 0.5, 0.001, 0.002]], "float32"), K([5, 6]), K(0.5, "float32"),
           interpolation=m, fill_mode=f, o=f == "WRAP")
op("ImageProjectiveTransformV2", X(2, 5, 6, 2), I([[1.1, 0.2, -1, -0.1, 0.9, 0.5, 0, 0]], "float32"), K([4, 7]), interpolation="BILINEAR")
BOXES = [[0, 0, 1, 1], [0, 0.1, 1, 1.1], [0, -0.1, 1, 0.9], [0, 10, 1, 11], [0, 10.1, 1, 11.1], [0, 100, 1, 101]]
SCORES = [0.9, 0.75, 0.6, 0.95, 0.5, 0.3]
op("NonMaxSuppression", I(BOXES, "float32"), I(SCORES, "float32"), K(3), iou_threshold=0.5)
op("NonMaxSuppressionV2", I(BOXES, "float32"), I(SCORES, "float32"), K(3), K(0.5, "float32"))
op("NonMaxSuppressionV3", I(BOXES, "float32"), I(SCORES, "float32"), K(3), K(0.5, "float32"), K(0.4, "float32"), keep=True)
op("NonMaxSuppressionV3", I(BOXES, "float32"), I(SCORES, "float32"), I(6), I(0.5, "float32"), I(0.0, "float32"))
op("NonMaxSuppressionV4", I(BOXES, "float32"), I(SCORES, "float32"), K(5), K(0.5, "float32"), K(0.4, "float32"), pad_to_max_output_size=True)
op("NonMaxSuppressionV4", I(BOXES, "float32"), I(SCORES, "float32"), K(5), K(0.5, "float32"), K(0.4, "float32"))
for sigma in (0.0, 0.5):
    op("NonMaxSuppressionV5", I(BOXES, "float32"), I(SCORES, "float32"), K(5), K(0.5, "float32"), K(0.3, "float32"), K(sigma, "float32"), keep=True)
    op("NonMaxSuppressionV5", I(BOXES, "float32"), I(SCORES, "float32"), K(5), K(0.5, "float32"), K(0.3, "float32"), K(sigma, "float32"), pad_to_max_output_size=True)
op("NonMaxSuppressionWithOverlaps", F(6, 6, kind="u"), I(SCORES, "float32"), K(4), K(0.6, "float32"), K(0.2, "float32"))
for q in (1, 2):
    for pad in (False, True):
        for clip in (False, True):
            op("CombinedNonMaxSuppression", F(2, 8, q, 4, kind="u"), F(2, 8, 2, kind="u"), K(3), K(5), K(0.3, "float32"), K(0.2, "float32"),
               pad_per_class=pad, clip_boxes=clip, o=q == 1 and pad and clip)
op("DrawBoundingBoxes", F(1, 6, 7, 3), I([[[0.1, 0.1, 0.8, 0.8]]], "float32"))
op("ExtractGlimpse", X(1, 8, 9, 2), K([3, 4]), I([[0.2, -0.3]], "float32"))

# --- recurrent ---
H = 3
op("LSTMBlockCell", X(2, 4), X(2, H), X(2, H), C(4 + H, 4 * H), C(H), C(H), C(H), C(4 * H), dt=["float32"])
op("LSTMBlockCell", X(2, 4), X(2, H), X(2, H), C(4 + H, 4 * H), C(H), C(H), C(H), C(4 * H), use_peephole=True, cell_clip=0.5, forget_bias=0.3)
for n in ("BlockLSTM", "BlockLSTMV2"):
    for peep in (False, True):
        op(n, I(5, "int64"), X(5, 2, 4), X(2, H), X(2, H), C(4 + H, 4 * H), C(H), C(H), C(H), C(4 * H), use_peephole=peep, cell_clip=1.0 if peep else 0.0)
op("GRUBlockCell", X(2, 4), X(2, H), C(4 + H, 2 * H), C(4 + H, H), C(2 * H), C(H))

# --- quantised ---
op("FakeQuantWithMinMaxArgs", X(3, 4), min=-1.5, max=2.7)
op("FakeQuantWithMinMaxArgs", X(3, 4), min=-1.5, max=2.7, num_bits=4, narrow_range=True)
op("FakeQuantWithMinMaxVars", X(3, 4), KT(-1.5), KT(2.7))
op("FakeQuantWithMinMaxVars", X(3, 4), KT(0.5), KT(2.7), num_bits=5)
op("FakeQuantWithMinMaxVarsPerChannel", X(3, 4), KT([-1, -2, -1, 0]), KT([1, 2, 3, 4]))
for mode in ("MIN_COMBINED", "MIN_FIRST", "SCALED"):
    for t in ("qint8", "quint8", "qint16", "quint16"):
        op("QuantizeV2", X(3, 4), K(-1.5, "float32"), K(2.7, "float32"), run=lambda x, a, b, m=mode, t=t: [
            v if v.dtype == tf.float32 else tf.cast(tf.bitcast(v, DQ[t]), tf.int32) for v in r.QuantizeV2(
                input=x, min_range=a, max_range=b, T=t, mode=m)], o=False)
        op("Dequantize", R(0, 100, 3, 4), K(-1.5, "float32"), K(2.7, "float32"), run=lambda x, a, b, m=mode, t=t: r.Dequantize(
            input=tf.bitcast(tf.cast(x, DQ[t]), t), min_range=a, max_range=b, mode=m), o=False)
DQ = {"qint8": tf.int8, "quint8": tf.uint8, "qint32": tf.int32, "qint16": tf.int16, "quint16": tf.uint16}
op("QuantizeAndDequantize", X(3, 4), signed_input=True, num_bits=6, range_given=True, input_min=-2.0, input_max=3.0)
op("QuantizeAndDequantizeV2", X(3, 4), KT(-2), KT(3), range_given=True, dt=SINGLE)
op("QuantizeAndDequantizeV2", X(3, 4), KT(0), KT(0), range_given=False, round_mode="HALF_UP", narrow_range=True)
op("QuantizeAndDequantizeV2", X(3, 4), KT([-1, -2, -1, -3]), KT([1, 2, 3, 4]), range_given=True, axis=1)
op("QuantizeAndDequantizeV3", X(3, 4), KT(-2), KT(3), K(7))
op("QuantizeAndDequantizeV4", X(3, 4), KT(-2), KT(3), range_given=True)


def quantised(x, t=tf.quint8, low=-3.0, high=3.0):
    return r.QuantizeV2(input=x, min_range=low, max_range=high, T=t)


def whole(outputs, t=tf.int32):
    return [v if v.dtype == tf.float32 else tf.cast(tf.bitcast(v, DQ[v.dtype.name]), tf.int32) for v in outputs]


op("QuantizedMatMul", X(3, 4), X(4, 2), run=lambda a, b: whole(r.QuantizedMatMul(
    a=(q := quantised(a))[0], b=(p := quantised(b, low=-2.0))[0], min_a=q[1], max_a=q[2], min_b=p[1], max_b=p[2])))
for pad in ("SAME", "VALID"):
    op("QuantizedConv2D", X(1, 5, 6, 3), X(3, 3, 3, 4), run=lambda a, b, pad=pad: whole(r.QuantizedConv2D(
        input=(q := quantised(a))[0], filter=(p := quantised(b, low=-2.0))[0], min_input=q[1], max_input=q[2], min_filter=p[1], max_filter=p[2],
        strides=[1, 2, 2, 1], padding=pad)))
    for n in ("QuantizedMaxPool", "QuantizedAvgPool"):
        op(n, X(1, 5, 6, 3), run=lambda a, n=n, pad=pad: whole(getattr(r, n)(
            input=(q := quantised(a))[0], min_input=q[1], max_input=q[2], ksize=[1, 2, 3, 1], strides=[1, 2, 2, 1], padding=pad)))
for n in ("QuantizedRelu", "QuantizedRelu6"):
    op(n, X(3, 4), run=lambda a, n=n: whole(getattr(r, n)(features=(q := quantised(a, high=8.0))[0], min_features=q[1], max_features=q[2])))
op("QuantizedBiasAdd", X(3, 4), X(4), run=lambda a, b: whole(r.QuantizedBiasAdd(
    input=(q := quantised(a))[0], bias=(p := quantised(b, low=-2.0))[0], min_input=q[1], max_input=q[2], min_bias=p[1], max_bias=p[2], out_type=tf.qint32)), steps=1)
op("QuantizedMul", X(3, 4), X(4), run=lambda a, b: whole(r.QuantizedMul(
    x=(q := quantised(a))[0], y=(p := quantised(b, low=-2.0))[0], min_x=q[1], max_x=q[2], min_y=p[1], max_y=p[2])))
op("QuantizedReshape", X(3, 4), K([2, 6]), run=lambda a, s: whole(r.QuantizedReshape(tensor=(q := quantised(a))[0], shape=s, input_min=q[1], input_max=q[2])))
op("QuantizedConcat", X(3, 4), X(3, 2), run=lambda a, b: whole(r.QuantizedConcat(
    concat_dim=1, values=[(q := quantised(a))[0], (p := quantised(b, low=-2.0))[0]], input_mins=[q[1], p[1]], input_maxes=[q[2], p[2]])))
op("Requantize", X(3, 4), X(4, 2), run=lambda a, b: whole(requantised(a, b)), steps=1)
op("QuantizeDownAndShrinkRange", X(3, 4), X(4, 2), run=lambda a, b: whole(requantised(a, b, True)), steps=1)


def requantised(a, b, shrink=False):
    q, p = quantised(a), quantised(b, low=-2.0)
    m = r.QuantizedMatMul(a=q[0], b=p[0], min_a=q[1], max_a=q[2], min_b=p[1], max_b=p[2])
    if shrink:
        return r.QuantizeDownAndShrinkRange(input=m[0], input_min=m[1], input_max=m[2], out_type=tf.quint8)
    s = r.RequantizationRange(input=m[0], input_min=m[1], input_max=m[2])
    return r.Requantize(input=m[0], input_min=m[1], input_max=m[2], requested_output_min=s[0], requested_output_max=s[1], out_type=tf.quint8)


op("RequantizationRange", X(3, 4), X(4, 2), run=lambda a, b: requantised(a, b)[1:])

# --- matrices ---
for n in ("Cholesky", "BatchCholesky"):
    op(n, S(2, 3, 3), dt=SINGLE + COMPLEX[:1])
op("MatrixDeterminant", X(2, 3, 3), dt=SINGLE + COMPLEX[:1], rtol=1e-3)
op("BatchMatrixDeterminant", X(2, 3, 3), rtol=1e-3)
op("LogMatrixDeterminant", X(2, 3, 3), dt=SINGLE, rtol=1e-3)
op("MatrixInverse", S(2, 3, 3), dt=SINGLE + COMPLEX[:1], rtol=1e-3)
op("MatrixInverse", S(3, 3), adjoint=True, rtol=1e-3)
op("BatchMatrixInverse", S(2, 3, 3), rtol=1e-3)
op("MatrixSolve", S(2, 3, 3), X(2, 3, 2), dt=SINGLE + COMPLEX[:1], rtol=1e-3)
op("MatrixSolve", S(3, 3), X(3, 2), adjoint=True, rtol=1e-3)
op("BatchMatrixSolve", S(2, 3, 3), X(2, 3, 2), rtol=1e-3)
for low in (True, False):
    for adj in (True, False):
        op("MatrixTriangularSolve", S(2, 3, 3), X(2, 3, 2), lower=low, adjoint=adj, dt=SINGLE + COMPLEX[:1])
op("MatrixTriangularSolve", S(3, 3), X(4, 3, 2))
op("BatchMatrixTriangularSolve", S(2, 3, 3), X(2, 3, 2))
op("MatrixSquareRoot", S(3, 3), rtol=1e-3)
op("MatrixExponential", X(3, 3), rtol=1e-3, run=lambda x: tf.linalg.expm(x * 0.3), o=False)
op("MatrixLogarithm", S(3, 3), dt=["complex64"], rtol=1e-3)
op("TridiagonalSolve", X(2, 3, 4, kind="p"), X(2, 4, 2), rtol=1e-3)
op("TridiagonalMatMul", X(2, 1, 4), X(2, 1, 4), X(2, 1, 4), X(2, 4, 3))
op("Qr", X(2, 4, 3), run=lambda x: tf.abs(tf.linalg.matmul(*tf.linalg.qr(x))), rtol=1e-3, atol=1e-4)
op("Qr", X(4, 4), run=lambda x: [tf.abs(v) for v in tf.linalg.qr(x)], rtol=1e-3, atol=1e-4)
op("Qr", X(3, 4), run=lambda x: [tf.abs(v) for v in tf.linalg.qr(x, full_matrices=True)], rtol=1e-3, atol=1e-4)
op("Svd", X(2, 4, 3), run=lambda x: tf.linalg.svd(x, compute_uv=False), rtol=1e-3, atol=1e-4)
op("Svd", X(3, 4), run=lambda x: [tf.abs(v) for v in tf.linalg.svd(x)], rtol=1e-3, atol=1e-4)
op("SelfAdjointEigV2", S(2, 4, 4), run=lambda x: tf.linalg.eigvalsh(x), rtol=1e-3, atol=1e-4)
op("SelfAdjointEigV2", S(4, 4), run=lambda x: [tf.abs(v) for v in tf.linalg.eigh(x)], rtol=1e-3, atol=1e-4)
op("Lu", X(2, 4, 4), rtol=1e-3, atol=1e-4)

# --- Fourier ---
for n, s in (("FFT", (3, 6)), ("FFT2D", (4, 5)), ("FFT3D", (2, 3, 4)), ("IFFT", (7,)), ("IFFT2D", (2, 4, 5)), ("IFFT3D", (2, 3, 4)), ("BatchFFT", (3, 6)), ("BatchIFFT", (3, 6))):
    op(n, X(*s), dt=COMPLEX if not n.startswith("Batch") else COMPLEX[:1], rtol=1e-3, atol=1e-4)
for n, s, length in (("RFFT", (3, 6), [6]), ("RFFT", (3, 6), [8]), ("RFFT", (3, 7), [5]), ("RFFT2D", (4, 5), [4, 5]), ("RFFT2D", (4, 5), [3, 6]), ("RFFT3D", (2, 3, 4), [2, 3, 4])):
    op(n, X(*s), K(length), dt=SINGLE if n == "RFFT" else None, Tcomplex=tf.complex64, rtol=1e-3, atol=1e-4) if n != "RFFT" else \
        op(n, X(*s), K(length), Tcomplex=tf.complex64, rtol=1e-3, atol=1e-4)
for n, s, length in (("IRFFT", (3, 4), [6]), ("IRFFT", (3, 4), [7]), ("IRFFT", (3, 4), [4]), ("IRFFT2D", (4, 3), [4, 5]), ("IRFFT3D", (2, 3, 3), [2, 3, 4])):
    op(n, X(*s), K(length), dt=["complex64"], Treal=tf.float32, rtol=1e-3, atol=1e-4)
op("FFTND", X(3, 4), K([3, 4]), K([0, 1]), dt=["complex64"], rtol=1e-3, atol=1e-4, o=False)
op("AudioSpectrogram", X(400, 2), window_size=64, stride=30, rtol=1e-3, atol=1e-3)
op("AudioSpectrogram", X(400, 1), window_size=50, stride=30, magnitude_squared=True, rtol=1e-3, atol=1e-3)
op("Mfcc", X(1, 4, 65, kind="p"), K(16000), o=False, rtol=1e-3, atol=1e-3)
op("Mfcc", X(1, 4, 65, kind="p"), K(8000), o=False, upper_frequency_limit=3000, lower_frequency_limit=100, filterbank_channel_count=20, dct_coefficient_count=10, rtol=1e-3, atol=1e-3)

# --- random numbers: counter based ones are exact ---
SEED = K([3, 5])
for d in FLOATS:
    op("StatelessRandomUniform", K([2, 5]), SEED, dtype=d)
    op("StatelessRandomNormal", K([2, 5]), SEED, dtype=d, rtol=1e-3)
    op("StatelessTruncatedNormal", K([2, 5]), SEED, dtype=d, rtol=1e-3)
op("StatelessRandomUniform", L([2, 5]), I([7, 1], "int64"), dtype="float32")
op("StatelessRandomUniformInt", K([9]), SEED, I(-5), I(20))
op("StatelessRandomUniformInt", K([9]), SEED, K(-5, "int64"), K(20, "int64"))
op("StatelessRandomUniformFullInt", K([9]), SEED, dtype="int32")
op("StatelessRandomUniformFullInt", K([9]), SEED, dtype="uint64")
op("StatelessMultinomial", X(2, 4), K(7), SEED)
for n, more in (("StatelessRandomUniformV2", {"dtype": "float32"}), ("StatelessRandomNormalV2", {"dtype": "float32"}), ("StatelessTruncatedNormalV2", {"dtype": "float32"}),
                ("StatelessRandomUniformFullIntV2", {"dtype": "int32"})):
    op(n, K([2, 5]), I([3, 5]), run=lambda shape, seed, n=n, more=more: getattr(r, n)(
        shape=shape, key=(k := r.StatelessRandomGetKeyCounter(seed=seed))[0], counter=k[1], alg=1, **more), rtol=1e-3)
op("StatelessRandomUniformIntV2", K([2, 5]), I([3, 5]), run=lambda shape, seed: r.StatelessRandomUniformIntV2(
    shape=shape, key=(k := r.StatelessRandomGetKeyCounterAlg(seed=seed))[0], counter=k[1], alg=k[2], minval=3, maxval=90))
op("StatelessRandomGetAlg", run=lambda: r.StatelessRandomGetAlg())
op("StatelessShuffle", X(8), run=lambda x: tf.random.experimental.stateless_shuffle(x, [1, 2]))
op("RandomUniform", K([2, 3]), dtype="float32", shapes_only=True)
op("RandomUniform", L([2, 3]), dtype="float64", shapes_only=True)
op("RandomStandardNormal", K([2, 3]), dtype="float32", shapes_only=True)
op("TruncatedNormal", K([2, 3]), dtype="float32", shapes_only=True)
op("RandomUniformInt", K([2, 3]), K(2), K(9), shapes_only=True)
op("Multinomial", X(2, 4), K(5), shapes_only=True)
op("RandomShuffle", X(5, 2), shapes_only=True)
op("RandomGamma", K([2]), X(3, kind="p"), shapes_only=True)
op("RandomPoissonV2", K([2]), X(3, kind="p"), shapes_only=True)
op("ParameterizedTruncatedNormal", K([2, 4]), KT(0.0), KT(1.0), KT(-1.0), KT(1.0), shapes_only=True)

# --- strings of constants, tables ---
op("StringLength", K(["a", "bcd", ""], "string"), o=False)
op("StringJoin", [K(["a", "b"], "string"), K(["c", "d"], "string")], separator="-", o=False)
op("StringToNumber", K(["1.5", "-2"], "string"), o=False)
op("StringToHashBucketFast", K(["1.5", "-2", "hello"], "string"), num_buckets=100, o=False)
op("StringLower", K(["HeLLo"], "string"), run=lambda s: r.Equal(x=r.StringLower(input=s), y=tf.constant(["hello"])), o=False)
op("Equal", K(["a", "b"], "string"), K(["a", "c"], "string"), o=False)
op("AsString", I([1, 2]), run=lambda s: r.StringToNumber(string_tensor=r.AsString(input=s)))
op("DecodeRaw", K(["abcd"], "string"), out_type="uint8", o=False)

# --- control, arrays, lists ---
op("Switch", X(3), I(True, "bool"), run=lambda x, p: r.Merge(inputs=[(s := r.Switch(data=x, pred=p))[0] * 2.0, s[1] + 1.0]), keep=True)
op("Switch", X(3), I(False, "bool"), run=lambda x, p: v1.cond(p, lambda: x * 2, lambda: tf.reduce_sum(x) - x), keep=True)
op("Assert", X(3), run=lambda x: with_control(r.Assert(condition=tf.reduce_all(x < 100), data=[x]), x))
op("NoOp", X(3), run=lambda x: with_control(r.NoOp(), x))


def with_control(o, x):
    with tf.control_dependencies([o]):
        return tf.identity(x)


def loop1(x, n):
    v1.disable_control_flow_v2()
    out = v1.while_loop(lambda i, s: i < n, lambda i, s: (i + 1, s * 1.5 + tf.cast(i, tf.float32)), [0, x])
    return out


op("Enter", X(3), I(4), run=loop1, keep=True)
op("TensorArrayV3", X(3, 2), run=lambda x: array1(x))


def array1(x):
    h, flow = r.TensorArrayV3(size=3, dtype=tf.float32)
    flow = r.TensorArrayScatterV3(handle=h, indices=[0, 1, 2], value=x, flow_in=flow)
    a = r.TensorArrayReadV3(handle=h, index=1, flow_in=flow, dtype=tf.float32)
    g = r.TensorArrayGatherV3(handle=h, indices=[2, 0], flow_in=flow, dtype=tf.float32)
    c = r.TensorArrayConcatV3(handle=h, flow_in=flow, dtype=tf.float32)[0]
    return [a, g, c, r.TensorArraySizeV3(handle=h, flow_in=flow)]


def array2(x):
    h, flow = r.TensorArrayV3(size=2, dtype=tf.float32)
    flow = r.TensorArraySplitV3(handle=h, value=x, lengths=[1, 2], flow_in=flow) if False else r.TensorArraySplitV3(
        handle=h, value=x, lengths=np.array([2, 2], np.int64), flow_in=flow)
    flow = r.TensorArrayWriteV3(handle=h, index=0, value=x[:2] * 2.0, flow_in=flow)
    return r.TensorArrayConcatV3(handle=h, flow_in=flow, dtype=tf.float32)


op("TensorArraySplitV3", X(4, 2), run=array2)


def lists(x):
    f = tf.float32
    a = r.TensorListFromTensor(tensor=x, element_shape=[2])
    b = r.TensorListSetItem(input_handle=a, index=1, item=[5.0, 6.0])
    c = r.TensorListPushBack(input_handle=b, tensor=[7.0, 8.0])
    d, last = r.TensorListPopBack(input_handle=c, element_shape=[2], element_dtype=f)
    e = r.TensorListResize(input_handle=d, size=5)
    g = r.TensorListConcatLists(input_a=a, input_b=c, element_dtype=f)
    s = r.TensorListScatterV2(tensor=x, indices=[2, 0, 1], element_shape=[2], num_elements=-1)
    t = r.TensorListScatterIntoExistingList(input_handle=s, tensor=x[:1], indices=[1])
    u = r.TensorListSplit(tensor=x, element_shape=[-1, 2], lengths=np.array([1, 2], np.int64))

    def stack(h):
        return r.TensorListStack(input_handle=h, element_shape=[2], element_dtype=f)
    return [stack(b), stack(c), last, stack(e), stack(g), stack(s), stack(t), r.TensorListLength(input_handle=e),
            r.TensorListGetItem(input_handle=c, index=3, element_shape=[2], element_dtype=f),
            r.TensorListGather(input_handle=c, indices=[3, 1], element_shape=[2], element_dtype=f),
            r.TensorListConcatV2(input_handle=u, element_shape=[-1, 2], leading_dims=np.zeros(0, np.int64), element_dtype=f)[0],
            r.TensorListElementShape(input_handle=a, shape_type=tf.int32)]


op("TensorListFromTensor", X(3, 2), run=lists, keep=True)
op("OptionalFromValue", X(3), run=lambda x: r.OptionalGetValue(optional=r.OptionalFromValue(components=[x]), output_types=[tf.float32], output_shapes=[[3]]))
op("For", X(3), run=lambda x: tf.function(lambda x: [tf.map_fn(lambda v: v * 2, x), tf.scan(lambda a, b: a + b, x)])(x))
op("Case", I(1), X(3), run=lambda i, x: tf.function(lambda i, x: tf.switch_case(i, [lambda: x + 1, lambda: x * 2, lambda: tf.zeros_like(x)]))(i, x))
for k in (0, 2, 7):
    op("Case", I(k), X(3), run=lambda i, x: v1.switch_case(i, [lambda: x + 1, lambda: x * 2, lambda: tf.zeros_like(x)]) if False else
       tf.switch_case(i, [lambda: x + 1, lambda: x * 2, lambda: tf.zeros_like(x)]), o=False)
op("ctc", X(5, 2, 4), I([5, 3]), run=lambda x, n: r.CTCGreedyDecoder(inputs=x, sequence_length=n)[:3], o=False)
op("CTCLoss", X(5, 2, 4), run=lambda x: r.CTCLoss(inputs=x, labels_indices=np.array([[0, 0], [0, 1], [1, 0]], np.int64), labels_values=[1, 2, 0], sequence_length=[5, 4])[0], o=False)
op("EditDistance", I([1, 2]), run=lambda v: tf.edit_distance(tf.SparseTensor([[0, 0], [0, 1]], v, [1, 2]), tf.SparseTensor([[0, 0], [0, 1]], [1, 3], [1, 2])), o=False)
op("LogUniformCandidateSampler", I([[1], [2]], "int64"), run=lambda t: r.LogUniformCandidateSampler(
    true_classes=t, num_true=1, num_sampled=5, unique=True, range_max=20), shapes_only=True)
op("Batch", X(3, 4), run=lambda x: tf.math.reduce_variance(tf.math.cumsum(tf.math.l2_normalize(x, 1), axis=-1), 0))
op("MatrixSetDiag", X(3, 3), run=lambda x: tf.linalg.trace(tf.linalg.set_diag(x, [1.0, 2, 3])))
op("Invert", X(2, 3), run=lambda x: tf.nn.moments(x, [1]) + tuple([tf.nn.zero_fraction(x)]))

# Walked by what make_tensorflow_models.py makes, or without results of their own.
COVERED = set("""Const HostConst Placeholder PlaceholderV2 Exit LoopCond NextIteration Merge RefEnter RefExit RefIdentity RefMerge RefNextIteration RefSwitch Copy CopyHost
DebugIdentity TensorArrayCloseV3 TensorArrayGatherV3 TensorArrayReadV3 TensorArrayScatterV3 TensorArraySizeV3 TensorArrayConcatV3 TensorArrayWriteV3 EmptyTensorList
TensorListConcat TensorListConcatLists TensorListConcatV2 TensorListElementShape TensorListGather TensorListGetItem TensorListLength TensorListPopBack TensorListPushBack
TensorListReserve TensorListResize TensorListScatter TensorListScatterIntoExistingList TensorListScatterV2 TensorListSetItem TensorListSplit TensorListStack
OptionalGetValue OptionalHasValue OptionalNone StatelessRandomGetKeyCounter StatelessRandomGetKeyCounterAlg StatelessIf StatelessWhile StatelessCase PartitionedCall
StatefulPartitionedCall If While""".split())
