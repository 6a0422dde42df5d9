"""Programs as native code (relayc --executor aot), linked into C programs and run.

Usage: run_aot.py BIN EXAMPLES CC [OPTION OF CC]..."""
import array
import ctypes
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

BIN, EXAMPLES, CC = pathlib.Path(sys.argv[1]).resolve(), pathlib.Path(sys.argv[2]).resolve(), sys.argv[3:]
BUILD = BIN.parent
RUNTIME = [BUILD / "lib" / "librelayvm_aot.a", "-lboost_context", "-lfmt", "-lstdc++", "-lm"]
VERSION = '#[version = "0.0.5"]\n'


def run(args, cwd, expected=0, env=None):
    done = subprocess.run([str(a) for a in args], cwd=cwd, capture_output=True, text=True, env=env)
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
    for absent in ("relayvm::vm::Interpreter", "relayvm::ReadProgram", "relayvm::VerifyProgram", "relayvm::FindBuiltin", "relayvm::vm::OpenEngine"):
        assert absent not in symbols, absent


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


def limits(w):
    """Memory, stack and time of a run are the caller's to bound; a run can be cancelled from elsewhere."""
    source = w.write("limits.relay", VERSION + """
type List { Cons(int32, List), Nil }
def @upto(%n: int32, %l: List) -> List { if (less(0, %n)) { @upto(subtract(%n, 1), Cons(%n, %l)) } else { %l } }
def @deep(%n: int32) -> int32 { if (less(0, %n)) { add(@deep(subtract(%n, 1)), 1) } else { 0 } }
def @spin(%l: List, %n: int32) -> int32 { match (%l) { Cons(%x, %rest) => { @spin(Cons(%x, %rest), %n) }, Nil => { %n } } }
def @main(%what: int32, %n: int32) -> int32 {
  if (equal(%what, 0)) { match (@upto(%n, Nil)) { Cons(%x, %rest) => { %x }, Nil => { 0 } } }
  else { if (equal(%what, 1)) { @deep(%n) } else { @spin(Cons(1, Nil), %n) } }
}
""")
    w.compile(source, "limits")
    main = w.write("limits_main.c", """
#define _POSIX_C_SOURCE 200809L
#include "limits.h"
#include <pthread.h>
#include <stdio.h>
#include <time.h>
static uint32_t cancel;
static void* Cancel(void* unused) {
  const struct timespec pause = {0, 50000000};
  nanosleep(&pause, NULL);
  __atomic_store_n(&cancel, 1, __ATOMIC_RELEASE);
  return unused;
}
static void Run(const relayvm_aot_options* options, int32_t what, int32_t n) {
  relayvm_value *inputs[2] = {NULL, NULL}, *result = NULL;
  relayvm_status* status = relayvm_value_tensor(RELAYVM_INT32, NULL, 0, &what, &inputs[0]);
  if (status == NULL) status = relayvm_value_tensor(RELAYVM_INT32, NULL, 0, &n, &inputs[1]);
  if (status == NULL) status = limits_main_with(options, inputs, 2, &result);
  if (status == NULL) printf("%d\\n", *(const int32_t*)relayvm_value_data(result));
  else printf("%d %s\\n", (int)relayvm_status_code(status), relayvm_status_message(status));
  relayvm_status_free(status);
  relayvm_value_free(result);
  relayvm_value_free(inputs[0]);
  relayvm_value_free(inputs[1]);
}
int main(void) {
  pthread_t thread;
  relayvm_aot_options options = {.struct_size = sizeof(options)};
  Run(NULL, 0, 1000);
  options.memory_limit = 100000;
  Run(&options, 0, 10);
  Run(&options, 0, 1000000);
  options.stack_bytes = 1 << 20;
  Run(&options, 1, 1000);
  Run(&options, 1, 10000000);
  options.timeout_ns = 50000000;
  Run(&options, 2, 0);
  options.timeout_ns = 0;
  options.cancel = &cancel;
  pthread_create(&thread, NULL, Cancel, NULL);
  Run(&options, 2, 0);
  pthread_join(thread, NULL);
  options.struct_size = 1;
  Run(&options, 0, 1);
  return 0;
}
""")
    out = run([w.link([main, "limits.o"], "limits", [*RUNTIME, "-lpthread"])], w.folder).splitlines()
    first = [line for line in out if not line.startswith("  ")]
    expected = ["1", "1", "no memory for .*100000; raise the memory limit", "1000", "stack overflow: .*105[0-9]{4}",
                "the deadline has passed", "cancelled", "relayvm_aot_options"]
    assert len(first) == len(expected), out
    for line, pattern in zip(first, expected):
        assert re.search(pattern, line), (line, pattern)


