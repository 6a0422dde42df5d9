"""Programs as native code (relayc --executor aot), linked into C programs and run.

Usage: run_aot.py BIN EXAMPLES CC"""
import pathlib
import subprocess
import sys
import tempfile

BIN, EXAMPLES, CC = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2]), sys.argv[3]
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
        run([CC, "-std=c11", "-Wall", "-Wextra", "-Werror", "-I.", *sources, "-o", name, *options], self.folder)
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


with tempfile.TemporaryDirectory() as folder:
    for test in (counter, cnn, tuples):
        test(Work(folder))
        print(f"{test.__name__}: ok")
