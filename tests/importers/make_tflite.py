"""Models of one operator of TensorFlow Lite each (some are whole layers), with what its interpreter gives.

usage: make_tflite.py --bin DIR [--filter TEXT] [--work FOLDER] [--no-open] [--zip FILE.zip]     (needs ai-edge-litert, and TensorFlow for the parts that its converter makes)

A walk over the table of operators: each is compiled by relayc, run by vmrun and compared with the interpreter's reference kernels (or, where these round otherwise, its optimised
ones); then again with every extent of its inputs open. What the interpreter refuses is left out. Integers must be equal, floats within 1e-4.
--zip runs only those that are marked with `keep` and writes what passes as an archive for run_samples.py, whose tolerances are all 1e-4. Seeds are fixed."""
import argparse, collections, io, json, os, pickle, subprocess, sys, traceback, zipfile
os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
os.environ.setdefault("OMP_NUM_THREADS", "1")
import flatbuffers
import numpy as np
from ai_edge_litert import schema_py_generated as s
from ai_edge_litert.interpreter import Interpreter, OpResolverType

REF, OPT = OpResolverType.BUILTIN_REF, OpResolverType.BUILTIN_WITHOUT_DEFAULT_DELEGATES
TYPES = {"f32": ("FLOAT32", np.float32), "f16": ("FLOAT16", np.float16), "f64": ("FLOAT64", np.float64), "i8": ("INT8", np.int8), "u8": ("UINT8", np.uint8),
         "i16": ("INT16", np.int16), "u16": ("UINT16", np.uint16), "i32": ("INT32", np.int32), "u32": ("UINT32", np.uint32), "i64": ("INT64", np.int64),
         "u64": ("UINT64", np.uint64), "b1": ("BOOL", np.bool_), "i4": ("INT4", np.int8), "c64": ("COMPLEX64", np.complex64), "bf16": ("BFLOAT16", np.uint16), "u4": ("UINT4", np.uint8), "i2": ("INT2", np.int8),
         "res": ("RESOURCE", np.int32)}
NAME_OF = {np.dtype(v[1]): k for k, v in reversed(list(TYPES.items())) if k not in ("i4", "res", "bf16", "u4", "i2")}


class T:
    """A tensor: an input of the model (its value is what it's run with), a constant or a result."""
    def __init__(self, value=None, kind="in", dtype=None, q=None, sig=None, shape=None, variable=False, name=None, raw=None):
        self.value = None if value is None else np.asarray(value)
        self.kind, self.q, self.sig, self.variable, self.name, self.raw = kind, q, sig, variable, name, raw
        self.dtype = dtype or (NAME_OF[self.value.dtype] if self.value is not None else "f32")
        self.shape = list(shape if shape is not None else self.value.shape if self.value is not None else [])


def I(value, q=None, dtype=None, sig=None): return T(value, "in", dtype, q, sig)
def K(value, q=None, dtype=None, **k): return T(value, "const", dtype, q, **k)
def O(dtype="f32", q=None, shape=None): return T(None, "out", dtype, q, shape=shape or [])
def V(dtype, shape, q=None): return T(None, "var", dtype, q, shape=shape, variable=True)
def i32(*v): return K(np.array(v, np.int32))


def packed(value, bits):
    v = value.reshape(-1).astype(np.int64) & ((1 << bits) - 1)
    each = 8 // bits
    v = np.concatenate([v, np.zeros(-len(v) % each, np.int64)]).reshape(-1, each)
    return sum(v[:, i] << (bits * i) for i in range(each)).astype(np.uint8)