# Of a vector what main gives, as "rank: numbers"; without one, `absent`.
VALUE_MAIN = """
#include "NAME.h"
#include <stdio.h>
#include <stdlib.h>
static relayvm_value* Vector(int n) {
  const float numbers[] = {1, 2, 3, 4, 5};
  const int64_t dims[] = {n};
  relayvm_value* value = NULL;
  relayvm_status_free(relayvm_value_tensor(RELAYVM_FLOAT32, dims, 1, numbers, &value));
  return value;
}
static int Run(relayvm_value* first, relayvm_value* second) {
  relayvm_value *inputs[2] = {first, second}, *result = NULL;
  relayvm_status* status = NAME_main(inputs, 2, &result);
  if (status != NULL) {
    puts(relayvm_status_message(status));
  } else {
    int64_t n = 1;
    for (size_t i = 0; i < relayvm_value_rank(result); ++i) n *= relayvm_value_dims(result)[i];
    printf("%zu:", relayvm_value_rank(result));
    for (int64_t i = 0; i < n; ++i) printf(" %g", ((const float*)relayvm_value_data(result))[i]);
    puts("");
  }
  relayvm_status_free(status);
  relayvm_value_free(result);
  relayvm_value_free(first);
  relayvm_value_free(second);
  return 0;
}
int main(void) { MAIN }
"""


def value_program(w, name, text, main):
    w.compile(w.write(f"{name}.relay", VERSION + text), name)
    source = w.write(f"{name}_main.c", VALUE_MAIN.replace("NAME", name).replace("MAIN", main))
    return run([w.link([source, f"{name}.o"], name, RUNTIME)], w.folder).splitlines()


OPTIONAL = """
type Optional[A] { None, Some(A) }
def @main(%o: Optional[Tensor[(?), float32]], %d: Tensor[(?), float32]) -> Tensor[(?), float32] {
  match (%o) { Some(%x) => { negative(%x) }, None => { %d } }
}
"""
RANKS = """
type OneOf[A, B] { First(A), Second(B) }
def @main(%c: bool, %x: Tensor[(?), float32], one_of_results=True, output_names=["z"]) {
  if (%c) { First(reshape(%x, newshape=[2, -1])) } else { Second(negative(%x)) }
}
"""


def optionals(w):
    """A parameter that may be left out, as ONNX models have them."""
    out = value_program(w, "optional", OPTIONAL, """
  relayvm_value *x = Vector(3), *some = NULL, *none = NULL;
  relayvm_status_free(relayvm_value_adt(OPTIONAL_OPTIONAL_SOME_TAG, &x, 1, &some));
  relayvm_status_free(relayvm_value_adt(OPTIONAL_OPTIONAL_NONE_TAG, NULL, 0, &none));
  Run(some, Vector(1));
  Run(none, Vector(2));
  return Run(x, Vector(1)); /* as it is: some */""")
    assert out == ["1: -1 -2 -3", "1: 1 2", "1: -1 -2 -3"], out


def ranks(w):
    """A result of another rank by branch: the tensor that it is."""
    out = value_program(w, "ranks", RANKS, """
  for (uint8_t c = 0; c < 2; ++c) {
    relayvm_value* flag = NULL;
    relayvm_status_free(relayvm_value_tensor(RELAYVM_BOOL, NULL, 0, &c, &flag));
    Run(flag, Vector(4));
  }
  relayvm_value* flag = NULL;
  const uint8_t yes = 1;
  relayvm_status_free(relayvm_value_tensor(RELAYVM_BOOL, NULL, 0, &yes, &flag));
  return Run(flag, Vector(3));""")
    assert out[:2] == ["1: -1 -2 -3 -4", "2: 1 2 3 4"] and "reshape" in out[2], out
    header = (w.folder / "ranks.h").read_text()
    assert " *   out of a type that a run tells */" in header, header


def runtimes(w):
    """Runs in a runtime of the host's: its threads and memory, its limit, and they are counted there."""
    w.compile(w.write("sums.relay", VERSION + """
def @main(%x: Tensor[(?, 64), float32], %y: Tensor[(?, 64), float32]) { nn.softmax(nn.dense(%x, %y)) }
"""), "sums")
    main = w.write("sums_main.c", """
#include "sums.h"
#include <stdio.h>
#include <string.h>
static relayvm_status* Run(relayvm_runtime* runtime, int64_t rows) {
  const relayvm_aot_options options = {.struct_size = sizeof options, .runtime = runtime};
  const int64_t dims[] = {rows, 64};
  relayvm_value *in = NULL, *out = NULL;
  relayvm_status* s = relayvm_value_tensor(RELAYVM_FLOAT32, dims, 2, NULL, &in);
  if (s != NULL) return s;
  memset(relayvm_value_mutable_data(in), 0, (size_t)rows * 64 * sizeof(float));
  relayvm_value* inputs[] = {in, in};
  s = sums_main_with(&options, inputs, 2, &out);
  if (s == NULL && ((const float*)relayvm_value_data(out))[1] != 1.0f / (float)rows) puts("wrong");
  relayvm_value_free(out);
  relayvm_value_free(in);
  return s;
}
int main(void) {
  relayvm_runtime_options options = {.struct_size = sizeof options, .num_threads = 2, .memory_limit = 4 << 20};
  relayvm_runtime* runtime = NULL;
  relayvm_runtime_stats stats = {.struct_size = sizeof stats};
  if (relayvm_runtime_create(&options, &runtime) != NULL) return 1;
  for (int i = 0; i < 3; ++i)
    if (Run(runtime, 256) != NULL) return 2;
  if (Run(NULL, 256) != NULL) return 3;
  relayvm_status* full = Run(runtime, 2048);
  if (relayvm_status_code(full) != RELAYVM_RESOURCE_EXHAUSTED) return 4;
  relayvm_status_free(full);
  if (Run(NULL, 2048) != NULL) return 5; /* which has no limit */
  if (relayvm_runtime_get_stats(runtime, &stats) != NULL) return 6;
  printf("%d %d %d %d\\n", (int)stats.started, (int)stats.running, (int)stats.workspaces, (int)stats.live_bytes);
  relayvm_runtime_free(runtime);
  return 0;
}
""")
    out = run([w.link([main, "sums.o"], "sums_program", RUNTIME)], w.folder)
    assert out == "4 0 1 0\n", out


