#!/usr/bin/python3
"""Small programs around regions of an engine: as the native program gives it, faults too.

    run_edges.py BIN [--only NAME]

A row is a program, what it is given, how many regions it has, and the message that a run ends with
where it fails. Both forms give the same exit status and results within 1e-5, or that message. The
last rows are programs of a length at which only linear work ends in time. Exit status 1 where a row
is otherwise. Needs Debian's python3-numpy.
"""
import argparse
import json
import os
import subprocess
import sys
import tempfile

import numpy as np

HEAD = '#[version = "0.0.5"]\n'
IMAGE = "Tensor[(?, 4, ?, ?), float32]"
IMAGES = f"%x: {IMAGE}, %w: Tensor[(4, 4, 3, 3), float32]"
ROWS = "%x: Tensor[(?, 6), float32], %w: Tensor[(5, 6), float32]"
X, W = "2x4x5x6xf32=0.3", "4x4x3x3xf32=0.1"
R, V = "3x6xf32=0.5", "5x6xf32=0.25"
SECONDS = 60  # of relayc for a long program, on a machine that does other things too


def conv(x, w="%w"):
    return f"nn.conv2d({x}, {w}, padding=[1, 1, 1, 1], channels=4, kernel_size=[3, 3])"


def main_of(body, more="", params=IMAGES):
    return f"def @main({params}{more}) {{ {body} }}\n"


SUM = main_of(f"nn.relu(add({conv('%x')}, %y))", f", %y: {IMAGE}")
PLAIN = main_of(f"nn.relu({conv('%x')})")
DENSE = main_of("nn.relu(nn.dense(%x, %w, units=None))", params="%x: Tensor[(?, ?), float32], %w: Tensor[(?, ?), float32]")

# Name, program, inputs, regions, message.
CASES = [
    ("operands of one size", SUM,
     [X, W, "2x4x5x6xf32=1"], 1, None),
    ("operands that broadcast", SUM,
     [X, W, "1x4x1x6xf32=1"], 1, None),
    ("operands that do not", SUM,
     [X, W, "2x4x4x6xf32=1"], 1, "add: operands: 5 and 4 do not broadcast"),
    ("channels of another number", main_of(f"nn.relu({conv('%x')})", params="%x: Tensor[(?, ?, ?, ?), float32], %w: Tensor[(4, 4, 3, 3), float32]"),
     ["2x3x5x6xf32=0.3", W], 1, "3 does not equal 4"),
    ("depths that differ", DENSE, ["2x3xf32=1", "4x5xf32=1"], 1, "3 does not equal 5"),
    ("no pictures", PLAIN, ["0x4x5x6xf32=0.3", W], 1, None),
    ("pictures without rows", PLAIN, ["2x4x0x6xf32=0.3", W], 1, None),
    ("sums of nothing", DENSE, ["2x0xf32=1", "5x0xf32=1"], 1, None),
    ("results that are parameters", main_of(f"let %a = {conv('%x')}; (%x, %a, %a, add(%a, %a), %w)"),
     [X, W], 1, None),
    ("tuples", main_of(f"let %a = {conv('%x')}; let %t = (%a, %x); let %u = (%t, %t.1); "
             "(%u.0.0, add(%u.1, %u.0.0), %u)"),
     [X, W], 1, None),
    ("recursion", f"def @f({IMAGES}, %n: int32) -> {IMAGE} {{ "
     f"if (less(%n, 1)) {{ %x }} else {{ @f(nn.relu({conv('%x')}), %w, subtract(%n, 1)) }} }}\n"
     + main_of("@f(%x, %w, %n)", ", %n: int32"),
     [X, W, "3"], 1, None),
    ("closures", main_of(f"let %f = if (%c) {{ fn (%a: {IMAGE}) -> {IMAGE} {{ {conv('%a')} }} }} "
                        f"else {{ fn (%b: {IMAGE}) -> {IMAGE} {{ nn.relu(%b) }} }}; %f(%f(%x))",
                         ", %c: bool"),
     [X, W, "True"], 1, None),
    ("values of a list", f"type L {{ C({IMAGE}, L), N }}\ndef @sum(%l: L, %w: Tensor[(4, 4, 3, 3), float32]) -> float32 {{ "
     f"match (%l) {{ C(%h, %t) => add(sum(nn.relu({conv('%h')})), @sum(%t, %w)), N => 0f }} }}\n" + main_of(f"@sum(C(%x, C({conv('%x')}, N)), %w)"),
     [X, W], 2, None),
    ("references", main_of(f"let %r = ref(%x); let %a = {conv('%x')}; ref_write(%r, %a); let %b = ref_read(%r); ref_write(%r, %x); "
                           f"let %c = {conv('%b')}; add(%c, ref_read(%r))"),
     [X, W], 2, None),
    ("constants as operands and results", main_of(f'let %o = ones(shape=[1, 4, 4, 4], dtype="float32"); ({conv("%o")}, %o)',
                                                  params="%w: Tensor[(4, 4, 3, 3), float32]"),
     [W], 1, None),
    ("shapes of results", main_of("let %a = nn.dense(%x, %w, units=5); (reshape(%a, newshape=[-1]), shape_of(%a), "
                                  "concatenate((%a, %a, %a), axis=0))", params=ROWS),
     [R, V], 1, None),
    ("sizes that data tells", main_of("let %i = argwhere(greater(%x, 0f)); "
             "nn.relu(nn.dense(take(%x, take(%i, 0, axis=1), axis=0), %w, units=5))", params=ROWS),
     [R, V], 1, None),
    ("sizes that data tells, of nothing", main_of("let %i = argwhere(greater(%x, 9f)); "
             "nn.relu(nn.dense(take(%x, take(%i, 0, axis=1), axis=0), %w, units=5))", params=ROWS),
     [R, V], 1, None),
    ("rows for all", main_of("let %a = nn.dense(%x, %w, units=5); multiply(%a, nn.softmax(add(%a, %v)))",
                             ", %v: Tensor[(?, 5), float32]", ROWS),
     [R, V, "1x5xf32=2"], 1, None),
    ("a row that becomes many", main_of("let %a = nn.dense(%x, %w, units=5); multiply(%v, add(%a, %v))", ", %v: Tensor[(?, 5), float32]", ROWS),
     ["1x6xf32=0.5", V, "4x5xf32=2"], 1, None),
]


