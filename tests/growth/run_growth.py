#!/usr/bin/env python3
"""What relayc makes of programs whose length doubles: no more than 2.2 times as much.

    run_growth.py BIN [WORD ...]

Counted are lines of LLVM IR and of bytecode, which do not depend on the machine's load. Each row is a
program that once took two to the power of its length, or the fourth power of it. A second table states
how much memory loops over sequences may take while they run. A third one counts processor time, where
what grew faster than the program left no trace in the code (also of what cuts regions, --byoc): at four times the length, with room for a
machine that does other things; and the bytes of the executable.
"""
import os
import resource
import subprocess
import sys
import tempfile

HEAD = '#[version = "0.0.5"]\n'
MOST = 2.2
SECONDS = 120  # of relayc, on a machine that does other things too


def chain(params, link, first="%x"):
    """`link` is a line for each i with {i}, {y} (the value before) and {z} (the new one)."""
    def program(n):
        lines, y = [], first
        for i in range(n):
            lines.append("  " + link.format(i=i, y=y, z=f"%y{i}"))
            y = f"%y{i}"
        return f"def @main({params}) {{\n" + "\n".join(lines) + f"\n  {y}\n}}\n"
    return program


def shifted_rows(n):
    """Sums of rows and of rows moved by powers of two: 2^n places, all in one row."""
    lines, y = [], "%x"
    for i in range(n):
        lines.append(f"  let %y{i} = add({y}, strided_slice(concatenate(({y}, {y}), axis=1), begin=[{2 ** (i % 6)}], "
                     f"end=[{2 ** (i % 6) + 64}], strides=[1], axes=[1]));")
        y = f"%y{i}"
    return "def @main(%x: Tensor[(8, 64), float32]) {\n" + "\n".join(lines) + f"\n  {y}\n}}\n"


def joined(shape, axis):
    def program(n):
        params = ", ".join(f"%x{i}: Tensor[{shape}, float32]" for i in range(n))
        parts = ", ".join(f"%x{i}" for i in range(n))
        return f"def @main({params}) {{ concatenate(({parts}), axis={axis}) }}\n"
    return program


def mixed_ranks(n):
    text = ("def @f0(%x: Tensor[(4), float32], %c: bool) "
            "{ if (%c) { %x } else { expand_dims(%x, axis=0) } }\n")
    for i in range(1, n):
        text += (f"def @f{i}(%x: Tensor[(4), float32], %c: bool) {{ let %a = @f{i - 1}(%x, %c); "
                 f"let %b = @f{i - 1}(exp(%x), logical_not(%c)); if (%c) {{ sum(%a) }} else {{ %b }} }}\n")
    return text + ("def @main(%x: Tensor[(4), float32], %c: bool) -> float32 "
                   f"{{ sum(@f{n - 1}(%x, %c)) }}\n")


def mixed_row(first, then):
    """Branches of two ranks; each reads what the one before it gave, as `then` says."""
    def program(n):
        lines, y = [], "%x"
        for i in range(n):
            lines.append(f"  let %a{i} = if (%c) {{ {first.format(y=y)} }} else {{ expand_dims(%x, axis=0) }};")
            lines.append(f"  let %y{i} = {then.format(a=f'%a{i}')};")
            y = f"%y{i}"
        return ("def @main(%x: Tensor[(4), float32], %c: bool) -> float32 {\n" + "\n".join(lines)
                + f"\n  sum({y})\n}}\n")
    return program


def mixed_inputs(then, result="sum({y})", shape="(4)"):
    """The same where each branch reads an input of its own."""
    def program(n):
        lines, y = [], "%x0"
        for i in range(n):
            lines.append(f"  let %a{i} = if (%c) {{ exp({y}) }} else {{ expand_dims(%x{i}, axis=0) }};")
            lines.append(f"  let %y{i} = {then.format(a=f'%a{i}')};")
            y = f"%y{i}"
        params = ", ".join(f"%x{i}: Tensor[{shape}, float32]" for i in range(n))
        whole = result.format(y=y, all=", ".join(f"%y{i}" for i in range(n)))
        return f"def @main({params}, %c: bool) {{\n" + "\n".join(lines) + f"\n  {whole}\n}}\n"
    return program