WINOGRAD = """
def @main(%x: Tensor[(BATCH, 64, 28, 28), float32]) {
  let %i = reshape(arange(0f, 36864f, 1f, dtype="float32"), newshape=[64, 64, 3, 3]);
  let %w = multiply(sin(%i), 0.02f);
  sum(nn.relu(nn.conv2d(nn.conv2d(%x, %w, padding=[1, 1]), %w, padding=[1, 1])), axis=[1, 2, 3])
}
"""
WEIGHTS = 64 * 64 * 9 * 4
TRANSFORMED = WEIGHTS * 36 // 9


def shares(w, args, file):
    """Runs a program twice: what it has made for all processes is one file, where FILE, the program for the VM, has recipes."""
    cache = w.folder / "cache"
    shutil.rmtree(cache, ignore_errors=True)
    cache.mkdir(mode=0o700)
    env = dict(os.environ, RELAYVM_CACHE=str(cache))
    made, found = (subprocess.run([str(a) for a in args], cwd=w.folder, env=env, capture_output=True, text=True) for _ in range(2))
    assert made.returncode == 0 == found.returncode and made.stdout == found.stdout, (made, found)
    assert len(list(cache.iterdir())) == ("recipe" in run([BIN / "vmdump", file], w.folder)), list(cache.iterdir())
    return made.stdout


def recipes(w):
    """Weights that a convolution takes transformed: the object has them as given, the runtime makes them at the first use."""
    source = w.write("open.relay", VERSION + WINOGRAD.replace("BATCH", "?"))
    w.compile(source, "open")
    assert (w.folder / "open.o").stat().st_size < WEIGHTS + TRANSFORMED // 2
    main = w.write("open_main.c", """
#include "open.h"
#include <stdio.h>
int main(void) {
  static float data[2 * 64 * 28 * 28];
  const int64_t dims[] = {2, 64, 28, 28};
  relayvm_value *x = NULL, *y = NULL;
  for (int i = 0; i < 2 * 64 * 28 * 28; ++i) data[i] = (float)(i % 7) - 3;
  relayvm_status_free(relayvm_value_tensor(RELAYVM_FLOAT32, dims, 4, data, &x));
  for (int run = 0; run < 2; ++run) {
    relayvm_status* s = open_main(&x, 1, &y);
    if (s != NULL) puts(relayvm_status_message(s));
    if (s != NULL) return 3;
    const float* sums = relayvm_value_data(y);
    printf("%.6f %.6f\\n", sums[0] / 1000, sums[1] / 1000);
    relayvm_value_free(y);
  }
  relayvm_value_free(x);
  return 0;
}
""")
    program = w.link([main, "open.o"], "open_program", RUNTIME)
    x = w.folder / "x.npy"
    values = array.array("f", [i % 7 - 3 for i in range(2 * 64 * 28 * 28)])
    header = "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 64, 28, 28), }".ljust(117) + "\n"
    x.write_bytes(b"\x93NUMPY\x01\x00" + bytes([118, 0]) + header.encode() + values.tobytes())
    expected = [n / 1000 for n in vm(w, source, [x])]
    lines = shares(w, [program], "program.vmx").splitlines()
    near(numbers(lines[0]), expected)
    assert lines[0] == lines[1]


