#!/usr/bin/python3
"""Random nets with what an engine runs as regions, against the native program.

    random_nets.py BIN [--count N] [--seed N] [--keep FOLDER] [--engine NAME]

A net has convolutions (groups, strides, dilations, images or channels first), pools, normalisations,
sums of branches, concatenations, products and activations, cells of recurrent networks, spelled out or
not, between operators that no engine has, ifs, closures, recursion, tuples and references; results are
several values. Each is compiled with
open sizes and with fixed ones, and run at two extents: floats are as near as 2e-4 of the largest
element. Its IR is verified after each pass. What fails is printed with its seed, and kept
in FOLDER. The tests run a short one; exit status 1 where one fails. Needs Debian's python3-numpy.
"""
import argparse
import json
import os
import random
import shutil
import subprocess
import sys
import tempfile

import numpy as np

HEAD = '#[version = "0.0.5"]\n'
EXTENTS = [(2, 9, 7), (1, 12, 16)]  # pictures, height, width
NEAR = 2e-4

ACTIVATIONS = [
    "nn.relu({x})", "tanh({x})", "sigmoid({x})", "clip({x}, a_min=-0.5f, a_max=0.75f)", "nn.leaky_relu({x}, alpha=0.1f)",
    "multiply({x}, sigmoid({x}))", "abs({x})", "sqrt(abs({x}))", "exp(clip({x}, a_min=-2f, a_max=2f))", "negative({x})",
    "multiply(multiply({x}, 0.5f), add(erf(multiply({x}, 0.70710678f)), 1f))",
    "multiply({x}, add(0.5f, multiply(0.5f, erf(divide({x}, 1.41421356f)))))",
    "multiply({x}, divide(clip(add({x}, 3f), a_min=0f, a_max=6f), 6f))",
    "multiply({x}, tanh(log(add(exp({x}), 1f))))",
    "multiply(multiply(0.5f, {x}), add(1f, tanh(multiply(0.7978845608f, add({x}, multiply(0.044715f, power({x}, 3f)))))))",
    "where(greater({x}, 0f), {x}, multiply(subtract(exp({x}), 1f), 0.75f))", "multiply({x}, sigmoid(multiply({x}, 1.702f)))",
    "maximum({x}, 0.1f)", "minimum(0.4f, {x})", "multiply({x}, {x})", "subtract(1f, {x})", "divide({x}, 1.5f)",
]
# Of no engine, or not of oneDNN.
FOREIGN = ["sin({x})", "cos({x})", "erf({x})", "atan({x})", "copy({x})", "add({x}, floor(0.3f))", "reverse({x}, axis=1)",
           "where(greater({x}, 1000f), {x}, tanh({x}))", "cumsum(multiply({x}, 0.1f), axis=1)", "nn.dropout({x}).0"]