def called_twice(first, step):
    """Functions each of which calls the one before it twice: 2^n copies."""
    def program(n):
        text = f"def @f0(%x: Tensor[(?), float32], %k: int32) {{ {first} }}\n"
        for i in range(1, n):
            text += f"def @f{i}(%x: Tensor[(?), float32], %k: int32) {{ {step.format(f=f'@f{i - 1}')} }}\n"
        return text + f"def @main(%x: Tensor[(?), float32]) {{ @f{n - 1}(%x, 1) }}\n"
    return program


def literals_called_twice(n):
    head = "fn (%y: Tensor[(?), float32]) -> Tensor[(?), float32]"
    lines = [f"  let %g0 = {head} {{ tanh(%y) }};"]
    lines += [f"  let %g{i} = {head} {{ add(%g{i - 1}(%y), %g{i - 1}(exp(%y))) }};" for i in range(1, n)]
    return "def @main(%x: Tensor[(?), float32]) {\n" + "\n".join(lines) + f"\n  %g{n - 1}(%x)\n}}\n"


def loops(n):
    text = ""
    for i in range(n):
        then = f"@l{i + 1}(0, exp(%x))" if i + 1 < n else "%x"
        text += (f"def @l{i}(%i: int32, %x: Tensor[(?), float32]) -> Tensor[(?), float32] {{ "
                 f"if (less(%i, 3)) {{ @l{i}(add(%i, 1), tanh(%x)) }} else {{ {then} }} }}\n")
    return text + "def @main(%x: Tensor[(?), float32]) { @l0(0, %x) }\n"


def strides(n):
    return (f"def @main(%x: Tensor[(1, 4, 9, 9), float32], %w: Tensor[(4, 4, {2 * n}, {2 * n}), float32]) {{ "
            f"nn.conv2d_transpose(%x, %w, channels=4, kernel_size=[{2 * n}, {2 * n}], strides=[{n}, {n}]) }}\n")


def split_to(n):
    lines = [f"  let %s = split(%x, indices_or_sections={n}, axis=0);", "  let %y0 = tanh(%s.0);"]
    lines += [f"  let %y{i} = add(tanh(%s.{i}), %y{i - 1});" for i in range(1, n)]
    return f"def @main(%x: Tensor[({4 * n}, ?), float32]) {{\n" + "\n".join(lines) + f"\n  %y{n - 1}\n}}\n"


def stacked(n):
    params = ", ".join(f"%x{i}: Tensor[(?), float32]" for i in range(n))
    return f"def @main({params}) {{ tanh(stack(({', '.join(f'%x{i}' for i in range(n))}), axis=1)) }}\n"


def read_by_many(n):
    sums = "\n".join(f"  let %y{i} = sum(multiply(%e, {i}f));" for i in range(n))
    return ("def @main(%x: Tensor[(?), float32]) {\n  let %e = sin(%x);\n" + sums
            + f"\n  ({', '.join(f'%y{i}' for i in range(n))})\n}}\n")


def row_of(link, shape="(?)", dtype="float32"):
    """Values of open sizes of their own; `link` is a line's value from {y}, the one before, and %x{i}."""
    def program(n):
        params = ", ".join(f"%x{i}: Tensor[{shape}, {dtype}]" for i in range(n))
        lines, y = [], "%x0"
        for i in range(1, n):
            lines.append(f"  let %y{i} = {link.format(i=i, j=i - 1, y=y)};")
            y = f"%y{i}"
        return f"def @main({params}) {{\n" + "\n".join(lines) + f"\n  {y}\n}}\n"
    return program


def tree_of(shape):
    def program(n):
        params = ", ".join(f"%x{i}: Tensor[{shape}, float32]" for i in range(n))
        lines, values = [], [f"%x{i}" for i in range(n)]
        while len(values) > 1:
            pairs = list(zip(values[::2], values[1::2]))
            lines += [f"  let %y{len(pairs)}_{i} = add({a}, {b});" for i, (a, b) in enumerate(pairs)]
            values = [f"%y{len(pairs)}_{i}" for i in range(len(pairs))]
        return f"def @main({params}) {{\n" + "\n".join(lines) + f"\n  {values[0]}\n}}\n"
    return program


def prefixes(n):
    row = row_of("add({y}, %x{i})")(n)
    return row.replace(f"\n  %y{n - 1}\n", f"\n  ({', '.join(f'%y{i}' for i in range(1, n))})\n")