def recipes_alone(w):
    """The same without the runtime: code of the object makes them at the first use, by whichever threads come first."""
    source = w.write("alone.relay", VERSION + WINOGRAD.replace("BATCH", "1"))
    w.compile(source, "alone")
    assert (w.folder / "alone.o").stat().st_size < WEIGHTS + TRANSFORMED // 2
    main = w.write("alone_main.c", """
#include "alone.h"
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
static float x[64 * 28 * 28], sums[8];
static void* call(void* sum) {
  void* workspace = malloc(ALONE_MAIN_WORKSPACE_BYTES);
  if (alone_main(x, sum, workspace) != 0) exit(1);
  free(workspace);
  return NULL;
}
int main(void) {
  pthread_t threads[8];
  for (int i = 0; i < 64 * 28 * 28; ++i) x[i] = 1;
  for (int i = 0; i < 8; ++i)
    if (pthread_create(&threads[i], NULL, call, &sums[i]) != 0) return 2;
  for (int i = 0; i < 8; ++i) pthread_join(threads[i], NULL);
  for (int i = 1; i < 8; ++i)
    if (sums[i] != sums[0]) return 3;
  call(&sums[1]);
  printf("%.6f %.6f\\n", sums[0] / 1000, sums[1] / 1000);
  return 0;
}
""")
    program = w.link([main, "alone.o"], "alone_program", ["-lpthread"])
    expected = vm(w, source, ["1x64x28x28xf32=1"])[0] / 1000
    near(numbers(run([program], w.folder)), [expected] * 2)


def recipes_of_executables(w):
    """The same of programs of their own, without a heap; and one with a kernel of the runtime."""
    source = w.write("fixed.relay", VERSION + WINOGRAD.replace("BATCH", "1"))
    fixed = Both(w, source)
    fixed.check(["--input", "1x64x28x28xf32=1"])
    shares(w, [w.folder / "fixed", "--input", "1x64x28x28xf32=1"], "fixed.vmx")
    Both(w, w.write("sorting.relay", VERSION + "def @main(%x: Tensor[(?), float32]) { sort(%x) }\n")).check(["--input", "[3.5, 1.5, 2.5]"])
    sizes = [(w.folder / name).stat().st_size for name in ("fixed", "sorting")]
    assert sizes[0] - sizes[1] < WEIGHTS + TRANSFORMED // 2, sizes


def refused(w):
    """What cannot be native code is an error that names it."""
    source = w.write("host.relay", VERSION + """
def @fetch(%key: int64, host=1) -> int64;
def @main(%x: int64) -> int64 { @fetch(%x) }
""")
    error = run([BIN / "relayc", source, "--executor", "aot", "-o", "host"], w.folder, expected=2)
    assert "@fetch is a function of the host" in error, error


def outcome(args, cwd):
    """Exit status, output, and errors without the program's name."""
    done = subprocess.run([str(a) for a in args], cwd=cwd, capture_output=True, text=True)
    errors = re.sub(rf"(?m)^{re.escape(pathlib.Path(args[0]).name)}(: | --help)", r"PROGRAM\1", done.stderr)
    return done.returncode, done.stdout, errors


class Both:
    """A program as a file for vmrun and as an executable: what one does with arguments, the other does."""

    def __init__(self, w, source, options=()):
        self.w, self.name = w, pathlib.Path(source).stem
        run([BIN / "relayc", source, "-q", "-o", f"{self.name}.vmx", *options], w.folder)
        run([BIN / "relayc", source, "--executor", "aot", "--emit", "exe", "-q", "-o", self.name, *options], w.folder)

    def check(self, args, expected=0):
        native = outcome([self.w.folder / self.name, *args], self.w.folder)
        vmrun = outcome([BIN / "vmrun", f"{self.name}.vmx", *args], self.w.folder)
        assert native[0] == vmrun[0] == expected, (args, native, vmrun)
        assert native[2] == vmrun[2], (args, native, vmrun)
        if expected == 0:
            assert re.sub(NUMBER, "#", native[1]) == re.sub(NUMBER, "#", vmrun[1]), (args, native, vmrun)
            near(numbers(native[1]), numbers(vmrun[1]))
        return native


NUMBER = r"-?\d+\.\d*(?:e-?\d+)?"


