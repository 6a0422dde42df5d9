"""Programs as native code (relayc --executor aot), linked into C programs and run.

Usage: run_aot.py BIN EXAMPLES CC [OPTION OF CC]..."""
import pathlib
import re
import subprocess
import sys
import tempfile

BIN, EXAMPLES, CC = pathlib.Path(sys.argv[1]).resolve(), pathlib.Path(sys.argv[2]).resolve(), sys.argv[3:]
BUILD = BIN.parent
RUNTIME = [BUILD / "lib" / "librelayvm_aot.a", "-lboost_context", "-lfmt", "-lstdc++", "-lm"]
VERSION = '#[version = "0.0.5"]\n'


def run(args, cwd, expected=0):
    done = subprocess.run([str(a) for a in args], cwd=cwd, capture_output=True, text=True)
    assert done.returncode == expected, f"{args}: {done.returncode}, expected {expected}\n{done.stdout}{done.stderr}"
    return done.stdout + (done.stderr if expected else "")


class Work:
    def __init__(self, folder):
        self.folder = pathlib.Path(folder)

    def compile(self, source, name, options=()):
        run([BIN / "relayc", source, "--executor", "aot", "-q", "-o", name, *options], self.folder)

    def write(self, name, text):
        (self.folder / name).write_text(text)
        return self.folder / name

    def link(self, sources, name, options=()):
        run([*CC, "-std=c11", "-Wall", "-Wextra", "-Werror", "-I.", f"-I{BUILD}/include/runtime", *sources, "-o", name, *options], self.folder)
        return self.folder / name


def counter(w):
    """A loop over scalars: errors as codes, wrong arguments refused."""
    source = w.write("counter.relay", VERSION + """
def @loop(%i: int32, %n: int32, %acc: int32) -> int32 {
  if (less(%i, %n)) { @loop(add(%i, 1), %n, add(%acc, %i)) } else { %acc }
}
def @main(%n: int32) -> int32 { @loop(0, %n, 0) }
""")
    w.compile(source, "counter")
    main = w.write("counter_main.c", """
#include "counter.h"
#include <stdio.h>
#include <string.h>
int main(void) {
  int32_t n = 100000, sum = 0;
  double wrong = 0;
  const int64_t three[] = {3};
  static char workspace[COUNTER_MAIN_WORKSPACE_BYTES];
  relayvm_aot_tensor in = {&n, NULL, 0, 3}, out = {&sum, NULL, 0, 3};
  if (counter_main(&n, &sum, workspace) != 0 || sum != 704982704) return 1;
  sum = 0;
  if (counter_main_checked(&in, 1, &out, 1, workspace, sizeof(workspace)) != 0 || sum != 704982704) return 2;
  if (counter_main_checked(&in, 2, &out, 1, workspace, sizeof(workspace)) != RELAYVM_AOT_BAD_ARGUMENT) return 3;
  if (counter_main_checked(&in, 1, &out, 1, workspace, 1) != RELAYVM_AOT_BAD_ARGUMENT) return 4;
  in.data = &wrong;
  in.dtype = 12;
  if (counter_main_checked(&in, 1, &out, 1, workspace, sizeof(workspace)) != RELAYVM_AOT_BAD_ARGUMENT) return 5;
  in.dtype = 3;
  in.rank = 1;
  in.dims = three;
  if (counter_main_checked(&in, 1, &out, 1, workspace, sizeof(workspace)) != RELAYVM_AOT_BAD_ARGUMENT) return 6;
  if (counter_main(NULL, &sum, workspace) != RELAYVM_AOT_BAD_ARGUMENT) return 7;
  if (strcmp(counter_message(0), "success") != 0) return 8;
  puts(counter_message(RELAYVM_AOT_BAD_ARGUMENT));
  return 0;
}
""")
    out = run([w.link([main, "counter.o"], "counter")], w.folder)
    assert out == "an argument is not what the function takes\n", out


def cnn(w):
    """The example: a CNN of static shape, with C's library alone."""
    w.compile(EXAMPLES / "cnn.relay", "cnn", ["--params", EXAMPLES / "cnn.npz", "--shape", "x=2x3x29x37"])
    program = w.link([EXAMPLES / "aot" / "cnn.c", "cnn.o"], "cnn_program")
    out = run([program, EXAMPLES / "cnn_pictures.npy", EXAMPLES / "cnn.expected.npy"], w.folder)
    assert out.startswith("picture 0: class "), out


def tuples(w):
    """Tuples in and out, inputs that lie anywhere."""
    source = w.write("pick.relay", VERSION + """
def @main(%x: (Tensor[(3, 2), float32], Tensor[(2), int64])) {
  (take(%x.0, %x.1, axis=0), %x.1)
}
""")
    w.compile(source, "pick")
    main = w.write("pick_main.c", """
#include "pick.h"
int main(void) {
  float x[] = {0, 1, 2, 3, 4, 5, 6}, rows[4];
  int64_t index[] = {2, 0}, same[2];
  static char workspace[PICK_MAIN_WORKSPACE_BYTES];
  for (int i = 0; i < 2; ++i) {
    if (pick_main(x + i, index, rows, same, workspace + 0) != 0) return 1;
    if (rows[0] != 4 + i || rows[3] != 1 + i || same[0] != 2 || same[1] != 0) return 2;
  }
  return 0;
}
""")
    run([w.link([main, "pick.o"], "pick")], w.folder)


def numbers(text):
    return [float(n) for n in re.findall(r"-?\d+\.\d+(?:e-?\d+)?", text)]