class Model:
    """Subgraphs of operators: (code, inputs, outputs, options, options as they are of which kind)."""
    def __init__(self): self.graphs, self.signatures = [], []
    def graph(self, ops, inputs, outputs): self.graphs.append((ops, inputs, outputs)); return self
    def bytes(self, open_=False):
        m = s.ModelT(); m.version = 3; m.buffers = [s.BufferT()]; m.operatorCodes = []; m.subgraphs = []; codes = {}
        for ops, inputs, outputs in self.graphs:
            g = s.SubGraphT(); g.name = f"g{len(m.subgraphs)}"; g.tensors = []; index = {}
            def add(t):
                if t is None: return -1
                if id(t) in index: return index[id(t)]
                x = s.TensorT(); x.type = getattr(s.TensorType, TYPES[t.dtype][0]); x.shape = list(t.shape); x.isVariable = t.variable
                x.name = t.name or f"t{len(g.tensors)}"; x.buffer = 0
                if t.sig is not None: x.shapeSignature = list(t.sig)
                if open_ and t.kind == "in" and t.shape: x.shapeSignature = [-1] * len(t.shape)
                if t.kind == "const":
                    b = s.BufferT(); bits = {"i4": 4, "u4": 4, "i2": 2}.get(t.dtype)
                    data = t.raw if t.raw is not None else packed(t.value, bits) if bits else np.frombuffer(np.ascontiguousarray(t.value).tobytes(), np.uint8)
                    b.data = data; m.buffers.append(b); x.buffer = len(m.buffers) - 1
                if t.q is not None:
                    q = s.QuantizationParametersT(); scale, zero = np.atleast_1d(t.q[0]), np.atleast_1d(t.q[1])
                    q.scale = [float(v) for v in scale]; q.zeroPoint = [int(v) for v in zero]; q.quantizedDimension = t.q[2] if len(t.q) > 2 else 0
                    x.quantization = q
                if getattr(t, "blocks", None):
                    q = s.QuantizationParametersT(); q.detailsType = s.QuantizationDetails.BlockwiseQuantization; q.details = s.BlockwiseQuantizationT()
                    q.details.scales, q.details.blockSize, q.details.zeroPoints = add(t.blocks[0]), t.blocks[1], -1
                    x.quantization = q
                index[id(t)] = len(g.tensors); g.tensors.append(x)
                return index[id(t)]
            g.inputs = [add(t) for t in inputs]; g.operators = []
            for op in ops:
                code, ins, outs, options = op[:4]; between = op[4] if len(op) > 4 else []
                custom = isinstance(code, str) and code.startswith("custom:")
                number = s.BuiltinOperator.CUSTOM if custom else getattr(s.BuiltinOperator, code)
                if code not in codes:
                    c = s.OperatorCodeT(); c.builtinCode = number; c.deprecatedBuiltinCode = min(number, 127); c.version = VERSIONS.get(code, 1)
                    if custom: c.customCode = code[7:]
                    codes[code] = len(m.operatorCodes); m.operatorCodes.append(c)
                o = s.OperatorT(); o.opcodeIndex = codes[code]; o.inputs = [add(t) for t in ins]; o.outputs = [add(t) for t in outs]
                if between: o.intermediates = [add(t) for t in between]
                if isinstance(options, (bytes, bytearray)): o.customOptions = np.frombuffer(bytes(options), np.uint8)
                elif options is not None:
                    name, fields = options; table = getattr(s, name + "T")()
                    for k, v in fields.items():
                        assert hasattr(table, k), (name, k)
                        setattr(table, k, v)
                    if hasattr(s.BuiltinOptions, name): o.builtinOptionsType = getattr(s.BuiltinOptions, name); o.builtinOptions = table
                    else: o.builtinOptions2Type = getattr(s.BuiltinOptions2, name); o.builtinOptions2 = table
                g.operators.append(o)
            g.outputs = [add(t) for t in outputs]; m.subgraphs.append(g)
        b = flatbuffers.Builder(1024); b.Finish(m.Pack(b), file_identifier=b"TFL3")
        return bytes(b.Output())


VERSIONS = collections.defaultdict(lambda: 1)
CASES = []  # (name, make() -> (model bytes, [inputs], [open model bytes]), keep, options)


def case(name, code, ins, outs, options=None, keep=False, between=(), rtol=None, atol=None, open_=True, steps=0):
    """One operator."""
    def make():
        inputs = [t for t in ins if t is not None and t.kind == "in"]
        model = Model().graph([(code, ins, outs, options, list(between))], inputs, outs)
        return model, [t.value for t in inputs], outs
    CASES.append(dict(name=name, make=make, keep=keep, rtol=rtol, atol=atol, open=open_, steps=steps))