def executables(w):
    """Programs of their own (--emit exe): without a heap, loops, trees; vmrun's options, values, errors, statuses."""
    pictures, leaf = EXAMPLES / "cnn_pictures.npy", EXAMPLES / "tree_lstm_leaf0.npy"
    w.write("text.npy", "no numbers")
    # A header that speaks of more elements than any file has.
    header = "{'descr': '<f4', 'fortran_order': False, 'shape': (%s), }" % ", ".join(["9999999999"] * 4)
    (w.folder / "absurd.npy").write_bytes(b"\x93NUMPY\x01\x00" + bytes([118, 0]) + header.ljust(117).encode() + b"\n")
    static = Both(w, EXAMPLES / "cnn.relay", ["--params", EXAMPLES / "cnn.npz", "--shape", "x=2x3x29x37"])
    for args, status in (
            (["--input", pictures], 0), (["--input", f"x={pictures}", "--json"], 0),
            (["--input", pictures, "--expect", EXAMPLES / "cnn.expected.npy", "--output", "scores.npz"], 0),
            (["--input", pictures, "--expect", pictures], 4),
            (["--input", leaf], 2), (["--input", "2x3x29x37xi64=1"], 2), (["--input", "3"], 2), (["--input", "absent.npy"], 2),
            (["--input", "text.npy"], 2), (["--input", "absurd.npy"], 2), (["--input", f"y={pictures}"], 1), ([], 1),
            (["--input", pictures, "--input", pictures], 1), (["--input", pictures, "--function", "other"], 1), (["--no-such"], 1),
            (["--input", pictures, "--output", "no/such/folder.npz"], 2), (["--input", pictures, "--memory-limit", "x"], 1),
            ([pictures], 1)):
        static.check(args, status)
    assert "scores.npz" in [f.name for f in w.folder.iterdir()]
    error = outcome([w.folder / "cnn", "--input", pictures, "--memory-limit", "1k"], w.folder)
    assert error[0] == 3 and "no memory for a workspace of" in error[2], error

    lstm_program = Both(w, EXAMPLES / "lstm.relay", ["--params", EXAMPLES / "lstm.npz"])
    for words in ("[7]", "[3, 1, 4, 1, 5]", str([2] * 40)):
        lstm_program.check(["--input", words])
    for words, status in (("[1.5]", 2), ("[[1]]", 2), ("[3000000000]", 2), ("[1", 2)):
        lstm_program.check(["--input", words], status)
    stats = outcome([w.folder / "lstm", "--input", "[1, 2]", "--repeat", "3", "--stats", "--json"], w.folder)
    assert stats[0] == 0 and '"runs": 3' in stats[1] and '"allocations": ' in stats[1], stats
    error = outcome([w.folder / "lstm", "--input", "[1, 2]", "--memory-limit", "100"], w.folder)
    assert error[0] == 3 and "raise the memory limit" in error[2], error

    sizes = Both(w, w.write("sizes.relay", VERSION + """
def @sum(%x: Tensor[(?), float32], %y: Tensor[(?), float32]) -> Tensor[(?), float32] { add(%x, %y) }
def @main(%x: Tensor[(?), float32], %y: Tensor[(?), float32]) {
  let %more = concatenate((%x, %y), axis=0);
  (@sum(%x, %y), %more)
}
"""))
    sizes.check(["--input", "[1.5, 2.25]", "--input", "[3, 4]"])
    assert "sizes.relay:" in sizes.check(["--input", "[1, 2]", "--input", "[3, 4, 5]"], 3)[2]

    spin = w.write("spin.relay", VERSION + """
def @main(%l: Tensor[(?), int64], %n: int64) -> Tensor[(?), int64] { if (less(%n, 0i64)) { %l } else { @main(%l, %n) } }
""")
    Both(w, spin)
    error = outcome([w.folder / "spin", "--input", "[1]", "--input", "1", "--timeout", "0.1"], w.folder)
    assert error[0] == 3 and "main" in error[2] and "the deadline has passed" in error[2], error
    error = outcome([w.folder / "cnn", "--input", pictures, "--timeout", "5"], w.folder)
    assert error[0] == 3 and "it takes no limit of time" in error[2], error

    optional = Both(w, w.write("optional.relay", VERSION + OPTIONAL))
    for given in (["--input", "Some([1, 2.5])", "--input", "[5.5]"], ["--input", "None", "--input", "[5.5]"], ["--input", "d=[5.5]"]):
        optional.check(given)
    optional.check(["--input", "[[1, 2]]", "--input", "[5.5]"], 2)
    of_ranks = Both(w, w.write("ranks.relay", VERSION + RANKS))
    for c in ("true", "false"):
        of_ranks.check(["--input", c, "--input", "[1.5, 2.5, 3.5, 4.5]"])
    of_ranks.check(["--input", "true", "--input", "[1.5]"], 3)

    tree = Both(w, EXAMPLES / "tree_lstm.relay", ["--params", EXAMPLES / "tree_lstm.npz"])
    text = "Node(Node(Leaf(@{0}), Leaf(@{0})), Leaf(@{0}))".format(leaf)
    tree.check(["--input", text])
    for bad in ("Leaf(3)", "Branch(3)", f"Node(Leaf(@{leaf}))", f"Leaf(@{pictures})", "Leaf(@absent.npy)"):
        tree.check(["--input", bad], 2)
    needed = run(["readelf", "-d", w.folder / "tree_lstm"], w.folder)
    libraries = set(re.findall(r"NEEDED.*\[(.*)\]", needed))
    assert libraries <= {"libc.so.6", "libm.so.6", "ld-linux-x86-64.so.2"}, libraries


def executable_errors(w):
    """--emit exe where it makes no sense."""
    source = w.write("one.relay", VERSION + "def @main(%x: int64) -> int64 { %x }\n")
    assert "only with --executor aot" in run([BIN / "relayc", source, "--emit", "exe"], w.folder, expected=1)
    args = [BIN / "relayc", source, "--executor", "aot", "--emit", "exe", "-o"]
    assert "a program is a file" in run([*args, "-"], w.folder, expected=1)
    run([*args, "no/such/folder"], w.folder, expected=2)