def vm(w, source, inputs, options=()):
    """The numbers that the VM gives."""
    run([BIN / "relayc", source, "-q", "-o", "program.vmx", *options], w.folder)
    args = [part for i in inputs for part in ("--input", i)]
    return numbers(run([BIN / "vmrun", "program.vmx", "--json", *args], w.folder))


def near(found, expected):
    assert len(found) == len(expected) > 0, (found, expected)
    assert all(abs(a - b) < 2e-5 for a, b in zip(found, expected)), (found, expected)


def lstm(w):
    """The example: a loop over words, as many as there are, with the small runtime."""
    params = ["--params", EXAMPLES / "lstm.npz"]
    w.compile(EXAMPLES / "lstm.relay", "lstm", params)
    program = w.link([EXAMPLES / "aot" / "lstm.c", "lstm.o"], "lstm_program", RUNTIME)
    for words in (["7"], ["3", "1", "4", "1", "5"], ["2"] * 40):
        near(numbers(run([program, *words], w.folder)),
             vm(w, EXAMPLES / "lstm.relay", [f"[{', '.join(words)}]"], params))
    symbols = run(["nm", "-C", program], w.folder)
    assert "relayvm::vm::Interpreter" not in symbols


def trees(w):
    """The example: a program on trees; a leaf of the wrong shape is refused."""
    params = ["--params", EXAMPLES / "tree_lstm.npz"]
    w.compile(EXAMPLES / "tree_lstm.relay", "tree_lstm", params)
    program = w.link([EXAMPLES / "aot" / "tree_lstm.c", "tree_lstm.o"], "tree_program", RUNTIME)
    leaves = [EXAMPLES / f"tree_lstm_leaf{i}.npy" for i in range(3)]
    text = "Node(Node(Leaf(@{}), Leaf(@{})), Leaf(@{}))".format(*leaves)
    near(numbers(run([program, "16", *leaves], w.folder)), vm(w, EXAMPLES / "tree_lstm.relay", [text], params))
    error = run([program, "15", *leaves], w.folder, expected=3)
    assert "main: parameter %tree" in error and "(1, 15)" in error, error


HEAP_MAIN = """
#include "NAME.h"
#include <stdio.h>
#include <stdlib.h>
int main(int argc, char** argv) {
  relayvm_value *input = NULL, *result = NULL;
  const int32_t n = atoi(argv[argc - 1]);
  relayvm_status* status = relayvm_value_tensor(RELAYVM_INT32, NULL, 0, &n, &input);
  if (status == NULL) status = NAME_main(&input, 1, &result);
  if (status != NULL) {
    puts(relayvm_status_message(status));
    relayvm_status_free(status);
    status = NULL;
  } else {
    printf("%d\\n", *(const int32_t*)relayvm_value_data(result));
  }
  relayvm_value_free(result);
  relayvm_value_free(input);
  return 0;
}
"""


def heap_program(w, name, text):
    w.compile(w.write(f"{name}.relay", VERSION + text), name)
    main = w.write(f"{name}_main.c", HEAP_MAIN.replace("NAME", name))
    return w.link([main, f"{name}.o"], name, RUNTIME)


def recursion(w):
    """Calls use a native stack of their own; where it ends, the run fails and says where."""
    program = heap_program(w, "deep", """
def @deep(%n: int32) -> int32 {
  if (less(0, %n)) { add(@deep(subtract(%n, 1)), 1) } else { 0 }
}
def @main(%n: int32) -> int32 { @deep(%n) }
""")
    assert run([program, "100000"], w.folder) == "100000\n"
    error = run([program, "2000000000"], w.folder)
    assert "stack overflow" in error and "called from deep (deep.relay:4:" in error.replace(str(w.folder) + "/", ""), error
    assert "more calls" in error, error


def closures(w):
    """Closures over values, lists, a match; what lives is counted as in the VM."""
    program = heap_program(w, "fold", """
type List[A] { Cons(A, List[A]), Nil }
def @upto(%n: int32) -> List[int32] {
  if (less(0, %n)) { Cons(%n, @upto(subtract(%n, 1))) } else { Nil }
}
def @map(%f: fn(int32) -> int32, %xs: List[int32]) -> List[int32] {
  match (%xs) { Cons(%x, %rest) => { Cons(%f(%x), @map(%f, %rest)) }, Nil => { Nil } }
}
def @sum(%xs: List[int32], %acc: int32) -> int32 {
  match (%xs) { Cons(%x, %rest) => { @sum(%rest, add(%acc, %x)) }, Nil => { %acc } }
}
def @main(%n: int32) -> int32 {
  let %scale = fn (%x: int32) -> int32 { multiply(%x, %n) };
  @sum(@map(%scale, @upto(%n)), 0)
}
""")
    assert run([program, "1000"], w.folder) == "500500000\n"
    assert run([program, "0"], w.folder) == "0\n"


def refused(w):
    """What cannot be native code is an error that names it."""
    source = w.write("host.relay", VERSION + """
def @fetch(%key: int64, host=1) -> int64;
def @main(%x: int64) -> int64 { @fetch(%x) }
""")
    error = run([BIN / "relayc", source, "--executor", "aot", "-o", "host"], w.folder, expected=2)
    assert "@fetch is a function of the host" in error, error


with tempfile.TemporaryDirectory() as folder:
    for test in (counter, cnn, tuples, lstm, trees, recursion, closures, refused):
        test(Work(folder))
        print(f"{test.__name__}: ok")
