#!/usr/bin/python3
"""Passes of the user's: from shared libraries through relayc and relayrun, and from a program of their own.

usage: run_passes.py BIN_FOLDER LIBRARY_FOLDER PROGRAM.relay

Closes with the line "N passed, N failed".
"""
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from tool_checks import ToolChecks

BIN, LIBRARIES, PROGRAM = (os.path.abspath(a) for a in sys.argv[1:])
EXAMPLES = ["--load-pass", os.path.join(LIBRARIES, "libexample_passes.so")]
BAD = ["--load-pass", os.path.join(LIBRARIES, "libbad_passes.so")]
checks = ToolChecks(BIN, LIBRARIES)
run, check = checks.run, checks.check


def options_of(*args):
    """(option, form) as --list-passes has them; the form of a flag is empty."""
    _, out, _ = run("relayc", "--list-passes", *args)
    lines = out.split("\noptions of passes:\n")[1].splitlines()
    return [(line.split()[0], line[:36].split()[1] if len(line[:36].split()) > 1 else "") for line in lines]


def compile(*args):
    return run("relayc", PROGRAM, "-o", os.devnull, *args)


COUNT = [*EXAMPLES, "--pass"]
# A visitor, at several places.
check("counts", compile(*COUNT, "CountOperators@start"), 0, "power 3\n", "exp 1\n", "less 1\n")
check("counts at -O0", compile("-O0", *COUNT, "CountOperators@after:FoldConstants"), 0, "power 3\n")
check("counts at the end", compile("-O0", *COUNT, "CountOperators@end"), 0, "power 3\n")
# A rewrite, and what stands behind it in the list.
SQUARE = [*EXAMPLES, "--pass", "SquarePowers@after:FoldConstants"]
check("rewrites", compile(*SQUARE, "--pass", "CountOperators@after:FoldConstants"), 0, "multiply 2\n", "power 1\n")
check("order of the list", compile(*EXAMPLES, "--pass", "CountOperators@before:FoldConstants", "--pass",
                                   "SquarePowers@before:FoldConstants"), 0, "power 3\n")
check("by number", compile(*COUNT, "CountOperators@after:EliminateDeadCode#1"), 0, "power 3\n")
check("by number, where equal calls are one", compile(*COUNT, "CountOperators@after:EliminateDeadCode#2"), 0, "power 2\n")
check("printed and timed", compile(*SQUARE, "--print-ir-after", "SquarePowers", "--time-passes"), 0,
      "// After SquarePowers:", "multiply(%x, %x)", "ms  SquarePowers", "of that: LLVM: optimisation",
      "LLVM: code generation", "LLVM: linking")
check("the same result", run("relayrun", PROGRAM, "--input", "[1f, 2f]"), 0, "[2.71")
check("the same result, rewritten", run("relayrun", PROGRAM, "--input", "[1f, 2f]", *SQUARE), 0, "[2.71")
check("by the file's name", compile("--load-pass", "libexample_passes.so", "--pass", "CountOperators@start"), 0, "power 3")
# The list.
check("list", run("relayc", "--list-passes"), 0, "CheckTypes", "Retype", "FuseOps", "typed, resolved, final", "-O2")
check("list with one inserted", run("relayc", "--list-passes", *SQUARE), 0, "yours SquarePowers",
      "-     CountOperators", "power(x, 2) becomes multiply(x, x)")
check("left out", compile("--disable-pass", "FoldConstants", "--time-passes"), 0)
# Options: each that a row declares is taken, and a wrong value is refused with what is expected.
EXAMPLE_OF = {"": "true", "N": "2", "OPERATOR=DATA:KERNEL": "nn.conv2d=NHWC:default", "IN=OUT": "x=output_0", "ENGINE": "dnnl",
              "ENGINE.relay": "mine.relay"}
OPTIONS = options_of(*EXAMPLES)
checks.count({o for o, _ in OPTIONS} == {"--byoc", "--byoc-only", "--byoc-regions", "--byoc-rules", "--device", "--device-seed", "--exact", "--explain",
                                             "--explain-rules", "--layout", "--least", "--precision",
                                             "--state", "--sub-batch", "--weights"}, f"options: {OPTIONS}")
checks.count("--least" not in {o for o, _ in options_of()}, "an option of a library that is not loaded")
for option, form in OPTIONS:
    given = f"{option}={EXAMPLE_OF.get(form, form.split('|')[0])}"
    check(f"takes {given}", compile(*COUNT, "CountOperators@start", given), 0)
    wrong = compile(*COUNT, "CountOperators@start", f"{option}=?!")
    check(f"refuses {option}", wrong, 1, option, f"write {form}" if "=" in form else "")
    check(f"expects of {option}", wrong, 1, *(form.split("|") if "|" in form else []))