def traces(w):
    """A runtime's sink is told of the kernels that the VM calls, and of the run."""
    text = VERSION + """
def @main(%x: Tensor[(?, 64), float32], %n: int32) -> Tensor[(?, 64), float32] {
  if (less(0, %n)) { @main(nn.softmax(nn.dense(%x, zeros(shape=[64, 64], dtype="float32"))), subtract(%n, 1)) } else { sqrt(%x) }
}
"""
    source = w.write("told.relay", text)
    w.compile(source, "told")
    main = w.write("told_main.c", """
#include "told.h"
#include <stdio.h>
static void OnKernel(void* user, const relayvm_kernel_event* event) {
  printf("%s %d %u\\n", event->name, (int)event->units, event->place.line);
  *(int*)user += event->begin_ns > event->end_ns || event->invocation == 0;
}
static void OnRun(void* user, const relayvm_run_event* event) {
  printf("run %s %d\\n", event->function, event->begin_ns < event->end_ns);
  *(int*)user += event->status != RELAYVM_OK;
}
int main(int argc, char** argv) {
  int wrong = 0;
  const relayvm_trace trace = {.struct_size = sizeof trace, .user = &wrong, .on_kernel = OnKernel, .on_run_begin = OnRun,
                               .on_run_end = OnRun};
  relayvm_runtime_options options = {.struct_size = sizeof options, .trace = argc > 1 ? &trace : NULL};
  relayvm_aot_options with = {.struct_size = sizeof with};
  relayvm_runtime* runtime = NULL;
  const int64_t dims[] = {3, 64};
  const int32_t n = 3;
  relayvm_value *in[2], *out = NULL;
  (void)argv;
  if (relayvm_runtime_create(&options, &runtime) != NULL) return 1;
  with.runtime = runtime;
  if (relayvm_value_tensor(RELAYVM_FLOAT32, dims, 2, NULL, &in[0]) != NULL) return 2;
  if (relayvm_value_tensor(RELAYVM_INT32, NULL, 0, &n, &in[1]) != NULL) return 2;
  if (told_main_with(&with, in, 2, &out) != NULL) return 3;
  relayvm_value_free(in[0]);
  relayvm_value_free(in[1]);
  relayvm_value_free(out);
  relayvm_runtime_free(runtime);
  return wrong;
}
""")
    program = w.link([main, "told.o"], "told_program", RUNTIME)
    assert run([program], w.folder) == ""
    told = run([program, "traced"], w.folder).splitlines()
    assert (told[0], told[-1]) == ("run main 0", "run main 1"), told
    run([BIN / "relayc", source, "-q", "-o", "told.vmx"], w.folder)
    zeros = w.write("zeros.txt", "[" + ", ".join(["[" + ", ".join(["0"] * 64) + "]"] * 3) + "]").read_text()
    run([BIN / "vmrun", "told.vmx", "--input", zeros, "--input", "3", "--trace", "told.json"], w.folder)
    events = json.loads((w.folder / "told.json").read_text())["traceEvents"]
    kernels = [e for e in events if e.get("cat") == "kernel"]
    of_vm = [(e["name"], e["args"]["units"], int(e["args"]["place"].split(":")[1])) for e in kernels]
    of_native = [(name, int(units), int(line)) for name, units, line in (t.split() for t in told[1:-1])]
    assert len(of_vm) >= 7 and of_native == of_vm, (of_native, of_vm)


ENGINES = BUILD / "engines"


def has_dnnl():
    """Whether oneDNN and its provider are here."""
    try:
        ctypes.CDLL("libdnnl.so.2")
    except OSError:
        return False
    return (ENGINES / "librelayvm_dnnl.so").exists()


def elsewhere(folder):
    """An environment in which the engines that come with relayvm are looked for in a folder."""
    return dict(os.environ, RELAYVM_ENGINES=str(folder))


# Runs on the floats of a file, as pictures, with the engines of relayvm; where that fails says why, and runs with a library that is given.
REGIONS_MAIN = """
#include "NAME.h"
#include <relayvm/c_api_host.h>
#include <stdio.h>
static int Run(const relayvm_aot_options* options, relayvm_value* x) {
  relayvm_value* y = NULL;
  relayvm_status* status = NAME_main_with(options, &x, 1, &y);
  if (status != NULL) {
    printf("%d %s\\n", (int)relayvm_status_code(status), relayvm_status_message(status));
    relayvm_status_free(status);
    return 1;
  }
  for (int64_t i = 0; i < relayvm_value_num_elements(y); ++i) printf("%.6f\\n", ((const float*)relayvm_value_data(y))[i]);
  relayvm_value_free(y);
  return 0;
}
int main(int argc, char** argv) {
  static float data[2 * 3 * 29 * 37];
  const int64_t dims[] = {2, 3, 29, 37};
  const relayvm_engine dnnl = {"dnnl", argc > 2 ? argv[2] : NULL};
  const relayvm_engines engines = {.struct_size = sizeof engines, .num_engines = 1, .engines = &dnnl};
  const relayvm_aot_options options = {.struct_size = sizeof options, .engines = &engines};
  relayvm_value* x = NULL;
  FILE* file = fopen(argv[1], "rb");
  if (file == NULL || fseek(file, -(long)sizeof data, SEEK_END) != 0 || fread(data, sizeof data, 1, file) != 1) return 1;
  fclose(file);
  if (relayvm_value_tensor(RELAYVM_FLOAT32, dims, 4, data, &x) != NULL) return 2;
  int failed = Run(NULL, x);
  if (failed && argc > 2) failed = Run(&options, x);
  if (!failed) failed = Run(NULL, x);
  relayvm_value_free(x);
  return failed ? 3 : 0;
}
"""
CNN = [EXAMPLES / "cnn.relay", "-q", "--params", EXAMPLES / "cnn.npz"]
STATIC = ["--shape", "x=2x3x29x37"]
BYOC = ["--byoc", "dnnl"]
MISSING = "with regions for engine dnnl, and has no form without them: .*there is no librelayvm_dnnl.so in "