class Net:
    """Text of a program over images, and of the arrays that it takes."""

    def __init__(self, seed, steps):
        self.random = random.Random(seed)
        self.last = self.random.random() < 0.4
        self.layout = "NHWC" if self.last else "NCHW"
        self.lines, self.params, self.count = [], [("c", "bool", None)], 0
        self.arrays = np.random.default_rng(seed)
        # (name, channels, height and width at each of the extents)
        self.images = [("%x", 8, tuple(e[1:] for e in EXTENTS))]
        self.vectors = []  # names
        self.functions = []  # definitions before @main, where ROWS is the number of pictures
        for _ in range(steps):
            self.step()
        self.close()

    # --- Pieces ---

    def let(self, value, into=None):
        name = f"%v{self.count}"
        self.count += 1
        (self.lines if into is None else into).append(f"  let {name} = {value};")
        return name

    def pick(self):
        return self.images[-1] if self.random.random() < 0.6 else self.random.choice(self.images)

    def table(self, dims, scale):
        """Constant, or a parameter of the program."""
        if self.random.random() < 0.15:
            name = f"w{len(self.params)}"
            self.params.append((name, f"Tensor[({', '.join(map(str, dims))}), float32]",
                                (self.arrays.standard_normal(dims) * scale).astype(np.float32)))
            return f"%{name}"
        return self.constant(dims, scale)

    def constant(self, dims, scale):
        size = int(np.prod(dims))
        start = self.random.randrange(100)
        return (f'multiply(reshape(sin(arange({start}f, {start + size}f, 1f, dtype="float32")), '
                f"newshape=[{', '.join(map(str, dims))}]), {scale:.4f}f)")

    @property
    def axis(self):
        return 3 if self.last else 1

    def channels(self, c):
        return [c] if self.last else [c, 1, 1]

    def conv(self, x, into=None):
        name, c, sizes = x
        groups = self.random.choice([1, 1, 2, c])
        out = c if groups == c else self.random.choice([4, 8, 12])
        if groups == 2 and c % 2:
            groups = 1
        window = [self.random.choice([1, 3, 3, 5]), self.random.choice([1, 3])]
        stride = self.random.choice([1, 1, 1, 2])
        spread = self.random.choice([1, 1, 2])
        pads = [(w - 1) * spread // 2 for w in window]
        per = c // groups
        if self.last:
            kernel, form = [*window, per, out], "HWIO"
            if groups == c and groups > 1:
                kernel, form = [*window, c, 1], "HWOI"
        else:
            kernel, form = [out, per, *window], "OIHW"
        text = (f"nn.conv2d({name}, {self.table(kernel, 1.0 / (per * window[0] * window[1]) ** 0.5)}, "
                f"strides=[{stride}, {stride}], padding={pads}, dilation=[{spread}, {spread}], groups={groups}, "
                f'channels={out}, kernel_size={window}, data_layout="{self.layout}", kernel_layout="{form}")')
        bias = self.random.random()
        if bias < 0.3:
            text = f"nn.bias_add({text}, {self.table([out], 0.3)}, axis={self.axis})"
        elif bias < 0.5:
            text = f"add({text}, {self.table(self.channels(out), 0.3)})"
        if self.random.random() < 0.5:
            text = self.activation(self.let(text, into))
        made = tuple(tuple((s + 2 * p - (w - 1) * spread - 1) // stride + 1 for s, p, w in zip(size, pads, window))
                     for size in sizes)
        return self.let(text, into), out, made

    def activation(self, name):
        return self.random.choice(ACTIVATIONS).format(x=name)

    def same(self, x):
        """An image of x's sizes, maybe x."""
        return self.random.choice([i for i in self.images if i[1:] == x[1:]])

    # --- Steps ---

    def step(self):
        kinds = [self.s_conv] * 6 + [self.s_activation] * 3 + [
            self.s_sum, self.s_sum, self.s_foreign, self.s_foreign, self.s_pool, self.s_norm, self.s_concat,
            self.s_squeeze, self.s_scale, self.s_if, self.s_closure, self.s_tuple, self.s_reference, self.s_vector,
            self.s_attention, self.s_cell, self.s_recursion, self.s_transposed, self.s_softmax, self.s_resize, self.s_pad, self.s_alias]
        made = self.random.choice(kinds)(self.pick())
        if made is not None and all(min(s) >= 1 for s in made[2]):
            self.images.append(made)

    def s_conv(self, x):
        return self.conv(x)

    def s_activation(self, x):
        return (self.let(self.activation(x[0])), *x[1:])

    def s_sum(self, x):
        op = self.random.choice(["add", "add", "multiply", "subtract", "maximum"])
        value = f"{op}({x[0]}, {self.same(x)[0]})"
        return (self.let(f"nn.relu({value})" if self.random.random() < 0.5 else value), *x[1:])

    def s_foreign(self, x):
        return (self.let(self.random.choice(FOREIGN).format(x=x[0])), *x[1:])

    def s_pool(self, x):
        kind = self.random.choice(["max", "avg"])
        more = ", count_include_pad=True" if kind == "avg" and self.random.random() < 0.5 else ""
        stride = self.random.choice([1, 1, 2])
        made = tuple(tuple((s - 1) // stride + 1 for s in size) for size in x[2])
        return self.let(f"nn.{kind}_pool2d({x[0]}, pool_size=[3, 3], strides=[{stride}, {stride}], padding=[1, 1, 1, 1], "
                        f'layout="{self.layout}"{more})'), x[1], made

    def s_norm(self, x):
        c, name = x[1], x[0]
        scale, shift = self.table([c], 0.7), self.table([c], 0.4)
        kind = self.random.randrange(4)
        if kind == 0:
            value = (f"nn.batch_norm({name}, {scale}, {shift}, {self.table([c], 0.2)}, "
                     f"add(1.5f, {self.table([c], 0.5)}), axis={self.axis}).0")
        elif kind == 1 and self.last:
            value = f"nn.layer_norm({name}, {scale}, {shift}, axis=-1)"
        elif kind == 2:
            value = f"nn.instance_norm({name}, {scale}, {shift}, axis={self.axis}, epsilon=0.1f)"
        else:
            value = f"nn.group_norm({name}, {scale}, {shift}, num_groups=2, axis={self.axis}, epsilon=0.1f)"
            if self.last or c % 2:
                value = f"nn.batch_norm({name}, {scale}, {shift}, {shift}, add(1.5f, {shift}), axis={self.axis}).0"
        return (self.let(value), *x[1:])

    def s_concat(self, x):
        both = self.let(f"concatenate(({x[0]}, {self.same(x)[0]}), axis={self.axis})")
        if self.random.random() < 0.5:
            return both, 2 * x[1], x[2]
        parts = self.let(f"split({both}, indices_or_sections=2, axis={self.axis})")
        return self.let(f"{parts}.{self.random.randrange(2)}"), x[1], x[2]

    def s_squeeze(self, x):
        axes = "1, 2" if self.last else "2, 3"
        mean = self.let(f"mean({x[0]}, axis=[{axes}], keepdims=True)")
        return self.let(f"multiply({x[0]}, sigmoid({mean}))"), *x[1:]

    def s_scale(self, x):
        return (self.let(f"multiply({x[0]}, {self.table(self.channels(x[1]), 1.0)})"), *x[1:])

    def s_if(self, x):
        left, right = [], []
        a = self.conv(x, left)
        b = self.let(self.activation(x[0]), right)
        then = self.let(f"mean({a[0]}, axis=[1, 2, 3], keepdims=True)", left)
        other = self.let(f"mean({b}, axis=[1, 2, 3], keepdims=True)", right)
        value = self.let("if (%c) {\n" + "\n".join(left) + f"\n  {then}\n  }} else {{\n" + "\n".join(right) + f"\n  {other}\n  }}")
        return (self.let(f"add({x[0]}, {value})"), *x[1:])

    def s_closure(self, x):
        inner = []
        made = self.conv(("%a", *x[1:]), inner)
        f = self.let("fn (%a) {\n" + "\n".join(inner) + f"\n  {made[0]}\n  }}")
        a = self.let(f"{f}({x[0]})")
        b = self.let(f"{f}({self.same(x)[0]})")
        return self.let(f"add({a}, {b})"), *made[1:]

    def s_tuple(self, x):
        pair = self.let(f"({x[0]}, {self.same(x)[0]})")
        return (self.let(f"add({pair}.0, {pair}.1)"), *x[1:])

    def s_reference(self, x):
        cell = self.let(f"ref({x[0]})")
        self.let(f"ref_write({cell}, {self.conv(x)[0]})")
        other = self.conv(x)
        self.images.append(other)
        read = self.let(f"ref_read({cell})")
        return (self.let(f"add({x[0]}, mean({read}, axis=[1, 2, 3], keepdims=True))"), *x[1:])

    def s_vector(self, x):
        axes = "1, 2" if self.last else "2, 3"
        at = self.let(f"mean({x[0]}, axis=[{axes}])")
        features = x[1]
        for _ in range(self.random.randrange(1, 3)):
            units = self.random.choice([5, 16, 32])
            if self.random.random() < 0.6:
                value = f"nn.dense({at}, {self.table([units, features], features ** -0.5)}, units={units})"
            else:
                value = f"nn.matmul({at}, {self.table([features, units], features ** -0.5)}, units={units})"
            if self.random.random() < 0.6:
                value = f"{self.random.choice(['nn.bias_add', 'add'])}({value}, {self.table([units], 0.3)})"
            at = self.let(self.activation(self.let(value)))
            features = units
        self.vectors.append(at)
        return None

    # --- Cells: LSTMs, GRUs, plain ones ---

    def both(self, op, a, b):
        return f"{op}({a}, {b})" if self.random.random() < 0.5 else f"{op}({b}, {a})"

    def gates(self, x, features, units, bias):
        """A product with constants, of x that is (pictures, features)."""
        value = f"nn.dense({x}, {self.constant([units, features], features ** -0.5)}, units={units})"
        return f"add({value}, {self.constant([units], 0.3)})" if bias else value

    def cell(self, x, features, h, c, size, into):
        """The next h and c."""
        kind = self.random.choice(["lstm", "lstm", "lbr", "gru", "plain"])
        flag = lambda: self.random.random() < 0.5  # noqa: E731
        if kind == "plain":
            gates = self.let(self.both("add", self.gates(x, features, size, flag()), self.gates(h, size, size, flag())), into)
            return self.let(f"{self.random.choice(['tanh', 'nn.relu', 'sigmoid'])}({gates})", into), c
        if kind == "lstm":
            gates = self.both("add", self.gates(x, features, 4 * size, flag()), self.gates(h, size, 4 * size, flag()))
            if self.random.random() < 0.3:
                gates = self.gates(self.let(f"concatenate(({x}, {h}), axis=1)", into), features + size, 4 * size, flag())
            gates = self.let(f"split({gates}, indices_or_sections=4, axis={self.random.choice([1, -1])})", into)
            i, f, g, o = self.random.sample(range(4), 4)
            made = self.both("multiply", f"sigmoid({gates}.{i})", f"tanh({gates}.{g})")
            memory = self.let(self.both("add", self.both("multiply", f"sigmoid({gates}.{f})", c), made), into)
            if self.random.random() < 0.1:
                memory = self.let(f"clip({memory}, a_min=-0.5f, a_max=0.5f)", into)
            return self.let(self.both("multiply", f"sigmoid({gates}.{o})", f"tanh({memory})"), into), memory
        u, r, n = self.random.sample(range(3), 3)
        data = self.let(f"split({self.gates(x, features, 3 * size, flag())}, indices_or_sections=3, axis=1)", into)
        if kind == "lbr":
            own = self.let(f"split({self.gates(h, size, 3 * size, flag())}, indices_or_sections=3, axis=1)", into)
            places = (u, r)
        else:
            own = self.let(f"split({self.gates(h, size, 2 * size, flag())}, indices_or_sections=2, axis=1)", into)
            places = self.random.sample(range(2), 2)
        z = self.let("sigmoid({})".format(self.both("add", f"{data}.{u}", f"{own}.{places[0]}")), into)
        reset = self.let("sigmoid({})".format(self.both("add", f"{data}.{r}", f"{own}.{places[1]}")), into)
        if kind == "lbr":
            part = self.both("multiply", reset, f"{own}.{n}")
        else:
            part = self.gates(self.let(self.both("multiply", reset, h), into), size, size, flag())
        new = self.let("tanh({})".format(self.both("add", f"{data}.{n}", part)), into)
        old, new = self.random.choice([(h, new), (new, h)])
        if self.random.random() < 0.5:
            return self.let(f"add(multiply(subtract({old}, {new}), {z}), {new})", into), c
        return self.let(self.both("add", self.both("multiply", z, old), self.both("multiply", f"subtract(1f, {z})", new)), into), c

    def means(self, x):
        return self.let(f"mean({x[0]}, axis=[{'1, 2' if self.last else '2, 3'}])"), x[1]

    def s_cell(self, x):
        data, features = self.means(x)
        size = self.random.choice([4, 8, 16])
        h, c = [self.let(f"tanh({self.gates(data, features, size, True)})") for _ in range(2)]
        for _ in range(self.random.randrange(1, 4)):
            h, c = self.cell(data, features, h, c, size, None)
            if self.random.random() < 0.3:
                self.vectors.append(self.let(self.activation(c)))
        self.vectors += [c, self.let(self.activation(h)) if self.random.random() < 0.5 else h]

    def s_recursion(self, x):
        data, features = self.means(x)
        size, name = self.random.choice([4, 8]), f"@turns{len(self.functions)}"
        state, inner = f"Tensor[(ROWS, {size}), float32]", []
        h, c = self.cell("%a", features, "%h", "%m", size, inner)
        self.functions.append(
            f"def {name}(%n: int32, %a: Tensor[(ROWS, {features}), float32], %h: {state}, %m: {state}) -> ({state}, {state}) {{\n"
            "  if (less(%n, 1)) {\n  (%h, %m)\n  } else {\n" + "\n".join(inner) +
            f"\n  {name}(subtract(%n, 1), %a, {h}, {c})\n  }}\n}}\n")
        first, second = [self.let(f"tanh({self.gates(data, features, size, True)})") for _ in range(2)]
        last = self.let(f"{name}({self.random.randrange(1, 5)}, {data}, {first}, {second})")
        self.vectors += [self.let(f"{last}.0"), self.let(f"{last}.1")]

    def s_attention(self, x):
        flat = self.let(f"reshape({x[0]}, newshape=[0, -1, {x[1]}])" if self.last else f"reshape({x[0]}, newshape=[0, {x[1]}, -1])")
        if self.last:
            flat = self.let(f"transpose({flat}, axes=[0, 2, 1])")
        scores = self.let(f"nn.batch_matmul({flat}, {flat}, transpose_b=True)")
        self.vectors.append(self.let(f"nn.softmax(multiply({scores}, 0.05f))"))
        return None

    def s_transposed(self, x):
        if self.last:
            return self.s_conv(x)
        out = self.random.choice([4, 8])
        made = tuple(tuple(2 * (s - 1) - 2 + 3 + 1 for s in size) for size in x[2])
        return self.let(f"nn.conv2d_transpose({x[0]}, {self.table([x[1], out, 3, 3], 0.3)}, strides=[2, 2], "
                        f"padding=[1, 1], output_padding=[1, 1], channels={out}, kernel_size=[3, 3])"), out, made

    def s_softmax(self, x):
        return (self.let(f"nn.softmax({x[0]}, axis={self.random.choice([1, 3, -1])})"), *x[1:])

    def s_resize(self, x):
        return (self.let(f"nn.upsampling({x[0]}, scale_h=2f, scale_w=2f, layout=\"{self.layout}\", method=\"nearest_neighbor\")"),
                x[1], tuple(tuple(2 * s for s in size) for size in x[2]))

    def s_pad(self, x):
        pads = "[0, 0], [1, 0], [0, 2], [0, 0]" if self.last else "[0, 0], [0, 0], [1, 0], [0, 2]"
        return (self.let(f"nn.pad({x[0]}, 0f, pad_width=[{pads}])"), x[1], tuple((h + 1, w + 2) for h, w in x[2]))

    def s_alias(self, x):
        return (self.let(x[0]), *x[1:])

    # --- The program ---

    def close(self):
        results = [self.images[-1][0]] + self.vectors[-2:]
        results += [self.random.choice(self.images)[0] for _ in range(self.random.randrange(3))]
        self.result = f"({', '.join(results)},)" if len(results) == 1 else f"({', '.join(results)})"
        self.num_results = len(results)

    def text(self, dims):
        shape = [dims[0], dims[1], dims[2], 8] if self.last else [dims[0], 8, dims[1], dims[2]]
        params = [f"%x: Tensor[({', '.join(map(str, shape))}), float32]"] + [f"%{n}: {t}" for n, t, _ in self.params]
        functions = "".join(self.functions).replace("ROWS", str(dims[0]))
        return HEAD + functions + f"def @main({', '.join(params)}) {{\n" + "\n".join(self.lines) + f"\n  {self.result}\n}}\n"

    def inputs(self, extent, folder, flag):
        n, h, w = extent
        dims = (n, h, w, 8) if self.last else (n, 8, h, w)
        arrays = [("x", self.arrays.standard_normal(dims).astype(np.float32)), ("c", np.array(flag))]
        arrays += [(name, value) for name, _, value in self.params if value is not None]
        given = []
        for name, value in arrays:
            path = os.path.join(folder, f"{name}.npy")
            np.save(path, value)
            given += ["--input", f"{name}={path}"]
        return given


class Failure(Exception):
    pass


def tool(cmd):
    done = subprocess.run(cmd, capture_output=True, text=True, timeout=300)
    if done.returncode != 0:
        raise Failure(f"{os.path.basename(cmd[0])} ends with {done.returncode}: {done.stderr.strip()[:600]}")
    return done


class Case:
    def __init__(self, net, args, folder):
        self.net, self.args, self.folder = net, args, folder
        self.regions, self.most = 0, 0.0

    def path(self, name):
        return os.path.join(self.folder, name)

    def compile(self, dims):
        with open(self.path("net.relay"), "w") as out:
            out.write(self.net.text(dims))
        relayc = [os.path.join(self.args.bin, "relayc"), self.path("net.relay"), "-q", "-o"]
        tool([*relayc, self.path("native.vmx")])
        tool([*relayc, self.path("regions.vmx"), "--byoc", self.args.engine, "--byoc-only", "--verify-ir"])
        dump = tool([os.path.join(self.args.bin, "vmdump"), self.path("regions.vmx"), "--json"])
        return json.loads(dump.stdout)["program"]["regions"]

    def compare(self, extent, flag):
        given = self.net.inputs(extent, self.folder, flag)
        for form in ("native", "regions"):
            tool([os.path.join(self.args.bin, "vmrun"), self.path(f"{form}.vmx"), *given, "--output", self.path(f"{form}.npz")])
        with np.load(self.path("native.npz")) as want, np.load(self.path("regions.npz")) as got:
            for name in want.files:
                a, b = got[name].astype(np.float64), want[name].astype(np.float64)
                if a.shape != b.shape:
                    raise Failure(f"{name} has shape {a.shape} at {extent}, natively {b.shape}")
                far = np.abs(a - b).max(initial=0) / max(np.abs(b).max(initial=0), 1e-30)
                self.most = max(self.most, far)
                if not far <= NEAR:
                    raise Failure(f"{name} differs by {far:.3g} of the largest element at {extent}")

    def run(self):
        self.regions = self.compile(("?", "?", "?"))
        for extent in EXTENTS:
            self.compare(extent, True)
        self.compare(EXTENTS[0], False)
        self.compile(EXTENTS[0])
        self.compare(EXTENTS[0], True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("bin")
    parser.add_argument("--count", type=int, default=500)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--steps", type=int, default=12)
    parser.add_argument("--keep", help="a folder for the programs that fail")
    parser.add_argument("--engine", default="dnnl")
    args = parser.parse_args()
    failed, regions, without, most = 0, 0, 0, 0.0
    for seed in range(args.seed, args.seed + args.count):
        with tempfile.TemporaryDirectory() as folder:
            case = Case(Net(seed, args.steps), args, folder)
            try:
                case.run()
            except (Failure, subprocess.TimeoutExpired) as e:
                failed += 1
                print(f"net {seed}: {e}", flush=True)
                if args.keep:
                    shutil.copytree(folder, os.path.join(args.keep, f"net{seed}"), dirs_exist_ok=True)
            regions += case.regions
            without += case.regions == 0
            most = max(most, case.most)
    print(f"{args.count} nets, {without} of them without regions, {regions} regions with open sizes; "
          f"largest difference {most:.3g} of the largest element; {failed} failed")
    return 1 if failed or 2 * without > args.count else 0


if __name__ == "__main__":
    sys.exit(main())