check("an option of a library's pass", compile(*COUNT, "CountOperators@start", "--least", "3"), 0, "power 3\n")
checks.count("exp 1" not in compile(*COUNT, "CountOperators@start", "--least", "3")[2], "--least leaves nothing out")
check("the same of relayrun", run("relayrun", PROGRAM, "--input", "[1f, 2f]", *COUNT, "CountOperators@start", "--least=3"), 0, "power 3\n")
check("out of range", compile(*COUNT, "CountOperators@start", "--least", "0"), 1,
      "relayc: --least 0: expected a whole number from 1 to 1000000")
check("nobody reads it", compile(*EXAMPLES, "--least", "3"), 1,
      "--least: nothing reads it; run a pass that does: --pass CountOperators@PLACE")
check("no library", compile("--least", "3"), 1, "unexpected argument --least")
check("did you mean", compile(*COUNT, "CountOperators@start", "--leats", "3"), 1, "did you mean --least?")
for option in ("--weights", "--precision", "--layout"):
    check(f"an empty {option}", compile(option, ""), 1, f"{option} : ")
check("help", run("relayc", *EXAMPLES, "--help"), 0, "--least N", "are not printed (default: 1)", "--weights q8|q4", "--precision fp32|bf16")
check("the compiler's own option", compile("--load-pass", "libclashing_exact.so"), 1,
      "libclashing_exact.so: pass Clashes: there is an option exact already")
check("the tool's own option", compile("--load-pass", "libclashing_quiet.so"), 1, "pass Clashes: there is an option --quiet already")
# What is refused.
check("unknown place", compile(*COUNT, "CountOperators@after:Folding"), 1,
      'pass CountOperators: place "after:Folding": there is no pass Folding; there are CheckTypes, ')
check("no such kind of place", compile(*COUNT, "CountOperators@near:FuseOps"), 1,
      "expected before:PASS, after:PASS, start or end")
check("which of several", compile(*COUNT, "CountOperators@after:EliminateDeadCode"), 1,
      "EliminateDeadCode runs 4 times; write after:EliminateDeadCode#1 to #4")
check("no such number", compile(*COUNT, "CountOperators@after:FuseOps#2"), 1,
      "FuseOps runs 1 time; write after:FuseOps#1")
check("unknown pass", compile(*COUNT, "CountAll@start"), 1,
      "--pass CountAll@start: no loaded library has a pass CountAll; there are CountOperators, SquarePowers")
check("nothing loaded", compile("--pass", "CountAll@start"), 1, "load one with --load-pass")
check("no place", compile(*COUNT, "CountOperators"), 1, "expected NAME@PLACE, such as CountOperators@after:FoldConstants")
check("no library", compile("--load-pass", "libnone.so"), 2, "libnone.so: cannot load passes")
check("not a library", compile("--load-pass", PROGRAM), 2, "cannot load passes")
check("another library", compile("--load-pass", os.path.join(BIN, "..", "vm", "librelayvm.so")), 2,
      "not a library of passes: it has no RELAYVM_PASS_PLUGIN")
check("another version", compile("--load-pass", "libstale_passes.so"), 2,
      "built for another relayvm", 'found "relayvm passes 0, another compiler"', "build it again")
check("loaded twice", compile(*EXAMPLES, *EXAMPLES), 1, "there is a pass CountOperators already")
check("breaks the program", compile(*BAD, "--pass", "UseBeforeBinding@after:FoldConstants"), 2,
      "pass UseBeforeBinding breaks the program")
check("throws", compile(*BAD, "--pass", "Throws@start"), 2, "pass Throws threw: something went wrong")
check("fails", compile(*BAD, "--pass", "Fails@start"), 2, "pass Fails: this program is too odd")
check("drops types early", compile(*BAD, "--pass", "DropsTypes@after:FoldConstants"), 0)
check("drops types late", compile(*BAD, "--pass", "DropsTypes@after:FuseOps"), 1,
      "needs types, which pass DropsTypes dropped, and they cannot be inferred again after DropShapeOperands")
check("needs what is not there", compile(*BAD, "--pass", "NeedsFusion@before:FuseOps"), 1,
      "pass NeedsFusion needs a program that is fused, and no pass before it gives that")
check("needs what is there", compile(*BAD, "--pass", "NeedsFusion@after:FuseOps"), 0)
check("left out, but needed", compile("--disable-pass", "ResolveShapes"), 1,
      "pass DropShapeOperands needs a program that is resolved")
check("left out, unknown", compile("--disable-pass", "Resolve"), 1, "there is no pass Resolve")
check("printed, unknown", compile("--print-ir-after", "Resolve"), 1, "--print-ir-after: there is no pass Resolve")
# A program of one's own.
check("own program", run("own_program", PROGRAM), 0, "Before: @main has", "After: @main has")
sys.exit(checks.finish())