def without_regions(w):
    """What a program's own kernels give, a number a line."""
    run([BIN / "relayc", *CNN, *BYOC, "-o", "cnn.vmx"], w.folder)
    run([BIN / "vmrun", "cnn.vmx", "--no-byoc", "--input", EXAMPLES / "cnn_pictures.npy", "--output", "cnn.npy"], w.folder)
    return numbers(run([BIN / "vmrun", "cnn.vmx", "--no-byoc", "--input", EXAMPLES / "cnn_pictures.npy", "--json"], w.folder))


def as_expected(found, expected):
    assert len(found) == len(expected) > 0 and all(abs(a - b) < 1e-4 for a, b in zip(found, expected)), (found, expected)


def regions(w):
    """Regions run on oneDNN in C programs, for sizes that are open and that are not, and in graphs; an engine that is missing is named."""
    if not has_dnnl():
        return print("regions: no oneDNN here")
    expected = without_regions(w)
    pictures, none = EXAMPLES / "cnn_pictures.npy", w.folder
    for name, options in (("sizes", BYOC), ("fixed", [*BYOC, *STATIC, "--byoc-only"])):
        run([BIN / "relayc", *CNN, "--executor", "aot", *options, "-o", name], w.folder)
        main = w.write(f"{name}_main.c", REGIONS_MAIN.replace("NAME", name))
        program = w.link([main, f"{name}.o"], f"{name}_program", RUNTIME)
        found = numbers(run([program, pictures], w.folder, env=elsewhere(ENGINES)))
        as_expected(found, expected * 2)
        error = run([program, pictures], w.folder, expected=3, env=elsewhere(none))
        assert re.search(MISSING + re.escape(str(none)), error), error
        given = run([program, pictures, ENGINES / "librelayvm_dnnl.so"], w.folder, env=elsewhere(none)).split("\n", 1)
        assert re.search(MISSING, given[0]), given
        as_expected(numbers(given[1]), expected * 2)
    run([BIN / "relayc", *CNN, *STATIC, *BYOC, "--executor", "graph", "-o", "graph"], w.folder)
    args = [BIN / "vmrun", "graph", "--input", pictures, "--expect", "cnn.npy", "--atol", "1e-4"]
    run(args, w.folder, env=elsewhere(ENGINES))
    error = run(args, w.folder, expected=2, env=elsewhere(none))
    assert "engine dnnl: there is no librelayvm_dnnl.so in " in error, error
    args = [BIN / "relayrun", *CNN[:1], *CNN[2:], *STATIC, *BYOC, "--executor", "graph", *args[2:]]
    for folder in (ENGINES, none):
        done = subprocess.run([str(a) for a in args], cwd=w.folder, capture_output=True, text=True, env=elsewhere(folder))
        assert done.returncode == 0 and ("note: loaded without regions: " in done.stderr) == (folder == none), done