ROWS = [
    ("take", chain("%x: Tensor[(64), int64]", "let {z} = take({y}, {y}, axis=0);"), 8),
    ("gather", chain("%x: Tensor[(32, 32), float32], %i: Tensor[(32, 32), int32]",
                     "let {z} = add(gather({y}, %i, axis=0), gather({y}, %i, axis=1));"), 8),
    ("neighbours", chain("%x: Tensor[(64, 16), float32], %a: Tensor[(64), int32], %b: Tensor[(64), int32]",
                         "let {z} = multiply(add(take({y}, %a, axis=0), take({y}, %b, axis=0)), 0.5f);"), 8),
    ("grid_sample", chain("%x: Tensor[(1, 1, 32, 32), float32], %g: Tensor[(1, 2, 32, 32), float32]",
                          "let {z} = image.grid_sample({y}, %g);"), 4),
    ("vector field", chain("%x: Tensor[(1, 2, 64, 64), float32], %g: Tensor[(1, 2, 64, 64), float32]",
                           "let {z} = add({y}, image.grid_sample({y}, add(%g, {y})));"), 4),
    ("crop_and_resize", chain("%x: Tensor[(1, 1, 32, 32), float32], %b: Tensor[(1, 4), float32], "
                              "%k: Tensor[(1), int32]",
                              "let {z} = image.crop_and_resize({y}, %b, %k, crop_size=[32, 32], layout=\"NCHW\");"), 4),
    ("transposed", chain("%x: Tensor[(?, ?), float32]",
                         "let {z} = multiply(add({y}, transpose({y}, axes=[1, 0])), 0.5f);"), 10),
    ("reversed", chain("%x: Tensor[(16, 16), float32]",
                       "let {z} = tanh(add(reverse({y}, axis=0), add({y}, reverse({y}, axis=1))));"), 8),
    ("shifted rows", shifted_rows, 12),
    ("powers", chain("%x: Tensor[(?), float32]", "let {z} = add(power({y}, %x), {y});"), 25),
    ("calls", called_twice("tanh(%x)", "add({f}(%x, %k), {f}(exp(%x), %k))"), 8),
    ("calls with constants", called_twice("if (less(%k, 3)) { tanh(%x) } else { exp(%x) }",
                                          "add({f}(%x, add(%k, 1)), {f}(exp(%x), multiply(%k, 2)))"), 8),
    ("calls of literals", literals_called_twice, 16),
    ("loops", loops, 16),
    ("branches", chain("%x: Tensor[(?), float32], %c: bool",
                       "let {z} = if (%c) {{ tanh({y}) }} else {{ exp({y}) }};"), 20),
    ("reshapes of transposes", chain("%x: Tensor[(?, ?), float32]",
                                     "let {z} = reshape(transpose({y}), newshape=[-1, 3]);"), 12),
    ("softmaxes", chain("%x: Tensor[(?, ?), float32]", "let {z} = nn.softmax(add({y}, %x), axis=1);"), 8),
    ("strides of a transposed convolution", strides, 4),
    ("parts of a split", split_to, 16),
    ("stack", stacked, 16),
    ("a value that many read", read_by_many, 8),
    ("sines", chain("%x: Tensor[(?), float32]", "let {z} = add(sin({y}), {y});"), 25),
    ("join of vectors", joined("(?)", 0), 16),
    ("join of vectors, long", joined("(?)", 0), 32),
    ("join of rows", joined("(3, ?)", 1), 16),
    ("sum of vectors", row_of("add({y}, %x{i})"), 8),
    ("sum of matrices", row_of("add({y}, %x{i})", "(?, ?)"), 8),
    ("sum of matrices, long", row_of("add({y}, %x{i})", "(?, ?)"), 32),
    ("tree of sums of matrices", tree_of("(?, ?)"), 8),
    ("choices of vectors", row_of("where(greater(%x{i}, 0f), {y}, %x{j})"), 8),
    ("products less sums", row_of("subtract(multiply({y}, %x{i}), sum(%x{i}, axis=[0], keepdims=True))"), 16),
    ("sums of vectors that are reshaped", row_of("add(reshape({y}, newshape=[-1]), %x{i})"), 16),
    ("sums so far", prefixes, 32),
    ("mixed ranks", mixed_ranks, 6),
    ("row of mixed ranks", mixed_row("exp({y})", "sum({a})"), 100),
    ("row of mixed ranks that read each other", mixed_row("exp({y})", "tanh({a})"), 100),
    ("row of mixed ranks and inputs", mixed_inputs("sum({a})"), 100),
    ("row of mixed ranks and inputs that read each other", mixed_inputs("tanh({a})", shape="(?)"), 100),
    ("row of mixed ranks and inputs, all results", mixed_inputs("sum({a})", "({all})", "(?)"), 100),
]