# --- Cells of recurrent networks: of 3 features, a state of 4 ---

def table(rows, columns, start):
    return (f'multiply(reshape(sin(arange({start}f, {start + rows * columns}f, 1f, dtype="float32")), '
            f"newshape=[{rows}, {columns}]), 0.5f)")


def lstm(x, h, c, result="(%h1, %c1)"):
    gates = f"add(nn.dense({x}, {table(16, 3, 5)}, units=16), nn.dense({h}, {table(16, 4, 9)}, units=16))"
    return (f"let %g = split({gates}, indices_or_sections=4, axis=1); let %c1 = add(multiply(sigmoid(%g.1), {c}), "
            f"multiply(sigmoid(%g.0), tanh(%g.2))); let %h1 = multiply(sigmoid(%g.3), tanh(%c1)); {result}")


def states(n):
    return ", ".join(f"%{name}: Tensor[({n}, {width}), float32]" for name, width in (("x", 3), ("h", 4), ("c", 4)))


PAIR = "(Tensor[(2, 4), float32], Tensor[(2, 4), float32])"
TWO = ["2x3xf32=0.3", "2x4xf32=0.5", "2x4xf32=-1"]
CASES += [
    ("a cell", main_of(lstm("%x", "%h", "%c"), params=states(2)), TWO, 1, None),
    ("a cell of rows that are open", main_of("let %p = split(%a, indices_or_sections=[3, 7], axis=1); " + lstm("%p.0", "%p.1", "%p.2"),
                                             params="%a: Tensor[(?, 11), float32]"),
     ["3x11xf32=0.3"], 1, None),
    ("a cell of no rows", main_of("let %p = split(%a, indices_or_sections=[3, 7], axis=1); " + lstm("%p.0", "%p.1", "%p.2"),
                                  params="%a: Tensor[(?, 11), float32]"),
     ["0x11xf32=0.3"], 1, None),
    ("a cell's memory in a branch", main_of(lstm("%x", "%h", "%c", "if (%b) { add(%c1, %h1) } else { reverse(%c1, axis=1) }"),
                                            ", %b: bool", states(2)),
     [*TWO, "True"], 1, None),
    ("a cell's memory before its state", main_of(lstm("%x", "%h", "%c", "(%h1, %d)").replace("let %h1", "let %d = sin(%c1); let %h1"),
                                                 params=states(2)),
     TWO, 1, None),
    ("a cell by recursion", f"def @turn(%n: int32, {states(2)}) -> {PAIR} {{ if (less(%n, 1)) {{ (%h, %c) }} else {{ "
     + lstm("%x", "%h", "%c", "@turn(subtract(%n, 1), %x, %h1, %c1)") + " } }\n" + main_of("@turn(%n, %x, %h, %c)", ", %n: int32", states(2)),
     [*TWO, "5"], 1, None),
    ("a cell in a closure", main_of(f"let %f = fn ({states(2)}) {{ {lstm('%x', '%h', '%c')} }}; let %s = %f(%x, %h, %c); %f(%x, %s.1, %s.0)",
                                    params=states(2)),
     TWO, 1, None),
    ("a cell and what reads both of its results", main_of(lstm("%x", "%h", "%c", "nn.relu(add(%h1, tanh(%c1)))"), params=states(2)),
     TWO, 1, None),
]