def graph(name, graphs, inputs, keep=False, rtol=None, atol=None, open_=True, steps=0):
    """Several operators; graphs: [(ops, inputs, outputs)]."""
    def make():
        model = Model()
        for g in graphs: model.graph(*g)
        return model, inputs, graphs[0][2]
    CASES.append(dict(name=name, make=make, keep=keep, rtol=rtol, atol=atol, open=open_, steps=steps))


def run_reference(content, inputs, resolver=REF):
    """In a process of its own: some kernels write beyond their memory."""
    read, write = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(read)
        try: answer = (None, run_interpreter(content, inputs, resolver))
        except BaseException as e: answer = (str(e)[:500] or "failed", None)
        with os.fdopen(write, "wb") as f: pickle.dump(answer, f)
        os._exit(0)
    os.close(write)
    with os.fdopen(read, "rb") as f: data = f.read()
    status = os.waitpid(child, 0)[1]
    if status or not data: raise RuntimeError(f"the interpreter ended with status {status}")
    error, outputs = pickle.loads(data)
    if error and resolver == REF and "Didn't find op" in error: return run_reference(content, inputs, OPT)
    if error: raise RuntimeError(error)
    return outputs


def run_interpreter(content, inputs, resolver):
    it = Interpreter(model_content=content, experimental_op_resolver_type=resolver, num_threads=1)
    details = it.get_input_details()
    for d, v in zip(details, inputs):
        if list(d["shape"]) != list(v.shape): it.resize_tensor_input(d["index"], v.shape)
    it.allocate_tensors()
    for d, v in zip(it.get_input_details(), inputs): it.set_tensor(d["index"], v.astype(d["dtype"]) if v.dtype != d["dtype"] else v)
    it.invoke()
    return [it.get_tensor(d["index"]) for d in it.get_output_details()]


class Runner:
    def __init__(self, bin_, work):
        self.bin, self.work = bin_, work
        os.makedirs(work, exist_ok=True)

    def ours(self, name, content, inputs, count, options=()):
        base = f"{self.work}/{name}"
        with open(base + ".tflite", "wb") as f: f.write(content)
        args = []
        for i, v in enumerate(inputs):
            np.save(f"{base}.in{i}.npy", v); args += ["--input", f"{base}.in{i}.npy"]
        p = subprocess.run([f"{self.bin}/relayc", base + ".tflite", "-o", base + ".vmx", *options], capture_output=True, text=True, timeout=300)
        if p.returncode: return ("crash " if p.returncode < 0 or p.returncode > 3 else "compile ") + p.stderr.strip()[:700], None
        p = subprocess.run([f"{self.bin}/vmrun", base + ".vmx", *args, "--output", base + ".out.npz"], capture_output=True, text=True, timeout=300)
        os.remove(base + ".vmx")
        if p.returncode: return ("crash " if p.returncode < 0 or p.returncode > 3 else "run ") + p.stderr.strip()[:700], None
        with np.load(base + ".out.npz") as z: return None, [z[k] for k in z.files][:count]


def difference(want, got, rtol, atol, steps=0):
    if len(want) != len(got): return f"{len(got)} results, expected {len(want)}"
    for i, (w, g) in enumerate(zip(want, got)):
        if w.dtype == np.complex64 or w.dtype == object: continue
        if w.shape != g.shape: return f"result {i}: shape {g.shape}, expected {w.shape}"
        if w.dtype != g.dtype: return f"result {i}: dtype {g.dtype}, expected {w.dtype}"
        if w.dtype.kind == "f":
            if not np.allclose(g.astype(np.float64), w.astype(np.float64), rtol, atol, equal_nan=True):
                with np.errstate(all="ignore"): return f"result {i}: off by {np.nanmax(np.abs(g.astype(np.float64) - w)):.3g}, of {np.nanmax(np.abs(w)):.3g}"
        elif steps and w.dtype != np.bool_:
            d = np.abs(w.astype(np.int64) - g.astype(np.int64)).max(initial=0)
            if d > steps: return f"result {i}: {d} steps off"
        elif not np.array_equal(w, g):
            d = w.astype(np.float64) - g.astype(np.float64)
            return f"result {i}: {int((d != 0).sum())} of {d.size} differ, by at most {np.abs(d).max():.3g}"
    return None