# --- Regions of another engine ---

WEIGHTS = "%w: Tensor[(4, 4, 3, 3), float32]"
IMAGES = f"%x: Tensor[(1, 4, 8, 8), float32], {WEIGHTS}"
CONVOLUTION = "nn.conv2d({y}, %w, padding=[1, 1, 1, 1], channels=4, kernel_size=[3, 3])"


def one_region(n):
    """A convolution whose value n operators of the region read, each for a result of its own."""
    lines = [f"  let %c = {CONVOLUTION.format(y='%x')};"] + [f"  let %y{i} = multiply(%c, {i + 2}f);" for i in range(n)]
    return f"def @main({IMAGES}) {{\n" + "\n".join(lines) + f"\n  ({', '.join(f'%y{i}' for i in range(n))})\n}}\n"


REGIONS = ["--byoc", "dnnl"]
REGION_ROWS = [
    ("functions of an element", chain("%x: Tensor[(1, 4, 8, 8), float32]", "let {z} = tanh({y});")),
    ("sums of elements", chain("%x: Tensor[(1, 4, 8, 8), float32]", "let {z} = add(sigmoid({y}), %x);")),
    ("convolutions with relu", chain(IMAGES, f"let {{z}} = nn.relu({CONVOLUTION});")),
    ("many regions", chain(IMAGES, f"let {{z}} = sin(nn.relu({CONVOLUTION}));")),
    ("a region of many results", one_region),
]


def functions(n):
    head = "(%x: Tensor[(4), float32]) -> Tensor[(4), float32]"
    text = f"def @f0{head} {{ exp(%x) }}\n"
    text += "".join(f"def @f{i}{head} {{ add(@f{i - 1}(%x), %x) }}\n" for i in range(1, n))
    return text + f"def @main{head} {{ @f{n - 1}(%x) }}\n"


TIMES = [
    ("time of a row of mixed ranks", mixed_row("exp({y})", "sum({a})"), 100),
    ("time of a row of mixed ranks that read each other", mixed_row("exp({y})", "tanh({a})"), 100),
    ("time of a row of mixed ranks and inputs", mixed_inputs("sum({a})"), 100),
    ("time of a row of mixed ranks and inputs that read each other", mixed_inputs("tanh({a})", shape="(?)"), 100),
    ("time of a row of mixed ranks and inputs, all results", mixed_inputs("sum({a})", "({all})", "(?)"), 100),
    ("time of functions", functions, 1000),
    ("time of layers in parts", chain("%x: Tensor[(64, 16, 64, 64), float32]",
                                      "let {z} = nn.max_pool2d({y}, pool_size=[3, 3], padding=[1, 1, 1, 1]);"), 16, ("--sub-batch", "1")),
    ("time of layers that part what runs in parts", chain("%x: Tensor[(64, 16, 64, 64), float32]",
                                                          "let {z} = cumsum(nn.max_pool2d({y}, pool_size=[3, 3], padding=[1, 1, 1, 1]), "
                                                          "axis=0);"), 16),
    ("time of a sum of vectors", row_of("add({y}, %x{i})"), 16),
    ("time of a sum of matrices", row_of("add({y}, %x{i})", "(?, ?)"), 16),
    *((f"time of {name}, --byoc dnnl", program, 250, REGIONS) for name, program in REGION_ROWS),
]
MOST_TIME = 2 * MOST ** 2  # what is quadratic takes 16 times as long; machines are noisy