def chain(steps, n):
    lines, y = [], "%x"
    for i in range(n):
        value = conv(y) if i % 10 == 0 else steps[i % len(steps)].format(y=y)
        lines.append(f"  let %y{i} = {value};")
        y = f"%y{i}"
    return main_of("\n".join(lines) + f"\n  {y}")


def branches(n):
    lines, s = [f"  let %y{i} = {conv('%x', f'multiply(%w, {i}f)')};" for i in range(n)], "%y0"
    for i in range(1, n):
        lines.append(f"  let %s{i} = add({s}, %y{i});")
        s = f"%s{i}"
    return main_of("\n".join(lines) + f"\n  {s}")


LONG = [
    ("10,000 operators, one region", chain(["tanh({y})", "add({y}, %x)", "sigmoid({y})"], 10000)),
    ("10,000 operators, 1,000 regions", chain(["sin({y})", "add({y}, %x)", "sigmoid({y})"], 10000)),
    ("2,000 convolutions of one image", branches(2000)),
]


def call(cmd, limit=60):
    return subprocess.run(cmd, capture_output=True, text=True, timeout=limit)


def compile_both(args, folder, text):
    """The paths of the two forms; raises ValueError."""
    path = os.path.join(folder, "p.relay")
    with open(path, "w") as out:
        out.write(HEAD + text)
    forms = []
    for name, flags in (("native", []), ("regions", ["--byoc", "dnnl", "--byoc-only", "--verify-ir"])):
        forms.append(os.path.join(folder, f"{name}.vmx"))
        done = call([os.path.join(args.bin, "relayc"), path, "-q", "-o", forms[-1], *flags])
        if done.returncode != 0:
            raise ValueError(f"relayc, {name}: {done.returncode} {done.stderr.strip()[:300]}")
    return forms


def check(args, text, inputs, regions, message):
    """None, or what is wrong."""
    with tempfile.TemporaryDirectory() as folder:
        forms = compile_both(args, folder, text)
        dump = json.loads(call([os.path.join(args.bin, "vmdump"), forms[1], "--json"]).stdout)
        if dump["program"]["regions"] != regions:
            return f"{dump['program']['regions']} regions, expected {regions}"
        results = []
        for form in forms:
            given = [word for value in inputs for word in ("--input", value)]
            done = call([os.path.join(args.bin, "vmrun"), form, *given, "--output", form + ".npz"])
            if message is not None:
                if done.returncode != 3 or message not in done.stderr:
                    return f"{os.path.basename(form)}: {done.returncode} {done.stderr.strip()[:300]}"
                continue
            if done.returncode != 0:
                return f"{os.path.basename(form)}: {done.returncode} {done.stderr.strip()[:300]}"
            with np.load(form + ".npz") as arrays:
                results.append([arrays[name] for name in arrays.files])
        if message is not None:
            return None
        want, got = results
        for i, (a, b) in enumerate(zip(got, want, strict=True)):
            if a.shape != b.shape or not np.allclose(a, b, rtol=1e-5, atol=1e-5):
                return f"result {i} is another one: {a.shape}, natively {b.shape}"
    return None


def check_long(args, text):
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "p.relay")
        with open(path, "w") as out:
            out.write(HEAD + text)
        done = call([os.path.join(args.bin, "relayc"), path, "-q", "-o", path + ".vmx", "--byoc", "dnnl"], SECONDS)
        return None if done.returncode == 0 else f"relayc: {done.returncode} {done.stderr.strip()[:300]}"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("bin")
    parser.add_argument("--only", default="")
    args = parser.parse_args()
    failed = count = 0
    for name, *row in CASES + LONG:
        if args.only not in name:
            continue
        try:
            why = check(args, *row) if len(row) > 1 else check_long(args, *row)
        except (ValueError, subprocess.TimeoutExpired) as e:
            why = str(e)[:400]
        count += 1
        failed += why is not None
        if why is not None:
            print(f"{name}: {why}")
    print(f"{count - failed} as natively, {failed} otherwise")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
