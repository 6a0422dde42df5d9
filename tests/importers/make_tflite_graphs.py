"""More models of make_tflite.py: StableHLO's operators, several subgraphs, what is kept, several signatures."""
import numpy as np
from make_tflite import CASES, I, K, O, T, V, Model, case, graph, i32, s
from make_tflite_cases import NP, data, rng


def expected(name, code, ins, outs, options, want, keep=True, graphs=(), open_=True, rtol=None, steps=0):
    """What no interpreter has a kernel for: `want` is by the definition."""
    def make():
        inputs = [t for t in ins if t is not None and t.kind == "in"]
        model = Model().graph([(code, ins, outs, options)], inputs, outs)
        for g in graphs: model.graph(*g)
        return model, [t.value for t in inputs], outs
    CASES.append(dict(name=name, make=make, keep=keep, rtol=rtol, atol=None, open=open_, steps=steps, want=want))


def body(code, dtype="f32", options=None):
    a, b, o = I(np.zeros((), NP[dtype])), I(np.zeros((), NP[dtype])), O(dtype)
    return ([(code, [a, b], [o], options)] if code else [], [a, b], [o] if code else [b])


def stablehlo():
    f = lambda *shape, seed=0: data("f32", shape, seed)
    x, y = f(3, 4), f(3, 4, seed=1)
    for code, fn in dict(LOGISTIC=lambda v: 1 / (1 + np.exp(-v)), ABS=np.abs, COSINE=np.cos, EXPONENTIAL=np.exp, FLOOR=np.floor, NEGATE=np.negative, TANH=np.tanh, CBRT=np.cbrt).items():
        expected(f"hlo/{code}", f"STABLEHLO_{code}", [I(x)], [O()], None, [fn(x).astype(np.float32)], keep=code == "CBRT")
    expected("hlo/LOG", "STABLEHLO_LOG", [I(np.abs(x))], [O()], None, [np.log(np.abs(x))], keep=False); expected("hlo/RSQRT", "STABLEHLO_RSQRT", [I(np.abs(x))], [O()], None, [1 / np.sqrt(np.abs(x))], keep=False)
    for code, fn in dict(ADD=np.add, SUBTRACT=np.subtract, MULTIPLY=np.multiply, DIVIDE=np.divide, MAXIMUM=np.maximum, MINIMUM=np.minimum, REMAINDER=np.fmod).items():
        expected(f"hlo/{code}", f"STABLEHLO_{code}", [I(x), I(y)], [O()], None, [fn(x, y)], keep=False)
        a, b = data("i32", (3, 4), 3), np.where(data("i32", (3, 4), 4) == 0, 3, data("i32", (3, 4), 4)).astype(np.int32)
        w = (np.trunc(a / b).astype(np.int32) if code == "DIVIDE" else fn(a, b))
        expected(f"hlo/{code}-i32", f"STABLEHLO_{code}", [I(a), I(b)], [O("i32")], None, [w], keep=code in ("REMAINDER", "DIVIDE"))
    expected("hlo/POWER", "STABLEHLO_POWER", [I(np.abs(x)), I(y)], [O()], None, [np.power(np.abs(x), y)], keep=False)
    for d, fn in enumerate((np.equal, np.not_equal, np.greater_equal, np.greater, np.less_equal, np.less)):
        expected(f"hlo/COMPARE{d}", "STABLEHLO_COMPARE", [I(x), I(y)], [O("b1")], ("StablehloCompareOptions", dict(comparisonDirection=d, compareType=1)), [fn(x, y)], keep=False)
    expected("hlo/PAD", "STABLEHLO_PAD", [I(x), K(np.array(7.0, np.float32))], [O()], ("StablehloPadOptions", dict(edgePaddingLow=[1, -1], edgePaddingHigh=[0, 2], interiorPadding=[1, 2])), [pad_by(x, 7.0, (1, -1), (0, 2), (1, 2))])
    # Convolutions, by XLA where TensorFlow is there.
    for i, (xs, ws, o) in enumerate([((1, 5, 6, 3), (3, 2, 3, 4), dict(windowStrides=[1, 2], padding=[1, 1, 0, 1], lhsDilation=[1, 1], rhsDilation=[1, 1], featureGroupCount=1, batchGroupCount=1)), ((2, 4, 4, 2), (3, 3, 2, 3), dict(windowStrides=[1, 1], padding=[2, 2, 2, 2], lhsDilation=[2, 2], rhsDilation=[1, 1], featureGroupCount=1, batchGroupCount=1)), ((1, 7, 7, 4), (3, 3, 2, 4), dict(windowStrides=[1, 1], padding=[0, 0, 0, 0], lhsDilation=[1, 1], rhsDilation=[2, 2], featureGroupCount=2, batchGroupCount=1))]):
        xv, wv = data("f32", xs, 20 + i), data("f32", ws, 30 + i)
        o = dict(o, windowReversal=[False, False], inputBatchDimension=0, inputFeatureDimension=3, inputSpatialDimensions=[1, 2], kernelInputFeatureDimension=2, kernelOutputFeatureDimension=3, kernelSpatialDimensions=[0, 1], outputBatchDimension=0, outputFeatureDimension=3, outputSpatialDimensions=[1, 2])
        expected(f"hlo/CONVOLUTION{i}", "STABLEHLO_CONVOLUTION", [I(xv), K(wv)], [O()], ("StablehloConvolutionOptions", o), [conv(xv, wv, o)], rtol=1e-3)
        o2 = dict(o, inputFeatureDimension=1, inputSpatialDimensions=[2, 3], kernelOutputFeatureDimension=0, kernelInputFeatureDimension=1, kernelSpatialDimensions=[2, 3], outputFeatureDimension=1, outputSpatialDimensions=[2, 3])
        expected(f"hlo/CONVOLUTION-nchw{i}", "STABLEHLO_CONVOLUTION", [I(xv.transpose(0, 3, 1, 2).copy()), K(wv.transpose(3, 2, 0, 1).copy())], [O()], ("StablehloConvolutionOptions", o2), [conv(xv, wv, o).transpose(0, 3, 1, 2)], rtol=1e-3, keep=i == 1)
    indices(f); sorts(); windows(f); cases()