# An engine that takes each region, and does with it what FAILING says.
FAILING = """
#include "bytecode/region_abi.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
static int32_t Does(const char* what, int32_t status, RelayvmRegionError* error) {
  const char* mode = getenv("FAILING");
  if (mode == NULL || strcmp(mode, what) != 0) return RELAYVM_REGION_OK;
  snprintf(error->message, sizeof error->message, "it fails in %s", what);
  return status;
}
static int32_t Open(const char** version, RelayvmRegionError* error) {
  *version = "1.2";
  return Does("open", RELAYVM_REGION_UNSUPPORTED, error);
}
static int32_t Create(const char* json, uint64_t bytes, const RelayvmRegionTensor* constants, uint32_t num_constants,
                      RelayvmRegion** region, RelayvmRegionError* error) {
  *region = (RelayvmRegion*)"region";
  for (uint32_t i = 0; i < num_constants; ++i)
    if (constants[i].data == NULL || constants[i].rank > 4) return RELAYVM_REGION_INVALID;
  return bytes != strlen(json) ? RELAYVM_REGION_INVALID : Does("create", RELAYVM_REGION_INVALID, error);
}
static int32_t Prepare(RelayvmRegion* region, const int64_t* dims, uint32_t num_dims, uint32_t threads, RelayvmPlan** plan, uint64_t* scratch_bytes,
                       RelayvmRegionError* error) {
  (void)region, (void)dims, (void)num_dims, (void)threads;
  *plan = (RelayvmPlan*)"plan";
  *scratch_bytes = Does("scratch", 1, error) != 0 ? UINT64_C(1) << 60 : 64;
  return Does("prepare", RELAYVM_REGION_INVALID, error);
}
static int32_t Run(RelayvmRegion* region, RelayvmPlan* plan, const RelayvmRegionEnv* env, const RelayvmRegionTensor* inputs,
                   uint32_t num_inputs, const RelayvmRegionTensor* outputs, uint32_t num_outputs, void* scratch,
                   RelayvmRegionError* error) {
  (void)region, (void)plan, (void)env, (void)inputs, (void)scratch;
  for (uint32_t i = 0; i < num_outputs; ++i) {
    size_t bytes = sizeof(float);
    for (uint32_t d = 0; d < outputs[i].rank; ++d) bytes *= (size_t)outputs[i].dims[d];
    memset(outputs[i].data, 0, bytes);
  }
  return num_inputs < 1 || num_outputs < 1 ? RELAYVM_REGION_INVALID : Does("run", RELAYVM_REGION_FAILED, error);
}
static void Release(RelayvmRegion* region, RelayvmPlan* plan) { (void)region, (void)plan; }
static void Destroy(RelayvmRegion* region) { (void)region; }
const RelayvmRegionProvider* relayvm_region_provider(void) {
  static const RelayvmRegionProvider provider = {RELAYVM_REGION_ABI, sizeof provider, "dnnl", Open, Create, Prepare, Run, Release, Destroy};
  return &provider;
}
"""


def regions_that_fail(w):
    """What an engine refuses when the program is loaded is an error that names it; what fails in a run, one with the region and its place."""
    engine = w.link([w.write("failing.c", FAILING), "-shared", "-fPIC", f"-I{EXAMPLES.parents[1]}"], "failing.so")
    w.compile(CNN[0], "failing", [*CNN[1:], *BYOC])
    main = w.write("failing_main.c", REGIONS_MAIN.replace("NAME", "failing"))
    program = [w.link([main, "failing.o"], "failing_program", RUNTIME), EXAMPLES / "cnn_pictures.npy", engine]
    place = r"main \(\S*cnn.relay:\d+:\d+\): "
    for where, status, message in (
            ("", 0, r"^(0\.0+\n){40}$"), ("open", 3, "has no form without them: .*failing.so: it fails in open"),
            ("create", 3, r"failing.so 1.2\): region tvmgen_\w+: it fails in create"), ("scratch", 3, f"{place}.*no memory for "),
            ("prepare", 3, f"{place}region tvmgen_\\w+ on engine dnnl: it fails in prepare"),
            ("run", 3, f"{place}region tvmgen_\\w+ on engine dnnl: it fails in run")):
        out = run(program, w.folder, expected=status, env=dict(elsewhere(w.folder), FAILING=where))
        assert re.search(MISSING, out.split("\n", 1)[0]), out
        assert re.search(message, out.split("\n", 1)[1]), (where, out)


def regions_of_executables(w):
    """The same of programs of their own."""
    if not has_dnnl():
        return print("regions_of_executables: no oneDNN here")
    without_regions(w)
    for name, options in (("sizes", BYOC), ("fixed", [*BYOC, *STATIC, "--byoc-only"])):
        run([BIN / "relayc", *CNN, "--executor", "aot", "--emit", "exe", *options, "-o", name], w.folder)
        args = [w.folder / name, "--input", EXAMPLES / "cnn_pictures.npy", "--expect", "cnn.npy", "--atol", "1e-4"]
        run(args, w.folder, env=elsewhere(ENGINES))
        run([*args, "--engine", f"dnnl={ENGINES / 'librelayvm_dnnl.so'}"], w.folder, env=elsewhere(w.folder))
        error = run(args, w.folder, expected=2, env=elsewhere(w.folder))
        assert re.search(MISSING, error), error
        run([*args, "--stack-limit", "1"], w.folder, env=elsewhere(ENGINES))  # engines have what they need of it


TESTS = [counter, cnn, tuples, lstm, trees, recursion, closures, optionals, ranks, limits, runtimes, traces, recipes, recipes_alone, regions,
         regions_that_fail, refused]
if not any(option.startswith("-fsanitize") for option in CC):
    TESTS += [executables, executable_errors, recipes_of_executables, regions_of_executables]  # they hold no sanitizer's library

with tempfile.TemporaryDirectory() as folder:
    for test in TESTS:
        test(Work(folder))
        print(f"{test.__name__}: ok")