LOOP = """def @loop(%i: int32, %n: int32, %xs: Tensor[(?, 4), float32], %h: Tensor[(1, 2048), float32], %w: Tensor[(2048, 4), float32]) -> Tensor[(1, 2048), float32] {{
  if (less(%i, %n)) {{
    let %x = take(%xs, reshape(%i, newshape=[1]), axis=0, mode="clip");
    let %h1 = tanh(add(%h, nn.dense(%x, %w, units=2048)));
    {rest}
  }} else {{ %h }}
}}
def @main(%xs: Tensor[(?, 4), float32], %w: Tensor[(2048, 4), float32]) -> Tensor[(1, 2048), float32] {{
  let %n = take(shape_of(%xs, dtype="int32"), 0, mode="clip");
  @loop(0, %n, %xs, zeros(shape=[1, 2048], dtype="float32"), %w)
}}
"""
TURN = "@loop(add(%i, 1), %n, %xs, %h1, %w)"
MEMORY = [  # program, inputs, the most that a run may hold besides them
    ("every turn runs", LOOP.format(rest=TURN), ["20000x4xf32=0.5", "2048x4xf32=0.5"], "2M"),
    ("a turn may end the loop", LOOP.format(rest=f"if (greater(sum(%h1), 0f)) {{ %h1 }} else {{ {TURN} }}"),
     ["20000x4xf32=0.5", "2048x4xf32=0.5"], "1M"),
    ("no turn", LOOP.format(rest=TURN), ["0x4xf32=0.5", "2048x4xf32=0.5"], "1M"),
]


def lines_of(relayc, path):
    """Of code for one level, so that all machines count alike: wider vectors have longer tails, in steps."""
    total = 0
    for form in ("llvm", "bytecode"):
        out = subprocess.run([relayc, path, "--emit", form, "-o", "-", "--target", "x86-64-v3"], capture_output=True,
                             text=True, timeout=SECONDS)
        if out.returncode != 0:
            raise RuntimeError(out.stderr)
        total += out.stdout.count("\n")
    return total


def cost_of(relayc, path, text, flags=()):
    """The least time of some runs, none of which finds what one before left in the cache, and the bytes of the executable; None where one fails."""
    alone = dict(os.environ, RELAYVM_CACHE="off")
    with open(path, "w") as f:
        f.write(text)
    least = None
    for _ in range(4):
        before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
        run = subprocess.run([relayc, path, "-q", "-o", path + ".vmx", *flags], capture_output=True, timeout=SECONDS, env=alone)
        took = round(resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - before, 3)
        if run.returncode != 0:
            return None
        least = took if least is None else min(least, took)
    return least, os.path.getsize(path + ".vmx")


def main():
    binaries, words = sys.argv[1], sys.argv[2:]
    relayc, vmrun = os.path.join(binaries, "relayc"), os.path.join(binaries, "vmrun")
    failed = 0
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "program.relay")
        for name, program, n in ROWS:
            if words and not any(w in name for w in words):
                continue
            counts = []
            try:
                for length in (n, 2 * n):
                    with open(path, "w") as f:
                        f.write(HEAD + program(length))
                    counts.append(lines_of(relayc, path))
                ok = counts[1] <= MOST * counts[0]
                said = f"{counts[0]} lines for {n}, {counts[1]} for {2 * n}"
            except (RuntimeError, subprocess.TimeoutExpired) as error:
                ok, said = False, str(error)
            print(f"{'ok' if ok else 'FAILED'}: {name}: {said}", flush=True)
            failed += not ok
        for name, program, n, *flags in TIMES:
            if words and not any(w in name for w in words):
                continue
            costs = [cost_of(relayc, path, HEAD + program(length), *flags) for length in (n, 4 * n)]
            ok = (None not in costs and costs[1][0] <= MOST_TIME * costs[0][0]
                  and costs[1][1] <= MOST ** 2 * costs[0][1])
            print(f"{'ok' if ok else 'FAILED'}: {name}: seconds and bytes {costs[0]} for {n}, {costs[1]} for {4 * n}",
                  flush=True)
            failed += not ok
        for name, text, inputs, limit in MEMORY:
            if words and not any(w in name for w in words):
                continue
            executable = os.path.join(folder, "program.vmx")
            with open(path, "w") as f:
                f.write(HEAD + text)
            run = subprocess.run([relayc, path, "-o", executable], capture_output=True, text=True, timeout=SECONDS)
            if run.returncode == 0:
                command = [vmrun, executable, "--memory-limit", limit]
                for value in inputs:
                    command += ["--input", value]
                run = subprocess.run(command, capture_output=True, text=True, timeout=SECONDS)
            ok = run.returncode == 0
            print(f"{'ok' if ok else 'FAILED'}: {name}: within {limit} {'' if ok else run.stderr.strip()}", flush=True)
            failed += not ok
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