def pad_by(x, fill, low, high, inside):
    for axis, (lo, hi, k) in enumerate(zip(low, high, inside)):
        n = x.shape[axis]; shape = list(x.shape); shape[axis] = n + (n - 1) * k
        y = np.full(shape, fill, x.dtype); at = [slice(None)] * x.ndim; at[axis] = slice(None, None, k + 1); y[tuple(at)] = x
        at[axis] = slice(max(0, -lo), y.shape[axis] - max(0, -hi)); y = y[tuple(at)]
        widths = [(0, 0)] * x.ndim; widths[axis] = (max(lo, 0), max(hi, 0)); x = np.pad(y, widths, constant_values=fill)
    return x


def conv(x, w, o):
    """(n, h, w, c) by (kh, kw, c / groups, out)."""
    p, d, st, g = o["padding"], o["rhsDilation"], o["windowStrides"], o["featureGroupCount"]
    x = pad_by(x, 0.0, (0, p[0], p[2], 0), (0, p[1], p[3], 0), (0, o["lhsDilation"][0] - 1, o["lhsDilation"][1] - 1, 0))
    kh, kw, cg, out = w.shape; oh = (x.shape[1] - (kh - 1) * d[0] - 1) // st[0] + 1; ow = (x.shape[2] - (kw - 1) * d[1] - 1) // st[1] + 1
    y = np.zeros((x.shape[0], oh, ow, out), np.float64)
    for i in range(kh):
        for j in range(kw):
            part = x[:, i * d[0]:i * d[0] + (oh - 1) * st[0] + 1:st[0], j * d[1]:j * d[1] + (ow - 1) * st[1] + 1:st[1]]
            for k in range(g): y[..., k * out // g:(k + 1) * out // g] += part[..., k * cg:(k + 1) * cg].astype(np.float64) @ w[i, j, :, k * out // g:(k + 1) * out // g]
    return y.astype(np.float32)


def indices(f):
    go = lambda **k: ("StablehloGatherOptions", dict(dict(indicesAreSorted=False), **k))
    x = f(4, 5, 6, seed=40)
    case("hlo/GATHER-rows", "STABLEHLO_GATHER", [I(x), I(np.array([[2], [0], [3]], np.int32))], [O(shape=[3, 5, 6])], go(offsetDims=[1, 2], collapsedSliceDims=[0], startIndexMap=[0], indexVectorDim=1, sliceSizes=[1, 5, 6]), keep=True, open_=False)
    case("hlo/GATHER-points", "STABLEHLO_GATHER", [I(x), I(np.array([[2, 1], [0, 4], [9, 2]], np.int32))], [O(shape=[3, 6])], go(offsetDims=[1], collapsedSliceDims=[0, 1], startIndexMap=[0, 1], indexVectorDim=1, sliceSizes=[1, 1, 6]), keep=True, open_=False)
    case("hlo/GATHER-windows", "STABLEHLO_GATHER", [I(x), I(np.array([[2, 1], [0, 4], [1, 2]], np.int64))], [O(shape=[2, 3, 3])], go(offsetDims=[0, 2], collapsedSliceDims=[1], startIndexMap=[0, 2], indexVectorDim=1, sliceSizes=[2, 1, 3]), keep=True, open_=False)
    case("hlo/GATHER-implicit", "STABLEHLO_GATHER", [I(x), I(np.array([[2, 0], [1, 3]], np.int32))], [O(shape=[2, 2, 5, 6])], go(offsetDims=[2, 3], collapsedSliceDims=[0], startIndexMap=[0], indexVectorDim=2, sliceSizes=[1, 5, 6]), open_=False)
    case("hlo/GATHER-front", "STABLEHLO_GATHER", [I(x), I(np.array([[2, 0, 1], [1, 3, 4]], np.int32))], [O(shape=[6, 3])], go(offsetDims=[0], collapsedSliceDims=[0, 1], startIndexMap=[1, 0], indexVectorDim=0, sliceSizes=[1, 1, 6]), keep=True, open_=False)
    for code, tag in (("STABLEHLO_ADD", "add"), ("STABLEHLO_MULTIPLY", "mul"), ("STABLEHLO_MAXIMUM", "max"), ("STABLEHLO_MINIMUM", "min"), (None, "set")):
        def scatter(name, xs, idx, us, **o):
            ins, outs = [I(f(*xs, seed=41)), I(np.array(idx, np.int32)), I(f(*us, seed=42))], [O()]
            o = ("StablehloScatterOptions", dict(dict(indicesAreSorted=False, uniqueIndices=False, updateComputationSubgraphIndex=1), **o))
            graph(f"hlo/SCATTER-{name}-{tag}", [([("STABLEHLO_SCATTER", ins, outs, o)], ins, outs), body(code)], [t.value for t in ins], keep=tag in ("add", "set"), open_=False)
        scatter("rows", (4, 3), [[2], [0]], (2, 3), updateWindowDims=[1], insertedWindowDims=[0], scatterDimsToOperandDims=[0], indexVectorDim=1)
        scatter("points", (4, 3), [[2, 1], [0, 0], [3, 9]], (3,), updateWindowDims=[], insertedWindowDims=[0, 1], scatterDimsToOperandDims=[0, 1], indexVectorDim=1)
        scatter("windows", (4, 5), [[1, 2], [0, 0]], (2, 2, 3), updateWindowDims=[1, 2], insertedWindowDims=[], scatterDimsToOperandDims=[0, 1], indexVectorDim=1)


def sorts():
    x = data("f32", (3, 6), 50); k = data("i32", (3, 6), 51)
    for d, up in ((5, True), (3, False)):
        so = lambda axis: ("StablehloSortOptions", dict(dimension=axis, isStable=True, comparatorSubgraphIndex=1))
        a, b, o = I(np.zeros((), np.float32)), I(np.zeros((), np.float32)), O("b1")
        one = ([("STABLEHLO_COMPARE", [a, b], [o], ("StablehloCompareOptions", dict(comparisonDirection=d, compareType=1)))], [a, b], [o])
        for axis in (0, 1):
            w = np.sort(x, axis); w = w if up else np.flip(w, axis)
            expected(f"hlo/SORT-{d}-{axis}", "STABLEHLO_SORT", [I(x)], [O()], so(axis), [w], graphs=[one])
        c, e = I(np.zeros((), np.int32)), I(np.zeros((), np.int32)); o2 = O("b1")
        two = ([("STABLEHLO_COMPARE", [c, e], [o2], ("StablehloCompareOptions", dict(comparisonDirection=d, compareType=3)))], [I(np.zeros((), np.float32)), I(np.zeros((), np.float32)), c, e], [o2])
        order = np.argsort(k if up else -k, 1, kind="stable")
        expected(f"hlo/SORT2-{d}", "STABLEHLO_SORT", [I(x), I(k)], [O(), O("i32")], so(1), [np.take_along_axis(x, order, 1), np.take_along_axis(k, order, 1)], graphs=[two])


def windows(f):
    for code, tag, init in (("STABLEHLO_ADD", "add", 0.0), ("STABLEHLO_MAXIMUM", "max", -1e30), ("STABLEHLO_MINIMUM", "min", 1e30), ("STABLEHLO_MULTIPLY", "mul", 1.0)):
        for i, (shape, o) in enumerate([((1, 6, 7, 2), dict(windowDimensions=[1, 2, 3, 1], windowStrides=[1, 2, 2, 1], baseDilations=[1, 1, 1, 1], windowDilations=[1, 1, 1, 1], padding=[0, 0, 0, 0, 1, 1, 0, 0])), ((4, 6), dict(windowDimensions=[2, 3], windowStrides=[1, 1], baseDilations=[2, 1], windowDilations=[1, 2], padding=[1, 0, 0, 2])), ((3, 5), dict(windowDimensions=[1, 5], windowStrides=[1, 1], baseDilations=[1, 1], windowDilations=[1, 1], padding=[0, 0, 4, 0]))]):
            ins, outs = [I(f(*shape, seed=60 + i)), K(np.array(init, np.float32))], [O()]
            graph(f"hlo/REDUCE_WINDOW-{tag}-{i}", [([("STABLEHLO_REDUCE_WINDOW", ins, outs, ("StablehloReduceWindowOptions", dict(o, bodySubgraphIndex=1)))], ins[:1], outs), body(code)], [ins[0].value], keep=tag in ("add", "max"))
    for fn in (1, 2, 3, 4):
        k = lambda *v: K(np.array(v, np.int64))
        case(f"hlo/TFL_REDUCE_WINDOW-{fn}", "REDUCE_WINDOW", [I(f(5, 6, seed=65)), K(np.array({1: 0, 2: 1, 3: 1e9, 4: -1e9}[fn], np.float32)), k(2, 3), k(1, 2), k(2, 1)], [O()], ("ReduceWindowOptions", dict(reduceFunction=fn)), keep=fn == 1)
    x = f(3, 4, 5, seed=66)
    for code, fn, init in (("STABLEHLO_ADD", np.sum, 0.0), ("STABLEHLO_MAXIMUM", np.max, -1e30)):
        expected(f"hlo/REDUCE-{code}", "STABLEHLO_REDUCE", [I(x), K(np.array(init, np.float32))], [O()], ("StablehloReduceOptions", dict(dimensions=[0, 2], bodySubgraphIndex=1)), [fn(x, (0, 2))], graphs=[body(code)], keep=False)


def cases():
    x = data("f32", (2, 3), 70)
    for at in (0, 1, 2, 5, -1):
        idx, xin, out = I(np.array(at, np.int32)), I(x), O()
        def branch(code):
            a, o = I(x), O(); return ([(code, [a], [o], None)], [a], [o])
        want = [np.abs(x), -x, np.floor(x)][at if 0 <= at <= 2 else 2]
        expected(f"hlo/CASE{at}", "STABLEHLO_CASE", [idx, xin], [out], ("StablehloCaseOptions", dict(branchSubgraphIndices=[1, 2, 3])), [want], graphs=[branch("ABS"), branch("NEG"), branch("FLOOR")], keep=at in (1, -1))


def blocks():
    """FULLY_CONNECTED with a scale for each block of a row."""
    for n_in, block, bias in ((64, 32, True), (96, 32, False)):
        r = rng(80); w = r.integers(-8, 8, (6, n_in)).astype(np.int8); scales = r.uniform(0.01, 0.1, (6, n_in // block)).astype(np.float16)
        x = data("f32", (3, n_in), 81); sc = K(scales); weights = K(w, dtype="i4"); weights.blocks = (sc, block)
        b = K(data("f32", (6,), 82)) if bias else None
        case(f"blocks/FC-{n_in}", "FULLY_CONNECTED", [I(x), weights, b], [O()], ("FullyConnectedOptions", {}), keep=True, rtol=1e-3, atol=1e-2)


def control():
    x = data("f32", (2, 3), 90)
    for cond in (True, False):
        c, a, out = I(np.array([cond])), I(x), O()
        def branch(code):
            v, o = I(x), O(); return ([(code, [v], [o], None)], [v], [o])
        graph(f"control/IF-{cond}", [([("IF", [c, a], [out], ("IfOptions", dict(thenSubgraphIndex=1, elseSubgraphIndex=2)))], [c, a], [out]), branch("ABS"), branch("NEG")], [np.array([cond]), x], keep=cond)
    n, a, no, ao = I(np.array(3, np.int32)), I(x), O("i32"), O()
    cn, ca, co = I(np.array(0, np.int32)), I(x), O("b1"); zero, one = K(np.array(0, np.int32)), K(np.array(1, np.int32))
    bn, ba, bno, bao = I(np.array(0, np.int32)), I(x), O("i32", shape=[]), O(shape=[2, 3])
    for t in range(0, 4):
        graph(f"control/WHILE-{t}", [([("WHILE", [n, a], [no, ao], ("WhileOptions", dict(condSubgraphIndex=1, bodySubgraphIndex=2)))], [n, a], [no, ao]), ([("GREATER", [cn, zero], [co], None)], [cn, ca], [co]), ([("SUB", [bn, one], [bno], ("SubOptions", {})), ("ADD", [ba, ba], [bao], ("AddOptions", {}))], [bn, ba], [bno, bao])], [np.array(t, np.int32), x], keep=t == 3)
    for keys in (np.int64,):
        pass


PARTS = dict(stablehlo=stablehlo, blocks=blocks, control=control)