def walk(a):
    runner, kept, tally, failures = Runner(a.bin, a.work), [], collections.Counter(), []
    for c in CASES:
        if a.filter and not any(f in c["name"] for f in a.filter.split(",")): continue
        if a.zip and not c["keep"]: continue
        name = c["name"]
        try:
            if "content" in c: content, inputs, model = c["content"], c["inputs"], None
            else:
                model, inputs, outs = c["make"](); content = model.bytes()
            want = c["want"] if "want" in c else run_reference(content, inputs)
            if model is not None:
                for t, w in zip(outs, want): t.shape = list(w.shape)
                content = model.bytes()
        except Exception as e:
            tally["refused by the interpreter"] += 1
            if a.verbose: print(f"     {name}: interpreter: {str(e).splitlines()[0][:150] if str(e) else traceback.format_exc()[-300:]}")
            continue
        rtol, atol = c.get("rtol") or 1e-4, c.get("atol") or 1e-5
        if want and want[0].dtype == np.float16: rtol, atol = max(rtol, 2e-3), max(atol, 1e-3)
        variants = [("", content)]
        failed = len(failures)
        if c.get("open", True) and not a.no_open and any(v.ndim for v in inputs):
            if model is not None: variants.append((" open", model.bytes(open_=True)))
        for tag, data in variants:
            error, got = runner.ours(name.replace("/", "_"), data, inputs, len(want))
            problem = error or difference(want, got, rtol, atol, c.get("steps", 0))
            if problem and not error and "want" not in c:
                try:
                    other = run_reference(content, inputs, OPT)
                    if difference(other, got, rtol, atol) is None: tally["pass, as the optimised kernels only"] += 1; c["keep"] = False; continue
                except Exception: pass
            tally["pass" if problem is None else "fail"] += 1
            if problem:
                failures.append((name + tag, problem)); print(f"FAIL {name}{tag}: {problem}", flush=True)
        if c["keep"] and len(failures) == failed: kept.append((name.replace("/", "_").replace(".", "_"), content, inputs, want, c))
    print(dict(tally))
    return kept


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--bin", required=True); p.add_argument("--filter", default=""); p.add_argument("--work", default="/tmp/make_tflite")
    p.add_argument("--no-open", action="store_true"); p.add_argument("--zip"); p.add_argument("--verbose", action="store_true"); p.add_argument("--part", default="")
    a = p.parse_args()
    import make_tflite_cases as parts
    parts.add_all(a.part)
    kept = walk(a)
    if a.zip: write_zip(a.zip, kept)


def write_zip(path, kept):
    """Stored with deterministic times, so that the same models give the same bytes."""
    rows = []
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as z:
        def put(name, data): z.writestr(zipfile.ZipInfo(name, (2026, 1, 1, 0, 0, 0)), data, zipfile.ZIP_DEFLATED)
        for name, content, inputs, want, c in kept:
            put(f"{name}.tflite", content)
            for part, arrays in (("in", inputs), ("out", want)):
                b = io.BytesIO(); np.savez(b, **{str(i): v for i, v in enumerate(arrays)}); put(f"{name}.{part}.npz", b.getvalue())
            rows.append({"model": f"{name}.tflite", "options": [], **{k: c[k] for k in ("rtol", "atol") if c.get(k)}})
        put("samples.json", json.dumps(rows, indent=1))
    print(f"{len(rows)} models, {os.path.getsize(path)} bytes")


if __name__ == "__main__":
    sys.modules["make_tflite"] = sys.modules["__main__"]
    sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
    main()
